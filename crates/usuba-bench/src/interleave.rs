//! Interleave factor by measurement: the fastest number of interleaved instances on this machine.
//!
//! ```text
//! RECTANGLE, V, avx2     1: 2.91   2: 1.77   3: 1.41   4: 1.43      cycles per instance and lane
//! ```
//!
//! Kernels with different factors are timed in turns in one process, on registers.

use usuba::emit::c::{COptions, kernel};
use usuba::ir::Program;
use usuba::isa::Target;

use usuba_run::cc;
use usuba_run::layout::Layout;
use usuba_run::native::{Build, Kernel, Suite, Timing};

/// The tolerated slowdown of a smaller factor, which has shorter code and smaller batches.
const NEAR: f64 = 1.01;

/// The measured range of factors: up to the largest published one.
pub fn factors(target: &Target) -> std::ops::RangeInclusive<u32> {
    1..=if target.regs >= 32 { 6 } else { 4 }
}

/// Cycles of one instance of each program, which differ in [`Program::copies`] only: the tenth
/// percentile of the samples during which the core kept its speed.
///
/// # Errors
/// The target does not run on this machine, or a kernel does not compile.
pub fn measure(programs: &[Program], target: &Target, timing: Timing) -> Result<Vec<f64>, String> {
    let machine = cc::find(target.name).map_err(|skip| skip.to_string())?;
    if !machine.is_native() {
        return Err(format!("{} runs in an emulator here, which has no cycles", target.name));
    }
    let mut kernels = Vec::new();
    let mut instances = Vec::new();
    for program in programs {
        let prefix = format!("x{}_", program.copies);
        let options = COptions { prefix, ..COptions::default() };
        let emitted = kernel(program, target, &options);
        let layout = Layout::new(program, target.bits, target.simd, target.masks)?;
        let [inputs, outputs] = layout.array_bytes(program);
        instances.push(layout.instances() as f64);
        kernels.push(Kernel {
            symbol: emitted.name,
            text: emitted.text,
            align: 64,
            // The time is independent of the data.
            calls: vec![inputs.into_iter().map(|size| vec![0x5a; size]).collect()],
            outputs,
        });
    }
    let flags = ["-O3"];
    let builds =
        kernels.iter().map(|kernel| Build { machine: &machine, flags: &flags, kernel }).collect();
    let suite = Suite::compile(builds).map_err(|failure| failure.to_string())?;
    let all: Vec<usize> = (0..kernels.len()).collect();
    let samples = suite.time(&all, timing).map_err(|failure| failure.to_string())?;
    Ok(samples.iter().zip(instances).map(|(s, instances)| s.steady(0.1) / instances).collect())
}

/// The index of the first of `cycles` within the tolerance of the fastest.
pub fn fastest(cycles: &[f64]) -> usize {
    let best = cycles.iter().copied().fold(f64::INFINITY, f64::min);
    cycles.iter().position(|&c| c <= best * NEAR).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::ir::build::Builder;
    use usuba::ir::{NodeId, Op, Port, Slicing};
    use usuba::isa;

    #[test]
    fn near_the_fastest_the_smallest_wins() {
        assert_eq!(fastest(&[3.0, 2.01, 2.0, 2.0]), 1);
        assert_eq!(fastest(&[3.0, 2.5, 2.0]), 2);
        assert_eq!(fastest(&[1.0]), 0);
    }

    /// Each operation waits for the one before, on any processor. Other processes on the core can
    /// spoil a measurement, but not each of several.
    #[test]
    fn a_longer_chain_takes_longer() {
        let chain = |turns: u16| {
            let mut build = Builder::new("f", Slicing::V);
            let mut x = build.param(Port::new("x", 64, &[]))[0];
            for turn in 0..turns {
                let y = build.op(Op::Rotl((turn % 63 + 1) as u8), &[x]);
                x = build.op(Op::Xor, &[x, y]);
            }
            let node = build.finish(vec![(Port::new("y", 64, &[]), vec![x])]);
            Program::new(vec![node], NodeId(0), Slicing::V)
        };
        let timing = Timing { rounds: 21, cycles: 20_000 };
        let target = isa::find("gp64").expect("a target");
        let chains = [chain(250), chain(1000)];
        // Four times as long, apart from the call.
        let longer = (0..8).any(|_| {
            let cycles = measure(&chains, target, timing).expect("the host runs gp64");
            (2.0..8.0).contains(&(cycles[1] / cycles[0]))
        });
        assert!(longer);
    }

    #[test]
    fn emulated_targets_are_refused() {
        let Ok(machine) = cc::find("neon") else { return };
        if !machine.is_native() {
            let target = isa::find("neon").expect("a target");
            let message = measure(&[], target, Timing::default()).expect_err("no cycles");
            assert!(message.contains("emulator"), "{message}");
        }
    }
}
