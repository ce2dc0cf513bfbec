//! The Ascon permutations, with the S-box as the equations of the designers'
//! software (Ascon v1.2, section on the bitsliced substitution layer).

fn substitute(x: &mut [u64; 5]) {
    x[0] ^= x[4];
    x[4] ^= x[3];
    x[2] ^= x[1];
    let before = *x;
    for i in 0..5 {
        x[i] = before[i] ^ (!before[(i + 1) % 5] & before[(i + 2) % 5]);
    }
    x[1] ^= x[0];
    x[0] ^= x[4];
    x[3] ^= x[2];
    x[2] = !x[2];
}

fn diffuse(x: &mut [u64; 5]) {
    for (word, (m, n)) in x.iter_mut().zip([(19, 28), (61, 39), (1, 6), (10, 17), (7, 41)]) {
        *word ^= word.rotate_right(m) ^ word.rotate_right(n);
    }
}

/// The last `rounds` of 12 rounds.
fn permute(x: &mut [u64; 5], rounds: u64) {
    for round in 12 - rounds..12 {
        x[2] ^= (15 - round) << 4 | round;
        substitute(x);
        diffuse(x);
    }
}

/// Little-endian words.
fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks_exact(8).map(word).collect()
}

/// `ascon_seal256` and `ascon_open256`: blocks of 16 bytes through the beginning of the state.
fn duplex(x: &mut [u64; 5], blocks: &[u64], opens: bool) -> Vec<u64> {
    let mut output = Vec::new();
    for block in blocks.chunks_exact(2) {
        for (word, text) in x.iter_mut().zip(block) {
            output.push(*word ^ text);
            *word = if opens { *text } else { *word ^ text };
        }
        permute(x, 8);
    }
    output
}

/// SP 800-232, section 5: the padded texts, eight bytes at a time, and an output of `length` bytes.
fn sponge(start: u64, texts: &[Vec<u8>], length: usize) -> Vec<u8> {
    let mut x = [start, 0, 0, 0, 0];
    permute(&mut x, 12);
    for word in texts.iter().flat_map(|text| words(text)) {
        x[0] ^= word;
        permute(&mut x, 12);
    }
    let mut output = Vec::new();
    while output.len() < length {
        output.extend(x[0].to_le_bytes());
        permute(&mut x, 12);
    }
    output.truncate(length);
    output
}

/// A text with its padding.
fn padded(text: &[u8]) -> Vec<u8> {
    let mut all = [text, &[1]].concat();
    all.resize(all.len().next_multiple_of(8), 0);
    all
}

/// A hash function; the parameters begin with the length of the output, and the customization string is
/// the last one with a length in front of it.
fn hashed(function: &str, parameters: &[u8], input: &[u8]) -> Vec<u8> {
    let number = |at: usize| {
        u32::from_le_bytes(parameters[at..at + 4].try_into().expect("four bytes")) as usize
    };
    let custom = (0..6).fold(8, |at, _| at + 4 + number(at));
    let custom = &parameters[custom + 4..][..number(custom)];
    let message = padded(input);
    let (start, texts) = match function {
        "ascon_hash256" => (0x0000_0801_00cc_0002, vec![message]),
        "ascon_xof128" => (0x0000_0800_00cc_0003, vec![message]),
        _ => {
            let bits = (8 * custom.len() as u64).to_le_bytes().to_vec();
            (0x0000_0800_00cc_0004, vec![bits, padded(custom), message])
        }
    };
    sponge(start, &texts, number(0))
}

/// Permutations of 40 bytes, `ascon_p12`, `ascon_p8` and `ascon_p6`, and with little-endian words
/// `ascon_p12_le`, `ascon_p8_le`; `ascon_absorb8`, `ascon_seal256` and `ascon_open256` have a text
/// behind the state. Hash functions have their parameters in the place of a key.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    if ["ascon_hash256", "ascon_xof128", "ascon_cxof128"].contains(&function) {
        return hashed(function, key, input);
    }
    let big = ["ascon_p12", "ascon_p8", "ascon_p6"].contains(&function);
    let input: Vec<u64> = words(input).iter().map(|w| if big { w.swap_bytes() } else { *w }).collect();
    let (state, text) = input.split_at(5);
    let mut x: [u64; 5] = state.try_into().expect("a state has five words");
    let mut output = Vec::new();
    match function {
        "ascon_absorb8" => {
            x[0] ^= text[0];
            permute(&mut x, 12);
        }
        "ascon_seal256" | "ascon_open256" => {
            output = duplex(&mut x, text, function == "ascon_open256");
        }
        "ascon_p8" | "ascon_p8_le" => permute(&mut x, 8),
        "ascon_p6" => permute(&mut x, 6),
        _ => permute(&mut x, 12),
    }
    let bytes = |word: &u64| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    x.iter().chain(&output).flat_map(bytes).collect()
}
