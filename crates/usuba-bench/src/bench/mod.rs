//! Benchmarks: verifies and times the functions of cipher folders.
//!
//! Verified and timed code are the same: one object per function and slicing holds the kernel, the
//! byte interface and a driver with a mode for each. A first process compares the blocks with the
//! test vectors, for all lanes and a tail. On native targets, a second process times in turns
//!
//! - the kernel on registers,
//! - the kernel with transposition: `_blocks` on 16 KiB, with an expanded key,
//! - the whole byte interface: `_init`, and `_blocks` on one block less, so that the last batch is
//!   not full.
//!
//! A third process single-steps one call of the kernel to count its instructions.
//!
//! - `prepare`: a subject as C.
//! - `choice`: the selection of functions.
//! - `variant`: compile options in the notation of the command line.
//! - `compare`: comparison of compile variants of one function.

mod choice;
mod compare;
pub(crate) mod prepare;
mod variant;

use usuba::ir::Slicing;
use usuba::isa::Target;
use usuba::isa::cpu::{self, Cpu};
use usuba::passes::interleave;
use usuba::passes::pipeline::PipelineOptions;

use crate::work::Work;
use usuba_ciphers::{Cipher, Function, Vector};
use usuba_run::cc::Family;
use usuba_run::native::{Build, Inside, Samples, Suite, Timing};
use usuba_run::stats::RankSum;

use prepare::{MODES, Mode, Prepared};

pub use choice::{Choice, subjects};
pub use compare::{Comparison, compare};
pub use variant::{Parse, Variant};

/// The noise threshold: above this scatter (see [`usuba_run::stats::scatter`]) of samples or
/// calibrations, no difference is claimed.
pub const NOISY: f64 = 0.10;

/// A compile variant: the compared options.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    pub label: String,
    pub pipeline: PipelineOptions,
    /// The machine model for latencies and ports.
    pub cpu: &'static Cpu,
    pub family: Family,
    /// Whether kernels are in usubac's assembly language; the rest is C.
    pub assembly: bool,
    /// Flags of the C compiler, after the target's flags.
    pub flags: Vec<String>,
}

impl Default for Side {
    fn default() -> Side {
        let mut pipeline = PipelineOptions::default();
        pipeline.pass.interleave = interleave::Choice::AUTO;
        let (label, flags) = ("default".into(), vec!["-O3".into()]);
        Side { label, pipeline, cpu: cpu::ALL[0], family: Family::Any, assembly: false, flags }
    }
}

/// A function in one slicing, compiled in one variant.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub cipher: &'a Cipher,
    pub function: &'a Function,
    pub slicing: Slicing,
    pub side: &'a Side,
}

/// Cycles per byte.
#[derive(Clone, PartialEq, Debug)]
pub struct Speed {
    pub median: f64,
    /// The tenth and the ninetieth percentile.
    pub low: f64,
    pub high: f64,
    /// Cycles per call, with their calibration.
    pub samples: Samples,
    /// Bytes of one call.
    pub bytes: usize,
}

impl Speed {
    fn new(samples: Samples, bytes: usize) -> Speed {
        let per_byte = |share| samples.percentile(share) / bytes as f64;
        let (median, low, high) = (per_byte(0.5), per_byte(0.1), per_byte(0.9));
        Speed { median, low, high, samples, bytes }
    }

    /// The first and the third quartile.
    pub fn quartiles(&self) -> (f64, f64) {
        let (low, high) = self.samples.quartiles();
        (low / self.bytes as f64, high / self.bytes as f64)
    }

    /// All samples, ascending.
    pub fn per_byte(&self) -> Vec<f64> {
        self.samples.all().iter().map(|cycles| cycles / self.bytes as f64).collect()
    }

    /// The median of each process.
    pub fn processes(&self) -> Vec<f64> {
        self.samples.processes().iter().map(|cycles| cycles / self.bytes as f64).collect()
    }

    /// The significance of the difference from `other`; see [`Samples::rank_sum`].
    pub fn rank_sum(&self, other: &Speed) -> RankSum {
        usuba_run::stats::rank_sum(&self.processes(), &other.processes())
    }

    /// Whether the samples or the calibrations scatter too much for claims.
    pub fn is_noisy(&self) -> bool {
        self.samples.scatter() > NOISY || self.samples.calibration_scatter() > NOISY
    }
}

