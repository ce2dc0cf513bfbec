//! The C functions of authenticated encryption.

use core::ffi::c_int;

use cipher::InOutBuf;
use cipher::array::{Array, ArraySize};
use cipher::consts::U16;

use super::{Context, Key};
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
/// Nonces have `NonceSize` bytes and tags 16; all keep to their lengths.
pub unsafe trait Seal: Context {
    /// Bytes of a nonce.
    type NonceSize: ArraySize;
    /// See the header.
    const FUNCTIONS: Functions<Self>;
}

impl<K: Seal> Key<K> {
    /// Encrypts, and makes a tag. The functions without associated data take none.
    pub fn seal(
        &self,
        nonce: &Array<u8, K::NonceSize>,
        data: &[u8],
        text: InOutBuf<'_, '_, u8>,
    ) -> Result<Array<u8, U16>, Error> {
        let mut tag = Array::<u8, U16>::default();
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
        tag: &Array<u8, U16>,
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
