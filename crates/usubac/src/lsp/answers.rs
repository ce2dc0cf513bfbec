//! One function for each request: from the parameters of the protocol to its result.

use std::collections::{BTreeMap, HashMap};

use usuba::diag::{Diagnostic, Edit, Span};
use usuba_ide::names::{Definition as Named, DefinitionId};
use usuba_ide::{Analysis, Outline, ROOT, complete, formatted, hover, rename, symbols, tokens};

use super::buffers::{Buffers, name};
use super::protocol::*;
use crate::explain;

/// Files and folders of the workspace that a search for references visits at most.
const MOST_FILES: usize = 20_000;

/// An analysed file and everything around it.
pub struct Context<'a> {
    pub buffers: &'a Buffers,
    /// Folders of the workspace.
    pub workspace: &'a [std::path::PathBuf],
    pub all: &'a BTreeMap<String, Analysis>,
}

impl<'a> Context<'a> {
    /// The analysis of an open file.
    fn file(&self, uri: &Uri) -> Option<(&'a Analysis, Places<'a>)> {
        let analysis = self.all.get(&name(&uri.0))?;
        Some((analysis, Places::new(&analysis.sources, self.buffers)))
    }

    /// The same with a place in it.
    fn place(&self, at: &TextDocumentPositionParams) -> Option<(&'a Analysis, Places<'a>, u32)> {
        let (analysis, places) = self.file(&at.text_document.uri)?;
        let offset = places.offset(ROOT, at.position);
        Some((analysis, places, offset))
    }

    pub fn hover(&self, at: &TextDocumentPositionParams) -> Option<Hover> {
        let (analysis, places, offset) = self.place(at)?;
        let hover = hover::hover(analysis, ROOT, offset)?;
        let mut parts = Vec::new();
        if !hover.code.is_empty() {
            parts.push(format!("```usuba\n{}\n```", hover.code));
        }
        parts.extend(hover.lines);
        let value = parts.join("\n\n");
        let contents = MarkupContent { kind: MarkupKind::Markdown, value };
        Some(Hover { contents: contents.into(), range: Some(places.range(hover.span)) })
    }

    /// The definition of a name, or the start of an included file.
    pub fn definition(&self, at: &TextDocumentPositionParams) -> Option<DefinitionResponse> {
        let (analysis, places, offset) = self.place(at)?;
        let span = match analysis.meant(ROOT, offset) {
            Some((_, id)) => analysis.names.definitions[id].span,
            None => {
                let file = analysis.include_at(ROOT, offset)?.file?;
                Span { file, start: 0, end: 0 }
            }
        };
        Some(Definition::from(places.location(span)).into())
    }

    pub fn highlights(&self, at: &TextDocumentPositionParams) -> Option<Vec<DocumentHighlight>> {
        let (analysis, places, offset) = self.place(at)?;
        let (_, id) = analysis.names.at(ROOT, offset)?;
        let here = analysis.names.places(id).filter(|span| span.file == ROOT);
        let highlight = |span| DocumentHighlight { range: places.range(span), kind: None };
        Some(here.map(highlight).collect())
    }

    pub fn references(
        &self,
        at: &TextDocumentPositionParams,
        with_definition: bool,
    ) -> Option<Vec<Location>> {
        let mut found = Vec::new();
        self.everywhere(at, |outline, places, id| {
            let own = outline.names.definitions[id].span;
            let spans = outline.names.places(id).filter(|span| with_definition || *span != own);
            found.extend(spans.map(|span| places.location(span)));
            Ok(())
        })
        .ok()?;
        found.sort_by_key(|location: &Location| (location.uri.0.clone(), location.range));
        found.dedup();
        Some(found)
    }

    /// Whether the name at a place can have another one.
    pub fn prepare_rename(&self, at: &TextDocumentPositionParams) -> Option<Range> {
        let (analysis, places, offset) = self.place(at)?;
        let (span, _) = analysis.names.at(ROOT, offset)?;
        Some(places.range(span))
    }

    pub fn rename(
        &self,
        at: &TextDocumentPositionParams,
        new: &str,
    ) -> Result<WorkspaceEdit, String> {
        let mut changes: BTreeMap<String, Vec<TextEdit>> = BTreeMap::new();
        self.everywhere(at, |outline, places, id| {
            for edit in rename::rename(outline, id, new)? {
                let edits = changes.entry(places.uri(edit.span.file).0).or_default();
                let edit = places.edit(&edit);
                if !edits.contains(&edit) {
                    edits.push(edit);
                }
            }
            Ok(())
        })?;
        Ok(workspace_edit(changes))
    }

