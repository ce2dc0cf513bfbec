//! Programs that were written apart: sums in another order, and nodes under other names.

use usuba::ir::build::Builder;
use usuba::ir::{NodeId, Op, Port, Program, Slicing};

use super::same;
use crate::dag::Edge;
use crate::value_numbering::Graph;

/// Sums in any order, with differences and constants; other sums are others.
#[test]
fn additions_have_a_normal_form() {
    fn sum(g: &mut Graph, a: Edge, b: Edge) -> Edge {
        g.op(&Op::Add, 16, &[a, b])
    }
    type Term = fn(&mut Graph, &[Edge]) -> Edge;
    let left: Term = |g, x| {
        let (ab, c) = (sum(g, x[0], x[1]), g.constant(16, 0xfff0));
        let abc = sum(g, ab, c);
        g.op(&Op::Sub, 16, &[abc, x[2]])
    };
    let equal: [Term; 2] = [
        |g, x| {
            let difference = g.op(&Op::Sub, 16, &[x[1], x[2]]);
            let c = g.constant(16, 0xffef);
            let (one, rest) = (g.constant(16, 1), sum(g, c, difference));
            let rest = sum(g, rest, x[0]);
            sum(g, rest, one)
        },
        |g, x| {
            let twice = sum(g, x[0], x[0]);
            let (ab, c) = (sum(g, twice, x[1]), g.constant(16, 0x10));
            let less = sum(g, x[0], c);
            let all = g.op(&Op::Sub, 16, &[ab, less]);
            g.op(&Op::Sub, 16, &[all, x[2]])
        },
    ];
    for right in equal {
        assert!(same(Some(3), 16, left, right));
        assert!(!same(None, 16, left, right), "E1 alone finds it");
    }
    let another: [Term; 2] = [
        |g, x| {
            let (ab, c) = (sum(g, x[0], x[1]), g.constant(16, 0xfff1));
            let abc = sum(g, ab, c);
            g.op(&Op::Sub, 16, &[abc, x[2]])
        },
        |g, x| {
            let (ab, c) = (sum(g, x[0], x[1]), g.constant(16, 0xfff0));
            let abc = sum(g, ab, c);
            sum(g, abc, x[2])
        },
    ];
    another.into_iter().for_each(|right| assert!(!same(Some(3), 16, left, right)));
    // The rest is no sum.
    assert!(same(
        Some(3),
        16,
        |g, x| {
            let ab = sum(g, x[0], x[1]);
            g.op(&Op::Sub, 16, &[ab, x[1]])
        },
        |_, x| x[0]
    ));
}

/// Nodes under other names are paired by their values, and linear ones are none of the pairs.
#[test]
fn nodes_of_programs_written_apart_are_paired() {
    let program = |names: [&str; 2], majority: bool| {
        let mut nodes = Vec::new();
        let mut vote = Builder::new(names[0], Slicing::B);
        let x = vote.param(Port::new("x", 1, &[3]));
        let (both, any) = (vote.op(Op::And, &x[..2]), vote.op(Op::Or, &x[..2]));
        let some = vote.op(Op::And, &[any, x[2]]);
        let found = vote.op(if majority { Op::Or } else { Op::Xor }, &[both, some]);
        nodes.push(vote.finish(vec![(Port::new("y", 1, &[]), vec![found])]));
        let mut parity = Builder::new(names[1], Slicing::B);
        let x = parity.param(Port::new("x", 1, &[2]));
        let found = parity.op(Op::Xor, &x);
        nodes.push(parity.finish(vec![(Port::new("y", 1, &[]), vec![found])]));
        let mut main = Builder::new("main", Slicing::B);
        let x = main.param(Port::new("x", 1, &[3]));
        let vote = main.call(NodeId(0), &nodes[0], &x);
        let found = main.call(NodeId(1), &nodes[1], &[vote[0], x[0]]);
        nodes.push(main.finish(vec![(Port::new("y", 1, &[]), found)]));
        Program::new(nodes, NodeId(2), Slicing::B)
    };
    let one = program(["vote", "sum"], true);
    let other = program(["majority", "parity"], true);
    assert_eq!(crate::pairs(&one, &other), [(NodeId(0), NodeId(0)), (NodeId(2), NodeId(2))]);
    assert!(crate::equivalent_apart(&one, &other).is_proved());
    let third = program(["vote", "sum"], false);
    assert!(!crate::pairs(&one, &third).contains(&(NodeId(0), NodeId(0))));
    assert!(!crate::equivalent_apart(&one, &third).is_proved());
}
