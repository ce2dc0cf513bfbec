//! Formatter: tree to text.
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
//! The text decides comments, blank lines, the spelling of numbers, and three matters of layout:
//!
//! * an operator or a member of a tuple or call that begins a line there begins one here;
//! * a list of numbers (a table, a tuple, indices) keeps its rows, whose columns are aligned, and
//!   keeps one more blank between two groups of numbers;
//! * a loop or an alternative of one equation that stands on one line stays there.
//!
//! The tree decides the rest. A comment is written before the first name, number or keyword that
//! follows it in the text, so that it keeps its place even inside of an expression.
//!
//! A line that is too long is broken at the outermost operator or comma: before a relation, `mod`
//! or `returns`, else before a sum, else before a product. Members of a tuple or of a list of
//! numbers stand below the first member.
//!
//! Parentheses are written where the grammar needs them, and where a reader who knows the
//! precedence of C would read something else: `(a ^ b) <<< 5` and `(a | b) & c` keep theirs.
//!
//! The output parses to the same tree, and formatting it again changes nothing.
//!
//! This file lays out lines, breaks and comments. The constructs are in `decl`, `equations`, `expr`
//! and `numbers`.

use super::ast::*;
use super::lexer::{Comment, Lexer, Tok, Token};
use crate::diag::{FileId, Span};

/// Lines are broken where they would be longer, if they can be.
const WIDTH: usize = 100;

/// Levels by which parentheses nest breaks: more than any operator's own.
const NEST: usize = 4;

/// The nesting of a break that is taken only before something that does not fit otherwise.
const LAST: usize = 1 << 20;

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

/// Text without a break, and how a line may be broken before it.
struct Piece {
    /// Stands before it, unless it begins a line.
    separator: &'static str,
    text: String,
    /// The nesting of the break: an outer break is taken before an inner one.
    depth: usize,
    /// It begins a line in the text, so it does here.
    breaks: bool,
    /// The list in which it stands.
    list: Option<usize>,
    /// The lists that begin in it, and where.
    opens: Vec<(usize, usize)>,
}

/// A tuple or list whose members stand below each other.
#[derive(Clone, Copy)]
struct List {
    column: usize,
    /// The nesting of the breaks between members.
    depth: usize,
}

