//! Specifications of X25519 of the base point and of signing with Ed25519, over strings of bytes;
//! see [`crate::modes`].
//!
//! ```text
//! ed25519(k, m)   R = [r]B,  S = r + H(R ++ A ++ m) s mod L     s, prefix = H(k);  r = H(prefix ++ m)
//! x25519(k, 9)    (1 + y) / (1 - y)                             (x, y) = [k]B
//! ```

use crate::modes::{Bytes, HashFunction, Text};

/// The multiples of the base point of edwards25519, and integers modulo its order.
pub trait Group: Bytes {
    type Scalar: Clone;

    /// The integer of a string, the lowest byte first.
    ///
    /// # Errors
    /// A byte is not known.
    fn scalar(&mut self, text: &[Self::Byte]) -> Result<Self::Scalar, String>;

    /// a b + c
    ///
    /// # Errors
    /// The integer has no form that can be handled.
    fn multiply_add(
        &mut self,
        a: &Self::Scalar,
        b: &Self::Scalar,
        c: &Self::Scalar,
    ) -> Result<Self::Scalar, String>;

    /// The 32 bytes of the number below the order.
    ///
    /// # Errors
    /// There are no points.
    fn bytes(&mut self, scalar: &Self::Scalar) -> Result<Text<Self>, String>;

    /// A multiple of the base point, encoded: RFC 8032, section 5.1.2.
    ///
    /// # Errors
    /// There are no points.
    fn encoded(&mut self, scalar: &Self::Scalar) -> Result<Text<Self>, String>;

    /// The u-coordinate of a multiple of the base point on the Montgomery curve, (1 + y) / (1 - y),
    /// and 0 where y is 1: RFC 7748, section 4.1.
    ///
    /// # Errors
    /// There are no points.
    fn montgomery(&mut self, scalar: &Self::Scalar) -> Result<Text<Self>, String>;
}

/// The variants of Ed25519: RFC 8032, section 5.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    Pure,
    Context,
    /// Of the hash of a message.
    Prehashed,
}

/// The number of 32 bytes with five bits fixed: RFC 7748, section 5.
fn clamped<B: Bytes>(on: &mut B, text: &[B::Byte]) -> Text<B> {
    let mut text = text.to_vec();
    text[0] = on.common(&text[0], 248);
    let last = on.common(&text[31], 63);
    text[31] = on.sum(&last, &on.number(64));
    text
}

/// X25519 of the base point.
///
/// # Errors
/// As [`Group::scalar`] and [`Group::montgomery`].
pub fn x25519_base<B: Group>(on: &mut B, scalar: &[B::Byte]) -> Result<Text<B>, String> {
    let scalar = clamped(on, scalar);
    let scalar = on.scalar(&scalar)?;
    on.montgomery(&scalar)
}

/// The secret number of a seed, and the secret for nonces.
fn expanded<B: Group>(
    on: &mut B,
    hash: &HashFunction,
    seed: &[B::Byte],
) -> Result<(B::Scalar, Text<B>), String> {
    let mut digest = hash.hash(on, seed)?;
    let prefix = digest.split_off(32);
    let secret = clamped(on, &digest);
    Ok((on.scalar(&secret)?, prefix))
}

/// The public key of a seed: RFC 8032, section 5.1.5.
///
/// # Errors
/// As [`Group::scalar`], [`Group::encoded`] and [`Bytes::apply`].
pub fn public_key<B: Group>(
    on: &mut B,
    hash: &HashFunction,
    seed: &[B::Byte],
) -> Result<Text<B>, String> {
    let (secret, _) = expanded(on, hash, seed)?;
    on.encoded(&secret)
}

