//! Functions of the language that need no declaration.

use usuba_lang::diag::Span;
use usuba_lang::syntax::ast::{Expr, Type};
use usuba_lang::syntax::size_word;
use usuba_replay::trace::{Id, Op};

use super::scope::Scope;
use super::{Evaluator, Want};
use crate::Run;

impl<'p> Evaluator<'p> {
    /// The results of a function of the language.
    pub(super) fn builtin(
        &mut self,
        scope: &Scope<'p>,
        name: &str,
        args: &[Expr],
        want: &Want,
    ) -> Run<Vec<Id>> {
        match (name, args) {
            ("refresh" | "wrap", [arg]) => self.expression(scope, arg, want),
            ("split", [arg, amount]) => self.split(scope, arg, amount),
            ("less", [a, b]) => self.two(scope, Op::Less, a, b, want),
            ("mulhigh", [a, b]) => self.two(scope, Op::MulHigh, a, b, want),
            ("clmul", [a, b]) => self.two(scope, Op::Clmul, a, b, want),
            ("clmulhigh", [a, b]) => self.two(scope, Op::ClmulHigh, a, b, want),
            (_, [arg]) => self.resize(scope, name, arg),
            _ => Err(format!("no function `{name}` of {} arguments", args.len())),
        }
    }

    fn two(&mut self, scope: &Scope<'p>, op: Op, a: &Expr, b: &Expr, want: &Want) -> Run<Vec<Id>> {
        let (left, right) = self.operands(scope, a, b, want)?;
        self.each(op, &left, &right)
    }

    /// `u64(x)`: each word with another size, or a compile-time integer as a word.
    fn resize(&mut self, scope: &Scope<'p>, name: &str, arg: &Expr) -> Run<Vec<Id>> {
        let word = size_word(name).ok_or_else(|| format!("`{name}` is not declared"))?;
        let ty = Type { word, dims: Vec::new(), span: Span::default() };
        let (bits, _) = self.written(scope, &ty)?;
        if scope.names_integer(arg) {
            let value = scope.integer_of(arg)?;
            let value = u64::try_from(value).map_err(|_| format!("{value} as a word"))?;
            return Ok(vec![self.number(value, bits)?]);
        }
        let words = self.expression(scope, arg, &[])?;
        Ok(words.into_iter().map(|word| self.resized(word, bits)).collect())
    }

    /// `split(x, k)`: all quotients by 2^k, then all remainders.
    fn split(&mut self, scope: &Scope<'p>, arg: &Expr, amount: &Expr) -> Run<Vec<Id>> {
        let words = self.expression(scope, arg, &[])?;
        let by = scope.integer_of(amount)?;
        let (mut quotients, mut remainders) = (Vec::new(), Vec::new());
        for word in words {
            let bits = self.writer.bits(word);
            let inside = u64::try_from(by).ok().filter(|by| (1..u64::from(bits)).contains(by));
            let by = inside.ok_or_else(|| format!("a split of {bits} bits at {by}"))?;
            quotients.push(self.writer.op(Op::Shr, bits, by, &[word]));
            let low = self.writer.number(bits, (1 << by) - 1);
            remainders.push(self.pair(Op::And, word, low)?);
        }
        quotients.extend(remainders);
        Ok(quotients)
    }
}
