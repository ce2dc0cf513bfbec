
/// `@C@@NAME@_key`
#[derive(Clone)]
#[repr(C)]
pub struct @TYPE@ {
@WORDS@}

// The C asserts it too.
const _: () = assert!(size_of::<@TYPE@>() == @CONTEXT@);

unsafe extern "C" {
    fn @C@@NAME@_init(key: *mut @TYPE@, bytes: *const u8, length: usize) -> c_int;
}

// SAFETY: the header says so.
unsafe impl Context for @TYPE@ {
    const NAME: &'static str = "@TYPE@";
    type KeySize = cipher::consts::U@KEY_BYTES@;
    const INIT: unsafe extern "C" fn(*mut Self, *const u8, usize) -> c_int = @C@@NAME@_init;
}
