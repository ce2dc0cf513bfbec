//! Indices, the elements that selectors pick, and reading them.

use super::frame::{Cell, Frame};
use super::*;

impl<D: Domain> Walker<'_, D> {
    /// The slot of a variable and the flattened atoms that its selectors pick, in order.
    pub(super) fn select(&mut self, f: &Frame<D::V>, var: &ast::Var) -> Run<(usize, Vec<usize>)> {
        let name = &var.name.name;
        let Some(&slot) = f.names.get(name.as_str()) else {
            return self.fail(
                Code::NatMismatch,
                var.span,
                format!("`{name}` is a compile-time integer, not a word"),
                "it may appear in indices, shift amounts and nat arguments only",
            );
        };
        if f.nats.iter().any(|nat| *nat.name == **name) {
            return self.fail(
                Code::NatMismatch,
                var.span,
                format!("`{name}` is a loop index here, not a word"),
                "it hides the variable of that name; rename the index",
            );
        }
        let slots = &f.slots[slot];
        let mut size = slots.cells.len();
        let mut dims = slots.dims.iter();
        let mut chosen = vec![0usize];
        for selector in &var.selectors {
            let Some(&dim) = dims.next() else {
                let text = match slots.dims.len() {
                    0 => format!("`{name}` is one word; it cannot be indexed"),
                    n => format!("`{name}` has {n} dimension{}", if n == 1 { "" } else { "s" }),
                };
                let help = "the bits of a word are not reachable by []; use b16 for bit access";
                return self.fail(Code::NotIndexable, var.span, text, help);
            };
            size /= dim as usize;
            let members = self.members(f, selector, dim, name)?;
            if chosen.len() as u64 * members.len() as u64 * size as u64 > MAX_ATOMS {
                let text = format!("a selection of more than {MAX_ATOMS} atoms; this is the limit");
                return self.fail(Code::TooLarge, var.span, text, "");
            }
            let picked = &members;
            chosen = chosen
                .iter()
                .flat_map(|base| picked.iter().map(move |i| base + i * size))
                .collect();
        }
        let atoms = chosen.iter().flat_map(|base| *base..base + size).collect();
        Ok((slot, atoms))
    }

    fn members(
        &mut self,
        f: &Frame<D::V>,
        selector: &ast::Selector,
        dim: u32,
        name: &str,
    ) -> Run<Vec<usize>> {
        match selector {
            ast::Selector::Index(e) => Ok(vec![self.element(f, e, dim, name)?]),
            ast::Selector::List(list) => {
                list.iter().map(|e| self.element(f, e, dim, name)).collect()
            }
            ast::Selector::Range(a, b) => {
                let (a, b) = (self.element(f, a, dim, name)?, self.element(f, b, dim, name)?);
                Ok(if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() })
            }
        }
    }

    pub(super) fn element(
        &mut self,
        f: &Frame<D::V>,
        e: &ast::AExpr,
        dim: u32,
        name: &str,
    ) -> Run<usize> {
        let value = self.index(f, e)?;
        if value < 0 || value >= dim as i64 {
            return self.fail(
                Code::IndexOutOfRange,
                e.span(),
                format!("index {value} of `{name}`, whose dimension is {dim}"),
                &format!("indices go from 0 to {}", dim - 1),
            );
        }
        Ok(value as usize)
    }

    /// Evaluates an index expression.
    pub(super) fn index(&mut self, f: &Frame<D::V>, e: &ast::AExpr) -> Run<i64> {
        match e {
            ast::AExpr::Int(value, span) => self.small(*value, *span),
            ast::AExpr::Name(id) => match f.nat(&id.name) {
                Some(Some(value)) => Ok(value),
                Some(None) => self.fail(
                    Code::UseBeforeDefinition,
                    id.span,
                    format!("nat `{}` is read before it is defined", id.name),
                    "define it by a constant expression first",
                ),
                None => self.fail(
                    Code::NotConstant,
                    id.span,
                    format!("`{}` is not a compile-time integer", id.name),
                    "indices and amounts use loop indices, nat parameters and integers",
                ),
            },
            ast::AExpr::Bin(op, l, r) => {
                let (a, b) = (self.index(f, l)?, self.index(f, r)?);
                self.arith(*op, a, b, e.span())
            }
        }
    }

    fn small(&mut self, value: u64, span: Span) -> Run<i64> {
        match i64::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => self.fail(Code::TooLarge, span, "an index that is 2^63 or more", ""),
        }
    }

    fn arith(&mut self, op: ast::ABinOp, a: i64, b: i64, span: Span) -> Run<i64> {
        let value = match op {
            ast::ABinOp::Add => a.checked_add(b),
            ast::ABinOp::Sub => a.checked_sub(b),
            ast::ABinOp::Mul => a.checked_mul(b),
            ast::ABinOp::Div | ast::ABinOp::Mod if b == 0 => {
                return self.fail(Code::DivisionByZero, span, "a division by zero", "");
            }
            ast::ABinOp::Div => a.checked_div(b),
            ast::ABinOp::Mod => a.checked_rem_euclid(b),
        };
        match value {
            Some(value) => Ok(value),
            None => self.fail(Code::TooLarge, span, "index arithmetic beyond 64 bits", ""),
        }
    }

    /// Evaluates an expression as a compile-time integer, for a nat parameter or local.
    pub(super) fn nat(&mut self, f: &Frame<D::V>, e: &ast::Expr) -> Run<i64> {
        match &e.kind {
            ast::ExprKind::Int { value, ty: None } => self.small(*value, e.span),
            ast::ExprKind::Var(var) if var.selectors.is_empty() => {
                self.index(f, &ast::AExpr::Name(var.name.clone()))
            }
            ast::ExprKind::Chain(first, links) => {
                let mut value = self.nat(f, first)?;
                for link in links {
                    let ast::LinkKind::Bin(op, right) = &link.kind else {
                        return self.not_nat(link.span);
                    };
                    let op = match op {
                        ast::BinOp::Add => ast::ABinOp::Add,
                        ast::BinOp::Sub => ast::ABinOp::Sub,
                        ast::BinOp::Mul => ast::ABinOp::Mul,
                        ast::BinOp::Div => ast::ABinOp::Div,
                        ast::BinOp::Mod => ast::ABinOp::Mod,
                        _ => return self.not_nat(link.span),
                    };
                    let right = self.nat(f, right)?;
                    value = self.arith(op, value, right, link.span)?;
                }
                Ok(value)
            }
            _ => self.not_nat(e.span),
        }
    }

    fn not_nat<T>(&mut self, span: Span) -> Run<T> {
        let help = "use integers, loop indices, nat parameters and + - * / %";
        self.fail(Code::NatMismatch, span, "a compile-time integer is wanted here", help)
    }

    /// Reads the atoms of a variable.
    pub(super) fn read(&mut self, f: &Frame<D::V>, var: &ast::Var) -> Run<Vec<Typed<D::V>>> {
        let (slot, atoms) = self.select(f, var)?;
        let slot = &f.slots[slot];
        let mut out = Vec::with_capacity(atoms.len());
        for at in atoms {
            match &slot.cells[at] {
                Cell::Full(value) => out.push((slot.ty.clone(), value.clone())),
                Cell::Poison => return Err(Stop::Error),
                Cell::Empty => {
                    return self.fail(
                        Code::UseBeforeDefinition,
                        var.span,
                        format!("`{}` is read before it is defined", slot.element(at)),
                        "equations run in the order in which they are written; move it down",
                    );
                }
            }
        }
        self.tick(out.len(), var.span)?;
        Ok(out)
    }
}
