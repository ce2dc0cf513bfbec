//! Functions with a key that are neither block ciphers nor keystreams.

use core::fmt;

use cipher::array::Array;
use cipher::{AlgorithmName, Key as KeyBytes, KeyInit, KeySizeUser};

use crate::Error;
use crate::ffi::{Key, Map};

/// A function of blocks with a key.
pub struct Keyed<K: Map> {
    key: Key<K>,
}

impl<K: Map> Keyed<K> {
    /// The function of each block of `input`, all at once.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer blocks in `output`.
    pub fn blocks(
        &self,
        input: &[Array<u8, K::Input>],
        output: &mut [Array<u8, K::Output>],
    ) -> Result<(), Error> {
        self.key.map(input, output)
    }
}

impl<K: Map> Clone for Keyed<K> {
    fn clone(&self) -> Self {
        Keyed { key: self.key.clone() }
    }
}

impl<K: Map> fmt::Debug for Keyed<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(K::NAME).finish_non_exhaustive()
    }
}

impl<K: Map> AlgorithmName for Keyed<K> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::NAME)
    }
}

impl<K: Map> KeySizeUser for Keyed<K> {
    type KeySize = K::KeySize;
}

impl<K: Map> KeyInit for Keyed<K> {
    fn new(key: &KeyBytes<Self>) -> Self {
        Keyed { key: Key::new(key) }
    }
}

#[cfg(feature = "zeroize")]
impl<K: Map> cipher::zeroize::ZeroizeOnDrop for Keyed<K> {}
