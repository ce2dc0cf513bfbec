//! Block ciphers: the traits, and the modes that work on many blocks at once.

use core::fmt;

use cipher::inout::NotEqualError;
use cipher::{
    AlgorithmName, Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt,
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    InOutBuf, Key as KeyBytes, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser,
};

use crate::ffi::{Blocks, Context, Inverse, Key, Wide};
use crate::{Error, Stream};

/// A block cipher with a key.
///
/// Single blocks, by the traits, are no mode of operation: equal blocks stay equal.
/// All blocks of one call go through the C at once.
/// A counter is a block as one big-endian number; its overflow is an error.
pub struct Cipher<K: Context> {
    key: Key<K>,
}

impl<K: Context> Clone for Cipher<K> {
    fn clone(&self) -> Self {
        Cipher { key: self.key.clone() }
    }
}

impl<K: Context> fmt::Debug for Cipher<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::NAME).finish_non_exhaustive()
    }
}

impl<K: Context> AlgorithmName for Cipher<K> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::NAME)
    }
}

impl<K: Context> KeySizeUser for Cipher<K> {
    type KeySize = K::KeySize;
}

impl<K: Context> KeyInit for Cipher<K> {
    fn new(key: &KeyBytes<Self>) -> Self {
        Cipher { key: Key::new(key) }
    }
}

#[cfg(feature = "zeroize")]
impl<K: Context> cipher::zeroize::ZeroizeOnDrop for Cipher<K> {}

impl<K: Blocks> BlockSizeUser for Cipher<K> {
    type BlockSize = K::BlockSize;
}

impl<K: Blocks> Cipher<K> {
    /// CTR mode on `data`, encryption and decryption. `position` is the offset in bytes in the
    /// keystream: to continue a message, pass the number of bytes so far.
    ///
    /// # Errors
    /// [`Error::Counter`]
    pub fn ctr<'i, 'o>(
        &self,
        counter: &Block<Self>,
        position: u64,
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.key.xor(counter, position, data.into())
    }

    /// The keystream of CTR mode.
    ///
    /// # Errors
    /// [`Error::Counter`]
    pub fn ctr_keystream(
        &self,
        counter: &Block<Self>,
        position: u64,
        stream: &mut [u8],
    ) -> Result<(), Error> {
        self.key.keystream(counter, position, stream)
    }

    /// CTR mode as a stream cipher with its position.
    pub fn into_ctr(self, counter: &Block<Self>) -> Stream<K> {
        Stream::from_key(self.key, counter)
    }
}

impl<K: Wide> Cipher<K> {
    /// CBC mode, decryption. To continue a message, pass the last block of ciphertext as the next
    /// `iv`. CBC encryption is sequential and not offered.
    ///
    /// # Errors
    /// [`Error::Length`] if `data` is not whole blocks.
    pub fn cbc_decrypt<'i, 'o>(
        &self,
        iv: &[u8; 16],
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.key.cbc_decrypt(iv, data.into())
    }

    /// XTS mode on one data unit of 16 bytes to 16 MiB, with an independent key for the tweak.
    /// `tweak` is the number of the unit, little-endian. Ciphertext stealing completes a length that
    /// is no multiple of 16.
    ///
    /// # Errors
    /// [`Error::Length`]
    pub fn xts_encrypt<'i, 'o>(
        &self,
        tweak_key: &Self,
        tweak: &[u8; 16],
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.key.xts(&tweak_key.key, tweak, data.into(), false)
    }

    /// The inverse of [`Cipher::xts_encrypt`].
    ///
    /// # Errors
    /// [`Error::Length`]
    pub fn xts_decrypt<'i, 'o>(
        &self,
        tweak_key: &Self,
        tweak: &[u8; 16],
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.key.xts(&tweak_key.key, tweak, data.into(), true)
    }
}

/// The backend of modes of other crates, which have their own loops over blocks.
struct Backend<'a, K: Blocks>(&'a Key<K>);

impl<K: Blocks> BlockSizeUser for Backend<'_, K> {
    type BlockSize = K::BlockSize;
}

impl<K: Blocks> ParBlocksSizeUser for Backend<'_, K> {
    type ParBlocksSize = K::Parallel;
}

impl<K: Blocks> BlockCipherEncBackend for Backend<'_, K> {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        self.0.encrypt_one(block);
    }

    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.0.encrypt(blocks.into_buf());
    }

    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.0.encrypt(blocks);
    }
}

impl<K: Inverse> BlockCipherDecBackend for Backend<'_, K> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        self.0.decrypt_one(block);
    }

    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.0.decrypt(blocks.into_buf());
    }

    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.0.decrypt(blocks);
    }
}

impl<K: Blocks> BlockCipherEncrypt for Cipher<K> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = Self::BlockSize>) {
        f.call(&Backend(&self.key));
    }

    fn encrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.key.encrypt(blocks);
    }

    fn encrypt_blocks(&self, blocks: &mut [Block<Self>]) {
        self.key.encrypt(blocks.into());
    }

    fn encrypt_blocks_b2b(
        &self,
        in_blocks: &[Block<Self>],
        out_blocks: &mut [Block<Self>],
    ) -> Result<(), NotEqualError> {
        self.key.encrypt(InOutBuf::new(in_blocks, out_blocks)?);
        Ok(())
    }
}

impl<K: Inverse> BlockCipherDecrypt for Cipher<K> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = Self::BlockSize>) {
        f.call(&Backend(&self.key));
    }

    fn decrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.key.decrypt(blocks);
    }

    fn decrypt_blocks(&self, blocks: &mut [Block<Self>]) {
        self.key.decrypt(blocks.into());
    }

    fn decrypt_blocks_b2b(
        &self,
        in_blocks: &[Block<Self>],
        out_blocks: &mut [Block<Self>],
    ) -> Result<(), NotEqualError> {
        self.key.decrypt(InOutBuf::new(in_blocks, out_blocks)?);
        Ok(())
    }
}
