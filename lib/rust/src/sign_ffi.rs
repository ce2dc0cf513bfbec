//! The C functions of signatures from hash functions.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

use crate::Error;

/// An array of bytes.
pub trait Bytes: AsRef<[u8]> + AsMut<[u8]> + Clone + Send + Sync + 'static {
    /// Zeros.
    const ZEROS: Self;
}

impl<const LENGTH: usize> Bytes for [u8; LENGTH] {
    const ZEROS: Self = [0; LENGTH];
}

/// Seed, public key, secret key, work area.
pub type KeypairFunction =
    unsafe extern "C" fn(*const u8, *mut u8, *mut u8, *mut u64) -> c_int;
/// Secret key, context, its length, message, its length, random bytes or null, signature, work area.
pub type SignFunction = unsafe extern "C" fn(
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
    *mut u64,
) -> c_int;
/// Secret key, context, its length, hash function, hash, its length, random bytes or null, signature,
/// work area.
pub type SignHashFunction = unsafe extern "C" fn(
    *const u8,
    *const u8,
    usize,
    c_int,
    *const u8,
    usize,
    *const u8,
    *mut u8,
    *mut u64,
) -> c_int;
/// Public key, context, its length, message, its length, signature, its length, work area.
pub type VerifyFunction = unsafe extern "C" fn(
    *const u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *mut u64,
) -> c_int;
/// Public key, context, its length, hash function, hash, its length, signature, its length, work area.
pub type VerifyHashFunction = unsafe extern "C" fn(
    *const u8,
    *const u8,
    usize,
    c_int,
    *const u8,
    usize,
    *const u8,
    usize,
    *mut u64,
) -> c_int;
/// Public keys, context, its length, messages, their lengths, signatures, results, number, work area.
pub type VerifyManyFunction = unsafe extern "C" fn(
    *const *const u8,
    *const u8,
    usize,
    *const *const u8,
    *const usize,
    *const *const u8,
    *mut c_int,
    usize,
    *mut u64,
) -> c_int;

/// A parameter set of FIPS 205.
///
/// # Safety
/// The functions take arrays of these sizes, and a work area of this type.
pub unsafe trait ParameterSet: Send + Sync + 'static {
    /// SK.seed, SK.prf and PK.seed.
    type Seed: Bytes;
    /// PK.seed and PK.root.
    type Public: Bytes;
    /// SK.seed, SK.prf and the public key.
    type Secret: Bytes;
    /// A signature.
    type Signature: Bytes;
    /// Words of the work area of a call.
    #[doc(hidden)]
    type Work;
    /// Bytes of a hash, and of the random bytes of a signature.
    const HASH: usize;
    #[doc(hidden)]
    const KEYPAIR: KeypairFunction;
    #[doc(hidden)]
    const SIGN: SignFunction;
    #[doc(hidden)]
    const SIGN_CHECKED: SignFunction;
    #[doc(hidden)]
    const SIGN_HASH: SignHashFunction;
    #[doc(hidden)]
    const VERIFY: VerifyFunction;
    #[doc(hidden)]
    const VERIFY_HASH: VerifyHashFunction;
    #[doc(hidden)]
    const VERIFY_MANY: VerifyManyFunction;
}

/// Calls a function with a work area.
fn with_work<P: ParameterSet>(call: impl FnOnce(*mut u64) -> c_int) -> Result<(), Error> {
    let mut work = MaybeUninit::<P::Work>::uninit();
    Error::check(call(work.as_mut_ptr().cast()))
}

/// The random bytes of a signature, or null.
///
/// # Errors
/// They have another length than a hash.
fn random<P: ParameterSet>(random: Option<&[u8]>) -> Result<*const u8, Error> {
    match random {
        None => Ok(ptr::null()),
        Some(bytes) if bytes.len() == P::HASH => Ok(bytes.as_ptr()),
        Some(_) => Err(Error::Length),
    }
}

/// The keys of a seed.
pub fn keypair<P: ParameterSet>(seed: &P::Seed, public: &mut P::Public, secret: &mut P::Secret) {
    let (from, to) = (seed.as_ref().as_ptr(), public.as_mut().as_mut_ptr());
    let also = secret.as_mut().as_mut_ptr();
    // SAFETY: the arrays have the sizes of the set.
    let made = with_work::<P>(|work| unsafe { P::KEYPAIR(from, to, also, work) });
    made.expect("no pointer is null");
}

