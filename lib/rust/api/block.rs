
/// @TYPE@: keys of @KEY_BYTES@ bytes, blocks of @IN@ bytes.
///
@ORDER@
///
/// ```
/// use @CRATE@::cipher::{BlockCipherEncrypt, KeyInit};
/// use @CRATE@::@MODULE@::@TYPE@;
///
/// let key = @KEY@;
/// let cipher = @TYPE@::new(&key.into());
/// let mut block = @INPUT@.into();
/// cipher.encrypt_block(&mut block);
/// assert_eq!(block, @OUTPUT@);
/// ```
pub type @TYPE@ = crate::Cipher<ffi::@TYPE@>;

/// CTR mode of [`@TYPE@`]: the nonce is the first counter, a block as one big-endian number.
///
/// ```
/// use @CRATE@::cipher::{KeyIvInit, StreamCipher};
/// use @CRATE@::@MODULE@::@TYPE@Ctr;
///
/// let key = @KEY@;
/// let counter = @INPUT@;
/// let mut stream = @TYPE@Ctr::new(&key.into(), &counter.into());
/// let mut bytes = [0; @IN@];
/// stream.apply_keystream(&mut bytes);
/// assert_eq!(bytes, @OUTPUT@);
/// ```
pub type @TYPE@Ctr = crate::Stream<ffi::@TYPE@>;
