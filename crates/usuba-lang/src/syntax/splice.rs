//! Includes: one list of declarations from a file and everything that it includes.
//!
//! A file is spliced once, at its first include; a cycle is an error. A [`Loader`] finds the files,
//! so that the compiler itself touches no file system; [standard] includes are parts of the compiler.

use super::{ast, parse};
use crate::diag::{Code, Diagnostic, FileId, Sources, Span};
use crate::standard;

/// Finds included files.
pub trait Loader {
    /// `including` is the name of the file that holds the `include`, `path` the path in it.
    /// Returns the name that identifies the file (the same for every way to reach it) and its
    /// text, or a sentence that says where it was looked for.
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String>;
}

/// A loader for programs that include nothing.
pub struct NoIncludes;

impl Loader for NoIncludes {
    fn load(&mut self, _: &str, _: &str) -> Result<(String, String), String> {
        Err("files cannot be included here".into())
    }
}

/// Most files that one compilation may read.
const MAX_FILES: usize = 1000;

/// Deepest chain of includes.
const MAX_INCLUDES: usize = 100;

/// Parses `root` and everything that it includes; declarations in the order of the text.
pub fn splice(
    sources: &mut Sources,
    root: FileId,
    loader: &mut dyn Loader,
) -> (Vec<ast::Decl>, Vec<Diagnostic>) {
    let mut state = Splice { sources, loader, decls: Vec::new(), diags: Vec::new(), open: vec![] };
    state.file(root);
    (state.decls, state.diags)
}

struct Splice<'a> {
    sources: &'a mut Sources,
    loader: &'a mut dyn Loader,
    decls: Vec<ast::Decl>,
    diags: Vec<Diagnostic>,
    /// Names of the files that are being spliced, outermost first.
    open: Vec<String>,
}

impl Splice<'_> {
    fn file(&mut self, id: FileId) {
        let (tree, diags) = parse(self.sources, id);
        self.diags.extend(diags);
        self.open.push(self.sources.file(id).name.clone());
        let is_standard = self.sources.file(id).name.starts_with(standard::PREFIX);
        for item in tree.items {
            match item {
                ast::Item::Decl(decl) => self.decls.push(ast::Decl { is_standard, ..decl }),
                ast::Item::Include { path, span } => self.include(id, &path, span),
            }
        }
        self.open.pop();
    }

    fn include(&mut self, from: FileId, path: &str, span: Span) {
        let including = self.sources.file(from).name.clone();
        let found = match standard::text(path) {
            Some(found) => found
                .map(|text| (path.to_string(), text.to_string()))
                .map_err(|why| (why, "other paths are paths of files")),
            None => self.loader.load(&including, path).map_err(|why| {
                (why, "paths are relative to the including file, then to each -I directory")
            }),
        };
        let (name, text) = match found {
            Ok(found) => found,
            Err((why, help)) => {
                let text = format!("cannot include \"{path}\": {why}");
                let finding = Diagnostic::error(Code::IncludeNotFound, span, text);
                self.diags.push(finding.help(help));
                return;
            }
        };
        if self.open.contains(&name) {
            let chain = self.open.join(" → ");
            self.diags.push(
                Diagnostic::error(Code::IncludeCycle, span, format!("{name} includes itself"))
                    .help(format!("the chain is {chain} → {name}; break it at one place")),
            );
            return;
        }
        if self.sources.files.iter().any(|f| f.name == name) {
            return;
        }
        if self.sources.files.len() >= MAX_FILES || self.open.len() >= MAX_INCLUDES {
            self.diags.push(Diagnostic::error(
                Code::TooLarge,
                span,
                format!(
                    "more than {MAX_FILES} files, or includes more than {MAX_INCLUDES} deep: \
                     these are the limits"
                ),
            ));
            return;
        }
        let id = self.sources.add(name, text);
        self.file(id);
    }
}
