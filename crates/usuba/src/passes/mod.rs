//! Passes: transformations from Usuba0 to Usuba0, each with one small job.
//!
//! A pass never changes the function that one instance computes. It may rely on the rules of
//! `ir::verify` and must keep them; `pipeline` says which pass runs when.
//!
//! - A file for each pass, which its constant `PASS` describes.
//! - `graph`, `schedules`, `spills`: equations as a graph, schedules of them, their spill costs.
//! - `logic`: the operators on bits that a target has.
//! - `machine`: the machine model of the passes.
//! - `rename`: copies equations under new names, for `inline`, `interleave` and `unroll`.

pub mod affine;
pub mod bitslice_sched;
pub mod canon;
pub mod complement;
pub mod const_fold;
pub mod copy_prop;
pub mod cse;
pub mod dce;
pub mod fuse;
mod graph;
pub mod inline;
pub mod inline_rest;
pub mod interleave;
pub mod logic;
pub mod machine;
pub mod mslice_sched;
pub mod muladd;
pub mod pipeline;
pub mod pressure;
mod rename;
mod schedules;
mod spills;
pub mod unroll;

#[cfg(test)]
mod tests;

pub use pipeline::ALL;

use crate::ir::{Eqn, Program};

/// A transformation of programs.
pub struct Pass {
    /// Its name in flags and dumps: the name of its file, with hyphens.
    pub name: &'static str,
    /// Its effect, in one line without a full stop.
    pub about: &'static str,
    pub run: fn(&mut Program, &PassOptions),
}

/// The user's options for single passes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PassOptions {
    pub inline: inline::Mode,
    pub unroll: unroll::Mode,
    pub interleave: interleave::Choice,
    pub schedule: Schedule,
    /// The caller of the entry complements words of its constant ports for nothing; the facade
    /// fills it in.
    pub free_keys: bool,
    /// The operators on bits that the target has.
    pub logic: logic::Logic,
    /// The machine that code is made for; the facade fills it in.
    pub machine: machine::Machine,
}

/// The user's options for the schedulers. `pressure` has none here: `--skip` turns it off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    pub bitslice: When,
    pub mslice: When,
    /// How many equations `mslice-sched` keeps between a definition and its use.
    pub window: u32,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { bitslice: When::Auto, mslice: When::Auto, window: 10 }
    }
}

/// Whether a scheduler runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum When {
    /// If it pays on the machine.
    #[default]
    Auto,
    Always,
    Never,
}

impl When {
    /// The answer, given the answer of the machine.
    pub fn or(self, pays: bool) -> bool {
        match self {
            When::Auto => pays,
            When::Always => true,
            When::Never => false,
        }
    }
}

/// The pass called `name`.
pub fn find(name: &str) -> Option<&'static Pass> {
    ALL.iter().copied().find(|pass| pass.name == name)
}

/// Largest node that a pass may make, regardless of the options; calls and loops stay instead.
pub const LARGEST_NODE: u64 = 1_000_000;

/// Number of operators and calls written in `eqns`, with one for each loop. Saturates.
pub(crate) fn size(eqns: &[Eqn]) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Op(_) | Eqn::Call(_) => 1,
        Eqn::Loop(lp) => 1 + size(&lp.body),
    };
    eqns.iter().map(one).fold(0, u64::saturating_add)
}
