//! Parser: tokens to tree, by recursive descent with precedence climbing for operators.
//!
//! Never fails: it returns the tree that it understood and every error. After an error in an
//! equation it continues behind the next `;`, after one in a declaration at the next declaration.
//! It reports at most [`MAX_ERRORS`] and ignores the text after them.
//!
//! This file has the shared parts of all rules: tokens, errors, depth. The rules themselves are in
//! `decl`, `types`, `equations`, `expr` and `contract`; `hints` is for those who know other
//! languages.

use super::ast::*;
use super::lexer::{Lexer, Tok, Token, decimal_len, ident_len, short};
use crate::diag::{Code, Diagnostic, FileId, Sources, Span};
use crate::names::did_you_mean;

/// How many errors one file may have before the parser stops reading.
pub const MAX_ERRORS: usize = 20;

/// Parses one file. The tree holds every declaration that could be read; it is whole exactly if
/// there are no errors. Errors come in the order of the text.
pub fn parse(sources: &Sources, file: FileId) -> (File, Vec<Diagnostic>) {
    let text = &sources.file(file).text;
    if u32::try_from(text.len()).is_err() {
        let error = Diagnostic::global(Code::TooLarge, "a source file has 4 GiB or more")
            .help("split the program into several files");
        return (File::default(), vec![error]);
    }
    let mut parser = Parser::new(text, file);
    let tree = parser.file();
    let mut errors = parser.lexer.errors;
    errors.append(&mut parser.errors);
    errors.sort_by_key(|e| e.span.map(|s| s.start));
    errors.truncate(MAX_ERRORS);
    (tree, errors)
}

/// The error is reported; how far to give up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// To the next equation.
    Equation,
    /// Behind the block that begins here, of a statement of another language.
    Block,
    /// To the end of the declaration.
    Decl,
}

type Parsed<T> = Result<T, Stop>;

/// A tree and how deep it is.
struct Deep<T> {
    tree: T,
    height: usize,
}

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// The token to look at.
    token: Token,
    /// Whether the lexer complained on the way to this token.
    after_bad_text: bool,
    /// Where the token before it ends.
    prev_end: u32,
    errors: Vec<Diagnostic>,
    /// Open constructs that the parser is inside of: loops, parentheses, argument lists.
    nesting: usize,
    /// Open loops.
    loops: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: FileId) -> Parser<'a> {
        let mut lexer = Lexer::new(text, file);
        let token = lexer.advance();
        let after_bad_text = !lexer.errors.is_empty();
        let errors = Vec::new();
        Parser { text, lexer, token, after_bad_text, prev_end: 0, errors, nesting: 0, loops: 0 }
    }

    // Tokens.

    fn word(&self) -> &'static str {
        match self.token.tok {
            Tok::Word(word) => word,
            _ => "",
        }
    }

    fn at(&self, word: &str) -> bool {
        self.word() == word
    }

    fn at_any(&self, words: &[&str]) -> bool {
        words.contains(&self.word())
    }

    /// At the end of everything that can belong to a declaration.
    fn at_end(&self) -> bool {
        self.token.tok == Tok::End || self.at_any(decl::DECL_WORDS)
    }

    fn bump(&mut self) -> Token {
        let token = self.token;
        self.prev_end = token.span.end;
        self.token = if self.errors.len() + self.lexer.errors.len() >= MAX_ERRORS {
            let end = self.prev_end as usize;
            Token { tok: Tok::End, span: Span::new(token.span.file, end, end) }
        } else {
            let before = self.lexer.errors.len();
            let next = self.lexer.advance();
            self.after_bad_text = self.lexer.errors.len() > before;
            next
        };
        token
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.at(word);
        if found {
            self.bump();
        }
        found
    }

    fn text_of(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// From `start` to the end of the last token read.
    fn span_from(&self, start: Span) -> Span {
        Span { end: self.prev_end.max(start.start), ..start }
    }

    // Errors.

    /// Reports at most one error for each place, and none where the lexer has reported one, because
    /// later errors follow from the first.
    fn report(&mut self, error: Diagnostic) {
        let place = |e: &Diagnostic| e.span.map(|s| s.start);
        let known = self.after_bad_text
            || self.errors.last().is_some_and(|last| place(last) == place(&error));
        if !known && self.errors.len() + self.lexer.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    /// The current token as a user would name it.
    fn found(&self) -> String {
        let text = short(self.text_of(self.token.span));
        match self.token.tok {
            Tok::End => "the end of the file".to_string(),
            Tok::Int(_) => format!("the number `{text}`"),
            Tok::Str => "a string".to_string(),
            Tok::Ident | Tok::TypeWord => format!("`{text}`"),
            Tok::Word(w) if w.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                format!("the keyword `{w}`")
            }
            Tok::Word(w) => format!("`{w}`"),
        }
    }

    fn unexpected(&mut self, wanted: &str, help: &str) -> Stop {
        let message = format!("expected {wanted}, found {}", self.found());
        // At the end of the file the last token is a better place than the empty lines after it.
        let span = match self.token.tok {
            Tok::End => Span { start: self.prev_end, end: self.prev_end, ..self.token.span },
            _ => self.token.span,
        };
        let error = Diagnostic::error(Code::UnexpectedToken, span, message);
        self.report(if help.is_empty() { error } else { error.help(help) });
        Stop::Equation
    }

    fn expect(&mut self, word: &str, wanted: &str, help: &str) -> Parsed<Token> {
        if self.at(word) {
            return Ok(self.bump());
        }
        let near = self.near([word]);
        Err(self.unexpected(wanted, near.as_deref().unwrap_or(help)))
    }

    /// The question whether the name at this place is one of some keywords.
    fn near<'w>(&self, keywords: impl IntoIterator<Item = &'w str>) -> Option<String> {
        let name = Some(self.token).filter(|token| token.tok == Tok::Ident)?;
        let long = keywords.into_iter().filter(|keyword| keyword.len() > 1);
        did_you_mean(self.text_of(name.span), long)
    }

    fn too_deep(&mut self, span: Span) -> Stop {
        let message = format!("this is nested more than {MAX_DEPTH} levels deep");
        let help = "name a part of it in an equation of its own";
        self.report(Diagnostic::error(Code::TooDeep, span, message).help(help));
        Stop::Decl
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_DEPTH {
            return Err(self.too_deep(self.token.span));
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    /// One level above a tree of the given height.
    fn above(&mut self, height: usize, span: Span) -> Parsed<usize> {
        if self.loops + height >= MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        Ok(height + 1)
    }
}

mod contract;
mod decl;
mod equations;
mod expr;
mod hints;
mod types;

pub use types::{may_name_type, size_word};

#[cfg(test)]
mod tests;
