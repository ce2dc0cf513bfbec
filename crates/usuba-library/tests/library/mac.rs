//! Message authentication codes of block ciphers: test vectors, comparison with another library, and that
//! pieces, neighbours and backends change nothing.

use std::ffi::c_int;

use usuba_library::Description;

use super::merkle::{ERROR_FORGED, ERROR_LENGTH, ERROR_NULL, ERROR_OVERLAP, ERROR_STATE};
use super::subject::{NULL, Noise, Subject, call, oracle};

/// Bytes of a tag.
const TAG: usize = 16;

/// Words of a state with room behind it.
const STATE: usize = 32;

/// A message authentication code under one key.
pub struct Function<'a> {
    subject: &'a Subject,
    name: &'a str,
    key: Vec<u64>,
}

impl<'a> Function<'a> {
    pub fn new(subject: &'a Subject, primitive: &'a Description, key: &[u8]) -> Self {
        Function { subject, name: &primitive.name, key: subject.key(primitive, key) }
    }

    fn c(&self, what: &str) -> String {
        format!("usuba_{}_{what}", self.name)
    }

    fn tag(&self, message: &[u8]) -> Vec<u8> {
        let mut tag = vec![0xa5; TAG + 1];
        let (loaded, key, to) = (&self.subject.loaded, self.key.as_ptr(), tag.as_mut_ptr());
        assert_eq!(call!(loaded, &self.c("tag"), key, message.as_ptr(), message.len(), to), 0);
        assert_eq!(tag.pop(), Some(0xa5), "it wrote behind its tag");
        tag
    }

    /// The status of a tag.
    pub fn check(&self, message: &[u8], tag: &[u8]) -> c_int {
        let (loaded, key) = (&self.subject.loaded, self.key.as_ptr());
        let (from, length) = (message.as_ptr(), message.len());
        call!(loaded, &self.c("check"), key, from, length, tag.as_ptr(), tag.len())
    }

    /// A state behind a message in random pieces.
    fn pieces(&self, noise: &mut Noise, message: &[u8]) -> Vec<u64> {
        let mut state = vec![0xa5a5_a5a5u64; STATE];
        let (loaded, key, at) = (&self.subject.loaded, self.key.as_ptr(), state.as_mut_ptr());
        assert_eq!(call!(loaded, &self.c("begin"), at), 0);
        let mut done = 0;
        while done < message.len() {
            let most = [3, 17, 33, message.len()][noise.below(4)];
            let piece = &message[done..message.len().min(done + noise.below(most + 1))];
            assert_eq!(call!(loaded, &self.c("update"), at, key, piece.as_ptr(), piece.len()), 0);
            done += piece.len();
        }
        state
    }

    fn many(&self, messages: &[&[u8]]) -> Vec<u8> {
        let places: Vec<*const u8> = messages.iter().map(|message| message.as_ptr()).collect();
        let lengths: Vec<usize> = messages.iter().map(|message| message.len()).collect();
        let mut tags = vec![0xa5; TAG * messages.len() + 1];
        let (loaded, key, to) = (&self.subject.loaded, self.key.as_ptr(), tags.as_mut_ptr());
        let (from, sizes, count) = (places.as_ptr(), lengths.as_ptr(), messages.len());
        assert_eq!(call!(loaded, &self.c("tag_many"), key, from, sizes, count, to), 0);
        assert_eq!(tags.pop(), Some(0xa5), "it wrote behind its tags");
        tags
    }
}

/// Everything on every backend of this machine.
pub fn check(subject: &Subject, primitive: &Description) {
    let mac = subject.cipher.macs.iter().find(|mac| mac.name == primitive.name);
    let vectors = subject.cipher.answers(&mac.expect("it is there").vectors).expect("vectors");
    let mut noise = Noise(primitive.name.len() as u64);
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0, "{backend}");
        for v in &vectors {
            let f = Function::new(subject, primitive, &v.key);
            assert_eq!(f.tag(&v.input), v.output, "{} on {backend}", f.name);
            assert_eq!(f.check(&v.input, &v.output), 0);
        }
        let key = noise.bytes(primitive.key);
        let f = Function::new(subject, primitive, &key);
        for length in (0..=70).chain([255, 256, 1000, 4097]) {
            let message = noise.bytes(length);
            let tag = f.tag(&message);
            if let Some(right) = oracle(&subject.folder, f.name, &key, &message) {
                assert!(tag == right, "{} of {length} bytes on {backend}", f.name);
            }
            ends(&f, &mut noise, &message, &tag);
        }
        for count in [0, 1, 2, 31, 255, 256, 257, 600] {
            let most = [1, 40, 300][noise.below(3)];
            let lengths: Vec<usize> = (0..count).map(|_| noise.below(most)).collect();
            let messages: Vec<Vec<u8>> =
                lengths.into_iter().map(|length| noise.bytes(length)).collect();
            let places: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let wanted: Vec<u8> = places.iter().flat_map(|message| f.tag(message)).collect();
            assert!(f.many(&places) == wanted, "{} of {count} messages on {backend}", f.name);
        }
        misuse(&f, primitive.key);
    }
}

