//! The C functions with outputs of any length, with all their unsafe code.
//!
//! ```text
//! unsafe impl SpongeFunction for Shake128 { const SQUEEZE: … = usuba_shake128_squeeze; }    ffi/keccak.rs
//! impl<F: SpongeFunction> State<F> { pub fn squeeze(&mut self, out: &mut [u8]) }            here
//! ```

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

use cipher::array::ArraySize;
use cipher::typenum::Unsigned;

use super::{c_wipe, certain};
use crate::Error;

/// Messages that are passed to C at a time.
const MANY: usize = 64;

/// Messages side by side, at most.
const LANES: usize = 8;

/// State.
pub type Begin<S> = unsafe extern "C" fn(*mut S) -> c_int;
/// State, domain.
pub type BeginDomain<S> = unsafe extern "C" fn(*mut S, u8) -> c_int;
/// State, and two strings, each with its length: function name or key, and customization string.
pub type BeginStrings<S> =
    unsafe extern "C" fn(*mut S, *const u8, usize, *const u8, usize) -> c_int;
/// State, string, its length.
pub type BeginString<S> = unsafe extern "C" fn(*mut S, *const u8, usize) -> c_int;
/// State, input, length; at the end of a tree the input is the customization string.
pub type Take<S> = unsafe extern "C" fn(*mut S, *const u8, usize) -> c_int;
/// State, output, length.
pub type Give<S> = unsafe extern "C" fn(*mut S, *mut u8, usize) -> c_int;
/// Inputs, lengths, number of them, outputs, length of each.
pub type Many =
    unsafe extern "C" fn(*const *const u8, *const usize, usize, *mut u8, usize) -> c_int;
/// Domain, then as [`Many`].
pub type ManyDomain =
    unsafe extern "C" fn(u8, *const *const u8, *const usize, usize, *mut u8, usize) -> c_int;
/// String, its length, then as [`Many`].
pub type ManyString = unsafe extern "C" fn(
    *const u8,
    usize,
    *const *const u8,
    *const usize,
    usize,
    *mut u8,
    usize,
) -> c_int;
/// Function name and customization string with their lengths, then as [`Many`].
pub type ManyStrings = unsafe extern "C" fn(
    *const u8,
    usize,
    *const u8,
    usize,
    *const *const u8,
    *const usize,
    usize,
    *mut u8,
    usize,
) -> c_int;
/// Lanes, number of messages.
pub type BeginLanes<L> = unsafe extern "C" fn(*mut L, usize) -> c_int;
/// Lanes, inputs, number of them, length of each.
pub type Absorb<L> = unsafe extern "C" fn(*mut L, *const *const u8, usize, usize) -> c_int;
/// Lanes, outputs, number of them, blocks of each.
pub type SqueezeBlocks<L> = unsafe extern "C" fn(*mut L, *const *mut u8, usize, usize) -> c_int;

/// A function with outputs of any length.
///
/// # Safety
/// All fields of `State` are integers, laid out as in C, of which zero is a value. All functions keep
/// to their lengths.
pub unsafe trait SpongeFunction: 'static {
    /// As users know it.
    const NAME: &'static str;
    /// Bytes of a block.
    type BlockSize: ArraySize;
    /// As the header declares it.
    type State: Clone;
    /// See the header.
    const UPDATE: Take<Self::State>;
    /// See the header.
    const SQUEEZE: Give<Self::State>;
}

/// A function without parameters.
///
/// # Safety
/// All fields of `Lanes` are integers, laid out as in C, of which zero is a value. All functions keep
/// to their lengths.
pub unsafe trait PlainXof: SpongeFunction {
    /// As the header declares it.
    type Lanes: Clone;
    /// See the header.
    const BEGIN: Begin<Self::State>;
    /// See the header.
    const MANY: Many;
    /// See the header.
    const LANES_BEGIN: BeginLanes<Self::Lanes>;
    /// See the header.
    const LANES_ABSORB: Absorb<Self::Lanes>;
    /// See the header.
    const LANES_SQUEEZE: SqueezeBlocks<Self::Lanes>;
}

/// A function with a function name and a customization string.
///
/// # Safety
/// All functions keep to their lengths.
pub unsafe trait NamedXof: SpongeFunction {
    /// See the header.
    const BEGIN: BeginStrings<Self::State>;
    /// See the header.
    const MANY: ManyStrings;
}

/// A function with a customization string of at most 256 bytes.
///
/// # Safety
/// All functions keep to their lengths.
pub unsafe trait CustomXof: SpongeFunction {
    /// See the header.
    const BEGIN: BeginString<Self::State>;
    /// See the header.
    const MANY: ManyString;
}

/// A function with a domain.
///
/// # Safety
/// All functions keep to their lengths.
pub unsafe trait DomainXof: SpongeFunction {
    /// See the header.
    const BEGIN: BeginDomain<Self::State>;
    /// See the header.
    const MANY: ManyDomain;
}

/// A function with a key.
///
/// # Safety
/// All functions keep to their lengths.
pub unsafe trait KeyedXof: SpongeFunction {
    /// Of a tag.
    const BEGIN: BeginStrings<Self::State>;
    /// See the header.
    const FINAL: Give<Self::State>;
    /// Of an output without a length.
    const XOF_BEGIN: BeginStrings<Self::State>;
}

