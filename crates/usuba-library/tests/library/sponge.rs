//! Outputs of any length: XOFs, CXOFs, cSHAKE, TurboSHAKE, KMAC and the trees of RFC 9861: test vectors,
//! comparison with crates, and that pieces, neighbours and backends change nothing.

use std::ffi::c_int;

use usuba_ciphers::{HashMode, HashVector};
use usuba_library::Description;

use super::merkle::{ERROR_FORGED, ERROR_LENGTH, ERROR_NULL, ERROR_OVERLAP, ERROR_STATE};
use super::subject::{NULL, Noise, Subject, call, model};

const ERROR_PARAMETER: c_int = 7;

/// Messages of any number: more than lanes twice over, and one more.
const MANY: usize = 67;

/// Words of a state with room behind it.
const STATE: usize = 256;

/// Bytes of a leaf of RFC 9861.
const LEAF: usize = 8192;

/// The functions of one hash function.
struct Function<'a> {
    subject: &'a Subject,
    name: &'a str,
    mode: HashMode,
    block: usize,
}

/// Calls a C function with the parameters of a vector between two lists of arguments.
macro_rules! with {
    ($f:expr, $what:expr, $v:expr, [$($before:expr),*], [$($after:expr),*]) => {{
        let (loaded, name, v): (_, String, &HashVector) = (&$f.subject.loaded, $f.c($what), $v);
        let (key, custom) = (v.key.as_ptr(), v.custom.as_ptr());
        let (size, length) = (v.key.len(), v.custom.len());
        match $f.mode {
            HashMode::Cshake => {
                let (label, count) = (v.name.as_ptr(), v.name.len());
                call!(loaded, &name, $($before,)* label, count, custom, length, $($after),*)
            }
            HashMode::Cxof => call!(loaded, &name, $($before,)* custom, length, $($after),*),
            HashMode::TurboShake => {
                call!(loaded, &name, $($before,)* c_int::from(v.domain), $($after),*)
            }
            HashMode::Kmac => {
                call!(loaded, &name, $($before,)* key, size, custom, length, $($after),*)
            }
            _ => call!(loaded, &name, $($before,)* $($after),*),
        }
    }};
}

impl Function<'_> {
    fn c(&self, what: &str) -> String {
        format!("usuba_{}_{what}", self.name)
    }

    /// All at once.
    fn whole(&self, v: &HashVector) -> Vec<u8> {
        let mut out = vec![0; v.output.len()];
        let (input, length) = (v.input.as_ptr(), v.input.len());
        let (to, size) = (out.as_mut_ptr(), out.len());
        let status = match self.mode {
            HashMode::Kmac if v.xof => return self.pieces(v, &[], &[]),
            HashMode::Kmac => with!(self, "tag", v, [], [input, length, to, size]),
            HashMode::KangarooTwelve => {
                let (custom, count) = (v.custom.as_ptr(), v.custom.len());
                let loaded = &self.subject.loaded;
                call!(loaded, &self.c("hash"), input, length, custom, count, to, size)
            }
            _ => with!(self, "xof", v, [], [input, length, to, size]),
        };
        assert_eq!(status, 0);
        out
    }

    /// A state behind its beginning.
    fn begun(&self, v: &HashVector) -> Vec<u64> {
        let mut state = vec![0xa5a5_a5a5u64; STATE];
        let begin = if self.mode == HashMode::Kmac && v.xof { "xof_begin" } else { "begin" };
        let at = state.as_mut_ptr();
        let status = match self.mode {
            // No argument follows.
            HashMode::Cshake | HashMode::Cxof | HashMode::TurboShake | HashMode::Kmac => {
                with!(self, begin, v, [at], [0])
            }
            _ => call!(self.subject.loaded, &self.c(begin), at),
        };
        assert_eq!(status, 0);
        state
    }

    /// In pieces that end at `ends`, and a last one; the output in pieces, too.
    fn pieces(&self, v: &HashVector, ends: &[usize], gives: &[usize]) -> Vec<u8> {
        let (mut state, loaded) = (self.begun(v), &self.subject.loaded);
        let mut out = vec![0; v.output.len()];
        let at = state.as_mut_ptr();
        let mut done = 0;
        for &end in ends.iter().chain([&v.input.len()]) {
            let piece = &v.input[done..end];
            assert_eq!(call!(loaded, &self.c("update"), at, piece.as_ptr(), piece.len()), 0);
            done = end;
        }
        if self.mode == HashMode::Kmac && !v.xof {
            assert_eq!(call!(loaded, &self.c("final"), at, out.as_mut_ptr(), out.len()), 0);
            let used = state.iter().rposition(|&word| word != 0xa5a5_a5a5).expect("it was wiped");
            assert!(used > self.block / 8 && state[..=used].iter().all(|&word| word == 0));
            return out;
        }
        if self.mode == HashMode::KangarooTwelve {
            let (custom, length) = (v.custom.as_ptr(), v.custom.len());
            assert_eq!(call!(loaded, &self.c("final"), at, custom, length), 0);
        }
        let mut done = 0;
        for &end in gives.iter().chain([&out.len()]) {
            let to = out[done..end].as_mut_ptr();
            assert_eq!(call!(loaded, &self.c("squeeze"), at, to, end - done), 0);
            done = end;
        }
        assert_eq!(call!(loaded, &self.c("update"), at, v.input.as_ptr(), 0), ERROR_STATE);
        out
    }

    /// Many messages with the parameters of a vector.
    fn many(&self, v: &HashVector, messages: &[&[u8]]) -> Vec<u8> {
        let places: Vec<*const u8> = messages.iter().map(|message| message.as_ptr()).collect();
        let lengths: Vec<usize> = messages.iter().map(|message| message.len()).collect();
        let (each, count) = (v.output.len(), messages.len());
        let mut out = vec![0; count * each];
        let (from, sizes, to) = (places.as_ptr(), lengths.as_ptr(), out.as_mut_ptr());
        assert_eq!(with!(self, "hash_many", v, [], [from, sizes, count, to, each]), 0);
        out
    }
}

