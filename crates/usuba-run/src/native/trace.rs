//! Instruction tracing: counts the instructions of a kernel, static and dynamic.
//!
//! Many machines deny access to the hardware counters. The tracer therefore single-steps one call
//! in its own process; the counts are exact and independent of timing.

use std::fs;

use super::suite::system;
use super::{Failure, Suite};
use crate::code::{Code, Counts};

const TRACER: &str = include_str!("trace.c");

/// The instruction counts of one kernel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Inside {
    /// The static counts. `None` for code of an unsupported architecture.
    pub written: Option<Counts>,
    /// The dynamic counts of one call. `None` if the system forbids single-stepping, or the kernel
    /// is too long for it.
    pub executed: Option<Counts>,
}

impl Suite<'_> {
    /// Counts the instructions of the functions `names` and their callees while the kernels `which`
    /// run on their first inputs; one result for each. Unavailable counts are `None`.
    ///
    /// # Errors
    /// The kernels do not link, or the operating system fails.
    pub fn look_into(&self, which: &[usize], names: &[&str]) -> Result<Vec<Inside>, Failure> {
        let Some(&first) = which.first() else { return Ok(Vec::new()) };
        let machine = self.builds[first].machine;
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) || !machine.is_native() {
            return Ok(vec![Inside::default(); which.len()]);
        }
        let (table, input) = self.timer_table(which)?;
        self.link(which, TRACER, &table)?;
        let file = fs::read(self.folder.path("batch"));
        let file = file.map_err(|error| system("read an executable", &error))?;
        let Some(code) = Code::read(&file) else {
            return Ok(vec![Inside::default(); which.len()]);
        };
        // A system that forbids single-stepping ends the process; the remaining counts stay absent.
        let ran = match self.execute(machine, input)? {
            (output, None) => runs(&output),
            _ => None,
        };
        let (origin, ran) = ran.unwrap_or_default();
        let look = |(number, name): (usize, &&str)| Inside {
            written: code.written(name),
            executed: ran
                .get(number)
                .and_then(|ran| ran.as_ref())
                .and_then(|ran| code.executed(name, origin, ran)),
        };
        Ok(names.iter().enumerate().map(look).collect())
    }
}

/// For each kernel the executed addresses with their counts, or `None` if the tracer gave up.
type Runs = (u64, Vec<Option<Vec<(u64, u64)>>>);

/// Decodes the records of the tracer, in 64-bit little-endian numbers. The address of `main` comes
/// first. For each kernel follow whether the tracer gave up, the number of executed instructions,
/// and the address and count of each. `None` if the output is truncated.
fn runs(output: &[u8]) -> Option<Runs> {
    let mut numbers = output
        .chunks_exact(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("chunks of eight bytes")));
    let origin = numbers.next()?;
    let mut all = Vec::new();
    while let Some(gave_up) = numbers.next() {
        let used = numbers.next()?;
        let mut ran = Vec::new();
        for _ in 0..used {
            ran.push((numbers.next()?, numbers.next()?));
        }
        all.push((gave_up == 0).then_some(ran));
    }
    Some((origin, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_taken_apart() {
        let numbers = [100, 0, 1, 104, 3, 1, 0];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n: &u64| n.to_le_bytes()).collect();
        assert_eq!(runs(&bytes), Some((100, vec![Some(vec![(104, 3)]), None])));
        assert_eq!(runs(&bytes[..32]), None);
    }
}
