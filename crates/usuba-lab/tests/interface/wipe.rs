//! Kernels of `--wipe` leave nothing behind, and are refused if they do.

use usuba::Output;
use usuba::emit::c::{COptions, kernel};
use usuba::ir::Slicing;
use usuba::passes::pipeline::PipelineOptions;
use usuba::target::{self, Target};
use usuba_lab::binary;
use usuba_lab::cc::Family;
use usuba_proof::machine::Rule;
use usuba_proof::machine::compare::{Answer, Demands};

use super::{cipher, families, is_long};

/// A kernel, with or without wiping.
fn compiled(folder: &str, function: &str, slicing: Slicing, target: &'static Target) -> Output {
    let cipher = cipher(folder);
    let found = cipher.functions.iter().find(|f| f.name == function).expect("the function");
    let options = PipelineOptions::default();
    let mut output =
        usuba_lab::cipher::kernel(&cipher, found, slicing, target, &options).expect("a kernel");
    let options = COptions { wipe: true, ..COptions::default() };
    output.kernel = kernel(&output.program, target, &options);
    output
}

fn ask(output: &Output, target: &'static Target, family: Family) -> Answer {
    let demands = Demands { wiped: true };
    binary::prove(output, target, family, demands).expect("it compiles")
}

const KERNELS: [(&str, &str, Slicing); 5] = [
    ("rectangle", "rectangle80_encrypt", Slicing::V),
    ("rectangle", "rectangle80_encrypt", Slicing::H),
    ("rectangle", "rectangle80_encrypt", Slicing::B),
    ("aes", "aes128_encrypt_h", Slicing::H),
    ("chacha20", "chacha20_block", Slicing::V),
];

#[test]
fn nothing_is_left() {
    let mut asked = 0;
    for (at, (folder, function, slicing)) in KERNELS.into_iter().enumerate() {
        for (turn, name) in ["gp64", "sse", "avx2", "avx512"].into_iter().enumerate() {
            if !is_long() && (at + turn) % 4 != 0 {
                continue;
            }
            let target = target::find(name).expect("a target");
            let output = compiled(folder, function, slicing, target);
            for family in families(name) {
                let answer = ask(&output, target, family);
                let what = format!("{function} in {slicing:?} on {name} by {family:?}");
                let size = usuba::emit::c::wipe::bytes(&output.program, target);
                match &answer {
                    Answer::Proved(report) => {
                        assert!(report.residue.is_empty(), "{what}");
                        println!("{what}: {size} of {}", report.frame);
                    }
                    _ => panic!("{what}: {answer:?}"),
                }
                asked += 1;
            }
        }
    }
    assert!(asked > 0, "no compiler");
}

#[test]
fn a_missing_wipe_is_refused() {
    let target = target::find("avx2").expect("a target");
    let output = compiled("chacha20", "chacha20_block", Slicing::V, target);
    let left = |change: &dyn Fn(&str) -> String, words: &str| {
        for family in families("avx2") {
            let mut planted = output.clone();
            planted.kernel.text = change(&output.kernel.text);
            assert_ne!(planted.kernel.text, output.kernel.text, "{words}");
            match ask(&planted, target, family) {
                Answer::Refused(fault) if fault.rule == Rule::Left => {
                    assert!(fault.what.contains(words), "{words}: {fault}");
                }
                other => panic!("{words}: {other:?}"),
            }
        }
    };
    left(&|text| text.replace("__asm__ volatile (", "if (0) __asm__ volatile ("), "mm0");
    let cleared = |line: &&str| line.contains("vpxor %%xmm") && line.ends_with("\\n\\t\"");
    let without =
        |text: &str| text.lines().filter(|line| !cleared(line)).collect::<Vec<_>>().join("\n");
    left(&|text| without(text) + "\n", "mm");
    let size = usuba::emit::c::wipe::bytes(&output.program, target);
    let few = format!("WIPE_BYTES {size}");
    left(&|text| text.replace(&few, "WIPE_BYTES 64"), "bytes of the frame");
    let last = "        \"vmovups %%ymm0, -64(%%rsp,%%rcx)\\n\\t\"\n";
    left(&|text| text.replace(last, ""), "bytes of the frame");
}
