//! Contracts of arithmetic nodes, proved by abstract interpretation with intervals and polynomials:
//! ranges, no overflow, congruences, equality with a reference node.
//!
//! ```text
//! node mul (a,b:u64x5 in [0, 2^54)) returns (r:u64x5 in [0, 2^51 + 2^13))
//! ensures fe(r) == fe(a) * fe(b) mod 2^255 - 19
//! ```
//!
//! A node with a contract is interpreted once, on abstract numbers: intervals and polynomials over
//! the integers. Each operator shows that it does not overflow, each call that its arguments meet
//! the precondition of the callee, and the results of the node are shown to meet its postcondition.
//!
//! *Soundness:* a call stands for the contract of its callee (a function summary), so each node is
//! interpreted once. A program keeps its contracts if all of them are proved. Calls do not recurse,
//! so this is induction over the call graph.
//!
//! A loop whose body does not use its index is shown by induction: the words that it carries take
//! intervals that the first turn meets and every turn keeps. If an obligation fails with them, the
//! loop is unrolled, as other loops are.
//!
//! *Limits:* a number that is no polynomial of the parameters is known by its interval alone. An
//! obligation that no method discharges is *Unknown*.
//!
//! - `numbers`: intervals, polynomials, and the definition of each number; `poly`, `monomial`:
//!   polynomials over   the integers; `bounds`: their intervals.
//! - `symbolic`: the abstract domain of operators and calls; `clause`: pre- and postconditions,
//!   proved and assumed.
//! - `cases`: comparisons by case analysis of a few carries; `query`: comparisons by bit-blasting
//!   and a   SAT solver whose proofs are replayed.
//! - `floors`: a normal form of integers, with carry variables for quotients by powers of two.
//! - `edwards`: sums of points of a curve, and the proof that they are a group.
//! - `concrete`: the search for counterexamples; `chance`: pseudo-random inputs for it.
//!
//! *Reference:* Cousot and Cousot 1977 (abstract interpretation); Hoare 1969 (pre- and
//! postconditions).

pub mod bounds;
mod cases;
mod chance;
mod clause;
mod concrete;
pub mod edwards;
pub mod floors;
pub mod monomial;
pub mod numbers;
pub mod poly;
mod query;
mod symbolic;
#[cfg(test)]
mod tests;

use usuba_lang::diag::{Code, Diagnostic};
use usuba_lang::typed::{Decl, DeclId, Instance, Kind, Program, VarType, contract};

pub use concrete::Counterexample;
use symbolic::Symbolic;
use usuba_sat::Engines;

/// The verdict on the contract of a node, with the engines that discharged its obligations. An
/// unknown one has the first undischarged obligation and its place.
pub type Verdict = usuba_sat::Verdict<Engines, Counterexample, Diagnostic>;

/// The contract of one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    pub node: String,
    pub verdict: Verdict,
    /// The number of discharged obligations.
    pub obligations: usize,
    /// The number of obligations that needed bit-blasting.
    pub queries: usize,
    /// The number of calls that stand for the contract of their callee.
    pub calls: usize,
}

/// Proves or refutes the contract of each node that has one, in the order of the text.
///
/// The program keeps its contracts if all of them are proved: each proof assumes the contracts of
/// the nodes that are called.
pub fn check(program: &Program) -> Vec<Report> {
    promising(program).map(|id| check_node(program, id)).collect()
}

/// The nodes with a contract, in the order of the text.
pub fn promising(program: &Program) -> impl Iterator<Item = DeclId> {
    let promising = program.decls.iter().enumerate().filter(|(_, decl)| decl.has_contract());
    promising.map(|(id, _)| id)
}

/// The failures of the contracts of a program, at the lines that fail.
pub fn findings(program: &Program) -> Vec<Diagnostic> {
    check(program).into_iter().filter_map(|report| finding(report.verdict)).collect()
}

