//! Skein: hash functions with any length of output, MACs, outputs without an end, trees.

use core::fmt;
use core::marker::PhantomData;

use cipher::{AlgorithmName, BlockSizeUser};
use digest::array::{Array, ArraySize};
use digest::{
    ExtendableOutput, ExtendableOutputReset, FixedOutput, FixedOutputReset, HashMarker,
    InvalidLength, Key, KeyInit, MacMarker, Output, OutputSizeUser, Reset, Update, XofReader,
};

use crate::Error;
use crate::ffi::hash::{ENDLESS, Grown, State};

pub use crate::ffi::hash::Hash;

/// The parameters of Skein; all are absent by default.
///
/// An empty `Some` gives another hash than `None`.
#[derive(Clone, Copy, Default)]
pub struct Parameters<'a> {
    /// For a MAC, or for deriving keys; of any length, none if empty.
    pub key: &'a [u8],
    /// The purpose of the hash, such as `20081031 somebody@example.com Backup/Blocks`.
    pub personalization: Option<&'a [u8]>,
    /// The key with which a signature of the hash will be verified.
    pub public_key: Option<&'a [u8]>,
    /// The name of the key to derive from `key`, with an empty message.
    pub identifier: Option<&'a [u8]>,
    /// For randomized hashing, or for a keystream.
    pub nonce: Option<&'a [u8]>,
    /// The hash tree of the message, if any.
    pub tree: Option<Tree>,
}

/// A hash tree, whose leaves are hashed in parallel lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tree {
    /// A leaf has `1 << leaf` blocks of the message; 1 at least.
    pub leaf: u8,
    /// A node has `1 << fan_out` blocks of the level below; 1 at least.
    pub fan_out: u8,
    /// Levels, including the leaves; 2 at least.
    pub height: u8,
}

/// Parameters may be secret.
impl fmt::Debug for Parameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameters").finish_non_exhaustive()
    }
}

/// The output length `N`, which is not 0.
fn size<N: ArraySize>() -> usize {
    const { assert!(N::USIZE > 0, "an output has at least one byte") };
    N::USIZE
}

/// A message with its parameters, which can be reset.
struct Begun<H: Hash> {
    start: State<H>,
    state: State<H>,
}

impl<H: Hash> Begun<H> {
    fn new(parameters: &Parameters, length: usize) -> Result<Self, Error> {
        let start = State::begin(parameters, length)?;
        Ok(Begun { state: start.clone(), start })
    }

    fn reset(&mut self) {
        self.state = self.start.clone();
    }
}

impl<H: Hash> Clone for Begun<H> {
    fn clone(&self) -> Self {
        Begun { start: self.start.clone(), state: self.state.clone() }
    }
}

macro_rules! fixed {
    ($type:ident) => {
        impl<H: Hash, N: ArraySize> $type<H, N> {
            /// The hash of a message whose last bytes are the first `bits` of `last`; the first bit
            /// of a byte is its most significant one.
            ///
            /// # Errors
            /// [`Error::Length`] if there are not as many.
            pub fn finalize_bits(mut self, last: &[u8], bits: u64) -> Result<Output<Self>, Error> {
                self.begun.state.update_bits(last, bits)?;
                Ok(self.finalize_fixed())
            }
        }

        impl<H: Hash, N: ArraySize> Clone for $type<H, N> {
            fn clone(&self) -> Self {
                $type { begun: self.begun.clone(), size: PhantomData }
            }
        }

        impl<H: Hash, N: ArraySize> BlockSizeUser for $type<H, N> {
            type BlockSize = H::BlockSize;
        }

        impl<H: Hash, N: ArraySize> OutputSizeUser for $type<H, N> {
            type OutputSize = N;
        }

        impl<H: Hash, N: ArraySize> Update for $type<H, N> {
            fn update(&mut self, data: &[u8]) {
                self.begun.state.update(data);
            }
        }

        impl<H: Hash, N: ArraySize> FixedOutput for $type<H, N> {
            fn finalize_into(mut self, out: &mut Output<Self>) {
                self.begun.state.finish(out);
            }
        }

        impl<H: Hash, N: ArraySize> Reset for $type<H, N> {
            fn reset(&mut self) {
                self.begun.reset();
            }
        }

        impl<H: Hash, N: ArraySize> FixedOutputReset for $type<H, N> {
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                self.begun.state.finish(out);
                self.begun.reset();
            }
        }

        #[cfg(feature = "zeroize")]
        impl<H: Hash, N: ArraySize> cipher::zeroize::ZeroizeOnDrop for $type<H, N> {}
    };
}

