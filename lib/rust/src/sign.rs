//! Signatures from hash functions.

use core::fmt;

use crate::Error;
use crate::ffi::sign as ffi;
use crate::signature::rand_core::TryCryptoRng;
use crate::signature::{self, Keypair, RandomizedSigner, SignatureEncoding, Signer, Verifier};

pub use ffi::{Bytes, ParameterSet};

/// The hash function of a signature of a hash (FIPS 205, section 10.2.2). SHAKE has outputs of 32 and of
/// 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Prehash {
    Sha256 = 1,
    Sha384 = 2,
    Sha512 = 3,
    Sha224 = 4,
    Sha512_224 = 5,
    Sha512_256 = 6,
    Sha3_224 = 7,
    Sha3_256 = 8,
    Sha3_384 = 9,
    Sha3_512 = 10,
    Shake128 = 11,
    Shake256 = 12,
}

/// Public bytes of a parameter set. Derived traits would ask the set for theirs.
macro_rules! public {
    ($type:ident, $bytes:ident) => {
        impl<P: ParameterSet> Clone for $type<P> {
            fn clone(&self) -> Self {
                $type(self.0.clone())
            }
        }

        impl<P: ParameterSet> PartialEq for $type<P> {
            fn eq(&self, other: &Self) -> bool {
                self.as_ref() == other.as_ref()
            }
        }

        impl<P: ParameterSet> Eq for $type<P> {}

        impl<P: ParameterSet> fmt::Debug for $type<P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($type)).field(&self.as_ref()).finish()
            }
        }

        impl<P: ParameterSet> AsRef<[u8]> for $type<P> {
            fn as_ref(&self) -> &[u8] {
                self.0.as_ref()
            }
        }

        impl<P: ParameterSet> TryFrom<&[u8]> for $type<P> {
            type Error = Error;

            fn try_from(bytes: &[u8]) -> Result<Self, Error> {
                array::<P::$bytes>(bytes).map($type)
            }
        }
    };
}

/// A signature.
pub struct HashSignature<P: ParameterSet>(P::Signature);

public!(HashSignature, Signature);

impl<P: ParameterSet> SignatureEncoding for HashSignature<P> {
    type Repr = Self;
}

/// An array with these bytes.
fn array<A: Bytes>(bytes: &[u8]) -> Result<A, Error> {
    let mut array = A::ZEROS;
    match array.as_ref().len() == bytes.len() {
        true => array.as_mut().copy_from_slice(bytes),
        false => return Err(Error::Length),
    }
    Ok(array)
}

/// A public key: PK.seed and PK.root.
pub struct HashVerifyingKey<P: ParameterSet>(P::Public);

impl<P: ParameterSet> HashVerifyingKey<P> {
    /// Verifies a signature of a message in a context.
    ///
    /// # Errors
    /// [`Error::Forged`] if it is none, [`Error::Length`] if the context has more than 255 bytes.
    pub fn verify_with_context(
        &self,
        message: &[u8],
        context: &[u8],
        signature: &HashSignature<P>,
    ) -> Result<(), Error> {
        ffi::verify::<P>(&self.0, context, message, signature.as_ref())
    }

    /// Verifies a signature of the hash of a message.
    ///
    /// # Errors
    /// As for [`Self::verify_with_context`], and [`Error::Length`] for a hash of another length.
    pub fn verify_prehash(
        &self,
        function: Prehash,
        hash: &[u8],
        context: &[u8],
        signature: &HashSignature<P>,
    ) -> Result<(), Error> {
        let hashed = (function as core::ffi::c_int, hash);
        ffi::verify_hash::<P>(&self.0, context, hashed, signature.as_ref())
    }

    /// Whether many signatures of messages are valid in a context, eight of them side by side.
    ///
    /// # Errors
    /// [`Error::Length`] if the lists have different lengths or the context has more than 255 bytes;
    /// then there is no output. [`Error::Forged`] if one of them is invalid: `valid` has the result of
    /// each.
    pub fn verify_many(
        jobs: &[(&Self, &[u8], &HashSignature<P>)],
        context: &[u8],
        valid: &mut [bool],
    ) -> Result<(), Error> {
        if jobs.len() != valid.len() {
            return Err(Error::Length);
        }
        for (jobs, valid) in jobs.chunks(ffi::MANY).zip(valid.chunks_mut(ffi::MANY)) {
            let inside = jobs.iter().map(|(key, message, made)| (&key.0, *message, &made.0));
            match ffi::verify_many::<P>(context, inside, valid) {
                Ok(()) | Err(Error::Forged) => {}
                Err(error) => return Err(error),
            }
        }
        match valid.iter().all(|valid| *valid) {
            true => Ok(()),
            false => Err(Error::Forged),
        }
    }
}

public!(HashVerifyingKey, Public);

