//! The ways to run a program in this process.
//!
//! Every slicing that the program has, times every pipeline, times the program and its printed
//! text parsed and sliced again. All must agree with the evaluator of the typed program.

use usuba::ir::{self, Port, Slicing, interp};
use usuba::passes::pipeline::{Level, PipelineOptions, run_pipeline};
use usuba::passes::{self, PassOptions, inline, unroll};
use usuba::{Checked, typed};
use usuba_equiv::Observer;

use crate::compile::{self, list};
use crate::flags::Flags;

/// One way to run a program.
pub struct Engine {
    /// For messages: the slicing, then the passes.
    pub name: String,
    pub program: ir::Program,
    /// The ports as the source declares them; a printed program has bits in place of words.
    pub params: Vec<Port>,
    pub results: Vec<Port>,
}

/// The pipelines that every program goes through, by name.
pub fn pipelines() -> Vec<(&'static str, PipelineOptions)> {
    let level = |level| PipelineOptions { level, ..PipelineOptions::default() };
    let pass = PassOptions {
        inline: inline::Mode::All,
        unroll: unroll::Mode::All,
        ..PassOptions::default()
    };
    vec![
        ("O0", level(Level::O0)),
        ("O1", level(Level::O1)),
        ("O2", level(Level::O2)),
        ("everything", PipelineOptions { pass, ..PipelineOptions::default() }),
    ]
}

/// The function of one instance.
///
/// # Errors
/// The findings of the evaluator, on one line.
pub fn eval(checked: &Checked, flags: &Flags, inputs: &[u64]) -> Result<Vec<u64>, String> {
    let flag = flags.slicing.unwrap_or(Slicing::V);
    let run = || {
        let slicing = typed::check::slicing(&checked.program, flag).map_err(|d| vec![d])?;
        let instance = typed::check::entry_instance(&checked.program, slicing, flags.word)
            .map_err(|d| vec![d])?;
        typed::eval(&checked.program, &instance, inputs)
    };
    run().map_err(|found| format!("eval: {}", list(&found)))
}

/// The slicings in which a program exists, with its Usuba0 before any pass. V and B must exist;
/// H and W may refuse operations and shapes that they do not have. With a slicing among the flags exactly that
/// one must exist.
///
/// # Errors
/// A slicing that must exist does not, or Usuba0 is unsound.
pub fn sliced(checked: &Checked, flags: &Flags) -> Result<Vec<(Slicing, ir::Program)>, String> {
    let mut out = Vec::new();
    for slicing in [Slicing::V, Slicing::B, Slicing::H, Slicing::W] {
        if !wanted(checked, flags, slicing)? {
            continue;
        }
        match compile::lower(checked, flags, slicing) {
            Ok(program) => {
                ir::verify::verify(&program).map_err(|rule| format!("{slicing:?}: {rule}"))?;
                out.push((slicing, program));
            }
            Err(found)
                if matches!(slicing, Slicing::H | Slicing::W)
                    && flags.slicing.is_none()
                    && compile::is_refusal(&found) => {}
            Err(found) => return Err(format!("{slicing:?}: {}", list(&found))),
        }
    }
    Ok(out)
}

/// Whether a program is to be run in a slicing: the one of the flags, or each that it does not
/// exclude by a direction of its own.
///
/// # Errors
/// The program mixes directions.
pub fn wanted(checked: &Checked, flags: &Flags, slicing: Slicing) -> Result<bool, String> {
    if let Some(only) = flags.slicing {
        return Ok(only == slicing);
    }
    let forced = typed::check::slicing(&checked.program, slicing);
    Ok(forced.map_err(|d| list(&[d]))? == slicing)
}

