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
//! Above 600 lines because every construct has its text here, and comments run through all of it.

use super::ast::*;
use super::lexer::{Comment, Lexer, Tok, Token};
use crate::diag::FileId;

/// Lines are broken where they would be longer, if they can be.
const WIDTH: usize = 100;
/// Equations below each other share the column of their `=` if their left sides differ by no
/// more characters than this.
const ALIGN: usize = 2;
/// Numbers in a row of a table that has no rows in the text.
const ROW: usize = 16;

/// The tree in the house style, with the comments of the text that it was parsed from.
/// The text must have been parsed without errors.
pub fn format(file: &File, text: &str) -> String {
    let (tokens, comments, end_marker) = Lexer::everything(text, FileId(0));
    let mut printer = Printer::new(Some(Source { text, tokens, end_marker }), comments);
    printer.file(file);
    printer.finish()
}

/// The tree in the house style, without comments; for trees that were not read from a text.
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

    fn decl(&mut self, decl: &Decl) {
        if let DeclKind::Value(term) = &decl.kind {
            self.put("value ");
            self.leaf(decl.name.span.start, &decl.name.name);
            self.put(" (");
            self.params(&decl.params);
            self.put(") =");
            self.may_break(" ");
            return self.term(term, 0);
        }
        if let DeclKind::Type(named) = &decl.kind {
            self.put("type ");
            self.leaf(decl.name.span.start, &decl.name.name);
            self.put(" =");
            self.may_break(" ");
            self.ty(&named.ty);
            return self.ranges(&named.ranges);
        }
        for opt in &decl.opts {
            match opt {
                DeclOpt::Inline => self.put("_inline "),
                DeclOpt::NoInline => self.put("_no_inline "),
                DeclOpt::NoOpt => self.put("_no_opt "),
                DeclOpt::LsbFirst => self.put("_lsb_first "),
                DeclOpt::Interleave(grain) => self.put(&format!("_interleave({grain}) ")),
            }
        }
        self.put(match decl.kind {
            DeclKind::Node(_) => "node ",
            DeclKind::NodeArray(_) => "node[] ",
            DeclKind::Table(_) => "table ",
            DeclKind::TableArray(_) => "table[] ",
            DeclKind::Perm(_) => "perm ",
            DeclKind::PermArray(_) => "perm[] ",
            DeclKind::Value(_) | DeclKind::Type(_) => unreachable!("they are written above"),
        });
        self.leaf(decl.name.span.start, &decl.name.name);
        self.put(" (");
        self.params(&decl.params);
        self.put(")");
        self.may_break(" ");
        self.put("returns (");
        self.params(&decl.results);
        self.put(")");
        for clause in &decl.contract {
            self.clause(clause);
        }
        let end = decl.span.end.saturating_sub(1);
        match &decl.kind {
            DeclKind::Node(body) => self.body(body),
            DeclKind::Table(list) | DeclKind::Perm(list) => {
                self.put(" ");
                self.int_list(list, 0);
            }
            DeclKind::Value(_) | DeclKind::Type(_) => {}
            DeclKind::NodeArray(bodies) => {
                self.put(" [");
                self.alternatives(bodies, end, |body| body.span.start, Self::body);
            }
            DeclKind::TableArray(lists) | DeclKind::PermArray(lists) => {
                self.put(" [");
                // The columns of all lists are below each other.
                let numbers = |l: &IntList| self.numbers(&l.values, l.span.start, l.span.end);
                let width = lists.iter().flat_map(numbers).map(|(_, text)| text.len()).max();
                let width = width.unwrap_or(0);
                self.alternatives(
                    lists,
                    end,
                    |list| list.span.start,
                    |p, list| {
                        p.int_list(list, width);
                    },
                );
            }
        }
    }

    fn alternatives<T>(
        &mut self,
        all: &[T],
        end: u32,
        start: impl Fn(&T) -> u32,
        one: impl Fn(&mut Self, &T),
    ) {
        self.open_block();
        for (i, alternative) in all.iter().enumerate() {
            self.begin(start(alternative));
            one(self, alternative);
            if i + 1 < all.len() {
                self.put(";");
            }
        }
        self.close_block(end);
        self.put("]");
    }

    fn params(&mut self, groups: &[ParamGroup]) {
        for (i, group) in groups.iter().enumerate() {
            if i > 0 {
                self.put(",");
                self.may_break(" ");
            }
            self.group(group, "", ":");
        }
    }

    fn group(&mut self, group: &ParamGroup, gap: &'static str, colon: &str) {
        for (i, name) in group.names.iter().enumerate() {
            if i > 0 {
                self.put(",");
                self.may_break(gap);
            }
            self.leaf(name.span.start, &name.name);
        }
        self.put(colon);
        if group.is_const {
            self.put("const ");
        }
        if group.lazy_lift {
            self.put("lazyLift ");
        }
        self.ty(&group.ty);
        self.ranges(&group.ranges);
    }

    fn ranges(&mut self, ranges: &[Range]) {
        for (at, range) in ranges.iter().enumerate() {
            self.put(if at == 0 { " in [" } else { ", [" });
            self.term(&range.low, 0);
            self.put(", ");
            self.term(&range.high, 0);
            self.put(if range.closed { "]" } else { ")" });
        }
    }

    // Contracts.

    fn clause(&mut self, clause: &Clause) {
        self.begin(clause.span.start);
        self.put(clause.role.word());
        self.put(" ");
        self.term(&clause.left, 0);
        self.may_break(" ");
        self.put(clause.relation.symbol());
        self.put(" ");
        self.term(&clause.right, 0);
        if let Some(modulus) = &clause.modulus {
            self.may_break(" ");
            self.put("mod ");
            self.term(modulus, 0);
        }
    }

    /// A term whose operator must bind tighter than `level`.
    fn term(&mut self, term: &Term, level: u8) {
        match &term.kind {
            TermKind::Int(value) => {
                let text = self.number(*value, term.span.start);
                self.leaf(term.span.start, &text);
            }
            TermKind::Var(var) => self.var(var),
            TermKind::Apply { callee, args } => {
                self.leaf(callee.span.start, &callee.name);
                self.put("(");
                for (i, arg) in args.iter().enumerate() {
                    if i > 0 {
                        self.put(",");
                        self.may_break(" ");
                    }
                    self.term(arg, 0);
                }
                self.put(")");
            }
            TermKind::Sum { index, from, to, term: inner } => {
                self.leaf(term.span.start, "sum(");
                self.leaf(index.span.start, &index.name);
                self.put(" in [");
                self.index(from, 0);
                self.put(",");
                self.index(to, 0);
                self.put("],");
                self.may_break(" ");
                self.term(inner, 0);
                self.put(")");
            }
            TermKind::Bin(op, l, r) => {
                let own = op.level();
                self.put(if own <= level { "(" } else { "" });
                let power = *op == TermOp::Power;
                self.term(l, if power { own } else { own - 1 });
                if power {
                    self.put("^");
                } else {
                    self.may_break(" ");
                    self.put(op.symbol());
                    self.put(" ");
                }
                self.term(r, if power { own - 1 } else { own });
                self.put(if own <= level { ")" } else { "" });
            }
        }
    }

    fn ty(&mut self, ty: &Type) {
        self.leaf(ty.span.start, &type_word(&ty.word));
        for dim in &ty.dims {
            self.put("[");
            self.index(dim, 0);
            self.put("]");
        }
    }

    /// On one line if it stands on one in the text and fits, else in rows. Numbers have at least
    /// the given width.
    fn int_list(&mut self, list: &IntList, least: usize) {
        let numbers = self.numbers(&list.values, list.span.start, list.span.end);
        let rows = self.row_starts(&numbers);
        let close = list.span.end.saturating_sub(1);
        let inside = self.comments.iter().any(|c| list.span.start < c.start && c.start < close);
        let width: usize = numbers.iter().map(|(_, text)| text.len().max(least) + 2).sum();
        let column = if self.line_ends { self.indent } else { self.column + self.chunk.len() };
        // A `;` that follows needs one column as well.
        let fits = column + width + 3 <= WIDTH;
        if rows.len() == 1 && fits && !inside {
            self.put("{ ");
            for (i, (_, text)) in numbers.iter().enumerate() {
                self.put(if i > 0 { ", " } else { "" });
                self.put(&format!("{text:>least$}"));
            }
            self.put(" }");
            return;
        }
        self.put("{");
        self.open_block();
        let by_text = rows.len() > 1;
        let width = numbers.iter().map(|(_, text)| text.len()).max().unwrap_or(0).max(least);
        let most = (WIDTH.saturating_sub(self.indent) / (width + 2)).max(1);
        let mut in_row = 0;
        for (i, (offset, text)) in numbers.iter().enumerate() {
            let wanted = if by_text { rows.binary_search(&i).is_ok() } else { in_row == ROW };
            if i == 0 || wanted || in_row == most || self.next_comment(*offset).is_some() {
                self.begin(*offset);
                in_row = 0;
            } else {
                self.may_break(" ");
            }
            in_row += 1;
            self.leaf(*offset, &format!("{text:>width$}"));
            if i + 1 < numbers.len() {
                self.put(",");
            }
        }
        self.close_block(close);
        self.put("}");
    }

    /// Offset and spelling of every number of a list.
    fn numbers(&self, values: &[u64], start: u32, end: u32) -> Vec<(u32, String)> {
        match &self.source {
            Some(source) => source
                .numbers(start, end)
                .map(|t| (t.span.start, source.token_text(t).to_string()))
                .collect(),
            None => values.iter().map(|v| (start, v.to_string())).collect(),
        }
    }

    /// The positions in a list of the numbers that begin a line of the text, and position 0.
    fn row_starts(&self, numbers: &[(u32, String)]) -> Vec<usize> {
        let starts = |i: usize| match &self.source {
            Some(source) => {
                source.text[numbers[i - 1].0 as usize..numbers[i].0 as usize].contains('\n')
            }
            None => false,
        };
        (0..numbers.len()).filter(|&i| i == 0 || starts(i)).collect()
    }

    // Bodies.

    fn body(&mut self, body: &Body) {
        let mut let_offset = body.span.start;
        if !body.vars.is_empty() {
            self.begin(body.span.start);
            self.put("vars ");
            let indent = self.indent;
            for (i, group) in body.vars.iter().enumerate() {
                if i > 0 {
                    self.put(",");
                    self.begin(group.names[0].span.start);
                }
                self.group(group, " ", ": ");
                self.commit();
                self.indent = indent + 5;
            }
            self.newline();
            self.indent = indent;
            if let (Some(source), Some(last)) = (&self.source, body.vars.last()) {
                let end = last.ranges.last().map_or(last.ty.span.end, |range| range.span.end);
                let after = source.token_at(end);
                let_offset = source.tokens.get(after).map_or(let_offset, |t| t.span.start);
            }
        }
        self.begin(let_offset);
        self.put("let");
        let tel = body.span.end.saturating_sub(3);
        self.block(&body.stmts, tel);
        self.put("tel");
    }

    fn block(&mut self, stmts: &[Stmt], close: u32) {
        self.open_block();
        let mut columns = self.equals_columns(stmts).into_iter();
        for (i, stmt) in stmts.iter().enumerate() {
            let column = columns.next().unwrap_or(0);
            match stmt {
                Stmt::Equation(equation) => {
                    self.begin(equation.span.start);
                    self.equation(equation, column);
                    if i + 1 < stmts.len() {
                        self.put(";");
                    }
                }
                Stmt::Loop(l) => self.forall(l),
            }
        }
        self.close_block(close);
    }

    fn forall(&mut self, l: &Loop) {
        self.begin(l.span.start);
        for opt in &l.opts {
            self.put(match opt {
                LoopOpt::Unroll => "_unroll ",
                LoopOpt::NoUnroll => "_no_unroll ",
                LoopOpt::Pipelined => "_pipelined ",
            });
        }
        self.put("forall ");
        self.leaf(l.index.span.start, &l.index.name);
        self.put(" in [");
        self.index(&l.from, 0);
        self.put(",");
        self.index(&l.to, 0);
        self.put("] {");
        let close = self.closing_brace(l.span.end);
        self.block(&l.body, close);
        self.put("}");
    }

    /// The offset of the brace that closes the first one behind `offset`.
    fn closing_brace(&self, offset: u32) -> u32 {
        let Some(source) = &self.source else { return offset };
        let mut open = 0;
        for token in &source.tokens[source.token_at(offset)..] {
            match token.tok {
                Tok::Word("{") => open += 1,
                Tok::Word("}") => open -= 1,
                _ => {}
            }
            if open == 0 {
                return token.span.start;
            }
        }
        offset
    }

    /// For every statement how many characters stand before its `=`; 0 keeps it close.
    fn equals_columns(&self, stmts: &[Stmt]) -> Vec<usize> {
        let lengths: Vec<Option<usize>> = stmts
            .iter()
            .map(|stmt| match stmt {
                Stmt::Equation(e) => Some(self.left_length(e)),
                Stmt::Loop(_) => None,
            })
            .collect();
        let mut columns = vec![0; stmts.len()];
        let mut start = 0;
        while start < stmts.len() {
            let mut end = start + 1;
            while end < stmts.len() && self.adjacent(&stmts[end - 1], &stmts[end]) {
                end += 1;
            }
            let known = || lengths[start..end].iter().flatten().copied();
            let (least, most) = (known().min().unwrap_or(0), known().max().unwrap_or(0));
            if most - least <= ALIGN {
                columns[start..end].fill(most);
            }
            start = end;
        }
        columns
    }

    /// Whether two statements are equations on lines below each other.
    fn adjacent(&self, first: &Stmt, second: &Stmt) -> bool {
        let (Stmt::Equation(first), Stmt::Equation(second)) = (first, second) else { return false };
        let (from, to) = (first.span.start, second.span.start);
        let from = self.comments.partition_point(|c| c.start < from);
        let between = self.comments[from..].iter().take_while(|c| c.start < to);
        let (mut count, mut own_line) = (0, false);
        for comment in between {
            count += 1;
            own_line |= self.first_on_line(*comment);
        }
        count < 2 && !own_line && !self.blank_before(to)
    }

    /// The length of the targets, a blank and the operator before `=`.
    fn left_length(&self, equation: &Equation) -> usize {
        let vars = equation.targets.iter().map(|var| {
            let mut length = var.name.name.len();
            for selector in &var.selectors {
                length += 2 + match selector {
                    Selector::Index(i) => self.index_length(i, 0),
                    Selector::Range(a, b) => self.index_length(a, 0) + 2 + self.index_length(b, 0),
                    Selector::List(all) => {
                        all.iter().map(|i| self.index_length(i, 0) + 1).sum::<usize>() - 1
                    }
                };
            }
            length
        });
        let vars: usize = vars.sum();
        let around = if equation.targets.len() > 1 { 2 * equation.targets.len() } else { 0 };
        vars + around + 1 + operator(equation).len()
    }

    fn equation(&mut self, equation: &Equation, column: usize) {
        let several = equation.targets.len() > 1;
        self.put(if several { "(" } else { "" });
        for (i, var) in equation.targets.iter().enumerate() {
            if i > 0 {
                self.put(",");
                self.may_break(" ");
            }
            self.var(var);
        }
        self.put(if several { ")" } else { "" });
        let gap = column.saturating_sub(self.left_length(equation));
        self.put(&" ".repeat(gap + 1));
        self.put(operator(equation));
        self.put("=");
        self.may_break(" ");
        self.expr(&equation.value);
    }

    fn var(&mut self, var: &Var) {
        self.leaf(var.name.span.start, &var.name.name);
        for selector in &var.selectors {
            self.put("[");
            match selector {
                Selector::Index(i) => self.index(i, 0),
                Selector::Range(a, b) => {
                    self.index(a, 0);
                    self.put("..");
                    self.index(b, 0);
                }
                Selector::List(all) => {
                    for (i, member) in all.iter().enumerate() {
                        if i > 0 {
                            self.put(",");
                            self.may_break("");
                        }
                        self.index(member, 0);
                    }
                }
            }
            self.put("]");
        }
    }

    // Expressions.

    fn number(&self, value: impl ToString, offset: u32) -> String {
        match &self.source {
            Some(source) => match source.tokens.get(source.token_at(offset)) {
                Some(token) => source.token_text(token).to_string(),
                None => value.to_string(),
            },
            None => value.to_string(),
        }
    }

    /// An index expression whose operators must bind tighter than `level`.
    fn index(&mut self, a: &AExpr, level: u8) {
        match a {
            AExpr::Int(value, span) => {
                let text = self.number(*value, span.start);
                self.leaf(span.start, &text);
            }
            AExpr::Name(name) => self.leaf(name.span.start, &name.name),
            AExpr::Bin(op, l, r) => {
                let (symbol, own) = index_op(*op);
                self.put(if own <= level { "(" } else { "" });
                self.index(l, own - 1);
                self.put(symbol);
                self.index(r, own);
                self.put(if own <= level { ")" } else { "" });
            }
        }
    }

    fn index_length(&self, a: &AExpr, level: u8) -> usize {
        match a {
            AExpr::Int(value, span) => self.number(*value, span.start).len(),
            AExpr::Name(name) => name.name.len(),
            AExpr::Bin(op, l, r) => {
                let own = index_op(*op).1;
                let parentheses = if own <= level { 2 } else { 0 };
                parentheses + self.index_length(l, own - 1) + 1 + self.index_length(r, own)
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int { value, ty } => {
                let text = self.number(*value, e.span.start);
                self.leaf(e.span.start, &text);
                self.suffix(ty);
            }
            ExprKind::Var(var) => self.var(var),
            ExprKind::Tuple(parts) => self.exprs(parts),
            ExprKind::Shuffle { value, pattern, braces } => {
                let (open, close) = if *braces { ("{", "}") } else { (", [", "])") };
                if !braces {
                    self.leaf(e.span.start, "Shuffle(");
                }
                self.var(value);
                self.put(open);
                let numbers = self.numbers(pattern, value.span.end, e.span.end);
                for (i, (offset, text)) in numbers.iter().enumerate() {
                    if i > 0 {
                        self.put(",");
                        self.may_break("");
                    }
                    self.leaf(*offset, text);
                }
                self.put(close);
            }
            ExprKind::Bitmask(value, bit) => {
                self.leaf(e.span.start, "Bitmask(");
                self.expr(value);
                self.put(",");
                self.may_break(" ");
                self.index(bit, 0);
                self.put(")");
            }
            ExprKind::Pack { high, low, ty } => {
                self.leaf(e.span.start, "Pack(");
                self.expr(high);
                self.put(",");
                self.may_break(" ");
                self.expr(low);
                self.put(")");
                self.suffix(ty);
            }
            ExprKind::Call { callee, instance, args } => {
                self.leaf(callee.span.start, &callee.name);
                if let Some(index) = instance {
                    self.put("<");
                    self.index(index, 0);
                    self.put(">");
                }
                self.exprs(args);
            }
            ExprKind::Not(inner) => {
                self.leaf(e.span.start, "~");
                let simple = !matches!(
                    inner.kind,
                    ExprKind::Bin(..) | ExprKind::Shift(..) | ExprKind::Shifts(..)
                );
                self.operand(inner, simple);
            }
            ExprKind::Bin(op, l, r) => {
                self.operand(l, stands_left_of(*op, l));
                self.keep_break(" ");
                self.put(op.symbol());
                self.put(" ");
                self.operand(r, stands_right_of(*op, r));
            }
            ExprKind::Shift(op, inner, amount) => {
                self.operand(inner, !matches!(inner.kind, ExprKind::Bin(..)));
                self.keep_break(" ");
                self.put(op.symbol());
                self.put(" ");
                // Only an operator in parentheses shows that it belongs to the amount.
                self.index(amount, 2);
            }
            ExprKind::Shifts(op, inner, amounts) => {
                self.operand(inner, !matches!(inner.kind, ExprKind::Bin(..)));
                self.keep_break(" ");
                self.put(op.symbol());
                self.put(" (");
                for (i, amount) in amounts.iter().enumerate() {
                    if i > 0 {
                        self.put(",");
                        self.keep_break(" ");
                    }
                    self.index(amount, 0);
                }
                self.put(")");
            }
        }
    }

    fn suffix(&mut self, ty: &Option<Type>) {
        if let Some(ty) = ty {
            self.put(":");
            self.ty(ty);
        }
    }

    fn exprs(&mut self, parts: &[Expr]) {
        self.put("(");
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.put(",");
                self.keep_break(" ");
            }
            self.expr(part);
        }
        self.put(")");
    }

    fn operand(&mut self, e: &Expr, plain: bool) {
        self.put(if plain { "" } else { "(" });
        self.expr(e);
        self.put(if plain { "" } else { ")" });
    }
}

