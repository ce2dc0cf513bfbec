//! Tokens to tree: recursive descent, with precedence climbing for operators.
//!
//! Never fails: it returns what it understood and every error it found. After an error in an
//! equation it goes on behind the next `;`, after one in a declaration at the next declaration.
//! At most [`MAX_ERRORS`] are reported; what follows them is not read.
//!
//! Above 600 lines because the grammar is one thing: a rule calls the others.

use super::ast::*;
use super::lexer::{Lexer, Tok, Token, decimal_len, ident_len, short};
use crate::diag::{Code, Diagnostic, FileId, Sources, Span};

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

const DECL_WORDS: &[&str] = &[
    "node",
    "table",
    "perm",
    "include",
    "_inline",
    "_no_inline",
    "_interleave",
    "_no_opt",
    "_lsb_first",
];
const LOOP_WORDS: &[&str] = &["forall", "_unroll", "_no_unroll", "_pipelined"];

/// Binding strength; shifts bind loosest, `& ^ |` share the tightest level.
const SHIFT: u8 = 1;

fn bin_op(word: &str) -> Option<(BinOp, u8)> {
    Some(match word {
        "+" => (BinOp::Add, 2),
        "-" => (BinOp::Sub, 2),
        "*" => (BinOp::Mul, 3),
        "/" => (BinOp::Div, 3),
        "%" => (BinOp::Mod, 3),
        "&" => (BinOp::And, 4),
        "|" => (BinOp::Or, 4),
        "^" => (BinOp::Xor, 4),
        _ => return None,
    })
}

fn shift_op(word: &str) -> Option<ShiftOp> {
    Some(match word {
        "<<" => ShiftOp::Left,
        ">>" => ShiftOp::Right,
        ">>!" => ShiftOp::RightArith,
        "<<<" => ShiftOp::RotLeft,
        ">>>" => ShiftOp::RotRight,
        _ => return None,
    })
}

