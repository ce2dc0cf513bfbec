//! The programs in `arithmetic`, compiled and run, against arithmetic on long integers.
//!
//! Each node runs on inputs at the edges of its ranges and on others, with a type of 128 bits and
//! without one, as the C compiler of a 32-bit machine has it.

use std::path::Path;

use num_bigint::BigUint;
use usuba::diag::Sources;
use usuba::emit::c::{COptions, kernel};
use usuba::ir::Slicing;
use usuba::ir::random::Random;
use usuba::passes::pipeline::PipelineOptions;
use usuba::syntax::splice::NoIncludes;
use usuba::target::{self, cpu};
use usuba::typed::{Program, Var, VarType};
use usuba_lab::cc;
use usuba_lab::native::{self, Kernel};

/// 2^power - minus
fn modulus(power: u32, minus: u32) -> BigUint {
    (BigUint::from(1u8) << power) - minus
}

/// What a node computes of the values of its parameters, and the modulus.
type Meaning = fn(&[BigUint], &BigUint) -> BigUint;

struct Subject {
    file: &'static str,
    node: &'static str,
    /// The place of each limb.
    places: &'static [u32],
    modulus: (u32, u32),
    meaning: Meaning,
    /// The result is the number below the modulus.
    canonical: bool,
}

const fn subject(
    file: &'static str,
    node: &'static str,
    places: &'static [u32],
    modulus: (u32, u32),
    meaning: Meaning,
) -> Subject {
    Subject { file, node, places, modulus, meaning, canonical: false }
}

const P25519: (u32, u32) = (255, 19);
const L51: &[u32] = &[0, 51, 102, 153, 204];
const L25: &[u32] = &[0, 26, 51, 77, 102, 128, 153, 179, 204, 230];
const L16: &[u32] = &[0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240];
const L44: &[u32] = &[0, 44, 88];

#[rustfmt::skip] // One node, one line.
const SUBJECTS: &[Subject] = &[
    subject("field25519/limbs51.ua", "mul", L51, P25519, |x, _| &x[0] * &x[1]),
    subject("field25519/limbs51.ua", "square", L51, P25519, |x, _| &x[0] * &x[0]),
    subject("field25519/limbs51.ua", "scale", L51, P25519, |x, _| &x[0] * 121665u32),
    subject("field25519/limbs51.ua", "add", L51, P25519, |x, _| &x[0] + &x[1]),
    subject("field25519/limbs51.ua", "sub", L51, P25519, |x, p| &x[0] + p * 4u8 - &x[1]),
    subject("field25519/limbs51.ua", "carry", L51, P25519, |x, _| x[0].clone()),
    Subject { canonical: true, ..subject("field25519/limbs51.ua", "freeze", L51, P25519, |x, _| x[0].clone()) },
    subject("field25519/limbs51.ua", "inverse", L51, P25519, |x, p| x[0].modpow(&(p - 2u8), p)),
    subject("field25519/limbs25.ua", "mul", L25, P25519, |x, _| &x[0] * &x[1]),
    subject("field25519/limbs25.ua", "add", L25, P25519, |x, _| &x[0] + &x[1]),
    subject("field25519/limbs16.ua", "mul", L16, P25519, |x, _| &x[0] * &x[1]),
    subject("field25519/limbs16.ua", "carry", L16, P25519, |x, _| x[0].clone()),
    subject("field25519/limbs16.ua", "sub", L16, P25519, |x, p| &x[0] + p * 16u8 - &x[1]),
    subject("poly1305/limbs44.ua", "step", L44, (130, 5), |x, _| (&x[0] + &x[1]) * &x[2]),
    Subject { canonical: true, ..subject("poly1305/limbs44.ua", "freeze", L44, (130, 5), |x, _| x[0].clone()) },
];

/// Calls of each kernel.
const CALLS: usize = 40;

fn program(subject: &Subject) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arithmetic").join(subject.file);
    let text = std::fs::read_to_string(&path).expect("a program");
    let mut sources = Sources::default();
    let root = sources.add(subject.file, text);
    let entry = Some(subject.node);
    let checked = usuba::front(&mut sources, root, &mut NoIncludes, entry, Default::default());
    checked.expect("a right program").program
}

