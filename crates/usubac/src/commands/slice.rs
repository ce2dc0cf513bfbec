//! Slicing: compiles a checked program to Usuba0 on a target, with all passes.

use usuba::emit::c::COptions;
use usuba::ir::{Program, Slicing};
use usuba::isa::{self, Target};
use usuba::names::did_you_mean;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::{Options, optimise};
use usuba_bench::interleave;
use usuba_run::native::Timing;

use super::front::{Input, reported};
use super::passes::Prover;
use crate::args::{Abi, Codegen, Language, best_for_long_words};
use crate::output::to_stderr;
use crate::report::Reporter;
use crate::{Failure, fault};

/// Slices a program for the target and runs the requested passes.
pub fn compiled(
    input: &Input,
    language: &Language,
    codegen: &Codegen,
    abi: Abi,
    reporter: Reporter,
) -> Result<(Program, &'static Target), Failure> {
    let mut options = chosen(language, codegen, abi)?;
    let declared = || input.checked.program.decls.iter().map(|decl| &*decl.name);
    if let Some(name) = codegen.link.iter().find(|name| declared().all(|known| known != **name)) {
        let near = did_you_mean(name, declared());
        let help = near.unwrap_or("--link names nodes, with commas between them".to_string());
        return Err(Failure::usage(format!(
            "`--link {name}`: the program has no node called `{name}`; {help}"
        )));
    }
    if codegen.targets.is_native()
        && let Some(target) = best_for_long_words()
        && has_long_words(input, &options, reporter)?
    {
        options.target = target;
    }
    let target = options.target;
    if codegen.measures() {
        options.pipeline.pass.interleave.factor = Some(fastest(input, &options, reporter)?);
    }
    let mut prover = codegen.prove.then(Prover::new);
    let mut program = sliced(input, &options, reporter, &mut |pass, program| {
        if codegen.print_after.iter().any(|wanted| wanted == pass || wanted == "all") {
            to_stderr(&format!("# after {pass}\n{}\n", usuba::dump::program(program)));
        }
        if let Some(prover) = &mut prover {
            prover.see(pass, program);
        }
    })?;
    if let Some(prover) = prover {
        prover.finish();
    }
    if codegen.measures() {
        let note = format!("Interleaving: {}, the fastest of those measured", program.copies);
        program.notes.retain(|note| !note.starts_with("Interleaving: "));
        program.notes.push(note);
    }
    Ok((program, target))
}

/// Whether a program has words of 52 bits.
fn has_long_words(input: &Input, options: &Options, reporter: Reporter) -> Result<bool, Failure> {
    let pipeline = PipelineOptions { level: Level::O0, ..PipelineOptions::default() };
    let program =
        sliced(input, &Options { pipeline, ..options.clone() }, reporter, &mut |_, _| {})?;
    Ok(program.nodes.iter().any(|node| node.bits.contains(&52)))
}

/// The compile options that the flags select.
pub fn chosen(language: &Language, codegen: &Codegen, abi: Abi) -> Result<Options, Failure> {
    let target = codegen.target()?;
    if codegen.cpu.unit(target).is_none() {
        let units = codegen.cpu.units.iter().flat_map(|unit| unit.targets.iter().copied());
        let names: Vec<&str> = units.collect();
        return Err(Failure::usage(format!(
            "`--cpu {}` does not fit --target {}; it knows the registers of {}",
            codegen.cpu.name,
            target.name,
            names.join(", ")
        )));
    }
    let mut chosen = options(language, target, codegen.pipeline(abi))?;
    chosen.cpu = codegen.cpu;
    chosen.c = codegen.text();
    Ok(chosen)
}

/// The interleave factor that is fastest on this machine. Reports the measurement.
fn fastest(input: &Input, options: &Options, reporter: Reporter) -> Result<u32, Failure> {
    let mut programs = Vec::new();
    for factor in interleave::factors(options.target) {
        let mut options = options.clone();
        options.pipeline.pass.interleave.factor = Some(factor);
        let program = sliced(input, &options, reporter, &mut |_, _| {})?;
        // Programs that do not reach this factor would only be measured twice.
        if program.copies == factor {
            programs.push(program);
        }
    }
    fault::stage("measuring the kernels");
    let name = options.target.name;
    let cycles = interleave::measure(&programs, options.target, Timing::default());
    let cycles = cycles.map_err(|why| {
        Failure::program(format!(
            "--interleave measure cannot measure {name} on this machine: {why}"
        ))
    })?;
    let best = interleave::fastest(&cycles);
    let list: Vec<String> = programs
        .iter()
        .zip(&cycles)
        .map(|(program, cycles)| format!("{}: {cycles:.2}", program.copies))
        .collect();
    let copies = programs[best].copies;
    let list = list.join(", ");
    to_stderr(&format!("interleaving on {name}, cycles per instance: {list}; {copies} it is\n"));
    Ok(copies)
}

/// Checks that a target supports the program.
pub fn check(
    input: &Input,
    language: &Language,
    target: &'static Target,
    reporter: Reporter,
) -> Result<(), Failure> {
    let pipeline = PipelineOptions { level: Level::O0, ..PipelineOptions::default() };
    let options = options(language, target, pipeline)?;
    sliced(input, &options, reporter, &mut |_, _| {}).map(|_| ())
}

/// The compile options for any target and passes.
pub fn options(
    language: &Language,
    target: &'static Target,
    pipeline: PipelineOptions,
) -> Result<Options, Failure> {
    Ok(Options {
        slicing: language.slicing()?.unwrap_or(Slicing::V),
        target,
        cpu: isa::cpu::ALL[0],
        word: language.word,
        entry: language.entry().map(str::to_string),
        flags: language.flags(),
        pipeline,
        c: COptions::default(),
    })
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
