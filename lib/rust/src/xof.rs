//! Functions with outputs of any length: hash functions, MACs, trees.

use core::marker::PhantomData;
use core::{fmt, mem};

use cipher::{AlgorithmName, BlockSizeUser, KeySizeUser};
use digest::array::ArraySize;
use digest::{
    CustomizedInit, ExtendableOutput, ExtendableOutputReset, FixedOutput, FixedOutputReset,
    HashMarker, InvalidLength, Key, KeyInit, MacMarker, Output, OutputSizeUser, Reset,
    TryCustomizedInit, Update, XofReader,
};

use crate::Error;
use crate::ffi::xof::{self, Side, State};

pub use crate::ffi::xof::{
    CustomXof, DomainXof, KeyedXof, NamedXof, PlainXof, SpongeFunction, TreeXof,
};

/// The domain of messages without a purpose of their own.
const DOMAIN: u8 = 0x1f;

/// A type that shows no secret; its fields wipe it.
macro_rules! quiet {
    ([$($generic:tt)*] $type:ty) => {
        impl<$($generic)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(F::NAME).finish_non_exhaustive()
            }
        }

        impl<$($generic)*> AlgorithmName for $type {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(F::NAME)
            }
        }

        #[cfg(feature = "zeroize")]
        impl<$($generic)*> cipher::zeroize::ZeroizeOnDrop for $type {}
    };
}

/// A function that takes a message in pieces, and can begin again with the state `fresh`.
macro_rules! message {
    ([$($generic:tt)*] $type:ty) => {
        quiet!([$($generic)*] $type);

        impl<$($generic)*> BlockSizeUser for $type {
            type BlockSize = F::BlockSize;
        }

        impl<$($generic)*> Update for $type {
            fn update(&mut self, data: &[u8]) {
                self.state.update(data);
            }
        }

        impl<$($generic)*> Reset for $type {
            fn reset(&mut self) {
                self.state = self.fresh();
            }
        }
    };
}

/// A function with outputs of any length, of a state that `ended` ends.
macro_rules! output {
    ([$($generic:tt)*] $type:ty, $ended:expr) => {
        message!([$($generic)*] $type);

        impl<$($generic)*> ExtendableOutput for $type {
            type Reader = SpongeReader<F>;

            fn finalize_xof(mut self) -> SpongeReader<F> {
                $ended(&mut self);
                SpongeReader { state: self.state }
            }
        }

        impl<$($generic)*> ExtendableOutputReset for $type {
            fn finalize_xof_reset(&mut self) -> SpongeReader<F> {
                $ended(self);
                let fresh = self.fresh();
                SpongeReader { state: mem::replace(&mut self.state, fresh) }
            }
        }
    };
}

/// The first bytes of an output end the message.
fn by_output<T>(_: &mut T) {}

/// The output of a message.
pub struct SpongeReader<F: SpongeFunction> {
    state: State<F>,
}

quiet!([F: SpongeFunction] SpongeReader<F>);

impl<F: SpongeFunction> Clone for SpongeReader<F> {
    fn clone(&self) -> Self {
        SpongeReader { state: self.state.clone() }
    }
}

impl<F: SpongeFunction> XofReader for SpongeReader<F> {
    fn read(&mut self, buffer: &mut [u8]) {
        self.state.squeeze(buffer);
    }
}

/// A hash function with outputs of any length, by the trait [`ExtendableOutput`]: a short one is the
/// beginning of a long one.
pub struct Xof<F: PlainXof> {
    state: State<F>,
}

output!([F: PlainXof] Xof<F>, by_output);

impl<F: PlainXof> Xof<F> {
    fn fresh(&self) -> State<F> {
        State::plain()
    }

    /// Multi-buffer hashing of many messages, which is several times faster than in sequence, most
    /// so for similar lengths: `length` bytes for each, adjacent in `outputs`.
    ///
    /// # Errors
    /// [`Error::Length`] if `outputs` has other than `length` bytes for each, or `length` is 0.
    pub fn many(messages: &[&[u8]], length: usize, outputs: &mut [u8]) -> Result<(), Error> {
        xof::many::<F>(messages, length, outputs)
    }
}

impl<F: PlainXof> Default for Xof<F> {
    fn default() -> Self {
        Xof { state: State::plain() }
    }
}

impl<F: PlainXof> Clone for Xof<F> {
    fn clone(&self) -> Self {
        Xof { state: self.state.clone() }
    }
}

impl<F: PlainXof> HashMarker for Xof<F> {}

/// Up to 8 messages of one length, side by side: their outputs in whole blocks, as rejection
/// sampling takes them.
pub struct Lanes<F: PlainXof> {
    side: Side<F>,
}

quiet!([F: PlainXof] Lanes<F>);

impl<F: PlainXof> BlockSizeUser for Lanes<F> {
    type BlockSize = F::BlockSize;
}

impl<F: PlainXof> Clone for Lanes<F> {
    fn clone(&self) -> Self {
        Lanes { side: self.side.clone() }
    }
}

