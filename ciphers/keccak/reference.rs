//! Keccak-f[1600] bit by bit, written from FIPS 202, section 3, and the functions on top of it, from
//! sections 4 and 6, from NIST SP 800-185 and from RFC 9861.

/// `state[x][y][z]`, the bit A[x, y, z] of the standard.
type State = [[[bool; 64]; 5]; 5];

fn state(bit: impl Fn(usize, usize, usize) -> bool) -> State {
    std::array::from_fn(|x| std::array::from_fn(|y| std::array::from_fn(|z| bit(x, y, z))))
}

fn theta(a: &State) -> State {
    let column = |x: usize, z: usize| a[x][0][z] ^ a[x][1][z] ^ a[x][2][z] ^ a[x][3][z] ^ a[x][4][z];
    let c: [[bool; 64]; 5] = std::array::from_fn(|x| std::array::from_fn(|z| column(x, z)));
    state(|x, y, z| a[x][y][z] ^ c[(x + 4) % 5][z] ^ c[(x + 1) % 5][(z + 63) % 64])
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
    let at = |x: usize, y: usize, z: usize| 64 * (5 * y + x) + z;
    let mut a = state(|x, y, z| input[at(x, y, z) / 8] >> (z % 8) & 1 == 1);
    for round in 24 - rounds..24 {
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

/// A rate in bytes and the rounds of the permutation.
type Sponge = (usize, usize);

/// Algorithm 8 of FIPS 202, section 4: the bits behind the message are those of `suffix`.
fn sponge((rate, rounds): Sponge, message: &[u8], suffix: u8, length: usize) -> Vec<u8> {
    let mut state = vec![0; 200];
    let mut rest = message;
    loop {
        let (block, more) = rest.split_at(rate.min(rest.len()));
        state.iter_mut().zip(block).for_each(|(state, byte)| *state ^= byte);
        if block.len() < rate {
            state[block.len()] ^= suffix;
            state[rate - 1] ^= 0x80;
            break;
        }
        state = permuted(&state, rounds);
        rest = more;
    }
    let mut output = Vec::new();
    while output.len() < length {
        state = permuted(&state, rounds);
        output.extend(&state[..rate.min(length - output.len())]);
    }
    output
}

/// The bytes of a number without leading zeros, the highest first.
fn number(value: usize) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    bytes[(value.leading_zeros() / 8) as usize..].to_vec()
}

/// `left_encode` of SP 800-185.
fn left(value: usize) -> Vec<u8> {
    let bytes = if value == 0 { vec![0] } else { number(value) };
    [vec![bytes.len() as u8], bytes].concat()
}

/// `right_encode` of SP 800-185.
fn right(value: usize) -> Vec<u8> {
    let bytes = if value == 0 { vec![0] } else { number(value) };
    [bytes.clone(), vec![bytes.len() as u8]].concat()
}

/// `encode_string` of SP 800-185.
fn string(bytes: &[u8]) -> Vec<u8> {
    [&left(8 * bytes.len())[..], bytes].concat()
}

/// `bytepad` of SP 800-185.
fn bytepad(bytes: Vec<u8>, width: usize) -> Vec<u8> {
    let mut all = [left(width), bytes].concat();
    while all.len() % width != 0 {
        all.push(0);
    }
    all
}

/// `length_encode` of RFC 9861.
fn length_encode(value: usize) -> Vec<u8> {
    [number(value), vec![number(value).len() as u8]].concat()
}

/// `KangarooTwelve` of RFC 9861, section 3.
fn kangaroo(kind: Sponge, input: &[u8], custom: &[u8], value: usize, length: usize) -> Vec<u8> {
    let all = [input, custom, &length_encode(custom.len())].concat();
    let mut leaves = all.chunks(8192);
    let first = leaves.next().expect("there is the length of the customization string");
    let values: Vec<Vec<u8>> = leaves.map(|leaf| sponge(kind, leaf, 0x0b, value)).collect();
    if values.is_empty() {
        return sponge(kind, first, 0x07, length);
    }
    let end = [&length_encode(values.len())[..], &[0xff, 0xff]].concat();
    let node = [first, &[3, 0, 0, 0, 0, 0, 0, 0], &values.concat(), &end].concat();
    sponge(kind, &node, 0x06, length)
}

/// Takes four bytes of a length and as many bytes off the front.
fn field<'a>(key: &mut &'a [u8]) -> &'a [u8] {
    let (length, rest) = key.split_at(4);
    let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
    let (field, rest) = rest.split_at(length as usize);
    *key = rest;
    field
}

/// A state, or a state and a block; or a message with the parameters of its hash function in the place
/// of a key.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let rounds = if function.starts_with("keccak12") { 12 } else { 24 };
    if function.starts_with("keccak") {
        let (state, block) = input.split_at(200);
        let mut state = state.to_vec();
        state.iter_mut().zip(block).for_each(|(state, byte)| *state ^= byte);
        return permuted(&state, rounds);
    }
    let (length, mut key) = key.split_at(4);
    let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    key = &key[4..];
    let fields: Vec<&[u8]> = (0..7).map(|_| field(&mut key)).collect();
    let (secret, name, custom, domain, xof) = (fields[0], fields[5], fields[6], key[0], key[1]);
    let wide = if function.ends_with("128") { 168 } else { 136 };
    match function {
        "sha3_224" => sponge((144, 24), input, 0x06, length),
        "sha3_256" => sponge((136, 24), input, 0x06, length),
        "sha3_384" => sponge((104, 24), input, 0x06, length),
        "sha3_512" => sponge((72, 24), input, 0x06, length),
        "shake128" | "shake256" => sponge((wide, 24), input, 0x1f, length),
        "cshake128" | "cshake256" if name.is_empty() && custom.is_empty() => {
            sponge((wide, 24), input, 0x1f, length)
        }
        "cshake128" | "cshake256" => {
            let head = bytepad([string(name), string(custom)].concat(), wide);
            sponge((wide, 24), &[&head, input].concat(), 0x04, length)
        }
        "kmac128" | "kmac256" => {
            let head = bytepad([string(b"KMAC"), string(custom)].concat(), wide);
            let end = right(if xof == 1 { 0 } else { 8 * length });
            let all = [&head, &bytepad(string(secret), wide), input, &end].concat();
            sponge((wide, 24), &all, 0x04, length)
        }
        "turboshake128" | "turboshake256" => sponge((wide, 12), input, domain, length),
        "kt128" => kangaroo((wide, 12), input, custom, 32, length),
        _ => kangaroo((wide, 12), input, custom, 64, length),
    }
}
