//! Joins of paths: one state for the states in which paths of a function meet.
//!
//! ```text
//! if (n > 64) g(in, n);      path 1: n = x0, rcx = 7      path 2: n = 64 x0 + x1, rcx = x1
//! h(n);                      joined: n = x0, rcx is 0 to 63
//! ```
//!
//! Where paths part, the variables of the state are noted in a [`Scope`], and each path keeps the
//! forms that these variables have become. Where the paths meet, each number is an affine form in the
//! noted variables if there is one that has the value of the number on both paths. Another number
//! becomes a new variable, with the range of both, and a word that differs becomes unknown.
//!
//! A relation between variables that holds on one path is kept if it holds on the other one, too: an
//! equation, or one of its two inequalities, also without one of its variables, by an equation of
//! its path. So are the bounds of each number that is a sum, and that a number which differs is at
//! most another one, as the place in a buffer is at most its length.
//!
//! *Soundness:* the joined state has each of the two states as a case: for all values of the
//! variables of a path, the noted variables have the values of their forms, the new ones the
//! values of the forms that they replace, and ranges and facts hold. A bit that differs is secret
//! if it is so on any path.
//!
//! *Reference:* Karr 1976 (affine relations); Cousot, Cousot 1977 (joins of abstract states).

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::block_step::Joining;
use super::memory::Memory;
use super::scope::Scope;
use usuba_bits::cell::Cell;
use usuba_ranges::replaced;
use usuba_ranges::{Form, Range, Ranges, Unknowns, VARIABLES, gcd};

/// How many times fewer values than the sum of its terms a form has that is a number of its own.
const RESTS: i128 = 1 << 16;

/// The ranges at the end of a path, and the values of variables by its equations.
struct Side {
    ranges: Ranges,
    solutions: Vec<(usize, Form)>,
}

impl Side {
    fn new(ranges: Ranges) -> Side {
        let solutions = ranges.solutions(|_| true);
        Side { ranges, solutions }
    }

    /// The normal form of a value: equal forms are the same, unless a factor overflows.
    fn value(&self, form: Form) -> Form {
        self.ranges.known(replaced(form, &self.solutions))
    }
}

/// A form of the joined state, with its value on each path.
#[derive(Clone, Copy, Default)]
struct Row {
    form: Form,
    values: [Form; 2],
}

impl Row {
    /// The entries of a row: the factors of both values, and their constants.
    const PLACES: usize = 2 * (VARIABLES + 1);

    fn at(&self, place: usize) -> i64 {
        let value = &self.values[place % 2];
        value.terms.get(place / 2).copied().unwrap_or(value.constant)
    }

    /// `None` if a factor overflows.
    fn minus(self, other: Row, factor: i64) -> Option<Row> {
        let minus = |one: Form, next: Form| one.minus(next.times(factor)?);
        let [first, second] = other.values;
        let values = [minus(self.values[0], first)?, minus(self.values[1], second)?];
        Some(Row { form: minus(self.form, other.form)?, values })
    }
}

/// The Hermite normal form of a lattice: each row has its first entry at another place.
#[derive(Default)]
struct Lattice {
    rows: BTreeMap<usize, Row>,
    /// Forms whose values are zero.
    relations: Vec<Form>,
}

impl Lattice {
    /// Adds a form with its values, unless a factor overflows.
    fn add(&mut self, mut row: Row) {
        for place in 0..Row::PLACES {
            if row.at(place) == 0 {
                continue;
            }
            let Some(&(mut known)) = self.rows.get(&place) else {
                self.rows.insert(place, row);
                return;
            };
            // Euclid's algorithm. A row that is known already stays.
            loop {
                let Some(rest) = row.minus(known, row.at(place) / known.at(place)) else { return };
                row = rest;
                if row.at(place) == 0 {
                    break;
                }
                std::mem::swap(&mut known, &mut row);
            }
            self.rows.insert(place, known);
        }
        self.relations.push(row.form);
    }

    /// The form that has two values; `None` if none has.
    fn form(&self, values: [Form; 2]) -> Option<Form> {
        let mut row = Row { values, form: Form::default() };
        for place in 0..Row::PLACES {
            let entry = row.at(place);
            if entry != 0 {
                let known = self.rows.get(&place)?;
                row = row.minus(*known, entry / known.at(place))?;
                (row.at(place) == 0).then_some(())?;
            }
        }
        Form::default().minus(row.form)
    }
}

