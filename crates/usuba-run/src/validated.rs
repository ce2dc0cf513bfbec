//! Translation validation during compilation: each pass is proved as it runs.
//!
//! ```text
//! typed program ─lower→ Usuba0 ⟲ passes ─→ Usuba0
//!                         └─ after each pass: the program is equivalent to its predecessor
//! ```
//!
//! Every measured or tuned program is proved in this way, and so is every program that the full
//! test run compiles. The quick test run proves a subset, which each test names.

use usuba::diag::{Diagnostic, FileId, Sources};
use usuba::emit::c::kernel;
use usuba::syntax::splice::Loader;
use usuba::{Options, Output, front, ir, optimise, typed};
use usuba_equiv::{Fault, Observer};

/// The compilations to prove.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proofs {
    /// Prove this compilation.
    Always,
    /// Prove nothing: another proof covers the result, or none does.
    Never,
}

impl Proofs {
    /// Proves if `are_asked`.
    pub fn asked(are_asked: bool) -> Proofs {
        if are_asked { Proofs::Always } else { Proofs::Never }
    }
}

/// The reason why there is no program.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// The program has an error, or the target lacks an operator.
    Findings(Vec<Diagnostic>),
    /// A pass is wrong or unproved.
    Fault(Fault),
}

impl Trouble {
    /// An error message; `findings` formats the diagnostics.
    pub fn explained(self, findings: impl FnOnce(Vec<Diagnostic>) -> String) -> String {
        match self {
            Trouble::Findings(list) => findings(list),
            Trouble::Fault(fault) => fault.to_string(),
        }
    }
}

/// Like `usuba::optimise`, with a proof after each pass if `proofs` asks for it.
///
/// # Errors
/// The diagnostics of lowering, or the first pass without a proof.
pub fn optimised(
    program: &typed::Program,
    options: &Options,
    proofs: Proofs,
) -> Result<ir::Program, Trouble> {
    let mut proof = (proofs == Proofs::Always).then(Observer::default);
    let last = optimise(program, options, &mut |pass, program| {
        if let Some(proof) = &mut proof {
            proof.see(pass, program);
        }
    });
    let last = last.map_err(Trouble::Findings)?;
    match proof.map(Observer::finish) {
        Some(Err(fault)) => Err(Trouble::Fault(fault)),
        _ => Ok(last),
    }
}

/// Like `usuba::compile`, with a proof after each pass if `proofs` asks for it.
///
/// # Errors
/// The diagnostics of all stages, or the first pass without a proof.
pub fn compiled(
    sources: &mut Sources,
    root: FileId,
    loader: &mut dyn Loader,
    options: &Options,
    proofs: Proofs,
) -> Result<Output, Trouble> {
    let checked = front(sources, root, loader, options.entry.as_deref(), options.flags);
    let checked = checked.map_err(Trouble::Findings)?;
    let program = optimised(&checked.program, options, proofs)?;
    let kernel = kernel(&program, options.target, &options.c);
    Ok(Output { checked, program, kernel })
}
