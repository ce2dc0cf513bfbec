//! Asks batsat, and writes down what it learns.
//!
//! Every clause that a solver of this kind learns follows from those before by propagation alone,
//! and it tells its callbacks each one: that list is the proof.

use batsat::clause::Kind;
use batsat::{Callbacks, Solver, SolverInterface, SolverOpts, Var, lbool};

use super::formula::{Formula, Lit};
use super::rup::Proof;

/// What the solver says; nothing of it is checked.
pub enum Reply {
    Unsat(Proof),
    /// A value for each variable.
    Model(Vec<bool>),
    GaveUp,
}

/// Writes the proof, and stops the solver after a number of conflicts.
pub struct Log {
    pub proof: Proof,
    /// Conflicts that are left.
    pub left: u64,
}

impl Log {
    /// An empty proof, for at most so many conflicts.
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

/// The literal of the same variable here.
pub fn number(literal: batsat::Lit) -> Lit {
    Lit::new(literal.var().idx(), !literal.sign())
}

/// Whether a formula can be satisfied, within so many conflicts; also how many there were.
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
