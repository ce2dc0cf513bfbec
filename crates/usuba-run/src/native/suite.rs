//! Kernel suite: compiles kernels into one executable and runs it.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::headers::Headers;
use super::{Failure, Kernel, Outputs};
use crate::cc::{Machine, System};
use crate::objects::{Cache, Key};

const DRIVER: &str = include_str!("driver.c");
const HOSTED: &str = include_str!("hosted.c");
const BARE_RISCV32: &str = include_str!("bare_riscv32.c");
const BARE_STRING_H: &str = include_str!("bare_string.h");

/// The number of concurrent compilers.
const JOBS: usize = 2;

/// The time limit of a process; emulated batches stay far below.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Guard bytes on each side of a buffer; the driver has the same number.
const GUARD: usize = 64;

/// A kernel with its compiler and flags.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    pub machine: &'a Machine,
    /// Flags after the machine's own.
    pub flags: &'a [&'a str],
    pub kernel: &'a Kernel,
}

/// Kernels compiled into one temporary folder, deleted with the suite. The objects of all machines
/// of a suite must link with each other.
pub struct Suite<'a> {
    pub(super) folder: Folder,
    pub(super) builds: Vec<Build<'a>>,
    /// For each kernel the first one with the same C and compiler, whose object it shares.
    pub(super) twins: Vec<usize>,
    /// The C of each kernel, with unique names.
    sources: Vec<Source>,
    /// The reason why a kernel did not compile.
    failed: Vec<Option<Failure>>,
    /// Objects that the kernels call into.
    objects: Vec<PathBuf>,
}

impl<'a> Suite<'a> {
    /// Compiles all kernels. A kernel that does not compile fails when the suite runs.
    ///
    /// # Errors
    /// The operating system fails.
    pub fn compile(builds: Vec<Build<'a>>) -> Result<Suite<'a>, Failure> {
        Suite::with_objects(builds, Vec::new())
    }

    /// Like [`Suite::compile`], for kernels that call into existing `objects`.
    ///
    /// # Errors
    /// The operating system fails.
    pub fn with_objects(
        builds: Vec<Build<'a>>,
        objects: Vec<PathBuf>,
    ) -> Result<Suite<'a>, Failure> {
        let failed = builds.iter().map(|build| check(build.kernel).err()).collect();
        let folder = Folder::new()?;
        let sources = builds.iter().map(Source::new).collect();
        let twins = twins(&builds);
        let mut suite = Suite { folder, twins, sources, builds, failed, objects };
        suite.compile_all()?;
        Ok(suite)
    }

    /// Runs every call of every kernel; one result per kernel, in order.
    pub fn run(&self) -> Vec<Result<Outputs, Failure>> {
        self.run_some(&(0..self.builds.len()).collect::<Vec<_>>())
    }

    /// Runs every call of the kernels `which` (ascending); one result for each, in order.
    pub fn run_some(&self, which: &[usize]) -> Vec<Result<Outputs, Failure>> {
        let mut answers: Vec<Option<Result<Outputs, Failure>>> =
            self.failed.iter().map(|failure| failure.clone().map(Err)).collect();
        // A crash yields the result of at least one kernel, so this terminates.
        loop {
            let alive: Vec<usize> =
                which.iter().copied().filter(|&index| answers[index].is_none()).collect();
            if alive.is_empty() {
                break;
            }
            if let Err(failure) = self.run_alive(&alive, &mut answers) {
                for index in alive {
                    answers[index] = Some(Err(failure.clone()));
                }
            }
        }
        let mut answer = |&index: &usize| answers[index].take().expect("the loop answered all");
        which.iter().map(&mut answer).collect()
    }

    /// The reason why kernel `index` did not compile.
    pub fn failure(&self, index: usize) -> Option<&Failure> {
        self.failed[index].as_ref()
    }

