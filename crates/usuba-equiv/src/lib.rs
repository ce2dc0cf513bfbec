//! Translation validation: combinational equivalence checking of two Usuba0 programs.
//!
//! ```text
//! before:  y = (a & s) | (c & ~s)      after:  t = a ^ c;  y = c ^ (t & s)      proved
//! before:  y = a - b                   after:  y = b - a                        refuted: a = 1
//! ```
//!
//! Each pass of the compiler must keep the function that the program computes. [`equivalent`]
//! compares two programs, and [`Observer`] compares the program before each pass of a pipeline with
//! the program after it. A verdict is *proved*, *refuted* with a counterexample, or *unknown*,
//! which counts as a failure.
//!
//! *Soundness:* the provers know nothing about passes. From the compiler the crate imports the
//! reference semantics of the language (`usuba::typed`), the IR (`usuba::ir`) and the instruction
//! patterns of `usuba::isa`. The crate is pure, as the compiler is.
//!
//! *Limits:* equivalence of long words is decided only where some engine finds it within its
//! budget.
//!
//! - `dag`, `bit_maps`: a hash-consed DAG of words, whose edges move bits.
//! - `value_numbering`: engine E1, value numbering in the DAG; `operators`: the operators of Usuba0
//!   in it.
//! - `xor_forms`, `addition_forms`: engine E2, normal forms of XORs and of additions; `cut_matching`, `truth_table`: engine E3, cut
//!   enumeration with truth-table matching; `sat_sweep`: engine E4, SAT sweeping with windows;
//!   `miter`: engine E5, a SAT solver with replayed proofs; `rewrites`: all engines together.
//! - `byte_functions`: functions of one byte, by exhaustive enumeration.
//! - `bitblast`: programs of words as programs of bits.
//! - `execution`: symbolic execution of programs, with calls; `induction`, `invariants`:
//!   loops by induction.
//! - `facts`: the cache that consecutive proofs share.
//! - `ports`: the correspondence of inputs and outputs; `strategy`: the order of the engines;
//!   `outline`: the sizes that the strategy needs.
//! - `counterexample`: search for inputs on which programs differ; `observer`, `steps`: one check
//!   after each pass.
//! - `semantics`, `wide_words`: the reference semantics as equations; `source`: translation
//!   validation of lowering; `enumeration`: small nodes by exhaustive enumeration.
//! - `lanes`: instruction patterns against the operators that they implement; `products`: patterns
//!   for products of long words, as polynomials; `algebraic`: carry-less ones, as algebraic normal
//!   forms.
//! - `chain`: source, passes and lanes in one proof; `claims`: verdicts in the words of the source.
//!
//! *Reference:* Pnueli, Siegel, Singerman 1998 (translation validation); Kuehlmann et al. 2002 and
//! Mishchenko et al. 2005 (equivalence checking by structural hashing and SAT sweeping).

mod addition_forms;
mod algebraic;
pub mod bit_maps;
pub mod bitblast;
pub mod byte_functions;
pub mod chain;
pub mod claims;
pub mod counterexample;
pub mod cut_matching;
pub mod dag;
pub mod enumeration;
pub mod execution;
pub mod facts;
pub mod induction;
pub mod invariants;
pub mod lanes;
pub mod miter;
pub mod observer;
pub mod operators;
pub mod outline;
pub mod ports;
pub mod products;
pub mod rewrites;
pub mod sat_sweep;
pub mod semantics;
pub mod source;
pub mod steps;
pub mod strategy;
pub mod truth_table;
pub mod value_numbering;
pub mod wide_words;
pub mod word_sums;
pub mod xor_forms;

#[cfg(test)]
mod tests;

use usuba::ir::lanes::apart as lanes_apart;
use usuba::ir::{NodeId, Program, Slicing, verify};

use facts::{Known, Memory};

pub use counterexample::Counterexample;
pub use observer::{Fault, Observer};
pub use ports::Copies;
pub use strategy::Stats;
pub use usuba_sat::Engines;

