//! Edits of the text: removal of statements and declarations, and the application of edits.

use crate::diag::{Diagnostic, Edit, FileId, Sources, Span};
use crate::syntax::ast::Stmt;
use crate::syntax::lexer::{Lexer, Tok, Token};

/// Longest text that an edit replaces or puts in parentheses, in bytes.
const LONGEST: usize = 10_000;

/// The number of bytes of a place.
pub(super) fn length(span: Span) -> usize {
    (span.end - span.start) as usize
}

/// The tokens of a file.
pub(super) struct Tokens<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(sources: &'a Sources, file: FileId) -> Tokens<'a> {
        let text = &sources.file(file).text;
        Tokens { text, tokens: Lexer::everything(text, file).0 }
    }

    /// Index of the first token at or behind an offset.
    pub(super) fn at(&self, offset: u32) -> usize {
        self.tokens.partition_point(|token| token.span.start < offset)
    }

    pub(super) fn word(&self, at: usize) -> &'static str {
        match self.tokens.get(at).map(|token| token.tok) {
            Some(Tok::Word(word)) => word,
            _ => "",
        }
    }

    pub(super) fn span(&self, at: usize) -> Span {
        self.tokens.get(at).map_or(Span::default(), |token| token.span)
    }

    /// From the start of a token to the first one behind it that is this word.
    pub(super) fn find(&self, from: usize, word: &str) -> Option<usize> {
        (from..self.tokens.len()).find(|&at| self.word(at) == word)
    }

    /// The place of a whole statement.
    pub(super) fn statement(&self, stmt: &Stmt) -> Span {
        match stmt {
            Stmt::Equation(equation) => equation.span,
            Stmt::Loop(l) => {
                let inside = l.body.last().map_or(l.span, |last| self.statement(last));
                let close = self.find(self.at(inside.end), "}");
                l.span.to(close.map_or(inside, |at| self.span(at)))
            }
        }
    }

    /// Removes a statement with the `;` behind it.
    pub(super) fn remove(&self, stmt: &Stmt) -> Edit {
        let span = self.statement(stmt);
        let next = self.at(span.end);
        match self.word(next) {
            ";" => self.without(span.to(self.span(next))),
            _ => self.without(span),
        }
    }

    /// Removes a place, and its lines if nothing else stands on them.
    pub(super) fn without(&self, mut span: Span) -> Edit {
        let before = &self.text[..span.start as usize];
        let after = &self.text[span.end as usize..];
        let blanks = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
        let line = before.trim_end_matches([' ', '\t']);
        if line.ends_with('\n') && after[blanks..].starts_with('\n') {
            span.start = line.len() as u32;
            span.end += blanks as u32 + 1;
        }
        Edit::new(span, "")
    }
}

/// Whether each parenthesis in a place has its partner there. Long places have no edits: looking at
/// each of them would take quadratic time.
pub(super) fn is_balanced(sources: &Sources, span: Span) -> bool {
    if length(span) > LONGEST {
        return false;
    }
    let mut open = 0usize;
    for c in sources.text(span).chars() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return false,
            ')' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

/// The new texts of the files that the fixes of some findings change. A fix is left out if an
/// earlier one changes the same text: lint the new program again.
pub fn apply(sources: &Sources, findings: &[&Diagnostic]) -> Vec<(FileId, String)> {
    let mut taken: Vec<&Edit> = Vec::new();
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()) {
        let again = |edit: &Edit| edit.span.start < edit.span.end && taken.contains(&edit);
        let fresh: Vec<&Edit> = fix.edits.iter().filter(|edit| !again(edit)).collect();
        if !fresh.iter().any(|edit| taken.iter().any(|other| overlap(edit.span, other.span))) {
            taken.extend(fresh);
        }
    }
    taken.sort_by_key(|edit| edit.span);
    let mut files: Vec<(FileId, String)> = Vec::new();
    let mut done = 0;
    for (at, edit) in taken.iter().enumerate() {
        let Span { file, start, end } = edit.span;
        let text = &sources.file(file).text;
        if files.last().is_none_or(|(last, _)| *last != file) {
            files.push((file, String::new()));
            done = 0;
        }
        let Some((_, out)) = files.last_mut() else { continue };
        out.push_str(&text[done..start as usize]);
        out.push_str(&edit.text);
        done = end as usize;
        if taken.get(at + 1).is_none_or(|next| next.span.file != file) {
            out.push_str(&text[done..]);
        }
    }
    files
}

fn overlap(a: Span, b: Span) -> bool {
    a.file == b.file && a.start < b.end && b.start < a.end
}
