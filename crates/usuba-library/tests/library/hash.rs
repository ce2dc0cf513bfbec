//! Hash functions: test vectors, comparison with references and crates, and that pieces, neighbours
//! and backends change nothing.

use std::ffi::c_int;

use usuba_ciphers::HashVector;
use usuba_library::Description;

use super::subject::{NULL, Noise, Subject, call, model};

const ERROR_NULL: c_int = 1;
const ERROR_LENGTH: c_int = 2;
const ERROR_OVERLAP: c_int = 4;
const ERROR_STATE: c_int = 6;
const ERROR_PARAMETER: c_int = 7;
const ERROR_FORGED: c_int = 8;

/// The length of an output without an end.
const ENDLESS: usize = usize::MAX;

/// Messages of any number: more than lanes twice over, and one more.
const MANY: usize = 66;

/// `usuba_skein_parameters`: five places with their lengths, and a tree.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Parameters {
    fields: [[usize; 2]; 5],
    tree: [u8; 3],
}

impl Parameters {
    /// The parameters of a vector, whose empty fields are absent.
    fn of(vector: &HashVector) -> Parameters {
        let field = |bytes: &Vec<u8>| match bytes.is_empty() {
            true => [0, 0],
            false => [bytes.as_ptr() as usize, bytes.len()],
        };
        let [a, b, c, d] = vector.arguments.each_ref().map(field);
        Parameters { fields: [field(&vector.key), a, b, c, d], tree: vector.tree }
    }
}

/// The functions of one hash function.
struct Function<'a> {
    subject: &'a Subject,
    name: &'a str,
    block: usize,
}

impl Function<'_> {
    fn c(&self, what: &str) -> String {
        format!("usuba_{}_{what}", self.name)
    }

    fn bits(v: &HashVector) -> usize {
        8 * v.input.len() - (8 - v.bits as usize) % 8
    }

    /// All at once.
    fn hash(&self, v: &HashVector) -> Vec<u8> {
        let (p, mut out) = (Parameters::of(v), vec![0; v.output.len()]);
        let (input, to, length) = (v.input.as_ptr(), out.as_mut_ptr(), out.len());
        let name = self.c("hash_bits");
        assert_eq!(
            call!(self.subject.loaded, &name, &raw const p, input, Self::bits(v), to, length),
            0
        );
        out
    }

    /// In pieces that end at `ends`, and a last one.
    fn pieces(&self, v: &HashVector, ends: &[usize]) -> Vec<u8> {
        let kind = if v.tree == [0; 3] { "" } else { "tree_" };
        let c = |what: &str| self.c(&format!("{kind}{what}"));
        let loaded = &self.subject.loaded;
        let (p, mut out) = (Parameters::of(v), vec![0; v.output.len()]);
        let mut state = vec![0xa5a5_a5a5u64; 4096];
        let at = state.as_mut_ptr();
        assert_eq!(call!(loaded, &c("begin"), at, &raw const p, out.len()), 0);
        let mut done = 0;
        for &end in ends {
            let piece = &v.input[done..end];
            assert_eq!(call!(loaded, &c("update"), at, piece.as_ptr(), piece.len()), 0);
            done = end;
        }
        let (rest, bits) = (&v.input[done..], Self::bits(v) - 8 * done);
        assert_eq!(call!(loaded, &c("update_bits"), at, rest.as_ptr(), bits), 0);
        assert_eq!(call!(loaded, &c("final"), at, out.as_mut_ptr(), out.len()), 0);
        let used = state.iter().rposition(|&word| word != 0xa5a5_a5a5).expect("it was wiped");
        // The last bytes of the state may be padding of C, but not a word of it.
        assert!(used > self.block / 8 && state[..used].iter().all(|&word| word == 0), "not wiped");
        out
    }

    /// Many messages with the parameters of a vector.
    fn many(&self, v: &HashVector, messages: &[&[u8]]) -> Vec<u8> {
        let p = Parameters::of(v);
        let places: Vec<*const u8> = messages.iter().map(|message| message.as_ptr()).collect();
        let lengths: Vec<usize> = messages.iter().map(|message| message.len()).collect();
        let each = v.output.len();
        let mut out = vec![0; messages.len() * each];
        let (from, sizes, to) = (places.as_ptr(), lengths.as_ptr(), out.as_mut_ptr());
        let name = self.c("hash_many");
        let count = messages.len();
        assert_eq!(
            call!(self.subject.loaded, &name, &raw const p, from, sizes, count, to, each),
            0
        );
        out
    }
}

