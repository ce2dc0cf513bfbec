//! Hash functions with one length of output, and their HMAC and HKDF: test vectors, comparison with
//! references and crates, and that pieces, neighbours and backends change nothing.

use std::ffi::c_int;

use usuba_ciphers::{HashMode, HashVector};
use usuba_library::Description;

use super::subject::{NULL, Noise, Subject, call, model};

pub const ERROR_NULL: c_int = 1;
pub const ERROR_LENGTH: c_int = 2;
pub const ERROR_OVERLAP: c_int = 4;
pub const ERROR_STATE: c_int = 6;
pub const ERROR_FORGED: c_int = 8;

/// Messages of any number: more than lanes twice over, and one more.
const MANY: usize = 67;

/// The functions of one hash function.
pub struct Function<'a> {
    pub subject: &'a Subject,
    pub name: &'a str,
    pub block: usize,
    pub output: usize,
}

impl Function<'_> {
    fn c(&self, what: &str) -> String {
        format!("usuba_{}_{what}", self.name)
    }

    fn hmac(&self, what: &str) -> String {
        format!("usuba_hmac_{}_{what}", self.name)
    }

    fn hkdf(&self, what: &str) -> String {
        format!("usuba_hkdf_{}_{what}", self.name)
    }

    /// All at once.
    pub fn hash(&self, message: &[u8]) -> Vec<u8> {
        let (mut out, loaded) = (vec![0; self.output], &self.subject.loaded);
        let status =
            call!(loaded, &self.c("hash"), message.as_ptr(), message.len(), out.as_mut_ptr());
        assert_eq!(status, 0);
        out
    }

    /// In pieces that end at `ends`, and a last one; with a key it is HMAC.
    fn pieces(&self, key: Option<&[u8]>, message: &[u8], ends: &[usize]) -> Vec<u8> {
        let c = |what: &str| if key.is_some() { self.hmac(what) } else { self.c(what) };
        let loaded = &self.subject.loaded;
        let (mut out, mut state) = (vec![0; self.output], vec![0xa5a5_a5a5u64; 128]);
        let at = state.as_mut_ptr();
        let begun = match key {
            Some(key) => call!(loaded, &c("begin"), at, key.as_ptr(), key.len()),
            None => call!(loaded, &c("begin"), at),
        };
        assert_eq!(begun, 0);
        let mut done = 0;
        for &end in ends.iter().chain([&message.len()]) {
            let piece = &message[done..end];
            assert_eq!(call!(loaded, &c("update"), at, piece.as_ptr(), piece.len()), 0);
            done = end;
        }
        assert_eq!(call!(loaded, &c("final"), at, out.as_mut_ptr()), 0);
        let used = state.iter().rposition(|&word| word != 0xa5a5_a5a5).expect("it was wiped");
        assert!(used > self.block / 8 && state[..=used].iter().all(|&word| word == 0), "not wiped");
        out
    }

    fn many(&self, messages: &[&[u8]]) -> Vec<u8> {
        let places: Vec<*const u8> = messages.iter().map(|message| message.as_ptr()).collect();
        let lengths: Vec<usize> = messages.iter().map(|message| message.len()).collect();
        let mut out = vec![0; messages.len() * self.output];
        let (from, sizes, to) = (places.as_ptr(), lengths.as_ptr(), out.as_mut_ptr());
        let loaded = &self.subject.loaded;
        assert_eq!(call!(loaded, &self.c("hash_many"), from, sizes, messages.len(), to), 0);
        out
    }

    /// HMAC as RFC 2104 defines it.
    fn model_of_hmac(&self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let key = if key.len() > self.block { self.hash(key) } else { key.to_vec() };
        let pad = |byte: u8| -> Vec<u8> {
            (0..self.block).map(|at| key.get(at).unwrap_or(&0) ^ byte).collect()
        };
        let inner = self.hash(&[&pad(0x36)[..], message].concat());
        self.hash(&[pad(0x5c), inner].concat())
    }

    pub fn tag(&self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let (mut out, loaded) = (vec![0; self.output], &self.subject.loaded);
        let (name, to) = (self.hmac("tag"), out.as_mut_ptr());
        let (k, m) = (key.as_ptr(), message.as_ptr());
        assert_eq!(call!(loaded, &name, k, key.len(), m, message.len(), to), 0);
        out
    }

    pub fn check_tag(&self, key: &[u8], message: &[u8], tag: &[u8]) -> c_int {
        let (k, m, loaded) = (key.as_ptr(), message.as_ptr(), &self.subject.loaded);
        let name = self.hmac("check");
        call!(loaded, &name, k, key.len(), m, message.len(), tag.as_ptr(), tag.len())
    }

    /// `length` bytes; the status if they are refused.
    pub fn derive(
        &self,
        [salt, secret, info]: [&[u8]; 3],
        length: usize,
    ) -> Result<Vec<u8>, c_int> {
        let (mut out, loaded) = (vec![0xa5; length], &self.subject.loaded);
        let (s, k, i) = (salt.as_ptr(), secret.as_ptr(), info.as_ptr());
        let (name, to) = (self.hkdf("derive"), out.as_mut_ptr());
        let status =
            call!(loaded, &name, s, salt.len(), k, secret.len(), i, info.len(), to, length);
        match status {
            0 => Ok(out),
            _ => {
                assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
                Err(status)
            }
        }
    }
}

