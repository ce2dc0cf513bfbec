//! `usubac fmt`: formats programs.

use std::path::Path;

use usuba::diag::Sources;
use usuba::syntax::{parse, print};

use super::front::reported;
use crate::args::Fmt;
use crate::output::{Place, to_stderr, write_all};
use crate::report::{Reporter, failure};
use crate::{Failure, fault, files};

/// Formats every valid file; an invalid file does not stop the others.
pub fn run(args: &Fmt, reporter: Reporter) -> Result<(), Failure> {
    fault::stage("formatting the program");
    let mut worst = Ok(());
    for file in &args.files {
        match one(file, args.check, reporter) {
            Err(Failure::Program(text)) => {
                to_stderr(&failure(reporter.format, &text));
                worst = Err(Failure::Reported);
            }
            Err(other) => worst = Err(other),
            Ok(()) => {}
        }
    }
    worst
}

fn one(file: &Path, check: bool, reporter: Reporter) -> Result<(), Failure> {
    let text = files::read(file)?;
    let name = text.name.clone();
    if text.lossy {
        return Err(Failure::program(format!("{name} is not UTF-8 text, so it is left alone")));
    }
    let mut sources = Sources::default();
    let id = sources.add(text.name, text.text);
    let (tree, findings) = parse(&sources, id);
    if findings.iter().any(|d| d.is_error()) {
        return Err(reported(&sources, &findings, reporter));
    }
    let old = &sources.file(id).text;
    let new = print::format(&tree, old);
    let place = Place::new(file);
    match (check, new == *old) {
        (true, false) => Err(Failure::program(format!("{name} is not in the house style"))),
        (true, true) => Ok(()),
        (false, true) if place != Place::Stdout => Ok(()),
        (false, _) => write_all(&[(place, new)]),
    }
}