/// A function that matches its test vectors.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// The number of compared blocks.
    pub blocks: usize,
    /// Instances of one call of the kernel.
    pub instances: usize,
    /// The interleave factor.
    pub copies: usize,
    /// Bytes of one call of the kernel: the larger of input and output.
    pub call_bytes: usize,
    /// The minimal work of a call.
    pub work: Work,
    /// The kernel on registers.
    pub kernel: Option<Speed>,
    /// The kernel with transposition, for expanded keys.
    pub bytes: Option<Speed>,
    /// The whole byte interface: a key, then blocks with a tail.
    pub whole: Option<Speed>,
    /// The instruction counts of the kernel.
    pub inside: Inside,
}

/// The reason why there is no measurement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// This machine lacks the target, or the target lacks the slicing.
    Skipped(String),
    /// It does not compile to C: the messages.
    Refused(String),
    /// The C does not compile, or its results differ from the vectors.
    Failed(String),
}

/// The scope of the timing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Scope {
    /// The kernel, with transposition, and the whole byte interface.
    #[default]
    All,
    /// The kernel on registers only.
    Kernel,
}

/// Verifies `subjects` on `target`, and times them in turns if the target is native and `timing` is
/// given. One result per subject, in order.
pub fn measure(
    target: &'static Target,
    subjects: &[Subject],
    timing: Option<Timing>,
) -> Vec<Result<Measured, Problem>> {
    Batch::new(target, subjects).measure(timing, Scope::All)
}

/// Subjects as C, before any C compile.
pub struct Batch<'a> {
    prepared: Vec<Result<Prepared<'a>, Problem>>,
}

impl<'a> Batch<'a> {
    /// Compiles `subjects` to C for `target`.
    pub fn new(target: &'static Target, subjects: &[Subject<'a>]) -> Batch<'a> {
        let one = |(number, subject)| Prepared::new(target, subject, number, &[]);
        Batch { prepared: subjects.iter().enumerate().map(one).collect() }
    }

    /// As [`Batch::new`], with more vectors for each subject besides its file.
    pub fn with_more(target: &'static Target, subjects: &[(Subject<'a>, &[Vector])]) -> Batch<'a> {
        let one = |(number, (subject, more)): (usize, &(Subject<'a>, &[Vector]))| {
            Prepared::new(target, subject, number, more)
        };
        Batch { prepared: subjects.iter().enumerate().map(one).collect() }
    }

    /// For each subject the work of one call of its kernel and the bytes of that call. Needs no C
    /// compiler.
    pub fn works(
        target: &'static Target,
        subjects: &[Subject],
    ) -> Vec<Result<(Work, usize), String>> {
        let one = |subject: &Subject| {
            let Subject { cipher, function, slicing, side } = *subject;
            let name = &function.name;
            let built = usuba_run::functions::build_for(
                cipher,
                function,
                name,
                slicing,
                target,
                side.cpu,
                &side.pipeline,
            )?;
            let work = Work::of(&built.program, target);
            Ok((work, built.kernel.instances() as usize * built.input.max(built.output)))
        };
        subjects.iter().map(one).collect()
    }

    /// For each subject its C, compiler and flags, as a text that is equal for subjects with equal
    /// machine code.
    pub fn recipes(&self) -> Vec<Result<String, Problem>> {
        let one = |(number, prepared): (usize, &Result<Prepared, Problem>)| match prepared {
            Ok(prepared) => Ok(prepared.recipe(number)),
            Err(problem) => Err(problem.clone()),
        };
        self.prepared.iter().enumerate().map(one).collect()
    }

    /// Verifies all subjects, and times them in turns if the target is native and `timing` is
    /// given. One result per subject, in order.
    pub fn measure(&self, timing: Option<Timing>, scope: Scope) -> Vec<Result<Measured, Problem>> {
        self.measure_some(&(0..self.prepared.len()).collect::<Vec<_>>(), timing, scope)
    }

    /// Like [`Batch::measure`] for the subjects `which`, in this order.
    pub fn measure_some(
        &self,
        which: &[usize],
        timing: Option<Timing>,
        scope: Scope,
    ) -> Vec<Result<Measured, Problem>> {
        let chosen: Vec<&Result<Prepared, Problem>> =
            which.iter().map(|&n| &self.prepared[n]).collect();
        let ready: Vec<&Prepared> = chosen.iter().filter_map(|p| p.as_ref().ok()).collect();
        let flags: Vec<Vec<&str>> =
            ready.iter().map(|p| p.side.flags.iter().map(String::as_str).collect()).collect();
        let mut builds = Vec::new();
        for (prepared, flags) in ready.iter().zip(&flags) {
            for kernel in &prepared.kernels {
                builds.push(Build { machine: &prepared.machine, flags, kernel });
            }
        }
        let mut results = match Suite::compile(builds) {
            Ok(suite) => run(&suite, &ready, timing, scope),
            Err(failure) => ready.iter().map(|_| Err(failure.to_string())).collect(),
        }
        .into_iter();
        let answers = chosen.iter().map(|prepared| match prepared {
            Err(problem) => Err(problem.clone()),
            Ok(_) => results.next().expect("one result per subject").map_err(Problem::Failed),
        });
        answers.collect()
    }
}

