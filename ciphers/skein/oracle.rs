//! The crate `skein`, which has the hash function without parameters, and `threefish` for blocks.

use skein::digest::array::ArraySize;
use skein::digest::{Digest, consts::*};
use skein::{Skein256, Skein512, Skein1024};

fn hash<D: Digest>(input: &[u8]) -> Vec<u8> {
    D::digest(input).to_vec()
}

fn sized<N: ArraySize>(function: &str, input: &[u8]) -> Vec<u8> {
    match function {
        "skein256" => hash::<Skein256<N>>(input),
        "skein512" => hash::<Skein512<N>>(input),
        _ => hash::<Skein1024<N>>(input),
    }
}

/// As `reference`, where the crate has it: some lengths of the output, without parameters.
pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    if let Some(name) = function.strip_suffix("_ubi") {
        let n = name["skein".len()..].parse::<usize>().ok()? / 8;
        let word = |at: usize| Some(u64::from_le_bytes(input[at..at + 8].try_into().ok()?));
        let low = word(n)?.wrapping_add(n as u64);
        let high = word(n + 8)? & !(1 << 62);
        let threefish = format!("threefish{}_chain", 8 * n);
        let state = super::threefish_oracle::oracle(&threefish, &[], input)?;
        return Some([state, low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec()].concat());
    }
    let (length, rest) = key.split_at(4);
    if rest.iter().any(|byte| *byte != 0) {
        return None;
    }
    match u32::from_le_bytes(length.try_into().ok()?) {
        1 => Some(sized::<U1>(function, input)),
        20 => Some(sized::<U20>(function, input)),
        32 => Some(sized::<U32>(function, input)),
        33 => Some(sized::<U33>(function, input)),
        64 => Some(sized::<U64>(function, input)),
        128 => Some(sized::<U128>(function, input)),
        200 => Some(sized::<U200>(function, input)),
        _ => None,
    }
}
