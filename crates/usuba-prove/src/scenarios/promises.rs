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
use usuba::typed::contract::{Integers, Meaning, Scope, Terms, bind};
use usuba::typed::{Decl, DeclId, Program, Var, VarType};
use usuba_contracts::edwards::Curve;
use usuba_contracts::monomial::{self, Exponent};
use usuba_contracts::poly::Poly;
use usuba_object::arithmetic::{most, most_of_results};
use usuba_object::promises::{Digits, Promise, Sum, Value, Word};

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
    let mut sides = Sides::new(typed, decl);
    let (mut equations, mut bounds) = (Vec::new(), Vec::new());
    for clause in &decl.contract {
        let Some((left, right)) = sides.both(clause) else { continue };
        match clause.relation {
            Relation::Equal => equations.push((sides.modulus(clause), left, right)),
            Relation::Less => bounds.push((left, right.value())),
            _ => {}
        }
    }
    let Some(modulus) = equations.first().map(|(modulus, ..)| modulus.clone()) else {
        return Ok(None);
    };
    let results_at = params.len()..params.len() + results.len();
    let mut values: Vec<Value> = Vec::new();
    for (other, left, right) in equations {
        let is_result = |variable: &u32| results_at.contains(&(*variable as usize / 2));
        let fits = other == modulus && !right.variables().iter().any(is_result);
        let found = digits(&left, &results, params.len(), modulus.as_ref());
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
        let is_reduced = bounds.iter().any(is_bound) && is_apart(&words, &results);
        values.push(Value { words, equals, is_reduced });
    }
    let sum = match modulus.as_ref() == Some(&curve.prime) {
        true => sum(&decl.params, &values, curve),
        false => None,
    };
    let powers = sides.terms.integers.powers;
    // Their bases may be powers, and are no results.
    let mut bases = powers.iter().flat_map(|(base, _)| base.variables());
    if bases.any(|variable| results_at.contains(&(variable as usize / 2))) {
        return Ok(None);
    }
    let promise = Promise { contract, params, results, modulus, powers, values, sum };
    Ok((!promise.values.is_empty()).then_some(promise))
}

/// The sum of points that values are, where all of them and the parameters are numbers of one form.
fn sum(params: &[Var], values: &[Value], curve: &Curve) -> Option<Sum> {
    let places: Vec<u64> = values.first()?.words.iter().map(|(_, exponent)| *exponent).collect();
    let size = places.len();
    let is_number = |(at, value): (usize, &Value)| {
        let own = places.iter().enumerate().map(|(word, &exponent)| (size * at + word, exponent));
        value.words.iter().copied().eq(own)
    };
    let count: usize = params.iter().map(|var| var.ty.atoms()).sum();
    let fits = params.iter().all(|var| var.ty.atoms() % size == 0)
        && values.iter().enumerate().all(is_number)
        && places.first() == Some(&0);
    if !fits {
        return None;
    }
    let digits = |number: usize| -> Digits {
        places
            .iter()
            .enumerate()
            .map(|(word, &exponent)| (size * number + word, exponent))
            .collect()
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
    let words: Vec<Poly> = (0..count).map(word).collect();
    let prime = &curve.prime;
    let result = |value: &Value| {
        let power = |poly: &Poly, exponent: &Exponent| poly.power(exponent, Some(prime));
        let result = value.equals.composed(&words, prime, power)?;
        let are_numbers = result.variables().iter().all(|at| (*at as usize) < 2 * numbers.len());
        are_numbers.then_some(result)
    };
    let results: Vec<Poly> = values.iter().map(result).collect::<Option<_>>()?;
    let law = curve.law(numbers.len(), &results)?;
    Some(Sum { law, numbers })
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
    params: usize,
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
        let at = (variable as usize / 2).checked_sub(params).filter(|at| *at < results.len())?;
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
    fn new(program: &'p Program, decl: &Decl) -> Sides<'p> {
        let vars = [&decl.params[..], &decl.results].concat();
        let words = vars.iter().map(|var| var.ty.atoms() as u32).sum();
        let numbers: Vec<u32> = (0..words).collect();
        let variables = Variables { words, powers: Vec::new() };
        let terms = Terms::new(&program.decls, &program.values, variables);
        Sides { terms, scope: bind(&vars, &numbers) }
    }

    fn both(&mut self, clause: &Clause) -> Option<(Poly, Poly)> {
        match self.terms.sides(&self.scope, clause).ok()? {
            (Meaning::Int(left), Meaning::Int(right)) => Some((left, right)),
            _ => None,
        }
    }

    /// The modulus of a clause; `None` without one.
    fn modulus(&mut self, clause: &Clause) -> Option<BigInt> {
        self.terms.integer(&Vec::new(), clause.modulus.as_ref()?).ok()?.value()
    }
}

/// Words are variables with even numbers, and so are powers of sums behind them.
struct Variables {
    /// Words of parameters and results.
    words: u32,
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
                let exponent = Exponent::from(exponent);
                let power = a.power(&exponent, None);
                Ok(power.unwrap_or_else(|| {
                    self.powers.push((a, exponent));
                    Poly::variable(2 * (self.words + self.powers.len() as u32 - 1))
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
