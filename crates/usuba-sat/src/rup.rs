//! RUP proof checking: replays the clauses that a SAT solver learned, by unit propagation.
//!
//! ```text
//! formula    a | b     a | ~b     ~a | c     ~a | ~c
//! + a        if a were false, the first two clauses would leave b and ~b
//!            a is true: the last two clauses leave c and ~c. Done
//! ```
//!
//! *Unit propagation*: a clause with all literals false but one makes that one true; a clause with
//! all literals false is a conflict. A proof is a list of clauses, and each must have *reverse unit
//! propagation* (RUP): if all its literals are false, propagation over the clauses so far ends in a
//! conflict.
//!
//! *Soundness:* every assignment that satisfies the clauses so far then satisfies the new clause
//! too. By induction every model of the formula satisfies all clauses of the proof. When
//! propagation alone ends in a conflict, no assignment satisfies them, so the formula has no model.
//!
//! A proof may delete clauses, which saves propagation and keeps soundness: a consequence of some
//! clauses is a consequence of all. Literals that are true without any assumption are never
//! deleted, and deleting an unknown clause does nothing.
//!
//! *Reference:* Goldberg and Novikov 2003, Verification of proofs of unsatisfiability for CNF
//! formulas. Moskewicz et al. 2001 (Chaff) for the watched literals.

use std::fmt;

use rustc_hash::FxHashMap;

use super::formula::{Formula, Lit};

/// A clausal proof: the clauses that are added and deleted, in order.
#[derive(Clone, Default, Debug)]
pub struct Proof {
    literals: Vec<Lit>,
    /// Where each step ends in `literals`, and whether it adds its clause or deletes it.
    steps: Vec<(usize, bool)>,
}

impl Proof {
    /// Adds a clause that follows from the earlier ones.
    pub fn add(&mut self, clause: impl IntoIterator<Item = Lit>) {
        self.literals.extend(clause);
        self.steps.push((self.literals.len(), true));
    }

    /// Deletes a clause that no later step needs.
    pub fn forget(&mut self, clause: impl IntoIterator<Item = Lit>) {
        self.literals.extend(clause);
        self.steps.push((self.literals.len(), false));
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The clause of each step, and whether it is added.
    pub fn steps(&self) -> impl Iterator<Item = (&[Lit], bool)> {
        let starts = std::iter::once(0).chain(self.steps.iter().map(|step| step.0));
        starts.zip(&self.steps).map(|(start, &(end, adds))| (&self.literals[start..end], adds))
    }
}

/// The reason why a proof is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The clause of this step, counted from 0, does not have the RUP property.
    Step(usize),
    /// A literal of this step has a variable that the formula does not have.
    Unknown(usize),
    /// All steps are right, and no conflict follows.
    Open,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Step(at) => write!(f, "step {at} does not follow"),
            Fault::Unknown(at) => write!(f, "step {at} names a variable that does not exist"),
            Fault::Open => f.write_str("it ends without a contradiction"),
        }
    }
}

/// Checks a proof that a formula has no model.
///
/// # Errors
/// The first step that is wrong, or `Open` if the proof ends without a conflict.
pub fn replay(formula: &Formula, proof: &Proof) -> Result<(), Fault> {
    let mut known = Known::new(formula.variables() as usize);
    for clause in formula.clauses() {
        known.insert(clause);
    }
    for (at, (clause, adds)) in proof.steps().enumerate() {
        if known.contradiction {
            return Ok(());
        }
        if clause.iter().any(|literal| literal.variable() >= formula.variables()) {
            return Err(Fault::Unknown(at));
        }
        if !adds {
            known.remove(clause);
        } else if known.shows(clause) {
            known.insert(clause);
        } else {
            return Err(Fault::Step(at));
        }
    }
    if known.contradiction { Ok(()) } else { Err(Fault::Open) }
}

/// The clauses so far, closed under unit propagation.
///
/// The first two literals of each clause that is not settled are *watched*: the clause is in the
/// lists of both, and is visited when one of them becomes false. As long as neither is false, the
/// clause is neither unit nor a conflict.
struct Known {
    /// The literals of all clauses.
    literals: Vec<Lit>,
    /// Where each clause is in `literals`; empty once it is deleted.
    clauses: Vec<(usize, usize)>,
    /// For each literal the clauses that watch it.
    watches: Vec<Vec<u32>>,
    /// Clauses by a hash of their literals, for deletion.
    names: FxHashMap<u64, Vec<u32>>,
    /// For each literal whether it is true; neither it nor its negation may be.
    holds: Vec<bool>,
    /// The literals that are true, in the order of their assignment.
    trail: Vec<Lit>,
    /// The number of them that have been propagated.
    done: usize,
    /// Whether propagation alone ends in a conflict.
    contradiction: bool,
}

