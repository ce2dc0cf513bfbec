//! Expressions, and operators that work on lists atom by atom.

use super::frame::Frame;
use super::literals::needs_context;
use super::*;

impl<D: Domain> Walker<'_, D> {
    pub(super) fn expr(
        &mut self,
        f: &mut Frame<D::V>,
        e: &ast::Expr,
        want: Option<&[Atom]>,
    ) -> Run<Vec<Typed<D::V>>> {
        self.deeper(e.span, |w| w.expr_inner(f, e, want))
    }

    fn expr_inner(
        &mut self,
        f: &mut Frame<D::V>,
        e: &ast::Expr,
        want: Option<&[Atom]>,
    ) -> Run<Vec<Typed<D::V>>> {
        match &e.kind {
            ast::ExprKind::Int { value, ty: None } => {
                self.literal(f, *value, want.unwrap_or(&[]), e.span)
            }
            ast::ExprKind::Int { value, ty: Some(ty) } => self.typed_literal(f, *value, ty, e.span),
            ast::ExprKind::Var(var) => self.read(f, var),
            ast::ExprKind::Tuple(list) => {
                let list: Vec<&ast::Expr> = list.iter().collect();
                self.sequence(f, &list, want, e.span)
            }
            ast::ExprKind::Shuffle { value, pattern, .. } => {
                let atoms = self.read(f, value)?;
                self.shuffle(f, atoms, pattern, e.span)
            }
            ast::ExprKind::Bitmask(value, i) => {
                let atoms = self.expr(f, value, None)?;
                let i = self.index(f, i)?;
                self.bitmask(f, atoms, i, e.span)
            }
            ast::ExprKind::Pack { high, low, ty } => self.pack(f, high, low, ty.as_ref(), e.span),
            ast::ExprKind::Call { callee, instance, args } => {
                self.call(f, callee, instance.as_ref(), args, want, e.span)
            }
            ast::ExprKind::Not(inner) => {
                let atoms = self.expr(f, inner, want)?;
                self.tick(atoms.len(), e.span)?;
                let (types, values): (Vec<Atom>, Vec<D::V>) = atoms.into_iter().unzip();
                self.list(&vec![Op::Not; types.len()], types, &[&values], e.span)
            }
            ast::ExprKind::Chain(first, links) => self.chain(f, first, links, want),
        }
    }

    /// Operators from left to right. Bare literals take the type of the other operand: where the
    /// first ones are bare, that is the first operand that is not.
    fn chain(
        &mut self,
        f: &mut Frame<D::V>,
        first: &ast::Expr,
        links: &[ast::Link],
        want: Option<&[Atom]>,
    ) -> Run<Vec<Typed<D::V>>> {
        let bare = needs_context(first);
        let typed = links.iter().enumerate().find_map(|(at, link)| match &link.kind {
            ast::LinkKind::Bin(op, right) if bare && !needs_context(right) => Some((at, op, right)),
            _ => None,
        });
        let (mut left, rest) = match typed {
            Some((at, op, r)) => {
                let right = self.expr(f, r, want)?;
                let types: Vec<Atom> = right.iter().map(|(ty, _)| ty.clone()).collect();
                let left = self.chain(f, first, &links[..at], Some(&types))?;
                (self.binary(f, *op, left, right, links[at].span, r.span)?, &links[at + 1..])
            }
            None => (self.expr(f, first, want)?, links),
        };
        let all_bare = bare && typed.is_none();
        for link in rest {
            left = match &link.kind {
                ast::LinkKind::Bin(op, r) => {
                    let types: Vec<Atom> = left.iter().map(|(ty, _)| ty.clone()).collect();
                    let takes = needs_context(r) && !all_bare;
                    let right = self.expr(f, r, if takes { Some(&types) } else { want })?;
                    self.binary(f, *op, left, right, link.span, r.span)?
                }
                ast::LinkKind::Shift(op, amounts) => {
                    self.domain.shift(*op, &left, amounts, link.span);
                    match &amounts[..] {
                        [amount] => {
                            let k = self.index(f, amount)?;
                            if k < 0 {
                                return self.backwards(k, amount.span());
                            }
                            self.shift(f, *op, left, k as u64, link.span)?
                        }
                        _ => self.shifts(f, *op, left, amounts, link.span)?,
                    }
                }
            };
        }
        Ok(left)
    }

    /// Two operands; bare literals take the type of the other one.
    #[allow(clippy::type_complexity)] // Twice the same.
    pub(super) fn operands(
        &mut self,
        f: &mut Frame<D::V>,
        l: &ast::Expr,
        r: &ast::Expr,
        want: Option<&[Atom]>,
    ) -> Run<(Vec<Typed<D::V>>, Vec<Typed<D::V>>)> {
        Ok(match (needs_context(l), needs_context(r)) {
            (true, false) => {
                let right = self.expr(f, r, want)?;
                let types: Vec<Atom> = right.iter().map(|(ty, _)| ty.clone()).collect();
                (self.expr(f, l, Some(&types))?, right)
            }
            (false, true) => {
                let left = self.expr(f, l, want)?;
                let types: Vec<Atom> = left.iter().map(|(ty, _)| ty.clone()).collect();
                let right = self.expr(f, r, Some(&types))?;
                (left, right)
            }
            _ => (self.expr(f, l, want)?, self.expr(f, r, want)?),
        })
    }

    pub(super) fn binary(
        &mut self,
        f: &Frame<D::V>,
        op: ast::BinOp,
        left: Vec<Typed<D::V>>,
        right: Vec<Typed<D::V>>,
        span: Span,
        right_span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let op = match op {
            ast::BinOp::And => Op::And,
            ast::BinOp::Or => Op::Or,
            ast::BinOp::Xor => Op::Xor,
            ast::BinOp::Add => Op::Add,
            ast::BinOp::Sub => Op::Sub,
            ast::BinOp::Mul => Op::Mul,
            ast::BinOp::Div | ast::BinOp::Mod => {
                let text = format!("`{}` on words", op.symbol());
                let help =
                    "division is not constant-time; it exists for compile-time integers only";
                return self.fail(Code::DivisionOnWords, span, text, help);
            }
        };
        let sizes: Option<&[u8]> = match op {
            Op::Mul => Some(&[8, 16, 32, 52, 64, 128]),
            Op::Add | Op::Sub => Some(&[8, 16, 32, 64, 128]),
            _ => None,
        };
        self.pairs(f, &op, sizes, left, right, span, right_span)
    }

    /// An operator on lists of equal length, atom by atom, on words of the given sizes.
    #[allow(clippy::too_many_arguments)] // Two operands, each with its place.
    pub(super) fn pairs(
        &mut self,
        f: &Frame<D::V>,
        op: &Op,
        sizes: Option<&[u8]>,
        left: Vec<Typed<D::V>>,
        right: Vec<Typed<D::V>>,
        span: Span,
        right_span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if left.len() != right.len() {
            let text = format!(
                "the left operand has {}, the right one {}",
                atoms(left.len()),
                atoms(right.len())
            );
            let help = "a literal or word is not repeated over a list; write a tuple or a forall";
            return self.fail(Code::LengthMismatch, right_span, text, help);
        }
        let types: Vec<Atom> = left.iter().map(|(ty, _)| ty.clone()).collect();
        self.check_types(&types, &right, "the left operand", "the right operand", right_span)?;
        if !op.is_bitwise() && f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        self.tick(left.len(), span)?;
        let (mut merged, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
        for ((lt, l), (rt, r)) in left.into_iter().zip(right) {
            let ty = merge(lt, &rt);
            if let (Some(sizes), Some(bits)) = (sizes, ty.bits())
                && !sizes.contains(&bits)
            {
                let text = format!("arithmetic on {ty}");
                let help = match op {
                    Op::Mul => "products need words of 8, 16, 32, 52, 64 or 128 bits",
                    Op::MulHigh => "this needs words of 8, 16, 32, 52 or 64 bits",
                    Op::Less => "this needs words of 8, 16, 32 or 64 bits",
                    Op::Clmul | Op::ClmulHigh => "carry-less products need words of 64 bits",
                    _ => "arithmetic needs words of 8, 16, 32, 64 or 128 bits",
                };
                return self.fail(Code::BadArithmetic, span, text, help);
            }
            merged.push(ty);
            a.push(l);
            b.push(r);
        }
        self.list(&vec![op.clone(); merged.len()], merged, &[&a, &b], span)
    }
}

/// The type of an operation on two compatible atoms: every part that either of them knows.
fn merge(a: Atom, b: &Atom) -> Atom {
    let size = if matches!(a.size, Size::Var(_)) { b.size.clone() } else { a.size };
    let dir = if matches!(a.dir, Dir::Var(_)) { b.dir.clone() } else { a.dir };
    Atom { dir, size }
}
