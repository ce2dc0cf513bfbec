//! Runs many kernels in one process.
//!
//! Each kernel is a C file of its own, so static helpers may share names. The entry gets a
//! unique name by the preprocessor and a small caller appended to its text, which is therefore
//! compiled against the true parameter types. A driver reads the inputs from standard input,
//! calls each kernel, and writes the outputs.
//!
//! Around each buffer lie guard bytes; a kernel that writes outside of its outputs, or into an
//! input, fails by name. A kernel that does not compile, or crashes, fails alone: the others are
//! linked and run without it. Kernels with the same text are compiled once.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::cc::{Machine, System};

const DRIVER: &str = include_str!("driver.c");
const HOSTED: &str = include_str!("hosted.c");
const BARE_RISCV32: &str = include_str!("bare_riscv32.c");
const BARE_STRING_H: &str = include_str!("bare_string.h");

/// Compilers at work at the same time.
const JOBS: usize = 2;

/// A process that runs longer has gone wrong; emulated batches stay far below.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Bytes of guard on each side of a buffer; the same number as in the driver.
const GUARD: usize = 64;

/// A C function and the data to call it with.
#[derive(Clone, Default, Debug)]
pub struct Kernel {
    /// A whole C file.
    pub text: String,
    /// The function to call: one pointer per input, then one per output, returning nothing.
    pub symbol: String,
    /// Alignment of every buffer, in bytes: a power of two up to 64. Buffers get exactly this
    /// alignment and not more, except by chance of their sizes.
    pub align: usize,
    /// For each call the bytes of each input. Sizes are those of the first call.
    pub calls: Vec<Vec<Vec<u8>>>,
    /// Bytes of each output.
    pub outputs: Vec<usize>,
}

/// For each call the bytes of each output.
pub type Outputs = Vec<Vec<Vec<u8>>>;

/// Why a kernel has no outputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The compiler's messages.
    Compile(String),
    /// The messages of linking the whole batch.
    Link(String),
    /// The process died in this call; how, in words.
    Crash { call: usize, how: String },
    /// This call wrote outside of its outputs.
    OutOfBounds { call: usize },
    /// This call changed one of its inputs.
    InputChanged { call: usize },
    /// The request itself is malformed.
    Request(String),
    /// The machine did not let us work: no space, no permission.
    System(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Compile(text) => write!(f, "the C compiler rejects it:\n{text}"),
            Failure::Link(text) => write!(f, "the batch does not link:\n{text}"),
            Failure::Crash { call, how } => write!(f, "call {call} died: {how}"),
            Failure::OutOfBounds { call } => write!(f, "call {call} wrote outside of its outputs"),
            Failure::InputChanged { call } => write!(f, "call {call} changed an input"),
            Failure::Request(text) | Failure::System(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}

/// Compiles `kernels` with `flags` after the machine's own, runs them in one process, and
/// returns one answer per kernel, in order.
pub fn run(machine: &Machine, flags: &[&str], kernels: &[Kernel]) -> Vec<Result<Outputs, Failure>> {
    let checked: Vec<Result<(), Failure>> = kernels.iter().map(check).collect();
    let built = Batch::new(machine, flags).and_then(|batch| batch.run(kernels, checked));
    match built {
        Ok(answers) => answers,
        Err(error) => {
            let failure = Failure::System(format!("cannot build a batch: {error}"));
            kernels.iter().map(|_| Err(failure.clone())).collect()
        }
    }
}

/// As [`run`] for a single kernel.
///
/// # Errors
/// The kernel does not compile, or misbehaves.
pub fn run_one(machine: &Machine, flags: &[&str], kernel: Kernel) -> Result<Outputs, Failure> {
    run(machine, flags, &[kernel]).pop().expect("one answer per kernel")
}

/// Compiles `text` and throws the result away: for warnings. `cxx` compiles it as C++.
///
/// # Errors
/// What the compiler says, when it fails.
pub fn compiles(machine: &Machine, flags: &[&str], cxx: bool, text: &str) -> Result<(), Failure> {
    let system = |error: io::Error| Failure::System(format!("cannot run the compiler: {error}"));
    let batch = Batch::new(machine, flags).map_err(system)?;
    fs::write(batch.path("text.c"), text).map_err(system)?;
    let language = if cxx { "c++" } else { "c" };
    match batch.compiler(&["-x", language, "-c", "text.c", "-o", "text.o"]).map_err(system)? {
        None => Ok(()),
        Some(messages) => Err(Failure::Compile(messages)),
    }
}

/// For each kernel the first one with the same C: they share an object.
fn twins(kernels: &[Kernel]) -> Vec<usize> {
    let mut first = HashMap::new();
    let ports = |kernel: &Kernel| {
        (kernel.calls.first().map_or(0, Vec::len), kernel.outputs.len(), kernel.calls.is_empty())
    };
    let same = kernels.iter().map(|kernel| (&kernel.text, &kernel.symbol, ports(kernel)));
    same.enumerate().map(|(index, key)| *first.entry(key).or_insert(index)).collect()
}

fn check(kernel: &Kernel) -> Result<(), Failure> {
    let fail = |why: &str| Err(Failure::Request(format!("kernel `{}`: {why}", kernel.symbol)));
    if !kernel.align.is_power_of_two() || kernel.align > GUARD {
        return fail("the alignment is not a power of two up to 64");
    }
    let sizes = |call: &Vec<Vec<u8>>| call.iter().map(Vec::len).collect::<Vec<_>>();
    if kernel.calls.windows(2).any(|pair| sizes(&pair[0]) != sizes(&pair[1])) {
        return fail("two calls differ in the sizes of their inputs");
    }
    Ok(())
}

/// A temporary folder with a compiler.
struct Batch<'a> {
    folder: TempDir,
    machine: &'a Machine,
    flags: &'a [&'a str],
}

