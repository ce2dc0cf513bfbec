//! Calls of declared nodes.

use super::frame::Frame;
use super::*;

impl<D: Domain> Walker<'_, D> {
    pub(super) fn call(
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
        self.domain.at(span);
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
            return self.unfit(Code::LengthMismatch, span, text, decl);
        }
        for (at, (param, (have, _))) in words.iter().zip(&values).enumerate() {
            bind_atom(inst, param, have);
            let want = inst.apply(param);
            let code = if !want.same_size(have) {
                Code::SizeMismatch
            } else if !want.same_dir(have) {
                Code::DirectionMismatch
            } else {
                continue;
            };
            let message =
                format!("argument atom {at} of `{}` is {have}, the parameter is {want}", decl.name);
            return self.unfit(code, span, message, decl);
        }
        Ok(values)
    }

    /// Reports arguments that do not fit a declaration, with its signature and its place.
    fn unfit<T>(&mut self, code: Code, span: Span, text: String, decl: &Decl) -> Run<T> {
        let help = format!("the call must fit `{}`", decl.signature());
        let error = Diagnostic::error(code, span, text).help(help);
        self.report(error.related(decl.name_span, format!("`{}` is declared here", decl.name)));
        Err(Stop::Error)
    }
}

/// Binds the open variables of `param` to the known parts of `have`.
fn bind_atom(inst: &mut Instance, param: &Atom, have: &Atom) {
    if let Size::Var(name) = &param.size {
        inst.bind_size(name, have.size.clone());
    }
    if let (Dir::Var(name), Dir::H | Dir::V | Dir::B | Dir::W) = (&param.dir, &have.dir) {
        inst.bind_dir(name, have.dir.clone());
    }
}
