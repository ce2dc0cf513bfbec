//! Looks at the machine code of kernels, and at which of it runs.
//!
//! Hardware counters would tell how many instructions a call executes, but many machines have none
//! for us. So a call is run one instruction at a time, once, in a process of its own; the answer is
//! exact and has nothing to do with time.

use std::fs;

use super::suite::system;
use super::{Failure, Suite};
use crate::code::{Code, Counts};

const TRACER: &str = include_str!("trace.c");

/// The machine code of one kernel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Inside {
    /// Each instruction once. `None` on machines whose code is not understood.
    pub written: Option<Counts>,
    /// Each instruction as often as one call executes it. `None` where a process cannot be run in
    /// single steps, or the kernel is too long for it.
    pub executed: Option<Counts>,
}

impl Suite<'_> {
    /// Looks into the functions `names` and what they call, while the kernels `which` are called on
    /// their first inputs; one answer for each. What cannot be known here is absent.
    ///
    /// # Errors
    /// The kernels do not link, or the machine does not let us work.
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
        // A system that forbids single steps ends the process; what was counted then stays absent.
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

/// For each kernel the addresses that ran and how often, or nothing if it was given up.
type Runs = (u64, Vec<Option<Vec<(u64, u64)>>>);

/// The records of the tracer, in 64-bit little-endian numbers: the address of `main`, then for each
/// kernel whether it was given up, the number of instructions that ran, and for each of these its
/// address and how often it ran. `None` if the output is cut off.
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