fn index_op(word: &str) -> Option<(ABinOp, u8)> {
    Some(match word {
        "+" => (ABinOp::Add, 1),
        "-" => (ABinOp::Sub, 1),
        "*" => (ABinOp::Mul, 2),
        "/" => (ABinOp::Div, 2),
        "%" => (ABinOp::Mod, 2),
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: FileId) -> Parser<'a> {
        let mut lexer = Lexer::new(text, file);
        let token = lexer.next();
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
        self.token.tok == Tok::End || self.at_any(DECL_WORDS)
    }

    fn bump(&mut self) -> Token {
        let token = self.token;
        self.prev_end = token.span.end;
        self.token = if self.errors.len() + self.lexer.errors.len() >= MAX_ERRORS {
            let end = self.prev_end as usize;
            Token { tok: Tok::End, span: Span::new(token.span.file, end, end) }
        } else {
            let before = self.lexer.errors.len();
            let next = self.lexer.next();
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

    /// Reports at most one error for each place, and none where the lexer has reported one: what
    /// follows from the first error helps nobody.
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
        if self.at(word) { Ok(self.bump()) } else { Err(self.unexpected(wanted, help)) }
    }

    fn too_deep(&mut self, span: Span) -> Stop {
        let message = format!("this is nested more than {MAX_DEPTH} levels deep");
        let help = "name a part of it in an equation of its own; a chain of operators counts one \
                    level each";
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

    // Declarations.

    fn file(&mut self) -> File {
        let mut items = Vec::new();
        while self.token.tok != Tok::End {
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => self.skip_to_decl(),
            }
        }
        File { items }
    }

    fn skip_to_decl(&mut self) {
        while self.token.tok != Tok::End && !self.at_any(DECL_WORDS) {
            self.bump();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.token.span;
        if self.eat("include") {
            if self.token.tok != Tok::Str {
                return Err(self.unexpected(
                    "a file name in quotes after `include`",
                    "write for example `include \"aes.ua\"`",
                ));
            }
            let quoted = self.bump().span;
            let path = &self.text[quoted.start as usize + 1..quoted.end as usize - 1];
            return Ok(Item::Include { path: path.to_string(), span: self.span_from(start) });
        }
        let mut opts = Vec::new();
        loop {
            opts.push(match self.word() {
                "_inline" => DeclOpt::Inline,
                "_no_inline" => DeclOpt::NoInline,
                "_no_opt" => DeclOpt::NoOpt,
                "_lsb_first" => DeclOpt::LsbFirst,
                "_interleave" => {
                    self.bump();
                    self.expect("(", "`(` after `_interleave`", "write `_interleave(2)`")?;
                    let grain = self.integer("a number", "write `_interleave(2)`")?;
                    if !self.at(")") {
                        return Err(self.unexpected("`)`", "write `_interleave(2)`"));
                    }
                    DeclOpt::Interleave(grain)
                }
                _ => break,
            });
            self.bump();
        }
        if opts.is_empty() && self.at_name("value") {
            return self.value(start).map(Item::Decl);
        }
        if opts.is_empty() && self.at_name("type") {
            return self.named_type(start).map(Item::Decl);
        }
        let kind = match self.word() {
            kind @ ("node" | "table" | "perm") => kind,
            _ => return Err(self.no_declaration(!opts.is_empty())),
        };
        self.bump();
        self.decl(start, opts, kind).map(Item::Decl)
    }

    fn no_declaration(&mut self, after_option: bool) -> Stop {
        if after_option {
            return self.unexpected(
                "`node`, `table` or `perm`",
                "options such as `_inline` stand before a declaration",
            );
        }
        let help = match self.word() {
            "tel" | "let" | "vars" => {
                "a body follows `node name (...) returns (...)`; is one \
                                       `tel` too much?"
            }
            _ if self.text_of(self.token.span) == "def" => "nodes begin with `node`",
            _ => "a program is a list of `node`, `table` and `perm` declarations",
        };
        self.unexpected("a declaration", help)
    }

    fn decl(&mut self, start: Span, opts: Vec<DeclOpt>, kind: &'static str) -> Parsed<Decl> {
        let array = self.eat("[]");
        if self.at("[") {
            return Err(self.unexpected("a name", "write `[]` without a blank between"));
        }
        let name = self.ident(&format!("the name of the {kind}"))?;
        let params = self.signature_part("the parameters in parentheses")?;
        self.expect(
            "returns",
            "`returns` and the results",
            "a declaration reads `node name (a:u32) returns (b:u32)`",
        )?;
        let results = self.signature_part("the results in parentheses")?;
        let contract = self.contract()?;
        if let Some(clause) = contract.first()
            && (array || kind != "node")
        {
            let text = format!("a contract of a {kind}{}", if array { "[]" } else { "" });
            let help = "only single nodes have contracts; call it from one";
            self.report(Diagnostic::error(Code::UnexpectedToken, clause.span, text).help(help));
        }
        let kind = match (kind, array) {
            ("node", false) => DeclKind::Node(self.body()?),
            ("node", true) => DeclKind::NodeArray(self.alternatives("node", Self::body)?),
            ("table", false) => DeclKind::Table(self.int_list()?),
            ("table", true) => DeclKind::TableArray(self.alternatives("table", Self::int_list)?),
            (_, false) => DeclKind::Perm(self.int_list()?),
            (_, true) => DeclKind::PermArray(self.alternatives("perm", Self::int_list)?),
        };
        Ok(Decl { opts, name, params, results, contract, kind, span: self.span_from(start) })
    }

    fn alternatives<T>(
        &mut self,
        kind: &str,
        one: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let help = format!("the alternatives of `{kind}[]` are written `[ ... ; ... ]`");
        self.expect("[", "`[` before the alternatives", &help)?;
        let mut all = vec![one(self)?];
        while self.eat(";") {
            all.push(one(self)?);
        }
        self.expect("]", "`;` or `]` after an alternative", &help)?;
        Ok(all)
    }

    fn int_list(&mut self) -> Parsed<IntList> {
        let start = self.token.span;
        let help = match self.word() {
            "[" => "several lists need `[]` after `table` or `perm`",
            _ => "a table or perm is a list of numbers: `{1,0,3,2}`",
        };
        self.expect("{", "`{` and a list of numbers", help)?;
        let values = self.integers("}")?;
        Ok(IntList { values, span: self.span_from(start) })
    }

    /// One or more numbers and the closing mark.
    fn integers(&mut self, close: &str) -> Parsed<Vec<u64>> {
        let mut values = Vec::new();
        loop {
            let help = if self.at(close) && !values.is_empty() {
                "remove the comma after the last number"
            } else {
                "only plain numbers can stand in this list"
            };
            values.push(self.integer("a number", help)?);
            if !self.eat(",") {
                let wanted = format!("`,` or `{close}`");
                self.expect(close, &wanted, "numbers in a list are separated by `,`")?;
                return Ok(values);
            }
        }
    }

    fn integer(&mut self, wanted: &str, help: &str) -> Parsed<u64> {
        match self.token.tok {
            Tok::Int(value) => Ok(self.number(value)),
            _ => Err(self.unexpected(wanted, help)),
        }
    }

    /// The number of the current token, which is not one of a contract and has 64 bits at most.
    fn number(&mut self, value: u128) -> u64 {
        let span = self.bump().span;
        u64::try_from(value).unwrap_or_else(|_| {
            let message = "this number is larger than 2^64-1";
            let error = Diagnostic::error(Code::BadInteger, span, message);
            self.report(error.help("split the constant into several words"));
            0
        })
    }

    fn ident(&mut self, wanted: &str) -> Parsed<Ident> {
        if self.token.tok != Tok::Ident {
            let help = match self.token.tok {
                Tok::Word(w) if w.starts_with(char::is_alphabetic) || w.starts_with('_') => {
                    "keywords cannot be names; choose another one"
                }
                _ => "",
            };
            return Err(self.unexpected(wanted, help));
        }
        let span = self.bump().span;
        Ok(Ident { name: self.text_of(span).to_string(), span })
    }

    fn signature_part(&mut self, wanted: &str) -> Parsed<Vec<ParamGroup>> {
        self.expect("(", wanted, "write them as `(a,b:u32, c:u8[4])`")?;
        let groups = self.param_groups(")")?;
        self.expect(")", "`,` or `)`", "parameters are separated by `,`")?;
        Ok(groups)
    }

    /// Zero or more groups up to, but without, the closing word.
    fn param_groups(&mut self, close: &str) -> Parsed<Vec<ParamGroup>> {
        let mut groups = Vec::new();
        if self.at(close) {
            return Ok(groups);
        }
        loop {
            let mut names = vec![self.ident("a name")?];
            while self.eat(",") {
                names.push(self.ident("a name after `,`")?);
            }
            self.expect(":", "`:` and a type", "every name has a type: `a,b:u32`")?;
            let (mut is_const, mut lazy_lift) = (false, false);
            loop {
                match self.word() {
                    "const" => is_const = true,
                    "lazyLift" => lazy_lift = true,
                    _ => break,
                }
                self.bump();
            }
            let ty = self.ty()?.tree;
            let (ranges, more) = self.ranges()?;
            groups.push(ParamGroup { names, is_const, lazy_lift, ty, ranges });
            if !more {
                return Ok(groups);
            }
        }
    }

    // Types.

    fn ty(&mut self) -> Parsed<Deep<Type>> {
        let start = self.token.span;
        let word = match self.token.tok {
            Tok::Ident | Tok::TypeWord => match type_word(self.text_of(start)) {
                Ok(word) => word,
                Err(TypeProblem::NoType) if may_name_type(self.text_of(start)) => {
                    TypeWord::Named(self.text_of(start).to_string())
                }
                Err(problem) => return Err(self.bad_type(problem)),
            },
            _ => return Err(self.bad_type(TypeProblem::NoType)),
        };
        self.bump();
        if self.at("<") {
            return Err(self.bad_type(TypeProblem::LateDirection));
        }
        let (mut dims, mut height) = (Vec::new(), 0);
        while self.eat("[") {
            let dim = self.nested(Self::aexpr)?;
            self.expect("]", "`]` after the array size", "several sizes are written `[2][3]`")?;
            dims.push(dim.tree);
            height = height.max(dim.height);
        }
        Ok(Deep { tree: Type { word, dims, span: self.span_from(start) }, height })
    }

    fn bad_type(&mut self, problem: TypeProblem) -> Stop {
        let span = self.token.span;
        let text = short(self.text_of(span));
        let found = self.found();
        let (code, message, help) = match problem {
            TypeProblem::TooLarge => (
                Code::BadInteger,
                format!("a number in the type `{text}` is larger than 2^64-1"),
                "words have at most 64 bits; write longer data as arrays".to_string(),
            ),
            TypeProblem::LateDirection => (
                Code::BadTypeWord,
                "the direction of a type stands before its size, without blanks".to_string(),
                "write for example `u<H>16x8`".to_string(),
            ),
            TypeProblem::NoType => (
                Code::BadTypeWord,
                match text {
                    "bool" => "the type `bool` was removed from the language".to_string(),
                    _ => format!("expected a type, found {found}"),
                },
                match text {
                    "bool" => "write `b1`".to_string(),
                    "u" | "b" | "v" => format!("a size follows without a blank: `{text}8`"),
                    "int" | "uint" => "write a word with its size, such as `u32`".to_string(),
                    _ => match text.strip_prefix("uint").and_then(|t| t.strip_suffix("_t")) {
                        Some(size) if decimal_len(size) == size.len() && !size.is_empty() => {
                            format!("write `u{size}`")
                        }
                        _ => "types are `u32`, `u32x4`, `b8`, `v4`, `u'm`, `u<H>16` or `nat`, \
                              then array sizes such as `[4]`"
                            .to_string(),
                    },
                },
            ),
        };
        self.report(Diagnostic::error(code, span, message).help(help));
        Stop::Equation
    }

    // Bodies.

    fn body(&mut self) -> Parsed<Body> {
        let start = self.token.span;
        if self.at("[") {
            return Err(self.unexpected(
                "`vars` or `let`",
                "a node with alternatives is declared by `node[]`",
            ));
        }
        let vars = if self.eat("vars") {
            let vars = self.param_groups("let")?;
            if self.at(";") {
                return Err(self
                    .unexpected("`,` or `let`", "declarations after `vars` are separated by `,`"));
            }
            vars
        } else {
            Vec::new()
        };
        let help = "a body reads `vars t:u32 let y = t tel`";
        let opening = self.expect("let", "`let` and the equations", help)?;
        let stmts = self.stmts(opening, "tel")?;
        self.expect("tel", "`tel`", "every body ends with `tel`")?;
        Ok(Body { vars, stmts, span: self.span_from(start) })
    }

    /// Equations and loops behind the opening word up to, but without, the closing one.
    fn stmts(&mut self, opening: Token, close: &str) -> Parsed<Vec<Stmt>> {
        let (mut stmts, mut failed) = (Vec::new(), false);
        loop {
            while self.eat(";") {}
            if self.at_any(&[close, "tel"]) || self.at_end() {
                break;
            }
            let stmt = if self.at_any(LOOP_WORDS) {
                self.forall().map(Stmt::Loop)
            } else {
                self.equation().map(Stmt::Equation)
            };
            match stmt {
                Ok(stmt) => {
                    let loops = matches!(stmt, Stmt::Loop(_));
                    stmts.push(stmt);
                    if !loops && !self.at(";") && !self.at(close) {
                        failed |= !self.missing_semicolon(close);
                    }
                }
                Err(Stop::Equation) => {
                    failed = true;
                    self.skip_equation(close);
                }
                Err(Stop::Decl) => return Err(Stop::Decl),
            }
        }
        if stmts.is_empty() && !failed && self.at(close) {
            let (what, help) = match close {
                "tel" => ("this body has no equation", "give every result a value: `y = x`"),
                _ => ("this loop has no equation", "write at least one between the braces"),
            };
            let span = opening.span.to(self.token.span);
            self.report(Diagnostic::error(Code::EmptyBody, span, what).help(help));
        }
        Ok(stmts)
    }

    /// Reports what stands between two equations; true if parsing can go on right there.
    fn missing_semicolon(&mut self, close: &str) -> bool {
        let starts_stmt = matches!(self.token.tok, Tok::Ident) || self.at_any(LOOP_WORDS);
        if starts_stmt {
            self.unexpected("`;`", "equations are separated by `;`");
            return true;
        }
        if !self.at_end() {
            let wanted = format!("an operator, `;` or `{close}`");
            let help = match self.word() {
                ")" | "]" | "}" => "is one bracket too many, or one missing before?",
                ":" => "only numbers have a type behind them",
                _ => "",
            };
            self.unexpected(&wanted, help);
            self.skip_equation(close);
        }
        false
    }

    /// Goes behind the next `;`, or stops at what can end an equation.
    fn skip_equation(&mut self, close: &str) {
        let mut braces = 0usize;
        loop {
            match self.word() {
                ";" if braces == 0 => {
                    self.bump();
                    return;
                }
                "tel" => return,
                "}" if braces == 0 && close == "}" => return,
                "{" => braces += 1,
                "}" => braces = braces.saturating_sub(1),
                _ if self.at_end() => return,
                _ if self.at_any(LOOP_WORDS) && braces == 0 => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn forall(&mut self) -> Parsed<Loop> {
        let start = self.token.span;
        let mut opts = Vec::new();
        loop {
            opts.push(match self.word() {
                "_unroll" => LoopOpt::Unroll,
                "_no_unroll" => LoopOpt::NoUnroll,
                "_pipelined" => LoopOpt::Pipelined,
                _ => break,
            });
            self.bump();
        }
        let help = "a loop reads `forall i in [0,3] { ... }`";
        self.expect("forall", "`forall`", help)?;
        let index = self.ident("the name of the loop index")?;
        self.expect("in", "`in`", help)?;
        self.expect("[", "`[` and the bounds of the loop", help)?;
        let from = self.aexpr()?.tree;
        self.expect(",", "`,` between the bounds", help)?;
        let to = self.aexpr()?.tree;
        self.expect("]", "`]` after the bounds", help)?;
        let span = self.span_from(start);
        let opening = self.expect("{", "`{`", help)?;
        self.loops += 1;
        let body = self.nested(|p| p.stmts(opening, "}"));
        self.loops -= 1;
        let body = body?;
        if !self.eat("}") {
            self.unexpected("`}`", "this closes the `forall` loop");
            return Err(Stop::Decl);
        }
        Ok(Loop { opts, index, from, to, body, span })
    }

    fn equation(&mut self) -> Parsed<Equation> {
        let start = self.token.span;
        let mut targets = Vec::new();
        if self.eat("(") {
            loop {
                targets.push(self.var()?.tree);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")", "`,` or `)`", "the left side lists variables: `(a, b[0]) = ...`")?;
        } else if self.token.tok == Tok::Ident {
            targets.push(self.var()?.tree);
        } else {
            return Err(self.unexpected("an equation", "equations read `x = a ^ b`"));
        }
        let op = bin_op(self.word()).map(|(op, _)| op);
        if op.is_some() {
            self.bump();
        }
        let colon = self.eat(":");
        if !self.at("=") {
            let help = match self.token.tok {
                Tok::Word("(") => "a call gives a value: write `x = f(y)`",
                Tok::Word(w) if shift_op(w).is_some() => {
                    "shifts have no short form; write `x := x <<< 3`"
                }
                _ => "equations read `x = a`, updates `x := a` or `x ^:= a`",
            };
            return Err(self.unexpected("`=` or `:=`", help));
        }
        self.bump();
        let value = self.expr(SHIFT)?.tree;
        Ok(Equation { targets, op, colon, value, span: self.span_from(start) })
    }

    fn var(&mut self) -> Parsed<Deep<Var>> {
        let name = self.ident("a variable")?;
        self.selectors(name)
    }

    fn selectors(&mut self, name: Ident) -> Parsed<Deep<Var>> {
        let start = name.span;
        let (mut selectors, mut height) = (Vec::new(), 0);
        if self.at("[]") {
            return Err(self.unexpected("an index", "write `x[0]`"));
        }
        while self.eat("[") {
            let first = self.nested(Self::aexpr)?;
            height = height.max(first.height);
            selectors.push(if self.eat("..") {
                let last = self.nested(Self::aexpr)?;
                height = height.max(last.height);
                Selector::Range(first.tree, last.tree)
            } else if self.at(",") {
                let mut list = vec![first.tree];
                while self.eat(",") {
                    let next = self.nested(Self::aexpr)?;
                    height = height.max(next.height);
                    list.push(next.tree);
                }
                Selector::List(list)
            } else {
                Selector::Index(first.tree)
            });
            self.expect("]", "`]`", "elements are chosen by `x[1]`, `x[0..3]` or `x[0,2]`")?;
        }
        Ok(Deep { tree: Var { name, selectors, span: self.span_from(start) }, height })
    }

    // Expressions.

    fn aexpr(&mut self) -> Parsed<Deep<AExpr>> {
        self.aexpr_above(1)
    }

    /// The amount of a shift, or those of several words in parentheses; with the height.
    fn amounts(&mut self) -> Parsed<(Vec<AExpr>, usize)> {
        let start = self.token.span;
        if !self.eat("(") {
            let amount = self.aexpr()?;
            return Ok((vec![amount.tree], amount.height));
        }
        let first = self.nested(Self::aexpr)?;
        let (mut list, mut height) = (Vec::new(), first.height);
        if !self.at(",") {
            self.expect(")", "`)`", "index expressions use `+ - * / %` only")?;
            let amount = self.aexpr_after(first, start, 1)?;
            return Ok((vec![amount.tree], amount.height));
        }
        list.push(first.tree);
        while self.eat(",") {
            let next = self.nested(Self::aexpr)?;
            height = height.max(next.height);
            list.push(next.tree);
        }
        self.expect(")", "`)`", "amounts of several words read `x <<< (7, 13)`")?;
        Ok((list, height))
    }

    /// An index expression whose operators bind at least as tightly as `min`.
    fn aexpr_above(&mut self, min: u8) -> Parsed<Deep<AExpr>> {
        let start = self.token.span;
        let left = match self.token.tok {
            Tok::Int(value) => Deep { tree: AExpr::Int(self.number(value), start), height: 1 },
            Tok::Ident => Deep { tree: AExpr::Name(self.ident("an index")?), height: 1 },
            Tok::Word("(") => {
                self.bump();
                let inner = self.nested(Self::aexpr)?;
                self.expect(")", "`)`", "index expressions use `+ - * / %` only")?;
                inner
            }
            Tok::Word("-") => {
                return Err(self.unexpected("an index", "write `0-1` for a negative number"));
            }
            _ => {
                let help = "an index is made of numbers, loop indices and `+ - * / %`";
                return Err(self.unexpected("an index or amount", help));
            }
        };
        self.aexpr_after(left, start, min)
    }

    /// An index expression that begins with `left`.
    fn aexpr_after(&mut self, left: Deep<AExpr>, start: Span, min: u8) -> Parsed<Deep<AExpr>> {
        let mut left = left;
        while let Some((op, level)) = index_op(self.word()).filter(|&(_, level)| level >= min) {
            self.bump();
            let right = self.aexpr_above(level + 1)?;
            let height = self.above(left.height.max(right.height), start)?;
            let tree = AExpr::Bin(op, Box::new(left.tree), Box::new(right.tree));
            left = Deep { tree, height };
        }
        Ok(left)
    }

    /// An expression whose operators bind at least as tightly as `min`.
    fn expr(&mut self, min: u8) -> Parsed<Deep<Expr>> {
        let start = self.token.span;
        let mut left = self.unary()?;
        loop {
            let (kind, height) = if let Some(op) = shift_op(self.word()).filter(|_| min <= SHIFT) {
                self.bump();
                let (mut amounts, height) = self.amounts()?;
                let height = left.height.max(height);
                let kind = match amounts.len() {
                    1 => ExprKind::Shift(op, Box::new(left.tree), amounts.remove(0)),
                    _ => ExprKind::Shifts(op, Box::new(left.tree), amounts),
                };
                (kind, height)
            } else if let Some((op, level)) = bin_op(self.word()).filter(|&(_, l)| l >= min) {
                self.bump();
                if self.at("=") || self.at(":") {
                    return Err(self.unexpected(
                        "an operand",
                        "is a `;` missing before the equation on this line?",
                    ));
                }
                let right = self.expr(level + 1)?;
                let height = left.height.max(right.height);
                (ExprKind::Bin(op, Box::new(left.tree), Box::new(right.tree)), height)
            } else {
                return Ok(left);
            };
            let span = self.span_from(start);
            let height = self.above(height, span)?;
            left = Deep { tree: Expr { kind, span }, height };
        }
    }

    fn unary(&mut self) -> Parsed<Deep<Expr>> {
        // A loop, not a recursion: `~~~~x` costs no stack until its height is known.
        let mut starts = Vec::new();
        while self.at("~") || self.at("!") {
            if self.loops + starts.len() >= MAX_DEPTH {
                return Err(self.too_deep(self.token.span));
            }
            starts.push(self.bump().span);
        }
        let mut operand = self.primary()?;
        for start in starts.into_iter().rev() {
            let span = self.span_from(start);
            let height = self.above(operand.height, span)?;
            let kind = ExprKind::Not(Box::new(operand.tree));
            operand = Deep { tree: Expr { kind, span }, height };
        }
        Ok(operand)
    }

    fn primary(&mut self) -> Parsed<Deep<Expr>> {
        let start = self.token.span;
        let (kind, inner) = match self.token.tok {
            Tok::Word("(") => {
                self.bump();
                if self.at(")") {
                    return Err(self.unexpected("an expression", "an empty tuple has no use"));
                }
                let (mut parts, height) = self.nested(|p| p.exprs(")"))?;
                if parts.len() == 1 {
                    let tree = parts.remove(0);
                    return Ok(Deep { tree, height });
                }
                (ExprKind::Tuple(parts), height)
            }
            Tok::Int(value) => {
                let value = self.number(value);
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                let height = ty.as_ref().map_or(0, |t| t.height);
                (ExprKind::Int { value, ty: ty.map(|t| t.tree) }, height)
            }
            Tok::Ident => {
                let name = self.ident("a variable")?;
                self.named(name)?
            }
            Tok::TypeWord => {
                let span = self.bump().span;
                if !self.at("(") {
                    let help = "a type before parentheses changes the size: `u<V>64(x)`";
                    return Err(self.unexpected("`(` and a word", help));
                }
                self.named(Ident { name: self.text_of(span).to_string(), span })?
            }
            Tok::Word("Shuffle") => {
                let help = "write `Shuffle(x,[3,2,1,0])`";
                self.bump();
                self.expect("(", "`(`", help)?;
                let value = self.var()?;
                self.expect(
                    ",",
                    "`,` and the pattern",
                    "Shuffle takes a variable, not an expression; write `Shuffle(x,[3,2,1,0])`",
                )?;
                self.expect("[", "`[` and the pattern", help)?;
                let pattern = self.integers("]")?;
                self.expect(")", "`)`", help)?;
                (ExprKind::Shuffle { value: value.tree, pattern, braces: false }, value.height)
            }
            Tok::Word("Bitmask") => {
                let help = "write `Bitmask(x,3)`";
                self.bump();
                self.expect("(", "`(`", help)?;
                let value = self.nested(|p| p.expr(SHIFT))?;
                self.expect(",", "`,` and the number of the bit", help)?;
                let bit = self.aexpr()?;
                self.expect(")", "`)`", help)?;
                let height = value.height.max(bit.height);
                (ExprKind::Bitmask(Box::new(value.tree), bit.tree), height)
            }
            Tok::Word("Pack") => {
                let help = "write `Pack(high,low):u16`";
                self.bump();
                self.expect("(", "`(`", help)?;
                let high = self.nested(|p| p.expr(SHIFT))?;
                self.expect(",", "`,` and the low half", help)?;
                let low = self.nested(|p| p.expr(SHIFT))?;
                self.expect(")", "`)`", help)?;
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                let height = high.height.max(low.height);
                let height = height.max(ty.as_ref().map_or(0, |t| t.height));
                let (high, low) = (Box::new(high.tree), Box::new(low.tree));
                (ExprKind::Pack { high, low, ty: ty.map(|t| t.tree) }, height)
            }
            _ => {
                let help = match self.word() {
                    "-" => "there are no negative numbers; all ones is `~0` or `0xffffffff`",
                    "=" => "equality is not an operator; equations use one `=`",
                    "[" | "{" => "tuples are written with parentheses: `(a,b)`",
                    _ => "",
                };
                return Err(self.unexpected("an expression", help));
            }
        };
        let span = self.span_from(start);
        let height = self.above(inner, span)?;
        Ok(Deep { tree: Expr { kind, span }, height })
    }

    /// One or more expressions and the closing mark; also the greatest height.
    fn exprs(&mut self, close: &str) -> Parsed<(Vec<Expr>, usize)> {
        let (mut parts, mut height) = (Vec::new(), 0);
        loop {
            let part = self.expr(SHIFT)?;
            parts.push(part.tree);
            height = height.max(part.height);
            if !self.eat(",") {
                let wanted = format!("an operator, `,` or `{close}`");
                self.expect(close, &wanted, "is a closing parenthesis missing?")?;
                return Ok((parts, height));
            }
        }
    }

    /// What begins with a name: a variable, a call or a brace shuffle.
    fn named(&mut self, name: Ident) -> Parsed<(ExprKind, usize)> {
        let (instance, mut height) = if self.eat("<") {
            let index = self.nested(Self::aexpr)?;
            let help = "a node array is called by `f<2>(x)`";
            self.expect(">", "`>` after the index of the node array", help)?;
            if !self.at("(") {
                return Err(self.unexpected("`(` and the arguments", help));
            }
            (Some(index.tree), index.height)
        } else {
            (None, 0)
        };
        if self.eat("(") {
            let (args, deepest) = match self.eat(")") {
                true => (Vec::new(), 0),
                false => self.nested(|p| p.exprs(")"))?,
            };
            height = height.max(deepest);
            return Ok((ExprKind::Call { callee: name, instance, args }, height));
        }
        let var = self.selectors(name)?;
        if self.at("(") {
            let help = "an alternative of a node array is called by `f<2>(x)`";
            return Err(self.unexpected("an operator or `;`", help));
        }
        if self.eat("{") {
            let pattern = self.integers("}")?;
            return Ok((ExprKind::Shuffle { value: var.tree, pattern, braces: true }, var.height));
        }
        Ok((ExprKind::Var(var.tree), var.height))
    }
}

enum TypeProblem {
    NoType,
    TooLarge,
    LateDirection,
}

/// Whether a name can be that of a type: it does not look like a word of some size, so that a slip
/// in one is told where it stands.
fn may_name_type(name: &str) -> bool {
    let sized = ["uint", "nat", "u", "b", "v"].iter().any(|word| {
        let rest = name.strip_prefix(word);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    !sized && !name.contains(['<', '\'']) && !["bool", "int"].contains(&name)
}

/// The type of a name such as `u64`, which in front of parentheses changes the size of a word.
pub fn size_word(name: &str) -> Option<TypeWord> {
    match type_word(name) {
        Ok(word @ TypeWord::U { len: None, .. }) => Some(word),
        _ => None,
    }
}

/// Reads a whole type word such as `u<'D>32x4`.
fn type_word(text: &str) -> Result<TypeWord, TypeProblem> {
    use TypeProblem::NoType;
    if text == "nat" {
        return Ok(TypeWord::Nat);
    }
    let letter = text.chars().next().filter(|c| "ubv".contains(*c)).ok_or(NoType)?;
    let rest = &text[1..];
    let (dir, rest) = match rest.strip_prefix('<') {
        None => (None, rest),
        Some(rest) => {
            let (dir, rest) = rest.split_once('>').ok_or(NoType)?;
            let dir = match dir {
                "H" => DirWord::H,
                "V" => DirWord::V,
                "B" => DirWord::B,
                "W" => DirWord::W,
                _ => match dir.strip_prefix('\'') {
                    Some(name) => DirWord::Var(name.to_string()),
                    None => DirWord::Number(size(dir)?),
                },
            };
            (Some(dir), rest)
        }
    };
    match letter {
        'b' => Ok(TypeWord::B { dir, len: size(rest)? }),
        'v' => Ok(TypeWord::V { dir, len: size(rest)? }),
        _ => {
            if let Some(name) = rest.strip_prefix('\'') {
                if name.is_empty() || ident_len(name) != name.len() {
                    return Err(NoType);
                }
                return Ok(TypeWord::U { dir, width: Width::Var(name.to_string()), len: None });
            }
            let (bits, len) = match rest.split_once('x') {
                Some((bits, len)) => (bits, Some(size(len)?)),
                None => (rest, None),
            };
            Ok(TypeWord::U { dir, width: Width::Bits(size(bits)?), len })
        }
    }
}

fn size(digits: &str) -> Result<u64, TypeProblem> {
    if digits.is_empty() || decimal_len(digits) != digits.len() {
        return Err(TypeProblem::NoType);
    }
    digits.parse().map_err(|_| TypeProblem::TooLarge)
}

mod contract;

#[cfg(test)]
mod tests;
