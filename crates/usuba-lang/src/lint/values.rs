//! U1106, U1107, U1108 and U1112: findings that need the types and the flow of values.
//!
//! The domain of the interpretation is whether a value depends on a parameter of the node that is
//! looked at. Each node is interpreted with its own sizes open; a call is interpreted once for each
//! choice of arguments that depend.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::edit::is_balanced;
use super::{bodies, is_silent, visit};
use crate::diag::{Code, Diagnostic, Edit, Sources, Span};
use crate::op::Op;
use crate::syntax::ast::{AExpr, BinOp, ExprKind, LinkKind, ShiftOp};
use crate::typed::walk::{Domain, Refusal, Stop, Typed, Walker};
use crate::typed::{Atom, DeclId, Instance, Kind, Program, VarType};

pub(super) fn lint(sources: &Sources, program: &Program) -> Vec<Diagnostic> {
    let mut walker = Walker::new(program, Dependence::default());
    let mut found = Vec::new();
    for (id, decl) in program.decls.iter().enumerate() {
        let nats = decl.params.iter().any(|var| var.ty == VarType::Nat);
        if nats || !matches!(decl.kind, Kind::Node(_)) {
            continue;
        }
        let inputs: usize = decl.params.iter().map(|var| var.ty.atoms()).sum();
        let mut depends = vec![inputs == 0; decl.results.len()];
        for alternative in 0..decl.alternatives() {
            let instance = Instance::open(id, alternative);
            let Ok(atoms) = interpret(&mut walker, &instance, vec![true; inputs]) else {
                depends.fill(true);
                continue;
            };
            let mut atoms = atoms.into_iter();
            for (result, depends) in decl.results.iter().zip(&mut depends) {
                *depends |= atoms.by_ref().take(result.ty.atoms()).any(|atom| atom);
            }
        }
        let constant = decl.results.iter().zip(depends).filter(|(_, depends)| !depends);
        found.extend(constant.filter(|(var, _)| !is_silent(&var.name)).map(|(var, _)| {
            let text = format!("result `{}` does not depend on any parameter", var.name);
            let finding = Diagnostic::warning(Code::ConstantResult, var.span, text);
            finding.help("check the equations that define it")
        }));
    }
    // A limit ends the interpretation, so a missing visit proves nothing.
    if walker.is_full() {
        return Vec::new();
    }
    let Dependence { shifts, additions, .. } = walker.domain;
    found.extend(shifts.into_values().filter_map(|shift| shift.finding(sources)));
    found.extend(additions.into_iter().filter_map(|(id, ty)| addition(program, id, &ty)));
    found
}

/// Whether the result atoms of an instance depend on a parameter, if these arguments do.
fn interpret(
    walker: &mut Walker<'_, Dependence>,
    instance: &Instance,
    args: Vec<bool>,
) -> Result<Vec<bool>, Stop> {
    let question = (instance.clone(), args);
    if let Some(answer) = walker.domain.known.get(&question) {
        return Ok(answer.clone());
    }
    walker.domain.open.push(instance.decl);
    let answer = walker.run(instance, question.1.clone());
    walker.domain.open.pop();
    let answer = answer?;
    walker.domain.known.insert(question, answer.clone());
    Ok(answer)
}

/// The domain: whether a value depends on a parameter.
#[derive(Default)]
struct Dependence {
    known: FxHashMap<(Instance, Vec<bool>), Vec<bool>>,
    /// The nodes that are being interpreted, outermost first.
    open: Vec<DeclId>,
    /// Shifts of words by constants, by their places.
    shifts: BTreeMap<(Span, Span), Shift>,
    /// A type of words that each node adds.
    additions: BTreeMap<DeclId, Atom>,
}

/// A shift by an amount that contains no name.
struct Shift {
    op: ShiftOp,
    /// Covers the shift and its operand.
    span: Span,
    amount: Span,
    by: i64,
    /// Whether the operand is one word and no list.
    alone: bool,
    /// The types of its operands.
    types: BTreeSet<String>,
    bits: Option<u8>,
}

