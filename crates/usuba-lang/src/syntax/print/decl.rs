//! The text of declarations: signatures, contracts, types, tables.

use super::*;

/// Numbers in a row of a table that has no rows in the text.
const ROW: usize = 16;

impl Printer<'_> {
    pub(super) fn decl(&mut self, decl: &Decl) {
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

    pub(super) fn group(&mut self, group: &ParamGroup, gap: &'static str, colon: &str) {
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

    pub(super) fn ty(&mut self, ty: &Type) {
        self.leaf(ty.span.start, &ty.word.to_string());
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
    pub(super) fn numbers(&self, values: &[u64], start: u32, end: u32) -> Vec<(u32, String)> {
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
}
