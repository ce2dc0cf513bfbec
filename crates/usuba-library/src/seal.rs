//! Generation of AEAD from keystreams and Poly1305: `[[seal]]` in `cipher.toml`.
//!
//! ```text
//! chacha20poly1305     chacha20 encrypts, and its first block has the key of the tag: RFC 8439
//! xsalsa20poly1305     hsalsa20 derives a key from key and nonce, salsa20 encrypts: NaCl secret box
//! ```

use std::collections::BTreeSet;

use super::Folder;
use super::interface::{Description, Kind};
use super::template::{self as t, Template, context};
use usuba_ciphers::{Seal, SealMode};

/// Bytes of a key of the keystreams and their composed variants.
const KEY: usize = 32;

/// The C of a mode: its shared parts and its own parts.
struct Parts {
    shared: &'static str,
    header: Template,
    code: Template,
}

impl Parts {
    fn of(mode: SealMode) -> Parts {
        match mode {
            SealMode::Rfc8439 => Parts {
                shared: t::SEAL_RFC8439_SHARED,
                header: t::SEAL_RFC8439_H,
                code: t::SEAL_RFC8439_C,
            },
            SealMode::Box => Parts { shared: "", header: t::SEAL_BOX_H, code: t::SEAL_BOX_C },
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
        let templates = match (header, first) {
            (true, _) => vec![t::SEAL_KEY_H, parts.header],
            (false, None) => vec![t::SEAL_KEY_C, parts.code],
            (false, Some(_)) => vec![t::SEAL_KEY_C, t::SEAL_FIRST_C, parts.code],
        };
        t::render(
            &templates,
            &context! {
                title => comment(&self.cipher.title), spec => comment(&self.cipher.spec), name,
                upper => name.to_uppercase(), common, nonce, key => first.as_ref().unwrap_or(stream),
                first, stream, stream_upper => stream.to_uppercase(),
            },
        )
    }
}
