//! Keccak-f[1600] bit by bit, written from FIPS 202, section 3, and the functions on top of it, from
//! sections 4 and 6, from NIST SP 800-185 and from RFC 9861.

/// `state[x][y][z]`, the bit A[x, y, z] of the standard.
type State = [[[bool; 64]; 5]; 5];

fn state(bit: impl Fn(usize, usize, usize) -> bool) -> State {
    std::array::from_fn(|x| std::array::from_fn(|y| std::array::from_fn(|z| bit(x, y, z))))
}

fn theta(a: &State) -> State {
    let c = state(|x, _, z| a[x][0][z] ^ a[x][1][z] ^ a[x][2][z] ^ a[x][3][z] ^ a[x][4][z]);
    state(|x, y, z| a[x][y][z] ^ c[(x + 4) % 5][0][z] ^ c[(x + 1) % 5][0][(z + 63) % 64])
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

/// The last `rounds` rounds on 200 bytes.
fn permuted(input: &[u8], rounds: usize) -> Vec<u8> {
    let mut a = state(|x, y, z| input[8 * (5 * y + x) + z / 8] >> (z % 8) & 1 == 1);
    for round in 24 - rounds..24 {
        a = chi(&pi(&rho(&theta(&a))));
        for j in 0..=6 {
            a[0][0][(1 << j) - 1] ^= rc(j + 7 * round);
        }
    }
    let mut output = vec![0; 200];
    for i in 0..1600 {
        output[i / 8] |= u8::from(a[i / 64 % 5][i / 320][i % 64]) << (i % 8);
    }
    output
}

/// Algorithm 8 of FIPS 202, section 4; the bits of `suffix` follow the message.
fn sponge((rate, rounds): (usize, usize), message: &[u8], suffix: u8, length: usize) -> Vec<u8> {
    let mut padded = [message, &[suffix]].concat();
    padded.resize(padded.len().next_multiple_of(rate), 0);
    *padded.last_mut().expect("it is not empty") ^= 0x80;
    let mut state = vec![0; 200];
    for block in padded.chunks(rate) {
        state.iter_mut().zip(block).for_each(|(state, byte)| *state ^= byte);
        state = permuted(&state, rounds);
    }
    let mut output = Vec::new();
    while output.len() < length {
        output.extend(&state[..rate]);
        state = permuted(&state, rounds);
    }
    output[..length].to_vec()
}

/// `right_encode` of SP 800-185, or with `least` 0 `length_encode` of RFC 9861.
fn right(value: usize, least: usize) -> Vec<u8> {
    let zeros = value.leading_zeros() as usize / 8;
    let bytes = &value.to_be_bytes()[zeros.min(8 - least)..];
    [bytes, &[bytes.len() as u8]].concat()
}

/// `left_encode` of SP 800-185.
fn left(value: usize) -> Vec<u8> {
    let mut bytes = right(value, 1);
    bytes.rotate_right(1);
    bytes
}

/// `bytepad` of SP 800-185 with `encode_string` of each string.
fn bytepad(strings: &[&[u8]], width: usize) -> Vec<u8> {
    let coded = strings.iter().map(|string| [&left(8 * string.len())[..], string].concat());
    let mut all = [left(width), coded.collect::<Vec<_>>().concat()].concat();
    all.resize(all.len().next_multiple_of(width), 0);
    all
}

/// `KangarooTwelve` of RFC 9861, section 3.
fn kangaroo(rate: usize, input: &[u8], custom: &[u8], value: usize, length: usize) -> Vec<u8> {
    let kind = (rate, 12);
    let all = [input, custom, &right(custom.len(), 0)].concat();
    let (first, rest) = all.split_at(all.len().min(8192));
    if rest.is_empty() {
        return sponge(kind, first, 0x07, length);
    }
    let leaves = rest.chunks(8192).map(|leaf| sponge(kind, leaf, 0x0b, value));
    let values: Vec<Vec<u8>> = leaves.collect();
    let end = [&right(values.len(), 0)[..], &[0xff, 0xff]].concat();
    let node = [first, &[3, 0, 0, 0, 0, 0, 0, 0], &values.concat(), &end].concat();
    sponge(kind, &node, 0x06, length)
}

/// A state, or a state and a block; or a message with the parameters of its hash function in the place
/// of a key.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    if let Some(name) = function.strip_prefix("keccak") {
        let (state, block) = input.split_at(200);
        let mut state = state.to_vec();
        state.iter_mut().zip(block).for_each(|(state, byte)| *state ^= byte);
        return permuted(&state, if name.starts_with("12") { 12 } else { 24 });
    }
    let length = u32::from_le_bytes(key[..4].try_into().expect("four bytes")) as usize;
    let mut rest = &key[8..];
    let [secret, _, _, _, _, name, custom] = [(); 7].map(|()| {
        let size = u32::from_le_bytes(rest[..4].try_into().expect("four bytes")) as usize;
        let (field, more) = rest[4..].split_at(size);
        rest = more;
        field
    });
    let (domain, xof, wide) = (rest[0], rest[1], if function.ends_with("128") { 168 } else { 136 });
    match function.trim_end_matches("128").trim_end_matches("256") {
        name if name.starts_with("sha3_") => sponge((200 - 2 * length, 24), input, 0x06, length),
        "cshake" if !name.is_empty() || !custom.is_empty() => {
            let head = bytepad(&[name, custom], wide);
            sponge((wide, 24), &[&head, input].concat(), 0x04, length)
        }
        "shake" | "cshake" => sponge((wide, 24), input, 0x1f, length),
        "kmac" => {
            let end = right(if xof == 1 { 0 } else { 8 * length }, 1);
            let head = [bytepad(&[b"KMAC", custom], wide), bytepad(&[secret], wide)].concat();
            sponge((wide, 24), &[&head, input, &end].concat(), 0x04, length)
        }
        "turboshake" => sponge((wide, 12), input, domain, length),
        _ => kangaroo(wide, input, custom, if wide == 168 { 32 } else { 64 }, length),
    }
}
