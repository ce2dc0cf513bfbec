
unsafe extern "C" {
    fn @C@@NAME@_permute(states: *mut u8, count: usize) -> c_int;
}

pub fn @NAME@(states: &mut [[u8; @IN@]]) {
    // SAFETY: it permutes so many states of so many bytes.
    certain(unsafe { @C@@NAME@_permute(states.as_mut_ptr().cast(), states.len()) });
}
