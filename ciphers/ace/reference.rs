//! ACE from its specification, on words in order; the constants are computed, not listed.

type Block = [u32; 2];

/// The sequence of a shift register of seven bits that starts with ones.
fn sequence() -> Vec<u32> {
    let mut bits = vec![1; 7];
    for n in 0..500 {
        bits.push(bits[n] ^ bits[n + 1]);
    }
    bits
}

/// Simeck with 32 bits a side; a round key is ones above one bit.
fn simeck(block: Block, keys: &[u32]) -> Block {
    let [mut left, mut right] = block;
    for key in keys {
        let mixed = left.rotate_left(5) & left ^ left.rotate_left(1);
        (left, right) = (mixed ^ right ^ (u32::MAX << 1 | key), left);
    }
    [left, right]
}

fn add(a: Block, b: Block) -> Block {
    [a[0] ^ b[0], a[1] ^ b[1]]
}

/// `ace` on 40 bytes; there is no key.
pub fn reference(_function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut words = input.chunks(4).map(|w| w.iter().fold(0, |x, byte| x << 8 | u32::from(*byte)));
    let mut next = || words.next().unwrap();
    let mut state: [Block; 5] = std::array::from_fn(|_| [next(), next()]);
    let bits = sequence();
    // A clock makes three bits: one for each S-box. A step takes eight clocks.
    for clocks in bits.chunks_exact(24).take(16).enumerate() {
        let (step, clocks) = clocks;
        let keys =
            |which: usize| -> Vec<u32> { clocks.iter().skip(which).step_by(3).copied().collect() };
        // The register from its last clock on, read as a number.
        let constant = |which: usize| -> Block {
            let at = 24 * step + 21 + which;
            [u32::MAX, (0..8).fold(u32::MAX << 8, |sum, i| sum | bits[at + i] << i)]
        };
        let [a, b, c, d, e] = state;
        let (a, c, e) = (simeck(a, &keys(0)), simeck(c, &keys(1)), simeck(e, &keys(2)));
        let b = add(add(b, c), constant(0));
        let d = add(add(d, e), constant(1));
        let e = add(add(e, a), constant(2));
        state = [d, c, a, e, b];
    }
    state.iter().flatten().flat_map(|word| word.to_be_bytes()).collect()
}
