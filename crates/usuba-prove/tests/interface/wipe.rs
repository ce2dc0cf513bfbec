//! Zeroization: kernels and functions over blocks with `--wipe` leave no secrets, and are rejected
//! if they do.

use usuba::emit::c::{COptions, kernel};
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::passes::pipeline::PipelineOptions;
use usuba::{Options, Output};
use usuba_ciphers::Function;
use usuba_gen::{asks, asks_rarely};
use usuba_object::Rule;
use usuba_object::compare::{Demands, Verdict};
use usuba_prove::byte_interface::Proof;
use usuba_prove::{byte_interface, compiler};
use usuba_run::cc::Family;
use usuba_run::validated::Proofs;

use super::{cipher, families};

/// A kernel, with or without zeroization.
fn compiled(folder: &str, function: &str, slicing: Slicing, target: &'static Target) -> Output {
    let cipher = cipher(folder);
    let found = cipher.functions.iter().find(|f| f.name == function).expect("the function");
    let options = PipelineOptions::default();
    let mut output =
        usuba_run::functions::kernel(&cipher, found, slicing, target, &options, Proofs::Never)
            .expect("a kernel");
    let options = COptions { wipe: true, ..COptions::default() };
    output.kernel = kernel(&output.program, target, &options);
    output
}

fn ask(output: &Output, target: &'static Target, family: Family) -> Verdict {
    let demands = Demands { wiped: true };
    compiler::prove(output, target, family, demands).expect("it compiles")
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
            if (at + turn) % 4 != 0 && !asks!("{function} on {name}") {
                continue;
            }
            let target = isa::find(name).expect("a target");
            let output = compiled(folder, function, slicing, target);
            for family in families(name) {
                let answer = ask(&output, target, family);
                let what = format!("{function} in {slicing:?} on {name} by {family:?}");
                let size = usuba::emit::c::wipe::bytes(&output.program, target);
                match &answer {
                    Verdict::Proved(report) => {
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
    let target = isa::find("avx2").expect("a target");
    let output = compiled("chacha20", "chacha20_block", Slicing::V, target);
    let left = |change: &dyn Fn(&str) -> String, words: &str| {
        for family in families("avx2") {
            let mut planted = output.clone();
            planted.kernel.text = change(&output.kernel.text);
            assert_ne!(planted.kernel.text, output.kernel.text, "{words}");
            match ask(&planted, target, family) {
                Verdict::Refused(fault) if fault.rule == Rule::Left => {
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

/// Functions over blocks with zeroization, in C, and the options that request it.
struct Cleared {
    cipher: usuba_ciphers::Cipher,
    function: usize,
    built: usuba_run::functions::Built,
    target: &'static Target,
}

impl Cleared {
    fn new(folder: &str, name: &str, slicing: Slicing, target: &str) -> Cleared {
        let (cipher, target) = (cipher(folder), isa::find(target).expect("a target"));
        let function = cipher.functions.iter().position(|f| f.name == name).expect("the function");
        let c = COptions { wipe: true, ..COptions::default() };
        let options = Options { c, ..byte_interface::options(slicing, target) };
        let of = &cipher.functions[function];
        let built = usuba_run::functions::build_as(&cipher, of, slicing, &options);
        let built = built.expect("it compiles");
        Cleared { cipher, function, built, target }
    }

    fn function(&self) -> &Function {
        &self.cipher.functions[self.function]
    }

    fn ask(&self, text: &str, family: Family) -> Vec<Proof> {
        let file = byte_interface::object(text, self.target, family).expect("it compiles");
        let demands = Demands { wiped: true };
        let proofs =
            byte_interface::prove_object(&file, &self.built, self.function(), self.target, demands);
        proofs.expect("an object")
    }
}

/// Functions over blocks, in each layout.
const FUNCTIONS: [(&str, &str, Slicing); 5] = [
    ("rectangle", "rectangle80_encrypt", Slicing::V),
    ("rectangle", "rectangle80_encrypt", Slicing::H),
    ("rectangle", "rectangle80_encrypt", Slicing::B),
    ("aes", "aes128_encrypt_fixsliced", Slicing::H),
    ("chacha20", "chacha20_block", Slicing::V),
];

#[test]
fn functions_over_blocks_leave_nothing() {
    let mut asked = 0;
    for (at, (folder, name, slicing)) in FUNCTIONS.into_iter().enumerate() {
        for (turn, target) in ["gp64", "sse", "avx2", "avx512"].into_iter().enumerate() {
            let whole = asks_rarely!("{name} in {slicing:?} on {target}");
            // Compilers copy round keys and the last blocks in different ways.
            if !whole && (at, turn / 2) != (0, 0) {
                continue;
            }
            for family in families(target) {
                let cleared = Cleared::new(folder, name, slicing, target);
                for proof in cleared.ask(&cleared.built.text, family) {
                    let on = format!("{} in {slicing:?} on {target} by {family:?}", proof.what);
                    assert!(proof.is_proved(), "{on}: {:?}", proof.outcome);
                    asked += 1;
                }
            }
        }
    }
    println!("{asked} functions leave nothing");
}

#[test]
fn functions_over_blocks_that_leave_something_are_refused() {
    let cleared = Cleared::new("rectangle", "rectangle80_encrypt", Slicing::V, "sse");
    let Some(&family) = families("sse").first() else { return };
    let text = &cleared.built.text;
    let left = |what: &str, planted: &str| {
        assert_ne!(planted, text, "{what}");
        for proof in cleared.ask(planted, family) {
            let said = format!("{:?}", proof.outcome);
            let is_left = said.starts_with("Refused") && said.contains("hold what depends on");
            assert!(is_left, "{what}: {}: {said}", proof.what);
        }
    };
    left("no wipe", &text.replace("__asm__ volatile (\n", "if (0) __asm__ volatile (\n"));
    let last = "        \"movups %%xmm0, -64(%%rsp,%%rcx)\\n\\t\"\n";
    left("a gap in each part", &text.replace(last, ""));
    // The tail copies and clears by instructions.
    let copied = |what: &str, from: &str, to: &str| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        for proof in &cleared.ask(&text.replace(from, to), family)[..2] {
            let said = format!("{:?}", proof.outcome);
            assert!(said.starts_with("Refused"), "{what}: {}: {said}", proof.what);
        }
    };
    let name = &cleared.built.name;
    let out = format!("{name}_copy(out, last, 8 * nblocks)");
    let batch = cleared.built.kernel.instances();
    let zeros = format!("{name}_zero(first + 8 * nblocks, 8 * ({batch} - nblocks));");
    // The last block of the batch never holds a result, so it may stay as it is.
    let others = zeros.replace(&format!("({batch} -"), &format!("({} -", batch - 2));
    copied("a block too few", &out, &format!("{name}_copy(out, last, 8 * (nblocks - 1))"));
    copied("a byte too many", &out, &format!("{name}_copy(out, last, 8 * nblocks + 1)"));
    copied("no zeros", &zeros, "");
    copied("other zeros", &zeros, &others);
    left("a register", &text.replace("        \"xorps %%xmm1, %%xmm1\\n\\t\"\n", ""));
}
