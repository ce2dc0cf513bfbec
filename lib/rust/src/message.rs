//! Hash functions with one length of output, MACs, and keys derived with them.

use core::fmt;

use cipher::{AlgorithmName, BlockSizeUser, KeySizeUser};
use digest::array::Array;
use digest::{
    FixedOutput, FixedOutputReset, HashMarker, InvalidLength, Key, KeyInit, MacMarker, Output,
    OutputSizeUser, Reset, Update,
};

use crate::Error;
use crate::ffi::message::{self, State};

pub use crate::ffi::message::{Code, CodeSide, Derive, HashFunction};

/// A function that takes a message in pieces.
macro_rules! message {
    ($type:ident, $trait:ident) => {
        impl<M: $trait> fmt::Debug for $type<M> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(M::NAME).finish_non_exhaustive()
            }
        }

        impl<M: $trait> AlgorithmName for $type<M> {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(M::NAME)
            }
        }

        impl<M: $trait> BlockSizeUser for $type<M> {
            type BlockSize = M::BlockSize;
        }

        impl<M: $trait> OutputSizeUser for $type<M> {
            type OutputSize = M::OutputSize;
        }

        impl<M: $trait> Update for $type<M> {
            fn update(&mut self, data: &[u8]) {
                self.state.update(data);
            }
        }

        impl<M: $trait> FixedOutput for $type<M> {
            fn finalize_into(mut self, out: &mut Output<Self>) {
                self.state.finish(out);
            }
        }

        #[cfg(feature = "zeroize")]
        impl<M: $trait> cipher::zeroize::ZeroizeOnDrop for $type<M> {}
    };
}

/// A function that can begin a new message.
macro_rules! again {
    ($type:ident, $trait:ident) => {
        impl<M: $trait> FixedOutputReset for $type<M> {
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                self.state.finish(out);
                self.reset();
            }
        }
    };
}

/// A hash function, by the traits of [`digest`].
pub struct MessageHash<M: HashFunction> {
    state: State<M>,
}

message!(MessageHash, HashFunction);
again!(MessageHash, HashFunction);

impl<M: HashFunction> Default for MessageHash<M> {
    fn default() -> Self {
        MessageHash { state: State::hash() }
    }
}

impl<M: HashFunction> Clone for MessageHash<M> {
    fn clone(&self) -> Self {
        MessageHash { state: self.state.clone() }
    }
}

impl<M: HashFunction> HashMarker for MessageHash<M> {}

impl<M: HashFunction> Reset for MessageHash<M> {
    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl<M: HashFunction> MessageHash<M> {
    /// Multi-buffer hashing of many messages, which is several times faster than in sequence, most
    /// so for similar lengths.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer places for hashes.
    pub fn many(
        messages: &[&[u8]],
        hashes: &mut [Array<u8, M::OutputSize>],
    ) -> Result<(), Error> {
        message::many::<M>(messages, hashes)
    }
}

/// A MAC under a key that serves for many messages, by the trait [`digest::Mac`]. Keys of HMAC have
/// any length, though the type of [`KeyInit::new`] has the length of a block.
pub struct MessageMac<M: Code> {
    start: State<M>,
    state: State<M>,
}

message!(MessageMac, Code);
again!(MessageMac, Code);

impl<M: Code> Clone for MessageMac<M> {
    fn clone(&self) -> Self {
        MessageMac { start: self.start.clone(), state: self.state.clone() }
    }
}

impl<M: Code> MacMarker for MessageMac<M> {}

impl<M: CodeSide> MessageMac<M> {
    /// The tags of many messages under this key, side by side: several times faster than in sequence,
    /// most so for similar lengths. The message in pieces stays as it is.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer places for tags.
    pub fn many(
        &self,
        messages: &[&[u8]],
        tags: &mut [Array<u8, M::OutputSize>],
    ) -> Result<(), Error> {
        self.start.tags(messages, tags)
    }
}

impl<M: Code> Reset for MessageMac<M> {
    fn reset(&mut self) {
        self.state = self.start.clone();
    }
}

impl<M: Code> KeySizeUser for MessageMac<M> {
    type KeySize = M::KeySize;
}

impl<M: Code> KeyInit for MessageMac<M> {
    fn new(key: &Key<Self>) -> Self {
        Self::new_from_slice(key).expect("keys have this length")
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        let start = State::code(key).map_err(|_| InvalidLength)?;
        Ok(MessageMac { state: start.clone(), start })
    }
}

/// A MAC under a key that is used once, by the trait [`digest::Mac`]: it can be neither reset nor
/// copied.
pub struct OneTimeMac<M: Code> {
    state: State<M>,
}

message!(OneTimeMac, Code);

impl<M: Code> MacMarker for OneTimeMac<M> {}

impl<M: Code> KeySizeUser for OneTimeMac<M> {
    type KeySize = M::KeySize;
}

impl<M: Code> KeyInit for OneTimeMac<M> {
    fn new(key: &Key<Self>) -> Self {
        Self::new_from_slice(key).expect("keys have this length")
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        Ok(OneTimeMac { state: State::code(key).map_err(|_| InvalidLength)? })
    }
}

/// HKDF (RFC 5869): any number of keys from a secret.
pub struct Hkdf<M: Derive> {
    key: Array<u8, M::OutputSize>,
}

impl<M: Derive> Hkdf<M> {
    /// A key from a secret that need not look random, and an optional salt, which may be empty.
    pub fn new(salt: &[u8], secret: &[u8]) -> Self {
        Hkdf { key: message::extract::<M>(salt, secret) }
    }

    /// From a pseudo-random key.
    pub fn from_key(key: &Array<u8, M::OutputSize>) -> Self {
        Hkdf { key: key.clone() }
    }

    /// The pseudo-random key of the derivation.
    pub fn key(&self) -> &Array<u8, M::OutputSize> {
        &self.key
    }

    /// The derived keys for `info`.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more bytes than 255 hashes.
    pub fn expand(&self, info: &[u8], keys: &mut [u8]) -> Result<(), Error> {
        message::expand::<M>(&self.key, info, keys)
    }
}

impl<M: Derive> Clone for Hkdf<M> {
    fn clone(&self) -> Self {
        Hkdf { key: self.key.clone() }
    }
}

impl<M: Derive> Drop for Hkdf<M> {
    fn drop(&mut self) {
        crate::ffi::wipe(&mut self.key);
    }
}

impl<M: Derive> fmt::Debug for Hkdf<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hkdf").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<M: Derive> cipher::zeroize::ZeroizeOnDrop for Hkdf<M> {}