/// What stands before the `=` of an equation.
fn operator(equation: &Equation) -> &'static str {
    match (equation.op, equation.colon) {
        (None, false) => "",
        (None, true) => ":",
        (Some(op), false) => op.symbol(),
        (Some(BinOp::And), true) => "&:",
        (Some(BinOp::Or), true) => "|:",
        (Some(BinOp::Xor), true) => "^:",
        (Some(BinOp::Add), true) => "+:",
        (Some(BinOp::Sub), true) => "-:",
        (Some(BinOp::Mul), true) => "*:",
        (Some(BinOp::Div), true) => "/:",
        (Some(BinOp::Mod), true) => "%:",
    }
}

/// Symbol and binding strength.
fn index_op(op: ABinOp) -> (&'static str, u8) {
    match op {
        ABinOp::Add => ("+", 1),
        ABinOp::Sub => ("-", 1),
        ABinOp::Mul => ("*", 2),
        ABinOp::Div => ("/", 2),
        ABinOp::Mod => ("%", 2),
    }
}

fn is_sum(op: BinOp) -> bool {
    matches!(op, BinOp::Add | BinOp::Sub)
}

fn is_product(op: BinOp) -> bool {
    matches!(op, BinOp::Mul | BinOp::Div | BinOp::Mod)
}

