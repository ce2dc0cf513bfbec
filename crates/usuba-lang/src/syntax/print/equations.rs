//! The text of bodies: variables, equations in columns, loops, and left sides of equations.

use super::*;

/// Equations below each other share the column of their `=` if their left sides differ by no
/// more characters than this.
const ALIGN: usize = 2;

impl Printer<'_> {
    pub(super) fn body(&mut self, body: &Body) {
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
                self.flush();
                self.indent = indent + 5;
            }
            self.newline();
            self.indent = indent;
            if let (Some(source), Some(last)) = (&self.source, body.vars.last()) {
                let order = last.bytes.map_or(last.ty.span, |(_, span)| span);
                let end = last.ranges.last().map_or(order, |range| range.span).end;
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

    /// A body of a `node[]`, on one line if it is one equation on one line.
    pub(super) fn alternative(&mut self, body: &Body) {
        if let ([], [Stmt::Equation(equation)]) = (&body.vars[..], &body.stmts[..])
            && self.on_one_line(body.span)
        {
            self.put("let ");
            self.equation(equation, 0);
            self.put(" tel");
            if self.fits(1) {
                return;
            }
            self.pieces.clear();
        }
        self.body(body);
    }

    /// Whether the text has this on one line.
    fn on_one_line(&self, span: Span) -> bool {
        let text = self.source.as_ref().map(|s| &s.text[span.start as usize..span.end as usize]);
        text.is_some_and(|text| !text.contains('\n'))
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
        let close = self.closing_brace(l.span.end);
        if let [Stmt::Equation(equation)] = &l.body[..]
            && self.on_one_line(Span { end: close, ..l.span })
        {
            self.head(l);
            self.put(" ");
            self.equation(equation, 0);
            self.put(" }");
            if self.fits(0) {
                return;
            }
            self.pieces.clear();
        }
        self.head(l);
        self.block(&l.body, close);
        self.put("}");
    }

    fn head(&mut self, l: &Loop) {
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
                    Selector::List(all) => self.list_length(all),
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
        self.break_at(" ", LAST);
        self.expr(&equation.value);
    }

    pub(super) fn var(&mut self, var: &Var) {
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
                Selector::List(all) => self.deeper(NEST, |p| p.index_list(all)),
            }
            self.put("]");
        }
    }
}

/// The text before the `=` of an equation.
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
