//! Object files that are proved, and object files that must not be.
//!
//! - here: kernels of ciphers, by gcc and clang.
//! - `arithmetic`: kernels of arithmetic, fault injection into them, and mutants.
//! - `defaults`: code that default flags of compilers add.
//! - `faults`: one function that breaks each rule.
//! - `instruction_nodes`: instructions in the place of nodes of standard includes.
//! - `linked`: shared objects, executables and archives.
//! - `mutants`: proved kernels with one changed bit.
//! - `file_mutants`: users' files with one change, which `file_changes` makes, and `native`: their
//!   functions on the processor.
//! - `leaks_in_c`: leaks in the C around kernels.
//! - `trials`: calls on buffers of fixed sizes.
//! - `turns`: flags at the turns of a loop over blocks.

mod arithmetic;
mod defaults;
mod faults;
mod file_changes;
mod file_mutants;
mod instruction_nodes;
mod leaks_in_c;
mod linked;
mod mutants;
mod native;
mod trials;
mod turns;

use std::path::Path;

use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::passes::pipeline::PipelineOptions;
use usuba::{Output, isa::cpu};
use usuba_object::compare::{Demands, Verdict};
use usuba_prove::compiler;
use usuba_run::cc::{self, Family};
use usuba_run::validated::{Proofs, compiled};

/// The kernel of a function of a cipher folder.
fn kernel(folder: &str, function: &str, slicing: Slicing, target: &'static Target) -> Output {
    interleaved(folder, function, slicing, target, 1)
}

/// The same with several instances side by side.
fn interleaved(
    folder: &str,
    function: &str,
    slicing: Slicing,
    target: &'static Target,
    factor: u32,
) -> Output {
    let mut options = PipelineOptions::default();
    options.pass.interleave.factor = Some(factor);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers").join(folder);
    let cipher = usuba_ciphers::read(&root).expect("the folder can be read");
    let found = cipher.functions.iter().find(|f| f.name == function).expect("the function");
    usuba_run::functions::kernel(&cipher, found, slicing, target, &options, Proofs::Never)
        .expect("a kernel")
}

/// The compilers that this machine has, for a target. An object is read and not run, so that the
/// processor need not have the instructions of the target.
fn families(target: &str) -> Vec<Family> {
    let target = isa::find(target).expect("a target");
    [Family::Gcc, Family::Clang]
        .into_iter()
        .filter(|&family| match cc::find_to_compile(target, family) {
            Ok(_) => true,
            Err(skip) => {
                println!("{skip}");
                false
            }
        })
        .collect()
}

/// Some of each slicing; the long run of `usubac prove --all --binary` proves every one.
const KERNELS: [(&str, &str, Slicing, &str); 8] = [
    ("aes", "aes128_encrypt_h", Slicing::H, "avx2"),
    ("rectangle", "rectangle80_encrypt", Slicing::V, "gp64"),
    ("rectangle", "rectangle80_encrypt", Slicing::H, "avx512"),
    ("rectangle", "rectangle80_encrypt", Slicing::B, "avx2"),
    ("chacha20", "chacha20_block", Slicing::V, "avx2"),
    ("serpent", "serpent128_encrypt", Slicing::V, "sse"),
    ("sha2", "sha256_compress", Slicing::V, "gp64"),
    ("skein", "skein256_ubi", Slicing::V, "gp64"),
];

