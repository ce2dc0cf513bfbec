//! Properties of all passes on random programs, and each pass on small ones.

use super::pipeline::{Level, PipelineOptions, run_pass, run_pipeline};
use super::*;
use crate::dump;
use crate::ir;
use crate::ir::build::Builder;
use crate::ir::random::{self, Random, Shape};
use crate::ir::{Inline, Node, NodeId, Op, Port, Slicing, Val, interp, live, verify};

/// A port of one 8-bit word.
pub fn word(name: &str) -> Port {
    Port::new(name, 8, &[])
}

/// A program of one V node whose results, 8-bit words, are the values that `make` returns.
pub fn single(make: impl FnOnce(&mut Builder) -> Vec<Val>) -> Program {
    let mut b = Builder::new("f", Slicing::V);
    let outs = make(&mut b);
    let ports = outs.into_iter().enumerate();
    let node = b.finish(ports.map(|(i, out)| (word(&format!("r{i}")), vec![out])).collect());
    Program::new(vec![node], NodeId(0), Slicing::V)
}

/// Runs the passes by name and checks that nothing has changed on some inputs.
pub fn after(names: &[&str], mut program: Program, options: PassOptions) -> Program {
    let before = program.clone();
    for name in names {
        run_pass(find(name).expect("a pass of that name"), &mut program, &options);
    }
    agree(&before, &program, 1);
    program
}

/// The operators of the entry of `single(make)` after the passes, in order; no calls or loops.
pub fn ops_after(names: &[&str], make: impl FnOnce(&mut Builder) -> Vec<Val>) -> Vec<Op> {
    let left = after(names, single(make), PassOptions::default());
    let op = |eqn: &Eqn| match eqn {
        Eqn::Op(e) => e.op.clone(),
        _ => panic!("an operator"),
    };
    left.entry().body.iter().map(op).collect()
}

fn agree(before: &Program, after: &Program, seed: u64) {
    let mut random = Random::new(seed);
    for _ in 0..4 {
        let inputs = random::inputs(&mut random, before);
        assert_eq!(
            interp::run(before, &inputs),
            interp::run(after, &inputs),
            "seed {seed}, inputs {inputs:x?}\n{}\nbecame\n{}",
            dump::program(before),
            dump::program(after)
        );
    }
}

const SHAPES: [Shape; 3] = [Shape::WORDS, Shape::BITS, Shape::ROWS];

const INLINE: [inline::Mode; 5] = [
    inline::Mode::Auto,
    inline::Mode::All,
    inline::Mode::None,
    inline::Mode::Light,
    inline::Mode::Heavy,
];

const UNROLL: [unroll::Mode; 5] = [
    unroll::Mode::Auto,
    unroll::Mode::All,
    unroll::Mode::None,
    unroll::Mode::Rounds(2),
    unroll::Mode::Rounds(3),
];

fn random_options(random: &mut Random) -> PassOptions {
    let (inline, unroll) = (INLINE[random.below(5)], UNROLL[random.below(5)]);
    let flag = |random: &mut Random| random.once_in(2);
    let (andn, ternary) = (flag(random), flag(random));
    let lane = [0, 16, 64][random.below(3)];
    let (affine, muladd) = (random.below(2) == 0, [0, 16, 32][random.below(3)]);
    let logic = logic::Logic { andn, ternary, lane, affine, muladd };
    let regs = [1, 6, 16][random.below(3)];
    let machine = machine::Machine { regs, ..machine::Machine::default() };
    let window = [1, 3, 10][random.below(3)];
    let schedule = Schedule { bitslice: When::Always, mslice: When::Always, window };
    PassOptions { inline, unroll, logic, schedule, machine, ..PassOptions::default() }
}

#[test]
fn each_pass_keeps_the_meaning() {
    for shape in SHAPES {
        for seed in 0..150 {
            let before = random::program(seed, shape);
            for pass in ALL.iter() {
                let mut program = before.clone();
                run_pass(pass, &mut program, &random_options(&mut Random::new(seed)));
                verify::verify(&program).expect(pass.name);
                agree(&before, &program, seed);
            }
        }
    }
}

