//! The engines against the semantics of operators, and the equalities that each must and must not
//! find.
//!
//! - here: operators, whole programs, and the equalities of each engine.
//! - `apart`: programs that were written apart; `rejections`: rule by rule, the pairs that they
//!   must reject.

mod apart;
mod rejections;

use usuba::ir::op::mask;
use usuba::ir::random::{self, Random, Shape};
use usuba::ir::{Op, Program, interp};

use crate::dag::{Edge, Kind};
use crate::execution::{Classes, Loops, Run, Side};
use crate::rewrites::Rewrites;
use crate::value_numbering::Graph;

/// The reference semantics of edges on words, evaluated without any simplification.
struct Meaning<'a> {
    graph: &'a Graph,
    params: Vec<u64>,
}

/// Values of the carried symbols of the loops around, and their iterations by nesting.
#[derive(Clone, Default)]
struct Around {
    carried: Vec<(u32, u64)>,
    iterations: Vec<(u64, u32)>,
}

impl Meaning<'_> {
    fn word(&self, edge: Edge, around: &Around) -> u64 {
        let node = self.graph.node(edge);
        let ones = mask(node.bits);
        let at = |raw: u64| self.word(Edge::from_raw(raw), around);
        let word = match node.kind {
            Kind::Const => node.a,
            Kind::Param => self.params[node.a as usize],
            Kind::Carried => {
                let inner = around.carried.iter().rev();
                inner.clone().find(|(symbol, _)| *symbol == edge.node()).expect("a bound symbol").1
            }
            Kind::Read => {
                let inner = around.iterations.iter().rev();
                let k = inner.clone().find(|(level, _)| *level == node.b).expect("in a loop").1;
                at(self.graph.members(node.a)[k as usize])
            }
            Kind::And => at(node.a) & at(node.b),
            Kind::Xor => at(node.a) ^ at(node.b),
            Kind::Map => self.graph.maps.apply(node.b as u32, at(node.a)),
            Kind::Pack => at(node.a) << (node.bits / 2) | at(node.b),
            Kind::Add => at(node.a).wrapping_add(at(node.b)) & ones,
            Kind::Mul => at(node.a).wrapping_mul(at(node.b)) & ones,
            Kind::MulHigh => ((at(node.a) as u128 * at(node.b) as u128) >> node.bits) as u64,
            Kind::Clmul => Op::Clmul.eval(node.bits, &[at(node.a), at(node.b)]),
            Kind::ClmulHigh => Op::ClmulHigh.eval(node.bits, &[at(node.a), at(node.b)]),
            Kind::Less => (at(node.a) < at(node.b)) as u64,
            Kind::Resize => at(node.a) & ones,
            Kind::At => self.iterated(edge, around),
            Kind::Lookup => self.graph.words(node.b)[at(node.a) as usize],
            Kind::Call | Kind::List => unreachable!("not in these tests"),
        };
        let moved = self.graph.maps.apply(edge.map(), word);
        if edge.is_complement() { !moved & ones } else { moved }
    }

    fn iterated(&self, edge: Edge, around: &Around) -> u64 {
        let node = self.graph.node(edge);
        let members = self.graph.members(node.a);
        let system: Vec<(Edge, Edge)> = members
            .chunks(2)
            .map(|pair| (Edge::from_raw(pair[0]), Edge::from_raw(pair[1])))
            .collect();
        // The level is in the name of each symbol; an edge without symbols reads lists.
        let levels = system.iter().map(|(symbol, _)| self.graph.node(*symbol).b >> 32);
        let level = levels.max().unwrap_or_else(|| self.deepest_read(Edge::from_raw(node.b)));
        let first = |symbol: Edge| Edge::from_raw(self.graph.node(symbol).a);
        let mut values: Vec<u64> =
            system.iter().map(|(symbol, _)| self.word(first(*symbol), around)).collect();
        let count = node.a as u32;
        for k in 0.. {
            let mut inside = around.clone();
            inside.iterations.push((level, k));
            let symbols = system.iter().map(|(symbol, _)| symbol.node());
            inside.carried.extend(symbols.zip(values.iter().copied()));
            if k == count {
                return self.word(Edge::from_raw(node.b), &inside);
            }
            values = system.iter().map(|(_, step)| self.word(*step, &inside)).collect();
        }
        unreachable!("the iterations end")
    }

    fn deepest_read(&self, edge: Edge) -> u64 {
        let (mut found, mut work) = (0, vec![edge]);
        let mut children = Vec::new();
        while let Some(edge) = work.pop() {
            let node = self.graph.node(edge);
            if node.kind == Kind::Read {
                found = found.max(node.b);
            }
            if node.kind != Kind::At {
                crate::induction::children(self.graph, edge.node(), &mut children);
                work.append(&mut children);
            }
        }
        found
    }
}

