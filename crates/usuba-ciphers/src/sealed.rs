//! Specifications of Poly1305, and of authenticated encryption from a keystream and Poly1305, over
//! strings of bytes; see [`crate::modes`].
//!
//! ```text
//! poly1305(k, m)  = ((m1 + 2^128)·r^n + … + (mn + 2^(8·length))·r mod 2^130 - 5) + k[16..32]
//! secret box      = poly1305(stream[0..32], c) ++ c,   c = text ^ stream[32..]
//! RFC 8439        = c ++ poly1305(block 0, data, zeros, c, zeros, lengths),   c = text ^ blocks 1, 2, …
//! ```

use crate::modes::{Bytes, Text, counted, sum};
use crate::{Function, Seal, SealMode};

/// The integers modulo 2^130 - 5 over which Poly1305 runs.
pub trait Residues: Bytes {
    type Residue: Clone;

    /// The integer of a string, the lowest byte first.
    ///
    /// # Errors
    /// A byte is not known.
    fn residue(&mut self, text: &[Self::Byte]) -> Result<Self::Residue, String>;

    /// (a + b) c
    ///
    /// # Errors
    /// The integer has no form that can be handled.
    fn step(
        &mut self,
        a: &Self::Residue,
        b: &Self::Residue,
        c: &Self::Residue,
    ) -> Result<Self::Residue, String>;

    /// The lowest 16 bytes of the number below 2^130 - 5.
    fn lowest(&mut self, residue: &Self::Residue) -> Text<Self>;

    /// The sum of two strings of one length as numbers, without the carry of the last byte.
    fn added(&mut self, a: &[Self::Byte], b: &[Self::Byte]) -> Text<Self>;
}

/// Bytes of a block of Poly1305.
const BLOCK: usize = 16;

/// RFC 8439, section 2.5, for a key of 32 bytes.
///
/// # Errors
/// As [`Residues::step`].
pub fn poly1305<B: Residues>(
    on: &mut B,
    key: &[B::Byte],
    message: &[B::Byte],
) -> Result<Text<B>, String> {
    let mask = |at: usize| match at {
        3 | 7 | 11 | 15 => 0x0f,
        4 | 8 | 12 => 0xfc,
        _ => 0xff,
    };
    let (r, s) = key.split_at(BLOCK);
    let r: Text<B> = r.iter().enumerate().map(|(at, byte)| on.common(byte, mask(at))).collect();
    let r = on.residue(&r)?;
    let mut total = on.residue(&[])?;
    for block in message.chunks(BLOCK) {
        let block = on.residue(&[block, &[on.number(1)]].concat())?;
        total = on.step(&total, &block, &r)?;
    }
    let lowest = on.lowest(&total);
    Ok(on.added(&lowest, s))
}

/// The ciphertext and the tag of a message with associated data. `then` makes the keystream.
///
/// # Errors
/// As [`Residues::step`] and [`Bytes::apply`], or there is another mode.
pub fn sealed<B: Residues>(
    on: &mut B,
    (seal, then): (&Seal, &Function),
    [key, nonce, data, text]: [&[B::Byte]; 4],
) -> Result<(Text<B>, Text<B>), String> {
    let (code, stream) = streams(on, (seal, then), key, nonce, text.len())?;
    let cipher = sum(on, text, &stream);
    let tag = tag(on, seal, &code, data, &cipher)?;
    Ok((cipher, tag))
}

/// The text and the tag of a ciphertext with associated data.
///
/// # Errors
/// As [`sealed`].
pub fn opened<B: Residues>(
    on: &mut B,
    (seal, then): (&Seal, &Function),
    [key, nonce, data, cipher]: [&[B::Byte]; 4],
) -> Result<(Text<B>, Text<B>), String> {
    let (code, stream) = streams(on, (seal, then), key, nonce, cipher.len())?;
    let tag = tag(on, seal, &code, data, cipher)?;
    Ok((sum(on, cipher, &stream), tag))
}

/// The key of Poly1305, and the keystream of a text.
fn streams<B: Residues>(
    on: &mut B,
    (seal, then): (&Seal, &Function),
    key: &[B::Byte],
    nonce: &[B::Byte],
    length: usize,
) -> Result<(Text<B>, Text<B>), String> {
    let skipped = match seal.mode {
        SealMode::Box => 32,
        SealMode::Rfc8439 => on.sizes(&then.name)?[2],
        _ => return Err(format!("`{}` has another mode", seal.name)),
    };
    let (mut key, mut nonce) = (key.to_vec(), nonce.to_vec());
    if let Some(first) = &seal.first {
        let [_, begin, _] = on.sizes(first)?;
        if nonce.len() < begin {
            return Err("the nonce is shorter than the input of `first`".to_string());
        }
        let rest = nonce.split_off(begin);
        key = on.apply(first, &key, &nonce)?;
        nonce = rest;
    }
    let mut all = counted(on, then, &key, &nonce, 0, skipped + length)?;
    let stream = all.split_off(skipped);
    all.truncate(32);
    Ok((all, stream))
}

