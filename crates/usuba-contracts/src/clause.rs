//! Pre- and postconditions on abstract numbers: proved at the callee, assumed at the caller.
//!
//! ```text
//! proved:    fe(r) - fe(a)·fe(b) is zero modulo p as a polynomial
//! assumed:   fe(r) is a variable V of its own, and V = fe(a)·fe(b) modulo p from now on
//! ```
//!
//! A congruence is proved by arithmetic of polynomials. The remainder may be a difference of
//! carries that are equal for another reason: runs on random numbers propose equal pairs, and
//! `query` decides.

use num_bigint::{BigInt, BigUint};
use usuba_lang::diag::{Code, Diagnostic, Span};
use usuba_lang::syntax::ast::{Clause, Relation, Role, Term, TermKind, TermOp};
use usuba_lang::typed::contract::{Integers, Meaning, Terms};
use usuba_lang::typed::walk::Walker;
use usuba_lang::typed::{Decl, DeclId, Instance, Program};
use usuba_sat::Engines;

use super::chance::Chance;
use super::numbers::{Num, Numbers};
use super::poly::Poly;
use super::query::Compare;
use super::symbolic::{Symbolic, Words};

type Found<T> = Result<T, Box<Diagnostic>>;

/// An integer of a contract.
#[derive(Clone, Debug)]
pub struct Int {
    pub poly: Poly,
    /// The integer as a number, if it is one.
    pub num: Option<Num>,
}

/// Whether a node has a contract, so that callers use it instead of the body.
pub fn promises(decl: &Decl) -> bool {
    let ensures = decl.contract.iter().any(|clause| clause.role == Role::Ensures);
    ensures || decl.results.iter().any(|var| !var.ranges.is_empty())
}

struct Ints<'s, 'p> {
    symbolic: &'s mut Symbolic,
    program: &'p Program,
    modulus: Option<BigInt>,
}

impl Integers for Ints<'_, '_> {
    type Word = Num;
    type Int = Int;

    fn literal(&mut self, value: u128) -> Int {
        constant(self.symbolic, BigInt::from(value))
    }

    fn word(&mut self, word: &Num) -> Int {
        Int { poly: (*self.symbolic.numbers.get(*word).poly).clone(), num: Some(*word) }
    }

    fn combine(&mut self, op: TermOp, a: Int, b: Int) -> Result<Int, String> {
        let many = || "a polynomial with too many terms".to_string();
        if let (Some(x), Some(y)) = (a.poly.value(), b.poly.value())
            && op != TermOp::Power
        {
            let value = match op {
                TermOp::Add => x + y,
                TermOp::Sub => x - y,
                TermOp::Mul => x * y,
                _ if y == BigInt::ZERO => return Err("a division by zero".to_string()),
                _ => x / y,
            };
            return Ok(constant(self.symbolic, value));
        }
        let numbers = &mut self.symbolic.numbers;
        let both = a.num.zip(b.num);
        Ok(match op {
            TermOp::Add => {
                Int { poly: a.poly.add(&b.poly), num: both.map(|(a, b)| numbers.sum(a, b)) }
            }
            TermOp::Sub => {
                let above = |&(a, b): &(Num, Num)| numbers.get(a).low >= numbers.get(b).high;
                let num = both.filter(above).map(|(a, b)| numbers.diff(a, b));
                Int { poly: a.poly.sub(&b.poly), num }
            }
            TermOp::Mul => Int {
                poly: a.poly.mul(&b.poly).ok_or_else(many)?,
                num: both.map(|(a, b)| numbers.product(a, b)),
            },
            TermOp::Div => return Err("a quotient of words".to_string()),
            TermOp::Power => {
                let exponent = b.poly.value().ok_or("an exponent that is no constant")?;
                let exponent = exponent.to_biguint().ok_or("an exponent below zero".to_string())?;
                let poly = a.poly.power(&exponent.into(), self.modulus.as_ref());
                let poly = poly.ok_or_else(many)?;
                match poly.value() {
                    Some(value) => constant(self.symbolic, value),
                    None => Int { poly, num: None },
                }
            }
        })
    }

    fn node(&mut self, node: DeclId, args: Vec<Num>) -> Result<Vec<Num>, String> {
        let key = self.symbolic.call_of(node, &args);
        if let Some(outs) = self.symbolic.calls.get(&key) {
            return Ok(outs.clone());
        }
        let mut walker = Walker::new(self.program, std::mem::take(self.symbolic));
        let outs = walker.run(&Instance::open(node, 0), args);
        *self.symbolic = walker.domain;
        let message = |diags: Vec<Diagnostic>| {
            let first = diags.into_iter().find(Diagnostic::is_error);
            first.map_or("a node that has no meaning here".to_string(), |diag| diag.message)
        };
        outs.map_err(|_| message(walker.diags))
    }
}

