//! Proves that two Usuba0 programs compute the same, for all inputs.
//!
//! ```text
//! before:  y = (a & s) | (c & ~s)      after:  t = a ^ c;  y = c ^ (t & s)      proved
//! before:  y = a - b                   after:  y = b - a                        refuted: a = 1
//! ```
//!
//! After every pass of the compiler the program must mean what it meant before. [`equivalent`]
//! says whether it does, [`Observer`] asks it after each pass of a pipeline. An answer is *proved*,
//! *refuted* with an input that shows it, or *unknown*, which counts as a failure.
//!
//! Nothing here knows what a pass does: of the compiler the crate imports the meaning of the
//! language (`usuba::typed`), `usuba::ir` and the tables of `usuba::target`. It is pure, as the
//! compiler is.
//!
//! - `contracts`: what nodes of arithmetic promise, before there is any Usuba0.
//! - `graph`: engine E1, words as nodes of one graph; `operators`, `maps`: what operators are in it.
//! - `parity`: engine E2, sums as sets; `cuts`, `table`: engine E3, truth tables of words;
//!   `sweep`: engine E4, windows of bits; `rewrites`: all of them.
//! - `bytes`: functions of one byte, by all their values.
//! - `bits`: words as bits, for what engines on words do not see.
//! - `run`: programs on edges, with calls; `induction`: loops.
//! - `ports`: which inputs and outputs belong together; `search`: what is tried when.
//! - `sat`: questions to a SAT solver, whose proofs are replayed.
//! - `machine`: object files, executed on the graph.
//! - `refute`: inputs that show a difference; `observer`: one check after each pass.
//! - `meaning`: the walk of the language on equations; `source`: from there to what lowering made;
//!   `exhaust`: small nodes on all inputs; `lanes`: operators as rows of a target.
//! - `chain`: source, passes and lanes in one; `report`: answers in the words of the source;
//!   `engines`: which ones a proof needed.

mod bits;
mod bytes;
pub mod chain;
pub mod contracts;
mod cuts;
mod engines;
mod exhaust;
mod graph;
mod induction;
pub mod lanes;
pub mod machine;
mod maps;
pub mod meaning;
mod observer;
mod operators;
mod parity;
mod ports;
mod refute;
pub mod report;
mod rewrites;
mod run;
pub mod sat;
mod search;
pub mod source;
mod sweep;
mod table;

#[cfg(test)]
mod tests;

use usuba::ir::{NodeId, Program, Slicing, verify};

pub use engines::Engines;
pub use observer::{Fault, Observer};
pub use ports::Copies;
pub use refute::Counterexample;
pub use search::Stats;

/// What is known about two programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// They are equal on all inputs.
    Proved(Stats),
    /// They differ on this input.
    Refuted(Counterexample),
    /// Neither is known; the text says what resisted.
    Unknown(String),
}

/// Inputs that are tried before the thorough engines, and after they failed.
const RUNS: [u64; 2] = [8, 512];

/// Whether `after` computes what `before` does.
///
/// The entries have the same ports, or `after` has each port that is not constant once per copy,
/// as `ports` says; then each copy must compute from its inputs alone what `before` does.
pub fn equivalent(before: &Program, after: &Program) -> Verdict {
    decide(before, after, None)
}

/// As [`equivalent`]; `pairs` are nodes, callees first, that are probably equal. Without them
/// nodes of the same name are.
fn decide(before: &Program, after: &Program, pairs: Option<&[(NodeId, NodeId)]>) -> Verdict {
    if before == after {
        return Verdict::Proved(Stats::default());
    }
    for (when, program) in [("before", before), ("after", after)] {
        if let Err(rule) = verify::verify(program) {
            return Verdict::Unknown(format!("the program {when} is not well-formed: {rule}"));
        }
    }
    if before.slicing != after.slicing {
        return Verdict::Unknown("the slicing is another one".into());
    }
    let copies = match Copies::find(before.entry(), after.entry(), after.slicing) {
        Ok(copies) => copies,
        Err(what) => return Verdict::Unknown(what),
    };
    if before.copies as usize * copies.factor() != after.copies as usize {
        let (wanted, found) = (before.copies as usize * copies.factor(), after.copies);
        return Verdict::Unknown(format!("there are {wanted} instances and not {found}"));
    }
    let mut difference = None;
    let on_words = prove(before, after, &copies, pairs, &mut || {
        difference = refute::search(before, after, &copies, RUNS[0]);
        difference.is_some()
    });
    let resisted = match on_words {
        Ok(stats) => return Verdict::Proved(stats),
        Err(resisted) => resisted,
    };
    if let Some(difference) = difference.or_else(|| refute::search(before, after, &copies, RUNS[1]))
    {
        return Verdict::Refuted(difference);
    }
    match on_bits(before, after, pairs) {
        Some(stats) => Verdict::Proved(stats),
        None => Verdict::Unknown(resisted),
    }
}

fn prove(
    before: &Program,
    after: &Program,
    copies: &Copies,
    pairs: Option<&[(NodeId, NodeId)]>,
    give_up: &mut dyn FnMut() -> bool,
) -> Result<Stats, String> {
    let mut search = search::Search::new(before, after);
    let resisted = match pairs {
        Some(pairs) => search.prove_pairs(pairs),
        None => search.prove_pairs(&search.same_names()),
    };
    let answer = search.prove(before.entry, after.entry, copies, search::THOROUGH, give_up);
    match (answer, resisted) {
        (Ok(()), _) => Ok(search.stats),
        (Err(what), None) => Err(what),
        (Err(what), Some(callee)) => Err(format!("{what}; before it {callee}")),
    }
}

/// The proof of the same programs on bits, where there were words.
fn on_bits(before: &Program, after: &Program, pairs: Option<&[(NodeId, NodeId)]>) -> Option<Stats> {
    if before.slicing == Slicing::B {
        return None;
    }
    let (before, after) = (bits::apart(before)?, bits::apart(after)?);
    let copies = Copies::find(before.entry(), after.entry(), Slicing::B).ok()?;
    let stats = prove(&before, &after, &copies, pairs, &mut || false).ok()?;
    Some(Stats { engines: stats.engines.with(Engines::BITS), ..stats })
}
