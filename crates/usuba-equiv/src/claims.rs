//! Proof claims and their verdicts, with counterexamples in source terms.
//!
//! ```text
//! claim      lowering           pass cse           lanes
//! outcome    proved by E1       refuted by x = 1   unknown: ...
//! ```
//!
//! A claim is any statement about a program that a command can check, such as a pass, lowering or
//! lanes. A new kind needs a line in [`Kind`] and a counterexample in source terms.

use std::fmt;

use usuba::ir::{NodeId, Port, Program, interp};

use crate::ports::{Copies, element};
use crate::{Counterexample, Engines, Verdict, counterexample};

/// The kind of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// A node satisfies its arithmetic postcondition.
    Contract,
    /// The output of lowering computes the reference semantics.
    Lowering,
    /// A pass preserves the semantics of the program.
    Pass,
    /// The final IR computes the output of lowering, proved in one step.
    Direct,
    /// The target's instructions for an operator compute it in every lane.
    Lanes,
    /// A call of an external kernel, compiled to another file, computes its source node.
    Callee,
    /// An object file computes the final IR in every lane and is constant-time.
    Object,
    /// A further program of the byte interface computes its source: a key schedule, or a variant of
    /// the kernel.
    Beside,
    /// A byte-interface function in an object file computes the final IR for every block, or the
    /// key schedule, and is constant-time.
    Interface,
}

impl Kind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Contract => "contract",
            Kind::Lowering => "lowering",
            Kind::Pass => "pass",
            Kind::Direct => "direct",
            Kind::Lanes => "lanes",
            Kind::Callee => "callee",
            Kind::Object => "object",
            Kind::Beside => "beside",
            Kind::Interface => "interface",
        }
    }
}

/// One thing that was to be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim<Verdict = Outcome> {
    pub kind: Kind,
    /// The subject: a pass, an operator.
    pub subject: String,
    pub outcome: Verdict,
}

/// The verdict on a claim about programs, with the engines that showed it; the reason of an unknown
/// one names the undischarged obligation.
pub type Outcome = usuba_sat::Verdict<Engines, Box<Difference>>;

/// An input on which something else is computed, in the words of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The node with the wrong result.
    pub node: String,
    /// Every word of the input with its name.
    pub inputs: Vec<(String, u64)>,
    /// The first result that differs.
    pub value: String,
    pub expected: u64,
    pub found: u64,
    /// The innermost inequivalent node, on its own input.
    pub inner: Option<Box<Difference>>,
}

impl Difference {
    /// Minimises the counterexample of two programs. `pairs` are nodes that should be equal,
    /// callees first.
    pub fn new(
        before: &Program,
        after: &Program,
        example: &Counterexample,
        pairs: &[(NodeId, NodeId)],
    ) -> Difference {
        let copies = Copies::find(before.entry(), after.entry(), after.slicing);
        let example = match &copies {
            Ok(copies) => counterexample::smaller(before, after, copies, example.clone()),
            Err(_) => example.clone(),
        };
        let inner = pairs.iter().find_map(|&pair| Difference::of_nodes(before, after, pair));
        Difference { inner: inner.map(Box::new), ..Difference::named(after, &example) }
    }

    /// The counterexample for a pair of nodes other than the entries.
    fn of_nodes(
        before: &Program,
        after: &Program,
        (old, new): (NodeId, NodeId),
    ) -> Option<Difference> {
        if old == before.entry || new == after.entry {
            return None;
        }
        let alone = |program: &Program, entry| Program { entry, copies: 1, ..program.clone() };
        let (before, after) = (alone(before, old), alone(after, new));
        let copies = Copies::find(before.entry(), after.entry(), after.slicing).ok()?;
        let example = counterexample::search(&before, &after, &copies, crate::RUNS[0])?;
        let example = counterexample::smaller(&before, &after, &copies, example);
        Some(Difference::named(&after, &example))
    }

