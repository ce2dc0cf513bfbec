
/// Bytes of a state of [`@NAME@`].
pub const @UPPER@_BYTES: usize = @IN@;

/// Permutes each of the states, all at once.
///
@ORDER@
///
/// ```
/// use @CRATE@::@MODULE@::@NAME@;
///
/// let state = @INPUT@;
/// let mut states = [state];
/// @NAME@(&mut states);
/// assert_eq!(states[0][..@SHOWN@], @OUTPUT@);
/// ```
pub fn @NAME@(states: &mut [[u8; @UPPER@_BYTES]]) {
    ffi::@NAME@(states);
}
