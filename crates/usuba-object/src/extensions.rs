//! Instruction set extensions: the instructions that a processor of a target has.
//!
//! ```text
//! -mavx2              SSE3, SSSE3, SSE4.1, SSE4.2, POPCNT, AVX, AVX2
//! mulx in its code    BMI2 is none of them: a fault
//! ```
//!
//! An object may contain any instruction, but its users run it wherever the features in the flags of
//! its target are.
//!
//! *Reference:* the list of CPUID features in volume 2 of Intel's manual; the options of gcc for x86,
//! where one option implies others.

use iced_x86::{CpuidFeature, Instruction};

/// Extensions of the instruction set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extensions {
    /// `None` for all.
    has: Option<Vec<CpuidFeature>>,
}

/// The features of each x86-64 processor. `endbr64` does nothing on processors without it.
const ALWAYS: &[CpuidFeature] = &[
    CpuidFeature::INTEL8086,
    CpuidFeature::INTEL186,
    CpuidFeature::INTEL286,
    CpuidFeature::INTEL386,
    CpuidFeature::INTEL486,
    CpuidFeature::X64,
    CpuidFeature::MULTIBYTENOP,
    CpuidFeature::CET_IBT,
    CpuidFeature::FPU,
    CpuidFeature::FPU287,
    CpuidFeature::FPU387,
    CpuidFeature::CMOV,
    CpuidFeature::MMX,
    CpuidFeature::SSE,
    CpuidFeature::SSE2,
];

const SSE: &[CpuidFeature] = &[
    CpuidFeature::SSE3,
    CpuidFeature::SSSE3,
    CpuidFeature::SSE4_1,
    CpuidFeature::SSE4_2,
    CpuidFeature::POPCNT,
];

const AVX: &[CpuidFeature] = &[CpuidFeature::AVX, CpuidFeature::AVX2];

const AVX512: &[CpuidFeature] = &[CpuidFeature::AVX512F, CpuidFeature::FMA, CpuidFeature::F16C];

/// Flags of compilers, each with the features that it gives.
const FLAGS: &[(&str, &[&[CpuidFeature]])] = &[
    ("-msse4.2", &[SSE]),
    ("-mavx2", &[SSE, AVX]),
    ("-mavx512f", &[SSE, AVX, AVX512]),
    ("-mavx512bw", &[&[CpuidFeature::AVX512BW]]),
    ("-mavx512dq", &[&[CpuidFeature::AVX512DQ]]),
    ("-mavx512vl", &[&[CpuidFeature::AVX512VL]]),
    ("-mavx512ifma", &[&[CpuidFeature::AVX512_IFMA]]),
    ("-mgfni", &[&[CpuidFeature::GFNI]]),
    ("-mbmi2", &[&[CpuidFeature::BMI2]]),
];

impl Extensions {
    /// All extensions.
    pub const ALL: Extensions = Extensions { has: None };

    /// The extensions that these flags of compilers give. Other flags give none.
    pub fn of(flags: &[&str]) -> Extensions {
        let given = FLAGS.iter().filter(|(flag, _)| flags.contains(flag));
        let given = given.flat_map(|(_, features)| features.iter().copied().flatten());
        Extensions { has: Some(ALWAYS.iter().chain(given).copied().collect()) }
    }

    /// A feature that the instruction needs and no processor of the target must have.
    pub fn lacks(&self, i: &Instruction) -> Option<CpuidFeature> {
        let has = self.has.as_ref()?;
        i.cpuid_features().iter().copied().find(|feature| !has.contains(feature))
    }
}

#[cfg(test)]
mod tests {
    use usuba::isa;

    use super::*;

    #[test]
    fn flags_of_all_targets_give_features() {
        for target in isa::all().filter(|target| *target.processor == isa::X86_64) {
            for flag in target.cflags {
                assert!(FLAGS.iter().any(|(known, _)| known == flag), "{flag} of {}", target.name);
            }
        }
    }
}
