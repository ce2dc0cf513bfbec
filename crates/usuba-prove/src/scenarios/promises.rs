//! Kernels of arithmetic by their contracts: the value of the result as a polynomial in the words of
//! the parameters.
//!
//! ```text
//! node chain (h:sum, w:u64x2 le, …) returns (r:sum)
//! ensures words(r) == (words(h) + num(w) + above * 2^128) * clamped(k) mod 2^130 - 5
//!         r[0] + 2^64 r[1] + 2^128 r[2]         x0 k0 + 2^64 x1 k0 + …
//! ```

use num_bigint::BigInt;
use usuba::syntax::ast::{Clause, Relation, Role, Term, TermOp};
use usuba::typed::contract::{Integers, Meaning, Scope, Terms, bind};
use usuba::typed::{Decl, DeclId, Program, Var, VarType};
use usuba_contracts::edwards::Curve;
use usuba_contracts::monomial::{self, Exponent};
use usuba_contracts::poly::Poly;
use usuba_object::arithmetic::{most, most_of_results};
use usuba_object::points::{Digits, Sum};
use usuba_object::promises::{Promise, Value, Word};

use crate::unit;
use usuba_library::Unit;

/// The contract of a kernel; `None` if its postcondition gives no value of results.
///
/// # Errors
/// The unit does not compile.
pub(super) fn promise(unit: &Unit, curve: &Curve) -> Result<Option<Promise>, String> {
    let output = unit.compile()?;
    let (contract, program) = unit::contract(unit, &output, None)?;
    let typed = &output.checked.program;
    let decl = &typed.decls[typed.entry];
    let is_plain = contract.pointers.iter().copied().eq(0..contract.arrays.len())
        && program.copies == 1
        && decl.contract.iter().all(|clause| clause.role == Role::Ensures);
    let (Some(params), Some(results), true) = (
        words(&decl.params, &most(&program, decl)),
        words(&decl.results, &most_of_results(&program, decl)),
        is_plain,
    ) else {
        return Ok(None);
    };
    let names = (0..params.len() as u32).map(|word| Poly::variable(2 * word));
    let names = Names { params: names.collect(), results: params.len() as u32 };
    let Some(Values { modulus, powers, values }) = values(typed, &results, names) else {
        return Ok(None);
    };
    let sum = sum(typed, &results, curve);
    let sum = sum.filter(|(_, all)| {
        let words = |values: &[Value]| -> Vec<Digits> {
            values.iter().map(|value| value.words.clone()).collect()
        };
        modulus.as_ref() == Some(&curve.prime) && words(&values) == words(all)
    });
    let sum = sum.map(|(sum, _)| sum);
    Ok(Some(Promise { contract, params, results, modulus, powers, values, sum }))
}

/// The integers of a node's postcondition.
struct Values {
    modulus: Option<BigInt>,
    powers: Vec<(Poly, Exponent)>,
    values: Vec<Value>,
}

/// The variables of words: a polynomial for each word of the parameters, and half of the variable of
/// the first result; the variables of other results follow.
struct Names {
    params: Vec<Poly>,
    results: u32,
}

/// The values of the results of a program's entry, modulo the number of its first equation; `None`
/// if there are none.
fn values(program: &Program, results: &[Word], names: Names) -> Option<Values> {
    let decl = &program.decls[program.entry];
    let first = names.results as usize;
    let mut sides = Sides::new(program, decl, names);
    let (mut equations, mut bounds) = (Vec::new(), Vec::new());
    for clause in &decl.contract {
        let Some((left, right)) = sides.both(clause) else { continue };
        match (clause.relation, &clause.modulus) {
            (Relation::Equal, None) => equations.push((None, left, right)),
            (Relation::Equal, Some(modulus)) => {
                let modulus = sides.integer(modulus).and_then(|modulus| modulus.value());
                let Some(modulus) = modulus else { continue };
                equations.push((Some(modulus), left, right));
            }
            (Relation::Less, None) => bounds.push((left, right.value())),
            _ => {}
        }
    }
    let modulus = equations.first()?.0.clone();
    let is_result =
        |variable: &u32| (first..first + results.len()).contains(&(*variable as usize / 2));
    let mut values: Vec<Value> = Vec::new();
    for (other, left, right) in equations {
        let fits = other == modulus && !right.variables().iter().any(is_result);
        let found = digits(&left, results, first, modulus.as_ref());
        let Some((words, factor)) = found.filter(|_| fits) else { continue };
        let is_taken = |value: &Value| {
            let has = |word: &(usize, u64)| words.iter().any(|other| other.0 == word.0);
            value.words.iter().any(has)
        };
        if values.iter().any(is_taken) {
            continue;
        }
        let equals = match &modulus {
            Some(modulus) => right.scaled(&factor).modulo(modulus),
            None => right,
        };
        let is_bound = |(below, most): &(Poly, Option<BigInt>)| {
            *below == left && most.is_some() && *most == modulus
        };
        let is_reduced = bounds.iter().any(is_bound) && is_apart(&words, results);
        values.push(Value { words, equals, is_reduced });
    }
    // Their bases may be powers, and are no results.
    let powers = sides.terms.integers.powers;
    let mut bases = powers.iter().flat_map(|(base, _)| base.variables());
    let is_known = !values.is_empty() && !bases.any(|variable| is_result(&variable));
    is_known.then_some(Values { modulus, powers, values })
}

