//! Proved kernels with one changed bit: none may be proved unless it computes the same.
//!
//! A mutant that is proved runs on the processor, which is safe, for the proof says that it stays
//! in its buffers; the test compares its results with the interpreter, lane by lane.

use std::io::Write;
use std::process::{Command, Stdio};
use usuba_gen::{asks, level};

use iced_x86::{Decoder, DecoderOptions};
use object::{Object as _, ObjectSection, ObjectSymbol};
use usuba::Output;
use usuba::ir::random::{self, Random};
use usuba::ir::{Program, Slicing, interp};
use usuba::isa::{self, Target};
use usuba_object::compare::{Demands, Verdict};
use usuba_object::kernel_contract::{Contract, Meaning};
use usuba_prove::compiler;
use usuba_run::cc::{self, Family};

use crate::kernel;

/// Kernels that are mutated: folder, function, slicing, target, compiler.
const KERNELS: [(&str, &str, Slicing, &str, Family); 12] = [
    ("rectangle", "rectangle80_encrypt", Slicing::V, "avx2", Family::Gcc),
    ("rectangle", "rectangle80_encrypt", Slicing::H, "avx2", Family::Clang),
    ("rectangle", "rectangle80_encrypt", Slicing::H, "avx512", Family::Gcc),
    ("chacha20", "chacha8_block", Slicing::V, "avx512", Family::Clang),
    ("rectangle", "rectangle80_encrypt", Slicing::B, "avx512", Family::Gcc),
    ("chacha20", "chacha8_block", Slicing::V, "avx2", Family::Gcc),
    ("serpent", "serpent128_encrypt", Slicing::V, "avx2", Family::Clang),
    ("rectangle", "rectangle80_encrypt", Slicing::V, "gp64", Family::Clang),
    ("aes", "aes128_encrypt_h", Slicing::H, "avx2", Family::Clang),
    ("ascon", "ascon_p12", Slicing::V, "avx512", Family::Gcc),
    ("gift", "gift64_encrypt", Slicing::B, "avx2", Family::Clang),
    ("noekeon", "noekeon_encrypt", Slicing::V, "sse", Family::Gcc),
];

/// Instructions of each kernel that are mutated, in the short and in the long run.
const SAMPLE: [usize; 2] = [1, 4];

/// Kernels that the short run mutates.
const SHORT: usize = 2;

/// Where the instructions of a function are in the file: offset and length of each.
pub fn instructions(file: &[u8], symbol: &str) -> Vec<(usize, usize)> {
    let object = object::File::parse(file).expect("an object");
    let symbol = object.symbols().find(|s| s.name() == Ok(symbol)).expect("the function");
    let section = object.section_by_index(symbol.section_index().expect("it is defined"));
    let section = section.expect("a section");
    let start = section.file_range().expect("bytes of the file").0 + symbol.address();
    let code = &file[start as usize..(start + symbol.size()) as usize];
    // Bytes that the linker fills in are no bits of ours.
    let filled: Vec<u64> = section.relocations().map(|(at, _)| at).collect();
    Decoder::with_ip(64, code, symbol.address(), DecoderOptions::NONE)
        .iter()
        .filter(|i| !filled.iter().any(|&at| (i.ip()..i.next_ip()).contains(&at)))
        .map(|i| ((start + i.ip() - symbol.address()) as usize, i.len()))
        .collect()
}

/// The outcomes of the mutants of one kernel.
#[derive(Default, Debug)]
struct Seen {
    refused: usize,
    refuted: usize,
    unknown: usize,
    /// Proved, and right on the processor.
    equal: usize,
}

#[test]
fn no_wrong_mutant_is_proved() {
    let mut random = Random::new(11);
    let mut total = 0;
    for (at, &(folder, function, slicing, name, family)) in KERNELS.iter().enumerate() {
        let whole = asks!("{function} in {slicing:?} on {name}");
        if !whole && at >= SHORT {
            continue;
        }
        if let Err(skip) = cc::find_with(name, family) {
            println!("{skip}");
            continue;
        }
        let target = isa::find(name).expect("a target");
        let output = kernel(folder, function, slicing, target);
        let file =
            compiler::object(&output.kernel.text, "c", name, family, &[]).expect("it compiles");
        let contract = compiler::contract(&output, target).expect("a contract");
        let places = instructions(&file, &contract.symbol);
        let mut seen = Seen::default();
        for _ in 0..SAMPLE[whole as usize] {
            let (at, length) = places[random.below(places.len())];
            for bit in 0..8 * length {
                let mut mutant = file.clone();
                mutant[at + bit / 8] ^= 1 << (bit % 8);
                let answer = compiler::prove_object(&mutant, &output, target, Demands::default());
                match answer.expect("the object is still one") {
                    Verdict::Refused(_) => seen.refused += 1,
                    Verdict::Refuted(_) => seen.refuted += 1,
                    Verdict::Unknown(_) => seen.unknown += 1,
                    Verdict::Proved(_) => {
                        let place = format!("{function} on {name}, byte {at:#x}, bit {bit}");
                        check_native(&mutant, &output, target, &contract, &mut random, &place);
                        seen.equal += 1;
                    }
                }
                total += 1;
            }
        }
        println!("{function} {slicing:?} {name} {family:?}: {seen:?}");
    }
    let wanted = [60, 1000][level::is_whole() as usize];
    assert!(total >= wanted, "{total} mutants are no campaign");
}

