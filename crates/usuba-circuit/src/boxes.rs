//! The tables that the database is measured by, from their specifications.

use crate::Table;

/// A permutation of four or five bits by its entries in hexadecimal, most significant bit first.
fn digits(text: &str) -> Table {
    let entries: Vec<u64> =
        text.chars().map(|c| c.to_digit(32).expect("a digit of base 32") as u64).collect();
    let bits = entries.len().ilog2() as u8;
    Table { inputs: bits, outputs: bits, entries }
}

/// The table that maps `f(x)` to `x`.
pub fn inverse(table: &Table) -> Table {
    let mut entries = vec![0; table.entries.len()];
    for (x, &y) in table.entries.iter().enumerate() {
        entries[y as usize] = x as u64;
    }
    Table { entries, ..*table }
}

/// A table of `bits` to `bits` bits by its function.
fn function(bits: u8, f: impl Fn(u64) -> u64) -> Table {
    Table { inputs: bits, outputs: bits, entries: (0..1 << bits).map(f).collect() }
}

#[rustfmt::skip] // One box, one line.
const SMALL: &[(&str, &str)] = &[
    ("PRESENT",     "c56b90ad3ef84712"), // Bogdanov et al., CHES 2007; Photon and Photon-Beetle too
    ("RECTANGLE",   "65ca1e79b03d8f42"), // Zhang et al., ePrint 2014/084
    ("GIFT",        "1a4c6f392db7508e"), // Banik et al., ePrint 2017/622
    ("SKINNY-64",   "c6901a2b385d4e7f"), // Beierle et al., ePrint 2016/660
    ("Spongent",    "edb0214f7a859c36"), // Bogdanov et al., CHES 2011; Elephant too
    ("Noekeon",     "7a2c48f0591e3db6"), // Daemen et al., 2000
    ("Pyjamask",    "2d397ba6e0f4851c"), // Goudarzi et al., NIST LWC 2019, 4-bit
    ("Clyde",       "081f2a794d56e3bc"), // Bellizia et al., Spook, NIST LWC 2019
    ("Serpent S0",  "38f1a65bed42709c"), // Anderson, Biham, Knudsen, 1998
    ("Serpent S1",  "fc27905a1be86d34"),
    ("Serpent S2",  "86793cafd1e40b52"),
    ("Serpent S3",  "0fb8c963d124a75e"),
    ("Serpent S4",  "1f83c0b6254a9e7d"),
    ("Serpent S5",  "f52b4a9c03e8d671"),
    ("Serpent S6",  "72c5846be91fd3a0"),
    ("Serpent S7",  "1df0e82b74ca9356"),
    ("Pyjamask-96", "13652470"),         // Goudarzi et al., 3-bit
];

/// DES S1 to S8 as FIPS 46-3 prints them: four rows of sixteen.
#[rustfmt::skip]
const DES: [&str; 8] = [
    "e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
    "f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
    "a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
    "7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
    "2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
    "c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
    "4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
    "d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
];

/// A DES box as a table of b1 ... b6: the outer bits are the row, the inner ones the column.
fn des(index: usize) -> Table {
    let rows: Vec<u64> = DES[index].chars().filter_map(|c| c.to_digit(16)).map(u64::from).collect();
    let entry = |x: usize| rows[(x >> 4 & 2 | x & 1) * 16 + (x >> 1 & 15)];
    Table { inputs: 6, outputs: 4, entries: (0..64).map(entry).collect() }
}

/// A product in the field with the modulus, such as `x^8 + x^4 + x^3 + x + 1`.
pub fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (0..8).rev().fold(0, |sum: u64, i| {
        let doubled = sum << 1 ^ if sum >> 7 == 1 { modulus } else { 0 };
        doubled ^ if b >> i & 1 == 1 { a } else { 0 }
    })
}

/// A power of each byte in the field with the modulus.
pub fn power(exponent: usize, modulus: u64) -> Table {
    function(8, |x| (0..exponent).fold(1, |product, _| times(product, x, modulus)))
}

/// FIPS 197, 5.1.1.
fn aes() -> Table {
    let inverse = power(254, 0x11b);
    let affine = |x: u64| (0..5).fold(0x63, |sum, k| sum ^ (x << k | x >> (8 - k)) & 0xff);
    function(8, |x| affine(inverse.entries[x as usize]))
}

