//! Specifications of modes over strings of bytes. Known-answer tests run them on numbers; provers
//! run them on symbols, beside the machine code of exported functions.
//!
//! ```text
//! sha256(m)       = fold sha256_compress over start, m ++ 80 00… ++ length in bits
//! hmac(k, m)      = H(k ^ 5c… ++ H(k ^ 36… ++ m))
//! xchacha20(n)    = blocks of chacha20 under hchacha20(n[0..16]), with nonce n[16..24]
//! ```
//!
//! Each specification is written from the standard and not from the C of the library.

use crate::{Counter, Function, Hash, HashMode, Order, Stream};

/// The bytes over which a specification runs, and the functions that it applies.
pub trait Bytes {
    type Byte: Clone;

    fn number(&self, value: u8) -> Self::Byte;

    fn sum(&mut self, a: &Self::Byte, b: &Self::Byte) -> Self::Byte;

    /// The bits of a byte that a mask has, too.
    fn common(&mut self, byte: &Self::Byte, mask: u8) -> Self::Byte;

    /// A byte whose bits are rotated to the left.
    fn rotated(&self, byte: &Self::Byte, bits: u32) -> Self::Byte;

    /// Bytes of the key, the input and the output of a function of a cipher folder.
    ///
    /// # Errors
    /// There is no such function, or its node lacks a parameter that `cipher.toml` names.
    fn sizes(&self, function: &str) -> Result<[usize; 3], String>;

    /// The output of a function for a key and an input of its sizes.
    ///
    /// # Errors
    /// As [`Bytes::sizes`], or the evaluation fails.
    fn apply(
        &mut self,
        function: &str,
        key: &[Self::Byte],
        input: &[Self::Byte],
    ) -> Result<Vec<Self::Byte>, String>;

    fn numbers(&self, values: &[u8]) -> Vec<Self::Byte> {
        values.iter().map(|&value| self.number(value)).collect()
    }
}

/// A string of bytes.
pub type Text<B> = Vec<<B as Bytes>::Byte>;

/// Each byte with a number added.
fn masked<B: Bytes>(on: &mut B, text: &[B::Byte], mask: u8) -> Text<B> {
    let mask = on.number(mask);
    text.iter().map(|byte| on.sum(byte, &mask)).collect()
}

/// The bytewise sum of two strings, as long as the shorter one.
pub fn sum<B: Bytes>(on: &mut B, a: &[B::Byte], b: &[B::Byte]) -> Text<B> {
    a.iter().zip(b).map(|(a, b)| on.sum(a, b)).collect()
}

/// A sponge over a function that adds a block to a state and permutes it.
pub struct Sponge<'a> {
    /// The name of the function.
    chain: &'a str,
    start: Vec<u8>,
    /// Bytes of a block.
    pub rate: usize,
    last: u8,
}

impl<'a> Sponge<'a> {
    /// The sponge of a hash function.
    ///
    /// # Errors
    /// Its sizes do not fit its function.
    pub fn new(on: &impl Bytes, hash: &'a Hash) -> Result<Sponge<'a>, String> {
        let [_, input, width] = on.sizes(&hash.chain)?;
        let fits = |&rate: &usize| {
            rate > 0 && rate <= width && (hash.start.is_empty() || hash.start.len() == width)
        };
        let rate = input.checked_sub(width).filter(fits);
        let rate = rate.ok_or_else(|| format!("the sizes of `{}` do not fit", hash.chain))?;
        let start = if hash.start.is_empty() { vec![0; width] } else { hash.start.clone() };
        Ok(Sponge { chain: &hash.chain, start, rate, last: hash.last })
    }

    /// The output of `length` bytes for a message, `suffix` behind it: FIPS 202, section 4, and
    /// NIST SP 800-232, section 5.
    ///
    /// # Errors
    /// As [`Bytes::apply`].
    pub fn output<B: Bytes>(
        &self,
        on: &mut B,
        message: &[B::Byte],
        suffix: u8,
        length: usize,
    ) -> Result<Text<B>, String> {
        let padded = self.ended(on, message, suffix);
        let mut state = on.numbers(&self.start);
        for block in padded.chunks(self.rate) {
            state = on.apply(self.chain, &[], &[&state[..], block].concat())?;
        }
        let mut output = state[..self.rate].to_vec();
        let zeros = on.numbers(&vec![0; self.rate]);
        while output.len() < length {
            state = on.apply(self.chain, &[], &[&state[..], &zeros].concat())?;
            output.extend_from_slice(&state[..self.rate]);
        }
        output.truncate(length);
        Ok(output)
    }

    /// A message with its padding.
    pub fn ended<B: Bytes>(&self, on: &mut B, message: &[B::Byte], suffix: u8) -> Text<B> {
        let mut padded = [message, &[on.number(suffix)]].concat();
        padded.resize(padded.len().next_multiple_of(self.rate), on.number(0));
        let last = padded.last_mut().expect("there is a suffix");
        *last = on.sum(last, &on.number(self.last));
        padded
    }
}

/// A hash function in mode `merkle-damgard` or `sponge`.
pub struct HashFunction<'a> {
    hash: &'a Hash,
    /// Bytes of a block of the message.
    pub block: usize,
    sponge: Option<Sponge<'a>>,
}