/// Whether an operand needs no parentheses on the left of an operator.
fn stands_left_of(op: BinOp, e: &Expr) -> bool {
    match e.kind {
        ExprKind::Bin(inner, ..) => {
            inner == op
                || is_sum(op) && (is_sum(inner) || is_product(inner))
                || is_product(op) && is_product(inner)
        }
        ExprKind::Shift(..) | ExprKind::Shifts(..) => false,
        _ => true,
    }
}

/// Whether an operand needs no parentheses on the right of an operator.
fn stands_right_of(op: BinOp, e: &Expr) -> bool {
    match e.kind {
        ExprKind::Bin(inner, ..) => is_sum(op) && is_product(inner),
        ExprKind::Shift(..) | ExprKind::Shifts(..) => false,
        _ => true,
    }
}

fn type_word(word: &TypeWord) -> String {
    let show = |dir: &Option<DirWord>| match dir {
        None => String::new(),
        Some(DirWord::H) => "<H>".to_string(),
        Some(DirWord::V) => "<V>".to_string(),
        Some(DirWord::B) => "<B>".to_string(),
        Some(DirWord::W) => "<W>".to_string(),
        Some(DirWord::Number(n)) => format!("<{n}>"),
        Some(DirWord::Var(name)) => format!("<'{name}>"),
    };
    match word {
        TypeWord::Nat => "nat".to_string(),
        TypeWord::U { dir, width, len } => {
            let dir = show(dir);
            let len = len.map(|n| format!("x{n}")).unwrap_or_default();
            match width {
                Width::Bits(bits) => format!("u{dir}{bits}{len}"),
                Width::Var(name) => format!("u{dir}'{name}{len}"),
            }
        }
        TypeWord::B { dir, len } => format!("b{}{len}", show(dir)),
        TypeWord::V { dir, len } => format!("v{}{len}", show(dir)),
        TypeWord::Named(name) => name.clone(),
    }
}

#[cfg(test)]
mod tests;