impl<'a> Batch<'a> {
    fn new(machine: &'a Machine, flags: &'a [&'a str]) -> io::Result<Batch<'a>> {
        let folder = tempfile::Builder::new().prefix("usuba-").tempdir()?;
        let batch = Batch { folder, machine, flags };
        if machine.system == System::BareRiscv32 {
            fs::create_dir(batch.path("include"))?;
            fs::write(batch.path("include/string.h"), BARE_STRING_H)?;
        }
        Ok(batch)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the compiler in the folder; its messages if it fails. Relative file names keep the
    /// folder out of the messages.
    fn compiler(&self, args: &[&str]) -> io::Result<Option<String>> {
        let mut command = self.machine.compile();
        if self.machine.system == System::BareRiscv32 {
            command.args(["-isystem", "include"]);
        }
        command.args(self.flags).args(args).current_dir(self.folder.path());
        let output = command.stdin(Stdio::null()).output()?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok((!output.status.success()).then_some(messages))
    }

    fn run(
        &self,
        kernels: &[Kernel],
        checked: Vec<Result<(), Failure>>,
    ) -> io::Result<Vec<Result<Outputs, Failure>>> {
        let mut answers: Vec<Option<Result<Outputs, Failure>>> =
            checked.into_iter().map(|result| result.err().map(Err)).collect();
        let twins = twins(kernels);
        self.compile_all(kernels, &twins, &mut answers)?;
        self.compile_support()?;
        // A crash answers at least one kernel, so this ends.
        loop {
            let alive: Vec<usize> =
                (0..kernels.len()).filter(|&index| answers[index].is_none()).collect();
            if alive.is_empty() {
                break;
            }
            self.run_linked(kernels, &twins, &alive, &mut answers)?;
        }
        Ok(answers.into_iter().map(|answer| answer.expect("the loop answered all")).collect())
    }

    /// Writes and compiles the kernels that have no answer yet, [`JOBS`] at a time. A kernel with
    /// an earlier twin uses its object.
    fn compile_all(
        &self,
        kernels: &[Kernel],
        twins: &[usize],
        answers: &mut [Option<Result<Outputs, Failure>>],
    ) -> io::Result<()> {
        let fresh = |&i: &usize| answers[i].is_none() && twins[i] == i;
        let todo: Vec<usize> = (0..kernels.len()).filter(fresh).collect();
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..JOBS.min(todo.len()) {
                scope.spawn(|| {
                    while let Some(&index) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = self.compile_kernel(index, &kernels[index]);
                        results.lock().expect("no job panics").push((index, result));
                    }
                });
            }
        });
        for (index, result) in results.into_inner().expect("no job panics") {
            let Some(messages) = result? else { continue };
            for (twin, answer) in twins.iter().zip(answers.iter_mut()) {
                if *twin == index && answer.is_none() {
                    *answer = Some(Err(Failure::Compile(messages.clone())));
                }
            }
        }
        Ok(())
    }