/// The ends of up to three pieces of `length` bytes.
fn cuts(noise: &mut Noise, length: usize) -> Vec<usize> {
    let mut ends: Vec<usize> = (0..noise.below(4)).map(|_| noise.below(length + 1)).collect();
    ends.sort_unstable();
    ends
}

/// A message of `length` bytes with random parameters, and its output.
fn anything(f: &Function, noise: &mut Noise, length: usize) -> HashVector {
    let mut field = |most: usize| {
        let size = noise.below(2) * noise.below(most);
        noise.bytes(size)
    };
    let mut v = HashVector::default();
    match f.mode {
        HashMode::Cshake => (v.name, v.custom) = (field(20), field(2 * f.block)),
        HashMode::Kmac => (v.key, v.custom) = (field(2 * f.block), field(40)),
        HashMode::Cxof => v.custom = field(257),
        HashMode::KangarooTwelve => v.custom = field(300),
        _ => {}
    }
    v.domain = [0x1f, 0x0b][noise.below(2)];
    v.xof = noise.below(2) == 1;
    v.input = noise.bytes(length);
    let most = [40, 3 * f.block][noise.below(2)];
    v.output = vec![0; 4 + noise.below(most)];
    v.output = model(&f.subject.folder, f.name, &v.parameters(), &v.input);
    v
}

/// Everything on every backend of this machine.
pub fn check(subject: &Subject, primitive: &Description) {
    let link = &primitive.operations[0];
    let name = &*primitive.name;
    let hash = subject.cipher.hashes.iter().find(|hash| hash.name == name).expect("it is there");
    let f = Function { subject, name, mode: hash.mode, block: link.input - link.output };
    let mut noise = Noise(f.block as u64);
    // Every length around one and two blocks, and around leaves.
    let around = |end: usize, by: usize| end.saturating_sub(by)..=end + by;
    let mut lengths: Vec<usize> = around(f.block, 12).chain(around(2 * f.block, 12)).collect();
    lengths.extend(0..20);
    if f.mode == HashMode::KangarooTwelve {
        lengths.extend((1..=3).flat_map(|leaves| around(leaves * LEAF, 2)));
        lengths.push(40 * LEAF + 5);
    }
    let mut all: Vec<HashVector> =
        lengths.into_iter().map(|length| anything(&f, &mut noise, length)).collect();
    all.extend(subject.cipher.hashes_of(hash).expect("they can be read"));
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0, "{backend}");
        for v in &all {
            assert_eq!(f.whole(v), v.output, "{} on {backend}: {v:?}", f.name);
            let (ends, gives) = (cuts(&mut noise, v.input.len()), cuts(&mut noise, v.output.len()));
            let found = f.pieces(v, &ends, &gives);
            assert_eq!(found, v.output, "{} on {backend} by {ends:?} {gives:?}: {v:?}", f.name);
        }
        match f.mode {
            HashMode::Kmac => tags(&f, &mut noise),
            HashMode::KangarooTwelve => {}
            _ => neighbours(&f, &mut noise),
        }
        if f.mode == HashMode::Xof {
            side_by_side(&f, &mut noise);
        }
    }
    misuse(&f);
    match f.mode {
        HashMode::Kmac => misuse_of_tags(&f),
        HashMode::KangarooTwelve => {}
        _ => misuse_of_many(&f),
    }
}

