//! The model of AArch64: its decoder against a disassembler, its instructions against an emulator, and
//! functions that break its rules.
//!
//! `decoder` has the texts of instructions; `instructions` runs them; `faults` has functions in
//! assembly, and wrong objects of kernels.

mod decoder;
mod faults;
mod instructions;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_run::cc::{self, Machine, run};

/// The compiler and emulator for AArch64; says if there are none.
fn machine() -> Option<Machine> {
    match cc::find("neon") {
        Ok(machine) if machine.runner.is_some() => Some(machine),
        Ok(_) => {
            println!("skipped: there is no compiler or no emulator for AArch64");
            None
        }
        Err(skip) => {
            println!("{skip}");
            None
        }
    }
}

/// A text of assembly in a folder of its own.
struct Assembly {
    machine: Machine,
    folder: TempDir,
}

impl Assembly {
    fn new(machine: &Machine, text: &str) -> Assembly {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("cases.s"), text).expect("a file can be written");
        Assembly { machine: machine.clone(), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The bytes of its object.
    fn object(&self) -> Vec<u8> {
        let (from, to) = (self.path("cases.s"), self.path("cases.o"));
        run(self.machine.compile().arg("-c").arg(from).arg("-o").arg(&to)).expect("it assembles");
        fs::read(to).expect("it has been written")
    }

    /// A tool of the same toolchain.
    fn tool(&self, name: &str) -> Command {
        let compiler = self.machine.compiler.file_name().unwrap_or_default().to_string_lossy();
        let tool = compiler.replace("gcc", name);
        let beside = self.machine.compiler.with_file_name(&tool);
        Command::new(if beside.is_file() { beside } else { Path::new(&tool).to_path_buf() })
    }
}

fn read(file: &[u8]) -> Object {
    Object::read_any(file, Extensions::ALL).expect("an object")
}
