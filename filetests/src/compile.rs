//! The compiler, as tests need it.

use std::path::{Path, PathBuf};

use usuba::diag::{Diagnostic, FileId, Sources};
use usuba::ir::Slicing;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::syntax::splice::Loader;
use usuba::{Checked, Options, emit, ir};

use crate::file::Settings;

/// Finds includes beside the including file.
struct Beside;

impl Loader for Beside {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let full: PathBuf = Path::new(including).parent().unwrap_or(Path::new("")).join(path);
        let text = std::fs::read_to_string(&full).map_err(|e| format!("it cannot be read: {e}"))?;
        Ok((full.to_string_lossy().into_owned(), text))
    }
}

/// A program that is read once and compiled in several ways.
pub struct Source {
    pub sources: Sources,
    pub root: FileId,
}

impl Source {
    pub fn new(path: &Path, text: &str) -> Source {
        let mut sources = Sources::default();
        let root = sources.add(path.to_string_lossy(), text);
        Source { sources, root }
    }

    /// Reads and checks with `entry`, or the entry that the settings name.
    pub fn front(
        &mut self,
        settings: &Settings,
        entry: Option<&str>,
    ) -> Result<Checked, Vec<Diagnostic>> {
        let entry = entry.or(settings.entry.as_deref());
        usuba::front(&mut self.sources, self.root, &mut Beside, entry, settings.flags)
    }

    /// Findings in one line each.
    pub fn explain(&self, diags: &[Diagnostic]) -> String {
        let one = |d: &Diagnostic| {
            let place = d.span.map(|s| {
                let (line, column) = self.sources.line_col(s.file, s.start);
                format!("{}:{line}:{column}: ", self.sources.file(s.file).name)
            });
            format!("{}{} {}\n", place.unwrap_or_default(), d.code, d.message)
        };
        diags.iter().map(one).collect()
    }
}

/// Lowers under `slicing` and runs the passes of `level`; `seen` gets the program after lowering
/// and after each pass.
pub fn optimise(
    checked: &Checked,
    settings: &Settings,
    slicing: Slicing,
    level: Level,
    seen: &mut dyn FnMut(&str, &ir::Program),
) -> Result<ir::Program, Vec<Diagnostic>> {
    let options = Options {
        slicing,
        target: settings.target,
        word: settings.word,
        entry: None,
        flags: settings.flags,
        pipeline: PipelineOptions { level, pass: settings.pass, ..PipelineOptions::default() },
        c: emit::c::COptions::default(),
    };
    usuba::optimise(&checked.program, &options, seen)
}
