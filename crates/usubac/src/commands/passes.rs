//! `--prove`: translation validation of each pass, right after it ran.

use std::time::{Duration, Instant};

use usuba::ir::Program;
use usuba_equiv::Observer;

use crate::fault;
use crate::output::to_stderr;

/// The validator of one compilation.
pub struct Prover {
    observer: Observer,
    start: Instant,
    /// The total duration of the proofs.
    spent: Duration,
}

impl Prover {
    pub fn new() -> Prover {
        Prover { observer: Observer::default(), start: Instant::now(), spent: Duration::ZERO }
    }

    /// Proves that `pass` preserves the semantics of its input. A refuted or unproved pass is a
    /// fault of usubac: the process ends with status 101 before it writes anything.
    pub fn see(&mut self, pass: &str, program: &Program) {
        fault::stage("proving the passes");
        let start = Instant::now();
        self.observer.see(pass, program);
        self.spent += start.elapsed();
        if let Some(fault) = self.observer.fault() {
            panic!("{fault}");
        }
        fault::stage("running the passes");
    }

    /// Reports the number of proved passes, and their cost.
    pub fn finish(self) {
        let compiling = self.start.elapsed().saturating_sub(self.spent).as_secs_f64();
        let times = self.spent.as_secs_f64() / compiling.max(1e-9);
        let count = self.observer.finish().expect("a fault has ended the process");
        let passes = if count == 1 { "pass" } else { "passes" };
        to_stderr(&format!(
            "proved: {count} {passes}, which took {times:.2} times as long as to run them\n"
        ));
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::build::Builder;
    use usuba::ir::{NodeId, Op, Port, Program, Slicing};

    use super::*;

    fn single(op: Op) -> Program {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[2]));
        let y = b.op(op, &[x[0], x[1]]);
        let node = b.finish(vec![(Port::new("y", 8, &[]), vec![y])]);
        Program::new(vec![node], NodeId(0), Slicing::V)
    }

    #[test]
    #[should_panic(expected = "the pass cse changed what the program computes: on the inputs [")]
    fn a_wrong_pass_is_a_fault_with_its_name_and_an_input() {
        let mut prover = Prover::new();
        prover.see("lower", &single(Op::Add));
        prover.see("canon", &single(Op::Add));
        prover.see("cse", &single(Op::Sub));
    }
}
