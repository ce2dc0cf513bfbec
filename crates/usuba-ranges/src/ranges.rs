//! Ranges of variables and relations between them, and the answers to questions about forms.
//!
//! ```text
//! n = 128 q + r          0 <= q <= 2^50, 0 <= r < 128
//! n >> 7 is q            n & 127 is r           n - 128 >= 0 if q >= 1, and only then
//! ```
//!
//! Every variable has a range. A query with one answer on all ranges is answered; another query names
//! a variable and a value at which to split its range.
//!
//! *Soundness:* any split is sound, as it only distinguishes cases.
//!
//! A *fact* is a form that is never negative, such as the outcome of a comparison of two variables.
//! It bounds forms that are its multiples but for a rest.
//!
//! *Limits:* `FACTS` facts.

use std::cell::RefCell;
use std::rc::Rc;

use super::forms::{Form, VARIABLES};
use super::relations::System;

/// Facts that are kept, at most.
const FACTS: usize = 32;

/// A quotient with more values is a variable, not a case each.
const MANY: i64 = 4;

/// Numbers stay below this bound, so neither a register nor this arithmetic overflows: no machine
/// has as many bytes.
const LIMIT: i128 = 1 << 62;

/// The values that a variable may have, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    pub low: i64,
    pub high: i64,
}

impl Range {
    /// Any number that a form may be.
    pub const ANY: Range = Range { low: -(1 << 61), high: 1 << 61 };
}

/// Where a range is split: into values below `at`, and the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    pub variable: usize,
    pub at: i64,
}

/// The answer to a question about forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Is(bool),
    /// It depends; ask again after the split.
    Depends(Split),
}

/// The ranges of all variables, and facts about them. Unused variables have the range zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges(pub [Range; VARIABLES], Rc<Facts>);

/// Facts, and their system in the ranges in which one was asked for last.
#[derive(Default, Debug)]
struct Facts {
    forms: Vec<Form>,
    solved: RefCell<Option<([Range; VARIABLES], Rc<System>)>>,
}

impl PartialEq for Facts {
    fn eq(&self, other: &Facts) -> bool {
        self.forms == other.forms
    }
}

impl Eq for Facts {}

impl Ranges {
    /// The bounds by the ranges of the variables alone.
    pub(crate) fn box_bounds(&self, form: Form) -> (i128, i128) {
        let mut bounds = (form.constant as i128, form.constant as i128);
        let terms = form.terms.iter().zip(&self.0).filter(|(factor, _)| **factor != 0);
        for (&factor, range) in terms {
            let ends = [range.low, range.high].map(|end| factor as i128 * end as i128);
            bounds.0 += ends[0].min(ends[1]);
            bounds.1 += ends[0].max(ends[1]);
        }
        bounds
    }

    /// The form with numbers for variables that have one value only.
    pub fn known(&self, form: Form) -> Form {
        let single = |(at, range): (usize, &Range)| {
            (range.low == range.high && form.terms[at] != 0).then_some((at, range.low))
        };
        let mut singles = self.0.iter().enumerate().filter_map(single);
        let known = singles.try_fold(form, |form, (at, value)| form.with(at, Form::number(value)));
        known.unwrap_or(form)
    }

    /// The same; `None` if it may exceed the bound.
    pub fn reduced(&self, form: Form) -> Option<Form> {
        let reduced = self.known(form);
        let is_small = |(low, high)| low > -LIMIT && high < LIMIT;
        (is_small(self.box_bounds(reduced)) || is_small(self.bounds(reduced))).then_some(reduced)
    }