/// RFC 3713, 2.4.1.
const CAMELLIA: [&str; 8] = [
    "70822cecb327c0e5e4855735ea0cae4123ef6b934519a521ed0e4f4e1d6592bd",
    "86b8af8f7ceb1fce3e30dc5f5ec50b1aa6e139cad5475d3dd9015ad651566c4d",
    "8b0d9a66fbccb02d74122b20f0b18499df4ccbc2347e76056db7a931d11704d7",
    "14583a61de1b111c320f9c165318f222fe44cfb2c3b57a912408e8a860fc6950",
    "aad0a07da1896297545b1e95e0ff64d210c40048a3f775db8a03e6da093fdd94",
    "875c8302cd4a90337367f6f39d7fbfe2529bd826c837c63b81966f4b13be632e",
    "e979a78c9f6ebc8e29f5f9b62ffdb4597898066ae74671bad425ab4288a28dfa",
    "7207b955f8eeac0a36492a683c38f1a44028d37bbbc943c115e3adf477c7809e",
];

/// RFC 3713, 2.4.1: s2 and s3 rotate the result of s1, s4 rotates its argument.
fn camellia(index: usize, x: u64) -> u64 {
    let turned = |x: u64, by: u32| (x << by | x >> (8 - by)) & 0xff;
    let s1 = |x: u64| {
        let digits = &CAMELLIA[x as usize / 32][x as usize % 32 * 2..][..2];
        u64::from_str_radix(digits, 16).expect("the table is in hexadecimal")
    };
    match index {
        1 => s1(x),
        2 => turned(s1(x), 1),
        3 => turned(s1(x), 7),
        _ => s1(turned(x, 1)),
    }
}

/// GB/T 32907-2016, as F. Liu et al., ACISP 2007, derive it: inversion modulo
/// `x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1` between the same affine map twice.
fn sm4() -> Table {
    let inverse = power(254, 0x1f5);
    let affine = |x: u64| {
        let row = |i: u64| (0xa7 << i | 0xa7 >> (8 - i)) & 0xff & x;
        (0..8).fold(0xd3, |sum, i| sum ^ (row(i).count_ones() as u64 & 1) << i)
    };
    function(8, |x| affine(inverse.entries[affine(x) as usize]))
}

/// NIST SP 800-232, 3.3: bits x0 ... x4, x0 most significant.
fn ascon(x: u64) -> u64 {
    let mut s: [u64; 5] = std::array::from_fn(|i| x >> (4 - i) & 1);
    (s[0], s[4], s[2]) = (s[0] ^ s[4], s[4] ^ s[3], s[2] ^ s[1]);
    let mut t: [u64; 5] = std::array::from_fn(|i| s[i] ^ (1 ^ s[(i + 1) % 5]) & s[(i + 2) % 5]);
    (t[1], t[0], t[3]) = (t[1] ^ t[0], t[0] ^ t[4], t[3] ^ t[2]);
    t[2] ^= 1;
    t.iter().fold(0, |sum, bit| sum << 1 | bit)
}

/// `a_i ^ ~a_(i+1) & a_(i+2)` on `bits` bits, FIPS 202, 3.2.4.
fn chi(bits: u8, x: u64) -> u64 {
    let bit = |i: u8| x >> (bits - 1 - i % bits) & 1;
    (0..bits).fold(0, |sum, i| sum << 1 | bit(i) ^ (1 ^ bit(i + 1)) & bit(i + 2))
}

/// Beierle et al., ePrint 2016/660, 2.3: four rounds of two NORs, with the bits permuted between.
fn skinny8(x: u64) -> u64 {
    let mut b: [u64; 8] = std::array::from_fn(|i| x >> i & 1);
    for round in 0..4 {
        b[4] ^= 1 ^ (b[7] | b[6]);
        b[0] ^= 1 ^ (b[3] | b[2]);
        if round < 3 {
            let [b0, b1, b2, b3, b4, b5, b6, b7] = b;
            b = [b5, b3, b0, b4, b6, b7, b1, b2];
        }
    }
    b.swap(1, 2);
    (0..8).fold(0, |sum, i| sum | b[i] << i)
}

/// A table by the name that `LIST` uses: a box, perhaps followed by `inverse`.
pub fn named(name: &str) -> Table {
    if let Some(base) = name.strip_suffix(" inverse") {
        return inverse(&named(base));
    }
    if let Some((_, text)) = SMALL.iter().find(|(known, _)| *known == name) {
        return digits(text);
    }
    match name {
        "Ascon" => function(5, ascon),
        "chi-3" => function(3, |x| chi(3, x)),
        "chi-5" => function(5, |x| chi(5, x)),
        "AES" => aes(),
        "SM4" => sm4(),
        "SKINNY-128" => function(8, skinny8),
        _ => {
            let index = |prefix| name.strip_prefix(prefix).and_then(|i| i.parse::<usize>().ok());
            match (index("DES S"), index("Camellia s")) {
                (Some(index @ 1..=8), _) => des(index - 1),
                (_, Some(index @ 1..=4)) => function(8, |x| camellia(index, x)),
                _ => panic!("no box is called {name}"),
            }
        }
    }
}
