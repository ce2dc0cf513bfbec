//! Functions of the C library that compilers call by themselves.

use super::{A0, Machine, VOLATILE, Value};
use crate::Run;

/// The most bytes that a call copies or fills.
const LARGEST: u32 = 1 << 24;

impl Machine<'_> {
    /// Executes `memcpy`, `memmove` or `memset`, which return their first argument.
    pub fn library(&mut self, name: &str) -> Run<()> {
        let [to, second, size] = [0, 1, 2].map(|at| self.registers[A0 + at]);
        let size = self.known(size).filter(|&size| size <= LARGEST);
        let size = size.ok_or("a size that depends on an input, or is too large")?;
        match name {
            "memcpy" | "memmove" => self.copy(to, second, size)?,
            "memset" => self.fill(to, second, size)?,
            _ => return Err(format!("a call of `{name}`, which is not in the object")),
        }
        for register in VOLATILE {
            self.registers[register] = Value::Unset;
        }
        Ok(())
    }
}