/// A message with parameters, some of them absent; without an answer yet.
fn anything(noise: &mut Noise, block: usize) -> HashVector {
    let mut field = |most: usize| {
        let length = noise.below(2) * noise.below(most);
        noise.bytes(length)
    };
    let key = field(2 * block);
    let arguments = [field(40), field(block + 1), field(20), field(40)];
    let input = field(12 * block);
    let bits = if input.is_empty() { 0 } else { noise.below(2) * noise.below(8) } as u8;
    let tree = match noise.below(3) {
        0 => [1 + noise.below(3), 1 + noise.below(3), 2 + noise.below(4)].map(|n| n as u8),
        _ => [0; 3],
    };
    let output = vec![0; [1, 20, 32, 64, 200][noise.below(5)]];
    HashVector { key, arguments, tree, input, bits, output, ..HashVector::default() }
}

/// The plain hash function of a message.
fn plain(input: &[u8], length: usize) -> HashVector {
    HashVector { input: input.to_vec(), output: vec![0; length], ..HashVector::default() }
}

/// Everything on every backend of this machine.
pub fn check(subject: &Subject, primitive: &Description) {
    let link = &primitive.operations[0];
    let f = Function { subject, name: &primitive.name, block: link.input - link.output };
    let hash = subject.cipher.hashes.iter().find(|hash| hash.name == f.name).expect("it is there");
    let vectors = subject.cipher.hashes_of(hash).expect("they can be read");
    let mut noise = Noise(f.block as u64);
    let mut random: Vec<HashVector> = (0..60).map(|_| anything(&mut noise, f.block)).collect();
    // Some that the crate has.
    random.extend([1, 20, 32, 33, 64, 128, 200].map(|length| {
        let message = noise.below(5 * f.block);
        plain(&noise.bytes(message), length)
    }));
    for v in &mut random {
        v.output = model(&subject.folder, f.name, &v.parameters(), &v.input);
    }
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0, "{backend}");
        for v in vectors.iter().chain(&random) {
            assert_eq!(f.hash(v), v.output, "{} on {backend}: {v:?}", f.name);
            let mut ends: Vec<usize> = (0..noise.below(4))
                .filter(|_| !v.input.is_empty())
                .map(|_| noise.below(v.input.len()))
                .collect();
            ends.sort_unstable();
            assert_eq!(f.pieces(v, &ends), v.output, "{} on {backend} by {ends:?}: {v:?}", f.name);
        }
        splits(&f, &mut noise);
        neighbours(&f, &mut noise);
        endless(&f, &mut noise);
    }
    tags(&f, &mut noise);
    misuse(&f);
}

/// Up to three blocks: every length, and every place where a message can be cut.
fn splits(f: &Function, noise: &mut Noise) {
    let message = noise.bytes(3 * f.block);
    let tree = |v: HashVector| HashVector { tree: [1, 1, 3], ..v };
    for end in 0..=message.len() {
        let v = plain(&message[..end], 32);
        assert_eq!(f.pieces(&v, &[noise.below(end + 1)]), f.hash(&v));
    }
    for whole in [plain(&message, 32), tree(plain(&message, 32))] {
        let expected = f.hash(&whole);
        (0..=message.len()).for_each(|cut| assert_eq!(f.pieces(&whole, &[cut]), expected));
    }
}

