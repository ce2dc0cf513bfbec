//! Formulas in conjunctive normal form, with gates by Tseitin's encoding.
//!
//! ```text
//! g = a & b       (~g | a) (~g | b) (g | ~a | ~b)
//! g = a ^ b       (~g | a | b) (~g | ~a | ~b) (g | ~a | b) (g | a | ~b)
//! ```
//!
//! *Soundness:* the clauses of a gate hold for exactly one value of its output, for all values of
//! its operands. So gates add no model and remove none: each assignment to the other variables that
//! satisfies the other clauses extends to exactly one model.
//!
//! Gates are hash-consed, and gates with constant, equal or opposite operands simplify to literals
//! that exist.
//!
//! *Reference:* Tseitin 1968, On the complexity of derivation in propositional calculus.

use std::ops::Not;

use rustc_hash::FxHashMap;

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit(u32);

impl Lit {
    /// Variable 0, which is true in each formula.
    pub const TRUE: Lit = Lit(0);
    pub const FALSE: Lit = Lit(1);

    /// Negated if `negated` is set. There are at most 2^31 variables.
    pub fn new(variable: u32, negated: bool) -> Lit {
        Lit(variable << 1 | negated as u32)
    }

    pub fn variable(self) -> u32 {
        self.0 >> 1
    }

    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Twice the number of the variable, and one more if it is negated.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The negation if `flip` is set.
    pub fn flipped(self, flip: bool) -> Lit {
        Lit(self.0 ^ flip as u32)
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        self.flipped(true)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And,
    Xor,
    /// Whether at least two of three hold.
    Majority,
}

/// A conjunction of clauses.
pub struct Formula {
    variables: u32,
    literals: Vec<Lit>,
    /// Where each clause ends in `literals`.
    ends: Vec<u32>,
    gates: FxHashMap<(Gate, [Lit; 3]), Lit>,
}

impl Formula {
    /// The formula without gates, whose only clause is that variable 0 is true.
    pub fn new() -> Formula {
        let gates = FxHashMap::default();
        let mut formula = Formula { variables: 1, literals: Vec::new(), ends: Vec::new(), gates };
        formula.clause(&[Lit::TRUE]);
        formula
    }

    pub fn variables(&self) -> u32 {
        self.variables
    }

    /// A new variable.
    pub fn variable(&mut self) -> Lit {
        self.variables += 1;
        Lit::new(self.variables - 1, false)
    }

    /// Adds the clause that at least one of these literals holds.
    pub fn clause(&mut self, literals: &[Lit]) {
        assert!(literals.iter().all(|l| l.variable() < self.variables), "an unknown variable");
        self.literals.extend_from_slice(literals);
        self.ends.push(self.literals.len() as u32);
    }

    /// All clauses, in the order in which they were added.
    pub fn clauses(&self) -> impl Iterator<Item = &[Lit]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.literals[start as usize..end as usize])
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        if a == b || b == Lit::TRUE {
            return a;
        }
        if a == Lit::TRUE {
            return b;
        }
        if a == !b || a == Lit::FALSE || b == Lit::FALSE {
            return Lit::FALSE;
        }
        let operands = [a.min(b), a.max(b), Lit::FALSE];
        self.gate(Gate::And, operands, |formula, g| {
            formula.clause(&[!g, a]);
            formula.clause(&[!g, b]);
            formula.clause(&[g, !a, !b]);
        })
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.is_negated() != b.is_negated();
        let (a, b) = (a.flipped(a.is_negated()), b.flipped(b.is_negated()));
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Lit::FALSE.flipped(flip);
        }
        if a == Lit::TRUE {
            return (!b).flipped(flip);
        }
        let gate = self.gate(Gate::Xor, [a, b, Lit::FALSE], |formula, g| {
            formula.clause(&[!g, a, b]);
            formula.clause(&[!g, !a, !b]);
            formula.clause(&[g, !a, b]);
            formula.clause(&[g, a, !b]);
        });
        gate.flipped(flip)
    }

    /// `a` where `condition` holds, else `b`.
    pub fn if_else(&mut self, condition: Lit, a: Lit, b: Lit) -> Lit {
        if a == !b {
            return self.xor(condition, b);
        }
        let (taken, other) = (self.and(condition, a), self.and(!condition, b));
        self.or(taken, other)
    }

    /// Whether at least two of three hold: the carry of three bits.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut operands = [a, b, c];
        operands.sort_unstable();
        let [a, b, c] = operands;
        // Sorted, constants come first, and equal and opposite literals are neighbours.
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        if a == Lit::TRUE {
            return self.or(b, c);
        }
        if a == Lit::FALSE {
            return self.and(b, c);
        }
        self.gate(Gate::Majority, operands, |formula, g| {
            for [x, y] in [[a, b], [a, c], [b, c]] {
                formula.clause(&[g, !x, !y]);
                formula.clause(&[!g, x, y]);
            }
        })
    }

    /// Whether all of these hold.
    pub fn all(&mut self, literals: &[Lit]) -> Lit {
        literals.iter().fold(Lit::TRUE, |all, &literal| self.and(all, literal))
    }

    fn gate(
        &mut self,
        gate: Gate,
        operands: [Lit; 3],
        define: impl FnOnce(&mut Formula, Lit),
    ) -> Lit {
        if let Some(&known) = self.gates.get(&(gate, operands)) {
            return known;
        }
        let output = self.variable();
        define(self, output);
        self.gates.insert((gate, operands), output);
        output
    }
}

impl Default for Formula {
    fn default() -> Formula {
        Formula::new()
    }
}