/// The verdict on the equivalence of two programs; the reason of an unknown one is the
/// undischarged obligation.
pub type Verdict = usuba_sat::Verdict<Stats, Counterexample>;

/// The number of inputs that are tried before the thorough engines, and after they failed.
const RUNS: [u64; 2] = [8, 512];

/// Decides whether `after` computes the same function as `before`.
///
/// The entries have the same ports, or `after` has each port that is not constant once per
/// instance, as `ports` says; then each instance must compute the function of `before` from its
/// inputs alone.
pub fn equivalent(before: &Program, after: &Program) -> Verdict {
    decide(before, after, None)
}

/// As [`equivalent`], for programs that were written apart: their nodes are paired where they have
/// the same name, or few inputs and the same values. Linear nodes are not, since normal forms of
/// XORs cross their borders.
pub fn equivalent_apart(before: &Program, after: &Program) -> Verdict {
    decide(before, after, Some(&pairs(before, after)))
}

/// Nodes that are probably equal, callees first.
fn pairs(before: &Program, after: &Program) -> Vec<(NodeId, NodeId)> {
    let tables = |program: &Program| -> Vec<Option<Vec<enumeration::Rows>>> {
        let ids = (0..program.nodes.len() as u32).map(NodeId);
        ids.map(|id| enumeration::rows(program, id)).collect()
    };
    let (old, new) = (tables(before), tables(after));
    let mut pairs = Vec::new();
    for (b, values) in new.iter().enumerate() {
        for (a, others) in old.iter().enumerate() {
            let ends = [&before.nodes[a], &after.nodes[b]];
            let inputs = ends[0].arity(before.slicing);
            let is_pair = match (others, values) {
                (Some(others), Some(values)) => {
                    inputs == ends[1].arity(after.slicing)
                        && others == values
                        && !enumeration::is_linear(inputs, values)
                }
                (None, None) => ends[0].name == ends[1].name,
                _ => false,
            };
            if is_pair {
                pairs.push((NodeId(a as u32), NodeId(b as u32)));
            }
        }
    }
    pairs
}

/// As [`equivalent`]; `pairs` are nodes, callees first, that are probably equal. Without `pairs`,
/// the nodes of the same name are paired.
fn decide(before: &Program, after: &Program, pairs: Option<&[(NodeId, NodeId)]>) -> Verdict {
    let words = match (words(before), words(after)) {
        (Ok(before), Ok(after)) => before.zip(after),
        (Err(rule), _) => return ill_formed("before", &rule),
        (_, Err(rule)) => return ill_formed("after", &rule),
    };
    let (before, after) = words.as_ref().map_or((before, after), |(before, after)| (before, after));
    step(before, &mut None, after, pairs, &mut Memory::default())
}

/// The scalar form of a program in W, which the proof is about; `None` for any other slicing.
///
/// # Errors
/// The rule of the IR that the program breaks.
fn words(program: &Program) -> Result<Option<Program>, String> {
    if program.slicing != Slicing::W {
        return Ok(None);
    }
    verify::verify(program).map_err(|rule| rule.to_string())?;
    Ok(Some(lanes_apart(program)))
}

fn ill_formed(when: &str, rule: &str) -> Verdict {
    Verdict::Unknown(format!("the program {when} is not well-formed: {rule}"))
}

