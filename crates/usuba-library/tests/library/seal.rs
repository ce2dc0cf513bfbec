//! Authenticated encryption: test vectors, comparison with other libraries, places in
//! memory, and that nothing is written for a forged message.

use std::ffi::c_int;

use usuba::isa;
use usuba_ciphers::SealMode;
use usuba_library::{Description, Request};

use super::merkle::{ERROR_FORGED, ERROR_LENGTH, ERROR_NULL, ERROR_OVERLAP};
use super::subject::{Loaded, NULL, Noise, Subject, call, oracle, request, root};
use super::{pieces, segments};

/// Bytes of a tag of Ascon.
const TAG: usize = 16;

/// Longer than a part that is encrypted and authenticated at a time, twice.
const LONG: usize = 40_000;

/// Authenticated encryption under one key.
pub struct Function<'a> {
    subject: &'a Subject,
    name: &'a str,
    mode: SealMode,
    /// Bytes of a tag.
    pub tag: usize,
    key: Vec<u64>,
}

/// A message with its nonce and its data.
pub struct Message {
    pub nonce: Vec<u8>,
    pub data: Vec<u8>,
    pub text: Vec<u8>,
}

impl<'a> Function<'a> {
    pub fn new(
        subject: &'a Subject,
        primitive: &'a Description,
        mode: SealMode,
        key: &[u8],
    ) -> Self {
        let own = subject.cipher.seals.iter().find(|seal| seal.name == primitive.name);
        let tag = own.expect("it is there").tag_bytes();
        Function { subject, name: &primitive.name, mode, tag, key: subject.key(primitive, key) }
    }

    pub fn loaded(&self) -> &Loaded {
        &self.subject.loaded
    }

    /// The C name of a function.
    pub fn c(&self, what: &str) -> String {
        format!("usuba_{}_{what}", self.name)
    }

    /// The context of the key.
    pub fn key(&self) -> *const u64 {
        self.key.as_ptr()
    }

    fn call(
        &self,
        what: &str,
        message: &Message,
        (from, length, to): (*const u8, usize, *mut u8),
    ) -> c_int {
        let (loaded, name) = (&self.subject.loaded, format!("usuba_{}_{what}", self.name));
        let (key, nonce) = (self.key.as_ptr(), message.nonce.as_ptr());
        let (data, size) = (message.data.as_ptr(), message.data.len());
        match self.mode {
            SealMode::Box => call!(loaded, &name, key, nonce, from, length, to),
            _ => call!(loaded, &name, key, nonce, data, size, from, length, to),
        }
    }

    /// `last` are the two arguments behind the length.
    fn detached(
        &self,
        what: &str,
        message: &Message,
        (from, length): (*const u8, usize),
        last: [*const u8; 2],
    ) -> c_int {
        let (loaded, name) = (&self.subject.loaded, format!("usuba_{}_{what}", self.name));
        let (key, nonce) = (self.key.as_ptr(), message.nonce.as_ptr());
        let (data, size) = (message.data.as_ptr(), message.data.len());
        let [a, b] = last;
        match self.mode {
            SealMode::Box => call!(loaded, &name, key, nonce, from, length, a, b),
            _ => call!(loaded, &name, key, nonce, data, size, from, length, a, b),
        }
    }

    /// Bytes before the ciphertext.
    fn before(&self) -> usize {
        self.mode.before()
    }

    /// Apart, in place, and detached in both ways; the same each time.
    pub fn seal(&self, message: &Message) -> Vec<u8> {
        let length = message.text.len();
        let mut apart = vec![0xa5; length + self.tag + 1];
        let from = message.text.as_ptr();
        assert_eq!(self.call("seal", message, (from, length, apart.as_mut_ptr())), 0);
        assert_eq!(apart.pop(), Some(0xa5), "it wrote behind its output");
        let mut same = vec![0xa5; length + self.tag];
        same[self.before()..][..length].copy_from_slice(&message.text);
        let to = same.as_mut_ptr();
        let from = to.wrapping_add(self.before()).cast_const();
        assert_eq!(self.call("seal", message, (from, length, to)), 0);
        assert!(same == apart, "{} of {length} bytes in place", self.name);
        let (mut tag, mut text) = (vec![0u8; self.tag], message.text.clone());
        let at = text.as_mut_ptr().cast_const();
        let end = tag.as_mut_ptr().cast_const();
        assert_eq!(self.detached("seal_detached", message, (at, length), [at, end]), 0);
        let parts = match self.mode {
            SealMode::Box => [&tag[..], &text].concat(),
            _ => [&text[..], &tag].concat(),
        };
        assert!(parts == apart, "{} of {length} bytes detached", self.name);
        apart
    }

