//! Generation of AEAD: `[[seal]]` in `cipher.toml`.
//!
//! ```text
//! chacha20poly1305     chacha20 encrypts, and its first block has the key of the tag: RFC 8439
//! xsalsa20poly1305     hsalsa20 derives a key from key and nonce, salsa20 encrypts: NaCl secret box
//! aes128_gcm           aes128 encrypts in CTR mode, ghash_absorb hashes under a key: NIST SP 800-38D
//! aes128_gcm_siv       polyval_absorb hashes the text, and the hash is the counter: RFC 8452
//! aes128_ccm           aes128 encrypts in CTR mode, and its CBC-MAC is the tag: NIST SP 800-38C
//! aes128_ocb           aes128 encrypts blocks between offsets, and their sum is the tag: RFC 7253
//! xaes256_gcm          aes256 derives a key of aes256_gcm from key and nonce: C2SP
//! ascon_aead128        one state takes key, nonce, data and text, and its end is the tag
//! ```
//!
//! A mode consists of a value of `SealMode`, an arm in [`parts`], and the C files that the arm names.

use std::collections::BTreeSet;

use super::Folder;
use super::interface::{Described, Description, Kind};
use super::template::{self as t, Template, context};
use usuba::names::did_you_mean;
use usuba_ciphers::{Duplex, KeyedHash, Mac, Seal, SealMode};

/// Bytes of a key of the keystreams and their composed variants.
const KEY: usize = 32;

/// The state of Ascon-AEAD128, its key, its nonce, and the beginning of its first state.
const ASCON: [usize; 4] = [40, 16, 16, 8];

/// Bytes of a block of Ascon-AEAD128.
const RATE: usize = 16;

/// Bytes of a block, of a nonce and of keys of GCM.
const GCM: usize = 16;
const GCM_NONCE: usize = 12;
const GCM_KEYS: std::ops::RangeInclusive<usize> = 16..=32;

/// Blocks of a hash function that are taken at once, as in `lib/c/modes/seal_keyed.c`.
const GCM_WIDE: usize = 8;

/// Bytes of the longest prepared key of a hash function, as in `lib/c/modes/seal_keyed.c`.
const GCM_PREPARED: usize = 48;

/// Bytes of the shortest nonce for a message in segments.
const SEGMENTS: usize = 12;

/// Masks of OCB, as in `lib/c/modes/seal_ocb.c`.
const OCB_MASKS: usize = 34;

/// Bytes of the longest text that a kernel takes: a buffer for many messages lies on the stack.
const RUN: usize = 512;

/// Messages at once, if a kernel has several side by side.
const SIDE: usize = 32;

/// The headers and C files of a mode.
fn parts(mode: SealMode) -> (&'static [Template], &'static [Template]) {
    match mode {
        SealMode::Rfc8439 => (
            &[t::SEAL_KEY_H, t::SEAL_BEHIND_H],
            &[
                t::SEAL_KEY_C,
                t::SEAL_FIRST_C,
                t::SEAL_RFC8439_C,
                t::SEAL_DETACHED_C,
                t::SEAL_BEHIND_C,
            ],
        ),
        SealMode::Box => {
            (&[t::SEAL_KEY_H, t::SEAL_BOX_H], &[t::SEAL_KEY_C, t::SEAL_FIRST_C, t::SEAL_BOX_C])
        }
        SealMode::Gcm => (
            &[t::SEAL_KEY_H, t::SEAL_BEHIND_H, t::SEAL_PIECES_H],
            &[t::SEAL_GCM_C, t::SEAL_DETACHED_C, t::SEAL_BEHIND_C, t::SEAL_PIECES_C],
        ),
        SealMode::GcmSiv => (
            &[t::SEAL_KEY_H, t::SEAL_BEHIND_H],
            &[t::SEAL_KEY_C, t::SEAL_SIV_C, t::SEAL_DETACHED_C, t::SEAL_BEHIND_C],
        ),
        SealMode::Ccm => (
            &[t::SEAL_KEY_H, t::SEAL_BEHIND_H],
            &[t::SEAL_KEY_C, t::CBC_MAC_C, t::SEAL_CCM_C, t::SEAL_DETACHED_C, t::SEAL_BEHIND_C],
        ),
        SealMode::Ocb => (
            &[t::SEAL_KEY_H, t::SEAL_BEHIND_H],
            &[t::SEAL_OCB_C, t::SEAL_DETACHED_C, t::SEAL_BEHIND_C],
        ),
        SealMode::Xaes => (
            &[t::SEAL_KEY_H, t::SEAL_BEHIND_H],
            &[t::SEAL_XAES_C, t::SEAL_DETACHED_C, t::SEAL_BEHIND_C],
        ),
        SealMode::Ascon => (
            &[t::SEAL_KEY_H, t::SEAL_BEHIND_H, t::SEAL_ASCON_H],
            &[t::SEAL_ASCON_C, t::SEAL_BEHIND_C],
        ),
    }
}

