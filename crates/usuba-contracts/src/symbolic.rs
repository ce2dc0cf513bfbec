//! Abstract interpretation of a node over intervals and polynomials.
//!
//! Every `+ - *` is shown to stay inside of its word before it becomes a sum, difference or product
//! of numbers; inside of `wrap(...)` the result is reduced instead. A call of a node with a
//! contract is a function summary: its arguments must meet the precondition, and its results are
//! any numbers that meet the postcondition.

use num_bigint::{BigInt, BigUint};
use rustc_hash::{FxHashMap, FxHashSet};
use usuba_lang::diag::{Code, Span};
use usuba_lang::op::Op;
use usuba_lang::typed::contract::Scope;
use usuba_lang::typed::walk::{Carried, Domain, Refusal, Stop, Typed, Walker};
use usuba_lang::typed::{Atom, Decl, DeclId, Instance, Range, contract};
use usuba_sat::Engines;

use super::bounds::bounds;
use super::numbers::{Num, Numbers};
use super::poly::Poly;
use super::query::{self, Compare, Fact};
use super::{cases, clause};

/// The facts besides the numbers.
#[derive(Default)]
pub struct Symbolic {
    pub numbers: Numbers,
    /// Comparisons that preconditions and postconditions give.
    pub facts: Vec<Fact>,
    /// Variables that equal polynomials of earlier variables, modulo a constant if there is one.
    pub rules: Vec<(u32, Poly, Option<BigInt>)>,
    /// Results of calls; equal arguments have equal results.
    pub calls: FxHashMap<(DeclId, Vec<Num>), Vec<Num>>,
    /// The number of `wrap(...)` around the current place.
    wraps: usize,
    /// The number of obligations.
    pub obligations: usize,
    /// The number of obligations that needed bit-blasting.
    pub queries: usize,
    /// Engines that discharged obligations, besides intervals.
    pub engines: Engines,
    /// The number of calls that stand for a contract.
    pub promises: usize,
    induction: bool,
    /// Carried words at the beginning of any turn, by name.
    pub carried: FxHashMap<Num, String>,
    /// An obligation failed that depends on the interval of a carried word.
    pub blamed: bool,
    /// Values of free numbers where an obligation may fail.
    pub examples: Vec<FxHashMap<Num, BigUint>>,
}

/// The most carried words that a message names.
const MAX_WORDS: usize = 3;

/// The most examples that are kept.
const MAX_EXAMPLES: usize = 32;

/// 2^m - 1
pub fn ones(m: u8) -> BigUint {
    (BigUint::from(1u8) << m) - 1u8
}

/// A bound in a message: exact if it is short.
pub fn bound(value: &BigUint) -> String {
    let next = value + 1u8;
    match next.trailing_zeros() {
        Some(k) if BigUint::from(1u8) << k == next && k > 16 => format!("2^{k} - 1"),
        _ if value.bits() <= 24 => value.to_string(),
        _ => format!("{value:#x}, a number of {} bits", value.bits()),
    }
}

impl Symbolic {
    /// No facts; with `induction`, loops whose turns are alike are shown by one turn.
    pub fn new(induction: bool) -> Symbolic {
        Symbolic { induction, ..Symbolic::default() }
    }

    /// Notes engines that discharged an obligation.
    pub fn used(&mut self, engines: Engines) {
        self.engines = self.engines.with(engines);
    }

    /// A call, by its node and arguments.
    pub fn call_of(&mut self, node: DeclId, args: &[Num]) -> (DeclId, Vec<Num>) {
        (node, args.iter().map(|&arg| self.numbers.first(arg)).collect())
    }

    pub fn compare(&mut self, fact: Fact) -> bool {
        let (compare, a, b) = fact;
        self.obligations += 1;
        let (x, y) = (self.numbers.get(a), self.numbers.get(b));
        let known = match compare {
            Compare::Less => x.high < y.low,
            Compare::AtMost => x.high <= y.low,
            Compare::Equal => a == b,
        };
        if known {
            return true;
        }
        self.by_polynomials(fact) || self.by_cases(fact) || self.by_bits(fact)
    }

    fn by_polynomials(&mut self, (compare, a, b): Fact) -> bool {
        let (x, y) = (self.numbers.get(a), self.numbers.get(b));
        let gap = y.poly.sub(&x.poly);
        let least = || bounds(&self.numbers, &gap).map(|(low, _)| low);
        let known = match compare {
            Compare::Less => least().is_some_and(|low| low > BigInt::ZERO),
            Compare::AtMost => least().is_some_and(|low| low >= BigInt::ZERO),
            Compare::Equal => gap.is_zero(),
        };
        self.used(Engines::POLYNOMIALS.when(known));
        known
    }