fn bytes_of(var: &Var) -> usize {
    match &var.ty {
        VarType::Words { atom, .. } => atom.bits().expect("a word size") as usize / 8,
        VarType::Nat => unreachable!("no parameter is a nat"),
    }
}

/// Words of a parameter: the ends of its range in whole calls and in single words.
fn words(var: &Var, call: usize, random: &mut Random) -> Vec<u64> {
    let range = var.range.expect("a range");
    let (low, high) = (range.low as u64, range.high as u64);
    let word = |random: &mut Random| match (call, random.below(6)) {
        (0, _) | (3.., 0) => low,
        (1, _) | (3.., 1) => high,
        (2, _) => (high - low).next_power_of_two() / 2 - 1,
        (_, 2) => high - random.below(40) as u64,
        _ => low + random.word() % (high - low + 1),
    };
    (0..var.ty.atoms()).map(|_| word(random)).collect()
}

fn value(words: &[u64], places: &[u32]) -> BigUint {
    words.iter().zip(places).map(|(&word, &place)| BigUint::from(word) << place).sum()
}

fn unpack(bytes: &[u8], size: usize) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64);
    bytes.chunks(size).map(word).collect()
}

#[test]
fn compiled_programs_compute_with_long_integers() {
    let mut random = Random::new(3);
    let target = target::find("gp64").expect("a target");
    let machine = match cc::find("gp64") {
        Ok(machine) => machine,
        Err(skip) => return eprintln!("{skip}"),
    };
    let (mut kernels, mut wanted) = (Vec::new(), Vec::new());
    for subject in SUBJECTS {
        let program = program(subject);
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.interleave.factor = Some(1);
        let options = usuba::Options {
            slicing: Slicing::V,
            target,
            cpu: cpu::find("generic").expect("a CPU"),
            word: None,
            entry: None,
            flags: Default::default(),
            pipeline,
            c: COptions { prefix: "t_".into(), ..COptions::default() },
        };
        let lowered = usuba::optimise(&program, &options, &mut |_, _| {}).expect("a program");
        let emitted = kernel(&lowered, target, &options.c);
        assert_eq!(emitted.copies, 1, "one instance in a call");
        let decl = &program.decls[program.entry];
        let p = modulus(subject.modulus.0, subject.modulus.1);
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for call in 0..CALLS {
            let inputs: Vec<Vec<u64>> =
                decl.params.iter().map(|var| words(var, call, &mut random)).collect();
            let values: Vec<BigUint> =
                inputs.iter().map(|words| value(words, subject.places)).collect();
            results.push((subject.meaning)(&values, &p) % &p);
            let ports = inputs.iter().zip(&decl.params);
            let pack = |(words, var): (&Vec<u64>, &Var)| {
                let size = bytes_of(var);
                words.iter().flat_map(|word| word.to_le_bytes()[..size].to_vec()).collect()
            };
            calls.push(ports.map(pack).collect());
        }
        let outputs = decl.results.iter().map(|var| bytes_of(var) * var.ty.atoms()).collect();
        kernels.push(Kernel { text: emitted.text, symbol: emitted.name, align: 8, calls, outputs });
        wanted.push((subject, results, p, bytes_of(&decl.results[0])));
    }
    for flags in [&["-O1"][..], &["-O1", "-U__SIZEOF_INT128__"]] {
        for (answer, (subject, results, p, size)) in
            native::run(&machine, flags, &kernels).into_iter().zip(&wanted)
        {
            let name = format!("{} of {}", subject.node, subject.file);
            let answer = answer.unwrap_or_else(|failure| panic!("{name}: {failure}"));
            assert_eq!(answer.len(), CALLS);
            for (outputs, want) in answer.iter().zip(results) {
                let got = value(&unpack(&outputs[0], *size), subject.places);
                match subject.canonical {
                    true => assert_eq!(got, *want, "{name}"),
                    false => assert_eq!(got % p, *want, "{name}"),
                }
            }
        }
    }
}
