//! Every operator on every word size, slicing and target, run natively on edge and random lanes.
//!
//! One program per word size computes all operators of that size, with representative shift amounts
//! and group patterns, on the same parameters. The test leaves out operators that the target
//! refuses and checks that it should refuse them. Together the programs execute every row of every
//! table (`every_row_is_reached`), so an instruction that differs from its row fails here.

mod support;

use std::collections::BTreeSet;

use support::{Case, STRICT, check_all, on_every_machine};
use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::emit::{instruction, layout};
use usuba::ir::build::Builder;
use usuba::ir::op::{Lanes, mask};
use usuba::ir::random::Random;
use usuba::ir::{NodeId, Op, Pattern, Port, Program, Slicing, Val};
use usuba::isa::{self, Inst, Target, lacks, word_lane};
use usuba::syntax::splice::NoIncludes;
use usuba::typed::{Decl, Flags, VarType};
use usuba::{Slice, front, standard, to_usuba0};

/// Word sizes of V: the sizes of registers, and sizes that leave bits of a lane unused.
const WORDS: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 24, 31, 32, 33, 52, 63, 64];

/// Word sizes of H on some target.
const ELEMENTS: &[u8] = &[2, 4, 8, 16, 32, 64];

/// Every operator for words of `bits` bits, legal or not.
fn operators(bits: u8, random: &mut Random) -> Vec<Op> {
    let mut ops = vec![Op::Not, Op::And, Op::Or, Op::Xor, Op::Andn, Op::Copy];
    ops.extend([Op::Add, Op::Sub, Op::Mul, Op::Pack, Op::MulHigh, Op::Less]);
    let all = mask(bits);
    ops.extend([0, 1, all, all >> 1, random.word() & all].map(Op::Const));
    // Majority, parity, choice, the constants, the operands, and random tables.
    let tables = [0x96, 0xe8, 0xca, 0x00, 0xff, 0xf0, 0xcc, 0xaa, 0x01, 0x17, 0x2d, 0x80];
    ops.extend(tables.map(Op::Lut3));
    ops.extend((0..4).map(|_| Op::Lut3(random.word() as u8)));
    let some = [1, 2, 3, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 48, 56, 63];
    let near = [bits / 2, bits.saturating_sub(8), bits - 1];
    for k in 1..bits {
        if bits <= 16 || some.contains(&k) || near.contains(&k) {
            ops.extend([Op::Shl(k), Op::Shr(k), Op::Sar(k), Op::Rotl(k)]);
        }
    }
    let positions: BTreeSet<u8> = [0, 1, bits / 2, bits - 1].into();
    ops.extend(positions.into_iter().filter(|&i| i < bits).map(Op::Bitmask));
    for groups in (1..=bits).filter(|groups| bits.is_multiple_of(*groups)) {
        let reversed = |i| groups - 1 - i;
        let turned = |i| (i + 1) % groups;
        let spread = |i: u8| i.saturating_sub(groups / 2);
        let drawn: Vec<u8> = (0..groups).map(|_| random.below(groups as usize) as u8).collect();
        let pattern = |f: &dyn Fn(u8) -> u8| Pattern::from((0..groups).map(f).collect::<Vec<_>>());
        ops.extend(
            [&reversed as &dyn Fn(u8) -> u8, &turned, &spread].map(|f| Op::Shuffle(pattern(f))),
        );
        ops.push(Op::Shuffle(Pattern::from(drawn)));
    }
    if bits == 8 {
        let one = 0x0102_0408_1020_4080;
        for (matrix, c) in [(one, 0), (random.word(), 0), (random.word(), random.word() as u8)] {
            ops.extend([Op::Affine(matrix, c), Op::AffineInverse(matrix, c)]);
        }
    }
    if bits == 64 {
        ops.extend([Op::MulAdd(52), Op::MulAddHigh(52), Op::Clmul, Op::ClmulHigh]);
    }
    ops
}

/// A program that computes each operator of `ops` once.
fn program(slicing: Slicing, bits: u8, ops: &[Op]) -> Program {
    let mut build = Builder::new("ops", slicing);
    let words = build.param(Port::new("x", bits, &[3]));
    let halves = if ops.contains(&Op::Pack) {
        build.param(Port::new("half", bits / 2, &[2]))
    } else {
        Vec::new()
    };
    let outs: Vec<Val> = ops
        .iter()
        .map(|op| {
            let args = if matches!(op, Op::Pack) { &halves } else { &words };
            match op {
                Op::Const(value) => build.constant(bits, *value),
                _ => build.op(op.clone(), &args[..op.arity()]),
            }
        })
        .collect();
    let node = build.finish(vec![(Port::new("y", bits, &[ops.len() as u32]), outs)]);
    Program::new(vec![node], NodeId(0), slicing)
}

