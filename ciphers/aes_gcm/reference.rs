//! GHASH by its definition (NIST SP 800-38D, section 6.3), a bit at a time.

/// A block as a number whose highest bit is the first one.
fn number(block: &[u8]) -> u128 {
    block.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

fn times(x: u128, y: u128) -> u128 {
    let (mut z, mut v) = (0, y);
    for bit in (0..128).rev() {
        if x >> bit & 1 == 1 {
            z ^= v;
        }
        v = if v & 1 == 1 { v >> 1 ^ 0xe1 << 120 } else { v >> 1 };
    }
    z
}

/// `ghash_key`: the words of H, their sum, and these words with their bits in the other order.
fn prepared(h: u128) -> Vec<u8> {
    let (first, second) = ((h >> 64) as u64, h as u64);
    let words = [first, second, first ^ second];
    words.iter().copied().chain(words.map(u64::reverse_bits)).flat_map(u64::to_be_bytes).collect()
}

/// `ghash_key` of H, and `ghash_absorb` of a state, the prepared key behind it, and a block.
pub fn reference(function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    if function == "ghash_key" {
        return prepared(number(input));
    }
    let (y, key, block) = (&input[..16], &input[16..64], &input[64..]);
    let next = times(number(y) ^ number(block), number(&key[..16]));
    [&next.to_be_bytes()[..], key].concat()
}
