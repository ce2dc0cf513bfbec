//! Everything of Usuba that runs a C compiler or a clock.
//!
//! - `cc`: which targets this machine can build and run, and with what.
//! - `native`: compiles many kernels into one executable and runs it once.
//! - `cipher`: the folders of `ciphers/`, and their functions as C.
//! - `bench`: verifies those functions and times them.
//! - `interleave`: how many instances side by side are fastest.
//! - `layout`: puts the data of instances into register bytes, and back.

pub mod bench;
pub mod cc;
pub mod cipher;
pub mod interleave;
pub mod layout;
pub mod native;