/// Every vector of a register of this target: words and their size.
fn vectors(target: &Target) -> Vec<(u8, u8)> {
    let sizes = [128u32, 256, 512].into_iter().filter(|&size| target.simd && size <= target.bits);
    let of = |size: u32| [8u8, 16, 32, 64].map(|bits| ((size / bits as u32) as u8, bits));
    sizes.flat_map(of).collect()
}

/// Every kind of operator on the lanes of a vector.
fn lane_operators(vector: u8, bits: u8, random: &mut Random) -> Vec<Op> {
    let all = |f: &dyn Fn(u8) -> u8| -> Pattern { (0..vector).map(f).collect::<Vec<_>>().into() };
    let group = 128 / bits;
    let moves: [&dyn Fn(u8) -> u8; 6] = [
        &|i| (i + 1) % vector,
        &|i| vector - 1 - i,
        &|i| i ^ 1,
        &|i| i / group * group + (i + 1) % group,
        &|i| i / 4 * 4 + [2, 0, 3, 1][i as usize % 4].min(vector - 1),
        &|i| i / 2 * 2 % vector,
    ];
    let joins: [&dyn Fn(u8) -> u8; 7] = [
        &|i| i / group * group + i % group / 2 + i % 2 * vector,
        &|i| i / group * group + group / 2 + i % group / 2 + i % 2 * vector,
        &|i| i / group * group + i % group / 2 + (i + 1) % 2 * vector,
        &|i| if i % group + 1 < group { i + 1 } else { i / group * group + vector },
        &|i| i + i % 2 * vector,
        &|i| i + (i / 2) % 2 * vector,
        &|i| vector - 1 - i + i % 3 % 2 * vector,
    ];
    let lanes = |op: Lanes| Op::Lanes(op);
    let mut ops: Vec<Op> = moves.iter().map(|f| lanes(Lanes::Move(all(f)))).collect();
    ops.extend(joins.iter().map(|f| lanes(Lanes::Join(all(f)))));
    let words: Vec<u64> = (0..vector).map(|_| random.word() & mask(bits)).collect();
    ops.push(lanes(Lanes::Const(words.into())));
    let each = |f: &dyn Fn(u8) -> Op| lanes(Lanes::Each((0..vector).map(f).collect()));
    let amount = |i: u8| 1 + i.wrapping_mul(7) % (bits - 1);
    ops.extend([
        each(&|i| Op::Rotl(amount(i))),
        each(&|i| if bits > 8 && i % 2 == 0 { Op::Rotl(8) } else { Op::Copy }),
        each(&|i| if i % 3 == 0 { Op::Copy } else { Op::Shl(amount(i)) }),
        each(&|i| if i % 3 == 1 { Op::Const(0) } else { Op::Shr(amount(i)) }),
        each(&|i| Op::Sar(1 + i % 3)),
    ]);
    ops
}

/// A program that computes each operator of `ops` on vectors once.
fn on_vectors(vector: u8, bits: u8, ops: &[Op]) -> Program {
    let mut build = Builder::new("ops", Slicing::W);
    let words = build.param(Port::new("x", bits, &[3, vector as u32]));
    let outs: Vec<Val> = ops
        .iter()
        .map(|op| match op {
            Op::Lanes(Lanes::Const(_)) => build.literal(bits, op.clone()),
            _ => build.op(op.clone(), &words[..op.arity()]),
        })
        .collect();
    let result = Port::new("y", bits, &[ops.len() as u32, vector as u32]);
    let node = build.finish(vec![(result, outs)]);
    Program { vector, ..Program::new(vec![node], NodeId(0), Slicing::W) }
}

/// Programs on the vectors that a target has.
fn programs_on_vectors(target: &'static Target) -> Vec<(String, Program)> {
    let mut random = Random::new(13);
    let mut all = Vec::new();
    for (vector, bits) in vectors(target) {
        let mut ops = legal(target, Slicing::W, bits, lane_operators(vector, bits, &mut random));
        if target.base.is_some() {
            // The additions of the narrow targets to their base.
            let more = [Op::Rotl(3), Op::Lut3(0x96), Op::Not, Op::Mul, Op::Sar(3)];
            ops.extend(legal(target, Slicing::W, bits, more.to_vec()));
        }
        all.push((format!("W{vector}x{bits}"), on_vectors(vector, bits, &ops)));
    }
    all.extend(standard::ALL.into_iter().filter_map(|(name, text)| {
        Some((format!("{}{name}", standard::PREFIX), instructions(target, name, text)?))
    }));
    all
}

