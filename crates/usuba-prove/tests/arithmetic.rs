//! The programs in `arithmetic`, compiled and run, against arithmetic on long integers.
//!
//! ```text
//! freeze of limbs25.ua on avx2      four instances in a call, each with a + 19c below p
//! ```
//!
//! Each node runs on inputs at the edges of its ranges and on others: with a type of 128 bits and
//! without one, as the C compiler of a 32-bit machine has it, and in the lanes of SIMD registers.

#[path = "../../usuba-contracts/tests/support/arithmetic.rs"]
mod arithmetic;

use num_bigint::BigInt;
use usuba::emit::c::{COptions, kernel};
use usuba::ir::random::Random;
use usuba::ir::{Program as Usuba0, Slicing};
use usuba::isa::{self, Layout, Target, cpu};
use usuba::passes::pipeline::PipelineOptions;
use usuba::typed::{Program, Var, VarType};
use usuba::{Options, emit, optimise};
use usuba_equiv::chain::Chain;
use usuba_equiv::source::Source;
use usuba_gen::asks;
use usuba_run::cc;
use usuba_run::native::{self, Kernel};

/// The function of a node on the values of its parameters, and the modulus.
type Meaning = fn(&[BigInt], &BigInt) -> BigInt;

/// A program and the representation of its numbers.
struct File {
    name: &'static str,
    /// The place of each limb; other vectors are numbers in whole words.
    places: &'static [u32],
    modulus: fn() -> BigInt,
}

struct Subject {
    node: &'static str,
    meaning: Meaning,
    /// The result is the number below this power of two or, without one, below the modulus.
    exact: Option<u32>,
}

fn power(k: u32) -> BigInt {
    BigInt::from(1) << k
}

const L51: &[u32] = &[0, 51, 102, 153, 204];
const L52: &[u32] = &[0, 52, 104, 156, 208];
const L25: &[u32] = &[0, 26, 51, 77, 102, 128, 153, 179, 204, 230];
const L16: &[u32] = &[0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240];
const L26: &[u32] = &[0, 26, 52, 78, 104];

const fn subject(node: &'static str, meaning: Meaning) -> Subject {
    Subject { node, meaning, exact: None }
}

const fn exact(node: &'static str, bits: u32, meaning: Meaning) -> Subject {
    Subject { node, meaning, exact: Some(bits) }
}

const FIELD: &[Subject] = &[
    subject("mul", |x, _| &x[0] * &x[1]),
    subject("square", |x, _| &x[0] * &x[0]),
    subject("scale", |x, _| &x[0] * 121665),
    subject("add", |x, _| &x[0] + &x[1]),
    subject("sub", |x, _| &x[0] - &x[1]),
    subject("carry", |x, _| x[0].clone()),
    subject("select", |x, _| x[1 + usize::from(x[0] == BigInt::from(1))].clone()),
    exact("freeze", 0, |x, p| x[0].clone() % p),
    exact("unpack", 255, |x, _| x[0].clone()),
    exact("pack", 256, |x, _| x[0].clone()),
    subject("inverse", |x, p| x[0].modpow(&(p - 2), p)),
    subject("power58", |x, p| x[0].modpow(&((p - 5) / 8), p)),
];

/// Without bytes, which are words of 32 bits in longer ones there.
const LANES: &[Subject] = &[
    subject("mul", |x, _| &x[0] * &x[1]),
    subject("square", |x, _| &x[0] * &x[0]),
    subject("scale", |x, _| &x[0] * 121665),
    subject("sub_more", |x, _| &x[0] - &x[1]),
    subject("carry", |x, _| x[0].clone()),
    exact("freeze", 0, |x, p| x[0].clone() % p),
];