/// Any number of messages of any lengths.
fn neighbours(f: &Function, noise: &mut Noise) {
    let v = HashVector { key: noise.bytes(13), ..plain(&[], 20 + 2 * noise.below(f.block)) };
    let lengths: Vec<usize> = (0..MANY).map(|_| noise.below(4 * f.block)).collect();
    let messages: Vec<Vec<u8>> = lengths.into_iter().map(|length| noise.bytes(length)).collect();
    let each = |input: &Vec<u8>| f.hash(&HashVector { input: input.clone(), ..v.clone() });
    let expected: Vec<Vec<u8>> = messages.iter().map(each).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    for count in 0..=MANY {
        assert_eq!(f.many(&v, &messages[..count]), expected[..count].concat(), "{count} messages");
    }
    // Equal lengths, whole blocks, and one that is much longer than the others.
    for (count, length) in [(8, 4 * f.block), (9, 0), (17, f.block), (33, 1)] {
        let long = noise.bytes(20 * f.block);
        let messages: Vec<&[u8]> =
            (0..count).map(|i| if i == 3 { &long[..] } else { &long[i..i + length] }).collect();
        let each = |input: &&[u8]| f.hash(&HashVector { input: input.to_vec(), ..v.clone() });
        let expected: Vec<u8> = messages.iter().flat_map(each).collect();
        assert_eq!(f.many(&v, &messages), expected);
    }
}

/// An output without an end begins with the same bytes however it is taken.
fn endless(f: &Function, noise: &mut Noise) {
    let loaded = &f.subject.loaded;
    let (p, message) = (Parameters::default(), noise.bytes(100));
    let begin = |state: &mut Vec<u64>| {
        let at = state.as_mut_ptr();
        assert_eq!(call!(loaded, &f.c("begin"), at, &raw const p, ENDLESS), 0);
        assert_eq!(call!(loaded, &f.c("update"), at, message.as_ptr(), message.len()), 0);
        at
    };
    let (mut state, mut whole) = (vec![0u64; 4096], vec![0u8; 70 * f.block]);
    let at = begin(&mut state);
    assert_eq!(call!(loaded, &f.c("final"), at, whole.as_mut_ptr(), whole.len()), 0);
    let at = begin(&mut state);
    let mut pieces = vec![0; whole.len()];
    let mut done = 0;
    while done < pieces.len() {
        let most = [3, 2 * f.block, 40 * f.block][noise.below(3)];
        let length = noise.below(most).min(pieces.len() - done);
        let to = pieces[done..].as_mut_ptr();
        assert_eq!(call!(loaded, &f.c("squeeze"), at, to, length), 0);
        done += length;
    }
    assert!(pieces == whole);
    assert_eq!(call!(loaded, &f.c("update"), at, message.as_ptr(), 1), ERROR_STATE);
}

/// A tag is right as a whole or forged, with a tree and without, all at once and in pieces.
fn tags(f: &Function, noise: &mut Noise) {
    let loaded = &f.subject.loaded;
    let mut state = vec![0u64; 4096];
    let at = state.as_mut_ptr();
    for (kind, tree) in [("", [0; 3]), ("tree_", [1, 1, 3])] {
        for length in [1, 16, 32, f.block, 3 * f.block + 5] {
            let message = noise.bytes(5 * f.block + length);
            let key = noise.bytes(length.min(40));
            let v = HashVector { key, tree, ..plain(&message, length) };
            let (p, right) = (Parameters::of(&v), f.hash(&v));
            let (input, size) = (message.as_ptr(), message.len());
            let check = |tag: &[u8]| {
                call!(loaded, &f.c("check"), &raw const p, input, size, tag.as_ptr(), tag.len())
            };
            let c = |what: &str| f.c(&format!("{kind}{what}"));
            let verify = |state: *mut u64, tag: &[u8]| {
                assert_eq!(call!(loaded, &c("begin"), state, &raw const p, length), 0);
                assert_eq!(call!(loaded, &c("update"), state, input, size), 0);
                let (name, from) = (c("verify"), tag.as_ptr());
                // Another length ends nothing.
                assert_eq!(call!(loaded, &name, state, from, length - 1), ERROR_LENGTH);
                let answer = call!(loaded, &name, state, from, length);
                assert_eq!(call!(loaded, &name, state, from, length), ERROR_STATE);
                answer
            };
            assert_eq!((check(&right), verify(at, &right)), (0, 0), "{kind}{length}");
            assert!(check(&[&right[..], &[0]].concat()) == ERROR_FORGED);
            for place in [0, length / 2, length - 1] {
                let mut wrong = right.clone();
                wrong[place] ^= 1 << noise.below(8);
                assert_eq!((check(&wrong), verify(at, &wrong)), (ERROR_FORGED, ERROR_FORGED));
            }
        }
    }
}

