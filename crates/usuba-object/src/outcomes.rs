//! Outcomes of conditions that are public: known, or the cases in which they are.
//!
//! ```text
//! cmp rcx, 127     flags of the comparison of two forms
//! ja  loop         taken if 128 q + r - 128 >= 0: q >= 1, or q is to be told apart first
//! ```

use super::counts::too_large;
use super::flags::{Condition, Flag, Flags};
use super::{Fault, Fork, Rule, World, unsupported};
use usuba_bits::cell::Cell;
use usuba_ranges::{Asked, Form, Verdict};

impl World<'_> {
    /// Whether a condition on flags holds, also if it depends on the number of blocks.
    ///
    /// # Errors
    /// It holds for some numbers only; the stream names the split.
    pub(crate) fn held(&mut self, flags: &Flags, condition: Condition) -> Result<Flag, Fault> {
        let flag = flags.tested(condition);
        let (Flag::Public, Some((a, b))) = (flag, flags.compared) else { return Ok(flag) };
        Ok(Flag::Is(match condition {
            Condition::Equal => self.are_equal(a, b)?,
            Condition::Below => self.is_below(a, b)?,
            Condition::BelowOrEqual => !self.is_below(b, a)?,
            Condition::Less | Condition::Sign => self.is_less(a, b)?,
            Condition::LessOrEqual => !self.is_less(b, a)?,
            Condition::Overflow => return Ok(Flag::Undefined),
        }))
    }

    /// The outcome of a condition that is not known.
    ///
    /// # Errors
    /// Such conditions are not followed, or this one has no outcome yet.
    pub(crate) fn forked(&mut self, is_secret: bool, bit: Option<Cell>) -> Result<bool, Fault> {
        let forks = &mut self.forks;
        if let Some(outcome) = forks.outcome.take() {
            return Ok(outcome);
        }
        forks.asked = forks.follows.then_some(Fork { is_secret, bit });
        Err(match is_secret {
            true => Fault::new(Rule::SecretBranch, "the branch depends on an input"),
            false => unsupported("the branch depends on undefined flags"),
        })
    }

    /// The value of the condition of a branch, which must be known unless branches are followed.
    pub(crate) fn decided(&mut self, bit: Cell, is_secret: bool) -> Result<bool, Fault> {
        if let Some(known) = self.bits.value(bit) {
            return Ok(known);
        }
        let forks = &mut self.forks;
        if let Some(outcome) = forks.outcome.take() {
            return Ok(outcome);
        }
        let bit = bit.edge().is_some().then_some(bit);
        forks.asked = forks.follows.then_some(Fork { is_secret, bit });
        Err(match is_secret {
            true => Fault::new(Rule::SecretBranch, "the branch depends on an input"),
            false => unsupported("the branch depends on what nobody has written"),
        })
    }

    pub(crate) fn are_equal(&mut self, a: Form, b: Form) -> Result<bool, Fault> {
        let difference = a.minus(b).ok_or_else(too_large)?;
        let ranges = self.ranges();
        // Positive and negative values first.
        let sign = match ranges.at_least_zero(difference) {
            Verdict::Is(_) => difference.minus(Form::number(1)).ok_or_else(too_large)?,
            Verdict::Depends(_) => difference,
        };
        self.answer(ranges.is_zero(difference), sign)
    }

    /// a < b
    pub(crate) fn is_less(&mut self, a: Form, b: Form) -> Result<bool, Fault> {
        let difference = a.minus(b).ok_or_else(too_large)?;
        Ok(!self.answer(self.ranges().at_least_zero(difference), difference)?)
    }

    /// a < b, where negative numbers are greater than all others.
    pub(crate) fn is_below(&mut self, a: Form, b: Form) -> Result<bool, Fault> {
        let zero = Form::default();
        match (self.is_less(a, zero)?, self.is_less(b, zero)?) {
            (true, false) => Ok(false),
            (false, true) => Ok(true),
            _ => self.is_less(a, b),
        }
    }

    /// The answer to a query, or a fault that requests a split into cases. `sign` is the form whose
    /// sign decides it.
    pub(crate) fn answer(&mut self, verdict: Verdict, sign: Form) -> Result<bool, Fault> {
        let ranges = self.ranges();
        let relates = self.forks.follows && ranges.relates(sign);
        match verdict {
            Verdict::Is(is) => Ok(is),
            Verdict::Depends(split) => {
                let asked = if relates { Asked::Sign(sign) } else { Asked::Split(split, sign) };
                self.memory.unknowns.asked = Some(asked);
                Err(unsupported("it depends on the number of blocks"))
            }
        }
    }
}
