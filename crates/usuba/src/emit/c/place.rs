//! Places of values while a body is printed.

use super::helpers::fill;
use crate::isa::Row;

/// An element of a C array: `array[4 * k0 + base]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    pub array: String,
    /// The part that changes with enclosing loops: a factor and the index it multiplies.
    pub vary: Vec<(i64, String)>,
    pub base: i64,
    /// The instruction that broadcasts the element, if the array holds masks instead of
    /// registers.
    pub broadcast: Option<&'static Row>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// Not defined yet.
    Unset,
    /// A name, or an expression that is as cheap.
    Text(String),
    /// An array element, read where it is used.
    Cell(Cell),
    /// Read into a local of its own at the first use in the scope of this depth.
    Lazy { expr: String, cell: Option<Cell>, depth: usize },
    /// A literal of the program.
    Const(u64),
}

impl Cell {
    pub fn new(array: &str, base: usize) -> Cell {
        Cell { array: array.to_string(), vary: Vec::new(), base: base as i64, broadcast: None }
    }

    /// The element that the index `k` of one more loop selects, `step` elements apart.
    pub fn walked(mut self, step: i64, k: &str) -> Cell {
        self.vary.push((step, k.to_string()));
        self
    }

    /// The element `count` further.
    pub fn further(&self, count: i64) -> Cell {
        Cell { base: self.base + count, ..self.clone() }
    }

    /// The C expression of the value: the element, or its broadcast.
    pub fn value(&self) -> String {
        match self.broadcast {
            Some(row) => fill(&row.text(32), &[], &self.text(), "", ""),
            None => self.text(),
        }
    }

    /// The C expression of the element. Terms that count downwards come last, so that no partial sum is
    /// negative when the index is not.
    pub fn text(&self) -> String {
        let term = |(step, k): &(i64, String)| match step.abs() {
            1 => k.clone(),
            step => format!("{step} * {k}"),
        };
        let up = self.vary.iter().filter(|(step, _)| *step > 0).map(term);
        let down: String = self
            .vary
            .iter()
            .filter(|(step, _)| *step < 0)
            .map(|t| format!(" - {}", term(t)))
            .collect();
        let mut up: Vec<String> = up.collect();
        if self.base > 0 || up.is_empty() {
            up.push(self.base.to_string());
        }
        let below = if self.base < 0 && up.len() == self.vary.len() { self.base } else { 0 };
        let below = if below < 0 { format!(" - {}", -below) } else { String::new() };
        format!("{}[{}{down}{below}]", self.array, up.join(" + "))
    }

    /// The address of the element.
    pub fn address(&self) -> String {
        if self.vary.is_empty() && self.base == 0 {
            self.array.clone()
        } else {
            format!("&{}", self.text())
        }
    }
}

impl Place {
    /// The register in memory behind the value, if it is one.
    pub fn register(&self) -> Option<&Cell> {
        self.cell().filter(|cell| cell.broadcast.is_none())
    }

    /// The array element behind the value, if it is one.
    pub fn cell(&self) -> Option<&Cell> {
        match self {
            Place::Cell(cell) => Some(cell),
            Place::Lazy { cell, .. } => cell.as_ref(),
            _ => None,
        }
    }
}

/// The first element and the constant step of a walk over one array; a single element has step 1.
pub fn walk<'c>(cells: impl IntoIterator<Item = Option<&'c Cell>>) -> Option<(Cell, i64)> {
    let mut cells = cells.into_iter();
    let first = cells.next()??.clone();
    let mut step = None;
    let mut last = first.base;
    for cell in cells {
        let cell = cell?;
        if cell.array != first.array || cell.vary != first.vary {
            return None;
        }
        let this = cell.base - last;
        if *step.get_or_insert(this) != this {
            return None;
        }
        last = cell.base;
    }
    Some((first, step.unwrap_or(1)))
}