    /// Visits every program that has the definition of the name at a place: open ones, and, for
    /// declarations, closed ones of the workspace.
    fn everywhere(
        &self,
        at: &TextDocumentPositionParams,
        mut visit: impl FnMut(&Outline, &Places, DefinitionId) -> Result<(), String>,
    ) -> Result<(), String> {
        let none = || "there is no name that the program defines".to_string();
        let (analysis, _, offset) = self.place(at).ok_or_else(none)?;
        let (_, id) = analysis.names.at(ROOT, offset).ok_or_else(none)?;
        let definition = &analysis.names.definitions[id];
        let file = &analysis.sources.file(definition.span.file).name;
        let mut each = |outline: &Outline| {
            let same = |other: &Named| {
                outline.sources.file(other.span.file).name == *file
                    && (other.span.start, &other.name) == (definition.span.start, &definition.name)
            };
            match outline.names.definitions.iter().position(same) {
                Some(id) => visit(outline, &Places::new(&outline.sources, self.buffers), id),
                None => Ok(()),
            }
        };
        each(analysis)?;
        self.all.values().try_for_each(|other| each(other))?;
        if definition.kind.is_global() {
            for (name, text) in self.buffers.closed(self.workspace, MOST_FILES) {
                let mut loader = self.buffers;
                each(&Outline::new(&name, &text, &mut loader).0)?;
            }
        }
        Ok(())
    }

    pub fn symbols(&self, uri: &Uri) -> Option<DocumentSymbolResponse> {
        let (analysis, places) = self.file(uri)?;
        let symbols = symbols::symbols(analysis, ROOT);
        let symbols: Vec<_> = symbols.iter().map(|symbol| places.symbol(symbol)).collect();
        Some(symbols.into())
    }

    pub fn tokens(&self, uri: &Uri) -> Option<SemanticTokens> {
        let (analysis, _) = self.file(uri)?;
        Some(semantic_tokens(&tokens::tokens(analysis, ROOT)))
    }

    pub fn complete(&self, at: &TextDocumentPositionParams) -> Option<CompletionResponse> {
        let (analysis, _, offset) = self.place(at)?;
        let items = complete::complete(analysis, ROOT, offset).into_iter();
        let items: Vec<_> = items
            .map(|completion| CompletionItem {
                label: completion.label,
                kind: Some(completion_kind(completion.kind)),
                detail: Some(completion.detail).filter(|detail| !detail.is_empty()),
                ..CompletionItem::default()
            })
            .collect();
        Some(items.into())
    }

    /// One edit that formats a file; none if it has errors or the format already.
    pub fn format(&self, uri: &Uri) -> Option<Vec<TextEdit>> {
        let (analysis, places) = self.file(uri)?;
        let old = analysis.text(ROOT);
        let new = formatted(old)?;
        if new == old {
            return Some(Vec::new());
        }
        let span = Span::new(ROOT, 0, old.len());
        Some(vec![places.edit(&Edit::new(span, new))])
    }

    /// The edits of findings in a part of a file.
    pub fn fixes(&self, uri: &Uri, range: Range, pages: bool) -> Option<Vec<CodeActionResponse>> {
        let (analysis, places) = self.file(uri)?;
        let (start, end) = (places.offset(ROOT, range.start), places.offset(ROOT, range.end));
        let inside = |finding: &&Diagnostic| {
            let span = finding.span.filter(|span| span.file == ROOT);
            span.is_some_and(|span| span.start <= end && start <= span.end)
        };
        let action = |finding: &Diagnostic| {
            let fix = finding.fix.as_ref()?;
            let mut changes: BTreeMap<String, Vec<TextEdit>> = BTreeMap::new();
            for edit in &fix.edits {
                let edits = changes.entry(places.uri(edit.span.file).0).or_default();
                edits.push(places.edit(edit));
            }
            let title = finding.help.as_deref().unwrap_or(&finding.message);
            Some(CodeAction {
                title: format!("{}: {title}", finding.code),
                kind: Some(CodeActionKind::QuickFix),
                diagnostics: Some(vec![places.diagnostic(finding, pages)]),
                is_preferred: Some(fix.automatic),
                edit: Some(workspace_edit(changes)),
                ..CodeAction::default()
            })
        };
        let found = analysis.findings.iter().filter(inside).filter_map(action);
        Some(found.map(CodeActionResponse::from).collect())
    }
}

/// The page about a code, as a document of our scheme.
pub fn explained(uri: &Uri) -> Result<TextDocumentContentResult, String> {
    let code = uri.0.strip_prefix(PAGES).and_then(|rest| rest.strip_prefix(":/"));
    let code = code.and_then(|rest| rest.strip_suffix(".md")).unwrap_or(&uri.0);
    let page = explain::page(code);
    let page = page.map_err(|failure| failure.text().unwrap_or_default().to_string())?;
    Ok(TextDocumentContentResult { text: page.to_string() })
}

fn workspace_edit(changes: BTreeMap<String, Vec<TextEdit>>) -> WorkspaceEdit {
    let changes: HashMap<Uri, Vec<TextEdit>> =
        changes.into_iter().map(|(uri, edits)| (Uri(uri), edits)).collect();
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}
