//! Rust types for hash functions with fixed output length, Poly1305, Curve25519 and AEAD.

use super::super::Folder;
use super::super::interface::Description;
use super::super::template::fill;
use super::items::Items;
use super::parts::Part;
use super::text::{hex, literal, type_name};
use usuba_ciphers::{HashVector, Seal, SealMode, SealVector};

/// Bytes of a result in examples.
const SHOWN: usize = 16;

/// One vector out of this many becomes a test of the crate.
const EVERY: usize = 3;

impl Items<'_> {
    /// A Merkle-Damgård hash function with HMAC and HKDF.
    pub fn merkle(&mut self, description: &Description, output: usize, vectors: &[HashVector]) {
        let name = &*description.name;
        let link = &description.operations[0];
        let (chain, block) = (link.output, link.input - link.output);
        let type_name = type_name(name, &self.folder.cipher.title);
        self.parts.insert(Part::Message);
        self.hashes.push((format!("{name}_state"), chain + block));
        self.sizes.push((format!("{name}_state"), 16 + chain + block));
        self.sizes.push((format!("hmac_{name}_state"), 16 + 2 * chain + block));
        let empty = HashVector::default();
        let plain = |v: &&HashVector| v.input.len() > 1;
        let shown = vectors.iter().filter(plain).min_by_key(|v| v.input.len()).unwrap_or(&empty);
        let length = SHOWN.min(shown.output.len());
        let values = [
            ("NAME", name.to_string()),
            ("TYPE", type_name.clone()),
            ("BLOCK", block.to_string()),
            ("BYTES", output.to_string()),
            ("STATE", (chain + block).to_string()),
            ("HMAC", (2 * chain + block).to_string()),
            ("KEY", literal(&[7; 32])),
            ("INPUT", literal(&shown.input)),
            ("SHOWN", length.to_string()),
            ("OUTPUT", literal(&shown.output[..length])),
        ];
        self.module += &fill(rust!("api/merkle.rs.in"), &values);
        self.ffi += &fill(rust!("ffi/merkle.rs.in"), &values);
        self.helpers.insert(rust!("tests/merkle.rs.in"));
        let answer = |v: &HashVector| format!("        ({}, {}),\n", hex(&v.input), hex(&v.output));
        let list: String = vectors.iter().step_by(EVERY).map(answer).collect();
        // The public Rust type is the only link to the type of the C functions.
        self.tests += &format!(
            "\n#[test]\nfn {name}() {{\n    let answers = [\n{list}    ];\n    \
             merkle::<@CRATE@::@MODULE@::{type_name}>(&answers, @CRATE@::@MODULE@::{type_name}::many);\n}}\n"
        );
    }

    /// Poly1305, whose header is hand-written.
    pub fn poly1305(&mut self) {
        self.parts.insert(Part::Message);
        self.hashes.push(("poly1305_state".into(), 80));
        self.sizes.push(("poly1305_state".into(), 96));
        self.module += rust!("api/poly1305.rs.in");
        self.ffi += rust!("ffi/poly1305.rs.in");
    }

    /// X25519 and Ed25519, whose header is hand-written.
    pub fn curve25519(&mut self) {
        self.parts.insert(Part::Signature);
        self.module += rust!("api/curve25519.rs.in");
        self.ffi += rust!("ffi/curve25519.rs.in");
        self.tests += rust!("tests/curve25519.rs.in");
    }

    /// Authenticated encryption with a key of one of `folders`.
    ///
    /// # Errors
    /// None of the folders has the key.
    pub fn seal(
        &mut self,
        seal: &Seal,
        folders: &[Folder],
        vectors: &[SealVector],
    ) -> Result<(), String> {
        let Seal { name, mode, first, stream, nonce, .. } = seal;
        let inner = first.as_ref().unwrap_or(stream);
        let place = |folder: &Folder| {
            let at = folder.descriptions().iter().position(|own| own.name == *inner)?;
            let path = type_name(inner, &folder.cipher.title);
            Some((self.words_of(folder, at).1, format!("super::{}::{path}", folder.name)))
        };
        let found = folders.iter().find_map(place);
        let (context, path) = found.ok_or(format!("{name}: there is no key `{inner}`"))?;
        let type_name = type_name(name, &self.folder.cipher.title);
        self.parts.insert(Part::Seal);
        self.contexts.push((name.clone(), context));
        let (kind, data) = match mode {
            SealMode::Rfc8439 => {
                ("Data", "        data: *const u8,\n        data_length: usize,\n")
            }
            SealMode::Box => ("Only", ""),
        };
        let values = [
            ("NAME", name.clone()),
            ("TYPE", type_name.clone()),
            ("WORDS", format!("    inner: {path},\n")),
            ("CONTEXT", context.to_string()),
            ("KEY_BYTES", "32".into()),
            ("NONCE", nonce.to_string()),
            ("KIND", kind.into()),
            ("DATA", data.into()),
        ];
        self.module += &fill(rust!("api/seal.rs.in"), &values);
        self.ffi += &fill(rust!("ffi/key.rs.in"), &values);
        self.ffi += &fill(rust!("ffi/seal.rs.in"), &values);
        self.helpers.insert(rust!("tests/seal.rs.in"));
        let answer = |v: &SealVector| {
            let (text, tag) = v.apart(*mode);
            let fields = [&v.key, &v.nonce, &v.data, &v.input].map(|bytes| hex(bytes));
            format!("        [{}, {}, {}],\n", fields.join(", "), hex(text), hex(tag))
        };
        let list: String = vectors.iter().map(answer).collect();
        self.tests += &format!(
            "\n#[test]\nfn {name}() {{\n    let answers = [\n{list}    ];\n    \
             seal::<@CRATE@::@MODULE@::{type_name}>(&answers);\n}}\n"
        );
        Ok(())
    }
}