    /// Compiles the kernels without an earlier twin, [`JOBS`] at a time.
    fn compile_all(&mut self) -> Result<(), Failure> {
        let fresh = |&i: &usize| self.failed[i].is_none() && self.twins[i] == i;
        let todo: Vec<usize> = (0..self.builds.len()).filter(fresh).collect();
        let mut unknown = Vec::new();
        for index in todo {
            match Cache::user().find(self.sources[index].key.clone()) {
                Some(object) => self.folder.write(&format!("k{index}.o"), object)?,
                None => unknown.push(index),
            }
        }
        let todo = unknown;
        let builds: Vec<Build> = todo.iter().map(|&index| self.builds[index]).collect();
        let headers = Headers::compile(&self.folder, &builds)?;
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..JOBS.min(todo.len()) {
                scope.spawn(|| {
                    while let Some(&index) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = self.compile_kernel(index, &headers);
                        results.lock().expect("no job panics").push((index, result));
                    }
                });
            }
        });
        for (index, result) in results.into_inner().expect("no job panics") {
            let Some(messages) = result? else { continue };
            for (twin, failed) in self.twins.iter().zip(&mut self.failed) {
                if *twin == index && failed.is_none() {
                    *failed = Some(Failure::Compile(messages.clone()));
                }
            }
        }
        Ok(())
    }

    fn compile_kernel(
        &self,
        index: usize,
        headers: &Headers<'a>,
    ) -> Result<Option<String>, Failure> {
        let Build { machine, flags, .. } = self.builds[index];
        let (source, object) = (format!("k{index}.c"), format!("k{index}.o"));
        let Source { text, key, .. } = &self.sources[index];
        self.folder.write(&source, text)?;
        let mut args = headers.flags(&self.builds[index]);
        args.extend(["-c", &source, "-o", &object]);
        let messages = self.folder.compiler(machine, flags, &args)?;
        if messages.is_none() {
            let made = fs::read(self.folder.path(&object));
            Cache::user()
                .keep(key.clone(), made.map_err(|error| system("read an object", &error))?);
        }
        Ok(messages)
    }

    /// The function that calls a kernel with an array of ports.
    pub(super) fn caller(&self, index: usize) -> &str {
        &self.sources[self.twins[index]].caller
    }

    /// Links the kernels of `alive` with `driver` and its `table` into `batch`.
    pub(super) fn link(&self, alive: &[usize], driver: &str, table: &str) -> Result<(), Failure> {
        let machine = self.builds[alive[0]].machine;
        let support = match machine.system {
            System::Hosted => HOSTED,
            System::BareRiscv32 => BARE_RISCV32,
        };
        self.folder.write("support.c", support)?;
        self.folder.write("table.h", table)?;
        self.folder.write("driver.c", driver)?;
        let used: BTreeSet<usize> = alive.iter().map(|&index| self.twins[index]).collect();
        let mut objects: Vec<String> = used.iter().map(|index| format!("k{index}.o")).collect();
        objects.extend(self.objects.iter().map(|path| path.display().to_string()));
        // Without the flag the compiler turns the loop inside memcpy into a call of memcpy.
        let mut args = vec!["-O1", "-fno-builtin", "-I.", "driver.c", "support.c"];
        args.extend(objects.iter().map(String::as_str));
        args.extend(["-o", "batch"]);
        if machine.system == System::BareRiscv32 {
            args.push("-lgcc");
        }
        match self.folder.compiler(machine, &[], &args)? {
            None => Ok(()),
            Some(messages) => Err(Failure::Link(messages)),
        }
    }

    /// Runs `batch` on `input`; returns its output and the reason if it died.
    pub(super) fn execute(
        &self,
        machine: &Machine,
        input: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<String>), Failure> {
        self.folder.write("input", input)?;
        let run = || -> io::Result<(Vec<u8>, Option<String>)> {
            let mut command = machine.command(&self.folder.path("batch"));
            command.stdin(File::open(self.folder.path("input"))?);
            command.stdout(File::create(self.folder.path("output"))?);
            let errors = File::create(self.folder.path("errors"))?;
            let mut child = command.stderr(errors).spawn()?;
            let how = match wait(&mut child, TIME_LIMIT)? {
                None => Some(format!("it ran longer than {} seconds", TIME_LIMIT.as_secs())),
                Some(status) if status.success() => None,
                Some(status) => {
                    let bytes = fs::read(self.folder.path("errors"))?;
                    let text = format!("{status}\n{}", String::from_utf8_lossy(&bytes));
                    Some(text.trim_end().to_string())
                }
            };
            Ok((fs::read(self.folder.path("output"))?, how))
        };
        run().map_err(|error| system("run a batch", &error))
    }

    /// The results of the `alive` kernels, or of those up to a crash.
    fn run_alive(
        &self,
        alive: &[usize],
        answers: &mut [Option<Result<Outputs, Failure>>],
    ) -> Result<(), Failure> {
        self.link(alive, DRIVER, &self.table(alive))?;
        let mut input = Vec::new();
        for &index in alive {
            self.builds[index].kernel.calls.iter().flatten().for_each(|bytes| input.extend(bytes));
        }
        let (output, how) = self.execute(self.builds[alive[0]].machine, input)?;
        self.read_answers(alive, &output, how, answers);
        Ok(())
    }
}

