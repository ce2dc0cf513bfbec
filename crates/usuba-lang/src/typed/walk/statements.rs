//! Bodies of nodes: statements in order, and their definitions.

use rustc_hash::{FxHashMap, FxHashSet};

use super::frame::{Cell, Frame, Role};
use super::*;

impl<D: Domain> Walker<'_, D> {
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
                frame.declare_nat(&var.name, nats.next().copied());
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
                frame.declare_nat(&var.name, None);
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

    /// Runs statements in order. A failed equation poisons its targets and the run continues, so
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
        f.declare_nat(&l.index.name.as_str().into(), None);
        let outer = f.stamp;
        let mut i = from;
        let mut start: Option<Vec<Cell<D::V>>> =
            self.domain.by_induction().then(|| f.cells().map(|cell| cell.clone()).collect());
        let result = loop {
            f.nats.last_mut().expect("pushed above").value = Some(i);
            let done = self.turn(f, l);
            if done.is_err() || i == to {
                break done;
            }
            if let Some(start) = start.take()
                && !f.nats.last().expect("pushed above").used.get()
            {
                break self.any_turn(f, l, start);
            }
            i += if from <= to { 1 } else { -1 };
        };
        f.stamp = outer;
        f.nats.pop();
        self.domain.loop_exit();
        result
    }

    fn turn(&mut self, f: &mut Frame<D::V>, l: &ast::Loop) -> Run<()> {
        f.stamps += 1;
        f.stamp = f.stamps;
        self.domain.iteration();
        self.tick(0, l.span)?;
        self.stmts(f, &l.body)
    }

    /// All turns after the first, which began with the words `start`, by induction: a turn with
    /// values of the carried words that stand for their values in every turn. The body does not use the index, so it defines
    /// the same words in every turn, and reads no word that the first turn lacked.
    fn any_turn(
        &mut self,
        f: &mut Frame<D::V>,
        l: &ast::Loop,
        mut start: Vec<Cell<D::V>>,
    ) -> Run<()> {
        let mut widened = vec![0; start.len()];
        loop {
            let mut stable = true;
            let words =
                f.slots.iter().flat_map(|slot| (0..slot.cells.len()).map(move |at| (slot, at)));
            for ((first, widened), (slot, at)) in start.iter_mut().zip(&mut widened).zip(words) {
                let (Cell::Full(begin), Cell::Full(end)) = (&*first, &slot.cells[at]) else {
                    continue;
                };
                let name = || slot.element(at);
                let word = Carried { name: &name, range: slot.range(at), ty: &slot.ty, begin, end };
                if let Some(any) = self.domain.carry(word, *widened) {
                    *first = Cell::Full(any);
                    *widened += 1;
                    stable = false;
                }
            }
            if stable {
                return Ok(());
            }
            f.cells().zip(&start).for_each(|(cell, first)| *cell = first.clone());
            self.turn(f, l)?;
        }
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
            if let Some(range) = f.slots[slot].range(at) {
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
        let nat = f.nats.iter_mut().rfind(|nat| *nat.name == **name);
        nat.expect("it was found above").value = Some(value);
        Ok(())
    }

    /// Compares the types of two flattened lists.
    pub(super) fn check_types(
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
}
