//! NaCl's functions, by the symbols behind its names, against the functions of libsodium.

use std::sync::OnceLock;
use usuba_gen::asks;

use crate::object::{Loaded, Noise, VARIANTS, call, lengths, nacl};

/// NaCl in each variant of the arithmetic; in the short run in one.
fn ours() -> &'static [Loaded] {
    static LOADED: OnceLock<Vec<Loaded>> = OnceLock::new();
    let variants = &VARIANTS[..if asks!() { VARIANTS.len() } else { 1 }];
    LOADED.get_or_init(|| variants.iter().map(|flags| Loaded::new(nacl(), flags)).collect())
}

/// `usuba_crypto_NAME` and `crypto_NAME` of libsodium on the same arguments, of which the first is
/// `room` bytes of output; both must answer 0.
macro_rules! same {
    ($ours:expr, $sodium:expr, $name:expr, $room:expr $(, $argument:expr)*) => {{
        let (mut one, mut other) = (vec![0xa5u8; $room], vec![0xa5u8; $room]);
        let name = format!("usuba_crypto_{}", $name);
        assert_eq!(call!($ours, &name, one.as_mut_ptr() $(, $argument)*), 0, "{name}");
        let name = format!("crypto_{}", $name);
        assert_eq!(call!($sodium, &name, other.as_mut_ptr() $(, $argument)*), 0, "{name}");
        assert_eq!(one, other, "{name}");
        one
    }};
}

#[test]
fn functions_answer_as_those_of_libsodium() {
    let Some(sodium) = Loaded::sodium() else { return };
    for ours in ours() {
        let mut noise = Noise(77);
        for length in lengths() {
            let (key, nonce) = (noise.bytes::<32>(), noise.bytes::<24>());
            let (k, n) = (key.as_ptr(), nonce.as_ptr());
            let message = noise.vec(length);
            let m = message.as_ptr();
            same!(ours, sodium, "stream", length, length, n, k);
            same!(ours, sodium, "stream_xor", length, m, length, n, k);
            same!(ours, sodium, "stream_salsa20", length, length, n, k);
            same!(ours, sodium, "stream_salsa20_xor", length, m, length, n, k);
            same!(ours, sodium, "hash", 64, m, length);
            let tag = same!(ours, sodium, "onetimeauth", 16, m, length, k);
            let verify = "usuba_crypto_onetimeauth_verify";
            assert_eq!(call!(ours, verify, tag.as_ptr(), m, length, k), 0);
            let mut padded = vec![0; 32];
            padded.extend(&message);
            let (p, whole) = (padded.as_ptr(), padded.len());
            let sealed = same!(ours, sodium, "secretbox", whole, p, whole, n, k);
            let opened = same!(ours, sodium, "secretbox_open", whole, sealed.as_ptr(), whole, n, k);
            assert_eq!(opened, padded);
        }
        for _ in 0..20 {
            let (key, input) = (noise.bytes::<32>(), noise.bytes::<16>());
            let (k, i, c) = (key.as_ptr(), input.as_ptr(), b"expand 32-byte k".as_ptr());
            same!(ours, sodium, "core_salsa20", 64, i, k, c);
            same!(ours, sodium, "core_hsalsa20", 32, i, k, c);
        }
    }
}

#[test]
fn boxes_and_signatures_go_both_ways() {
    let Some(sodium) = Loaded::sodium() else { return };
    for ours in ours() {
        let mut noise = Noise(78);
        let pair = |secret: &[u8; 32]| {
            let mut public = [0u8; 32];
            let name = "usuba_crypto_scalarmult_base";
            assert_eq!(call!(ours, name, public.as_mut_ptr(), secret.as_ptr()), 0);
            public
        };
        for length in lengths().into_iter().step_by(9) {
            let (mine, yours, nonce) =
                (noise.bytes::<32>(), noise.bytes::<32>(), noise.bytes::<24>());
            let (public, other) = (pair(&mine), pair(&yours));
            let n = nonce.as_ptr();
            let mut padded = vec![0; 32];
            padded.extend(noise.vec(length));
            let (p, whole) = (padded.as_ptr(), padded.len());
            let sealed =
                same!(ours, sodium, "box", whole, p, whole, n, other.as_ptr(), mine.as_ptr());
            let c = sealed.as_ptr();
            let opened = same!(
                ours,
                sodium,
                "box_open",
                whole,
                c,
                whole,
                n,
                public.as_ptr(),
                yours.as_ptr()
            );
            assert_eq!(opened, padded);
            let key = same!(ours, sodium, "box_beforenm", 32, other.as_ptr(), mine.as_ptr());
            assert_eq!(
                same!(ours, sodium, "box_afternm", whole, p, whole, n, key.as_ptr()),
                sealed
            );
            same!(ours, sodium, "box_open_afternm", whole, c, whole, n, key.as_ptr());
            let (mut secret, mut verifying, mut count) = ([0u8; 64], [0u8; 32], 0u64);
            let (sk, pk) = (secret.as_mut_ptr(), verifying.as_mut_ptr());
            assert_eq!(call!(ours, "usuba_crypto_sign_seed_keypair", pk, sk, mine.as_ptr()), 0);
            let (m, room) = (padded[32..].as_ptr(), length + 64);
            let signed = same!(ours, sodium, "sign", room, &mut count as *mut u64, m, length, sk);
            assert_eq!(count as usize, room);
            let s = signed.as_ptr();
            // libsodium gives back the message only, and ours is as long.
            let mut opened = vec![0u8; length];
            let (to, at) = (opened.as_mut_ptr(), &mut count as *mut u64);
            assert_eq!(call!(ours, "usuba_crypto_sign_open", to, at, s, room, pk), 0);
            assert_eq!((&opened[..], count as usize), (&padded[32..], length));
            assert_eq!(call!(sodium, "crypto_sign_open", to, at, s, room, pk), 0);
        }
    }
}

