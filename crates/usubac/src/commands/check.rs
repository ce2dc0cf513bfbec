//! `usubac check`: checks every rule of the language, and with a slicing its rules too.

use std::path::Path;

use usuba::diag::{Diagnostic, FileId, Sources};
use usuba::lint::apply;
use usuba::syntax::{parse, print};

use super::{front, slice};
use crate::args::Check;
use crate::output::{Place, to_stderr, write_all};
use crate::report::Reporter;
use crate::{Failure, files};

/// Each round removes findings and adds few; the bound is for the rest.
const ROUNDS: usize = 100;

pub fn run(args: &Check, reporter: Reporter) -> Result<(), Failure> {
    if args.fix {
        fix(args, reporter)?;
    }
    let input = front::read(&args.file, &args.language, reporter)?;
    // Without a slicing the program may be a library that is polymorphic in its word sizes.
    if args.language.slicing()?.is_some() || args.language.word.is_some() {
        let target = usuba::isa::find("gp64").expect("the plain target exists");
        slice::check(&input, &args.language, target, reporter)?;
    }
    Ok(())
}

/// Applies the automatic fixes of warnings to the program's file, until there are none. Files that
/// it includes stay. A formatted file is formatted again.
fn fix(args: &Check, reporter: Reporter) -> Result<(), Failure> {
    if args.file == Path::new("-") {
        return Err(Failure::usage("--fix changes a file, and standard input is none"));
    }
    let old = files::read(&args.file)?;
    if old.lossy {
        let name = old.name;
        return Err(Failure::program(format!("{name} is not UTF-8 text, so it is left alone")));
    }
    let mut text = old.text.clone();
    let mut count = 0;
    for _ in 0..ROUNDS {
        let (input, found) = front::linted(&args.file, Some(&text), &args.language, reporter)?;
        let here = |finding: &&Diagnostic| {
            let fix = finding.fix.as_ref().filter(|fix| fix.automatic);
            fix.is_some_and(|fix| fix.edits.iter().all(|edit| edit.span.file == FileId(0)))
        };
        let fixed: Vec<&Diagnostic> = found.iter().filter(here).collect();
        let Some((_, new)) = apply(&input.sources, &fixed).into_iter().next() else { break };
        count += fixed.len();
        text = new;
    }
    if count == 0 {
        return Ok(());
    }
    if formatted(&old.text).as_ref() == Some(&old.text) {
        text = formatted(&text).unwrap_or(text);
    }
    write_all(&[(Place::new(&args.file), text)])?;
    let plural = if count == 1 { "" } else { "s" };
    to_stderr(&format!("fixed {count} warning{plural} in {}\n", old.name));
    Ok(())
}

/// The text as `usubac fmt` writes it, if it has no errors.
fn formatted(text: &str) -> Option<String> {
    let mut sources = Sources::default();
    let file = sources.add("", text);
    let (tree, findings) = parse(&sources, file);
    findings.is_empty().then(|| print::format(&tree, text))
}
