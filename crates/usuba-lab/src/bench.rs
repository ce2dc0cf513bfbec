//! Verifies and times the functions of cipher folders.
//!
//! What is timed is what was verified: one object per function and slicing holds the kernel, the
//! byte interface and a driver with three modes. A first process compares the blocks with the
//! test vectors, for all lanes and a tail; a second one, on native targets only, times the kernel
//! on registers and `_blocks` on 16 KiB by turns.

use std::fmt;
use std::path::Path;

use usuba::emit::c::Emitted;
use usuba::ir::Slicing;
use usuba::passes::interleave;
use usuba::passes::pipeline::PipelineOptions;
use usuba::target::{self, Target};

use crate::cc::{self, Family, Machine};
use crate::cipher::{self, Built, Cipher, Function, Vector};
use crate::native::{Build, Kernel, Samples, Suite, Timing};

/// Bytes that `_blocks` is timed on, or the next smaller number of whole batches.
const MESSAGE: usize = 16 << 10;

/// One way to compile: sides that are compared differ in this.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    pub label: String,
    pub pipeline: PipelineOptions,
    pub family: Family,
    /// Flags of the C compiler after those of the target.
    pub flags: Vec<String>,
}

impl Default for Side {
    fn default() -> Side {
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.interleave = interleave::Choice::AUTO;
        Side { label: "default".into(), pipeline, family: Family::Any, flags: vec!["-O3".into()] }
    }
}

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub cipher: &'a Cipher,
    pub function: &'a Function,
    pub slicing: Slicing,
    pub side: &'a Side,
}

/// Cycles per byte.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Speed {
    pub median: f64,
    /// The tenth and the ninetieth percentile.
    pub low: f64,
    pub high: f64,
}

impl Speed {
    fn new(samples: &Samples, bytes: usize) -> Speed {
        let per_byte = |share| samples.percentile(share) / bytes as f64;
        Speed { median: per_byte(0.5), low: per_byte(0.1), high: per_byte(0.9) }
    }
}

/// A function that computes what its vectors say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// Number of blocks that were compared.
    pub blocks: usize,
    /// Instances of one call of the kernel.
    pub instances: usize,
    /// How many of them are side by side in registers of their own.
    pub copies: usize,
    /// The kernel on registers, per input byte (per output byte where there are more).
    pub kernel: Option<Speed>,
    /// The byte interface with packing, keys set up before.
    pub bytes: Option<Speed>,
}

/// Why there is no measurement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// This machine cannot, or the slicing does not exist on the target.
    Skipped(String),
    /// It does not compile, or computes something else.
    Failed(String),
}

/// Verifies `subjects` on `target`, and times them by turns where the target is native and
/// `timing` is given. One answer per subject, in order.
pub fn measure(
    target: &'static Target,
    subjects: &[Subject],
    timing: Option<Timing>,
) -> Vec<Result<Measured, Problem>> {
    let prepared: Vec<Result<Prepared, Problem>> = subjects
        .iter()
        .enumerate()
        .map(|(number, subject)| Prepared::new(target, subject, number))
        .collect();
    let ready: Vec<&Prepared> = prepared.iter().flatten().collect();
    let flags: Vec<Vec<&str>> =
        ready.iter().map(|p| p.side.flags.iter().map(String::as_str).collect()).collect();
    let mut builds = Vec::new();
    for (prepared, flags) in ready.iter().zip(&flags) {
        for kernel in &prepared.kernels {
            builds.push(Build { machine: &prepared.machine, flags, kernel });
        }
    }
    let mut results = match Suite::compile(builds) {
        Ok(suite) => run(&suite, &ready, timing),
        Err(failure) => ready.iter().map(|_| Err(failure.to_string())).collect(),
    }
    .into_iter();
    let answers = prepared.iter().map(|prepared| match prepared {
        Err(problem) => Err(problem.clone()),
        Ok(_) => results.next().expect("one result per subject").map_err(Problem::Failed),
    });
    answers.collect()
}

/// The kernels of a prepared subject: verify, time the bytes, time the registers.
const MODES: usize = 3;

/// A subject as C.
struct Prepared<'a> {
    side: &'a Side,
    machine: Machine,
    built: Built,
    /// What the verifying calls should put out.
    expected: Vec<Vec<u8>>,
    kernels: [Kernel; MODES],
    /// Blocks in one timed call of the byte interface.
    message_blocks: usize,
}

