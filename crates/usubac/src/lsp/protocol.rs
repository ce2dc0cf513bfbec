//! The types of messages, and translations into them. Only this file names their crate.

pub use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionRequest, CodeActionResponse, CompletionItem,
    CompletionItemKind, CompletionOptions, CompletionRequest, CompletionResponse, Definition,
    DefinitionRequest, DefinitionResponse, DidChangeConfigurationNotification,
    DidChangeTextDocumentNotification, DidCloseTextDocumentNotification,
    DidOpenTextDocumentNotification, DocumentFormattingRequest, DocumentHighlight,
    DocumentHighlightRequest, DocumentSymbol, DocumentSymbolRequest, DocumentSymbolResponse, Hover,
    HoverRequest, InlayHint, InlayHintRequest, Location,
    LspNotificationMethod as NotificationMethod, LspRequestMethod as RequestMethod, MarkupContent,
    MarkupKind, MessageType, Notification, PrepareRenameRequest, PublishDiagnosticsNotification,
    PublishDiagnosticsParams, Range, ReferencesRequest, RenameOptions, RenameRequest, Request,
    ServerCapabilities, ShowMessageNotification, ShowMessageParams, TextDocumentContentChangeEvent,
    TextDocumentContentOptions, TextDocumentContentRequest, TextDocumentContentResult,
    TextDocumentPositionParams, TextDocumentSyncKind, TextDocumentSyncOptions, TextEdit, Uri,
    WorkspaceEdit, WorkspaceOptions,
};
use gen_lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Position, SymbolKind,
};
use serde::Deserialize;
use serde_json::Value;
use usuba::diag::{self, Code, Edit, FileId, Severity, Sources, Span};
use usuba_ide::lines::{Lines, Place};
use usuba_ide::names::Kind;
use usuba_ide::symbols::Symbol;

use super::buffers::Buffers;

/// The parameters of `initialize` that the server reads. The type of all parameters has every
/// capability of a client, and code that reads it is large.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InitializeParams {
    capabilities: Capabilities,
    pub initialization_options: Value,
    workspace_folders: Option<Vec<Folder>>,
    /// The folder of clients that have one only.
    root_uri: Option<Uri>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Capabilities {
    workspace: Workspace,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Workspace {
    text_document_content: Value,
}

#[derive(Deserialize)]
struct Folder {
    uri: Uri,
}

impl InitializeParams {
    /// Whether the client shows texts of the server.
    pub fn shows_texts(&self) -> bool {
        !self.capabilities.workspace.text_document_content.is_null()
    }

    /// The folders of the workspace.
    pub fn folders(&self) -> impl Iterator<Item = &Uri> {
        let named = self.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        named.chain(&self.root_uri)
    }
}

/// The scheme of the pages about diagnostics, which the server sends.
pub const PAGES: &str = "usubac-explain";

/// Places of a program as the protocol has them.
pub struct Places<'a> {
    sources: &'a Sources,
    buffers: &'a Buffers,
    lines: Vec<Lines>,
}

impl<'a> Places<'a> {
    pub fn new(sources: &'a Sources, buffers: &'a Buffers) -> Places<'a> {
        let lines = sources.files.iter().map(|file| Lines::new(&file.text)).collect();
        Places { sources, buffers, lines }
    }

    pub fn position(&self, file: FileId, offset: u32) -> Position {
        let text = &self.sources.file(file).text;
        let place = self.lines[file.0 as usize].place(text, offset as usize);
        Position { line: place.line, character: place.column }
    }

    pub fn range(&self, span: Span) -> Range {
        let at = |offset| self.position(span.file, offset);
        Range { start: at(span.start), end: at(span.end) }
    }

    pub fn offset(&self, file: FileId, position: Position) -> u32 {
        let text = &self.sources.file(file).text;
        self.lines[file.0 as usize].offset(text, place(position)) as u32
    }

    pub fn uri(&self, file: FileId) -> Uri {
        Uri(self.buffers.uri(&self.sources.file(file).name))
    }

    pub fn location(&self, span: Span) -> Location {
        Location { uri: self.uri(span.file), range: self.range(span) }
    }

    pub fn edit(&self, edit: &Edit) -> TextEdit {
        TextEdit { range: self.range(edit.span), new_text: edit.text.clone() }
    }

    /// A finding of the root. With `pages`, its code leads to the page about it.
    pub fn diagnostic(&self, finding: &diag::Diagnostic, pages: bool) -> Diagnostic {
        let span = finding.span.unwrap_or_default();
        let mut message = finding.message.clone();
        if let Some(help) = &finding.help {
            message += &format!("\nhelp: {help}");
        }
        let related = finding.related.iter().map(|(span, why)| DiagnosticRelatedInformation {
            location: self.location(*span),
            message: why.clone(),
        });
        let related: Vec<_> = related.collect();
        let unused =
            [Code::UnusedVariable, Code::UnusedParameter, Code::UnusedValue, Code::UncalledNode];
        let href = Uri(format!("{PAGES}:/{}.md", finding.code));
        Diagnostic {
            range: self.range(span),
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::Error,
                Severity::Warning => DiagnosticSeverity::Warning,
            }),
            code: Some(finding.code.as_str().to_string().into()),
            code_description: pages.then_some(CodeDescription { href }),
            source: Some("usuba".to_string()),
            message: message.into(),
            tags: unused.contains(&finding.code).then(|| vec![DiagnosticTag::Unnecessary]),
            related_information: (!related.is_empty()).then_some(related),
            data: None,
        }
    }

    pub fn symbol(&self, symbol: &Symbol) -> DocumentSymbol {
        let kind = match symbol.kind {
            Kind::Node => SymbolKind::Function,
            Kind::Table | Kind::Perm => SymbolKind::Array,
            Kind::Value => SymbolKind::Number,
            Kind::Type => SymbolKind::Struct,
            Kind::Parameter | Kind::Result | Kind::Local | Kind::Index => SymbolKind::Variable,
        };
        let inner: Vec<_> = symbol.inner.iter().map(|inner| self.symbol(inner)).collect();
        #[allow(deprecated)] // a field that must be given
        DocumentSymbol {
            name: symbol.name.clone(),
            detail: (!symbol.detail.is_empty()).then(|| symbol.detail.clone()),
            kind,
            tags: None,
            deprecated: None,
            range: self.range(symbol.whole),
            selection_range: self.range(symbol.span),
            children: (!inner.is_empty()).then_some(inner),
        }
    }
}

/// A place of the protocol as the editor's core has it.
pub fn place(position: Position) -> Place {
    Place { line: position.line, column: position.character }
}

/// The kind of a completion.
pub fn completion_kind(kind: Option<Kind>) -> CompletionItemKind {
    match kind {
        None => CompletionItemKind::Keyword,
        Some(Kind::Node) => CompletionItemKind::Function,
        Some(Kind::Table | Kind::Perm | Kind::Value) => CompletionItemKind::Constant,
        Some(Kind::Type) => CompletionItemKind::Struct,
        Some(Kind::Parameter | Kind::Result | Kind::Local | Kind::Index) => {
            CompletionItemKind::Variable
        }
    }
}
