//! A compilation with the program after each pass.

use std::cmp::Reverse;
use std::rc::Rc;

use serde::Serialize;
use sha2::{Digest, Sha256};
use usuba::diag::{Diagnostic, Sources};
use usuba::emit::c::{COptions, Emitted, kernel};
use usuba::ir::{Eqn, Program, live};
use usuba::isa::Inst;
use usuba::passes::pressure;
use usuba::{Checked, Options, cost_model, front, lint, optimise};
use usuba_asm::workload::{Bound, Workload};
use usuba_ide::memory::InMemory;

use crate::clock::now;
use crate::findings::Finding;
use crate::listing::{Listing, Names};
use crate::proof::{Claim, Proof};
use crate::question::{Settings, Text};
use crate::settings;
use crate::texts::{Places, Range, root};

/// The program after a pass.
pub struct Stage {
    pub pass: String,
    pub program: Rc<Program>,
    /// Milliseconds of the pass and of its observation.
    spent: f64,
}

/// A compilation and everything that questions about it need.
pub struct Compilation {
    pub options: Options,
    pub sources: Sources,
    pub checked: Checked,
    pub places: Places,
    pub stages: Vec<Stage>,
    pub emitted: Emitted,
    pub c: COptions,
    warnings: Vec<Finding>,
    names: Names,
    proof: Proof,
}

/// The answer to [`crate::question::Ask::Compile`].
#[derive(Serialize)]
pub struct Summary<'a> {
    command: &'a str,
    /// The prototype of the kernel in C.
    prototype: &'a str,
    entry: &'a str,
    slicing: String,
    /// Instances of one register, and register sets of one call.
    lanes: u32,
    copies: u32,
    notes: &'a [String],
    cflags: &'static [&'static str],
    files: Vec<&'a str>,
    warnings: &'a [Finding],
    stages: Vec<StageSummary<'a>>,
}

#[derive(Serialize)]
struct StageSummary<'a> {
    pass: &'a str,
    changed: bool,
    nodes: usize,
    /// Equations in the text of the program.
    equations: usize,
    /// Operators that one run computes, a loop as often as it runs.
    operations: u64,
    /// The largest number of live values.
    live: usize,
    spent: f64,
}

/// Live values along the schedule of the entry.
#[derive(Serialize)]
pub struct Pressure {
    registers: u32,
    most: usize,
    /// Values that are read again after they left the registers.
    reloads: usize,
    /// For each operator and call, in the order of the text, the number of live values.
    live: Vec<usize>,
    /// For each of them its name in the listing of the last stage.
    names: Vec<String>,
    /// For each of them its place in the source.
    places: Vec<Option<Range>>,
}

/// Instructions and ports.
#[derive(Serialize)]
pub struct Ports {
    cpu: &'static str,
    instances: u32,
    loads: u64,
    stores: u64,
    /// Names of instructions, bits of lanes and numbers, the most frequent first.
    instructions: Vec<(String, u8, u64)>,
    /// Absent if the model has no figures for the registers.
    bound: Option<Limits>,
}

/// The bound of [`usuba::demand`].
#[derive(Serialize)]
pub struct Limits {
    cycles: f64,
    by: String,
    resources: Vec<(String, f64)>,
    ports: Vec<f64>,
}

impl Compilation {
    /// Compiles a program, or finds out why it cannot be compiled.
    ///
    /// # Errors
    /// The settings are wrong; the text says how.
    pub fn new(
        text: &Text,
        settings: &Settings,
    ) -> Result<Result<Compilation, Vec<Finding>>, String> {
        let mut options = settings::options(settings)?;
        let mut sources = Sources::default();
        let id = sources.add(&text.root, root(text)?);
        let mut files = InMemory(&text.files);
        let checked = front(&mut sources, id, &mut files, options.entry.as_deref(), options.flags);
        let places = Places::new(&sources);
        let findings = |found: &[Diagnostic]| {
            found.iter().map(|found| Finding::new(found, &places)).collect::<Vec<_>>()
        };
        let checked = match checked {
            Ok(checked) => checked,
            Err(found) => return Ok(Err(findings(&found))),
        };
        let mut found = checked.warnings.clone();
        found.extend(lint::lint(&sources, &checked.program));
        found.sort_by_key(|finding| (finding.span, finding.code));
        let warnings = findings(&found);
        let mut stages: Vec<Stage> = Vec::new();
        let mut last = now();
        let program = optimise(&checked.program, &options, &mut |pass, program| {
            let same = stages.last().filter(|stage| *stage.program == *program);
            let program = same.map_or_else(|| Rc::new(program.clone()), |s| s.program.clone());
            let spent = now() - last;
            last = now();
            stages.push(Stage { pass: pass.to_string(), program, spent });
        });
        let program = match program {
            Ok(program) => program,
            Err(found) => return Ok(Err(findings(&found))),
        };
        options.c = COptions {
            command: settings::command(text, settings, program.slicing, options.cpu),
            source_hash: hashes(&sources),
            version: env!("CARGO_PKG_VERSION").to_string(),
            ..COptions::default()
        };
        let emitted = kernel(&program, options.target, &options.c);
        let proof = Proof::new(&checked.program, &options, program.slicing);
        let (c, names) = (options.c.clone(), Names::default());
        // Words may come to share registers before the first pass: the final IR has it all.
        if let Some(stage) = stages.last_mut().filter(|stage| *stage.program == program) {
            stage.program = Rc::new(program);
        }
        Ok(Ok(Compilation {
            options,
            sources,
            checked,
            places,
            stages,
            emitted,
            c,
            warnings,
            names,
            proof,
        }))
    }

