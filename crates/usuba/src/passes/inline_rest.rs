//! The calls that waited for scheduling, into their callers.
//!
//! ```text
//! (y[0], y[1]) = sbox(x[0], x[1]);          t = x[0] & x[1];
//! z = y[0] ^ k;                        →    y[0] = ~t;  y[1] = t ^ x[0];
//!                                           z = y[0] ^ k;
//! ```
//!
//! `inline` leaves bitsliced S-boxes as calls, because a scheduler moves them as wholes. Now each
//! call is decided again: a call costs its arguments and results a way through memory, which is
//! as much as a small S-box itself, so they are taken in while the caller stays below what
//! `inline` allows. The equations come where the call stood.
//!
//! Sound for the reasons of `inline`. Relies on nothing.
//! Does nothing in V and H, where nothing waits.

use super::{Pass, PassOptions, inline};
use crate::ir::Program;

pub const PASS: Pass =
    Pass { name: "inline-rest", about: "replace the calls that waited for scheduling", run };

fn run(program: &mut Program, options: &PassOptions) {
    let waits = inline::waits(program, options.inline);
    inline::inline(program, options, |callee| waits[callee]);
}
