//! From a checked program to Usuba0 on a target, with all passes.

use usuba::emit::c::COptions;
use usuba::ir::{self, Program, Slicing};
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::target::Target;
use usuba::{Options, optimise};

use super::front::{Input, reported};
use super::prove::Prover;
use crate::args::{Codegen, Language};
use crate::output::to_stderr;
use crate::report::Reporter;
use crate::{Failure, fault};

/// Slices a program for the target and runs the passes that were asked for.
pub fn compiled(
    input: &Input,
    language: &Language,
    codegen: &Codegen,
    reporter: Reporter,
) -> Result<(Program, &'static Target), Failure> {
    let target = codegen.target()?;
    let options = options(language, target, codegen.pipeline());
    let mut prover = codegen.prove.then(Prover::new);
    let program = sliced(input, &options, reporter, &mut |pass, program| {
        if codegen.print_after.iter().any(|wanted| wanted == pass || wanted == "all") {
            to_stderr(&format!("# after {pass}\n{}\n", ir::print::program(program)));
        }
        if let Some(prover) = &mut prover {
            prover.see(pass, program);
        }
    })?;
    if let Some(prover) = prover {
        prover.finish();
    }
    Ok((program, target))
}

/// Whether a target can compute what the program needs.
pub fn check(
    input: &Input,
    language: &Language,
    target: &'static Target,
    reporter: Reporter,
) -> Result<(), Failure> {
    let pipeline = PipelineOptions { level: Level::O0, ..PipelineOptions::default() };
    let options = options(language, target, pipeline);
    sliced(input, &options, reporter, &mut |_, _| {}).map(|_| ())
}

fn options(language: &Language, target: &'static Target, pipeline: PipelineOptions) -> Options {
    Options {
        slicing: language.slicing().unwrap_or(Slicing::V),
        target,
        word: language.word,
        entry: language.entry.clone(),
        flags: language.flags(),
        pipeline,
        c: COptions::default(),
    }
}

fn sliced(
    input: &Input,
    options: &Options,
    reporter: Reporter,
    observer: &mut dyn FnMut(&str, &Program),
) -> Result<Program, Failure> {
    fault::stage("slicing the program");
    let program = optimise(&input.checked.program, options, &mut |pass, program| {
        fault::stage("running the passes");
        observer(pass, program);
    });
    program.map_err(|findings| reported(&input.sources, &findings, reporter))
}
