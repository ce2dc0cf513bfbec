//! The cache that consecutive proofs share: the DAG, results of runs, and classes of equal nodes.
//!
//! ```text
//! lower ──cse→ program 1 ──dce→ program 2        two proofs: lower = 1, and 1 = 2
//!                  └ its edges are known when the second one begins
//! ```
//!
//! A node of a program computes a function of its arguments, and an edge denotes that function in
//! every proof with this DAG. So the DAG of E1, the results of runs and the classes of equal nodes
//! outlive a proof. After a pass the results of the program before it are looked up, and the
//! program after it mostly finds nodes that exist.
//!
//! *Soundness:* nodes of programs have two kinds of numbers, which are never given twice: a *body*
//! number for the text, and a *class* for the function, which nodes that are proved equal share.
//! Results are keyed by either, by the arguments, and by the *way* of the run: its uninterpreted
//! calls and its treatment of loops. Edges of any way are sound; edges of one way are more often
//! the same.

use rustc_hash::FxHashMap;
use usuba::ir::{Eqn, NodeId, Program};

use crate::execution::{Loops, Results, Way};
use crate::outline::Outline;
use crate::value_numbering::Graph;

/// The number of nodes above which the cache is cleared.
const LARGEST: usize = 3_000_000;

#[derive(Default)]
pub struct Memory {
    /// The DAG of E1; absent while a run has it.
    pub graph: Option<Graph>,
    pub results: FxHashMap<Way, Results>,
    numbers: u32,
}

impl Memory {
    /// A number that was never given before.
    pub fn fresh(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Clears the cache if it is large. Numbers are not given again.
    pub fn tidy(&mut self) {
        if self.graph.as_ref().is_some_and(|graph| graph.nodes.len() > LARGEST) {
            self.graph = None;
            self.results.clear();
        }
    }
}

/// The facts about one program.
pub struct Known {
    pub outlines: Vec<Outline>,
    /// The class of each node that has one.
    pub classes: FxHashMap<NodeId, u32>,
    /// The number of the body of each node.
    pub bodies: Vec<u32>,
}

impl Known {
    /// The facts that need no proof.
    pub fn new(program: &Program, memory: &mut Memory) -> Known {
        Known {
            outlines: program.nodes.iter().map(Outline::new).collect(),
            classes: FxHashMap::default(),
            bodies: program.nodes.iter().map(|_| memory.fresh()).collect(),
        }
    }
}

/// Whether two blocks are equal up to calls of nodes that are `same`.
pub fn alike(before: &[Eqn], after: &[Eqn], same: &dyn Fn(NodeId, NodeId) -> bool) -> bool {
    let pair = |(before, after): (&Eqn, &Eqn)| match (before, after) {
        (Eqn::Op(a), Eqn::Op(b)) => a == b,
        (Eqn::Call(a), Eqn::Call(b)) => {
            a.dsts == b.dsts && a.args == b.args && same(a.node, b.node)
        }
        (Eqn::Loop(a), Eqn::Loop(b)) => {
            a.count == b.count
                && a.carried == b.carried
                && a.reads == b.reads
                && a.collects == b.collects
                && alike(&a.body, &b.body, same)
        }
        _ => false,
    };
    before.len() == after.len() && before.iter().zip(after).all(pair)
}

/// A key for the treatment of loops and calls in a run.
pub fn way(loops: Loops, opaque: impl Iterator<Item = u32>) -> Way {
    let mut opaque: Vec<u32> = opaque.collect();
    opaque.sort_unstable();
    Way { loops, opaque }
}

#[cfg(test)]
mod tests {
    use usuba::ir::build::Builder;
    use usuba::ir::{Args, Loop, Op, Port, Slicing, Val};

    use super::*;
    use crate::{Observer, Verdict};

