//! Replays proofs that a formula has no model.
//!
//! ```text
//! formula    a | b     a | ~b     ~a | c     ~a | ~c
//! + a        if a were false, the first two clauses would leave b and ~b
//!            a is true: the last two clauses leave c and ~c. Done
//! ```
//!
//! *Propagation*: a clause of which all literals are false but one leaves that one; a clause of
//! which all are false is a contradiction. A proof is a list of clauses. Each must be *shown by
//! propagation*: if all its literals are false, the clauses so far contradict (Goldberg, Novikov
//! 2003). Then every assignment that satisfies the clauses so far satisfies it too. By induction
//! every model of the formula satisfies all of them; and when propagation alone contradicts,
//! nothing satisfies them, so there is no model.
//!
//! A proof may forget clauses, which makes it shorter to read and cannot make it wrong: what
//! follows from some of the clauses follows from all. What has been found true without any
//! assumption is never forgotten, and forgetting an unknown clause does nothing.

use std::fmt;

use rustc_hash::FxHashMap;

use super::formula::{Formula, Lit};

/// Clauses that follow one from another, and when some of them may be forgotten.
#[derive(Clone, Default, Debug)]
pub struct Proof {
    literals: Vec<Lit>,
    /// Where each step ends in `literals`, and whether it adds its clause or forgets it.
    steps: Vec<(usize, bool)>,
}

impl Proof {
    /// Says that a clause follows from those before.
    pub fn add(&mut self, clause: impl IntoIterator<Item = Lit>) {
        self.literals.extend(clause);
        self.steps.push((self.literals.len(), true));
    }

    /// Says that a clause is not needed any more.
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

/// Why a proof is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The clause of this step, counted from 0, is not shown by propagation.
    Step(usize),
    /// A literal of this step is of no variable of the formula.
    Unknown(usize),
    /// All steps are right, and no contradiction follows.
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

/// Reads a proof that a formula has no model.
///
/// # Errors
/// The first step that is wrong, or that the proof proves nothing.
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

/// The clauses so far, with what propagation makes of them.
///
/// Of each clause that is not settled, the first two literals are *watched*: the clause is in the
/// lists of both, and is looked at when one of them becomes false. As long as neither is false the
/// clause leaves nothing.
struct Known {
    /// The literals of all clauses.
    literals: Vec<Lit>,
    /// Where each clause is in `literals`; empty once it is forgotten.
    clauses: Vec<(usize, usize)>,
    /// For each literal the clauses that watch it.
    watches: Vec<Vec<u32>>,
    /// Clauses by a sum over their literals.
    names: FxHashMap<u64, Vec<u32>>,
    /// For each literal whether it is true; neither it nor its negation may be.
    holds: Vec<bool>,
    /// The literals that are true, in the order in which they became so.
    trail: Vec<Lit>,
    /// How many of them have been propagated.
    done: usize,
    /// Whether the clauses contradict each other by propagation alone.
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

    /// Makes a literal true of which neither value is known.
    fn assign(&mut self, literal: Lit) {
        self.holds[literal.index()] = true;
        self.trail.push(literal);
    }

    /// Whether a clause follows: its negation leads to a contradiction.
    fn shows(&mut self, clause: &[Lit]) -> bool {
        let before = self.trail.len();
        let mut shown = self.contradiction;
        for &literal in clause {
            if self.holds[literal.index()] {
                // It is true anyway, or the clause has its negation, too.
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
        // Those that are not false come first.
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

    /// Draws all conclusions; whether they contradict.
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

    /// Looks at a clause of which the watched literal `gone` is false now. Keeps it in the list of
    /// that literal unless another one can be watched. Whether all its literals are false; then it
    /// is left to the caller to keep it.
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

/// A number that depends on the set of literals alone.
fn name(clause: &[Lit]) -> u64 {
    let mut list = clause.to_vec();
    list.sort_unstable();
    list.dedup();
    list.iter().fold(0, |sum, literal| {
        let mixed = (literal.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (sum ^ mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}
