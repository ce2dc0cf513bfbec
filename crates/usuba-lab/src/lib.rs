//! Everything of Usuba that runs a C compiler or a clock.
//!
//! - `cc`: which targets this machine can build and run, and with what.
//! - `native`: compiles many kernels into one executable and runs it once.
//! - `layout`: puts the data of instances into register bytes, and back.

pub mod cc;
pub mod layout;

pub mod native;
