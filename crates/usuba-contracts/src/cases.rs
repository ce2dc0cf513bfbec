//! Case analysis of comparisons: the values of a few carries decide the rest.
//!
//! ```text
//! c = (h + 19) div 2^255,  r = (h + 19c) mod 2^255, with its own carry d
//! c = 0, d = 0:   h <= 2^255 - 20 by the first line, so r = h is below p
//! c = 0, d = 1:   h >= 2^255 by the second line: impossible
//! ...
//! ```
//!
//! Each number gives a fact: its polynomial lies in its interval. With values for some carries,
//! facts whose polynomials differ by a constant bound the same integer. The case is impossible if
//! their intervals do not meet; otherwise the goal must follow from them.
//!
//! *Soundness:* the cases cover all values of the carries, and each is impossible or implies the
//! goal.
//!
//! *Limits:* the constants below bound the number of cases, values and terms.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::numbers::{Def, Num, Numbers};
use super::poly::Poly;
use super::query::{Compare, Fact};

/// The most cases that are tried.
const MAX_CASES: usize = 256;

/// A variable with more values than this is not split into cases.
const MAX_VALUES: u64 = 4;

/// Facts with more terms than this are left out.
const MAX_TERMS: usize = 64;

type Interval = (Option<BigInt>, Option<BigInt>);

/// Whether a comparison follows in every case.
pub fn holds(numbers: &Numbers, facts: &[Fact], goal: Fact) -> bool {
    let (compare, a, b) = goal;
    let gap = numbers.get(b).poly.sub(&numbers.get(a).poly);
    if gap.size() > MAX_TERMS {
        return false;
    }
    let mut variables = gap.variables();
    variables.extend([a, b].map(|n| numbers.variable(n)));
    // The parts of a carry decide its value.
    for at in 0..variables.len() {
        for part in parts(numbers, Numbers::of_variable(variables[at])) {
            variables.extend(numbers.get(part).poly.variables());
        }
    }
    variables.sort_unstable();
    variables.dedup();
    let mut few: Vec<(u32, u64, u64)> = Vec::new();
    for &variable in &variables {
        let number = numbers.get(Numbers::of_variable(variable));
        let (Ok(low), Ok(high)) = (u64::try_from(&number.low), u64::try_from(&number.high)) else {
            continue;
        };
        if high - low < MAX_VALUES {
            few.push((variable, low, high));
        }
    }
    few.sort_by_key(|&(variable, low, high)| (high - low, variable));
    let mut count = 1usize;
    few.retain(|&(_, low, high)| {
        let values = (high - low + 1) as usize;
        let fits = count * values <= MAX_CASES;
        count *= if fits { values } else { 1 };
        fits
    });
    let known = known(numbers, facts, &variables);
    (0..count).all(|mut case| {
        let mut values: BTreeMap<u32, BigInt> = BTreeMap::new();
        for &(variable, low, high) in &few {
            let size = (high - low + 1) as usize;
            values.insert(variable, BigInt::from(low + (case % size) as u64));
            case /= size;
        }
        in_case(numbers, &known, &values, &gap, compare)
    })
}

/// The numbers whose intervals decide a carry.
fn parts(numbers: &Numbers, n: Num) -> Vec<Num> {
    match numbers.get(n).def {
        Def::Quotient(a, _) => vec![a],
        Def::Less(a, b) => vec![a, b],
        _ => Vec::new(),
    }
}

/// A polynomial and its interval; with a condition, the interval holds if the variable has the
/// value.
struct Known {
    poly: Poly,
    interval: Interval,
    condition: Option<(u32, BigInt)>,
}

/// The facts about polynomials in these variables.
fn known(numbers: &Numbers, facts: &[Fact], variables: &[u32]) -> Vec<Known> {
    let among = |poly: &Poly| {
        poly.size() <= MAX_TERMS
            && poly.variables().iter().all(|v| variables.binary_search(v).is_ok())
    };
    let mut all = Vec::new();
    for (at, number) in numbers.all().iter().enumerate() {
        if among(&number.poly) && !matches!(number.def, Def::Const(_)) {
            let interval = (Some(number.low.clone().into()), Some(number.high.clone().into()));
            all.push(Known { poly: (*number.poly).clone(), interval, condition: None });
        }
        let variable = numbers.variable(Num(at as u32));
        if let Def::Quotient(a, k) = number.def {
            let power = BigInt::from(1) << k;
            let poly = numbers.get(a).poly.plus(&Poly::variable(variable), &-&power);
            if among(&poly) {
                let interval = (Some(BigInt::ZERO), Some(power - 1));
                all.push(Known { poly, interval, condition: None });
            }
        }
        let Def::Less(a, b) = number.def else { continue };
        let gap = numbers.get(b).poly.sub(&numbers.get(a).poly);
        if among(&gap) {
            let condition = |value: u8| Some((variable, BigInt::from(value)));
            let (one, zero) = (BigInt::from(1), BigInt::ZERO);
            let below = (Some(one), None);
            all.push(Known { poly: gap.clone(), interval: below, condition: condition(1) });
            all.push(Known { poly: gap, interval: (None, Some(zero)), condition: condition(0) });
        }
    }
    for &(compare, a, b) in facts {
        let gap = numbers.get(b).poly.sub(&numbers.get(a).poly);
        if among(&gap) {
            let interval = match compare {
                Compare::Equal => (Some(BigInt::ZERO), Some(BigInt::ZERO)),
                Compare::Less => (Some(BigInt::from(1)), None),
                Compare::AtMost => (Some(BigInt::ZERO), None),
            };
            all.push(Known { poly: gap, interval, condition: None });
        }
    }
    all
}

