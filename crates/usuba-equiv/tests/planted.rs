//! Fault injection: bugs in the results of passes are all refuted, with the pass named.
//!
//! A faulty pass is the pass followed by one slip in its result, as an error of its author would
//! leave it. The table lists for each pass the slips that must occur in its results on the programs
//! here; a pass without a line fails the test. The long run tries every place where a slip fits,
//! the short run some. If the interpreter can distinguish the result from the right program, it
//! must be refuted; the others may be equal, as where an equation is unused.

mod support;

use usuba::ir::build::Builder;
use usuba::ir::random::{self, Random};
use usuba::ir::{Args, Eqn, Inline, Node, NodeId, Op, OpEqn, Port, Program, Slicing, Val};
use usuba::ir::{interp, verify};
use usuba::passes::machine::Machine;
use usuba::passes::pipeline::run_pass;
use usuba::passes::{ALL, PassOptions, Schedule, When, inline, interleave, logic, unroll};
use usuba_equiv::{Observer, Verdict};
use usuba_gen::level;

/// The kinds of slips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slip {
    /// An equation is dropped: who reads its result gets an operand.
    Dropped,
    /// The operands of an operator that does not commute change places.
    Swapped,
    /// A rotation or shift is off by one.
    OffByOne,
    /// A row of a table of three inputs.
    WrongRow,
    /// A constant has another last bit.
    WrongConstant,
    /// A loop-carried value is the value of the iteration before.
    Stale,
    /// A loop-carried value has another initial value.
    WrongStart,
    /// A list is read from its second member on.
    ReadLate,
    /// A collected value goes to the results of its neighbour.
    CollectedLate,
    /// The last iteration takes the first results: one is missing.
    MissingOutput,
    /// Two arguments of a call change places.
    WrongArgument,
    /// Two results of a call change places.
    WrongResult,
}

use Slip::*;

const SLIPS: [Slip; 12] = [
    Dropped,
    Swapped,
    OffByOne,
    WrongRow,
    WrongConstant,
    Stale,
    WrongStart,
    ReadLate,
    CollectedLate,
    MissingOutput,
    WrongArgument,
    WrongResult,
];

/// The faults that must fit somewhere in the output of a pass.
fn wanted(pass: &str) -> &'static [Slip] {
    match pass {
        "bitslice-sched" => &[Dropped, MissingOutput, WrongArgument, WrongResult],
        "canon" | "complement" | "const-fold" | "copy-prop" | "cse" | "dce" | "interleave" => &[
            Stale,
            WrongStart,
            ReadLate,
            CollectedLate,
            MissingOutput,
            Dropped,
            Swapped,
            OffByOne,
            WrongArgument,
        ],
        "fuse" => &[Stale, Dropped, Swapped, OffByOne, WrongRow, MissingOutput],
        "inline" => &[Stale, ReadLate, Dropped, Swapped, OffByOne, MissingOutput],
        "mslice-sched" => &[Stale, WrongStart, ReadLate, CollectedLate, MissingOutput, Dropped],
        "muladd" | "unroll" => &[Dropped, Swapped, OffByOne, MissingOutput],
        "pressure" => &[Stale, Dropped, MissingOutput],
        _ => &[Dropped, MissingOutput],
    }
}

/// Adds an equation that the builder would not make.
fn raw(node: &mut Node, at: usize, op: Op, args: &[Val]) -> Val {
    let dst = node.fresh(node.bits_of(args[0]));
    node.body.insert(at, Eqn::Op(OpEqn { dst, op, args: Args::from_slice(args) }));
    dst
}