    pub fn by_cases(&mut self, fact: Fact) -> bool {
        let known = cases::holds(&self.numbers, &self.facts, fact);
        self.used(Engines::CASES.when(known));
        known
    }

    fn by_bits(&mut self, fact: Fact) -> bool {
        self.queries += 1;
        let answer = query::ask(&self.numbers, &self.facts, fact);
        self.used(Engines::SOLVER.when(answer == query::Answer::Holds));
        match answer {
            query::Answer::Fails(values) if self.examples.len() < MAX_EXAMPLES => {
                self.examples.push(values);
                false
            }
            answer => answer == query::Answer::Holds,
        }
    }

    /// Shows that a number fits m bits.
    fn fits(&mut self, n: Num, m: u8, what: &str) -> Result<Num, Refusal> {
        self.obligations += 1;
        let most = ones(m);
        if self.numbers.get(n).high <= most {
            return Ok(n);
        }
        let limit = self.numbers.constant(most.clone());
        if self.compare((Compare::AtMost, n, limit)) {
            return Ok(self.numbers.at_most(n, most));
        }
        let high = bound(&self.numbers.get(n).high);
        let since = self.since(&[n]);
        Err(Refusal {
            code: Code::ArithmeticWraps,
            message: format!("{what} can be {high}; its words have {m} bits{since}"),
            help: Some(match what {
                "this number" => {
                    "carry before, widen the result, or write `wrap(...)` if the upper \
                                  bits are meant to be lost"
                        .into()
                }
                _ => format!(
                    "carry before, use wider words, or write `wrap(...)` if it is meant modulo 2^{m}"
                ),
            }),
        })
    }

    /// The intervals of carried words that numbers are computed from, as the end of a message.
    fn since(&mut self, numbers: &[Num]) -> String {
        let mut stack = numbers.to_vec();
        let mut seen = FxHashSet::default();
        while let Some(n) = stack.pop().filter(|_| !self.carried.is_empty()) {
            if seen.insert(n) {
                stack.extend(self.numbers.operands(n));
            }
        }
        let mut words: Vec<Num> =
            seen.into_iter().filter(|n| self.carried.contains_key(n)).collect();
        words.sort_unstable();
        let known = |n: &Num| {
            let (name, number) = (&self.carried[n], self.numbers.get(*n));
            format!("`{name}` from {} to {}", bound(&number.low), bound(&number.high))
        };
        let words: Vec<String> = words.iter().take(MAX_WORDS).map(known).collect();
        match words.is_empty() {
            true => String::new(),
            false => {
                self.blamed = true;
                format!("; a turn of the loop begins with {}", words.join(", "))
            }
        }
    }

    fn add(&mut self, a: Num, b: Num, m: u8) -> Result<Num, Refusal> {
        let sum = self.numbers.sum(a, b);
        match self.wraps {
            0 => self.fits(sum, m, "this sum"),
            _ => Ok(self.numbers.split(sum, m as u64).1),
        }
    }

    fn sub(&mut self, a: Num, b: Num, m: u8) -> Result<Num, Refusal> {
        if self.wraps == 0 || self.numbers.get(a).low >= self.numbers.get(b).high {
            if !self.compare((Compare::AtMost, b, a)) {
                let high = bound(&self.numbers.get(b).high);
                let low = bound(&self.numbers.get(a).low);
                let since = self.since(&[a, b]);
                return Err(Refusal {
                    code: Code::ArithmeticWraps,
                    message: format!(
                        "this difference can go below zero: {high} can be taken from {low}{since}"
                    ),
                    help: Some(format!(
                        "add a multiple of the modulus before, or write `wrap(...)` if it is meant \
                         modulo 2^{m}"
                    )),
                });
            }
            return Ok(self.numbers.diff(a, b));
        }
        if self.numbers.value(a) == Some(&BigUint::ZERO) && self.numbers.is_bit(b) {
            return Ok(self.numbers.spread(b, ones(m)));
        }
        let above = self.numbers.constant(BigUint::from(1u8) << m);
        let raised = self.numbers.sum(a, above);
        let difference = self.numbers.diff(raised, b);
        Ok(self.numbers.split(difference, m as u64).1)
    }

    fn mul(&mut self, a: Num, b: Num, m: u8) -> Result<Num, Refusal> {
        let product = self.numbers.product(a, b);
        match self.wraps {
            0 => self.fits(product, m, "this product"),
            _ => Ok(self.numbers.split(product, m as u64).1),
        }
    }

    /// `a * 2^k` modulo 2^m.
    fn shl(&mut self, a: Num, k: u8, m: u8) -> Num {
        let (_, kept) = self.numbers.split(a, (m - k) as u64);
        self.numbers.scaled(kept, k as u64)
    }

