//! Known-answer tests of hash functions and keystreams: their functions are evaluated under the
//! reference semantics, inside of [`crate::modes`] and of definitions beside it.
//!
//! ```text
//! sha256      padding of FIPS 180-4 around sha256_compress
//! sha3_256    padding of FIPS 202 around keccak_absorb136: [`crate::sponge`]
//! xchacha20   hchacha20 makes the key of chacha20_block
//! trivium     trivium_start makes the state that trivium_next advances
//! ascon_aead128   ascon_p12_le and ascon_p8_le permute the state
//! ```
//!
//! The mode `skein` has no second definition here; its library is tested with its vectors.

use std::path::Path;

use crate::known::{Known, Numbers, remembered};
use crate::modes::{HashFunction, keystream};
use crate::wrong::answers;
use crate::{Cipher, Hash, HashMode, HashVector, Seal, SealVector, Stream, Vector};
use crate::{duplex, sponge};

/// The result of a known-answer test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tested {
    /// The number of vectors.
    Right(usize),
    /// There is no second definition to compare with; the reason.
    Skipped(String),
}

impl Cipher {
    fn evaluated(&self, name: &str) -> Result<Known<'_>, String> {
        let function = self.functions.iter().find(|function| function.name == name);
        Known::new(self, function.ok_or_else(|| format!("there is no function `{name}`"))?)
    }

    /// Compares a hash function with its test vectors, as [`Cipher::verify`] does.
    ///
    /// # Errors
    /// As [`Cipher::verify`].
    pub fn verify_hash(&self, hash: &Hash, kept: Option<(&Path, &str)>) -> Result<Tested, String> {
        let vectors = self.hashes_of(hash)?;
        if hash.mode == HashMode::Skein {
            let why = "its mode has no definition besides the library";
            return Ok(Tested::Skipped(why.to_string()));
        }
        let known = self.evaluated(&hash.chain)?;
        let about = format!("{hash:?} {vectors:?} {:?} {:?}", known.function, known.texts());
        remembered(kept, &about, || {
            vectors.iter().try_for_each(|vector| {
                let HashVector { line, input, output, .. } = vector;
                let place = format!("{}:{line}", self.folder.join(&hash.vectors).display());
                let (fields, allowed) = sponge::allowed(hash.mode, vector);
                if *vector != allowed {
                    return Err(format!("{place}: vectors of `{}` have {fields} alone", hash.name));
                }
                let found = match hash.mode {
                    HashMode::MerkleDamgard => {
                        let numbers = &mut Numbers(&[&known]);
                        HashFunction::new(numbers, hash)?.hash(numbers, input)?
                    }
                    _ => sponge::answer(&known, hash, vector)?,
                };
                check(&place, &hash.name, output, &found)
            })
        })?;
        Ok(Tested::Right(vectors.len()))
    }

    /// Compares authenticated encryption with its test vectors, as [`Cipher::verify`] does.
    ///
    /// # Errors
    /// As [`Cipher::verify`].
    pub fn verify_seal(&self, seal: &Seal, kept: Option<(&Path, &str)>) -> Result<Tested, String> {
        let vectors = self.seals_of(seal)?;
        for (number, SealVector { key, nonce, .. }) in vectors.iter().enumerate() {
            let wanted = (seal.key.unwrap_or(key.len()), seal.nonce);
            if (key.len(), nonce.len()) != wanted {
                return Err(format!(
                    "{}, vector {}: found {} bytes of key and {} of nonce, expected {} and {}, as \
                     `{}` has",
                    self.folder.join(&seal.vectors).display(),
                    number + 1,
                    key.len(),
                    nonce.len(),
                    wanted.0,
                    wanted.1,
                    seal.name
                ));
            }
        }
        let Some(parts) = &seal.duplex else {
            return Ok(Tested::Skipped("the tests of its hand-written C have its vectors".into()));
        };
        let (long, short) = (self.evaluated(&parts.long)?, self.evaluated(&parts.short)?);
        let about = format!(
            "{seal:?} {vectors:?} {:?} {:?} {:?} {:?}",
            long.function,
            long.texts(),
            short.function,
            short.texts()
        );
        remembered(kept, &about, || {
            vectors.iter().enumerate().try_for_each(|(number, vector)| {
                let SealVector { output, .. } = vector;
                let file = self.folder.join(&seal.vectors);
                let place = format!("{}, vector {}", file.display(), number + 1);
                let found = duplex::answer(&long, &short, parts, vector);
                let found = found.map_err(|wrong| format!("{place}: {wrong}"))?;
                check(&place, &seal.name, output, &found)
            })
        })?;
        Ok(Tested::Right(vectors.len()))
    }

    /// Compares a keystream with its test vectors, as [`Cipher::verify`] does.
    ///
    /// # Errors
    /// As [`Cipher::verify`].
    pub fn verify_stream(
        &self,
        stream: &Stream,
        kept: Option<(&Path, &str)>,
    ) -> Result<Tested, String> {
        let vectors = self.answers(&stream.vectors)?;
        let (first, then) = (self.evaluated(&stream.first)?, self.evaluated(&stream.then)?);
        let about = format!(
            "{stream:?} {vectors:?} {:?} {:?} {:?} {:?}",
            first.function,
            first.texts(),
            then.function,
            then.texts()
        );
        remembered(kept, &about, || {
            vectors.iter().try_for_each(|vector| {
                let place = self.place(&stream.vectors, vector);
                let found = keystream_of(&first, &then, stream, vector);
                let found = found.map_err(|wrong| format!("{place}: {wrong}"))?;
                check(&place, &stream.name, &vector.output, &found)
            })
        })?;
        Ok(Tested::Right(vectors.len()))
    }
}