/// A round with all constructs that passes treat, four times; `bits` is 1 in bitslicing.
fn rounds(bits: u8, slicing: Slicing) -> Program {
    let mut b = Builder::new("g", slicing);
    b.set_inline(if slicing == Slicing::B { Inline::Auto } else { Inline::Always });
    let x = b.param(Port::new("x", bits, &[2]));
    let t = b.op(Op::Sub, &[x[0], x[1]]);
    let u = if bits > 1 { b.op(Op::Rotl(3), &[t]) } else { t };
    let n = b.op(Op::Not, &[x[1]]);
    let v = b.op(Op::And, &[u, n]);
    let w = b.op(Op::Xor, &[v, x[0]]);
    let g = b.finish(vec![(Port::new("y", bits, &[2]), vec![w, u])]);

    let mut b = Builder::new("f", slicing);
    let x = b.param(Port::new("x", bits, &[2]));
    let k = b.param(Port::new("k", bits, &[4]).constant());
    b.begin_loop(4, false);
    let (left, right) = (b.carry(x[0]), b.carry(x[1]));
    let key = b.read(k.clone());
    let three = b.constant(bits, 3);
    let one = b.op(Op::Not, &[three]);
    let one = b.op(Op::Xor, &[one, three]);
    let masked = b.op(Op::And, &[right, one]);
    let t = b.op(Op::Sub, &[left, key]);
    let again = b.op(Op::Sub, &[left, key]);
    let keys = k[..3].iter().map(|&k| b.op(Op::Xor, &[k, right])).collect::<Vec<_>>();
    let mut sum = again;
    let boxes = keys.iter().map(|&k| b.call(NodeId(0), &g, &[k, left])).collect::<Vec<_>>();
    for (results, &key) in boxes.iter().zip(&keys) {
        sum = b.op(Op::Xor, &[sum, results[0]]);
        sum = b.op(Op::And, &[sum, key]);
        sum = b.op(Op::Xor, &[sum, results[1]]);
    }
    let y = b.call(NodeId(0), &g, &[t, masked]);
    let n = b.op(Op::Not, &[y[1]]);
    let z = b.op(Op::Xor, &[n, sum]);
    let moved = if bits > 1 { b.op(Op::Shr(2), &[z]) } else { z };
    let copied = b.op(Op::Copy, &[moved]);
    let new = b.op(Op::Add, &[copied, y[0]]);
    let dead = b.op(Op::Mul, &[new, z]);
    b.op(Op::Xor, &[dead, y[0]]);
    let done = b.end_loop(&[new, t], &[z]);
    let last = b.op(Op::Sub, &[done.carried[0], done.carried[1]]);
    let mut f = b.finish(vec![
        (Port::new("y", bits, &[2]), vec![last, done.carried[1]]),
        (Port::new("c", bits, &[4]), done.collects[0].clone()),
    ]);
    let at = f.body.len();
    f.outs[1] = raw(&mut f, at, Op::Copy, &[done.carried[1]]);
    Program::new(vec![g, f], NodeId(1), slicing)
}

/// Choices under which passes have something to do.
fn options() -> [PassOptions; 2] {
    let all = logic::Logic { andn: true, ternary: true, affine: true, muladd: 52, lane: 16 };
    let two = interleave::Choice { factor: Some(2), ..interleave::Choice::default() };
    let schedule = Schedule { bitslice: When::Always, mslice: When::Always, window: 4 };
    let first = PassOptions {
        inline: inline::Mode::Auto,
        unroll: unroll::Mode::All,
        interleave: two,
        logic: all,
        machine: Machine { regs: 4, ..Machine::default() },
        schedule,
        free_keys: true,
    };
    let plain = logic::Logic { ternary: false, ..all };
    let machine = Machine { regs: 6, ..first.machine };
    [first, PassOptions { inline: inline::Mode::All, logic: plain, machine, ..first }]
}

/// The program with a slip, for each place where it fits; by default for a few of them, evenly.
fn planted(program: &Program, slip: Slip) -> Vec<Program> {
    let mut found = Vec::new();
    for place in 0.. {
        let mut wrong = program.clone();
        let mut left = place;
        match plant(&mut wrong, slip, &mut left) {
            Some(true) if verify::verify(&wrong).is_ok() => found.push(wrong),
            Some(_) => {}
            None => break,
        }
    }
    let step = found.len().div_ceil(support::random_programs(2) as usize).max(1);
    found.into_iter().step_by(step).collect()
}

