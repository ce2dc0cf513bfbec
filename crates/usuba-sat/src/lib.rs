//! Propositional satisfiability with checked answers: CNF formulas, bit-blasted arithmetic, and a
//! conflict-driven SAT solver whose proofs a RUP checker replays.
//!
//! ```text
//! let mut f = Formula::new();
//! let (x, y) = (f.word(8), f.word(8));
//! let (s, t) = (f.add(&x, &y), f.add(&y, &x));
//! let equal = f.equal(&s, &t);
//! f.clause(&[!equal]);
//! solve(&f, 10_000)          Proved: no x and y have two sums
//! ```
//!
//! A formula is a conjunction of clauses; the claim is that it is unsatisfiable. *Proved* comes
//! with a proof that `replay` has checked from its first step to its last. *Refuted* has an
//! assignment, and every clause has been evaluated under it.
//!
//! *Trusted:* `formula` (the clauses of a gate), `bitvectors` (the gates of an operator) and `rup`
//! (the checker). The solver is not trusted.
//!
//! *Limits:* the solver stops after a number of conflicts, and the verdict is then *Unknown*.
//!
//! - `formula`: literals, clauses, and gates by Tseitin's encoding.
//! - `bitvectors`: bit-blasting, arithmetic on words as gates.
//! - `rup`: the checker of proofs.
//! - `solver`: runs the solver batsat and logs the clauses that it learns.
//! - `verdict`, `engines`: the answer of every prover, and its evidence.

mod bitvectors;
mod engines;
mod formula;
mod rup;
mod solver;
#[cfg(test)]
mod tests;
mod verdict;

pub use engines::Engines;
pub use formula::{Formula, Lit};
pub use rup::{Fault, Proof, replay};
pub use solver::{Log, number};
pub use verdict::Verdict;

/// The verdict on the claim that a formula is unsatisfiable: a proof with this number of steps has
/// passed the proof checker, or this assignment satisfies every clause.
pub type Answer = Verdict<usize, Model>;

/// A value for each variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model(Vec<bool>);

impl Model {
    /// Whether a literal is true under this assignment.
    pub fn holds(&self, literal: Lit) -> bool {
        self.0[literal.variable() as usize] != literal.is_negated()
    }

    /// The value of a word, its least significant bit first.
    pub fn word(&self, bits: &[Lit]) -> u128 {
        bits.iter().rev().fold(0, |word, &bit| word << 1 | self.holds(bit) as u128)
    }
}

/// Decides whether a formula is satisfiable, within a number of conflicts.
pub fn solve(formula: &Formula, conflicts: u64) -> Answer {
    solve_counted(formula, conflicts).0
}

/// As `solve`, and returns the number of conflicts that the solver ran into as well.
pub fn solve_counted(formula: &Formula, conflicts: u64) -> (Answer, u64) {
    let (reply, spent) = solver::ask(formula, conflicts);
    let answer = match reply {
        solver::Reply::Unsat(proof) => match replay(formula, &proof) {
            Ok(()) => Answer::Proved(proof.len()),
            Err(fault) => Answer::Unknown(format!("the solver's proof is wrong: {fault}")),
        },
        solver::Reply::Model(values) => {
            let model = Model(values);
            let satisfied = |clause: &[Lit]| clause.iter().any(|&literal| model.holds(literal));
            match formula.clauses().position(|clause| !satisfied(clause)) {
                None => Answer::Refuted(model),
                Some(at) => Answer::Unknown(format!("the solver's model breaks clause {at}")),
            }
        }
        solver::Reply::GaveUp => {
            Answer::Unknown(format!("{conflicts} conflicts of the SAT solver did not suffice"))
        }
    };
    (answer, spent)
}