/// The sum of points that a program's entry computes, and its values, where all of these and the
/// parameters are numbers of one form.
fn sum(program: &Program, results: &[Word], curve: &Curve) -> Option<(Sum, Vec<Value>)> {
    let decl = &program.decls[program.entry];
    let count: usize = decl.params.iter().map(|var| var.ty.atoms()).sum();
    let free = Names { params: vec![Poly::default(); count], results: 0 };
    let left = &decl.contract.first()?.left;
    let left = Sides::new(program, decl, free).integer(left)?;
    let (first, _) = digits(&left, results, 0, None)?;
    let places: Vec<u64> = first.iter().map(|(_, exponent)| *exponent).collect();
    let size = places.len();
    let fits = decl.params.iter().all(|var| var.ty.atoms() % size == 0);
    if !fits || places.first() != Some(&0) {
        return None;
    }
    let digits = |number: usize| -> Digits {
        let word = |(word, &exponent): (usize, &u64)| (size * number + word, exponent);
        places.iter().enumerate().map(word).collect()
    };
    let numbers: Vec<Digits> = (0..count / size).map(digits).collect();
    // The first word of a number is the number without the others, which cancel out. Numbers come
    // before words.
    let variable = |word: usize| Poly::variable(2 * (numbers.len() + word) as u32);
    let word = |word: usize| {
        let number = word / size;
        let others = numbers[number][1..].iter().map(|&(at, exponent)| (variable(at), exponent));
        match word % size {
            0 => others.fold(Poly::variable(2 * number as u32), |rest, (other, exponent)| {
                rest.sub(&other.scaled(&(BigInt::from(1) << exponent)))
            }),
            _ => variable(word),
        }
    };
    let params = (0..count).map(word).collect();
    let names = Names { params, results: (numbers.len() + count) as u32 };
    let Values { modulus, values, .. } = values(program, results, names)?;
    let are_numbers = values.iter().enumerate().all(|(at, value)| {
        let variables = value.equals.variables();
        value.words == digits(at) && variables.iter().all(|at| (*at as usize) < 2 * numbers.len())
    });
    if !are_numbers || modulus.as_ref() != Some(&curve.prime) {
        return None;
    }
    let equals: Vec<Poly> = values.iter().map(|value| value.equals.clone()).collect();
    let law = curve.law(numbers.len(), &equals)?;
    Some((Sum { law, numbers }, values))
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

/// The words of a value with the exponents of their factors, in the order of the words, where these
/// are powers of two times one factor; and the number by which this one has to be multiplied to be 1.
fn digits(
    left: &Poly,
    results: &[Word],
    first: usize,
    modulus: Option<&BigInt>,
) -> Option<(Digits, BigInt)> {
    let least = left.terms().map(|(_, factor)| factor).min()?;
    let one = BigInt::from(1);
    let inverse = match modulus {
        _ if *least == one => one.clone(),
        Some(modulus) => least.modinv(modulus)?,
        None => return None,
    };
    let mut digits = Vec::new();
    for (monomial, factor) in left.terms() {
        let variable = monomial::single(monomial)?;
        let at = (variable as usize / 2).checked_sub(first).filter(|at| *at < results.len())?;
        let zeros = factor.trailing_zeros()?.checked_sub(least.trailing_zeros()?)?;
        digits.push((*factor == least << zeros).then_some((at, zeros))?);
    }
    digits.sort_unstable();
    Some((digits, inverse))
}

/// Whether the words of a value do not overlap.
fn is_apart(value: &Digits, results: &[Word]) -> bool {
    let mut sorted = value.clone();
    sorted.sort_by_key(|(_, exponent)| *exponent);
    sorted.windows(2).all(|pair| {
        let [(at, from), (_, next)] = pair else { return false };
        let bits = 64 - results[*at].most.leading_zeros();
        from + u64::from(bits) <= *next
    })
}

/// The sides of clauses as polynomials.
struct Sides<'p> {
    terms: Terms<'p, Variables>,
    /// The words of the declaration.
    scope: Scope<u32>,
}

