//! Scopes: the variables of a state where paths part, and their values on each path.
//!
//! ```text
//! at a branch       x0, x1
//! on one path       x0 = 64 x0 + x2, x1 = 5
//! after the join    x0, x1
//! ```

use usuba_ranges::{Form, Ranges, VARIABLES};

/// The variables where paths part.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The form that each of them is now; `None` if it is not known, or was in no use.
    pub forms: [Option<Form>; VARIABLES],
    /// Variables that keep their meaning after the join.
    pub kept: [bool; VARIABLES],
    pub ranges: Ranges,
}

impl Scope {
    /// Notes the variables in use.
    pub fn new(kept: [bool; VARIABLES], ranges: Ranges) -> Scope {
        let forms = std::array::from_fn(|at| kept[at].then(|| Form::variable(at)));
        Scope { forms, kept, ranges }
    }

    /// Replaces each form.
    pub fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        self.forms.iter_mut().flatten().for_each(|form| *form = of(*form));
    }

    /// The scope of two states.
    pub fn joined(&self, other: &Scope, join: &impl Fn(Form, Form) -> Option<Form>) -> Scope {
        let both = |at: usize| join(self.forms[at]?, other.forms[at]?);
        Scope { forms: std::array::from_fn(both), ..self.clone() }
    }

    /// Whether another state has each form that this one claims.
    pub fn covers(&self, other: &Scope, is: &impl Fn(Form, Form) -> bool) -> bool {
        let pairs = self.forms.iter().zip(&other.forms);
        let mut pairs = pairs.filter_map(|(claimed, found)| Some(((*claimed)?, *found)));
        pairs.all(|(claimed, found)| found.is_some_and(|found| is(claimed, found)))
    }

    /// Drops the forms that another state does not have.
    pub fn widen(&mut self, other: &Scope, is: &impl Fn(Form, Form) -> bool) {
        for (claimed, found) in self.forms.iter_mut().zip(&other.forms) {
            *claimed = claimed.filter(|&claimed| found.is_some_and(|found| is(claimed, found)));
        }
    }
}