/// Any number of messages of any lengths, with short and with long outputs.
fn neighbours(f: &Function, noise: &mut Noise) {
    for output in [32, f.block, 3 * f.block + 1] {
        let v = HashVector { name: noise.bytes(3), domain: 0x1f, ..HashVector::default() };
        let v = HashVector { output: vec![0; output], ..v };
        let sizes: Vec<usize> = (0..MANY).map(|_| noise.below(5 * f.block)).collect();
        let messages: Vec<Vec<u8>> = sizes.into_iter().map(|size| noise.bytes(size)).collect();
        let each = |input: &Vec<u8>| f.whole(&HashVector { input: input.clone(), ..v.clone() });
        let expected: Vec<Vec<u8>> = messages.iter().map(each).collect();
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        for count in (0..=MANY).step_by(1 + noise.below(4)) {
            let found = f.many(&v, &messages[..count]);
            assert_eq!(found, expected[..count].concat(), "{count} messages, {output} bytes");
        }
    }
}

/// Up to eight messages of one length: each has the blocks of a message alone; and any number
/// of them.
fn side_by_side(f: &Function, noise: &mut Noise) {
    let loaded = &f.subject.loaded;
    for count in 1..=MANY {
        let (length, output) = (noise.below(3 * f.block), noise.below(4 * f.block));
        let messages: Vec<Vec<u8>> = (0..count).map(|_| noise.bytes(length)).collect();
        let each = |input: &Vec<u8>| {
            let output = vec![0; 4 * f.block];
            f.whole(&HashVector { input: input.clone(), output, ..HashVector::default() })
        };
        let expected: Vec<Vec<u8>> = messages.iter().map(each).collect();
        let mut outs = vec![vec![0u8; 4 * f.block]; count];
        let from: Vec<*const u8> = messages.iter().map(|message| message.as_ptr()).collect();
        let to: Vec<*mut u8> = outs.iter_mut().map(|out| out.as_mut_ptr()).collect();
        let (in_, out) = (from.as_ptr(), to.as_ptr());
        assert_eq!(call!(loaded, &f.c("many"), in_, length, out, output, count), 0);
        let right = |out: &Vec<u8>, wanted: &Vec<u8>| out[..output] == wanted[..output];
        assert!(outs.iter().zip(&expected).all(|(out, wanted)| right(out, wanted)), "{count}");
        assert!(outs.iter().all(|out| out[output..].iter().all(|&byte| byte == 0)), "{count}");
        if count > 8 {
            continue;
        }
        let mut lanes = vec![0u64; 8 * STATE];
        let at = lanes.as_mut_ptr();
        assert_eq!(call!(loaded, &f.c("many_begin"), at, count), 0);
        let mut done = 0;
        for end in cuts(noise, length).into_iter().chain([length]) {
            let from: Vec<*const u8> = from.iter().map(|from| from.wrapping_add(done)).collect();
            let name = f.c("many_absorb");
            assert_eq!(call!(loaded, &name, at, from.as_ptr(), count, end - done), 0);
            done = end;
        }
        for blocks in [0, 1, 3] {
            let begin = if blocks == 3 { f.block } else { 0 };
            let to: Vec<*mut u8> = outs.iter_mut().map(|out| out[begin..].as_mut_ptr()).collect();
            let name = f.c("many_squeeze_blocks");
            assert_eq!(call!(loaded, &name, at, to.as_ptr(), count, blocks), 0);
        }
        assert_eq!(outs, expected, "{count} side by side");
        let name = f.c("many_absorb");
        assert_eq!(call!(loaded, &name, at, from.as_ptr(), count, 1), ERROR_STATE);
    }
}

