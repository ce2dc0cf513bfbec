//! Sponge functions and the constructions around them, once more beside the library: FIPS 202,
//! NIST SP 800-185, RFC 9861 and NIST SP 800-232 over a block function under the reference semantics.
//!
//! ```text
//! message, padded ──block, rate bytes──→ state → permutation → state → … → output, rate bytes
//! ```

use crate::known::{Known, Numbers};
use crate::modes::Sponge;
use crate::{Hash, HashMode, HashVector};

/// Bytes of a leaf of RFC 9861.
const LEAF: usize = 8192;

/// A sponge over a function under the evaluator.
struct Evaluated<'a> {
    known: &'a Known<'a>,
    sponge: Sponge<'a>,
    rate: usize,
}

impl Evaluated<'_> {
    /// The output of `length` bytes for a message, `suffix` behind it.
    fn run(&self, message: &[u8], suffix: u8, length: usize) -> Result<Vec<u8>, String> {
        self.sponge.output(&mut Numbers(&[self.known]), message, suffix, length)
    }

    /// SP 800-232, section 5.3: the bits of the customization string in a block, and the string with
    /// its padding.
    fn customized(&self, custom: &[u8], suffix: u8) -> Vec<u8> {
        let mut all = (8 * custom.len() as u64).to_le_bytes().to_vec();
        all.resize(self.rate, 0);
        all.extend(self.sponge.ended(&mut Numbers(&[self.known]), custom, suffix));
        all
    }

    /// `bytepad` of SP 800-185, section 2.3.3, with the rate.
    fn padded(&self, strings: &[&[u8]]) -> Vec<u8> {
        let mut all = left_encode(self.rate);
        for string in strings {
            all.extend(left_encode(8 * string.len()));
            all.extend(*string);
        }
        all.resize(all.len().next_multiple_of(self.rate), 0);
        all
    }

    /// RFC 9861, section 3.2: `value` bytes of each leaf go into the final node.
    fn kangaroo(&self, string: &[u8], value: usize, length: usize) -> Result<Vec<u8>, String> {
        if string.len() <= LEAF {
            return self.run(string, 0x07, length);
        }
        let (first, rest) = string.split_at(LEAF);
        let mut node = [first, &[3, 0, 0, 0, 0, 0, 0, 0]].concat();
        for leaf in rest.chunks(LEAF) {
            node.extend(self.run(leaf, 0x0b, value)?);
        }
        node.extend(length_encode(rest.len().div_ceil(LEAF)));
        node.extend([0xff, 0xff]);
        self.run(&node, 0x06, length)
    }
}

/// The digits of a number, the highest first; none of 0.
fn digits(number: usize) -> Vec<u8> {
    number.to_be_bytes().into_iter().skip_while(|digit| *digit == 0).collect()
}

/// SP 800-185, section 2.3.1: a number behind the number of its digits, of which 0 has one.
fn left_encode(number: usize) -> Vec<u8> {
    let digits = if number == 0 { vec![0] } else { digits(number) };
    [&[digits.len() as u8], &digits[..]].concat()
}

/// The same before the number of its digits.
fn right_encode(number: usize) -> Vec<u8> {
    let digits = if number == 0 { vec![0] } else { digits(number) };
    [&digits[..], &[digits.len() as u8]].concat()
}

/// RFC 9861, section 3.3: a number before the number of its digits, of which 0 has none.
fn length_encode(number: usize) -> Vec<u8> {
    let digits = digits(number);
    [&digits[..], &[digits.len() as u8]].concat()
}

/// The output for a vector of a hash function.
pub fn answer(known: &Known, hash: &Hash, vector: &HashVector) -> Result<Vec<u8>, String> {
    let sponge = Sponge::new(&Numbers(&[known]), hash)?;
    let sponge = Evaluated { known, rate: sponge.rate, sponge };
    let HashVector { key, name, custom, domain, xof, input, output, .. } = vector;
    let length = output.len();
    match hash.mode {
        HashMode::Cshake if name.is_empty() && custom.is_empty() => sponge.run(input, 0x1f, length),
        HashMode::Cshake => {
            sponge.run(&[&sponge.padded(&[name, custom])[..], input].concat(), 0x04, length)
        }
        HashMode::Cxof => {
            let message = [&sponge.customized(custom, hash.suffix)[..], input].concat();
            sponge.run(&message, hash.suffix, length)
        }
        HashMode::Kmac => {
            let named = sponge.padded(&[b"KMAC", custom]);
            let end = right_encode(if *xof { 0 } else { 8 * length });
            let message = [&named[..], &sponge.padded(&[key]), input, &end].concat();
            sponge.run(&message, 0x04, length)
        }
        HashMode::TurboShake => sponge.run(input, *domain, length),
        HashMode::KangarooTwelve => {
            let string = [&input[..], custom, &length_encode(custom.len())].concat();
            sponge.kangaroo(&string, hash.output, length)
        }
        _ => sponge.run(input, hash.suffix, length),
    }
}

/// The fields that vectors of a mode may have besides `in` and `out`, in words, and the vector with
/// them alone.
pub fn allowed(mode: HashMode, vector: &HashVector) -> (&'static str, HashVector) {
    let HashVector { line, key, name, custom, domain, xof, input, output, .. } = vector.clone();
    let plain = HashVector { line, input, output, ..HashVector::default() };
    match mode {
        HashMode::Cshake => {
            ("`name`, `custom`, `in` and `out`", HashVector { name, custom, ..plain })
        }
        HashMode::Kmac => {
            ("`key`, `custom`, `xof`, `in` and `out`", HashVector { key, custom, xof, ..plain })
        }
        HashMode::TurboShake => ("`domain`, `in` and `out`", HashVector { domain, ..plain }),
        HashMode::Cxof | HashMode::KangarooTwelve => {
            ("`custom`, `in` and `out`", HashVector { custom, ..plain })
        }
        _ => ("`in` and `out`", plain),
    }
}