    /// Apart, and if that succeeds in place; an error must not write.
    pub fn open(&self, message: &Message, sealed: &[u8]) -> Result<Vec<u8>, c_int> {
        let size = sealed.len().saturating_sub(self.tag);
        let mut apart = vec![0xa5; size + 1];
        let to = apart.as_mut_ptr();
        let status = self.call("open", message, (sealed.as_ptr(), sealed.len(), to));
        let mut same = sealed.to_vec();
        let from = same.as_mut_ptr();
        let to = from.wrapping_add(self.before());
        let again = self.call("open", message, (from.cast_const(), same.len(), to));
        assert_eq!(again, status);
        if status != 0 {
            assert!(apart.iter().all(|&byte| byte == 0xa5), "something was written");
            assert!(same == sealed, "something was written in place");
            return Err(status);
        }
        assert_eq!(apart.pop(), Some(0xa5), "it wrote behind its output");
        assert!(same[self.before()..][..size] == apart, "in place");
        Ok(apart)
    }
}

/// The messages whose tags are tested bit by bit.
const BITS: [usize; 4] = [0, 1, 17, 64];

/// Everything on every backend of this machine.
pub fn check(subject: &Subject, primitive: &Description, mode: SealMode) {
    let seal = subject.cipher.seals.iter().find(|seal| seal.name == primitive.name);
    let seal = seal.expect("it is there");
    let vectors = subject.cipher.seals_of(seal).expect("they can be read");
    let mut noise = Noise(primitive.name.len() as u64);
    let mut sealed_before: Option<Vec<Vec<u8>>> = None;
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0, "{backend}");
        for v in &vectors {
            let f = Function::new(subject, primitive, mode, &v.key);
            let (nonce, data) = (v.nonce.clone(), v.data.clone());
            let message = Message { nonce, data, text: v.input.clone() };
            assert_eq!(f.seal(&message), v.output, "{} on {backend}", f.name);
            assert_eq!(f.open(&message, &v.output).as_ref(), Ok(&v.input));
        }
        // Every backend gives equal results for equal messages.
        let mut same = Noise(1);
        let key = same.bytes(primitive.key);
        let f = Function::new(subject, primitive, mode, &key);
        let lengths = (0..=300).chain([1023, 1024, 4096, 16351, 16352, 16384, 16385, LONG]);
        // Long messages are hashed in segments, the first of which may be shorter.
        let lengths = lengths.chain((496..=640).step_by(16)).chain([2064, 4111, 4128, 8176, 8207]);
        let mut all = Vec::new();
        for length in lengths {
            let most = if length == 496 { 9000 } else { 70 };
            let size = if mode == SealMode::Box { 0 } else { same.below(most) };
            let (nonce, data) = (same.bytes(seal.nonce), same.bytes(size));
            let mut message = Message { nonce, data, text: same.bytes(length) };
            let sealed = f.seal(&message);
            assert_eq!(f.open(&message, &sealed), Ok(message.text.clone()), "{length} bytes");
            let public = [&key[..], &message.nonce, &message.data].concat();
            if let Some(right) = oracle(&subject.folder, f.name, &public, &message.text) {
                assert!(sealed == right, "{} of {length} bytes on {backend}", f.name);
            }
            if BITS.contains(&length) {
                forged(&f, &mut message, &sealed);
            }
            all.push(sealed);
        }
        let expected = sealed_before.get_or_insert_with(|| all.clone());
        assert!(all == *expected, "{} on {backend} differs", f.name);
        let f = Function::new(subject, primitive, mode, &noise.bytes(primitive.key));
        misuse(&f, &noise.bytes(seal.nonce), primitive.key);
        if mode.has_data() {
            segments::check(&f, seal.nonce, &mut noise);
        }
        if mode == SealMode::Gcm {
            pieces::check(&f, &mut noise);
        }
        if mode == SealMode::Ascon {
            side_by_side(subject, primitive, &mut noise);
        }
    }
}

