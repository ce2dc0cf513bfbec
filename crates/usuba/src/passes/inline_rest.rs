//! Late inlining: inlines the calls that `inline` left for the S-box scheduler.
//!
//! ```text
//! (y[0], y[1]) = sbox(x[0], x[1]);          t = x[0] & x[1];
//! z = y[0] ^ k;                        →    y[0] = ~t;  y[1] = t ^ x[0];
//!                                           z = y[0] ^ k;
//! ```
//!
//! `inline` leaves bitsliced S-boxes as calls, because a scheduler moves each as a whole. Now the
//! pass decides on each call again. A call passes its arguments and results through memory, which
//! costs as much as a small S-box itself. The pass therefore inlines it while the caller stays
//! below the limit of `inline`. The equations stand in the place of the call.
//!
//! A node with clearly more arguments and results than the machine has registers stays a call,
//! unless the user asked for all to be inlined. Its values go through memory anyway, and gates of
//! several interleaved S-boxes would only raise register pressure. The pass then marks the node
//! `_inline`, for the C compiler: a call in the machine code would be up to three times slower.
//!
//! Sound for the reasons of `inline`. Requires nothing.
//! Does nothing in V and H, where no call waits.

use super::{Pass, PassOptions, inline};
use crate::ir::{Inline, Node, Program};

pub const PASS: Pass =
    Pass { name: "inline-rest", about: "replace the calls that waited for scheduling", run };

/// The limit on arguments and results, in fourths of the registers. S-boxes of Xoodoo have 24 for
/// 16 registers and gain up to a sixth by staying; the S-boxes of AES have 16 for 15 and lose.
const WIDE: usize = 5;

fn run(program: &mut Program, options: &PassOptions) {
    let waits = inline::waits(program, options.inline);
    let slicing = program.slicing;
    let registers = options.machine.regs as usize;
    let wide = |node: &Node| 4 * (node.arity(slicing) + node.outs.len()) > WIDE * registers;
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
