//! Names and words that can stand at a place.

use usuba::diag::FileId;
use usuba::syntax::{KEYWORDS, Lexer, Tok, Token};
use usuba::typed::walk::Builtin;

use crate::Analysis;
use crate::names::Kind;
use crate::symbols::detail;
use crate::words;

/// A name or word that can stand at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    pub label: String,
    /// The kind of a definition; none for words of the language.
    pub kind: Option<Kind>,
    pub detail: String,
}

/// The part of the grammar that a place belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Between declarations, and in their heads.
    Head,
    /// Behind the colon of a variable.
    Type,
    /// Between `let` and `tel`.
    Body,
}

/// Words that begin or continue a declaration.
const HEAD_WORDS: &[&str] = &[
    "node",
    "table",
    "perm",
    "include",
    "value",
    "type",
    "returns",
    "vars",
    "let",
    "requires",
    "ensures",
    "link",
    "_inline",
    "_no_inline",
    "_interleave",
    "_no_opt",
    "_lsb_first",
];

/// Words of bodies.
const BODY_WORDS: &[&str] =
    &["forall", "_unroll", "_no_unroll", "_pipelined", "tel", "Shuffle", "Bitmask", "Pack"];

/// Common types.
const TYPES: &[&str] =
    &["u8", "u16", "u32", "u64", "u8x4", "u16x4", "u32x4", "u64x4", "b1", "b4", "b8", "v4", "nat"];

/// Everything that can stand at a place; the editor selects by the letters before it.
pub fn complete(analysis: &Analysis, file: FileId, offset: u32) -> Vec<Completion> {
    let text = analysis.text(file);
    let (tokens, comments, end) = Lexer::everything(text, file);
    let in_comment = comments.iter().any(|c| c.start < offset && offset <= c.end);
    if in_comment || end.is_some_and(|end| end < offset) {
        return Vec::new();
    }
    // The word that is being written is no context.
    let before: Vec<&Token> = tokens.iter().take_while(|t| t.span.end < offset).collect();
    let before = match tokens.get(before.len()) {
        Some(token) if token.span.end == offset && matches!(token.tok, Tok::Word(_)) => {
            &tokens[..=before.len()]
        }
        _ => &tokens[..before.len()],
    };
    if tokens.iter().any(|t| t.tok == Tok::Str && t.span.start < offset && offset < t.span.end) {
        return Vec::new();
    }
    let mut found = Vec::new();
    match part(before) {
        Part::Head => found.extend(HEAD_WORDS.iter().map(|word| language(word))),
        Part::Type => {
            found.extend(definitions(analysis, file, offset, &[Kind::Type]));
            found.extend(TYPES.iter().map(|word| language(word)));
            found.extend(["const"].map(language));
        }
        Part::Body => {
            let kinds = [
                Kind::Parameter,
                Kind::Result,
                Kind::Local,
                Kind::Index,
                Kind::Node,
                Kind::Table,
                Kind::Perm,
            ];
            found.extend(definitions(analysis, file, offset, &kinds));
            if analysis.decl_at(file, offset).is_none() {
                found.extend(unread(analysis, before, &found));
            }
            found.extend(Builtin::NAMED.iter().map(|(name, ..)| language(name)));
            found.extend(BODY_WORDS.iter().map(|word| language(word)));
        }
    }
    found
}

/// The part of the grammar that follows some tokens.
fn part(before: &[Token]) -> Part {
    let word = |token: &Token| match token.tok {
        Tok::Word(word) => word,
        _ => "",
    };
    let last = |words: &[&str]| before.iter().rposition(|token| words.contains(&word(token)));
    if last(&["let"]) > last(&["tel", "node", "table", "perm"]) {
        return Part::Body;
    }
    match before.last().map(word) {
        Some(":" | "const") => Part::Type,
        _ => Part::Head,
    }
}

fn language(word: &str) -> Completion {
    let detail = words::word(word).or_else(|| words::builtin(word)).unwrap_or_default();
    Completion { label: word.to_string(), kind: None, detail: detail.to_string() }
}

fn definitions<'a>(
    analysis: &'a Analysis,
    file: FileId,
    offset: u32,
    kinds: &'a [Kind],
) -> impl Iterator<Item = Completion> {
    let visible = analysis.names.visible(file, offset).into_iter();
    visible.filter(|d| kinds.contains(&d.kind)).map(|d| Completion {
        label: d.name.clone(),
        kind: Some(d.kind),
        detail: detail(analysis, d),
    })
}

/// The names of a declaration that the parser gave up: all names in it that are no declarations.
fn unread(analysis: &Analysis, before: &[Token], known: &[Completion]) -> Vec<Completion> {
    let start = before.iter().rposition(|token| token.tok == Tok::Word("node"));
    let mut found: Vec<Completion> = Vec::new();
    for token in start.map_or(&[][..], |at| &before[at + 1..]) {
        let name = analysis.sources.text(token.span);
        let listed = |list: &[Completion]| list.iter().any(|c| c.label == name);
        if token.tok != Tok::Ident || listed(&found) || listed(known) {
            continue;
        }
        let is_type = usuba::syntax::size_word(name).is_some() || KEYWORDS.contains(&name);
        if !is_type {
            let (label, detail) = (name.to_string(), String::new());
            found.push(Completion { label, kind: Some(Kind::Local), detail });
        }
    }
    found
}
