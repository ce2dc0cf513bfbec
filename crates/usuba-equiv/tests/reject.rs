//! Rejection tests, fault by fault: programs that differ from another program in one small thing.

use usuba::ir::build::Builder;
use usuba::ir::{Eqn, Loop, Node, NodeId, Op, Port, Program, Slicing, Val, interp};
use usuba::passes::pipeline::run_pass;
use usuba::passes::{PassOptions, find, interleave};
use usuba_equiv::{Observer, Verdict, equivalent};

fn word(name: &str, bits: u8) -> Port {
    Port::new(name, bits, &[])
}

/// A program of one node on words x, y and z, with these results.
fn program(bits: u8, make: impl FnOnce(&mut Builder, [Val; 3]) -> Vec<Val>) -> Program {
    let mut b = Builder::new("f", Slicing::V);
    let inputs = ["x", "y", "z"].map(|name| b.param(word(name, bits))[0]);
    let outs = make(&mut b, inputs).into_iter().enumerate();
    let node = b.finish(outs.map(|(i, v)| (word(&format!("r{i}"), bits), vec![v])).collect());
    Program::new(vec![node], NodeId(0), Slicing::V)
}

fn check_proved(before: &Program, after: &Program) {
    let verdict = equivalent(before, after);
    assert!(matches!(verdict, Verdict::Proved(_)), "{verdict:?}");
}

/// Refuted, by an input on which the interpreter gives two answers.
fn check_refuted(before: &Program, after: &Program) {
    match equivalent(before, after) {
        Verdict::Refuted(example) => {
            assert_eq!(interp::run(before, &example.input), Ok(example.expected.clone()));
            assert_eq!(interp::run(after, &example.input), Ok(example.found.clone()));
            assert_ne!(example.expected, example.found);
        }
        verdict => panic!("{verdict:?}"),
    }
}

