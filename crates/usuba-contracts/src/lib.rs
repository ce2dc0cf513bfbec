//! Contracts of arithmetic: ranges, exactness, congruences, equality with a reference node.
//!
//! ```text
//! node mul (a,b:u64x5 in [0, 2^54)) returns (r:u64x5 in [0, 2^51 + 2^13))
//! ensures fe(r) == fe(a) * fe(b) mod 2^255 - 19
//! ```
//!
//! A node that promises something runs once on numbers of which only their intervals are known.
//! Each operator shows that it does not wrap, each call that its arguments are as the callee
//! requires, and at the end the ranges and clauses of the node are shown of its results. A call
//! stands for what its callee promises, so each node is looked at once.
//!
//! - `numbers`: intervals, polynomials, and what a number is made of; `poly`, `monomial`: polynomials;
//!   `bounds`: their intervals.
//! - `symbolic`: operators and calls; `clause`: what is shown and believed of clauses.
//! - `cases`: comparisons that a few carries decide; `query`: what takes a look at bits, by a SAT solver whose proofs are replayed.
//! - `floors`: integers in one normal form, with quotients by powers of two as variables.
//! - `concrete`: inputs that show a fault; `chance`: where they come from.

pub mod bounds;
mod cases;
mod chance;
mod clause;
mod concrete;
pub mod floors;
pub mod monomial;
pub mod numbers;
pub mod poly;
mod query;
mod symbolic;

use usuba::diag::{Code, Diagnostic};
use usuba::typed::{Decl, DeclId, Instance, Kind, Program, VarType, contract};

pub use concrete::Counterexample;
use symbolic::Symbolic;

/// What is known about the contract of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It holds for all inputs that the node takes.
    Proved,
    /// It does not hold for this input.
    Refuted(Counterexample),
    /// Neither is known; the finding says what resisted, and where.
    Unknown(Diagnostic),
}

/// The contract of one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    pub node: String,
    pub outcome: Outcome,
    /// What showed that it holds, by name.
    pub means: String,
    /// Things that were shown.
    pub obligations: usize,
    /// Those of them for which bits were looked at.
    pub queries: usize,
    /// Calls that stand for the contract of their callee.
    pub calls: usize,
}

/// Inputs that are run beside a proof, and in search of a fault.
const RUNS: [usize; 2] = [24, 800];

/// Proves or refutes the contract of each node that has one, in the order of the text.
///
/// The program keeps its contracts if all of them are proved: each proof believes the contracts
/// of the nodes that are called.
pub fn check(program: &Program) -> Vec<Report> {
    promising(program).map(|id| check_node(program, id)).collect()
}

/// The nodes that promise something, in the order of the text.
pub fn promising(program: &Program) -> impl Iterator<Item = DeclId> {
    let promising = program.decls.iter().enumerate().filter(|(_, decl)| decl.has_contract());
    promising.map(|(id, _)| id)
}

/// What is wrong with the contracts of a program, at the lines that fail.
pub fn findings(program: &Program) -> Vec<Diagnostic> {
    let finding = |report: Report| match report.outcome {
        Outcome::Proved => None,
        Outcome::Refuted(found) => Some(found.finding),
        Outcome::Unknown(finding) => Some(finding),
    };
    check(program).into_iter().filter_map(finding).collect()
}