/// Every bit of the sealed message, of the nonce and of the data, and every length.
fn forged(f: &Function, message: &mut Message, sealed: &[u8]) {
    let flip = |bytes: &mut [u8], bit: usize| bytes[bit / 8] ^= 1 << (bit % 8);
    for bit in 0..8 * sealed.len() {
        let mut wrong = sealed.to_vec();
        flip(&mut wrong, bit);
        assert_eq!(f.open(message, &wrong), Err(ERROR_FORGED), "bit {bit}");
    }
    for length in 0..sealed.len() {
        let wanted = if length < f.tag { ERROR_LENGTH } else { ERROR_FORGED };
        assert_eq!(f.open(message, &sealed[..length]), Err(wanted), "{length} bytes");
        assert_eq!(f.open(message, &sealed[sealed.len() - length..]), Err(wanted));
    }
    for bit in (0..8 * message.nonce.len()).step_by(5) {
        flip(&mut message.nonce, bit);
        assert_eq!(f.open(message, sealed), Err(ERROR_FORGED), "bit {bit} of the nonce");
        flip(&mut message.nonce, bit);
    }
    for bit in 0..8 * message.data.len() {
        flip(&mut message.data, bit);
        assert_eq!(f.open(message, sealed), Err(ERROR_FORGED), "bit {bit} of the data");
        flip(&mut message.data, bit);
    }
    if f.mode != SealMode::Box {
        message.data.push(0);
        assert_eq!(f.open(message, sealed), Err(ERROR_FORGED), "a zero behind the data");
        message.data.pop();
    }
}

/// Every kind of mistake: the status that names it, and a buffer that stays as it was.
fn misuse(f: &Function, nonce: &[u8], key_bytes: usize) {
    let mut buffer = vec![0xa5u8; 600];
    let from = buffer.as_ptr();
    let to = buffer.as_mut_ptr();
    let message = Message { nonce: nonce.to_vec(), data: Vec::new(), text: Vec::new() };
    let before = f.before();
    let place = |at: usize| from.wrapping_add(at);
    let out = |at: usize| to.wrapping_add(at);
    let seal = |from, length, to| f.call("seal", &message, (from, length, to));
    let open = |from, length, to| f.call("open", &message, (from, length, to));
    let apart = |at: *const u8, last| f.detached("seal_detached", &message, (at, 20), last);
    let nobody = std::ptr::null_mut();
    let most = usize::MAX;
    let expected = [
        (seal(NULL, 1, to), ERROR_NULL),
        (seal(from, 1, nobody), ERROR_NULL),
        (seal(place(300), most, to), ERROR_LENGTH),
        // One byte beside where the ciphertext comes.
        (seal(place(before + 1), 20, to), ERROR_OVERLAP),
        (seal(place(100), 20, out(100 + 1 - before)), ERROR_OVERLAP),
        (open(NULL, 20, to), ERROR_NULL),
        (open(from, 20, nobody), ERROR_NULL),
        (open(from, f.tag - 1, to), ERROR_LENGTH),
        (open(from, 0, to), ERROR_LENGTH),
        (open(from, 60, out(before + 1)), ERROR_OVERLAP),
        (open(place(100), 60, out(100 + before - 1)), ERROR_OVERLAP),
        (apart(NULL, [from, place(100)]), ERROR_NULL),
        (apart(from, [NULL, place(100)]), ERROR_NULL),
        (apart(from, [from, NULL]), ERROR_NULL),
        // The tag within the text.
        (apart(from, [from, place(19)]), ERROR_OVERLAP),
        (apart(place(100), [from, place(119)]), ERROR_OVERLAP),
        (apart(place(100), [place(101), place(200)]), ERROR_OVERLAP),
    ];
    for (at, (got, wanted)) in expected.into_iter().enumerate() {
        assert_eq!(got, wanted, "number {at} of {}", f.name);
    }
    let (loaded, name) = (&f.subject.loaded, |what: &str| format!("usuba_{}_{what}", f.name));
    let key = f.key.as_ptr();
    for (key, nonce) in [(NULL, nonce.as_ptr()), (key.cast(), NULL)] {
        for what in ["seal", "open"] {
            let status = match f.mode {
                SealMode::Box => call!(loaded, &name(what), key, nonce, from, 40, out(300)),
                _ => call!(loaded, &name(what), key, nonce, NULL, 0, from, 40, out(300)),
            };
            assert_eq!(status, ERROR_NULL, "{what}");
        }
    }
    if f.mode != SealMode::Box {
        let (nonce_bytes, nonce) = (nonce.len(), nonce.as_ptr());
        let seal = |data, size, from, to| {
            call!(loaded, &name("seal"), key, nonce, data, size, from, 20, to)
        };
        assert_eq!(seal(NULL, 1, from, out(300)), ERROR_NULL, "no data");
        assert_eq!(seal(place(319 + f.tag), 1, from, out(300)), ERROR_OVERLAP, "data in the tag");
        assert_eq!(seal(place(299), 2, from, out(300)), ERROR_OVERLAP, "data in the text");
        let most = match f.mode {
            SealMode::Rfc8439 => Some((1usize << 38) - 64),
            SealMode::Gcm | SealMode::Xaes => Some((1 << 36) - 32),
            SealMode::GcmSiv => Some(1 << 36),
            SealMode::Ocb => Some((1 << 36) - 1),
            SealMode::Ccm => Some((1 << (8 * (15 - nonce_bytes))) - 1),
            _ => None,
        };
        if let Some(most) = most {
            let (length, to) = (most + 1, out(300));
            let long = call!(loaded, &name("seal"), key, nonce, NULL, 0, from, length, to);
            assert_eq!(long, ERROR_LENGTH, "more than the key stream has");
        }
    }
    let short = call!(loaded, &name("init"), to, from, key_bytes - 1);
    assert_eq!(short, ERROR_LENGTH);
    assert_eq!(call!(loaded, &name("init"), NULL, from, key_bytes), ERROR_NULL);
    assert_eq!(call!(loaded, &name("init"), to, NULL, key_bytes), ERROR_NULL);
    assert!(buffer.iter().all(|&byte| byte == 0xa5), "something was written");
}