impl<'a> Prepared<'a> {
    fn new(
        target: &'static Target,
        subject: &Subject<'a>,
        number: usize,
    ) -> Result<Prepared<'a>, Problem> {
        let Subject { cipher, function, slicing, side } = *subject;
        let machine =
            cc::find_with(target.name, side.family).map_err(|skip| Problem::Skipped(skip.why))?;
        let name = format!("{}_{number}", function.name);
        let failed = Problem::Failed;
        let built = cipher::build(cipher, function, &name, slicing, target, &side.pipeline)
            .map_err(failed)?;
        let vectors = cipher.vectors(function).map_err(failed)?;
        let batch = built.kernel.instances() as usize;
        let (calls, expected) = verifying_calls(&vectors, &built, batch).map_err(failed)?;
        let text = format!("{}{}", built.text, driver(&built));
        let kernel = |calls: Vec<Vec<Vec<u8>>>, output: usize, align: usize| Kernel {
            text: text.clone(),
            symbol: "drive".into(),
            align,
            calls,
            outputs: vec![output],
        };
        let message_blocks = (MESSAGE / built.input / batch).max(1) * batch;
        let timed = |mode: u8, blocks: usize| {
            let how = how(mode, blocks);
            vec![vec![how, vectors[0].key.clone(), vec![0x5a; blocks * built.input]]]
        };
        let most = expected.iter().map(Vec::len).max().unwrap_or(0);
        let kernels = [
            kernel(calls, most, 1),
            kernel(timed(1, message_blocks), message_blocks * built.output, 64),
            kernel(timed(2, 0), 0, 64),
        ];
        Ok(Prepared { side, machine, built, expected, kernels, message_blocks })
    }

    fn speed(&self, samples: &[Samples]) -> (Speed, Speed) {
        let block = self.built.input.max(self.built.output);
        let bytes = Speed::new(&samples[0], self.message_blocks * block);
        let kernel = Speed::new(&samples[1], self.built.kernel.instances() as usize * block);
        (kernel, bytes)
    }
}

fn how(mode: u8, blocks: usize) -> Vec<u8> {
    vec![mode, blocks as u8, (blocks >> 8) as u8, (blocks >> 16) as u8]
}

/// The inputs of each call, and what each should put out.
type Calls = (Vec<Vec<Vec<u8>>>, Vec<Vec<u8>>);

/// One call per key with every vector of that key in turn, in two full batches and a tail.
fn verifying_calls(vectors: &[Vector], built: &Built, batch: usize) -> Result<Calls, String> {
    let mut keys: Vec<&Vec<u8>> = vectors.iter().map(|vector| &vector.key).collect();
    keys.sort();
    keys.dedup();
    let wrong = |vector: &&Vector| {
        vector.input.len() != built.input
            || vector.output.len() != built.output
            || vector.key.len() != keys[0].len()
            || vector.key.is_empty() == built.keyed
    };
    if vectors.iter().any(|vector| wrong(&vector)) {
        return Err(format!(
            "the vectors of {} have other sizes than its parameters ({} and {} bytes)",
            built.name, built.input, built.output
        ));
    }
    let blocks = 2 * batch + 1;
    let mut calls = Vec::new();
    let mut expected = Vec::new();
    for key in keys {
        let turn: Vec<&Vector> = vectors.iter().filter(|vector| vector.key == *key).collect();
        let turns = turn.iter().cycle().take(blocks);
        let input: Vec<u8> = turns.clone().flat_map(|vector| vector.input.clone()).collect();
        calls.push(vec![how(0, blocks), key.clone(), input]);
        expected.push(turns.flat_map(|vector| vector.output.clone()).collect());
    }
    Ok((calls, expected))
}

/// The function that the runner calls. The mode is the first byte of `how`, the number of blocks
/// the other three: 0 sets up the key and works on blocks, 1 does so with the key of the first
/// call, 2 calls the kernel on registers.
fn driver(built: &Built) -> String {
    let Built { name, kernel, keyed, .. } = built;
    let ports = kernel.params.iter().chain(&kernel.results);
    let mut arrays = String::new();
    let mut args = Vec::new();
    for (number, port) in ports.enumerate() {
        arrays += &format!("        static {} p{number}[{}];\n", port.c_type, port.registers);
        args.push(format!("p{number}"));
    }
    // Pages that nobody wrote to are all the same page, which would be unfairly near.
    let fill: String =
        args.iter().map(|arg| format!(" memset({arg}, 0x5a, sizeof {arg});")).collect();
    let (context, init, argument) = match keyed {
        true => (
            format!("    static {name}_ctx ctx;\n    static int ready;\n"),
            format!("    if (how[0] == 0 || !ready) {{ {name}_init(&ctx, key); ready = 1; }}\n"),
            "&ctx, ",
        ),
        false => (String::new(), "    (void)key;\n".to_string(), ""),
    };
    format!(
        "\nvoid drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out);\n\
         void drive(const uint8_t *how, const uint8_t *key, const uint8_t *in, uint8_t *out) {{\n    \
         const size_t blocks = how[1] | (size_t)how[2] << 8 | (size_t)how[3] << 16;\n\
         {context}{init}    if (how[0] < 2) {{\n        {name}_blocks({argument}in, out, blocks);\n    \
         }} else {{\n{arrays}        static int filled;\n        \
         if (!filled) {{{fill} filled = 1; }}\n        {}({});\n    }}\n}}\n",
        kernel.name,
        args.join(", ")
    )
}

