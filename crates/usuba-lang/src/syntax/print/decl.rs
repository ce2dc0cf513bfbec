//! The text of declarations: signatures, contracts, types, tables.

use super::numbers::Number;
use super::*;

impl Printer<'_> {
    pub(super) fn decl(&mut self, decl: &Decl) {
        if let DeclKind::Value(term) = &decl.kind {
            self.put("value ");
            self.leaf(decl.name.span.start, &decl.name.name);
            self.put(" (");
            self.params(&decl.params);
            self.put(") =");
            self.break_at(" ", LAST);
            return self.term(term, 0, false);
        }
        if let DeclKind::Type(named) = &decl.kind {
            self.put("type ");
            self.leaf(decl.name.span.start, &decl.name.name);
            self.put(" =");
            self.break_at(" ", LAST);
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
        self.deeper(1, |p| p.params(&decl.params));
        self.put(")");
        self.may_break(" ");
        self.put("returns (");
        self.deeper(1, |p| p.params(&decl.results));
        self.put(")");
        for clause in &decl.contract {
            self.clause(clause);
        }
        if let Some(links) = &decl.links {
            self.begin(links.span.start);
            self.put("link ");
            for (i, name) in links.names.iter().enumerate() {
                if i > 0 {
                    self.put(",");
                    self.may_break(" ");
                }
                self.leaf(name.span.start, &name.name);
            }
        }
        let end = decl.span.end.saturating_sub(1);
        match &decl.kind {
            DeclKind::Node(body) => self.body(body),
            DeclKind::Table(list) | DeclKind::Perm(list) => {
                self.newline();
                self.indent += 2;
                self.begin(list.span.start);
                self.int_list(list, 0);
                self.newline();
                self.indent -= 2;
            }
            DeclKind::Value(_) | DeclKind::Type(_) => {}
            DeclKind::NodeArray(bodies) => {
                self.put(" [");
                self.alternatives(bodies, end, |body| body.span.start, Self::alternative);
            }
            DeclKind::TableArray(lists) | DeclKind::PermArray(lists) => {
                self.put(" [");
                // The columns of all lists are below each other.
                let width = lists.iter().map(|list| self.width(list)).max().unwrap_or(0);
                self.alternatives(
                    lists,
                    end,
                    |list| list.span.start,
                    |p, list| p.int_list(list, width),
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
                self.deeper(1, |p| p.may_break(gap));
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
        if let Some((order, span)) = group.bytes {
            self.put(" ");
            self.leaf(span.start, order.word());
        }
        self.ranges(&group.ranges);
    }

    fn ranges(&mut self, ranges: &[Range]) {
        for (at, range) in ranges.iter().enumerate() {
            if at == 0 {
                self.put(" in ");
            } else {
                self.put(",");
                self.deeper(1, |p| p.may_break(" "));
            }
            self.solid = true;
            self.put("[");
            self.term(&range.low, 0, false);
            self.put(", ");
            self.term(&range.high, 0, false);
            self.put(if range.closed { "]" } else { ")" });
            self.solid = false;
        }
    }

    // Contracts.

    fn clause(&mut self, clause: &Clause) {
        self.begin(clause.span.start);
        self.put(clause.role.word());
        self.put(" ");
        self.term(&clause.left, 0, false);
        self.may_break(" ");
        self.put(clause.relation.symbol());
        self.put(" ");
        self.term(&clause.right, 0, false);
        if let Some(modulus) = &clause.modulus {
            self.may_break(" ");
            self.put("mod ");
            self.term(modulus, 0, false);
        }
    }

    /// A term whose operator must bind tighter than `level`; without blanks in an exponent.
    fn term(&mut self, term: &Term, level: u8, exponent: bool) {
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
                        self.deeper(NEST, |p| p.may_break(" "));
                    }
                    self.deeper(NEST, |p| p.term(arg, 0, exponent));
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
                self.deeper(NEST, |p| {
                    p.may_break(" ");
                    p.term(inner, 0, exponent);
                });
                self.put(")");
            }
            TermKind::Bin(op, l, r) => {
                let own = op.level();
                let (open, close) = if own <= level { ("(", ")") } else { ("", "") };
                let power = *op == TermOp::Power;
                self.put(open);
                self.deeper(open.len() * NEST, |p| {
                    p.term(l, if power { own } else { own - 1 }, exponent);
                    if !power && !exponent {
                        p.deeper(own.into(), |p| p.may_break(" "));
                    }
                    p.put(op.symbol());
                    p.put(if power || exponent { "" } else { " " });
                    p.term(r, if power { own - 1 } else { own }, power || exponent);
                });
                self.put(close);
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

    /// A table or permutation. Numbers have at least the given width.
    fn int_list(&mut self, list: &IntList, least: usize) {
        let close = list.span.end.saturating_sub(1);
        let numbers = self.table(list);
        self.put("{ ");
        self.numbers(&numbers, 1, least);
        if self.next_comment(close).is_some() {
            self.comments_before(close);
            self.newline();
            self.put("}");
        } else {
            self.put(" }");
        }
    }

    fn width(&self, list: &IntList) -> usize {
        self.table(list).iter().map(|number| number.text.len()).max().unwrap_or(0)
    }

    fn table(&self, list: &IntList) -> Vec<Number> {
        self.spelled(list.span, list.values.iter().map(u64::to_string))
    }
}
