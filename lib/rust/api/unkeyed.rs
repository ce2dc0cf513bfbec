
/// Bytes of an input of [`@NAME@`]: @PARTS@.
pub const @UPPER@_INPUT_BYTES: usize = @IN@;

/// Bytes of an output of [`@NAME@`].
pub const @UPPER@_OUTPUT_BYTES: usize = @OUT@;

/// The function of each input, all at once.
///
@ORDER@
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) if there are more or fewer outputs than inputs.
///
/// ```
/// use @CRATE@::@MODULE@::@NAME@;
///
/// let input = @INPUT@;
/// let mut output = [[0; @OUT@]];
/// @NAME@(&[input], &mut output).unwrap();
/// assert_eq!(output[0][..@SHOWN@], @OUTPUT@);
/// ```
pub fn @NAME@(
    input: &[[u8; @UPPER@_INPUT_BYTES]],
    output: &mut [[u8; @UPPER@_OUTPUT_BYTES]],
) -> Result<(), crate::Error> {
    ffi::@NAME@(input, output)
}