/// A hash function with `N` bytes of output, by the traits of [`digest`].
pub struct Skein<H: Hash, N: ArraySize> {
    begun: Begun<H>,
    size: PhantomData<N>,
}

fixed!(Skein);

impl<H: Hash, N: ArraySize> Skein<H, N> {
    /// One with parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is a tree, for which there is [`SkeinTree`].
    pub fn with(parameters: &Parameters) -> Result<Self, Error> {
        Ok(Skein { begun: Begun::new(parameters, size::<N>())?, size: PhantomData })
    }
}

impl<H: Hash, N: ArraySize> Default for Skein<H, N> {
    fn default() -> Self {
        Self::with(&Parameters::default()).expect("there is no tree")
    }
}

impl<H: Hash, N: ArraySize> HashMarker for Skein<H, N> {}

impl<H: Hash, N: ArraySize> AlgorithmName for Skein<H, N> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", H::NAME, 8 * N::USIZE)
    }
}

impl<H: Hash, N: ArraySize> fmt::Debug for Skein<H, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(H::NAME).finish_non_exhaustive()
    }
}

/// A MAC of `N` bytes, by the trait [`digest::Mac`]. Keys have any length but 0, though the type of
/// [`KeyInit::new`] has the length of a block.
pub struct SkeinMac<H: Hash, N: ArraySize> {
    begun: Begun<H>,
    size: PhantomData<N>,
}

fixed!(SkeinMac);

impl<H: Hash, N: ArraySize> SkeinMac<H, N> {
    /// One with a key and other parameters.
    ///
    /// # Errors
    /// [`Error::Length`] if there is no key, [`Error::Parameter`] if there is a tree.
    pub fn with(parameters: &Parameters) -> Result<Self, Error> {
        if parameters.key.is_empty() {
            return Err(Error::Length);
        }
        Ok(SkeinMac { begun: Begun::new(parameters, size::<N>())?, size: PhantomData })
    }
}

impl<H: Hash, N: ArraySize> MacMarker for SkeinMac<H, N> {}

impl<H: Hash, N: ArraySize> cipher::KeySizeUser for SkeinMac<H, N> {
    type KeySize = H::BlockSize;
}

impl<H: Hash, N: ArraySize> KeyInit for SkeinMac<H, N> {
    fn new(key: &Key<Self>) -> Self {
        Self::new_from_slice(key).expect("blocks have bytes")
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        Self::with(&Parameters { key, ..Parameters::default() }).map_err(|_| InvalidLength)
    }
}

impl<H: Hash, N: ArraySize> AlgorithmName for SkeinMac<H, N> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-MAC", H::NAME, 8 * N::USIZE)
    }
}

impl<H: Hash, N: ArraySize> fmt::Debug for SkeinMac<H, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(H::NAME).finish_non_exhaustive()
    }
}

/// Endless outputs, by the trait [`ExtendableOutput`]; they have no common prefix with outputs of a
/// given length. With key and nonce this is a keystream.
pub struct SkeinXof<H: Hash> {
    begun: Begun<H>,
}

impl<H: Hash> SkeinXof<H> {
    /// One with parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is a tree.
    pub fn with(parameters: &Parameters) -> Result<Self, Error> {
        Ok(SkeinXof { begun: Begun::new(parameters, ENDLESS)? })
    }
}

