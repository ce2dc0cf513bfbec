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
    SemanticTokens, SemanticTokensRequest, ServerCapabilities, ShowMessageNotification,
    ShowMessageParams, TextDocumentContentChangeEvent, TextDocumentContentOptions,
    TextDocumentContentRequest, TextDocumentContentResult, TextDocumentPositionParams,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextEdit, Uri, WorkspaceEdit, WorkspaceOptions,
};
use gen_lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Position, SemanticToken, SemanticTokenModifiers, SemanticTokenTypes, SemanticTokensLegend,
    SemanticTokensOptions, SymbolKind,
};
use serde::Deserialize;
use serde_json::Value;
use usuba::diag::{self, Code, Edit, FileId, Severity, Sources, Span};
use usuba_ide::lines::{Lines, Place};
use usuba_ide::names::Kind;
use usuba_ide::symbols::Symbol;
use usuba_ide::tokens::{self, Modifiers, Token};

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

/// The kinds of tokens and their names in the protocol; a token has the index of its kind.
const TOKEN_TYPES: [(tokens::Kind, SemanticTokenTypes); 11] = [
    (tokens::Kind::Keyword, SemanticTokenTypes::Keyword),
    (tokens::Kind::Modifier, SemanticTokenTypes::Modifier),
    (tokens::Kind::Option, SemanticTokenTypes::Decorator),
    (tokens::Kind::Type, SemanticTokenTypes::Type),
    (tokens::Kind::Function, SemanticTokenTypes::Function),
    (tokens::Kind::Parameter, SemanticTokenTypes::Parameter),
    (tokens::Kind::Variable, SemanticTokenTypes::Variable),
    (tokens::Kind::Number, SemanticTokenTypes::Number),
    (tokens::Kind::String, SemanticTokenTypes::String),
    (tokens::Kind::Operator, SemanticTokenTypes::Operator),
    (tokens::Kind::Comment, SemanticTokenTypes::Comment),
];

/// The modifiers of tokens in the order of their bits.
const TOKEN_MODIFIERS: [SemanticTokenModifiers; 4] = [
    SemanticTokenModifiers::Declaration,
    SemanticTokenModifiers::Readonly,
    SemanticTokenModifiers::Modification,
    SemanticTokenModifiers::DefaultLibrary,
];

/// The capability of semantic tokens, with the names of kinds and modifiers.
pub fn semantic_tokens_options() -> SemanticTokensOptions {
    SemanticTokensOptions {
        legend: SemanticTokensLegend {
            token_types: TOKEN_TYPES.iter().map(|(_, name)| name.to_string()).collect(),
            token_modifiers: TOKEN_MODIFIERS.iter().map(|name| name.to_string()).collect(),
        },
        full: Some(true.into()),
        ..SemanticTokensOptions::default()
    }
}

/// Tokens as the protocol has them: each relative to the one before.
pub fn semantic_tokens(tokens: &[Token]) -> SemanticTokens {
    let mut last = Place { line: 0, column: 0 };
    let relative = tokens.iter().map(|token| {
        let Place { line, column } = token.place;
        let before = if line == last.line { last.column } else { 0 };
        let delta_line = line - last.line;
        last = token.place;
        let own = |(kind, _): &(tokens::Kind, _)| *kind == token.kind;
        let index = TOKEN_TYPES.iter().position(own).expect("every kind is in the table");
        let Modifiers { declaration, readonly, modification, default_library } = token.modifiers;
        let bits = [declaration, readonly, modification, default_library];
        let bits = bits.iter().enumerate().map(|(bit, set)| u32::from(*set) << bit).sum();
        SemanticToken {
            delta_line,
            delta_start: column - before,
            length: token.length,
            token_type: index as u32,
            token_modifiers_bitset: bits,
        }
    });
    SemanticTokens { result_id: None, data: relative.collect() }
}
