//! The state of the variables of one running node.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::diag::Span;
use crate::typed::types::*;

#[derive(Clone)]
pub(super) enum Cell<V> {
    Empty,
    /// Its definition failed; the error is recorded.
    Poison,
    Full(V),
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Input,
    Result,
    Local,
}

pub(super) struct Slot<V> {
    pub(super) name: Rc<str>,
    pub(super) span: Span,
    pub(super) role: Role,
    /// Of the words of a local, by turns.
    pub(super) ranges: Vec<Range>,
    pub(super) ty: Atom,
    pub(super) dims: Vec<u32>,
    pub(super) cells: Vec<Cell<V>>,
    /// The loop iteration of the last `=`, zero outside of loops; `u32::MAX` before any.
    pub(super) stamps: Vec<u32>,
}

/// A compile-time integer.
pub(super) struct Nat {
    pub(super) name: Rc<str>,
    pub(super) value: Option<i64>,
    /// Whether the program has used its value.
    pub(super) used: std::cell::Cell<bool>,
}

pub(super) struct Frame<V> {
    pub(super) instance: Instance,
    pub(super) names: FxHashMap<Rc<str>, usize>,
    pub(super) slots: Vec<Slot<V>>,
    /// Nat parameters, nat locals and loop indices; the last one of a name counts.
    pub(super) nats: Vec<Nat>,
    pub(super) stamp: u32,
    pub(super) stamps: u32,
}

impl<V> Frame<V> {
    pub(super) fn declare(&mut self, var: &Var, role: Role) {
        let VarType::Words { atom, dims } = &var.ty else {
            unreachable!("nats are kept apart");
        };
        let count = var.ty.atoms();
        self.names.insert(var.name.clone(), self.slots.len());
        self.slots.push(Slot {
            name: var.name.clone(),
            span: var.span,
            role,
            ranges: if role == Role::Local { var.ranges.clone() } else { Vec::new() },
            ty: self.instance.apply(atom),
            dims: dims.clone(),
            cells: (0..count).map(|_| Cell::Empty).collect(),
            stamps: vec![u32::MAX; count],
        });
    }

    pub(super) fn declare_nat(&mut self, name: &Rc<str>, value: Option<i64>) {
        self.nats.push(Nat { name: name.clone(), value, used: false.into() });
    }

    /// The compile-time integer of that name: `Some(None)` before its definition.
    pub(super) fn nat(&self, name: &str) -> Option<Option<i64>> {
        let nat = self.nats.iter().rev().find(|nat| *nat.name == *name)?;
        nat.used.set(true);
        Some(nat.value)
    }

    /// The cells of all variables, in order.
    pub(super) fn cells(&mut self) -> impl Iterator<Item = &mut Cell<V>> {
        self.slots.iter_mut().flat_map(|slot| &mut slot.cells)
    }

    pub(super) fn poison(&mut self, which: impl Fn(&Slot<V>) -> bool) {
        for slot in self.slots.iter_mut().filter(|slot| which(slot)) {
            for cell in &mut slot.cells {
                if matches!(cell, Cell::Empty) {
                    *cell = Cell::Poison;
                }
            }
        }
    }
}

impl<V> Slot<V> {
    /// Where the word with this number lies.
    pub(super) fn range(&self, at: usize) -> Option<Range> {
        Some(self.ranges[at.checked_rem(self.ranges.len())?])
    }

    /// The name of one atom as the user would write it.
    pub(super) fn element(&self, at: usize) -> String {
        let mut text = self.name.to_string();
        let mut size = self.cells.len();
        let mut rest = at;
        for &dim in &self.dims {
            size /= dim as usize;
            text += &format!("[{}]", rest / size);
            rest %= size;
        }
        text
    }
}