/// The C of a kernel, with names that no other kernel has.
struct Source {
    text: String,
    caller: String,
    /// The key of its object.
    key: Key,
}

impl Source {
    fn new(build: &Build) -> Source {
        let Build { machine, flags, kernel } = build;
        let Kernel { text, symbol, .. } = kernel;
        let count = ports(kernel).len();
        let mut key = Key::new(&machine.compiler, machine.cflags.iter().chain(*flags));
        key.add(text);
        key.add(symbol);
        key.add(count.to_le_bytes());
        let name = &key.clone().name()[..16];
        let caller = format!("lab_call_{name}");
        let args: Vec<String> = (0..count).map(|port| format!("ports[{port}]")).collect();
        let text = format!(
            "#define {symbol} lab_{name}_{symbol}\n#line 1 \"{symbol}.c\"\n{text}\n\
             void {caller}(void **ports);\n\
             void {caller}(void **ports) {{ (void)ports; {symbol}({}); }}\n",
            args.join(", ")
        );
        Source { text, caller, key }
    }
}

/// The sizes of all ports of a kernel: inputs, then outputs.
pub(super) fn ports(kernel: &Kernel) -> Vec<usize> {
    let inputs = kernel.calls.first().into_iter().flatten().map(Vec::len);
    inputs.chain(kernel.outputs.iter().copied()).collect()
}

/// The failure for an error of the operating system.
pub(super) fn system(what: &str, error: &io::Error) -> Failure {
    Failure::System(format!("cannot {what}: {error}"))
}

/// A temporary folder as the working directory of compilers.
pub(super) struct Folder(TempDir);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let made = tempfile::Builder::new().prefix("usuba-").tempdir();
        let folder = made.map(Folder).map_err(|error| system("make a temporary folder", &error))?;
        // Written before any compile: compilers run concurrently and must not see a partial file.
        let include = folder.path("include");
        fs::create_dir(include).map_err(|error| system("make a folder", &error))?;
        folder.write("include/string.h", BARE_STRING_H)?;
        Ok(folder)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
        fs::write(self.path(name), bytes).map_err(|error| system("write a temporary file", &error))
    }

    /// Runs the compiler in the folder; its messages if it fails. Relative file names keep the
    /// folder out of the messages.
    pub(super) fn compiler(
        &self,
        machine: &Machine,
        flags: &[&str],
        args: &[&str],
    ) -> Result<Option<String>, Failure> {
        let mut command = machine.compile();
        if machine.system == System::BareRiscv32 {
            command.args(["-isystem", "include"]);
        }
        command.args(flags).args(args).current_dir(self.0.path()).stdin(Stdio::null());
        let output = command.output().map_err(|error| system("run the compiler", &error))?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok((!output.status.success()).then_some(messages))
    }
}

