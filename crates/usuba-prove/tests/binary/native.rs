//! Functions of a linked file on the processor, called in another process by `native.c`.
//!
//! Buffers lie between pages without access. The process fails if a call crashes, does not return,
//! writes beside a buffer, or changes a register that belongs to its caller.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use object::{Object as _, ObjectSymbol};
use usuba::ir::random::Random;
use usuba_object::memory::Access;
use usuba_run::cc::{self, Family};

/// The status of the driver for a file that the loader refuses.
const NOT_LOADED: i32 = 77;

/// Runs of a call that are traced.
pub const TRACED: usize = 2;

/// A call of a function, once for each run.
#[derive(Clone, Debug)]
pub struct Call {
    pub symbol: String,
    pub parameters: Vec<Parameter>,
    pub runs: usize,
    /// Whether the processor stops at each instruction of the first runs.
    pub is_traced: bool,
}

#[derive(Clone, Debug)]
pub enum Parameter {
    Number(u64),
    Buffer {
        align: u64,
        access: Access,
        /// The bytes at entry, in each run.
        content: Vec<Vec<u8>>,
    },
    /// The pointer of an earlier parameter.
    Same(usize),
}

/// The bytes that a call writes, and a hash of the addresses of its instructions, for each run, on
/// buffers at the beginnings and at the ends of pages.
pub type Results = Vec<[(Vec<u8>, u64); 2]>;

impl Call {
    /// The call as the driver reads it.
    fn bytes(&self, offset: u64) -> Vec<u8> {
        let numbers =
            |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let (count, runs) = (self.parameters.len() as u64, self.runs as u64);
        let mut bytes = numbers(&[offset, count, runs, self.is_traced.into()]);
        for parameter in &self.parameters {
            match parameter {
                Parameter::Number(value) => bytes.extend(numbers(&[0, *value])),
                Parameter::Same(at) => bytes.extend(numbers(&[2, *at as u64])),
                Parameter::Buffer { align, access, content } => {
                    let access = [Access::Read, Access::Write, Access::Both]
                        .iter()
                        .position(|known| known == access);
                    let access = access.expect("one of three") as u64;
                    bytes.extend(numbers(&[1, content[0].len() as u64, *align, access]));
                    content.iter().for_each(|run| bytes.extend(run));
                }
            }
        }
        bytes
    }

    /// The results of all runs, from the output of the driver.
    fn results(&self, output: &mut &[u8]) -> Results {
        let written = |parameter: &Parameter| match parameter {
            Parameter::Buffer { access, content, .. } if *access != Access::Read => {
                content[0].len()
            }
            _ => 0,
        };
        let size = self.parameters.iter().map(written).sum();
        let mut one = || {
            let (bytes, rest) = output.split_at(size);
            let (trace, rest) = rest.split_at(8);
            *output = rest;
            (bytes.to_vec(), u64::from_le_bytes(trace.try_into().expect("eight bytes")))
        };
        (0..self.runs).map(|_| [one(), one()]).collect()
    }
}

/// Random bytes.
pub fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.word() as u8).collect()
}

/// The driver, compiled.
pub struct Driver {
    folder: tempfile::TempDir,
    compiler: PathBuf,
}

impl Driver {
    /// `None` if this machine has no compiler for its own processor.
    pub fn new() -> Option<Driver> {
        let machine =
            cc::find_native("gp64", Family::Any).map_err(|skip| println!("{skip}")).ok()?;
        let folder = tempfile::tempdir().expect("a folder");
        let (source, driver) = (folder.path().join("native.c"), folder.path().join("driver"));
        std::fs::write(&source, include_str!("native.c")).expect("it can be written");
        let mut command = Command::new(&machine.compiler);
        let made = command.arg("-O1").arg(source).arg("-o").arg(driver).arg("-ldl").status();
        assert!(made.expect("the compiler runs").success(), "the driver compiles");
        Some(Driver { folder, compiler: machine.compiler })
    }

    /// The shared object that the linker makes of an object; `None` if it refuses.
    pub fn linked(&self, object: &[u8]) -> Option<Vec<u8>> {
        let folder = tempfile::tempdir_in(self.folder.path()).expect("a folder");
        let (from, to) = (folder.path().join("file.o"), folder.path().join("file.so"));
        std::fs::write(&from, object).expect("it can be written");
        let mut command = Command::new(&self.compiler);
        let made =
            command.arg("-shared").arg(from).arg("-o").arg(&to).stderr(Stdio::null()).status();
        let is_made = made.expect("the compiler runs").success();
        is_made.then(|| std::fs::read(to).expect("it has been made"))
    }

    /// The results of calls; `None` if the loader refuses the file, or it lacks a symbol.
    ///
    /// # Errors
    /// A call breaks a rule of the driver; the message names the rule or the signal.
    pub fn run(&self, shared: &[u8], calls: &[Call]) -> Result<Option<Vec<Results>>, String> {
        let mut input = (calls.len() as u64).to_le_bytes().to_vec();
        let file = object::File::parse(shared).expect("a file of the linker");
        for call in calls {
            let mut symbols = file.symbols().filter(|s| s.name() == Ok(&call.symbol));
            let (Some(symbol), None) = (symbols.next(), symbols.next()) else { return Ok(None) };
            input.extend(call.bytes(symbol.address()));
        }
        let folder = tempfile::tempdir_in(self.folder.path()).expect("a folder");
        let path = folder.path().join("file.so");
        std::fs::write(&path, shared).expect("it can be written");
        let mut command = Command::new(self.folder.path().join("driver"));
        let command = command.arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the driver runs");
        let mut pipe = child.stdin.take().expect("a pipe");
        let output = std::thread::scope(|scope| {
            // A driver that has failed reads no further.
            scope.spawn(move || pipe.write_all(&input));
            child.wait_with_output().expect("it ends")
        });
        if output.status.code() == Some(NOT_LOADED) {
            return Ok(None);
        }
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} {}", output.status, words.trim()));
        }
        let mut rest = &output.stdout[..];
        Ok(Some(calls.iter().map(|call| call.results(&mut rest)).collect()))
    }
}
