//! Poly1305: comparison with a model on limbs, pieces, forged tags and mistakes.

use super::merkle::{ERROR_FORGED, ERROR_NULL, ERROR_STATE};
use super::subject::{NULL, Noise, Subject, call};

/// Bytes of a tag.
const TAG: usize = 16;

/// Poly1305 modulo 2^130 - 5 on limbs of 26 bits, as RFC 8439 defines it.
fn model(key: &[u8], message: &[u8]) -> Vec<u8> {
    let number = |bytes: &[u8]| -> [u128; 5] {
        let mut limbs = [0; 5];
        for bit in 0..130.min(8 * bytes.len()) {
            limbs[bit / 26] |= u128::from(bytes[bit / 8] >> (bit % 8) & 1) << (bit % 26);
        }
        limbs
    };
    let mut clamped = key[..16].to_vec();
    [3, 7, 11, 15].into_iter().for_each(|at| clamped[at] &= 15);
    [4, 8, 12].into_iter().for_each(|at| clamped[at] &= 252);
    let r = number(&clamped);
    // Twice around: the part beyond 2^130 comes back times 5.
    let carry = |h: &mut [u128; 5]| {
        for i in (0..5).chain(0..5) {
            let over = h[i] >> 26;
            h[i] &= (1 << 26) - 1;
            h[(i + 1) % 5] += if i == 4 { 5 * over } else { over };
        }
    };
    let mut h = [0u128; 5];
    for block in message.chunks(16) {
        let m = number(&[block, &[1]].concat());
        let sum: Vec<u128> = h.iter().zip(m).map(|(a, b)| a + b).collect();
        h = [0; 5];
        for (i, a) in sum.iter().enumerate() {
            for (j, b) in r.iter().enumerate() {
                h[(i + j) % 5] += a * b * if i + j > 4 { 5 } else { 1 };
            }
        }
        carry(&mut h);
    }
    carry(&mut h);
    // With 5 more it passes 2^130 exactly if it is not below the modulus.
    let mut less = h;
    less[0] += 5;
    for i in 0..4 {
        less[i + 1] += less[i] >> 26;
        less[i] &= (1 << 26) - 1;
    }
    let least = if less[4] >> 26 > 0 { less } else { h };
    let least = least.iter().rev().fold(0u128, |sum, limb| sum << 26 | limb);
    let pad = u128::from_le_bytes(key[16..].try_into().expect("16 bytes"));
    least.wrapping_add(pad).to_le_bytes().to_vec()
}

