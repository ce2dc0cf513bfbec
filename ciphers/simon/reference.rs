//! SIMON from the paper (ePrint 2013/404), on words that are numbers below 2^n.

const Z2: &[u8; 62] = b"10101111011100000011010010011000101000010001111110010110110011";
const Z3: &[u8; 62] = b"11011011101011000110010111100000010010001010011100110100001111";
const Z4: &[u8; 62] = b"11010001111001101011011000100000010111000011001010010011101111";

/// A member of the family: bits of a word, rounds, and the constants.
struct Simon {
    n: u32,
    rounds: usize,
    z: &'static [u8; 62],
}

impl Simon {
    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.n)
    }

    /// The rotation to the left by `by` places.
    fn left(&self, x: u64, by: u32) -> u64 {
        (x << by | x >> (self.n - by)) & self.mask()
    }

    fn right(&self, x: u64, by: u32) -> u64 {
        self.left(x, self.n - by)
    }

    /// Section 3.3: the words of the key are the first round keys.
    fn round_keys(&self, key: &[u64]) -> Vec<u64> {
        let mut k = key.to_vec();
        for i in 0..self.rounds - key.len() {
            let mut turned = self.right(k[i + key.len() - 1], 3);
            if key.len() == 4 {
                turned ^= k[i + 1];
            }
            turned ^= self.right(turned, 1);
            let z = u64::from(self.z[i % 62] - b'0');
            k.push(!k[i] & self.mask() ^ turned ^ z ^ 3);
        }
        k
    }

    fn f(&self, x: u64) -> u64 {
        self.left(x, 1) & self.left(x, 8) ^ self.left(x, 2)
    }
}

fn words(bytes: &[u8], n: u32) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |acc, byte| acc << 8 | u64::from(*byte));
    bytes.chunks(n as usize / 8).map(word).collect()
}

/// `simon64_128_encrypt` and so on: all words are little-endian, y before x.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let simon = match () {
        () if function.starts_with("simon64_128") => Simon { n: 32, rounds: 44, z: Z3 },
        () if function.starts_with("simon128_128") => Simon { n: 64, rounds: 68, z: Z2 },
        () => Simon { n: 64, rounds: 72, z: Z4 },
    };
    let keys = simon.round_keys(&words(key, simon.n));
    let block = words(input, simon.n);
    let (mut y, mut x) = (block[0], block[1]);
    if function.ends_with("decrypt") {
        for key in keys.iter().rev() {
            (x, y) = (y, x ^ simon.f(y) ^ key);
        }
    } else {
        for key in &keys {
            (x, y) = (y ^ simon.f(x) ^ key, x);
        }
    }
    let bytes = [y, x].map(|word| word.to_le_bytes()[..simon.n as usize / 8].to_vec());
    bytes.concat()
}
