//! The C functions of messages that come in pieces: hash functions, MACs, derived keys.
//!
//! ```text
//! unsafe impl Message for Sha512 { const UPDATE: … = usuba_sha512_update; }    ffi/sha2.rs
//! impl<M: Message> State<M> { pub fn update(&mut self, data: &[u8]) }          here
//! ```

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

use cipher::array::{Array, ArraySize};
use cipher::typenum::Unsigned;

use super::{c_wipe, certain};
use crate::Error;

/// Messages that are passed to C at a time.
const MANY: usize = 256;

/// State, key, length of the key.
pub type Key<S> = unsafe extern "C" fn(*mut S, *const u8, usize) -> c_int;
/// State, input, length.
pub type Take<S> = unsafe extern "C" fn(*mut S, *const u8, usize) -> c_int;
/// State, output.
pub type Give<S> = unsafe extern "C" fn(*mut S, *mut u8) -> c_int;
/// Inputs, lengths, number of them, outputs.
pub type Many =
    unsafe extern "C" fn(*const *const u8, *const usize, usize, *mut u8) -> c_int;
/// State, inputs, lengths, number of them, outputs.
pub type ManyUnder<S> =
    unsafe extern "C" fn(*const S, *const *const u8, *const usize, usize, *mut u8) -> c_int;
/// Salt, secret, key, each but the last with its length.
pub type Extract =
    unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut u8) -> c_int;
/// Key, info, output, each with its length.
pub type Expand =
    unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut u8, usize) -> c_int;

/// A C function that takes a message in pieces.
///
/// # Safety
/// All fields of `State` are integers, laid out as in C, of which zero is a value. `FINAL` writes
/// `OutputSize` bytes; `UPDATE` keeps to its length.
pub unsafe trait Message: 'static {
    /// As users know it.
    const NAME: &'static str;
    /// Bytes of the output.
    type OutputSize: ArraySize;
    /// Bytes of a block.
    type BlockSize: ArraySize;
    /// As the header declares it.
    type State: Clone;
    /// See the header.
    const UPDATE: Take<Self::State>;
    /// See the header.
    const FINAL: Give<Self::State>;
}

/// A hash function.
///
/// # Safety
/// `BEGIN` fills the state. Hashes have `OutputSize` bytes; `MANY` keeps to its lengths.
pub unsafe trait HashFunction: Message {
    /// See the header.
    const BEGIN: unsafe extern "C" fn(*mut Self::State) -> c_int;
    /// See the header.
    const MANY: Many;
}

/// A hash function with which keys are derived.
///
/// # Safety
/// Pseudo-random keys have `OutputSize` bytes; all keep to their lengths.
pub unsafe trait Derive: HashFunction {
    /// See the header.
    const EXTRACT: Extract;
    /// See the header.
    const EXPAND: Expand;
}

/// A MAC.
///
/// # Safety
/// `BEGIN` fills the state from a key of the length that it is given.
pub unsafe trait Code: Message {
    /// Bytes of a key; the usual length if any length is allowed.
    type KeySize: ArraySize;
    /// Whether any length is allowed.
    const ANY: bool;
    /// See the header.
    const BEGIN: Key<Self::State>;
}

/// A MAC whose messages are side by side.
///
/// # Safety
/// Tags have `OutputSize` bytes; `MANY` keeps to its lengths, and looks at the key of the state alone.
pub unsafe trait CodeSide: Code {
    /// See the header.
    const MANY: ManyUnder<Self::State>;
}

/// A message that was begun, wiped when it is dropped.
pub struct State<M: Message>(M::State);

impl<M: Message> Clone for State<M> {
    fn clone(&self) -> Self {
        State(self.0.clone())
    }
}

impl<M: Message> Drop for State<M> {
    fn drop(&mut self) {
        // SAFETY: states are plain memory.
        unsafe { c_wipe((&raw mut self.0).cast(), size_of::<M::State>()) }
    }
}

impl<M: Message> State<M> {
    pub fn hash() -> Self
    where
        M: HashFunction,
    {
        let mut state = MaybeUninit::zeroed();
        // SAFETY: `HashFunction`.
        certain(unsafe { M::BEGIN(state.as_mut_ptr()) });
        // SAFETY: zeros were a state already.
        State(unsafe { state.assume_init() })
    }

    pub fn code(key: &[u8]) -> Result<Self, Error>
    where
        M: Code,
    {
        if !M::ANY && key.len() != M::KeySize::USIZE {
            return Err(Error::Length);
        }
        let mut state = MaybeUninit::zeroed();
        // SAFETY: `Code`.
        Error::check(unsafe { M::BEGIN(state.as_mut_ptr(), key.as_ptr(), key.len()) })?;
        // SAFETY: zeros were a state already.
        Ok(State(unsafe { state.assume_init() }))
    }

    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: `Message`.
        certain(unsafe { M::UPDATE(&raw mut self.0, data.as_ptr(), data.len()) });
    }

    /// The tags of many messages under the key of this one.
    pub fn tags(
        &self,
        messages: &[&[u8]],
        out: &mut [Array<u8, M::OutputSize>],
    ) -> Result<(), Error>
    where
        M: CodeSide,
    {
        // SAFETY: `CodeSide`; see `parts`.
        parts(messages, out, |from, sizes, count, to| unsafe {
            M::MANY(&raw const self.0, from, sizes, count, to)
        })
    }

    /// Once.
    pub fn finish(&mut self, out: &mut Array<u8, M::OutputSize>) {
        // SAFETY: `Message`.
        certain(unsafe { M::FINAL(&raw mut self.0, out.as_mut_ptr()) });
    }
}

/// The hashes of many messages.
pub fn many<H: HashFunction>(messages: &[&[u8]], out: &mut [Array<u8, H::OutputSize>]) -> Result<(), Error> {
    // SAFETY: `HashFunction`; see `parts`.
    parts(messages, out, |from, sizes, count, to| unsafe { H::MANY(from, sizes, count, to) })
}

/// Calls `run` for some messages at a time, with their places and lengths, and as many places of
/// outputs.
fn parts<N: ArraySize>(
    messages: &[&[u8]],
    out: &mut [Array<u8, N>],
    run: impl Fn(*const *const u8, *const usize, usize, *mut u8) -> c_int,
) -> Result<(), Error> {
    if messages.len() != out.len() {
        return Err(Error::Length);
    }
    for (now, out) in messages.chunks(MANY).zip(out.chunks_mut(MANY)) {
        let (mut places, mut lengths) = ([ptr::null(); MANY], [0; MANY]);
        for (at, message) in now.iter().enumerate() {
            (places[at], lengths[at]) = (message.as_ptr(), message.len());
        }
        certain(run(places.as_ptr(), lengths.as_ptr(), now.len(), out.as_mut_ptr().cast()));
    }
    Ok(())
}

/// The key of HKDF.
pub fn extract<H: Derive>(salt: &[u8], secret: &[u8]) -> Array<u8, H::OutputSize> {
    let mut key = Array::default();
    let (from, with) = (salt.as_ptr(), secret.as_ptr());
    // SAFETY: `Derive`.
    certain(unsafe { H::EXTRACT(from, salt.len(), with, secret.len(), key.as_mut_ptr()) });
    key
}

/// Keys from that key.
pub fn expand<H: Derive>(key: &[u8], info: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let (from, with) = (key.as_ptr(), info.as_ptr());
    let (to, length) = (out.as_mut_ptr(), out.len());
    // SAFETY: `Derive`.
    Error::check(unsafe { H::EXPAND(from, key.len(), with, info.len(), to, length) })
}
