//! XTS mode over blocks of 16 bytes, from IEEE 1619.
//!
//! ```text
//! tweak 0 = E(tweak key, number)     tweak j + 1 = 2 (tweak j) in GF(2^128)
//! block j = E(key, text j ^ tweak j) ^ tweak j
//! ```
//!
//! Byte 0 of a tweak has the lowest coefficients. A last block of less than 16 bytes steals the rest
//! of the block before it.

use crate::modes::{Bytes, Text, sum};

/// Bytes of a block.
const BLOCK: usize = 16;

/// One direction of the mode, by the names of functions of a cipher folder.
pub struct Xts<'a> {
    /// Encrypts numbers of data units.
    pub encrypt: &'a str,
    /// Encrypts or decrypts blocks.
    pub operation: &'a str,
    /// Whether the operation decrypts: the last tweaks change places.
    pub is_decryption: bool,
}

impl Xts<'_> {
    /// A data unit of at least one block under a key and a tweak key.
    ///
    /// # Errors
    /// The unit is shorter than a block, or as [`Bytes::apply`].
    pub fn unit<B: Bytes>(
        &self,
        on: &mut B,
        [key, tweak_key]: [&[B::Byte]; 2],
        number: &[B::Byte],
        text: &[B::Byte],
    ) -> Result<Text<B>, String> {
        let (whole, rest) = (text.len() / BLOCK, text.len() % BLOCK);
        let mut tweaks = vec![on.apply(self.encrypt, tweak_key, number)?];
        for at in 0..whole {
            tweaks.push(doubled(on, &tweaks[at]));
        }
        let block = |on: &mut B, text: &[B::Byte], tweak: usize| {
            let tweak = &tweaks[tweak];
            let input = sum(on, text, tweak);
            let output = on.apply(self.operation, key, &input)?;
            Ok::<Text<B>, String>(sum(on, &output, tweak))
        };
        let alone = if rest > 0 { whole.checked_sub(1) } else { Some(whole).filter(|&n| n > 0) };
        let alone = alone.ok_or("a data unit is shorter than a block")?;
        let mut output = Vec::new();
        for (at, text) in text.chunks(BLOCK).take(alone).enumerate() {
            output.extend(block(on, text, at)?);
        }
        if rest > 0 {
            let (first, second) = if self.is_decryption { (whole, alone) } else { (alone, whole) };
            let (last, short) = text[BLOCK * alone..].split_at(BLOCK);
            let mut last = block(on, last, first)?;
            let stolen = last.split_off(rest);
            output.extend(block(on, &[short, &stolen].concat(), second)?);
            output.extend(last);
        }
        Ok(output)
    }
}

/// Twice a number of GF(2^128) modulo x^128 + x^7 + x^2 + x + 1.
fn doubled<B: Bytes>(on: &mut B, number: &[B::Byte]) -> Text<B> {
    let mut carry = on.number(0);
    for bit in [0, 1, 2, 7] {
        let top = on.rotated(&number[BLOCK - 1], 1 + bit);
        let top = on.common(&top, 1 << bit);
        carry = on.sum(&carry, &top);
    }
    let mut output = Vec::new();
    for byte in number {
        let rotated = on.rotated(byte, 1);
        let own = on.common(&rotated, 0xfe);
        output.push(on.sum(&own, &carry));
        carry = on.common(&rotated, 1);
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{Known, Numbers};

    /// IEEE 1619, annex B: vector 1 of two blocks, and vector 15 of 17 bytes.
    #[test]
    fn data_units_have_their_published_answers() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/aes");
        let cipher = crate::read(&root).expect("cipher.toml");
        let known = ["aes128_encrypt", "aes128_decrypt"].map(|name| {
            let function = cipher.functions.iter().find(|f| f.name == name);
            Known::new(&cipher, function.expect("it is there")).expect("a program")
        });
        let numbers = &mut Numbers(&[&known[0], &known[1]]);
        let [encrypt, decrypt] = [("aes128_encrypt", false), ("aes128_decrypt", true)].map(
            |(operation, is_decryption)| Xts {
                encrypt: "aes128_encrypt",
                operation,
                is_decryption,
            },
        );
        let keys: [Vec<u8>; 2] = [(0xf0..=0xff).rev().collect(), (0xb0..=0xbf).rev().collect()];
        let mut number = vec![0x9a, 0x78, 0x56, 0x34, 0x12];
        number.resize(16, 0);
        let text: Vec<u8> = (0..17).collect();
        let zeros = [vec![0; 16], vec![0; 16]];
        for (keys, number, text, answer) in [
            (
                &zeros,
                &vec![0; 16],
                vec![0; 32],
                "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e",
            ),
            (&keys, &number, text, "6c1625db4671522d3d7599601de7ca09ed"),
        ] {
            let keys = [&keys[0][..], &keys[1][..]];
            let unit = encrypt.unit(numbers, keys, number, &text).expect("a unit");
            assert_eq!(crate::to_hex(&unit), answer);
            assert_eq!(decrypt.unit(numbers, keys, number, &unit).expect("a unit"), text);
        }
        let keys = [&keys[0][..], &keys[1][..]];
        assert!(encrypt.unit(numbers, keys, &number, &[0; 15]).is_err());
    }
}
