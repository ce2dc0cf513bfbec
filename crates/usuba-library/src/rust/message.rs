//! Rust types for hash functions with fixed output length, Poly1305, Curve25519 and AEAD.

use super::super::Folder;
use super::super::interface::Description;
use super::super::seal::key_bytes;
use super::super::template::{Value, context};
use super::items::Items;
use super::parts::Part;
use super::text::{literal, type_name};
use usuba_ciphers::{Hash, HashMode, HashVector, Mac, Seal, SealMode, SealVector, Vector, to_hex};

/// Bytes of a result in examples.
const SHOWN: usize = 16;

/// One vector out of this many becomes a test of the crate.
const EVERY: usize = 5;

/// Bytes of a block of CMAC, and of its masks.
const BLOCK: usize = 16;
const CMAC_MASKS: usize = 2 * BLOCK;

/// Bytes of the arrays in the state of a message in pieces, without the prepared key of its hash.
const SEAL_STATE: usize = 4 * BLOCK;

/// Bytes of a message in the tests, at most.
const LONG: usize = 2000;

impl Items<'_> {
    /// A hash function with HMAC, and with HKDF if the library has it.
    pub fn message(&mut self, description: &Description, hash: &Hash, vectors: &[HashVector]) {
        let name = &*description.name;
        let link = &description.operations[0];
        let (chain, block) = (link.output, link.input - link.output);
        let type_name = type_name(name, &self.folder.cipher.title);
        self.parts.insert(Part::Message);
        self.hashes.push((format!("{name}_state"), chain + block));
        self.sizes.push((format!("{name}_state"), 16 + chain + block));
        let macs = hash.has_hmac(block);
        if macs {
            self.sizes.push((format!("hmac_{name}_state"), 16 + 2 * chain + block));
        }
        let empty = HashVector::default();
        let plain = |v: &&HashVector| v.input.len() > 1;
        let shown = vectors.iter().filter(plain).min_by_key(|v| v.input.len()).unwrap_or(&empty);
        let length = SHOWN.min(shown.output.len());
        let values = context! {
            name, type => type_name, block, bytes => hash.output, state => chain + block,
            hmac => 2 * chain + block, macs,
            derives => hash.mode == HashMode::MerkleDamgard, key => literal(&[7; 32]), input => literal(&shown.input),
            shown => length, output => literal(&shown.output[..length]),
        };
        let answer = |v: &HashVector| {
            context! { input => to_hex(&v.input), output => to_hex(&v.output) }
        };
        let short = vectors.iter().filter(|v| v.input.len() <= LONG);
        let answers = short.step_by(EVERY).map(answer).collect();
        self.add(rust!("api/message.rs.in"), &[rust!("ffi/message.rs.in")], &values);
        // The public Rust type is the only link to the type of the C functions.
        let helpers = [rust!("tests/message.rs.in"), rust!("tests/hmac.rs.in")];
        let helpers = if macs { &helpers[..] } else { &helpers[..1] };
        self.test("message", helpers, answers, &values);
    }

    /// Poly1305, whose header is hand-written.
    pub fn poly1305(&mut self) {
        self.parts.insert(Part::Message);
        self.hashes.push(("poly1305_state".into(), 80));
        self.sizes.push(("poly1305_state".into(), 96));
        self.add(rust!("api/poly1305.rs.in"), &[rust!("ffi/poly1305.rs.in")], &context! {});
    }

    /// X25519 and Ed25519, whose header is hand-written.
    pub fn curve25519(&mut self) {
        self.parts.insert(Part::Signature);
        self.add(rust!("api/curve25519.rs.in"), &[rust!("ffi/curve25519.rs.in")], &context! {});
        self.tests += &self.render(rust!("tests/curve25519.rs.in"), &context! {});
    }

    /// A message authentication code with the key of a block cipher of one of `folders`.
    ///
    /// # Errors
    /// None of the folders has the key.
    pub fn mac(&mut self, mac: &Mac, folders: &[Folder], vectors: &[Vector]) -> Result<(), String> {
        let Mac { name, cipher, key, .. } = mac;
        let (inner, context) = self.inner(name, cipher, folders)?;
        let context = context + CMAC_MASKS;
        self.parts.insert(Part::Message);
        self.contexts.push((name.clone(), context));
        self.hashes.push((format!("{name}_state"), 2 * BLOCK));
        self.sizes.push((format!("{name}_state"), 16 + 2 * BLOCK));
        let type_name = type_name(name, &self.folder.cipher.title);
        let values = context! { name, type => type_name, inner, context, key_bytes => key };
        let short = vectors.iter().filter(|v| v.input.len() <= LONG);
        let answer =
            |v: &Vector| Value::from([&v.key[..], &v.input, &v.output].map(to_hex).to_vec());
        let answers = short.step_by(EVERY).map(answer).collect();
        self.add(rust!("api/cmac.rs.in"), &[rust!("ffi/cmac.rs.in")], &values);
        self.test("mac", &[rust!("tests/mac.rs.in")], answers, &values);
        Ok(())
    }

    /// The field of the key of a cipher of one of `folders`, and its bytes.
    fn inner(
        &self,
        name: &str,
        inner: &str,
        folders: &[Folder],
    ) -> Result<(String, usize), String> {
        let place = |folder: &Folder| {
            let at = folder.descriptions().iter().position(|own| own.name == *inner)?;
            let path = type_name(inner, &folder.cipher.title);
            let field = format!("inner: super::{}::{path}", folder.name);
            Some((field, self.words_of(folder, at).1))
        };
        let found = folders.iter().find_map(place);
        found.ok_or(format!("{name}: there is no key `{inner}`"))
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
        let key_bytes = key_bytes(seal);
        let (field, context) = match first.as_ref().or(stream.as_ref()) {
            Some(inner) => self.inner(name, inner, folders)?,
            None => (format!("bytes: [u8; {key_bytes}]"), key_bytes),
        };
        let type_name = type_name(name, &self.folder.cipher.title);
        let beside = self.folder.beside(seal);
        let context = context + beside.map_or(0, |(_, bytes)| bytes);
        self.parts.insert(Part::Seal);
        self.contexts.push((name.clone(), context));
        let (many, pieces) = (*mode == SealMode::Ascon, *mode == SealMode::Gcm);
        let mut fields = vec![field];
        fields.extend(beside.map(|(name, bytes)| format!("{name}: [u8; {bytes}]")));
        let kind = if mode.has_data() { "Data" } else { "Only" };
        let state = beside.map_or(0, |(_, bytes)| SEAL_STATE + bytes);
        if pieces {
            self.sizes.push((format!("{name}_state"), 24 + state));
        }
        let values = context! {
            name, type => type_name, fields, context, key_bytes, nonce, kind, many, pieces, state,
            tag => seal.tag_bytes(),
        };
        let answer = |v: &SealVector| {
            let (text, tag) = v.apart(*mode, seal.tag_bytes());
            let fields = [&v.key, &v.nonce, &v.data, &v.input, text, tag];
            Value::from(fields.map(to_hex).to_vec())
        };
        let short = vectors.iter().filter(|v| v.data.len() <= LONG && v.input.len() <= LONG);
        let answers = short.map(answer).collect();
        let mut ffi = vec![rust!("ffi/key.rs.in"), rust!("ffi/seal.rs.in")];
        let mut helpers = vec![rust!("tests/seal.rs.in")];
        if many {
            helpers.push(rust!("tests/seal_many.rs.in"));
        }
        if pieces {
            ffi.push(rust!("ffi/seal_pieces.rs.in"));
            helpers.push(rust!("tests/seal_pieces.rs.in"));
        }
        self.add(rust!("api/seal.rs.in"), &ffi, &values);
        self.test("seal", &helpers, answers, &values);
        Ok(())
    }
}
