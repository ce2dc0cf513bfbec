//! Authenticated encryption.

use core::fmt;

use aead::{AeadCore, AeadInOut, Nonce, Tag, TagPosition};
use cipher::{AlgorithmName, InOutBuf, Key as KeyBytes, KeyInit, KeySizeUser};

use crate::Error;
use crate::ffi::Key;
use crate::ffi::seal::{self, Functions, Message, Pieces};

pub use crate::ffi::seal::{Seal, SealPieces, SealSide};

/// Authenticated encryption under a key, by the traits of [`aead`].
///
/// Decryption computes the tag first, and writes no output if the tag is wrong. Secret boxes have no
/// associated data, and return an error for any.
pub struct Sealer<K: Seal> {
    key: Key<K>,
}

impl<K: Seal> Sealer<K> {
    /// Encrypts, apart or in place, and makes a tag.
    ///
    /// # Errors
    /// [`Error::Length`] if the message is longer than the keystream, [`Error::Parameter`] if there
    /// are data that the function does not take.
    pub fn seal(
        &self,
        nonce: &Nonce<Self>,
        data: &[u8],
        text: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<Self>, Error> {
        self.key.seal(nonce, data, text)
    }

    /// Decrypts, apart or in place, if the tag is right.
    ///
    /// # Errors
    /// [`Error::Forged`] if it is not, and the errors of [`Sealer::seal`].
    pub fn open(
        &self,
        nonce: &Nonce<Self>,
        data: &[u8],
        text: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> Result<(), Error> {
        self.key.open(nonce, data, text, tag)
    }
}

/// A message of [`Sealer::seal_many`] and [`Sealer::open_many`].
pub struct SealMessage<'a, K: Seal> {
    /// Under which it is.
    pub key: &'a Sealer<K>,
    /// For this message only.
    pub nonce: &'a Nonce<Sealer<K>>,
    /// The associated data.
    pub data: &'a [u8],
    /// The text, or the ciphertext with its tag behind it.
    pub text: &'a [u8],
}

impl<'a, K: Seal> SealMessage<'a, K> {
    fn parts(&self) -> Message<'a, K> {
        (&self.key.key, self.nonce, self.data, self.text)
    }
}

impl<K: SealSide> Sealer<K> {
    /// Encrypts messages side by side: several times faster than in sequence, most so for similar
    /// lengths. An output is the ciphertext with its tag behind it.
    ///
    /// # Errors
    /// [`Error::Length`] if there is another number of outputs, or one has other than 16 bytes more than
    /// its text.
    pub fn seal_many(
        messages: &[SealMessage<'_, K>],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), Error> {
        seal::seal_many(messages.iter().map(SealMessage::parts), outputs)
    }

    /// Decrypts messages side by side, with a result for each: outputs of forged ones stay as they are.
    ///
    /// # Errors
    /// [`Error::Length`] if there is another number of outputs or results, or an output has other than
    /// 16 bytes less than its ciphertext with the tag; [`Error::Forged`] if some result is an error.
    pub fn open_many(
        messages: &[SealMessage<'_, K>],
        outputs: &mut [&mut [u8]],
        results: &mut [Result<(), Error>],
    ) -> Result<(), Error> {
        seal::open_many(messages.iter().map(SealMessage::parts), outputs, results)
    }
}

impl<K: SealPieces> Sealer<K> {
    /// Begins a message in pieces; `nonce` has any length but 0, and is for this message only. Nonces of
    /// 12 bytes that are counted are best: others are hashed.
    ///
    /// # Errors
    /// [`Error::Length`] if the nonce is empty.
    pub fn begin(&self, nonce: &[u8]) -> Result<SealInPieces<'_, K>, Error> {
        Ok(SealInPieces { pieces: Pieces::begin(&self.key, nonce)? })
    }

    /// Decrypts a whole message with a nonce of any length, apart or in place, if the tag is right.
    ///
    /// # Errors
    /// [`Error::Forged`] if it is not, and [`Error::Length`] if the nonce is empty or the message too
    /// long.
    pub fn open_whole(
        &self,
        nonce: &[u8],
        data: &[u8],
        text: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> Result<(), Error> {
        self.key.open_whole(nonce, data, text, tag)
    }
}

/// A message in pieces: its data, then its text. Decryption in pieces would give text away before its
/// tag is verified, so there is none.
pub struct SealInPieces<'k, K: SealPieces> {
    pieces: Pieces<'k, K>,
}

impl<K: SealPieces> SealInPieces<'_, K> {
    /// Takes the next bytes of the data, which are not encrypted.
    ///
    /// # Errors
    /// [`Error::State`] behind text, [`Error::Length`] if there are too many.
    pub fn data(&mut self, data: &[u8]) -> Result<(), Error> {
        self.pieces.data(data)
    }

    /// Encrypts the next bytes of the text, apart or in place.
    ///
    /// # Errors
    /// [`Error::Length`] if the message is longer than the keystream.
    pub fn encrypt(&mut self, text: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.pieces.encrypt(text)
    }

    /// Ends the message with its tag.
    pub fn finish(self) -> Tag<Sealer<K>> {
        self.pieces.finish()
    }
}

impl<K: SealPieces> fmt::Debug for SealInPieces<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealInPieces").finish_non_exhaustive()
    }
}

impl<K: Seal> Clone for Sealer<K> {
    fn clone(&self) -> Self {
        Sealer { key: self.key.clone() }
    }
}

impl<K: Seal> fmt::Debug for Sealer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::NAME).finish_non_exhaustive()
    }
}

impl<K: Seal> AlgorithmName for Sealer<K> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::NAME)
    }
}

impl<K: Seal> KeySizeUser for Sealer<K> {
    type KeySize = K::KeySize;
}

impl<K: Seal> KeyInit for Sealer<K> {
    fn new(key: &KeyBytes<Self>) -> Self {
        Sealer { key: Key::new(key) }
    }
}

impl<K: Seal> AeadCore for Sealer<K> {
    type NonceSize = K::NonceSize;
    type TagSize = K::TagSize;
    const TAG_POSITION: TagPosition = match K::FUNCTIONS {
        Functions::Data(..) => TagPosition::Postfix,
        Functions::Only(..) => TagPosition::Prefix,
    };
}

impl<K: Seal> AeadInOut for Sealer<K> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<Tag<Self>> {
        self.seal(nonce, associated_data, buffer).map_err(|_| aead::Error)
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> aead::Result<()> {
        self.open(nonce, associated_data, buffer, tag).map_err(|_| aead::Error)
    }
}

#[cfg(feature = "zeroize")]
impl<K: Seal> cipher::zeroize::ZeroizeOnDrop for Sealer<K> {}
