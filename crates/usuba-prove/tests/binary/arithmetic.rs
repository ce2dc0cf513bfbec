//! Objects of arithmetic: kernels that are proved, and kernels with a fault that must not be.
//!
//! A fault in the text makes an object that is compared with the right program: it computes another
//! function, and a counterexample shows it. A mutant is the right object with one changed bit.

use std::fs;
use std::path::Path;
use std::process::Command;
use usuba_gen::{asks, level};

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::Slicing;
use usuba::ir::random::Random;
use usuba::isa::{self, Target, cpu};
use usuba::passes::inline;
use usuba::passes::interleave::Choice;
use usuba::passes::pipeline::PipelineOptions;
use usuba::{Options, Output};
use usuba_object::arithmetic;
use usuba_object::compare::{Demands, Verdict};
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::x86::X86;
use usuba_prove::compiler;
use usuba_run::cc::{self, Family};

use crate::families;
use crate::mutants::instructions;

/// The kernel of a node, with some texts replaced.
fn kernel(file: &str, node: &str, target: &'static Target, faults: &[(&str, &str)]) -> Output {
    caller(file, node, (Slicing::V, target), &[], faults)
}

/// The same with nodes that are kernels in other objects.
fn caller(
    file: &str,
    node: &str,
    (slicing, target): (Slicing, &'static Target),
    linked: &[&str],
    faults: &[(&str, &str)],
) -> Output {
    let mut pipeline = PipelineOptions::default();
    if !linked.is_empty() {
        // A kernel that is called has one instance in each lane.
        pipeline.pass.interleave = Choice::SINGLE;
    }
    piped(file, node, (slicing, target), linked, faults, pipeline)
}

/// The same with the options of the passes.
fn piped(
    file: &str,
    node: &str,
    (slicing, target): (Slicing, &'static Target),
    linked: &[&str],
    faults: &[(&str, &str)],
    pipeline: PipelineOptions,
) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arithmetic").join(file);
    let mut text = std::fs::read_to_string(&path).expect("the program can be read");
    for (from, to) in faults {
        assert!(text.contains(from), "{file} has no `{from}`");
        text = text.replace(from, to);
    }
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let prefix = "usuba_".to_string();
    let linked = linked.iter().map(|name| name.to_string()).collect();
    let c = COptions { prefix, linked, ..Default::default() };
    let options = Options {
        slicing,
        target,
        cpu: cpu::ALL[0],
        word: None,
        entry: Some(node.to_string()),
        flags: Default::default(),
        pipeline,
        c,
    };
    let mut beside = usuba_ciphers::Beside;
    usuba::compile(&mut sources, root, &mut beside, &options, &mut |_, _| {}).expect("a kernel")
}

/// The greatest values of the parameters.
fn most(output: &Output, node: &str) -> Vec<u64> {
    let decls = &output.checked.program.decls;
    let decl = decls.iter().find(|decl| &*decl.name == node).expect("the node");
    arithmetic::most(&output.program, decl)
}

fn compiled(output: &Output, target: &Target, family: Family) -> Vec<u8> {
    compiler::object(&output.kernel.text, "c", target.name, family, &[]).expect("it compiles")
}

fn answer(file: &[u8], output: &Output, target: &Target, most: &[u64]) -> Verdict {
    answer_of_caller(file, output, target, &[], most)
}

fn answer_of_caller(
    file: &[u8],
    output: &Output,
    target: &Target,
    linked: &[&str],
    most: &[u64],
) -> Verdict {
    let object = Object::read(file, Extensions::ALL).expect("an object");
    let contract = compiler::contract(output, target).expect("a contract");
    let c = COptions { prefix: "usuba_".to_string(), ..Default::default() };
    let kernels = compiler::kernels(&output.program, &output.checked.program, target, &c);
    let mut kernels = kernels.expect("kernels");
    kernels.retain(|kernel| linked.contains(&&*kernel.name));
    let (demands, program) = (Demands::default(), &output.program);
    arithmetic::prove_either::<X86>(&object, &contract, program, most, &kernels, demands)
}

/// Program, node and target; the long run has the kernels that the short one omits.
const KERNELS: &[(&str, &str, &str)] = &[
    // Products that are added without carries.
    ("../ciphers/aes_gcm/ghash.ua", "times", "gp64"),
    ("field25519/limbs51.ua", "mul", "gp64"),
    ("field25519/limbs51.ua", "freeze", "gp64"),
    ("field25519/limbs51.ua", "sub", "gp64"),
    ("poly1305/words64.ua", "four", "gp64"),
    ("poly1305/words64.ua", "chain", "gp64"),
    ("order25519/limbs63.ua", "muladd", "gp64"),
    ("field25519/limbs25.ua", "carry", "avx2"),
    ("curve25519/limbs51.ua", "double", "gp64"),
    ("poly1305/lanes26.ua", "double", "avx2"),
    ("order25519/limbs63.ua", "below", "gp64"),
    ("field25519/limbs16.ua", "pack", "gp64"),
    ("order25519/limbs63.ua", "product", "gp64"),
    ("order25519/limbs63.ua", "reduce", "gp64"),
    ("order25519/limbs28.ua", "muladd", "gp32"),
    ("curve25519/limbs51.ua", "ladder_step", "gp64"),
    ("curve25519/limbs51.ua", "add_affine", "gp64"),
    ("curve25519/limbs51.ua", "entry", "gp64"),
    ("curve25519/limbs51.ua", "fraction", "gp64"),
    ("curve25519/limbs25.ua", "double", "gp32"),
    ("order25519/words32.ua", "muladd", "gp32"),
    ("curve25519/small25.ua", "sum_factors", "gp32"),
    ("curve25519/lanes25.ua", "double", "avx2"),
    ("poly1305/lanes26.ua", "double", "avx512"),
    ("field25519/limbs51.ua", "square", "gp64"),
    ("field25519/limbs51.ua", "scale", "gp64"),
    ("field25519/limbs51.ua", "carry", "gp64"),
    ("field25519/limbs51.ua", "select", "gp64"),
    ("field25519/limbs51.ua", "inverse", "gp64"),
    ("poly1305/words64.ua", "reduce", "gp64"),
    ("poly1305/limbs26.ua", "step", "gp64"),
    ("field25519/limbs25.ua", "mul", "gp64"),
    ("field25519/limbs25.ua", "mul", "avx2"),
    ("field25519/limbs16.ua", "mul", "gp64"),
    ("field25519/lanes52.ua", "mul", "avx512_ifma"),
    ("field25519/lanes52.ua", "freeze", "avx512_ifma"),
    ("curve25519/lanes52.ua", "ladder_step", "avx512_ifma"),
    ("order25519/limbs63.ua", "freeze", "gp64"),
];

/// Kernels of the short run.
const SHORT: usize = 12;

#[test]
fn kernels_of_arithmetic_are_proved() {
    for (at, &(file, node, name)) in KERNELS.iter().enumerate() {
        if at >= SHORT && !asks!("{file} {node} on {name}") {
            continue;
        }
        let target = isa::find(name).expect("a target");
        let output = kernel(file, node, target, &[]);
        let most = most(&output, node);
        for family in families(name) {
            let file_of = compiled(&output, target, family);
            let answer = answer(&file_of, &output, target, &most);
            assert!(matches!(answer, Verdict::Proved(_)), "{file} {node} {family:?}: {answer:?}");
        }
    }
}

/// Program, node, and the fault in it: a text and its replacement.
type Fault = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const FAULTS: &[Fault] = &[
    ("../ciphers/aes_gcm/ghash.ua", "times", &[("(s[2] >> 7)", "(s[2] >> 6)")]),
    ("../ciphers/aes_gcm/ghash.ua", "times", &[("a[1] * b[3]", "a[1] * b[2]")]),
    ("order25519/limbs63.ua", "muladd", &[("r[i+4] = u64(q)", "r[i+4] = 0")]),
    ("order25519/limbs63.ua", "reduce", &[("0x29bdf3bd45ef39ac", "0x29bdf3bd45ef39ad")]),
    ("order25519/limbs63.ua", "reduce", &[("0x5812631a5cf5d3ed", "0x5812631a5cf5d3ee")]),
    ("curve25519/limbs51.ua", "cache", &[("0x69b9426b2f159", "0x69b9426b2f158")]),
    ("poly1305/lanes26.ua", "double", &[("(p << 2) + p", "(p << 2)")]),
    ("field25519/limbs51.ua", "mul", &[("19 * u64(q)", "18 * u64(q)")]),
    ("field25519/limbs51.ua", "mul", &[("r[1] := r[1] + g", "r[1] := r[1]")]),
    ("field25519/limbs51.ua", "square", &[("(q, s) = split(t, 51)", "(q, s) = split(t, 52)")]),
    (
        "field25519/limbs51.ua",
        "freeze",
        &[("(c, s) = split(h[0] + 19, 51)", "(c, s) = split(h[0] + 18, 51)")],
    ),
    ("field25519/limbs51.ua", "freeze", &[("split(h[0] + 19 * c, 51)", "split(h[0], 51)")]),
    ("field25519/limbs51.ua", "sub", &[("0xfffffffffffda", "0xfffffffffffdb")]),
    ("poly1305/words64.ua", "reduce", &[("u128(5 * c)", "u128(4 * c)")]),
    ("poly1305/words64.ua", "chain", &[("u128(5 * c)", "u128(4 * c)")]),
];

#[test]
fn objects_with_faults_in_their_arithmetic_are_refuted() {
    let target = isa::find("gp64").expect("a target");
    for &(file, node, faults) in FAULTS {
        let right = kernel(file, node, target, &[]);
        let wrong = kernel(file, node, target, faults);
        let most = most(&right, node);
        for family in families("gp64").into_iter().take(1 + asks!() as usize) {
            let answer = answer(&compiled(&wrong, target, family), &right, target, &most);
            assert!(!matches!(answer, Verdict::Proved(_)), "{file} {node} {faults:?}");
            // Random inputs do not reach a carry that is almost never set; the proof only fails.
            let rare = node == "freeze";
            assert!(rare || matches!(answer, Verdict::Refuted(_)), "{faults:?}: {answer:?}");
        }
    }
}

/// Four numbers of one operation in a register: each product of halves is one instruction there
/// too, and one lane that is taken from a wrong place is found.
#[test]
fn objects_of_numbers_side_by_side_are_proved() {
    let name = "avx2";
    let on = (Slicing::W, isa::find(name).expect("a target"));
    let product = caller("field25519/across25.ua", "mul_sum", on, &[], &[]);
    assert_eq!(product.kernel.text.matches(" = _mm256_mul_epu32(").count(), 100 + 9);
    assert!(!product.kernel.text.contains("_mul64("));
    let (file, node) = ("curve25519/across25.ua", "ladder_step");
    let faults = [("h[i][0,1,3,2]", "h[i][0,1,2,3]"), ("(m[i][0], k[i][1]", "(k[i][0], k[i][1]")];
    let right = caller(file, node, on, &[], &[]);
    let wrong = faults.map(|fault| caller(file, node, on, &[], &[fault]));
    let most = most(&right, node);
    for family in families(name).into_iter().take(1 + asks!() as usize) {
        let found = answer(&compiled(&right, on.1, family), &right, on.1, &most);
        assert!(matches!(found, Verdict::Proved(_)), "{family:?}: {found:?}");
        for (wrong, fault) in wrong.iter().zip(faults) {
            let found = answer(&compiled(wrong, on.1, family), &right, on.1, &most);
            assert!(matches!(found, Verdict::Refuted(_)), "{family:?} {fault:?}: {found:?}");
        }
    }
}

/// Sums with products of 52 bits in an object, where one takes the other half of the product, or is
/// added to another register.
#[test]
fn wrong_sums_of_products_are_refuted() {
    let (file, node, name) = ("field25519/lanes52.ua", "scale", "avx512_ifma");
    let target = isa::find(name).expect("a target");
    let output = kernel(file, node, target, &[]);
    let most = most(&output, node);
    for family in families(name).into_iter().take(1 + asks!() as usize) {
        let right = compiled(&output, target, family);
        let found = answer(&right, &output, target, &most);
        assert!(matches!(found, Verdict::Proved(_)), "{family:?}: {found:?}");
        let contract = compiler::contract(&output, target).expect("a contract");
        // EVEX.0F38, B4 the lower half and B5 the upper one; ModRM names the operand.
        let is_sum = |at: usize| {
            right[at] == 0x62 && right[at + 1] & 7 == 2 && [0xb4, 0xb5].contains(&right[at + 4])
        };
        let places = instructions(&right, &contract.symbol);
        let places: Vec<usize> = places.into_iter().map(|(at, _)| at).collect();
        let sums: Vec<usize> = places.into_iter().filter(|&at| is_sum(at)).collect();
        assert!(sums.len() >= 10, "{family:?} makes {} sums", sums.len());
        let step = if asks!() { 1 } else { 4 };
        for &at in sums.iter().step_by(step) {
            for (byte, bit) in [(4, 0x01), (5, 0x08)] {
                let mut wrong = right.clone();
                wrong[at + byte] ^= bit;
                let found = answer(&wrong, &output, target, &most);
                assert!(!matches!(found, Verdict::Proved(_)), "{family:?}, byte {byte} at {at:#x}");
                // Another register may be uninitialised.
                let refuted = matches!(found, Verdict::Refuted(_));
                assert!(refuted || byte == 5, "{family:?}, byte {byte} at {at:#x}: {found:?}");
            }
        }
    }
}

/// A fault on one input of 2^64 has no proof and no search finds it. The number of executed
/// instructions bounds the search, and the answer names the value and the number of inputs.
///
/// The object is wrong by any compiler, so none makes one that can be proved.
#[test]
fn a_hard_question_stays_open() {
    let (file, node) = ("field25519/limbs51.ua", "inverse");
    let target = isa::find("gp64").expect("a target");
    let output = kernel(file, node, target, &[]);
    let most = most(&output, node);
    let right = output.kernel.text.replace("usuba_inverse(", "right(");
    let text = format!(
        "{right}void usuba_inverse(const uint64_t *a, uint64_t *r);\n\
         void usuba_inverse(const uint64_t *a, uint64_t *r)\n\
         {{\n    const uint64_t rare = a[0] == 0x3b5ac1f07e2d9;\n\
         \x20   right(a, r);\n    r[0] += rare;\n}}\n"
    );
    for (at, family) in families("gp64").into_iter().enumerate() {
        // One compiler in the quick run, and the other one for the next commit.
        if !level::is_whole() && at as u64 % 2 != level::turn() % 2 {
            continue;
        }
        let object = compiler::object(&text, "c", target.name, family, &[]).expect("it compiles");
        let Verdict::Unknown(what) = answer(&object, &output, target, &most) else {
            panic!("{family:?}: a wrong function is not proved, and its fault is not found")
        };
        let (value, inputs) = what.split_once(", and ").expect("two parts");
        assert_eq!(value, "bits 0 to 63 of `r` are not shown to be equal", "{family:?}");
        let inputs = inputs.strip_suffix(" inputs show no difference").expect("inputs");
        // A function of thousands of instructions is executed on fewer than a short one.
        assert!((2..96).contains(&inputs.parse().expect("a number")), "{what}");
    }
}

/// Kernels that `lift` calls, which is proved with them alone.
const LIFTED: &[&str] = &["mul", "square", "add", "negate", "carry", "freeze", "is_zero", "equal"];

#[test]
fn what_chooses_between_results_of_calls_is_proved() {
    let cells = [("limbs51.ua", "gp64"), ("lanes52.ua", "avx512_ifma")];
    for (file, name) in cells {
        let target = isa::find(name).expect("a target");
        let output =
            caller(&format!("curve25519/{file}"), "lift", (Slicing::V, target), LIFTED, &[]);
        let most = most(&output, "lift");
        for family in families(name) {
            let object = compiled(&output, target, family);
            let answer = answer_of_caller(&object, &output, target, LIFTED, &most);
            assert!(matches!(answer, Verdict::Proved(_)), "{file}, {family:?}: {answer:?}");
        }
    }
}

/// Node, and how the library inlines its calls.
const SELECTING: &[(&str, inline::Mode)] = &[
    ("lift", inline::Mode::Light),
    ("cswap", inline::Mode::Auto),
    ("ladder_step", inline::Mode::Auto),
];

/// Users compile without the flags of this prover.
#[test]
fn masks_choose_no_addresses_whatever_the_flags() {
    let target = isa::find("gp64").expect("a target");
    for &(node, inline) in SELECTING {
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.inline = inline;
        let output = piped("curve25519/limbs51.ua", node, (Slicing::V, target), &[], &[], pipeline);
        let most = most(&output, node);
        for family in families("gp64") {
            for level in ["-O2", "-O3", "-Os"] {
                let object = compiled_by_user(&output.kernel.text, target, family, level);
                let answer = answer(&object, &output, target, &most);
                assert!(
                    matches!(answer, Verdict::Proved(_)),
                    "{node} {family:?} {level}: {answer:?}"
                );
            }
        }
    }
}

fn compiled_by_user(text: &str, target: &'static Target, family: Family, level: &str) -> Vec<u8> {
    let compiler = cc::find_to_compile(target, family).expect("a compiler").compiler;
    let folder = tempfile::tempdir().expect("a folder");
    let [source, object] = ["kernel.c", "kernel.o"].map(|name| folder.path().join(name));
    fs::write(&source, text).expect("the folder can be written");
    let run = Command::new(compiler).args([level, "-c", "-o"]).args([&object, &source]).status();
    assert!(run.expect("the compiler runs").success());
    fs::read(&object).expect("an object")
}

/// Kernels that `ladder_step` calls.
const LINKED: &[&str] = &["mul", "square", "scale"];

#[test]
fn calls_of_other_kernels_are_those_of_the_program() {
    let (file, node) = ("curve25519/limbs51.ua", "ladder_step");
    let target = isa::find("gp64").expect("a target");
    let right = caller(file, node, (Slicing::V, target), LINKED, &[]);
    let most = most(&right, node);
    for family in families("gp64") {
        let object = compiled(&right, target, family);
        let answer = answer_of_caller(&object, &right, target, LINKED, &most);
        assert!(matches!(answer, Verdict::Proved(_)), "{family:?}: {answer:?}");
        // A call of a function that is not among the given kernels is never proved.
        let answer = answer_of_caller(&object, &right, target, &LINKED[1..], &most);
        assert!(!matches!(answer, Verdict::Proved(_)), "{family:?}");
    }
    // Text in formulas, which are read from their own file, is changed in the object instead: the
    // wrong object is the object of another node with the same interface and the same calls.
    let family = families("gp64")[0];
    let text = right.kernel.text.as_str();
    let calls: Vec<(usize, &str)> = text
        .match_indices("    usuba_")
        .map(|(at, _)| (at, text[at..].lines().next().unwrap_or("")))
        .collect();
    assert!(calls.len() > 4, "{text}");
    let count = if asks!() { calls.len() } else { 3 };
    for &(at, call) in &calls[..count] {
        let wrongs = wrong_calls(call);
        for wrong in wrongs {
            let text = format!("{}{wrong}{}", &text[..at], &text[at + call.len()..]);
            let object =
                compiler::object(&text, "c", target.name, family, &[]).expect("it compiles");
            let answer = answer_of_caller(&object, &right, target, LINKED, &most);
            assert!(!matches!(answer, Verdict::Proved(_)), "{call}: {wrong}");
        }
    }
}

/// Wrong versions of a call: without it, and with its operands in another order.
fn wrong_calls(call: &str) -> Vec<String> {
    let (head, rest) = call.split_once('(').expect("a call");
    let args: Vec<&str> = rest.trim_end_matches(");").split(", ").collect();
    let mut wrong = vec![String::new()];
    if let [a, b, c] = args[..] {
        wrong.push(format!("{head}({b}, {a}, {c});"));
        wrong.push(format!("{head}({a}, {a}, {c});"));
    }
    wrong
}

/// Kernels that are mutated.
const MUTATED: &[(&str, &str)] = &[
    ("field25519/limbs51.ua", "carry"),
    ("poly1305/words64.ua", "chain"),
    ("field25519/limbs51.ua", "mul"),
    ("field25519/limbs51.ua", "freeze"),
    ("order25519/limbs63.ua", "product"),
];

#[test]
fn no_wrong_mutant_of_arithmetic_is_proved() {
    let target = isa::find("gp64").expect("a target");
    let mut random = Random::new(5);
    let [mut total, mut equal] = [0, 0];
    for (at, &(file, node)) in MUTATED.iter().enumerate() {
        let whole = asks!("{file}, {node}");
        if !whole && at > 0 {
            continue;
        }
        let sample = if whole { 4 } else { 1 };
        let output = kernel(file, node, target, &[]);
        let most = most(&output, node);
        for family in families("gp64").into_iter().take(1 + whole as usize) {
            let bytes = compiled(&output, target, family);
            let contract = compiler::contract(&output, target).expect("a contract");
            let places = instructions(&bytes, &contract.symbol);
            for _ in 0..sample {
                let (at, length) = places[random.below(places.len())];
                for bit in 0..8 * length {
                    let mut mutant = bytes.clone();
                    mutant[at + bit / 8] ^= 1 << (bit % 8);
                    total += 1;
                    let Verdict::Proved(_) = answer(&mutant, &output, target, &most) else {
                        continue;
                    };
                    equal += 1;
                    let object = Object::read(&mutant, Extensions::ALL).expect("an object");
                    let program = &output.program;
                    let wrong = arithmetic::differs::<X86>(&object, &contract, program, &most);
                    assert_eq!(wrong, None, "{node}, byte {at:#x}, bit {bit}");
                }
            }
        }
    }
    println!("{total} mutants, {equal} of them equal");
    assert!(total >= if level::is_whole() { 100 } else { 16 });
}
