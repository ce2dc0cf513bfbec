//! Calls on machines without buffers of unknown length.

use super::address::Address;
use super::callees::Caller;
use super::cell::Cell;
use super::{Fault, World, unsupported};

/// An effect, or the rule that a call breaks.
type Done = Result<(), Fault>;

/// A machine at a call, whose callee has its own proof, or is `memcpy` or `memset`.
pub trait PlainCaller<'o>: Caller<'o> {
    /// The lowest byte of a number that is handed over in a register; addresses have none.
    fn handed_byte(&self, at: usize) -> Option<Vec<Cell>>;

    /// Puts an address into the register of results.
    fn return_address(&mut self, at: Address);

    /// The effect of a function that is not executed.
    ///
    /// # Errors
    /// It breaks a rule, or its effect is not known.
    fn outside(&mut self, target: u64, above: i64) -> Done {
        if let Some(callee) = self.world().calls.functions.at(target).cloned() {
            return self.function(&callee, above);
        }
        let World { object, calls, .. } = self.world();
        let name = object.outside(target);
        match (calls.at(target).or_else(|| calls.of_symbol(name?)), name) {
            (Some(kernel), _) => self.kernel(kernel, above),
            (None, Some(name @ ("memcpy" | "memset"))) => self.library(name, above),
            (None, Some(name)) => {
                Err(unsupported(format!("it calls {name}, which is not in the object")))
            }
            (None, None) => {
                let name = object.name(target);
                Err(unsupported(format!("it calls {name}, which is no code")))
            }
        }
    }

    /// memcpy, memset of a known length.
    fn library(&mut self, name: &str, above: i64) -> Done {
        self.check_call(above)?;
        let length = self.handed_number(2);
        let length = length.ok_or_else(|| unsupported("a length that is not known"))? as usize;
        let to = self.handed(0, above)?;
        let cells = match name {
            "memcpy" => {
                let from = self.handed(1, above)?;
                let cells = self.load_cells(from, length)?;
                if let (Address::Pointer(a), Address::Pointer(b)) = (from, to)
                    && a.region == b.region
                    && a.offset.abs_diff(b.offset) < length as u64
                {
                    return Err(unsupported("memcpy of buffers that overlap"));
                }
                cells
            }
            _ => {
                let byte = self.handed_byte(1);
                byte.ok_or_else(|| unsupported("an address becomes data"))?.repeat(length)
            }
        };
        if length > 0 {
            self.check_handed(to, 1)?;
            self.store(to, &cells)?;
        }
        self.forget_results()?;
        self.return_address(to);
        Ok(())
    }
}
