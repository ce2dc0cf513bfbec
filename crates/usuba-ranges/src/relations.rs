//! Bounds of forms by linear relations of their variables.
//!
//! ```text
//! x1 + x5 = 64, x5 - x2 >= 9      two facts with opposite signs are an equation, which replaces x5
//! x0 - x2 - 9, where x0 = x5      at least 0: it is the second fact
//! ```
//!
//! Equations replace variables. Then multiples of facts are subtracted as long as the ranges give a
//! greater least value for the rest. Where a variable is dropped, a fact that bounds it from below and
//! one from above give a fact without it.
//!
//! *Soundness:* a form is at least a multiple of a fact, by a factor that is not negative, and the
//! least value of the rest.
//!
//! *Reference:* Cousot, Halbwachs 1978 (linear relations); Fourier, Motzkin (elimination); Farkas'
//! lemma.

use super::forms::{Form, VARIABLES};
use super::ranges::{Range, Ranges};

/// Facts that bound a form together, at most.
const JOINED: usize = 2;

/// How often facts are subtracted, at most: the least value may rise in small steps.
const ROUNDS: u32 = 8;

/// A form with the values of variables; it stays as it is where a factor overflows.
pub fn replaced(form: Form, solutions: &[(usize, Form)]) -> Form {
    solutions.iter().fold(form, |form, &(at, value)| match form.terms[at] {
        0 => form,
        _ => form.with(at, value).unwrap_or(form),
    })
}

impl Ranges {
    /// The least and the greatest value of a form, or beyond.
    pub fn bounds(&self, form: Form) -> (i128, i128) {
        let (low, high) = self.box_bounds(form);
        if low == high || self.facts().len() == 0 {
            return (low, high);
        }
        let system = self.system();
        let solved = replaced(form, &system.solutions);
        let least = |form: Form| self.least(form, &system.facts);
        let (first, last) = (least(solved), solved.opposite().map_or(-high, least));
        // Its values differ by multiples of a common divisor of its factors.
        let (base, step) = (i128::from(form.constant), i128::from(form.step()));
        let (low, high) = (low.max(first), high.min(-last));
        (low + (base - low).rem_euclid(step), high - (high - base).rem_euclid(step))
    }

    /// Whether a form is never negative.
    pub fn never_negative(&self, form: Form) -> bool {
        let (low, high) = self.box_bounds(form);
        if low >= 0 || low == high || self.facts().len() == 0 {
            return low >= 0;
        }
        let system = self.system();
        let low = low.max(self.least(replaced(form, &system.solutions), &system.facts));
        low + (i128::from(form.constant) - low).rem_euclid(form.step().into()) >= 0
    }

    /// Whether no values satisfy the facts, by the bounds of each variable.
    pub fn is_empty(&self) -> bool {
        (0..VARIABLES).any(|at| {
            let (low, high) = self.bounds(Form::variable(at));
            low > high
        })
    }

    /// The facts about some variables: equations replace others, or facts that bound another one from
    /// below and from above are added.
    pub fn projected(&self, is_kept: [bool; VARIABLES]) -> Ranges {
        let mut facts = self.eliminated(&self.solutions(|at| !is_kept[at]));
        for at in (0..VARIABLES).filter(|&at| !is_kept[at]) {
            let (about, others) = facts.into_iter().partition(|fact| fact.terms[at] != 0);
            facts = others;
            facts.extend(self.without(at, about));
        }
        self.with_facts(facts.into_iter())
    }

    /// The consequences of facts about a variable for the others.
    fn without(&self, at: usize, mut about: Vec<Form>) -> Vec<Form> {
        let variable = Form::variable(at);
        let Range { low, high } = self.0[at];
        let ends = [variable.minus(Form::number(low)), Form::number(high).minus(variable)];
        about.extend(ends.into_iter().flatten());
        let (above, below): (Vec<Form>, Vec<Form>) =
            about.into_iter().partition(|fact| fact.terms[at] > 0);
        let pairs = above.iter().flat_map(|above| below.iter().map(move |below| (above, below)));
        let sum = |(above, below): (&Form, &Form)| {
            let rest = above.times(below.terms[at].checked_neg()?)?;
            rest.plus(below.times(above.terms[at])?)
        };
        pairs.filter_map(sum).filter(|fact| self.box_bounds(*fact).0 < 0).collect()
    }

