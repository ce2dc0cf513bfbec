//! The calls that waited for scheduling, into their callers.
//!
//! ```text
//! (y[0], y[1]) = sbox(x[0], x[1]);          t = x[0] & x[1];
//! z = y[0] ^ k;                        →    y[0] = ~t;  y[1] = t ^ x[0];
//!                                           z = y[0] ^ k;
//! ```
//!
//! `inline` leaves bitsliced S-boxes as calls, because a scheduler moves them as wholes. Now each
//! call is decided again. A call costs its arguments and results a way through memory, which is
//! as much as a small S-box itself, so it is taken in while the caller stays below what `inline`
//! allows. The equations come where the call stood.
//!
//! What has more arguments and results than the machine has registers stays a unit, unless the
//! user asked for all to be inlined: its values go through memory anyway, and gates of several
//! such S-boxes between each other only make more of them live. The node is then marked `_inline`,
//! for the C compiler: a call in the machine code would be up to three times slower.
//!
//! Sound for the reasons of `inline`. Relies on nothing.
//! Does nothing in V and H, where nothing waits.

use super::{Pass, PassOptions, inline};
use crate::ir::{Inline, Node, Program};

pub const PASS: Pass =
    Pass { name: "inline-rest", about: "replace the calls that waited for scheduling", run };

fn run(program: &mut Program, options: &PassOptions) {
    let waits = inline::waits(program, options.inline);
    let slicing = program.slicing;
    let registers = options.machine.regs as usize;
    let wide = |node: &Node| node.arity(slicing) + node.outs.len() > registers;
    let undecided = |node: &Node| {
        options.inline == inline::Mode::Auto && node.inline == Inline::Auto && wide(node)
    };
    let stays: Vec<bool> = program.nodes.iter().map(undecided).collect();
    inline::inline(program, options, |callee| waits[callee] && !stays[callee]);
    for ((node, waits), stays) in program.nodes.iter_mut().zip(waits).zip(stays) {
        if waits && stays {
            node.inline = Inline::Always;
        }
    }
}
