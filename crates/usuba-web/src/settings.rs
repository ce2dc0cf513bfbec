//! The options of a compilation, and the lists that a page offers.

use serde::Serialize;
use usuba::ir::Slicing;
use usuba::isa::cpu::{self, Cpu};
use usuba::isa::{self, Target};
use usuba::passes::PassOptions;
use usuba::passes::interleave;
use usuba::passes::pipeline::{self, Level, PipelineOptions};
use usuba::syntax::KEYWORDS;
use usuba::{Options, emit, typed};

use crate::question::{Settings, Text};

/// The most instances that one kernel may run.
const MOST_INSTANCES: u32 = 16;

/// The slicings by their letters.
const SLICINGS: [(&str, Slicing); 4] =
    [("V", Slicing::V), ("H", Slicing::H), ("B", Slicing::B), ("W", Slicing::W)];

/// The lists of the page.
#[derive(Serialize)]
pub struct Catalogue {
    version: &'static str,
    slicings: Vec<&'static str>,
    targets: Vec<TargetEntry>,
    passes: Vec<&'static str>,
    keywords: Vec<&'static str>,
}

#[derive(Serialize)]
struct TargetEntry {
    name: &'static str,
    registers: u32,
    bits: u32,
    /// Whether there is assembly language for it.
    assembly: bool,
    /// The processors whose models have its registers.
    cpus: Vec<&'static str>,
}

pub fn catalogue() -> Catalogue {
    let target = |target: &'static Target| TargetEntry {
        name: target.name,
        registers: target.regs,
        bits: target.bits,
        assembly: usuba_asm::has_assembly(target),
        cpus: cpu::ALL.iter().filter(|cpu| cpu.unit(target).is_some()).map(|c| c.name).collect(),
    };
    Catalogue {
        version: env!("CARGO_PKG_VERSION"),
        slicings: SLICINGS.iter().map(|(letter, _)| *letter).collect(),
        targets: isa::all().map(target).collect(),
        passes: pipeline::ALL.iter().map(|pass| pass.name).collect(),
        keywords: KEYWORDS.to_vec(),
    }
}

/// The compile options of settings.
///
/// # Errors
/// A name is unknown, or a number out of bounds; the text says which ones there are.
pub fn options(settings: &Settings) -> Result<Options, String> {
    let slicing = SLICINGS.iter().find(|(letter, _)| *letter == settings.slicing);
    let (_, slicing) =
        slicing.ok_or_else(|| format!("there is no slicing {}", settings.slicing))?;
    let target = isa::find(&settings.target);
    let target = target.ok_or_else(|| format!("there is no target {}", settings.target))?;
    let cpu = cpu::find(&settings.cpu);
    let cpu = cpu.ok_or_else(|| format!("there is no processor {}", settings.cpu))?;
    if cpu.unit(target).is_none() {
        return Err(format!("{} has no registers of {}", cpu.name, target.name));
    }
    let level = match settings.level {
        Some(0) => Level::O0,
        Some(1) => Level::O1,
        None | Some(2) => Level::O2,
        Some(level) => return Err(format!("there is no level {level}; the levels are 0 to 2")),
    };
    if let Some(name) = settings.skip.iter().find(|name| pipeline_has(name).is_none()) {
        return Err(format!("there is no pass {name}"));
    }
    if settings.interleave.is_some_and(|factor| !(1..=MOST_INSTANCES).contains(&factor)) {
        return Err(format!("a kernel runs 1 to {MOST_INSTANCES} instances"));
    }
    let choice = interleave::Choice { factor: settings.interleave, ..interleave::Choice::AUTO };
    let pass = PassOptions { interleave: choice, ..PassOptions::default() };
    let skip = settings.skip.clone();
    Ok(Options {
        slicing: *slicing,
        target,
        cpu,
        word: settings.word,
        entry: settings.entry.clone().filter(|entry| !entry.is_empty()),
        flags: typed::Flags::default(),
        pipeline: PipelineOptions { level, skip, pass, ..PipelineOptions::default() },
        c: emit::c::COptions::default(),
    })
}

fn pipeline_has(name: &str) -> Option<&'static str> {
    pipeline::ALL.iter().map(|pass| pass.name).find(|known| *known == name)
}

/// The command that gives the same output, as the comment on top of the output has it.
pub fn command(text: &Text, settings: &Settings, slicing: Slicing, cpu: &Cpu) -> String {
    let name = text.root.rsplit('/').next().unwrap_or(&text.root);
    let letter = SLICINGS.iter().find(|(_, known)| *known == slicing).map_or("", |(l, _)| l);
    let mut command = format!("usubac {name} -{letter} --target {}", settings.target);
    let mut flag = |text: String| command.push_str(&text);
    if let Some(bits) = settings.word {
        flag(format!(" -m {bits}"));
    }
    if let Some(entry) = settings.entry.as_deref().filter(|entry| !entry.is_empty()) {
        let quote = if entry.contains(['(', '<']) { "\"" } else { "" };
        flag(format!(" --entry {quote}{entry}{quote}"));
    }
    if let Some(factor) = settings.interleave {
        flag(format!(" --interleave {factor}"));
    }
    settings.skip.iter().for_each(|pass| flag(format!(" --skip {pass}")));
    if cpu.name != "generic" {
        flag(format!(" --cpu {}", cpu.name));
    }
    if let Some(level) = settings.level.filter(|level| *level != 2) {
        flag(format!(" -O{level}"));
    }
    command
}
