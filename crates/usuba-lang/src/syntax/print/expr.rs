//! The text of expressions, of words and of indices, with the parentheses that they need.

use super::*;

/// Parentheses that the first operand of a chain may get.
const MAX_PARENTHESES: usize = 32;

impl Printer<'_> {
    /// A number as the text spells it.
    pub(super) fn number(&self, value: impl ToString, offset: u32) -> String {
        self.spelling(offset).map_or_else(|| value.to_string(), str::to_string)
    }

    fn spelling(&self, offset: u32) -> Option<&str> {
        let source = self.source.as_ref()?;
        Some(source.token_text(source.tokens.get(source.token_at(offset))?))
    }

    /// A word as the text spells it; above 9 in base 16 if there is no text.
    fn constant(&self, value: u64, offset: u32) -> String {
        match self.spelling(offset) {
            Some(text) => text.to_string(),
            None if value < 10 => value.to_string(),
            None => format!("{value:#x}"),
        }
    }

    /// An index expression whose operators must bind tighter than `level`.
    pub(super) fn index(&mut self, a: &AExpr, level: u8) {
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

    pub(super) fn index_length(&self, a: &AExpr, level: u8) -> usize {
        match a {
            AExpr::Int(value, span) => {
                let digits = || value.checked_ilog10().map_or(1, |log| log as usize + 1);
                self.spelling(span.start).map_or_else(digits, str::len)
            }
            AExpr::Name(name) => name.name.len(),
            AExpr::Bin(op, l, r) => {
                let own = index_op(*op).1;
                let parentheses = if own <= level { 2 } else { 0 };
                parentheses + self.index_length(l, own - 1) + 1 + self.index_length(r, own)
            }
        }
    }

    pub(super) fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int { value, ty } => {
                let text = self.constant(*value, e.span.start);
                self.leaf(e.span.start, &text);
                self.suffix(ty);
            }
            ExprKind::Var(var) => self.var(var),
            ExprKind::Tuple(parts) => {
                self.put("(");
                self.deeper(NEST, |p| p.tuple(parts, e.span));
                self.put(")");
            }
            ExprKind::Shuffle { value, pattern, braces } => {
                let (open, close) = if *braces { ("{", "}") } else { (", [", "])") };
                if !braces {
                    self.leaf(e.span.start, "Shuffle(");
                }
                self.var(value);
                self.put(open);
                let pattern = pattern.iter().map(u64::to_string);
                let inside = Span { start: value.span.end, ..e.span };
                let numbers = self.spelled(inside, pattern);
                self.deeper(NEST, |p| p.numbers(&numbers, 0, 0));
                self.put(close);
            }
            ExprKind::Bitmask(value, bit) => {
                self.leaf(e.span.start, "Bitmask(");
                self.deeper(NEST, |p| {
                    p.deeper(NEST, |p| p.expr(value));
                    p.put(",");
                    p.may_break(" ");
                    p.index(bit, 0);
                });
                self.put(")");
            }
            ExprKind::Pack { high, low, ty } => {
                self.leaf(e.span.start, "Pack(");
                self.deeper(NEST, |p| {
                    p.deeper(NEST, |p| p.expr(high));
                    p.put(",");
                    p.may_break(" ");
                    p.deeper(NEST, |p| p.expr(low));
                });
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
                self.put("(");
                self.deeper(NEST, |p| p.members(args));
                self.put(")");
            }
            ExprKind::Not(inner) => {
                self.leaf(e.span.start, "~");
                self.operand(inner, !matches!(inner.kind, ExprKind::Chain(..)));
            }
            ExprKind::Chain(first, links) => self.chain(first, links),
        }
    }

    /// Operators from left to right. Where readers may doubt the order there are parentheses, but
    /// no more than a parser can nest.
    fn chain(&mut self, first: &Expr, links: &[Link]) {
        let doubtful = |two: &[Link]| !stands_left_of(&two[1].kind, &two[0].kind);
        let inside = links.windows(2).filter(|two| doubtful(two)).count();
        let shown = if inside < MAX_PARENTHESES { inside } else { 0 };
        let mut open = shown;
        self.put(&"(".repeat(shown));
        self.deeper((shown + 1) * NEST, |p| p.expr(first));
        for (at, link) in links.iter().enumerate() {
            if open > 0 && at > 0 && doubtful(&links[at - 1..=at]) {
                self.put(")");
                open -= 1;
            }
            let product = usize::from(is_product_link(&link.kind));
            self.deeper(open * NEST + product, |p| p.keep_break(" "));
            match &link.kind {
                LinkKind::Bin(op, right) => {
                    self.put(op.symbol());
                    self.put(" ");
                    let plain = stands_right_of(*op, right);
                    self.deeper((open + 1) * NEST, |p| p.operand(right, plain));
                }
                LinkKind::Shift(op, amounts) => {
                    self.put(op.symbol());
                    self.put(" ");
                    self.amounts(amounts);
                }
            }
        }
    }

    fn amounts(&mut self, amounts: &[AExpr]) {
        if let [amount] = amounts {
            // Only an operator in parentheses shows that it belongs to the amount.
            return self.index(amount, 2);
        }
        self.put("(");
        for (i, amount) in amounts.iter().enumerate() {
            if i > 0 {
                self.put(",");
                self.deeper(NEST, |p| p.keep_break(" "));
            }
            self.index(amount, 0);
        }
        self.put(")");
    }

    fn suffix(&mut self, ty: &Option<Type>) {
        if let Some(ty) = ty {
            self.put(":");
            self.ty(ty);
        }
    }

    /// The parts of a tuple, in rows if they are numbers.
    fn tuple(&mut self, parts: &[Expr], span: Span) {
        let constants: Option<Vec<String>> = parts
            .iter()
            .map(|part| match part.kind {
                ExprKind::Int { value, ty: None } => Some(self.constant(value, part.span.start)),
                _ => None,
            })
            .collect();
        match constants {
            Some(texts) => {
                let numbers = self.spelled(span, texts.into_iter());
                self.numbers(&numbers, 1, 0);
            }
            None => self.aligned(|p| p.members(parts)),
        }
    }

    fn members(&mut self, parts: &[Expr]) {
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.put(",");
                self.keep_break(" ");
            }
            self.deeper(NEST, |p| p.expr(part));
        }
    }

    fn operand(&mut self, e: &Expr, plain: bool) {
        self.put(if plain { "" } else { "(" });
        self.expr(e);
        self.put(if plain { "" } else { ")" });
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

fn is_product_link(link: &LinkKind) -> bool {
    matches!(link, LinkKind::Bin(op, _) if is_product(*op))
}

/// Whether an operation needs no parentheses as the left operand of the next one.
fn stands_left_of(next: &LinkKind, inner: &LinkKind) -> bool {
    match (next, inner) {
        (LinkKind::Bin(op, _), LinkKind::Bin(inner, _)) => {
            inner == op
                || is_sum(*op) && (is_sum(*inner) || is_product(*inner))
                || is_product(*op) && is_product(*inner)
        }
        (LinkKind::Shift(..), LinkKind::Bin(..)) | (LinkKind::Bin(..), LinkKind::Shift(..)) => {
            false
        }
        (LinkKind::Shift(..), LinkKind::Shift(..)) => true,
    }
}

/// Whether an operand needs no parentheses on the right of an operator.
fn stands_right_of(op: BinOp, e: &Expr) -> bool {
    let ExprKind::Chain(_, links) = &e.kind else { return true };
    is_sum(op) && links.last().is_some_and(|link| is_product_link(&link.kind))
}