/// Far more operators on one value than it has slots in the table of nodes.
#[test]
fn each_operator_on_a_value_with_thousands_is_found_again() {
    let mut graph = Graph::new(None);
    let inputs: Vec<Edge> = (0..3000).map(|at| graph.intern(Kind::Param, 32, 0, at, 0)).collect();
    let (&last, rest) = inputs.split_last().unwrap();
    let ops = [Op::And, Op::Xor, Op::Or, Op::Add, Op::Less];
    let run = |graph: &mut Graph, turned: bool| {
        let mut edges = Vec::new();
        for &x in rest {
            for op in &ops {
                let args = if turned && *op != Op::Less { [last, x] } else { [x, last] };
                edges.push(graph.op(op, 32, &args));
            }
        }
        edges
    };
    let first = run(&mut graph, false);
    let nodes = graph.nodes.len();
    assert_eq!(nodes, inputs.len() + ops.len() * rest.len());
    assert_eq!(run(&mut graph, true), first);
    assert_eq!(graph.nodes.len(), nodes);
    let mut made = Vec::new();
    for (&x, edges) in rest.iter().zip(first.chunks(ops.len())) {
        graph.made(x, last, &mut made);
        let found: Vec<Edge> = made.iter().map(|&(.., edge)| edge).collect();
        // x | y is the complement of ~x & ~y.
        assert_eq!(found, [edges[1], edges[0], !edges[2]], "the sum, the product, neither");
    }
}

fn graphs() -> [Graph; 3] {
    [None, Some(3), Some(5)].map(|leaves| Graph::new(leaves.map(Rewrites::new)))
}

fn params(g: &mut Graph, widths: &[u8]) -> Vec<Edge> {
    let param = |(at, &bits): (usize, &u8)| g.intern(Kind::Param, bits, 0, at as u64, 0);
    widths.iter().enumerate().map(param).collect()
}

/// The outputs of a program as edges of a DAG evaluate to the results of the interpreter.
fn check_meaning(program: &Program, loops: Loops, graph: Graph, seed: u64) {
    let classes = Classes::default();
    let programs = [program, program];
    let mut run = Run::new(graph, programs, &classes, Default::default(), loops, 1_000_000);
    let entry = program.entry();
    let params = params(&mut run.graph, &entry.bits[..entry.arity(program.slicing)]);
    let outs = run.node(Side::Before, program.entry, &params).expect("small programs");
    let mut random = Random::new(seed);
    for _ in 0..3 {
        let inputs = random::inputs(&mut random, program);
        let meaning = Meaning { graph: &run.graph, params: inputs.clone() };
        let words: Vec<u64> =
            outs.iter().map(|&out| meaning.word(out, &Around::default())).collect();
        assert_eq!(Ok(words), interp::run(program, &inputs), "seed {seed} {loops:?}");
    }
}

#[test]
fn edges_mean_what_the_interpreter_says() {
    for shape in [Shape::WORDS, Shape::BITS, Shape::ROWS] {
        // Small, because a shared node is evaluated wherever it is used.
        let shape = Shape { size: 9, nodes: 2, ..shape };
        for seed in 0..120 {
            let program = random::program(seed, shape);
            for loops in [Loops::Kept, Loops::OutermostKept, Loops::Unfolded] {
                for graph in graphs() {
                    check_meaning(&program, loops, graph, seed);
                }
            }
        }
    }
}

