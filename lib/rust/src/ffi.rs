//! The C functions, and all that is unsafe.
//!
//! ```text
//! unsafe impl Blocks for Aes128 { const ENCRYPT: … = usuba_aes128_encrypt_blocks; }    ffi/aes.rs
//! impl<K: Blocks> Key<K> { pub fn encrypt(&self, blocks: InOutBuf<…>) }                here
//! ```
//!
//! A cipher is its context, a struct of the C header, with unsafe traits that say which C function
//! does what to how many bytes. The methods of [`Key`] are safe: they pass as many bytes as the
//! traits say. Slices of Rust are never null, and overlap only where they are one.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;

use cipher::array::{Array, ArraySize};
use cipher::typenum::Unsigned;
use cipher::{InOut, InOutBuf, Key as KeyBytes, KeySizeUser};

use crate::Error;

@MODULES@
unsafe extern "C" {
    #[link_name = "@C@wipe"]
    fn c_wipe(memory: *mut c_void, length: usize);
    #[link_name = "@C@backend"]
    fn c_backend() -> *const c_char;
    #[link_name = "@C@backends"]
    fn c_backends(index: usize) -> *const c_char;
    #[link_name = "@C@force_backend"]
    fn c_force_backend(name: *const c_char) -> c_int;
}

/// Key, input, output, number of blocks.
pub type BlocksFunction<K> = unsafe extern "C" fn(*const K, *const u8, *mut u8, usize) -> c_int;
/// Key, nonce or counter, position, input, output, length.
pub type XorFunction<K> =
    unsafe extern "C" fn(*const K, *const u8, u64, *const u8, *mut u8, usize) -> c_int;
/// Key, nonce or counter, position, output, length.
pub type KeystreamFunction<K> =
    unsafe extern "C" fn(*const K, *const u8, u64, *mut u8, usize) -> c_int;
/// Key, first value, input, output, length.
pub type CbcFunction<K> =
    unsafe extern "C" fn(*const K, *const u8, *const u8, *mut u8, usize) -> c_int;
/// Key, key of the tweak, tweak, input, output, length.
pub type XtsFunction<K> =
    unsafe extern "C" fn(*const K, *const K, *const u8, *const u8, *mut u8, usize) -> c_int;

/// A key that is set up, as the header declares it.
///
/// # Safety
/// All fields are integers, laid out as in C; `INIT` fills all of them from `KeySize` bytes.
pub unsafe trait Context: Clone {
    /// As users know the cipher.
    const NAME: &'static str;
    type KeySize: ArraySize;
    const INIT: unsafe extern "C" fn(*mut Self, *const u8, usize) -> c_int;
}

/// A key stream.
///
/// # Safety
/// `XOR` and `KEYSTREAM` read `StartSize` bytes of nonce or counter, and keep to their length.
pub unsafe trait KeyStream: Context {
    /// As users know the stream.
    const STREAM: &'static str;
    type StartSize: ArraySize;
    type BlockSize: ArraySize;
    const XOR: XorFunction<Self>;
    const KEYSTREAM: KeystreamFunction<Self>;
    /// Bytes of the number of a block beside the nonce; `None`: the first number is what the stream
    /// starts from, big-endian.
    const NUMBER: Option<u32>;

    /// How many blocks there are before their number begins again, or more than 64 bits count.
    fn blocks(start: &Array<u8, Self::StartSize>) -> u64 {
        let digit = |sum: u64, byte: &u8| sum.saturating_mul(256).saturating_add((!byte).into());
        match Self::NUMBER {
            Some(bytes) => 1u64.checked_shl(8 * bytes).unwrap_or(u64::MAX),
            None => start.iter().fold(0, digit).saturating_add(1),
        }
    }
}

/// A block cipher; its key stream is CTR mode.
///
/// # Safety
/// `ENCRYPT` reads and writes blocks of `BlockSize` bytes.
pub unsafe trait Blocks: KeyStream<StartSize = <Self as KeyStream>::BlockSize> {
    /// As many as pay at once.
    type Parallel: ArraySize;
    const ENCRYPT: BlocksFunction<Self>;
}