const AUTHENTICATOR: &[Subject] = &[
    subject("step", |x, _| (&x[0] + &x[1]) * &x[2]),
    exact("reduce", 0, |x, p| x[0].clone() % p),
    exact("unpack", 131, |x, _| &x[0] + &x[1] * power(128)),
    exact("clamp", 128, |x, _| {
        let mask = (0..16).filter(|i| i % 4 == 3).map(|i| BigInt::from(0xf0) << (8 * i));
        let low = (0..16).filter(|i| i % 4 == 0 && *i > 0).map(|i| BigInt::from(3) << (8 * i));
        &x[0] & (power(128) - 1 - mask.sum::<BigInt>() - low.sum::<BigInt>())
    }),
    exact("tag", 128, |x, _| &x[0] + &x[1]),
];

/// The upper word of a key is divided by 4.
fn clamped(key: &BigInt) -> BigInt {
    key % power(64) + key / power(64) * power(66)
}

const AUTHENTICATOR_OF_WORDS: &[Subject] = &[
    subject("chain", |x, _| (&x[0] + &x[1] + &x[2] * power(128)) * clamped(&x[3])),
    subject("four", |x, _| {
        let block = |at: u32| (&x[1] >> (128 * at)) % power(128) + power(128);
        (0..4).fold(x[0].clone(), |sum, at| (sum + block(at)) * clamped(&x[2]))
    }),
    exact("reduce", 0, |x, p| x[0].clone() % p),
    exact("tag", 128, |x, _| &x[0] + &x[1]),
];

const SCALARS: &[Subject] = &[
    exact("reduce", 0, |x, l| x[0].clone() % l),
    exact("product", 512, |x, _| &x[0] * &x[1] + &x[2]),
    exact("muladd", 0, |x, l| (&x[0] * &x[1] + &x[2]) % l),
    exact("below", 1, |x, l| BigInt::from(u8::from(x[0] < *l))),
];

const FILES: &[(File, &[Subject])] = &[
    (File { name: "field25519/limbs51.ua", places: L51, modulus: || power(255) - 19 }, FIELD),
    (File { name: "field25519/limbs25.ua", places: L25, modulus: || power(255) - 19 }, FIELD),
    (File { name: "field25519/lanes25.ua", places: L25, modulus: || power(255) - 19 }, LANES),
    (File { name: "field25519/lanes52.ua", places: L52, modulus: || power(255) - 19 }, FIELD),
    (File { name: "field25519/limbs16.ua", places: L16, modulus: || power(255) - 19 }, FIELD),
    (
        File { name: "poly1305/words64.ua", places: &[], modulus: || power(130) - 5 },
        AUTHENTICATOR_OF_WORDS,
    ),
    (File { name: "poly1305/limbs26.ua", places: L26, modulus: || power(130) - 5 }, AUTHENTICATOR),
    (File { name: "order25519/limbs63.ua", places: &[], modulus: order }, SCALARS),
    (File { name: "order25519/limbs28.ua", places: &[], modulus: order }, SCALARS),
    (File { name: "order25519/words32.ua", places: &[], modulus: order }, SCALARS),
];

/// RFC 8032, section 5.1.
fn order() -> BigInt {
    power(252) + 27742317777372353535851937790883648493u128
}

/// Calls of each kernel.
const CALLS: usize = 24;

fn program(file: &File, node: &str) -> Program {
    arithmetic::front(file.name, &arithmetic::text(file.name), Some(node)).0
}

fn options(target: &'static Target) -> Options {
    let mut pipeline = PipelineOptions::default();
    pipeline.pass.interleave.factor = Some(1);
    Options {
        slicing: Slicing::V,
        target,
        cpu: cpu::find("generic").expect("a CPU"),
        word: None,
        entry: None,
        flags: Default::default(),
        pipeline,
        c: COptions { prefix: "t_".into(), ..COptions::default() },
    }
}

fn bits_of(var: &Var) -> u32 {
    match &var.ty {
        VarType::Words { atom, .. } => atom.bits().expect("a word size").into(),
        VarType::Nat => unreachable!("no parameter is a nat"),
    }
}