/// A program that calls each node of a standard include that is an instruction of the target; `None`
/// without one.
fn instructions(target: &'static Target, name: &str, text: &str) -> Option<Program> {
    let read = |text: String| {
        let mut sources = Sources::default();
        let root = sources.add("rows.ua", text);
        front(&mut sources, root, &mut NoIncludes, None, Flags::default()).expect("it is right")
    };
    let own = read(text.to_string()).program.decls;
    let bits = |decl: &Decl| match &decl.results[0].ty {
        VarType::Words { atom, .. } => atom.bits(),
        VarType::Nat => None,
    };
    let found = own.iter().filter_map(|decl| {
        let (bits, words) = (bits(decl)?, decl.results[0].ty.atoms() as u8);
        let (row, _) = target.instruction(&decl.name, bits, words)?;
        Some((decl, format!("u{bits}x{words}"), row))
    });
    let found: Vec<_> = found.collect();
    let (_, ty, _) = found.first()?;
    let operands = ["x", "y", "z"];
    let mut program = format!("include \"{}{name}\"\nnode every (", standard::PREFIX);
    program += &format!("{}:{ty}) returns (r:{ty}[{}])\nlet\n", operands.join(","), found.len());
    for (at, (decl, ..)) in found.iter().enumerate() {
        let arguments = operands[..decl.params.len()].join(", ");
        program += &format!("  r[{at}] = {}({arguments});\n", decl.name);
    }
    let slice = Slice {
        slicing: Slicing::W,
        word: None,
        profile: usuba::profile(target),
        vectors: true,
        instructions: Some(target),
    };
    let lacks = |slicing, op: &Op, bits| lacks(target, slicing, op, bits, word_lane(bits));
    let program = read(program + "tel\n").program;
    Some(to_usuba0(&program, slice, &lacks).expect("it has vectors"))
}

/// A program that changes each word size to each other one.
fn resizes() -> Program {
    let mut build = Builder::new("sizes", Slicing::V);
    let words: Vec<Val> = WORDS
        .iter()
        .map(|bits| build.param(Port::new(format!("x{bits}"), *bits, &[]))[0])
        .collect();
    let mut outs = Vec::new();
    for &bits in WORDS {
        let others = words.iter().filter(|&&word| build.bits_of(word) != bits);
        let others: Vec<Val> = others.copied().collect();
        let made: Vec<Val> = others.into_iter().map(|word| build.resize(bits, word)).collect();
        outs.push((Port::new(format!("y{bits}"), bits, &[made.len() as u32]), made));
    }
    Program::new(vec![build.finish(outs)], NodeId(0), Slicing::V)
}

/// The operators of `ops` that `target` has, in order.
fn legal(target: &Target, slicing: Slicing, bits: u8, ops: Vec<Op>) -> Vec<Op> {
    ops.into_iter()
        .filter(|op| lacks(target, slicing, op, bits, word_lane(bits)).is_none())
        .collect()
}

fn programs(target: &'static Target) -> Vec<(String, Program)> {
    let mut random = Random::new(9);
    let mut all = vec![("sizes".to_string(), resizes())];
    for (slicing, sizes) in [(Slicing::B, &[1][..]), (Slicing::V, WORDS), (Slicing::H, ELEMENTS)] {
        for &bits in sizes {
            let ops = legal(target, slicing, bits, operators(bits, &mut random));
            if !ops.is_empty() {
                all.push((format!("{slicing:?}{bits}"), program(slicing, bits, &ops)));
            }
        }
    }
    all.extend(programs_on_vectors(target));
    all
}

#[test]
fn every_operator_computes_what_it_means() {
    on_every_machine(|target, machine| {
        let cases: Vec<Case> = programs(target)
            .into_iter()
            .map(|(what, program)| {
                // A register of one instance needs more calls to meet the edges.
                let calls = if layout(&program, target) == isa::Layout::Words { 24 } else { 2 };
                Case::new(what, program, target, COptions::default(), calls, 5)
            })
            .collect();
        check_all(machine, STRICT, &cases);
    });
}

/// Words that fill bytes, and words that share lanes with longer ones, or long words: the others
/// have no instructions that their base has not.
#[test]
fn targets_with_a_base_compute_what_it_means() {
    for target in isa::EXTENDED {
        let machine = match usuba_run::cc::find(target.name) {
            Ok(machine) => machine,
            Err(skip) => {
                eprintln!("{skip}");
                continue;
            }
        };
        let mut random = Random::new(11);
        let mut cases = Vec::new();
        let long = target.row(Inst::MulAdd52, 64).is_some();
        for bits in if long { [52, 64] } else { [5, 8] } {
            let ops = legal(target, Slicing::V, bits, operators(bits, &mut random));
            let program = program(Slicing::V, bits, &ops);
            let what = format!("V{bits}");
            cases.push(Case::new(what, program, target, COptions::default(), 8, 7));
        }
        let ops = operators(8, &mut random);
        let wide = in_wide_lanes(&legal(target, Slicing::V, 8, ops));
        cases.push(Case::new("V8 beside V32".into(), wide, target, COptions::default(), 8, 8));
        check_all(&machine, STRICT, &cases);
    }
}

