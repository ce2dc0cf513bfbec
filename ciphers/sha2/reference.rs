//! The compression functions of SHA-256 and SHA-512, written from FIPS 180-4, sections 4 and 6,
//! with the constants as what they are: fractions of cube roots of primes.

/// The product of two numbers of 32-bit digits, the least significant first.
fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut sum = vec![0; a.len() + b.len()];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, y) in b.iter().enumerate() {
            let digit = sum[i + j] + x * y + carry;
            sum[i + j] = digit & 0xffff_ffff;
            carry = digit >> 32;
        }
        sum[i + b.len()] = carry;
    }
    sum
}

/// The first 64 bits of the fraction of the cube root of `prime`, bit by bit.
fn cube_root(prime: u64) -> u64 {
    let mut root = [0, 0, 0];
    let scaled = [0, 0, 0, 0, 0, 0, prime, 0, 0];
    for bit in (0..67).rev() {
        let mut more = root;
        more[bit / 32] |= 1 << (bit % 32);
        let cube = product(&product(&more, &more), &more);
        if cube.iter().rev().le(scaled.iter().rev()) {
            root = more;
        }
    }
    root[1] << 32 | root[0]
}

fn primes() -> impl Iterator<Item = u64> {
    (2..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

/// What differs between the two functions: bits of a word, steps, and the amounts of the four
/// sums, the last of sigma0 and sigma1 being a shift.
struct Kind {
    bits: u32,
    steps: usize,
    amounts: [[u32; 3]; 4],
}

const SHA256: Kind =
    Kind { bits: 32, steps: 64, amounts: [[2, 13, 22], [6, 11, 25], [7, 18, 3], [17, 19, 10]] };
const SHA512: Kind =
    Kind { bits: 64, steps: 80, amounts: [[28, 34, 39], [14, 18, 41], [1, 8, 7], [19, 61, 6]] };

impl Kind {
    fn mask(&self, x: u64) -> u64 {
        x & u64::MAX >> (64 - self.bits)
    }

    fn sum(&self, which: usize, x: u64) -> u64 {
        let rotate = |n: u32| self.mask(x >> n | x << (self.bits - n));
        let [a, b, c] = self.amounts[which];
        rotate(a) ^ rotate(b) ^ if which < 2 { rotate(c) } else { x >> c }
    }

    fn add(&self, terms: &[u64]) -> u64 {
        self.mask(terms.iter().fold(0, |sum, term| sum.wrapping_add(*term)))
    }

    fn compress(&self, input: &[u8]) -> Vec<u8> {
        let size = self.bits as usize / 8;
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let words: Vec<u64> = input.chunks_exact(size).map(word).collect();
        let (start, message) = words.split_at(8);
        let mut w = message.to_vec();
        for t in 16..self.steps {
            let terms = [self.sum(3, w[t - 2]), w[t - 7], self.sum(2, w[t - 15]), w[t - 16]];
            w.push(self.add(&terms));
        }
        let mut v = start.to_vec();
        for (prime, w) in primes().zip(w) {
            let constant = cube_root(prime) >> (64 - self.bits);
            let choose = v[4] & v[5] ^ !v[4] & v[6];
            let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2];
            let first = self.add(&[v[7], self.sum(1, v[4]), choose, constant, w]);
            let second = self.add(&[self.sum(0, v[0]), majority]);
            v.rotate_right(1);
            v[4] = self.add(&[v[4], first]);
            v[0] = self.add(&[first, second]);
        }
        let next = v.iter().zip(start).map(|(a, b)| self.add(&[*a, *b]));
        next.flat_map(|word| word.to_be_bytes()[8 - size..].to_vec()).collect()
    }
}

/// `sha256_compress` on 32 bytes of state and 64 of message, or `sha512_compress` on twice as
/// many; there is no key.
pub fn reference(function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    if function == "sha256_compress" { SHA256 } else { SHA512 }.compress(input)
}
