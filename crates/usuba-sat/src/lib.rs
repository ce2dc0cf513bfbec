//! Questions to a SAT solver, of whose answers nothing is believed.
//!
//! ```text
//! let mut f = Formula::new();
//! let (x, y) = (f.word(8), f.word(8));
//! let (s, t) = (f.add(&x, &y), f.add(&y, &x));
//! let equal = f.equal(&s, &t);
//! f.clause(&[!equal]);
//! solve(&f, 10_000)          Unsat: no x and y have two sums
//! ```
//!
//! A formula is a conjunction of clauses. *Unsat* comes with a proof that `replay` has read from
//! its first step to its last; *Model* is an assignment under which every clause has been
//! evaluated. So what is trusted is `formula` (what clauses a gate is), `words` (what gates an
//! operator is) and `replay`; the solver is not.
//!
//! - `formula`: literals, clauses, gates.
//! - `words`: arithmetic on words.
//! - `replay`: the checker of proofs.
//! - `solver`: asks batsat, and writes down what it learns.

mod bitvectors;
mod formula;
mod rup;
mod solver;
#[cfg(test)]
mod tests;

pub use formula::{Formula, Lit};
pub use rup::{Fault, Proof, replay};
pub use solver::{Log, number};

/// What is known about a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No assignment satisfies it; a proof of so many steps has been replayed.
    Unsat(usize),
    /// This assignment satisfies it; every clause has been evaluated.
    Model(Model),
    /// Neither is known, and why.
    Unknown(String),
}

/// A value for each variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model(Vec<bool>);

impl Model {
    pub fn holds(&self, literal: Lit) -> bool {
        self.0[literal.variable() as usize] != literal.is_negated()
    }

    /// The number that a word is, its least significant bit first.
    pub fn word(&self, bits: &[Lit]) -> u128 {
        bits.iter().rev().fold(0, |word, &bit| word << 1 | self.holds(bit) as u128)
    }
}

/// Whether a formula can be satisfied; unknown after so many conflicts.
pub fn solve(formula: &Formula, conflicts: u64) -> Answer {
    solve_counted(formula, conflicts).0
}

/// The same, and how many conflicts there were.
pub fn solve_counted(formula: &Formula, conflicts: u64) -> (Answer, u64) {
    let (reply, spent) = solver::ask(formula, conflicts);
    let answer = match reply {
        solver::Reply::Unsat(proof) => match replay(formula, &proof) {
            Ok(()) => Answer::Unsat(proof.len()),
            Err(fault) => Answer::Unknown(format!("the solver's proof is wrong: {fault}")),
        },
        solver::Reply::Model(values) => {
            let model = Model(values);
            let satisfied = |clause: &[Lit]| clause.iter().any(|&literal| model.holds(literal));
            match formula.clauses().position(|clause| !satisfied(clause)) {
                None => Answer::Model(model),
                Some(at) => Answer::Unknown(format!("the solver's model breaks clause {at}")),
            }
        }
        solver::Reply::GaveUp => {
            Answer::Unknown(format!("{conflicts} conflicts of the SAT solver did not suffice"))
        }
    };
    (answer, spent)
}
