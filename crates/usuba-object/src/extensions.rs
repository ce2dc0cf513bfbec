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

use std::borrow::Cow;

use iced_x86::{CpuidFeature, Instruction};

/// Extensions of the instruction set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extensions {
    /// `None` for all.
    has: Option<Cow<'static, [CpuidFeature]>>,
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

/// Flags of compilers, each with its number in libgcc's `processor_features`, and the features that
/// it gives.
const FLAGS: &[(&str, u32, &[&[CpuidFeature]])] = &[
    ("-msse4.2", 8, &[SSE]),
    ("-mavx2", 10, &[SSE, AVX]),
    ("-mavx512f", 15, &[SSE, AVX, AVX512]),
    ("-mbmi", 16, &[&[CpuidFeature::BMI1]]),
    ("-mbmi2", 17, &[&[CpuidFeature::BMI2]]),
    ("-maes", 18, &[&[CpuidFeature::AES]]),
    ("-mpclmul", 19, &[&[CpuidFeature::PCLMULQDQ]]),
    ("-mavx512vl", 20, &[&[CpuidFeature::AVX512VL]]),
    ("-mavx512bw", 21, &[&[CpuidFeature::AVX512BW]]),
    ("-mavx512dq", 22, &[&[CpuidFeature::AVX512DQ]]),
    ("-mavx512ifma", 27, &[&[CpuidFeature::AVX512_IFMA]]),
    ("-mgfni", 32, &[&[CpuidFeature::GFNI]]),
    ("-mvpclmulqdq", 33, &[&[CpuidFeature::VPCLMULQDQ]]),
    ("-msha", 74, &[&[CpuidFeature::SHA]]),
    ("-mvaes", 78, &[&[CpuidFeature::VAES]]),
];

/// The number of the feature of a flag in libgcc's `processor_features`.
pub(super) fn feature(flag: &str) -> Option<u32> {
    FLAGS.iter().find(|(known, ..)| *known == flag).map(|(_, number, _)| *number)
}

impl Extensions {
    /// All extensions.
    pub const ALL: Extensions = Extensions { has: None };

    /// The instructions of each x86-64 processor.
    pub const BASELINE: Extensions = Extensions { has: Some(Cow::Borrowed(ALWAYS)) };

    /// The extensions that these flags of compilers give. Other flags give none.
    pub fn of(flags: &[&str]) -> Extensions {
        let given = FLAGS.iter().filter(|(flag, ..)| flags.contains(flag));
        let given = given.flat_map(|(_, _, features)| features.iter().copied().flatten());
        Extensions { has: Some(ALWAYS.iter().chain(given).copied().collect()) }
    }

    /// A feature that the instruction needs and no processor of the target must have.
    pub fn lacks(&self, i: &Instruction) -> Option<CpuidFeature> {
        let has = self.has.as_ref()?;
        i.cpuid_features().iter().copied().find(|feature| !has.contains(feature))
    }
}
