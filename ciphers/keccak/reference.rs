//! Keccak-f[1600] bit by bit, written from FIPS 202, section 3.

/// `state[x][y][z]`, the bit A[x, y, z] of the standard.
type State = [[[bool; 64]; 5]; 5];

fn state(bit: impl Fn(usize, usize, usize) -> bool) -> State {
    std::array::from_fn(|x| std::array::from_fn(|y| std::array::from_fn(|z| bit(x, y, z))))
}

fn theta(a: &State) -> State {
    let column = |x: usize, z: usize| (0..5).fold(false, |sum, y| sum ^ a[x][y][z]);
    state(|x, y, z| a[x][y][z] ^ column((x + 4) % 5, z) ^ column((x + 1) % 5, (z + 63) % 64))
}

fn rho(a: &State) -> State {
    let mut offsets = [[0; 5]; 5];
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        offsets[x][y] = (t + 1) * (t + 2) / 2;
        (x, y) = (y, (2 * x + 3 * y) % 5);
    }
    state(|x, y, z| a[x][y][(z + 64 * 5 - offsets[x][y]) % 64])
}

fn pi(a: &State) -> State {
    state(|x, y, z| a[(x + 3 * y) % 5][x][z])
}

fn chi(a: &State) -> State {
    state(|x, y, z| a[x][y][z] ^ (!a[(x + 1) % 5][y][z] & a[(x + 2) % 5][y][z]))
}

/// Bit t of the shift register that makes the round constants.
fn rc(t: usize) -> bool {
    let mut r = 1u32;
    for _ in 0..t % 255 {
        r <<= 1;
        if r & 0x100 != 0 {
            r ^= 0x171;
        }
    }
    r & 1 == 1
}

/// `keccak_f1600` on 200 bytes; there is no key.
pub fn reference(_function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    let at = |x: usize, y: usize, z: usize| 64 * (5 * y + x) + z;
    let mut a = state(|x, y, z| input[at(x, y, z) / 8] >> (z % 8) & 1 == 1);
    for round in 0..24 {
        a = chi(&pi(&rho(&theta(&a))));
        for j in 0..=6 {
            a[0][0][(1 << j) - 1] ^= rc(j + 7 * round);
        }
    }
    let mut output = vec![0; 200];
    for x in 0..5 {
        for y in 0..5 {
            for z in 0..64 {
                output[at(x, y, z) / 8] |= u8::from(a[x][y][z]) << (z % 8);
            }
        }
    }
    output
}
