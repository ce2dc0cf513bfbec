//! Noekeon from its specification, with the S-box as the paper builds it.

type Block = [u32; 4];

/// The constant of a round: a power of x modulo x^8 + x^4 + x^3 + x + 1.
fn constant(round: usize) -> u32 {
    (0..round).fold(0x80, |c, _| (c << 1) ^ if c & 0x80 == 0 { 0 } else { 0x11b })
}

fn theta(key: Block, mut a: Block) -> Block {
    for half in 0..2 {
        let sum = a[half] ^ a[half + 2];
        let sum = sum ^ sum.rotate_left(8) ^ sum.rotate_right(8);
        a[1 - half] ^= sum;
        a[3 - half] ^= sum;
        if half == 0 {
            a = std::array::from_fn(|i| a[i] ^ key[i]);
        }
    }
    a
}

fn gamma([mut a, mut b, mut c, mut d]: Block) -> Block {
    b ^= !d & !c;
    a ^= c & b;
    (a, d) = (d, a);
    c ^= a ^ b ^ d;
    b ^= !d & !c;
    a ^= c & b;
    [a, b, c, d]
}

/// Gamma between the two rotations.
fn substitute([a, b, c, d]: Block) -> Block {
    let [a, b, c, d] = gamma([a, b.rotate_left(1), c.rotate_left(5), d.rotate_left(2)]);
    [a, b.rotate_right(1), c.rotate_right(5), d.rotate_right(2)]
}

fn encrypt(key: Block, mut a: Block) -> Block {
    for round in 0..16 {
        a[0] ^= constant(round);
        a = substitute(theta(key, a));
    }
    a[0] ^= constant(16);
    theta(key, a)
}

/// The steps of `encrypt` backwards; theta with this key inverts theta with the other.
fn decrypt(key: Block, mut a: Block) -> Block {
    let key = theta([0; 4], key);
    for round in (1..=16).rev() {
        a = theta(key, a);
        a[0] ^= constant(round);
        a = substitute(a);
    }
    a = theta(key, a);
    a[0] ^= constant(0);
    a
}

fn words(bytes: &[u8]) -> Block {
    std::array::from_fn(|i| bytes[4 * i..4 * i + 4].iter().fold(0, |w, b| w << 8 | *b as u32))
}

/// `noekeon_encrypt` and `noekeon_decrypt` in direct mode and, with `indirect` in
/// the name, in the other: a key of 16 bytes and a block of 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut key = words(key);
    if function.contains("indirect") {
        key = encrypt([0; 4], key);
    }
    let step = if function.ends_with("decrypt") { decrypt } else { encrypt };
    step(key, words(input)).iter().flat_map(|word| word.to_be_bytes()).collect()
}