    /// Whether form >= 0.
    pub fn at_least_zero(&self, form: Form) -> Verdict {
        // Facts are asked where the ranges alone have no answer.
        for bounds in [Ranges::box_bounds, Ranges::bounds] {
            let (low, high) = bounds(self, form);
            if low >= 0 || high < 0 {
                return Verdict::Is(low >= 0);
            }
        }
        // The variable that decides most is split where the form is certain on one side.
        let (low, high) = self.box_bounds(form);
        let width = |at: usize| {
            let range = self.0[at];
            form.terms[at].unsigned_abs() as u128 * (range.high - range.low) as u128
        };
        let variable = (0..VARIABLES).max_by_key(|&at| width(at)).expect("there are variables");
        let factor = form.terms[variable] as i128;
        let range = self.0[variable];
        let ends = [range.low, range.high].map(|end| factor * end as i128);
        let rest = (low - ends[0].min(ends[1]), high - ends[0].max(ends[1]));
        // Above (or below, if the factor is negative) the first bound the form is not negative for
        // every value of the rest; below the second one it is negative.
        let ceiling = |a: i128, b: i128| -(-a).div_euclid(b);
        let cuts = if factor > 0 {
            [ceiling(-rest.0, factor), ceiling(-rest.1, factor)]
        } else {
            [rest.0.div_euclid(-factor) + 1, rest.1.div_euclid(-factor) + 1]
        };
        let inside = |at: &i128| *at > range.low as i128 && *at <= range.high as i128;
        let at = cuts
            .into_iter()
            .find(inside)
            .unwrap_or_else(|| (range.low as i128 + range.high as i128).div_euclid(2) + 1);
        Verdict::Depends(Split { variable, at: at as i64 })
    }

    /// Whether form = 0.
    pub fn is_zero(&self, form: Form) -> Verdict {
        let (low, high) = self.bounds(form);
        if low == 0 && high == 0 {
            return Verdict::Is(true);
        }
        if low > 0 || high < 0 {
            return Verdict::Is(false);
        }
        let used: Vec<usize> = (0..VARIABLES).filter(|&at| form.terms[at] != 0).collect();
        if let [variable] = used[..] {
            let (factor, constant) = (form.terms[variable], form.constant);
            if constant % factor != 0 {
                return Verdict::Is(false);
            }
            // The root lies in the range, as zero lies between the bounds.
            let (root, range) = (-(constant / factor), self.0[variable]);
            let at = if root == range.low { root + 1 } else { root };
            return Verdict::Depends(Split { variable, at });
        }
        // Positive and negative values first.
        let positive = match self.at_least_zero(form) {
            Verdict::Is(_) => self.at_least_zero(Form { constant: form.constant - 1, ..form }),
            depends => depends,
        };
        positive.inverted()
    }

    /// Quotient and remainder by a positive divisor; `None` if they are no forms.
    pub fn divided(&self, form: Form, divisor: i64) -> Option<(Form, Form)> {
        let (low, high) = self.bounds(form);
        let (first, last) = (low.div_euclid(divisor as i128), high.div_euclid(divisor as i128));
        if first == last {
            let quotient = Form::number(i64::try_from(first).ok()?);
            return Some((quotient, form.minus(quotient.times(divisor)?)?));
        }
        let rest = form.remainder(divisor);
        let quotient = form.minus(rest)?.over(divisor);
        // The rest may be a multiple and a remainder again.
        let (low, high) = self.bounds(rest);
        let (first, last) = (low.div_euclid(divisor as i128), high.div_euclid(divisor as i128));
        if first != last {
            return self.facts().find_map(|fact| self.divided_by(form, divisor, fact));
        }
        let more = Form::number(i64::try_from(first).ok()?);
        Some((quotient.plus(more)?, rest.minus(more.times(divisor)?)?))
    }

    /// Quotient and remainder, if the remainder is a fact and a number.
    fn divided_by(&self, form: Form, divisor: i64, fact: Form) -> Option<(Form, Form)> {
        let multiple = form.minus(fact)?;
        let more = Form::number(multiple.remainder(divisor).value()?);
        let (rest, quotient) = (fact.plus(more)?, multiple.minus(more)?.over(divisor));
        let (low, high) = self.bounds(rest);
        (low >= 0 && high < divisor.into()).then_some((quotient, rest))
    }

    /// The variable that must be a multiple and a remainder, before the form has a quotient: the
    /// widest one whose factor is no multiple of the divisor.
    pub fn dividend(&self, form: Form, divisor: i64) -> Option<(usize, i64)> {
        let open = |&at: &usize| form.terms[at] % divisor != 0;
        let width = |at: usize| self.0[at].high - self.0[at].low;
        let widest = (0..VARIABLES).filter(open).max_by_key(|&at| width(at))?;
        let factor = form.terms[widest].abs();
        let by = divisor / factor;
        (by > 1 && divisor % factor == 0 && width(widest) > MANY * by).then_some((widest, by))
    }