/// Words of a parameter: the ends of its range in whole calls and in single words.
fn words(var: &Var, call: usize, random: &mut Random) -> Vec<u64> {
    let word = |at: usize| {
        let (low, high) = match var.range(at) {
            Some(range) => (range.low as u64, range.high as u64),
            None => (0, u64::MAX >> (64 - bits_of(var))),
        };
        let width = high - low;
        match (call, random.below(6)) {
            (0, _) | (3.., 0) => low,
            (1, _) | (3.., 1) => high,
            (2, _) => low + width.checked_ilog2().map_or(0, |k| (1 << k) - 1),
            (_, 2) => high - (random.below(40) as u64).min(width),
            _ => match width.checked_add(1) {
                Some(count) => low + random.word() % count,
                None => random.word(),
            },
        }
    };
    (0..var.ty.atoms()).map(word).collect()
}

fn value(words: &[u64], var: &Var, limbs: &[u32]) -> BigInt {
    let place = |at: usize| match words.len() == limbs.len() {
        true => limbs[at],
        false => at as u32 * bits_of(var),
    };
    words.iter().enumerate().map(|(at, &word)| BigInt::from(word) << place(at)).sum()
}

/// The layout of the words of a port in memory: `instances` instances of each word, in `bytes`
/// bytes.
#[derive(Clone, Copy)]
struct Shape {
    instances: usize,
    bytes: usize,
}

impl Shape {
    fn new(target: &Target, lowered: &Usuba0, var: &Var) -> Shape {
        match emit::layout(lowered, target) {
            Layout::Lanes(lane) => {
                let instances = (target.bits / lane as u32) as usize;
                Shape { instances, bytes: lane as usize / 8 }
            }
            _ => Shape { instances: 1, bytes: bits_of(var) as usize / 8 },
        }
    }

    fn pack(self, instances: &[Vec<u64>]) -> Vec<u8> {
        let mut out = Vec::new();
        for at in 0..instances[0].len() {
            for words in instances {
                out.extend(&words[at].to_le_bytes()[..self.bytes]);
            }
        }
        out
    }

    fn unpack(self, bytes: &[u8]) -> Vec<Vec<u64>> {
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64);
        let words: Vec<u64> = bytes.chunks(self.bytes).map(word).collect();
        let of = |instance| words.iter().skip(instance).step_by(self.instances).copied().collect();
        (0..self.instances).map(of).collect()
    }
}

/// A node on a target: its kernel, and the result of each call.
struct Case {
    name: String,
    kernel: Kernel,
    wanted: Vec<Vec<BigInt>>,
    shape: Shape,
    result: Var,
    limbs: &'static [u32],
    /// Results count modulo this.
    modulus: Option<BigInt>,
}

impl Case {
    fn new(file: &'static File, subject: &Subject, target: &'static Target) -> Case {
        let program = program(file, subject.node);
        let options = options(target);
        let lowered = optimise(&program, &options, &mut |_, _| {}).expect("a program");
        let emitted = kernel(&lowered, target, &options.c);
        assert_eq!(emitted.copies, 1, "one register in a call");
        let decl = &program.decls[program.entry];
        let p = (file.modulus)();
        let mut random = Random::new(3);
        let (mut calls, mut wanted) = (Vec::new(), Vec::new());
        let shape = |var: &Var| Shape::new(target, &lowered, var);
        let instances = shape(&decl.results[0]).instances;
        for call in 0..CALLS {
            let inputs: Vec<Vec<Vec<u64>>> = (0..instances)
                .map(|at| {
                    let vars = decl.params.iter();
                    vars.map(|var| words(var, call + at, &mut random)).collect()
                })
                .collect();
            let meaning = |inputs: &Vec<Vec<u64>>| {
                let ports = inputs.iter().zip(&decl.params);
                let values = ports.map(|(words, var)| value(words, var, file.places));
                let values: Vec<BigInt> = values.collect();
                let result = (subject.meaning)(&values, &p);
                match subject.exact {
                    None => remainder(result, &p),
                    Some(0) => result,
                    Some(bits) => remainder(result, &power(bits)),
                }
            };
            wanted.push(inputs.iter().map(meaning).collect());
            let port = |(at, var): (usize, &Var)| {
                let words: Vec<Vec<u64>> = inputs.iter().map(|ports| ports[at].clone()).collect();
                shape(var).pack(&words)
            };
            calls.push(decl.params.iter().enumerate().map(port).collect());
        }
        let size = |var: &Var| shape(var).bytes * instances * var.ty.atoms();
        let outputs = decl.results.iter().map(size).collect();
        let align = (target.bits as usize / 8).max(8);
        Case {
            name: format!("{} of {} on {}", subject.node, file.name, target.name),
            kernel: Kernel { text: emitted.text, symbol: emitted.name, align, calls, outputs },
            wanted,
            shape: shape(&decl.results[0]),
            result: decl.results[0].clone(),
            limbs: file.places,
            modulus: subject.exact.is_none().then_some(p),
        }
    }