/// The forms that a form has without one of its variables, by a form that is zero.
fn exchanged(form: Form, zero: Form) -> impl Iterator<Item = Form> {
    (0..VARIABLES).filter_map(move |at| {
        let (factor, unit) = (form.terms[at], zero.terms[at]);
        let is_multiple = unit != 0 && factor != 0 && factor % unit == 0;
        form.minus(is_multiple.then(|| zero.times(factor / unit))??)
    })
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
    /// The variables with values on both paths, and the constant one.
    columns: Vec<Row>,
    /// All their combinations.
    lattice: Lattice,
    /// Sums of variables that are numbers of the joined state.
    sums: Vec<Form>,
    /// Multiples of one variable that are numbers of it.
    multiples: Vec<Form>,
    /// Its numbers that differ on the paths.
    numbers: Vec<Form>,
}

impl Made {
    fn add(&mut self, form: Form, values: [Form; 2]) {
        self.columns.push(Row { form, values });
        self.lattice.add(Row { form, values });
    }

    /// The value of a form on a path; `None` if it is not known, or overflows.
    fn value(&self, form: Form, side: usize) -> Option<Form> {
        let mut rest = form;
        let mut value = Form::default();
        for column in &self.columns {
            let factor = match column.form.terms.iter().position(|&factor| factor != 0) {
                Some(variable) => std::mem::take(&mut rest.terms[variable]),
                None => std::mem::take(&mut rest.constant),
            };
            value = value.plus(column.values[side].times(factor)?)?;
        }
        (rest == Form::default()).then_some(value)
    }

    /// The relations of each path, as facts of the joined state that may hold on the other one, too.
    fn relations(&self, sides: &[Side; 2]) -> Vec<Form> {
        let both = &self.lattice.relations;
        let mut candidates: Vec<Form> = both.iter().filter_map(Form::opposite).collect();
        candidates.extend(both);
        // Relations of one path give a fact of it other forms, one of which may hold on both.
        let mut rewritten = Vec::new();
        for (side, path) in sides.iter().enumerate() {
            let mut lattice = Lattice::default();
            for column in &self.columns {
                let values = [column.values[side], Form::default()];
                lattice.add(Row { form: column.form, values });
            }
            candidates.extend(lattice.relations.iter().filter_map(Form::opposite));
            let facts = path.ranges.facts().map(|fact| path.value(fact));
            let facts = facts.filter_map(|f| lattice.form([f, Form::default()]));
            for fact in facts {
                rewritten.extend(lattice.relations.iter().flat_map(|zero| exchanged(fact, *zero)));
                candidates.push(fact);
            }
            candidates.append(&mut lattice.relations);
        }
        candidates.append(&mut rewritten);
        candidates
    }

    /// The bounds of numbers, as facts.
    fn limits(&self, sides: &[Side; 2]) -> Vec<Form> {
        let mut limits = Vec::new();
        let bounds = |form: Form| {
            let of = |side: usize| Some(sides[side].ranges.bounds(self.value(form, side)?));
            let ((a, b), (c, d)) = of(0).zip(of(1))?;
            Some((a.min(c), b.max(d)))
        };
        for &sum in &self.sums {
            let Some((low, high)) = bounds(sum) else { continue };
            let [low, high] = [low, high].map(|bound| i64::try_from(bound).ok());
            limits.extend(low.and_then(|low| sum.minus(Form::number(low))));
            limits.extend(high.and_then(|high| Form::number(high).minus(sum)));
        }
        // A new number may be limited by another one, as a place is by a length.
        for &number in &self.numbers {
            for form in self.multiples.iter().chain(&self.sums) {
                let Some(rest) = form.minus(number) else { continue };
                match bounds(rest) {
                    Some((0, _)) => limits.push(rest),
                    Some((_, 0)) => limits.extend(rest.opposite()),
                    _ => {}
                }
            }
        }
        limits
    }

    /// The ranges, with relations that hold on both paths.
    fn related(&self, sides: &[Side; 2]) -> Ranges {
        let mut ranges = self.ranges.clone();
        for fact in self.relations(sides).into_iter().chain(self.limits(sides)) {
            let holds = |side: usize| {
                let value = self.value(fact, side);
                value.is_some_and(|value| sides[side].ranges.never_negative(value))
            };
            if !ranges.never_negative(fact) && (0..2).all(holds) {
                ranges = ranges.with_facts(ranges.facts().chain([ranges.known(fact)]));
            }
        }
        ranges
    }
}

