//! A sequence of programs, each compared with the previous one.

use usuba::ir::Program;

use crate::facts::{Known, Memory};
use crate::{Stats, Verdict, ill_formed, step, words};

/// The state between two steps.
#[derive(Default)]
pub struct Steps {
    previous: Option<Seen>,
    /// The facts about the previous program from the last proof.
    known: Option<Known>,
    memory: Memory,
}

/// A program, and its scalar form if it has vectors.
struct Seen {
    program: Program,
    words: Option<Program>,
}

impl Steps {
    /// The program that was seen last.
    pub fn previous(&self) -> Option<&Program> {
        self.previous.as_ref().map(|seen| &seen.program)
    }

    /// Whether the program computes the same as the previous one; `None` for the first one.
    pub fn see(&mut self, program: &Program) -> Option<Verdict> {
        if self.previous() == Some(program) {
            return Some(Verdict::Proved(Stats::default()));
        }
        let (verdict, words) = match words(program) {
            Ok(words) => (self.compared(program, words.as_ref()), words),
            Err(rule) => (Some(ill_formed("after", &rule)), None),
        };
        if !matches!(verdict, Some(Verdict::Proved(_))) {
            self.known = None;
        }
        self.previous = Some(Seen { program: program.clone(), words });
        verdict
    }

    fn compared(&mut self, program: &Program, words: Option<&Program>) -> Option<Verdict> {
        let previous = self.previous.as_ref()?;
        let (before, after) = match (&previous.words, words) {
            (Some(before), Some(after)) => (before, after),
            _ => (&previous.program, program),
        };
        Some(step(before, &mut self.known, after, None, &mut self.memory))
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::build::Builder;
    use usuba::ir::{NodeId, Op, Port, Slicing};

    use super::*;

    /// A function of two words, or of two vectors of four.
    fn program(op: Op, slicing: Slicing) -> Program {
        let vector = if slicing == Slicing::W { 4 } else { 1 };
        let dims: &[u32] = if vector == 4 { &[4] } else { &[] };
        let mut b = Builder::new("f", slicing);
        let x = b.param(Port::new("x", 8, dims))[0];
        let y = b.param(Port::new("y", 8, dims))[0];
        let z = b.op(op, &[x, y]);
        let node = b.finish(vec![(Port::new("z", 8, dims), vec![z])]);
        Program { vector, ..Program::new(vec![node], NodeId(0), slicing) }
    }

    fn is_proved(verdict: Option<Verdict>) -> bool {
        matches!(verdict, Some(Verdict::Proved(_)))
    }

    /// Facts about a program are not used for the next one after a step that ended before its
    /// proof: here because the result has another name.
    #[test]
    fn what_is_known_is_of_the_program_before() {
        let named = |name: &str, op: Op, [first, second]: [usize; 2]| {
            let mut b = Builder::new("f", Slicing::V);
            let inputs = ["x", "y"].map(|input| b.param(Port::new(input, 8, &[]))[0]);
            let z = b.op(op, &[inputs[first], inputs[second]]);
            let node = b.finish(vec![(Port::new(name, 8, &[]), vec![z])]);
            Program::new(vec![node], NodeId(0), Slicing::V)
        };
        let mut steps = Steps::default();
        assert!(steps.see(&named("z", Op::And, [0, 1])).is_none());
        assert!(is_proved(steps.see(&named("z", Op::And, [1, 0]))));
        let verdict = steps.see(&named("w", Op::Or, [0, 1]));
        assert!(matches!(verdict, Some(Verdict::Unknown(_))), "{verdict:?}");
        let verdict = steps.see(&named("w", Op::And, [0, 1]));
        assert!(matches!(verdict, Some(Verdict::Refuted(_))), "{verdict:?}");
    }

    #[test]
    fn a_step_is_compared_with_the_one_before_it() {
        for slicing in [Slicing::V, Slicing::W] {
            let other = if slicing == Slicing::V { Slicing::W } else { Slicing::V };
            let mut steps = Steps::default();
            assert!(steps.see(&program(Op::And, slicing)).is_none());
            assert!(is_proved(steps.see(&program(Op::And, slicing))));
            let verdict = steps.see(&program(Op::Or, slicing));
            assert!(matches!(verdict, Some(Verdict::Refuted(_))), "{verdict:?}");
            assert!(is_proved(steps.see(&program(Op::Or, slicing))));
            let verdict = steps.see(&program(Op::Or, other));
            assert!(matches!(verdict, Some(Verdict::Unknown(_))), "{verdict:?}");
            let verdict = steps.see(&program(Op::And, other));
            assert!(matches!(verdict, Some(Verdict::Refuted(_))), "{verdict:?}");
        }
    }

    #[test]
    fn a_program_in_w_that_is_no_program_is_not_proved() {
        let mut wrong = program(Op::And, Slicing::W);
        wrong.nodes[0].outs[0].0 = 77;
        let mut steps = Steps::default();
        let Some(Verdict::Unknown(what)) = steps.see(&wrong) else { panic!("it is well-formed") };
        assert!(what.starts_with("the program after is not well-formed: "), "{what}");
        let verdict = steps.see(&program(Op::And, Slicing::W));
        assert!(!is_proved(verdict));
    }
}