/// The one-time authenticator on every backend of this machine.
pub fn check(subject: &Subject) {
    let loaded = &subject.loaded;
    let tag = |key: &[u8], message: &[u8]| {
        let mut tag = vec![0u8; TAG];
        let (k, m) = (key.as_ptr(), message.as_ptr());
        let status = call!(loaded, "usuba_poly1305_tag", k, m, message.len(), tag.as_mut_ptr());
        assert_eq!(status, 0);
        let check =
            |tag: &[u8]| call!(loaded, "usuba_poly1305_check", k, m, message.len(), tag.as_ptr());
        assert_eq!(check(&tag), 0);
        for bit in 0..8 * TAG {
            tag[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&tag), ERROR_FORGED, "bit {bit}");
            tag[bit / 8] ^= 1 << (bit % 8);
        }
        tag
    };
    let pieces = |key: &[u8], message: &[u8], ends: &[usize]| {
        let (mut state, mut tag) = (vec![0xa5a5_a5a5u64; 64], vec![0u8; TAG]);
        let at = state.as_mut_ptr();
        assert_eq!(call!(loaded, "usuba_poly1305_begin", at, key.as_ptr()), 0);
        let mut done = 0;
        for &end in ends.iter().chain([&message.len()]) {
            let piece = &message[done..end];
            let update = "usuba_poly1305_update";
            assert_eq!(call!(loaded, update, at, piece.as_ptr(), piece.len()), 0);
            done = end;
        }
        let copy = state.clone();
        assert_eq!(call!(loaded, "usuba_poly1305_final", at, tag.as_mut_ptr()), 0);
        let used = state.iter().rposition(|&word| word != 0xa5a5_a5a5).expect("it was wiped");
        assert!(used > 8 && state[..=used].iter().all(|&word| word == 0), "not wiped");
        let (at, end) = (copy.as_ptr(), tag.as_ptr());
        assert_eq!(call!(loaded, "usuba_poly1305_verify", at, end), 0);
        assert_eq!(call!(loaded, "usuba_poly1305_verify", at, end), ERROR_STATE);
        tag
    };
    let mut noise = Noise(5);
    let mut cases: Vec<(Vec<u8>, Vec<u8>)> = (0..=300)
        .chain([1023, 1024, 1025, 1039, 1040, 1300, 2048, 4096, 5000])
        .map(|length| (noise.bytes(32), noise.bytes(length)))
        .collect();
    // The largest words everywhere; sums just below, at and above the modulus.
    for length in [16, 32, 48, 1024, 2048] {
        cases.push((vec![0xff; 32], vec![0xff; length]));
        let mut one = vec![0; 32];
        one[0] = 1;
        for last in [0xfa, 0xfb, 0xfc, 0xff] {
            let mut message = vec![0xff; length];
            message[0] = last;
            cases.push((one.clone(), message));
        }
    }
    let expected: Vec<Vec<u8>> = cases.iter().map(|(k, m)| model(k, m)).collect();
    // Without wide registers there is no choice.
    let chosen = loaded.has(&subject.common("backends"));
    let backends = if chosen { subject.backends() } else { vec!["the only one".into()] };
    for backend in backends {
        assert!(!chosen || subject.force(&backend) == 0, "{backend}");
        for ((key, message), wanted) in cases.iter().zip(&expected) {
            assert_eq!(tag(key, message), *wanted, "{} bytes on {backend}", message.len());
            let mut ends = [0; 2].map(|_| noise.below(message.len() + 1));
            ends.sort_unstable();
            assert_eq!(pieces(key, message, &ends), *wanted, "{} by {ends:?}", message.len());
        }
        let (key, message) = (&noise.bytes(32), &noise.bytes(48));
        let wanted = model(key, message);
        (0..=48).for_each(|cut| assert_eq!(pieces(key, message, &[cut]), wanted));
    }
    misuse(subject);
}

fn misuse(subject: &Subject) {
    let loaded = &subject.loaded;
    let (bytes, mut state) = ([7u8; 64], vec![0xa5u64; 64]);
    let (input, s) = (bytes.as_ptr(), state.as_mut_ptr());
    let c = |what: &str| format!("usuba_poly1305_{what}");
    let expected = [
        (call!(loaded, &c("begin"), NULL, input), ERROR_NULL),
        (call!(loaded, &c("begin"), s, NULL), ERROR_NULL),
        (call!(loaded, &c("update"), NULL, input, 1), ERROR_NULL),
        (call!(loaded, &c("update"), s, input, 1), ERROR_STATE),
        (call!(loaded, &c("final"), NULL, input), ERROR_NULL),
        (call!(loaded, &c("final"), s, input), ERROR_STATE),
        (call!(loaded, &c("verify"), NULL, input), ERROR_NULL),
        (call!(loaded, &c("verify"), s, input), ERROR_STATE),
        (call!(loaded, &c("tag"), NULL, input, 1, input), ERROR_NULL),
        (call!(loaded, &c("tag"), input, NULL, 1, input), ERROR_NULL),
        (call!(loaded, &c("tag"), input, input, 1, NULL), ERROR_NULL),
        (call!(loaded, &c("check"), input, input, 1, NULL), ERROR_NULL),
    ];
    for (at, (got, wanted)) in expected.into_iter().enumerate() {
        assert_eq!(got, wanted, "number {at}");
    }
    assert!(bytes == [7; 64] && state.iter().all(|&word| word == 0xa5), "something was written");
    let s = state.as_mut_ptr();
    assert_eq!(call!(loaded, &c("begin"), s, input), 0);
    assert_eq!(call!(loaded, &c("update"), s, NULL, 1), ERROR_NULL);
    assert_eq!(call!(loaded, &c("update"), s, NULL, 0), 0);
    assert_eq!(call!(loaded, &c("final"), s, NULL), ERROR_NULL);
    let wrong = [8u8; TAG];
    assert_eq!(call!(loaded, &c("verify"), s, wrong.as_ptr()), ERROR_FORGED);
    assert_eq!(call!(loaded, &c("final"), s, input), ERROR_STATE, "after the end");
}