    fn check(&self, answer: &[Vec<Vec<u8>>]) {
        assert_eq!(answer.len(), CALLS);
        for (call, (outputs, wanted)) in answer.iter().zip(&self.wanted).enumerate() {
            for (words, want) in self.shape.unpack(&outputs[0]).iter().zip(wanted) {
                let got = value(words, &self.result, self.limbs);
                let got = self.modulus.as_ref().map_or(got.clone(), |p| remainder(got, p));
                assert_eq!(got, *want, "{} in call {call}", self.name);
            }
        }
    }
}

/// The remainder that is not negative.
fn remainder(value: BigInt, modulus: &BigInt) -> BigInt {
    ((value % modulus) + modulus) % modulus
}

/// Targets and flags. By default the nodes take turns.
const WAYS: [(&str, &[&str]); 7] = [
    ("gp64", &["-O1"]),
    ("gp64", &["-O1", "-U__SIZEOF_INT128__"]),
    ("gp32", &["-O1"]),
    ("sse", &["-O1"]),
    ("avx2", &["-O1"]),
    ("avx512", &["-O1"]),
    ("avx512_ifma", &["-O1"]),
];

fn subjects() -> impl Iterator<Item = (usize, &'static File, &'static Subject)> {
    let of_file = |(file, nodes): &'static (File, &'static [Subject])| {
        let text = arithmetic::text(file.name);
        let program = arithmetic::front(file.name, &text, None).0;
        let has = move |name: &str| program.decls.iter().any(|decl| *decl.name == *name);
        nodes.iter().filter(move |subject| has(subject.node)).map(move |subject| (file, subject))
    };
    let all = FILES.iter().flat_map(of_file).enumerate();
    all.map(|(at, (file, subject))| (at, file, subject))
}

/// Whether a node has ports of bytes, which only kernels of single words have.
fn takes_bytes(file: &File, subject: &Subject) -> bool {
    let program = program(file, subject.node);
    let decl = &program.decls[program.entry];
    decl.params.iter().chain(&decl.results).any(|var| var.bytes.is_some())
}

fn run(target: &str, flags: &[&str], wants: impl Fn(usize, &[u32], &Subject) -> bool) {
    let machine = match cc::find(target) {
        Ok(machine) => machine,
        Err(skip) => return eprintln!("{skip}"),
    };
    let target = isa::find(target).expect("a target");
    let wanted = subjects().filter(|(at, file, subject)| match takes_bytes(file, subject) {
        true => target.name == "gp64",
        false => wants(*at, file.places, subject),
    });
    let cases: Vec<Case> =
        wanted.map(|(_, file, subject)| Case::new(file, subject, target)).collect();
    let kernels: Vec<Kernel> = cases.iter().map(|case| case.kernel.clone()).collect();
    for (answer, case) in native::run(&machine, flags, &kernels).into_iter().zip(&cases) {
        let answer = answer.unwrap_or_else(|failure| panic!("{}: {failure}", case.name));
        case.check(&answer);
    }
}