/// Runs an object on random inputs and compares each bit of each result with the interpreter.
fn check_native(
    file: &[u8],
    output: &Output,
    target: &Target,
    contract: &Contract,
    random: &mut Random,
    place: &str,
) {
    let program = &output.program;
    let inputs = inputs(program, target, random);
    let outputs: Vec<Vec<u64>> =
        inputs.iter().map(|row| interp::run(program, row).expect("inputs that fit")).collect();
    let entry = program.entry();
    let widths = |count: usize| &entry.bits[..count];
    let of_results: Vec<u8> = entry.outs.iter().map(|&v| entry.bits_of(v)).collect();
    let ins: Vec<Vec<bool>> = inputs.iter().map(|row| flat(row, widths(row.len()))).collect();
    let outs: Vec<Vec<bool>> = outputs.iter().map(|row| flat(row, &of_results)).collect();
    let mut given = Vec::new();
    let mut wanted = Vec::new();
    for array in &contract.arrays {
        match (&array.entry, &array.exit) {
            (Some(meanings), _) => given.extend(packed(meanings, &ins)),
            (None, Some(meanings)) => wanted.extend(packed(meanings, &outs)),
            (None, None) => {}
        }
    }
    assert_eq!(native(file, contract, target, &given), wanted, "a wrong mutant is proved: {place}");
}

/// Random inputs for each instance of a program in the registers of a target.
pub fn inputs(program: &Program, target: &Target, random: &mut Random) -> Vec<Vec<u64>> {
    let lanes = usuba::emit::lanes(program, target) as usize;
    let mut inputs: Vec<Vec<u64>> = (0..lanes).map(|_| random::inputs(random, program)).collect();
    // Every instance shares the uniform values of the first.
    let shared = inputs[0].clone();
    let mut at = 0;
    for port in &program.entry().params {
        let values = port.values(program.slicing);
        if port.constant {
            for row in &mut inputs {
                row[at..at + values].copy_from_slice(&shared[at..at + values]);
            }
        }
        at += values;
    }
    inputs
}

/// The bytes of a buffer whose bits have these meanings, from the bits of each instance.
pub fn packed(meanings: &[Meaning], rows: &[Vec<bool>]) -> Vec<u8> {
    let bit = |meaning: &Meaning| match *meaning {
        Meaning::Zero => false,
        Meaning::Bit { bit, instance, complement } => {
            rows[instance.unwrap_or(0) as usize][bit as usize] != complement
        }
    };
    let byte = |byte: &[Meaning]| byte.iter().rev().fold(0, |sum, m| sum << 1 | bit(m) as u8);
    meanings.chunks(8).map(byte).collect()
}

/// The bits of words, the most significant first.
pub fn flat(words: &[u64], widths: &[u8]) -> Vec<bool> {
    let bits = |(&word, &width): (&u64, &u8)| (0..width).rev().map(move |at| word >> at & 1 == 1);
    words.iter().zip(widths).flat_map(bits).collect()
}

/// The bytes that the function of an object writes for the bytes of its parameters.
fn native(file: &[u8], contract: &Contract, target: &Target, given: &[u8]) -> Vec<u8> {
    let sizes: Vec<usize> = contract.arrays.iter().map(|array| array.size / 8).collect();
    let declared = vec!["void *"; sizes.len()].join(", ");
    let arrays: String = sizes
        .iter()
        .enumerate()
        .map(|(at, size)| format!("static _Alignas(64) unsigned char a{at}[{size}];\n"))
        .collect();
    let reads: String = (0..sizes.len())
        .filter(|&at| contract.arrays[at].entry.is_some())
        .map(|at| format!("if (fread(a{at}, 1, sizeof a{at}, stdin) != sizeof a{at}) return 1;\n"))
        .collect();
    let writes: String = (0..sizes.len())
        .filter(|&at| contract.arrays[at].exit.is_some())
        .map(|at| format!("fwrite(a{at}, 1, sizeof a{at}, stdout);\n"))
        .collect();
    let names: Vec<String> = (0..sizes.len()).map(|at| format!("a{at}")).collect();
    let (symbol, names) = (&contract.symbol, names.join(", "));
    let text = format!(
        "#include <stdio.h>\nvoid {symbol}({declared});\n{arrays}int main(void)\n{{\n{reads}\
         {symbol}({names});\n{writes}return 0;\n}}\n"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("driver.c"), text).expect("a file can be written");
    std::fs::write(path("kernel.o"), file).expect("a file can be written");
    let machine = cc::find(target.name).expect("it has been found before");
    let mut command = machine.compile();
    command.args([path("driver.c"), path("kernel.o")]).arg("-o").arg(path("run"));
    assert!(command.status().expect("the compiler runs").success(), "the mutant links");
    let mut child = Command::new(path("run"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the mutant runs");
    child.stdin.take().expect("a pipe").write_all(given).expect("it reads its inputs");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the mutant crashes: {}", output.status);
    output.stdout
}