/// A tag is right as a whole or forged, all at once and in pieces.
fn tags(f: &Function, noise: &mut Noise) {
    for length in [4, 16, 32, f.block, 3 * f.block + 5] {
        let (key, input) = (noise.bytes(32), noise.bytes(2 * f.block + length));
        let v = HashVector { key, input, output: vec![0; length], ..HashVector::default() };
        let right = f.whole(&v);
        let (input, size) = (v.input.as_ptr(), v.input.len());
        let judge = |tag: &[u8]| {
            let (at, loaded) = (tag.as_ptr(), &f.subject.loaded);
            let one = with!(f, "check", &v, [], [input, size, at, tag.len()]);
            let mut state = f.begun(&v);
            let state = state.as_mut_ptr();
            assert_eq!(call!(loaded, &f.c("update"), state, input, size), 0);
            assert_eq!(call!(loaded, &f.c("verify"), state, at, tag.len()), one);
            assert_eq!(call!(loaded, &f.c("verify"), state, at, tag.len()), ERROR_STATE);
            one
        };
        assert_eq!(judge(&right), 0);
        // Neither longer nor shorter: the length is an input.
        assert_eq!(judge(&[&right[..], &[0]].concat()), ERROR_FORGED);
        if length > 4 {
            assert_eq!(judge(&right[..length - 1]), ERROR_FORGED);
        }
        for place in [0, length / 2, length - 1] {
            let mut wrong = right.clone();
            wrong[place] ^= 1 << noise.below(8);
            assert_eq!(judge(&wrong), ERROR_FORGED);
        }
    }
}

/// Every kind of mistake: the status that names it, and places that stay as they were.
fn misuse(f: &Function) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to) = (message.as_ptr(), out.as_mut_ptr());
    let mut state = vec![0xa5u64; STATE];
    let s = state.as_mut_ptr();
    for what in ["update", "squeeze"] {
        assert_eq!(call!(loaded, &f.c(what), NULL, to, 1), ERROR_NULL, "{what}");
        assert_eq!(call!(loaded, &f.c(what), s, to, 1), ERROR_STATE, "{what} of no state");
    }
    let missing = HashVector { domain: 1, ..HashVector::default() };
    let begin = |at: *mut u64| with!(f, "begin", &missing, [at], [0]);
    assert_eq!(begin(std::ptr::null_mut()), ERROR_NULL);
    match f.mode {
        HashMode::Cshake => {
            let (name, none) = (f.c("begin"), NULL);
            assert_eq!(call!(loaded, &name, s, none, 1, input, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &name, s, input, 1, none, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &name, s, input, usize::MAX, none, 0), ERROR_LENGTH);
            assert_eq!(call!(loaded, &name, s, none, 0, input, usize::MAX), ERROR_LENGTH);
            let (name, size) = (f.c("xof"), usize::MAX);
            assert_eq!(call!(loaded, &name, none, 1, none, 0, input, 1, to, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &name, input, size, none, 0, input, 1, to, 1), ERROR_LENGTH);
        }
        HashMode::Cxof => {
            let (name, none) = (f.c("begin"), NULL);
            assert_eq!(call!(loaded, &name, s, none, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &name, s, input, 257), ERROR_LENGTH);
            let name = f.c("xof");
            assert_eq!(call!(loaded, &name, none, 1, input, 1, to, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &name, input, 257, input, 1, to, 1), ERROR_LENGTH);
        }
        HashMode::TurboShake => {
            for domain in [0, 0x80, 0xff] {
                assert_eq!(call!(loaded, &f.c("begin"), s, domain), ERROR_PARAMETER);
                let name = f.c("xof");
                assert_eq!(call!(loaded, &name, domain, input, 1, to, 1), ERROR_PARAMETER);
            }
        }
        HashMode::KangarooTwelve => {
            let (name, none) = (f.c("hash"), NULL);
            assert_eq!(call!(loaded, &name, none, 1, none, 0, to, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &name, input, 1, none, 1, to, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &name, input, 1, none, 0, none, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &f.c("final"), none, input, 1), ERROR_NULL);
            assert_eq!(call!(loaded, &f.c("final"), s, input, 1), ERROR_STATE);
        }
        _ => {}
    }
    assert!(state.iter().all(|&word| word == 0xa5), "nothing was begun");
    let s = state.as_mut_ptr();
    assert_eq!(begin(s), 0);
    assert_eq!(call!(loaded, &f.c("update"), s, NULL, 1), ERROR_NULL);
    assert_eq!(call!(loaded, &f.c("update"), s, NULL, 0), 0);
    // The second word says how many bytes are in the buffer, which never holds a block.
    let used = state[1];
    for full in [f.block as u64, f.block as u64 + 1, u64::MAX] {
        state[1] = full;
        let s = state.as_mut_ptr();
        for what in ["update", "squeeze"] {
            assert_eq!(call!(loaded, &f.c(what), s, to, 1), ERROR_STATE, "{full}: {what}");
        }
    }
    state[1] = used;
    let s = state.as_mut_ptr();
    if f.mode == HashMode::KangarooTwelve {
        assert_eq!(call!(loaded, &f.c("squeeze"), s, to, 1), ERROR_STATE, "before the end");
        assert_eq!(call!(loaded, &f.c("update"), s, input, 1), 0);
        assert_eq!(call!(loaded, &f.c("update"), s, input, usize::MAX), ERROR_LENGTH);
        assert_eq!(call!(loaded, &f.c("final"), s, NULL, 1), ERROR_NULL);
        assert_eq!(call!(loaded, &f.c("final"), s, input, usize::MAX), ERROR_LENGTH);
        assert_eq!(call!(loaded, &f.c("final"), s, NULL, 0), 0);
        assert_eq!(call!(loaded, &f.c("final"), s, NULL, 0), ERROR_STATE, "after the end");
    } else {
        // Nothing ends the message before an output.
        assert_eq!(
            call!(loaded, &f.c("squeeze"), s, NULL, 0),
            [0, ERROR_STATE][usize::from(f.mode == HashMode::Kmac)]
        );
        assert_eq!(call!(loaded, &f.c("update"), s, input, 1), 0);
    }
    if f.mode != HashMode::Kmac {
        assert_eq!(call!(loaded, &f.c("squeeze"), s, NULL, 1), ERROR_NULL);
        assert_eq!(call!(loaded, &f.c("squeeze"), s, NULL, 0), 0);
    }
    if !matches!(f.mode, HashMode::Kmac | HashMode::KangarooTwelve) {
        let (mut ended, mut byte) = (state.clone(), [0u8]);
        let (e, to) = (ended.as_mut_ptr(), byte.as_mut_ptr());
        assert_eq!(call!(loaded, &f.c("squeeze"), e, to, 1), 0);
        let behind = state.len() - ended.iter().rev().take_while(|&&word| word == 0xa5).count();
        let buffer = behind - f.block / 8..behind;
        assert!(ended[buffer].iter().all(|&word| word == 0), "the message is left in the buffer");
        ended[1] = f.block as u64 + 1;
        assert_eq!(call!(loaded, &f.c("squeeze"), ended.as_mut_ptr(), to, 1), ERROR_STATE);
    }
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
}