fn constant(symbolic: &mut Symbolic, value: BigInt) -> Int {
    let num = value.to_biguint().map(|value| symbolic.numbers.constant(value));
    Int { poly: Poly::constant(value), num }
}

fn terms<'s, 'p>(
    symbolic: &'s mut Symbolic,
    program: &'p Program,
    modulus: Option<BigInt>,
) -> Terms<'p, Ints<'s, 'p>> {
    Terms::new(&program.decls, &program.values, Ints { symbolic, program, modulus })
}

/// The modulus of a clause, if it has one.
fn modulus(symbolic: &mut Symbolic, program: &Program, clause: &Clause) -> Found<Option<BigInt>> {
    let Some(term) = &clause.modulus else { return Ok(None) };
    let value = terms(symbolic, program, None).integer(&Words::new(), term)?.poly.value();
    above_one(value, term.span).map(Some)
}

/// The modulus of a clause, which must be above one.
pub(super) fn above_one(value: Option<BigInt>, span: Span) -> Result<BigInt, Box<Diagnostic>> {
    value.filter(|value| *value > BigInt::from(1)).ok_or_else(|| {
        let text = "a modulus that is not above 1";
        Box::new(Diagnostic::error(Code::BadContract, span, text))
    })
}

fn compare_of(relation: Relation) -> Compare {
    match relation {
        Relation::Equal => Compare::Equal,
        Relation::Less => Compare::Less,
        Relation::AtMost => Compare::AtMost,
    }
}

/// Proves the precondition of a node for the words of a caller.
pub fn required(
    symbolic: &mut Symbolic,
    program: &Program,
    decl: &Decl,
    scope: &Words,
) -> Found<()> {
    let clauses = decl.contract.iter().filter(|clause| clause.role == Role::Requires);
    clauses.into_iter().try_for_each(|clause| prove(symbolic, program, scope, clause))
}

/// Assumes the precondition of a node, while its contract is proved.
pub fn assume_required(
    symbolic: &mut Symbolic,
    program: &Program,
    decl: &Decl,
    scope: &Words,
) -> Found<()> {
    for clause in decl.contract.iter().filter(|clause| clause.role == Role::Requires) {
        let modulus = modulus(symbolic, program, clause)?;
        let sides = terms(symbolic, program, modulus.clone()).sides(scope, clause)?;
        match sides {
            (Meaning::Int(left), Meaning::Int(right)) => {
                learn(symbolic, clause.relation, left, right, modulus);
            }
            (Meaning::Words(left), Meaning::Words(right)) => {
                let facts = left.into_iter().zip(right).map(|(l, r)| (Compare::Equal, l, r));
                symbolic.facts.extend(facts);
            }
            _ => unreachable!("sides are both words or both integers"),
        }
    }
    Ok(())
}

/// Assumes the postcondition of a node for the results `outs` of a call, and updates `outs` by it.
pub fn assume(
    symbolic: &mut Symbolic,
    program: &Program,
    decl: &Decl,
    scope: &Words,
    outs: &[Num],
) -> Found<Vec<Num>> {
    restate(symbolic, program, decl, scope, outs)?;
    let mut outs = outs.to_vec();
    for clause in decl.contract.iter().filter(|clause| clause.role == Role::Ensures) {
        let modulus = modulus(symbolic, program, clause)?;
        // The proof of the callee reports a clause without meaning; here one may have too many
        // terms, and to leave it out weakens the facts only.
        let sides = terms(symbolic, program, modulus.clone()).sides(scope, clause);
        let Ok(sides) = sides else { continue };
        match sides {
            (Meaning::Int(left), Meaning::Int(right)) => {
                learn(symbolic, clause.relation, left, right, modulus);
            }
            (Meaning::Words(left), Meaning::Words(right)) => {
                for (l, r) in left.into_iter().zip(right) {
                    // The clause makes the result equal to the word on the other side.
                    for out in outs.iter_mut() {
                        if *out == l {
                            *out = r;
                        } else if *out == r {
                            *out = l;
                        }
                    }
                }
            }
            _ => unreachable!("sides are both words or both integers"),
        }
    }
    Ok(outs)
}