/// Of which messages segments are side by side: with a key each, or under one.
fn side_by_side(mode: SealMode) -> Option<&'static str> {
    match mode {
        SealMode::Ascon => Some("keys"),
        SealMode::Ccm => Some("key"),
        _ => None,
    }
}

/// Bytes of a key.
pub fn key_bytes(seal: &Seal) -> usize {
    match seal.mode {
        SealMode::Rfc8439 | SealMode::Box => KEY,
        SealMode::Ascon => ASCON[1],
        _ => seal.key.unwrap_or_default(),
    }
}

/// Checks that the ciphers of all modes are there, with keys of the lengths of the modes.
///
/// # Errors
/// One sentence on the cipher.
pub fn check_ciphers(folders: &[Folder]) -> Result<(), String> {
    let all: Vec<Description> = folders.iter().flat_map(Folder::public).collect();
    let ciphers = folders.iter().map(|folder| folder.cipher);
    for Seal { name, first, stream, key, .. } in ciphers.clone().flat_map(|own| &own.seals) {
        for cipher in first.iter().chain(stream) {
            check_cipher(&all, name, cipher, *key)?;
        }
    }
    for Mac { name, cipher, key, .. } in ciphers.flat_map(|own| &own.macs) {
        check_cipher(&all, name, cipher, Some(*key))?;
    }
    Ok(())
}

/// Checks that a function is there; with `key` that it is a block cipher with blocks of 16 bytes and
/// keys of that length.
fn check_cipher(
    all: &[Description],
    name: &str,
    cipher: &str,
    key: Option<usize>,
) -> Result<(), String> {
    let Some(found) = all.iter().find(|description| description.name == *cipher) else {
        return Err(format!(
            "{name}: `{cipher}` is no function of its folder or of `needs`; help: add the folder that \
             has it, as in `needs = [\"folder:{cipher}\"]`"
        ));
    };
    let Some(key) = key else { return Ok(()) };
    if !matches!(found.kind, Kind::Block { wide: true, .. }) {
        return Err(format!(
            "{name}: `{cipher}` is no block cipher with blocks of {GCM} bytes; help: choose one such as \
             `aes128`"
        ));
    }
    if found.key != key {
        return Err(format!(
            "{name}: found {key} bytes of `key`, expected {}, as `{cipher}` has",
            found.key
        ));
    }
    Ok(())
}

