
unsafe extern "C" {
    fn @C@@FUNCTION@_blocks(
        key: *const @TYPE@,
        from: *const u8,
        to: *mut u8,
        blocks: usize,
    ) -> c_int;
}
