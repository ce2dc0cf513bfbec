//! The C functions of authenticated encryption.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

use cipher::InOutBuf;
use cipher::array::{Array, ArraySize};
use cipher::typenum::Unsigned;

use super::{Context, Key, c_wipe, certain};
use crate::Error;

/// Key, nonce, data, its length, input, its length, output, tag.
pub type SealData<K> = unsafe extern "C" fn(
    *const K,
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *mut u8,
    *mut u8,
) -> c_int;
/// Key, nonce, data, its length, input, its length, tag, output.
pub type OpenData<K> = unsafe extern "C" fn(
    *const K,
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
) -> c_int;
/// Key, nonce, input, its length, output, tag.
pub type SealOnly<K> =
    unsafe extern "C" fn(*const K, *const u8, *const u8, usize, *mut u8, *mut u8) -> c_int;
/// Key, nonce, input, its length, tag, output.
pub type OpenOnly<K> =
    unsafe extern "C" fn(*const K, *const u8, *const u8, usize, *const u8, *mut u8) -> c_int;

/// Keys, nonces, data, their lengths, inputs, their lengths, outputs, number of messages.
pub type SealMany<K> = unsafe extern "C" fn(
    *const *const K,
    *const *const u8,
    *const *const u8,
    *const usize,
    *const *const u8,
    *const usize,
    *const *mut u8,
    usize,
) -> c_int;
/// The same with results behind the outputs.
pub type OpenMany<K> = unsafe extern "C" fn(
    *const *const K,
    *const *const u8,
    *const *const u8,
    *const usize,
    *const *const u8,
    *const usize,
    *const *mut u8,
    *mut c_int,
    usize,
) -> c_int;

/// State, key, nonce, its length.
pub type BeginPieces<K> =
    unsafe extern "C" fn(*mut <K as SealPieces>::State, *const K, *const u8, usize) -> c_int;
/// State, data, length.
pub type DataPiece<K> =
    unsafe extern "C" fn(*mut <K as SealPieces>::State, *const u8, usize) -> c_int;
/// State, key, input, length, output.
pub type EncryptPiece<K> =
    unsafe extern "C" fn(*mut <K as SealPieces>::State, *const K, *const u8, usize, *mut u8) -> c_int;
/// State, tag.
pub type FinishPieces<K> = unsafe extern "C" fn(*mut <K as SealPieces>::State, *mut u8) -> c_int;
/// Key, nonce, its length, data, its length, input, its length, tag, output.
pub type OpenWhole<K> = unsafe extern "C" fn(
    *const K,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
) -> c_int;

/// The functions of a mode.
pub enum Functions<K> {
    /// With associated data, and the tag behind the ciphertext.
    Data(SealData<K>, OpenData<K>),
    /// Without, and the tag before.
    Only(SealOnly<K>, OpenOnly<K>),
}

/// Authenticated encryption.
///
/// # Safety
/// Nonces have `NonceSize` bytes and tags `TagSize`; all keep to their lengths.
pub unsafe trait Seal: Context {
    /// Bytes of a nonce.
    type NonceSize: ArraySize;
    /// Bytes of a tag.
    type TagSize: ArraySize;
    /// See the header.
    const FUNCTIONS: Functions<Self>;
}

/// The same for many messages side by side.
///
/// # Safety
/// As of [`Seal`]; tags come behind.
pub unsafe trait SealSide: Seal {
    /// See the header.
    const SEAL: SealMany<Self>;
    /// See the header.
    const OPEN: OpenMany<Self>;
}

/// Messages in pieces, with nonces of any length.
///
/// # Safety
/// As of [`Seal`]. All fields of `State` are integers, laid out as in C, of which zero is a value.
pub unsafe trait SealPieces: Seal {
    /// As the header declares it.
    type State;
    /// See the header.
    const BEGIN: BeginPieces<Self>;
    /// See the header.
    const DATA: DataPiece<Self>;
    /// See the header.
    const ENCRYPT: EncryptPiece<Self>;
    /// See the header.
    const FINISH: FinishPieces<Self>;
    /// See the header.
    const OPEN: OpenWhole<Self>;
}

/// Messages that are passed to C at a time.
const MANY: usize = 32;

/// A message: its key, its nonce, its data, and its text, behind which the tag comes once it is sealed.
pub type Message<'a, K> = (&'a Key<K>, &'a Array<u8, <K as Seal>::NonceSize>, &'a [u8], &'a [u8]);

