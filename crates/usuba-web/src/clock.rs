//! The clock, which a page lends to the module.

/// The time in milliseconds from some start.
#[cfg(target_family = "wasm")]
pub fn now() -> f64 {
    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        safe fn now() -> f64;
    }
    now()
}

#[cfg(not(target_family = "wasm"))]
pub fn now() -> f64 {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}
