//! One run through a program, on values of any [`Domain`].
//!
//! The walk runs loops, cuts argument lists, selects elements, types literals and keeps track of
//! what is defined; the domain only computes on single atoms. So the rules of the language stand
//! here once, for checking, evaluating and lowering alike.
//!
//! Above 600 lines because it is one recursion over one state, shared by every construct.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::types::*;
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::{Op, op};
use crate::syntax::{ast, size_word};

/// Deepest nesting of calls and expressions together, while walking.
pub const MAX_NESTING: usize = 400;

/// What a walk computes on.
pub trait Domain: Sized {
    /// The value of one atom.
    type V: Clone;

    /// One operator on atoms; `ty` is the type of the result. An error is a reason in the
    /// user's words.
    fn op(&mut self, op: &Op, ty: &Atom, args: &[&Self::V]) -> Result<Self::V, Refusal>;

    /// A table from `args` (first one most significant) to `outputs` atoms of type `ty`;
    /// `entries` are already in that bit order.
    fn table(
        &mut self,
        entries: Vec<u64>,
        outputs: usize,
        ty: &Atom,
        args: &[Self::V],
    ) -> Result<Vec<Self::V>, Refusal>;

    /// A call of a node or table; most domains continue with [`Walker::run`].
    fn call(
        walker: &mut Walker<'_, Self>,
        instance: &Instance,
        args: Vec<Typed<Self::V>>,
        results: &[Atom],
        span: Span,
    ) -> Result<Vec<Self::V>, Stop>;

    /// A word of type `ty` as its quotient and remainder by 2^k, `1 <= k <= 64` and below its size.
    fn split(&mut self, ty: &Atom, value: &Self::V, k: u8) -> Result<(Self::V, Self::V), Refusal> {
        let quotient = self.op(&Op::Shr(k), ty, &[value])?;
        let mask = self.op(&Op::Const(op::mask(k)), ty, &[])?;
        Ok((quotient, self.op(&Op::And, ty, &[value, &mask])?))
    }

    /// The operators that follow, until this is called with `false`, are meant to be modulo 2^m.
    fn wrap(&mut self, _inside: bool) {}

    /// A local that is declared with a range takes a value of type `ty`.
    fn define(&mut self, _range: &Range, _ty: &Atom, _value: &Self::V) -> Result<(), Refusal> {
        Ok(())
    }

    /// A loop begins; then [`Domain::iteration`] for every iteration; then `loop_exit`.
    fn loop_enter(&mut self, _opts: &[ast::LoopOpt]) {}
    fn iteration(&mut self) {}
    fn loop_exit(&mut self) {}
}

/// Why a domain does not compute something.
pub struct Refusal {
    pub code: Code,
    pub message: String,
    pub help: Option<String>,
}

impl Refusal {
    /// What words of 128 bits do not have.
    pub fn wide(op: &Op) -> Refusal {
        Refusal {
            code: Code::BadArithmetic,
            message: format!("`{}` on words of 128 bits", op.name()),
            help: Some("split the word into two of 64 bits by `u64(x)` and `u64(x >> 64)`".into()),
        }
    }
}

/// Why a walk does not go on. Errors have been recorded in [`Walker::diags`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Error,
    /// A bit column of a node that does not work on each column alike.
    NotColumnwise,
}

/// An atom with its type.
pub type Typed<V> = (Atom, V);

type Run<T> = Result<T, Stop>;

pub struct Walker<'p, D: Domain> {
    pub program: &'p Program,
    pub domain: D,
    pub diags: Vec<Diagnostic>,
    seen: FxHashSet<(Code, Option<Span>)>,
    depth: usize,
    steps: u64,
    errors: usize,
    /// A limit was reached: whatever follows would only say so again.
    full: bool,
    decls: FxHashMap<Rc<str>, DeclId>,
}

enum Cell<V> {
    Empty,
    /// Its definition failed; the error is recorded.
    Poison,
    Full(V),
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Input,
    Result,
    Local,
}

struct Slot<V> {
    name: Rc<str>,
    span: Span,
    role: Role,
    /// Of a local.
    range: Option<Range>,
    ty: Atom,
    dims: Vec<u32>,
    cells: Vec<Cell<V>>,
    /// The loop iteration of the last `=`, zero outside of loops; `u32::MAX` before any.
    stamps: Vec<u32>,
}

struct Frame<V> {
    instance: Instance,
    names: FxHashMap<Rc<str>, usize>,
    slots: Vec<Slot<V>>,
    /// Nat parameters, nat locals and loop indices; the last one of a name counts.
    nats: Vec<(Rc<str>, Option<i64>)>,
    stamp: u32,
    stamps: u32,
}

impl<'p, D: Domain> Walker<'p, D> {
    pub fn new(program: &'p Program, domain: D) -> Self {
        Walker {
            program,
            domain,
            diags: Vec::new(),
            seen: FxHashSet::default(),
            depth: 0,
            steps: 0,
            errors: 0,
            full: false,
            decls: program.decls.iter().enumerate().map(|(i, d)| (d.name.clone(), i)).collect(),
        }
    }