/// The finding of a verdict on a contract; `None` if it is proved.
pub fn finding(verdict: Verdict) -> Option<Diagnostic> {
    match verdict {
        Verdict::Proved(_) => None,
        Verdict::Refuted(found) => Some(found.finding),
        Verdict::Unknown(finding) => Some(finding),
    }
}

/// Proves or refutes the contract of one node, assuming the contracts of the nodes that it calls.
pub fn check_node(program: &Program, id: DeclId) -> Report {
    let decl = &program.decls[id];
    let mut report = Report {
        node: decl.name.to_string(),
        verdict: Verdict::Proved(Engines::INTERVALS),
        obligations: 0,
        queries: 0,
        calls: 0,
    };
    let nats = decl.params.iter().any(|var| var.ty == VarType::Nat);
    if !matches!(decl.kind, Kind::Node(_)) || decl.array || nats || !decl.size_vars().is_empty() {
        let text = format!("`{}` has a contract and is no single function of words", decl.name);
        let finding = Diagnostic::error(Code::ContractUnknown, decl.name_span, text)
            .help("give it word sizes, no nat parameter and one body");
        report.verdict = Verdict::Unknown(finding);
        return report;
    }
    // Variables for the value maps of parameters pay where only calls compute with the parameters,
    // and where a clause has powers: a sum raised to a high power has too many terms.
    let restated = decl
        .contract
        .iter()
        .any(|clause| clause::takes_powers(&clause.left) || clause::takes_powers(&clause.right));
    let mut examples = Vec::new();
    let mut prove = |restated, induction| {
        let mut symbolic = Symbolic::new(induction);
        let shown = prove(program, id, restated, &mut symbolic, &mut examples);
        report.obligations = symbolic.obligations;
        report.queries = symbolic.queries;
        report.calls = symbolic.promises;
        (shown.map(|()| Engines::INTERVALS.with(symbolic.engines)), symbolic)
    };
    let (mut shown, first) = prove(restated, true);
    if shown.is_err() && !first.carried.is_empty() {
        // Unrolled turns keep polynomials, where induction knows intervals only.
        let (unrolled, _) = prove(restated, false);
        shown = if first.blamed { unrolled.or(shown) } else { unrolled };
    }
    if shown.is_err() && first.promises > 0 {
        shown = prove(!restated, false).0.or(shown);
    }
    let search = concrete::search(program, id, shown.is_err().then_some(examples));
    report.verdict = match (search.found, shown) {
        (Some(found), _) => Verdict::Refuted(found),
        (None, Err(finding)) => Verdict::Unknown(*finding),
        (None, Ok(_)) if search.valid == 0 => {
            let text = format!("no input was found that meets the requirements of `{}`", decl.name);
            let finding = Diagnostic::error(Code::ContractUnknown, decl.name_span, text)
                .help("require less: a contract that nothing meets holds and says nothing");
            Verdict::Unknown(finding)
        }
        (None, Ok(engines)) => Verdict::Proved(engines),
    };
    report
}

/// One abstract interpretation of a node; inputs where an obligation may fail become examples.
fn prove(
    program: &Program,
    id: DeclId,
    restated: bool,
    symbolic: &mut Symbolic,
    examples: &mut Vec<Vec<u128>>,
) -> Result<(), Box<Diagnostic>> {
    let decl = &program.decls[id];
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
        clause::restate(symbolic, program, decl, &scope, &args)?;
    }
    clause::assume_required(symbolic, program, decl, &scope)?;
    let mut walker = usuba_lang::typed::walk::Walker::new(program, std::mem::take(symbolic));
    let outs = walker.run(&Instance::open(id, 0), args.clone());
    *symbolic = walker.domain;
    let shown = match outs {
        Ok(outs) => {
            scope.extend(contract::bind(&decl.results, &outs));
            results(symbolic, program, decl, &scope, &outs)
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
    shown
}

/// Shows the ranges of the results and the postconditions of the node.
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
    let ensures = decl.contract.iter().filter(|c| c.role == usuba_lang::syntax::ast::Role::Ensures);
    ensures.into_iter().try_for_each(|c| clause::prove(symbolic, program, scope, c))
}
