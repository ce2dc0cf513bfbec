//! Provenance: for each value of a node the place in the source that its equation comes from.
//!
//! ```text
//! 7   t = x ^ k[0];          %5 = xor %1 %3     line 7
//! 8   y = (t, t <<< 1)       %6 = rotl 1 %5     line 8
//! ```
//!
//! Lowering notes the operator, call or table that it writes equations for, and the declarations of
//! parameters; a pass that numbers values anew carries the places over, and an equation that it adds
//! has the place of the equation or parameter that it stands for. Nothing depends on the places: two tables are always equal, and
//! neither the printed program nor a proof has them.

use std::fmt;

use usuba_lang::diag::{FileId, Span};

use super::{Eqn, Node, Val};

/// The places of the values of one node, of which the last ones may be absent.
#[derive(Clone, Default)]
pub struct Origins {
    spans: Vec<Span>,
}

/// Stands for no place: a compilation has fewer files.
const NOWHERE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

impl Origins {
    /// The place in the source of the equation that defines a value, if it is known.
    pub fn of(&self, v: Val) -> Option<Span> {
        self.spans.get(v.0 as usize).copied().filter(|span| *span != NOWHERE)
    }

    /// Notes the place of a value; `None` leaves it without one.
    pub fn set(&mut self, v: Val, origin: Option<Span>) {
        let Some(span) = origin else { return };
        let at = v.0 as usize;
        if at >= self.spans.len() {
            self.spans.resize(at + 1, NOWHERE);
        }
        self.spans[at] = span;
    }

    /// The table of a node with other numbers, in which value `i` has the place of value `old[i]`
    /// here.
    pub fn renumbered(&self, old: &[Val]) -> Origins {
        let span = |v: &Val| self.spans.get(v.0 as usize).copied().unwrap_or(NOWHERE);
        Origins { spans: old.iter().map(span).collect() }
    }
}

impl Node {
    /// Visits all equations but loops, in the order of the text, with the first value that each of
    /// them defines. A call without results defines none, and is left out.
    pub fn equations<'a>(&'a self, visit: &mut dyn FnMut(&'a Eqn, Val)) {
        fn block<'a>(eqns: &'a [Eqn], visit: &mut dyn FnMut(&'a Eqn, Val)) {
            for eqn in eqns {
                match (eqn, eqn.first_value()) {
                    (Eqn::Loop(lp), _) => block(&lp.body, visit),
                    (_, Some(v)) => visit(eqn, v),
                    (_, None) => {}
                }
            }
        }
        block(&self.body, visit);
    }
}

impl Eqn {
    /// The first value that an operator or call defines: its place is the place of the equation.
    pub fn first_value(&self) -> Option<Val> {
        match self {
            Eqn::Op(e) => Some(e.dst),
            Eqn::Call(call) => call.dsts.first().copied(),
            Eqn::Loop(_) => None,
        }
    }
}

impl PartialEq for Origins {
    fn eq(&self, _: &Origins) -> bool {
        true
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Origins")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_equal_and_places_optional() {
        let place = Span::new(FileId(0), 3, 5);
        let mut origins = Origins::default();
        origins.set(Val(2), Some(place));
        origins.set(Val(4), None);
        assert_eq!(origins, Origins::default());
        assert_eq!([0, 1, 2, 4].map(|v| origins.of(Val(v))), [None, None, Some(place), None]);
        let turned = origins.renumbered(&[Val(2), Val(9)]);
        assert_eq!([0, 1].map(|v| turned.of(Val(v))), [Some(place), None]);
    }
}
