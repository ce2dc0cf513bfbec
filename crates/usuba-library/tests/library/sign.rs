//! Signatures from hash functions: test vectors, comparison with FIPS 205 written in Rust for parameter
//! sets of any shape, changed signatures, many at once, and misuse.

use std::ffi::c_int;
use std::path::Path;

use sha2::{Digest, Sha256};
use usuba::isa::Target;
use usuba_ciphers::{Hashes, Sign, SignMode, Signed};
use usuba_gen::asks;
use usuba_library::Description;

use super::fips205::Scheme;
use super::merkle::{ERROR_FORGED, ERROR_LENGTH, ERROR_NULL, ERROR_OVERLAP};
use super::root;
use super::subject::{NULL, Noise, Subject, call};

/// Flags of a C compiler: unoptimised, signatures take minutes.
pub const FAST: &[&str] = &["-O1"];

/// Parameters that do not go together.
const ERROR_PARAMETER: c_int = 7;

/// Words of any work area.
const WORK: usize = 10_000;

/// The functions of a parameter set.
struct Function<'a> {
    subject: &'a Subject,
    sign: &'a Sign,
}

/// A key pair.
struct Keys {
    public: Vec<u8>,
    secret: Vec<u8>,
}

/// A work area, with bytes of earlier calls in it.
fn work() -> Vec<u64> {
    vec![0xa5a5_a5a5_a5a5_a5a5; WORK]
}

/// The address of bytes, or NULL if there are none.
fn place(bytes: &[u8]) -> *const u8 {
    if bytes.is_empty() { NULL } else { bytes.as_ptr() }
}