#[test]
fn narrow_registers_compute_what_it_means() {
    for target in isa::NARROW {
        let machine = match usuba_run::cc::find(target.name) {
            Ok(machine) => machine,
            Err(skip) => {
                eprintln!("{skip}");
                continue;
            }
        };
        let case = |(what, program)| Case::new(what, program, target, COptions::default(), 2, 5);
        let cases: Vec<Case> = programs_on_vectors(target).into_iter().map(case).collect();
        check_all(&machine, STRICT, &cases);
    }
}

/// A program on bytes in lanes of 32 bits.
fn in_wide_lanes(ops: &[Op]) -> Program {
    let mut build = Builder::new("ops", Slicing::V);
    let words = build.param(Port::new("x", 8, &[3]));
    let wide = build.param(Port::new("w", 32, &[]));
    let unary = ops.iter().filter(|op| op.arity() == 1);
    let outs: Vec<Val> = unary.map(|op| build.op(op.clone(), &words[..1])).collect();
    let y = (Port::new("y", 8, &[outs.len() as u32]), outs);
    let node = build.finish(vec![y, (Port::new("v", 32, &[]), wide)]);
    Program::new(vec![node], NodeId(0), Slicing::V)
}

#[test]
fn extensions_compute_the_same() {
    let target = isa::find("avx512").expect("a target");
    let machine = match usuba_run::cc::find("avx512") {
        Ok(machine) => machine,
        Err(skip) => return eprintln!("{skip}"),
    };
    if !has_vbmi2() {
        return eprintln!("skipped VBMI2: the processor does not have it");
    }
    let rotations = (1..16).map(Op::Rotl).collect::<Vec<_>>();
    let case = |ops: &[Op]| {
        let program = program(Slicing::V, 16, ops);
        Case::new("rotations by VBMI2".into(), program, target, COptions::default(), 2, 6)
    };
    let cases = [case(&rotations)];
    assert!(cases[0].emitted.text.contains("#ifdef __AVX512VBMI2__"));
    check_all(&machine, &[STRICT, &["-mavx512vbmi2"]].concat(), &cases);
}

#[cfg(target_arch = "x86_64")]
fn has_vbmi2() -> bool {
    std::is_x86_feature_detected!("avx512vbmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vbmi2() -> bool {
    false
}

/// A row that no operator selects would never run.
#[test]
fn every_row_is_reached() {
    for target in isa::all().chain(isa::NARROW.iter().copied()) {
        let mut reached = BTreeSet::new();
        for (_, program) in programs(target) {
            let layout = layout(&program, target);
            let instructions =
                program.nodes.iter().filter_map(|node| instruction(&program, node, target));
            reached.extend(instructions.map(|(row, lane)| row.text(lane)));
            let node = program.entry();
            for eqn in &node.body {
                let usuba::ir::Eqn::Op(eqn) = eqn else { continue };
                for extended in [false, true] {
                    let selected =
                        isa::select(target, layout, &eqn.op, node.bits_of(eqn.dst), extended)
                            .expect("legal");
                    reached.extend(selected.steps.iter().map(|step| step.row.text(step.lane)));
                }
            }
        }
        let idle: Vec<String> = target
            .rows
            .iter()
            .flat_map(|row| row.widths().into_iter().map(move |lane| (row, lane)))
            .filter(|(row, lane)| !reached.contains(&row.text(*lane)))
            .map(|(row, lane)| format!("{:?} {lane}", row.inst))
            .collect();
        assert!(idle.is_empty(), "{}: nothing selects {idle:?}", target.name);
    }
}

#[test]
fn horizontal_slicing_refuses_arithmetic_in_words() {
    for target in isa::ALL {
        for op in [Op::Add, Op::Sub, Op::Mul] {
            let why = lacks(target, Slicing::H, &op, 16, 0).expect("it is refused");
            assert!(why.contains("carries"), "{why}");
        }
        assert!(lacks(target, Slicing::H, &Op::Xor, 12, 0).is_some());
        assert!(lacks(target, Slicing::B, &Op::Xor, 8, 0).is_some());
        assert!(lacks(target, Slicing::H, &Op::Xor, 16, 0).is_none());
    }
}
