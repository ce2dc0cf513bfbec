//! Generation of AEAD from keystreams and Poly1305: `[[seal]]` in `cipher.toml`.
//!
//! ```text
//! chacha20poly1305     chacha20 encrypts, and its first block has the key of the tag: RFC 8439
//! xsalsa20poly1305     hsalsa20 derives a key from key and nonce, salsa20 encrypts: NaCl secret box
//! ```

use std::collections::BTreeSet;

use super::Folder;
use super::interface::{Description, Kind};
use super::template::{self as t, fill};
use usuba_ciphers::{Seal, SealMode};

/// Bytes of a key of the keystreams and their composed variants.
const KEY: usize = 32;

/// The C of a mode: its shared parts and its own parts.
struct Parts {
    shared: &'static str,
    header: &'static str,
    code: &'static str,
    /// The parameters of a mode between key and message, and before the output.
    data: &'static str,
}

impl Parts {
    fn of(mode: SealMode) -> Parts {
        match mode {
            SealMode::Rfc8439 => Parts {
                shared: t::SEAL_RFC8439_SHARED,
                header: t::SEAL_RFC8439_H,
                code: t::SEAL_RFC8439_C,
                data: "data, data_length, ",
            },
            SealMode::Box => {
                Parts { shared: "", header: t::SEAL_BOX_H, code: t::SEAL_BOX_C, data: "" }
            }
        }
    }
}

impl Folder<'_> {
    /// The header's view of authenticated encryption.
    pub fn seal_descriptions(&self) -> Vec<Description> {
        let describe = |seal: &Seal| Description {
            name: seal.name.clone(),
            kind: Kind::Seal(seal.mode),
            key: KEY,
            nonce: seal.nonce,
            operations: Vec::new(),
        };
        self.cipher.seals.iter().map(describe).collect()
    }

    /// Declarations or definitions of all AEAD modes.
    pub fn seals(&self, common: &str, header: bool) -> String {
        let mut text = String::new();
        let mut there = BTreeSet::new();
        for seal in &self.cipher.seals {
            let parts = Parts::of(seal.mode);
            if !header {
                let shared = [t::SEAL, parts.shared].into_iter();
                shared.filter(|part| there.insert(*part)).for_each(|part| text += part);
            }
            text += &self.one_seal(seal, &parts, common, header);
        }
        text
    }

    fn one_seal(&self, seal: &Seal, parts: &Parts, common: &str, header: bool) -> String {
        let comment = |text: &str| text.replace("*/", "* /");
        let Seal { name, first, stream, nonce, .. } = seal;
        let under = |what: &str, end: &str| {
            let data = parts.data;
            let call = |key: &str, nonce: &str| {
                format!(
                    "usuba_{name}_{what}_under({key}, {nonce}, {data}in, length,\n        {end})"
                )
            };
            match first {
                None => format!("    return {};\n", call("&key->inner", "nonce")),
                Some(_) => format!(
                    "    {{\n        usuba_{stream}_key subkey;\n        \
                     uint8_t inner[USUBA_{}_NONCE_BYTES];\n        \
                     status = usuba_{name}_derive(key, nonce, &subkey, inner);\n        \
                     if (status == USUBA_OK)\n            status = {};\n        \
                     {common}wipe(&subkey, sizeof subkey);\n        return status;\n    }}\n",
                    stream.to_uppercase(),
                    call("&subkey", "inner")
                ),
            }
        };
        let values = [
            ("TITLE", comment(&self.cipher.title)),
            ("SPEC", comment(&self.cipher.spec)),
            ("NAME", name.clone()),
            ("UPPER", name.to_uppercase()),
            ("COMMON", common.to_string()),
            ("NONCE", nonce.to_string()),
            ("KEY", first.as_ref().unwrap_or(stream).clone()),
            ("FIRST", first.clone().unwrap_or_default()),
            ("STREAM", stream.clone()),
            ("STREAM_UPPER", stream.to_uppercase()),
            ("SEAL", under("seal", "out, tag")),
            ("OPEN", under("open", "tag, out")),
        ];
        let template = match (header, first) {
            (true, _) => [t::SEAL_KEY_H, parts.header].concat(),
            (false, None) => [t::SEAL_KEY_C, parts.code].concat(),
            (false, Some(_)) => [t::SEAL_KEY_C, t::SEAL_FIRST_C, parts.code].concat(),
        };
        fill(&template, &values)
    }
}