    /// Elementary steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether a limit was reached, so that walking on finds nothing new.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Records a finding once per place, until a limit is reached.
    pub fn report(&mut self, diag: Diagnostic) {
        if self.full {
            return;
        }
        if self.seen.insert((diag.code, diag.span)) {
            self.errors += usize::from(diag.is_error());
            self.full = diag.code == Code::TooLarge || self.errors >= MAX_ERRORS;
            self.diags.push(diag);
        }
    }

    fn fail<T>(&mut self, code: Code, span: Span, text: impl Into<String>, help: &str) -> Run<T> {
        let mut diag = Diagnostic::error(code, span, text);
        if !help.is_empty() {
            diag = diag.help(help);
        }
        self.report(diag);
        Err(Stop::Error)
    }

    fn tick(&mut self, count: usize, span: Span) -> Run<()> {
        self.steps += count as u64 + 1;
        if self.steps > MAX_STEPS {
            return self.fail(
                Code::TooLarge,
                span,
                format!("the unrolled program has more than {MAX_STEPS} steps; this is the limit"),
                "shorten the loops, or split the program",
            );
        }
        Ok(())
    }

    fn deeper<T>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        if self.depth >= MAX_NESTING {
            return self.fail(
                Code::TooDeep,
                span,
                format!(
                    "calls and expressions nest more than {MAX_NESTING} deep; this is the limit"
                ),
                "name intermediate results, or shorten the chain of calls",
            );
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&D::V], span: Span) -> Run<D::V> {
        self.domain.op(op, ty, args).map_err(|refusal| self.refuse(refusal, span))
    }

    /// Records what a domain refused, at a place.
    pub fn refuse(&mut self, refusal: Refusal, span: Span) -> Stop {
        let mut diag = Diagnostic::error(refusal.code, span, refusal.message);
        diag.help = refusal.help;
        self.report(diag);
        Stop::Error
    }

    /// Runs one instance on its flattened arguments (nats not among them).
    pub fn run(&mut self, instance: &Instance, args: Vec<D::V>) -> Run<Vec<D::V>> {
        let decl = &self.program.decls[instance.decl];
        let span = decl.name_span;
        self.deeper(span, |w| match &decl.kind {
            Kind::Node(bodies) => w.run_body(instance, decl, &bodies[instance.alternative], args),
            Kind::Table(lists) => w.run_table(instance, decl, &lists[instance.alternative], args),
            Kind::Perm(lists) => {
                let list = &lists[instance.alternative].values;
                Ok(list.iter().map(|&i| args[i as usize - 1].clone()).collect())
            }
        })
    }

    fn run_table(
        &mut self,
        instance: &Instance,
        decl: &Decl,
        list: &ast::IntList,
        args: Vec<D::V>,
    ) -> Run<Vec<D::V>> {
        let outputs: usize = decl.results.iter().map(|v| v.ty.atoms()).sum();
        let VarType::Words { atom, .. } = &decl.results[0].ty else {
            unreachable!("tables have word results, which `resolve` checks");
        };
        let ty = instance.apply(atom);
        self.tick(outputs, decl.name_span)?;
        if is_lookup(self.program, decl, list) {
            if instance.column {
                return Err(Stop::NotColumnwise);
            }
            let op = Op::Lookup(list.values.as_slice().into());
            let value = self.op(&op, &ty, &[&args[0]], decl.name_span)?;
            return Ok(vec![value]);
        }
        let lsb_first = decl.opts.contains(&ast::DeclOpt::LsbFirst)
            || (self.program.flags.legacy_tables && legacy_table(&list.values).is_some());
        let entries = match lsb_first {
            true => reverse_table(&list.values, args.len(), outputs),
            false => list.values.clone(),
        };
        let result = self.domain.table(entries, outputs, &ty, &args);
        result.map_err(|refusal| self.refuse(refusal, decl.name_span))
    }

    fn run_body(
        &mut self,
        instance: &Instance,
        decl: &Decl,
        body: &Body,
        args: Vec<D::V>,
    ) -> Run<Vec<D::V>> {
        let mut frame = Frame {
            instance: instance.clone(),
            names: FxHashMap::default(),
            slots: Vec::new(),
            nats: Vec::new(),
            stamp: 0,
            stamps: 0,
        };
        let words = decl.params.iter().chain(&decl.results).chain(&body.vars);
        let atoms: usize = words.filter(|v| v.ty != VarType::Nat).map(|v| v.ty.atoms()).sum();
        self.tick(atoms, decl.name_span)?;
        let mut args = args.into_iter();
        let mut nats = instance.nats.iter();
        for var in &decl.params {
            if var.ty == VarType::Nat {
                frame.nats.push((var.name.clone(), nats.next().copied()));
                continue;
            }
            frame.declare(var, Role::Input);
            for cell in &mut frame.slots.last_mut().expect("just declared").cells {
                *cell = args.next().map_or(Cell::Poison, Cell::Full);
            }
        }
        let results = frame.slots.len();
        for var in &decl.results {
            frame.declare(var, Role::Result);
        }
        let locals = frame.slots.len();
        for var in &body.vars {
            if var.ty == VarType::Nat {
                frame.nats.push((var.name.clone(), None));
            } else {
                frame.declare(var, Role::Local);
            }
        }
        let done = self.stmts(&mut frame, &body.stmts);
        if done == Err(Stop::NotColumnwise) {
            return Err(Stop::NotColumnwise);
        }
        let mut outs = Vec::new();
        let mut ok = done.is_ok();
        for slot in results..locals {
            for at in 0..frame.slots[slot].cells.len() {
                match &frame.slots[slot].cells[at] {
                    Cell::Full(value) => outs.push(value.clone()),
                    Cell::Poison => ok = false,
                    Cell::Empty => {
                        if done.is_ok() {
                            let slot = &frame.slots[slot];
                            let text = format!(
                                "result `{}` of node `{}` is never defined",
                                slot.element(at),
                                decl.name
                            );
                            let diag = Diagnostic::error(Code::ResultUndefined, slot.span, text)
                                .help("define every element of every result");
                            self.report(diag);
                        }
                        ok = false;
                    }
                }
            }
        }
        if ok { Ok(outs) } else { Err(Stop::Error) }
    }

    /// Runs statements in order. A failed equation poisons its targets and the walk goes on, so
    /// that one run finds several errors; a failed loop stops it.
    fn stmts(&mut self, f: &mut Frame<D::V>, stmts: &[ast::Stmt]) -> Run<()> {
        let mut result = Ok(());
        for stmt in stmts {
            let done = match stmt {
                ast::Stmt::Equation(eq) => self.equation(f, eq),
                ast::Stmt::Loop(l) => self.run_loop(f, l),
            };
            match done {
                Ok(()) => {}
                Err(Stop::NotColumnwise) => return Err(Stop::NotColumnwise),
                Err(Stop::Error) if self.full => return Err(Stop::Error),
                Err(Stop::Error) => {
                    result = Err(Stop::Error);
                    if let ast::Stmt::Equation(eq) = stmt {
                        f.poison(|slot| eq.targets.iter().any(|t| *t.name.name == *slot.name));
                    } else {
                        f.poison(|slot| slot.role != Role::Input);
                    }
                }
            }
        }
        result
    }

    fn run_loop(&mut self, f: &mut Frame<D::V>, l: &ast::Loop) -> Run<()> {
        let from = self.index(f, &l.from)?;
        let to = self.index(f, &l.to)?;
        if from.abs_diff(to) > MAX_STEPS {
            self.tick(MAX_STEPS as usize, l.span)?;
        }
        self.domain.loop_enter(&l.opts);
        f.nats.push((l.index.name.as_str().into(), None));
        let outer = f.stamp;
        let mut i = from;
        let result = loop {
            f.nats.last_mut().expect("pushed above").1 = Some(i);
            f.stamps += 1;
            f.stamp = f.stamps;
            self.domain.iteration();
            let done = self.tick(0, l.span).and_then(|()| self.stmts(f, &l.body));
            if done.is_err() || i == to {
                break done;
            }
            i += if from <= to { 1 } else { -1 };
        };
        f.stamp = outer;
        f.nats.pop();
        self.domain.loop_exit();
        result
    }

    fn equation(&mut self, f: &mut Frame<D::V>, eq: &ast::Equation) -> Run<()> {
        if let [target] = eq.targets.as_slice()
            && f.nat(&target.name.name).is_some()
        {
            return self.nat_equation(f, eq, target);
        }
        let update = eq.colon || eq.op.is_some();
        let mut targets: Vec<(usize, usize)> = Vec::new();
        let mut types: Vec<Atom> = Vec::new();
        for var in &eq.targets {
            let (slot, atoms) = self.select(f, var)?;
            if f.slots[slot].role == Role::Input && !update {
                return self.fail(
                    Code::AssignToInput,
                    var.span,
                    format!("`{}` is an input; `=` cannot define it again", var.name.name),
                    "write `:=` to update it from here on",
                );
            }
            types.extend(std::iter::repeat_n(f.slots[slot].ty.clone(), atoms.len()));
            targets.extend(atoms.into_iter().map(|at| (slot, at)));
        }
        let mut distinct = FxHashSet::default();
        if let Some(&(slot, at)) = targets.iter().find(|t| !distinct.insert(**t)) {
            let text = format!("`{}` is defined twice by one equation", f.slots[slot].element(at));
            return self.fail(Code::RepeatedTarget, eq.span, text, "remove one of the two");
        }
        let value = match eq.op {
            None => self.expr(f, &eq.value, Some(&types))?,
            Some(op) => {
                let mut old = Vec::new();
                for var in &eq.targets {
                    old.extend(self.read(f, var)?);
                }
                let value = self.expr(f, &eq.value, Some(&types))?;
                self.binary(f, op, old, value, eq.span, eq.value.span)?
            }
        };
        self.check_types(&types, &value, "the left side", "the right side", eq.value.span)?;
        self.tick(targets.len(), eq.span)?;
        for (&(slot, at), (_, value)) in targets.iter().zip(value) {
            let stamp = f.slots[slot].stamps[at];
            if !update && stamp != u32::MAX {
                let name = f.slots[slot].element(at);
                if stamp == f.stamp {
                    return self.fail(
                        Code::DefinedTwice,
                        eq.span,
                        format!("`{name}` is already defined"),
                        "write `:=` to update it",
                    );
                }
                self.report(
                    Diagnostic::warning(
                        Code::OverwriteInLoop,
                        eq.span,
                        format!("`{name}` is overwritten"),
                    )
                    .help("write `:=` if this is meant"),
                );
            }
            if let Some(range) = f.slots[slot].range {
                let done = self.domain.define(&range, &f.slots[slot].ty, &value);
                done.map_err(|mut refusal| {
                    refusal.message =
                        format!("`{}`: {}", f.slots[slot].element(at), refusal.message);
                    self.refuse(refusal, eq.span)
                })?;
            }
            f.slots[slot].cells[at] = Cell::Full(value);
            if !update {
                f.slots[slot].stamps[at] = f.stamp;
            }
        }
        Ok(())
    }

    fn nat_equation(
        &mut self,
        f: &mut Frame<D::V>,
        eq: &ast::Equation,
        target: &ast::Var,
    ) -> Run<()> {
        let name = &target.name.name;
        let set = f.nat(name).flatten().is_some();
        if set || eq.op.is_some() || eq.colon || !target.selectors.is_empty() {
            return self.fail(
                Code::NatMismatch,
                eq.span,
                format!("`{name}` is a compile-time integer; it is defined once, by `=`"),
                "loop indices and nat parameters cannot be changed",
            );
        }
        let value = self.nat(f, &eq.value)?;
        let at = f.nats.iter().rposition(|(n, _)| **n == **name).expect("it was found above");
        f.nats[at].1 = Some(value);
        Ok(())
    }

    /// Compares the types of two flattened lists.
    fn check_types(
        &mut self,
        want: &[Atom],
        have: &[Typed<D::V>],
        want_name: &str,
        have_name: &str,
        span: Span,
    ) -> Run<()> {
        if want.len() != have.len() {
            let text = format!(
                "{want_name} has {}, {have_name} has {}",
                atoms(want.len()),
                atoms(have.len())
            );
            return self.fail(Code::LengthMismatch, span, text, "both sides must flatten alike");
        }
        for (at, (want, (have, _))) in want.iter().zip(have).enumerate() {
            if !want.same_size(have) {
                return self.fail(
                    Code::SizeMismatch,
                    span,
                    format!("atom {at} of {want_name} is {want}, of {have_name} {have}"),
                    "word sizes must be equal; there is no implicit widening",
                );
            }
            if !want.same_dir(have) {
                return self.fail(
                    Code::DirectionMismatch,
                    span,
                    format!("atom {at} of {want_name} is {want}, of {have_name} {have}"),
                    "data of different slicing directions cannot meet",
                );
            }
        }
        Ok(())
    }

    /// The slot of a variable and the flattened atoms that its selectors pick, in order.
    fn select(&mut self, f: &Frame<D::V>, var: &ast::Var) -> Run<(usize, Vec<usize>)> {
        let name = &var.name.name;
        let Some(&slot) = f.names.get(name.as_str()) else {
            return self.fail(
                Code::NatMismatch,
                var.span,
                format!("`{name}` is a compile-time integer, not a word"),
                "it may appear in indices, shift amounts and nat arguments only",
            );
        };
        if f.nats.iter().any(|(n, _)| **n == **name) {
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

    fn element(&mut self, f: &Frame<D::V>, e: &ast::AExpr, dim: u32, name: &str) -> Run<usize> {
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
    fn index(&mut self, f: &Frame<D::V>, e: &ast::AExpr) -> Run<i64> {
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
    fn nat(&mut self, f: &Frame<D::V>, e: &ast::Expr) -> Run<i64> {
        match &e.kind {
            ast::ExprKind::Int { value, ty: None } => self.small(*value, e.span),
            ast::ExprKind::Var(var) if var.selectors.is_empty() => {
                self.index(f, &ast::AExpr::Name(var.name.clone()))
            }
            ast::ExprKind::Bin(op, l, r) => {
                let op = match op {
                    ast::BinOp::Add => ast::ABinOp::Add,
                    ast::BinOp::Sub => ast::ABinOp::Sub,
                    ast::BinOp::Mul => ast::ABinOp::Mul,
                    ast::BinOp::Div => ast::ABinOp::Div,
                    ast::BinOp::Mod => ast::ABinOp::Mod,
                    _ => return self.not_nat(e.span),
                };
                let (a, b) = (self.nat(f, l)?, self.nat(f, r)?);
                self.arith(op, a, b, e.span)
            }
            _ => self.not_nat(e.span),
        }
    }

    fn not_nat<T>(&mut self, span: Span) -> Run<T> {
        let help = "use integers, loop indices, nat parameters and + - * / %";
        self.fail(Code::NatMismatch, span, "a compile-time integer is wanted here", help)
    }

    /// Reads the atoms of a variable.
    fn read(&mut self, f: &Frame<D::V>, var: &ast::Var) -> Run<Vec<Typed<D::V>>> {
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

    fn expr(
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
                let mut out = Vec::with_capacity(atoms.len());
                for (ty, value) in atoms {
                    let value = self.op(&Op::Not, &ty, &[&value], e.span)?;
                    out.push((ty, value));
                }
                Ok(out)
            }
            ast::ExprKind::Bin(op, l, r) => {
                let (left, right) = self.operands(f, l, r, want)?;
                self.binary(f, *op, left, right, e.span, r.span)
            }
            ast::ExprKind::Shift(op, inner, amount) => {
                let atoms = self.expr(f, inner, want)?;
                let k = self.index(f, amount)?;
                if k < 0 {
                    let text = format!("a shift by {k}");
                    let help = "amounts are 0 or more; shift the other way";
                    return self.fail(Code::BadShift, amount.span(), text, help);
                }
                self.shift(f, *op, atoms, k as u64, e.span)
            }
        }
    }

    /// Two operands; bare literals take the type of the other one.
    #[allow(clippy::type_complexity)] // Twice the same.
    fn operands(
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

    /// A literal in a place where the atoms `want` are expected.
    fn literal(
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

    fn typed_literal(
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

    fn written_type(&mut self, ty: &ast::Type) -> Run<VarType> {
        super::resolve::resolve_type(ty).map_err(|diag| {
            self.report(*diag);
            Stop::Error
        })
    }

    /// Several expressions side by side. Bare literals on bits share what the others leave.
    fn sequence(
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

    fn binary(
        &mut self,
        f: &Frame<D::V>,
        op: ast::BinOp,
        left: Vec<Typed<D::V>>,
        right: Vec<Typed<D::V>>,
        span: Span,
        right_span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let sizes: &[u8] = &[8, 16, 32, 64, 128];
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
        let sizes = if op.is_bitwise() { None } else { Some(sizes) };
        self.pairs(f, &op, sizes, left, right, span, right_span)
    }

    /// An operator on lists of equal length, atom by atom, on words of the given sizes.
    #[allow(clippy::too_many_arguments)] // Two operands, each with its place.
    fn pairs(
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
        let mut out = Vec::with_capacity(left.len());
        for ((lt, l), (rt, r)) in left.into_iter().zip(right) {
            let ty = merge(lt, &rt);
            if let (Some(sizes), Some(bits)) = (sizes, ty.bits())
                && !sizes.contains(&bits)
            {
                let text = format!("arithmetic on {ty}");
                let help = match sizes.contains(&128) {
                    true => "arithmetic needs words of 8, 16, 32, 64 or 128 bits",
                    false => "this needs words of 8, 16, 32 or 64 bits",
                };
                return self.fail(Code::BadArithmetic, span, text, help);
            }
            let value = self.op(op, &ty, &[&l, &r], span)?;
            out.push((ty, value));
        }
        Ok(out)
    }

    fn shift(
        &mut self,
        f: &Frame<D::V>,
        op: ast::ShiftOp,
        mut atoms: Vec<Typed<D::V>>,
        k: u64,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        use ast::ShiftOp::*;
        self.tick(atoms.len(), span)?;
        if let [(ty, value)] = atoms.as_slice() {
            if f.instance.column {
                return Err(Stop::NotColumnwise);
            }
            let Some(bits) = ty.bits() else { return Ok(atoms) };
            let m = bits as u64;
            let op = match op {
                RotLeft => Op::Rotl((k % m) as u8),
                RotRight => Op::Rotl(((m - k % m) % m) as u8),
                Left | Right if k >= m => Op::Const(0),
                Left => Op::Shl(k as u8),
                Right => Op::Shr(k as u8),
                RightArith => Op::Sar(k.min(m - 1) as u8),
            };
            let value = match op {
                Op::Rotl(0) | Op::Shl(0) | Op::Shr(0) | Op::Sar(0) => value.clone(),
                Op::Const(_) => self.op(&op, ty, &[], span)?,
                _ => self.op(&op, ty, &[value], span)?,
            };
            return Ok(vec![(ty.clone(), value)]);
        }
        let len = atoms.len();
        let (first, last) = (atoms[0].0.clone(), atoms[len - 1].0.clone());
        let dropped = k.min(len as u64) as usize;
        let turn = (k % len as u64) as usize;
        match op {
            RotLeft => atoms.rotate_left(turn),
            RotRight => atoms.rotate_right(turn),
            Left => {
                let zero = self.zero(&last, span)?;
                atoms.drain(..dropped);
                atoms.extend(std::iter::repeat_n(zero, dropped));
            }
            Right => {
                let zero = self.zero(&first, span)?;
                atoms.truncate(len - dropped);
                atoms.splice(0..0, std::iter::repeat_n(zero, dropped));
            }
            RightArith => {
                let text = format!("`>>!` on a list of {len} atoms");
                let help = "an arithmetic shift works on a single word; use >> to shift the list";
                return self.fail(Code::BadShift, span, text, help);
            }
        }
        Ok(atoms)
    }

    fn zero(&mut self, ty: &Atom, span: Span) -> Run<Typed<D::V>> {
        Ok((ty.clone(), self.op(&Op::Const(0), ty, &[], span)?))
    }

    fn shuffle(
        &mut self,
        f: &Frame<D::V>,
        atoms: Vec<Typed<D::V>>,
        pattern: &[u64],
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        let k = pattern.len();
        if let Some(bad) = pattern.iter().find(|&&p| p >= k as u64) {
            let text = format!("group {bad} in a pattern of {k} groups");
            let help = format!("groups are numbered 0 to {}", k - 1);
            return self.fail(Code::BadShuffle, span, text, &help);
        }
        self.tick(atoms.len(), span)?;
        let groups: Rc<[u8]> = pattern.iter().map(|&p| p as u8).collect();
        let identity = pattern.iter().enumerate().all(|(i, &p)| i as u64 == p);
        let mut out = Vec::with_capacity(atoms.len());
        for (ty, value) in atoms {
            let Some(bits) = ty.bits() else {
                out.push((ty, value));
                continue;
            };
            if !(bits as usize).is_multiple_of(k) {
                let text = format!("{k} groups in a word of {bits} bits");
                let help = "the number of groups must divide the word size";
                return self.fail(Code::BadShuffle, span, text, help);
            }
            let value = match identity {
                true => value,
                false => self.op(&Op::Shuffle(groups.clone()), &ty, &[&value], span)?,
            };
            out.push((ty, value));
        }
        Ok(out)
    }

    fn bitmask(
        &mut self,
        f: &Frame<D::V>,
        atoms: Vec<Typed<D::V>>,
        i: i64,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        self.tick(atoms.len(), span)?;
        let mut out = Vec::with_capacity(atoms.len());
        for (ty, value) in atoms {
            let Some(bits) = ty.bits() else {
                out.push((ty, value));
                continue;
            };
            if i < 0 || i >= bits as i64 {
                let text = format!("bit {i} of a word of {bits} bits");
                let help = format!("bits are numbered 0 (least significant) to {}", bits - 1);
                return self.fail(Code::BadShuffle, span, text, &help);
            }
            let value = match bits {
                1 => value,
                _ => self.op(&Op::Bitmask(i as u8), &ty, &[&value], span)?,
            };
            out.push((ty, value));
        }
        Ok(out)
    }

    fn pack(
        &mut self,
        f: &mut Frame<D::V>,
        high: &ast::Expr,
        low: &ast::Expr,
        ty: Option<&ast::Type>,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        let Some(ty) = ty else {
            let help = "write the type of the result, as in Pack(a, b):u16";
            return self.fail(Code::BadShuffle, span, "Pack without the type of its result", help);
        };
        let ty = self.written_type(ty)?;
        let VarType::Words { atom, .. } = &ty else {
            return self.fail(Code::NatMismatch, span, "Pack to a nat", "write a word type");
        };
        let atom = f.instance.apply(atom);
        let half = match atom.bits() {
            Some(bits) if bits.is_multiple_of(2) => Size::Bits(bits / 2),
            Some(bits) => {
                let text = format!("Pack to a word of {bits} bits");
                let help = "the result is twice as wide as each operand";
                return self.fail(Code::BadShuffle, span, text, help);
            }
            None => atom.size.clone(),
        };
        let want = vec![Atom { dir: atom.dir.clone(), size: half }; ty.atoms()];
        let a = self.expr(f, high, Some(&want))?;
        let b = self.expr(f, low, Some(&want))?;
        if atom.bits().is_some() {
            self.check_types(&want, &a, "half of the result", "the first operand", high.span)?;
            self.check_types(&want, &b, "half of the result", "the second operand", low.span)?;
        }
        self.tick(a.len(), span)?;
        let mut out = Vec::with_capacity(a.len());
        for ((_, a), (_, b)) in a.into_iter().zip(b) {
            out.push((atom.clone(), self.op(&Op::Pack, &atom, &[&a, &b], span)?));
        }
        Ok(out)
    }

    fn call(
        &mut self,
        f: &mut Frame<D::V>,
        callee: &ast::Ident,
        instance: Option<&ast::AExpr>,
        args: &[ast::Expr],
        want: Option<&[Atom]>,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let program = self.program;
        let known = self.decls.get(callee.name.as_str()).copied();
        let Some(id) = known.filter(|&id| id < f.instance.decl) else {
            return self.builtin(f, callee, instance, args, want, span);
        };
        let decl = &program.decls[id];
        let mut inst = Instance::open(id, self.alternative(f, decl, instance, callee.span)?);
        inst.column = f.instance.column;
        let values = self.arguments(f, decl, &mut inst, args, span)?;
        let mut results = Vec::new();
        for var in &decl.results {
            let VarType::Words { atom, .. } = &var.ty else { continue };
            for _ in 0..var.ty.atoms() {
                if let Some(expected) = want.and_then(|w| w.get(results.len())) {
                    bind_atom(&mut inst, atom, expected);
                }
                results.push(inst.apply(atom));
            }
        }
        if !inst.column {
            let open =
                decl.size_vars().into_iter().find(|v| inst.sizes.iter().all(|(n, _)| n != v));
            if let Some(name) = open {
                let text = format!("the word size '{name} of `{}` is not determined", decl.name);
                let help = "no argument or result fixes it; give the node an explicit word size";
                return self.fail(Code::LiteralUntyped, span, text, help);
            }
        }
        self.tick(values.len() + results.len(), span)?;
        let outs = match decl.kind {
            Kind::Perm(_) => self.run(&inst, values.into_iter().map(|(_, v)| v).collect())?,
            _ => self.deeper(span, |w| D::call(w, &inst, values, &results, span))?,
        };
        Ok(results.into_iter().zip(outs).collect())
    }

    fn alternative(
        &mut self,
        f: &Frame<D::V>,
        decl: &Decl,
        index: Option<&ast::AExpr>,
        span: Span,
    ) -> Run<usize> {
        let noun = decl.noun();
        match (decl.array, index) {
            (false, None) => Ok(0),
            (true, None) => {
                let text = format!("`{}` is an array of {noun}s; it needs an index", decl.name);
                let help = format!("write `{}<0>(...)`", decl.name);
                self.fail(Code::MissingInstance, span, text, &help)
            }
            (false, Some(e)) => {
                let text = format!("`{}` is a single {noun}, not an array", decl.name);
                self.fail(Code::UnwantedInstance, e.span(), text, "remove the index in <>")
            }
            (true, Some(e)) => {
                let value = self.index(f, e)?;
                let count = decl.alternatives();
                if value < 0 || value >= count as i64 {
                    let text = format!("index {value} of `{}`, which has {count}", decl.name);
                    let help = format!("indices go from 0 to {}", count as i64 - 1);
                    return self.fail(Code::InstanceRange, e.span(), text, &help);
                }
                Ok(value as usize)
            }
        }
    }

    /// Evaluates the arguments of a call and binds the variables of the callee.
    fn arguments(
        &mut self,
        f: &mut Frame<D::V>,
        decl: &Decl,
        inst: &mut Instance,
        args: &[ast::Expr],
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        let mut params: Vec<Option<&Atom>> = Vec::new();
        for var in &decl.params {
            match &var.ty {
                VarType::Nat => params.push(None),
                VarType::Words { atom, .. } => {
                    params.extend(std::iter::repeat_n(Some(atom), var.ty.atoms()));
                }
            }
        }
        let mut values: Vec<Typed<D::V>> = Vec::with_capacity(params.len());
        if params.iter().all(Option::is_some) {
            let want: Vec<Atom> = params.iter().flatten().map(|atom| inst.apply(atom)).collect();
            let args: Vec<&ast::Expr> = args.iter().collect();
            values = match args.as_slice() {
                [arg] => self.expr(f, arg, Some(&want))?,
                _ => self.sequence(f, &args, Some(&want), span)?,
            };
        } else {
            let mut at = 0;
            for arg in args {
                if params.get(at) == Some(&None) {
                    inst.nats.push(self.nat(f, arg)?);
                    at += 1;
                    continue;
                }
                let rest = params.get(at..).unwrap_or(&[]);
                let want: Vec<Atom> =
                    rest.iter().map_while(|p| p.map(|atom| inst.apply(atom))).collect();
                let part = self.expr(f, arg, Some(&want))?;
                at += part.len();
                values.extend(part);
            }
        }
        let words: Vec<&Atom> = params.iter().flatten().copied().collect();
        let nats = params.len() - words.len();
        if values.len() != words.len() || inst.nats.len() != nats {
            let text = format!(
                "`{}` takes {}, the arguments have {}",
                decl.name,
                atoms(params.len()),
                atoms(values.len() + inst.nats.len())
            );
            let help = "arguments are flattened and cut by the types of the parameters";
            return self.fail(Code::LengthMismatch, span, text, help);
        }
        for (at, (param, (have, _))) in words.iter().zip(&values).enumerate() {
            bind_atom(inst, param, have);
            let want = inst.apply(param);
            let (code, text) = if !want.same_size(have) {
                (Code::SizeMismatch, "word sizes must be equal; there is no implicit widening")
            } else if !want.same_dir(have) {
                (Code::DirectionMismatch, "data of different slicing directions cannot meet")
            } else {
                continue;
            };
            let message =
                format!("argument atom {at} of `{}` is {have}, the parameter is {want}", decl.name);
            return self.fail(code, span, message, text);
        }
        Ok(values)
    }

    /// A call of what the language has itself.
    fn builtin(
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
            (Builtin::Less | Builtin::MulHigh, [l, r]) => {
                let op = if builtin == Builtin::Less { Op::Less } else { Op::MulHigh };
                let (left, right) = self.operands(f, l, r, want)?;
                self.pairs(f, &op, Some(&[8, 16, 32, 64]), left, right, span, r.span)
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
            let (q, r) =
                self.domain.split(&ty, &value, k as u8).map_err(|no| self.refuse(no, span))?;
            quotients.push((ty.clone(), q));
            remainders.push((ty, r));
        }
        quotients.extend(remainders);
        Ok(quotients)
    }
}

/// What can be called without being declared. A node of the same name hides it.
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
    /// `u64(x)`: the same number with more bits, or its low bits.
    Resize(ast::TypeWord),
}

impl Builtin {
    pub fn of(name: &str) -> Option<Builtin> {
        Some(match name {
            "refresh" => Builtin::Refresh,
            "wrap" => Builtin::Wrap,
            "split" => Builtin::Split,
            "less" => Builtin::Less,
            "mulhigh" => Builtin::MulHigh,
            _ => Builtin::Resize(size_word(name)?),
        })
    }

    /// How many arguments it takes, and an example.
    fn use_of(&self) -> (&'static str, &'static str) {
        match self {
            Builtin::Refresh => ("one argument", "refresh each value by itself"),
            Builtin::Wrap => ("one argument", "write `wrap(a + b)`"),
            Builtin::Split => ("a word and an amount", "write `(q, r) = split(x, 51)`"),
            Builtin::Less => ("two arguments", "write `less(a, b)`"),
            Builtin::MulHigh => ("two arguments", "write `mulhigh(a, b)`"),
            Builtin::Resize(_) => ("one argument", "change the size of each value by itself"),
        }
    }
}

impl<V> Frame<V> {
    fn declare(&mut self, var: &Var, role: Role) {
        let VarType::Words { atom, dims } = &var.ty else {
            unreachable!("nats are kept apart");
        };
        let count = var.ty.atoms();
        self.names.insert(var.name.clone(), self.slots.len());
        self.slots.push(Slot {
            name: var.name.clone(),
            span: var.span,
            role,
            range: var.range.filter(|_| role == Role::Local),
            ty: self.instance.apply(atom),
            dims: dims.clone(),
            cells: (0..count).map(|_| Cell::Empty).collect(),
            stamps: vec![u32::MAX; count],
        });
    }

    /// The compile-time integer of that name: `Some(None)` before its definition.
    fn nat(&self, name: &str) -> Option<Option<i64>> {
        self.nats.iter().rev().find(|(n, _)| **n == *name).map(|(_, value)| *value)
    }

    fn poison(&mut self, which: impl Fn(&Slot<V>) -> bool) {
        for slot in self.slots.iter_mut().filter(|slot| which(slot)) {
            for cell in &mut slot.cells {
                if matches!(cell, Cell::Empty) {
                    *cell = Cell::Poison;
                }
            }
        }
    }
}

impl<V> Slot<V> {
    /// The name of one atom as the user would write it.
    fn element(&self, at: usize) -> String {
        let mut text = self.name.to_string();
        let mut size = self.cells.len();
        let mut rest = at;
        for &dim in &self.dims {
            size /= dim as usize;
            text += &format!("[{}]", rest / size);
            rest %= size;
        }
        text
    }
}

/// Whether the type of an expression comes from its context: it is made of bare literals.
fn needs_context(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Int { ty, .. } => ty.is_none(),
        ast::ExprKind::Tuple(list) => list.iter().any(needs_context),
        ast::ExprKind::Not(e) | ast::ExprKind::Shift(_, e, _) => needs_context(e),
        ast::ExprKind::Bin(_, l, r) => needs_context(l) && needs_context(r),
        _ => false,
    }
}

/// The type of an operation on two compatible atoms: whatever either of them knows.
fn merge(a: Atom, b: &Atom) -> Atom {
    let size = if matches!(a.size, Size::Var(_)) { b.size.clone() } else { a.size };
    let dir = if matches!(a.dir, Dir::Var(_)) { b.dir.clone() } else { a.dir };
    Atom { dir, size }
}

/// Binds the open variables of `param` to what is known of `have`.
fn bind_atom(inst: &mut Instance, param: &Atom, have: &Atom) {
    if let Size::Var(name) = &param.size {
        inst.bind_size(name, have.size.clone());
    }
    if let (Dir::Var(name), Dir::H | Dir::V | Dir::B) = (&param.dir, &have.dir) {
        inst.bind_dir(name, have.dir.clone());
    }
}

fn atoms(count: usize) -> String {
    format!("{count} atom{}", if count == 1 { "" } else { "s" })
}

/// Whether a table is a look-up by a whole word: under `-keep-tables`, or because it has an entry
/// for each word.
fn is_lookup(program: &Program, decl: &Decl, list: &ast::IntList) -> bool {
    let whole = |bits| super::resolve::is_whole(bits, list.values.len());
    super::resolve::word_table(decl).is_some_and(|bits| program.flags.keep_tables || whole(bits))
}

/// The same function with the other bit order on both sides.
pub fn reverse_table(entries: &[u64], inputs: usize, outputs: usize) -> Vec<u64> {
    let reverse = |x: u64, n: usize| (0..n).fold(0, |sum, i| sum << 1 | (x >> i & 1));
    (0..entries.len() as u64)
        .map(|i| reverse(entries[reverse(i, inputs) as usize], outputs))
        .collect()
}

/// The name of a table that the original compiler read least significant bit first.
pub fn legacy_table(entries: &[u64]) -> Option<&'static str> {
    LEGACY.iter().find(|(_, table)| table[..] == *entries).map(|(name, _)| *name)
}

/// Reference, section 6.6.
#[rustfmt::skip] // One table, one line.
const LEGACY: [(&str, [u64; 16]); 10] = [
    ("RECTANGLE", [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]),
    ("Serpent S0", [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12]),
    ("Serpent S1", [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4]),
    ("Serpent S2", [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2]),
    ("Serpent S3", [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14]),
    ("Serpent S4", [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13]),
    ("Serpent S5", [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1]),
    ("Serpent S6", [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0]),
    ("Serpent S7", [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6]),
    ("Clyde", [0, 8, 1, 15, 2, 10, 7, 9, 4, 13, 5, 6, 14, 3, 11, 12]),
];