impl Paths {
    /// Of two memories whose last scopes have the same beginning; `None` of others.
    pub fn new(one: &Memory, next: &Memory, constants: [Cell; 2]) -> Option<Paths> {
        let scopes = [one.scopes.last()?, next.scopes.last()?];
        let Scope { kept, ranges: before, .. } = scopes[0].clone();
        if one.scopes.len() != next.scopes.len() || kept != scopes[1].kept {
            return None;
        }
        let sides = [one, next].map(|memory| Side::new(memory.unknowns.ranges.clone()));
        // A relation of the noted variables still holds.
        let ranges = Ranges::default().with_facts(before.facts());
        let (columns, lattice) = (Vec::new(), Lattice::default());
        let mut made = Made {
            ranges,
            is_used: kept,
            columns,
            lattice,
            sums: Vec::new(),
            multiples: Vec::new(),
            numbers: Vec::new(),
        };
        made.add(Form::number(1), [Form::number(1); 2]);
        for at in (0..VARIABLES).filter(|&at| kept[at]) {
            let Range { low, high } = before.0[at];
            let bounds = [0, 1].map(|side| {
                let bounds = scopes[side].forms[at].map(|form| sides[side].ranges.bounds(form));
                bounds.map_or((low, high), |(least, most)| {
                    (least.max(low.into()) as i64, most.min(high.into()) as i64)
                })
            });
            let [(a, b), (c, d)] = bounds;
            made.ranges.0[at] = Range { low: a.min(c), high: b.max(d) };
            if let (Some(first), Some(second)) = (scopes[0].forms[at], scopes[1].forms[at]) {
                let values = [sides[0].value(first), sides[1].value(second)];
                made.add(Form::variable(at), values);
            }
        }
        let scope = Scope::new(kept, before);
        Some(Paths { sides, scope, constants, made: RefCell::new(made) })
    }

    /// The variables of the joined state, where the noted ones are themselves.
    pub fn finish(self, memory: &mut Memory) {
        let made = self.made.into_inner();
        let used = made.is_used.iter().rposition(|&is_used| is_used).map_or(0, |at| at + 1);
        memory.unknowns = Unknowns { ranges: made.related(&self.sides), used, asked: None };
        memory.scopes.pop();
        memory.scopes.push(self.scope);
    }

    /// Whether a form has few values on both paths, though its terms alone have many, as the rest of
    /// a length has: then it is a number of its own, whose range needs no facts.
    fn is_rest(&self, form: Form, values: [Form; 2]) -> bool {
        let used = (0..VARIABLES).filter(|&at| form.terms[at] != 0);
        let made = self.made.borrow();
        let range = |at: usize| made.ranges.0[at];
        let width = |at: usize| i128::from(range(at).high) - i128::from(range(at).low);
        let all: i128 = used.clone().map(|at| i128::from(form.terms[at].abs()) * width(at)).sum();
        let [(a, b), (c, d)] = [0, 1].map(|side| self.sides[side].ranges.bounds(values[side]));
        used.count() > 2 && (b.max(d) - a.min(c)) * RESTS < all
    }

    /// A variable for any of two numbers. If both are multiples of a number but for a constant, the
    /// variable is the factor.
    fn number(&self, one: Form, next: Form) -> Option<Form> {
        let base = Form::number(one.constant);
        let forms = [one.minus(base)?, next.minus(base)?];
        let step = gcd(forms[0].content(), forms[1].content()).max(1);
        let forms = forms.map(|form| form.over(step));
        let made = &mut *self.made.borrow_mut();
        let [(a, b), (c, d)] = [0, 1].map(|at| self.sides[at].ranges.bounds(forms[at]));
        let range =
            Range { low: i64::try_from(a.min(c)).ok()?, high: i64::try_from(b.max(d)).ok()? };
        let at = made.is_used.iter().position(|is_used| !is_used)?;
        made.is_used[at] = true;
        made.ranges.0[at] = range;
        made.add(Form::variable(at), forms);
        let number = Form::variable(at).times(step)?.plus(base)?;
        made.numbers.push(number);
        Some(number)
    }
}

impl Joining for Paths {
    fn form(&self, one: Form, next: Form) -> Option<Form> {
        let same = (one == next).then_some(one);
        let [one, next] = [self.sides[0].value(one), self.sides[1].value(next)];
        // Relations give a value several forms: one that both paths have stays.
        let of = |form| [0, 1].map(|side| self.made.borrow().value(form, side));
        let kept = same.filter(|&form| of(form) == [Some(one), Some(next)]);
        let form = kept.or_else(|| self.made.borrow().lattice.form([one, next]));
        let Some(form) = form.filter(|form| !self.is_rest(*form, [one, next])) else {
            return self.number(one, next);
        };
        let made = &mut *self.made.borrow_mut();
        let known = match form.terms.iter().filter(|&&factor| factor != 0).count() {
            0 => return Some(form),
            1 => &mut made.multiples,
            _ => &mut made.sums,
        };
        if !known.contains(&form) {
            known.push(form);
        }
        Some(form)
    }

    fn cell(&self, one: Cell, next: Cell) -> Cell {
        let is_public = |cell| cell == Cell::UNSET || self.constants.contains(&cell);
        match one == next {
            true => one,
            false if is_public(one) && is_public(next) => Cell::UNSET,
            false => Cell::OPAQUE,
        }
    }

    fn keeps_equal(&self) -> bool {
        true
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
