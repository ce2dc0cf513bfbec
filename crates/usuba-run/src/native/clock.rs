//! Cycle measurements: times the kernels of a suite in turns, in one process on one core.
//!
//! A sample is a batch of calls of about ten microseconds. Right before each batch, the driver
//! times a chain of dependent additions with the same counter. An addition takes one cycle, so the
//! quotient is in core cycles, independent of the counter's unit and the core's current speed.
//! Kernels take turns, so that a disturbance affects all of them.
//!
//! The samples come from several processes. Two runs of one executable can differ by several
//! percent, each with hardly any scatter, because the placement of pages is fixed per process.
//! Comparisons therefore use one number per process.
//!
//! The counters of the processor are read by the timed process itself, around each batch.

use super::suite::ports;
use super::{Failure, Suite};
use crate::stats;

const TIMER: &str = include_str!("timer.c");

/// The number of processes that share the rounds, if there are enough rounds. The rank-sum test of
/// twelve and twelve is sure enough for tables of a thousand rows after their correction.
const PROCESSES: u32 = 12;

/// The minimal number of rounds per process: each process first warms up.
const LEAST_ROUNDS: u32 = 4;

/// Two chains around a sample have the same length if they are at most this share apart.
const STEADY: f64 = 0.02;

/// The length of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Samples of each kernel.
    pub rounds: u32,
    /// Additions of the chain, and approximate cycles of a batch of calls.
    pub cycles: u32,
}

impl Timing {
    /// The rounds of each process.
    fn processes(self) -> Vec<u32> {
        let processes = (self.rounds / LEAST_ROUNDS).clamp(1, PROCESSES);
        let more = |process| u32::from(process < self.rounds % processes);
        (0..processes).map(|process| self.rounds / processes + more(process)).collect()
    }
}

impl Default for Timing {
    fn default() -> Timing {
        Timing { rounds: 201, cycles: 40_000 }
    }
}

/// The processor's own counters over all batches of a kernel, per call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counted {
    pub cycles: f64,
    pub instructions: f64,
}

/// The timings of one kernel, one for each batch, with their calibration.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples {
    /// Cycles per call, ascending.
    cycles: Vec<f64>,
    /// The same without samples whose chain is much longer or shorter than the next chain,
    /// ascending.
    steady: Vec<f64>,
    /// The median of the samples of each process.
    processes: Vec<f64>,
    /// Ticks of the clock per cycle, next to each batch, ascending.
    ticks: Vec<f64>,
    /// The core of the last process; `None` if the system did not pin it.
    pub core: Option<u32>,
    /// `None` if the system denies access to the counters.
    pub counted: Option<Counted>,
}

impl Samples {
    /// The quantile of the samples at `share` (0 to 1).
    pub fn percentile(&self, share: f64) -> f64 {
        stats::quantile(&self.cycles, share)
    }

    /// The quantile at `share` of the samples during which the core kept its speed: the chains right
    /// before and after them have the same length. Of all samples if there is none.
    pub fn steady(&self, share: f64) -> f64 {
        let samples = if self.steady.is_empty() { &self.cycles } else { &self.steady };
        stats::quantile(samples, share)
    }

    /// The median of the samples.
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

    /// The median of the samples of each process, which can be compared with another executable.
    pub fn processes(&self) -> &[f64] {
        &self.processes
    }

    /// Ticks of the clock per cycle: the median calibration.
    pub fn ticks_per_cycle(&self) -> f64 {
        stats::quantile(&self.ticks, 0.5)
    }

    /// The scatter of the calibrations: their interquartile range divided by their median. It is
    /// large if the core changes its speed or runs other tasks in between.
    pub fn calibration_scatter(&self) -> f64 {
        stats::scatter(&self.ticks)
    }

    /// The scatter of the samples, by the same measure.
    pub fn scatter(&self) -> f64 {
        stats::scatter(&self.cycles)
    }