impl Shift {
    /// The finding, if all operands have one type, and the amount is the number of its bits or more.
    fn finding(self, sources: &Sources) -> Option<Diagnostic> {
        let bits = i64::from(self.bits.filter(|_| self.types.len() == 1)?);
        let ty = self.types.first()?;
        if self.by < bits {
            return None;
        }
        let (symbol, by) = (self.op.symbol(), self.by);
        let article = if matches!(bits, 8 | 11 | 18) { "an" } else { "a" };
        let word = format!("of {article} {bits}-bit word by {by}");
        let fits = |span: Span| is_balanced(sources, span) && (self.alone || span == self.amount);
        let edit = |span: Span, text: String, automatic| match fits(span) {
            true => Some((vec![Edit::new(span, text)], automatic)),
            false => None,
        };
        let (code, text, help, edit) = match self.op {
            ShiftOp::RotLeft | ShiftOp::RotRight => {
                let rest = by % bits;
                let text = format!("rotation {word} is rotation by {rest}");
                let help = format!("write `{symbol} {rest}`");
                (Code::LongRotation, text, help, edit(self.amount, rest.to_string(), true))
            }
            ShiftOp::Left | ShiftOp::Right => {
                let text = format!("shift {word} is always 0");
                let help = format!("write `0`, or shift by less than {bits}");
                (Code::LongShift, text, help, edit(self.span, format!("0:{ty}"), false))
            }
            ShiftOp::RightArith => {
                let most = bits - 1;
                let text = format!("shift {word} is a shift by {most}");
                let help = format!("write `{symbol} {most}`");
                (Code::LongShift, text, help, edit(self.amount, most.to_string(), true))
            }
        };
        let finding = Diagnostic::warning(code, self.amount, text).help(help);
        Some(match edit {
            Some((edits, automatic)) => finding.fix(edits, automatic),
            None => finding,
        })
    }
}

/// The finding about the first addition of a node.
fn addition(program: &Program, id: DeclId, ty: &Atom) -> Option<Diagnostic> {
    let stmts = bodies(&program.decls[id]).iter().flat_map(|body| visit::equations(&body.stmts));
    let is_sum = |op: BinOp| matches!(op, BinOp::Add | BinOp::Sub);
    let span = stmts.into_iter().find_map(|equation| {
        let inner = visit::parts(&equation.value).into_iter().find_map(|part| {
            let ExprKind::Chain(_, links) = &part.kind else { return None };
            let sum = |kind: &LinkKind| matches!(kind, LinkKind::Bin(op, _) if is_sum(*op));
            links.iter().find(|link| sum(&link.kind)).map(|link| link.span)
        });
        inner.or(equation.op.filter(|op| is_sum(*op)).map(|_| equation.span))
    })?;
    let text = format!("additions on `{ty}` cost about 5 gates a bit when bitsliced");
    Some(Diagnostic::warning(Code::CostlyAddition, span, text).help("compile with `-V`"))
}

impl Domain for Dependence {
    type V = bool;

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&bool]) -> Result<bool, Refusal> {
        if let (Op::Add | Op::Sub, Some(id)) = (op, self.open.last()) {
            self.additions.entry(*id).or_insert_with(|| ty.clone());
        }
        Ok(args.iter().any(|arg| **arg))
    }

    fn table(
        &mut self,
        _: Vec<u64>,
        outputs: usize,
        _: &Atom,
        args: &[bool],
    ) -> Result<Vec<bool>, Refusal> {
        Ok(vec![args.contains(&true); outputs])
    }

    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<bool>>,
        _: &[Atom],
        _: Span,
    ) -> Result<Vec<bool>, Stop> {
        interpret(walker, instance, args.into_iter().map(|(_, depends)| depends).collect())
    }

    fn shift(&mut self, op: ShiftOp, words: &[Typed<bool>], amounts: &[AExpr], span: Span) {
        // One amount for several words moves the words.
        if words.len() != amounts.len() {
            return;
        }
        for ((ty, _), amount) in words.iter().zip(amounts) {
            let Some(by) = visit::constant(amount) else { continue };
            let place = amount.span();
            let (alone, types) = (words.len() == 1, BTreeSet::new());
            let new = || Shift { op, span, amount: place, by, alone, types, bits: None };
            let shift = self.shifts.entry((span, place)).or_insert_with(new);
            shift.types.insert(ty.to_string());
            shift.bits = ty.bits();
        }
    }
}