impl Function<'_> {
    fn c(&self, call: &str) -> String {
        format!("usuba_{}_{call}", self.sign.name)
    }

    fn keys(&self, seed: &[u8]) -> Keys {
        let n = self.sign.n;
        let (mut public, mut secret, mut work) = (vec![0; 2 * n], vec![0; 4 * n], work());
        let (to, also, room) = (public.as_mut_ptr(), secret.as_mut_ptr(), work.as_mut_ptr());
        let loaded = &self.subject.loaded;
        assert_eq!(call!(loaded, &self.c("keypair_from_seed"), seed.as_ptr(), to, also, room), 0);
        assert!(secret == [seed, &public[n..]].concat(), "{}: a secret key", self.sign.name);
        self.is_wiped(&work);
        Keys { public, secret }
    }

    /// Nothing is left in a work area; it may begin with bytes of earlier calls.
    fn is_wiped(&self, work: &[u64]) {
        let bytes: Vec<u8> = work.iter().flat_map(|word| word.to_le_bytes()).collect();
        let used = bytes.iter().rposition(|byte| *byte != 0xa5).expect("it was used");
        assert!(used > 10_000, "{}: a small work area", self.sign.name);
        let zeros = bytes.iter().filter(|byte| **byte == 0).count();
        assert!(zeros + 64 > used, "{}: {zeros} of {used} bytes are wiped", self.sign.name);
    }

    /// The signature for a context, or of the internal function.
    fn sign(&self, keys: &Keys, context: Option<&[u8]>, random: &[u8], message: &[u8]) -> Vec<u8> {
        let (mut signature, mut work) = (vec![0xa5; self.sign.bytes() + 1], work());
        let (to, room, loaded) = (signature.as_mut_ptr(), work.as_mut_ptr(), &self.subject.loaded);
        let (key, random, length) = (keys.secret.as_ptr(), place(random), message.len());
        let message = place(message);
        let status = match context {
            None => call!(loaded, &self.c("sign_internal"), key, message, length, random, to, room),
            Some(context) => {
                let (at, size) = (place(context), context.len());
                call!(loaded, &self.c("sign"), key, at, size, message, length, random, to, room)
            }
        };
        assert_eq!(status, 0, "{}", self.sign.name);
        assert_eq!(signature.pop(), Some(0xa5), "it wrote behind its output");
        self.is_wiped(&work);
        signature
    }

    fn verify(
        &self,
        public: &[u8],
        context: Option<&[u8]>,
        message: &[u8],
        signature: &[u8],
    ) -> c_int {
        let (mut work, loaded) = (work(), &self.subject.loaded);
        let (key, length, room) = (public.as_ptr(), message.len(), work.as_mut_ptr());
        let (message, at, size) = (place(message), signature.as_ptr(), signature.len());
        match context {
            None => call!(loaded, &self.c("verify_internal"), key, message, length, at, size, room),
            Some(context) => {
                let (begin, count) = (place(context), context.len());
                call!(loaded, &self.c("verify"), key, begin, count, message, length, at, size, room)
            }
        }
    }

    /// Every vector, on the present backend.
    fn vectors(&self) {
        for vector in self.subject.cipher.signs_of(self.sign).expect("they can be read") {
            let keys = self.keys(&vector.seed);
            assert!(keys.public == vector.public_key, "{}: a public key", self.sign.name);
            let Some(signed) = vector.signed else { continue };
            let signature = match signed.prehash {
                None => {
                    let context = signed.context.as_deref();
                    let signature = self.sign(&keys, context, &signed.random, &signed.message);
                    let verify =
                        |bytes: &[u8]| self.verify(&keys.public, context, &signed.message, bytes);
                    assert_eq!(verify(&signature), 0, "{}", self.sign.name);
                    let mut changed = signature.clone();
                    changed[signature.len() / 2] ^= 1;
                    assert_eq!(verify(&changed), ERROR_FORGED, "{}", self.sign.name);
                    signature
                }
                Some(hash) => self.prehashed(&keys, hash, &signed),
            };
            let digest = Sha256::digest(&signature);
            assert!(digest[..] == signed.digest, "{}: a signature", self.sign.name);
        }
    }

    /// The signature of a hash, which is verified and not valid for another function.
    fn prehashed(&self, keys: &Keys, hash: u8, signed: &Signed) -> Vec<u8> {
        let (mut signature, mut work) = (vec![0; self.sign.bytes()], work());
        let (to, room, loaded) = (signature.as_mut_ptr(), work.as_mut_ptr(), &self.subject.loaded);
        let context = signed.context.as_deref().unwrap_or_default();
        let (at, size, digest) = (place(context), context.len(), signed.message.as_ptr());
        let (length, random, key) =
            (signed.message.len(), place(&signed.random), keys.secret.as_ptr());
        let name = self.c("sign_prehash");
        let number = usize::from(hash);
        let status = call!(loaded, &name, key, at, size, number, digest, length, random, to, room);
        assert_eq!(status, 0);
        for other in 0..14 {
            let (key, all) = (keys.public.as_ptr(), signature.len());
            let name = self.c("verify_prehash");
            let from = signature.as_ptr();
            let status =
                call!(loaded, &name, key, at, size, other, digest, length, from, all, room);
            let sizes = [32, 48, 64, 28, 28, 32, 28, 32, 48, 64, 32, 64];
            let expected = match other {
                0 | 13 => ERROR_PARAMETER,
                _ if sizes[other - 1] != length => ERROR_LENGTH,
                _ if other == number => 0,
                _ => ERROR_FORGED,
            };
            assert_eq!(status, expected, "{}: hash {hash} as {other}", self.sign.name);
        }
        signature
    }

    /// Changed bits of every part of a signature, as the standard verifies them, and other lengths and
    /// messages.
    fn changes(
        &self,
        scheme: &Scheme,
        keys: &Keys,
        message: &[u8],
        signature: &[u8],
        noise: &mut Noise,
    ) {
        let root = &keys.public[self.sign.n..];
        let expected =
            |message: &[u8], signature: &[u8]| match scheme.verifies(root, message, signature) {
                true => 0,
                false => ERROR_FORGED,
            };
        let Sign { n, trees, depth, layers, height, .. } = *self.sign;
        let parts = [
            vec![n],
            vec![(1 + depth) * n; trees],
            vec![(self.sign.digits() + height) * n; layers],
        ];
        let mut begin = 0;
        for length in parts.concat() {
            let mut changed = signature.to_vec();
            changed[begin + noise.below(length)] ^= 1 << noise.below(8);
            begin += length;
            let status = self.verify(&keys.public, None, message, &changed);
            let wanted = expected(message, &changed);
            assert_eq!(status, wanted, "{}: {begin} of {}", self.sign.name, signature.len());
        }
        assert_eq!(begin, signature.len());
        let longer = [signature, &[0]].concat();
        for other in
            [&longer[..], &signature[1..], &signature[..signature.len() - 1], &signature[..1]]
        {
            assert_eq!(self.verify(&keys.public, None, message, other), ERROR_FORGED);
        }
        let pure = [&[0, 0], message].concat();
        let status = self.verify(&keys.public, Some(&[]), message, signature);
        assert_eq!(status, expected(&pure, signature), "{}: a context", self.sign.name);
        let longer = [message, &[0]].concat();
        let status = self.verify(&keys.public, None, &longer, signature);
        assert_eq!(status, expected(&longer, signature), "{}: a message", self.sign.name);
    }

    /// More signatures than are verified at once, some of them forged, by several keys.
    fn many(&self, noise: &mut Noise) {
        const COUNT: usize = 11;
        let keys = [0, 1, 2].map(|_| self.keys(&noise.bytes(3 * self.sign.n)));
        let messages: Vec<Vec<u8>> = (0..COUNT).map(|i| noise.bytes(7 * i)).collect();
        let random: Vec<Vec<u8>> = (0..COUNT).map(|_| noise.bytes(self.sign.n)).collect();
        let (context, bytes) = (noise.bytes(9), self.sign.bytes());
        let pick = |i: usize| &keys[i % 3];
        let secrets: Vec<_> = (0..COUNT).map(|i| pick(i).secret.as_ptr()).collect();
        let publics: Vec<_> = (0..COUNT).map(|i| pick(i).public.as_ptr()).collect();
        let texts: Vec<_> = messages.iter().map(|message| place(message)).collect();
        let lengths: Vec<_> = messages.iter().map(Vec::len).collect();
        // Every third one is deterministic.
        let randoms: Vec<_> =
            (0..COUNT).map(|i| if i % 3 == 0 { NULL } else { random[i].as_ptr() }).collect();
        let (mut all, mut work) = (vec![0; COUNT * bytes], work());
        let (from, at, room) = (texts.as_ptr(), context.as_ptr(), work.as_mut_ptr());
        let (sizes, loaded) = (lengths.as_ptr(), &self.subject.loaded);
        let (by, with, to) = (secrets.as_ptr(), randoms.as_ptr(), all.as_mut_ptr());
        let name = self.c("sign_many");
        assert_eq!(call!(loaded, &name, by, at, 9, from, sizes, with, to, COUNT, room), 0);
        for (i, signature) in all.chunks_exact(bytes).enumerate() {
            let random: &[u8] = if i % 3 == 0 { &[] } else { &random[i] };
            let alone = self.sign(pick(i), Some(&context), random, &messages[i]);
            assert!(alone == signature, "{}: signature {i} of many", self.sign.name);
        }
        let forged = [3, 8, 10];
        for i in forged {
            // A changed R chooses the same leaves of few leaves too often.
            all[i * bytes + self.sign.n + noise.below(bytes - self.sign.n)] ^= 1 << noise.below(8);
        }
        for (count, expected) in [(3, 0), (COUNT, ERROR_FORGED)] {
            let places: Vec<_> = all.chunks_exact(bytes).map(<[u8]>::as_ptr).collect();
            let mut results = vec![99 as c_int; count];
            let (by, on, to) = (publics.as_ptr(), places.as_ptr(), results.as_mut_ptr());
            let name = self.c("verify_many");
            let status = call!(loaded, &name, by, at, 9, from, sizes, on, to, count, room);
            assert_eq!(status, expected, "{}", self.sign.name);
            for (i, result) in results.into_iter().enumerate() {
                let expected = if forged.contains(&i) { ERROR_FORGED } else { 0 };
                assert_eq!(result, expected, "{}: {i} of {count}", self.sign.name);
            }
        }
    }

    /// Wrong arguments: a status, and nothing is written.
    fn misuse(&self, noise: &mut Noise) {
        let loaded = &self.subject.loaded;
        let keys = self.keys(&noise.bytes(3 * self.sign.n));
        let (mut out, mut work) = (vec![0xa5u8; self.sign.bytes() + 64], work());
        let (key, to, room) = (keys.secret.as_ptr(), out.as_mut_ptr(), work.as_mut_ptr());
        let (text, c) = (b"text".as_ptr(), |name: &str| self.c(name));
        let sign = |key, at, size: usize, text, length: usize, random, to, room| {
            call!(loaded, &c("sign"), key, at, size, text, length, random, to, room)
        };
        let none = std::ptr::null_mut::<u64>();
        let nothing = std::ptr::null_mut::<u8>();
        assert_eq!(sign(NULL, NULL, 0, text, 4, NULL, to, room), ERROR_NULL);
        assert_eq!(sign(key, NULL, 1, text, 4, NULL, to, room), ERROR_NULL);
        assert_eq!(sign(key, NULL, 0, NULL, 4, NULL, to, room), ERROR_NULL);
        assert_eq!(sign(key, NULL, 0, text, 4, NULL, nothing, room), ERROR_NULL);
        assert_eq!(sign(key, NULL, 0, text, 4, NULL, to, none), ERROR_NULL);
        let long = [7u8; 256];
        assert_eq!(sign(key, long.as_ptr(), 256, text, 4, NULL, to, room), ERROR_LENGTH);
        let inside = to.wrapping_add(self.sign.bytes() - 1).cast_const();
        assert_eq!(sign(key, NULL, 0, inside, 4, NULL, to, room), ERROR_OVERLAP);
        assert_eq!(sign(key, NULL, 0, text, 4, inside, to, room), ERROR_OVERLAP);
        assert_eq!(sign(inside, NULL, 0, text, 4, NULL, to, room), ERROR_OVERLAP);
        assert_eq!(sign(key, inside, 1, text, 4, NULL, to, room), ERROR_OVERLAP);
        let verify = |key, size: usize, text, length: usize, at, all: usize, room| {
            let context = long.as_ptr();
            call!(loaded, &c("verify"), key, context, size, text, length, at, all, room)
        };
        let (public, all, from) = (keys.public.as_ptr(), self.sign.bytes(), to.cast_const());
        assert_eq!(verify(NULL, 0, text, 4, from, all, room), ERROR_NULL);
        assert_eq!(verify(public, 0, NULL, 4, from, all, room), ERROR_NULL);
        assert_eq!(verify(public, 0, text, 4, NULL, all, room), ERROR_NULL);
        assert_eq!(verify(public, 0, text, 4, from, all, none), ERROR_NULL);
        assert_eq!(verify(public, 256, text, 4, from, all, room), ERROR_LENGTH);
        assert_eq!(verify(public, 0, text, 4, from, all - 1, room), ERROR_FORGED);
        let pair = c("keypair_from_seed");
        assert_eq!(call!(loaded, &pair, NULL, to, to, room), ERROR_NULL);
        assert_eq!(call!(loaded, &pair, text, nothing, to, room), ERROR_NULL);
        assert!(out.iter().all(|byte| *byte == 0xa5), "{}: something was written", self.sign.name);
        // A public key of other seeds: there is no signature.
        let mut other = keys.secret.clone();
        *other.last_mut().expect("a root") ^= 1;
        let status = sign(other.as_ptr(), NULL, 0, text, 4, NULL, to, room);
        assert_eq!(status, ERROR_PARAMETER);
        assert!(out[..self.sign.bytes()].iter().all(|byte| *byte == 0), "a signature is there");
        let checked = c("sign_checked");
        let status = call!(loaded, &checked, key, NULL, 0, text, 4, NULL, to, room);
        assert_eq!(status, 0);
        assert!(out[..self.sign.bytes()] == self.sign(&keys, Some(&[]), &[], b"text"), "checked");
    }
}