/// Messages of any number and length side by side, each as alone; some of them forged, or with other
/// mistakes.
fn side_by_side(subject: &Subject, primitive: &Description, noise: &mut Noise) {
    let (loaded, name) = (&subject.loaded, |what: &str| format!("usuba_{}_{what}", primitive.name));
    for count in [1, 2, 7, 8, 9, 31, 32, 33, 67] {
        let functions: Vec<Function> = (0..count)
            .map(|_| {
                Function::new(subject, primitive, SealMode::Ascon, &noise.bytes(primitive.key))
            })
            .collect();
        let most = [40, 700, 9000][noise.below(3)];
        let messages: Vec<Message> = (0..count)
            .map(|_| {
                let (size, length) = (noise.below(2) * noise.below(most), noise.below(most));
                let nonce = noise.bytes(primitive.nonce);
                Message { nonce, data: noise.bytes(size), text: noise.bytes(length) }
            })
            .collect();
        let places = |of: fn(&Message) -> &Vec<u8>| -> Vec<*const u8> {
            messages.iter().map(|message| of(message).as_ptr()).collect()
        };
        let keys: Vec<*const u64> = functions.iter().map(|f| f.key.as_ptr()).collect();
        let (nonces, data) = (places(|m| &m.nonce), places(|m| &m.data));
        let sizes: Vec<usize> = messages.iter().map(|m| m.data.len()).collect();
        let (texts, lengths) =
            (places(|m| &m.text), messages.iter().map(|m| m.text.len()).collect::<Vec<_>>());
        let (k, n, d, s) = (keys.as_ptr(), nonces.as_ptr(), data.as_ptr(), sizes.as_ptr());
        let mut sealed: Vec<Vec<u8>> = lengths.iter().map(|size| vec![0xa5; size + TAG]).collect();
        let to: Vec<*mut u8> = sealed.iter_mut().map(|out| out.as_mut_ptr()).collect();
        let (from, l) = (texts.as_ptr(), lengths.as_ptr());
        let seal = &name("seal_many");
        assert_eq!(call!(loaded, seal, k, n, d, s, from, l, to.as_ptr(), count), 0);
        for ((f, message), sealed) in functions.iter().zip(&messages).zip(&sealed) {
            assert!(f.seal(message) == *sealed, "{} of {count}", f.name);
        }
        // Mistakes of some messages do not concern the others.
        let mut ends: Vec<usize> = sealed.iter().map(Vec::len).collect();
        let mut wanted = vec![0; count];
        for at in (0..count).step_by(5) {
            let bit = noise.below(8 * sealed[at].len());
            sealed[at][bit / 8] ^= 1 << (bit % 8);
            wanted[at] = ERROR_FORGED;
        }
        for at in (1..count).step_by(13) {
            (ends[at], wanted[at]) = (TAG - 1, ERROR_LENGTH);
        }
        let mut opened: Vec<Vec<u8>> = lengths.iter().map(|size| vec![0xa5; *size]).collect();
        let to: Vec<*mut u8> = opened.iter_mut().map(|out| out.as_mut_ptr()).collect();
        let mut from: Vec<*const u8> = sealed.iter().map(|text| text.as_ptr()).collect();
        for at in (2..count).step_by(11) {
            (from[at], wanted[at]) = (NULL, ERROR_NULL);
        }
        let mut found: Vec<c_int> = vec![-1; count];
        let (f, e, r) = (from.as_ptr(), ends.as_ptr(), found.as_mut_ptr());
        let status = call!(loaded, &name("open_many"), k, n, d, s, f, e, to.as_ptr(), r, count);
        assert_eq!((status, &found), (ERROR_FORGED, &wanted), "{count} messages");
        for ((message, opened), wanted) in messages.iter().zip(&opened).zip(&wanted) {
            match wanted {
                0 => assert!(*opened == message.text, "{} bytes", opened.len()),
                _ => assert!(opened.iter().all(|&byte| byte == 0xa5), "something was written"),
            }
        }
    }
    misuse_of_many(subject, primitive);
}