impl Folder<'_> {
    /// The header's view of authenticated encryption.
    pub fn seal_descriptions(&self) -> Vec<Description> {
        let describe = |seal: &Seal| Description {
            name: seal.name.clone(),
            kind: Kind::Seal(seal.mode),
            key: key_bytes(seal),
            nonce: seal.nonce,
            operations: Vec::new(),
        };
        self.cipher.seals.iter().map(describe).collect()
    }

    /// The operation of a function.
    fn named(&self, function: &str) -> Described {
        let (at, number) = self.place(function);
        self.described(at, number)
    }

    /// Bytes of the texts of a duplex: forwards and backwards.
    fn runs(&self, duplex: &Duplex) -> [usize; 2] {
        [&duplex.seal, &duplex.open].map(|function| {
            let Described { input, output, .. } = self.named(function);
            if input == output { input.saturating_sub(ASCON[0]) } else { 0 }
        })
    }

    /// Checks the sizes of functions against the requirements of their modes.
    ///
    /// # Errors
    /// One sentence on the size that disagrees.
    pub fn check_seals(&self) -> Result<(), String> {
        let [state, _, nonce, start] = ASCON;
        let mut common = None;
        for seal in &self.cipher.seals {
            self.check_hash(seal)?;
            self.check_inner(seal)?;
            let Seal { name, nonce: own, duplex, .. } = seal;
            let Some(duplex) = duplex else { continue };
            for function in [&duplex.long, &duplex.short] {
                let Described { input, output, .. } = self.named(function);
                if (input, output) != (state, state) {
                    return Err(format!(
                        "{name}: `{function}` maps {input} bytes to {output}, expected {state} to \
                         {state}"
                    ));
                }
            }
            let [seal, open] = self.runs(duplex);
            if seal != open || !(RATE..=RUN).contains(&seal) || seal % RATE != 0 {
                return Err(format!(
                    "{name}: `{}` and `{}` have other sizes, expected a state of {state} bytes and \
                     the same number of blocks of {RATE}, at most {}",
                    duplex.seal,
                    duplex.open,
                    RUN / RATE
                ));
            }
            if *own != nonce || duplex.start.len() != start {
                return Err(format!(
                    "{name}: there are {own} bytes of `nonce` and {} of `start`, expected {nonce} and \
                     {start}",
                    duplex.start.len()
                ));
            }
            if *common.get_or_insert(seal) != seal {
                return Err(format!("{name}: all of a folder take texts of one length at a time"));
            }
        }
        Ok(())
    }

    /// The function that takes eight blocks at once, if it exists for a target of the output.
    fn wide_of<'h>(&self, hash: &'h KeyedHash) -> Option<&'h String> {
        let mut functions = self
            .compiled
            .iter()
            .flat_map(|compiled| &compiled.primitive.operations)
            .flat_map(|operation| &operation.functions);
        hash.wide.as_ref().filter(|wide| functions.any(|function| function.name == **wide))
    }

    /// Bytes of a prepared key of the hash function, behind the state; 0 without one.
    fn prepared(&self, seal: &Seal) -> usize {
        let powers = |hash: &KeyedHash| self.wide_of(hash).map_or(0, |_| GCM_WIDE * GCM);
        let bytes = |hash: &KeyedHash| self.named(&hash.prepare).output + powers(hash);
        seal.hash.as_ref().map_or(0, bytes)
    }

    /// The array beside the key of a cipher: its name and its bytes.
    pub(super) fn beside(&self, seal: &Seal) -> Option<(&'static str, usize)> {
        match seal.mode {
            SealMode::Gcm => Some(("hash", self.prepared(seal))),
            SealMode::Xaes => Some(("mask", GCM)),
            SealMode::Ocb => Some(("masks", OCB_MASKS * GCM)),
            _ => None,
        }
    }

    /// Checks the sizes of a hash function with a key.
    fn check_hash(&self, Seal { name, nonce, key, hash, .. }: &Seal) -> Result<(), String> {
        let Some(hash) = hash else { return Ok(()) };
        let (prepare, chain) = (self.named(&hash.prepare), self.named(&hash.chain));
        if prepare.output > GCM_PREPARED {
            return Err(format!(
                "{name}: found {} bytes of a prepared key of `{}`, expected at most {GCM_PREPARED}",
                prepare.output, hash.prepare
            ));
        }
        let state = GCM + prepare.output;
        if prepare.input != GCM || (chain.output, chain.input) != (state, state + GCM) {
            return Err(format!(
                "{name}: `{}` and `{}` have sizes that do not fit: expected {GCM} bytes to a prepared \
                 key, and a state of {GCM} bytes, that key and a block of {GCM} to the first two",
                hash.prepare, hash.chain
            ));
        }
        let wide = self.wide_of(hash).map(|wide| (wide, self.named(wide)));
        let state = state + GCM_WIDE * GCM;
        if let Some((wide, sizes)) = &wide
            && (sizes.output, sizes.input) != (state, state + GCM_WIDE * GCM)
        {
            return Err(format!(
                "{name}: `{wide}` has sizes that do not fit: expected a state of {GCM} bytes, the \
                 prepared key, {GCM_WIDE} powers of {GCM} bytes and {GCM_WIDE} blocks to the first \
                 three"
            ));
        }
        if *nonce != GCM_NONCE || !key.is_some_and(|bytes| GCM_KEYS.contains(&bytes)) {
            return Err(format!(
                "{name}: found {nonce} bytes of `nonce` and {} of `key`, expected {GCM_NONCE}, and {} \
                 to {}",
                key.unwrap_or_default(),
                GCM_KEYS.start(),
                GCM_KEYS.end()
            ));
        }
        Ok(())
    }

    /// The authenticated encryption whose key is derived.
    fn inner(&self, seal: &Seal) -> Option<&Seal> {
        let inner = seal.inner.as_ref()?;
        self.cipher.seals.iter().find(|other| other.name == *inner)
    }

    /// Checks the authenticated encryption whose key is derived.
    fn check_inner(&self, seal: &Seal) -> Result<(), String> {
        let Seal { name, nonce, key, inner, .. } = seal;
        let Some(inner) = inner else { return Ok(()) };
        let before = self.cipher.seals.iter().take_while(|other| other.name != *name);
        let earlier = before.filter(|other| other.mode == SealMode::Gcm);
        let Some(found) = earlier.clone().find(|other| other.name == *inner) else {
            let help = did_you_mean(inner, earlier.map(|other| other.name.as_str()));
            let help = help.map_or(String::new(), |near| format!("; help: {near}"));
            return Err(format!(
                "{name}: `{inner}` is no earlier `[[seal]]` of mode `gcm` in this folder{help}"
            ));
        };
        let derived = nonce.checked_sub(found.nonce);
        if found.key != *key || key.is_none_or(|key| key % GCM != 0) || derived != Some(GCM_NONCE) {
            return Err(format!(
                "{name}: found {nonce} bytes of `nonce` and {} of `key`, expected {} and {} in whole \
                 blocks of {GCM}, for `{inner}`",
                key.unwrap_or_default(),
                GCM_NONCE + found.nonce,
                found.key.unwrap_or_default()
            ));
        }
        Ok(())
    }

    /// Whether a long message may be in segments, with five bytes of each nonce for their numbers.
    fn has_segments(&self, seal: &Seal) -> bool {
        seal.mode.has_data() && seal.nonce >= SEGMENTS && !self.cipher.minimal
    }

    /// Whether a kernel of a function has several states side by side.
    fn is_wide(&self, function: &str) -> bool {
        let (at, number) = self.place(function);
        let mut rungs = self.ladders[at][number].iter().flatten();
        rungs.any(|rung| self.cores[rung.used.core].unit > 1)
    }

    /// Declarations or definitions of all AEAD modes.
    pub fn seals(&self, common: &str, header: bool) -> String {
        let mut text = String::new();
        let mut there = BTreeSet::new();
        for seal in &self.cipher.seals {
            if !header {
                let segments = self.has_segments(seal).then(|| t::SEGMENTS.to_string());
                let shared = [t::SEAL.to_string()].into_iter().chain(self.shared(seal, common));
                let shared = shared.chain(segments);
                shared.filter(|part| there.insert(part.clone())).for_each(|part| text += &part);
            }
            text += &self.one_seal(seal, common, header);
        }
        text
    }

    /// The C that messages of a mode share.
    fn shared(&self, seal: &Seal, common: &str) -> Vec<String> {
        let text = |part: &str| part.to_string();
        match (seal.mode, &seal.duplex) {
            (SealMode::Rfc8439, _) => [t::SEAL_STREAM, t::SEAL_RFC8439_SHARED].map(text).to_vec(),
            (SealMode::Gcm, _) => [t::SEAL_STREAM, t::SEAL_KEYED, t::SEAL_GCM].map(text).to_vec(),
            (SealMode::GcmSiv, _) => [t::SEAL_KEYED, t::SEAL_SIV].map(text).to_vec(),
            (SealMode::Xaes, _) => vec![text(t::TIMES_X)],
            (SealMode::Ccm, _) => vec![text(t::SEAL_CCM)],
            (SealMode::Ocb, _) => [t::TIMES_X, t::SEAL_OCB].map(text).to_vec(),
            (SealMode::Ascon, Some(duplex)) => {
                let wide = duplex.functions().iter().any(|function| self.is_wide(function));
                let side = if wide { SIDE } else { 1 };
                let [run, _] = self.runs(duplex);
                vec![t::SEAL_ASCON.render(context! { state => ASCON[0], run, side, common })]
            }
            _ => vec![text(t::SEAL_STREAM)],
        }
    }

    fn one_seal(&self, seal: &Seal, common: &str, header: bool) -> String {
        let comment = |text: &str| text.replace("*/", "* /");
        let Seal { name, mode, first, stream, duplex, hash, inner, nonce, .. } = seal;
        let (headers, code) = parts(*mode);
        let is_used = |part: &&Template| first.is_some() || **part != t::SEAL_FIRST_C;
        let own = if header { headers } else { code }.iter().filter(is_used);
        let segments: &[Template] = match (self.has_segments(seal), header, mode) {
            (false, ..) => &[],
            (true, true, _) => &[t::SEGMENTS_H],
            (true, false, SealMode::Ccm) => &[t::SEAL_CCM_SIDE_C, t::SEGMENTS_C],
            (true, false, _) => &[t::SEGMENTS_C],
        };
        let templates: Vec<Template> = own.chain(segments).copied().collect();
        let key = first.as_ref().or(stream.as_ref());
        let operation =
            |function: &String| format!("usuba_{}_operation", self.named(function).name);
        let operations = duplex.iter().flat_map(|duplex| duplex.functions().map(operation));
        let mut operations = operations.collect::<Vec<_>>().into_iter();
        let mut next = || operations.next().unwrap_or_default();
        let start = duplex.iter().flat_map(|duplex| &duplex.start);
        let start: Vec<String> = start.map(|byte| format!("0x{byte:02x}")).collect();
        // A derived key is one of another mode, or of the keystream.
        let derived = inner.as_ref().or(first.as_ref().and(stream.as_ref()));
        let inner_nonce = self.inner(seal).map(|inner| inner.nonce);
        t::render(
            &templates,
            &context! {
                title => comment(&self.cipher.title), spec => comment(&self.cipher.spec), name,
                upper => name.to_uppercase(), common, nonce, key, key_bytes => key_bytes(seal), first,
                stream, stream_upper => stream.as_ref().map(|stream| stream.to_uppercase()),
                within => inner.as_ref().unwrap_or(name),
                cipher => stream, tag => seal.tag_bytes(), subkey => derived, subkey_upper => derived.map(|subkey| subkey.to_uppercase()), inner, inner_nonce,
                public => if mode.has_public_nonce() { " /* public */" } else { "" },
                many => side_by_side(*mode), beside => self.beside(seal).map(|(name, bytes)| format!("{name}[{bytes}]")),
                longer => next(), shorter => next(), seal => next(), open => next(),
                start => start.join(", "), hash => hash.as_ref().map(|_| self.prepared(seal)),
                prepare => hash.as_ref().map(|hash| &hash.prepare),
                chaining => hash.as_ref().map(|hash| format!("usuba_{}_chaining", hash.chain)),
                wide => hash.as_ref().and_then(|hash| self.wide_of(hash))
                    .map(|wide| format!("usuba_{wide}_chaining")),
                under => match mode {
                    SealMode::Gcm | SealMode::GcmSiv | SealMode::Ocb => "key",
                    _ => "&key->inner",
                },
                exceeds => match mode {
                    SealMode::Gcm | SealMode::Xaes => "usuba_gcm_exceeds(length, data_length)".into(),
                    SealMode::GcmSiv => "usuba_siv_exceeds(length, data_length)".into(),
                    SealMode::Ocb => "usuba_ocb_exceeds(length, data_length)".into(),
                    SealMode::Ccm => format!("usuba_ccm_exceeds({}, length)", 15 - nonce),
                    _ => "usuba_seal_exceeds(length)".to_string(),
                },
            },
        )
    }
}