fn tag<B: Residues>(
    on: &mut B,
    seal: &Seal,
    code: &[B::Byte],
    data: &[B::Byte],
    cipher: &[B::Byte],
) -> Result<Text<B>, String> {
    if seal.mode == SealMode::Box {
        return poly1305(on, code, cipher);
    }
    let mut message = Vec::new();
    for part in [data, cipher] {
        message.extend_from_slice(part);
        message.resize(message.len().next_multiple_of(BLOCK), on.number(0));
    }
    for part in [data, cipher] {
        message.extend(on.numbers(&(part.len() as u64).to_le_bytes()));
    }
    poly1305(on, code, &message)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::known::{Known, Numbers};

    impl Residues for Numbers<'_> {
        type Residue = BigUint;

        fn residue(&mut self, text: &[u8]) -> Result<BigUint, String> {
            Ok(BigUint::from_bytes_le(text))
        }

        fn step(&mut self, a: &BigUint, b: &BigUint, c: &BigUint) -> Result<BigUint, String> {
            Ok((a + b) * c % ((BigUint::from(1u8) << 130u32) - 5u8))
        }

        fn lowest(&mut self, residue: &BigUint) -> Vec<u8> {
            let mut bytes = residue.to_bytes_le();
            bytes.resize(16, 0);
            bytes
        }

        fn added(&mut self, a: &[u8], b: &[u8]) -> Vec<u8> {
            let mut bytes = (BigUint::from_bytes_le(a) + BigUint::from_bytes_le(b)).to_bytes_le();
            bytes.resize(a.len(), 0);
            bytes
        }
    }

    fn bytes(hex: &str) -> Vec<u8> {
        crate::values::hex(hex).expect("digits")
    }

    /// RFC 8439, section 2.5.2, and the messages of appendix A.3 whose sums are near the modulus.
    #[test]
    fn poly1305_has_its_published_answers() {
        let key = bytes("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
        let text = b"Cryptographic Forum Research Group";
        let cases = [
            (key, text.to_vec(), "a8061dc1305136c6c22b8baf0c0127a9"),
            (
                [bytes("02"), vec![0; 31]].concat(),
                vec![0xff; 16],
                "03000000000000000000000000000000",
            ),
            (
                [bytes("02"), vec![0; 15], vec![0xff; 16]].concat(),
                [bytes("02"), vec![0; 15]].concat(),
                "03000000000000000000000000000000",
            ),
            (
                [bytes("02"), vec![0; 31]].concat(),
                [bytes("fd"), vec![0xff; 15]].concat(),
                "faffffffffffffffffffffffffffffff",
            ),
        ];
        for (key, message, tag) in cases {
            let found = poly1305(&mut Numbers(&[]), &key, &message).expect("a tag");
            assert_eq!(crate::to_hex(&found), tag);
        }
    }

    /// The vectors of the folders, which are of the RFC, of a draft and of NaCl, have their
    /// ciphertexts and tags.
    #[test]
    fn sealed_messages_have_their_published_answers() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        let read = |name: &str| crate::read(&root.join(name)).expect("cipher.toml");
        for (folder, base) in [("chacha20poly1305", "chacha20"), ("xsalsa20poly1305", "salsa20")] {
            let (own, base) = (read(folder), read(base));
            for seal in &own.seals {
                let stream = seal.stream.as_deref().expect("a keystream");
                let then = base.functions.iter().find(|f| f.name == format!("{stream}_block"));
                let then = then.expect("a function");
                let first = base.functions.iter().filter(|f| Some(&f.name) == seal.first.as_ref());
                let known: Vec<Known> = std::iter::once(then)
                    .chain(first)
                    .map(|function| Known::new(&base, function).expect("a program"))
                    .collect();
                let all: Vec<&Known> = known.iter().collect();
                let vectors = own.seals_of(seal).expect("vectors");
                let short = vectors.iter().filter(|vector| vector.input.len() < 300);
                assert!(short.clone().count() > 2, "{}", seal.name);
                for vector in short {
                    let parts = [&vector.key[..], &vector.nonce, &vector.data, &vector.input];
                    let numbers = &mut Numbers(&all);
                    let (cipher, tag) = sealed(numbers, (seal, then), parts).expect("a message");
                    let wanted = vector.apart(seal.mode, 16);
                    assert_eq!((&cipher[..], &tag[..]), wanted);
                    let parts = [&vector.key[..], &vector.nonce, &vector.data, &cipher];
                    let (text, other) = opened(numbers, (seal, then), parts).expect("a message");
                    assert_eq!((text, other), (vector.input.clone(), tag));
                }
            }
        }
    }
}
