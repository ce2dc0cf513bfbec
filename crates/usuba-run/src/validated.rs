//! Compilations of which every pass is proved.
//!
//! ```text
//! typed program ─lower→ Usuba0 ⟲ passes ─→ Usuba0
//!                          └─ after each pass: the program computes what it did before
//! ```
//!
//! Whatever is measured or chosen by measurement is proved in this way, and so is what the tests
//! compile in their whole run; the quick run proves a part of it, which each test names.

use usuba::diag::{Diagnostic, FileId, Sources};
use usuba::emit::c::kernel;
use usuba::syntax::splice::Loader;
use usuba::{Options, Output, front, ir, optimise, typed};
use usuba_equiv::{Fault, Observer};

/// Which compilations are proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proofs {
    /// This one.
    Always,
    /// None: what comes out is proved elsewhere, or by nobody.
    Never,
}

impl Proofs {
    /// Proofs where they are asked for.
    pub fn asked(are_asked: bool) -> Proofs {
        if are_asked { Proofs::Always } else { Proofs::Never }
    }
}

/// Why there is no program.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// The program is wrong, or the target cannot compute what it needs.
    Findings(Vec<Diagnostic>),
    /// A pass is wrong, or nothing could be shown about it.
    Fault(Fault),
}

impl Trouble {
    /// Words for people; `findings` makes them of findings.
    pub fn explained(self, findings: impl FnOnce(Vec<Diagnostic>) -> String) -> String {
        match self {
            Trouble::Findings(list) => findings(list),
            Trouble::Fault(fault) => fault.to_string(),
        }
    }
}

/// As `usuba::optimise`, with a proof after each pass if `proofs` says so.
///
/// # Errors
/// The findings of lowering, or the first pass that could not be proved.
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

/// As `usuba::compile`, with a proof after each pass if `proofs` says so.
///
/// # Errors
/// The findings of all stages, or the first pass that could not be proved.
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
