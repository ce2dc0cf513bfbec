//! Expressions, and the types that literals take from their places.

use usuba_lang::syntax::ast::{BinOp, Expr, ExprKind, Link, LinkKind, Type};
use usuba_replay::trace::{Id, Op};

use super::scope::Scope;
use super::{Evaluator, Want};
use crate::Run;

/// Whether literals alone make an expression, so that its place says its type.
fn is_bare(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int { ty, .. } => ty.is_none(),
        ExprKind::Tuple(list) => list.iter().any(is_bare),
        ExprKind::Not(inner) => is_bare(inner),
        ExprKind::Chain(first, links) => is_bare(first) && links.iter().all(is_bare_link),
        _ => false,
    }
}

fn is_bare_link(link: &Link) -> bool {
    match &link.kind {
        LinkKind::Bin(_, right) => is_bare(right),
        LinkKind::Shift(..) => true,
    }
}

impl<'p> Evaluator<'p> {
    /// The words of an expression in a place that expects words of some sizes.
    pub(super) fn expression(&mut self, scope: &Scope<'p>, e: &Expr, want: &Want) -> Run<Vec<Id>> {
        let words = self.nested(|this| match &e.kind {
            ExprKind::Int { value, ty: None } => this.literal(*value, want),
            ExprKind::Int { value, ty: Some(ty) } => this.typed_literal(scope, *value, ty),
            ExprKind::Var(var) => scope.read(var),
            ExprKind::Tuple(list) => this.tuple(scope, list, want),
            ExprKind::Shuffle { value, pattern, .. } => {
                let words = scope.read(value)?;
                words.into_iter().map(|word| this.shuffle(word, pattern)).collect()
            }
            ExprKind::Bitmask(value, bit) => {
                let (words, bit) = (this.expression(scope, value, &[])?, scope.index(bit)?);
                words.into_iter().map(|word| this.bitmask(word, bit)).collect()
            }
            ExprKind::Pack { high, low, ty } => this.pack(scope, high, low, ty.as_ref()),
            ExprKind::Call { callee, instance, args } => {
                this.call(scope, &callee.name, instance.as_ref(), args, want)
            }
            ExprKind::Not(inner) => {
                let words = this.expression(scope, inner, want)?;
                Ok(words.into_iter().map(|word| this.complement(word)).collect())
            }
            ExprKind::Chain(first, links) => this.chain(scope, first, links, want),
        })?;
        self.count(words.len())?;
        Ok(words)
    }

    fn complement(&mut self, word: Id) -> Id {
        self.writer.op(Op::Not, self.writer.bits(word), 0, &[word])
    }

    /// Operators from left to right.
    ///
    /// The first operand that is not bare is the *anchor*: bare ones before it take its type. After
    /// it, a bare one takes the type of the operand left of it.
    fn chain(
        &mut self,
        scope: &Scope<'p>,
        first: &Expr,
        links: &[Link],
        want: &Want,
    ) -> Run<Vec<Id>> {
        let anchor = match is_bare(first) {
            false => None,
            true => links.iter().position(|link| !is_bare_link(link)),
        };
        let mut anchored = None;
        let mut early = want.to_vec();
        if let Some(at) = anchor
            && let LinkKind::Bin(_, right) = &links[at].kind
        {
            let words = self.expression(scope, right, want)?;
            early = self.sizes(&words);
            anchored = Some(words);
        }
        let is_open = is_bare(first) && anchor.is_none();
        let mut left = self.expression(scope, first, &early)?;
        for (at, link) in links.iter().enumerate() {
            left = match &link.kind {
                LinkKind::Shift(op, amounts) => self.shift(scope, *op, left, amounts)?,
                LinkKind::Bin(op, right) => {
                    let right = match anchored.take() {
                        Some(words) if anchor == Some(at) => words,
                        Some(words) => {
                            anchored = Some(words);
                            self.expression(scope, right, &early)?
                        }
                        None if is_bare(right) && !is_open => {
                            let sizes = self.sizes(&left);
                            self.expression(scope, right, &sizes)?
                        }
                        None => self.expression(scope, right, want)?,
                    };
                    self.pairs(*op, &left, &right)?
                }
            };
        }
        Ok(left)
    }

    /// Both operands of a function of two lists; a bare one takes the type of the other.
    pub(super) fn operands(
        &mut self,
        scope: &Scope<'p>,
        left: &Expr,
        right: &Expr,
        want: &Want,
    ) -> Run<(Vec<Id>, Vec<Id>)> {
        if is_bare(left) && !is_bare(right) {
            let right = self.expression(scope, right, want)?;
            let sizes = self.sizes(&right);
            return Ok((self.expression(scope, left, &sizes)?, right));
        }
        let is_taken = is_bare(right) && !is_bare(left);
        let left = self.expression(scope, left, want)?;
        let sizes = self.sizes(&left);
        let right = self.expression(scope, right, if is_taken { &sizes } else { want })?;
        Ok((left, right))
    }

