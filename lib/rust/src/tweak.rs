//! Block ciphers with a tweak.

use core::fmt;

use cipher::typenum::Unsigned;
use cipher::{
    AlgorithmName, Block, BlockSizeUser, InOut, InOutBuf, Key as KeyBytes, KeyInit, KeySizeUser,
    Tweak, TweakBlockCipherDecBackend, TweakBlockCipherDecClosure, TweakBlockCipherDecrypt,
    TweakBlockCipherEncBackend, TweakBlockCipherEncClosure, TweakBlockCipherEncrypt, TweakSizeUser,
};

use crate::Error;
use crate::ffi::{self, Key, Tweaked};

/// Bytes of tweaks and blocks that go through the C at a time.
const CHUNK: usize = 8192;

/// A block cipher with a key that takes a tweak for each block.
pub struct TweakCipher<K: Tweaked> {
    key: Key<K>,
}

impl<K: Tweaked> TweakCipher<K> {
    /// Encrypts each block with its tweak, many at once.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer tweaks than blocks.
    pub fn encrypt_each<'i, 'o>(
        &self,
        tweaks: &[Tweak<Self>],
        blocks: impl Into<InOutBuf<'i, 'o, Block<Self>>>,
    ) -> Result<(), Error> {
        self.each(tweaks, blocks.into(), false)
    }

    /// The inverse of [`TweakCipher::encrypt_each`].
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer tweaks than blocks.
    pub fn decrypt_each<'i, 'o>(
        &self,
        tweaks: &[Tweak<Self>],
        blocks: impl Into<InOutBuf<'i, 'o, Block<Self>>>,
    ) -> Result<(), Error> {
        self.each(tweaks, blocks.into(), true)
    }

    /// Counter-in-tweak mode on `data`, encryption and decryption: XORs the encryptions of `nonce`
    /// under `tweak`, `tweak` + 1, ..., which are numbers in the byte order of the cipher.
    /// `position` is the offset in bytes in the keystream.
    ///
    /// It is the encryption mode of SCT, called CTRT there (Peyrin, Seurin: ePrint 2015/1049),
    /// with addition as its counter; Deoxys-II XORs the counter to the tweak instead.
    ///
    /// # Errors
    /// [`Error::Counter`]
    pub fn ctrt<'i, 'o>(
        &self,
        nonce: &Block<Self>,
        tweak: &Tweak<Self>,
        position: u64,
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.key.ctrt(nonce, tweak, position, data.into())
    }

    /// The keystream of counter-in-tweak mode.
    ///
    /// # Errors
    /// [`Error::Counter`]
    pub fn ctrt_keystream(
        &self,
        nonce: &Block<Self>,
        tweak: &Tweak<Self>,
        position: u64,
        stream: &mut [u8],
    ) -> Result<(), Error> {
        self.key.ctrt_keystream(nonce, tweak, position, stream)
    }

    fn each(
        &self,
        tweaks: &[Tweak<Self>],
        mut blocks: InOutBuf<'_, '_, Block<Self>>,
        backwards: bool,
    ) -> Result<(), Error> {
        if tweaks.len() != blocks.len() {
            return Err(Error::Length);
        }
        let size = K::BlockSize::USIZE;
        let pair = size + K::TweakSize::USIZE;
        let (mut from, mut to) = ([0; CHUNK], [0; CHUNK]);
        let mut used = 0;
        for tweaks in tweaks.chunks(CHUNK / pair) {
            let (mut here, rest) = blocks.split_at(tweaks.len());
            blocks = rest;
            let from = &mut from[..tweaks.len() * pair];
            let to = &mut to[..tweaks.len() * size];
            used = used.max(tweaks.len());
            for ((pair, tweak), block) in from.chunks_mut(pair).zip(tweaks).zip(here.get_in()) {
                let (first, second) = pair.split_at_mut(K::TweakSize::USIZE);
                first.copy_from_slice(tweak);
                second.copy_from_slice(block);
            }
            self.key.tweaked(from, to, backwards)?;
            for (block, made) in here.get_out().iter_mut().zip(to.chunks(size)) {
                block.copy_from_slice(made);
            }
        }
        ffi::wipe(&mut from[..used * pair]);
        ffi::wipe(&mut to[..used * size]);
        Ok(())
    }

    /// One block.
    fn one(&self, tweak: &Tweak<Self>, mut block: InOut<'_, '_, Block<Self>>, backwards: bool) {
        let mut out = Block::<Self>::default();
        let done = self.each(
            core::slice::from_ref(tweak),
            InOutBuf::from_ref_mut(block.get_in(), &mut out),
            backwards,
        );
        done.expect("there is one of each");
        *block.get_out() = out;
    }
}

impl<K: Tweaked> Clone for TweakCipher<K> {
    fn clone(&self) -> Self {
        TweakCipher { key: self.key.clone() }
    }
}

impl<K: Tweaked> fmt::Debug for TweakCipher<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::NAME).finish_non_exhaustive()
    }
}

impl<K: Tweaked> AlgorithmName for TweakCipher<K> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::NAME)
    }
}

impl<K: Tweaked> KeySizeUser for TweakCipher<K> {
    type KeySize = K::KeySize;
}

impl<K: Tweaked> KeyInit for TweakCipher<K> {
    fn new(key: &KeyBytes<Self>) -> Self {
        TweakCipher { key: Key::new(key) }
    }
}

#[cfg(feature = "zeroize")]
impl<K: Tweaked> cipher::zeroize::ZeroizeOnDrop for TweakCipher<K> {}

impl<K: Tweaked> BlockSizeUser for TweakCipher<K> {
    type BlockSize = K::BlockSize;
}

impl<K: Tweaked> TweakSizeUser for TweakCipher<K> {
    type TweakSize = K::TweakSize;
}

impl<K: Tweaked> TweakBlockCipherEncBackend for TweakCipher<K> {
    fn encrypt_block_inout(&self, tweak: &Tweak<Self>, block: InOut<'_, '_, Block<Self>>) {
        self.one(tweak, block, false);
    }
}

impl<K: Tweaked> TweakBlockCipherEncrypt for TweakCipher<K> {
    fn encrypt_with_backend(
        &self,
        f: impl TweakBlockCipherEncClosure<BlockSize = Self::BlockSize, TweakSize = Self::TweakSize>,
    ) {
        f.call(self);
    }
}

impl<K: Tweaked> TweakBlockCipherDecBackend for TweakCipher<K> {
    fn decrypt_block_inout(&self, tweak: &Tweak<Self>, block: InOut<'_, '_, Block<Self>>) {
        self.one(tweak, block, true);
    }
}

impl<K: Tweaked> TweakBlockCipherDecrypt for TweakCipher<K> {
    fn decrypt_with_backend(
        &self,
        f: impl TweakBlockCipherDecClosure<BlockSize = Self::BlockSize, TweakSize = Self::TweakSize>,
    ) {
        f.call(self);
    }
}
