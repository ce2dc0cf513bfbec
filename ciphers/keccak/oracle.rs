//! The crates `keccak`, `sha3`, `shake`, `cshake`, `turboshake` and `k12`; KMAC is written here over
//! `cshake`.

use cshake::{CShake128, CShake256};
use k12::{CustomRefKt128, CustomRefKt256};
use sha3::digest::{Digest, ExtendableOutput, Update, XofReader};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use shake::{Shake128, Shake256};
use turboshake::{CTurboShake128, CTurboShake256};

/// The parameters of a hash function: bytes of the output, key, function name, customization string,
/// domain separation byte, and whether the output of KMAC has no length.
struct Parameters<'a> {
    length: usize,
    key: &'a [u8],
    name: &'a [u8],
    custom: &'a [u8],
    domain: u8,
    xof: bool,
}

impl Parameters<'_> {
    fn new(mut bytes: &[u8]) -> Parameters<'_> {
        fn field<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
            let (field, rest) = bytes.split_at(length);
            *bytes = rest;
            field
        }
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | *byte as usize);
        let length = number(field(&mut bytes, 4));
        field(&mut bytes, 4);
        let fields = [(); 7].map(|()| {
            let size = number(field(&mut bytes, 4));
            field(&mut bytes, size)
        });
        let [key, _, _, _, _, name, custom] = fields;
        Parameters { length, key, name, custom, domain: bytes[0], xof: bytes[1] == 1 }
    }

    fn output<F: Update + ExtendableOutput>(&self, mut function: F, parts: &[&[u8]]) -> Vec<u8> {
        parts.iter().for_each(|part| function.update(part));
        let mut output = vec![0; self.length];
        function.finalize_xof().read(&mut output);
        output
    }

    /// NIST SP 800-185, section 4.3, with blocks of `rate` bytes.
    fn kmac<F: Update + ExtendableOutput>(&self, function: F, rate: u8, input: &[u8]) -> Vec<u8> {
        let bits = |length: usize| (8 * length as u64).to_be_bytes();
        let short = |bytes: [u8; 8]| bytes[(bytes.iter().take(7).take_while(|b| **b == 0).count())..].to_vec();
        let size = short(bits(self.key.len()));
        let mut head = [&[1, rate, size.len() as u8], &size[..], self.key].concat();
        head.resize(head.len().next_multiple_of(rate.into()), 0);
        let end = short(bits(if self.xof { 0 } else { self.length }));
        self.output(function, &[&head, input, &end, &[end.len() as u8]])
    }
}

fn permuted(rounds: usize, input: &[u8]) -> Vec<u8> {
    let (state, block) = input.split_at(200);
    let mut lanes = [0; 25];
    for (lane, bytes) in lanes.iter_mut().zip(state.chunks_exact(8)) {
        *lane = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    }
    for (lane, bytes) in lanes.iter_mut().zip(block.chunks_exact(8)) {
        *lane ^= u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    }
    match rounds {
        12 => keccak::Keccak::new().with_p1600::<12>(|p1600| p1600(&mut lanes)),
        _ => keccak::Keccak::new().with_f1600(|f1600| f1600(&mut lanes)),
    }
    lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect()
}

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    if function.starts_with("keccak") {
        return Some(permuted(if function.starts_with("keccak12") { 12 } else { 24 }, input));
    }
    let p = Parameters::new(key);
    Some(match (function, p.domain) {
        ("sha3_224", _) => Sha3_224::digest(input).to_vec(),
        ("sha3_256", _) => Sha3_256::digest(input).to_vec(),
        ("sha3_384", _) => Sha3_384::digest(input).to_vec(),
        ("sha3_512", _) => Sha3_512::digest(input).to_vec(),
        ("shake128", _) => p.output(Shake128::default(), &[input]),
        ("shake256", _) => p.output(Shake256::default(), &[input]),
        ("cshake128", _) => p.output(CShake128::new_with_function_name(p.name, p.custom), &[input]),
        ("cshake256", _) => p.output(CShake256::new_with_function_name(p.name, p.custom), &[input]),
        ("kmac128", _) => {
            p.kmac(CShake128::new_with_function_name(b"KMAC", p.custom), 168, input)
        }
        ("kmac256", _) => {
            p.kmac(CShake256::new_with_function_name(b"KMAC", p.custom), 136, input)
        }
        ("turboshake128", 0x1f) => p.output(CTurboShake128::<0x1f>::default(), &[input]),
        ("turboshake256", 0x1f) => p.output(CTurboShake256::<0x1f>::default(), &[input]),
        ("turboshake128", 0x0b) => p.output(CTurboShake128::<0x0b>::default(), &[input]),
        ("turboshake256", 0x0b) => p.output(CTurboShake256::<0x0b>::default(), &[input]),
        ("kt128", _) => p.output(CustomRefKt128::new_customized(p.custom), &[input]),
        ("kt256", _) => p.output(CustomRefKt256::new_customized(p.custom), &[input]),
        _ => return None,
    })
}