/// The signature of a message; `checked` verifies it.
///
/// # Errors
/// A context of more than 255 bytes, random bytes of another length than a hash, or a public key of
/// other seeds.
pub fn sign<P: ParameterSet>(
    secret: &P::Secret,
    context: &[u8],
    message: &[u8],
    hedge: Option<&[u8]>,
    checked: bool,
) -> Result<P::Signature, Error> {
    let mut signature = P::Signature::ZEROS;
    let (key, to) = (secret.as_ref().as_ptr(), signature.as_mut().as_mut_ptr());
    let (at, size, from, length) = (context.as_ptr(), context.len(), message.as_ptr(), message.len());
    let hedge = random::<P>(hedge)?;
    let function = if checked { P::SIGN_CHECKED } else { P::SIGN };
    // SAFETY: the same, and the random bytes are as many as the bytes of a hash.
    with_work::<P>(|work| unsafe { function(key, at, size, from, length, hedge, to, work) })?;
    Ok(signature)
}

/// The signature of a hash by the function of this number.
///
/// # Errors
/// As for [`sign`], or the hash has another length.
pub fn sign_hash<P: ParameterSet>(
    secret: &P::Secret,
    context: &[u8],
    (number, hash): (c_int, &[u8]),
    hedge: Option<&[u8]>,
) -> Result<P::Signature, Error> {
    let mut signature = P::Signature::ZEROS;
    let (key, to) = (secret.as_ref().as_ptr(), signature.as_mut().as_mut_ptr());
    let (at, size, from, length) = (context.as_ptr(), context.len(), hash.as_ptr(), hash.len());
    let hedge = random::<P>(hedge)?;
    // SAFETY: the same.
    with_work::<P>(|work| unsafe { P::SIGN_HASH(key, at, size, number, from, length, hedge, to, work) })?;
    Ok(signature)
}

/// Whether a signature is one of a message.
///
/// # Errors
/// It is none, or the context has more than 255 bytes.
pub fn verify<P: ParameterSet>(
    public: &P::Public,
    context: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    let (key, at, size) = (public.as_ref().as_ptr(), context.as_ptr(), context.len());
    let (from, length) = (message.as_ptr(), message.len());
    let (made, bytes) = (signature.as_ptr(), signature.len());
    // SAFETY: the public key has the size of the set.
    with_work::<P>(|work| unsafe { P::VERIFY(key, at, size, from, length, made, bytes, work) })
}

/// Whether a signature is one of a hash by the function of this number.
///
/// # Errors
/// As for [`verify`], or the hash has another length.
pub fn verify_hash<P: ParameterSet>(
    public: &P::Public,
    context: &[u8],
    (number, hash): (c_int, &[u8]),
    signature: &[u8],
) -> Result<(), Error> {
    let (key, at, size) = (public.as_ref().as_ptr(), context.as_ptr(), context.len());
    let (from, length) = (hash.as_ptr(), hash.len());
    let (made, bytes) = (signature.as_ptr(), signature.len());
    // SAFETY: the same.
    with_work::<P>(|work| unsafe {
        P::VERIFY_HASH(key, at, size, number, from, length, made, bytes, work)
    })
}

/// The signatures of one call.
pub const MANY: usize = 64;

/// Whether at most [`MANY`] signatures are some, as many as `valid` has room for.
///
/// # Errors
/// The context has more than 255 bytes, or one of them is none.
pub fn verify_many<'a, P: ParameterSet>(
    context: &[u8],
    jobs: impl Iterator<Item = (&'a P::Public, &'a [u8], &'a P::Signature)>,
    valid: &mut [bool],
) -> Result<(), Error> {
    let (mut keys, mut messages) = ([ptr::null(); MANY], [ptr::null(); MANY]);
    let (mut signatures, mut lengths) = ([ptr::null(); MANY], [0; MANY]);
    let (mut results, mut count) = ([0; MANY], 0);
    for (key, message, signature) in jobs.take(valid.len().min(MANY)) {
        keys[count] = key.as_ref().as_ptr();
        messages[count] = message.as_ptr();
        lengths[count] = message.len();
        signatures[count] = signature.as_ref().as_ptr();
        count += 1;
    }
    let (keys, from, lengths) = (keys.as_ptr(), messages.as_ptr(), lengths.as_ptr());
    let (made, to) = (signatures.as_ptr(), results.as_mut_ptr());
    let (at, size) = (context.as_ptr(), context.len());
    // SAFETY: there are `count` of each, of the sizes of the set.
    let status = with_work::<P>(|work| unsafe {
        P::VERIFY_MANY(keys, at, size, from, lengths, made, to, count, work)
    });
    if matches!(status, Ok(()) | Err(Error::Forged)) {
        for (valid, result) in valid.iter_mut().zip(&results[..count]) {
            *valid = *result == 0;
        }
    }
    status
}