/// In the empty context.
impl<P: ParameterSet> Verifier<HashSignature<P>> for HashVerifyingKey<P> {
    fn verify(&self, message: &[u8], made: &HashSignature<P>) -> Result<(), signature::Error> {
        self.verify_with_context(message, &[], made).map_err(|_| signature::Error::new())
    }
}

/// A secret key, zeroized when it is dropped.
pub struct HashSigningKey<P: ParameterSet> {
    bytes: P::Secret,
}

impl<P: ParameterSet> HashSigningKey<P> {
    /// The keys of random bytes: SK.seed, SK.prf and PK.seed, three hashes long.
    ///
    /// # Errors
    /// [`Error::Length`] if it has another length.
    pub fn from_seed(seed: &[u8]) -> Result<Self, Error> {
        let mut copy: P::Seed = array(seed)?;
        let (mut public, mut key) = (P::Public::ZEROS, HashSigningKey { bytes: P::Secret::ZEROS });
        ffi::keypair::<P>(&copy, &mut public, &mut key.bytes);
        crate::ffi::wipe(copy.as_mut());
        Ok(key)
    }

    /// SK.seed, SK.prf, PK.seed and PK.root.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The signature of a message in a context: hedged with fresh random bytes, as many as a hash has, or
    /// deterministic.
    ///
    /// # Errors
    /// [`Error::Length`] if the context has more than 255 bytes, or the random bytes are not as many as
    /// a hash has. [`Error::Parameter`] if the public key in the key is not the one of its seeds.
    pub fn try_sign_with_context(
        &self,
        message: &[u8],
        context: &[u8],
        random: Option<&[u8]>,
    ) -> Result<HashSignature<P>, Error> {
        ffi::sign::<P>(&self.bytes, context, message, random, false).map(HashSignature)
    }

    /// The same, and verifies the signature: a fault in the computation of a single node can reveal a
    /// key.
    ///
    /// # Errors
    /// As for [`Self::try_sign_with_context`], and [`Error::Forged`] after a fault.
    pub fn try_sign_checked(
        &self,
        message: &[u8],
        context: &[u8],
        random: Option<&[u8]>,
    ) -> Result<HashSignature<P>, Error> {
        ffi::sign::<P>(&self.bytes, context, message, random, true).map(HashSignature)
    }

    /// The signature of the hash of a message.
    ///
    /// # Errors
    /// As for [`Self::try_sign_with_context`], and [`Error::Length`] for a hash of another length.
    pub fn try_sign_prehash(
        &self,
        function: Prehash,
        hash: &[u8],
        context: &[u8],
        random: Option<&[u8]>,
    ) -> Result<HashSignature<P>, Error> {
        let hashed = (function as core::ffi::c_int, hash);
        ffi::sign_hash::<P>(&self.bytes, context, hashed, random).map(HashSignature)
    }
}

impl<P: ParameterSet> Clone for HashSigningKey<P> {
    fn clone(&self) -> Self {
        HashSigningKey { bytes: self.bytes.clone() }
    }
}

impl<P: ParameterSet> Drop for HashSigningKey<P> {
    fn drop(&mut self) {
        crate::ffi::wipe(self.bytes.as_mut());
    }
}

impl<P: ParameterSet> fmt::Debug for HashSigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashSigningKey").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<P: ParameterSet> cipher::zeroize::ZeroizeOnDrop for HashSigningKey<P> {}

/// From SK.seed, SK.prf, PK.seed and PK.root.
impl<P: ParameterSet> TryFrom<&[u8]> for HashSigningKey<P> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        array(bytes).map(|bytes| HashSigningKey { bytes })
    }
}

impl<P: ParameterSet> Keypair for HashSigningKey<P> {
    type VerifyingKey = HashVerifyingKey<P>;

    fn verifying_key(&self) -> HashVerifyingKey<P> {
        let bytes = &self.bytes.as_ref()[2 * P::HASH..];
        HashVerifyingKey(array(bytes).expect("the second half of a secret key"))
    }
}

/// Deterministic, in the empty context.
impl<P: ParameterSet> Signer<HashSignature<P>> for HashSigningKey<P> {
    fn try_sign(&self, message: &[u8]) -> Result<HashSignature<P>, signature::Error> {
        self.try_sign_with_context(message, &[], None).map_err(|_| signature::Error::new())
    }
}

/// Hedged, in the empty context.
impl<P: ParameterSet> RandomizedSigner<HashSignature<P>> for HashSigningKey<P> {
    fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: &[u8],
    ) -> Result<HashSignature<P>, signature::Error> {
        let mut random = [0; 32];
        let random = &mut random[..P::HASH];
        rng.try_fill_bytes(random).map_err(|_| signature::Error::new())?;
        let made = self.try_sign_with_context(message, &[], Some(random));
        made.map_err(|_| signature::Error::new())
    }
}