/// The engines of a program with the given pipelines, of which each pass is proved if `proved` is
/// set.
///
/// # Errors
/// A stage that fails, with its name.
pub fn engines(
    checked: &Checked,
    flags: &Flags,
    pipelines: &[(&str, PipelineOptions)],
    proved: bool,
) -> Result<Vec<Engine>, String> {
    let mut out = Vec::new();
    for (slicing, program) in sliced(checked, flags)? {
        add(&mut out, &format!("{slicing:?}"), &program, flags)?;
        for (name, options) in pipelines {
            let mut after = program.clone();
            let name = format!("{slicing:?} after {name}");
            let mut proof = Observer::default();
            proof.see("lower", &after);
            run_pipeline(&mut after, options, &mut |pass, program| {
                if proved {
                    proof.see(pass, program);
                }
            });
            proof.finish().map_err(|fault| format!("{name}: {fault}"))?;
            ir::verify::verify(&after).map_err(|rule| format!("{name}: {rule}"))?;
            add(&mut out, &name, &after, flags)?;
        }
    }
    Ok(out)
}

/// The engines of a program before and after one pass, which is proved.
///
/// # Errors
/// There is no such pass, or a stage fails.
pub fn around_pass(checked: &Checked, flags: &Flags, pass: &str) -> Result<Vec<Engine>, String> {
    let mut out = Vec::new();
    for (slicing, mut program) in sliced(checked, flags)? {
        add(&mut out, &format!("{slicing:?}"), &program, flags)?;
        let mut proof = Observer::default();
        proof.see("lower", &program);
        run_pass(&mut program, flags, pass)?;
        proof.see(pass, &program);
        proof.finish().map_err(|fault| format!("{slicing:?}: {fault}"))?;
        add(&mut out, &format!("{slicing:?} after {pass}"), &program, flags)?;
    }
    Ok(out)
}

/// Runs one pass by its name and verifies its result.
///
/// # Errors
/// There is no such pass, or it breaks a rule of Usuba0.
pub fn run_pass(program: &mut ir::Program, flags: &Flags, name: &str) -> Result<(), String> {
    let pass = passes::find(name).ok_or_else(|| format!("there is no pass `{name}`"))?;
    passes::pipeline::run_pass(pass, program, &flags.pass);
    ir::verify::verify(program).map_err(|rule| format!("after {name}: {rule}"))
}

fn add(
    out: &mut Vec<Engine>,
    name: &str,
    program: &ir::Program,
    flags: &Flags,
) -> Result<(), String> {
    let again = reparse(program, flags).map_err(|why| format!("{name}, printed: {why}"))?;
    for (name, run) in
        [(name.to_string(), program.clone()), (format!("{name}, printed and parsed"), again)]
    {
        let entry = program.entry();
        let (params, results) = (entry.params.clone(), entry.results.clone());
        out.push(Engine { name, program: run, params, results });
    }
    Ok(())
}

/// Prints a program and compiles the text.
fn reparse(program: &ir::Program, flags: &Flags) -> Result<ir::Program, String> {
    let printed = usuba::dump::program(program);
    let mut flags = Flags { word: None, slicing: None, ..flags.clone() };
    flags.language.keep_tables = true;
    let with_text = |why: String| format!("{why}\n{printed}");
    let checked =
        compile::text(&printed, Some(&program.entry().name), &flags).map_err(with_text)?;
    let again = compile::lower(&checked, &flags, program.slicing)
        .map_err(|found| with_text(list(&found)))?;
    ir::verify::verify(&again).map_err(with_text)?;
    Ok(again)
}

impl Engine {
    /// Runs the program on source words.
    ///
    /// # Errors
    /// The inputs do not fit the entry.
    pub fn run(&self, words: &[u64]) -> Result<Vec<u64>, String> {
        let slicing = self.program.slicing;
        let values = interp::words_to_values(&self.params, slicing, words);
        let found =
            interp::run(&self.program, &values).map_err(|e| format!("{}: {e}", self.name))?;
        Ok(interp::values_to_words(&self.results, slicing, &found))
    }
}

/// Compares atoms.
///
/// # Errors
/// Both lists, after `name`.
pub fn equal(name: &str, want: &[u64], found: &[u64]) -> Result<(), String> {
    if want == found {
        return Ok(());
    }
    let show =
        |atoms: &[u64]| atoms.iter().map(|a| format!("{a:#x}")).collect::<Vec<_>>().join(", ");
    Err(format!("{name}: expected ({}), found ({})", show(want), show(found)))
}