/// As `decide`, with a cache: `known` has the facts about `before` from the last proof, and becomes
/// the facts about `after`.
fn step(
    before: &Program,
    known: &mut Option<Known>,
    after: &Program,
    pairs: Option<&[(NodeId, NodeId)]>,
    memory: &mut Memory,
) -> Verdict {
    if before == after {
        return Verdict::Proved(Stats::default());
    }
    // An earlier proof has verified the program already.
    let fresh = known.is_none().then_some(("before", before));
    for (when, program) in fresh.into_iter().chain([("after", after)]) {
        if let Err(rule) = verify::verify(program) {
            return ill_formed(when, &rule.to_string());
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
    let goal = Goal { after, copies: &copies, pairs, effort: strategy::THOROUGH };
    let on_words = prove((before, known), &goal, memory, &mut || {
        difference = counterexample::search(before, after, &copies, RUNS[0]);
        difference.is_some()
    });
    let resisted = match on_words {
        Ok(stats) => return Verdict::Proved(stats),
        Err(resisted) => resisted,
    };
    if let Some(difference) =
        difference.or_else(|| counterexample::search(before, after, &copies, RUNS[1]))
    {
        return Verdict::Refuted(difference);
    }
    let suspect = match on_bits(before, after, pairs) {
        Ok(stats) => return Verdict::Proved(stats),
        Err(suspect) => suspect,
    };
    match suspect.and_then(|input| counterexample::differs(before, after, &copies, input)) {
        Some(difference) => Verdict::Refuted(difference),
        None => Verdict::Unknown(resisted.what),
    }
}

/// The goal of a proof.
struct Goal<'a> {
    after: &'a Program,
    copies: &'a Copies,
    pairs: Option<&'a [(NodeId, NodeId)]>,
    effort: strategy::Effort,
}

/// The result of a proof that failed.
struct Resisted {
    what: String,
    /// An input on which the programs may differ.
    suspect: Option<Vec<u64>>,
}

fn prove(
    (before, known): (&Program, &mut Option<Known>),
    goal: &Goal,
    memory: &mut Memory,
    give_up: &mut dyn FnMut() -> bool,
) -> Result<Stats, Resisted> {
    let Goal { after, copies, pairs, effort } = *goal;
    let mut search = strategy::Search::new(before, known.take(), after, memory);
    let resisted = match pairs {
        Some(pairs) => search.prove_pairs(pairs),
        None => search.prove_pairs(&search.same_names()),
    };
    let answer = match copies.factor() {
        1 if search.alike(before.entry, after.entry) => Ok(()),
        _ => search.prove(before.entry, after.entry, copies, effort, give_up),
    };
    let (stats, suspect) = (search.stats, search.suspect.take());
    *known = Some(search.known());
    let what = match (answer, resisted) {
        (Ok(()), _) => return Ok(stats),
        (Err(what), None) => what,
        (Err(what), Some(callee)) => format!("{what}; before it {callee}"),
    };
    Err(Resisted { what, suspect })
}

/// The proof on bit-blasted programs, with all engines; or an input on which the programs may
/// differ.
fn on_bits(
    before: &Program,
    after: &Program,
    pairs: Option<&[(NodeId, NodeId)]>,
) -> Result<Stats, Option<Vec<u64>>> {
    let words = before.slicing != Slicing::B;
    let (old, new) = match words {
        true => (bitblast::apart(before).ok_or(None)?, bitblast::apart(after).ok_or(None)?),
        false => (before.clone(), after.clone()),
    };
    let copies = Copies::find(old.entry(), new.entry(), Slicing::B).map_err(|_| None)?;
    let goal = Goal { after: &new, copies: &copies, pairs, effort: strategy::LAST };
    let mut memory = Memory::default();
    match prove((&old, &mut None), &goal, &mut memory, &mut || false) {
        Ok(stats) if words => Ok(Stats { engines: stats.engines.with(Engines::BITS), ..stats }),
        Ok(stats) => Ok(stats),
        Err(Resisted { suspect, .. }) => {
            let entry = after.entry();
            let widths = &entry.bits[..entry.arity(after.slicing)];
            Err(suspect.map(|bits| together(&bits, widths)))
        }
    }
}

/// Bits as words of these widths, the most significant bit of each first.
fn together(bits: &[u64], widths: &[u8]) -> Vec<u64> {
    let mut rest = bits;
    let word = |&width: &u8| {
        let (own, others) = rest.split_at(width as usize);
        rest = others;
        own.iter().fold(0, |word, bit| word << 1 | bit)
    };
    widths.iter().map(word).collect()
}
