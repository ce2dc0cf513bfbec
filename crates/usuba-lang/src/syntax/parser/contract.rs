//! The grammar of contracts: ranges, value maps, `requires` and `ensures`.
//!
//! ```text
//! range   = "in" interval { "," interval }
//! interval = "[" term "," term ( ")" | "]" )
//! type    = "type" ident "=" type [ range ]
//! value   = "value" ident "(" param,* ")" "=" term
//! clause  = ( "requires" | "ensures" ) term relation term [ "mod" term ]
//! relation = "==" | "<" | "<="
//! link    = "link" ident { "," ident }
//! term    = term ("+" | "-") term | term ("*" | "/") term | term "^" term
//!         | integer | var | ident "(" term,+ ")" | "(" term ")"
//!         | "sum" "(" ident "in" "[" aexpr "," aexpr "]" "," term ")"
//! ```
//!
//! `value`, `type`, `requires`, `ensures`, `link`, `mod` and `sum` are words only where a contract or
//! declaration can stand; elsewhere they are names like all others. A power groups to the right and binds tightest.

use super::types::may_name_type;
use super::*;

impl Parser<'_> {
    /// Whether the token is this name, which is no keyword.
    pub(super) fn at_name(&self, name: &str) -> bool {
        self.token.tok == Tok::Ident && self.text_of(self.token.span) == name
    }

    /// `value fe (a:u64x5) = ...`
    pub(super) fn value(&mut self, start: Span) -> Parsed<Decl> {
        self.bump();
        let name = self.ident("the name of the value")?;
        let params = self.signature_part("the words in parentheses")?;
        let help = "a value reads `value fe (a:u64x5) = sum(i in [0,4], a[i] * 2^(51*i))`";
        self.expect("=", "`=` and a term", help)?;
        let term = self.term(1)?.tree;
        let kind = DeclKind::Value(Box::new(term));
        let span = self.span_from(start);
        Ok(Decl { span, ..Decl::new(name, params, Vec::new(), kind) })
    }

    /// `type tight = u64x5 in [0, 2^52)`
    pub(super) fn named_type(&mut self, start: Span) -> Parsed<Decl> {
        self.bump();
        if self.token.tok == Tok::Ident && !may_name_type(self.text_of(self.token.span)) {
            let help = "types have names that look unlike a word, such as `type limbs = u64x5`";
            return Err(self.unexpected("the name of a type", help));
        }
        let name = self.ident("the name of the type")?;
        self.expect("=", "`=` and a type", "a type reads `type limbs = u64x5 in [0, 2^51)`")?;
        let ty = self.ty()?.tree;
        let (ranges, more) = self.ranges()?;
        if more {
            return Err(self.unexpected("a range or a declaration", "remove the comma"));
        }
        let kind = DeclKind::Type(Box::new(NamedType { ty, ranges }));
        let span = self.span_from(start);
        Ok(Decl { span, ..Decl::new(name, Vec::new(), Vec::new(), kind) })
    }

    /// The ranges behind a type, and whether a comma is behind them.
    pub(super) fn ranges(&mut self) -> Parsed<(Vec<Range>, bool)> {
        let mut ranges = Vec::new();
        if self.at("in") {
            let start = self.bump().span;
            ranges.push(self.interval(start)?);
        }
        let mut more = self.eat(",");
        // Names do not begin with a bracket: this is the range of the next word.
        while more && !ranges.is_empty() && self.at("[") {
            let start = self.token.span;
            ranges.push(self.interval(start)?);
            more = self.eat(",");
        }
        Ok((ranges, more))
    }

    /// `in [0, 2^51)`
    fn interval(&mut self, start: Span) -> Parsed<Range> {
        let help = "a range reads `in [0, 2^51)`, or with its last number `in [0, 5]`";
        self.expect("[", "`[` and the bounds", help)?;
        let low = self.term(1)?.tree;
        self.expect(",", "`,` between the bounds", help)?;
        let high = self.term(1)?.tree;
        let closed = self.eat("]");
        if !closed {
            self.expect(")", "`)` or `]` behind the bounds", help)?;
        }
        Ok(Range { low, high, closed, span: self.span_from(start) })
    }

    /// `link mul, square` behind a contract.
    pub(super) fn links(&mut self) -> Parsed<Option<Box<Links>>> {
        if !self.at_name("link") {
            return Ok(None);
        }
        let start = self.bump().span;
        let mut names = vec![self.ident("the name of a node")?];
        while self.eat(",") {
            names.push(self.ident("the name of a node")?);
        }
        Ok(Some(Box::new(Links { names, span: self.span_from(start) })))
    }

    /// The clauses behind a signature; there may be none.
    pub(super) fn contract(&mut self) -> Parsed<Vec<Clause>> {
        let mut clauses = Vec::new();
        loop {
            let start = self.token.span;
            let role = match () {
                () if self.at_name("requires") => Role::Requires,
                () if self.at_name("ensures") => Role::Ensures,
                () => return Ok(clauses),
            };
            self.bump();
            let left = self.term(1)?.tree;
            let relation = self.relation()?;
            let right = self.term(1)?.tree;
            let mut modulus = None;
            if relation == Relation::Equal && self.at_name("mod") {
                self.bump();
                modulus = Some(self.term(1)?.tree);
            }
            let span = self.span_from(start);
            clauses.push(Clause { role, left, relation, right, modulus, span });
        }
    }

    fn relation(&mut self) -> Parsed<Relation> {
        let help = "a contract compares: `fe(r) == fe(a) * fe(b) mod p`, `fe(r) < p`";
        if self.eat("<") {
            let at_most = self.eat("=");
            return Ok(if at_most { Relation::AtMost } else { Relation::Less });
        }
        self.expect("=", "`==`, `<` or `<=`", help)?;
        self.expect("=", "`==`", "equality has two signs: `==`")?;
        Ok(Relation::Equal)
    }

    /// A term whose operators bind at least as tightly as `min`.
    fn term(&mut self, min: u8) -> Parsed<Deep<Term>> {
        let start = self.token.span;
        let mut left = self.term_primary()?;
        loop {
            let op = match self.word() {
                "+" => TermOp::Add,
                "-" => TermOp::Sub,
                "*" => TermOp::Mul,
                "/" => TermOp::Div,
                "^" => TermOp::Power,
                _ => return Ok(left),
            };
            if op.level() < min {
                return Ok(left);
            }
            self.bump();
            let tighter = if op == TermOp::Power { op.level() } else { op.level() + 1 };
            let right = self.nested(|p| p.term(tighter))?;
            let span = self.span_from(start);
            let height = self.above(left.height.max(right.height), span)?;
            let kind = TermKind::Bin(op, Box::new(left.tree), Box::new(right.tree));
            left = Deep { tree: Term { kind, span }, height };
        }
    }

    fn term_primary(&mut self) -> Parsed<Deep<Term>> {
        let start = self.token.span;
        let (kind, inner) = match self.token.tok {
            Tok::Word("(") => {
                self.bump();
                let inner = self.nested(|p| p.term(1))?;
                self.expect(")", "an operator or `)`", "is a closing parenthesis missing?")?;
                return Ok(inner);
            }
            Tok::Int(value) => {
                self.bump();
                (TermKind::Int(value), 0)
            }
            Tok::Ident => {
                let name = self.ident("a variable or value")?;
                if !self.at("(") {
                    let var = self.selectors(name)?;
                    (TermKind::Var(var.tree), var.height)
                } else if name.name == "sum" {
                    self.sum()?
                } else {
                    self.bump();
                    let (args, height) = self.nested(Self::terms)?;
                    (TermKind::Apply { callee: name, args }, height)
                }
            }
            _ => {
                let help = "contracts are made of integers, variables, values and `+ - * ^`";
                return Err(self.unexpected("a term", help));
            }
        };
        let span = self.span_from(start);
        let height = self.above(inner, span)?;
        Ok(Deep { tree: Term { kind, span }, height })
    }

    /// Terms up to a closing parenthesis.
    fn terms(&mut self) -> Parsed<(Vec<Term>, usize)> {
        let (mut terms, mut height) = (Vec::new(), 0);
        loop {
            let term = self.term(1)?;
            height = height.max(term.height);
            terms.push(term.tree);
            if !self.eat(",") {
                self.expect(")", "an operator, `,` or `)`", "is a closing parenthesis missing?")?;
                return Ok((terms, height));
            }
        }
    }

    /// `(i in [0,4], term)` behind `sum`.
    fn sum(&mut self) -> Parsed<(TermKind, usize)> {
        let help = "a sum reads `sum(i in [0,4], a[i] * 2^(51*i))`";
        self.expect("(", "`(`", help)?;
        let index = self.ident("the name of the index")?;
        self.expect("in", "`in`", help)?;
        self.expect("[", "`[` and the bounds of the sum", help)?;
        let from = self.aexpr()?;
        self.expect(",", "`,` between the bounds", help)?;
        let to = self.aexpr()?;
        self.expect("]", "`]` behind the bounds", help)?;
        self.expect(",", "`,` and a term", help)?;
        let term = self.nested(|p| p.term(1))?;
        self.expect(")", "an operator or `)`", help)?;
        let height = from.height.max(to.height).max(term.height);
        let (from, to, term) = (from.tree, to.tree, Box::new(term.tree));
        Ok((TermKind::Sum { index, from, to, term }, height))
    }
}
