//! Semantic tokens: a kind for each word, number, operator and comment of a text.
//!
//! ```text
//! node f (x:u8) returns (y:u8)       keyword  function  parameter  type  keyword  parameter  type
//! let y = x <<< 1 tel  # rotate      keyword  parameter  operator  ... number  keyword  comment
//! ```
//!
//! The lexer finds the tokens, so that text with errors has all of them. The resolver refines
//! names; a name in an equation that the parser gave up is found by its spelling.

use rustc_hash::{FxHashMap, FxHashSet};
use usuba::diag::{FileId, Span};
use usuba::syntax::ast::{ByteOrder, Decl, DeclKind, ParamGroup, Stmt, TypeWord};
use usuba::syntax::{CONTEXTUAL, Lexer, Tok, may_name_type};
use usuba::typed::walk::Builtin;

use crate::Outline;
use crate::lines::{Lines, Place};
use crate::names::{self, DefinitionId};

/// The kinds of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Keyword,
    /// A word that changes a type: `const`, `le`.
    Modifier,
    /// An option of a declaration or of a loop: `_inline`.
    Option,
    Type,
    /// A node, a table, a perm, a value, or a function of the language.
    Function,
    /// A parameter or a result.
    Parameter,
    Variable,
    Number,
    String,
    Operator,
    Comment,
}

/// More about a token.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Modifiers {
    /// The place where the name is defined.
    pub declaration: bool,
    /// A variable that no equation can change, or a function that is a list of numbers.
    pub readonly: bool,
    /// The target of an equation.
    pub modification: bool,
    /// A function of the language.
    pub default_library: bool,
}

/// A token in one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub place: Place,
    /// In units of UTF-16.
    pub length: u32,
    pub kind: Kind,
    pub modifiers: Modifiers,
}

/// The neighbours of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// It stands behind a colon, as a type does.
    Colon,
    /// It stands in front of a list of arguments.
    Parenthesis,
    Other,
}

/// The tokens of a file, in the order of the text.
pub fn tokens(outline: &Outline, file: FileId) -> Vec<Token> {
    let text = outline.text(file);
    let names = Resolver::new(outline, file);
    let (found, comments, end_marker) = Lexer::everything(text, file);
    let mut pieces: Vec<(u32, u32, Kind, Modifiers)> = Vec::new();
    for (at, token) in found.iter().enumerate() {
        let Span { start, end, .. } = token.span;
        let none = Modifiers::default();
        let (kind, modifiers) = match token.tok {
            Tok::Ident => {
                let word = |at: usize| match found.get(at).map(|token| token.tok) {
                    Some(Tok::Word(word)) => word,
                    _ => "",
                };
                let around = match (word(at.wrapping_sub(1)), word(at + 1)) {
                    (":" | "const" | "lazyLift", _) => Around::Colon,
                    (_, "(") => Around::Parenthesis,
                    _ => Around::Other,
                };
                names.name(token.span, &text[start as usize..end as usize], around)
            }
            Tok::TypeWord => (Kind::Type, none),
            Tok::Int(_) => (Kind::Number, none),
            Tok::Str => (Kind::String, none),
            Tok::Word("const" | "lazyLift") => (Kind::Modifier, none),
            Tok::Word(word) if word.starts_with('_') => (Kind::Option, none),
            Tok::Word(word) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                (Kind::Keyword, none)
            }
            Tok::Word("[]" | ":" | ";" | "," | "(" | ")" | "[" | "]" | "{" | "}") | Tok::End => {
                continue;
            }
            Tok::Word(_) => (Kind::Operator, none),
        };
        pieces.push((start, end, kind, modifiers));
    }
    let rest = end_marker.map(|start| (start, text.len() as u32));
    let comments = comments.iter().map(|comment| (comment.start, comment.end)).chain(rest);
    pieces.extend(comments.map(|(start, end)| (start, end, Kind::Comment, Modifiers::default())));
    pieces.sort_by_key(|(start, ..)| *start);
    placed(text, &pieces)
}

/// The pieces, each cut where a line ends.
fn placed(text: &str, pieces: &[(u32, u32, Kind, Modifiers)]) -> Vec<Token> {
    let lines = Lines::new(text);
    let units = |from: usize, to: usize| text[from..to].encode_utf16().count() as u32;
    let mut tokens = Vec::new();
    // The last place, from which the next one is counted: lines may be long.
    let (mut line, mut column, mut passed) = (0, 0, 0);
    for &(start, end, kind, modifiers) in pieces {
        let mut start = start as usize;
        for part in text[start..end as usize].split(['\n', '\r']) {
            let behind = start + part.len() + 1;
            let part = part.trim_end();
            if !part.is_empty() {
                while lines.start(line + 1).is_some_and(|next| next <= start) {
                    line += 1;
                    (passed, column) = (lines.start(line).unwrap_or(passed), 0);
                }
                column += units(passed, start);
                passed = start;
                let place = Place { line: line as u32, column };
                let length = units(start, start + part.len());
                tokens.push(Token { place, length, kind, modifiers });
            }
            start = behind;
        }
    }
    tokens
}