#[test]
fn passes_keep_the_meaning_in_any_order() {
    for shape in SHAPES {
        for seed in 0..150 {
            let before = random::program(seed, shape);
            let mut random = Random::new(seed ^ 0xabcd);
            let mut program = before.clone();
            for _ in 0..12 {
                let pass = ALL[random.below(ALL.len())];
                run_pass(pass, &mut program, &random_options(&mut random));
                verify::verify(&program).expect(pass.name);
            }
            agree(&before, &program, seed);
        }
    }
}

#[test]
fn pipelines_keep_the_meaning_and_repeat() {
    for shape in SHAPES {
        for seed in 0..100 {
            let before = random::program(seed, shape);
            for level in [Level::O0, Level::O1, Level::O2] {
                let mut options = PipelineOptions { level, ..PipelineOptions::default() };
                options.pass = random_options(&mut Random::new(seed));
                let (mut once, mut again) = (before.clone(), before.clone());
                run_pipeline(&mut once, &options, &mut |_, _| ());
                run_pipeline(&mut again, &options, &mut |_, _| ());
                agree(&before, &once, seed);
                assert_eq!(dump::program(&once), dump::program(&again));
                // Where andn is two instructions, one complement may replace several of it.
                let andn = if options.pass.logic.price(&Op::Andn) == 1 { 0 } else { 1 };
                let cost = |p: &Program| {
                    let counts = live::executed(p);
                    counts.computing() + andn * counts.of("andn")
                };
                assert!(cost(&once) <= cost(&before), "seed {seed} at {level:?}");
            }
        }
    }
}

#[test]
fn skipped_passes_do_not_run_and_stop_stops() {
    let run = |skip: &[&str], stop_after: Option<&str>| {
        let options = PipelineOptions {
            skip: skip.iter().map(|s| s.to_string()).collect(),
            stop_after: stop_after.map(str::to_string),
            ..PipelineOptions::default()
        };
        let mut seen = Vec::new();
        let mut program = random::program(1, Shape::WORDS);
        run_pipeline(&mut program, &options, &mut |name, _| seen.push(name.to_string()));
        seen
    };
    let all = run(&[], None);
    assert_eq!(all.len(), pipeline::passes(Level::O2).count());
    assert!(!run(&["cse", "dce"], None).iter().any(|name| name == "cse" || name == "dce"));
    assert_eq!(run(&[], Some("canon")), all[..3]);
}

