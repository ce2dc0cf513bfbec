//! STREAM: messages in segments, in sequence and side by side; other orders, lost ends and forged segments.

use std::ffi::c_int;

use usuba_ciphers::SealMode;

use super::merkle::{ERROR_FORGED, ERROR_LENGTH, ERROR_NULL, ERROR_OVERLAP, ERROR_STATE};
use super::published;
use super::seal::{Function, Message};
use super::subject::{NULL, Noise, call};

const ERROR_COUNTER: c_int = 3;

/// Messages in segments of the crate `aead-stream` over the crate `aes-gcm`, both ways.
#[test]
fn segments_are_those_of_another_library() {
    use aead_stream::{DecryptorBE32, EncryptorBE32};
    use aes_gcm::{Aes128Gcm, KeyInit};
    let subject = published::subject("aes_gcm");
    let mut all = subject.single.primitives.iter();
    let primitive = all.find(|own| own.name == "aes128_gcm").expect("it is there");
    let (key, nonce) = ([7; 16], [9; 7]);
    let f = Function::new(&subject, primitive, SealMode::Gcm, &key);
    let cipher = || Aes128Gcm::new(&key.into());
    let (mut ours, mut theirs) =
        (Stream::new(&f, &nonce), EncryptorBE32::from_aead(cipher(), &nonce.into()));
    let segments: [&[u8]; 3] = [b"one", b"", &[5; 3000]];
    let mut sealed = Vec::new();
    for segment in segments {
        let one = theirs.encrypt_next(segment).expect("it is short");
        assert_eq!(ours.seal(false, &[], segment), one);
        sealed.push(one);
    }
    let end = theirs.encrypt_last(&b"end"[..]).expect("it is short");
    assert_eq!(ours.seal(true, &[], b"end"), end);
    let mut theirs = DecryptorBE32::from_aead(cipher(), &nonce.into());
    for (segment, sealed) in segments.into_iter().zip(&sealed) {
        assert_eq!(theirs.decrypt_next(&sealed[..]).expect("it is right"), segment);
    }
    assert_eq!(theirs.decrypt_last(&end[..]).expect("it is right"), b"end");
}

/// Bytes of a nonce that number segments.
const NUMBER: usize = 5;

/// A message in segments; the first words are the phase and the number.
struct Stream<'a> {
    f: &'a Function<'a>,
    state: Vec<u64>,
}

impl<'a> Stream<'a> {
    fn new(f: &'a Function<'a>, nonce: &[u8]) -> Self {
        let mut state = vec![0xa5a5_a5a5u64; 8];
        assert_eq!(call!(f.loaded(), &f.c("stream_begin"), state.as_mut_ptr(), nonce.as_ptr()), 0);
        Stream { f, state }
    }

    fn one(&mut self, what: &str, last: bool, data: &[u8], from: &[u8], to: &mut [u8]) -> c_int {
        let (f, state) = (self.f, self.state.as_mut_ptr());
        let (key, at, size) = (f.key(), data.as_ptr(), data.len());
        let (in_, length, out) = (from.as_ptr(), from.len(), to.as_mut_ptr());
        let last = c_int::from(last);
        call!(f.loaded(), &f.c(what), state, key, last, at, size, in_, length, out)
    }

    fn seal(&mut self, last: bool, data: &[u8], text: &[u8]) -> Vec<u8> {
        let mut sealed = vec![0xa5; text.len() + self.f.tag];
        assert_eq!(self.one("stream_seal", last, data, text, &mut sealed), 0);
        sealed
    }

    fn open(&mut self, last: bool, data: &[u8], sealed: &[u8]) -> Result<Vec<u8>, c_int> {
        let mut text = vec![0xa5; sealed.len() - self.f.tag];
        match self.one("stream_open", last, data, sealed, &mut text) {
            0 => Ok(text),
            error => {
                assert!(text.iter().all(|&byte| byte == 0xa5), "something was written");
                Err(error)
            }
        }
    }

    fn seal_many(&mut self, text: &[u8], segment: usize) -> Vec<u8> {
        let count = text.len() / segment;
        let mut sealed = vec![0xa5; text.len() + count * self.f.tag + 1];
        let (f, state) = (self.f, self.state.as_mut_ptr());
        let (key, from, to) = (f.key(), text.as_ptr(), sealed.as_mut_ptr());
        let name = f.c("stream_seal_many");
        assert_eq!(call!(f.loaded(), &name, state, key, from, segment, count, to), 0);
        assert_eq!(sealed.pop(), Some(0xa5), "it wrote behind its output");
        sealed
    }

