//! Skein from the paper (The Skein Hash Function Family, version 1.3, sections 3.4 and 3.5), on the
//! Threefish of its folder.

use super::threefish_reference::reference as threefish;

/// Section 3.4: the state after a message; the first `bits` bits of its last byte count, or all if
/// `bits` is 0. `tweak` is the first tweak, without flags.
fn ubi(n: usize, state: &[u8], message: &[u8], bits: u8, tweak: u128) -> Vec<u8> {
    let mut padded = message.to_vec();
    if let (1.., Some(last)) = (bits, padded.last_mut()) {
        let end = 0x80 >> bits;
        *last = *last & !(end - 1) | end;
    }
    padded.resize(message.len().next_multiple_of(n).max(n), 0);
    let mut state = state.to_vec();
    let blocks = padded.len() / n;
    for (i, block) in padded.chunks(n).enumerate() {
        let mut t = tweak + message.len().min((i + 1) * n) as u128;
        if i == 0 {
            t |= 1 << 126;
        }
        if i + 1 == blocks {
            t |= 1 << 127 | u128::from(bits > 0) << 119;
        }
        let input = [&state, &t.to_le_bytes()[..], block].concat();
        state = threefish(&format!("threefish{}_chain", 8 * n), &[], &input);
    }
    state
}

/// Section 3.5.6: leaves of `1 << leaf` blocks, nodes of `1 << fan_out`, at most `height` levels.
fn tree(n: usize, g: &[u8], message: &[u8], bits: u8, [leaf, fan_out, height]: [u8; 3]) -> Vec<u8> {
    let part = |exponent: u8| n.saturating_mul(1usize.checked_shl(exponent.into()).unwrap_or(0));
    let of = |size: usize| if size == 0 { usize::MAX } else { size };
    let level = |level: u128, message: &[u8], bits: u8, size: usize| -> Vec<u8> {
        let count = message.len().div_ceil(size).max(1);
        let pieces = (0..count).flat_map(|i| {
            let piece = &message[i * size..message.len().min((i + 1).saturating_mul(size))];
            let bits = if i + 1 == count { bits } else { 0 };
            ubi(n, g, piece, bits, (i * size) as u128 | level << 112 | 48 << 120)
        });
        pieces.collect()
    };
    let mut all = level(1, message, bits, of(part(leaf)));
    let mut at = 1;
    while all.len() > n {
        at += 1;
        let size = if at == height { usize::MAX } else { of(part(fan_out)) };
        all = level(at.into(), &all, 0, size);
    }
    all
}

/// Takes four bytes of a length and as many bytes off the front.
fn field<'a>(key: &mut &'a [u8]) -> &'a [u8] {
    let (length, rest) = key.split_at(4);
    let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
    let (field, rest) = rest.split_at(length as usize);
    *key = rest;
    field
}

/// `skeinN_ubi`: a state, a tweak and a block become the next state and the next tweak.
///
/// `skeinN`: the hash of `input`. `key` has the other inputs: the bytes of the output as 32 bits,
/// little-endian; bits of the last byte of the input, or 0 for all; three bytes of a tree; then key,
/// personalisation, public key, identifier and nonce, each after its length in 32 bits. An empty
/// input is absent.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let name = function["skein".len()..].trim_end_matches("_ubi");
    let n = name.parse::<usize>().expect("bits") / 8;
    if function.ends_with("_ubi") {
        let (low, high) = (&input[n..n + 8], &input[n + 8..n + 16]);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let low = word(low).wrapping_add(n as u64);
        let high = word(high) & !(1 << 62);
        let state = threefish(&format!("threefish{name}_chain"), &[], input);
        return [state, low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec()].concat();
    }
    let (head, mut rest) = key.split_at(8);
    let length = u32::from_le_bytes(head[..4].try_into().expect("four bytes")) as usize;
    let (bits, shape) = (head[4], [head[5], head[6], head[7]]);
    let mut g = vec![0; n];
    let secret = field(&mut rest);
    if !secret.is_empty() {
        g = ubi(n, &g, secret, 0, 0);
    }
    let mut config = b"SHA3\x01\0\0\0".to_vec();
    config.extend((8 * length as u64).to_le_bytes());
    config.extend(shape);
    config.resize(32, 0);
    g = ubi(n, &g, &config, 0, 4 << 120);
    for kind in [8, 12, 16, 20] {
        let argument = field(&mut rest);
        if !argument.is_empty() {
            g = ubi(n, &g, argument, 0, kind << 120);
        }
    }
    g = match shape {
        [0, 0, 0] => ubi(n, &g, input, bits, 48 << 120),
        _ => tree(n, &g, input, bits, shape),
    };
    let block = |i: usize| ubi(n, &g, &(i as u64).to_le_bytes(), 0, 63 << 120);
    let mut output: Vec<u8> = (0..length.div_ceil(n)).flat_map(block).collect();
    output.truncate(length);
    output
}