#[test]
fn names_are_unique_and_found() {
    for pass in ALL.iter() {
        assert_eq!(find(pass.name).map(|found| found.about), Some(pass.about));
        assert!(pass.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    }
    for level in [Level::O0, Level::O1, Level::O2] {
        assert!(pipeline::passes(level).all(|pass| find(pass.name).is_some()));
    }
    assert!(find("no-such-pass").is_none());
}

#[test]
fn canon_orders_commutative_operands_only() {
    let program = single(|b| {
        let (x, y) = (b.param(word("x"))[0], b.param(word("y"))[0]);
        vec![b.op(Op::Xor, &[y, x]), b.op(Op::Sub, &[y, x]), b.op(Op::Andn, &[y, x])]
    });
    let left = after(&["canon"], program, PassOptions::default());
    let args: Vec<Vec<u32>> = left
        .entry()
        .body
        .iter()
        .map(|eqn| match eqn {
            Eqn::Op(e) => e.args.iter().map(|v| v.0).collect(),
            _ => panic!("an operator"),
        })
        .collect();
    assert_eq!(args, [[0, 1], [1, 0], [1, 0]]);
}

#[test]
fn cse_needs_canon_for_swapped_operands() {
    let make = |b: &mut Builder| {
        let (x, y) = (b.param(word("x"))[0], b.param(word("y"))[0]);
        let (t, u, v) = (b.op(Op::And, &[x, y]), b.op(Op::And, &[y, x]), b.op(Op::And, &[x, y]));
        let left = b.op(Op::Add, &[t, u]);
        let right = b.op(Op::Add, &[v, u]);
        vec![b.op(Op::Mul, &[left, right])]
    };
    assert_eq!(ops_after(&["cse"], make), [Op::And, Op::And, Op::Add, Op::Mul]);
    assert_eq!(ops_after(&["canon", "cse"], make), [Op::And, Op::Add, Op::Mul]);
}

#[test]
fn cse_keeps_constants_of_different_width_apart() {
    let program = single(|b| {
        let x = b.param(word("x"))[0];
        let (narrow, wide) = (b.constant(4, 1), b.constant(8, 1));
        let packed = b.op(Op::Pack, &[narrow, narrow]);
        let sum = b.op(Op::Add, &[x, wide]);
        vec![b.op(Op::Add, &[sum, packed])]
    });
    let left = after(&["cse"], program, PassOptions::default());
    assert_eq!(live::written(&left.entry().body).of("const"), 2);
}

/// A program with a pure helper `g(x) = ~x ^ (x <<< 1)` and an entry made by `make`.
fn with_helper(inline: Inline, make: impl FnOnce(&mut Builder, &Node) -> Vec<Val>) -> Program {
    let mut b = Builder::new("g", Slicing::V);
    b.set_inline(inline);
    let x = b.param(word("x"))[0];
    let (n, r) = (b.op(Op::Not, &[x]), b.op(Op::Rotl(1), &[x]));
    let y = b.op(Op::Xor, &[n, r]);
    let g = b.finish(vec![(word("y"), vec![y])]);
    let mut program = single(|b| make(b, &g));
    program.nodes.insert(0, g);
    program.entry = NodeId(1);
    program
}

fn counts(program: &Program) -> live::Counts {
    live::written(&program.entry().body)
}

#[test]
fn cse_merges_calls_and_reaches_into_loops_but_not_out() {
    let program = with_helper(Inline::Auto, |b, g| {
        let x = b.param(word("x"))[0];
        let k = b.param(Port::new("k", 8, &[2]));
        let before = b.call(NodeId(0), g, &[x])[0];
        b.begin_loop(2, true);
        let s = b.carry(x);
        let (k1, k2) = (b.read(k.clone()), b.read(k.clone()));
        let same = b.call(NodeId(0), g, &[x])[0];
        let inside = b.op(Op::Not, &[x]);
        let t = b.op(Op::Add, &[same, k1]);
        let u = b.op(Op::Add, &[same, k2]);
        let v = b.op(Op::Xor, &[t, inside]);
        let w = b.op(Op::Mul, &[v, u]);
        let n = b.op(Op::Sub, &[w, s]);
        let done = b.end_loop(&[n], &[]);
        let outside = b.op(Op::Not, &[x]);
        vec![before, done.carried[0], outside]
    });
    let left = after(&["cse"], program, PassOptions::default());
    let counts = counts(&left);
    assert_eq!((counts.of("call"), counts.of("add"), counts.of("not")), (1, 1, 2));
    let Eqn::Loop(lp) = &left.entry().body[1] else { panic!("a loop") };
    assert_eq!(lp.reads.len(), 1);
}

#[test]
fn copies_disappear_also_through_loops() {
    let program = single(|b| {
        let x = b.param(word("x"))[0];
        let k = b.param(Port::new("k", 8, &[3]));
        let copy = b.op(Op::Copy, &[x]);
        b.begin_loop(3, true);
        let (same, s) = (b.carry(copy), b.carry(x));
        let (constant, key) = (b.read(vec![x, copy, x]), b.read(k.clone()));
        let kept = b.op(Op::Copy, &[same]);
        let t = b.op(Op::Add, &[s, constant]);
        let done = b.end_loop(&[kept, t], &[key, same, s]);
        let first = b.op(Op::Sub, &[done.collects[0][2], done.carried[0]]);
        let second = b.op(Op::Xor, &[done.collects[1][1], done.collects[2][0]]);
        let third = b.op(Op::Mul, &[done.carried[1], done.collects[2][1]]);
        vec![first, second, third]
    });
    let left = after(&["copy-prop", "dce"], program, PassOptions::default());
    assert_eq!(counts(&left).of("copy"), 0);
    let Eqn::Loop(lp) = &left.entry().body[0] else { panic!("a loop") };
    assert_eq!((lp.carried.len(), lp.reads.len(), lp.collects.len()), (1, 0, 1));
    // `k[2] - x` and `x ^ x` are read from the parameters directly.
    let Eqn::Op(sub) = &left.entry().body[1] else { panic!("an operator") };
    assert_eq!(sub.args[..], [Val(3), Val(0)]);
    let Eqn::Op(xor) = &left.entry().body[2] else { panic!("an operator") };
    assert_eq!(xor.args[..], [Val(0), Val(0)]);
}

#[test]
fn dead_equations_calls_loops_and_nodes_disappear() {
    let program = with_helper(Inline::Auto, |b, g| {
        let x = b.param(word("x"))[0];
        let dead = b.op(Op::Not, &[x]);
        b.call(NodeId(0), g, &[dead]);
        b.begin_loop(4, true);
        let (useful, spin) = (b.carry(x), b.carry(x));
        let unread = b.read(vec![x, dead, x, dead]);
        let next = b.op(Op::Add, &[useful, useful]);
        // This one only feeds itself.
        let spun = b.op(Op::Xor, &[spin, unread]);
        let done = b.end_loop(&[next, spun], &[spun]);
        b.begin_loop(2, true);
        let idle = b.carry(x);
        let more = b.op(Op::Rotl(1), &[idle]);
        b.end_loop(&[more], &[]);
        vec![done.carried[0]]
    });
    let left = after(&["dce"], program, PassOptions::default());
    assert_eq!((left.nodes.len(), left.entry), (1, NodeId(0)));
    assert_eq!(left.entry().body.len(), 1);
    let Eqn::Loop(lp) = &left.entry().body[0] else { panic!("a loop") };
    assert_eq!((lp.carried.len(), lp.reads.len(), lp.collects.len()), (1, 0, 0));
    // The parameter, and three values of the loop.
    assert_eq!(left.entry().bits.len(), 4);
}

#[test]
fn inline_modes_differ_in_what_they_leave() {
    let calls = |mode: inline::Mode, wish: Inline| {
        let program = with_helper(wish, |b, g| {
            let x = b.param(word("x"))[0];
            b.begin_loop(3, true);
            let s = b.carry(x);
            let t = b.call(NodeId(0), g, &[s])[0];
            let done = b.end_loop(&[t], &[]);
            let u = b.call(NodeId(0), g, &[done.carried[0]])[0];
            vec![u]
        });
        let options = PassOptions { inline: mode, ..PassOptions::default() };
        let left = after(&["inline"], program, options);
        let counts = counts(&left);
        assert_eq!(counts.of("xor") + counts.of("call"), 2);
        counts.of("call")
    };
    use inline::Mode::*;
    let wishes = [Inline::Auto, Inline::Always, Inline::Never];
    let left = |mode| wishes.map(|wish| calls(mode, wish));
    assert_eq!(left(Auto), [0, 0, 2]);
    assert_eq!(left(All), [0, 0, 0]);
    assert_eq!(left(None), [2, 2, 2]);
    assert_eq!(left(Light), [2, 0, 2]);
    assert_eq!(left(Heavy), [0, 0, 2]);
}

/// Nodes that each call the one before twice: the last has 2^n equations when all is inlined.
fn doubling(n: u32, inline: Inline) -> Program {
    let mut nodes: Vec<Node> = Vec::new();
    for i in 0..n {
        let mut b = Builder::new(format!("f{i}"), Slicing::V);
        b.set_inline(inline);
        let x = b.param(word("x"))[0];
        let y = match nodes.last() {
            Some(callee) => {
                let t = b.call(NodeId(i - 1), callee, &[x])[0];
                b.call(NodeId(i - 1), callee, &[t])[0]
            }
            None => {
                let t = b.op(Op::Rotl(3), &[x]);
                b.op(Op::Add, &[t, x])
            }
        };
        nodes.push(b.finish(vec![(word("y"), vec![y])]));
    }
    Program::new(nodes, NodeId(n - 1), Slicing::V)
}

#[test]
fn inlining_stops_before_programs_explode() {
    let mut auto = doubling(40, Inline::Auto);
    run_pass(find("inline").expect("a pass"), &mut auto, &PassOptions::default());
    for node in &auto.nodes {
        assert!(size(&node.body) <= inline::COMFORTABLE_NODE, "{}", node.name);
    }
    let small = after(&["inline", "dce"], doubling(12, Inline::Auto), PassOptions::default());
    assert_eq!((small.nodes.len(), size(&small.entry().body)), (1, 4096));
}

#[test]
fn deep_nests_of_calls_and_loops_stay_shallow() {
    let mut nodes: Vec<Node> = Vec::new();
    for i in 0..2_000u32 {
        let mut b = Builder::new(format!("f{i}"), Slicing::V);
        let x = b.param(word("x"))[0];
        b.begin_loop(1, true);
        let s = b.carry(x);
        let y = match nodes.last() {
            Some(callee) => b.call(NodeId(i - 1), callee, &[s])[0],
            None => b.op(Op::Not, &[s]),
        };
        let done = b.end_loop(&[y], &[]);
        nodes.push(b.finish(vec![(word("y"), done.carried)]));
    }
    let program = Program::new(nodes, NodeId(1_999), Slicing::V);
    let options = PassOptions { inline: inline::Mode::All, ..PassOptions::default() };
    let left = after(&["inline", "unroll", "dce"], program, options);
    assert!(left.nodes.len() < 10, "{} nodes are left", left.nodes.len());
}

/// Two nested loops of `outer` and `inner` iterations around one addition.
fn nest(outer: u32, inner: u32, keep: bool) -> Program {
    single(|b| {
        let x = b.param(word("x"))[0];
        let k = b.param(Port::new("k", 8, &[inner]));
        b.begin_loop(outer, keep);
        let s = b.carry(x);
        b.begin_loop(inner, false);
        let t = b.carry(s);
        let key = b.read(k.clone());
        let u = b.op(Op::Add, &[t, key]);
        let done = b.end_loop(&[u], &[]);
        let r = b.op(Op::Rotl(1), &[done.carried[0]]);
        let done = b.end_loop(&[r], &[r]);
        vec![done.carried[0], done.collects[0][0]]
    })
}

/// A loop that hands on `width` values, each to its left neighbour; the last becomes a new one.
fn shifted(count: u32, width: usize) -> Program {
    single(|b| {
        let x = b.param(Port::new("x", 8, &[width as u32]));
        let k = b.param(Port::new("k", 8, &[count]));
        b.begin_loop(count, false);
        let s: Vec<Val> = x.iter().map(|&v| b.carry(v)).collect();
        let key = b.read(k.clone());
        let t = b.op(Op::Add, &[s[0], s[width - 1]]);
        let new = b.op(Op::Xor, &[t, key]);
        let mut next = s[1..].to_vec();
        next.push(new);
        let done = b.end_loop(&next, &[new]);
        [done.carried, done.collects[0].clone()].concat()
    })
}

#[test]
fn loops_that_move_values_turn_several_times_at_once() {
    let counts = |count, width| {
        let left = after(&["unroll"], shifted(count, width), PassOptions::default());
        let inner = |eqn: &Eqn| match eqn {
            Eqn::Loop(lp) => Some((lp.count, lp.body.len())),
            _ => None,
        };
        left.entry().body.iter().find_map(inner).expect("the loop stays")
    };
    assert_eq!(counts(100, 1), (100, 2));
    assert_eq!(counts(100, 2), (50, 4));
    assert_eq!(counts(100, 4), (25, 8));
    // A third of the iterations is no whole number: one is left over. Nine turns are too many.
    assert_eq!(counts(100, 3), (33, 6));
    assert_eq!(counts(99, 3), (33, 6));
    assert_eq!(counts(99, 9), (99, 2));
}

#[test]
fn rounds_go_into_one_body_and_the_rest_behind_it() {
    let parts = |rounds, program: Program| {
        let options = PassOptions { unroll: unroll::Mode::Rounds(rounds), ..Default::default() };
        let left = after(&["unroll"], program, options);
        let shape = |eqn: &Eqn| match eqn {
            Eqn::Loop(lp) => (lp.count, lp.body.len()),
            _ => (1, 1),
        };
        left.entry().body.iter().map(shape).collect::<Vec<_>>()
    };
    let rest = |count, body, rest| [vec![(count, body)], vec![(1, 1); rest]].concat();
    // Two equations in each of a hundred iterations.
    assert_eq!(parts(1, shifted(100, 2)), rest(100, 2, 0));
    assert_eq!(parts(4, shifted(100, 2)), rest(25, 8, 0));
    assert_eq!(parts(7, shifted(100, 2)), rest(14, 14, 4));
    assert_eq!(parts(99, shifted(100, 2)).len(), 200);
    assert_eq!(parts(100, shifted(100, 2)).len(), 200);
    // The outer loop holds one that stays.
    assert_eq!(parts(2, nest(30, 1001, false)), [(30, 3)]);
    // The outer loop could change, but the program asks to keep it.
    assert_eq!(parts(2, nest(30, 7, false)), [(15, 16)]);
    assert_eq!(parts(2, nest(30, 7, true)), [(30, 8)]);
}

#[test]
fn unroll_modes_differ_in_what_they_leave() {
    let sizes = |mode: unroll::Mode, outer: u32, inner: u32, keep: bool| {
        let options = PassOptions { unroll: mode, ..PassOptions::default() };
        let left = after(&["unroll"], nest(outer, inner, keep), options);
        let loops = left.entry().body.iter().filter(|e| matches!(e, Eqn::Loop(_))).count();
        (loops, size(&left.entry().body))
    };
    use unroll::Mode::*;
    // 3 * (7 + 1) equations are tiny, 30 * 8 are not: only the inner loop goes.
    assert_eq!(sizes(Auto, 3, 7, false), (0, 24));
    assert_eq!(sizes(Auto, 30, 7, false), (1, 9));
    assert_eq!(sizes(Auto, 3, 7, true), (1, 9));
    // One layer of a round goes, a larger one stays, and so does one of a large round.
    assert_eq!(sizes(Auto, 30, 1000, false), (1, 1002));
    assert_eq!(sizes(Auto, 30, 1001, false), (1, 4));
    assert_eq!(sizes(Auto, 1, 100, true), (0, 101));
    assert_eq!(sizes(All, 30, 100, true), (0, 3030));
    assert_eq!(sizes(None, 1, 1, false), (1, 4));
    // 10^8 equations are too many even if asked for; the inner loop still goes. Not run: it takes
    // as many steps.
    let mut long = nest(100_000, 1_000, false);
    let options = PassOptions { unroll: All, ..PassOptions::default() };
    run_pass(find("unroll").expect("a pass"), &mut long, &options);
    assert_eq!(size(&long.entry().body), 1_002);
}

/// The equations of a list without their order: those inside of loops too.
fn unordered(eqns: &[Eqn]) -> Vec<String> {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Loop(lp) => {
            let rest = ir::Loop { body: Vec::new(), ..(**lp).clone() };
            format!("{rest:?} {:?}", unordered(&lp.body))
        }
        eqn => format!("{eqn:?}"),
    };
    let mut all: Vec<String> = eqns.iter().map(one).collect();
    all.sort();
    all
}