/// The index of a kernel of subject `n` in the suite.
fn at(n: usize, mode: Mode) -> usize {
    MODES * n + mode as usize
}

/// Verifies the subjects, then times the correct ones.
fn run(
    suite: &Suite,
    ready: &[&Prepared],
    timing: Option<Timing>,
    scope: Scope,
) -> Vec<Result<Measured, String>> {
    let verifying: Vec<usize> = (0..ready.len()).map(|n| at(n, Mode::Verify)).collect();
    let answers = suite.run_some(&verifying);
    let mut results: Vec<Result<Measured, String>> = ready
        .iter()
        .zip(answers)
        .map(|(prepared, answer)| {
            let outputs = answer.map_err(|failure| failure.to_string())?;
            let mut blocks = 0;
            for (want, got) in prepared.expected.iter().zip(&outputs) {
                let size = prepared.built.output;
                let mut pairs = want.output.chunks(size).zip(got[0].chunks(size));
                if let Some(block) = pairs.position(|(want, got)| want != got) {
                    let vector = &want.vectors[block % want.vectors.len()];
                    let found = got[0].chunks(size).nth(block).unwrap_or_default();
                    let Prepared { cipher, function, .. } = prepared;
                    return Err(cipher.wrong_compiled(function, vector, (block, found)));
                }
                blocks += want.output.len() / size;
            }
            Ok(Measured {
                blocks,
                instances: prepared.built.kernel.instances() as usize,
                copies: prepared.built.kernel.copies as usize,
                call_bytes: prepared.bytes(Mode::Kernel),
                work: prepared.work.clone(),
                kernel: None,
                bytes: None,
                whole: None,
                inside: Inside::default(),
            })
        })
        .collect();
    let Some(timing) = timing else { return results };
    let native = |&n: &usize| results[n].is_ok() && ready[n].machine.is_native();
    let timed: Vec<usize> = (0..ready.len()).filter(native).collect();
    if let Err(failure) = time(suite, ready, &timed, timing, scope, &mut results) {
        for n in timed {
            results[n] = Err(failure.to_string());
        }
    }
    results
}

/// Times the verified subjects `timed`, and counts their instructions.
fn time(
    suite: &Suite,
    ready: &[&Prepared],
    timed: &[usize],
    timing: Timing,
    scope: Scope,
    results: &mut [Result<Measured, String>],
) -> Result<(), usuba_run::native::Failure> {
    let modes: &[Mode] = match scope {
        Scope::All => &[Mode::Kernel, Mode::Bytes, Mode::Whole],
        Scope::Kernel => &[Mode::Kernel],
    };
    let which: Vec<usize> =
        timed.iter().flat_map(|&n| modes.iter().map(move |&mode| at(n, mode))).collect();
    let kernels: Vec<usize> = timed.iter().map(|&n| at(n, Mode::Kernel)).collect();
    let names: Vec<&str> = timed.iter().map(|&n| ready[n].built.kernel.name.as_str()).collect();
    let samples = suite.time(&which, timing)?;
    let insides = suite.look_into(&kernels, &names)?;
    for ((&n, samples), inside) in timed.iter().zip(samples.chunks(modes.len())).zip(insides) {
        let Ok(measured) = &mut results[n] else { continue };
        measured.inside = inside;
        for (&mode, samples) in modes.iter().zip(samples) {
            let speed = Some(ready[n].speed(mode, samples));
            match mode {
                Mode::Kernel => measured.kernel = speed,
                Mode::Bytes => measured.bytes = speed,
                Mode::Whole => measured.whole = speed,
                Mode::Verify => {}
            }
        }
    }
    Ok(())
}