/// Gives the value maps of a contract variables of their own: the word with factor 1 becomes the
/// value without the other words. `words` may be restated in this way.
pub fn restate(
    symbolic: &mut Symbolic,
    program: &Program,
    decl: &Decl,
    scope: &Words,
    words: &[Num],
) -> Found<()> {
    let mut applied = Vec::new();
    for clause in &decl.contract {
        values_of(program, &clause.left, &mut applied);
        values_of(program, &clause.right, &mut applied);
    }
    for term in applied {
        let known = |term: &Term| match &term.kind {
            TermKind::Var(var) => scope.iter().any(|(name, ..)| **name == *var.name.name),
            _ => false,
        };
        let TermKind::Apply { args, .. } = &term.kind else { continue };
        if !args.iter().all(known) {
            continue;
        }
        let value = terms(symbolic, program, None).integer(scope, term)?.poly;
        let numbers = &mut symbolic.numbers;
        let one = BigInt::from(1);
        let leading = words.iter().copied().find(|&word| {
            let variable = numbers.variable(word);
            *numbers.get(word).poly == Poly::variable(variable)
                && value.linear(variable) == Some(&one)
        });
        let Some(leading) = leading else { continue };
        let bounds = value.bounds(|variable| numbers.bounds(variable));
        let Some(high) = bounds.and_then(|(_, high)| high.to_biguint()) else { continue };
        let whole = numbers.any(BigUint::ZERO, high + 2u8);
        let rest = value.sub(&numbers.get(leading).poly);
        let whole = Poly::variable(numbers.variable(whole));
        numbers.restate(leading, whole.sub(&rest));
    }
    Ok(())
}

/// Whether a term has a power that is not written as a product.
pub fn takes_powers(term: &Term) -> bool {
    let known = |term: &Term| matches!(term.kind, TermKind::Int(value) if value <= 16);
    match &term.kind {
        TermKind::Bin(TermOp::Power, base, exponent) => !known(base) && !known(exponent),
        TermKind::Bin(_, left, right) => takes_powers(left) || takes_powers(right),
        _ => false,
    }
}

/// The applications of value maps in a term.
fn values_of<'t>(program: &Program, term: &'t Term, found: &mut Vec<&'t Term>) {
    match &term.kind {
        TermKind::Apply { callee, args } => {
            if program.values.iter().any(|map| *map.name == *callee.name) {
                found.push(term);
            }
            args.iter().for_each(|arg| values_of(program, arg, found));
        }
        TermKind::Bin(_, l, r) => {
            values_of(program, l, found);
            values_of(program, r, found);
        }
        TermKind::Int(_) | TermKind::Var(_) | TermKind::Sum { .. } => {}
    }
}

/// Assumes a comparison.
fn learn(
    symbolic: &mut Symbolic,
    relation: Relation,
    left: Int,
    right: Int,
    modulus: Option<BigInt>,
) {
    if let (Some(l), Some(r), None) = (left.num, right.num, &modulus) {
        symbolic.facts.push((compare_of(relation), l, r));
        // The comparison tightens the interval, too.
        let high = symbolic.numbers.value(r).cloned();
        let below = u8::from(relation == Relation::Less);
        if let Some(high) = high.filter(|high| *high >= BigUint::from(below)) {
            symbolic.numbers.at_most(l, high - below);
        }
    }
    if relation != Relation::Equal {
        return;
    }
    let Some(gap) = reduced(symbolic, left.poly.sub(&right.poly), modulus.as_ref()) else { return };
    for variable in gap.variables().into_iter().rev() {
        let Some(factor) = gap.linear(variable) else { continue };
        let opposite = modulus.as_ref().map(|modulus| modulus - 1);
        let sign = match () {
            () if *factor == BigInt::from(1) => BigInt::from(-1),
            () if *factor == BigInt::from(-1) || Some(factor) == opposite.as_ref() => {
                BigInt::from(1)
            }
            () => continue,
        };
        let alone = Poly::variable(variable).scaled(factor);
        let rest = gap.sub(&alone).scaled(&sign);
        symbolic.rules.push((variable, rest, modulus));
        return;
    }
}

/// A polynomial reduced by all rules about its variables; later rules first.
fn reduced(symbolic: &Symbolic, poly: Poly, modulus: Option<&BigInt>) -> Option<Poly> {
    let mut poly = match modulus {
        Some(modulus) => poly.modulo(modulus),
        None => poly,
    };
    let mut variables = poly.variables();
    for (variable, with, of) in symbolic.rules.iter().rev() {
        let fits = match (of, modulus) {
            (None, _) => true,
            (Some(of), Some(modulus)) => of % modulus == BigInt::ZERO,
            (Some(_), None) => false,
        };
        if fits && variables.binary_search(variable).is_ok() {
            poly = poly.substitute(*variable, with, modulus)?;
            variables = poly.variables();
        }
    }
    Some(poly)
}