#[test]
fn each_operator_means_what_it_does() {
    let unary = |m: u8| {
        let mut ops = vec![Op::Copy, Op::Not, Op::Bitmask(m - 1), Op::Bitmask(0)];
        ops.extend((1..m).flat_map(|k| [Op::Shl(k), Op::Shr(k), Op::Sar(k), Op::Rotl(k)]));
        ops.push(Op::Shuffle((0..m).rev().collect()));
        ops.push(Op::Shuffle(vec![0; m as usize].into()));
        if m == 8 {
            let matrix = 0x8f3b_5501_e2c4_9a76;
            ops.extend([Op::Affine(matrix, 0xa5), Op::AffineInverse(matrix, 0x3c)]);
        }
        ops
    };
    let mut binary = vec![Op::And, Op::Or, Op::Xor, Op::Andn, Op::Add, Op::Sub, Op::Mul];
    binary.extend([Op::MulHigh, Op::Less, Op::Clmul, Op::ClmulHigh]);
    let mut random = Random::new(7);
    for m in [1, 5, 8, 13, 64] {
        for mut g in graphs() {
            let x = params(&mut g, &[m, m, m]);
            let mut edges = Vec::new();
            // Also of complements, of rotations, and of two operands that are one.
            let rotated = if m > 1 { g.op(&Op::Rotl(1), m, &x[..1]) } else { x[1] };
            for a in [x[0], !x[0], rotated] {
                edges.extend(unary(m).into_iter().map(|op| (op, vec![a])));
                for b in [x[1], !x[1], x[0], !x[0]] {
                    edges.extend(binary.iter().map(|op| (op.clone(), vec![a, b])));
                    for c in [x[2], !x[0], rotated] {
                        let tables = (0..8).map(|_| Op::Lut3(random.word() as u8));
                        edges.extend(tables.map(|op| (op, vec![a, b, c])));
                        if m > 5 {
                            let sums = [Op::MulAdd(m - 1), Op::MulAddHigh(m / 2)];
                            edges.extend(sums.map(|op| (op, vec![a, b, c])));
                        }
                    }
                }
            }
            let made: Vec<Edge> = edges.iter().map(|(op, args)| g.op(op, m, args)).collect();
            for _ in 0..4 {
                let words = (0..3).map(|_| random.word() & mask(m)).collect();
                let meaning = Meaning { graph: &g, params: words };
                let word = |edge: Edge| meaning.word(edge, &Around::default());
                for ((op, args), &edge) in edges.iter().zip(&made) {
                    let args: Vec<u64> = args.iter().map(|&arg| word(arg)).collect();
                    assert_eq!(word(edge), op.eval(m, &args), "{op:?} of {args:x?}, {m} bits");
                }
            }
        }
    }
}

/// Whether a graph with these engines makes one edge of both terms over three words.
fn same(
    leaves: Option<usize>,
    bits: u8,
    left: impl Fn(&mut Graph, &[Edge]) -> Edge,
    right: impl Fn(&mut Graph, &[Edge]) -> Edge,
) -> bool {
    let mut g = Graph::new(leaves.map(Rewrites::new));
    let x = params(&mut g, &[bits; 5]);
    left(&mut g, &x) == right(&mut g, &x)
}

#[test]
fn structure_sees_complements_and_permutations() {
    let rotated = |g: &mut Graph, k: u8, x: Edge| g.op(&Op::Rotl(k), 8, &[x]);
    // ~(~a | (b <<< 1)) = a & ~(b <<< 1)
    assert!(same(
        None,
        8,
        |g, x| {
            let r = rotated(g, 1, x[1]);
            !g.or(!x[0], r)
        },
        |g, x| {
            let r = rotated(g, 1, !x[1]);
            g.and(r, x[0])
        },
    ));
    // (a & b) <<< 3 = (a <<< 3) & (b <<< 3), also with a constant.
    for constant in [false, true] {
        assert!(same(
            None,
            8,
            |g, x| {
                let b = if constant { g.constant(8, 0x35) } else { x[1] };
                let both = g.and(x[0], b);
                rotated(g, 3, both)
            },
            |g, x| {
                let b = if constant { g.constant(8, 0x35) } else { x[1] };
                let (a, b) = (rotated(g, 3, x[0]), rotated(g, 3, b));
                g.and(b, a)
            },
        ));
    }
    // a - b = ~(~a + b)
    assert!(same(
        None,
        8,
        |g, x| g.op(&Op::Sub, 8, &[x[0], x[1]]),
        |g, x| {
            let sum = g.op(&Op::Add, 8, &[x[1], !x[0]]);
            !sum
        }
    ));
}