    /// An operator of the text on two lists, word by word.
    pub(super) fn pairs(&mut self, op: BinOp, left: &[Id], right: &[Id]) -> Run<Vec<Id>> {
        let op = match op {
            BinOp::And => Op::And,
            BinOp::Or => Op::Or,
            BinOp::Xor => Op::Xor,
            BinOp::Add => Op::Add,
            BinOp::Sub => Op::Sub,
            BinOp::Mul => Op::Mul,
            BinOp::Div | BinOp::Mod => return Err(format!("`{}` of words", op.symbol())),
        };
        self.each(op, left, right)
    }

    /// An operator on two lists, word by word.
    pub(super) fn each(&mut self, op: Op, left: &[Id], right: &[Id]) -> Run<Vec<Id>> {
        if left.len() != right.len() {
            return Err(format!("{op:?} of lists of {} and {} words", left.len(), right.len()));
        }
        left.iter().zip(right).map(|(&left, &right)| self.pair(op, left, right)).collect()
    }

    /// The members of a tuple; bare ones among bits share the bits that the others leave.
    fn tuple(&mut self, scope: &Scope<'p>, list: &[Expr], want: &Want) -> Run<Vec<Id>> {
        let mut members = Vec::new();
        list.iter().for_each(|member| flatten(member, &mut members));
        self.members(scope, &members, want)
    }

    /// The words of a list of arguments.
    pub(super) fn list(&mut self, scope: &Scope<'p>, list: &[Expr], want: &Want) -> Run<Vec<Id>> {
        match list {
            [one] => self.expression(scope, one, want),
            _ => self.tuple(scope, list, want),
        }
    }

    fn members(&mut self, scope: &Scope<'p>, members: &[&Expr], want: &Want) -> Run<Vec<Id>> {
        let mut parts = Vec::new();
        for member in members {
            parts.push(match is_bare(member) {
                true => None,
                false => Some(self.expression(scope, member, &[])?),
            });
        }
        let bare = parts.iter().filter(|part| part.is_none()).count();
        let taken: usize = parts.iter().flatten().map(Vec::len).sum();
        let left = want.len().saturating_sub(taken);
        let mut share = 1;
        if bare > 0 && want.iter().all(|&size| size == Some(1)) {
            if left == 0 || !left.is_multiple_of(bare) {
                return Err(format!("{bare} literals cannot share {left} bits"));
            }
            share = left / bare;
        }
        let mut words = Vec::new();
        for (member, part) in members.iter().zip(parts) {
            let part = match part {
                Some(part) => part,
                None => {
                    let rest = want.get(words.len()..).unwrap_or(&[]);
                    self.expression(scope, member, &rest[..share.min(rest.len())])?
                }
            };
            words.extend(part);
        }
        Ok(words)
    }

    /// A literal: one word, or all bits that its place expects, the first one most significant.
    pub(super) fn literal(&mut self, value: u64, want: &Want) -> Run<Vec<Id>> {
        match want.first() {
            Some(Some(1)) => {
                let count = want.iter().take_while(|&&size| size == Some(1)).count();
                self.bits(value, count)
            }
            Some(Some(bits)) => Ok(vec![self.number(value, *bits)?]),
            _ => Err(format!("the literal {value} has no type")),
        }
    }

    /// A number as a word, which it must fit.
    pub(super) fn number(&mut self, value: u64, bits: u8) -> Run<Id> {
        match bits < 64 && value >> bits != 0 {
            true => Err(format!("{value} does not fit {bits} bits")),
            false => Ok(self.writer.number(bits, value)),
        }
    }

    fn bits(&mut self, value: u64, count: usize) -> Run<Vec<Id>> {
        if count < 64 && value >> count != 0 {
            return Err(format!("{value} does not fit {count} bits"));
        }
        let bit = |place: usize| if place < 64 { value >> place & 1 } else { 0 };
        Ok((0..count).rev().map(|place| self.writer.number(1, bit(place))).collect())
    }

    fn typed_literal(&mut self, scope: &Scope<'p>, value: u64, ty: &Type) -> Run<Vec<Id>> {
        match self.written(scope, ty)? {
            (1, count) => self.bits(value, count),
            (bits, 1) => Ok(vec![self.number(value, bits)?]),
            (_, count) => Err(format!("one literal for {count} words")),
        }
    }
}

fn flatten<'a>(e: &'a Expr, members: &mut Vec<&'a Expr>) {
    match &e.kind {
        ExprKind::Tuple(list) => list.iter().for_each(|member| flatten(member, members)),
        _ => members.push(e),
    }
}