    fn not(&mut self, a: Num, m: u8) -> Num {
        if let Some(bit) = self.numbers.get(a).spread
            && self.numbers.get(a).high == ones(m)
        {
            let one = self.numbers.constant(1u8);
            let other = self.numbers.diff(one, bit);
            return self.numbers.spread(other, ones(m));
        }
        let all = self.numbers.constant(ones(m));
        self.numbers.diff(all, a)
    }

    fn anything(&mut self, m: u8) -> Num {
        self.numbers.any(0u8, ones(m))
    }

    /// Shows that a number is in a range.
    pub fn within(&mut self, n: Num, range: &Range) -> Result<(), Refusal> {
        self.obligations += 1;
        let number = self.numbers.get(n);
        let (low, high) = (BigUint::from(range.low), BigUint::from(range.high));
        let (least, most) = (number.low.clone(), number.high.clone());
        let (low, high) = (self.numbers.constant(low), self.numbers.constant(high));
        let inside =
            self.compare((Compare::AtMost, low, n)) && self.compare((Compare::AtMost, n, high));
        if inside {
            self.numbers.at_most(n, BigUint::from(range.high));
            return Ok(());
        }
        let (low, high) = (BigUint::from(range.low), BigUint::from(range.high));
        Err(Refusal {
            code: Code::ContractFails,
            message: format!(
                "this can be from {} to {}, the range is from {} to {}{}",
                bound(&least),
                bound(&most),
                bound(&low),
                bound(&high),
                self.since(&[n])
            ),
            help: Some("carry before, or widen the range".into()),
        })
    }
}

