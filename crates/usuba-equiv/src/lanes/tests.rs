//! Lanes of real targets, and patterns in which one bit is wrong.

use usuba::ir::op::mask;
use usuba::isa;
use usuba_gen::asks;

use super::*;

fn ops(bits: u8) -> Vec<Op> {
    use Op::*;
    let mut out = vec![Not, And, Or, Xor, Andn, Lut3(0xca), Lut3(0x17), Add, Sub, Mul];
    out.extend([Const(0), Const(mask(bits)), Const(0x35 & mask(bits))]);
    for k in [1, 3, bits / 2, bits - 1] {
        if k > 0 && k < bits {
            out.extend([Shl(k), Shr(k), Sar(k), Rotl(k), Bitmask(k)]);
        }
    }
    if bits.is_multiple_of(4) {
        out.extend([Shuffle([2, 0, 3, 1].into()), Shuffle([1, 1, 0, 3].into())]);
    }
    if bits.is_multiple_of(2) {
        out.push(Pack);
    }
    if bits > 1 {
        out.extend([Less, Resize(bits - 1), Resize(64 - bits / 2), MulHigh]);
    }
    if bits == 64 {
        out.extend([MulAdd(52), MulAddHigh(52), Clmul, ClmulHigh]);
    }
    if bits == 8 {
        let matrix = 0x8000_4020_0f10_0302;
        out.extend([Affine(matrix, 0xa5), AffineInverse(matrix, 3)]);
    }
    out
}

/// All operators that a target has on such words; gives how many were proved.
fn check(target: &Target, layout: Layout, bits: u8) -> usize {
    let mut proved = 0;
    for op in ops(bits) {
        let wide = matches!((&op, layout), (Op::Resize(from), Layout::Lanes(lane)) if *from > lane);
        if wide || select(target, layout, &op, bits, false).is_err() {
            continue;
        }
        let verdict = prove(target, layout, &op, bits);
        assert!(verdict.is_proved(), "{} {layout:?} {op:?} on {bits}: {verdict:?}", target.name);
        proved += 1;
    }
    proved
}

#[test]
fn every_operator_in_every_lane() {
    let mut proved = 0;
    let few = ["gp64", "sse", "avx512_gfni"];
    let is_asked = |name: &str| few.contains(&name) || asks!("{name}");
    for target in isa::all().filter(|target| is_asked(target.name)) {
        if target.simd {
            for (lane, bits) in [(8, 8), (8, 5), (16, 16), (32, 32), (32, 24), (64, 64)] {
                proved += check(target, Layout::Lanes(lane), bits);
            }
            for m in [4, 8, 16] {
                proved += check(target, Layout::Elements(m), m);
            }
        } else {
            for bits in [8, 5, 16, 32, 24] {
                proved += check(target, Layout::Words, bits);
            }
            for m in [4, 16] {
                proved += check(target, Layout::Elements(m), m);
            }
        }
        proved += check(target, Layout::Bits, 1);
    }
    assert!(proved > 400, "{proved} operators");
}

/// Operators on vectors of this number of words.
fn on_vectors(vector: u8, bits: u8) -> Vec<Op> {
    let all = |f: &dyn Fn(u8) -> u8| (0..vector).map(f).collect::<Vec<_>>().into();
    let each = |f: &dyn Fn(u8) -> Op| Lanes::Each((0..vector).map(f).collect());
    let ops = [
        Lanes::Const((0..vector as u64).collect()),
        Lanes::Move(all(&|i| (i + 1) % vector)),
        Lanes::Move(all(&|i| vector - 1 - i)),
        Lanes::Move(all(&|i| i ^ 1)),
        Lanes::Join(all(&|i| i / 2 + i % 2 * vector)),
        Lanes::Join(all(&|i| if i == 0 { vector } else { i })),
        Lanes::Join(all(&|i| vector - 1 - i + i % 2 * vector)),
        each(&|i| Op::Rotl(1 + 5 * i % (bits - 1))),
        each(&|i| if i == 0 { Op::Copy } else { Op::Rotl(8 % bits) }),
        each(&|i| if i == 0 { Op::Const(0) } else { Op::Shr(i) }),
        each(&|i| Op::Sar(1 + i % 2)),
    ];
    ops.into_iter().map(Op::Lanes).collect()
}

#[test]
fn every_operator_on_vectors() {
    let few = ["neon", "avx512_256"];
    let mut proved = 0;
    for target in isa::all().chain(isa::NARROW.iter().copied()) {
        if !target.simd || !few.contains(&target.name) && !asks!("{}", target.name) {
            continue;
        }
        for (vector, bits) in [(2, 64), (4, 32), (4, 64), (8, 64), (16, 16)] {
            let layout = Layout::Vectors { lane: bits, words: vector };
            for op in on_vectors(vector, bits) {
                if select(target, layout, &op, bits, false).is_err() {
                    continue;
                }
                let verdict = prove(target, layout, &op, bits);
                assert!(verdict.is_proved(), "{} {op:?} on {bits}: {verdict:?}", target.name);
                proved += 1;
            }
        }
    }
    assert!(proved > 50, "{proved} operators");
}

#[test]
fn lanes_in_wrong_places_are_refuted() {
    let target = isa::find("avx512_256").expect("a target");
    let layout = Layout::Vectors { lane: 64, words: 4 };
    let op = Op::Lanes(Lanes::Move([1, 2, 3, 0].into()));
    let mut selected = select(target, layout, &op, 64, false).expect("instructions");
    assert!(compare(target, layout, &op, 64, &selected).is_proved());
    selected.steps[0].imm = Imm::Int(0x93);
    let wrong = compare(target, layout, &op, 64, &selected);
    assert!(matches!(wrong, Outcome::Refuted(_)), "{wrong:?}");
    let op = Op::Lanes(Lanes::Each([1, 2, 3, 4].map(Op::Rotl).into()));
    let mut selected = select(target, layout, &op, 64, false).expect("instructions");
    let Imm::Register(amounts, _) = &mut selected.steps[0].imm else { panic!("{selected:?}") };
    amounts[3] = 5;
    let wrong = compare(target, layout, &op, 64, &selected);
    assert!(matches!(wrong, Outcome::Refuted(_)), "{wrong:?}");
}

