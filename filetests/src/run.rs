//! `# test run`: the same answer by every way to run one instance.
//!
//! Each `run:` line goes through the evaluator of the language, and for each slicing through the
//! interpreter of Usuba0 after each pipeline, and once more after its dump was read back.

use std::path::Path;

use usuba::ir::{self, Slicing, interp};
use usuba::passes::pipeline::Level;
use usuba::typed::{check, eval};
use usuba::{Checked, ir::print};

use crate::compile::{self, Source};
use crate::file::{RunLine, Settings, TestFile};

pub fn wanted(test: &TestFile, path: &Path) -> Result<String, String> {
    if test.runs.is_empty() {
        return Err("there is no `# run:`".into());
    }
    let slicings = match &test.settings.slicings[..] {
        [] => &[Slicing::V, Slicing::B],
        some => some,
    };
    let mut source = Source::new(path, &test.head);
    for line in &test.runs {
        let checked = source
            .front(&test.settings, Some(&line.entry))
            .map_err(|diags| source.explain(&diags))?;
        for &slicing in slicings {
            evaluate(&source, &checked, &test.settings, slicing, line)?;
            for level in [Level::O0, Level::O1, Level::O2] {
                let how = format!("{slicing:?} {level:?}");
                let program =
                    compile::optimise(&checked, &test.settings, slicing, level, &mut |_, _| ())
                        .map_err(|diags| format!("{how}: {}", source.explain(&diags)))?;
                interpret(&program, line).map_err(|why| format!("{how}: {why}"))?;
                interpret_dump(&program, path, &test.settings, line)
                    .map_err(|why| format!("{how}, read back: {why}"))?;
            }
        }
    }
    Ok(test.with_expect(&test.head, ""))
}

fn evaluate(
    source: &Source,
    checked: &Checked,
    settings: &Settings,
    slicing: Slicing,
    line: &RunLine,
) -> Result<(), String> {
    let slicing = check::slicing(&checked.program, slicing).map_err(|d| source.explain(&[d]))?;
    let instance = check::entry_instance(&checked.program, slicing, settings.word)
        .map_err(|d| source.explain(&[d]))?;
    let found =
        eval(&checked.program, &instance, &line.inputs).map_err(|diags| source.explain(&diags))?;
    compare("eval", line, &found)
}

/// Runs a line on a lowered program.
pub fn interpret(program: &ir::Program, line: &RunLine) -> Result<(), String> {
    let (params, results) = (&program.entry().params, &program.entry().results);
    let words: usize = params.iter().map(|p| p.words()).sum();
    if words != line.inputs.len() {
        return Err(format!("{words} words are wanted in {}", line.text));
    }
    let inputs = interp::words_to_values(params, program.slicing, &line.inputs);
    let values = interp::run(program, &inputs).map_err(|e| e.to_string())?;
    compare("interp", line, &interp::values_to_words(results, program.slicing, &values))
}

/// The same for the program that its dump is; its ports have become arrays of bits under B.
fn interpret_dump(
    program: &ir::Program,
    path: &Path,
    settings: &Settings,
    line: &RunLine,
) -> Result<(), String> {
    let text = print::program(program);
    let mut source = Source::new(path, &text);
    let fail = |source: &Source, diags: &[_]| format!("{}{text}", source.explain(diags));
    let checked = source
        .front(settings, Some(&program.entry().name))
        .map_err(|diags| fail(&source, &diags))?;
    let mut again =
        compile::optimise(&checked, settings, program.slicing, Level::O0, &mut |_, _| ())
            .map_err(|diags| fail(&source, &diags))?;
    let entry = again.entry.0 as usize;
    again.nodes[entry].params = program.entry().params.clone();
    again.nodes[entry].results = program.entry().results.clone();
    interpret(&again, line)
}

fn compare(how: &str, line: &RunLine, found: &[u64]) -> Result<(), String> {
    if found == line.outputs {
        return Ok(());
    }
    Err(format!("{how}: {} but it gives {found:#x?}", line.text))
}