#[test]
fn compiled_programs_compute_with_long_integers() {
    assert!(subjects().count() > 50, "{} nodes", subjects().count());
    for (turn, (target, flags)) in WAYS.into_iter().enumerate() {
        run(target, flags, |at, limbs, subject| {
            if target == "avx512_ifma" {
                // The nodes that its instructions are for.
                let own = ["mul", "square", "scale", "freeze"].contains(&subject.node);
                return limbs == L52 && (own || asks!("{target} {}", subject.node));
            }
            // Powers are long, and only make calls of nodes that have tests of their own.
            let long = ["inverse", "power58"].contains(&subject.node) && target != "gp64";
            (at % WAYS.len() == turn && !long) || asks!("{target} {at} {}", subject.node)
        });
    }
}

/// In lanes a product of two words below 2^32 is one instruction, for every word size.
#[test]
fn products_of_halves_are_one_instruction() {
    let avx2 = isa::find("avx2").expect("a target");
    let lines = |file: &File, wanted: &str| {
        let program = program(file, "mul");
        let lowered = optimise(&program, &options(avx2), &mut |_, _| {}).expect("a program");
        kernel(&lowered, avx2, &options(avx2).c).text.matches(wanted).count()
    };
    let [_, (words, _), (lanes, _), ..] = FILES else { unreachable!("there are more files") };
    // Products of limbs, and of the limbs of one factor with 19.
    assert_eq!(lines(lanes, " = _mm256_mul_epu32("), 100 + 9);
    assert_eq!(lines(lanes, "_mul64("), 0);
    assert_eq!(lines(lanes, "_and_si256("), 11);
    // The function, and its call for 19 times a carry that has more bits.
    assert_eq!(lines(words, "_mul64("), 2);
}

/// With products of 52 bits with a sum, a product of numbers is 50 of them, and a few more reduce
/// the parts beyond 2^260 and 2^255; no instruction masks the factors.
#[test]
fn products_with_a_sum_are_one_instruction() {
    let ifma = isa::find("avx512_ifma").expect("a target");
    let count = |node: &str, wanted: &str| {
        let file = FILES.iter().map(|(file, _)| file).find(|file| file.places == L52);
        let program = program(file.expect("a file"), node);
        let lowered = optimise(&program, &options(ifma), &mut |_, _| {}).expect("a program");
        kernel(&lowered, ifma, &options(ifma).c).text.matches(wanted).count()
    };
    assert_eq!(count("mul", " = _mm512_madd52lo_epu64("), 25 + 5 + 1 + 1);
    assert_eq!(count("mul", " = _mm512_madd52hi_epu64("), 25 + 5);
    assert_eq!(count("square", " = _mm512_madd52lo_epu64("), 15 + 5 + 1 + 1);
    // One for each carry.
    assert_eq!(count("mul", "_and_si512("), 4 + 4 + 1);
}

/// Translation validation of compiled programs: lowering, each pass, and the instructions in every
/// lane.
#[test]
fn compiled_programs_are_proved() {
    let mut failed = Vec::new();
    for (at, file, subject) in subjects() {
        let names = match file.places == L52 {
            _ if takes_bytes(file, subject) => ["gp64"; 5],
            true => ["avx512_ifma", "gp64", "avx512_ifma", "avx2", "avx512_ifma"],
            false => ["gp64", "gp32", "sse", "avx2", "avx512"],
        };
        for (turn, name) in names.into_iter().enumerate() {
            if at % names.len() != turn && !asks!("{name} {at} {}", subject.node) {
                continue;
            }
            let target = isa::find(name).expect("a target");
            let program = program(file, subject.node);
            let instance = usuba::typed::check::entry_instance(&program, Slicing::V, None);
            let instance = instance.expect("an entry");
            let source = Source::new(&program, &instance, Slicing::V).expect("a meaning");
            let mut chain = Chain::new(source);
            let mut claims = Vec::new();
            let last = optimise(&program, &options(target), &mut |pass, program| {
                claims.push(chain.see(pass, program));
            });
            let last = last.expect("a program");
            claims.extend(chain.lanes(target, emit::layout(&last, target)));
            for claim in claims.iter().filter(|claim| !claim.outcome.is_proved()) {
                let (node, what) = (subject.node, &claim.subject);
                failed.push(format!(
                    "{node} of {} on {name}, {what}: {:?}",
                    file.name, claim.outcome
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