/// Verifies, then times what is right.
fn run(
    suite: &Suite,
    ready: &[&Prepared],
    timing: Option<Timing>,
) -> Vec<Result<Measured, String>> {
    let answers = suite.run_some(&(0..ready.len()).map(|n| MODES * n).collect::<Vec<_>>());
    let mut results: Vec<Result<Measured, String>> = ready
        .iter()
        .zip(answers)
        .map(|(prepared, answer)| {
            let outputs = answer.map_err(|failure| failure.to_string())?;
            let mut blocks = 0;
            for (call, (want, got)) in prepared.expected.iter().zip(&outputs).enumerate() {
                let size = prepared.built.output;
                let mut pairs = want.chunks(size).zip(got[0].chunks(size));
                if let Some(block) = pairs.position(|(want, got)| want != got) {
                    return Err(format!("key {call}: block {block} is not what the vectors say"));
                }
                blocks += want.len() / size;
            }
            let Emitted { copies, .. } = prepared.built.kernel;
            let instances = prepared.built.kernel.instances() as usize;
            let copies = copies as usize;
            Ok(Measured { blocks, instances, copies, kernel: None, bytes: None })
        })
        .collect();
    let Some(timing) = timing else { return results };
    let timed: Vec<usize> =
        (0..ready.len()).filter(|&n| results[n].is_ok() && ready[n].machine.is_native()).collect();
    let which: Vec<usize> = timed.iter().flat_map(|n| [MODES * n + 1, MODES * n + 2]).collect();
    match suite.time(&which, timing) {
        Ok(samples) => {
            for (&n, samples) in timed.iter().zip(samples.chunks(2)) {
                let (kernel, bytes) = ready[n].speed(samples);
                if let Ok(measured) = &mut results[n] {
                    (measured.kernel, measured.bytes) = (Some(kernel), Some(bytes));
                }
            }
        }
        Err(failure) => {
            for n in timed {
                results[n] = Err(failure.to_string());
            }
        }
    }
    results
}

/// Which functions a table shows.
#[derive(Clone, Default, Debug)]
pub struct Choice {
    /// Only folders of these names, if any.
    pub ciphers: Vec<String>,
    /// Only these targets, if any.
    pub targets: Vec<String>,
    /// Only these slicings, if any.
    pub slicings: Vec<Slicing>,
    /// Every function of a folder, not only the first of each slicing.
    pub all: bool,
    /// No timing, if absent.
    pub timing: Option<Timing>,
}

/// A line of the table.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub function: String,
    pub slicing: Slicing,
    pub target: &'static str,
    pub result: Result<Measured, Problem>,
}

/// Verified speeds of cipher functions on all targets.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl Table {
    /// Whether nothing failed; what this machine cannot do does not count.
    pub fn is_good(&self) -> bool {
        !self.rows.iter().any(|row| matches!(row.result, Err(Problem::Failed(_))))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.function.len()).max().unwrap_or(8).max(8);
        writeln!(f, "Cycles per byte: the kernel on registers, and with packing on 16 KiB.\n")?;
        writeln!(
            f,
            "{:width$}  slicing  target  lanes  {:8}  {:>8}  {:>8}",
            "function", "vectors", "kernel", "bytes"
        )?;
        for Row { function, slicing, target, result } in &self.rows {
            let slicing = format!("{slicing:?}");
            write!(f, "{function:width$}  {slicing:7}  {target:6}  ")?;
            match result {
                Ok(measured) => {
                    let speed = |speed: &Option<Speed>| {
                        speed.map_or("-".to_string(), |speed| format!("{:.2}", speed.median))
                    };
                    let Measured { instances, copies, .. } = measured;
                    let instances = match copies {
                        1 => instances.to_string(),
                        _ => format!("{copies}x{}", instances / copies),
                    };
                    writeln!(
                        f,
                        "{instances:>5}  {:8}  {:>8}  {:>8}",
                        "verified",
                        speed(&measured.kernel),
                        speed(&measured.bytes)
                    )?;
                }
                Err(Problem::Skipped(why)) => writeln!(f, "       skipped: {why}")?,
                Err(Problem::Failed(why)) => {
                    writeln!(f, "       FAILED: {}", why.lines().next().unwrap_or(""))?;
                }
            }
        }
        Ok(())
    }
}

