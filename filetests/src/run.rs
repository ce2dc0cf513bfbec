//! `# run: f(1, 0x2) == (3, 4)`
//!
//! Calls the node `f` on flattened atoms and compares the flattened results. `0b0110` stands for
//! four atoms of one bit, so `f(0b01) == 1` is `f(0, 1) == 1`.
//!
//! Each line goes through the evaluator and, in every slicing, through the interpreter: as the
//! program was sliced, after each pipeline, and once more after its printed text was parsed and
//! sliced again. V and B must exist; H may refuse operations that it does not have. With a
//! slicing among the flags exactly that one must exist.

use usuba::diag::Diagnostic;
use usuba::ir::{self, Slicing, interp};
use usuba::{Checked, typed};

use crate::case::{Case, Mode, Part};
use crate::compile;
use crate::flags::Flags;

/// One expected call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLine {
    pub line: usize,
    pub entry: String,
    pub inputs: Vec<u64>,
    pub outputs: Vec<u64>,
}

impl RunLine {
    /// Reads what stands after `run:`.
    ///
    /// # Errors
    /// What is malformed.
    pub fn parse(text: &str, line: usize) -> Result<RunLine, String> {
        let form = || format!("`{text}` is not `node(atoms) == atoms`");
        let (call, result) = text.split_once("==").ok_or_else(form)?;
        let (entry, inputs) = call.trim().split_once('(').ok_or_else(form)?;
        let inputs = inputs.strip_suffix(')').ok_or_else(form)?;
        let result = result.trim();
        let bare = result.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(result);
        Ok(RunLine {
            line,
            entry: entry.trim().to_string(),
            inputs: atoms(inputs)?,
            outputs: atoms(bare)?,
        })
    }
}

fn atoms(text: &str) -> Result<Vec<u64>, String> {
    let mut out = Vec::new();
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let wrong = || format!("`{word}` is not a number");
        if let Some(bits) = word.strip_prefix("0b") {
            for bit in bits.chars() {
                out.push(bit.to_digit(2).ok_or_else(wrong)?.into());
            }
            continue;
        }
        let number = match word.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => word.parse(),
        };
        out.push(number.map_err(|_| wrong())?);
    }
    Ok(out)
}

/// A way to run a program that can be checked in this process.
pub struct Engine {
    pub name: String,
    pub program: ir::Program,
    /// The ports as the source declares them; a printed program has bits in place of words.
    pub params: Vec<ir::Port>,
    pub results: Vec<ir::Port>,
}

