//! Literals, which take their type from their context.

use super::frame::Frame;
use super::*;

impl<D: Domain> Walker<'_, D> {
    /// The members of a tuple or argument list. Bare literals on bits share the bits that the
    /// others leave.
    pub(super) fn sequence(
        &mut self,
        f: &mut Frame<D::V>,
        list: &[&ast::Expr],
        want: Option<&[Atom]>,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let mut flat: Vec<&ast::Expr> = Vec::new();
        let mut stack: Vec<&ast::Expr> = list.iter().rev().copied().collect();
        while let Some(e) = stack.pop() {
            match &e.kind {
                ast::ExprKind::Tuple(inner) => stack.extend(inner.iter().rev()),
                _ => flat.push(e),
            }
        }
        let mut parts: Vec<Option<Vec<Typed<D::V>>>> = Vec::with_capacity(flat.len());
        for e in &flat {
            parts.push(match needs_context(e) {
                true => None,
                false => Some(self.expr(f, e, None)?),
            });
        }
        let known: usize = parts.iter().flatten().map(Vec::len).sum();
        let open = parts.iter().filter(|p| p.is_none()).count();
        if open == 0 {
            return Ok(parts.into_iter().flatten().flatten().collect());
        }
        let Some(want) = want else {
            let at = parts.iter().position(Option::is_none).expect("open > 0");
            let help = "write its type, as in 5:u8";
            return self.fail(
                Code::LiteralUntyped,
                flat[at].span,
                "a literal of unknown type",
                help,
            );
        };
        let rest = want.len().saturating_sub(known);
        let all_bits = want.iter().all(|ty| ty.size == Size::Bits(1));
        let share = match all_bits {
            true if rest == 0 || rest % open != 0 => {
                let text = format!("{open} literals cannot share {rest} bits equally");
                let help = "write the type of each literal, as in 6:b5";
                return self.fail(Code::LiteralSplit, span, text, help);
            }
            true => rest / open,
            false => 1,
        };
        let mut out: Vec<Typed<D::V>> = Vec::with_capacity(want.len());
        for (e, part) in flat.iter().zip(parts) {
            match part {
                Some(part) => out.extend(part),
                None => {
                    let from = out.len().min(want.len());
                    let to = (from + share).min(want.len());
                    let part = self.expr(f, e, Some(&want[from..to]))?;
                    out.extend(part);
                }
            }
        }
        Ok(out)
    }

    /// A literal in a place where the atoms `want` are expected.
    pub(super) fn literal(
        &mut self,
        f: &Frame<D::V>,
        value: u64,
        want: &[Atom],
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        let Some(head) = want.first() else {
            let help = "write its type, as in 5:u8, or use it where a type is expected";
            return self.fail(Code::LiteralUntyped, span, "a literal of unknown type", help);
        };
        let Some(bits) = head.bits() else {
            let text = "a literal cannot take a word size that is still open";
            let help = "the node is polymorphic: pass the value as a parameter, or fix the size";
            return self.fail(Code::LiteralUntyped, span, text, help);
        };
        let count = match bits {
            1 => want.iter().take_while(|ty| ty.size == head.size).count(),
            _ => 1,
        };
        self.constant(value, &want[..count], span)
    }

    /// The atoms `types` as the bits of one literal: one word, or a string of bits.
    fn constant(&mut self, value: u64, types: &[Atom], span: Span) -> Run<Vec<Typed<D::V>>> {
        let bits = types[0].bits().expect("callers know the size");
        let total = if bits == 1 { types.len() } else { bits as usize };
        if total < 64 && value >> total != 0 {
            return self.fail(
                Code::LiteralTooLarge,
                span,
                format!("{value} does not fit {total} bit{}", if total == 1 { "" } else { "s" }),
                &format!("the largest value is {}", (1u64 << total) - 1),
            );
        }
        self.tick(types.len(), span)?;
        let mut out = Vec::with_capacity(types.len());
        for (at, ty) in types.iter().enumerate() {
            let word = match bits {
                1 if total - 1 - at >= 64 => 0,
                1 => value >> (total - 1 - at) & 1,
                _ => value,
            };
            out.push((ty.clone(), self.op(&Op::Const(word), ty, &[], span)?));
        }
        Ok(out)
    }

    pub(super) fn typed_literal(
        &mut self,
        f: &Frame<D::V>,
        value: u64,
        ty: &ast::Type,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        let ty = self.written_type(ty)?;
        let VarType::Words { atom, .. } = &ty else {
            return self.fail(Code::NatMismatch, span, "a literal of type nat", "write it bare");
        };
        let atom = f.instance.apply(atom);
        let types = vec![atom.clone(); ty.atoms()];
        match atom.bits() {
            None => {
                let text = "a literal cannot take a word size that is still open";
                self.fail(Code::LiteralUntyped, span, text, "write a number of bits")
            }
            Some(bits) if bits > 1 && types.len() != 1 => self.fail(
                Code::LengthMismatch,
                span,
                format!("one literal for {} words", types.len()),
                "write one literal for each word, in a tuple",
            ),
            Some(_) => self.constant(value, &types, span),
        }
    }

    pub(super) fn written_type(&mut self, ty: &ast::Type) -> Run<VarType> {
        crate::typed::resolve::resolve_type(ty).map_err(|diag| {
            self.report(*diag);
            Stop::Error
        })
    }
}

/// Whether the type of an expression comes from its context: it is made of bare literals.
pub(super) fn needs_context(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Int { ty, .. } => ty.is_none(),
        ast::ExprKind::Tuple(list) => list.iter().any(needs_context),
        ast::ExprKind::Not(e) => needs_context(e),
        ast::ExprKind::Chain(first, links) => {
            let fixes = |link: &ast::Link| matches!(&link.kind, ast::LinkKind::Bin(_, right) if !needs_context(right));
            needs_context(first) && !links.iter().any(fixes)
        }
        _ => false,
    }
}