#[test]
fn kernels_are_proved() {
    for (folder, function, slicing, name) in KERNELS {
        let target = isa::find(name).expect("a target");
        let output = kernel(folder, function, slicing, target);
        for family in families(name) {
            let answer = compiler::prove(&output, target, family, Demands::default());
            let what = format!("{function} in {slicing:?} on {name} by {family:?}");
            match answer {
                Ok(Verdict::Proved(report)) => {
                    let size = report.instructions;
                    assert!(size > 100, "{what}: only {size} instructions");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}

/// The back end for assembly language makes objects as C compilers do: they are proved, and a
/// changed bit is found.
#[test]
fn assembly_is_proved() {
    let loops = [
        ("gimli", "gimli", Slicing::B, "avx512"),
        ("ascon", "ascon_p12", Slicing::V, "avx512"),
        ("serpent", "serpent128_encrypt", Slicing::V, "avx512"),
        ("salsa20", "salsa20_block", Slicing::V, "avx2"),
    ];
    let all = KERNELS.into_iter().chain(loops);
    for (folder, function, slicing, name) in all {
        let target = isa::find(name).expect("a target");
        if !usuba_asm::has_assembly(target) {
            continue;
        }
        let Some(&family) = families(name).first() else { return };
        let output = interleaved(folder, function, slicing, target, 2);
        let options = usuba::emit::c::COptions {
            name: output.kernel.name.clone(),
            complemented_keys: output.kernel.complemented_keys,
            ..Default::default()
        };
        let made = usuba_asm::assemble(&output.program, target, cpu::ALL[0], &options);
        let made = made.expect("it has assembly language");
        let ask = |text: &str| {
            let file = compiler::object(text, "assembler-with-cpp", name, family, &[]);
            let file = file.expect("it assembles");
            compiler::prove_object(&file, &output, target, Demands::default()).expect("an object")
        };
        let what = format!("{function} in {slicing:?} on {name}");
        let verdict = ask(&made.text);
        assert!(matches!(verdict, Verdict::Proved(_)), "{what}: {verdict:?}");
        // One instruction less: the last one before the results are complete.
        let last = made.text.rfind("\tvp").expect("an instruction on vectors");
        let end = last + made.text[last..].find('\n').expect("its line ends");
        let planted = format!("{}{}", &made.text[..last], &made.text[end + 1..]);
        let verdict = ask(&planted);
        assert!(!matches!(verdict, Verdict::Proved(_)), "{what} without an instruction");
    }
}

/// Parameters after the sixth lie on the stack; some of many have no register of their own.
#[test]
fn parameters_of_assembly_lie_on_the_stack() {
    let Some(&family) = families("avx2").first() else { return };
    let target = isa::find("avx2").expect("a target");
    for count in [1, 2, 4, 7, 12, 30] {
        let list = |name: &str| {
            (0..count).map(|i| format!("{name}{i}:u32")).collect::<Vec<_>>().join(", ")
        };
        let body = (0..count).map(|i| format!("y{i} = x{} ^ x{i} + x0", count - 1 - i));
        let body = body.collect::<Vec<_>>().join("; ");
        let text = format!("node f ({}) returns ({}) let {body} tel", list("x"), list("y"));
        let mut sources = usuba::diag::Sources::default();
        let file = sources.add("f.ua", &*text);
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.interleave.factor = Some(1);
        let options = usuba::Options {
            slicing: Slicing::V,
            target,
            cpu: cpu::ALL[0],
            word: None,
            entry: None,
            flags: Default::default(),
            pipeline,
            c: Default::default(),
        };
        let includes = &mut usuba::syntax::splice::NoIncludes;
        let output = usuba::compile(&mut sources, file, includes, &options, &mut |_, _| {});
        let output = output.expect("the program is right");
        let made = usuba_asm::assemble(&output.program, target, cpu::ALL[0], &options.c);
        let text = made.expect("it has assembly language").text;
        let file = compiler::object(&text, "assembler-with-cpp", "avx2", family, &[]);
        let file = file.expect("it assembles");
        let verdict = compiler::prove_object(&file, &output, target, Demands::default());
        assert!(matches!(verdict, Ok(Verdict::Proved(_))), "{count} parameters: {verdict:?}");
    }
}

/// The registers of interleaved instances lie side by side in one array, and no instance may take
/// the place of another.
#[test]
fn instances_are_at_their_places() {
    for (slicing, name) in [(Slicing::V, "avx2"), (Slicing::H, "sse"), (Slicing::V, "gp64")] {
        let target = isa::find(name).expect("a target");
        let output = interleaved("rectangle", "rectangle80_encrypt", slicing, target, 3);
        let contract = compiler::contract(&output, target).expect("a contract");
        let bytes = |at: usize| contract.arrays[at].size / 8;
        assert_eq!(contract.arrays.len(), 3, "plain, rk, cipher");
        let size = output.program.params()[0][0].values(slicing);
        let register = target.bits as usize / 8;
        assert_eq!([bytes(0), bytes(2)], [3 * size * register; 2], "{name}");
        let place = |port: &str, set: usize| format!("{port}[{}]", set * size);
        for family in families(name) {
            let ask = |text: &str| {
                let file = compiler::object(text, "c", name, family, &[]).expect("it compiles");
                let verdict = compiler::prove_object(&file, &output, target, Demands::default());
                verdict.expect("an object")
            };
            let text = &output.kernel.text;
            assert!(matches!(ask(text), Verdict::Proved(_)), "{name} by {family:?}");
            let check = |change: &str, planted: String, expected: &str| {
                assert_ne!(*text, planted, "{name}: {change} changes nothing");
                let verdict = format!("{:?}", ask(&planted));
                assert!(verdict.starts_with(expected), "{change}, {name}: {verdict}");
            };
            // Another instance, the register before its own, and the array of one instance more.
            for (port, set, wrong, expected) in [
                ("plain", 1, place("plain", 2), "Refuted"),
                ("plain", 0, place("plain", 1), "Refuted"),
                ("plain", 2, format!("plain[{}]", 2 * size - 1), "Refuted"),
                ("plain", 2, place("plain", 3), "Refused"),
                ("cipher", 1, place("cipher", 2), "Unknown"),
                ("cipher", 2, place("cipher", 3), "Refused"),
            ] {
                let right = place(port, set);
                check(&format!("{wrong} for {right}"), text.replace(&right, &wrong), expected);
            }
            let [first, second] = [1, 2].map(|set| place("cipher", set));
            let swapped = text.replace(&first, "SWAP").replace(&second, &first);
            check("exchanged results", swapped.replace("SWAP", &second), "Refuted");
        }
    }
}

/// Complemented keys are part of the contract.
#[test]
fn complemented_keys_are_part_of_the_contract() {
    let target = isa::find("avx2").expect("a target");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle/rectangle.ua");
    let text = std::fs::read_to_string(&root).expect("the program can be read");
    let mut sources = usuba::diag::Sources::default();
    let file = sources.add(root.display().to_string(), text);
    let options = usuba::Options {
        slicing: Slicing::V,
        target,
        cpu: cpu::ALL[0],
        word: None,
        entry: Some("encrypt".into()),
        flags: Default::default(),
        pipeline: PipelineOptions::default(),
        c: usuba::emit::c::COptions { complemented_keys: true, ..Default::default() },
    };
    let mut output =
        compiled(&mut sources, file, &mut usuba_ciphers::Beside, &options, Proofs::Always)
            .expect("it compiles");
    let turned = usuba::emit::keys::complemented(&output.program);
    assert!(turned.contains(&true), "there is nothing to see here");
    let Some(&family) = families("avx2").first() else { return };
    let prove = |output: &Output| compiler::prove(output, target, family, Demands::default());
    assert!(matches!(prove(&output), Ok(Verdict::Proved(_))), "{:?}", prove(&output));
    output.kernel.complemented_keys = false;
    assert!(matches!(prove(&output), Ok(Verdict::Refuted(_))), "{:?}", prove(&output));
}