    /// Whether a quotient depends on several numbers that are not known: each alone has more values
    /// than the divisor.
    pub fn is_entangled(&self, form: Form, divisor: i64) -> bool {
        let rest = form.remainder(divisor);
        let width = |(factor, range): (&i64, &Range)| {
            factor.unsigned_abs() as u128 * (range.high - range.low) as u128
        };
        let wide = rest.terms.iter().zip(&self.0).filter(|part| width(*part) >= divisor as u128);
        wide.count() > 1
    }

    /// How many values a quotient differs by from a form, at most.
    pub fn quotients(&self, form: Form, divisor: i64) -> i128 {
        let (low, high) = self.bounds(form.remainder(divisor));
        high.div_euclid(divisor.into()) - low.div_euclid(divisor.into())
    }

    /// The form that is negative where a quotient has its least value.
    pub fn over(&self, form: Form, divisor: i64) -> Option<Form> {
        let rest = form.remainder(divisor);
        let next = self.bounds(rest).0.div_euclid(divisor as i128) + 1;
        let over = i64::try_from(next).ok()?.checked_mul(divisor)?;
        rest.minus(Form::number(over))
    }

    /// The smallest split that makes a form better known; `None` if it is a number.
    pub fn refined(&self, form: Form) -> Option<Split> {
        let used = (0..VARIABLES).filter(|&at| form.terms[at] != 0);
        let open = used.map(|at| (at, self.0[at])).filter(|(_, range)| range.low < range.high);
        let (variable, range) = open.min_by_key(|(_, range)| range.high - range.low)?;
        Some(Split { variable, at: range.low + 1 + (range.high - range.low) / 2 })
    }

    /// The forms that are known not to be negative.
    pub fn facts(&self) -> impl ExactSizeIterator<Item = Form> {
        self.1.forms.iter().copied()
    }

    /// The facts, in which equations replace variables.
    pub(crate) fn system(&self) -> Rc<System> {
        let mut solved = self.1.solved.borrow_mut();
        if let Some((_, system)) = solved.as_ref().filter(|(ranges, _)| *ranges == self.0) {
            return system.clone();
        }
        let system = Rc::new(System::new(self));
        *solved = Some((self.0, system.clone()));
        system
    }

    /// With other facts, of which each implies no other one by its constant alone. The forms are
    /// integers, so their common divisors are none.
    pub fn with_facts(&self, facts: impl Iterator<Item = Form>) -> Ranges {
        let mut all: Vec<Form> = Vec::new();
        for fact in facts.filter(|fact| fact.value().is_none()).map(Form::rounded) {
            let known = all.iter().position(|known| known.terms == fact.terms);
            match known {
                Some(at) => all[at].constant = all[at].constant.min(fact.constant),
                None if all.len() < FACTS => all.push(fact),
                None => {}
            }
        }
        Ranges(self.0, Rc::new(Facts { forms: all, solved: RefCell::default() }))
    }

    /// Whether the sign of a form is a relation of its variables: no split of one of them decides it
    /// for most values.
    pub fn relates(&self, form: Form) -> bool {
        let width = |(factor, range): (&i64, &Range)| {
            factor.unsigned_abs() as u128 * (range.high - range.low) as u128
        };
        let widths = || form.terms.iter().zip(&self.0).map(width);
        let (most, all) = (widths().max().unwrap_or(0), widths().sum::<u128>());
        most < 2 * (all - most)
    }

    /// The ranges in which a form is not negative; `None` if there are none. An old fact may be lost.
    pub fn assumed(&self, form: Form) -> Option<Ranges> {
        let others = self.facts().filter(|fact| *fact != form);
        self.with_facts([form].into_iter().chain(others)).tightened()
    }

    /// The ranges of values that may satisfy the facts; `None` if there are none.
    pub fn tightened(mut self) -> Option<Ranges> {
        for form in &Rc::clone(&self.1).forms {
            for (at, &factor) in form.terms.iter().enumerate().filter(|(_, factor)| **factor != 0) {
                let mut rest = *form;
                rest.terms[at] = 0;
                // factor * variable >= -most
                let (most, factor) = (self.box_bounds(rest).1, factor as i128);
                let Range { low, high } = &mut self.0[at];
                match factor > 0 {
                    true => *low = (*low as i128).max(-most.div_euclid(factor)) as i64,
                    false => *high = (*high as i128).min(most.div_euclid(-factor)) as i64,
                }
            }
        }
        let is_empty = self.0.iter().any(|range| range.low > range.high)
            || self.facts().any(|fact| self.bounds(fact).1 < 0);
        // A fact that the ranges imply is none.
        let facts = self.facts().filter(|&fact| self.box_bounds(fact).0 < 0);
        let facts = facts.map(|fact| self.known(fact));
        (!is_empty).then_some(self.with_facts(facts))
    }

