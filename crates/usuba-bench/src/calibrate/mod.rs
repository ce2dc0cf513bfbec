//! Calibration: latencies and throughputs of this machine, beside the figures of a CPU model.
//!
//! ```text
//! instructions   registers  mnemonic    latency  model  per cycle  model
//! rotation       512        vprold         2.00      2       1.00      1
//! ```
//!
//! A dependent chain of an instruction measures its latency, a stream of independent ones its
//! throughput. Both run in the harness of the benchmarks: kernels take turns, and a chain of
//! additions before each sample gives its core cycles. Samples count if the chain after them is as
//! long, so that the core kept its speed in between. The reported number is their tenth percentile,
//! because a disturbance makes a sample longer and never shorter. Cache sizes are the largest buffers
//! through which a chain of loads runs without misses.
//!
//! - `rows`: the table of instructions; `text`, `calibrate.c`: its C file.
//! - `listing`: the results as text.

mod listing;
mod rows;
mod text;

use serde::Serialize;
use usuba::isa::{self, cpu::Cpu};
use usuba_run::cc::{self, Family, Machine};
use usuba_run::cpuid::Identity;
use usuba_run::native::{Build, Failure, Kernel, Samples, Suite, Timing};

use crate::tune::cpu;
use rows::Row;
use text::Part;

/// The version of the JSON form.
const FORMAT: u32 = 1;

/// A measured number differs from its figure if it is this share away.
const TOLERANCE: f64 = 0.15;

/// The percentile of the samples that counts.
const PERCENTILE: f64 = 0.1;

/// Sizes of buffers in KiB.
const SIZES: [usize; 19] =
    [16, 24, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1280, 1536, 2048, 3072, 4096];

/// The results of one machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Calibration {
    pub format: u32,
    /// The name of the processor, and its numbers.
    pub processor: String,
    /// The CPU model of the figures; `None` if no model lists the processor.
    pub cpu: Option<&'static str>,
    pub rows: Vec<Measured>,
    pub caches: Vec<Cache>,
    /// Cycles of a load that waits for the previous one, by KiB of the buffer.
    pub walks: Vec<(usize, f64)>,
    pub skipped: Vec<Skipped>,
    /// Remarks, such as excessive noise.
    pub notes: Vec<String>,
}

/// One row of the table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measured {
    /// The group of instructions.
    pub instructions: &'static str,
    /// `general`, or the bits of a vector register.
    pub registers: &'static str,
    pub mnemonic: String,
    /// Cycles from the operand to the result.
    pub latency: Compared,
    /// Instructions that begin in a cycle.
    pub per_cycle: Compared,
}

impl Measured {
    /// Whether a number differs from its figure by more than 15 %.
    pub fn differs(&self) -> bool {
        self.latency.differs || self.per_cycle.differs
    }
}

/// A measured number beside the figure of the model.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// `None` where the row has no such measurement.
    pub measured: Option<f64>,
    /// `None` where the model has no figure.
    pub model: Option<f64>,
    /// Whether both exist and are more than 15 % apart.
    pub differs: bool,
}

impl Compared {
    fn new(measured: Option<f64>, model: Option<f64>) -> Compared {
        let apart = |(measured, model): (f64, f64)| (measured / model - 1.0).abs() > TOLERANCE;
        Compared { measured, model, differs: measured.zip(model).is_some_and(apart) }
    }
}

/// The size of a cache in KiB.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Cache {
    /// 1 or 2.
    pub level: u32,
    pub size: Compared,
}

/// A row that this machine lacks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Skipped {
    pub instructions: &'static str,
    pub registers: &'static str,
    /// The missing features, as C compilers name them.
    pub missing: Vec<&'static str>,
}

/// Measures this machine with a C compiler of `family`, and compares it with `cpu`.
///
/// # Errors
/// The machine is no x86-64, has no such C compiler, or the measurement fails.
pub fn calibrate(
    cpu: Option<&'static Cpu>,
    family: Family,
    timing: Timing,
) -> Result<Calibration, String> {
    if !cfg!(target_arch = "x86_64") {
        let arch = std::env::consts::ARCH;
        return Err(format!(
            "a calibration measures instructions of x86-64, and this machine is {arch}; help: \
             `usubac bench` measures kernels on every machine"
        ));
    }
    let machine = cc::find_native("gp64", family).map_err(|skip| skip.why)?;
    let (rows, lacking): (Vec<Row>, Vec<Row>) =
        rows::all().into_iter().partition(|row| row.missing(cc::has_feature).is_empty());
    let parts: Vec<Part> = rows
        .iter()
        .flat_map(|row| [(true, row.chain), (false, row.stream)].map(|(c, text)| (row, c, text)))
        .filter(|(_, _, text)| !text.is_empty())
        .map(|(row, chained, _)| Part { row, chained })
        .collect();
    let samples = run(&machine, &parts, timing).map_err(|failure| failure.to_string())?;
    let (of_parts, of_sizes) = samples.split_at(parts.len());
    let cycles = |row: &Row, chained: bool| {
        let at = parts.iter().position(|part| part.row.is(row) && part.chained == chained)?;
        Some(of_parts[at].steady(PERCENTILE) / text::INSTRUCTIONS as f64)
    };
    let walk = |(size, samples): (usize, &Samples)| {
        (size, samples.steady(PERCENTILE) / text::STEPS as f64)
    };
    let walks: Vec<(usize, f64)> = SIZES.into_iter().zip(of_sizes).map(walk).collect();
    let measured = rows.iter().map(|row| {
        let unit = cpu.and_then(|cpu| cpu.unit(isa::find(row.file.target())?));
        let (latency, per_cycle) = unit.map_or((None, None), |unit| row.figure.in_model(unit));
        Measured {
            instructions: row.group,
            registers: row.file.name(),
            mnemonic: row.mnemonics(),
            latency: Compared::new(cycles(row, true), latency),
            per_cycle: Compared::new(
                cycles(row, false).map(|cycles| row.counted() as f64 / cycles),
                per_cycle,
            ),
        }
    });
    Ok(Calibration {
        format: FORMAT,
        processor: match Identity::here() {
            Some(identity) => format!("{} ({identity})", cpu::model()),
            None => cpu::model(),
        },
        cpu: cpu.map(|cpu| cpu.name),
        rows: measured.collect(),
        caches: caches(&walks, cpu),
        skipped: lacking
            .iter()
            .map(|row| Skipped {
                instructions: row.group,
                registers: row.file.name(),
                missing: row.missing(cc::has_feature),
            })
            .collect(),
        notes: notes(&samples),
        walks,
    })
}

