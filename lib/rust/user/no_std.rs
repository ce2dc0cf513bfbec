//! A library without the standard library: it has its own panic handler, which does not compile if
//! anything below it brings the standard one.

#![no_std]

use usuba_ciphers::chacha20::ChaCha20;
use usuba_ciphers::cipher::{KeyIvInit, StreamCipher};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// XORs a keystream; false if the keystream is shorter.
///
/// # Safety
/// There are 32, 12 and `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn user(
    key: *const [u8; 32],
    nonce: *const [u8; 12],
    data: *mut u8,
    length: usize,
) -> bool {
    // SAFETY: the caller says so.
    let (key, nonce) = unsafe { (&*key, &*nonce) };
    // SAFETY: as above.
    let data = unsafe { core::slice::from_raw_parts_mut(data, length) };
    ChaCha20::new(key.into(), nonce.into()).try_apply_keystream(data).is_ok()
}