#[test]
fn tables_see_multiplexers_and_ternary_logic() {
    type Term = fn(&mut Graph, &[Edge]) -> Edge;
    let multiplexers: [Term; 4] = [
        |g, x| {
            let (t, e) = (g.and(x[0], x[1]), g.and(!x[0], x[2]));
            g.or(t, e)
        },
        |g, x| {
            let change = g.xor(x[1], x[2]);
            let taken = g.and(x[0], change);
            g.xor(taken, x[2])
        },
        |g, x| g.op(&Op::Lut3(0xca), 8, &x[..3]),
        |g, x| g.op(&Op::Lut3(0xac), 8, &[!x[0], x[1], x[2]]),
    ];
    for (i, left) in multiplexers.iter().enumerate() {
        for right in &multiplexers[..i] {
            assert!(same(Some(3), 8, left, right), "{i}");
            assert!(!same(Some(3), 8, left, |g, x| g.op(&Op::Lut3(0xcb), 8, &x[..3])));
        }
    }
}

/// A counter bit by bit: in ternary logic the carry need not be there, (x & ~(x ^ c)) ^ y is the
/// next sum.
#[test]
fn ternary_logic_of_two_operators_is_these() {
    type Rows = fn(u8, u8, u8) -> u8;
    type Term = fn(&mut Graph, [Edge; 3]) -> Edge;
    let cases: [(Rows, Term); 3] = [
        (
            |a, b, c| (a & !b) ^ c,
            |g, [x, r, y]| {
                let carry = g.and(x, r);
                g.xor(carry, y)
            },
        ),
        (
            |a, b, c| !(c & (!a | b)),
            |g, [x, r, y]| {
                let either = g.or(!x, !r);
                !g.and(either, y)
            },
        ),
        (
            |a, b, c| c | (a & b),
            |g, [x, r, y]| {
                let both = g.and(x, !r);
                g.or(both, y)
            },
        ),
    ];
    for (rows, term) in cases {
        let row = |i: u8| rows(i >> 2 & 1, i >> 1 & 1, i & 1) & 1;
        let rows = (0..8).fold(0, |rows, i| rows | row(i) << i);
        let fused = |rows: u8| {
            move |g: &mut Graph, x: &[Edge]| {
                let sum = g.xor(x[0], x[1]);
                g.op(&Op::Lut3(rows), 8, &[x[0], sum, x[2]])
            }
        };
        let plain = |g: &mut Graph, x: &[Edge]| term(g, [x[0], x[1], x[2]]);
        assert!(same(None, 8, plain, fused(rows)), "{rows:#x}");
        for bit in 0..8 {
            assert!(!same(Some(5), 8, plain, fused(rows ^ 1 << bit)), "{rows:#x}, {bit}");
        }
    }
}

#[test]
fn larger_cuts_see_more() {
    let sum =
        |g: &mut Graph, list: &[Edge]| list[1..].iter().fold(list[0], |all, &x| g.and(all, x));
    let left = |g: &mut Graph, x: &[Edge]| sum(g, &[x[0], x[1], x[2], x[3], x[4]]);
    let right = |g: &mut Graph, x: &[Edge]| sum(g, &[x[4], x[2], x[0], x[3], x[1]]);
    assert!(same(Some(5), 8, left, right));
    assert!(!same(Some(3), 8, left, right));
    assert!(!same(Some(5), 8, left, |g, x| sum(g, &[x[0], x[1], x[2], x[3], !x[4]])));
}

