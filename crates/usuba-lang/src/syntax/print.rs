//! Tree to text: the formatter.
//!
//! ```text
//! node f(a,b:u32)returns(y:u32)        node f (a,b:u32) returns (y:u32)
//! vars t:u32 let t=a^b; # mix     →    vars t: u32
//! y=(t<<<3)|a tel                      let
//!                                        t = a ^ b;  # mix
//!                                        y = (t <<< 3) | a
//!                                      tel
//! ```
//!
//! Comments, blank lines, the rows of tables, the lines of a long expression and the spelling of
//! numbers come from the text; the rest is the tree's. A comment is written before the first name,
//! number or keyword that follows it in the text, so that it keeps its place even inside of an
//! expression.
//!
//! Parentheses are written where the grammar needs them, and where a reader who knows the
//! precedence of C would read something else: `(a ^ b) <<< 5` and `(a | b) & c` keep theirs.
//!
//! The output parses to the same tree, and formatting it again changes nothing.
//!
//! Here is what runs through all of it: lines, their breaks, comments. What a construct looks like is
//! in `decl`, `equations` and `expr`.

use super::ast::*;
use super::lexer::{Comment, Lexer, Tok, Token};
use crate::diag::FileId;

/// Lines are broken where they would be longer, if they can be.
const WIDTH: usize = 100;

/// The tree in the house style, with the comments of the text that it was parsed from.
/// The text must have been parsed without errors.
pub fn format(file: &File, text: &str) -> String {
    let (tokens, comments, end_marker) = Lexer::everything(text, FileId(0));
    let mut printer = Printer::new(Some(Source { text, tokens, end_marker }), comments);
    printer.file(file);
    printer.finish()
}

/// The tree in the house style, without comments; for trees that were not read from a text, whose
/// words above 9 are written in base 16.
pub fn print(file: &File) -> String {
    let mut printer = Printer::new(None, Vec::new());
    printer.file(file);
    printer.finish()
}

struct Source<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    end_marker: Option<u32>,
}

impl Source<'_> {
    /// Index of the first token at or behind an offset.
    fn token_at(&self, offset: u32) -> usize {
        self.tokens.partition_point(|t| t.span.start < offset)
    }

    fn token_text(&self, token: &Token) -> &str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// The number tokens in a range.
    fn numbers(&self, start: u32, end: u32) -> impl Iterator<Item = &Token> {
        let tokens = &self.tokens[self.token_at(start)..];
        tokens
            .iter()
            .take_while(move |t| t.span.start < end)
            .filter(|t| matches!(t.tok, Tok::Int(_)))
    }

    fn first_on_line(&self, offset: u32) -> bool {
        let before = self.text[..offset as usize].trim_end_matches([' ', '\t', '\r']);
        before.is_empty() || before.ends_with('\n')
    }

    fn blank_before(&self, offset: u32) -> bool {
        let before = &self.text[..offset as usize];
        let blanks = &before[before.trim_end().len()..];
        blanks.bytes().filter(|&b| b == b'\n').count() > 1
    }
}

struct Printer<'a> {
    source: Option<Source<'a>>,
    comments: Vec<Comment>,
    /// How many comments are written.
    written: usize,
    out: String,
    /// Characters on the current line of `out`.
    column: usize,
    /// What belongs together and is not yet on a line, and what separates it from the line.
    chunk: String,
    separator: &'static str,
    indent: usize,
    /// A new statement or declaration begins; otherwise a line that is broken goes on.
    fresh: bool,
    /// The line is to end before anything but a comment that stands behind it.
    line_ends: bool,
    /// Nothing was written since a block was opened.
    block_starts: bool,
    /// The chunk begins a line in the text, so it does here.
    breaks: bool,
    /// The chunk has a leaf; only the first one says where the chunk stands in the text.
    has_leaf: bool,
    /// Where the last leaf begins in the text.
    last_leaf: u32,
}

