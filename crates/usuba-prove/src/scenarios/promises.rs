//! Kernels of arithmetic by their contracts: the value of the result as a polynomial in the words of
//! the parameters.
//!
//! ```text
//! node chain (h:sum, w:u64x2 le, …) returns (r:sum)
//! ensures words(r) == (words(h) + num(w) + above * 2^128) * clamped(k) mod 2^130 - 5
//!         r[0] + 2^64 r[1] + 2^128 r[2]         x0 k0 + 2^64 x1 k0 + …
//! ```

use num_bigint::BigInt;
use usuba::syntax::ast::{Clause, Relation, Role, TermOp};
use usuba::typed::contract::{Integers, Meaning, Terms, bind};
use usuba::typed::{Decl, DeclId, Program, Var, VarType};
use usuba_contracts::monomial::Exponent;
use usuba_contracts::poly::Poly;
use usuba_object::arithmetic::{most, most_of_results};
use usuba_object::residues::{Promise, Word};

use crate::unit;
use usuba_library::Unit;

/// The contract of a kernel; `None` if its postcondition is no congruence of one value.
///
/// # Errors
/// The unit does not compile.
pub(super) fn promise(unit: &Unit) -> Result<Option<Promise>, String> {
    let output = unit.compile()?;
    let (contract, program) = unit::contract(unit, &output, None)?;
    let typed = &output.checked.program;
    let decl = &typed.decls[typed.entry];
    let is_plain = contract.pointers.iter().copied().eq(0..contract.arrays.len())
        && program.copies == 1
        && decl.contract.iter().all(|clause| clause.role == Role::Ensures);
    let (Some(params), Some(results)) = (
        words(&decl.params, &most(&program, decl)),
        words(&decl.results, &most_of_results(&program, decl)),
    ) else {
        return Ok(None);
    };
    let mut sides = Sides { program: typed, decl, params: params.len() };
    let mut congruences = decl.contract.iter().filter(|clause| clause.modulus.is_some());
    let (Some(clause), None, true) = (congruences.next(), congruences.next(), is_plain) else {
        return Ok(None);
    };
    let Some((modulus, left, right)) = sides.congruence(clause) else { return Ok(None) };
    let Some(value) = value(&left, &results, params.len()) else { return Ok(None) };
    let others = decl.contract.iter().filter(|other| other.modulus.is_none());
    let is_bound = |other: &Clause| {
        other.relation == Relation::Less
            && sides.both(other).is_some_and(|(below, most)| {
                below == left && most.value().is_some_and(|most| most == modulus)
            })
    };
    let bounds: Vec<bool> = others.map(is_bound).collect();
    let is_reduced = bounds.contains(&true) && is_apart(&value, &results);
    Ok(Some(Promise { contract, params, results, modulus, value, equals: right, is_reduced }))
}

/// The words of variables, with their greatest values.
fn words(vars: &[Var], most: &[u64]) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    for var in vars {
        let VarType::Words { atom, .. } = &var.ty else { return None };
        let bits = usize::from(atom.bits()?);
        words.extend((0..var.ty.atoms()).map(|_| Word { bits, most: 0 }));
    }
    if words.len() != most.len() {
        return None;
    }
    words.iter_mut().zip(most).for_each(|(word, &most)| word.most = most);
    words.iter().all(|word| word.bits <= 64).then_some(words)
}

/// The words of the result in its value, with the exponents of their factors: powers of two, and
/// one of them 1.
fn value(left: &Poly, results: &[Word], params: usize) -> Option<Vec<(usize, u64)>> {
    let mut value = Vec::new();
    for (monomial, factor) in left.terms() {
        let [(variable, exponent)] = &monomial[..] else { return None };
        let at = (*variable as usize / 2).checked_sub(params)?;
        let zeros = factor.trailing_zeros()?;
        let is_power = *factor == BigInt::from(1) << zeros && exponent.small() == Some(1);
        value.push(is_power.then_some((at, zeros))?);
    }
    let all: std::collections::BTreeSet<usize> = value.iter().map(|(at, _)| *at).collect();
    let has_all = all.len() == results.len() && value.len() == results.len();
    (has_all && value.iter().any(|(_, exponent)| *exponent == 0)).then_some(value)
}