/// Everything on every backend of this machine.
pub fn check(subject: &Subject, primitive: &Description) {
    let link = &primitive.operations[0];
    let hash = subject.cipher.hashes.iter().find(|hash| hash.name == primitive.name);
    let hash = hash.expect("it is there");
    let block = link.input - link.output;
    let f = Function { subject, name: &primitive.name, block, output: hash.output };
    let vectors = subject.cipher.hashes_of(hash).expect("they can be read");
    let mut noise = Noise(f.block as u64);
    let message = noise.bytes(4 * f.block);
    let empty = HashVector { output: vec![0; f.output], ..HashVector::default() };
    let right = |message: &[u8]| model(&subject.folder, f.name, &empty.parameters(), message);
    let expected: Vec<Vec<u8>> = (0..=message.len()).map(|end| right(&message[..end])).collect();
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0, "{backend}");
        for v in &vectors {
            assert_eq!(f.hash(&v.input), v.output, "{} on {backend}", f.name);
        }
        // Every length, with a cut anywhere; and every place where a message can be cut.
        for (end, wanted) in expected.iter().enumerate() {
            assert_eq!(f.hash(&message[..end]), *wanted, "{} of {end} on {backend}", f.name);
            let cut = noise.below(end + 1);
            assert_eq!(f.pieces(None, &message[..end], &[cut]), *wanted);
        }
        let long = 3 * f.block;
        (0..=long).for_each(|cut| {
            assert_eq!(f.pieces(None, &message[..long], &[cut]), expected[long]);
        });
        neighbours(&f, &mut noise);
        if hash.has_hmac(block) {
            hmac(&f, &mut noise);
        }
        if hash.mode == HashMode::MerkleDamgard {
            chain(&f, &message);
            hkdf(&f, &mut noise);
        }
    }
    misuse(&f);
    if hash.mode == HashMode::Sponge {
        misuse_of_buffers(&f, &f.c("begin"));
    }
    if hash.has_hmac(block) {
        misuse_of_hmac(&f);
        if hash.mode == HashMode::Sponge {
            misuse_of_buffers(&f, &f.hmac("begin"));
        }
    }
    if hash.mode == HashMode::MerkleDamgard {
        misuse_of_lengths(&f);
    }
}

/// The function of blocks: a padded message from the first chaining value on.
fn chain(f: &Function, message: &[u8]) {
    let hash =
        f.subject.cipher.hashes.iter().find(|hash| hash.name == f.name).expect("it is there");
    let mut chain = hash.start.clone();
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(5 * f.block - 8, 0);
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let (at, loaded) = (chain.as_mut_ptr(), &f.subject.loaded);
    for part in [&padded[..f.block], &padded[f.block..]] {
        let blocks = part.len() / f.block;
        assert_eq!(call!(loaded, &f.c("blocks"), at, part.as_ptr(), blocks), 0);
    }
    assert_eq!(chain[..f.output], f.hash(message));
}