/// A function of a tree of leaves.
///
/// # Safety
/// All functions keep to their lengths.
pub unsafe trait TreeXof: SpongeFunction {
    /// See the header.
    const BEGIN: Begin<Self::State>;
    /// See the header.
    const FINAL: Take<Self::State>;
}

/// A message that was begun, or its output; wiped when it is dropped.
pub struct State<F: SpongeFunction>(F::State);

impl<F: SpongeFunction> Clone for State<F> {
    fn clone(&self) -> Self {
        State(self.0.clone())
    }
}

impl<F: SpongeFunction> Drop for State<F> {
    fn drop(&mut self) {
        // SAFETY: states are plain memory.
        unsafe { c_wipe((&raw mut self.0).cast(), size_of::<F::State>()) }
    }
}

impl<F: SpongeFunction> State<F> {
    /// A state as `begin` fills it.
    ///
    /// # Safety
    /// `begin` passes its argument to a function that begins a state.
    unsafe fn begun(begin: impl FnOnce(*mut F::State) -> c_int) -> Result<Self, Error> {
        let mut state = MaybeUninit::zeroed();
        Error::check(begin(state.as_mut_ptr()))?;
        // SAFETY: zeros were a state already.
        Ok(State(unsafe { state.assume_init() }))
    }

    /// A state as `begin` fills it from two strings.
    ///
    /// # Safety
    /// `begin` begins a state, and keeps to the lengths of the strings.
    unsafe fn with(begin: BeginStrings<F::State>, first: &[u8], second: &[u8]) -> Self {
        let (one, other) = (first.as_ptr(), second.as_ptr());
        // SAFETY: the caller says so.
        let begun = unsafe {
            Self::begun(|state| begin(state, one, first.len(), other, second.len()))
        };
        begun.expect("memory has no strings of 2^61 bytes")
    }

    pub fn plain() -> Self
    where
        F: PlainXof,
    {
        // SAFETY: `PlainXof`.
        unsafe { Self::begun(|state| F::BEGIN(state)) }.expect("there are no parameters")
    }

    pub fn named(name: &[u8], custom: &[u8]) -> Self
    where
        F: NamedXof,
    {
        // SAFETY: `NamedXof`.
        unsafe { Self::with(F::BEGIN, name, custom) }
    }

    pub fn custom(custom: &[u8]) -> Result<Self, Error>
    where
        F: CustomXof,
    {
        // SAFETY: `CustomXof`.
        unsafe { Self::begun(|state| F::BEGIN(state, custom.as_ptr(), custom.len())) }
    }

    pub fn domain(domain: u8) -> Result<Self, Error>
    where
        F: DomainXof,
    {
        // SAFETY: `DomainXof`.
        unsafe { Self::begun(|state| F::BEGIN(state, domain)) }
    }

    /// For a tag.
    pub fn code(key: &[u8], custom: &[u8]) -> Self
    where
        F: KeyedXof,
    {
        // SAFETY: `KeyedXof`.
        unsafe { Self::with(F::BEGIN, key, custom) }
    }

    /// For an output.
    pub fn keyed(key: &[u8], custom: &[u8]) -> Self
    where
        F: KeyedXof,
    {
        // SAFETY: `KeyedXof`.
        unsafe { Self::with(F::XOF_BEGIN, key, custom) }
    }

    pub fn tree() -> Self
    where
        F: TreeXof,
    {
        // SAFETY: `TreeXof`.
        unsafe { Self::begun(|state| F::BEGIN(state)) }.expect("there are no parameters")
    }

    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: `SpongeFunction`.
        certain(unsafe { F::UPDATE(&raw mut self.0, data.as_ptr(), data.len()) });
    }

    /// The next bytes of the output; of a tree, only behind its end.
    pub fn squeeze(&mut self, out: &mut [u8]) {
        // SAFETY: `SpongeFunction`.
        certain(unsafe { F::SQUEEZE(&raw mut self.0, out.as_mut_ptr(), out.len()) });
    }

    /// The tag, once, of 4 bytes at least.
    pub fn tag(&mut self, out: &mut [u8])
    where
        F: KeyedXof,
    {
        // SAFETY: `KeyedXof`.
        certain(unsafe { F::FINAL(&raw mut self.0, out.as_mut_ptr(), out.len()) });
    }

    /// Ends a tree, once.
    pub fn end(&mut self, custom: &[u8])
    where
        F: TreeXof,
    {
        // SAFETY: `TreeXof`.
        certain(unsafe { F::FINAL(&raw mut self.0, custom.as_ptr(), custom.len()) });
    }
}

