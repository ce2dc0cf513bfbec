//! Times the kernels of a suite by turns, in one process on one core.
//!
//! A sample is a batch of calls that lasts some ten microseconds. Right before each batch a chain
//! of dependent additions is timed with the same counter; an addition takes one cycle, so the
//! quotient is in cycles of the core whatever the counter counts and whatever the core's speed
//! is at that moment. Kernels take turns, so that a disturbance meets all of them.

use super::suite::ports;
use super::{Failure, Suite};

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

/// Cycles per call in each batch, ascending.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// The value that `share` (0 to 1) of the samples do not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        let last = self.0.len() - 1;
        self.0[((last as f64 * share).round() as usize).min(last)]
    }

    /// The middle sample.
    pub fn median(&self) -> f64 {
        self.percentile(0.5)
    }

    /// All samples, ascending.
    pub fn all(&self) -> &[f64] {
        &self.0
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
        let mut input = Vec::new();
        for &index in which {
            if let Some(failure) = self.failure(index) {
                return Err(failure.clone());
            }
            let Some(call) = self.builds[index].kernel.calls.first() else {
                return Err(Failure::Request("a kernel without a call cannot be timed".into()));
            };
            call.iter().for_each(|bytes| input.extend(bytes));
        }
        self.link(which, TIMER, &self.timer_table(which, timing))?;
        let (output, how) = self.execute(machine, input)?;
        if let Some(how) = how {
            return Err(Failure::Crash { call: 0, how });
        }
        Ok(samples(&output, which.len(), timing))
    }

    fn timer_table(&self, which: &[usize], timing: Timing) -> String {
        let mut callers = String::new();
        let mut sizes = Vec::new();
        let mut rows = String::new();
        let mut arena = 0;
        for &index in which {
            let kernel = self.builds[index].kernel;
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
        format!(
            "{callers}#define ARENA {}\n#define PORTS {}\n#define ROUNDS {}\n#define CYCLES {}\n\
             static const size_t sizes[] = {{{list}0}};\n\
             static const struct kernel kernels[] = {{\n{rows}}};\n",
            arena + 64,
            sizes.len() + 1,
            timing.rounds,
            timing.cycles,
        )
    }
}

/// The records of the timer: for each round and kernel the ticks of the chain, the ticks of the
/// batch and the calls in it, as 64-bit little-endian numbers.
fn samples(output: &[u8], kernels: usize, timing: Timing) -> Vec<Samples> {
    let mut all = vec![Vec::new(); kernels];
    let number = |bytes: &[u8]| {
        let bytes: [u8; 8] = bytes.try_into().expect("chunks of eight bytes");
        u64::from_le_bytes(bytes) as f64
    };
    for (turn, record) in output.chunks_exact(24).enumerate() {
        let (chain, batch, calls) =
            (number(&record[..8]), number(&record[8..16]), number(&record[16..]));
        all[turn % kernels].push(batch / calls * timing.cycles as f64 / chain);
    }
    let sorted = |mut samples: Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        Samples(samples)
    };
    all.into_iter().map(sorted).collect()
}
