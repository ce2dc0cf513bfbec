//! Xoodoo with 12 rounds, written bit by bit from ePrint 2018/767, table 1.
//!
//! `state[y][x][z]` is bit z of the lane at (x, y). A shift by (t, v) takes the
//! bit at (x, z) to (x + t, z + v).

const CONSTANTS: [u32; 12] =
    [0x58, 0x38, 0x3c0, 0xd0, 0x120, 0x14, 0x60, 0x2c, 0x380, 0xf0, 0x1a0, 0x12];

type Plane = [[bool; 32]; 4];

fn plane(bit: impl Fn(usize, usize) -> bool) -> Plane {
    std::array::from_fn(|x| std::array::from_fn(|z| bit(x, z)))
}

fn shift(a: &Plane, t: usize, v: usize) -> Plane {
    plane(|x, z| a[(x + 4 - t) % 4][(z + 32 - v) % 32])
}

fn add(a: &Plane, b: &Plane) -> Plane {
    plane(|x, z| a[x][z] ^ b[x][z])
}

fn round(a: &mut [Plane; 3], constant: u32) {
    let parity = add(&add(&a[0], &a[1]), &a[2]);
    let effect = add(&shift(&parity, 1, 5), &shift(&parity, 1, 14));
    for row in a.iter_mut() {
        *row = add(row, &effect);
    }
    a[1] = shift(&a[1], 1, 0);
    a[2] = shift(&a[2], 0, 11);
    for (z, bit) in a[0][0].iter_mut().enumerate() {
        *bit ^= constant >> z & 1 == 1;
    }
    let before = *a;
    for y in 0..3 {
        let (b, c) = (&before[(y + 1) % 3], &before[(y + 2) % 3]);
        a[y] = plane(|x, z| before[y][x][z] ^ (!b[x][z] & c[x][z]));
    }
    a[1] = shift(&a[1], 0, 1);
    a[2] = shift(&a[2], 2, 8);
}

/// `xoodoo` on 48 bytes; there is no key.
pub fn reference(_function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    // Bit z of lane (x, y) is bit 128 y + 32 x + z of the bytes, least significant first.
    let at = |y: usize, x: usize, z: usize| 128 * y + 32 * x + z;
    let mut state = [0, 1, 2].map(|y| plane(|x, z| input[at(y, x, z) / 8] >> (z % 8) & 1 == 1));
    for constant in CONSTANTS {
        round(&mut state, constant);
    }
    let mut output = vec![0; 48];
    for (y, row) in state.iter().enumerate() {
        for (x, lane) in row.iter().enumerate() {
            for (z, bit) in lane.iter().enumerate() {
                output[at(y, x, z) / 8] |= u8::from(*bit) << (z % 8);
            }
        }
    }
    output
}