#[test]
fn affine_maps_in_every_lane() {
    let mut proved = 0;
    for target in isa::EXTENDED.iter().filter(|t| t.name.ends_with("gfni")) {
        for (lane, bits) in [(8, 8), (8, 5), (32, 8)] {
            proved += check(target, Layout::Lanes(lane), bits);
        }
    }
    assert!(proved > 100, "{proved} operators");
}

#[test]
fn another_map_of_bytes_is_refuted() {
    let target = isa::find("avx2_gfni").expect("a target");
    let layout = Layout::Lanes(8);
    for op in [Op::Affine(0x8000_4020_0f10_0302, 0xa5), Op::AffineInverse(1 << 62 | 9, 3)] {
        let right = select(target, layout, &op, 8, false).expect("instructions");
        assert!(compare(target, layout, &op, 8, &right).is_proved(), "{op:?}");
        let immediates = right.steps.iter().enumerate();
        let immediates = immediates.filter(|(_, step)| matches!(step.imm, Imm::Int(_)));
        assert!(immediates.clone().count() > 0, "{right:?}");
        for (at, _) in immediates {
            let mut wrong = right.clone();
            let Imm::Int(number) = &mut wrong.steps[at].imm else { unreachable!() };
            *number ^= 0x10;
            let verdict = compare(target, layout, &op, 8, &wrong);
            assert!(matches!(verdict, Outcome::Refuted(_)), "{op:?} {at}: {verdict:?}");
        }
    }
}

#[test]
fn products_with_a_sum_in_every_lane() {
    let ifma = isa::find("avx512_ifma").expect("a target");
    let layout = Layout::Lanes(64);
    let ops = [(Op::MulAdd(52), 64), (Op::MulAddHigh(52), 64), (Op::Mul, 52), (Op::MulHigh, 52)];
    for (op, bits) in &ops {
        let selected = select(ifma, layout, op, *bits, false).expect("instructions");
        assert_eq!(selected.count(), 1, "{op:?}");
        assert!(prove(ifma, layout, op, *bits).is_proved(), "{op:?}");
        // Low bits for high ones.
        let other = match op {
            Op::MulAdd(_) => Op::MulAddHigh(52),
            Op::MulAddHigh(_) => Op::MulAdd(52),
            Op::Mul => Op::MulHigh,
            _ => Op::Mul,
        };
        assert!(!products::shown(layout, &other, *bits, &selected), "{op:?}");
    }
}

#[test]
fn carry_less_products_in_every_lane() {
    for name in ["avx2_clmul", "avx512_clmul", "gp64", "avx2"] {
        let target = isa::find(name).expect("a target");
        let layout = if target.simd { Layout::Lanes(64) } else { Layout::Words };
        for (op, other) in [(Op::Clmul, Op::ClmulHigh), (Op::ClmulHigh, Op::Clmul)] {
            let mut selected = select(target, layout, &op, 64, false).expect("instructions");
            assert!(prove(target, layout, &op, 64).is_proved(), "{name}: {op:?}");
            assert!(!compare(target, layout, &other, 64, &selected).is_proved(), "{name}: {op:?}");
            // The last instruction takes its first operand twice.
            let last = selected.steps.last_mut().expect("an instruction");
            last.args[1] = last.args[0];
            assert!(!compare(target, layout, &op, 64, &selected).is_proved(), "{name}: {op:?}");
        }
    }
}

/// The verdict on the selected instructions after a change.
fn changed(op: Op, change: impl Fn(&mut Selected)) -> Outcome {
    let avx2 = isa::find("avx2").expect("a target");
    let mut selected = select(avx2, Layout::Lanes(8), &op, 8, false).expect("instructions");
    change(&mut selected);
    compare(avx2, Layout::Lanes(8), &op, 8, &selected)
}

#[test]
fn bits_that_cross_lanes_are_refuted() {
    // An 8-bit shift is one of 16 bits and a mask; without the mask bits of the neighbour
    // enter.
    let mask = |s: &Selected| s.steps.iter().position(|step| step.row.inst == Inst::And);
    let right = changed(Op::Shl(3), |_| {});
    assert!(right.is_proved(), "{right:?}");
    let without = changed(Op::Shl(3), |s| {
        let at = mask(s).expect("a mask");
        let shift = s.steps[at].args.iter().find(|arg| **arg != s.result).copied();
        s.result = shift.expect("an operand of the mask");
    });
    assert!(matches!(without, Outcome::Refuted(_)), "{without:?}");
    let wrong = changed(Op::Shl(3), |s| {
        let splat = s.steps.iter_mut().find(|step| step.row.inst == Inst::Splat);
        splat.expect("a mask").imm = Imm::Int(0xf0);
    });
    assert!(!wrong.is_proved(), "{wrong:?}");
}

#[test]
fn what_is_wrong_in_one_lane_is_refuted() {
    let wide = changed(Op::Add, |s| s.steps[0].lane = 16);
    assert!(matches!(wide, Outcome::Refuted(_)), "{wide:?}");
    let odd = changed(Op::Rotl(1), |s| {
        let shift = s.steps.iter_mut().find(|step| step.row.inst == Inst::Shr);
        shift.expect("a shift").imm = Imm::Int(6);
    });
    assert!(matches!(odd, Outcome::Refuted(_)), "{odd:?}");
}
