//! The cost of engine E1 for long programs: nodes per operation, and bytes per node.
//!
//! ```text
//! before    a million operators on bits, each on two of the last thousand values
//! after     the same with the operands of each in the other order
//! ```
//!
//! Both are run on one graph; the second finds the nodes of the first. Counts are tested;
//! the time is printed. In the whole run the programs have five million operators, and
//! the peak of memory of the whole process is looked at, too.

use usuba::ir::random::Random;
use usuba::ir::{Args, Eqn, Inline, Node, NodeId, Op, OpEqn, Port, Program, Slicing, Val};
use usuba_equiv::{Engines, Stats, Verdict, equivalent};
use usuba_gen::asks;

/// Parameters and results.
const WIDTH: usize = 64;

/// How far back operands are.
const BACK: usize = 1000;

/// Bytes of the graph for each of its nodes, at most.
const BYTES: usize = 80;

/// For five million operators on each side, both programs included: a gigabyte.
const PEAK: u64 = 1_000_000_000;

fn program(operators: usize, turned: bool) -> Program {
    let mut random = Random::new(17);
    let mut body = Vec::with_capacity(operators);
    for at in 0..operators {
        let known = WIDTH + at;
        let value = |random: &mut Random| Val((known - 1 - random.below(known.min(BACK))) as u32);
        let (x, y) = (value(&mut random), value(&mut random));
        let op = [Op::And, Op::Xor, Op::Or, Op::Xor][random.below(4)].clone();
        let args = if turned { [y, x] } else { [x, y] };
        let dst = Val(known as u32);
        body.push(Eqn::Op(OpEqn { dst, op, args: Args::from_slice(&args) }));
    }
    let port = |name: &str| Port::new(name, 1, &[WIDTH as u32]);
    let node = Node {
        name: "f".into(),
        params: vec![port("x")],
        results: vec![port("y")],
        outs: (operators..operators + WIDTH).map(|at| Val(at as u32)).collect(),
        bits: vec![1; WIDTH + operators],
        origins: Default::default(),
        body,
        inline: Inline::Auto,
    };
    Program::new(vec![node], NodeId(0), Slicing::B)
}

/// The most memory that this process had so far, in bytes, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Seconds that this thread has run on a processor, where the system tells: others may use it, too.
fn seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

fn proved(before: &Program, after: &Program) -> Stats {
    match equivalent(before, after) {
        Verdict::Proved(stats) => stats,
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn a_long_program_takes_a_node_for_each_operator() {
    let long = asks!();
    let operators = if long { 5_000_000 } else { 200_000 };
    let (before, after) = (program(operators, false), program(operators, true));
    let programs = peak();
    let start = seconds();
    let stats = proved(&before, &after);
    let seconds = seconds().zip(start).map_or(f64::NAN, |(end, start)| end - start);
    let per_node = stats.bytes / stats.nodes;
    println!(
        "{operators} operators on each side: {:.3} s per million, {} nodes, {} MB of graph, {per_node} \
         bytes a node; {:?} MB for the programs alone, {:?} MB with the proof",
        seconds / (stats.steps as f64 / 1e6),
        stats.nodes,
        stats.bytes >> 20,
        programs.map(|bytes| bytes >> 20),
        peak().map(|bytes| bytes >> 20),
    );
    assert_eq!(stats.engines, Engines::GRAPH);
    assert_eq!(stats.steps, 2 * operators as u64);
    assert!(stats.nodes <= operators + WIDTH + 1, "{} nodes", stats.nodes);
    assert!(per_node <= BYTES, "{per_node} bytes for each node");
    if let (true, Some(all)) = (long, peak()) {
        assert!(all <= PEAK, "{all} bytes");
    }
}
