
/// @TYPE@: keys of @KEY_BYTES@ bytes, tweaks of @TWEAK@ bytes, blocks of @OUT@ bytes.
///
@ORDER@
///
/// ```
/// use @CRATE@::cipher::{KeyInit, TweakBlockCipherEncrypt};
/// use @CRATE@::@MODULE@::@TYPE@;
///
/// let key = @KEY@;
/// let cipher = @TYPE@::new(&key.into());
/// let mut block = @INPUT@.into();
/// let tweak = @START@;
/// cipher.encrypt_block(&tweak.into(), &mut block);
/// assert_eq!(block, @OUTPUT@);
/// ```
pub type @TYPE@ = crate::TweakCipher<ffi::@TYPE@>;