impl<'a> Printer<'a> {
    fn new(source: Option<Source<'a>>, comments: Vec<Comment>) -> Printer<'a> {
        Printer {
            source,
            comments,
            written: 0,
            out: String::new(),
            column: 0,
            chunk: String::new(),
            separator: "",
            indent: 0,
            fresh: true,
            line_ends: false,
            block_starts: true,
            breaks: false,
            has_leaf: true,
            last_leaf: 0,
        }
    }

    // Lines and comments.

    fn put(&mut self, text: &str) {
        self.chunk.push_str(text);
    }

    /// Text at an offset: the comments before it come first.
    fn leaf(&mut self, offset: u32, text: &str) {
        if !self.has_leaf {
            let between = self.last_leaf as usize..offset as usize;
            let gap = self.source.as_ref().and_then(|s| s.text.get(between));
            // A comment ends the line by itself, and it may stand elsewhere now.
            let broken = gap.is_some_and(|gap| gap.contains('\n'));
            self.breaks = broken && self.next_comment(offset).is_none();
        }
        self.has_leaf = true;
        self.last_leaf = offset;
        self.comments_before(offset);
        self.put(text);
    }

    /// Here the line is broken if it is too long; if it is not, the separator is written.
    fn may_break(&mut self, separator: &'static str) {
        self.commit();
        self.separator = separator;
    }

    /// Here the line is broken if it is too long, or broken here in the text.
    fn keep_break(&mut self, separator: &'static str) {
        self.may_break(separator);
        self.has_leaf = false;
    }

    fn commit(&mut self) {
        if self.chunk.is_empty() {
            return;
        }
        if self.line_ends {
            self.end_line();
        }
        let length = self.separator.len() + self.chunk.len();
        if self.column > 0 && (self.breaks || self.column + length > WIDTH) {
            self.end_line();
        }
        self.breaks = false;
        if self.column == 0 {
            self.start_line();
        } else {
            self.out.push_str(self.separator);
            self.column += self.separator.len();
        }
        self.out.push_str(&self.chunk);
        self.column += self.chunk.len();
        self.chunk.clear();
        self.separator = "";
        self.fresh = false;
        self.block_starts = false;
    }

    fn start_line(&mut self) {
        let indent = self.indent + if self.fresh { 0 } else { 4 };
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.out.push('\n');
        }
        self.column = 0;
        self.line_ends = false;
    }

    /// What follows begins a line of its own.
    fn newline(&mut self) {
        self.commit();
        self.separator = "";
        self.line_ends = true;
        self.fresh = true;
    }

    fn blank_line(&mut self) {
        self.end_line();
        if !self.block_starts && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn next_comment(&self, offset: u32) -> Option<Comment> {
        self.comments.get(self.written).copied().filter(|c| c.start < offset)
    }

    fn first_on_line(&self, comment: Comment) -> bool {
        self.source.as_ref().is_some_and(|s| s.first_on_line(comment.start))
    }

    fn blank_before(&self, offset: u32) -> bool {
        self.source.as_ref().is_some_and(|s| s.blank_before(offset))
    }

    fn comments_before(&mut self, offset: u32) {
        while let Some(comment) = self.next_comment(offset) {
            self.comment(comment);
        }
    }

    /// The comment that stands behind what is already written. If there are several, the others
    /// become lines of their own.
    fn comment_behind(&mut self, offset: u32) {
        if let Some(comment) = self.next_comment(offset).filter(|&c| !self.first_on_line(c)) {
            self.comment(comment);
        }
    }

    fn comment(&mut self, comment: Comment) {
        self.commit();
        self.separator = "";
        while self.column > 0 && self.out.ends_with(' ') {
            self.out.pop();
        }
        if self.first_on_line(comment) {
            self.end_line();
            if self.fresh && self.blank_before(comment.start) {
                self.blank_line();
            }
        }
        if self.column == 0 {
            self.start_line();
            self.block_starts = false;
        } else {
            self.out.push_str("  ");
        }
        if let Some(source) = &self.source {
            self.out.push_str(&source.text[comment.start as usize..comment.end as usize]);
        }
        self.column += 1;
        self.end_line();
        self.written += 1;
    }

    fn open_block(&mut self) {
        self.newline();
        self.indent += 2;
        self.block_starts = true;
    }

    /// Writes the comments in front of the closing word at `offset`, still inside of the block.
    fn close_block(&mut self, offset: u32) {
        self.newline();
        self.comments_before(offset);
        self.indent -= 2;
    }

    /// Begins the line of a statement, group or alternative; keeps a blank line before it.
    fn begin(&mut self, offset: u32) {
        self.newline();
        self.comments_before(offset);
        if self.blank_before(offset) {
            self.blank_line();
        }
    }

    fn finish(mut self) -> String {
        self.newline();
        let end = self.source.as_ref().and_then(|s| s.end_marker);
        self.comments_before(u32::MAX);
        self.end_line();
        if let (Some(end), Some(source)) = (end, &self.source) {
            let rest = source.text[end as usize..].trim_end();
            if self.blank_before(end) {
                self.blank_line();
            }
            self.out.push_str(rest);
            self.out.push('\n');
        }
        self.out
    }

    // Declarations.

    fn file(&mut self, file: &File) {
        let mut after_decl = false;
        for (i, item) in file.items.iter().enumerate() {
            let (offset, is_decl) = match item {
                Item::Include { span, .. } => (span.start, false),
                Item::Decl(decl) => (decl.span.start, true),
            };
            self.newline();
            self.comment_behind(offset);
            if i > 0 && (is_decl || after_decl) {
                self.blank_line();
            }
            self.begin(offset);
            match item {
                Item::Include { path, .. } => self.put(&format!("include \"{path}\"")),
                Item::Decl(decl) => self.decl(decl),
            }
            after_decl = is_decl;
        }
    }
}

mod decl;
mod equations;
mod expr;

#[cfg(test)]
mod tests;