/// Calls `function` with inputs, lengths, number of them and outputs, of all messages in parts; once
/// at least, so that it checks its parameters also without messages.
///
/// # Safety
/// `function` keeps to these lengths, and writes `length` bytes for each message.
unsafe fn parts(
    messages: &[&[u8]],
    length: usize,
    out: &mut [u8],
    function: impl Fn(*const *const u8, *const usize, usize, *mut u8) -> c_int,
) -> Result<(), Error> {
    if messages.len().checked_mul(length) != Some(out.len()) {
        return Err(Error::Length);
    }
    let (mut done, mut left) = (0, messages);
    loop {
        let (now, rest) = left.split_at(left.len().min(MANY));
        let (mut places, mut lengths) = ([ptr::null(); MANY], [0; MANY]);
        for (at, message) in now.iter().enumerate() {
            (places[at], lengths[at]) = (message.as_ptr(), message.len());
        }
        let to = out[done..].as_mut_ptr();
        Error::check(function(places.as_ptr(), lengths.as_ptr(), now.len(), to))?;
        done += now.len() * length;
        left = rest;
        if left.is_empty() {
            return Ok(());
        }
    }
}

/// The outputs of many messages, `length` bytes each.
pub fn many<F: PlainXof>(messages: &[&[u8]], length: usize, out: &mut [u8]) -> Result<(), Error> {
    // SAFETY: `PlainXof`.
    unsafe {
        parts(messages, length, out, |from, lengths, count, to| {
            F::MANY(from, lengths, count, to, length)
        })
    }
}

/// The same with a function name and a customization string.
pub fn many_named<F: NamedXof>(
    (name, custom): (&[u8], &[u8]),
    messages: &[&[u8]],
    length: usize,
    out: &mut [u8],
) -> Result<(), Error> {
    let (first, second) = (name.as_ptr(), custom.as_ptr());
    // SAFETY: `NamedXof`.
    unsafe {
        parts(messages, length, out, |from, sizes, count, to| {
            F::MANY(first, name.len(), second, custom.len(), from, sizes, count, to, length)
        })
    }
}

/// The same with a customization string.
pub fn many_custom<F: CustomXof>(
    custom: &[u8],
    messages: &[&[u8]],
    length: usize,
    out: &mut [u8],
) -> Result<(), Error> {
    // SAFETY: `CustomXof`.
    unsafe {
        parts(messages, length, out, |from, sizes, count, to| {
            F::MANY(custom.as_ptr(), custom.len(), from, sizes, count, to, length)
        })
    }
}

/// The same with a domain.
pub fn many_domain<F: DomainXof>(
    domain: u8,
    messages: &[&[u8]],
    length: usize,
    out: &mut [u8],
) -> Result<(), Error> {
    // SAFETY: `DomainXof`.
    unsafe {
        parts(messages, length, out, |from, lengths, count, to| {
            F::MANY(domain, from, lengths, count, to, length)
        })
    }
}

/// Messages side by side, wiped when they are dropped.
pub struct Side<F: PlainXof>(F::Lanes);

impl<F: PlainXof> Clone for Side<F> {
    fn clone(&self) -> Self {
        Side(self.0.clone())
    }
}

impl<F: PlainXof> Drop for Side<F> {
    fn drop(&mut self) {
        // SAFETY: lanes are plain memory.
        unsafe { c_wipe((&raw mut self.0).cast(), size_of::<F::Lanes>()) }
    }
}

impl<F: PlainXof> Side<F> {
    pub fn new(count: usize) -> Result<Self, Error> {
        let mut lanes = MaybeUninit::zeroed();
        // SAFETY: `PlainXof`.
        Error::check(unsafe { F::LANES_BEGIN(lanes.as_mut_ptr(), count) })?;
        // SAFETY: zeros were lanes already.
        Ok(Side(unsafe { lanes.assume_init() }))
    }

    pub fn absorb(&mut self, inputs: &[&[u8]]) -> Result<(), Error> {
        let length = inputs.first().map_or(0, |input| input.len());
        if inputs.len() > LANES {
            return Err(Error::Parameter);
        }
        if inputs.iter().any(|input| input.len() != length) {
            return Err(Error::Length);
        }
        let mut from = [ptr::null(); LANES];
        from.iter_mut().zip(inputs).for_each(|(from, input)| *from = input.as_ptr());
        // SAFETY: `PlainXof`; there are as many inputs of this length.
        let status =
            unsafe { F::LANES_ABSORB(&raw mut self.0, from.as_ptr(), inputs.len(), length) };
        Error::check(status)
    }

    pub fn squeeze_blocks(&mut self, outputs: &mut [&mut [u8]]) -> Result<(), Error> {
        let length = outputs.first().map_or(0, |output| output.len());
        if outputs.len() > LANES {
            return Err(Error::Parameter);
        }
        let whole = length % F::BlockSize::USIZE == 0;
        if !whole || outputs.iter().any(|output| output.len() != length) {
            return Err(Error::Length);
        }
        let mut to = [ptr::null_mut(); LANES];
        to.iter_mut().zip(outputs.iter_mut()).for_each(|(to, output)| *to = output.as_mut_ptr());
        let blocks = length / F::BlockSize::USIZE;
        // SAFETY: `PlainXof`; there are as many outputs with room for these blocks.
        let status =
            unsafe { F::LANES_SQUEEZE(&raw mut self.0, to.as_ptr(), outputs.len(), blocks) };
        Error::check(status)
    }
}