impl<H: Hash> Default for SkeinXof<H> {
    fn default() -> Self {
        Self::with(&Parameters::default()).expect("there is no tree")
    }
}

impl<H: Hash> Clone for SkeinXof<H> {
    fn clone(&self) -> Self {
        SkeinXof { begun: self.begun.clone() }
    }
}

impl<H: Hash> fmt::Debug for SkeinXof<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(H::NAME).finish_non_exhaustive()
    }
}

impl<H: Hash> Update for SkeinXof<H> {
    fn update(&mut self, data: &[u8]) {
        self.begun.state.update(data);
    }
}

impl<H: Hash> Reset for SkeinXof<H> {
    fn reset(&mut self) {
        self.begun.reset();
    }
}

impl<H: Hash> ExtendableOutput for SkeinXof<H> {
    type Reader = SkeinReader<H>;

    fn finalize_xof(self) -> SkeinReader<H> {
        SkeinReader { state: self.begun.state }
    }
}

impl<H: Hash> ExtendableOutputReset for SkeinXof<H> {
    fn finalize_xof_reset(&mut self) -> SkeinReader<H> {
        let state = self.begun.state.clone();
        self.begun.reset();
        SkeinReader { state }
    }
}

/// The output of a [`SkeinXof`].
pub struct SkeinReader<H: Hash> {
    state: State<H>,
}

impl<H: Hash> XofReader for SkeinReader<H> {
    fn read(&mut self, buffer: &mut [u8]) {
        self.state.squeeze(buffer);
    }
}

impl<H: Hash> Clone for SkeinReader<H> {
    fn clone(&self) -> Self {
        SkeinReader { state: self.state.clone() }
    }
}

impl<H: Hash> fmt::Debug for SkeinReader<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(H::NAME).finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<H: Hash> cipher::zeroize::ZeroizeOnDrop for SkeinXof<H> {}
#[cfg(feature = "zeroize")]
impl<H: Hash> cipher::zeroize::ZeroizeOnDrop for SkeinReader<H> {}

/// `N` bytes of the root of a hash tree. Leaves in one piece are hashed in parallel lanes.
pub struct SkeinTree<H: Hash, N: ArraySize> {
    grown: Grown<H>,
    size: PhantomData<N>,
}

impl<H: Hash, N: ArraySize> SkeinTree<H, N> {
    /// One with parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is no tree, or one with less than its fields allow.
    pub fn with(parameters: &Parameters) -> Result<Self, Error> {
        Ok(SkeinTree { grown: Grown::begin(parameters, size::<N>())?, size: PhantomData })
    }

    /// As [`Skein::finalize_bits`].
    ///
    /// # Errors
    /// [`Error::Length`] if there are not as many.
    pub fn finalize_bits(mut self, last: &[u8], bits: u64) -> Result<Array<u8, N>, Error> {
        self.grown.update_bits(last, bits)?;
        Ok(self.finalize_fixed())
    }
}

impl<H: Hash, N: ArraySize> fmt::Debug for SkeinTree<H, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(H::NAME).finish_non_exhaustive()
    }
}

impl<H: Hash, N: ArraySize> OutputSizeUser for SkeinTree<H, N> {
    type OutputSize = N;
}

impl<H: Hash, N: ArraySize> Update for SkeinTree<H, N> {
    fn update(&mut self, data: &[u8]) {
        self.grown.update(data);
    }
}

impl<H: Hash, N: ArraySize> FixedOutput for SkeinTree<H, N> {
    fn finalize_into(mut self, out: &mut Output<Self>) {
        self.grown.finish(out);
    }
}

#[cfg(feature = "zeroize")]
impl<H: Hash, N: ArraySize> cipher::zeroize::ZeroizeOnDrop for SkeinTree<H, N> {}
