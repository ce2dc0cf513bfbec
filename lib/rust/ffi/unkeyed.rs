
unsafe extern "C" {
    fn @C@@FUNCTION@_blocks(from: *const u8, to: *mut u8, blocks: usize) -> c_int;
}

pub fn @NAME@(input: &[[u8; @IN@]], output: &mut [[u8; @OUT@]]) -> Result<(), Error> {
    if input.len() != output.len() {
        return Err(Error::Length);
    }
    let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
    // SAFETY: there are so many inputs and outputs of so many bytes.
    Error::check(unsafe { @C@@FUNCTION@_blocks(from, to, input.len()) })
}