    /// Variables with their values by equations, which later solutions may have to replace again.
    pub fn solutions(&self, may: impl Fn(usize) -> bool) -> Vec<(usize, Form)> {
        let mut equations: Vec<Form> = self.equations().collect();
        let mut solutions = Vec::new();
        while let Some(equation) = equations.pop() {
            let is_unit = |&at: &usize| equation.terms[at].abs() == 1 && may(at);
            let Some(at) = (0..VARIABLES).rev().find(is_unit) else { continue };
            let value = equation.times(-equation.terms[at]);
            let Some(value) = value.and_then(|value| value.plus(Form::variable(at))) else {
                continue;
            };
            let replace = |form: &mut Form| *form = form.with(at, value).unwrap_or_default();
            equations.iter_mut().filter(|form| form.terms[at] != 0).for_each(replace);
            solutions.push((at, value));
        }
        solutions
    }

    /// The facts with the values of variables, which are in their ranges.
    fn eliminated(&self, solutions: &[(usize, Form)]) -> Vec<Form> {
        let mut facts: Vec<Form> = self.facts().collect();
        for &(at, value) in solutions {
            let Range { low, high } = self.0[at];
            let [low, high] = [low, high].map(Form::number);
            let ends = [Form::variable(at).minus(low), high.minus(Form::variable(at))];
            facts.extend(ends.into_iter().flatten());
            let replace = |fact: &mut Form| {
                *fact = fact.with(at, value).map(Form::rounded).unwrap_or_default();
            };
            facts.iter_mut().filter(|fact| fact.terms[at] != 0).for_each(replace);
        }
        facts.retain(|fact| self.box_bounds(*fact).0 < 0);
        facts
    }

    /// Forms that are zero by two facts, with one sign each.
    pub fn equations(&self) -> impl Iterator<Item = Form> {
        let facts: Vec<Form> = self.facts().collect();
        let is_twice = move |at: usize| {
            let opposite = facts[at].times(-1)?;
            facts[..at].contains(&opposite).then_some(facts[at])
        };
        (0..self.facts().count()).filter_map(is_twice)
    }

    /// The least value of a form, or below: of its multiples that facts have as parts, too.
    fn least(&self, form: Form, known: &[Fact]) -> i128 {
        let scale = |&(at, factor): &(usize, i64)| {
            let own = form.terms[at];
            let is_part = factor.checked_rem(own) == Some(0);
            Some(factor).filter(|_| is_part).map(|factor| factor / own).filter(|&scale| scale > 1)
        };
        let scales = known.iter().filter_map(|fact| fact.terms.iter().find_map(scale));
        let mut scales: Vec<i64> = scales.chain([1]).collect();
        scales.sort_unstable();
        scales.dedup();
        let least = |scale: i64| {
            let low = self.descended(form.times(scale)?, known);
            Some(-(-low).div_euclid(scale.into()))
        };
        let least = scales.into_iter().filter_map(least).max();
        least.unwrap_or_else(|| self.box_bounds(form).0)
    }

    /// The least value of a form, or below: facts are subtracted as long as the ranges then give a
    /// greater one.
    fn descended(&self, form: Form, known: &[Fact]) -> i128 {
        let (mut least, mut rest) = (self.box_bounds(form).0, form);
        for _ in 0..ROUNDS {
            let (low, next) = self.raised((least, rest), known, JOINED);
            if low <= least {
                break;
            }
            (least, rest) = (low, next);
        }
        least
    }

    /// The greatest of the least values of a form without multiples of some facts, by the ranges, and
    /// the rest of the form, of which that value is known.
    fn raised(&self, (low, form): (i128, Form), known: &[Fact], facts: usize) -> (i128, Form) {
        let mut best = (low, form);
        for fact in known {
            let mut tried = 0;
            for &(at, factor) in &fact.terms {
                let own = form.terms[at];
                let is_multiple = own != 0 && own.checked_rem(factor) == Some(0);
                // Variables often agree.
                if !is_multiple || own / factor <= 0 || own / factor == tried {
                    continue;
                }
                tried = own / factor;
                let Some(rest) = self.least_without(low, &form, (fact, tried)) else { continue };
                if facts == 1 && rest <= best.0 {
                    continue;
                }
                let mut next = (rest, fact.subtracted(form, tried));
                if facts > 1 {
                    next = self.raised(next, known, facts - 1);
                }
                if next.0 > best.0 {
                    best = next;
                }
            }
        }
        best
    }