/// A block cipher with its inverse.
///
/// # Safety
/// `DECRYPT` is as `ENCRYPT`.
pub unsafe trait Inverse: Blocks {
    const DECRYPT: BlocksFunction<Self>;
}

/// One with blocks of 16 bytes.
///
/// # Safety
/// First values and tweaks have 16 bytes; all keep to their length.
pub unsafe trait Wide: Inverse {
    const CBC_DECRYPT: CbcFunction<Self>;
    const XTS_ENCRYPT: XtsFunction<Self>;
    const XTS_DECRYPT: XtsFunction<Self>;
}

/// Any other function with a key.
///
/// # Safety
/// `MAP` reads `Input` bytes for each block, and writes `Output`.
pub unsafe trait Map: Context {
    type Input: ArraySize;
    type Output: ArraySize;
    const MAP: BlocksFunction<Self>;
}

/// A block cipher with a tweak, which comes before each block.
///
/// # Safety
/// `ENCRYPT` and `DECRYPT` read `TweakSize` and `BlockSize` bytes for each block, and write
/// `BlockSize`.
pub unsafe trait Tweaked: Context {
    type TweakSize: ArraySize;
    type BlockSize: ArraySize;
    const ENCRYPT: BlocksFunction<Self>;
    const DECRYPT: BlocksFunction<Self>;
}

/// A key, wiped when it is dropped.
#[derive(Clone)]
pub struct Key<K: Context>(K);

impl<K: Context> KeySizeUser for Key<K> {
    type KeySize = K::KeySize;
}

impl<K: Context> Drop for Key<K> {
    fn drop(&mut self) {
        // SAFETY: a context is plain memory.
        unsafe { c_wipe((&raw mut self.0).cast(), size_of::<K>()) }
    }
}

/// Functions that fail for lengths and places only, with lengths and places that are right.
pub fn certain(status: c_int) {
    // Whoever cannot answer an error must not go on as if something had been encrypted.
    Error::check(status).expect("lengths and places are right");
}

/// Overwrites with zeros, also where the compiler believes that nobody looks.
pub fn wipe(bytes: &mut [u8]) {
    // SAFETY: it writes these bytes.
    unsafe { c_wipe(bytes.as_mut_ptr().cast(), bytes.len()) }
}

/// A static string of C. Names of instruction sets are ASCII.
fn text(name: *const c_char) -> &'static str {
    // SAFETY: whatever C answers here is a string that never changes.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default()
}

/// See [`crate::backend`].
pub fn backend() -> &'static str {
    // SAFETY: it may be called at any time.
    text(unsafe { c_backend() })
}

/// The backend of a number, and the number.
pub fn backends(number: usize) -> Option<(usize, &'static str)> {
    // SAFETY: as above.
    let name = unsafe { c_backends(number) };
    (!name.is_null()).then(|| (number, text(name)))
}

/// Takes the backend of a number from [`backends`], or the best.
pub fn force_backend(number: Option<usize>) -> Result<(), Error> {
    // SAFETY: as above; it takes null, and what it answered itself.
    let name = number.map_or(core::ptr::null(), |number| unsafe { c_backends(number) });
    // SAFETY: as above.
    Error::check(unsafe { c_force_backend(name) })
}

impl<K: Context> Key<K> {
    pub fn new(bytes: &KeyBytes<Self>) -> Self {
        let mut key = MaybeUninit::<K>::uninit();
        // SAFETY: there is room for a context, and there are as many bytes as it says.
        certain(unsafe { K::INIT(key.as_mut_ptr(), bytes.as_ptr(), bytes.len()) });
        // SAFETY: it was set up.
        Key(unsafe { key.assume_init() })
    }

    /// `function` on `count` blocks.
    ///
    /// # Safety
    /// It reads and writes `N` bytes for each of them, and they are there.
    unsafe fn each<N: ArraySize>(
        &self,
        function: BlocksFunction<K>,
        (from, to): (*const Array<u8, N>, *mut Array<u8, N>),
        count: usize,
    ) {
        // SAFETY: the caller says so; arrays of bytes follow each other without gaps.
        certain(unsafe { function(&self.0, from.cast(), to.cast(), count) });
    }
}

