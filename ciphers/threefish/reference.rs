//! Threefish from the paper (The Skein Hash Function Family, version 1.3, section 3.3), with the
//! constants of versions 1.1 and 1.2 too.

/// The amounts of rotations since version 1.2, a row for each of eight rounds.
const R256: [[u32; 2]; 8] =
    [[14, 16], [52, 57], [23, 40], [5, 37], [25, 33], [46, 12], [58, 22], [32, 32]];
const R512: [[u32; 4]; 8] = [
    [46, 36, 19, 37],
    [33, 27, 14, 42],
    [17, 49, 36, 39],
    [44, 9, 54, 56],
    [39, 30, 34, 24],
    [13, 50, 10, 17],
    [25, 29, 39, 43],
    [8, 35, 56, 22],
];
const R1024: [[u32; 8]; 8] = [
    [24, 13, 8, 47, 8, 17, 22, 37],
    [38, 19, 10, 55, 49, 18, 23, 52],
    [33, 4, 51, 13, 34, 41, 59, 17],
    [5, 20, 48, 41, 47, 28, 16, 25],
    [41, 9, 37, 31, 12, 47, 44, 30],
    [16, 34, 56, 51, 4, 53, 42, 41],
    [31, 44, 47, 46, 19, 42, 44, 25],
    [9, 48, 35, 52, 23, 31, 37, 20],
];
/// The rotations of version 1.1.
const OLD256: [[u32; 2]; 8] =
    [[5, 56], [36, 28], [13, 46], [58, 44], [26, 20], [53, 35], [11, 42], [59, 50]];
const OLD512: [[u32; 4]; 8] = [
    [38, 30, 50, 53],
    [48, 20, 43, 31],
    [34, 14, 15, 27],
    [26, 12, 58, 7],
    [33, 49, 8, 42],
    [39, 27, 41, 14],
    [29, 26, 11, 9],
    [33, 51, 39, 35],
];
const OLD1024: [[u32; 8]; 8] = [
    [55, 43, 37, 40, 16, 22, 38, 12],
    [25, 25, 46, 13, 14, 13, 52, 57],
    [33, 8, 18, 57, 21, 12, 32, 54],
    [34, 43, 25, 60, 44, 9, 59, 34],
    [28, 7, 47, 48, 51, 9, 35, 41],
    [17, 6, 18, 25, 43, 42, 40, 15],
    [58, 7, 32, 45, 19, 18, 2, 56],
    [47, 49, 27, 58, 37, 48, 53, 56],
];
/// The source of each word after a round.
const PI256: [usize; 4] = [0, 3, 2, 1];
const PI512: [usize; 8] = [2, 1, 4, 7, 6, 5, 0, 3];
const PI1024: [usize; 16] = [0, 9, 2, 13, 6, 11, 4, 15, 10, 7, 12, 3, 14, 5, 8, 1];

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("eight bytes"))).collect()
}

fn subkey(s: usize, key: &[u64], tweak: &[u64]) -> Vec<u64> {
    let n = key.len() - 1;
    let mut k: Vec<u64> = (0..n).map(|i| key[(s + i) % (n + 1)]).collect();
    k[n - 3] = k[n - 3].wrapping_add(tweak[s % 3]);
    k[n - 2] = k[n - 2].wrapping_add(tweak[(s + 1) % 3]);
    k[n - 1] = k[n - 1].wrapping_add(s as u64);
    k
}

/// `threefishN_FORM` on a block of N bits. The form is `encrypt` or `decrypt` with the tweak
/// after the key, `tweaked_` with the tweak before the block, `v11_` and `v12_` for old versions,
/// or `chain`: key, tweak and block in the input, and the block added to its encryption.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let (size, form) = function["threefish".len()..].split_once('_').expect("a size and a form");
    let n = size.parse::<usize>().expect("bits") / 64;
    let all = words(&[key, input].concat());
    let (mut key, tweak, block) = (all[..n].to_vec(), &all[n..n + 2], &all[n + 2..]);
    let old = form.starts_with("v1");
    let c240 = if old { 0x5555_5555_5555_5555 } else { 0x1bd1_1bda_a9fc_1a22 };
    key.push(key.iter().fold(c240, |sum, word| sum ^ word));
    let tweak = [tweak[0], tweak[1], tweak[0] ^ tweak[1]];
    let v11 = form.starts_with("v11");
    let rotation = |d: usize, j: usize| match (n, v11) {
        (4, false) => R256[d % 8][j],
        (8, false) => R512[d % 8][j],
        (_, false) => R1024[d % 8][j],
        (4, true) => OLD256[d % 8][j],
        (8, true) => OLD512[d % 8][j],
        (_, true) => OLD1024[d % 8][j],
    };
    let pi: &[usize] = match n {
        4 => &PI256,
        8 => &PI512,
        _ => &PI1024,
    };
    let rounds = if n == 16 { 80 } else { 72 };
    let mut x = block.to_vec();
    let forth = !form.ends_with("decrypt");
    let add = |x: &mut [u64], s: usize| {
        for (word, k) in x.iter_mut().zip(subkey(s, &key, &tweak)) {
            *word = if forth { word.wrapping_add(k) } else { word.wrapping_sub(k) };
        }
    };
    if forth {
        for d in 0..rounds {
            if d % 4 == 0 {
                add(&mut x, d / 4);
            }
            for j in 0..n / 2 {
                x[2 * j] = x[2 * j].wrapping_add(x[2 * j + 1]);
                x[2 * j + 1] = x[2 * j + 1].rotate_left(rotation(d, j)) ^ x[2 * j];
            }
            x = pi.iter().map(|from| x[*from]).collect();
        }
        add(&mut x, rounds / 4);
    } else {
        add(&mut x, rounds / 4);
        for d in (0..rounds).rev() {
            let moved = x.clone();
            pi.iter().zip(moved).for_each(|(to, word)| x[*to] = word);
            for j in 0..n / 2 {
                x[2 * j + 1] = (x[2 * j + 1] ^ x[2 * j]).rotate_right(rotation(d, j));
                x[2 * j] = x[2 * j].wrapping_sub(x[2 * j + 1]);
            }
            if d % 4 == 0 {
                add(&mut x, d / 4);
            }
        }
    }
    if form == "chain" {
        x.iter_mut().zip(block).for_each(|(word, before)| *word ^= before);
    }
    x.iter().flat_map(|word| word.to_le_bytes()).collect()
}