/// Times all parts, then all buffers, in turns.
fn run(machine: &Machine, parts: &[Part], timing: Timing) -> Result<Vec<Samples>, Failure> {
    let text = text::file(parts, &SIZES.map(|size| size * 1024));
    let kernel = |number: usize| Kernel {
        text: text.clone(),
        symbol: "calibrate".into(),
        align: 64,
        calls: vec![vec![(number as u16).to_le_bytes().to_vec()]],
        outputs: vec![text::MEMORY],
    };
    let kernels: Vec<Kernel> = (0..parts.len() + SIZES.len()).map(kernel).collect();
    let flags: &[&str] = &["-O1"];
    let builds = kernels.iter().map(|kernel| Build { machine, flags, kernel }).collect();
    Suite::compile(builds)?.time(&(0..kernels.len()).collect::<Vec<_>>(), timing)
}

/// The sizes of the two caches of a core. A cache ends where a load takes longer than halfway from
/// its latency to the latency of the next level. The latencies come from three buffers:
/// the smallest, one of 128 KiB, which the second cache of every processor that we know holds, and
/// the largest.
fn caches(walks: &[(usize, f64)], cpu: Option<&'static Cpu>) -> Vec<Cache> {
    let latency = |least: usize| walks.iter().find(|&&(size, _)| size >= least).map(|walk| walk.1);
    let levels = [latency(0), latency(128), walks.last().map(|walk| walk.1)];
    let last = |level: usize| {
        let limit = (levels[level]? + levels[level + 1]?) / 2.0;
        walks.iter().take_while(|walk| walk.1 <= limit).last().map(|walk| walk.0)
    };
    let (first, second) = (last(0), last(1));
    let figures = cpu.map_or((0, 0), |cpu| cpu.caches);
    let cache = |level, measured: Option<usize>, figure: u32| Cache {
        level,
        size: Compared::new(
            measured.map(|size| size as f64),
            (figure > 0).then_some(f64::from(figure)),
        ),
    };
    vec![cache(1, first, figures.0), cache(2, second, figures.1)]
}

/// Remarks on the conditions of the measurement.
fn notes(samples: &[Samples]) -> Vec<String> {
    let mut notes = Vec::new();
    let noisy = |samples: &&Samples| samples.calibration_scatter() > crate::bench::NOISY;
    let count = samples.iter().filter(noisy).count();
    if count > 0 {
        notes.push(format!(
            "the clock scattered in {count} of {} measurements; end other programs and repeat",
            samples.len()
        ));
    }
    if samples.iter().any(|samples| samples.core.is_none()) {
        notes.push("the system did not pin the process to a core".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_beyond_the_tolerance() {
        assert!(!Compared::new(Some(1.14), Some(1.0)).differs);
        assert!(Compared::new(Some(1.16), Some(1.0)).differs);
        assert!(Compared::new(Some(0.84), Some(1.0)).differs);
        assert!(!Compared::new(Some(9.0), None).differs);
    }

    #[test]
    fn a_cache_ends_where_walks_become_slower() {
        let cycles = |&size: &usize| match size {
            0..=32 => 4.0,
            33..=1024 => 14.0 + size as f64 / 1024.0,
            _ => 50.0,
        };
        let walks: Vec<(usize, f64)> = SIZES.iter().map(|size| (*size, cycles(size))).collect();
        let zen4 = usuba::isa::cpu::find("zen4");
        let sizes: Vec<Compared> = caches(&walks, zen4).iter().map(|cache| cache.size).collect();
        assert_eq!(sizes[0], Compared { measured: Some(32.0), model: Some(32.0), differs: false });
        assert_eq!(sizes[1].measured, Some(1024.0));
        assert_eq!(caches(&walks, None)[0].size.model, None);
    }
}
