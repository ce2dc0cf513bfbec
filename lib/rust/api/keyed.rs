
/// @TYPE@: keys of @KEY_BYTES@ bytes; @IN@ bytes become @OUT@.
///
@ORDER@
///
/// ```
/// use @CRATE@::cipher::{Array, KeyInit};
/// use @CRATE@::@MODULE@::@TYPE@;
///
/// let key = @KEY@;
/// let function = @TYPE@::new(&key.into());
/// let mut output = [Array::default()];
/// let input = @INPUT@;
/// function.blocks(&[input.into()], &mut output).unwrap();
/// assert_eq!(output[0][..@SHOWN@], @OUTPUT@);
/// ```
pub type @TYPE@ = crate::Keyed<ffi::@TYPE@>;