/// Mistakes that concern all messages, and mistakes of one message to be encrypted.
fn misuse_of_many(subject: &Subject, primitive: &Description) {
    let (loaded, name) = (&subject.loaded, |what: &str| format!("usuba_{}_{what}", primitive.name));
    let key = subject.key(primitive, &vec![7; primitive.key]);
    let mut buffer = vec![0xa5u8; 600];
    let to = buffer.as_mut_ptr();
    let at = |place: usize| to.wrapping_add(place).cast_const();
    let none = std::ptr::null::<*const u8>();
    let (keys, lost) = ([key.as_ptr(); 2], [key.as_ptr(), std::ptr::null()]);
    let (nonces, data) = ([at(0); 2], [at(20), NULL]);
    let (sizes, two) = ([9usize, 0], [9usize, 1]);
    let (texts, lengths) = ([at(40), at(80)], [20usize, 20]);
    let (huge, outs) = ([20usize, usize::MAX], [to.wrapping_add(300), to.wrapping_add(400)]);
    let (near, nowhere) = ([outs[0], to.wrapping_add(81)], [outs[0], std::ptr::null_mut()]);
    let (k, n, d, s) = (keys.as_ptr(), nonces.as_ptr(), data.as_ptr(), sizes.as_ptr());
    let (f, l, o) = (texts.as_ptr(), lengths.as_ptr(), outs.as_ptr());
    let (seal, open) = (&name("seal_many"), &name("open_many"));
    let mut results = [-1 as c_int; 2];
    let r = results.as_mut_ptr();
    let no_size = std::ptr::null::<usize>();
    for (number, (found, wanted)) in [
        (call!(loaded, seal, none, n, d, s, f, l, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, none, d, s, f, l, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, n, none, s, f, l, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, n, d, no_size, f, l, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, n, d, s, none, l, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, n, d, s, f, no_size, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, n, d, s, f, l, none, 2), ERROR_NULL),
        (call!(loaded, seal, lost.as_ptr(), n, d, s, f, l, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, n, d, two.as_ptr(), f, l, o, 2), ERROR_NULL),
        (call!(loaded, seal, k, n, d, s, f, l, nowhere.as_ptr(), 2), ERROR_NULL),
        (call!(loaded, seal, k, n, d, s, f, huge.as_ptr(), o, 2), ERROR_LENGTH),
        (call!(loaded, seal, k, n, d, s, f, l, near.as_ptr(), 2), ERROR_OVERLAP),
        (call!(loaded, seal, none, n, d, s, f, l, o, 0), 0),
        (call!(loaded, open, none, n, d, s, f, l, o, r, 2), ERROR_NULL),
        (call!(loaded, open, k, none, d, s, f, l, o, r, 2), ERROR_NULL),
        (call!(loaded, open, k, n, none, s, f, l, o, r, 2), ERROR_NULL),
        (call!(loaded, open, k, n, d, no_size, f, l, o, r, 2), ERROR_NULL),
        (call!(loaded, open, k, n, d, s, none, l, o, r, 2), ERROR_NULL),
        (call!(loaded, open, k, n, d, s, f, no_size, o, r, 2), ERROR_NULL),
        (call!(loaded, open, k, n, d, s, f, l, none, r, 2), ERROR_NULL),
        (call!(loaded, open, k, n, d, s, f, l, o, NULL, 2), ERROR_NULL),
        (call!(loaded, open, none, n, d, s, f, l, o, r, 0), 0),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(found, wanted, "number {number}");
    }
    assert!(buffer.iter().all(|&byte| byte == 0xa5) && results == [-1; 2], "something was written");
    // Without data, and then with each kind of mistake beside a good message.
    let o = outs.as_ptr();
    assert_eq!(call!(loaded, seal, k, n, none, no_size, f, l, o, 2), 0);
    let (sealed, ends) = ([outs[0].cast_const(), outs[1].cast_const()], [36usize, 36]);
    let (inside, out) =
        ([to.wrapping_add(200), outs[1].wrapping_add(1)], [to.wrapping_add(200); 2]);
    let (f, l) = (sealed.as_ptr(), ends.as_ptr());
    for (keys, outs, wanted) in [(&keys, &inside, ERROR_OVERLAP), (&lost, &out, ERROR_NULL)] {
        let (k, o) = (keys.as_ptr(), outs.as_ptr());
        let found = call!(loaded, open, k, n, none, no_size, f, l, o, results.as_mut_ptr(), 2);
        assert_eq!((found, results), (ERROR_FORGED, [0, wanted]));
    }
}