impl<F: PlainXof> Lanes<F> {
    /// Begins `count` messages.
    ///
    /// # Errors
    /// [`Error::Length`] if they are none, or more than 8.
    pub fn new(count: usize) -> Result<Self, Error> {
        Ok(Lanes { side: Side::new(count)? })
    }

    /// Takes the next bytes of each message.
    ///
    /// # Errors
    /// [`Error::Parameter`] if another number of messages was begun, [`Error::Length`] if they are
    /// not of one length, [`Error::State`] behind the first output. Then the messages are as before.
    pub fn absorb(&mut self, inputs: &[&[u8]]) -> Result<(), Error> {
        self.side.absorb(inputs)
    }

    /// Ends the messages, the first time, and gives the next blocks of each output.
    ///
    /// # Errors
    /// [`Error::Parameter`] if another number of messages was begun, [`Error::Length`] if the outputs
    /// are not of one length, or not of whole blocks. Then the messages are as before.
    pub fn squeeze_blocks(&mut self, outputs: &mut [&mut [u8]]) -> Result<(), Error> {
        self.side.squeeze_blocks(outputs)
    }
}

/// A hash function with outputs of any length, a function name and a customization string. The name
/// is for standards that build on this one, and the string for applications; without both it is
/// SHAKE.
pub struct Cshake<F: NamedXof> {
    start: State<F>,
    state: State<F>,
}

output!([F: NamedXof] Cshake<F>, by_output);

impl<F: NamedXof> Cshake<F> {
    fn fresh(&self) -> State<F> {
        self.start.clone()
    }

    /// One with a function name and a customization string.
    pub fn with(name: &[u8], custom: &[u8]) -> Self {
        let start = State::named(name, custom);
        Cshake { state: start.clone(), start }
    }

    /// As [`Xof::many`], with one function name and customization string.
    ///
    /// # Errors
    /// [`Error::Length`] if `outputs` has other than `length` bytes for each, or `length` is 0.
    pub fn many(
        name: &[u8],
        custom: &[u8],
        messages: &[&[u8]],
        length: usize,
        outputs: &mut [u8],
    ) -> Result<(), Error> {
        xof::many_named::<F>((name, custom), messages, length, outputs)
    }
}

impl<F: NamedXof> Default for Cshake<F> {
    fn default() -> Self {
        Self::with(b"", b"")
    }
}

impl<F: NamedXof> Clone for Cshake<F> {
    fn clone(&self) -> Self {
        Cshake { start: self.start.clone(), state: self.state.clone() }
    }
}

impl<F: NamedXof> HashMarker for Cshake<F> {}

impl<F: NamedXof> CustomizedInit for Cshake<F> {
    fn new_customized(custom: &[u8]) -> Self {
        Self::with(b"", custom)
    }
}

/// A hash function with outputs of any length, and a customization string of at most 256 bytes for
/// applications.
pub struct Cxof<F: CustomXof> {
    start: State<F>,
    state: State<F>,
}

output!([F: CustomXof] Cxof<F>, by_output);

impl<F: CustomXof> Cxof<F> {
    fn fresh(&self) -> State<F> {
        self.start.clone()
    }

    /// One with a customization string.
    ///
    /// # Errors
    /// [`Error::Length`] if the string has more than 256 bytes.
    pub fn with(custom: &[u8]) -> Result<Self, Error> {
        let start = State::custom(custom)?;
        Ok(Cxof { state: start.clone(), start })
    }

    /// As [`Xof::many`], with one customization string.
    ///
    /// # Errors
    /// [`Error::Length`] if the string has more than 256 bytes, `outputs` has other than `length` bytes
    /// for each, or `length` is 0.
    pub fn many(
        custom: &[u8],
        messages: &[&[u8]],
        length: usize,
        outputs: &mut [u8],
    ) -> Result<(), Error> {
        xof::many_custom::<F>(custom, messages, length, outputs)
    }
}

impl<F: CustomXof> Default for Cxof<F> {
    fn default() -> Self {
        Self::with(b"").expect("an empty string is short")
    }
}

impl<F: CustomXof> Clone for Cxof<F> {
    fn clone(&self) -> Self {
        Cxof { start: self.start.clone(), state: self.state.clone() }
    }
}

impl<F: CustomXof> HashMarker for Cxof<F> {}

impl<F: CustomXof> TryCustomizedInit for Cxof<F> {
    type Error = Error;

    fn try_new_customized(custom: &[u8]) -> Result<Self, Error> {
        Self::with(custom)
    }
}

/// A hash function with outputs of any length, and a domain separation byte from 1 to 0x7f.
pub struct TurboShake<F: DomainXof> {
    state: State<F>,
    domain: u8,
}

output!([F: DomainXof] TurboShake<F>, by_output);

impl<F: DomainXof> TurboShake<F> {
    fn fresh(&self) -> State<F> {
        State::domain(self.domain).expect("it was a domain")
    }

    /// One with a domain; by default, it is 0x1f.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is 0 or above 0x7f.
    pub fn with(domain: u8) -> Result<Self, Error> {
        Ok(TurboShake { state: State::domain(domain)?, domain })
    }