#[test]
fn schedulers_only_move_equations() {
    for shape in SHAPES {
        for seed in 0..100 {
            let before = random::program(seed, shape);
            let options = random_options(&mut Random::new(seed));
            for name in ["bitslice-sched", "mslice-sched", "pressure"] {
                let pass = find(name).expect("a pass");
                let (mut moved, mut again) = (before.clone(), before.clone());
                run_pass(pass, &mut moved, &options);
                run_pass(pass, &mut again, &options);
                assert_eq!(moved, again, "{name} repeats");
                for (node, old) in moved.nodes.iter().zip(&before.nodes) {
                    assert_eq!(unordered(&node.body), unordered(&old.body), "{name}, seed {seed}");
                    assert_eq!((&node.outs, &node.bits), (&old.outs, &old.bits));
                }
            }
        }
    }
}

#[test]
fn schedulers_run_when_they_are_wanted() {
    let chains = || {
        single(|b| {
            let x = b.param(Port::new("x", 8, &[2]));
            let chain = |b: &mut Builder, x| {
                let t = b.op(Op::Add, &[x, x]);
                b.op(Op::Rotl(3), &[t])
            };
            vec![chain(b, x[0]), chain(b, x[1])]
        })
    };
    let moves = |when, pays| {
        let pays = machine::Pays { mslice: pays, ..machine::Machine::default().pays };
        let machine = machine::Machine { pays, ..machine::Machine::default() };
        let schedule = Schedule { mslice: when, ..Schedule::default() };
        let options = PassOptions { machine, schedule, ..PassOptions::default() };
        after(&["mslice-sched"], chains(), options) != chains()
    };
    let interleave = interleave::Choice { factor: Some(2), grain: 50 };
    let options = PassOptions { interleave, ..PassOptions::default() };
    let mut beside = chains();
    run_pass(find("interleave").expect("a pass"), &mut beside, &options);
    let mut stays = beside.clone();
    run_pass(find("mslice-sched").expect("a pass"), &mut stays, &options);
    assert_eq!(stays, beside, "copies are independent already");
    assert_eq!((moves(When::Auto, true), moves(When::Auto, false)), (true, false));
    assert_eq!((moves(When::Always, false), moves(When::Never, true)), (true, false));
}