#[test]
fn sums_are_sets() {
    let sum =
        |g: &mut Graph, list: &[Edge]| list[1..].iter().fold(list[0], |all, &x| g.xor(all, x));
    let rotated = |g: &mut Graph, x: &[Edge], k: u8| -> Vec<Edge> {
        x.iter().map(|&x| g.op(&Op::Rotl(k), 8, &[x])).collect()
    };
    let left = |g: &mut Graph, x: &[Edge]| sum(g, &[x[0], x[1], x[2], x[3], x[1], x[4], x[4]]);
    assert!(same(Some(3), 8, left, |g, x| sum(g, &[x[3], x[2], x[0]])));
    assert!(!same(Some(3), 8, left, |g, x| sum(g, &[x[3], x[2], x[0], x[1]])));
    assert!(!same(Some(3), 8, left, |g, x| !sum(g, &[x[3], x[2], x[0]])));
    assert!(same(
        Some(3),
        8,
        |g, x| {
            let all = sum(g, &[x[0], x[1], x[2], x[3]]);
            g.op(&Op::Rotl(3), 8, &[all])
        },
        |g, x| {
            let y = rotated(g, x, 3);
            sum(g, &[y[2], y[0], y[3], y[1]])
        }
    ));
}

#[test]
fn a_shift_of_a_complement_is_no_complement_of_a_shift() {
    for op in [Op::Shl(1), Op::Shr(1)] {
        for leaves in [None, Some(3), Some(5)] {
            let shift = |g: &mut Graph, x: Edge| g.op(&op, 8, &[x]);
            assert!(!same(leaves, 8, |g, x| shift(g, !x[0]), |g, x| !shift(g, x[0])));
        }
    }
    // An arithmetic shift moves bits only.
    assert!(same(
        None,
        8,
        |g, x| g.op(&Op::Sar(3), 8, &[!x[0]]),
        |g, x| !g.op(&Op::Sar(3), 8, &[x[0]]),
    ));
}

/// Logic of some depth on the words, from a recipe.
fn logic(g: &mut Graph, x: &[Edge], seed: u64) -> Edge {
    let mut random = Random::new(seed);
    let mut known = x.to_vec();
    for _ in 0..24 {
        let [a, b] = [0, 1].map(|_| known[random.below(known.len())]);
        let (a, b) = (a.flipped(random.once_in(2)), b.flipped(random.once_in(3)));
        known.push(if random.once_in(2) { g.and(a, b) } else { g.xor(a, b) });
    }
    known.into_iter().rev().take(6).reduce(|sum, e| g.xor(sum, e)).expect("some edges")
}

/// The same function of the words as a sum over all its ones.
fn sum_of_rows(g: &mut Graph, x: &[Edge], seed: u64) -> Edge {
    let mut single = Graph::new(None);
    let one = params(&mut single, &vec![1; x.len()]);
    let edge = logic(&mut single, &one, seed);
    let mut sum = g.dag.constant(g.dag.bits(x[0]), 0);
    for row in 0..1u64 << x.len() {
        let inputs = (0..x.len()).map(|v| row >> v & 1).collect();
        let meaning = Meaning { graph: &single, params: inputs };
        if meaning.word(edge, &Around::default()) == 1 {
            let factors = (0..x.len()).map(|v| x[v].flipped(row >> v & 1 == 0));
            let factors: Vec<Edge> = factors.collect();
            let term = factors[1..].iter().fold(factors[0], |term, &f| g.and(term, f));
            sum = g.or(sum, term);
        }
    }
    sum
}

#[test]
fn windows_see_any_function_of_a_few_words() {
    for (leaves, bits) in [(3, 1), (5, 1), (5, 8)] {
        for seed in 0..60 {
            let equal =
                same(Some(leaves), bits, |g, x| logic(g, x, seed), |g, x| sum_of_rows(g, x, seed));
            assert!(equal, "seed {seed} on words of {bits} bits");
        }
    }
}

#[test]
fn what_agrees_on_most_inputs_is_not_equal() {
    // The product of many words is zero on all random inputs.
    for (leaves, bits) in [(3, 1), (5, 1), (5, 4)] {
        let mut g = Graph::new(Some(Rewrites::new(leaves)));
        let x = params(&mut g, &[bits; 40]);
        let mut product = x[0];
        for (i, &factor) in x.iter().enumerate().skip(1) {
            let before = product;
            product = g.and(product, factor);
            assert_ne!(product, before, "product {i}");
            assert!(g.value(product).is_none(), "product {i}");
        }
        let sum = g.xor(x[7], product);
        assert_ne!(sum, x[7]);
    }
}