fn misuse_of_tags(f: &Function) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to) = (message.as_ptr(), out.as_mut_ptr());
    let v = HashVector { key: vec![1; 16], ..HashVector::default() };
    for name in [f.c("begin"), f.c("xof_begin")] {
        let mut state = vec![0xa5u64; STATE];
        let s = state.as_mut_ptr();
        assert_eq!(call!(loaded, &name, s, NULL, 1, NULL, 0), ERROR_NULL);
        assert_eq!(call!(loaded, &name, s, NULL, 0, NULL, 1), ERROR_NULL);
        assert_eq!(call!(loaded, &name, s, input, usize::MAX, NULL, 0), ERROR_LENGTH);
        assert_eq!(call!(loaded, &name, s, NULL, 0, input, usize::MAX), ERROR_LENGTH);
        for what in ["final", "verify"] {
            assert_eq!(call!(loaded, &f.c(what), s, to, 32), ERROR_STATE, "{what} of no state");
            assert_eq!(call!(loaded, &f.c(what), NULL, to, 32), ERROR_NULL, "{what}");
        }
        assert!(state.iter().all(|&word| word == 0xa5), "nothing was begun");
    }
    // A tag is not squeezed, and an output without its length is no tag.
    let mut state = f.begun(&v);
    let s = state.as_mut_ptr();
    assert_eq!(call!(loaded, &f.c("squeeze"), s, to, 32), ERROR_STATE);
    for length in [0, 1, 3, usize::MAX] {
        assert_eq!(call!(loaded, &f.c("final"), s, to, length), ERROR_LENGTH);
        assert_eq!(call!(loaded, &f.c("verify"), s, input, length), ERROR_LENGTH);
    }
    assert_eq!(call!(loaded, &f.c("final"), s, NULL, 32), ERROR_NULL);
    assert_eq!(call!(loaded, &f.c("verify"), s, NULL, 32), ERROR_NULL);
    let mut open = f.begun(&HashVector { xof: true, ..v.clone() });
    let o = open.as_mut_ptr();
    assert_eq!(call!(loaded, &f.c("final"), o, to, 32), ERROR_STATE);
    assert_eq!(call!(loaded, &f.c("verify"), o, input, 32), ERROR_STATE);
    assert_eq!(with!(f, "tag", &v, [], [input, 1, to, 3]), ERROR_LENGTH);
    assert_eq!(with!(f, "tag", &v, [], [NULL, 1, to, 32]), ERROR_NULL);
    assert_eq!(with!(f, "check", &v, [], [input, 1, NULL, 32]), ERROR_NULL);
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
    let to = out.as_mut_ptr();
    assert_eq!(call!(loaded, &f.c("final"), s, to, 32), 0);
    assert_eq!(call!(loaded, &f.c("final"), s, to, 32), ERROR_STATE, "after the end");
}

