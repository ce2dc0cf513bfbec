//! Calls of built-in functions.

use super::frame::Frame;
use super::*;

impl<D: Domain> Walker<'_, D> {
    /// A call of a built-in function.
    pub(super) fn builtin(
        &mut self,
        f: &mut Frame<D::V>,
        callee: &ast::Ident,
        instance: Option<&ast::AExpr>,
        args: &[ast::Expr],
        want: Option<&[Atom]>,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let name = &callee.name;
        let Some(builtin) = Builtin::of(name) else {
            let text = format!("no node called `{name}` is declared before");
            return self.fail(Code::UndefinedNode, callee.span, text, "move its declaration up");
        };
        if let Some(e) = instance {
            let text = format!("`{name}` is not an array");
            return self.fail(Code::UnwantedInstance, e.span(), text, "remove the index in <>");
        }
        if f.instance.column && !matches!(builtin, Builtin::Refresh | Builtin::Wrap) {
            return Err(Stop::NotColumnwise);
        }
        match (&builtin, args) {
            (Builtin::Refresh, [arg]) => self.expr(f, arg, want),
            (Builtin::Wrap, [arg]) => {
                self.domain.wrap(true);
                let result = self.expr(f, arg, want);
                self.domain.wrap(false);
                result
            }
            (Builtin::Resize(word), [arg]) => self.resize(f, word, arg, span),
            (Builtin::Split, [arg, amount]) => self.split(f, arg, amount, span),
            (Builtin::Less | Builtin::MulHigh | Builtin::Clmul | Builtin::ClmulHigh, [l, r]) => {
                let (op, sizes): (Op, &[u8]) = match builtin {
                    Builtin::Less => (Op::Less, &[8, 16, 32, 64]),
                    Builtin::Clmul => (Op::Clmul, &[64]),
                    Builtin::ClmulHigh => (Op::ClmulHigh, &[64]),
                    _ => (Op::MulHigh, &[8, 16, 32, 52, 64]),
                };
                let (left, right) = self.operands(f, l, r, want)?;
                self.pairs(f, &op, Some(sizes), left, right, span, r.span)
            }
            _ => {
                let (count, help) = builtin.use_of();
                let text = format!("`{name}` takes {count}, not {}", args.len());
                self.fail(Code::LengthMismatch, span, text, help)
            }
        }
    }

    /// `u64(x)`: each word with another number of bits.
    fn resize(
        &mut self,
        f: &mut Frame<D::V>,
        word: &ast::TypeWord,
        arg: &ast::Expr,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let ty = ast::Type { word: word.clone(), dims: Vec::new(), span };
        let VarType::Words { atom, .. } = self.written_type(&ty)? else {
            unreachable!("a size is one of words");
        };
        let ty = f.instance.apply(&atom);
        if is_nat(f, arg) {
            return self.word_of_nat(f, ty, arg, span);
        }
        let atoms = self.expr(f, arg, None)?;
        self.tick(atoms.len(), span)?;
        let mut out = Vec::with_capacity(atoms.len());
        for (from, value) in atoms {
            let value = match (from.bits(), ty.bits()) {
                (Some(from), Some(to)) if from != to => {
                    self.op(&Op::Resize(from), &ty, &[&value], span)?
                }
                _ => value,
            };
            let dir = if matches!(ty.dir, Dir::Var(_)) { from.dir } else { ty.dir.clone() };
            out.push((Atom { dir, size: ty.size.clone() }, value));
        }
        Ok(out)
    }

    /// `u32(i)`: a compile-time integer as a word.
    fn word_of_nat(
        &mut self,
        f: &Frame<D::V>,
        ty: Atom,
        arg: &ast::Expr,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let value = self.nat(f, arg)?;
        match u64::try_from(value) {
            Ok(value) => self.literal(f, value, &[ty], span),
            Err(_) => {
                let text = format!("{value} is negative, and words are not");
                self.fail(Code::LiteralTooLarge, arg.span, text, "the smallest value is 0")
            }
        }
    }

    /// `split(x, k)`: all quotients by 2^k, then all remainders.
    fn split(
        &mut self,
        f: &mut Frame<D::V>,
        arg: &ast::Expr,
        amount: &ast::Expr,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let atoms = self.expr(f, arg, None)?;
        let k = self.nat(f, amount)?;
        self.tick(2 * atoms.len(), span)?;
        let (mut quotients, mut remainders) = (Vec::new(), Vec::new());
        for (ty, value) in atoms {
            let Some(bits) = ty.bits() else {
                quotients.push((ty.clone(), value.clone()));
                remainders.push((ty, value));
                continue;
            };
            let most = (bits as i64 - 1).min(64);
            if k < 1 || k > most {
                let text = format!("a split of {bits} bits at {k}");
                let help = format!("words of {bits} bits are split at 1 to {most}");
                return self.fail(Code::BadShift, amount.span, text, &help);
            }
            self.domain.at(span);
            let (q, r) =
                self.domain.split(&ty, &value, k as u8).map_err(|no| self.refuse(no, span))?;
            quotients.push((ty.clone(), q));
            remainders.push((ty, r));
        }
        quotients.extend(remainders);
        Ok(quotients)
    }
}