/// Any number of messages of any lengths.
fn neighbours(f: &Function, noise: &mut Noise) {
    let lengths: Vec<usize> = (0..MANY).map(|_| noise.below(5 * f.block)).collect();
    let messages: Vec<Vec<u8>> = lengths.into_iter().map(|length| noise.bytes(length)).collect();
    let expected: Vec<Vec<u8>> = messages.iter().map(|message| f.hash(message)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    for count in (0..=MANY).step_by(1 + noise.below(3)) {
        assert_eq!(f.many(&messages[..count]), expected[..count].concat(), "{count} messages");
    }
    // Equal lengths, whole blocks, two blocks of padding, and one that is much longer than others.
    let cases = [(8, 4 * f.block), (9, 0), (17, f.block), (33, 1), (40, f.block - 1)];
    for (count, length) in cases {
        let long = noise.bytes(20 * f.block);
        let messages: Vec<&[u8]> =
            (0..count).map(|i| if i == 3 { &long[..] } else { &long[i..i + length] }).collect();
        let expected: Vec<u8> = messages.iter().flat_map(|message| f.hash(message)).collect();
        assert_eq!(f.many(&messages), expected);
    }
}

fn hmac(f: &Function, noise: &mut Noise) {
    let keys = [0, 1, 16, f.output, f.block - 1, f.block, f.block + 1, 3 * f.block];
    for length in keys {
        let size = noise.below(3 * f.block);
        let (key, message) = (noise.bytes(length), noise.bytes(size));
        let tag = f.tag(&key, &message);
        assert_eq!(tag, f.model_of_hmac(&key, &message), "a key of {length} bytes");
        let cut = noise.below(size + 1);
        assert_eq!(f.pieces(Some(&key), &message, &[cut]), tag);
        for cut in f.output / 2..=f.output {
            assert_eq!(f.check_tag(&key, &message, &tag[..cut]), 0);
        }
        for bit in 0..8 * f.output {
            let mut wrong = tag.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(f.check_tag(&key, &message, &wrong), ERROR_FORGED, "bit {bit}");
        }
        for length in [0, f.output / 2 - 1, f.output + 1] {
            let tag = [&tag[..], &[0]].concat();
            assert_eq!(f.check_tag(&key, &message, &tag[..length]), ERROR_LENGTH);
        }
    }
}

fn hkdf(f: &Function, noise: &mut Noise) {
    let lengths = [0, 1, f.output - 1, f.output, f.output + 1, 5 * f.output, 255 * f.output];
    // The ends of blocks lie behind every part of `info`.
    let every = (0..2 * f.block).map(|info| (2 * f.output + 1, info));
    for (length, info) in lengths.map(|length| (length, f.block)).into_iter().chain(every) {
        let sizes = [0; 2].map(|_| noise.below(2) * noise.below(2 * f.block));
        let [salt, secret, info] = [sizes[0], sizes[1], info].map(|size| noise.bytes(size));
        // RFC 5869: an absent salt is one of zeros.
        let zeros = vec![0; f.output];
        let key = f.model_of_hmac(if salt.is_empty() { &zeros } else { &salt }, &secret);
        let (mut wanted, mut last) = (Vec::new(), Vec::new());
        for number in 1..=length.div_ceil(f.output) {
            last = f.tag(&key, &[&last[..], &info, &[number as u8]].concat());
            wanted.extend(&last);
        }
        wanted.truncate(length);
        assert_eq!(f.derive([&salt, &secret, &info], length), Ok(wanted), "{length} bytes");
    }
    let most = 255 * f.output;
    assert_eq!(f.derive([&[], &[1], &[]], most + 1), Err(ERROR_LENGTH));
}

/// Every kind of mistake: the status that names it, and places that stay as they were.
fn misuse(f: &Function) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to) = (message.as_ptr(), out.as_mut_ptr());
    let mut state = vec![0xa5u64; 128];
    let s = state.as_mut_ptr();
    let most = usize::MAX;
    let places = [input, NULL];
    let inside = [to.cast_const().wrapping_add(f.output), NULL];
    let (at, inside) = (places.as_ptr(), inside.as_ptr());
    let (fives, one) = ([5usize, 5], [5usize, 0]);
    let (fives, one) = (fives.as_ptr(), one.as_ptr());
    let (hash, many) = (&f.c("hash"), &f.c("hash_many"));
    let expected = [
        (call!(loaded, hash, NULL, 1, to), ERROR_NULL),
        (call!(loaded, hash, input, 1, NULL), ERROR_NULL),
        (call!(loaded, many, at, fives, 2, to), ERROR_NULL),
        (call!(loaded, many, NULL, one, 2, to), ERROR_NULL),
        (call!(loaded, many, at, NULL, 2, to), ERROR_NULL),
        (call!(loaded, many, at, one, 2, NULL), ERROR_NULL),
        (call!(loaded, many, at, one, most, to), ERROR_LENGTH),
        (call!(loaded, many, inside, one, 2, to), ERROR_OVERLAP),
        (call!(loaded, many, NULL, NULL, 0, NULL), 0),
        (call!(loaded, &f.c("begin"), NULL), ERROR_NULL),
        (call!(loaded, &f.c("update"), NULL, input, 1), ERROR_NULL),
        (call!(loaded, &f.c("update"), s, input, 1), ERROR_STATE),
        (call!(loaded, &f.c("final"), NULL, to), ERROR_NULL),
        (call!(loaded, &f.c("final"), s, to), ERROR_STATE),
    ];
    for (at, (got, wanted)) in expected.into_iter().enumerate() {
        assert_eq!(got, wanted, "number {at} of {}", f.name);
    }
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
    assert!(state.iter().all(|&word| word == 0xa5), "nothing was begun");
    phases(f, &f.c("begin"), &mut state);
}