    /// The ranges below a split and from it on.
    pub fn halves(&self, split: Split) -> [Ranges; 2] {
        let (mut below, mut above) = (self.clone(), self.clone());
        below.0[split.variable].high = split.at - 1;
        above.0[split.variable].low = split.at;
        [below, above]
    }
}

impl Verdict {
    /// The answer to the opposite question.
    pub fn inverted(self) -> Verdict {
        match self {
            Verdict::Is(is) => Verdict::Is(!is),
            depends => depends,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 <= x0 <= 5, 2 <= x1 <= 4.
    fn ranges() -> Ranges {
        let mut ranges = Ranges::default();
        ranges.0[0] = Range { low: 0, high: 5 };
        ranges.0[1] = Range { low: 2, high: 4 };
        ranges
    }

    fn form(constant: i64, first: i64, second: i64) -> Form {
        let mut form = Form::number(constant);
        (form.terms[0], form.terms[1]) = (first, second);
        form
    }

    fn values(ranges: &Ranges, form: Form) -> Vec<i64> {
        let [first, second, ..] = ranges.0;
        let of = |x: i64, y: i64| form.constant + form.terms[0] * x + form.terms[1] * y;
        let all =
            (first.low..=first.high).flat_map(|x| (second.low..=second.high).map(move |y| (x, y)));
        all.map(|(x, y)| of(x, y)).collect()
    }

    /// 3 x0 <= 6 + x1, which is at most 10: 9 is the greatest multiple of 3.
    #[test]
    fn bounds_are_multiples_of_the_factors() {
        let ranges = ranges().assumed(form(6, -3, 1)).expect("it can hold");
        assert_eq!(ranges.bounds(form(0, 3, 0)), (0, 9));
        assert_eq!(ranges.bounds(form(1, 6, 0)), (1, 19));
        assert_eq!(ranges.bounds(form(0, -3, 0)), (-9, 0));
    }

    /// Of facts that differ by their constants the strongest one is left.
    #[test]
    fn a_fact_that_another_one_implies_is_none() {
        let facts = [form(6, -3, 1), form(4, -3, 1), form(9, -3, 1), form(0, 1, -1)];
        let ranges = ranges().with_facts(facts.into_iter());
        assert_eq!(ranges.facts().collect::<Vec<Form>>(), [form(4, -3, 1), form(0, 1, -1)]);
    }

    /// Asks until every part has an answer, which must hold for every value in it.
    fn check(
        ranges: Ranges,
        form: Form,
        ask: fn(&Ranges, Form) -> Verdict,
        is: fn(i64) -> bool,
    ) -> u32 {
        match ask(&ranges, form) {
            Verdict::Is(answer) => {
                assert!(values(&ranges, form).into_iter().all(|value| is(value) == answer));
                1
            }
            Verdict::Depends(split) => {
                let halves = ranges.halves(split);
                let size = |ranges: &Ranges| values(ranges, form).len();
                assert_eq!(size(&halves[0]) + size(&halves[1]), size(&ranges));
                assert!(halves.iter().all(|half| size(half) > 0), "{form:?} {split:?}");
                halves.into_iter().map(|half| check(half, form, ask, is)).sum()
            }
        }
    }

    #[test]
    fn questions_end_with_right_answers() {
        for constant in -40..40 {
            for (first, second) in
                [(0, 0), (1, 0), (-3, 0), (0, 2), (8, 1), (-8, 1), (4, -2), (-1, -1)]
            {
                let form = form(constant, first, second);
                check(ranges(), form, Ranges::at_least_zero, |value| value >= 0);
                check(ranges(), form, Ranges::is_zero, |value| value == 0);
            }
        }
        // The query of a loop is one split.
        let parts = check(ranges(), form(-12, 10, 1), Ranges::at_least_zero, |value| value >= 0);
        assert_eq!(parts, 2);
    }

    /// Bounds and ranges contain all values that satisfy the facts.
    #[test]
    fn facts_exclude_nothing_else() {
        let forms = || {
            (-6..7).step_by(2).flat_map(|c| {
                [(1, 1), (-1, 1), (2, -1), (-3, 2), (0, -2)].map(|x| form(c, x.0, x.1))
            })
        };
        let (mut narrower, mut none, mut left) = (0, 0, 0);
        for (one, two) in forms().flat_map(|one| forms().map(move |two| (one, two))) {
            let value =
                |form: Form, x: i64, y: i64| form.constant + form.terms[0] * x + form.terms[1] * y;
            let pairs = || (0..=5).flat_map(|x| (2..=4).map(move |y| (x, y)));
            let is_true = |&(x, y): &(i64, i64)| value(one, x, y) >= 0 && value(two, x, y) >= 0;
            let Some(assumed) = ranges().assumed(one).and_then(|ranges| ranges.assumed(two)) else {
                none += 1;
                assert!(!pairs().any(|pair| is_true(&pair)), "{one:?} {two:?}");
                continue;
            };
            let mut first = [false; VARIABLES];
            first[0] = true;
            let alone = assumed.projected(first);
            left += alone.facts().count();
            for (x, y) in pairs().filter(is_true) {
                assert!(alone.facts().all(|fact| fact.terms[1] == 0 && value(fact, x, y) >= 0));
                for (at, value) in [x, y].into_iter().enumerate() {
                    assert!(assumed.0[at].low <= value && value <= assumed.0[at].high);
                }
                for asked in forms() {
                    let (low, high) = assumed.bounds(asked);
                    narrower += usize::from((low, high) != assumed.box_bounds(asked));
                    let value = value(asked, x, y).into();
                    assert!(low <= value && value <= high, "{one:?} {two:?} {asked:?} {x} {y}");
                }
            }
        }
        assert!(narrower > 100 && none > 20 && left > 10, "{narrower} {none} {left}");
    }

    /// x0 > x1 and x1 >= x0 raise each other's least value without end.
    #[test]
    fn facts_that_contradict_have_bounds() {
        let mut ranges = Ranges::default();
        ranges.0[..2].fill(Range { low: 0, high: 1 << 50 });
        let facts = [form(-1, 1, -1), form(0, -1, 1)];
        assert!(ranges.with_facts(facts.into_iter()).bounds(Form::variable(0)).0 > 0);
    }

    /// 0 <= x0 - 16 x1 < 16.
    #[test]
    fn a_remainder_may_be_a_fact() {
        let mut ranges = Ranges::default();
        ranges.0[..2].fill(Range { low: 0, high: 100 });
        let ranges = ranges.with_facts([form(0, 1, -16), form(15, -1, 16)].into_iter());
        let divided = ranges.divided(form(33, 1, 0), 16);
        assert_eq!(divided, None, "the remainder is 1 to 16");
        assert_eq!(ranges.divided(form(32, 1, 0), 16), Some((form(2, 0, 1), form(0, 1, -16))));
        assert_eq!(ranges.divided(form(0, 1, 0), 8), None);
        let alone = ranges.projected(std::array::from_fn(|at| at == 0));
        assert_eq!(alone.facts().count(), 0);
    }

    #[test]
    fn quotients_are_floors() {
        let mut known = 0;
        for constant in -40..40i64 {
            for (first, second) in [(0, 0), (8, 0), (-8, 1), (16, 1), (4, 1), (3, 5)] {
                for divisor in [1, 4, 8] {
                    let form = form(constant, first, second);
                    let Some((quotient, rest)) = ranges().divided(form, divisor) else { continue };
                    known += 1;
                    let all = values(&ranges(), form).into_iter();
                    let parts =
                        values(&ranges(), quotient).into_iter().zip(values(&ranges(), rest));
                    for (value, (quotient, rest)) in all.zip(parts) {
                        assert_eq!(
                            (value.div_euclid(divisor), value.rem_euclid(divisor)),
                            (quotient, rest)
                        );
                    }
                }
            }
        }
        assert!(known > 500, "{known}");
    }
}