    /// The status, the number of segments that were opened, and the output.
    fn open_many(&mut self, sealed: &[u8], segment: usize) -> (c_int, usize, Vec<u8>) {
        let (f, state) = (self.f, self.state.as_mut_ptr());
        let count = sealed.len() / (segment + f.tag);
        let (mut text, mut opened) = (vec![0xa5; count * segment + 1], usize::MAX);
        let (key, from, to) = (f.key(), sealed.as_ptr(), text.as_mut_ptr());
        let name = f.c("stream_open_many");
        let status =
            call!(f.loaded(), &name, state, key, from, segment, count, to, &raw mut opened);
        assert_eq!(text.pop(), Some(0xa5), "it wrote behind its output");
        (status, opened, text)
    }

    fn finish(&mut self) -> c_int {
        let status = call!(self.f.loaded(), &self.f.c("stream_finish"), self.state.as_mut_ptr());
        let used = self.state.iter().rposition(|&word| word != 0xa5a5_a5a5).expect("wiped");
        assert!(used >= 3 && self.state[..used].iter().all(|&word| word == 0));
        status
    }
}

/// Messages of a function with nonces of `bytes`.
pub fn check(f: &Function, bytes: usize, noise: &mut Noise) {
    in_sequence(f, bytes, noise);
    side_by_side(f, bytes, noise);
    misuse(f, bytes, noise);
}

/// Each segment is a message under the nonce of its number.
fn in_sequence(f: &Function, bytes: usize, noise: &mut Noise) {
    let nonce = noise.bytes(bytes - NUMBER);
    let (mut to, mut back) = (Stream::new(f, &nonce), Stream::new(f, &nonce));
    let mut sealed: Vec<Vec<u8>> = Vec::new();
    for number in 0..7u32 {
        let (last, length, size) = (number == 6, noise.below(200), noise.below(2) * 5);
        let (text, data) = (noise.bytes(length), noise.bytes(size));
        let end = [&number.to_be_bytes()[..], &[u8::from(last)]].concat();
        let nonce = [&nonce[..], &end].concat();
        let one = to.seal(last, &data, &text);
        let message = Message { nonce, data, text };
        assert!(one == f.seal(&message), "segment {number}");
        // Every other place is wrong, and leaves the state as it is.
        assert_eq!(back.open(!last, &message.data, &one), Err(ERROR_FORGED));
        for earlier in &sealed {
            assert_eq!(back.open(last, &message.data, earlier), Err(ERROR_FORGED));
        }
        assert_eq!(back.open(last, &message.data, &one).as_ref(), Ok(&message.text));
        sealed.push(one);
    }
    let mut out = vec![0; 50];
    assert_eq!(to.one("stream_seal", false, &[], &[1], &mut out), ERROR_STATE, "behind the end");
    assert_eq!(back.one("stream_open", true, &[], &sealed[6], &mut [0; 300]), ERROR_STATE);
    assert_eq!([to.finish(), back.finish()], [0, 0]);
    assert_eq!(call!(f.loaded(), &f.c("stream_finish"), to.state.as_mut_ptr()), ERROR_STATE);
    let mut short = Stream::new(f, &nonce);
    short.seal(false, &[], b"the end is lost");
    assert_eq!(short.finish(), ERROR_FORGED);
}

/// Many segments at once are those in sequence, up to the first one that is forged.
fn side_by_side(f: &Function, bytes: usize, noise: &mut Noise) {
    for (count, segment) in [(1, 1), (3, 100), (33, 40), (40, 1100), (0, 7)] {
        let (nonce, text) = (noise.bytes(bytes - NUMBER), noise.bytes(count * segment));
        let (mut one, mut many) = (Stream::new(f, &nonce), Stream::new(f, &nonce));
        let first = one.seal(false, &[], b"first");
        assert!(many.seal(false, &[], b"first") == first);
        let wanted: Vec<u8> =
            text.chunks(segment).flat_map(|part| one.seal(false, &[], part)).collect();
        let mut sealed = many.seal_many(&text, segment);
        assert!(sealed == wanted, "{count} segments of {segment} bytes");
        assert_eq!(one.seal(true, &[], b""), many.seal(true, &[], b""));
        let begun = || {
            let mut stream = Stream::new(f, &nonce);
            assert_eq!(stream.open(false, &[], &first), Ok(b"first".to_vec()));
            stream
        };
        assert_eq!(begun().open_many(&sealed, segment), (0, count, text.clone()));
        if count == 0 {
            continue;
        }
        let (forged, size) = (noise.below(count), segment + f.tag);
        let bit = 8 * size * forged + noise.below(8 * size);
        sealed[bit / 8] ^= 1 << (bit % 8);
        let mut back = begun();
        let (status, opened, mut found) = back.open_many(&sealed, segment);
        assert_eq!((status, opened), (ERROR_FORGED, forged));
        assert!(found[..forged * segment] == text[..forged * segment]);
        assert!(found.split_off(forged * segment).iter().all(|&byte| byte == 0));
        // The message goes on with the right segment.
        sealed[bit / 8] ^= 1 << (bit % 8);
        let (status, opened, found) = back.open_many(&sealed[size * forged..], segment);
        assert_eq!((status, opened), (0, count - forged));
        assert!(found == text[forged * segment..]);
    }
}