impl<'p> Sides<'p> {
    fn new(program: &'p Program, decl: &Decl, names: Names) -> Sides<'p> {
        let vars = [&decl.params[..], &decl.results].concat();
        let words: u32 = vars.iter().map(|var| var.ty.atoms() as u32).sum();
        let numbers: Vec<u32> = (0..words).collect();
        let results = words - names.params.len() as u32;
        let variables = Variables { next: names.results + results, names, powers: Vec::new() };
        let terms = Terms::new(&program.decls, &program.values, variables);
        Sides { terms, scope: bind(&vars, &numbers) }
    }

    fn both(&mut self, clause: &Clause) -> Option<(Poly, Poly)> {
        match self.terms.sides(&self.scope, clause).ok()? {
            (Meaning::Int(left), Meaning::Int(right)) => Some((left, right)),
            _ => None,
        }
    }

    fn integer(&mut self, term: &Term) -> Option<Poly> {
        self.terms.integer(&self.scope, term).ok()
    }
}

/// Powers of sums are variables behind all words.
struct Variables {
    names: Names,
    /// Half of the variable of the next power.
    next: u32,
    /// Sums and their exponents, which are large.
    powers: Vec<(Poly, Exponent)>,
}

impl Integers for Variables {
    type Word = u32;
    type Int = Poly;

    fn literal(&mut self, value: u128) -> Poly {
        Poly::constant(BigInt::from(value))
    }

    fn word(&mut self, word: &u32) -> Poly {
        let result = |at: usize| self.names.results + (at - self.names.params.len()) as u32;
        let at = *word as usize;
        let param = self.names.params.get(at).cloned();
        param.unwrap_or_else(|| Poly::variable(2 * result(at)))
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
                let exponent = Exponent::from(exponent);
                let power = a.power(&exponent, None);
                Ok(power.unwrap_or_else(|| {
                    self.powers.push((a, exponent));
                    self.next += 1;
                    Poly::variable(2 * (self.next - 1))
                }))
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

#[cfg(test)]
#[path = "../../../usuba-contracts/tests/support/arithmetic.rs"]
mod arithmetic;

#[cfg(test)]
mod tests {
    use usuba_contracts::edwards::law::{Form, Law, Operation};

    use super::*;

    /// The law of a node of `arithmetic/curve25519`, by its contract.
    fn law(file: &str, node: &str) -> Option<Law> {
        let name = format!("curve25519/{file}");
        let (program, _) = arithmetic::front(&name, &arithmetic::text(&name), Some(node));
        let results = &program.decls[program.entry].results;
        let count: usize = results.iter().map(|var| var.ty.atoms()).sum();
        let results = vec![Word { bits: 64, most: u64::MAX }; count];
        Some(sum(&program, &results, &Curve::edwards25519())?.0.law)
    }

    /// Every kernel that adds points computes a sum of the group, in each representation of numbers.
    #[test]
    fn kernels_compute_sums_of_the_group() {
        use Form::{Affine, Extended, Projective, Scaled, Summand};
        use Operation::{Add, Double, Same, Subtract};
        let all: [(&str, Operation, &[Form], Form); 8] = [
            ("double", Double, &[Projective], Extended),
            ("double_xyz", Double, &[Projective], Projective),
            ("cache", Same, &[Extended], Scaled),
            ("entry", Same, &[Affine], Summand),
            ("add_affine", Add, &[Extended, Summand], Extended),
            ("sub_affine", Subtract, &[Extended, Summand], Extended),
            ("add_cached", Add, &[Extended, Scaled], Extended),
            ("sub_cached", Subtract, &[Extended, Scaled], Extended),
        ];
        for file in ["limbs51.ua", "limbs25.ua", "rolled25.ua", "lanes25.ua", "lanes52.ua"] {
            for (node, operation, parameters, result) in all {
                let expected = Law { operation, parameters: parameters.to_vec(), result };
                assert_eq!(law(file, node), Some(expected), "{file}: {node}");
            }
            for node in ["mul", "fraction", "negate_affine", "carry"] {
                assert_eq!(law(file, node), None, "{file}: {node}");
            }
        }
    }
}