/// See [`super::compiles`].
pub(super) fn compiles(
    machine: &Machine,
    flags: &[&str],
    cxx: bool,
    text: &str,
) -> Result<(), Failure> {
    let language = if cxx { "c++" } else { "c" };
    let args = machine.cflags.iter().chain(flags).chain([&"-x", &language]);
    let mut key = Key::new(&machine.compiler, args);
    key.add(text);
    if Cache::user().find(key.clone()).is_some() {
        return Ok(());
    }
    let folder = Folder::new()?;
    folder.write("text.c", text)?;
    match folder.compiler(machine, flags, &["-x", language, "-c", "text.c", "-o", "text.o"])? {
        None => {
            // The cache entry is empty: it records only that the text compiles.
            Cache::user().keep(key, Vec::new());
            Ok(())
        }
        Some(messages) => Err(Failure::Compile(messages)),
    }
}

/// For each kernel the first one with the same C, compiler and flags.
fn twins(builds: &[Build]) -> Vec<usize> {
    let mut first = HashMap::new();
    let same = builds.iter().map(|Build { machine, flags, kernel }| {
        let count = ports(kernel).len();
        (&machine.compiler, &machine.cflags, flags, &kernel.text, &kernel.symbol, count)
    });
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

/// Waits for `child`; kills it and returns `None` once `limit` has passed.
pub fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
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

impl Suite<'_> {
    /// The driver's tables: sizes, counts and callers of the kernels.
    fn table(&self, alive: &[usize]) -> String {
        let mut callers = String::new();
        let mut sizes = Vec::new();
        let mut rows = String::new();
        let (mut arena, mut most) = (0, 0);
        for &index in alive {
            let kernel = self.builds[index].kernel;
            let ports = ports(kernel);
            // Guard bytes, and slack for the alignment, on both sides of each port.
            arena = arena.max(ports.iter().map(|size| size + 4 * GUARD).sum::<usize>());
            most = most.max(ports.len());
            let caller = self.caller(index);
            callers += &format!("void {caller}(void **ports);\n");
            rows += &format!(
                "    {{{caller}, {}, {}, {}, {}, {}}},\n",
                sizes.len(),
                ports.len() - kernel.outputs.len(),
                ports.len(),
                kernel.align,
                kernel.calls.len(),
            );
            sizes.extend(ports);
        }
        let sizes: String = sizes.iter().map(|size| format!("{size},")).collect();
        format!(
            "{callers}#define ARENA {}\n#define PORTS {}\n\
             static const size_t sizes[] = {{{sizes}0}};\n\
             static const struct kernel kernels[] = {{\n{rows}}};\n",
            arena + GUARD,
            most + 1,
        )
    }

    /// Parses the records of the driver: for each call a status byte and the outputs.
    fn read_answers(
        &self,
        alive: &[usize],
        output: &[u8],
        how: Option<String>,
        answers: &mut [Option<Result<Outputs, Failure>>],
    ) {
        let mut rest = output;
        for &index in alive {
            let kernel = self.builds[index].kernel;
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
        // If the process dies after its last record, one of the calls corrupted it, most likely the
        // last.
        if let (Some(how), Some(&last)) = (how, alive.last()) {
            let call = self.builds[last].kernel.calls.len().saturating_sub(1);
            answers[last] = Some(Err(Failure::Crash { call, how }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc;

    /// The race is rare: a compiler must find a partially written header.
    #[test]
    fn a_compiler_leaves_the_headers_of_its_neighbours_alone() {
        let Ok(machine) = cc::find("gp32") else { return };
        let folder = Folder::new().expect("a folder");
        folder.write("include/string.h", "int from_the_test;\n").expect("the header");
        folder.write("a.c", "#include <string.h>\nint main(void) { return 0; }\n").expect("a.c");
        let messages = folder.compiler(&machine, &[], &["-c", "a.c", "-o", "a.o"]).expect("runs");
        assert_eq!(messages, None);
        let header = fs::read_to_string(folder.path("include/string.h")).expect("the header");
        assert_eq!(header, "int from_the_test;\n");
    }
}
