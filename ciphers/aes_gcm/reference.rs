//! GHASH (NIST SP 800-38D, section 6.3) and POLYVAL (RFC 8452, section 3), a bit at a time.

/// A block as a number whose highest bit is the first one.
fn number(block: &[u8]) -> u128 {
    block.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// The lower half of a product of polynomials.
fn low(x: u64, y: u64) -> u64 {
    (0..64).map(|bit| if x >> bit & 1 == 1 { y << bit } else { 0 }).fold(0, |sum, one| sum ^ one)
}

/// The product of a block and a prepared key, whose words need not belong together: each has a word of the
/// block, or the sum of both, as its factor. Without carries the words in the other order are not used.
fn times(y: u128, key: &[u64], carryless: bool) -> u128 {
    let (first, second) = ((y >> 64) as u64, y as u64);
    let words = [first, second, first ^ second];
    let [a, b, c] = [0, 1, 2].map(|at| low(words[at], key[at]));
    let reversed = |at: usize| if carryless { key[at].reverse_bits() } else { key[at + 3] };
    let high = |at: usize| low(words[at].reverse_bits(), reversed(at));
    let [d, e, f] = [high(0), high(1), high(0) ^ high(1) ^ high(2)];
    let [d, e, f] = [d, e, f].map(|word| word.reverse_bits() >> 1);
    let both = |upper: u64, lower: u64| u128::from(upper) << 64 | u128::from(lower);
    let (upper, lower) = (both(d, a ^ f), both(a ^ b ^ c ^ e, b));
    // The coefficient of x^k is bit 255 - k of both, after they have moved up by one bit.
    let (mut upper, mut lower) = (upper << 1 | lower >> 127, lower << 1);
    for bit in 0..128 {
        if lower >> bit & 1 == 1 {
            // x^128 is x^7 + x^2 + x + 1.
            lower ^= 1 << bit;
            for less in [0, 1, 2, 7] {
                match bit >= less {
                    true => upper ^= 1 << (bit - less),
                    false => lower ^= 1 << (128 + bit - less),
                }
            }
        }
    }
    upper
}

/// `ghash_key`: the words of H, their sum, and these words with their bits in the other order.
fn prepared(h: u128) -> Vec<u8> {
    let (first, second) = ((h >> 64) as u64, h as u64);
    let words = [first, second, first ^ second];
    words.iter().copied().chain(words.map(u64::reverse_bits)).flat_map(u64::to_be_bytes).collect()
}

/// The key of GHASH for a key of POLYVAL (RFC 8452, appendix A): x times it.
fn translated(h: u128) -> u128 {
    h >> 1 ^ if h & 1 == 1 { 0xe1 << 120 } else { 0 }
}

/// The bytes of every piece of `size` bytes in the other order.
fn turned(bytes: &[u8], size: usize) -> Vec<u8> {
    bytes.chunks(size).flat_map(|piece| piece.iter().rev().copied()).collect()
}

/// POLYVAL has the bytes of blocks, and of the words of its key, in the other order.
fn polyval(function: &str, input: &[u8]) -> Vec<u8> {
    if function == "polyval_key" {
        return turned(&prepared(translated(number(&turned(input, 16)))), 8);
    }
    let (state, key, block) = (&input[..16], &input[16..64], &input[64..]);
    let parts = [turned(state, 16), turned(key, 8), turned(block, 16)];
    let next = reference(&function.replace("polyval", "ghash"), &[], &parts.concat());
    [&turned(&next[..16], 16)[..], key].concat()
}

/// Eight blocks: each is added to the state, which is multiplied by the first power.
fn eight(function: &str, input: &[u8]) -> Vec<u8> {
    let one = function.trim_end_matches('8');
    let (state, key, powers, blocks) = (&input[..16], &input[16..64], &input[64..192], &input[192..]);
    let mut state = state.to_vec();
    for block in blocks.chunks(16) {
        state = reference(one, &[], &[&state[..], key, block].concat())[..16].to_vec();
    }
    [&state[..], key, powers].concat()
}

/// `ghash_key` of H, and `ghash_absorb` of a state, the prepared key behind it, and a block, with carries or
/// without; the same of POLYVAL.
pub fn reference(function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    if function.ends_with('8') {
        return eight(function, input);
    }
    if function.starts_with("polyval") {
        return polyval(function, input);
    }
    if function == "ghash_key" {
        return prepared(number(input));
    }
    let (y, key, block) = (&input[..16], &input[16..64], &input[64..]);
    let words: Vec<u64> = key.chunks_exact(8).map(|word| number(word) as u64).collect();
    let next = times(number(y) ^ number(block), &words, function.ends_with("carryless"));
    [&next.to_be_bytes()[..], key].concat()
}
