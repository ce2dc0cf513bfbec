//! The public numbers of an execution that are not known, and questions about them.
//!
//! ```text
//! n >> 7        is n a multiple of 128 and a remainder: n = 128 x0 + x1?
//! lea r, [n + m]    a name for a sum: x2 = x0 + x1
//! ```

use super::forms::{Form, VARIABLES};
use super::ranges::{Range, Ranges, Split};

/// Turns of a loop that may be executed although the number of all turns is not known.
const TURNS: i64 = 8;

/// Least values up to this one stay: they are not of a number of turns.
const FAR: i64 = 1 << 16;

/// The public unknowns of an execution.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Unknowns {
    pub ranges: Ranges,
    /// Variables that are in use.
    pub used: usize,
    /// The case distinction that the last instruction asks for.
    pub asked: Option<Asked>,
}

/// A case distinction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The parts of a range, because a form is tested.
    Split(Split, Form),
    /// A variable becomes a multiple of a divisor, and a remainder.
    Divided { variable: usize, divisor: i64 },
    /// Whether a form is negative.
    Sign(Form),
    /// The element of an array of pointers, by its index.
    Element(Form),
}

impl Unknowns {
    /// A variable that nothing depends on; `None` if there is none left.
    pub fn fresh(&self) -> Option<usize> {
        (self.used < VARIABLES).then_some(self.used)
    }

    /// A number of which only the range is known; `None` if there are too many.
    pub fn unknown(&mut self, range: Range) -> Option<Form> {
        let at = self.fresh()?;
        self.used += 1;
        self.ranges.0[at] = range;
        Some(Form::variable(at))
    }

    /// A variable for a form that is no multiple of one; the form itself if it is, or if there is no
    /// variable left.
    pub fn name(&mut self, form: Form) -> Form {
        let known = self.ranges.known(form);
        let mut factors = known.terms.into_iter().filter(|&factor| factor != 0);
        let is_named = match (factors.next(), factors.next()) {
            (None, _) => true,
            (Some(factor), None) => factor > 0 && known.constant == 0,
            _ => false,
        };
        let (low, high) = self.ranges.bounds(form);
        let range = i64::try_from(low).ok().zip(i64::try_from(high).ok()).filter(|_| !is_named);
        let name = range.and_then(|(low, high)| self.unknown(Range { low, high }));
        let Some(name) = name else { return form };
        let sides = [name.minus(form), form.minus(name)];
        let facts = sides.into_iter().flatten().chain(self.ranges.facts());
        self.ranges = self.ranges.with_facts(facts);
        name
    }

    /// Forgets the least value of a large number, also of the variables that facts relate to it.
    /// It would be executed as turns of a loop, until the condition of the loop is not known.
    pub fn lower(&mut self, form: Form) {
        let ranges = &mut self.ranges;
        let is_large = ranges.bounds(form).0 >= TURNS.into();
        let Some(rest) = form.minus(Form::number(TURNS)).filter(|_| is_large) else { return };
        let mut related = form.terms;
        let facts: Vec<Form> = ranges.facts().collect();
        for fact in facts.iter().cycle().take(facts.len() * facts.len()) {
            let is_related = |(one, other): (&i64, &i64)| *one != 0 && *other != 0;
            if related.iter().zip(&fact.terms).any(is_related) {
                related.iter_mut().zip(fact.terms).for_each(|(own, factor)| *own |= factor);
            }
        }
        let is_far = |(range, factor): &(&mut Range, i64)| *factor != 0 && range.low > FAR;
        for (range, _) in ranges.0.iter_mut().zip(related).filter(is_far) {
            range.low = TURNS;
        }
        *ranges = ranges.with_facts(ranges.facts().filter(|fact| fact.terms != form.terms));
        if let Some(assumed) = ranges.assumed(rest) {
            *ranges = assumed;
        }
    }

    /// Asks for a split that makes a form better known.
    pub fn ask(&mut self, form: Form) {
        self.asked = self.ranges.refined(form).map(|split| Asked::Split(split, form));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 128 x0 - 32 <= x1 <= 128 x0 + 95, both large: the least value of x0 would bring back the least
    /// value of x1.
    #[test]
    fn a_large_least_value_is_forgotten_through_inequalities() {
        let mut unknowns = Unknowns { used: 2, ..Unknowns::default() };
        unknowns.ranges.0[0] = Range { low: 1 << 25, high: 1 << 40 };
        unknowns.ranges.0[1] = Range { low: (1 << 32) - 32, high: 1 << 47 };
        let [first, second] = [0, 1].map(Form::variable);
        let sum = |constant: i64, factor: i64, by: i64| {
            let rest = first.times(factor).zip(second.times(by));
            let sum = rest.and_then(|(one, next)| one.plus(next)?.plus(Form::number(constant)));
            sum.expect("small numbers")
        };
        for fact in [sum(32, -128, 1), sum(95, 128, -1)] {
            unknowns.ranges = unknowns.ranges.assumed(fact).expect("there are such values");
        }
        unknowns.lower(second);
        let (low, _) = unknowns.ranges.bounds(second);
        assert!(low <= FAR.into(), "{low}");
    }
}