fn in_case(
    numbers: &Numbers,
    known: &[Known],
    values: &BTreeMap<u32, BigInt>,
    gap: &Poly,
    compare: Compare,
) -> bool {
    let mut sizes: BTreeMap<Poly, Interval> = BTreeMap::new();
    for fact in known {
        if let Some((variable, value)) = &fact.condition
            && values.get(variable) != Some(value)
        {
            continue;
        }
        let (poly, constant, negative) = normal(&fact.poly, values);
        let shift = |bound: &Option<BigInt>| bound.as_ref().map(|bound| bound - &constant);
        let (mut low, mut high) = (shift(&fact.interval.0), shift(&fact.interval.1));
        if negative {
            (low, high) = (high.map(|bound| -bound), low.map(|bound| -bound));
        }
        let size = sizes.entry(poly).or_default();
        size.0 = size.0.take().max(low);
        size.1 = match (size.1.take(), high) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if let (Some(low), Some(high)) = size
            && low > high
        {
            return true;
        }
    }
    // An integer that is no polynomial at all is zero.
    if let Some((low, high)) = sizes.get(&Poly::default()) {
        let zero = BigInt::ZERO;
        if low.as_ref().is_some_and(|low| *low > zero) || high.as_ref().is_some_and(|h| *h < zero) {
            return true;
        }
    }
    let (poly, constant, negative) = normal(gap, values);
    let (mut low, mut high) = sizes.get(&poly).cloned().unwrap_or_default();
    // Term by term.
    if let Some((least, most)) = poly.bounds(|variable| numbers.bounds(variable)) {
        low = low.max(Some(least));
        high = Some(high.map_or(most.clone(), |high| high.min(most)));
    }
    if negative {
        (low, high) = (high.map(|bound| -bound), low.map(|bound| -bound));
    }
    let (low, high) = (low.map(|low| low + &constant), high.map(|high| high + &constant));
    let least = |want: i32| low.as_ref().is_some_and(|low| *low >= BigInt::from(want));
    match compare {
        Compare::Less => least(1),
        Compare::AtMost => least(0),
        Compare::Equal => least(0) && high.is_some_and(|high| high <= BigInt::ZERO),
    }
}

/// A polynomial with values for some variables, in normal form: without its constant, with a
/// positive first factor; then the constant, and whether the sign was flipped.
fn normal(poly: &Poly, values: &BTreeMap<u32, BigInt>) -> (Poly, BigInt, bool) {
    let (poly, constant) = poly.assign(values);
    let negative = poly.is_negative();
    let poly = if negative { poly.scaled(&BigInt::from(-1)) } else { poly };
    (poly, constant, negative)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// h below 2^255 + 38, then the form below p, as `freeze` makes it with this constant.
    fn freeze(fold: u32) -> (Numbers, [Num; 4]) {
        let mut n = Numbers::default();
        let power = num_bigint::BigUint::from(1u8) << 255u32;
        let h = n.any(0u8, &power + 37u8);
        let constant = n.constant(fold);
        let first = n.sum(h, constant);
        let (c, _) = n.split(first, 255);
        let again = n.product(c, constant);
        let second = n.sum(h, again);
        let (d, r) = n.split(second, 255);
        let p = n.constant(power - 19u8);
        (n, [c, d, r, p])
    }

    #[test]
    fn a_conditional_subtraction_is_decided_by_its_carry() {
        let (n, [c, d, r, p]) = freeze(19);
        assert!(holds(&n, &[], (Compare::Equal, c, d)));
        assert!(holds(&n, &[], (Compare::Less, r, p)));
    }

    #[test]
    fn another_constant_is_not_enough() {
        let (n, [c, d, r, p]) = freeze(18);
        assert!(holds(&n, &[], (Compare::Equal, c, d)));
        assert!(!holds(&n, &[], (Compare::Less, r, p)));
        let (n, [.., r, p]) = freeze(0);
        assert!(!holds(&n, &[], (Compare::Less, r, p)));
    }

    #[test]
    fn comparisons_are_conditions() {
        let mut n = Numbers::default();
        let (x, y) = (n.any(0u8, 99u8), n.any(0u8, 99u8));
        let less = n.less(x, y);
        let step = n.constant(100u8);
        let raise = n.product(less, step);
        let x = n.sum(x, raise);
        assert!(holds(&n, &[], (Compare::AtMost, y, x)));
        assert!(!holds(&n, &[], (Compare::Less, y, x)));
    }
}
