//! Runs the SAT solver batsat and logs the clauses that it learns as a RUP proof.
//!
//! A conflict-driven solver learns only clauses that follow from the earlier ones by unit
//! propagation (RUP). Its callbacks report each learned and each deleted clause: that list is the
//! proof.

use batsat::clause::Kind;
use batsat::{Callbacks, Solver, SolverInterface, SolverOpts, Var, lbool};

use super::formula::{Formula, Lit};
use super::rup::Proof;

/// The answer of the solver, unchecked.
pub enum Reply {
    Unsat(Proof),
    /// A value for each variable.
    Model(Vec<bool>),
    GaveUp,
}

/// The callbacks that log the proof and stop the solver after a number of conflicts.
pub struct Log {
    pub proof: Proof,
    /// Conflicts that are left.
    pub left: u64,
}

impl Log {
    /// An empty proof, with a limit on conflicts.
    pub fn new(conflicts: u64) -> Log {
        Log { proof: Proof::default(), left: conflicts.max(1) }
    }
}

impl Callbacks for Log {
    fn on_new_clause(&mut self, clause: &[batsat::Lit], kind: Kind) {
        if kind == Kind::Learnt {
            self.left = self.left.saturating_sub(1);
            self.proof.add(clause.iter().map(|&literal| number(literal)));
        }
    }

    fn on_delete_clause(&mut self, clause: &[batsat::Lit]) {
        self.proof.forget(clause.iter().map(|&literal| number(literal)));
    }

    fn stop(&self) -> bool {
        self.left == 0
    }
}

/// The literal of this crate for a literal of batsat.
pub fn number(literal: batsat::Lit) -> Lit {
    Lit::new(literal.var().idx(), !literal.sign())
}

/// Runs the solver within a limit on conflicts; also returns the number of conflicts.
pub fn ask(formula: &Formula, conflicts: u64) -> (Reply, u64) {
    let mut solver = Solver::new(SolverOpts::default(), Log::new(conflicts));
    let variables: Vec<Var> = (0..formula.variables()).map(|_| solver.new_var_default()).collect();
    let mut literals = Vec::new();
    for clause in formula.clauses() {
        literals.clear();
        literals.extend(clause.iter().map(|literal| {
            batsat::Lit::new(variables[literal.variable() as usize], !literal.is_negated())
        }));
        solver.add_clause_reuse(&mut literals);
    }
    let outcome = solver.solve_limited(&[]);
    let spent = conflicts.max(1) - solver.cb().left;
    let reply = if outcome == lbool::FALSE {
        Reply::Unsat(std::mem::take(&mut solver.cb_mut().proof))
    } else if outcome == lbool::TRUE {
        let holds = |&variable: &Var| solver.value_var(variable) == lbool::TRUE;
        Reply::Model(variables.iter().map(holds).collect())
    } else {
        Reply::GaveUp
    };
    (reply, spent)
}