/// A parameter set of the library on every backend: its test vectors, and once the rest.
pub fn check(subject: &Subject, primitive: &Description) {
    let sign = subject.cipher.signs.iter().find(|sign| sign.name == primitive.name);
    let sign = sign.expect("it is there");
    // Small signatures take millions of hashes.
    if sign.name.ends_with('s') && !asks!("{}", sign.name) {
        return;
    }
    let function = Function { subject, sign };
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0, "{backend}");
        function.vectors();
    }
}

/// Parameter sets by their layers, the height of their trees, the number of FORS trees and their height:
/// one leaf too few, lanes that are never full, and trees that do not fit into the work area at once.
const SHAPES: [(Hashes, usize, [usize; 4]); 8] = [
    (Hashes::Sha2, 16, [1, 1, 1, 1]),
    (Hashes::Sha2, 16, [3, 8, 2, 10]),
    (Hashes::Sha2, 24, [5, 2, 13, 6]),
    (Hashes::Sha2, 32, [2, 3, 33, 5]),
    (Hashes::Shake, 16, [11, 1, 7, 4]),
    (Hashes::Shake, 16, [2, 3, 40, 4]),
    (Hashes::Shake, 24, [1, 3, 1, 9]),
    (Hashes::Shake, 32, [3, 2, 12, 3]),
];

