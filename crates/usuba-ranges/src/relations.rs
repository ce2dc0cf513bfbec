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
pub(crate) const JOINED: usize = 2;

/// How often facts are subtracted, at most: the least value may rise in small steps.
const ROUNDS: u32 = 8;

/// A form with the values of variables; it stays as it is where a factor overflows.
pub fn replaced(form: Form, solutions: &[(usize, Form)]) -> Form {
    solutions.iter().fold(form, |form, &(at, value)| form.with(at, value).unwrap_or(form))
}

impl Ranges {
    /// The least and the greatest value of a form, or beyond.
    pub fn bounds(&self, form: Form) -> (i128, i128) {
        self.bounds_by(form, JOINED)
    }

    /// The same by facts of which some are used together.
    pub(crate) fn bounds_by(&self, form: Form, facts: usize) -> (i128, i128) {
        let (low, high) = self.box_bounds(form);
        if facts == 0 || low == high || self.facts().next().is_none() {
            return (low, high);
        }
        let (known, solved) = self.solved(form);
        let least = |form: Form| self.least(form, &known, facts);
        let (first, last) = (least(solved), solved.times(-1).map_or(-high, least));
        let (low, high) = (low.max(first), high.min(-last));
        // Its values differ by multiples of a common divisor of its factors.
        let (base, step) = (i128::from(form.constant), i128::from(form.step()));
        (low + (base - low).rem_euclid(step), high - (high - base).rem_euclid(step))
    }

    /// Whether no values satisfy the facts, by the bounds of each variable.
    pub fn is_empty(&self) -> bool {
        (0..VARIABLES).any(|at| {
            let (low, high) = self.bounds(Form::variable(at));
            low > high
        })
    }

    /// Facts, and a form, in which equations replace variables: two facts with opposite signs are an
    /// equation.
    fn solved(&self, form: Form) -> (Vec<Form>, Form) {
        let solutions = self.solutions(|_| true);
        (self.eliminated(&solutions), replaced(form, &solutions))
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
            equations.iter_mut().for_each(replace);
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
            facts.iter_mut().for_each(replace);
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
    fn least(&self, form: Form, known: &[Form], facts: usize) -> i128 {
        let scale = |(own, factor): (i64, i64)| {
            let scale = factor.checked_rem(own).filter(|&rest| rest == 0).map(|_| factor / own);
            scale.filter(|&scale| scale > 1)
        };
        let scales = |fact: &Form| form.terms.into_iter().zip(fact.terms).find_map(scale);
        let mut scales: Vec<i64> = known.iter().filter_map(scales).chain([1]).collect();
        scales.sort_unstable();
        scales.dedup();
        let least = |scale: i64| {
            let low = self.descended(form.times(scale)?, known, facts);
            Some(-(-low).div_euclid(scale.into()))
        };
        let least = scales.into_iter().filter_map(least).max();
        least.unwrap_or_else(|| self.box_bounds(form).0)
    }

    /// The least value of a form, or below: facts are subtracted as long as the ranges then give a
    /// greater one.
    fn descended(&self, form: Form, known: &[Form], facts: usize) -> i128 {
        let (mut least, mut rest) = (self.box_bounds(form).0, form);
        for _ in 0..ROUNDS {
            let (low, next) = self.raised(rest, known, facts);
            if low <= least {
                break;
            }
            (least, rest) = (low, next);
        }
        least
    }

    /// The greatest of the least values of a form without multiples of some facts, by the ranges, and
    /// the rest of the form.
    fn raised(&self, form: Form, known: &[Form], facts: usize) -> (i128, Form) {
        let mut best = (self.box_bounds(form).0, form);
        for fact in known.iter().filter(|_| facts > 0) {
            let mut tried = 0;
            for (own, factor) in form.terms.into_iter().zip(fact.terms) {
                if own == 0 || factor == 0 || own % factor != 0 || own / factor <= 0 {
                    continue;
                }
                // Variables often agree.
                let multiple = own / factor;
                if std::mem::replace(&mut tried, multiple) == multiple {
                    continue;
                }
                let rest = fact.times(multiple).and_then(|multiple| form.minus(multiple));
                let raised = rest.map(|rest| self.raised(rest, known, facts - 1));
                best = raised.filter(|raised| raised.0 > best.0).unwrap_or(best);
            }
        }
        best
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
}