impl<K: Blocks> Key<K> {
    pub fn encrypt(&self, blocks: InOutBuf<'_, '_, Array<u8, K::BlockSize>>) {
        let count = blocks.len();
        // SAFETY: `Blocks`.
        unsafe { self.each(K::ENCRYPT, blocks.into_raw(), count) }
    }

    pub fn encrypt_one(&self, block: InOut<'_, '_, Array<u8, K::BlockSize>>) {
        // SAFETY: `Blocks`.
        unsafe { self.each(K::ENCRYPT, block.into_raw(), 1) }
    }
}

impl<K: Inverse> Key<K> {
    pub fn decrypt(&self, blocks: InOutBuf<'_, '_, Array<u8, K::BlockSize>>) {
        let count = blocks.len();
        // SAFETY: `Inverse`.
        unsafe { self.each(K::DECRYPT, blocks.into_raw(), count) }
    }

    pub fn decrypt_one(&self, block: InOut<'_, '_, Array<u8, K::BlockSize>>) {
        // SAFETY: `Inverse`.
        unsafe { self.each(K::DECRYPT, block.into_raw(), 1) }
    }
}

impl<K: KeyStream> Key<K> {
    /// Adds the key stream from `position` on.
    pub fn xor(
        &self,
        start: &Array<u8, K::StartSize>,
        position: u64,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let length = data.len();
        let (from, to) = data.into_raw();
        // SAFETY: `KeyStream`.
        Error::check(unsafe { K::XOR(&self.0, start.as_ptr(), position, from, to, length) })
    }

    /// Writes the key stream from `position` on.
    pub fn keystream(
        &self,
        start: &Array<u8, K::StartSize>,
        position: u64,
        to: &mut [u8],
    ) -> Result<(), Error> {
        let (at, length) = (to.as_mut_ptr(), to.len());
        // SAFETY: `KeyStream`.
        Error::check(unsafe { K::KEYSTREAM(&self.0, start.as_ptr(), position, at, length) })
    }
}

impl<K: Wide> Key<K> {
    pub fn cbc_decrypt(&self, iv: &[u8; 16], data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let length = data.len();
        let (from, to) = data.into_raw();
        // SAFETY: `Wide`.
        Error::check(unsafe { K::CBC_DECRYPT(&self.0, iv.as_ptr(), from, to, length) })
    }

    /// XTS mode, forwards or backwards.
    pub fn xts(
        &self,
        tweak_key: &Self,
        tweak: &[u8; 16],
        data: InOutBuf<'_, '_, u8>,
        backwards: bool,
    ) -> Result<(), Error> {
        let function = if backwards { K::XTS_DECRYPT } else { K::XTS_ENCRYPT };
        let length = data.len();
        let (from, to) = data.into_raw();
        let (key, second) = (&self.0, &tweak_key.0);
        // SAFETY: `Wide`.
        Error::check(unsafe { function(key, second, tweak.as_ptr(), from, to, length) })
    }
}

impl<K: Map> Key<K> {
    pub fn map(
        &self,
        input: &[Array<u8, K::Input>],
        output: &mut [Array<u8, K::Output>],
    ) -> Result<(), Error> {
        if input.len() != output.len() {
            return Err(Error::Length);
        }
        let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: `Map`.
        Error::check(unsafe { K::MAP(&self.0, from, to, input.len()) })
    }
}

impl<K: Tweaked> Key<K> {
    /// `input` holds tweaks and blocks by turns, `output` as many blocks.
    pub fn tweaked(&self, input: &[u8], output: &mut [u8], backwards: bool) -> Result<(), Error> {
        let size = K::BlockSize::USIZE;
        let count = output.len() / size;
        if input.len() != count * (size + K::TweakSize::USIZE) || output.len() != count * size {
            return Err(Error::Length);
        }
        let function = if backwards { K::DECRYPT } else { K::ENCRYPT };
        // SAFETY: `Tweaked`.
        Error::check(unsafe { function(&self.0, input.as_ptr(), output.as_mut_ptr(), count) })
    }
}