/// Every kind of mistake, and the end of the numbers.
fn misuse(f: &Function, bytes: usize, noise: &mut Noise) {
    let nonce = noise.bytes(bytes - NUMBER);
    let (loaded, key, null) = (f.loaded(), f.key(), std::ptr::null_mut::<u64>());
    let mut buffer = vec![0xa5u8; 600];
    let (from, to) = (buffer.as_ptr(), buffer.as_mut_ptr());
    let far = to.wrapping_add(300);
    let mut stream = Stream::new(f, &nonce);
    let state = stream.state.as_mut_ptr();
    let mut none = [0u64; 8];
    let empty = none.as_mut_ptr();
    let lost = null.cast_const();
    let mut opened = 0usize;
    let counted = &raw mut opened;
    let nobody = std::ptr::null_mut::<u8>();
    let seals = |state, key, from, segment, count, to| {
        call!(loaded, &f.c("stream_seal_many"), state, key, from, segment, count, to)
    };
    let opens = |state, key, from, segment, count, to, opened| {
        call!(loaded, &f.c("stream_open_many"), state, key, from, segment, count, to, opened)
    };
    let most = usize::MAX;
    for (got, wanted) in [
        (call!(loaded, &f.c("stream_begin"), null, nonce.as_ptr()), ERROR_NULL),
        (call!(loaded, &f.c("stream_begin"), state, NULL), ERROR_NULL),
        (call!(loaded, &f.c("stream_finish"), null), ERROR_NULL),
        (call!(loaded, &f.c("stream_seal"), null, key, 0, NULL, 0, from, 1, far), ERROR_NULL),
        (call!(loaded, &f.c("stream_seal"), state, lost, 0, NULL, 0, from, 1, far), ERROR_NULL),
        (call!(loaded, &f.c("stream_seal"), empty, key, 0, NULL, 0, from, 1, far), ERROR_STATE),
        (call!(loaded, &f.c("stream_open"), state, key, 0, NULL, 0, from, 1, far), ERROR_LENGTH),
        (seals(null, key, from, 1, 1, far), ERROR_NULL),
        (seals(state, lost, from, 1, 1, far), ERROR_NULL),
        (seals(state, key, NULL, 1, 1, far), ERROR_NULL),
        (seals(state, key, from, 1, 1, nobody), ERROR_NULL),
        (seals(empty, key, from, 1, 1, far), ERROR_STATE),
        (seals(state, key, from, 0, 1, far), ERROR_LENGTH),
        (seals(state, key, from, most, 1, far), ERROR_LENGTH),
        (seals(state, key, from, most / 4, 8, far), ERROR_LENGTH),
        (seals(state, key, from, 1, 1usize << 32, far), ERROR_COUNTER),
        (seals(state, key, from, 100, 2, to.wrapping_add(199)), ERROR_OVERLAP),
        (seals(state, key, NULL, 1, 0, nobody), 0),
        (opens(state, key, from, 1, 1, far, std::ptr::null_mut()), ERROR_NULL),
        (opens(state, key, from, 0, 1, far, counted), ERROR_LENGTH),
        (opens(state, key, from, 1, 1, to.wrapping_add(f.tag), counted), ERROR_OVERLAP),
        (opens(empty, key, from, 1, 1, far, counted), ERROR_STATE),
    ] {
        assert_eq!(got, wanted);
    }
    assert!(buffer.iter().all(|&byte| byte == 0xa5), "something was written");
    // CCM with nonces of 13 bytes has a length of two bytes: longer segments are not written.
    if bytes == 13 {
        let (long, mut text) = (vec![0u8; (1 << 16) + f.tag], vec![0xa5u8; 1 << 16]);
        let (from, to) = (long.as_ptr(), text.as_mut_ptr());
        assert_eq!(opens(state, key, from, 1usize << 16, 1, to, counted), ERROR_LENGTH);
        assert!(text.iter().all(|&byte| byte == 0xa5), "something was written");
    }
    // A state is begun, and has a number.
    stream.state[1] = (1 << 32) - 2;
    let mut out = vec![0; 200];
    let before = stream.state.clone();
    let two = call!(
        loaded,
        &f.c("stream_seal_many"),
        stream.state.as_mut_ptr(),
        key,
        nonce.as_ptr(),
        1,
        2,
        out.as_mut_ptr()
    );
    assert!(two == ERROR_COUNTER && stream.state == before);
    stream.seal(false, &[], b"the last but one");
    assert_eq!(stream.one("stream_seal", false, &[], b"one more", &mut out), ERROR_COUNTER);
    stream.seal(true, &[], b"the last");
    assert_eq!(stream.finish(), 0);
}
