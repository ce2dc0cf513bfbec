
unsafe extern "C" {
    fn @C@@NAME@_@XOR@(
        key: *const @TYPE@,
        start: *const u8,
        position: u64,
        from: *const u8,
        to: *mut u8,
        length: usize,
    ) -> c_int;
    fn @C@@NAME@_@KEYSTREAM@(
        key: *const @TYPE@,
        start: *const u8,
        position: u64,
        to: *mut u8,
        length: usize,
    ) -> c_int;
}

// SAFETY: the header says so.
unsafe impl KeyStream for @TYPE@ {
    const STREAM: &'static str = "@STREAM@";
    type StartSize = cipher::consts::U@NONCE@;
    type BlockSize = cipher::consts::U@OUT@;
    const XOR: XorFunction<Self> = @C@@NAME@_@XOR@;
    const KEYSTREAM: KeystreamFunction<Self> = @C@@NAME@_@KEYSTREAM@;
    const NUMBER: Option<u32> = @NUMBER@;
}
