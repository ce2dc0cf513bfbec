//! Bounds of forms by linear relations of their variables.
//!
//! ```text
//! x1 + x5 = 64, x5 - x2 >= 9      two facts with opposite signs are an equation, which replaces x5
//! x0 - x2 - 9, where x0 = x5      at least 0: it is the second fact
//! ```
//!
//! Equations replace variables. Then multiples of facts are subtracted as long as the ranges give a
//! greater least value for the rest.
//!
//! *Soundness:* a form is at least a multiple of a fact, by a factor that is not negative, and the
//! least value of the rest.
//!
//! *Reference:* Cousot, Halbwachs 1978 (linear relations); Farkas' lemma.

use super::symbolic_count::{Form, Range, Ranges, VARIABLES};

/// Facts that bound a form together, at most.
pub(super) const JOINED: usize = 2;

impl Ranges {
    /// The least and the greatest value of a form, or beyond.
    pub fn bounds(&self, form: Form) -> (i128, i128) {
        self.bounds_by(form, JOINED)
    }

    /// The same by facts of which some are used together.
    pub(super) fn bounds_by(&self, form: Form, facts: usize) -> (i128, i128) {
        let (low, high) = self.box_bounds(form);
        if facts == 0 || low == high || self.facts().next().is_none() {
            return (low, high);
        }
        let (known, form) = self.solved(form);
        let least = |form: Form| self.least(form, &known, facts);
        let (first, last) = (least(form), form.times(-1).map_or(-high, least));
        (low.max(first), high.min(-last))
    }

    /// Facts, and a form, in which equations replace variables: two facts with opposite signs are an
    /// equation.
    fn solved(&self, mut form: Form) -> (Vec<Form>, Form) {
        let mut facts: Vec<Form> = self.facts().collect();
        let mut equations: Vec<Form> = self.equations().collect();
        while let Some(equation) = equations.pop() {
            let is_unit = |&at: &usize| equation.terms[at].abs() == 1;
            let Some(at) = (0..VARIABLES).rev().find(is_unit) else { continue };
            let value = equation.times(-equation.terms[at]);
            let Some(value) = value.and_then(|value| value.plus(Form::variable(at))) else {
                continue;
            };
            let Range { low, high } = self.0[at];
            let [low, high] = [low, high].map(Form::number);
            let ends = [Form::variable(at).minus(low), high.minus(Form::variable(at))];
            facts.extend(ends.into_iter().flatten());
            let replace = |form: &mut Form| *form = form.with(at, value).unwrap_or_default();
            facts.iter_mut().chain(&mut equations).for_each(replace);
            // The form itself stays if a factor overflows.
            form = form.with(at, value).unwrap_or(form);
        }
        facts.retain(|fact| self.box_bounds(*fact).0 < 0);
        (facts, form)
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

    /// The least value of a form, or below: facts are subtracted as long as the ranges then give a
    /// greater one.
    fn least(&self, form: Form, known: &[Form], facts: usize) -> i128 {
        let (mut least, mut rest) = (self.box_bounds(form).0, form);
        loop {
            let (low, next) = self.raised(rest, known, facts);
            if low <= least {
                return least;
            }
            (least, rest) = (low, next);
        }
    }

    /// The greatest of the least values of a form without multiples of some facts, by the ranges, and
    /// the rest of the form.
    fn raised(&self, form: Form, known: &[Form], facts: usize) -> (i128, Form) {
        let mut best = (self.box_bounds(form).0, form);
        for fact in known.iter().filter(|_| facts > 0) {
            for (own, factor) in form.terms.into_iter().zip(fact.terms) {
                if own == 0 || factor == 0 || own % factor != 0 || own / factor < 0 {
                    continue;
                }
                let rest = fact.times(own / factor).and_then(|multiple| form.minus(multiple));
                let raised = rest.map(|rest| self.raised(rest, known, facts - 1));
                best = raised.filter(|raised| raised.0 > best.0).unwrap_or(best);
            }
        }
        best
    }
}
