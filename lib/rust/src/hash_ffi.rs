//! The C functions of hash functions, with all their unsafe code.
//!
//! ```text
//! unsafe impl Hash for Skein512 { const UPDATE: … = usuba_skein512_update; }    ffi/skein.rs
//! impl<H: Hash> State<H> { pub fn update(&mut self, data: &[u8]) }              here
//! ```

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use cipher::array::ArraySize;

use super::{c_wipe, certain};
use crate::Error;
use crate::hash::Parameters;

/// The length of an output without an end.
pub const ENDLESS: usize = usize::MAX;

/// Messages that are passed to C at a time.
const MANY: usize = 64;

/// Bytes, as C has them.
#[repr(C)]
struct Place {
    at: *const u8,
    length: usize,
}

/// The parameters, as the header declares them.
#[repr(C)]
pub struct CParameters {
    fields: [Place; 5],
    leaf: u8,
    fan_out: u8,
    height: u8,
}

impl CParameters {
    fn new(parameters: &Parameters) -> CParameters {
        let field = |bytes: Option<&[u8]>| Place {
            at: bytes.map_or(ptr::null(), <[u8]>::as_ptr),
            length: bytes.map_or(0, <[u8]>::len),
        };
        let Parameters { key, personalization, public_key, identifier, nonce, tree } = *parameters;
        let fields = [Some(key), personalization, public_key, identifier, nonce].map(field);
        let (leaf, fan_out, height) = match tree {
            Some(tree) => (tree.leaf, tree.fan_out, tree.height),
            None => (0, 0, 0),
        };
        CParameters { fields, leaf, fan_out, height }
    }
}

/// A state, as the header declares it.
#[repr(C)]
#[derive(Clone)]
pub struct Progress {
    phase: u64,
    number: u64,
    output: usize,
    used: usize,
}

/// The state of a tree, as the header declares it.
#[repr(C)]
#[derive(Clone)]
pub struct Growth {
    progress: Progress,
    done: u64,
    inside: u64,
    counts: [u64; 60],
    leaf: u8,
    fan_out: u8,
    height: u8,
}

/// State, parameters, length of the output.
pub type Begin<S> = unsafe extern "C" fn(*mut S, *const CParameters, usize) -> c_int;
/// State, input, length.
pub type Take<S> = unsafe extern "C" fn(*mut S, *const u8, usize) -> c_int;
/// State, input, bits.
pub type TakeBits<S> = unsafe extern "C" fn(*mut S, *const u8, u64) -> c_int;
/// State, output, length.
pub type Give<S> = unsafe extern "C" fn(*mut S, *mut u8, usize) -> c_int;
/// Parameters, input, bits, output, length.
pub type Whole =
    unsafe extern "C" fn(*const CParameters, *const u8, u64, *mut u8, usize) -> c_int;
/// Parameters, inputs, lengths, number of them, outputs, length of each.
pub type Many = unsafe extern "C" fn(
    *const CParameters,
    *const *const u8,
    *const usize,
    usize,
    *mut u8,
    usize,
) -> c_int;

/// A hash function.
///
/// # Safety
/// All fields of `State` and `Tree` are integers, laid out as in C, of which zero is a value. All
/// functions keep to their lengths.
pub unsafe trait Hash: 'static {
    /// As users know it.
    const NAME: &'static str;
    /// Bytes of a block.
    type BlockSize: ArraySize;
    /// As the header declares it.
    type State: Clone;
    /// As the header declares it.
    type Tree;
    /// See the header.
    const BEGIN: Begin<Self::State>;
    /// See the header.
    const UPDATE: Take<Self::State>;
    /// See the header.
    const UPDATE_BITS: TakeBits<Self::State>;
    /// See the header.
    const FINAL: Give<Self::State>;
    /// See the header.
    const SQUEEZE: Give<Self::State>;
    /// See the header.
    const TREE_BEGIN: Begin<Self::Tree>;
    /// See the header.
    const TREE_UPDATE: Take<Self::Tree>;
    /// See the header.
    const TREE_UPDATE_BITS: TakeBits<Self::Tree>;
    /// See the header.
    const TREE_FINAL: Give<Self::Tree>;
    /// See the header.
    const HASH_BITS: Whole;
    /// See the header.
    const HASH_MANY: Many;
}

/// A message that was begun, wiped when it is dropped.
pub struct State<H: Hash>(H::State);

impl<H: Hash> Clone for State<H> {
    fn clone(&self) -> Self {
        State(self.0.clone())
    }
}