/// Proves a clause.
pub fn prove(
    symbolic: &mut Symbolic,
    program: &Program,
    scope: &Words,
    clause: &Clause,
) -> Found<()> {
    let modulus = modulus(symbolic, program, clause)?;
    let sides = terms(symbolic, program, modulus.clone()).sides(scope, clause)?;
    let unknown = |what: String| {
        let help = "check the constants; give results of calls and long sums a range or a value of \
                    their own";
        let finding = Diagnostic::error(Code::ContractUnknown, clause.span, what).help(help);
        Err(Box::new(finding))
    };
    let (left, right) = match sides {
        (Meaning::Int(left), Meaning::Int(right)) => (left, right),
        (Meaning::Words(left), Meaning::Words(right)) => {
            for (at, (l, r)) in left.into_iter().zip(right).enumerate() {
                if !symbolic.compare((Compare::Equal, l, r)) {
                    return unknown(format!("word {at} of the two sides is not shown to be equal"));
                }
            }
            return Ok(());
        }
        _ => unreachable!("sides are both words or both integers"),
    };
    if clause.relation != Relation::Equal {
        let proved = match (left.num, right.num) {
            (Some(l), Some(r)) => symbolic.compare((compare_of(clause.relation), l, r)),
            _ => false,
        };
        return match proved {
            true => Ok(()),
            false => unknown("this comparison is neither proved nor refuted".to_string()),
        };
    }
    symbolic.obligations += 1;
    let gap = left.poly.sub(&right.poly);
    let Some(mut gap) = reduced(symbolic, gap, modulus.as_ref()) else {
        return unknown("this takes a polynomial with too many terms".to_string());
    };
    if !gap.is_zero() {
        gap = equal_parts(symbolic, gap, modulus.as_ref());
    }
    if gap.is_zero() {
        symbolic.used(Engines::POLYNOMIALS);
        return Ok(());
    }
    if let (Some(l), Some(r), None) = (left.num, right.num, &modulus)
        && symbolic.compare((Compare::Equal, l, r))
    {
        return Ok(());
    }
    let terms = gap.size();
    unknown(format!("the two sides differ by {terms} terms that are not shown to vanish"))
}

/// The number of random runs in which candidate pairs of numbers must agree.
const RUNS: usize = 48;

/// The remainder of a polynomial after merging variables that are equal or constant in every run.
fn equal_parts(symbolic: &mut Symbolic, mut gap: Poly, modulus: Option<&BigInt>) -> Poly {
    let variables = gap.variables();
    if variables.is_empty() || variables.len() > 64 {
        return gap;
    }
    let numbers: Vec<Num> = variables.iter().map(|&v| Numbers::of_variable(v)).collect();
    let mut chance = Chance::new(5);
    let mut seen: Vec<Vec<BigUint>> = vec![Vec::new(); numbers.len()];
    for run in 0..RUNS * 4 {
        let values = symbolic.numbers.evaluate(|n| {
            let number = symbolic.numbers.get(n);
            chance.between(&number.low, &number.high, run)
        });
        let of = |n: Num| &values[n.0 as usize];
        let keeps = symbolic.facts.iter().all(|&(compare, a, b)| match compare {
            Compare::Equal => of(a) == of(b),
            Compare::Less => of(a) < of(b),
            Compare::AtMost => of(a) <= of(b),
        });
        if keeps && seen[0].len() < RUNS {
            seen.iter_mut().zip(&numbers).for_each(|(list, &n)| list.push(of(n).clone()));
        }
    }
    // Case analysis comes first: a wrong candidate costs little there.
    for bits in [false, true] {
        for later in (0..numbers.len()).rev() {
            if seen[later].is_empty() || gap.variables().binary_search(&variables[later]).is_err() {
                continue;
            }
            let same = (0..later).filter(|&earlier| seen[earlier] == seen[later]);
            let mut guesses: Vec<(Num, Poly)> = same
                .map(|earlier| (numbers[earlier], Poly::variable(variables[earlier])))
                .collect();
            if seen[later].iter().all(|value| *value == seen[later][0]) {
                let constant = symbolic.numbers.constant(seen[later][0].clone());
                guesses.push((constant, (*symbolic.numbers.get(constant).poly).clone()));
            }
            for (with, poly) in guesses {
                let fact = (Compare::Equal, with, numbers[later]);
                let shown = match bits {
                    false => symbolic.by_cases(fact),
                    true => symbolic.compare(fact),
                };
                if shown {
                    symbolic.facts.push(fact);
                    gap = gap.substitute(variables[later], &poly, modulus).unwrap_or(gap);
                    break;
                }
            }
        }
        if gap.is_zero() {
            break;
        }
    }
    gap
}