/// Every kind of mistake: the status that names it, and places that stay as they were.
fn misuse(f: &Function) {
    let loaded = &f.subject.loaded;
    let (message, mut out) = ([1u8; 300], [0xa5u8; 300]);
    let (input, to) = (message.as_ptr(), out.as_mut_ptr());
    let none = Parameters::default();
    let missing = Parameters { fields: [[0, 1]; 5], ..none };
    let trees = [[1, 0, 0], [0, 1, 2], [1, 1, 1], [1, 1, 0], [1, 0, 2]];
    let wrong = trees.map(|tree| Parameters { tree, ..none });
    let tree = Parameters { tree: [1, 1, 2], ..none };
    let (mut state, mut grown) = (vec![0xa5u64; 4096], vec![0xa5u64; 4096]);
    let (s, g) = (state.as_mut_ptr(), grown.as_mut_ptr());
    let hash = |p: &Parameters, input: *const u8, length: usize, to: *mut u8, size: usize| {
        call!(loaded, &f.c("hash"), &raw const *p, input, length, to, size)
    };
    let nobody = std::ptr::null_mut();
    let begin = |p: &Parameters, size: usize| call!(loaded, &f.c("begin"), s, &raw const *p, size);
    let plant =
        |p: &Parameters, size: usize| call!(loaded, &f.c("tree_begin"), g, &raw const *p, size);
    assert_eq!(hash(&none, input, 10, to, 0), ERROR_LENGTH);
    assert_eq!(hash(&none, input, 10, to, ENDLESS), ERROR_LENGTH);
    assert_eq!(hash(&none, input, 10, to, usize::MAX / 8 + 1), ERROR_LENGTH);
    assert_eq!(hash(&none, NULL, 10, to, 32), ERROR_NULL);
    assert_eq!(hash(&none, input, 10, nobody, 32), ERROR_NULL);
    assert_eq!(hash(&missing, input, 10, to, 32), ERROR_NULL);
    for p in &wrong {
        assert_eq!(hash(p, input, 10, to, 32), ERROR_PARAMETER, "{:?}", p.tree);
        assert_eq!(plant(p, 32), ERROR_PARAMETER);
    }
    assert_eq!(call!(loaded, &f.c("hash_bits"), NULL, NULL, 1, to, 32), ERROR_NULL);
    assert_eq!(call!(loaded, &f.c("begin"), NULL, NULL, 32), ERROR_NULL);
    assert_eq!(begin(&none, 0), ERROR_LENGTH);
    assert_eq!(begin(&missing, 32), ERROR_NULL);
    assert_eq!(begin(&tree, 32), ERROR_PARAMETER);
    assert_eq!(plant(&none, 32), ERROR_PARAMETER);
    assert_eq!(plant(&tree, ENDLESS), ERROR_LENGTH);
    // Nothing was begun.
    assert!(state.iter().chain(&grown).all(|&word| word == 0xa5));
    for what in ["update", "update_bits", "squeeze", "final", "verify"] {
        assert_eq!(call!(loaded, &f.c(what), s, to, 8), ERROR_STATE, "{what}");
        assert_eq!(call!(loaded, &f.c(what), NULL, to, 8), ERROR_NULL, "{what}");
    }
    for what in ["tree_update", "tree_update_bits", "tree_final", "tree_verify"] {
        assert_eq!(call!(loaded, &f.c(what), g, to, 8), ERROR_STATE, "{what}");
        assert_eq!(call!(loaded, &f.c(what), NULL, to, 8), ERROR_NULL, "{what}");
    }
    assert_eq!((begin(&none, 32), plant(&tree, 32)), (0, 0));
    for (kind, at) in [("", s), ("tree_", g)] {
        let c = |what: &str| f.c(&format!("{kind}{what}"));
        assert_eq!(call!(loaded, &c("update"), at, NULL, 3), ERROR_NULL);
        assert_eq!(call!(loaded, &c("update"), at, NULL, 0), 0);
        assert_eq!(call!(loaded, &c("update"), at, input, usize::MAX), ERROR_LENGTH);
        assert_eq!(call!(loaded, &c("update_bits"), at, input, 11), 0);
        // Behind a byte that is not whole there is nothing.
        assert_eq!(call!(loaded, &c("update"), at, input, 1), ERROR_STATE);
        assert_eq!(call!(loaded, &c("update_bits"), at, input, 1), ERROR_STATE);
        assert_eq!(call!(loaded, &c("update"), at, NULL, 0), 0);
        for length in [0, 31, 33] {
            assert_eq!(call!(loaded, &c("final"), at, to, length), ERROR_LENGTH);
            assert_eq!(call!(loaded, &c("verify"), at, input, length), ERROR_LENGTH);
        }
        assert_eq!(call!(loaded, &c("final"), at, nobody, 32), ERROR_NULL);
        assert_eq!(call!(loaded, &c("verify"), at, NULL, 32), ERROR_NULL);
    }
    assert_eq!(call!(loaded, &f.c("squeeze"), s, to, 32), ERROR_STATE);
    // A buffer that holds more than a block, or not the byte of which some bits count.
    let (mut broken, before) = (vec![0u64; 4096], ["update", "final", "verify"]);
    let b = broken.as_mut_ptr();
    assert_eq!(call!(loaded, &f.c("begin"), b, &raw const none, 32), 0);
    for used in [f.block as u64 + 1, u64::MAX] {
        broken[3] = used;
        for what in before {
            let b = broken.as_mut_ptr();
            assert_eq!(call!(loaded, &f.c(what), b, to, 32), ERROR_STATE, "{used}: {what}");
        }
    }
    (broken[0], broken[3]) = (broken[0] + 3, 0);
    for what in before {
        assert_eq!(call!(loaded, &f.c(what), broken.as_mut_ptr(), to, 32), ERROR_STATE, "{what}");
    }
    // An output without an end is no tag, for every length.
    let mut open = vec![0u64; 4096];
    let o = open.as_mut_ptr();
    assert_eq!(call!(loaded, &f.c("begin"), o, &raw const none, ENDLESS), 0);
    assert_eq!(call!(loaded, &f.c("verify"), o, input, 32), ERROR_LENGTH);
    assert_eq!(call!(loaded, &f.c("check"), NULL, input, 1, input, ENDLESS), ERROR_LENGTH);
    assert_eq!(call!(loaded, &f.c("check"), NULL, input, 1, NULL, 32), ERROR_NULL);
    let places = [input, NULL];
    let many = |p: &Parameters,
                places: *const *const u8,
                lengths: [usize; 2],
                to: *mut u8,
                size: usize| {
        let name = f.c("hash_many");
        call!(loaded, &name, &raw const *p, places, lengths.as_ptr(), 2, to, size)
    };
    let at = places.as_ptr();
    assert_eq!(many(&none, at, [5, 5], to, 32), ERROR_NULL);
    assert_eq!(many(&none, std::ptr::null(), [5, 0], to, 32), ERROR_NULL);
    assert_eq!(many(&none, at, [5, 0], nobody, 32), ERROR_NULL);
    assert_eq!(many(&none, at, [5, 0], to, 0), ERROR_LENGTH);
    assert_eq!(many(&none, at, [5, 0], to, ENDLESS), ERROR_LENGTH);
    assert_eq!(many(&tree, at, [5, 0], to, 32), ERROR_PARAMETER);
    let inside = [to.cast_const().wrapping_add(63), NULL];
    assert_eq!(many(&none, inside.as_ptr(), [5, 0], to, 32), ERROR_OVERLAP);
    assert!(out.iter().all(|&byte| byte == 0xa5), "something was written");
    let to = out.as_mut_ptr();
    assert_eq!(many(&none, at, [5, 0], to, 32), 0);
    assert_eq!(call!(loaded, &f.c("final"), s, to, 32), 0);
    assert_eq!(call!(loaded, &f.c("tree_final"), g, to, 32), 0);
    for (what, at) in [("update", s), ("final", s), ("tree_update", g), ("tree_final", g)] {
        assert_eq!(call!(loaded, &f.c(what), at, to, 32), ERROR_STATE, "{what} after the end");
    }
}