/// Definitions of a program by name, and facts about the names of one file.
struct Resolver<'a> {
    outline: &'a Outline,
    by_name: FxHashMap<&'a str, Vec<DefinitionId>>,
    /// Starts of the names of targets.
    targets: FxHashSet<u32>,
    /// Starts of the definitions of parameters that are `const` or `nat`.
    fixed: FxHashSet<u32>,
}

impl<'a> Resolver<'a> {
    fn new(outline: &'a Outline, file: FileId) -> Resolver<'a> {
        let (targets, fixed) = (FxHashSet::default(), FxHashSet::default());
        let mut resolver = Resolver { outline, by_name: FxHashMap::default(), targets, fixed };
        for (id, definition) in outline.names.definitions.iter().enumerate() {
            resolver.by_name.entry(&definition.name).or_default().push(id);
        }
        let own = outline.decls.iter().filter(|decl| decl.span.file == file);
        own.for_each(|decl| resolver.decl(decl));
        resolver
    }

    fn decl(&mut self, decl: &Decl) {
        self.groups(&decl.params);
        self.groups(&decl.results);
        let bodies = match &decl.kind {
            DeclKind::Node(body) => std::slice::from_ref(body),
            DeclKind::NodeArray(bodies) => bodies,
            _ => &[],
        };
        for body in bodies {
            self.groups(&body.vars);
            self.stmts(&body.stmts);
        }
    }

    fn groups(&mut self, groups: &[ParamGroup]) {
        let fixed = groups.iter().filter(|group| group.is_const || group.ty.word == TypeWord::Nat);
        self.fixed.extend(fixed.flat_map(|group| &group.names).map(|name| name.span.start));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Equation(equation) => {
                    self.targets.extend(equation.targets.iter().map(|var| var.name.span.start));
                }
                Stmt::Loop(l) => self.stmts(&l.body),
            }
        }
    }

    fn name(&self, span: Span, text: &str, around: Around) -> (Kind, Modifiers) {
        let none = Modifiers::default();
        if let Some(id) = self.outline.names.exact(span).or_else(|| self.spelt(span, text)) {
            let definition = &self.outline.names.definitions[id];
            let own = definition.span.file == span.file;
            let constant = own && self.fixed.contains(&definition.span.start);
            let (kind, readonly) = match definition.kind {
                names::Kind::Node | names::Kind::Value => (Kind::Function, false),
                names::Kind::Table | names::Kind::Perm => (Kind::Function, true),
                names::Kind::Type => (Kind::Type, false),
                names::Kind::Parameter | names::Kind::Result => (Kind::Parameter, constant),
                names::Kind::Local => (Kind::Variable, constant),
                names::Kind::Index => (Kind::Variable, true),
            };
            let declaration = definition.span == span;
            let modification = self.targets.contains(&span.start);
            return (kind, Modifiers { declaration, readonly, modification, ..none });
        }
        match text {
            "nat" => (Kind::Type, none),
            _ if ByteOrder::ALL.iter().any(|order| order.word() == text) => (Kind::Modifier, none),
            _ if CONTEXTUAL.contains(&text) => (Kind::Keyword, none),
            _ if is_type_word(text) || around == Around::Colon => (Kind::Type, none),
            _ if around == Around::Parenthesis => {
                let default_library = Builtin::of(text).is_some();
                (Kind::Function, Modifiers { default_library, ..none })
            }
            _ => (Kind::Variable, none),
        }
    }

    /// The innermost definition that a name can mean at its place.
    fn spelt(&self, span: Span, text: &str) -> Option<DefinitionId> {
        let definitions = &self.outline.names.definitions;
        let visible = self.by_name.get(text)?.iter().copied();
        let visible = visible.filter(|id| definitions[*id].is_visible(span.file, span.start));
        visible.min_by_key(|id| definitions[*id].distance())
    }
}

/// Whether a name has the form of a type such as `u32x4` or `u'm`.
fn is_type_word(text: &str) -> bool {
    text.starts_with("u'") || (text.len() > 1 && !text.contains('\'') && !may_name_type(text))
}