    /// g(x) = x ^ (x <<< turn), and an entry with a loop around a call of it.
    fn program(turn: u8) -> Program {
        let mut b = Builder::new("g", Slicing::V);
        let x = b.param(Port::new("x", 8, &[]))[0];
        let moved = b.op(Op::Rotl(turn), &[x]);
        let y = b.op(Op::Xor, &[x, moved]);
        let g = b.finish(vec![(Port::new("y", 8, &[]), vec![y])]);
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[2]));
        let k = b.param(Port::new("k", 8, &[4]));
        b.begin_loop(4, true);
        let (s, t) = (b.carry(x[0]), b.carry(x[1]));
        let key = b.read(k);
        let sum = b.op(Op::Xor, &[t, key]);
        let boxed = b.call(NodeId(0), &g, &[s])[0];
        let next = b.op(Op::And, &[boxed, sum]);
        let done = b.end_loop(&[next, s], &[sum]);
        let f = b.finish(vec![
            (Port::new("y", 8, &[2]), done.carried),
            (Port::new("c", 8, &[4]), done.collects[0].clone()),
        ]);
        Program::new(vec![g, f], NodeId(1), Slicing::V)
    }

    fn lp(body: &mut [Eqn]) -> &mut Loop {
        let found = body.iter_mut().find_map(|eqn| match eqn {
            Eqn::Loop(lp) => Some(lp),
            _ => None,
        });
        found.expect("a loop")
    }

    #[test]
    fn bodies_are_alike_only_in_all_parts() {
        let right = program(1).nodes[1].body.clone();
        let yes = |_: NodeId, _: NodeId| true;
        assert!(alike(&right, &right, &yes));
        assert!(!alike(&right, &right, &|_, _| false), "callees may be others");
        let changes: [fn(&mut Loop); 10] = [
            |lp| lp.count -= 1,
            |lp| lp.carried[0].init = lp.carried[1].init,
            |lp| lp.carried[0].next = lp.carried[0].param,
            |lp| lp.carried.swap(0, 1),
            |lp| lp.reads[0].list.swap(1, 2),
            |lp| lp.collects[0].value = lp.carried[0].param,
            |lp| lp.collects[0].results.swap(0, 3),
            |lp| {
                lp.body.pop();
            },
            |lp| match &mut lp.body[0] {
                Eqn::Op(e) => e.op = Op::Or,
                _ => panic!("an operator"),
            },
            |lp| match &mut lp.body[1] {
                Eqn::Call(call) => call.args[0] = Val(1),
                _ => panic!("a call"),
            },
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut wrong = right.clone();
            change(lp(&mut wrong));
            assert!(!alike(&right, &wrong, &yes), "change {at}");
            assert!(!alike(&wrong, &right, &yes), "change {at}");
        }
    }

    /// Numbers of bodies and classes are never given twice, even after the cache has been cleared.
    #[test]
    fn numbers_are_given_once() {
        let mut memory = Memory::default();
        let mut given = vec![memory.fresh(), memory.fresh()];
        memory.graph = Some(Graph::new(None));
        memory.tidy();
        assert!(memory.graph.is_some(), "a small graph is kept");
        given.extend(Known::new(&program(1), &mut memory).bodies);
        memory.graph = None;
        memory.results.clear();
        memory.tidy();
        given.extend(Known::new(&program(1), &mut memory).bodies);
        let count = given.len();
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), count);
    }

    /// A proof of one program says nothing about a program with an equal entry and other callees, and a
    /// fact about one text of a callee is not used for another text.
    #[test]
    fn what_is_known_of_one_program_is_not_known_of_its_neighbour() {
        let (right, wrong) = (program(1), program(2));
        assert_eq!(right.nodes[1], wrong.nodes[1], "the entries are written alike");
        // The same entry, with another text of the callee.
        let mut other = right.clone();
        match &mut other.nodes[0].body[1] {
            Eqn::Op(e) => e.args = Args::from_slice(&[e.args[1], e.args[0]]),
            _ => panic!("a sum"),
        }
        assert_ne!(right, other);
        let mut renamed = wrong.clone();
        renamed.nodes[0].name = "h".into();
        for history in [
            vec![&right],
            vec![&right, &right],
            vec![&right, &other],
            vec![&right, &other, &right, &other, &right],
        ] {
            for last in [&wrong, &renamed] {
                let mut proof = Observer::default();
                for program in &history {
                    proof.see("right", program);
                }
                assert_eq!(proof.fault(), None);
                proof.see("wrong", last);
                let fault = proof.finish().expect_err("a wrong program");
                assert_eq!((fault.pass.as_str(), fault.proved), ("wrong", history.len() - 1));
                assert!(matches!(fault.verdict, Verdict::Refuted(_)), "{fault}");
            }
        }
    }
}
