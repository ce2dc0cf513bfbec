//! Keys and signatures of Ed25519.

use usuba_ciphers::Hash;
use usuba_ciphers::curve::{Variant, public_key, signed};
use usuba_ciphers::modes::HashFunction;

use super::Scenarios;
use super::run::{Given, Room, Run, at, number};
use super::symbols::Byte;

/// Bytes of a signature.
const SIGNATURE: usize = 64;

/// The public key of a seed.
fn key(run: &mut Run, hash: &Hash, seed: &[Byte]) -> Result<Vec<Byte>, String> {
    let mode = HashFunction::new(&run.symbols(), hash)?;
    public_key(&mut run.symbols(), &mode, seed)
}

/// The signature of a message by a secret key, with a context.
fn signature(
    run: &mut Run,
    hash: &Hash,
    (variant, context): (Variant, Option<Room>),
    [secret, message]: [Room; 2],
) -> Result<Vec<Byte>, String> {
    let [secret, message] = [secret, message].map(|room| run.bytes(room));
    let context = context.map_or(Vec::new(), |room| run.bytes(room));
    let mode = HashFunction::new(&run.symbols(), hash)?;
    let (seed, public) = secret.split_at(32);
    let parts = [seed, public, &message[..]];
    signed(&mut run.symbols(), &mode, (variant, &context), parts)
}

impl<'a> Scenarios<'a> {
    pub(super) fn signatures(&mut self) {
        let mut hashes = self.ciphers.iter().flat_map(|cipher| &cipher.hashes);
        let Some(hash) = hashes.find(|hash| hash.name == "sha512") else { return };
        for (name, is_seed_first) in
            [("ed25519_keypair_from_seed", true), ("crypto_sign_seed_keypair", false)]
        {
            self.add(
                [name],
                "public = encoded [s] B on edwards25519, secret = seed ++ public; s, prefix = \
                 sha512(seed)",
                vec![],
                move |run, [function], _| {
                    let seed = run.text("seed", 32);
                    let (public, secret) = (run.room("public", 32), run.room("secret", 64));
                    let given = match is_seed_first {
                        true => [at(seed), at(public), at(secret)],
                        false => [at(public), at(secret), at(seed)],
                    };
                    run.call(function, &given)?;
                    let seed = run.bytes(seed);
                    let expected = key(run, hash, &seed)?;
                    run.expect(public, &expected)?;
                    run.expect(secret, &[seed, expected].concat())
                },
            );
        }
        self.add(
            ["crypto_sign_keypair"],
            "public = encoded [s] B on edwards25519, secret = seed ++ public; seed = random bytes; s, \
             prefix = sha512(seed)",
            vec![],
            move |run, [function], _| {
                let (public, secret) = (run.room("public", 32), run.room("secret", 64));
                run.call(function, &[at(public), at(secret)])?;
                let seed = run.symbols().random(32)?;
                let expected = key(run, hash, &seed)?;
                run.expect(public, &expected)?;
                run.expect(secret, &[seed, expected].concat())
            },
        );
        self.add(
            ["ed25519_sign_many"],
            "signatures[i] = ed25519(secret keys[i], messages[i])",
            vec![("count", vec![0, 1, 2]), ("first", vec![0, 95]), ("second", vec![0, 96])],
            move |run, [function], sizes| {
                let lengths = &sizes[1..1 + sizes[0]];
                let keys: Vec<Room> = lengths.iter().map(|_| run.text("secret key", 64)).collect();
                let messages: Vec<Room> =
                    lengths.iter().map(|&length| run.text("message", length)).collect();
                let out = run.room("signatures", SIGNATURE * sizes[0]);
                let given = [
                    at(run.addresses("secret keys", &keys)),
                    at(run.addresses("messages", &messages)),
                    at(run.lengths("lengths", lengths)),
                    at(out),
                    number(sizes[0]),
                ];
                run.call(function, &given)?;
                let mut expected = Vec::new();
                for (&key, message) in keys.iter().zip(messages) {
                    expected.extend(signature(run, hash, (Variant::Pure, None), [key, message])?);
                }
                run.expect(out, &expected)
            },
        );
        let lengths = || ("length", vec![0, 1, 63, 64, 95, 96, 200]);
        let formula = "signature = ed25519(secret key, message)";
        self.add(["ed25519_sign"], formula, vec![lengths()], move |run, [function], sizes| {
            let (secret, message) = (run.text("secret key", 64), run.text("message", sizes[0]));
            let out = run.room("signature", SIGNATURE);
            let given = [at(secret), at(message), number(sizes[0]), at(out)];
            run.call(function, &given)?;
            let expected = signature(run, hash, (Variant::Pure, None), [secret, message])?;
            run.expect(out, &expected)
        });
        let all = [("ed25519ctx_sign", Variant::Context), ("ed25519ph_sign", Variant::Prehashed)];
        for (name, variant) in all {
            let mut sizes = vec![("context", vec![1, 2, 31, 94, 255])];
            if variant == Variant::Context {
                sizes.push(("length", vec![0, 1, 64]));
            } else {
                sizes[0].1.insert(0, 0);
            }
            self.add(
                [name],
                format!("signature = {}(secret key, context, message)", &name[..name.len() - 5]),
                sizes,
                move |run, [function], sizes| {
                    let length = sizes.get(1).copied();
                    let secret = run.text("secret key", 64);
                    let context = run.text("context", sizes[0]);
                    let message = run.text("message", length.unwrap_or(64));
                    let out = run.room("signature", SIGNATURE);
                    let mut given = vec![at(secret), at(context), number(sizes[0]), at(message)];
                    given.extend(length.map(number));
                    given.push(at(out));
                    run.call(function, &given)?;
                    let expected =
                        signature(run, hash, (variant, Some(context)), [secret, message])?;
                    run.expect(out, &expected)
                },
            );
        }
        self.nacl_signatures(hash);
    }

    /// Signatures with the names of NaCl.
    fn nacl_signatures(&mut self, hash: &'a Hash) {
        let sizes = || vec![("length", vec![0, 1, 64, 95, 96])];
        for (name, before) in [("crypto_sign", false), ("crypto_sign_detached", true)] {
            let formula = match before {
                true => "signature = ed25519(secret key, m)",
                false => "signed message = ed25519(secret key, m) ++ m",
            };
            self.add([name], formula, sizes(), move |run, [function], sizes| {
                let (secret, message) = (run.text("secret key", 64), run.text("m", sizes[0]));
                let bytes = if before { SIGNATURE } else { SIGNATURE + sizes[0] };
                let (out, length) = (run.room("out", bytes), run.room("out length", 8));
                let given: [Given; 5] =
                    [at(out), at(length), at(message), number(sizes[0]), at(secret)];
                let text = run.bytes(message);
                run.call(function, &given)?;
                let mut expected = signature(run, hash, (Variant::Pure, None), [secret, message])?;
                if !before {
                    expected.extend(text);
                }
                run.expect(out, &expected)?;
                let wanted = run.numbers("length", &[bytes], 8);
                let wanted = run.bytes(wanted);
                run.expect(length, &wanted)
            });
        }
    }
}
