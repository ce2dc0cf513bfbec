//! Texts of assembly for machines that an emulator runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_run::cc::{self, Machine, run};

/// The compiler and emulator of a target, with flags for assembly; says if there are none.
pub fn machine(target: &str, flags: &[&'static str]) -> Option<Machine> {
    match cc::find(target) {
        Ok(machine) if machine.runner.is_some() => {
            let cflags = [&machine.cflags, flags].concat();
            Some(Machine { cflags, ..machine })
        }
        Ok(_) => {
            println!("skipped: there is no compiler or no emulator for {target}");
            None
        }
        Err(skip) => {
            println!("{skip}");
            None
        }
    }
}

/// A text of assembly in a folder of its own.
pub struct Assembly {
    pub machine: Machine,
    folder: TempDir,
}

impl Assembly {
    pub fn new(machine: &Machine, text: &str) -> Assembly {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("cases.s"), text).expect("a file can be written");
        Assembly { machine: machine.clone(), folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The bytes of its object.
    pub fn object(&self) -> Vec<u8> {
        let (from, to) = (self.path("cases.s"), self.path("cases.o"));
        run(self.machine.compile().arg("-c").arg(from).arg("-o").arg(&to)).expect("it assembles");
        fs::read(to).expect("it has been written")
    }

    /// A tool of the same toolchain.
    pub fn tool(&self, name: &str) -> Command {
        let compiler = self.machine.compiler.file_name().unwrap_or_default().to_string_lossy();
        let tool = compiler.replace("gcc", name);
        let beside = self.machine.compiler.with_file_name(&tool);
        Command::new(if beside.is_file() { beside } else { Path::new(&tool).to_path_buf() })
    }
}

pub fn read(file: &[u8]) -> Object {
    Object::read_any(file, Extensions::ALL).expect("an object")
}