    /// As [`Xof::many`], in one domain.
    ///
    /// # Errors
    /// [`Error::Length`] if `outputs` has other than `length` bytes for each, or `length` is 0;
    /// [`Error::Parameter`] if there is no such domain.
    pub fn many(
        domain: u8,
        messages: &[&[u8]],
        length: usize,
        outputs: &mut [u8],
    ) -> Result<(), Error> {
        xof::many_domain::<F>(domain, messages, length, outputs)
    }
}

impl<F: DomainXof> Default for TurboShake<F> {
    fn default() -> Self {
        Self::with(DOMAIN).expect("it is a domain")
    }
}

impl<F: DomainXof> Clone for TurboShake<F> {
    fn clone(&self) -> Self {
        TurboShake { state: self.state.clone(), domain: self.domain }
    }
}

impl<F: DomainXof> HashMarker for TurboShake<F> {}

/// A MAC with tags of `N` bytes, 4 at least and better 8, by the trait [`digest::Mac`]; a short tag is
/// not the beginning of a long one. Keys have any length, though the type of [`KeyInit::new`] has the
/// length of a block.
pub struct Kmac<F: KeyedXof, N: ArraySize> {
    start: State<F>,
    state: State<F>,
    size: PhantomData<N>,
}

message!([F: KeyedXof, N: ArraySize] Kmac<F, N>);

impl<F: KeyedXof, N: ArraySize> Kmac<F, N> {
    fn fresh(&self) -> State<F> {
        self.start.clone()
    }

    /// One with a key, for the use that the customization string names.
    pub fn with(key: &[u8], custom: &[u8]) -> Self {
        const { assert!(N::USIZE >= 4, "a tag has at least 4 bytes") };
        let start = State::code(key, custom);
        Kmac { state: start.clone(), start, size: PhantomData }
    }
}

impl<F: KeyedXof, N: ArraySize> Clone for Kmac<F, N> {
    fn clone(&self) -> Self {
        Kmac { start: self.start.clone(), state: self.state.clone(), size: PhantomData }
    }
}

impl<F: KeyedXof, N: ArraySize> OutputSizeUser for Kmac<F, N> {
    type OutputSize = N;
}

impl<F: KeyedXof, N: ArraySize> FixedOutput for Kmac<F, N> {
    fn finalize_into(mut self, out: &mut Output<Self>) {
        self.state.tag(out);
    }
}

impl<F: KeyedXof, N: ArraySize> FixedOutputReset for Kmac<F, N> {
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        self.state.tag(out);
        self.reset();
    }
}

impl<F: KeyedXof, N: ArraySize> MacMarker for Kmac<F, N> {}

impl<F: KeyedXof, N: ArraySize> KeySizeUser for Kmac<F, N> {
    type KeySize = F::BlockSize;
}

impl<F: KeyedXof, N: ArraySize> KeyInit for Kmac<F, N> {
    fn new(key: &Key<Self>) -> Self {
        Self::with(key, b"")
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        Ok(Self::with(key, b""))
    }
}

/// The same function with outputs of any length, by the trait [`ExtendableOutput`]: a short one is
/// the beginning of a long one, and they have no common prefix with tags.
pub struct KmacXof<F: KeyedXof> {
    start: State<F>,
    state: State<F>,
}

output!([F: KeyedXof] KmacXof<F>, by_output);

impl<F: KeyedXof> KmacXof<F> {
    fn fresh(&self) -> State<F> {
        self.start.clone()
    }

    /// One with a key, for the use that the customization string names.
    pub fn with(key: &[u8], custom: &[u8]) -> Self {
        let start = State::keyed(key, custom);
        KmacXof { state: start.clone(), start }
    }
}

impl<F: KeyedXof> Clone for KmacXof<F> {
    fn clone(&self) -> Self {
        KmacXof { start: self.start.clone(), state: self.state.clone() }
    }
}

/// A hash function of trees with outputs of any length, and a customization string, which comes
/// behind the message. Leaves in one piece are hashed in parallel lanes.
pub struct Kangaroo<'a, F: TreeXof> {
    state: State<F>,
    custom: &'a [u8],
}

output!(['a, F: TreeXof] Kangaroo<'a, F>, Kangaroo::end);

impl<'a, F: TreeXof> Kangaroo<'a, F> {
    fn fresh(&self) -> State<F> {
        State::tree()
    }

    fn end(&mut self) {
        self.state.end(self.custom);
    }

    /// One with a customization string.
    pub fn with(custom: &'a [u8]) -> Self {
        Kangaroo { state: State::tree(), custom }
    }
}

impl<F: TreeXof> Default for Kangaroo<'_, F> {
    fn default() -> Self {
        Self::with(b"")
    }
}

impl<F: TreeXof> Clone for Kangaroo<'_, F> {
    fn clone(&self) -> Self {
        Kangaroo { state: self.state.clone(), custom: self.custom }
    }
}

impl<F: TreeXof> HashMarker for Kangaroo<'_, F> {}
