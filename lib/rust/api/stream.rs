
/// @TYPE@: keys of @KEY_BYTES@ bytes, nonces of @NONCE@ bytes; a block has @OUT@ bytes, and its
/// number @SIZE@.
///
@ORDER@
///
/// ```
/// use @CRATE@::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
/// use @CRATE@::@MODULE@::@TYPE@;
///
/// let key = @KEY@;
/// let nonce = @START@;
/// let mut stream = @TYPE@::new(&key.into(), &nonce.into());
/// stream.seek(@POSITION@_u64);
/// let mut bytes = [0; @SHOWN@];
/// stream.apply_keystream(&mut bytes);
/// assert_eq!(bytes, @OUTPUT@);
/// ```
pub type @TYPE@ = crate::Stream<ffi::@TYPE@>;
