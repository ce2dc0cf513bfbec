//! `usuba.check`: the findings about a program.

use pyo3::prelude::*;
use usuba::diag::Diagnostic;
use usuba::ir::Slicing;
use usuba::isa::Target;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::{emit::c::COptions, isa, optimise};

use crate::failure::{Failure, Finding, finding, run};
use crate::source::{self, Source};

/// All errors, or all warnings and lints. With a slicing or an open word size the rules of that
/// slicing are checked too.
#[pyfunction]
pub fn check(py: Python<'_>, source: Source, slicing: Option<String>) -> PyResult<Vec<Finding>> {
    run(py, move || {
        let slicing = slicing.map(|letter| source::slicing(&letter)).transpose()?;
        let (sources, checked, mut found) = source.linted();
        if let Ok(checked) = checked
            && (slicing.is_some() || source.word.is_some())
        {
            let plain = source::target("gp64")?;
            let pipeline = PipelineOptions { level: Level::O0, ..PipelineOptions::default() };
            let options = options(&source, slicing.unwrap_or(Slicing::V), plain, pipeline);
            if let Err(errors) = optimise(&checked.program, &options, &mut |_, _| {}) {
                found.extend(errors);
            }
        }
        Ok(found.iter().map(|one: &Diagnostic| finding(&sources, one)).collect())
    })
}

/// The options of a compilation.
pub fn options(
    source: &Source,
    slicing: Slicing,
    target: &'static Target,
    pipeline: PipelineOptions,
) -> usuba::Options {
    usuba::Options {
        slicing,
        target,
        cpu: isa::cpu::ALL[0],
        word: source.word,
        entry: source.entry.clone(),
        flags: source.flags(),
        pipeline,
        c: COptions { version: env!("CARGO_PKG_VERSION").to_string(), ..COptions::default() },
    }
}

/// The options of `usubac` without flags.
///
/// # Errors
/// There is no such slicing or target.
pub fn usual(source: &Source, slicing: &str, target: &str) -> Result<usuba::Options, Failure> {
    let (slicing, target) = (source::slicing(slicing)?, source::target(target)?);
    Ok(options(source, slicing, target, PipelineOptions::default()))
}