impl<H: Hash> Drop for State<H> {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// A tree that was begun, wiped when it is dropped.
pub struct Grown<H: Hash>(H::Tree);

impl<H: Hash> Drop for Grown<H> {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Overwrites a state with zeros.
fn wipe<S>(state: &mut S) {
    // SAFETY: states are plain memory.
    unsafe { c_wipe(ptr::from_mut(state).cast::<c_void>(), size_of::<S>()) }
}

/// Checks that the message has this number of bits.
fn check_bits(data: &[u8], bits: u64) -> Result<(), Error> {
    match bits.div_ceil(8) <= data.len() as u64 {
        true => Ok(()),
        false => Err(Error::Length),
    }
}

/// Begins a state.
///
/// # Safety
/// `begin` fills `S`, of which zeros are a value.
unsafe fn begun<S>(
    begin: Begin<S>,
    parameters: &Parameters,
    length: usize,
) -> Result<MaybeUninit<S>, Error> {
    let mut state = MaybeUninit::zeroed();
    let parameters = CParameters::new(parameters);
    // SAFETY: the caller says so.
    Error::check(unsafe { begin(state.as_mut_ptr(), &raw const parameters, length) })?;
    Ok(state)
}

impl<H: Hash> State<H> {
    pub fn begin(parameters: &Parameters, length: usize) -> Result<Self, Error> {
        // SAFETY: `Hash`; zeros were a state already.
        Ok(State(unsafe { begun(H::BEGIN, parameters, length)?.assume_init() }))
    }

    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: `Hash`.
        certain(unsafe { H::UPDATE(&raw mut self.0, data.as_ptr(), data.len()) });
    }

    pub fn update_bits(&mut self, data: &[u8], bits: u64) -> Result<(), Error> {
        check_bits(data, bits)?;
        // SAFETY: `Hash`; the message has this number of bits.
        Error::check(unsafe { H::UPDATE_BITS(&raw mut self.0, data.as_ptr(), bits) })
    }

    /// Once, into as many bytes as were asked for.
    pub fn finish(&mut self, out: &mut [u8]) {
        // SAFETY: `Hash`.
        certain(unsafe { H::FINAL(&raw mut self.0, out.as_mut_ptr(), out.len()) });
    }

    /// Of an endless output.
    pub fn squeeze(&mut self, out: &mut [u8]) {
        // SAFETY: `Hash`.
        certain(unsafe { H::SQUEEZE(&raw mut self.0, out.as_mut_ptr(), out.len()) });
    }
}

impl<H: Hash> Grown<H> {
    pub fn begin(parameters: &Parameters, length: usize) -> Result<Self, Error> {
        // SAFETY: `Hash`; zeros were a tree already.
        Ok(Grown(unsafe { begun(H::TREE_BEGIN, parameters, length)?.assume_init() }))
    }

    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: `Hash`.
        certain(unsafe { H::TREE_UPDATE(&raw mut self.0, data.as_ptr(), data.len()) });
    }

    pub fn update_bits(&mut self, data: &[u8], bits: u64) -> Result<(), Error> {
        check_bits(data, bits)?;
        // SAFETY: `Hash`; the message has this number of bits.
        Error::check(unsafe { H::TREE_UPDATE_BITS(&raw mut self.0, data.as_ptr(), bits) })
    }

    /// Once, into as many bytes as were asked for.
    pub fn finish(&mut self, out: &mut [u8]) {
        // SAFETY: `Hash`.
        certain(unsafe { H::TREE_FINAL(&raw mut self.0, out.as_mut_ptr(), out.len()) });
    }
}

/// The hash of the first `bits` of `data`.
pub fn whole<H: Hash>(
    parameters: &Parameters,
    data: &[u8],
    bits: u64,
    out: &mut [u8],
) -> Result<(), Error> {
    check_bits(data, bits)?;
    let parameters = CParameters::new(parameters);
    let (from, to, length) = (data.as_ptr(), out.as_mut_ptr(), out.len());
    // SAFETY: `Hash`; the message has this number of bits.
    Error::check(unsafe { H::HASH_BITS(&raw const parameters, from, bits, to, length) })
}

/// The hashes of many messages, `length` bytes each.
pub fn many<H: Hash>(
    parameters: &Parameters,
    messages: &[&[u8]],
    length: usize,
    out: &mut [u8],
) -> Result<(), Error> {
    if messages.len().checked_mul(length) != Some(out.len()) {
        return Err(Error::Length);
    }
    let parameters = CParameters::new(parameters);
    // The parameters are checked also without messages.
    let (mut done, mut left) = (0, messages);
    loop {
        let (now, rest) = left.split_at(left.len().min(MANY));
        let (mut places, mut lengths) = ([ptr::null(); MANY], [0; MANY]);
        for (at, message) in now.iter().enumerate() {
            (places[at], lengths[at]) = (message.as_ptr(), message.len());
        }
        let to = out[done..].as_mut_ptr();
        let (from, sizes) = (places.as_ptr(), lengths.as_ptr());
        // SAFETY: `Hash`; there are as many messages, and as many bytes for their hashes.
        let status =
            unsafe { H::HASH_MANY(&raw const parameters, from, sizes, now.len(), to, length) };
        Error::check(status)?;
        done += now.len() * length;
        left = rest;
        if left.is_empty() {
            return Ok(());
        }
    }
}
