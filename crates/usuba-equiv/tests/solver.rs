//! Equivalences that the SAT solver alone decides: circuits without common inner values of few
//! inputs, and differences that no chosen and no random input meets.

use usuba::ir::build::Builder;
use usuba::ir::{NodeId, Op, Port, Program, Slicing, Val, interp};
use usuba_equiv::{Engines, Verdict, equivalent};

type Circuit = dyn Fn(&mut Builder, &[Val], &[Val]) -> Vec<Val>;

/// A bitsliced program of two words, bit 0 of each first.
fn program(bits: u32, results: u32, circuit: &Circuit) -> Program {
    let mut b = Builder::new("f", Slicing::B);
    let x = b.param(Port::new("x", 1, &[bits]));
    let y = b.param(Port::new("y", 1, &[bits]));
    let outs = circuit(&mut b, &x, &y);
    let node = b.finish(vec![(Port::new("z", 1, &[results]), outs)]);
    Program::new(vec![node], NodeId(0), Slicing::B)
}

/// A sum with a carry from bit to bit.
fn ripple(b: &mut Builder, x: &[Val], y: &[Val]) -> Vec<Val> {
    let mut sums = Vec::new();
    let mut carry: Option<Val> = None;
    for (&x, &y) in x.iter().zip(y) {
        let (half, both) = (b.op(Op::Xor, &[x, y]), b.op(Op::And, &[x, y]));
        (carry, _) = match carry {
            None => {
                sums.push(half);
                (Some(both), ())
            }
            Some(carry) => {
                sums.push(b.op(Op::Xor, &[half, carry]));
                let kept = b.op(Op::And, &[half, carry]);
                (Some(b.op(Op::Or, &[both, kept])), ())
            }
        };
    }
    sums
}

/// A prefix adder (Kogge, Stone 1973); `wrong` swaps one operator of the tree.
fn tree(b: &mut Builder, x: &[Val], y: &[Val], wrong: bool) -> Vec<Val> {
    let half: Vec<Val> = x.iter().zip(y).map(|(&x, &y)| b.op(Op::Xor, &[x, y])).collect();
    let mut makes: Vec<Val> = x.iter().zip(y).map(|(&x, &y)| b.op(Op::And, &[x, y])).collect();
    let mut keeps = half.clone();
    let mut distance = 1;
    while distance < x.len() {
        let (old_makes, old_keeps) = (makes.clone(), keeps.clone());
        for at in distance..x.len() {
            let passed = b.op(Op::And, &[old_keeps[at], old_makes[at - distance]]);
            makes[at] = b.op(Op::Or, &[old_makes[at], passed]);
            let op = if wrong && distance == 4 && at == 13 { Op::Or } else { Op::And };
            keeps[at] = b.op(op, &[old_keeps[at], old_keeps[at - distance]]);
        }
        distance *= 2;
    }
    let carried = |b: &mut Builder, at: usize| b.op(Op::Xor, &[half[at], makes[at - 1]]);
    (0..x.len()).map(|at| if at == 0 { half[0] } else { carried(b, at) }).collect()
}

/// A product of rows that are added one after the other.
fn product(b: &mut Builder, x: &[Val], y: &[Val]) -> Vec<Val> {
    let mut sum: Option<Vec<Val>> = None;
    for (place, &factor) in y.iter().enumerate() {
        let term: Vec<Val> =
            x[..x.len() - place].iter().map(|&bit| b.op(Op::And, &[bit, factor])).collect();
        sum = Some(match sum {
            None => term,
            Some(sum) => {
                let high = ripple(b, &sum[place..], &term);
                sum[..place].iter().copied().chain(high).collect()
            }
        });
    }
    sum.expect("words of some bits")
}

fn check_solved(before: &Program, after: &Program) {
    match equivalent(before, after) {
        Verdict::Proved(stats) => assert!(stats.engines.has(Engines::SOLVER), "{}", stats.engines),
        verdict => panic!("{verdict:?}"),
    }
}

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

#[test]
fn carries_in_a_row_and_in_a_tree() {
    let row = program(16, 16, &ripple);
    check_solved(&row, &program(16, 16, &|b, x, y| tree(b, x, y, false)));
    check_refuted(&row, &program(16, 16, &|b, x, y| tree(b, x, y, true)));
}

#[test]
fn factors_that_change_places() {
    let right = program(6, 6, &product);
    check_solved(&right, &program(6, 6, &|b, x, y| product(b, y, x)));
    let wrong = program(6, 6, &|b, x, y| {
        let (x, y) = (x.to_vec(), [y[1], y[0], y[2], y[3], y[4], y[5]]);
        product(b, &y, &x)
    });
    check_refuted(&right, &wrong);
}

/// Whether x is one certain word of 40 bits, and y too.
fn needle(b: &mut Builder, x: &[Val], y: &[Val], pattern: u64) -> Val {
    let bits = x.iter().chain(y).enumerate();
    let bits: Vec<Val> = bits
        .map(|(at, &bit)| if pattern >> (at % 40) & 1 == 1 { bit } else { b.op(Op::Not, &[bit]) })
        .collect();
    bits[1..].iter().fold(bits[0], |all, &bit| b.op(Op::And, &[all, bit]))
}

#[test]
fn a_difference_on_one_input_is_found() {
    let pattern = 0x5a_1234_cdef;
    let with = program(40, 1, &move |b, x, y| {
        let found = needle(b, x, y, pattern);
        vec![b.op(Op::Xor, &[x[3], found])]
    });
    let without = program(40, 1, &|_, x, _| vec![x[3]]);
    check_refuted(&with, &without);
}

#[test]
fn a_difference_on_one_word_is_found() {
    // On words: a function that is zero except on one word of 64 bits.
    let make = |pattern: u64| {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 64, &[]))[0];
        let c = b.constant(64, pattern);
        let mut same = b.op(Op::Xor, &[x, c]);
        same = b.op(Op::Not, &[same]);
        for k in [32, 16, 8, 4, 2, 1] {
            let moved = b.op(Op::Rotl(k), &[same]);
            same = b.op(Op::And, &[same, moved]);
        }
        let y = b.op(Op::Add, &[x, same]);
        let node = b.finish(vec![(Port::new("y", 64, &[]), vec![y])]);
        Program::new(vec![node], NodeId(0), Slicing::V)
    };
    check_refuted(&make(0x0123_4567_89ab_cdef), &make(0x0123_4567_89ab_cdee));
}
