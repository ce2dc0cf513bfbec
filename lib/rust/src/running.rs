//! Keystreams with a state: each part continues its predecessor.

use core::fmt;

use cipher::{
    AlgorithmName, InOutBuf, Iv, IvSizeUser, Key as KeyBytes, KeyIvInit, KeySizeUser, StreamCipher,
    StreamCipherError,
};

use crate::Error;
use crate::ffi::{self, Key, State};

/// A keystream with its state. It has no end and no positions.
pub struct Running<K: ffi::Running> {
    state: State<K>,
}

impl<K: ffi::Running> Running<K> {
    /// The keystreams of several nonces in parallel lanes, which is many times faster than in
    /// sequence: the first `length` bytes of each, in sequence in `output`.
    ///
    /// # Errors
    /// [`Error::Length`] if `output` has other than `length` bytes for each nonce.
    pub fn keystreams(
        key: &KeyBytes<Self>,
        nonces: &[Iv<Self>],
        length: usize,
        output: &mut [u8],
    ) -> Result<(), Error> {
        Key::<K>::new(key).keystreams(nonces, length, output)
    }
}

impl<K: ffi::Running> Clone for Running<K> {
    fn clone(&self) -> Self {
        Running { state: self.state.clone() }
    }
}

impl<K: ffi::Running> fmt::Debug for Running<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::NAME).finish_non_exhaustive()
    }
}

impl<K: ffi::Running> AlgorithmName for Running<K> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::NAME)
    }
}

impl<K: ffi::Running> KeySizeUser for Running<K> {
    type KeySize = K::KeySize;
}

impl<K: ffi::Running> IvSizeUser for Running<K> {
    type IvSize = K::NonceSize;
}

impl<K: ffi::Running> KeyIvInit for Running<K> {
    fn new(key: &KeyBytes<Self>, iv: &Iv<Self>) -> Self {
        Running { state: Key::<K>::new(key).begin(iv) }
    }
}

#[cfg(feature = "zeroize")]
impl<K: ffi::Running> cipher::zeroize::ZeroizeOnDrop for Running<K> {}

impl<K: ffi::Running> StreamCipher for Running<K> {
    fn check_remaining(&self, _: usize) -> Result<(), StreamCipherError> {
        Ok(())
    }

    fn unchecked_apply_keystream_inout(&mut self, buf: InOutBuf<'_, '_, u8>) {
        self.state.xor(buf);
    }

    fn unchecked_write_keystream(&mut self, buf: &mut [u8]) {
        self.state.keystream(buf);
    }
}
