//! Compile variants in the notation of the command line.

use usuba::isa::cpu::Cpu;
use usuba::passes::pipeline::PipelineOptions;

use super::Side;
use usuba_run::cc::Family;

/// Parses flags of `usubac`. The command line has the only parser.
pub type Parse<'p> = dyn Fn(&str) -> Result<(PipelineOptions, &'static Cpu), String> + 'p;

/// A variant before its target is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    pub label: String,
    /// Flags of `usubac`, separated by blanks.
    pub flags: String,
    pub family: Family,
    /// Whether kernels are in usubac's assembly language.
    pub assembly: bool,
    /// Flags of the C compiler.
    pub cflags: Vec<String>,
}

impl Default for Variant {
    fn default() -> Variant {
        let Side { label, family, assembly, flags, .. } = Side::default();
        Variant { label, flags: String::new(), family, assembly, cflags: flags }
    }
}

impl Variant {
    /// The side with the parsed flags.
    ///
    /// # Errors
    /// The errors of `parse`.
    pub fn side(&self, parse: &Parse) -> Result<Side, String> {
        let (pipeline, cpu) = parse(&self.flags)?;
        let Variant { label, family, assembly, cflags, .. } = self.clone();
        Ok(Side { label, pipeline, cpu, family, assembly, flags: cflags })
    }
}