impl Domain for Symbolic {
    type V = Num;

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&Num]) -> Result<Num, Refusal> {
        let m = ty.bits().expect("a node without open sizes");
        let a = args.first().map_or(Num(0), |&&a| a);
        let b = args.get(1).map_or(Num(0), |&&b| b);
        Ok(match op {
            Op::Const(value) => self.numbers.constant(*value),
            Op::Copy => a,
            Op::Not => self.not(a, m),
            Op::And => self.numbers.and(a, b),
            Op::Or => self.numbers.or(a, b),
            Op::Xor => self.numbers.xor(a, b),
            Op::Andn => {
                let a = self.not(a, m);
                self.numbers.and(a, b)
            }
            Op::Add => self.add(a, b, m)?,
            Op::Sub => self.sub(a, b, m)?,
            Op::Mul => self.mul(a, b, m)?,
            Op::MulHigh => {
                let product = self.numbers.product(a, b);
                self.numbers.split(product, m as u64).0
            }
            Op::Less => self.numbers.less(a, b),
            Op::Resize(from) if m >= *from => a,
            Op::Resize(_) if self.wraps > 0 => self.numbers.split(a, m as u64).1,
            Op::Resize(_) => self.fits(a, m, "this number")?,
            Op::Shl(k) => self.shl(a, *k, m),
            Op::Shr(k) => self.numbers.split(a, *k as u64).0,
            Op::Sar(k) if self.numbers.get(a).high <= ones(m - 1) => {
                self.numbers.split(a, *k as u64).0
            }
            Op::Sar(k) => {
                let (sign, _) = self.numbers.split(a, m as u64 - 1);
                let (quotient, _) = self.numbers.split(a, *k as u64);
                let above = ones(m) - ones(m - k);
                let above = self.numbers.constant(above);
                let above = self.numbers.product(sign, above);
                self.numbers.sum(quotient, above)
            }
            Op::Rotl(k) => {
                let (upper, _) = self.numbers.split(a, (m - k) as u64);
                let lower = self.shl(a, *k, m);
                self.numbers.sum(lower, upper)
            }
            Op::Bitmask(i) => {
                let (upper, _) = self.numbers.split(a, *i as u64);
                let (_, bit) = self.numbers.split(upper, 1);
                self.numbers.spread(bit, ones(m))
            }
            Op::Pack => {
                let power = self.numbers.constant(BigUint::from(1u8) << (m / 2));
                let upper = self.numbers.product(a, power);
                self.numbers.sum(upper, b)
            }
            // These results are known by their width alone.
            Op::Lut3(_) | Op::Shuffle(_) | Op::Lookup(_) => self.anything(m),
            Op::Affine(..) | Op::AffineInverse(..) | Op::Lanes(_) => self.anything(m),
            Op::MulAdd(_) | Op::MulAddHigh(_) | Op::Clmul | Op::ClmulHigh => self.anything(m),
        })
    }

    fn split(&mut self, _: &Atom, value: &Num, k: u8) -> Result<(Num, Num), Refusal> {
        Ok(self.numbers.split(*value, k as u64))
    }

    fn wrap(&mut self, inside: bool) {
        self.wraps = if inside { self.wraps + 1 } else { self.wraps - 1 };
    }

    fn define(&mut self, range: &Range, _: &Atom, value: &Num) -> Result<(), Refusal> {
        self.within(*value, range)
    }

    fn by_induction(&self) -> bool {
        self.induction
    }

    /// Any number in the interval of both values; the third one in the declared range, or any word.
    fn carry(&mut self, word: Carried<'_, Num>, widened: usize) -> Option<Num> {
        let (begin, end) = (self.numbers.get(*word.begin), self.numbers.get(*word.end));
        let bits = word.ty.bits().expect("a node without open sizes");
        let (least, most) = match word.range {
            Some(range) => (range.low.into(), range.high.into()),
            None => (BigUint::ZERO, ones(bits)),
        };
        let (low, high) = ((&end.low).max(&least), (&end.high).min(&most));
        let known = match widened {
            0 => word.begin == word.end,
            _ => begin.low <= *low && *high <= begin.high,
        };
        if known {
            return None;
        }
        let any = match widened {
            0 | 1 => {
                let (low, high) = (low.min(&begin.low).clone(), high.max(&begin.high).clone());
                self.numbers.any(low, high)
            }
            _ => self.numbers.any(least, most),
        };
        self.carried.insert(any, (word.name)());
        Some(any)
    }

    fn table(
        &mut self,
        _: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        _: &[Num],
    ) -> Result<Vec<Num>, Refusal> {
        let m = ty.bits().expect("a node without open sizes");
        Ok((0..outputs).map(|_| self.anything(m)).collect())
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<Num>>,
        results: &[Atom],
        span: Span,
    ) -> Result<Vec<Num>, Stop> {
        let program = walker.program;
        let decl = &program.decls[instance.decl];
        let args: Vec<Num> = args.into_iter().map(|(_, value)| value).collect();
        keeps_ranges(walker, decl, &args, span)?;
        let mut scope = contract::bind(&decl.params, &args);
        if let Err(finding) = clause::required(&mut walker.domain, program, decl, &scope) {
            let text = format!("`{}` requires more: {}", decl.name, finding.message);
            let help = Some("show it before the call, or require it of the caller as well".into());
            let refusal = Refusal { code: finding.code, message: text, help };
            return Err(walker.refuse(refusal, span));
        }
        if !clause::promises(decl) {
            // Overflow in a callee is part of the callee's own contract.
            let wraps = std::mem::take(&mut walker.domain.wraps);
            let outs = walker.run(instance, args);
            walker.domain.wraps = wraps;
            return outs;
        }
        walker.domain.promises += 1;
        let key = walker.domain.call_of(instance.decl, &args);
        if let Some(outs) = walker.domain.calls.get(&key) {
            return Ok(outs.clone());
        }
        let outs = promised(&mut walker.domain, decl, results);
        scope.extend(contract::bind(&decl.results, &outs));
        match clause::assume(&mut walker.domain, program, decl, &scope, &outs) {
            Ok(outs) => {
                walker.domain.calls.insert(key, outs.clone());
                Ok(outs)
            }
            Err(finding) => {
                walker.report(*finding);
                Err(Stop::Error)
            }
        }
    }
}

/// The flattened ranges of variables.
pub fn ranges(vars: &[usuba_lang::typed::Var]) -> Vec<Option<Range>> {
    vars.iter().flat_map(|var| (0..var.ty.atoms()).map(|at| var.range(at))).collect()
}

fn keeps_ranges(
    walker: &mut Walker<'_, Symbolic>,
    decl: &Decl,
    args: &[Num],
    span: Span,
) -> Result<(), Stop> {
    for (at, (range, &arg)) in ranges(&decl.params).iter().zip(args).enumerate() {
        let Some(range) = range else { continue };
        if let Err(mut refusal) = walker.domain.within(arg, range) {
            refusal.message = format!("argument {at} of `{}`: {}", decl.name, refusal.message);
            return Err(walker.refuse(refusal, span));
        }
    }
    Ok(())
}

/// Results that are known by their ranges alone.
fn promised(symbolic: &mut Symbolic, decl: &Decl, types: &[Atom]) -> Vec<Num> {
    let ranges = ranges(&decl.results);
    let mut outs = Vec::with_capacity(types.len());
    for (range, ty) in ranges.iter().zip(types) {
        let m = ty.bits().expect("a node without open sizes");
        outs.push(match range {
            Some(range) => symbolic.numbers.any(range.low, range.high),
            None => symbolic.anything(m),
        });
    }
    outs
}

/// A name, its dimensions and its words.
pub type Words = Scope<Num>;
