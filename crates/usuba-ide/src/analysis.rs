//! A program as an editor sees it: its files, its names, its types if there are any, its findings.

use rustc_hash::FxHashMap;
use usuba::diag::{Diagnostic, FileId, Sources, Span};
use usuba::lint::{Levels, lint};
use usuba::syntax::ast::{self, Item};
use usuba::syntax::splice::{Loader, splice};
use usuba::syntax::{parse, print};
use usuba::typed::{self, Flags};

use crate::names::{DefinitionId, Names};

/// The root of every analysis.
pub const ROOT: FileId = FileId(0);

/// The options of an analysis.
#[derive(Clone, Default, Debug)]
pub struct Settings {
    pub levels: Levels,
    pub flags: Flags,
}

/// A file that another one includes.
#[derive(Clone, Debug)]
pub struct Include {
    /// The whole `include "path"`.
    pub span: Span,
    /// The file, unless it is missing.
    pub file: Option<FileId>,
}

/// The files of a program and its names, without types.
pub struct Outline {
    /// The root has the number 0.
    pub sources: Sources,
    /// The declarations that could be read, of all files, in the order of the text.
    pub decls: Vec<ast::Decl>,
    pub includes: Vec<Include>,
    pub names: Names,
}

/// A program and everything that is known about it.
pub struct Analysis {
    pub outline: Outline,
    /// Declarations with types, also if there are errors; none if the entry is unknown.
    pub program: Option<typed::Program>,
    /// Errors, and warnings as the levels show them, in the order of the text.
    pub findings: Vec<Diagnostic>,
    /// Whether the program can be compiled; warnings that a level made errors do not count.
    pub is_sound: bool,
}

impl std::ops::Deref for Analysis {
    type Target = Outline;

    fn deref(&self) -> &Outline {
        &self.outline
    }
}

impl Outline {
    /// Reads a text, under a name that `loader` understands, and its includes.
    pub fn new(name: &str, text: &str, loader: &mut dyn Loader) -> (Outline, Vec<Diagnostic>) {
        let mut sources = Sources::default();
        let root = sources.add(name, text);
        let mut loader = Recorder { loader, names: FxHashMap::default() };
        let (decls, findings) = splice(&mut sources, root, &mut loader);
        let includes = includes(&sources, &loader.names);
        let names = Names::new(&decls);
        (Outline { sources, decls, includes, names }, findings)
    }

    /// The file with a name, if the program has it.
    pub fn file(&self, name: &str) -> Option<FileId> {
        let at = self.sources.files.iter().position(|file| file.name == name)?;
        Some(FileId(at as u32))
    }

    /// The text of a file.
    pub fn text(&self, file: FileId) -> &str {
        &self.sources.file(file).text
    }

    /// The declaration around a place.
    pub fn decl_at(&self, file: FileId, offset: u32) -> Option<&ast::Decl> {
        let around = |span: Span| span.file == file && span.start <= offset && offset <= span.end;
        self.decls.iter().find(|decl| around(decl.span))
    }

    /// The definition that the name at a place means, also in text that the parser gave up.
    pub fn meant(&self, file: FileId, offset: u32) -> Option<(Span, DefinitionId)> {
        let known = self.names.at(file, offset);
        known.or_else(|| self.names.spelt(file, offset, self.text(file)))
    }

    /// The include at a place.
    pub fn include_at(&self, file: FileId, offset: u32) -> Option<&Include> {
        let around = |span: Span| span.file == file && span.start <= offset && offset <= span.end;
        self.includes.iter().find(|include| around(include.span))
    }
}

impl Analysis {
    /// Analyses a text under a name that `loader` understands.
    pub fn new(name: &str, text: &str, loader: &mut dyn Loader, settings: &Settings) -> Analysis {
        let (outline, mut findings) = Outline::new(name, text, loader);
        let is_broken = |findings: &[Diagnostic]| findings.iter().any(Diagnostic::is_error);
        let (program, found) = typed::resolve(&outline.decls, None, settings.flags);
        // Errors of names follow from declarations that could not be read.
        if !is_broken(&findings) {
            findings.extend(found);
        }
        if let Some(program) = program.as_ref().filter(|_| !is_broken(&findings)) {
            findings.extend(typed::check(program));
        }
        let is_sound = program.is_some() && !is_broken(&findings);
        if let Some(program) = program.as_ref().filter(|_| is_sound) {
            findings.extend(lint(&outline.sources, program));
        }
        findings.sort_by_key(|finding| (finding.span, finding.code));
        let findings = settings.levels.apply(findings);
        Analysis { outline, program, findings, is_sound }
    }

    /// A declaration with its types, by the place of its name.
    pub fn typed(&self, name: Span) -> Option<&typed::Decl> {
        self.program.as_ref()?.decls.iter().find(|decl| decl.name_span == name)
    }

    /// The findings that an editor of the root shows: its own, those without a place at its start,
    /// and errors of an included file at the include that leads to the file.
    pub fn shown(&self) -> Vec<Diagnostic> {
        let mut shown: Vec<Diagnostic> = Vec::new();
        for finding in &self.findings {
            let span = finding.span.unwrap_or_default();
            let Some(include) = self.leads_to(span.file) else {
                shown.push(Diagnostic { span: Some(span), ..finding.clone() });
                continue;
            };
            let new = !shown.iter().any(|other| other.span == Some(include.span));
            if finding.is_error() && new {
                let name = &self.sources.file(span.file).name;
                let text = format!("{name} has an error");
                let error = Diagnostic::error(finding.code, include.span, text);
                shown.push(error.related(span, &finding.message));
            }
        }
        shown
    }

    /// The include of the root through which a file belongs to the program; none for the root.
    fn leads_to(&self, mut file: FileId) -> Option<&Include> {
        let mut found = None;
        while file != ROOT {
            found = self.includes.iter().find(|include| include.file == Some(file));
            file = found?.span.file;
        }
        found
    }
}

/// The text in the house style; `None` if it cannot be read.
pub fn formatted(text: &str) -> Option<String> {
    let mut sources = Sources::default();
    let file = sources.add("", text);
    let (tree, findings) = parse(&sources, file);
    (!findings.iter().any(Diagnostic::is_error)).then(|| print::format(&tree, text))
}

/// A loader that remembers the names of the files that it found.
struct Recorder<'a> {
    loader: &'a mut dyn Loader,
    /// By the including file and the path.
    names: FxHashMap<(String, String), String>,
}

impl Loader for Recorder<'_> {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let found = self.loader.load(including, path)?;
        self.names.insert((including.to_string(), path.to_string()), found.0.clone());
        Ok(found)
    }
}

fn includes(sources: &Sources, names: &FxHashMap<(String, String), String>) -> Vec<Include> {
    let mut found = Vec::new();
    for at in 0..sources.files.len() {
        let file = FileId(at as u32);
        let including = &sources.file(file).name;
        for item in parse(sources, file).0.items {
            let Item::Include { path, span } = item else { continue };
            let name = names.get(&(including.clone(), path));
            let file = sources.files.iter().position(|file| Some(&file.name) == name);
            found.push(Include { span, file: file.map(|at| FileId(at as u32)) });
        }
    }
    found
}
