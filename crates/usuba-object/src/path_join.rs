//! Joins of paths: one state for the states in which paths of a function meet.
//!
//! ```text
//! if (n > 64) g(in, n);      path 1: n = x0, rcx = 7      path 2: n = 64 x0 + x1, rcx = x1
//! h(n);                      joined: n = x0, rcx is 0 to 63
//! ```
//!
//! Where paths part, the variables of the state are noted in a [`Scope`], and each path keeps the
//! forms that these variables have become. Where the paths meet, a number that is a form in the
//! noted variables on both paths is the same form after them. Another number becomes a new variable,
//! with the range of both, and a word that differs becomes unknown.
//!
//! *Soundness:* the joined state has each of the two states as a case: for all values of the
//! variables of a path, the noted variables have the values of their forms, the new ones the
//! values of the forms that they replace, and the ranges contain them. A bit that differs is secret
//! if it is so on any path.
//!
//! *Reference:* Cousot, Cousot 1977 (joins of abstract states).

use std::cell::RefCell;

use super::block_step::Joining;
use super::cell::Cell;
use super::memory::Memory;
use super::scope::Scope;
use super::symbolic_count::{Form, Range, Ranges, Unknowns, VARIABLES};

/// A path: its ranges, and the noted variables on it.
struct Side {
    forms: [Option<Form>; VARIABLES],
    ranges: Ranges,
    /// Forms in the variables of the path with distinct leading variables, and the same in the noted
    /// ones.
    basis: Vec<(usize, Form, Form)>,
}

impl Side {
    fn new(scope: &Scope, ranges: Ranges) -> Side {
        let mut side = Side { forms: scope.forms, ranges, basis: Vec::new() };
        for (at, form) in scope.forms.iter().enumerate() {
            let Some(form) = form else { continue };
            let Some((rest, noted)) = side.reduced(*form) else { continue };
            let noted = Form::variable(at).minus(noted);
            let leading = (0..VARIABLES).filter(|&at| rest.terms[at] != 0);
            let leading = leading.min_by_key(|&at| rest.terms[at].unsigned_abs());
            if let (Some(leading), Some(noted)) = (leading, noted) {
                side.basis.push((leading, rest, noted));
            }
        }
        side
    }

    /// The part of a form that the basis does not express, and the rest in the noted variables.
    fn reduced(&self, form: Form) -> Option<(Form, Form)> {
        let (mut rest, mut noted) = (form, Form::default());
        for (leading, own, outer) in &self.basis {
            let factor = rest.terms[*leading] / own.terms[*leading];
            rest = rest.minus(own.times(factor)?)?;
            noted = noted.plus(outer.times(factor)?)?;
        }
        Some((rest, noted))
    }

    /// A form of the path in the noted variables.
    fn outer(&self, form: Form) -> Option<Form> {
        let (rest, noted) = self.reduced(form)?;
        let outer = noted.plus(Form::number(rest.value()?))?;
        self.is(outer, form).then_some(outer)
    }

    /// Whether a form in the noted variables is this form of the path.
    fn is(&self, outer: Form, form: Form) -> bool {
        let mut inner = Some(Form::number(outer.constant));
        for (at, &factor) in outer.terms.iter().enumerate().filter(|(_, factor)| **factor != 0) {
            let part = self.forms[at].and_then(|form| form.times(factor));
            inner = inner.zip(part).and_then(|(inner, part)| inner.plus(part));
        }
        let difference = inner.and_then(|inner| inner.minus(form));
        let difference = difference.and_then(|form| self.ranges.reduced(form));
        difference == Some(Form::default())
    }
}

/// The join of two paths.
pub struct Paths {
    sides: [Side; 2],
    scope: Scope,
    constants: [Cell; 2],
    made: RefCell<Made>,
}

/// The variables of the joined state.
struct Made {
    ranges: Ranges,
    is_used: [bool; VARIABLES],
    /// New variables for pairs of forms.
    numbers: Vec<([Form; 2], Form)>,
}