/// Both ends of a message in pieces, which wipe the state, and tags with a wrong bit.
fn ends(f: &Function, noise: &mut Noise, message: &[u8], tag: &[u8]) {
    let (loaded, key) = (&f.subject.loaded, f.key.as_ptr());
    let is_wiped = |state: &[u64]| {
        let used = state.iter().rposition(|&word| word != 0xa5a5_a5a5).expect("it was wiped");
        used >= 5 && state[..=used].iter().all(|&word| word == 0)
    };
    let mut state = f.pieces(noise, message);
    let mut found = [0u8; TAG];
    assert_eq!(call!(loaded, &f.c("final"), state.as_mut_ptr(), key, found.as_mut_ptr()), 0);
    assert!(found == *tag && is_wiped(&state), "{} in pieces", f.name);
    let again = call!(loaded, &f.c("final"), state.as_mut_ptr(), key, found.as_mut_ptr());
    assert_eq!(again, ERROR_STATE);
    for size in 0..=TAG + 1 {
        let longer = [tag, &[0]].concat();
        let mut state = f.pieces(noise, message);
        let mut verify =
            |tag: &[u8]| call!(loaded, &f.c("verify"), state.as_mut_ptr(), key, tag.as_ptr(), size);
        if !(8..=TAG).contains(&size) {
            assert_eq!(verify(&longer), ERROR_LENGTH);
            assert_eq!(f.check(message, &longer[..size]), ERROR_LENGTH);
            continue;
        }
        assert_eq!(verify(tag), 0);
        assert!(is_wiped(&state));
        let mut wrong = tag.to_vec();
        let bit = noise.below(8 * size);
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(f.check(message, &wrong[..size]), ERROR_FORGED, "bit {bit} of {size} bytes");
        let mut state = f.pieces(noise, message);
        let forged = call!(loaded, &f.c("verify"), state.as_mut_ptr(), key, wrong.as_ptr(), size);
        assert_eq!(forged, ERROR_FORGED);
        assert!(is_wiped(&state));
    }
}

/// Every kind of mistake: the status that names it, and a buffer that stays as it was.
fn misuse(f: &Function, key_bytes: usize) {
    let mut buffer = [0xa5u8; 200];
    let (from, to) = (buffer.as_ptr(), buffer.as_mut_ptr());
    let (loaded, key, nobody) = (&f.subject.loaded, f.key.as_ptr(), std::ptr::null_mut::<u8>());
    let mut state = [0u64; STATE];
    let at = state.as_mut_ptr();
    let update = |at, key, from, length| call!(loaded, &f.c("update"), at, key, from, length);
    let end = |at, key, to| call!(loaded, &f.c("final"), at, key, to);
    let verify = |at, key, tag, size| call!(loaded, &f.c("verify"), at, key, tag, size);
    let null = std::ptr::null_mut::<u64>();
    let lost = null.cast_const();
    assert_eq!(update(at, key, from, 1), ERROR_STATE, "it was not begun");
    assert_eq!(end(at, key, to), ERROR_STATE);
    assert_eq!(verify(at, key, from, 16), ERROR_STATE);
    assert_eq!(call!(loaded, &f.c("begin"), null), ERROR_NULL);
    assert_eq!(call!(loaded, &f.c("begin"), at), 0);
    for (got, wanted) in [
        (update(null, key, from, 1), ERROR_NULL),
        (update(at, lost, from, 1), ERROR_NULL),
        (update(at, key, NULL, 1), ERROR_NULL),
        (update(at, key, NULL, 0), 0),
        (end(null, key, to), ERROR_NULL),
        (end(at, lost, to), ERROR_NULL),
        (end(at, key, nobody), ERROR_NULL),
        (verify(null, key, from, 16), ERROR_NULL),
        (verify(at, lost, from, 16), ERROR_NULL),
        (verify(at, key, NULL, 16), ERROR_NULL),
    ] {
        assert_eq!(got, wanted, "{}", f.name);
    }
    // The second word says how many bytes wait, a block at most.
    for used in [17, u64::MAX] {
        state[1] = used;
        let at = state.as_mut_ptr();
        assert_eq!(update(at, key, from, 1), ERROR_STATE);
        assert_eq!(end(at, key, to), ERROR_STATE);
        assert_eq!(verify(at, key, from, 16), ERROR_STATE);
    }
    let tag = |key, from, length, to| call!(loaded, &f.c("tag"), key, from, length, to);
    assert_eq!(tag(lost, from, 1, to), ERROR_NULL);
    assert_eq!(tag(key, NULL, 1, to), ERROR_NULL);
    assert_eq!(tag(key, from, 1, nobody), ERROR_NULL);
    let places = [from, from.wrapping_add(100), NULL];
    let lengths = [20usize, 20, 1];
    let (in_, sizes) = (places.as_ptr(), lengths.as_ptr());
    let (none, no_sizes) = (std::ptr::null::<*const u8>(), std::ptr::null::<usize>());
    let many = |key, from, sizes, count: usize, to| {
        call!(loaded, &f.c("tag_many"), key, from, sizes, count, to)
    };
    for (got, wanted) in [
        (many(lost, in_, sizes, 2, to.wrapping_add(130)), ERROR_NULL),
        (many(key, none, sizes, 2, to.wrapping_add(130)), ERROR_NULL),
        (many(key, in_, no_sizes, 2, to.wrapping_add(130)), ERROR_NULL),
        (many(key, in_, sizes, 2, nobody), ERROR_NULL),
        (many(key, in_, sizes, 3, to.wrapping_add(130)), ERROR_NULL),
        (many(key, in_, sizes, 2, to.wrapping_add(119)), ERROR_OVERLAP),
        (many(key, in_, sizes, usize::MAX / 16 + 1, to.wrapping_add(130)), ERROR_LENGTH),
        (many(key, none, no_sizes, 0, nobody), 0),
    ] {
        assert_eq!(got, wanted, "{}", f.name);
    }
    assert_eq!(call!(loaded, &f.c("init"), to, from, key_bytes - 1), ERROR_LENGTH);
    assert_eq!(call!(loaded, &f.c("init"), NULL, from, key_bytes), ERROR_NULL);
    assert_eq!(call!(loaded, &f.c("init"), to, NULL, key_bytes), ERROR_NULL);
    assert!(buffer.iter().all(|&byte| byte == 0xa5), "something was written");
}