fn misuse_of_many(f: &Function) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to) = (message.as_ptr(), out.as_mut_ptr());
    let v = HashVector { domain: 1, ..HashVector::default() };
    let (places, inside) = ([input, NULL], [to.cast_const().wrapping_add(40), NULL]);
    let (at, inside, none) = (places.as_ptr(), inside.as_ptr(), std::ptr::null::<*const u8>());
    let (fives, one) = ([5usize, 5], [5usize, 0]);
    let (fives, one, nobody) = (fives.as_ptr(), one.as_ptr(), std::ptr::null_mut::<u8>());
    for (arguments, wanted) in [
        ((at, fives, 2, to, 32), ERROR_NULL),
        ((none, one, 2, to, 32), ERROR_NULL),
        ((at, one, 2, nobody, 32), ERROR_NULL),
        ((at, one, 2, to, 0), ERROR_LENGTH),
        ((at, one, usize::MAX, to, 32), ERROR_LENGTH),
        ((inside, one, 2, to, 32), ERROR_OVERLAP),
        ((none, one, 0, nobody, 32), 0),
    ] {
        let (from, lengths, count, to, size) = arguments;
        let found = with!(f, "hash_many", &v, [], [from, lengths, count, to, size]);
        assert_eq!(found, wanted, "{arguments:?} of {}", f.name);
    }
    if f.mode == HashMode::Xof {
        let mut lanes = vec![0xa5u64; 8 * STATE];
        let l = lanes.as_mut_ptr();
        let outs = [to, nobody];
        let outs = outs.as_ptr();
        let (begin, absorb) = (&f.c("many_begin"), &f.c("many_absorb"));
        let (squeeze, many) = (&f.c("many_squeeze_blocks"), &f.c("many"));
        for (found, wanted) in [
            (call!(loaded, begin, NULL, 1), ERROR_NULL),
            (call!(loaded, begin, l, 0), ERROR_LENGTH),
            (call!(loaded, begin, l, 9), ERROR_LENGTH),
            (call!(loaded, absorb, NULL, at, 2, 1), ERROR_NULL),
            (call!(loaded, absorb, l, at, 2, 1), ERROR_STATE),
            (call!(loaded, squeeze, NULL, outs, 2, 1), ERROR_NULL),
            (call!(loaded, squeeze, l, outs, 2, 1), ERROR_STATE),
            (call!(loaded, many, none, 1, outs, 1, 1), ERROR_NULL),
            (call!(loaded, many, at, 1, outs, 1, 2), ERROR_NULL),
            (call!(loaded, many, at, 0, outs, 1, 2), ERROR_NULL),
            (call!(loaded, many, none, 0, none, 0, 2), 0),
            (call!(loaded, many, none, 1, none, 1, 0), 0),
            (call!(loaded, begin, l, 2), 0),
            (call!(loaded, absorb, l, at, 2, 1), ERROR_NULL),
            (call!(loaded, absorb, l, none, 2, 1), ERROR_NULL),
            (call!(loaded, absorb, l, at, 1, 1), ERROR_PARAMETER),
            (call!(loaded, absorb, l, at, 9, 1), ERROR_PARAMETER),
            (call!(loaded, absorb, l, none, 2, 0), 0),
            (call!(loaded, squeeze, l, outs, 2, 1), ERROR_NULL),
            (call!(loaded, squeeze, l, none, 2, 1), ERROR_NULL),
            (call!(loaded, squeeze, l, outs, 3, 1), ERROR_PARAMETER),
            (call!(loaded, squeeze, l, none, 2, 0), 0),
        ] {
            assert_eq!(found, wanted, "{}", f.name);
        }
    }
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
}