fn check_unknown(before: &Program, after: &Program, why: &str) {
    match equivalent(before, after) {
        Verdict::Unknown(what) => assert!(what.contains(why), "{what}"),
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn swapped_operands_of_a_subtraction() {
    for bits in [8, 32, 64] {
        let right = program(bits, |b, [x, y, _]| vec![b.op(Op::Sub, &[x, y])]);
        let wrong = program(bits, |b, [x, y, _]| vec![b.op(Op::Sub, &[y, x])]);
        check_refuted(&right, &wrong);
    }
    let right = program(8, |b, [x, y, _]| vec![b.op(Op::Add, &[x, y])]);
    let other = program(8, |b, [x, y, _]| vec![b.op(Op::Add, &[y, x])]);
    check_proved(&right, &other);
}

#[test]
fn swapped_operands_of_andn() {
    let right = program(8, |b, [x, y, _]| vec![b.op(Op::Andn, &[x, y])]);
    let wrong = program(8, |b, [x, y, _]| vec![b.op(Op::Andn, &[y, x])]);
    check_refuted(&right, &wrong);
}

#[test]
fn lost_complement() {
    let make = |lost: bool| {
        program(16, |b, [x, y, z]| {
            let n = if lost { x } else { b.op(Op::Not, &[x]) };
            let t = b.op(Op::And, &[n, y]);
            vec![b.op(Op::Xor, &[t, z])]
        })
    };
    check_refuted(&make(false), &make(true));
}

#[test]
fn wrong_rotation() {
    for bits in [5, 16, 64] {
        let make = |k: u8| {
            program(bits, |b, [x, y, _]| {
                let r = b.op(Op::Rotl(k), &[x]);
                vec![b.op(Op::Xor, &[r, y])]
            })
        };
        check_proved(&make(3), &make(3));
        check_refuted(&make(3), &make(4));
        check_refuted(&make(1), &make(bits - 1));
    }
}

#[test]
fn wrong_table_of_three_inputs() {
    let make = |table: u8| program(8, |b, [x, y, z]| vec![b.op(Op::Lut3(table), &[x, y, z])]);
    for bit in 0..8 {
        check_refuted(&make(0xca), &make(0xca ^ 1 << bit));
    }
}

#[test]
fn wrong_order_of_results() {
    let make = |swap: bool| {
        program(8, |b, [x, y, z]| {
            let (s, t) = (b.op(Op::And, &[x, y]), b.op(Op::Or, &[y, z]));
            if swap { vec![t, s] } else { vec![s, t] }
        })
    };
    check_refuted(&make(false), &make(true));
}

#[test]
fn complement_of_a_shift_for_a_shift_of_a_complement() {
    for op in [Op::Shl(2), Op::Shr(2)] {
        let inside = program(8, |b, [x, ..]| {
            let n = b.op(Op::Not, &[x]);
            vec![b.op(op.clone(), &[n])]
        });
        let outside = program(8, |b, [x, ..]| {
            let s = b.op(op.clone(), &[x]);
            vec![b.op(Op::Not, &[s])]
        });
        check_refuted(&inside, &outside);
    }
}

#[test]
fn narrow_words_wrap_at_their_width() {
    // Five bits: the complement, rotations and shifts must not see the three bits above.
    let rotated = program(5, |b, [x, ..]| vec![b.op(Op::Rotl(2), &[x])]);
    let make = |right: u8| {
        program(5, |b, [x, ..]| {
            let (l, r) = (b.op(Op::Shl(2), &[x]), b.op(Op::Shr(right), &[x]));
            vec![b.op(Op::Or, &[l, r])]
        })
    };
    check_proved(&rotated, &make(3));
    check_refuted(&rotated, &make(4));
    check_refuted(&rotated, &make(1));
}

#[test]
fn value_of_another_width() {
    let right = program(8, |b, [x, y, _]| vec![b.op(Op::Xor, &[x, y])]);
    let mut wrong = right.clone();
    wrong.nodes[0].bits[1] = 16;
    check_unknown(&right, &wrong, "not well-formed");
}

#[test]
fn other_ports_or_slicing() {
    let right = program(8, |_, [x, ..]| vec![x]);
    let mut wrong = right.clone();
    wrong.nodes[0].params[2].name = "w".into();
    check_unknown(&right, &wrong, "port");
    let mut wrong = right.clone();
    wrong.slicing = Slicing::H;
    check_unknown(&right, &wrong, "slicing");
}

/// Rounds with keys: all features of loops.
fn rounds() -> Program {
    let mut b = Builder::new("f", Slicing::V);
    let x = b.param(Port::new("x", 16, &[2]));
    let k = b.param(Port::new("k", 16, &[6]).constant());
    b.begin_loop(6, true);
    let (left, right) = (b.carry(x[0]), b.carry(x[1]));
    let key = b.read(k);
    let t = b.op(Op::And, &[left, key]);
    let u = b.op(Op::Rotl(5), &[left]);
    let v = b.op(Op::Xor, &[t, u]);
    let new = b.op(Op::Xor, &[v, right]);
    let done = b.end_loop(&[new, left], &[t]);
    let node = b.finish(vec![
        (Port::new("y", 16, &[2]), done.carried),
        (Port::new("c", 16, &[6]), done.collects[0].clone()),
    ]);
    Program::new(vec![node], NodeId(0), Slicing::V)
}

fn broken(program: &Program, change: impl FnOnce(&mut Loop)) -> Program {
    let mut program = program.clone();
    let lp = program.nodes[0].body.iter_mut().find_map(|eqn| match eqn {
        Eqn::Loop(lp) => Some(lp),
        _ => None,
    });
    change(lp.expect("a loop"));
    program
}

#[test]
fn loops_with_one_fault() {
    let right = rounds();
    // A loop-carried value of the iteration before.
    check_refuted(&right, &broken(&right, |lp| lp.carried[0].next = lp.carried[0].param));
    check_refuted(&right, &broken(&right, |lp| lp.carried[1].next = lp.carried[0].next));
    check_refuted(&right, &broken(&right, |lp| lp.carried[1].init = lp.carried[0].init));
    check_refuted(&right, &broken(&right, |lp| lp.reads[0].list.swap(2, 3)));
    check_refuted(&right, &broken(&right, |lp| lp.reads[0].list.rotate_left(1)));
    check_refuted(&right, &broken(&right, |lp| lp.collects[0].value = lp.carried[0].param));
    check_refuted(&right, &broken(&right, |lp| lp.collects[0].results.swap(0, 5)));
    // The order of the loop-carried values is irrelevant.
    check_proved(&right, &broken(&right, |lp| lp.carried.swap(0, 1)));
}

#[test]
fn loop_with_one_iteration_too_few() {
    let right = rounds();
    let shorter = broken(&right, |lp| {
        lp.count = 5;
        lp.reads[0].list.pop();
        lp.collects[0].results.pop();
    });
    let mut wrong = shorter;
    let node = &mut wrong.nodes[0];
    let last = node.outs.len() - 1;
    node.outs[last] = node.outs[last - 1];
    check_refuted(&right, &wrong);
}

#[test]
fn equal_starts_are_not_equal_values() {
    // Both loop-carried values start at x; they are equal until their steps differ.
    let make = |other: bool| {
        program(8, |b, [x, y, _]| {
            b.begin_loop(4, true);
            let (s, t) = (b.carry(x), b.carry(x));
            let (u, v) = (b.op(Op::Add, &[s, y]), b.op(Op::Add, &[t, y]));
            let w = b.op(Op::Xor, &[v, y]);
            let done = b.end_loop(&[u, if other { w } else { v }], &[]);
            done.carried
        })
    };
    let merged = program(8, |b, [x, y, _]| {
        b.begin_loop(4, true);
        let s = b.carry(x);
        let u = b.op(Op::Add, &[s, y]);
        let done = b.end_loop(&[u], &[]);
        vec![done.carried[0], done.carried[0]]
    });
    check_proved(&make(false), &merged);
    check_refuted(&make(true), &merged);
}

#[test]
fn a_value_that_changes_late_is_not_constant() {
    // s is x, x, then something else: the first steps alone would make it a constant.
    let before = program(8, |b, [x, y, _]| {
        b.begin_loop(3, true);
        let (_, t, u) = (b.carry(x), b.carry(x), b.carry(x));
        let v = b.op(Op::Xor, &[u, y]);
        let done = b.end_loop(&[t, u, v], &[]);
        vec![done.carried[0]]
    });
    let wrong = program(8, |_, [x, ..]| vec![x]);
    check_refuted(&before, &wrong);
    let right = program(8, |b, [x, y, _]| vec![b.op(Op::Xor, &[x, y])]);
    check_proved(&before, &right);
}

fn interleaved(single: &Program, factor: u32) -> Program {
    let interleave = interleave::Choice { factor: Some(factor), grain: 2 };
    let mut program = single.clone();
    let options = PassOptions { interleave, ..PassOptions::default() };
    run_pass(find("interleave").expect("a pass"), &mut program, &options);
    program
}

#[test]
fn copy_that_reads_its_neighbour() {
    let single = rounds();
    let double = interleaved(&single, 2);
    check_proved(&single, &double);
    // Parameters: x, x''2, k.
    let wrong = broken(&double, |lp| {
        let copy = lp.carried.iter_mut().find(|c| c.init == Val(2)).expect("the second copy");
        copy.init = Val(0);
    });
    match equivalent(&single, &wrong) {
        Verdict::Refuted(example) => {
            assert_eq!(interp::run(&wrong, &example.input), Ok(example.found.clone()));
            // The first copy is right.
            assert_eq!(example.expected[..2], example.found[..2]);
            assert_ne!(example.expected[2..4], example.found[2..4]);
        }
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn copies_that_are_not_counted() {
    let single = rounds();
    let mut wrong = single.clone();
    wrong.copies = 2;
    check_unknown(&single, &wrong, "copies");
    let mut wrong = interleaved(&single, 2);
    wrong.copies = 1;
    check_unknown(&single, &wrong, "instances");
}

/// Programs that are equal for a reason that differs from bit to bit.
#[test]
fn masks_and_moved_bits() {
    let make = |table: u8| {
        program(8, |b, [x, y, _]| {
            let c = b.constant(8, 5);
            let s = b.op(Op::Shr(4), &[x]);
            vec![b.op(Op::Lut3(table), &[s, c, y])]
        })
    };
    // (c ? s : y) with s = x >> 4, split by masks; bits above the low four of s are zero.
    let apart = program(8, |b, [x, y, _]| {
        let (d, e) = (b.constant(8, 0xfa), b.constant(8, 0x50));
        let low = b.op(Op::And, &[x, e]);
        let low = b.op(Op::Shr(4), &[low]);
        let high = b.op(Op::And, &[y, d]);
        vec![b.op(Op::Or, &[low, high])]
    });
    // Table bit 4s + 2c + y: where c is set it is s, else y.
    check_proved(&make(0b1110_0010), &apart);
    check_refuted(&make(0b1110_0110), &apart);
}

#[test]
fn copies_that_change_places() {
    let single = rounds();
    let mut wrong = interleaved(&single, 3);
    wrong.nodes[0].outs.swap(0, 2);
    assert!(matches!(equivalent(&single, &wrong), Verdict::Refuted(_)));
}

/// A node g(x) = x ^ (x <<< 1), and an entry that calls it twice.
fn with_callee(change: impl FnOnce(&mut Node, &mut Node)) -> Program {
    let mut b = Builder::new("g", Slicing::V);
    let x = b.param(word("x", 8))[0];
    let r = b.op(Op::Rotl(1), &[x]);
    let y = b.op(Op::Xor, &[x, r]);
    let mut g = b.finish(vec![(word("y", 8), vec![y])]);
    let mut b = Builder::new("f", Slicing::V);
    let x = b.param(word("x", 8))[0];
    let t = b.call(NodeId(0), &g, &[x])[0];
    let u = b.op(Op::Not, &[t]);
    let y = b.call(NodeId(0), &g, &[u])[0];
    let mut f = b.finish(vec![(word("y", 8), vec![y])]);
    change(&mut g, &mut f);
    Program::new(vec![g, f], NodeId(1), Slicing::V)
}

#[test]
fn callee_or_call_with_a_fault() {
    let right = with_callee(|_, _| {});
    let callee = with_callee(|g, _| match &mut g.body[0] {
        Eqn::Op(e) => e.op = Op::Rotl(2),
        _ => panic!("an operator"),
    });
    check_refuted(&right, &callee);
    let call = with_callee(|_, f| match &mut f.body[2] {
        Eqn::Call(call) => call.args[0] = Val(0),
        _ => panic!("a call"),
    });
    check_refuted(&right, &call);
}

#[test]
fn doubling_calls_are_not_unfolded() {
    let make = |op: Op| {
        let mut nodes: Vec<Node> = Vec::new();
        for i in 0..60 {
            let mut b = Builder::new(format!("f{i}"), Slicing::V);
            let x = b.param(word("x", 8))[0];
            let y = match nodes.last() {
                Some(callee) => {
                    let t = b.call(NodeId(i - 1), callee, &[x])[0];
                    b.call(NodeId(i - 1), callee, &[t])[0]
                }
                None => b.op(op.clone(), &[x, x]),
            };
            nodes.push(b.finish(vec![(word("y", 8), vec![y])]));
        }
        Program::new(nodes, NodeId(59), Slicing::V)
    };
    let program = make(Op::Add);
    let mut other = program.clone();
    other.nodes[59].name = "last".into();
    check_proved(&program, &other);
    // 2^59 additions are never executed, so the verdict is unknown.
    check_unknown(&program, &make(Op::Mul), "too long");
}

#[test]
fn an_observer_names_the_pass_and_the_input() {
    let right = rounds();
    let wrong = broken(&right, |lp| lp.reads[0].list.swap(2, 3));
    let mut proof = Observer::default();
    for (pass, program) in [("lower", &right), ("cse", &right), ("dce", &wrong), ("cse", &right)] {
        proof.see(pass, program);
    }
    let fault = proof.finish().expect_err("one pass is wrong");
    assert_eq!((fault.pass.as_str(), fault.proved), ("dce", 1));
    let text = fault.to_string();
    assert!(text.contains("the pass dce changed") && text.contains("output"), "{text}");
}
