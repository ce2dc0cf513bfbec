//! Arrays of pointers: the buffers behind their elements.
//!
//! ```text
//! in[i]         an address of a buffer of lengths[i] bytes
//! lengths[i]    a number
//! in[i + 1]     another address: from here on nothing is known about in[i]
//! ```
//!
//! The element of one index at a time is *open*: each of its pointers is the start of a region, and
//! its length is a variable. An access to another element opens that one. Pointers of the element
//! before are then unknown public words.
//!
//! *Soundness:* the contract says that each pointer has a buffer of its length. A region stands for
//! one buffer while an index is open, and no pointer to it remains afterwards. Buffers of several
//! elements may overlap, so they are only read.

use std::collections::BTreeMap;

use usuba_ranges::Form;

/// Arrays with elements that have as many bytes as an address, and the index that is open.
#[derive(Clone, Default, Debug)]
pub struct Tables {
    /// By the numbers of their buffers.
    pub columns: BTreeMap<u32, Column>,
    pub(super) open: Option<Form>,
}

/// An array.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    /// Of lengths: the greatest one, and the one that is open.
    Lengths { most: i64, open: Form },
    /// Of addresses: the buffer behind the one that is open, and the array of its lengths unless its
    /// size is fixed.
    Addresses { buffer: u32, lengths: Option<u32> },
}

impl Tables {
    /// Whether a buffer is behind an element.
    pub fn has(&self, number: u32) -> bool {
        let is_behind = |column: &Column| match column {
            Column::Addresses { buffer, .. } => number == *buffer,
            Column::Lengths { .. } => false,
        };
        self.columns.values().any(is_behind)
    }

    /// Whether the length of a buffer is unknown because no element is open.
    pub fn is_closed(&self, buffer: u32) -> bool {
        self.open.is_none() && self.has(buffer)
    }

    /// Replaces each form.
    pub fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        self.forms_mut().for_each(|form| *form = of(*form));
    }

    pub(super) fn forms_mut(&mut self) -> impl Iterator<Item = &mut Form> {
        let lengths = self.columns.values_mut().filter_map(|column| match column {
            Column::Lengths { open, .. } => Some(open),
            Column::Addresses { .. } => None,
        });
        self.open.iter_mut().chain(lengths)
    }

    /// The forms of the element that is open; none if none is.
    fn forms(&self) -> Vec<Form> {
        match self.open {
            Some(_) => self.clone().forms_mut().map(|form| *form).collect(),
            None => Vec::new(),
        }
    }

    /// Whether one element can stand for the open ones of two states, whose numbers are alike.
    pub fn are_alike(&self, other: &Tables, is_alike: impl Fn(Form, Form) -> bool) -> bool {
        let (one, next) = (self.forms(), other.forms());
        one.len() == next.len() && one.into_iter().zip(next).all(|(one, next)| is_alike(one, next))
    }

    /// The tables of two states with such elements.
    pub fn joined(mut self, other: &Tables, join: &impl Fn(Form, Form) -> Option<Form>) -> Tables {
        let forms = self.forms_mut().zip(other.forms());
        forms.for_each(|(own, next)| *own = join(*own, next).unwrap_or_default());
        self
    }

    /// Whether another state has the element that is claimed to be open.
    pub fn covers(&self, other: &Tables, is: &impl Fn(Form, Form) -> bool) -> bool {
        let (claimed, found) = (self.forms(), other.forms());
        let mut pairs = claimed.iter().zip(&found);
        self.open.is_none()
            || claimed.len() == found.len() && pairs.all(|(one, next)| is(*one, *next))
    }
}