    /// The significance of the difference between this kernel and `other`. Compares one number per
    /// process; with fewer than five processes no difference is significant.
    pub fn rank_sum(&self, other: &Samples) -> stats::RankSum {
        stats::rank_sum(&self.processes, &other.processes)
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
        let mut all = Vec::new();
        for rounds in timing.processes() {
            let mut bytes = (rounds as u64).to_le_bytes().to_vec();
            bytes.extend(&input);
            let (output, how) = self.execute(machine, bytes)?;
            if let Some(how) = how {
                return Err(Failure::Crash { call: 0, how });
            }
            all.push(output);
        }
        Ok(samples(&all, which.len(), timing))
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
            let caller = self.caller(index);
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

/// Decodes the timer's outputs, one per process, in 64-bit little-endian numbers. Each starts with
/// the pinned core plus one (or 0). For each round and kernel follow the ticks of the chain, the
/// ticks of the batch, its calls, and its counted cycles and instructions (or 0).
fn samples(outputs: &[Vec<u8>], kernels: usize, timing: Timing) -> Vec<Samples> {
    let number = |bytes: &[u8]| {
        let bytes: [u8; 8] = bytes.try_into().expect("chunks of eight bytes");
        u64::from_le_bytes(bytes)
    };
    let empty = Samples {
        cycles: Vec::new(),
        steady: Vec::new(),
        processes: Vec::new(),
        ticks: Vec::new(),
        core: Some(0),
        counted: None,
    };
    let mut all = vec![empty; kernels];
    let mut counted = vec![[0u64; 3]; kernels];
    for output in outputs {
        let (head, records) = output.split_at(output.len().min(8));
        let core = head.try_into().ok().map_or(0, u64::from_le_bytes).checked_sub(1);
        let core = core.and_then(|core| u32::try_from(core).ok());
        let mut process = vec![Vec::new(); kernels];
        let rows: Vec<Vec<u64>> = records
            .chunks_exact(40)
            .map(|record| record.chunks_exact(8).map(number).collect())
            .collect();
        for (turn, numbers) in rows.iter().enumerate() {
            let [chain, batch, calls, cycles, instructions] = numbers[..] else { continue };
            let ticks = chain as f64 / timing.cycles as f64;
            let kernel = turn % kernels;
            let sample = batch as f64 / calls as f64 / ticks;
            all[kernel].ticks.push(ticks);
            process[kernel].push(sample);
            // The chain of the next sample is the one right after this sample.
            if let Some(&[after, ..]) = rows.get(turn + 1).map(|row| &row[..])
                && (after as f64 / chain as f64 - 1.0).abs() <= STEADY
            {
                all[kernel].steady.push(sample);
            }
            for (sum, new) in counted[kernel].iter_mut().zip([calls, cycles, instructions]) {
                *sum += new;
            }
        }
        for (samples, mut process) in all.iter_mut().zip(process) {
            process.sort_by(f64::total_cmp);
            samples.core = samples.core.and(core);
            if !process.is_empty() {
                samples.processes.push(stats::quantile(&process, 0.5));
            }
            samples.cycles.extend(process);
        }
    }
    for (samples, [calls, cycles, instructions]) in all.iter_mut().zip(counted) {
        samples.cycles.sort_by(f64::total_cmp);
        samples.steady.sort_by(f64::total_cmp);
        samples.ticks.sort_by(f64::total_cmp);
        let per_call = |count: u64| count as f64 / calls as f64;
        samples.counted = (cycles > 0 && instructions > 0)
            .then(|| Counted { cycles: per_call(cycles), instructions: per_call(instructions) });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_divided_among_processes() {
        let processes = |rounds| Timing { rounds, cycles: 1 }.processes();
        assert_eq!(processes(1), [1]);
        assert_eq!(processes(11), [6, 5]);
        assert_eq!(processes(31), [5, 5, 5, 4, 4, 4, 4]);
        assert_eq!(processes(201).iter().sum::<u32>(), 201);
        assert_eq!(processes(201).len(), 12);
    }

    /// One process pinned to core 3 with a chain of 10 ticks for 20 cycles, and one unpinned
    /// process.
    #[test]
    fn records_become_cycles() {
        let output = |numbers: &[u64]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        let outputs = [
            output(&[4, 10, 100, 5, 200, 300, 10, 110, 5, 220, 300]),
            output(&[0, 10, 90, 5, 180, 300]),
        ];
        let timing = Timing { rounds: 3, cycles: 20 };
        let samples = samples(&outputs, 1, timing);
        assert_eq!(samples[0].all(), [36.0, 40.0, 44.0]);
        assert_eq!(samples[0].processes(), [42.0, 36.0]);
        assert_eq!((samples[0].core, samples[0].ticks_per_cycle()), (None, 0.5));
        // Of each process the last sample has no chain after it.
        assert_eq!(samples[0].steady(0.0), 40.0);
        let counted = samples[0].counted.expect("the numbers are there");
        assert_eq!((counted.cycles, counted.instructions), (40.0, 60.0));
    }
}