/// The places of messages, as C takes them.
struct Places<K> {
    keys: [*const K; MANY],
    nonces: [*const u8; MANY],
    data: [*const u8; MANY],
    sizes: [usize; MANY],
    from: [*const u8; MANY],
    lengths: [usize; MANY],
    to: [*mut u8; MANY],
}

impl<K: Seal> Places<K> {
    /// Of messages and as many outputs, at most [`MANY`].
    fn of<'a>(
        messages: impl Iterator<Item = Message<'a, K>>,
        outputs: &mut [&mut [u8]],
    ) -> Self
    where
        K: 'a,
    {
        let mut places = Places {
            keys: [ptr::null(); MANY],
            nonces: [ptr::null(); MANY],
            data: [ptr::null(); MANY],
            sizes: [0; MANY],
            from: [ptr::null(); MANY],
            lengths: [0; MANY],
            to: [ptr::null_mut(); MANY],
        };
        for (at, ((key, nonce, data, from), to)) in messages.zip(outputs).enumerate() {
            places.keys[at] = &raw const key.0;
            places.nonces[at] = nonce.as_ptr();
            (places.data[at], places.sizes[at]) = (data.as_ptr(), data.len());
            (places.from[at], places.lengths[at]) = (from.as_ptr(), from.len());
            places.to[at] = to.as_mut_ptr();
        }
        places
    }
}

/// Encrypts messages; each output has the length of the text and of the tag.
pub fn seal_many<'a, K: SealSide + 'a>(
    messages: impl ExactSizeIterator<Item = Message<'a, K>>,
    outputs: &mut [&mut [u8]],
) -> Result<(), Error> {
    if messages.len() != outputs.len() {
        return Err(Error::Length);
    }
    let mut messages = messages;
    for outputs in outputs.chunks_mut(MANY) {
        let places = Places::of(messages.by_ref().take(outputs.len()), outputs);
        let fits = |(output, length): (&&mut [u8], &usize)| output.len() == length + K::TagSize::USIZE;
        if !outputs.iter().zip(&places.lengths).all(fits) {
            return Err(Error::Length);
        }
        // SAFETY: `SealSide`; the outputs have these lengths, and are apart from everything.
        Error::check(unsafe {
            K::SEAL(
                places.keys.as_ptr(),
                places.nonces.as_ptr(),
                places.data.as_ptr(),
                places.sizes.as_ptr(),
                places.from.as_ptr(),
                places.lengths.as_ptr(),
                places.to.as_ptr(),
                outputs.len(),
            )
        })?;
    }
    Ok(())
}

/// Decrypts messages, of which some may be forged: their outputs stay as they are.
pub fn open_many<'a, K: SealSide + 'a>(
    messages: impl ExactSizeIterator<Item = Message<'a, K>>,
    outputs: &mut [&mut [u8]],
    results: &mut [Result<(), Error>],
) -> Result<(), Error> {
    if messages.len() != outputs.len() || outputs.len() != results.len() {
        return Err(Error::Length);
    }
    let mut messages = messages;
    for (outputs, results) in outputs.chunks_mut(MANY).zip(results.chunks_mut(MANY)) {
        let places = Places::of(messages.by_ref().take(outputs.len()), outputs);
        // A message without a tag has no output.
        let fits = |(output, length): (&&mut [u8], &usize)| {
            output.len() == length.saturating_sub(K::TagSize::USIZE)
        };
        if !outputs.iter().zip(&places.lengths).all(fits) {
            return Err(Error::Length);
        }
        let mut found = [0; MANY];
        // SAFETY: `SealSide`; the outputs have these lengths, and are apart from everything.
        unsafe {
            K::OPEN(
                places.keys.as_ptr(),
                places.nonces.as_ptr(),
                places.data.as_ptr(),
                places.sizes.as_ptr(),
                places.from.as_ptr(),
                places.lengths.as_ptr(),
                places.to.as_ptr(),
                found.as_mut_ptr(),
                outputs.len(),
            )
        };
        results.iter_mut().zip(found).for_each(|(result, found)| *result = Error::check(found));
    }
    results.iter().copied().collect::<Result<(), Error>>().map_err(|_| Error::Forged)
}