/// Makes a slip at the place of this number. Whether that changed something; `None` if there are
/// fewer places.
fn plant(program: &mut Program, slip: Slip, left: &mut usize) -> Option<bool> {
    for node in &mut program.nodes {
        let mut body = std::mem::take(&mut node.body);
        let mut outs = std::mem::take(&mut node.outs);
        let mut done = block(node, &mut body, slip, left);
        if slip == MissingOutput && done.is_none() {
            done = slips(&mut outs, left, |outs, at| {
                let fits = |&other: &usize| node.bits_of(outs[other]) == node.bits_of(outs[at]);
                let other = (0..outs.len()).filter(|other| outs[*other] != outs[at]).find(fits);
                other.is_some_and(|other| {
                    outs[at] = outs[other];
                    true
                })
            });
        }
        (node.body, node.outs) = (body, outs);
        if done.is_some() {
            return done;
        }
    }
    None
}

/// Lets `change` have the member of a list at the wanted place, if it is in this list.
fn slips<T>(
    list: &mut Vec<T>,
    left: &mut usize,
    change: impl FnOnce(&mut Vec<T>, usize) -> bool,
) -> Option<bool> {
    if *left < list.len() {
        return Some(change(list, *left));
    }
    *left -= list.len();
    None
}

fn block(node: &Node, eqns: &mut [Eqn], slip: Slip, left: &mut usize) -> Option<bool> {
    for eqn in eqns {
        let done = match eqn {
            Eqn::Op(e) => {
                if *left > 0 {
                    *left -= 1;
                    continue;
                }
                Some(operator(node, e, slip))
            }
            Eqn::Call(call) if slip == WrongArgument => slips(&mut call.args, left, |args, at| {
                let fits = |other: &usize| {
                    args[*other] != args[at] && node.bits_of(args[*other]) == node.bits_of(args[at])
                };
                let other = (0..at).find(fits);
                other.is_some_and(|other| {
                    args.swap(at, other);
                    true
                })
            }),
            Eqn::Call(call) if slip == WrongResult => slips(&mut call.dsts, left, |dsts, at| {
                let other =
                    (0..at).find(|&other| node.bits_of(dsts[other]) == node.bits_of(dsts[at]));
                other.is_some_and(|other| {
                    dsts.swap(at, other);
                    true
                })
            }),
            Eqn::Call(_) => None,
            Eqn::Loop(lp) => {
                let width = |v: Val| node.bits_of(v);
                let own = match slip {
                    Stale => slips(&mut lp.carried, left, |carried, at| {
                        let param = carried[at].param;
                        std::mem::replace(&mut carried[at].next, param) != param
                    }),
                    WrongStart => slips(&mut lp.carried, left, |carried, at| {
                        let init = carried[at].init;
                        let fits = |v: Val| v != init && width(v) == width(init);
                        let other = carried.iter().map(|c| c.init).find(|&v| fits(v));
                        carried[at].init = other.unwrap_or(init);
                        other.is_some()
                    }),
                    ReadLate => slips(&mut lp.reads, left, |reads, at| {
                        let before = reads[at].list.clone();
                        reads[at].list.rotate_left(1);
                        reads[at].list != before
                    }),
                    CollectedLate => slips(&mut lp.collects, left, |collects, at| {
                        collects[at].results.rotate_left(1);
                        collects[at].results.len() > 1
                    }),
                    _ => None,
                };
                own.or_else(|| block(node, &mut lp.body, slip, left))
            }
        };
        if done.is_some() {
            return done;
        }
    }
    None
}