/// The functions on a state in an order that they do not take.
fn phases(f: &Function, begin: &str, state: &mut [u64]) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to, s) = (message.as_ptr(), out.as_mut_ptr(), state.as_mut_ptr());
    let c = |what: &str| begin.replace("begin", what);
    assert_eq!(call!(loaded, begin, s, input, 3), 0);
    assert_eq!(call!(loaded, &c("update"), s, NULL, 1), ERROR_NULL);
    assert_eq!(call!(loaded, &c("update"), s, NULL, 0), 0);
    assert_eq!(call!(loaded, &c("final"), s, NULL), ERROR_NULL);
    assert_eq!(call!(loaded, &c("final"), s, to), 0);
    assert_eq!(call!(loaded, &c("update"), s, input, 1), ERROR_STATE, "after the end");
    assert_eq!(call!(loaded, &c("final"), s, to), ERROR_STATE, "after the end");
}

fn misuse_of_hmac(f: &Function) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to) = (message.as_ptr(), out.as_mut_ptr());
    let mut state = vec![0xa5u64; 128];
    let s = state.as_mut_ptr();
    let (mac, check, size) = (&f.hmac("tag"), &f.hmac("check"), f.output);
    let expected = [
        (call!(loaded, mac, NULL, 1, input, 1, to), ERROR_NULL),
        (call!(loaded, mac, input, 1, NULL, 1, to), ERROR_NULL),
        (call!(loaded, mac, input, 1, input, 1, NULL), ERROR_NULL),
        (call!(loaded, check, input, 1, input, 1, NULL, size), ERROR_NULL),
        (call!(loaded, &f.hmac("begin"), NULL, input, 1), ERROR_NULL),
        (call!(loaded, &f.hmac("begin"), s, NULL, 1), ERROR_NULL),
        (call!(loaded, &f.hmac("update"), NULL, input, 1), ERROR_NULL),
        (call!(loaded, &f.hmac("update"), s, input, 1), ERROR_STATE),
        (call!(loaded, &f.hmac("final"), NULL, to), ERROR_NULL),
        (call!(loaded, &f.hmac("final"), s, to), ERROR_STATE),
        (call!(loaded, &f.hmac("verify"), NULL, input, size), ERROR_NULL),
        (call!(loaded, &f.hmac("verify"), s, input, size), ERROR_STATE),
    ];
    for (at, (got, wanted)) in expected.into_iter().enumerate() {
        assert_eq!(got, wanted, "number {at} of {}", f.name);
    }
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
    assert!(state.iter().all(|&word| word == 0xa5), "nothing was begun");
    phases(f, &f.hmac("begin"), &mut state);
    let (s, verify) = (state.as_mut_ptr(), &f.hmac("verify"));
    assert_eq!(call!(loaded, &f.hmac("begin"), s, input, 3), 0);
    assert_eq!(call!(loaded, verify, s, input, size / 2 - 1), ERROR_LENGTH);
    assert_eq!(call!(loaded, verify, s, input, size), ERROR_FORGED);
    assert_eq!(call!(loaded, verify, s, input, size), ERROR_STATE, "after the end");
}

