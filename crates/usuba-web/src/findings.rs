//! Answers about the text of a program: findings, declarations, facts at a place.

use serde::Serialize;
use usuba::diag::{Diagnostic, FileId, Severity};
use usuba_ide::hover::hover as hover_at;
use usuba_ide::lines::{Lines, Place};
use usuba_ide::memory::InMemory;
use usuba_ide::names::Kind;
use usuba_ide::{Analysis, ROOT, Settings, complete as completion, formatted, symbols};

use crate::question::Text;
use crate::texts::{Places, Range, root};

/// A finding about a program.
#[derive(Serialize, Debug)]
pub struct Finding {
    severity: &'static str,
    code: &'static str,
    message: String,
    range: Option<Range>,
    related: Vec<(Range, String)>,
    help: Option<String>,
    /// New texts for places, which are the repair that `help` describes.
    edits: Vec<(Range, String)>,
}

impl Finding {
    pub fn new(found: &Diagnostic, places: &Places) -> Finding {
        let related = found.related.iter();
        let edits = found.fix.iter().flat_map(|fix| &fix.edits);
        let edit = |edit: &usuba::diag::Edit| Some((places.range(edit.span)?, edit.text.clone()));
        Finding {
            severity: match found.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: found.code.as_str(),
            message: found.message.clone(),
            range: found.span.and_then(|span| places.range(span)),
            related: related
                .filter_map(|(span, text)| Some((places.range(*span)?, text.clone())))
                .collect(),
            help: found.help.clone(),
            edits: edits.filter_map(edit).collect(),
        }
    }
}

/// The answer to [`crate::question::Ask::Compile`] about a program that cannot be compiled.
#[derive(Serialize)]
pub struct Refused {
    pub findings: Vec<Finding>,
}

/// The answer to [`crate::question::Ask::Check`].
#[derive(Serialize)]
pub struct Checked {
    findings: Vec<Finding>,
    /// Nodes that a compilation may begin with: of the root, then of the files that it includes, in
    /// the order of the text.
    nodes: Vec<String>,
    /// The text in the house style, if it is another one.
    formatted: Option<String>,
}

pub fn check(text: &Text) -> Result<Checked, String> {
    let analysis = analysed(text)?;
    let places = Places::new(&analysis.sources);
    let shown = analysis.shown();
    let files = (0..analysis.sources.files.len()).map(|at| FileId(at as u32));
    let symbols = files.flat_map(|file| symbols::symbols(&analysis, file));
    let nodes = symbols.filter(|symbol| symbol.kind == Kind::Node);
    let source = root(text)?;
    Ok(Checked {
        findings: shown.iter().map(|found| Finding::new(found, &places)).collect(),
        nodes: nodes.map(|symbol| symbol.name).collect(),
        formatted: formatted(source).filter(|formatted| formatted != source),
    })
}

/// The answer to a pointer at a place.
#[derive(Serialize)]
pub struct Hover {
    range: Option<Range>,
    code: String,
    lines: Vec<String>,
}

pub fn hover(text: &Text, line: u32, column: u32) -> Result<Option<Hover>, String> {
    let analysis = analysed(text)?;
    let places = Places::new(&analysis.sources);
    let found = hover_at(&analysis, ROOT, offset(root(text)?, line, column));
    Ok(found.map(|found| Hover {
        range: places.range(found.span),
        code: found.code,
        lines: found.lines,
    }))
}

/// A name that can stand at a place.
#[derive(Serialize)]
pub struct Completion {
    label: String,
    /// The noun of a definition; empty for words of the language.
    kind: &'static str,
    detail: String,
}

pub fn complete(text: &Text, line: u32, column: u32) -> Result<Vec<Completion>, String> {
    let analysis = analysed(text)?;
    let found = completion::complete(&analysis, ROOT, offset(root(text)?, line, column));
    let shown = found.into_iter().map(|found| Completion {
        label: found.label,
        kind: found.kind.map_or("", |kind| kind.noun()),
        detail: found.detail,
    });
    Ok(shown.collect())
}

fn analysed(text: &Text) -> Result<Analysis, String> {
    let mut files = InMemory(&text.files);
    Ok(Analysis::new(&text.root, root(text)?, &mut files, &Settings::default()))
}

fn offset(text: &str, line: u32, column: u32) -> u32 {
    Lines::new(text).offset(text, Place { line, column }) as u32
}