fn operator(node: &Node, e: &mut OpEqn, slip: Slip) -> bool {
    let bits = node.bits_of(e.dst);
    let next = |k: u8| if k + 1 < bits { k + 1 } else { k - 1 };
    match (slip, &mut e.op) {
        (Dropped, Op::Copy | Op::Pack | Op::Lookup(_)) => false,
        (Dropped, _) => match e.args.first() {
            Some(&arg) => {
                (e.op, e.args) = (Op::Copy, Args::from_slice(&[arg]));
                true
            }
            None => false,
        },
        (Swapped, Op::Sub | Op::Andn | Op::MulAdd(_) | Op::MulAddHigh(_)) => {
            e.args.swap(0, 1);
            e.args[0] != e.args[1]
        }
        (OffByOne, Op::Rotl(k) | Op::Shl(k) | Op::Shr(k) | Op::Sar(k)) if bits > 2 => {
            *k = next(*k);
            true
        }
        (OffByOne, Op::MulAdd(k) | Op::MulAddHigh(k)) => {
            *k -= 1;
            true
        }
        (WrongRow, Op::Lut3(table)) => {
            *table ^= 0x10;
            true
        }
        (WrongConstant, Op::Const(word)) => {
            *word ^= 1;
            true
        }
        _ => false,
    }
}

/// Whether the interpreter tells two programs apart that have the same ports.
fn differ(right: &Program, wrong: &Program) -> bool {
    let mut random = Random::new(5);
    (0..64).any(|_| {
        let input = random::inputs(&mut random, right);
        interp::run(right, &input) != interp::run(wrong, &input)
    })
}

/// The outcomes of the slips of one kind.
#[derive(Default, Debug)]
struct Tally {
    refuted: usize,
    equal: usize,
}

fn check(pass: &str, before: &Program, right: &Program, slip: Slip, tally: &mut Tally) {
    for wrong in planted(right, slip) {
        let mut proof = Observer::default();
        proof.see("lower", before);
        proof.see(pass, &wrong);
        match proof.finish() {
            Ok(_) => {
                assert!(!differ(right, &wrong), "{pass}: {slip:?} is proved");
                tally.equal += 1;
            }
            Err(fault) => {
                let refuted = matches!(fault.verdict, Verdict::Refuted(_));
                assert!(refuted && fault.pass == pass, "{pass}, {slip:?}: {fault}");
                tally.refuted += 1;
            }
        }
    }
}

#[test]
fn every_slip_in_every_pass_is_refuted() {
    let programs = support::pass_programs();
    let built = [rounds(16, Slicing::V), rounds(1, Slicing::B)];
    let mut sum = Tally::default();
    for (at, pass) in ALL.iter().enumerate() {
        // Every other one in the quick run, and the others for the next commit.
        if !level::is_whole() && at as u64 % 2 != level::turn() % 2 {
            continue;
        }
        let own = programs.iter().filter(|(of, _)| of == pass.name).map(|(_, program)| program);
        let mut exercised = 0;
        let mut tallies: Vec<Tally> = SLIPS.iter().map(|_| Tally::default()).collect();
        for before in built.iter().chain(own) {
            let changed = options().into_iter().find_map(|options| {
                let mut after = before.clone();
                run_pass(pass, &mut after, &options);
                (after != *before).then_some(after)
            });
            let Some(right) = changed else { continue };
            exercised += 1;
            let mut proof = Observer::default();
            proof.see("lower", before);
            proof.see(pass.name, &right);
            assert_eq!(proof.finish(), Ok(1), "{} without a fault", pass.name);
            for (slip, tally) in SLIPS.into_iter().zip(&mut tallies) {
                check(pass.name, before, &right, slip, tally);
            }
        }
        assert!(exercised > 0, "no program exercises {}", pass.name);
        for (slip, tally) in SLIPS.iter().zip(&tallies) {
            let missing = wanted(pass.name).contains(slip) && tally.refuted == 0;
            assert!(!missing, "{}: {slip:?} fits nowhere: {tally:?}", pass.name);
            sum.refuted += tally.refuted;
            sum.equal += tally.equal;
        }
    }
    let least = if level::is_whole() { 300 } else { 100 };
    assert!(sum.refuted > least && sum.equal * 3 < sum.refuted, "{sum:?} is no campaign");
}