/// A state of a sponge that says that its buffer holds a block or more, which none does.
fn misuse_of_buffers(f: &Function, begin: &str) {
    let loaded = &f.subject.loaded;
    let (mut out, mut state) = ([0xa5u8; 300], [0u64; 128]);
    let to = out.as_mut_ptr();
    assert_eq!(call!(loaded, begin, state.as_mut_ptr(), to, 3), 0);
    for used in [f.block as u64, f.block as u64 + 1, u64::MAX] {
        state[1] = used;
        for what in ["update", "final"] {
            let (name, s) = (begin.replace("begin", what), state.as_mut_ptr());
            assert_eq!(call!(loaded, &name, s, to, 1), ERROR_STATE, "{used}: {name}");
        }
    }
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
}

/// Functions that only the padding of Merkle and Damgård has, and its longest message.
fn misuse_of_lengths(f: &Function) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to) = (message.as_ptr(), out.as_mut_ptr());
    let (hash, blocks, mac) = (&f.c("hash"), &f.c("blocks"), &f.hmac("tag"));
    let (extract, expand) = (&f.hkdf("extract"), &f.hkdf("expand"));
    let (near, size, most) = (to.wrapping_add(1), f.output, usize::MAX);
    let expected = [
        (call!(loaded, hash, input, most, to), ERROR_LENGTH),
        (call!(loaded, blocks, NULL, input, 1), ERROR_NULL),
        (call!(loaded, blocks, to, NULL, 1), ERROR_NULL),
        (call!(loaded, blocks, to, NULL, 0), 0),
        (call!(loaded, blocks, to, near, 1), ERROR_OVERLAP),
        (call!(loaded, blocks, to, input, most), ERROR_LENGTH),
        (call!(loaded, mac, input, most, input, 1, to), ERROR_LENGTH),
        (call!(loaded, mac, input, 1, input, most, to), ERROR_LENGTH),
        (call!(loaded, extract, NULL, 1, input, 1, to), ERROR_NULL),
        (call!(loaded, extract, input, 1, NULL, 1, to), ERROR_NULL),
        (call!(loaded, extract, input, 1, input, 1, NULL), ERROR_NULL),
        (call!(loaded, expand, NULL, size, input, 1, to, 9), ERROR_NULL),
        (call!(loaded, expand, input, size, NULL, 1, to, 9), ERROR_NULL),
        (call!(loaded, expand, input, size, input, 1, NULL, 9), ERROR_NULL),
        (call!(loaded, expand, input, size - 1, input, 1, to, 9), ERROR_LENGTH),
        (call!(loaded, expand, input, size, input, most, to, 9), ERROR_LENGTH),
        (call!(loaded, expand, input, size, near, 1, to, 9), ERROR_OVERLAP),
    ];
    for (at, (got, wanted)) in expected.into_iter().enumerate() {
        assert_eq!(got, wanted, "number {at} of {}", f.name);
    }
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
    let mut state = vec![0xa5u64; 128];
    let s = state.as_mut_ptr();
    for name in [f.c("begin"), f.hmac("begin")] {
        assert_eq!(call!(loaded, &name, s, input, 3), 0);
        assert_eq!(call!(loaded, &name.replace("begin", "update"), s, input, most), ERROR_LENGTH);
    }
}