impl<'a> HashFunction<'a> {
    /// # Errors
    /// The hash has another mode, or its sizes do not fit its function.
    pub fn new(on: &impl Bytes, hash: &'a Hash) -> Result<HashFunction<'a>, String> {
        if hash.mode == HashMode::Sponge {
            let sponge = Sponge::new(on, hash)?;
            return Ok(HashFunction { hash, block: sponge.rate, sponge: Some(sponge) });
        }
        let [_, input, output] = on.sizes(&hash.chain)?;
        let block = input.checked_sub(output).filter(|&block| block >= 8);
        let block = block.filter(|_| hash.start.len() == output && hash.output <= output);
        let block = block.filter(|_| hash.mode == HashMode::MerkleDamgard);
        let block = block.ok_or_else(|| format!("the sizes of `{}` do not fit", hash.chain))?;
        Ok(HashFunction { hash, block, sponge: None })
    }

    /// The chaining value behind blocks of a message.
    ///
    /// # Errors
    /// As [`Bytes::apply`].
    pub fn chained<B: Bytes>(
        &self,
        on: &mut B,
        chain: Text<B>,
        blocks: &[B::Byte],
    ) -> Result<Text<B>, String> {
        let mut blocks = blocks.chunks_exact(self.block);
        blocks.try_fold(chain, |chain, block| {
            on.apply(&self.hash.chain, &[], &[&chain[..], block].concat())
        })
    }

    /// FIPS 180-4, sections 5 and 6, or a sponge.
    ///
    /// # Errors
    /// As [`Bytes::apply`].
    pub fn hash<B: Bytes>(&self, on: &mut B, message: &[B::Byte]) -> Result<Text<B>, String> {
        if let Some(sponge) = &self.sponge {
            return sponge.output(on, message, self.hash.suffix, self.hash.output);
        }
        let (block, mut padded) = (self.block, message.to_vec());
        padded.push(on.number(0x80));
        while padded.len() % block != block - block / 8 {
            padded.push(on.number(0));
        }
        let zeros = (block / 8).saturating_sub(8);
        padded.extend(on.numbers(&vec![0; zeros]));
        let bits = (message.len() as u64 * 8).to_be_bytes();
        padded.extend(on.numbers(&bits[8usize.saturating_sub(block / 8)..]));
        let start = on.numbers(&self.hash.start);
        let mut hash = self.chained(on, start, &padded)?;
        hash.truncate(self.hash.output);
        Ok(hash)
    }

    /// RFC 2104, section 2.
    ///
    /// # Errors
    /// As [`Bytes::apply`].
    pub fn hmac<B: Bytes>(
        &self,
        on: &mut B,
        key: &[B::Byte],
        message: &[B::Byte],
    ) -> Result<Text<B>, String> {
        let mut key = if key.len() > self.block { self.hash(on, key)? } else { key.to_vec() };
        key.resize(self.block, on.number(0));
        let inner = [masked(on, &key, 0x36), message.to_vec()].concat();
        let outer = [masked(on, &key, 0x5c), self.hash(on, &inner)?].concat();
        self.hash(on, &outer)
    }

    /// RFC 5869, section 2.2. Without a salt it is zeros.
    ///
    /// # Errors
    /// As [`Bytes::apply`].
    pub fn extract<B: Bytes>(
        &self,
        on: &mut B,
        salt: &[B::Byte],
        secret: &[B::Byte],
    ) -> Result<Text<B>, String> {
        let zeros = on.numbers(&vec![0; self.hash.output]);
        self.hmac(on, if salt.is_empty() { &zeros } else { salt }, secret)
    }

    /// RFC 5869, section 2.3.
    ///
    /// # Errors
    /// As [`Bytes::apply`], or `length` is above the limit of the RFC.
    pub fn expand<B: Bytes>(
        &self,
        on: &mut B,
        key: &[B::Byte],
        info: &[B::Byte],
        length: usize,
    ) -> Result<Text<B>, String> {
        let (mut output, mut last) = (Vec::new(), Vec::new());
        for number in 1..=length.div_ceil(self.hash.output) {
            let number = u8::try_from(number).map_err(|_| "more than 255 outputs".to_string())?;
            let message = [&last[..], info, &[on.number(number)]].concat();
            last = self.hmac(on, key, &message)?;
            output.extend(last.iter().cloned());
        }
        output.truncate(length);
        Ok(output)
    }
}

/// The blocks of a function with a counter, from one number on: as many bytes as asked for.
///
/// # Errors
/// As [`Bytes::apply`], or the function has no counter, or the nonce does not fit beside it.
pub fn counted<B: Bytes>(
    on: &mut B,
    function: &Function,
    key: &[B::Byte],
    nonce: &[B::Byte],
    first: u64,
    length: usize,
) -> Result<Text<B>, String> {
    let [_, size, _] = on.sizes(&function.name)?;
    let counter = function.counter.ok_or_else(|| format!("`{}` does not count", function.name))?;
    let mut bytes = Vec::new();
    for number in first.. {
        if bytes.len() >= length {
            break;
        }
        let input = numbered(on, function, size, counter, nonce, number)?;
        bytes.extend(on.apply(&function.name, key, &input)?);
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// A keystream of two functions, from the block of a number on: as many bytes as asked for.
///
/// # Errors
/// As [`Bytes::apply`], or the nonce is shorter than the input of `first`, or `then` makes no
/// keystream.
pub fn keystream<B: Bytes>(
    on: &mut B,
    (stream, then): (&Stream, &Function),
    key: &[B::Byte],
    nonce: &[B::Byte],
    number: u64,
    length: usize,
) -> Result<Text<B>, String> {
    let [_, begin, _] = on.sizes(&stream.first)?;
    let rest = nonce.get(begin..).ok_or("the nonce is shorter than the input of `first`")?;
    let mut made = on.apply(&stream.first, key, &nonce[..begin])?;
    if then.counter.is_some() {
        return counted(on, then, &made, rest, number, length);
    }
    let [_, state, output] = on.sizes(&then.name)?;
    if output <= state {
        return Err("`then` makes no keystream".to_string());
    }
    let mut bytes = Vec::new();
    let skipped = number as usize * (output - state);
    while bytes.len() < skipped + length {
        let both = on.apply(&then.name, &[], &made)?;
        made = both[..state].to_vec();
        bytes.extend_from_slice(&both[state..]);
    }
    bytes.truncate(skipped + length);
    Ok(bytes.split_off(skipped))
}

/// The input of a block: its number, and a nonce with zeros before it.
fn numbered<B: Bytes>(
    on: &B,
    function: &Function,
    size: usize,
    counter: Counter,
    nonce: &[B::Byte],
    number: u64,
) -> Result<Text<B>, String> {
    let Counter { at, bytes, order } = counter;
    let free = size.checked_sub(bytes).and_then(|free| free.checked_sub(nonce.len()));
    let zeros = free.filter(|_| at + bytes <= size);
    let zeros = zeros.ok_or_else(|| format!("the nonce of `{}` is too long", function.name))?;
    let mut input = [on.numbers(&vec![0; zeros]), nonce.to_vec()].concat();
    let shifted = |at: usize| number.checked_shr(8 * at as u32).unwrap_or(0) as u8;
    let number: Vec<u8> = match order {
        Order::Little => (0..bytes).map(shifted).collect(),
        Order::Big => (0..bytes).rev().map(shifted).collect(),
    };
    input.splice(at..at, on.numbers(&number));
    Ok(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{Known, Numbers};

    /// RFC 4231 has test cases of HMAC, RFC 5869 of HKDF. Each input is shorter than a block, or
    /// longer.
    #[test]
    fn codes_and_keys_of_sha256_have_their_published_answers() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/sha2");
        let cipher = crate::read(&root).expect("cipher.toml");
        let hash = cipher.hashes.iter().find(|hash| hash.name == "sha256").expect("it is there");
        let compress = cipher.functions.iter().find(|f| f.name == hash.chain).expect("it is there");
        let known = Known::new(&cipher, compress).expect("a program");
        let numbers = &mut Numbers(&[&known]);
        let sha256 = HashFunction::new(numbers, hash).expect("it fits");
        let tag = |numbers: &mut Numbers, key: &[u8], message: &[u8]| {
            crate::to_hex(&sha256.hmac(numbers, key, message).expect("a tag"))
        };
        assert_eq!(
            tag(numbers, b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(
            tag(numbers, &[0xaa; 131], long),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
        let secret = [0x0b; 22];
        let salt: Vec<u8> = (0..13).collect();
        let info: Vec<u8> = (0xf0..0xfa).collect();
        let key = sha256.extract(numbers, &salt, &secret).expect("a key");
        let all = sha256.expand(numbers, &key, &info, 42).expect("it is short");
        assert_eq!(
            crate::to_hex(&all),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        );
        let key = sha256.extract(numbers, &[], &secret).expect("a key");
        let all = sha256.expand(numbers, &key, &[], 42).expect("it is short");
        assert_eq!(
            crate::to_hex(&all),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        );
        assert!(sha256.expand(numbers, &key, &[], 255 * 32 + 1).is_err());
    }
}