impl Known {
    fn new(variables: usize) -> Known {
        Known {
            literals: Vec::new(),
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * variables],
            names: FxHashMap::default(),
            holds: vec![false; 2 * variables],
            trail: Vec::new(),
            done: 0,
            contradiction: false,
        }
    }

    fn is_false(&self, literal: Lit) -> bool {
        self.holds[(!literal).index()]
    }

    /// Makes a literal true that has no value.
    fn assign(&mut self, literal: Lit) {
        self.holds[literal.index()] = true;
        self.trail.push(literal);
    }

    /// Whether a clause has the RUP property: its negation propagates to a conflict.
    fn shows(&mut self, clause: &[Lit]) -> bool {
        let before = self.trail.len();
        let mut shown = self.contradiction;
        for &literal in clause {
            if self.holds[literal.index()] {
                // The literal is true without the clause, or the clause has its negation, too.
                shown = true;
            } else if !self.is_false(literal) {
                self.assign(!literal);
            }
        }
        shown = shown || self.propagate();
        for literal in self.trail.drain(before..) {
            self.holds[literal.index()] = false;
        }
        self.done = before;
        shown
    }

    /// Adds a clause, while nothing is assumed.
    fn insert(&mut self, clause: &[Lit]) {
        let mut literals = clause.to_vec();
        literals.sort_unstable();
        literals.dedup();
        let start = self.literals.len();
        // Literals that are not false come first.
        literals.sort_by_key(|&literal| self.is_false(literal));
        let open = literals.iter().take_while(|&&literal| !self.is_false(literal)).count();
        match open {
            0 => self.contradiction = true,
            1 => {
                if !self.holds[literals[0].index()] {
                    self.assign(literals[0]);
                    self.contradiction |= self.propagate();
                }
            }
            _ => {
                let id = self.clauses.len() as u32;
                self.watches[literals[0].index()].push(id);
                self.watches[literals[1].index()].push(id);
                self.names.entry(name(clause)).or_default().push(id);
                self.clauses.push((start, start + literals.len()));
                self.literals.extend(literals);
            }
        }
    }

    fn remove(&mut self, clause: &[Lit]) {
        let sorted = |list: &[Lit]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list.dedup();
            list
        };
        let Some(ids) = self.names.get_mut(&name(clause)) else { return };
        let wanted = sorted(clause);
        let found = ids.iter().position(|&id| {
            let (start, end) = self.clauses[id as usize];
            sorted(&self.literals[start..end]) == wanted
        });
        if let Some(at) = found {
            let id = ids.swap_remove(at);
            self.clauses[id as usize] = (0, 0);
        }
    }

    /// Propagates until nothing changes; whether there is a conflict.
    fn propagate(&mut self) -> bool {
        while let Some(&literal) = self.trail.get(self.done) {
            self.done += 1;
            let gone = !literal;
            let list = std::mem::take(&mut self.watches[gone.index()]);
            let mut kept = Vec::with_capacity(list.len());
            let mut conflict = false;
            for &id in &list {
                conflict = conflict || self.visit(id, gone, &mut kept);
                if conflict {
                    kept.push(id);
                }
            }
            self.watches[gone.index()] = kept;
            if conflict {
                return true;
            }
        }
        false
    }

    /// Visits a clause whose watched literal `gone` is false now. Keeps it in the watch list of that
    /// literal unless another literal can be watched. Returns whether all its literals are false;
    /// the caller keeps it in the list then.
    fn visit(&mut self, id: u32, gone: Lit, kept: &mut Vec<u32>) -> bool {
        let (start, end) = self.clauses[id as usize];
        if start == end {
            return false;
        }
        let other = if self.literals[start] == gone { start + 1 } else { start };
        let (other, own) = (self.literals[other], 2 * start + 1 - other);
        if self.holds[other.index()] {
            kept.push(id);
            return false;
        }
        let next = (start + 2..end).find(|&at| !self.is_false(self.literals[at]));
        if let Some(next) = next {
            self.literals.swap(own, next);
            self.watches[self.literals[own].index()].push(id);
            return false;
        }
        if self.is_false(other) {
            return true;
        }
        kept.push(id);
        self.assign(other);
        false
    }
}

/// A hash that depends on the set of literals alone.
fn name(clause: &[Lit]) -> u64 {
    let mut list = clause.to_vec();
    list.sort_unstable();
    list.dedup();
    list.iter().fold(0, |sum, literal| {
        let mixed = (literal.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (sum ^ mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}
