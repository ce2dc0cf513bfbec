//! Front end of the commands: reads and checks a program, and writes its diagnostics.

use std::path::Path;

use usuba::Checked;
use usuba::diag::{Diagnostic, Sources};

use crate::args::Language;
use crate::report::Reporter;
use crate::{Failure, fault, files};

/// A checked program and its text.
pub struct Input {
    pub sources: Sources,
    pub checked: Checked,
}

/// Reads and checks a program.
pub fn read(file: &Path, language: &Language, reporter: Reporter) -> Result<Input, Failure> {
    fault::stage("reading the program");
    let mut sources = Sources::default();
    let (root, mut loader) = files::open(&mut sources, file, &language.includes.include)?;
    fault::stage("checking the program");
    let entry = language.entry();
    match usuba::front(&mut sources, root, &mut loader, entry, language.flags()) {
        Ok(checked) => {
            reporter.show(&sources, &checked.warnings);
            if language.deny_warnings && !checked.warnings.is_empty() {
                return Err(Failure::program("there are warnings, and -w makes them errors"));
            }
            Ok(Input { sources, checked })
        }
        Err(findings) => Err(reported(&sources, &findings, reporter)),
    }
}

/// Writes diagnostics and turns them into a failure.
pub fn reported(sources: &Sources, findings: &[Diagnostic], reporter: Reporter) -> Failure {
    reporter.show(sources, findings);
    Failure::Reported
}