/// Nothing is written for messages that are forged, cut, or impossible.
#[test]
fn what_is_forged_is_refused() {
    for ours in ours() {
        let mut noise = Noise(79);
        let (key, nonce) = (noise.bytes::<32>(), noise.bytes::<24>());
        let (k, n) = (key.as_ptr(), nonce.as_ptr());
        let mut padded = vec![0; 32];
        padded.extend(noise.vec(70));
        let mut sealed = vec![0u8; 102];
        let (p, c) = (padded.as_ptr(), sealed.as_mut_ptr());
        assert_eq!(call!(ours, "usuba_crypto_secretbox", c, p, 102, n, k), 0);
        let mut out = vec![0xa5u8; 166];
        let to = out.as_mut_ptr();
        for bit in 8 * 16..8 * 102 {
            sealed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(call!(ours, "usuba_crypto_secretbox_open", to, c, 102, n, k), -1);
            sealed[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..102 {
            assert_eq!(call!(ours, "usuba_crypto_secretbox_open", to, c, length, n, k), -1);
        }
        let (mut public, mut secret, mut count) = ([0u8; 32], [0u8; 64], 7u64);
        let (pk, sk) = (public.as_mut_ptr(), secret.as_mut_ptr());
        assert_eq!(call!(ours, "usuba_crypto_sign_seed_keypair", pk, sk, k), 0);
        let mut signed = vec![0u8; 166];
        let (s, none) = (signed.as_mut_ptr(), 0);
        assert_eq!(call!(ours, "usuba_crypto_sign", s, none, p, 102, sk), 0);
        let at = &mut count as *mut u64;
        for length in (0..166).step_by(5) {
            assert_eq!(call!(ours, "usuba_crypto_sign_open", to, at, s, length, pk), -1);
        }
        signed[100] ^= 1;
        assert_eq!(call!(ours, "usuba_crypto_sign_open", to, at, signed.as_ptr(), 166, pk), -1);
        // Zero is not a valid public key, and this library has one constant.
        let zero = [0u8; 32];
        let z = zero.as_ptr();
        assert_eq!(call!(ours, "usuba_crypto_box_beforenm", to, z, k), -1);
        assert_eq!(call!(ours, "usuba_crypto_box", to, p, 102, n, z, k), -1);
        assert_eq!(call!(ours, "usuba_crypto_core_salsa20", to, n, k, z), -1);
        assert_eq!((count, out), (7, vec![0xa5; 166]));
        assert_eq!(call!(ours, "usuba_crypto_verify_32", z, z), 0);
        assert_eq!(call!(ours, "usuba_crypto_verify_32", z, k), -1);
        assert_eq!(call!(ours, "usuba_crypto_verify_16", k, k), 0);
    }
}

/// In place, and with the message of a signature where it came from.
#[test]
fn outputs_may_lie_where_inputs_are() {
    for ours in ours() {
        let mut noise = Noise(80);
        let (key, nonce) = (noise.bytes::<32>(), noise.bytes::<24>());
        let (k, n) = (key.as_ptr(), nonce.as_ptr());
        for length in [0, 1, 63, 64, 65, 200] {
            let mut bytes = vec![0; 32];
            bytes.extend(noise.vec(length));
            let (before, whole) = (bytes.clone(), bytes.len());
            let at = bytes.as_mut_ptr();
            assert_eq!(call!(ours, "usuba_crypto_secretbox", at, at, whole, n, k), 0);
            assert_eq!(call!(ours, "usuba_crypto_secretbox_open", at, at, whole, n, k), 0);
            assert_eq!(bytes, before);
            let (mut public, mut secret) = ([0u8; 32], [0u8; 64]);
            let (pk, sk) = (public.as_mut_ptr(), secret.as_mut_ptr());
            assert_eq!(call!(ours, "usuba_crypto_sign_seed_keypair", pk, sk, k), 0);
            let mut room = noise.vec(length);
            let message = room.clone();
            room.extend([0; 64]);
            let at = room.as_mut_ptr();
            assert_eq!(call!(ours, "usuba_crypto_sign", at, 0, at, length, sk), 0);
            assert_eq!(call!(ours, "usuba_crypto_sign_open", at, 0, at, length + 64, pk), 0);
            assert_eq!(room[..length], message);
        }
    }
}

/// The parts of SHA-512 that are left to the caller.
#[test]
fn blocks_of_a_hash() {
    for ours in ours() {
        let message: Vec<u8> = (0..=255).collect();
        let (mut state, mut other) = ([3u8; 64], [3u8; 64]);
        let (s, o, m) = (state.as_mut_ptr(), other.as_mut_ptr(), message.as_ptr());
        assert_eq!(call!(ours, "usuba_crypto_hashblocks", s, m, 256), 0);
        assert_eq!(call!(ours, "usuba_crypto_hashblocks", o, m, 200), 72);
        assert_eq!(call!(ours, "usuba_crypto_hashblocks", o, m.wrapping_add(128), 128), 0);
        assert_eq!(state, other);
    }
}