/// Whether an expression is one of compile-time integers: of numbers and at least one name.
fn is_nat<V>(f: &Frame<V>, e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Var(var) => var.selectors.is_empty() && f.nat(&var.name.name).is_some(),
        ast::ExprKind::Chain(first, links) => {
            let right = |link: &ast::Link| matches!(&link.kind, ast::LinkKind::Bin(_, right) if is_nat(f, right));
            is_nat(f, first) || links.iter().any(right)
        }
        _ => false,
    }
}

/// The functions that need no declaration. A node of the same name hides one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// `refresh(x)` is x.
    Refresh,
    /// `wrap(e)`: the arithmetic in e is meant modulo 2^m.
    Wrap,
    /// `split(x, k)`: quotient and remainder by 2^k.
    Split,
    /// `less(a, b)`: 1 if a is below b, else 0.
    Less,
    /// `mulhigh(a, b)`: the upper half of the product.
    MulHigh,
    /// `clmul(a, b)`: the lower half of the carry-less product.
    Clmul,
    /// `clmulhigh(a, b)`: the upper half of the carry-less product.
    ClmulHigh,
    /// `u64(x)`: the same number with more bits, or its low bits.
    Resize(ast::TypeWord),
}

impl Builtin {
    /// The functions with a name of their own, each with its effect in one line.
    pub const NAMED: [(&'static str, Builtin, &'static str); 7] = [
        ("refresh", Builtin::Refresh, "its argument"),
        ("wrap", Builtin::Wrap, "its argument, whose arithmetic is meant modulo 2^m"),
        ("split", Builtin::Split, "quotient and remainder of a word by 2^k"),
        ("less", Builtin::Less, "1 if the first word is below the second one, else 0"),
        ("mulhigh", Builtin::MulHigh, "the upper half of a product"),
        ("clmul", Builtin::Clmul, "the lower half of a carry-less product"),
        ("clmulhigh", Builtin::ClmulHigh, "the upper half of a carry-less product"),
    ];

    pub fn of(name: &str) -> Option<Builtin> {
        match Builtin::NAMED.into_iter().find(|(known, ..)| *known == name) {
            Some((_, builtin, _)) => Some(builtin),
            None => Some(Builtin::Resize(size_word(name)?)),
        }
    }

    /// How many arguments it takes, and an example.
    fn use_of(&self) -> (&'static str, &'static str) {
        match self {
            Builtin::Refresh => ("one argument", "refresh each value by itself"),
            Builtin::Wrap => ("one argument", "write `wrap(a + b)`"),
            Builtin::Split => ("a word and an amount", "write `(q, r) = split(x, 51)`"),
            Builtin::Less => ("two arguments", "write `less(a, b)`"),
            Builtin::MulHigh => ("two arguments", "write `mulhigh(a, b)`"),
            Builtin::Clmul => ("two arguments", "write `clmul(a, b)`"),
            Builtin::ClmulHigh => ("two arguments", "write `clmulhigh(a, b)`"),
            Builtin::Resize(_) => (
                "one argument",
                "write `u64(x)` for one word or list, or `u64(i)` for a loop index",
            ),
        }
    }
}
