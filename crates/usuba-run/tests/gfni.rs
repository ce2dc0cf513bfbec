//! Tables of bytes: their code on each target, and that it is right on every byte.
//!
//! The S-boxes come from the ciphers that are written on bytes. On targets with GFNI each is one or
//! two instructions; elsewhere each is a circuit on the bits of a word. Both run natively on all
//! 256 inputs and are compared with the reference semantics.

use std::path::Path;

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::live;
use usuba::isa::{self, Target};
use usuba::passes::When;
use usuba::passes::pipeline::PipelineOptions;
use usuba::{Options, Output, ir, typed};
use usuba_ciphers::Beside;
use usuba_run::cc;
use usuba_run::native::{self, Kernel};
use usuba_run::validated::{Proofs, compiled};

/// File, node, and the instructions that it takes where there is GFNI.
const BOXES: [(&str, &str, u64); 5] = [
    ("aes/aes_bytes.ua", "sbox", 1),
    ("aes/aes_bytes.ua", "inv_sbox", 2),
    ("aes/aes_bytes.ua", "xtime", 1),
    ("sm4/sm4_bytes.ua", "sbox", 2),
    ("camellia/camellia_bytes.ua", "sbox", 2),
];

fn made(file: &str, node: &str, target: &'static Target) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers").join(file);
    let text = std::fs::read_to_string(&path).expect("the program can be read");
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    // One word in a register of general purpose, one set of registers.
    let mut pipeline = PipelineOptions { packing: When::Never, ..PipelineOptions::default() };
    pipeline.pass.interleave.factor = Some(1);
    let options = Options {
        slicing: ir::Slicing::V,
        target,
        cpu: isa::cpu::ALL[0],
        word: None,
        entry: Some(node.to_string()),
        flags: typed::Flags::default(),
        pipeline,
        c: COptions::default(),
    };
    compiled(&mut sources, root, &mut Beside, &options, Proofs::Always)
        .unwrap_or_else(|found| panic!("{file}, {node}: {found:?}"))
}

/// All values of a node from one byte to one byte, by the reference semantics.
fn meaning(output: &Output) -> Vec<u8> {
    let program = &output.checked.program;
    let instance = typed::check::entry_instance(program, ir::Slicing::V, None).expect("an entry");
    let value = |x: u64| typed::eval::eval(program, &instance, &[x]).expect("it has a value")[0];
    (0..256).map(|x| value(x) as u8).collect()
}

#[test]
fn boxes_are_right_on_every_byte_and_short_where_they_can_be() {
    for name in ["gp64", "sse", "avx2", "avx512", "avx2_gfni", "avx512_gfni", "neon"] {
        let target = isa::find(name).expect("a target");
        let outputs: Vec<Output> =
            BOXES.iter().map(|(file, node, _)| made(file, node, target)).collect();
        for ((file, node, wanted), output) in BOXES.iter().zip(&outputs) {
            let taken = live::executed(&output.program).computing();
            match target.base {
                Some(_) => assert_eq!(taken, *wanted, "{file}, {node} on {name}"),
                None => assert!(taken > *wanted, "{file}, {node} on {name}: {taken}"),
            }
        }
        let machine = match cc::find(name) {
            Ok(machine) => machine,
            Err(skip) => {
                eprintln!("{skip}");
                continue;
            }
        };
        // On general-purpose registers a call is one instance.
        let lanes = if target.simd { target.bits as usize / 8 } else { 1 };
        let bytes: Vec<u8> = (0..=255).collect();
        let kernel = |output: &Output| Kernel {
            text: output.kernel.text.clone(),
            symbol: output.kernel.name.clone(),
            align: lanes.max(8),
            calls: bytes.chunks(lanes).map(|part| vec![part.to_vec()]).collect(),
            outputs: vec![lanes],
        };
        let kernels: Vec<Kernel> = outputs.iter().map(kernel).collect();
        let flags = ["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
        let answers = native::run(&machine, &flags, &kernels);
        for ((output, answer), (file, node, _)) in outputs.iter().zip(answers).zip(BOXES) {
            let calls = answer.unwrap_or_else(|failure| panic!("{file} on {name}: {failure}"));
            let got: Vec<u8> = calls.into_iter().flatten().flatten().collect();
            assert_eq!(got, meaning(output), "{file}, {node} on {name}");
        }
    }
}