/// Compares other parameter sets than the library's with the standard.
pub fn other_parameters(compiler: &Path, targets: &[&'static Target]) {
    let mut cipher = usuba_ciphers::read(&root().join("slh_dsa")).expect("the folder is there");
    let shaped = |(hashes, n, shape): (Hashes, usize, [usize; 4])| {
        let [layers, height, trees, depth] = shape;
        let function = if hashes == Hashes::Sha2 { "sha256" } else { "shake256" };
        Sign {
            name: format!("signs{n}_{function}_{layers}_{height}"),
            mode: SignMode::SlhDsa,
            hashes,
            n,
            layers,
            height,
            trees,
            depth,
            chain: format!("wots_{function}_{n}"),
            vectors: String::new(),
        }
    };
    cipher.signs = SHAPES.map(shaped).to_vec();
    let check = |sign: &Sign| sign.check(&cipher.functions, |_| true);
    cipher.signs.iter().for_each(|sign| check(sign).expect("it is in range"));
    let subject = Subject::of(cipher, compiler, targets, FAST);
    let mut noise = Noise(205);
    for sign in &subject.cipher.signs {
        let (n, function) = (sign.n, Function { subject: &subject, sign });
        let seed = noise.bytes(3 * n);
        let scheme = Scheme { sign, seed: &seed[2 * n..], secret: &seed[..n] };
        let root = scheme.root();
        let (message, random) = (noise.bytes(200), noise.bytes(n));
        let expected = scheme.sign(&seed[n..2 * n], &root, &random, &message);
        assert!(scheme.verifies(&root, &message, &expected), "{}", sign.name);
        for backend in subject.backends() {
            assert_eq!(subject.force(&backend), 0, "{backend}");
            let keys = function.keys(&seed);
            assert!(keys.public[n..] == root, "{}: a root on {backend}", sign.name);
            let signature = function.sign(&keys, None, &random, &message);
            assert!(signature == expected, "{} on {backend}", sign.name);
            assert_eq!(function.verify(&keys.public, None, &message, &signature), 0);
            // It verifies in Rust, and one backend is enough.
            if backend == subject.backends()[0] {
                function.changes(&scheme, &keys, &message, &signature, &mut noise);
            }
            function.many(&mut noise);
            function.misuse(&mut noise);
        }
    }
}