impl Paths {
    /// Of two memories whose last scopes have the same beginning; `None` of others.
    pub fn new(one: &Memory, next: &Memory, constants: [Cell; 2]) -> Option<Paths> {
        let scope = one.scopes.last()?.clone();
        let other = next.scopes.last()?;
        if one.scopes.len() != next.scopes.len() || scope.kept != other.kept {
            return None;
        }
        let sides =
            [(one, &scope), (next, other)].map(|(m, scope)| Side::new(scope, m.unknowns.ranges));
        let mut ranges = Ranges::default();
        for at in (0..VARIABLES).filter(|&at| scope.kept[at]) {
            let Range { low, high } = scope.ranges.0[at];
            let bounds = sides.each_ref().map(|side| {
                let bounds = side.forms[at].map(|form| side.ranges.bounds(form));
                bounds.map_or((low, high), |(least, most)| {
                    (least.max(low.into()) as i64, most.min(high.into()) as i64)
                })
            });
            let [(a, b), (c, d)] = bounds;
            ranges.0[at] = Range { low: a.min(c), high: b.max(d) };
        }
        // A relation of the noted variables still holds.
        let ranges = ranges.with_facts(scope.ranges.facts());
        let made = Made { ranges, is_used: scope.kept, numbers: Vec::new() };
        let scope = Scope::new(scope.kept, scope.ranges);
        Some(Paths { sides, scope, constants, made: RefCell::new(made) })
    }

    /// The variables of the joined state, where the noted ones are themselves.
    pub fn finish(self, memory: &mut Memory) {
        let made = self.made.into_inner();
        let used = made.is_used.iter().rposition(|&is_used| is_used).map_or(0, |at| at + 1);
        memory.unknowns = Unknowns { ranges: made.ranges, used, asked: None };
        memory.scopes.pop();
        memory.scopes.push(self.scope);
    }

    /// A variable for any of two numbers.
    fn number(&self, one: Form, next: Form) -> Option<Form> {
        let base = Form::number(one.constant);
        let forms = [one.minus(base)?, next.minus(base)?];
        let made = &mut *self.made.borrow_mut();
        if let Some((_, number)) = made.numbers.iter().find(|(known, _)| *known == forms) {
            return number.plus(base);
        }
        let [(a, b), (c, d)] = [0, 1].map(|at| self.sides[at].ranges.bounds(forms[at]));
        let range =
            Range { low: i64::try_from(a.min(c)).ok()?, high: i64::try_from(b.max(d)).ok()? };
        let at = made.is_used.iter().position(|is_used| !is_used)?;
        made.is_used[at] = true;
        made.ranges.0[at] = range;
        made.numbers.push((forms, Form::variable(at)));
        Form::variable(at).plus(base)
    }
}

impl Joining for Paths {
    fn form(&self, one: Form, next: Form) -> Option<Form> {
        let [first, second] = &self.sides;
        let (a, b) = (first.outer(one), second.outer(next));
        match (a, b) {
            (Some(a), Some(b)) if a == b => return Some(a),
            (_, Some(b)) if first.is(b, one) => return Some(b),
            (Some(a), _) if second.is(a, next) => return Some(a),
            _ => {}
        }
        self.number(one, next)
    }

    fn cell(&self, one: Cell, next: Cell) -> Cell {
        let is_public = |cell| cell == Cell::UNSET || self.constants.contains(&cell);
        match one == next {
            true => one,
            false if is_public(one) && is_public(next) => Cell::UNSET,
            false => Cell::OPAQUE,
        }
    }

    fn lost(&self) -> Cell {
        Cell::UNSET
    }

    fn number_of(&self, word: &[Cell]) -> Option<i64> {
        let bit = |cell: &Cell| self.constants.iter().position(|constant| constant == cell);
        let bits: Option<Vec<usize>> = word.iter().map(bit).collect();
        Some(bits?.into_iter().rev().fold(0, |sum, bit| sum << 1 | bit as i64))
    }
}
