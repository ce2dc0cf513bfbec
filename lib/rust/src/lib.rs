//! Sliced, constant-time ciphers with the traits of the crate [`cipher`].
//!
//! ```text
//! your code → traits of `cipher`, and modes → ffi (all that is unsafe) → C, which asks the
//! processor what it has and takes as many blocks at once as fit in its registers
//! ```
//!
@CRATE_DOC@//! | module | what it holds |
//! |---|---|
@TABLE@//!
//! Each module is a feature of the same name, and only the C of those that are asked for is
//! compiled.
//! With the feature `zeroize` the types say that they are [`ZeroizeOnDrop`]; they are wiped when
//! they are dropped with and without it.
//!
//! [`Cipher`] is a block cipher with its modes, [`Stream`] a key stream, [`TweakCipher`] a block
//! cipher with a tweak, and [`Keyed`] any other function with a key; what a module names are these
//! types with a cipher.
//! Permutations are plain functions on slices of states.
//!
//! No branch and no address depends on data.
//! Blocks pay in numbers: a call with many takes a small part of the time of as many calls.
//! C is compiled as Cargo compiles Rust, so a profile without optimisation has slow ciphers;
//! `[profile.dev.package.@PACKAGE@]` with `opt-level = 3` changes that.
//!
//! [`ZeroizeOnDrop`]: https://docs.rs/zeroize/1/zeroize/trait.ZeroizeOnDrop.html

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub use cipher;

mod block;
mod error;
#[allow(unsafe_code)]
mod ffi;
mod keyed;
mod stream;
mod tweak;

@MODULES@
pub use block::Cipher;
pub use error::Error;
pub use keyed::Keyed;
pub use stream::Stream;
pub use tweak::TweakCipher;

/// The instruction set that is in use. The first call of any function asks the processor and takes
/// the best that there is.
pub fn backend() -> &'static str {
    ffi::backend()
}

/// The instruction sets that this build has and this processor can run, best last.
pub fn backends() -> impl Iterator<Item = &'static str> {
    (0..).map_while(ffi::backends).map(|(_, name)| name)
}

/// From now on `name` is in use, in all threads; `None`: the best again. Keys stay valid.
///
/// # Errors
/// [`Error::Backend`] if it is none of [`backends`].
pub fn force_backend(name: Option<&str>) -> Result<(), Error> {
    let Some(name) = name else { return ffi::force_backend(None) };
    let mut known = (0..).map_while(ffi::backends);
    match known.find(|(_, known)| *known == name) {
        Some((number, _)) => ffi::force_backend(Some(number)),
        None => Err(Error::Backend),
    }
}
