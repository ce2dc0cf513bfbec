//! Front end of the commands: reads and checks a program, and writes its diagnostics.

use std::path::Path;

use usuba::Checked;
use usuba::diag::{Diagnostic, Sources};
use usuba::lint::lint;

use crate::args::Language;
use crate::report::Reporter;
use crate::{Failure, fault, files};

/// A checked program and its text.
pub struct Input {
    pub sources: Sources,
    pub checked: Checked,
}

/// Reads, checks and lints a program, and writes its diagnostics.
pub fn read(file: &Path, language: &Language, reporter: Reporter) -> Result<Input, Failure> {
    let (input, found) = linted(file, None, language, reporter)?;
    reporter.show(&input.sources, &found);
    match found.iter().any(Diagnostic::is_error) {
        true => Err(Failure::Reported),
        false => Ok(input),
    }
}

/// A program, perhaps with another text than its file, and its warnings as the levels show them.
/// Errors are written.
pub fn linted(
    file: &Path,
    text: Option<&str>,
    language: &Language,
    reporter: Reporter,
) -> Result<(Input, Vec<Diagnostic>), Failure> {
    fault::stage("reading the program");
    let mut sources = Sources::default();
    let (root, mut loader) = files::open(&mut sources, file, &language.includes.include)?;
    if let Some(text) = text {
        sources.files[root.0 as usize].text = text.to_string();
    }
    fault::stage("checking the program");
    let entry = language.entry();
    match usuba::front(&mut sources, root, &mut loader, entry, language.flags()) {
        Ok(checked) => {
            let mut found = checked.warnings.clone();
            found.extend(lint(&sources, &checked.program));
            found.sort_by_key(|finding| (finding.span, finding.code));
            Ok((Input { sources, checked }, language.lints.levels().apply(found)))
        }
        Err(findings) => Err(reported(&sources, &findings, reporter)),
    }
}

/// Writes diagnostics and turns them into a failure.
pub fn reported(sources: &Sources, findings: &[Diagnostic], reporter: Reporter) -> Failure {
    reporter.show(sources, findings);
    Failure::Reported
}