    fn compile_kernel(&self, index: usize, kernel: &Kernel) -> io::Result<Option<String>> {
        let Kernel { text, symbol, .. } = kernel;
        let ports = kernel.calls.first().map_or(0, Vec::len) + kernel.outputs.len();
        let args: Vec<String> = (0..ports).map(|port| format!("ports[{port}]")).collect();
        let unique = format!("lab{index}_{symbol}");
        let caller = format!("lab_call_{index}");
        let whole = format!(
            "#define {symbol} {unique}\n#line 1 \"{symbol}.c\"\n{text}\n\
             void {caller}(void **ports);\n\
             void {caller}(void **ports) {{ (void)ports; {symbol}({}); }}\n",
            args.join(", ")
        );
        let (source, object) = (format!("k{index}.c"), format!("k{index}.o"));
        fs::write(self.path(&source), whole)?;
        self.compiler(&["-c", &source, "-o", &object])
    }

    fn compile_support(&self) -> io::Result<()> {
        let support = match self.machine.system {
            System::Hosted => HOSTED,
            System::BareRiscv32 => BARE_RISCV32,
        };
        fs::write(self.path("support.c"), support)?;
        // Without the flag the compiler turns the loop inside of memcpy into a call of memcpy.
        let quiet = ["-c", "-O1", "-fno-builtin", "support.c", "-o", "support.o"];
        match self.compiler(&quiet)? {
            None => Ok(()),
            Some(messages) => Err(io::Error::other(messages)),
        }
    }

    /// Links the `alive` kernels and runs them; answers all of them, or those up to a crash.
    fn run_linked(
        &self,
        kernels: &[Kernel],
        twins: &[usize],
        alive: &[usize],
        answers: &mut [Option<Result<Outputs, Failure>>],
    ) -> io::Result<()> {
        fs::write(self.path("table.h"), table(kernels, twins, alive))?;
        fs::write(self.path("driver.c"), DRIVER)?;
        let used: BTreeSet<usize> = alive.iter().map(|&index| twins[index]).collect();
        let objects: Vec<String> = used.iter().map(|index| format!("k{index}.o")).collect();
        let mut args = vec!["-O1", "-I.", "driver.c", "support.o"];
        args.extend(objects.iter().map(String::as_str));
        args.extend(["-o", "batch"]);
        if self.machine.system == System::BareRiscv32 {
            args.push("-lgcc");
        }
        if let Some(messages) = self.compiler(&args)? {
            for &index in alive {
                answers[index] = Some(Err(Failure::Link(messages.clone())));
            }
            return Ok(());
        }
        let mut input = Vec::new();
        for &index in alive {
            kernels[index].calls.iter().flatten().for_each(|bytes| input.extend(bytes));
        }
        fs::write(self.path("input"), input)?;
        let how = self.execute()?;
        let output = fs::read(self.path("output"))?;
        read_answers(kernels, alive, &output, how, answers);
        Ok(())
    }