/// The ciphers of a mode lie in other folders, so the library checks them and their keys.
#[test]
fn ciphers_that_are_not_there_are_named() {
    for (folder, right, wrong, expected) in [
        (
            "aes_gcm",
            "key     = 16",
            "key = 17",
            "found 17 bytes of `key`, expected 16, as `aes128` has",
        ),
        (
            "aes_gcm",
            "\"aes:aes192\", ",
            "",
            "aes192_gcm: `aes192` is no function of its folder or of",
        ),
        ("aes_ccm", "stream  = \"aes128\"", "stream = \"aes256\"", "found 16 bytes of `key`"),
        ("aes_cmac", "\"aes:aes192\", ", "", "aes192_cmac: `aes192` is no function of its folder"),
        (
            "aes_cmac",
            "key     = 24",
            "key = 16",
            "found 16 bytes of `key`, expected 24, as `aes192`",
        ),
        (
            "aes_cmac",
            "\"aes:aes256\"]\n\n[[mac]]\nname    = \"aes128_cmac\"\nmode    = \"cmac\"\ncipher  = \"aes128\"",
            "\"aes:aes256\", \"chacha20\"]\n[[mac]]\nname = \"c\"\nmode = \"cmac\"\ncipher = \"chacha20\"",
            "`chacha20` is no block cipher with blocks of 16 bytes",
        ),
        ("aes_cmac", "cipher  = \"aes128\"", "cipher = \"aes_cmac\"", "`aes_cmac` is no function"),
        ("chacha20poly1305", "\"hchacha20\"", "\"hchacha\"", "`needs = [\"folder:hchacha\"]`"),
        (
            "aes_gcm",
            "inner   = \"aes256_gcm\"",
            "inner = \"aes256_gmc\"",
            "`aes256_gmc` is no earlier `[[seal]]` of mode `gcm` in this folder; help: did you mean",
        ),
        (
            "aes_gcm",
            "inner   = \"aes256_gcm\"",
            "inner = \"aes256_gcm_siv\"",
            "`aes256_gcm_siv` is no earlier `[[seal]]` of mode `gcm`",
        ),
        (
            "aes_gcm",
            "inner   = \"aes256_gcm\"",
            "inner = \"aes128_gcm\"",
            "found 24 bytes of `nonce` and 32 of `key`, expected 24 and 16",
        ),
        (
            "aes_gcm",
            "prepare = \"ghash_key\"",
            "prepare = \"ghash_absorb\"",
            "found 64 bytes of a prepared key of `ghash_absorb`, expected at most 48",
        ),
        ("aes_gcm", "nonce   = 24", "nonce = 23", "found 23 bytes of `nonce` and 32 of `key`"),
    ] {
        let path = root().join(folder).join("cipher.toml");
        let text = std::fs::read_to_string(&path).expect("cipher.toml").replacen(right, wrong, 1);
        let cipher = usuba_ciphers::parse(&path, &text).expect("it is read");
        let request = Request { targets: vec![isa::ALL[0]], ..request("usuba_") };
        let message = usuba_library::single(&request, &cipher, None).expect_err(wrong);
        assert!(message.contains(expected), "{message}");
    }
}
