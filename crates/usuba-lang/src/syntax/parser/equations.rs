//! The grammar of bodies: variables, equations, loops, and left sides of equations.

use super::expr::{SHIFT, bin_op};
use super::*;

const LOOP_WORDS: &[&str] = &["forall", "_unroll", "_no_unroll", "_pipelined"];

impl Parser<'_> {
    pub(super) fn body(&mut self) -> Parsed<Body> {
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
                Err(Stop::Block) => {
                    failed = true;
                    self.skip_block();
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

    /// Reports unexpected text between two equations; true if parsing can go on right there.
    fn missing_semicolon(&mut self, close: &str) -> bool {
        let is_name = self.token.tok == Tok::Ident;
        let word = Some(self.text_of(self.token.span)).filter(|_| is_name).and_then(hints::word);
        if word.is_none() && (is_name || self.at_any(LOOP_WORDS)) {
            self.unexpected("`;`", "equations are separated by `;`");
            return true;
        }
        if !self.at_end() {
            let wanted = format!("an operator, `;` or `{close}`");
            let help = word.or_else(|| hints::behind_expression(self.word()));
            self.unexpected(&wanted, help.unwrap_or_default());
            self.skip_equation(close);
        }
        false
    }

    /// Goes behind the next `;`, or stops at a token that can end an equation.
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

    /// Goes behind a block in braces, or stops at a token that can end an equation.
    fn skip_block(&mut self) {
        let (mut parentheses, mut braces) = (0usize, 0usize);
        while !self.at("tel") && !self.at_end() {
            match self.word() {
                "(" => parentheses += 1,
                ")" => parentheses = parentheses.saturating_sub(1),
                "{" => braces += 1,
                "}" if braces <= 1 => {
                    self.bump();
                    return;
                }
                "}" => braces -= 1,
                ";" if parentheses + braces == 0 => return,
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
            let help = match self.word() {
                "let" => "declare locals before `let`: `vars t:u32 let t = x; ... tel`",
                _ => "equations read `x = a ^ b`",
            };
            return Err(self.unexpected("an equation", help));
        }
        let op = bin_op(self.word()).map(|(op, _)| op);
        if op.is_some() {
            self.bump();
        }
        let colon = self.eat(":");
        if !self.at("=") {
            return Err(self.no_equation(targets.first(), op, colon));
        }
        self.bump();
        let value = self.expr(SHIFT)?.tree;
        Ok(Equation { targets, op, colon, value, span: self.span_from(start) })
    }

    /// Reports a left side, with its operator and colon, that no `=` follows.
    fn no_equation(&mut self, target: Option<&Var>, op: Option<BinOp>, colon: bool) -> Stop {
        const WANTED: &str = "`=` or `:=`";
        let name = target.filter(|var| var.selectors.is_empty()).map(|var| &*var.name.name);
        let name = name.unwrap_or_default();
        if let Some(help) = hints::statement(name).filter(|_| op.is_none() && !colon) {
            self.unexpected(WANTED, help);
            return Stop::Block;
        }
        let loops = did_you_mean(name, ["forall"]).filter(|_| self.token.tok == Tok::Ident);
        let help = match loops {
            Some(near) => near,
            None if self.token.tok == Tok::Ident && (colon || size_word(name).is_some()) => {
                "declare locals before `let`: `vars t:u32 let t = x; ... tel`".to_string()
            }
            None => hints::update(op.map(BinOp::symbol), self.word())
                .unwrap_or("equations read `x = a`, updates `x := a` or `x ^:= a`")
                .to_string(),
        };
        self.unexpected(WANTED, &help)
    }

    pub(super) fn var(&mut self) -> Parsed<Deep<Var>> {
        let name = self.ident("a variable")?;
        self.selectors(name)
    }

    pub(super) fn selectors(&mut self, name: Ident) -> Parsed<Deep<Var>> {
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
}