/// The signature of a message, or of its hash, by a seed and its public key: RFC 8032, section
/// 5.1.6.
///
/// # Errors
/// As [`public_key`].
pub fn signed<B: Group>(
    on: &mut B,
    hash: &HashFunction,
    (variant, context): (Variant, &[B::Byte]),
    [seed, public, message]: [&[B::Byte]; 3],
) -> Result<Text<B>, String> {
    let (secret, prefix) = expanded(on, hash, seed)?;
    let mut first = Vec::new();
    if variant != Variant::Pure {
        let flags = [u8::from(variant == Variant::Prehashed), context.len() as u8];
        first = on.numbers(b"SigEd25519 no Ed25519 collisions");
        first.extend(on.numbers(&flags));
        first.extend_from_slice(context);
    }
    let nonce = hash.hash(on, &[&first[..], &prefix, message].concat())?;
    let nonce = on.scalar(&nonce)?;
    let point = on.encoded(&nonce)?;
    let challenge = hash.hash(on, &[&first[..], &point, public, message].concat())?;
    let challenge = on.scalar(&challenge)?;
    let sum = on.multiply_add(&challenge, &secret, &nonce)?;
    Ok([point, on.bytes(&sum)?].concat())
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;
    use crate::known::{Known, Numbers};

    /// 32 bytes, the lowest first.
    fn text(number: &BigInt) -> Vec<u8> {
        let mut bytes = number.magnitude().to_bytes_le();
        bytes.resize(32, 0);
        bytes
    }

    /// 2^255 - 19.
    fn prime() -> BigInt {
        (BigInt::from(1) << 255) - 19
    }

    /// a / b modulo the prime, not negative.
    fn quotient(a: &BigInt, b: &BigInt) -> BigInt {
        let prime = prime();
        let b = (b % &prime + &prime) % &prime;
        (a * b.modpow(&(&prime - 2), &prime) % &prime + &prime) % prime
    }

    /// A multiple of the base point: RFC 8032, sections 5.1 and 5.1.4, with affine coordinates.
    fn multiple(scalar: &BigInt) -> [BigInt; 2] {
        let x = "15112221349535400772501151409588531511454012693041857206046113283949847762202";
        let base = [x.parse().expect("digits"), quotient(&4.into(), &5.into())];
        let d = quotient(&BigInt::from(-121_665), &BigInt::from(121_666));
        let sum = |[x, y]: &[BigInt; 2], [u, v]: &[BigInt; 2]| {
            let delta = &d * x * u * y * v % prime();
            [quotient(&(x * v + y * u), &(1 + &delta)), quotient(&(y * v + x * u), &(1 - &delta))]
        };
        let mut total = [BigInt::from(0), BigInt::from(1)];
        for bit in (0..scalar.bits()).rev() {
            total = sum(&total, &total);
            if scalar.bit(bit) {
                total = sum(&total, &base);
            }
        }
        total
    }

    impl Group for Numbers<'_> {
        type Scalar = BigInt;

        fn scalar(&mut self, text: &[u8]) -> Result<BigInt, String> {
            Ok(BigInt::from_bytes_le(num_bigint::Sign::Plus, text))
        }

        fn multiply_add(&mut self, a: &BigInt, b: &BigInt, c: &BigInt) -> Result<BigInt, String> {
            Ok(a * b + c)
        }

        fn bytes(&mut self, scalar: &BigInt) -> Result<Vec<u8>, String> {
            let more: BigInt = "27742317777372353535851937790883648493".parse().expect("digits");
            Ok(text(&(scalar % ((BigInt::from(1) << 252) + more))))
        }

        fn encoded(&mut self, scalar: &BigInt) -> Result<Vec<u8>, String> {
            let [x, y] = multiple(scalar);
            let mut bytes = text(&y);
            bytes[31] |= u8::from(x.bit(0)) << 7;
            Ok(bytes)
        }

        fn montgomery(&mut self, scalar: &BigInt) -> Result<Vec<u8>, String> {
            let [_, y] = multiple(scalar);
            Ok(text(&quotient(&(&y + 1), &(1 - y))))
        }
    }

    fn bytes(hex: &str) -> Vec<u8> {
        crate::values::hex(hex).expect("digits")
    }

    /// RFC 7748, section 6.1.
    #[test]
    fn public_keys_of_x25519_have_their_published_answers() {
        for (secret, public) in [
            (
                "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
                "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
            ),
            (
                "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
                "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
            ),
        ] {
            let found = x25519_base(&mut Numbers(&[]), &bytes(secret)).expect("a key");
            assert_eq!(crate::to_hex(&found), public);
        }
    }

    /// A variant, a context, a seed, its public key, a message and its signature.
    type Vector = (Variant, &'static str, [&'static str; 4]);

    const VECTORS: [Vector; 4] = [
        (
            Variant::Pure,
            "",
            [
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc6\
                 1e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
            ],
        ),
        (
            Variant::Pure,
            "",
            [
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
                "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae\
                 67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            ],
        ),
        (
            Variant::Context,
            "666f6f",
            [
                "0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6",
                "dfc9425e4f968f7f0c29f0259cf5f9aed6851c2bb4ad8bfb860cfee0ab248292",
                "f726936d19c800494e3fdaff20b276a8",
                "55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a8b36950b9513002290\
                 7a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d",
            ],
        ),
        // The message is SHA-512 of "abc".
        (
            Variant::Prehashed,
            "",
            [
                "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
                "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836\
                 ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
                "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae4131f85042463c2a355a\
                 2003d062adf5aaa10b8c61e636062aaad11c2a26083406",
            ],
        ),
    ];

    /// RFC 8032, sections 7.1 to 7.3.
    #[test]
    fn signatures_have_their_published_answers() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/sha2");
        let cipher = crate::read(&root).expect("cipher.toml");
        let hash = cipher.hashes.iter().find(|hash| hash.name == "sha512").expect("a hash");
        let function = cipher.functions.iter().find(|function| function.name == hash.chain);
        let known = Known::new(&cipher, function.expect("a function")).expect("a program");
        let all = [&known];
        for (variant, context, vector) in VECTORS {
            let on = &mut Numbers(&all);
            let hash = HashFunction::new(on, hash).expect("a hash");
            let context = bytes(context);
            let [seed, public, message, signature] = vector.map(bytes);
            assert_eq!(public_key(on, &hash, &seed), Ok(public.clone()));
            let found = signed(on, &hash, (variant, &context), [&seed, &public, &message]);
            assert_eq!(found, Ok(signature));
        }
    }
}
