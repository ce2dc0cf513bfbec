//! A way to compile, in words that a user would type.

use usuba::passes::pipeline::PipelineOptions;
use usuba::target::Target;

use super::Side;
use crate::cc::Family;

/// Turns flags of `usubac` for a target into what they mean. The command line has the only parser.
pub type Parse<'p> = dyn Fn(&str, &'static Target) -> Result<PipelineOptions, String> + 'p;

/// A side before it is known for which target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    pub label: String,
    /// Flags of `usubac`, separated by blanks.
    pub flags: String,
    pub family: Family,
    /// Flags of the C compiler.
    pub cflags: Vec<String>,
}

impl Default for Variant {
    fn default() -> Variant {
        let Side { label, family, flags, .. } = Side::default();
        Variant { label, flags: String::new(), family, cflags: flags }
    }
}

impl Variant {
    /// The side on a target.
    ///
    /// # Errors
    /// What `parse` says of the flags.
    pub fn side(&self, target: &'static Target, parse: &Parse) -> Result<Side, String> {
        let pipeline = parse(&self.flags, target)?;
        let Variant { label, family, cflags, .. } = self;
        Ok(Side { label: label.clone(), pipeline, family: *family, flags: cflags.clone() })
    }
}