    /// The least value, by the ranges, of a form without a multiple of a fact, where the form has the
    /// least value `low`; `None` if a factor overflows.
    fn least_without(
        &self,
        low: i128,
        form: &Form,
        (fact, multiple): (&Fact, i64),
    ) -> Option<i128> {
        let least = |at: usize, factor: i64| {
            let Range { low, high } = self.0[at];
            i128::from(factor) * i128::from(if factor < 0 { high } else { low })
        };
        let constant = fact.constant.checked_mul(multiple)?;
        form.constant.checked_sub(constant)?;
        fact.terms.iter().try_fold(low - i128::from(constant), |low, &(at, factor)| {
            let own = form.terms[at];
            let rest = own.checked_sub(factor.checked_mul(multiple)?)?;
            Some(low + least(at, rest) - least(at, own))
        })
    }
}

/// Facts in which equations replace variables: two facts with opposite signs are an equation.
#[derive(Debug)]
pub(crate) struct System {
    solutions: Vec<(usize, Form)>,
    facts: Vec<Fact>,
}

impl System {
    pub(crate) fn new(ranges: &Ranges) -> System {
        let solutions = ranges.solutions(|_| true);
        let facts = ranges.eliminated(&solutions).into_iter().map(Fact::new).collect();
        System { solutions, facts }
    }
}

/// A fact by its variables with their factors: it has a few of all variables.
#[derive(Debug)]
struct Fact {
    constant: i64,
    terms: Vec<(usize, i64)>,
}

impl Fact {
    fn new(form: Form) -> Fact {
        let terms = form.terms.into_iter().enumerate().filter(|(_, factor)| *factor != 0);
        Fact { constant: form.constant, terms: terms.collect() }
    }

    /// A form without a multiple of the fact, which has been found not to overflow.
    fn subtracted(&self, mut form: Form, multiple: i64) -> Form {
        form.constant -= self.constant * multiple;
        self.terms.iter().for_each(|&(at, factor)| form.terms[at] -= factor * multiple);
        form
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::{Range, Split};

    /// x1 = 64 x0 + 16 and x1 >= 17 have values for x0 <= 8, and none for x0 <= 0.
    #[test]
    fn ranges_without_values_are_empty() {
        let [x0, x1] = [0, 1].map(Form::variable);
        let rest = x0.times(64).and_then(|x0| x0.minus(x1)).expect("small factors");
        let rest = rest.plus(Form::number(16)).expect("small numbers");
        let mut known = Ranges::default();
        known.0[0] = Range { low: 0, high: 8 };
        known.0[1] = Range { low: 17, high: 1 << 20 };
        let known = known.with_facts([rest, rest.times(-1).expect("small")].into_iter());
        assert!(!known.is_empty());
        let [below, above] = known.halves(Split { variable: 0, at: 1 });
        assert!(below.is_empty() && !above.is_empty());
    }

    /// The least value of a form without a multiple of a fact, by its changes and by all variables.
    #[test]
    fn least_values_follow_from_changes() {
        let mut known = Ranges::default();
        for (at, range) in known.0.iter_mut().take(4).enumerate() {
            *range = Range { low: 3 - 5 * at as i64, high: 7 + 2 * at as i64 };
        }
        let form = |number: i64| {
            let mut form = Form::number(number % 11 - 5);
            for (at, factor) in form.terms.iter_mut().take(4).enumerate() {
                *factor = number / 3i64.pow(at as u32) % 7 - 3;
            }
            form
        };
        for (one, next) in (0..200).flat_map(|one| (0..50).map(move |next| (one, 7 * next))) {
            let (one, fact) = (form(one), Fact::new(form(next)));
            for multiple in [1, 2, -3] {
                let low = known.box_bounds(one).0;
                let least = known.least_without(low, &one, (&fact, multiple));
                let rest = fact.subtracted(one, multiple);
                assert_eq!(least, Some(known.box_bounds(rest).0), "{one:?} {fact:?} {multiple}");
            }
        }
    }
}
