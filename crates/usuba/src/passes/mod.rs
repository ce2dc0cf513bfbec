//! Passes: Usuba0 to Usuba0, each with one small job.
//!
//! A pass never changes what one instance computes. It may rely on what `ir::verify` checks and
//! must leave it so; `pipeline` says which pass runs when.
//!
//! - `canon`: one order for the operands of commutative operators.
//! - `complement`: complements where they cost nothing.
//! - `const-fold`: what is known at compile time.
//! - `copy-prop`: uses instead of copies.
//! - `cse`: each common subexpression once.
//! - `dce`: nothing that nobody needs.
//! - `fuse`: operators on bits by the instructions that the target has.
//! - `inline`: callees into callers.
//! - `inline-rest`: the calls that waited for scheduling.
//! - `interleave`: several instances side by side.
//! - `unroll`: loops into straight lines.
//! - `rename`: copies equations under new names, for `inline`, `interleave` and `unroll`.
//! - `logic`: the operators on bits that a target has.
//! - `machine`: what passes may know of the machine.

pub mod canon;
pub mod complement;
pub mod const_fold;
pub mod copy_prop;
pub mod cse;
pub mod dce;
pub mod fuse;
pub mod inline;
pub mod inline_rest;
pub mod interleave;
pub mod logic;
pub mod machine;
pub mod pipeline;
mod rename;
pub mod unroll;

#[cfg(test)]
mod tests;

use crate::ir::{Eqn, Program};

/// A transformation of programs.
pub struct Pass {
    /// Its name in flags and dumps: that of its file, with hyphens.
    pub name: &'static str,
    /// What it does, in one line without a full stop.
    pub about: &'static str,
    pub run: fn(&mut Program, &PassOptions),
}

/// What the user chose about single passes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PassOptions {
    pub inline: inline::Mode,
    pub unroll: unroll::Mode,
    pub interleave: interleave::Choice,
    /// What the target has for bits.
    pub logic: logic::Logic,
    /// The machine that code is made for; the facade fills it in.
    pub machine: machine::Machine,
}

/// All passes, by name.
pub static ALL: &[&Pass] = &[
    &canon::PASS,
    &complement::PASS,
    &const_fold::PASS,
    &copy_prop::PASS,
    &cse::PASS,
    &dce::PASS,
    &fuse::PASS,
    &inline::PASS,
    &inline_rest::PASS,
    &interleave::PASS,
    &unroll::PASS,
];

/// The pass called `name`.
pub fn find(name: &str) -> Option<&'static Pass> {
    ALL.iter().copied().find(|pass| pass.name == name)
}

/// No pass makes a node larger than this, whatever was asked for; calls and loops stay instead.
pub const LARGEST_NODE: u64 = 1_000_000;

/// Number of operators and calls written in `eqns`, with one for each loop. Saturates.
pub(crate) fn size(eqns: &[Eqn]) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Op(_) | Eqn::Call(_) => 1,
        Eqn::Loop(lp) => 1 + size(&lp.body),
    };
    eqns.iter().map(one).fold(0, u64::saturating_add)
}
