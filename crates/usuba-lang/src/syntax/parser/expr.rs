//! The grammar of expressions, of words and of indices, by precedence climbing.

use super::*;

/// Binding strength; shifts bind loosest, `& ^ |` share the tightest level.
pub(super) const SHIFT: u8 = 1;

pub(super) fn bin_op(word: &str) -> Option<(BinOp, u8)> {
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

pub(super) fn shift_op(word: &str) -> Option<ShiftOp> {
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

impl Parser<'_> {
    pub(super) fn aexpr(&mut self) -> Parsed<Deep<AExpr>> {
        self.aexpr_above(1)
    }

    /// The amount of a shift, or the amounts of several words in parentheses; with the height.
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
    pub(super) fn expr(&mut self, min: u8) -> Parsed<Deep<Expr>> {
        let start = self.token.span;
        let mut left = self.unary()?;
        loop {
            let (kind, right) = if let Some(op) = shift_op(self.word()).filter(|_| min <= SHIFT) {
                self.bump();
                let (amounts, height) = self.amounts()?;
                (LinkKind::Shift(op, amounts), height)
            } else if let Some((op, level)) = bin_op(self.word()).filter(|&(_, l)| l >= min) {
                self.bump();
                if self.at("=") || self.at(":") {
                    return Err(self.unexpected(
                        "an operand",
                        "is a `;` missing before the equation on this line?",
                    ));
                }
                let right = self.expr(level + 1)?;
                (LinkKind::Bin(op, right.tree), right.height)
            } else {
                return Ok(left);
            };
            let span = self.span_from(start);
            let first = match left.tree.kind {
                ExprKind::Chain(..) => left.height - 1,
                _ => left.height,
            };
            let height = self.above(first.max(right), span)?;
            left = Deep { tree: left.tree.then(Link { kind, span }), height };
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
                let help = hints::operand(self.sign_before(), self.word()).unwrap_or_default();
                return Err(self.unexpected("an expression", help));
            }
        };
        let span = self.span_from(start);
        let height = self.above(inner, span)?;
        Ok(Deep { tree: Expr { kind, span }, height })
    }

    /// The sign directly before this token, or nothing.
    fn sign_before(&self) -> &str {
        let before = &self.text[..self.token.span.start as usize];
        before.char_indices().last().map_or("", |(at, _)| &before[at..])
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
                let help = hints::behind_expression(self.word()).filter(|_| !self.at("}"));
                self.expect(close, &wanted, help.unwrap_or("is a closing parenthesis missing?"))?;
                return Ok((parts, height));
            }
        }
    }

    /// An expression that begins with a name: a variable, a call or a brace shuffle.
    fn named(&mut self, name: Ident) -> Parsed<(ExprKind, usize)> {
        let (instance, mut height) = if self.eat("<") {
            if self.at("=") {
                return Err(self.unexpected("the index of a node array", hints::COMPARISON));
            }
            let index = self.nested(Self::aexpr)?;
            let help = "a node array is called by `f<2>(x)`; there are no comparisons, but \
                        `less(a, b)` is 1 if a is below b, else 0";
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
