//! `# run: f(1, 0x2) == (3, 4)`
//!
//! Calls the node `f` on flattened atoms and compares the flattened results. `0b0110` stands for
//! four atoms of one bit, so `f(0b01) == 1` is `f(0, 1) == 1`.
//!
//! Each line goes through the evaluator, every engine of `engines` and, for all tests together,
//! through `native`. In `pass` tests the engines are those before and after the pass.

use crate::case::{Case, Mode};
use crate::{compile, engines};

/// Runs every line of a test through every engine of this process.
///
/// # Errors
/// The lines that went wrong, and where.
pub fn all(case: &Case) -> Result<(), String> {
    let mut wrong = Vec::new();
    for entry in entries(case) {
        let lines = || case.runs.iter().filter(|run| run.entry == entry);
        let first = lines().next().expect("an entry is named by a line").line;
        let front = compile::front(case, Some(entry));
        let Some(checked) = front.checked else {
            wrong.push(format!("line {first}: {}", compile::list(&front.found)));
            continue;
        };
        let engines = match &case.mode {
            Mode::Pass(pass) => engines::around_pass(&checked, &case.flags, pass),
            _ => engines::engines(&checked, &case.flags, &engines::pipelines(), true),
        };
        let engines = match engines {
            Ok(engines) => engines,
            Err(why) => {
                wrong.push(format!("line {first}: {why}"));
                continue;
            }
        };
        for run in lines() {
            let evaluated = engines::eval(&checked, &case.flags, &run.inputs)
                .and_then(|found| engines::equal("eval", &run.outputs, &found));
            if let Err(why) = evaluated {
                wrong.push(format!("line {}: {why}", run.line));
                continue;
            }
            for engine in &engines {
                let checked = engine
                    .run(&run.inputs)
                    .and_then(|found| engines::equal(&engine.name, &run.outputs, &found));
                wrong.extend(checked.err().map(|why| format!("line {}: {why}", run.line)));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The nodes that the lines of a test call, each once, in the order of the text.
pub fn entries(case: &Case) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for run in &case.runs {
        if !out.contains(&run.entry.as_str()) {
            out.push(&run.entry);
        }
    }
    out
}