fn check(place: &str, name: &str, expected: &[u8], found: &[u8]) -> Result<(), String> {
    match expected == found {
        true => Ok(()),
        false => {
            let both = answers(expected, found);
            Err(format!("{place}: `{name}` differs from its known answer{both}"))
        }
    }
}

/// As many bytes of a keystream as the vector has.
fn keystream_of(
    first: &Known,
    then: &Known,
    stream: &Stream,
    vector: &Vector,
) -> Result<Vec<u8>, String> {
    let [key, ..] = first.sizes()?;
    vector.check_sizes([key, stream.nonce, vector.output.len()])?;
    let numbers = &mut Numbers(&[first, then]);
    let wanted = vector.output.len();
    keystream(numbers, (stream, then.function), &vector.key, &vector.input, 0, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;

    fn read(name: &str) -> Cipher {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        crate::read(&root.join(name)).expect("cipher.toml")
    }

    /// A hash function of every mode.
    fn one_of_each(cipher: &Cipher) -> impl Iterator<Item = &Hash> {
        let earlier = |at: usize| cipher.hashes[..at].iter().map(|hash| hash.mode);
        let new = move |(at, hash): &(usize, &Hash)| !earlier(*at).any(|mode| mode == hash.mode);
        cipher.hashes.iter().enumerate().filter(new).map(|(_, hash)| hash)
    }

    #[test]
    fn hash_functions_and_keystreams_have_their_published_answers() {
        let sha = read("sha2");
        for hash in &sha.hashes {
            let tested = sha.verify_hash(hash, None).expect("it is right");
            assert_eq!(tested, Tested::Right(sha.hashes_of(hash).expect("vectors").len()));
        }
        let keccak = read("keccak");
        for hash in one_of_each(&keccak) {
            let tested = keccak.verify_hash(hash, None);
            let vectors = keccak.hashes_of(hash).expect("vectors").len();
            assert_eq!(tested, Ok(Tested::Right(vectors)), "{}", hash.name);
        }
        let mut streams = 0;
        for name in ["chacha20", "salsa20", "trivium"] {
            let cipher = read(name);
            for stream in &cipher.streams {
                streams += 1;
                let vectors = cipher.answers(&stream.vectors).expect("vectors").len();
                let tested = cipher.verify_stream(stream, None);
                assert_eq!(tested, Ok(Tested::Right(vectors)), "{}", stream.name);
            }
        }
        assert!(streams >= 3);
        let ascon = read("ascon");
        for hash in one_of_each(&ascon) {
            let vectors = ascon.hashes_of(hash).expect("vectors").len();
            assert_eq!(ascon.verify_hash(hash, None), Ok(Tested::Right(vectors)), "{}", hash.name);
        }
        for seal in &ascon.seals {
            let vectors = ascon.seals_of(seal).expect("vectors").len();
            assert_eq!(ascon.verify_seal(seal, None), Ok(Tested::Right(vectors)));
        }
        let skein = read("skein");
        let tested = skein.verify_hash(&skein.hashes[0], None).expect("its vectors are read");
        assert!(matches!(tested, Tested::Skipped(_)));
    }

    /// Also of modes without a second definition, and of MACs.
    #[test]
    fn vectors_of_modes_are_read() {
        let ccm = read("aes_ccm");
        let wrong = |change: &dyn Fn(&mut Seal)| {
            let mut seal = ccm.seals[0].clone();
            change(&mut seal);
            ccm.verify_seal(&seal, None).expect_err("a wrong vector")
        };
        let found = wrong(&|seal| seal.nonce = 11);
        assert!(found.contains("found 16 bytes of key and 12 of nonce, expected 16 and 11"));
        let found = wrong(&|seal| seal.key = Some(32));
        assert!(found.contains("vector 1: found 16 bytes of key"), "{found}");
        assert!(wrong(&|seal| seal.vectors = "cipher.toml".into()).contains("cipher.toml:1"));
        let mut cmac = read("aes_cmac");
        cmac.macs[0].vectors = "cipher.toml".into();
        assert!(cmac.verify(None).expect_err("no vectors").contains("cipher.toml:1"));
    }

    #[test]
    fn a_wrong_construction_has_wrong_answers() {
        let sha = read("sha2");
        let mut hash = sha.hashes[0].clone();
        hash.start[0] ^= 1;
        let wrong = sha.verify_hash(&hash, None).expect_err("another start");
        assert!(wrong.contains("` differs from its known answer\n  expected "), "{wrong}");
        let keccak = read("keccak");
        for hash in one_of_each(&keccak) {
            let mut wrong = hash.clone();
            wrong.last ^= 1;
            assert!(keccak.verify_hash(&wrong, None).is_err(), "{}", hash.name);
        }
        let ascon = read("ascon");
        let mut seal = ascon.seals[0].clone();
        let parts = seal.duplex.as_mut().expect("it is a duplex");
        std::mem::swap(&mut parts.long, &mut parts.short);
        let wrong = ascon.verify_seal(&seal, None).expect_err("other permutations");
        assert!(wrong.contains("vector 1: `ascon_aead128` differs from its known"), "{wrong}");
        let mut chacha = read("chacha20");
        let counters = chacha.functions.iter_mut().filter_map(|f| f.counter.as_mut());
        counters.for_each(|counter| counter.order = Order::Big);
        let streams = &chacha.streams;
        assert!(streams.iter().any(|stream| chacha.verify_stream(stream, None).is_err()));
    }
}