    /// The words of a counterexample, under their names in the source.
    pub fn named(program: &Program, example: &Counterexample) -> Difference {
        let entry = program.entry();
        let words = |ports: &[Port], values: &[u64]| {
            interp::values_to_words(ports, program.slicing, values)
        };
        let name = |ports: &[Port], at| element(ports, usuba::ir::Slicing::V, at);
        let inputs = words(&entry.params, &example.input).into_iter().enumerate();
        let inputs = inputs.map(|(at, word)| (name(&entry.params, at), word)).collect();
        let expected = words(&entry.results, &example.expected);
        let found = words(&entry.results, &example.found);
        let at = expected.iter().zip(&found).position(|(a, b)| a != b).unwrap_or(0);
        Difference {
            // The suffix of the name identifies the instance of the node.
            node: entry.name.split('\'').next().unwrap_or_default().to_string(),
            inputs,
            value: name(&entry.results, at),
            expected: expected[at],
            found: found[at],
            inner: None,
        }
    }
}

impl fmt::Display for Difference {
    /// One line; words of the input that are zero are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.inputs.iter().filter(|(_, word)| *word != 0);
        let set: Vec<String> = set.map(|(name, word)| format!("{name} = {word:#x}")).collect();
        let input = match (set.len(), self.inputs.len()) {
            (_, 0) => "without inputs".to_string(),
            (0, _) => "on zeros".to_string(),
            (some, all) if some == all => format!("for {}", set.join(", ")),
            _ => format!("for {}, and zeros elsewhere", set.join(", ")),
        };
        let (value, found, expected) = (&self.value, self.found, self.expected);
        write!(
            f,
            "{input} `{}` gives {value} = {found:#x} and should give {expected:#x}",
            self.node
        )
    }
}

/// The outcome of a comparison of two programs.
pub fn outcome(
    verdict: Verdict,
    before: &Program,
    after: &Program,
    pairs: &[(NodeId, NodeId)],
) -> Outcome {
    let named = |example| Box::new(Difference::new(before, after, &example, pairs));
    verdict.map(|stats| stats.engines, named)
}

#[cfg(test)]
mod tests {
    use usuba::ir::build::Builder;
    use usuba::ir::{Op, Slicing};

    use super::*;
    use crate::equivalent;

    /// Calls of `g`, which is `op`.
    fn program(op: Op) -> Program {
        let mut b = Builder::new("g'V8", Slicing::V);
        let x = b.param(Port::new("p", 8, &[2]));
        let y = b.op(op, &x);
        let inner = b.finish(vec![(Port::new("q", 8, &[]), vec![y])]);
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[4]));
        let first = b.call(NodeId(0), &inner, &x[..2])[0];
        let second = b.call(NodeId(0), &inner, &x[2..])[0];
        let outer = b.finish(vec![(Port::new("y", 8, &[2]), vec![first, second])]);
        Program::new(vec![inner, outer], NodeId(1), Slicing::V)
    }

    #[test]
    fn a_difference_is_small_and_names_the_node() {
        let (before, after) = (program(Op::Or), program(Op::Xor));
        let pairs = [(NodeId(0), NodeId(0))];
        let outcome = outcome(equivalent(&before, &after), &before, &after, &pairs);
        let Outcome::Refuted(difference) = outcome else { panic!("{outcome:?}") };
        let set: Vec<u64> = difference.inputs.iter().map(|(_, word)| *word).collect();
        // One bit that both operands have, of one of the calls.
        assert_eq!(set.iter().map(|word| word.count_ones()).sum::<u32>(), 2, "{difference}");
        let text = difference.to_string();
        assert!(text.starts_with("for x[") && text.contains("`f` gives y["), "{text}");
        let inner = difference.inner.expect("g is another function").to_string();
        assert!(inner.contains("for p[0] = 0x") && inner.contains("`g` gives q = 0x0"), "{inner}");
    }

    #[test]
    fn bits_are_told_as_words() {
        let program = |word: u64| {
            let mut b = Builder::new("f", Slicing::B);
            b.param(Port::new("x", 4, &[]));
            let y: Vec<_> = (0..4).rev().map(|bit| b.constant(1, word >> bit & 1)).collect();
            let node = b.finish(vec![(Port::new("y", 4, &[]), y)]);
            Program::new(vec![node], NodeId(0), Slicing::B)
        };
        let (before, after) = (program(0b1010), program(0b1000));
        let outcome = outcome(equivalent(&before, &after), &before, &after, &[]);
        let Outcome::Refuted(difference) = outcome else { panic!("{outcome:?}") };
        assert_eq!(difference.to_string(), "on zeros `f` gives y = 0x8 and should give 0xa");
    }
}
