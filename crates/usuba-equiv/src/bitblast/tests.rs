//! Programs of words against their programs of bits.

use usuba::ir::random::{self, Random, Shape};
use usuba::ir::{interp, verify};
use usuba_gen::level;

use super::*;

/// The bits of words, each most significant first.
fn flat(words: &[u64], sizes: &[u8]) -> Vec<u64> {
    let bits = |(&word, &size): (&u64, &u8)| (0..size).rev().map(move |i| word >> i & 1);
    words.iter().zip(sizes).flat_map(bits).collect()
}

#[test]
fn sums_know_their_bits_and_carries() {
    use usuba::ir::Port;
    use usuba::ir::build::Builder;

    let mut b = Builder::new("f", Slicing::V);
    let x = b.param(Port::new("x", 8, &[3]));
    let plain = b.op(Op::Xor, &[x[0], x[1]]);
    let sum = b.op(Op::Add, &[plain, x[2]]);
    let node = b.finish(vec![(Port::new("y", 8, &[2]), vec![plain, sum])]);
    let program = Program::new(vec![node], NodeId(0), Slicing::V);
    let (apart, places) = apart_with_sums(&program).expect("a small program");
    let written = apart.entry().body.iter().map(|eqn| match eqn {
        Eqn::Op(e) => e.dst,
        eqn => panic!("{eqn:?}"),
    });
    let parts = written.clone().filter(|&v| places.is_part(apart.entry, v)).count();
    // A zero, and for each bit a half, a bit, two products and a carry.
    assert_eq!((written.count(), parts), (8 + 41, 41));
    let outs = &apart.entry().outs;
    assert!(outs[..8].iter().all(|&v| !places.is_part(apart.entry, v)));
    assert!(outs[8..].iter().all(|&v| places.is_part(apart.entry, v)));
    // The most significant bit is written last.
    let [a, b, all] = places.sum(apart.entry, outs[8]).expect("a sum");
    assert_eq!((&a[..], &all[..], b.len()), (&outs[..8], &outs[8..], 8));
    assert!(places.sum(apart.entry, outs[15]).is_none() && !places.is_empty());
}

fn check(program: &Program, seed: u64) {
    let all = [Carries::Multiplexed, Carries::Symmetric];
    let all = all.map(|carries| apart_by(program, carries).expect("a small program").0);
    for bits in &all {
        verify::verify(bits).unwrap_or_else(|rule| panic!("seed {seed}: {rule}"));
    }
    let entry = program.entry();
    let outs: Vec<u8> = entry.outs.iter().map(|&v| entry.bits_of(v)).collect();
    let mut random = Random::new(seed);
    for _ in 0..4 {
        let inputs = random::inputs(&mut random, program);
        let want = interp::run(program, &inputs).expect("inputs that fit");
        let own = flat(&inputs, &entry.bits);
        for bits in &all {
            let got = interp::run(bits, &own).expect("inputs that fit");
            assert_eq!(got, flat(&want, &outs), "seed {seed}");
        }
    }
}

#[test]
fn bits_of_random_programs_mean_the_same() {
    let count = if level::is_whole() { 120 } else { 30 };
    let first = level::turn() * count;
    for shape in [Shape::WORDS, Shape::ROWS, Shape::BITS] {
        for seed in first..first + count {
            check(&random::program(seed, shape), seed);
        }
    }
}

#[test]
fn each_operator_on_bits() {
    use Op::*;
    for bits in [1u8, 2, 5, 8, 16, 64] {
        let mut b = usuba::ir::build::Builder::new("f", Slicing::V);
        let x = b.param(usuba::ir::Port::new("x", bits, &[3]));
        let mut outs = vec![b.op(Add, &x[..2]), b.op(Sub, &x[..2]), b.op(Mul, &x[..2])];
        for rows in [0x17, 0xca, 0xfe] {
            outs.push(b.op(Lut3(rows), &x));
        }
        for k in 1..bits {
            let ops = [Shl(k), Shr(k), Sar(k), Rotl(k), Bitmask(k)];
            outs.extend(ops.map(|op| b.op(op, &x[..1])));
        }
        if bits == 8 {
            outs.push(b.op(Shuffle([2, 0, 3, 3].into()), &x[..1]));
        }
        if bits > 5 {
            outs.extend([MulAdd(bits - 3), MulAddHigh(bits / 2)].map(|op| b.op(op, &x)));
        }
        let rows: Vec<u64> = (0..11).map(|i| (i * 7) & usuba::ir::op::mask(bits)).collect();
        outs.push(b.op(Lookup(rows.into()), &x[..1]));
        let results = outs.iter().enumerate();
        let results = results
            .map(|(i, &v)| (usuba::ir::Port::new(format!("r{i}"), bits, &[]), vec![v]))
            .collect();
        let node = b.finish(results);
        check(&Program::new(vec![node], usuba::ir::NodeId(0), Slicing::V), bits as u64);
    }
}
