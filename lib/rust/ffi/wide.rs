
unsafe extern "C" {
    fn @C@@NAME@_cbc_decrypt(
        key: *const @TYPE@,
        iv: *const u8,
        from: *const u8,
        to: *mut u8,
        length: usize,
    ) -> c_int;
    fn @C@@NAME@_xts_encrypt(
        key: *const @TYPE@,
        tweak_key: *const @TYPE@,
        tweak: *const u8,
        from: *const u8,
        to: *mut u8,
        length: usize,
    ) -> c_int;
    fn @C@@NAME@_xts_decrypt(
        key: *const @TYPE@,
        tweak_key: *const @TYPE@,
        tweak: *const u8,
        from: *const u8,
        to: *mut u8,
        length: usize,
    ) -> c_int;
}

// SAFETY: the header says so.
unsafe impl Wide for @TYPE@ {
    const CBC_DECRYPT: CbcFunction<Self> = @C@@NAME@_cbc_decrypt;
    const XTS_ENCRYPT: XtsFunction<Self> = @C@@NAME@_xts_encrypt;
    const XTS_DECRYPT: XtsFunction<Self> = @C@@NAME@_xts_decrypt;
}