/// Runs every line of a test through everything.
///
/// # Errors
/// The lines that went wrong, and where.
pub fn all(case: &Case) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut known: Vec<(&str, Checked, Vec<Engine>)> = Vec::new();
    for run in &case.runs {
        let fail = |why: String| format!("line {}: {why}", run.line);
        if !known.iter().any(|(entry, ..)| *entry == run.entry) {
            let front = compile::front(case, Some(&run.entry));
            let Some(checked) = front.checked else {
                wrong.push(fail(format!("no entry: {}", list(&front.found))));
                continue;
            };
            match engines(case, &checked) {
                Ok(engines) => known.push((&run.entry, checked, engines)),
                Err(why) => {
                    wrong.push(fail(why));
                    continue;
                }
            }
        }
        let (_, checked, engines) =
            known.iter().find(|(entry, ..)| *entry == run.entry).expect("made above");
        if let Err(why) = evaluate(case, checked, run) {
            wrong.push(fail(why));
            continue;
        }
        for engine in engines {
            if let Err(why) = interpret(engine, run) {
                wrong.push(fail(why));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The slicings in which an entry exists, with its Usuba0.
///
/// # Errors
/// A slicing that must exist does not.
pub fn sliced(case: &Case, checked: &Checked) -> Result<Vec<(Slicing, ir::Program)>, String> {
    let mut out = Vec::new();
    for slicing in [Slicing::V, Slicing::B, Slicing::H] {
        if case.flags.slicing.is_some_and(|only| only != slicing) {
            continue;
        }
        let forced = typed::check::slicing(&checked.program, slicing).map_err(|d| show(&d))?;
        if forced != slicing && case.flags.slicing.is_none() {
            continue;
        }
        match compile::lower(checked, slicing, case.flags.word) {
            Ok(program) => {
                ir::verify::verify(&program).map_err(|rule| format!("{slicing:?}: {rule}"))?;
                out.push((slicing, program));
            }
            Err(found)
                if slicing == Slicing::H
                    && case.flags.slicing.is_none()
                    && compile::is_refusal(&found) => {}
            Err(found) => return Err(format!("{slicing:?}: {}", list(&found))),
        }
    }
    Ok(out)
}

fn engines(case: &Case, checked: &Checked) -> Result<Vec<Engine>, String> {
    let mut engines = Vec::new();
    for (slicing, program) in sliced(case, checked)? {
        engines.extend(from_program(&format!("{slicing:?}"), &program, &case.flags)?);
    }
    Ok(engines)
}

/// A program as it is and after its printed text was compiled again.
///
/// # Errors
/// The text is refused.
pub fn from_program(
    name: &str,
    program: &ir::Program,
    flags: &Flags,
) -> Result<Vec<Engine>, String> {
    let again = reparse(program, flags).map_err(|why| format!("{name}, printed: {why}"))?;
    let engine = |name: String, run: &ir::Program| Engine {
        name,
        program: run.clone(),
        params: program.entry().params.clone(),
        results: program.entry().results.clone(),
    };
    Ok(vec![
        engine(name.to_string(), program),
        engine(format!("{name}, printed and parsed"), &again),
    ])
}

/// Prints a program, and compiles the text.
fn reparse(program: &ir::Program, flags: &Flags) -> Result<ir::Program, String> {
    let text = ir::print::program(program);
    let mut flags = flags.clone();
    flags.language.keep_tables = true;
    let case = Case {
        mode: Mode::Run,
        flags,
        parts: vec![Part { name: "dump.ua".into(), text: text.clone(), above: 0 }],
        marks: Vec::new(),
        runs: Vec::new(),
        counts: Vec::new(),
        expect: None,
    };
    let front = compile::front(&case, Some(&program.entry().name));
    let Some(checked) = front.checked else {
        return Err(format!("{}\n{text}", list(&front.found)));
    };
    let again = compile::lower(&checked, program.slicing, None)
        .map_err(|found| format!("{}\n{text}", list(&found)))?;
    ir::verify::verify(&again)?;
    Ok(again)
}

fn evaluate(case: &Case, checked: &Checked, run: &RunLine) -> Result<(), String> {
    let flag = case.flags.slicing.unwrap_or(Slicing::V);
    let slicing = typed::check::slicing(&checked.program, flag).map_err(|d| show(&d))?;
    let instance = typed::check::entry_instance(&checked.program, slicing, case.flags.word)
        .map_err(|d| show(&d))?;
    let found = typed::eval(&checked.program, &instance, &run.inputs).map_err(|ds| list(&ds))?;
    equal("eval", &run.outputs, &found)
}

fn interpret(engine: &Engine, run: &RunLine) -> Result<(), String> {
    let Engine { name, program, params, results } = engine;
    let values = interp::words_to_values(params, program.slicing, &run.inputs);
    let found = interp::run(program, &values).map_err(|e| format!("{name}: {e}"))?;
    equal(name, &run.outputs, &interp::values_to_words(results, program.slicing, &found))
}

fn equal(name: &str, want: &[u64], found: &[u64]) -> Result<(), String> {
    if want == found {
        return Ok(());
    }
    let show =
        |atoms: &[u64]| atoms.iter().map(|a| format!("{a:#x}")).collect::<Vec<_>>().join(", ");
    Err(format!("{name}: expected ({}), found ({})", show(want), show(found)))
}

fn show(diag: &Diagnostic) -> String {
    format!("{} {}", diag.code, diag.message)
}

/// Findings on one line, for a failure.
pub fn list(found: &[Diagnostic]) -> String {
    found.iter().map(show).collect::<Vec<_>>().join("; ")
}