/// Whether the words of a value do not overlap.
fn is_apart(value: &[(usize, u64)], results: &[Word]) -> bool {
    let mut sorted = value.to_vec();
    sorted.sort_by_key(|(_, exponent)| *exponent);
    sorted.windows(2).all(|pair| {
        let [(at, from), (_, next)] = pair else { return false };
        let bits = 64 - results[*at].most.leading_zeros();
        from + u64::from(bits) <= *next
    })
}

/// The sides of clauses as polynomials.
struct Sides<'p> {
    program: &'p Program,
    decl: &'p Decl,
    /// Words of the parameters.
    params: usize,
}

impl Sides<'_> {
    fn both(&mut self, clause: &Clause) -> Option<(Poly, Poly)> {
        let results: usize = self.decl.results.iter().map(|var| var.ty.atoms()).sum();
        let numbers: Vec<u32> = (0..(self.params + results) as u32).collect();
        let vars = [&self.decl.params[..], &self.decl.results].concat();
        let scope = bind(&vars, &numbers);
        let mut terms = Terms::new(&self.program.decls, &self.program.values, Variables);
        match terms.sides(&scope, clause).ok()? {
            (Meaning::Int(left), Meaning::Int(right)) => Some((left, right)),
            _ => None,
        }
    }

    /// The modulus and both sides; the right one has words of parameters only.
    fn congruence(&mut self, clause: &Clause) -> Option<(BigInt, Poly, Poly)> {
        let mut terms = Terms::new(&self.program.decls, &self.program.values, Variables);
        let modulus = terms.integer(&Vec::new(), clause.modulus.as_ref()?).ok()?.value()?;
        let (left, right) = self.both(clause).filter(|_| clause.relation == Relation::Equal)?;
        let is_param = |variable: &u32| (*variable as usize / 2) < self.params;
        let fits = modulus > BigInt::from(1) && right.variables().iter().all(is_param);
        fits.then(|| (modulus.clone(), left, right.modulo(&modulus)))
    }
}

/// Words are variables with even numbers.
struct Variables;

impl Integers for Variables {
    type Word = u32;
    type Int = Poly;

    fn literal(&mut self, value: u128) -> Poly {
        Poly::constant(BigInt::from(value))
    }

    fn word(&mut self, word: &u32) -> Poly {
        Poly::variable(2 * word)
    }

    fn combine(&mut self, op: TermOp, a: Poly, b: Poly) -> Result<Poly, String> {
        let many = || "a polynomial with too many terms".to_string();
        match op {
            TermOp::Add => Ok(a.add(&b)),
            TermOp::Sub => Ok(a.sub(&b)),
            TermOp::Mul => a.mul(&b).ok_or_else(many),
            TermOp::Power => {
                let exponent = b.value().and_then(|value| value.to_biguint());
                let exponent = exponent.ok_or("an exponent that is no constant")?;
                if let (Some(base), Ok(small)) = (a.value(), u16::try_from(&exponent)) {
                    return Ok(Poly::constant(base.pow(small.into())));
                }
                a.power(&Exponent::from(exponent), None).ok_or_else(many)
            }
            TermOp::Div => {
                let quotient = a.value().zip(b.value().filter(|b| *b != BigInt::ZERO));
                quotient.map(|(a, b)| Poly::constant(a / b)).ok_or("a quotient of words".into())
            }
        }
    }

    fn node(&mut self, _: DeclId, _: Vec<u32>) -> Result<Vec<u32>, String> {
        Err("a node in a contract".into())
    }
}
