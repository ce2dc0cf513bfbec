//! SHA-2 and its compression functions, written from FIPS 180-4, sections 4 to 6. The constants are
//! computed as the fractions of square and cube roots of primes.

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

/// The first 64 bits of the fraction of the root of `prime` of this degree, bit by bit.
fn root(degree: usize, prime: u64) -> u64 {
    let mut root = [0, 0, 0];
    let mut scaled = vec![0; 3 * degree];
    scaled[2 * degree] = prime;
    for bit in (0..70).rev() {
        let mut more = root;
        more[bit / 32] |= 1 << (bit % 32);
        let power = (1..degree).fold(more.to_vec(), |power, _| product(&power, &more));
        if power.iter().rev().le(scaled.iter().rev()) {
            root = more;
        }
    }
    root[1] << 32 | root[0]
}

fn primes() -> impl Iterator<Item = u64> {
    (2..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

/// The parameters of the two functions: bits of a word, steps, and the amounts of the four sigma
/// functions, the last of sigma0 and sigma1 being a shift.
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
            let constant = root(3, prime) >> (64 - self.bits);
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

/// The first eight words of a chaining value as bytes: the roots of the primes from number `skip` on.
fn start(kind: &Kind, skip: usize, half: usize) -> Vec<u8> {
    let roots = primes().skip(skip).take(8).map(|prime| root(2, prime) << (32 * half));
    let size = kind.bits as usize / 8;
    roots.flat_map(|root| root.to_be_bytes()[..size].to_vec()).collect()
}

/// The last chaining value of a message.
fn hash(kind: &Kind, start: Vec<u8>, message: &[u8]) -> Vec<u8> {
    let block = 2 * kind.bits as usize;
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + block / 8).next_multiple_of(block) - 8, 0);
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let step = |chain: Vec<u8>, block: &[u8]| kind.compress(&[&chain, block].concat());
    padded.chunks_exact(block).fold(start, step)
}

/// `sha256_compress` on 32 bytes of state and 64 of message, `sha512_compress` on twice as many, or
/// the hash of a message; there is no key.
pub fn reference(function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    let cut = |hash: Vec<u8>, length: usize| hash[..length].to_vec();
    match function {
        "sha256_compress" | "sha256_compress_rounds" => SHA256.compress(input),
        "sha512_compress" => SHA512.compress(input),
        "sha224" => cut(hash(&SHA256, start(&SHA256, 8, 1), input), 28),
        "sha256" => hash(&SHA256, start(&SHA256, 0, 0), input),
        "sha384" => cut(hash(&SHA512, start(&SHA512, 8, 0), input), 48),
        "sha512" => hash(&SHA512, start(&SHA512, 0, 0), input),
        _ => {
            let turned = start(&SHA512, 0, 0).iter().map(|byte| byte ^ 0xa5).collect();
            cut(hash(&SHA512, hash(&SHA512, turned, b"SHA-512/256"), input), 32)
        }
    }
}