    /// The program after the last pass.
    pub fn last(&self) -> &Program {
        &self.stages.last().expect("lowering is a stage").program
    }

    pub fn summary(&self) -> Summary<'_> {
        let last = self.last();
        Summary {
            command: &self.c.command,
            prototype: &self.emitted.prototype,
            entry: &last.entry().name,
            slicing: format!("{:?}", last.slicing),
            lanes: self.emitted.lanes,
            copies: self.emitted.copies,
            notes: &last.notes,
            cflags: self.options.target.cflags,
            files: self.sources.files.iter().map(|file| file.name.as_str()).collect(),
            warnings: &self.warnings,
            stages: self.summaries(),
        }
    }

    fn summaries(&self) -> Vec<StageSummary<'_>> {
        let mut found: Vec<StageSummary> = Vec::new();
        for (at, stage) in self.stages.iter().enumerate() {
            let (pass, spent) = (stage.pass.as_str(), stage.spent);
            let before = at.checked_sub(1).map(|before| &self.stages[before].program);
            let same = before.is_some_and(|before| Rc::ptr_eq(before, &stage.program));
            found.push(match found.last().filter(|_| same) {
                Some(last) => StageSummary { pass, spent, changed: false, ..*last },
                None => StageSummary {
                    pass,
                    spent,
                    changed: true,
                    nodes: stage.program.nodes.len(),
                    equations: stage.program.nodes.iter().map(|node| size(&node.body)).sum(),
                    operations: live::executed(&stage.program).computing(),
                    live: live::max_live(&stage.program),
                },
            });
        }
        found
    }

    /// The equations of a stage, compared with the stage before it.
    ///
    /// # Errors
    /// There is no such stage.
    pub fn stage(&mut self, at: usize) -> Result<Listing, String> {
        if at >= self.stages.len() {
            return Err(format!("there is no stage {at}"));
        }
        self.name_up_to(at);
        let program = |at: usize| (at, &*self.stages[at].program);
        let before = at.checked_sub(1).map(program);
        Ok(self.names.listing(before, program(at), &self.places))
    }

    /// Gives names to the values of all stages up to one.
    fn name_up_to(&mut self, at: usize) {
        for stage in self.names.stages()..=at {
            let program = &self.stages[stage].program;
            let same = stage > 0 && Rc::ptr_eq(program, &self.stages[stage - 1].program);
            self.names.see(program, same);
        }
    }

    pub fn pressure(&mut self) -> Pressure {
        let at = self.stages.len() - 1;
        self.name_up_to(at);
        let program = self.last();
        let machine = cost_model::machine(program, self.options.target, self.options.cpu);
        let equations = live::at_equations(program);
        let origins = &program.entry().origins;
        let place = |v| origins.of(v).and_then(|span| self.places.range(span));
        Pressure {
            registers: machine.regs,
            most: live::max_live(program),
            reloads: pressure::reloads(program, &machine),
            live: equations.iter().map(|(_, live)| *live).collect(),
            names: equations.iter().map(|(v, _)| self.names.of(at, program.entry, *v)).collect(),
            places: equations.iter().map(|(v, _)| place(*v)).collect(),
        }
    }

    pub fn ports(&self) -> Ports {
        let Options { target, cpu, .. } = self.options;
        let work = Workload::of(self.last(), target);
        let counts = work.computing.iter();
        let named = |(&(inst, lane), &number): (&(Inst, u8), &u64)| {
            (format!("{inst:?}").to_lowercase(), lane, number)
        };
        let mut instructions: Vec<(String, u8, u64)> = counts.map(named).collect();
        instructions.sort_by_key(|(_, _, number)| Reverse(*number));
        let bound = cpu.unit(target).map(|unit| {
            let Bound { cycles, by, resources, ports } = work.bound(unit);
            Limits { cycles, by, resources, ports }
        });
        Ports {
            cpu: cpu.name,
            instances: work.instances,
            loads: work.loads,
            stores: work.stores,
            instructions,
            bound,
        }
    }

    /// The next claim of the proof.
    pub fn prove(&mut self) -> Claim {
        self.proof.next(&self.stages, self.options.target)
    }
}

/// Operators and calls in the text of a block.
fn size(eqns: &[Eqn]) -> usize {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Op(_) | Eqn::Call(_) => 1,
        Eqn::Loop(lp) => size(&lp.body),
    };
    eqns.iter().map(one).sum()
}

/// The fingerprints of the files, as the comment on top of the output has them.
fn hashes(sources: &Sources) -> String {
    let one = |file: &usuba::diag::SourceFile| {
        let name = file.name.rsplit('/').next().unwrap_or(&file.name);
        let digest = Sha256::digest(file.text.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name} sha256 {hex}")
    };
    sources.files.iter().map(one).collect::<Vec<_>>().join(", ")
}
