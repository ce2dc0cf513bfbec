//! From C to machine code that is proved: compiles the kernel of a program and shows that the
//! object file computes that program.
//!
//! ```text
//! Output (program after the last pass, C) ─ cc → object ─ usuba_proof::machine → Answer
//! ```
//!
//! The C compiler is not trusted, nor is the emitter: the object is compared with the program. What
//! the object is compared *under*, the layout of registers, is written down by `usuba_proof` itself.

use std::fs;
use std::process::{Command, Stdio};

use usuba::Output;
use usuba::emit::{keys, mask_bits};
use usuba::ir::Program;
use usuba::target::{self, Target};
use usuba_proof::machine::compare::{self, Answer, Demands};
use usuba_proof::machine::contract::{Contract, Layout, Placement};
use usuba_proof::machine::object::Object;
use usuba_proof::machine::x86::X86;

use crate::cc::{self, Family};

/// Flags of every compilation. The protector of the stack reads a word that lies in no buffer.
pub const FLAGS: &[&str] = &["-O3", "-fno-stack-protector"];

/// Flags of clang besides: its conversion of moves to branches has put secret branches into
/// constant-time code.
pub const CLANG: &[&str] = &["-mllvm", "-x86-cmov-converter=false"];

/// The object file of a C or assembly text, which is told apart by `language`: `c` or `assembler`.
///
/// # Errors
/// There is no such compiler, or what it says.
pub fn object(
    text: &str,
    language: &str,
    target: &str,
    family: Family,
    more: &[&str],
) -> Result<Vec<u8>, String> {
    let machine = cc::find_with(target, family).map_err(|skip| skip.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let (source, object) = (folder.path().join("kernel.c"), folder.path().join("kernel.o"));
    fs::write(&source, text).map_err(|error| format!("cannot write a file: {error}"))?;
    let mut command = machine.compile();
    command.args(FLAGS).args(more);
    if is_clang(&machine) {
        command.args(CLANG);
    }
    command.args(["-x", language, "-c", "-o"]).arg(&object).arg(&source);
    let run = command.output().map_err(|error| format!("cannot run {machine}: {error}"))?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    fs::read(&object).map_err(|error| format!("cannot read the object: {error}"))
}

/// Whether the compiler says so itself.
fn is_clang(machine: &cc::Machine) -> bool {
    let mut command = Command::new(&machine.compiler);
    let version = command.arg("--version").stderr(Stdio::null()).output();
    version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("clang"))
}

/// How the values of a program sit in the registers of a target, in the words of the prover.
pub fn layout(program: &Program, target: &Target, registers: bool) -> Layout {
    let layout = usuba::emit::layout(program, target);
    let placement = match layout {
        target::Layout::Bits => Placement::Bits,
        target::Layout::Words => Placement::Words,
        target::Layout::Lanes(lane) => Placement::Lanes(lane as u32),
        target::Layout::Vectors { lane, words } => {
            Placement::Vectors { size: lane as u32, words: words as u32 }
        }
        target::Layout::Elements(m) if target.simd => Placement::GroupedElements(m as u32),
        target::Layout::Elements(m) => Placement::Elements(m as u32),
    };
    let mask_bits = mask_bits(target, layout).filter(|_| !registers).map(u32::from);
    Layout { placement, register_bits: target.bits, mask_bits }
}

/// What the kernel of a compilation owes its callers.
///
/// # Errors
/// The words of the program do not fit the layout of the target.
pub fn contract(output: &Output, target: &Target) -> Result<Contract, String> {
    let (program, kernel) = (&output.program, &output.kernel);
    // A constant that is a register in C is one in the contract.
    let registers = !kernel.params.iter().any(|port| port.about.contains("not registers"));
    let complemented =
        if kernel.complemented_keys { keys::complemented(program) } else { Vec::new() };
    Contract::kernel(program, &kernel.name, &layout(program, target, registers), &complemented)
}

/// Compiles the kernel of a compilation and shows that the object computes the program.
///
/// # Errors
/// There is no such compiler, it refuses the text, or the object cannot be read.
pub fn prove(
    output: &Output,
    target: &'static Target,
    family: Family,
    demands: Demands,
) -> Result<Answer, String> {
    let file = object(&output.kernel.text, "c", target.name, family, &[])?;
    prove_object(&file, output, target, demands)
}

/// As [`prove`], for an object that is there.
///
/// # Errors
/// The object cannot be read, or its contract cannot be written down.
pub fn prove_object(
    file: &[u8],
    output: &Output,
    target: &Target,
    demands: Demands,
) -> Result<Answer, String> {
    let (object, contract) = (Object::read(file)?, contract(output, target)?);
    Ok(compare::prove::<X86>(&object, &contract, &output.program, demands))
}
