//! Serpent from the AES submission, with the S-boxes on one column at a time.

const SBOX: [[u32; 16]; 8] = [
    [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12],
    [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4],
    [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2],
    [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14],
    [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13],
    [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1],
    [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0],
    [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6],
];
const PHI: u32 = 0x9e37_79b9;

type Block = [u32; 4];

/// Sends the 32 columns through a table; word 0 is the least significant bit.
fn columns(x: Block, table: impl Fn(u32) -> u32) -> Block {
    let mut y = [0; 4];
    for column in 0..32 {
        let input = (0..4).map(|i| (x[i] >> column & 1) << i).sum();
        for (i, word) in y.iter_mut().enumerate() {
            *word |= (table(input) >> i & 1) << column;
        }
    }
    y
}

fn substitute(box_number: usize, x: Block) -> Block {
    columns(x, |input| SBOX[box_number % 8][input as usize])
}

fn invert(box_number: usize, x: Block) -> Block {
    let table = SBOX[box_number % 8];
    columns(x, |output| (0..16).find(|input| table[*input as usize] == output).unwrap_or(0))
}

fn add(x: Block, key: Block) -> Block {
    std::array::from_fn(|i| x[i] ^ key[i])
}

fn transform([mut a, mut b, mut c, mut d]: Block) -> Block {
    a = a.rotate_left(13);
    c = c.rotate_left(3);
    b = (b ^ a ^ c).rotate_left(1);
    d = (d ^ c ^ (a << 3)).rotate_left(7);
    a = (a ^ b ^ d).rotate_left(5);
    c = (c ^ d ^ (b << 7)).rotate_left(22);
    [a, b, c, d]
}

fn transform_back([mut a, mut b, mut c, mut d]: Block) -> Block {
    c = c.rotate_right(22) ^ d ^ (b << 7);
    a = a.rotate_right(5) ^ b ^ d;
    d = d.rotate_right(7) ^ c ^ (a << 3);
    b = b.rotate_right(1) ^ a ^ c;
    [a.rotate_right(13), b, c.rotate_right(3), d]
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn round_keys(key: &[u8]) -> Vec<Block> {
    let mut padded = [0; 32];
    padded[..key.len()].copy_from_slice(key);
    if key.len() < 32 {
        padded[key.len()] = 1;
    }
    let mut w = words(&padded);
    for i in 0..132 {
        let next = w[i] ^ w[i + 3] ^ w[i + 5] ^ w[i + 7] ^ PHI ^ i as u32;
        w.push(next.rotate_left(11));
    }
    let keys = w[8..].chunks_exact(4).enumerate();
    keys.map(|(i, w)| substitute(35 - i, [w[0], w[1], w[2], w[3]])).collect()
}

/// `serpent128_encrypt` and so on: the key has 16, 24 or 32 bytes, which says
/// the length, and the block has 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let keys = round_keys(key);
    let w = words(input);
    let mut x = [w[0], w[1], w[2], w[3]];
    if function.ends_with("decrypt") {
        x = add(x, keys[32]);
        for round in (0..32).rev() {
            if round < 31 {
                x = transform_back(x);
            }
            x = add(invert(round, x), keys[round]);
        }
    } else {
        for (round, key) in keys[..32].iter().enumerate() {
            x = substitute(round, add(x, *key));
            if round < 31 {
                x = transform(x);
            }
        }
        x = add(x, keys[32]);
    }
    x.iter().flat_map(|word| word.to_le_bytes()).collect()
}
