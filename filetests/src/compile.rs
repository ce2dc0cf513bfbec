//! The compiler on the parts of a test file.

use usuba::Checked;
use usuba::diag::{Code, Diagnostic, FileId, Sources};
use usuba::ir::{self, Slicing};
use usuba::lint::lint;
use usuba::passes::pipeline::{Level, passes};
use usuba::syntax::splice::{Loader, NoIncludes, splice};

use crate::case::{Case, Mode, Part};
use crate::flags::Flags;

/// The result of the front end for a test.
pub struct Front {
    pub sources: Sources,
    /// The checked program; `None` after an error, or when the test stops before.
    pub checked: Option<Checked>,
    /// All findings, warnings among them.
    pub found: Vec<Diagnostic>,
}

impl Front {
    /// The part of the test that a file is.
    pub fn part_of<'a>(&'a self, case: &'a Case) -> impl Fn(FileId) -> usize + 'a {
        |file| {
            let name = &self.sources.file(file).name;
            case.parts.iter().position(|p| p.name == *name).expect("files are parts")
        }
    }
}

/// Runs the front end as far as the test goes; `entry` overrides the flag.
pub fn front(case: &Case, entry: Option<&str>) -> Front {
    let mut sources = Sources::default();
    let root = sources.add(case.parts[0].name.clone(), case.parts[0].text.clone());
    let mut loader = Parts { parts: &case.parts, flags: &case.flags };
    if case.mode == Mode::Syntax {
        let (_, found) = splice(&mut sources, root, &mut loader);
        return Front { sources, checked: None, found };
    }
    let entry = entry.or(case.flags.entry.as_deref());
    match usuba::front(&mut sources, root, &mut loader, entry, case.flags.language) {
        Ok(checked) => {
            let mut found = checked.warnings.clone();
            if case.mode == Mode::Lint {
                let lints = lint(&sources, &checked.program);
                found.extend(case.flags.levels.apply(lints));
                found.sort_by_key(|finding| (finding.span, finding.code));
            }
            if case.mode == Mode::Prove {
                found.extend(usuba_contracts::findings(&checked.program));
            }
            Front { sources, checked: Some(checked), found }
        }
        Err(found) => Front { sources, checked: None, found },
    }
}

/// Slices a checked program, without any pass.
///
/// # Errors
/// The findings of the slicer.
pub fn lower(
    checked: &Checked,
    flags: &Flags,
    slicing: Slicing,
) -> Result<ir::Program, Vec<Diagnostic>> {
    let mut options = flags.options(slicing);
    options.pipeline.level = Level::O0;
    options.pipeline.skip = passes(Level::O0).map(|pass| pass.name.to_string()).collect();
    usuba::optimise(&checked.program, &options, &mut |_, _| ())
}

/// Whether findings only say that a slicing has no such operation or word size.
pub fn is_refusal(found: &[Diagnostic]) -> bool {
    found.iter().all(|d| matches!(d.code, Code::NoSuchOperation | Code::NoSuchWordSize))
}

/// Findings on one line, for a failure.
pub fn list(found: &[Diagnostic]) -> String {
    let show = |diag: &Diagnostic| format!("{} {}", diag.code, diag.message);
    found.iter().map(show).collect::<Vec<_>>().join("; ")
}

/// Compiles one text without includes.
///
/// # Errors
/// The findings, on one line.
pub fn text(text: &str, entry: Option<&str>, flags: &Flags) -> Result<Checked, String> {
    let mut sources = Sources::default();
    let root = sources.add("text.ua", text);
    usuba::front(&mut sources, root, &mut NoIncludes, entry, flags.language)
        .map_err(|found| list(&found))
}

/// Compiles one text without includes, and lints it.
///
/// # Errors
/// The findings, on one line.
pub fn linted(text: &str, entry: Option<&str>, flags: &Flags) -> Result<Linted, String> {
    let mut sources = Sources::default();
    let root = sources.add("text.ua", text);
    let checked = usuba::front(&mut sources, root, &mut NoIncludes, entry, flags.language)
        .map_err(|found| list(&found))?;
    let lints = lint(&sources, &checked.program);
    Ok(Linted { sources, checked, lints })
}

/// A checked program with its lints.
pub struct Linted {
    pub sources: Sources,
    pub checked: Checked,
    pub lints: Vec<Diagnostic>,
}

/// Finds includes among the parts of a test, as the command line does among files.
struct Parts<'a> {
    parts: &'a [Part],
    flags: &'a Flags,
}

impl Loader for Parts<'_> {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let beside = including.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folders = std::iter::once(beside).chain(self.flags.include_dirs.iter().map(|d| &**d));
        for folder in folders {
            let name = normal(&format!("{folder}/{path}"));
            if let Some(part) = self.parts.iter().find(|p| p.name == name) {
                return Ok((name, part.text.clone()));
            }
        }
        Err("there is no such file".into())
    }
}

/// A path without `.`, `..` and doubled slashes, relative to the folder of the test.
fn normal(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for word in path.split('/') {
        match word {
            "" | "." => {}
            ".." => {
                out.pop();
            }
            _ => out.push(word),
        }
    }
    out.join("/")
}