    /// Runs the batch between the files `input` and `output`; how it died, if it did.
    fn execute(&self) -> io::Result<Option<String>> {
        let mut command = self.machine.command(&self.path("batch"));
        command.stdin(File::open(self.path("input"))?);
        command.stdout(File::create(self.path("output"))?);
        let mut child = command.stderr(File::create(self.path("errors"))?).spawn()?;
        let Some(status) = wait(&mut child, TIME_LIMIT)? else {
            return Ok(Some(format!("it ran longer than {} seconds", TIME_LIMIT.as_secs())));
        };
        if status.success() {
            return Ok(None);
        }
        let messages = String::from_utf8_lossy(&fs::read(self.path("errors"))?).into_owned();
        Ok(Some(format!("{status}\n{messages}").trim_end().to_string()))
    }
}

/// Waits for `child`; kills it and returns `None` once `limit` has passed.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The data of the driver: sizes, counts and callers of the kernels.
fn table(kernels: &[Kernel], twins: &[usize], alive: &[usize]) -> String {
    let mut callers = String::new();
    let mut sizes = Vec::new();
    let mut rows = String::new();
    let mut arena = 0;
    for &index in alive {
        let kernel = &kernels[index];
        let inputs: Vec<usize> = kernel.calls.first().into_iter().flatten().map(Vec::len).collect();
        let ports: Vec<usize> = inputs.iter().chain(&kernel.outputs).copied().collect();
        // Guards, and slack for the alignment, on both sides of each port.
        arena = arena.max(ports.iter().map(|size| size + 4 * GUARD).sum::<usize>());
        let caller = format!("lab_call_{}", twins[index]);
        callers += &format!("void {caller}(void **ports);\n");
        rows += &format!(
            "    {{{caller}, {}, {}, {}, {}, {}}},\n",
            sizes.len(),
            inputs.len(),
            ports.len(),
            kernel.align,
            kernel.calls.len(),
        );
        sizes.extend(ports);
    }
    let most_ports = alive
        .iter()
        .map(|&i| kernels[i].calls.first().map_or(0, Vec::len) + kernels[i].outputs.len());
    let list = |sizes: &[usize]| sizes.iter().map(|s| format!("{s},")).collect::<String>();
    format!(
        "{callers}#define ARENA {}\n#define PORTS {}\n\
         static const size_t sizes[] = {{{}0}};\n\
         static const struct kernel kernels[] = {{\n{rows}}};\n",
        arena + GUARD,
        most_ports.max().unwrap_or(0) + 1,
        list(&sizes),
    )
}

/// Takes the records of the driver apart: for each call a status byte and the outputs.
fn read_answers(
    kernels: &[Kernel],
    alive: &[usize],
    output: &[u8],
    how: Option<String>,
    answers: &mut [Option<Result<Outputs, Failure>>],
) {
    let mut rest = output;
    for &index in alive {
        let kernel = &kernels[index];
        let mut outputs = Vec::new();
        let mut failure = None;
        for call in 0..kernel.calls.len() {
            let length = 1 + kernel.outputs.iter().sum::<usize>();
            if rest.len() < length {
                let how = how.clone().unwrap_or_else(|| "the process ended early".to_string());
                answers[index] = Some(Err(failure.unwrap_or(Failure::Crash { call, how })));
                return;
            }
            let (record, tail) = rest.split_at(length);
            rest = tail;
            let (status, mut bytes) = (record[0], &record[1..]);
            match status {
                0 => {}
                1 => failure = failure.or(Some(Failure::OutOfBounds { call })),
                _ => failure = failure.or(Some(Failure::InputChanged { call })),
            }
            let mut ports = Vec::new();
            for &size in &kernel.outputs {
                let (port, tail) = bytes.split_at(size);
                ports.push(port.to_vec());
                bytes = tail;
            }
            outputs.push(ports);
        }
        answers[index] = Some(failure.map_or(Ok(outputs), Err));
    }
    // A process that dies after its last record was spoiled by one of the calls, most likely the
    // last.
    if let (Some(how), Some(&last)) = (how, alive.last()) {
        let call = kernels[last].calls.len().saturating_sub(1);
        answers[last] = Some(Err(Failure::Crash { call, how }));
    }
}

#[cfg(test)]
mod tests;