struct Printer<'a> {
    source: Option<Source<'a>>,
    comments: Vec<Comment>,
    /// How many comments are written.
    written: usize,
    out: String,
    /// Characters on the current line of `out`.
    column: usize,
    /// The statement so far, which is not yet divided into lines.
    pieces: Vec<Piece>,
    /// The nesting of the next break.
    depth: usize,
    /// The lists of this statement, and the innermost one that is open.
    lists: Vec<List>,
    list: Option<usize>,
    /// Lines are not broken here.
    solid: bool,
    indent: usize,
    /// A new statement or declaration begins; otherwise a line that is broken goes on.
    fresh: bool,
    /// The line is to end before anything but a comment that stands behind it.
    line_ends: bool,
    /// Nothing was written since a block was opened.
    block_starts: bool,
    /// The piece has a leaf; only the first one says where the piece stands in the text.
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
            pieces: Vec::new(),
            depth: 0,
            lists: Vec::new(),
            list: None,
            solid: false,
            indent: 0,
            fresh: true,
            line_ends: false,
            block_starts: true,
            has_leaf: true,
            last_leaf: 0,
        }
    }

    // Lines and comments.

    fn put(&mut self, text: &str) {
        if self.pieces.is_empty() {
            self.break_at("", self.depth);
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.text.push_str(text);
        }
    }

    /// Text at an offset: the comments before it come first.
    fn leaf(&mut self, offset: u32, text: &str) {
        if !self.has_leaf {
            let between = self.last_leaf as usize..offset as usize;
            let gap = self.source.as_ref().and_then(|s| s.text.get(between));
            // A comment ends the line by itself, and it may stand elsewhere now.
            let broken = gap.is_some_and(|gap| gap.contains('\n'));
            if broken && self.next_comment(offset).is_none() {
                self.must_break();
            }
        }
        self.has_leaf = true;
        self.last_leaf = offset;
        self.comments_before(offset);
        self.put(text);
    }

    /// A line may be broken here; if it is not, the separator is written.
    fn may_break(&mut self, separator: &'static str) {
        match self.solid {
            true => self.put(separator),
            false => self.break_at(separator, self.depth),
        }
    }

    fn break_at(&mut self, separator: &'static str, depth: usize) {
        let (text, opens) = (String::new(), Vec::new());
        let list = self.list;
        self.pieces.push(Piece { separator, text, depth, breaks: false, list, opens });
    }

    /// A line may be broken here, and is if it is in the text.
    fn keep_break(&mut self, separator: &'static str) {
        self.may_break(separator);
        self.has_leaf = false;
    }

    /// The last piece begins a line.
    fn must_break(&mut self) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.breaks = true;
        }
    }

    /// Breaks in here are nested in the breaks around.
    fn deeper(&mut self, levels: usize, inner: impl FnOnce(&mut Self)) {
        self.depth += levels;
        inner(self);
        self.depth -= levels;
    }

    /// The members, which are separated at this depth, stand below the first one.
    fn aligned(&mut self, members: impl FnOnce(&mut Self)) {
        let outer = self.list.replace(self.lists.len());
        if let Some(piece) = self.pieces.last_mut() {
            piece.opens.push((self.lists.len(), piece.text.len()));
        }
        self.lists.push(List { column: 0, depth: self.depth });
        members(self);
        self.list = outer;
    }

    /// Whether the statement so far, and as many characters more, stands on one line.
    fn fits(&self, more: usize) -> bool {
        let pieces = self.pieces.iter().map(|piece| piece.separator.len() + piece.text.len());
        self.indent + pieces.sum::<usize>() + more <= WIDTH
    }

    /// Divides the pieces into lines.
    fn flush(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        for (i, piece) in pieces.iter().enumerate().filter(|(_, p)| !p.text.is_empty()) {
            if self.line_ends {
                self.end_line();
            }
            let margin = self.margin(piece.list, piece.depth);
            let column = self.column + piece.separator.len();
            let group = group_length(&pieces[i..]);
            let too_long = column + piece.text.len() > WIDTH
                || column + group > WIDTH && margin + group <= WIDTH;
            if self.column > 0 && (piece.breaks || too_long && self.column > margin) {
                self.end_line();
            }
            if self.column == 0 {
                self.start_line(margin);
            } else {
                self.out.push_str(piece.separator);
                self.column = column;
            }
            for &(list, at) in &piece.opens {
                self.lists[list].column = self.column + at;
            }
            self.out.push_str(&piece.text);
            self.column += piece.text.len();
            self.fresh = false;
            self.block_starts = false;
        }
    }

    /// The column at which a line begins.
    fn margin(&self, list: Option<usize>, depth: usize) -> usize {
        match list.map(|at| self.lists[at]) {
            Some(list) if list.column <= WIDTH / 2 => {
                list.column + if depth > list.depth { 4 } else { 0 }
            }
            _ => self.indent + if self.fresh { 0 } else { 4 },
        }
    }

    fn start_line(&mut self, margin: usize) {
        self.out.extend(std::iter::repeat_n(' ', margin));
        self.column = margin;
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.out.push('\n');
        }
        self.column = 0;
        self.line_ends = false;
    }

    /// A statement ends, and its last line.
    fn newline(&mut self) {
        self.flush();
        self.lists.clear();
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

    /// The comment behind the text written so far. If there are several, the others become lines of
    /// their own.
    fn comment_behind(&mut self, offset: u32) {
        if let Some(comment) = self.next_comment(offset).filter(|&c| !self.first_on_line(c)) {
            self.comment(comment);
        }
    }

    fn comment(&mut self, comment: Comment) {
        self.flush();
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
            self.start_line(self.margin(self.list, 0));
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
                Item::Decl(decl) => {
                    let line = matches!(decl.kind, DeclKind::Value(_) | DeclKind::Type(_));
                    (decl.span.start, !line)
                }
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

/// The length of a piece and of the deeper pieces behind it. Breaks in the text do not count, so
/// that a line which is broken once is broken there again.
fn group_length(pieces: &[Piece]) -> usize {
    let (first, rest) = (&pieces[0], &pieces[1..]);
    let mut length = first.text.len();
    let inner = |p: &&Piece| (first.depth + 1..LAST).contains(&p.depth);
    for piece in rest.iter().take_while(inner) {
        length += piece.separator.len() + piece.text.len();
        if length > WIDTH {
            break;
        }
    }
    length
}

mod decl;
mod equations;
mod expr;
mod numbers;

#[cfg(test)]
mod tests;
