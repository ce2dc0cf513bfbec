//! Bodies of nodes: equations and loops, in the order of the text.

use usuba_lang::syntax::ast::{Equation, Loop, Stmt};
use usuba_lang::typed::{Body, Decl, Var, VarType};
use usuba_replay::trace::Id;

use super::scope::{Scope, Variable};
use super::{Evaluator, Unit, size};
use crate::Run;

impl<'p> Evaluator<'p> {
    /// The words of the results of a node.
    pub(super) fn body(
        &mut self,
        unit: &Unit,
        decl: &'p Decl,
        body: &'p Body,
        words: Vec<Id>,
    ) -> Run<Vec<Id>> {
        let mut scope = Scope {
            decl: unit.id,
            sizes: unit.sizes.clone(),
            variables: Default::default(),
            integers: Vec::new(),
        };
        let (mut words, mut numbers) = (words.into_iter(), unit.numbers.iter());
        for var in &decl.params {
            match &var.ty {
                VarType::Nat => scope.integers.push((&*var.name, numbers.next().copied())),
                VarType::Words { .. } => {
                    let given = words.by_ref().take(var.ty.atoms()).map(Some).collect();
                    self.declare(&mut scope, var, Some(given))?;
                }
            }
        }
        for var in decl.results.iter().chain(&body.vars) {
            self.declare(&mut scope, var, None)?;
        }
        self.statements(&mut scope, &body.stmts)?;
        let mut results = Vec::new();
        for var in decl.results.iter().filter(|var| var.ty != VarType::Nat) {
            for word in &scope.variables[&*var.name].words {
                let missing = || format!("`{}` of `{}` is never defined", var.name, decl.name);
                results.push(word.ok_or_else(missing)?);
            }
        }
        Ok(results)
    }

    /// Adds a variable, with words that have values, or without any.
    fn declare(
        &mut self,
        scope: &mut Scope<'p>,
        var: &'p Var,
        given: Option<Vec<Option<Id>>>,
    ) -> Run<()> {
        let VarType::Words { atom, dims } = &var.ty else {
            scope.integers.push((&*var.name, None));
            return Ok(());
        };
        let count = var.ty.atoms();
        self.count(count)?;
        let words = given.unwrap_or_else(|| vec![None; count]);
        let bits = size(atom, &scope.sizes)?;
        let fits = |word: &Option<Id>| word.is_none_or(|word| self.writer.bits(word) == bits);
        if words.len() != count || !words.iter().all(fits) {
            return Err(format!("the words of `{}` do not fit it", var.name));
        }
        let dims = dims.iter().map(|&dim| dim as usize).collect();
        scope.variables.insert(&*var.name, Variable { bits, dims, words });
        Ok(())
    }

    fn statements(&mut self, scope: &mut Scope<'p>, statements: &'p [Stmt]) -> Run<()> {
        for statement in statements {
            match statement {
                Stmt::Equation(equation) => self.equation(scope, equation)?,
                Stmt::Loop(l) => self.nested(|this| this.turns(scope, l))?,
            }
        }
        Ok(())
    }

    /// All turns of a loop, upwards or downwards; both ends belong to it.
    fn turns(&mut self, scope: &mut Scope<'p>, l: &'p Loop) -> Run<()> {
        let (from, to) = (scope.index(&l.from)?, scope.index(&l.to)?);
        let step = if from <= to { 1 } else { -1 };
        let place = scope.integers.len();
        scope.integers.push((&l.index.name, None));
        let mut at = from;
        loop {
            self.count(0)?;
            scope.integers[place].1 = Some(at);
            self.statements(scope, &l.body)?;
            if at == to {
                break;
            }
            at += step;
        }
        scope.integers.truncate(place);
        Ok(())
    }

    /// An equation, or an update: its value is complete before a target changes.
    fn equation(&mut self, scope: &mut Scope<'p>, equation: &Equation) -> Run<()> {
        if let [target] = &equation.targets[..]
            && scope.integer(&target.name.name).is_some()
        {
            return self.integer_equation(scope, equation);
        }
        let (mut want, mut places) = (Vec::new(), Vec::new());
        for target in &equation.targets {
            let found = scope.places(target)?;
            let bits = scope.variable(&target.name.name)?.bits;
            want.extend(found.iter().map(|_| Some(bits)));
            places.extend(found.into_iter().map(|place| (&*target.name.name, place)));
        }
        let mut value = self.expression(scope, &equation.value, &want)?;
        if let Some(op) = equation.op {
            let mut old = Vec::new();
            for target in &equation.targets {
                old.extend(scope.read(target)?);
            }
            value = self.pairs(op, &old, &value)?;
        }
        if self.sizes(&value) != want {
            return Err(format!("an equation of `{}` has unlike sides", places[0].0));
        }
        self.count(value.len())?;
        for ((name, place), word) in places.into_iter().zip(value) {
            let variable = scope.variables.get_mut(name).ok_or("a target is not declared")?;
            variable.words[place] = Some(word);
        }
        Ok(())
    }

    fn integer_equation(&mut self, scope: &mut Scope<'p>, equation: &Equation) -> Run<()> {
        let target = &equation.targets[0];
        let name = &*target.name.name;
        let is_plain = !equation.colon && equation.op.is_none() && target.selectors.is_empty();
        if !is_plain || scope.integer(name).flatten().is_some() {
            return Err(format!("the integer `{name}` is defined again"));
        }
        let value = scope.integer_of(&equation.value)?;
        let place = scope.integers.iter_mut().rfind(|(known, _)| *known == name);
        place.ok_or("an integer is not declared")?.1 = Some(value);
        Ok(())
    }
}
