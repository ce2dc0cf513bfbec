//! Times the kernels of a suite by turns, in one process on one core.
//!
//! A sample is a batch of calls that lasts some ten microseconds. Right before each batch a chain
//! of dependent additions is timed with the same counter; an addition takes one cycle, so the
//! quotient is in cycles of the core whatever the counter counts and whatever the core's speed
//! is at that moment. Kernels take turns, so that a disturbance meets all of them.
//!
//! The counters of the processor are read by the timed process itself, around each batch.

use super::suite::ports;
use super::{Failure, Suite};
use crate::stats;

const TIMER: &str = include_str!("timer.c");

/// How long to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Samples of each kernel.
    pub rounds: u32,
    /// Additions of the chain, and about as many cycles in a batch of calls.
    pub cycles: u32,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing { rounds: 201, cycles: 40_000 }
    }
}

/// What the processor counted itself in all batches of a kernel, per call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counted {
    pub cycles: f64,
    pub instructions: f64,
}

/// The times of one kernel, one for each batch, and how they were taken.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples {
    /// Cycles per call, ascending.
    cycles: Vec<f64>,
    /// Ticks of the clock per cycle, next to each batch, ascending.
    ticks: Vec<f64>,
    /// The core that the process stayed on; `None` if the system did not let it.
    pub core: Option<u32>,
    /// `None` where the system has no counters for us.
    pub counted: Option<Counted>,
}

impl Samples {
    /// The value that `share` (0 to 1) of the samples do not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        stats::quantile(&self.cycles, share)
    }

    /// The middle sample.
    pub fn median(&self) -> f64 {
        self.percentile(0.5)
    }

    /// The first and the third quartile.
    pub fn quartiles(&self) -> (f64, f64) {
        (self.percentile(0.25), self.percentile(0.75))
    }

    /// All samples, ascending: cycles per call.
    pub fn all(&self) -> &[f64] {
        &self.cycles
    }

    /// Ticks of the clock per cycle: the middle calibration.
    pub fn ticks_per_cycle(&self) -> f64 {
        stats::quantile(&self.ticks, 0.5)
    }

    /// How much the calibrations scatter: the distance of their quartiles as a share of their
    /// median. It is large when the core changes its speed, or works for others in between.
    pub fn calibration_scatter(&self) -> f64 {
        stats::scatter(&self.ticks)
    }

    /// How much the samples scatter, likewise.
    pub fn scatter(&self) -> f64 {
        stats::scatter(&self.cycles)
    }

    /// Whether this kernel and `other` take different times.
    pub fn rank_sum(&self, other: &Samples) -> stats::RankSum {
        stats::rank_sum(&self.cycles, &other.cycles)
    }
}

impl Suite<'_> {
    /// Times the kernels `which` on their first inputs.
    ///
    /// # Errors
    /// A kernel did not compile or has no inputs, the programs run in an emulator, or the
    /// process dies.
    pub fn time(&self, which: &[usize], timing: Timing) -> Result<Vec<Samples>, Failure> {
        let Some(&first) = which.first() else { return Ok(Vec::new()) };
        let machine = self.builds[first].machine;
        if !machine.is_native() {
            return Err(Failure::Request(format!("{machine}: an emulator has no cycles")));
        }
        let (table, input) = self.timer_table(which)?;
        let table =
            format!("#define ROUNDS {}\n#define CYCLES {}\n{table}", timing.rounds, timing.cycles);
        self.link(which, TIMER, &table)?;
        let (output, how) = self.execute(machine, input)?;
        if let Some(how) = how {
            return Err(Failure::Crash { call: 0, how });
        }
        Ok(samples(&output, which.len(), timing))
    }

    /// The data of a driver that calls the kernels `which` on their first inputs, and these inputs.
    pub(super) fn timer_table(&self, which: &[usize]) -> Result<(String, Vec<u8>), Failure> {
        let mut input = Vec::new();
        let mut callers = String::new();
        let mut sizes = Vec::new();
        let mut rows = String::new();
        let mut arena = 0;
        for &index in which {
            if let Some(failure) = self.failure(index) {
                return Err(failure.clone());
            }
            let kernel = self.builds[index].kernel;
            let Some(call) = kernel.calls.first() else {
                return Err(Failure::Request("a kernel without a call cannot be timed".into()));
            };
            call.iter().for_each(|bytes| input.extend(bytes));
            let ports = ports(kernel);
            let caller = format!("lab_call_{}", self.twins[index]);
            callers += &format!("void {caller}(void **ports);\n");
            rows += &format!(
                "    {{{caller}, {}, {}, {}}},\n",
                sizes.len(),
                ports.len() - kernel.outputs.len(),
                ports.len()
            );
            arena += ports.iter().map(|size| size.next_multiple_of(64)).sum::<usize>();
            sizes.extend(ports);
        }
        let list: String = sizes.iter().map(|size| format!("{size},")).collect();
        let table = format!(
            "{callers}#define ARENA {}\n#define PORTS {}\n\
             static const size_t sizes[] = {{{list}0}};\n\
             static const struct kernel kernels[] = {{\n{rows}}};\n",
            arena + 64,
            sizes.len() + 1,
        );
        Ok((table, input))
    }
}

/// The output of the timer, in 64-bit little-endian numbers: the core it stays on plus one (or 0),
/// then for each round and kernel the ticks of the chain, the ticks of the batch, the calls in it,
/// and the cycles and instructions that the processor counted in it (or 0).
fn samples(output: &[u8], kernels: usize, timing: Timing) -> Vec<Samples> {
    let number = |bytes: &[u8]| {
        let bytes: [u8; 8] = bytes.try_into().expect("chunks of eight bytes");
        u64::from_le_bytes(bytes)
    };
    let (head, records) = output.split_at(output.len().min(8));
    let core = head.try_into().ok().map_or(0, u64::from_le_bytes).checked_sub(1);
    let empty = Samples {
        cycles: Vec::new(),
        ticks: Vec::new(),
        core: core.and_then(|core| u32::try_from(core).ok()),
        counted: None,
    };
    let mut all = vec![empty; kernels];
    let mut counted = vec![[0u64; 3]; kernels];
    for (turn, record) in records.chunks_exact(40).enumerate() {
        let numbers: Vec<u64> = record.chunks_exact(8).map(number).collect();
        let [chain, batch, calls, cycles, instructions] = numbers[..] else { continue };
        let ticks = chain as f64 / timing.cycles as f64;
        let kernel = turn % kernels;
        all[kernel].ticks.push(ticks);
        all[kernel].cycles.push(batch as f64 / calls as f64 / ticks);
        for (sum, new) in counted[kernel].iter_mut().zip([calls, cycles, instructions]) {
            *sum += new;
        }
    }
    for (samples, [calls, cycles, instructions]) in all.iter_mut().zip(counted) {
        samples.cycles.sort_by(f64::total_cmp);
        samples.ticks.sort_by(f64::total_cmp);
        let per_call = |count: u64| count as f64 / calls as f64;
        samples.counted = (cycles > 0 && instructions > 0)
            .then(|| Counted { cycles: per_call(cycles), instructions: per_call(instructions) });
    }
    all
}