/// Proves or refutes the contract of one node, believing those of the nodes that it calls.
pub fn check_node(program: &Program, id: DeclId) -> Report {
    let decl = &program.decls[id];
    let mut report = Report {
        node: decl.name.to_string(),
        outcome: Outcome::Proved,
        means: String::new(),
        obligations: 0,
        queries: 0,
        calls: 0,
    };
    let nats = decl.params.iter().any(|var| var.ty == VarType::Nat);
    if !matches!(decl.kind, Kind::Node(_)) || decl.array || nats || !decl.size_vars().is_empty() {
        let text = format!("`{}` has a contract and is no single function of words", decl.name);
        let finding = Diagnostic::error(Code::ContractUnknown, decl.name_span, text)
            .help("give it word sizes, no nat parameter and one body");
        report.outcome = Outcome::Unknown(finding);
        return report;
    }
    // Values of parameters as variables of their own help where only calls compute with them; and
    // nobody multiplies a sum by itself so often.
    let restated = decl
        .contract
        .iter()
        .any(|clause| clause::takes_powers(&clause.left) || clause::takes_powers(&clause.right));
    let mut examples = Vec::new();
    let mut shown = prove(program, id, decl, restated, &mut report, &mut examples);
    if shown.is_err() && report.calls > 0 {
        let again = prove(program, id, decl, !restated, &mut report, &mut examples);
        shown = again.or(shown);
    }
    let runs = match shown {
        Ok(()) => RUNS[0].min(RUNS[1] / (report.calls + 1)).max(2),
        Err(_) => RUNS[1],
    };
    let thorough = shown.is_err().then_some(examples);
    let search = concrete::search(program, id, runs, thorough);
    report.outcome = match (search.found, shown) {
        (Some(found), _) => Outcome::Refuted(found),
        (None, Err(finding)) => Outcome::Unknown(*finding),
        (None, Ok(())) if search.valid == 0 => {
            let text = format!("no input was found that keeps what `{}` requires", decl.name);
            let finding = Diagnostic::error(Code::ContractUnknown, decl.name_span, text)
                .help("require less: a contract that nothing meets holds and says nothing");
            Outcome::Unknown(finding)
        }
        (None, Ok(())) => Outcome::Proved,
    };
    report
}

fn prove(
    program: &Program,
    id: DeclId,
    decl: &Decl,
    restated: bool,
    report: &mut Report,
    examples: &mut Vec<Vec<u128>>,
) -> Result<(), Box<Diagnostic>> {
    let mut symbolic = Symbolic::default();
    let mut args = Vec::new();
    for var in &decl.params {
        let VarType::Words { atom, .. } = &var.ty else { continue };
        let bits = atom.bits().expect("a node without open sizes");
        for at in 0..var.ty.atoms() {
            args.push(match var.range(at) {
                Some(range) => symbolic.numbers.any(range.low, range.high),
                None => symbolic.numbers.any(0u8, symbolic::ones(bits)),
            });
        }
    }
    let mut scope = contract::bind(&decl.params, &args);
    if restated {
        clause::restate(&mut symbolic, program, decl, &scope, &args)?;
    }
    clause::believe(&mut symbolic, program, decl, &scope)?;
    let mut walker = usuba::typed::walk::Walker::new(program, symbolic);
    let outs = walker.run(&Instance::open(id, 0), args.clone());
    let mut symbolic = walker.domain;
    let shown = match outs {
        Ok(outs) => {
            scope.extend(contract::bind(&decl.results, &outs));
            results(&mut symbolic, program, decl, &scope, &outs)
        }
        Err(_) => {
            let first = walker.diags.into_iter().find(Diagnostic::is_error);
            Err(Box::new(first.unwrap_or_else(|| {
                let text = "this node is not run to its end";
                Diagnostic::error(Code::ContractUnknown, decl.name_span, text)
            })))
        }
    };
    for values in &symbolic.examples {
        let word = |arg| values.get(arg).unwrap_or(&symbolic.numbers.get(*arg).low);
        examples.extend(args.iter().map(|arg| word(arg).try_into().ok()).collect::<Option<_>>());
    }
    report.means = symbolic.means.names();
    report.obligations = symbolic.obligations;
    report.queries = symbolic.queries;
    report.calls = symbolic.promises;
    shown
}

/// Shows the ranges of results and what the node ensures of them.
fn results(
    symbolic: &mut Symbolic,
    program: &Program,
    decl: &Decl,
    scope: &symbolic::Words,
    outs: &[numbers::Num],
) -> Result<(), Box<Diagnostic>> {
    for (at, (range, &out)) in symbolic::ranges(&decl.results).iter().zip(outs).enumerate() {
        let Some(range) = range else { continue };
        symbolic.within(out, range).map_err(|refusal| {
            let text = format!("result {at} of `{}`: {}", decl.name, refusal.message);
            Box::new(Diagnostic::error(refusal.code, range.span, text))
        })?;
    }
    let ensures = decl.contract.iter().filter(|c| c.role == usuba::syntax::ast::Role::Ensures);
    ensures.into_iter().try_for_each(|c| clause::prove(symbolic, program, scope, c))
}