impl<K: Seal> Key<K> {
    /// Encrypts, and makes a tag. The functions without associated data take none.
    pub fn seal(
        &self,
        nonce: &Array<u8, K::NonceSize>,
        data: &[u8],
        text: InOutBuf<'_, '_, u8>,
    ) -> Result<Array<u8, K::TagSize>, Error> {
        let mut tag = Array::<u8, K::TagSize>::default();
        let (length, nonce) = (text.len(), nonce.as_ptr());
        let (from, to) = text.into_raw();
        let (at, size, end) = (data.as_ptr(), data.len(), tag.as_mut_ptr());
        let status = match K::FUNCTIONS {
            // SAFETY: `Seal`.
            Functions::Data(seal, _) => unsafe {
                seal(&self.0, nonce, at, size, from, length, to, end)
            },
            Functions::Only(..) if size > 0 => return Err(Error::Parameter),
            // SAFETY: `Seal`.
            Functions::Only(seal, _) => unsafe { seal(&self.0, nonce, from, length, to, end) },
        };
        Error::check(status).map(|()| tag)
    }

    /// Decrypts if the tag is right; else nothing is written.
    pub fn open(
        &self,
        nonce: &Array<u8, K::NonceSize>,
        data: &[u8],
        text: InOutBuf<'_, '_, u8>,
        tag: &Array<u8, K::TagSize>,
    ) -> Result<(), Error> {
        let (length, nonce) = (text.len(), nonce.as_ptr());
        let (from, to) = text.into_raw();
        let (at, size, end) = (data.as_ptr(), data.len(), tag.as_ptr());
        Error::check(match K::FUNCTIONS {
            // SAFETY: `Seal`.
            Functions::Data(_, open) => unsafe {
                open(&self.0, nonce, at, size, from, length, end, to)
            },
            Functions::Only(..) if size > 0 => return Err(Error::Parameter),
            // SAFETY: `Seal`.
            Functions::Only(_, open) => unsafe { open(&self.0, nonce, from, length, end, to) },
        })
    }
}

/// A message in pieces that was begun, wiped when it is dropped.
pub struct Pieces<'k, K: SealPieces> {
    key: &'k Key<K>,
    state: K::State,
}

impl<K: SealPieces> Drop for Pieces<'_, K> {
    fn drop(&mut self) {
        // SAFETY: states are plain memory.
        unsafe { c_wipe((&raw mut self.state).cast(), size_of::<K::State>()) }
    }
}

impl<'k, K: SealPieces> Pieces<'k, K> {
    pub fn begin(key: &'k Key<K>, nonce: &[u8]) -> Result<Self, Error> {
        let mut state = MaybeUninit::zeroed();
        // SAFETY: `SealPieces`.
        Error::check(unsafe {
            K::BEGIN(state.as_mut_ptr(), &raw const key.0, nonce.as_ptr(), nonce.len())
        })?;
        // SAFETY: zeros were a state already.
        Ok(Pieces { key, state: unsafe { state.assume_init() } })
    }

    pub fn data(&mut self, data: &[u8]) -> Result<(), Error> {
        // SAFETY: `SealPieces`.
        Error::check(unsafe { K::DATA(&raw mut self.state, data.as_ptr(), data.len()) })
    }

    pub fn encrypt(&mut self, text: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let (length, state) = (text.len(), &raw mut self.state);
        let (from, to) = text.into_raw();
        // SAFETY: `SealPieces`.
        Error::check(unsafe { K::ENCRYPT(state, &raw const self.key.0, from, length, to) })
    }

    pub fn finish(mut self) -> Array<u8, K::TagSize> {
        let mut tag = Array::<u8, K::TagSize>::default();
        // SAFETY: `SealPieces`.
        certain(unsafe { K::FINISH(&raw mut self.state, tag.as_mut_ptr()) });
        tag
    }
}

impl<K: SealPieces> Key<K> {
    /// Decrypts a message with a nonce of any length if the tag is right; else nothing is written.
    pub fn open_whole(
        &self,
        nonce: &[u8],
        data: &[u8],
        text: InOutBuf<'_, '_, u8>,
        tag: &Array<u8, K::TagSize>,
    ) -> Result<(), Error> {
        let length = text.len();
        let (from, to) = text.into_raw();
        // SAFETY: `SealPieces`.
        Error::check(unsafe {
            K::OPEN(
                &raw const self.0,
                nonce.as_ptr(),
                nonce.len(),
                data.as_ptr(),
                data.len(),
                from,
                length,
                tag.as_ptr(),
                to,
            )
        })
    }
}