/// Verifies, and times where asked for, the functions of all cipher folders under `root` on all
/// targets. `progress` hears the name of each target before it starts.
///
/// # Errors
/// A folder cannot be read, or nothing is left of the choice.
pub fn demo(root: &Path, choice: &Choice, progress: &mut dyn FnMut(&str)) -> Result<Table, String> {
    let ciphers = cipher::find(root)?;
    let side = Side::default();
    let subjects = subjects(&ciphers, choice, &side);
    let wanted = |name: &str| choice.targets.is_empty() || choice.targets.iter().any(|t| t == name);
    let mut rows = Vec::new();
    for target in target::ALL.iter().copied().filter(|target| wanted(target.name)) {
        progress(target.name);
        let results = measure(target, &subjects, choice.timing);
        rows.extend(subjects.iter().zip(results).map(|(subject, result)| Row {
            function: subject.function.name.clone(),
            slicing: subject.slicing,
            target: target.name,
            result,
        }));
    }
    if rows.is_empty() {
        return Err(format!("nothing in {} fits the choice", root.display()));
    }
    // By function and slicing; the targets stay in their order.
    let place = |row: &Row| {
        let same = |s: &Subject| s.function.name == row.function && s.slicing == row.slicing;
        subjects.iter().position(same)
    };
    rows.sort_by_key(place);
    Ok(Table { rows })
}

/// The chosen functions with each of their slicings.
fn subjects<'a>(ciphers: &'a [Cipher], choice: &Choice, side: &'a Side) -> Vec<Subject<'a>> {
    let mut subjects: Vec<Subject> = Vec::new();
    for cipher in ciphers {
        let name = cipher.folder.file_name().unwrap_or_default().to_string_lossy();
        if !choice.ciphers.is_empty() && !choice.ciphers.iter().any(|c| *c == name) {
            continue;
        }
        for function in &cipher.functions {
            for &slicing in &function.slicings {
                let unwanted = !choice.slicings.is_empty() && !choice.slicings.contains(&slicing);
                let folder = &cipher.folder;
                let shown = |s: &Subject| s.cipher.folder == *folder && s.slicing == slicing;
                if unwanted || !choice.all && subjects.iter().any(shown) {
                    continue;
                }
                subjects.push(Subject { cipher, function, slicing, side });
            }
        }
    }
    subjects
}

/// Sides of one function, measured by turns.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    pub rows: Vec<(String, Result<Measured, Problem>)>,
}

impl Comparison {
    /// How many times as long the kernel of row `index` takes as that of the first row.
    pub fn ratio(&self, index: usize) -> Option<f64> {
        let median = |index: usize| {
            let (_, result) = self.rows.get(index)?;
            Some(result.as_ref().ok()?.kernel?.median)
        };
        Some(median(index)? / median(0)?)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(label, _)| label.len()).max().unwrap_or(4).max(4);
        writeln!(f, "{:width$}  {:>8}  {:>17}  {:>6}", "side", "kernel", "10% .. 90%", "ratio")?;
        for (index, (label, result)) in self.rows.iter().enumerate() {
            write!(f, "{label:width$}  ")?;
            match result {
                Ok(Measured { kernel: Some(speed), .. }) => {
                    let ratio = self.ratio(index).map_or(String::new(), |r| format!("{r:.3}"));
                    let Speed { median, low, high } = speed;
                    let range = format!("{low:.3} .. {high:.3}");
                    writeln!(f, "{median:8.3}  {range:>17}  {ratio:>6}")?;
                }
                Ok(_) => writeln!(f, "not timed")?,
                Err(Problem::Skipped(why)) => writeln!(f, "skipped: {why}")?,
                Err(Problem::Failed(why)) => {
                    writeln!(f, "FAILED: {}", why.lines().next().unwrap_or(""))?;
                }
            }
        }
        Ok(())
    }
}

/// Compares `sides` of one function on one native target, by turns in one process; each side is
/// verified first. Ratios are to the first side.
pub fn compare(
    cipher: &Cipher,
    function: &Function,
    slicing: Slicing,
    target: &'static Target,
    sides: &[Side],
    timing: Timing,
) -> Comparison {
    let subjects: Vec<Subject> =
        sides.iter().map(|side| Subject { cipher, function, slicing, side }).collect();
    let results = measure(target, &subjects, Some(timing));
    let labels = sides.iter().map(|side| side.label.clone());
    Comparison { rows: labels.zip(results).collect() }
}
