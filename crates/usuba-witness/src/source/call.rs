//! Calls of nodes, tables and perms, which are evaluated in line.

use usuba_lang::syntax::ast::{AExpr, DeclOpt, Expr};
use usuba_lang::typed::{Atom, Decl, Size, Var, VarType};
use usuba_replay::trace::{ARGUMENTS, Id, Op};

use super::scope::Scope;
use super::{Evaluator, Sizes, Unit, Want, known_size, size, words_of};
use crate::Run;

impl<'p> Evaluator<'p> {
    /// The results of a call of a name; a function of the language has one if no declaration before
    /// has it.
    pub(super) fn call(
        &mut self,
        scope: &Scope<'p>,
        name: &str,
        index: Option<&AExpr>,
        args: &[Expr],
        want: &Want,
    ) -> Run<Vec<Id>> {
        let declared = self.names.get(name).copied().filter(|&id| id < scope.decl);
        let Some(id) = declared else {
            return match index {
                None => self.builtin(scope, name, args, want),
                Some(_) => Err(format!("`{name}` is not an array")),
            };
        };
        let decl = &self.program.decls[id];
        let alternative = match (decl.array, index) {
            (false, None) => 0,
            (true, Some(e)) => {
                let value = scope.index(e)?;
                let found = usize::try_from(value).ok().filter(|&at| at < decl.alternatives());
                found.ok_or_else(|| format!("`{name}` has no member {value}"))?
            }
            (true, None) => return Err(format!("`{name}` needs an index")),
            (false, Some(_)) => return Err(format!("`{name}` is not an array")),
        };
        let mut unit = Unit { id, alternative, numbers: Vec::new(), sizes: Sizes::new() };
        let words = self.arguments(scope, decl, &mut unit, args)?;
        let results = atoms(&decl.results);
        for (atom, wanted) in results.iter().flatten().zip(want) {
            bind(&mut unit.sizes, atom, *wanted);
        }
        let sizes = words_of(&decl.results, &unit.sizes)?;
        self.count(words.len() + sizes.len())?;
        let words = self.unit(&unit, words)?;
        let fits = words.iter().map(|&word| self.writer.bits(word)).eq(sizes);
        if fits { Ok(words) } else { Err(format!("the results of `{name}` do not fit it")) }
    }

    /// The words of the arguments; the integers and the sizes that they fix go into `unit`.
    fn arguments(
        &mut self,
        scope: &Scope<'p>,
        decl: &Decl,
        unit: &mut Unit,
        args: &[Expr],
    ) -> Run<Vec<Id>> {
        let params = atoms(&decl.params);
        let mut want = Vec::new();
        for param in &params {
            want.push(match param {
                Some(atom) => Some(known_size(atom, &unit.sizes)?),
                None => None,
            });
        }
        let words = match params.iter().all(Option::is_some) {
            true => {
                let want: Vec<Option<u8>> = want.into_iter().flatten().collect();
                self.list(scope, args, &want)?
            }
            false => self.mixed_arguments(scope, &want, &mut unit.numbers, args)?,
        };
        let atoms: Vec<&Atom> = params.iter().flatten().copied().collect();
        if words.len() != atoms.len() || unit.numbers.len() != params.len() - atoms.len() {
            return Err(format!("the arguments of `{}` do not fit its parameters", decl.name));
        }
        for (atom, &word) in atoms.iter().zip(&words) {
            let bits = self.writer.bits(word);
            bind(&mut unit.sizes, atom, Some(bits));
            if size(atom, &unit.sizes)? != bits {
                return Err(format!("`{}` takes {atom}, not {bits} bits", decl.name));
            }
        }
        Ok(words)
    }

    /// The same where some parameters, without an inner option, are integers.
    fn mixed_arguments(
        &mut self,
        scope: &Scope<'p>,
        params: &[Option<Option<u8>>],
        numbers: &mut Vec<i64>,
        args: &[Expr],
    ) -> Run<Vec<Id>> {
        let mut words = Vec::new();
        for arg in args {
            let rest = params.get(words.len() + numbers.len()..).unwrap_or(&[]);
            if let [None, ..] = rest {
                numbers.push(scope.integer_of(arg)?);
                continue;
            }
            let want: Vec<Option<u8>> = rest.iter().map_while(|param| *param).collect();
            words.extend(self.expression(scope, arg, &want)?);
        }
        Ok(words)
    }

    /// A table: a function of bits for each result, on each bit position alike.
    pub(super) fn table(
        &mut self,
        unit: &Unit,
        decl: &Decl,
        entries: &[u64],
        words: &[Id],
    ) -> Run<Vec<Id>> {
        let results = words_of(&decl.results, &unit.sizes)?;
        let wrong = || format!("table `{}` does not fit its parameters", decl.name);
        if self.is_whole(decl, entries) {
            let (&[word], &[bits]) = (words, &results[..]) else { return Err(wrong()) };
            return Ok(vec![self.look_up(entries, word, bits)?]);
        }
        let is_last_first = decl.opts.contains(&DeclOpt::LsbFirst);
        if self.program.flags.legacy_tables && !is_last_first && entries.len() == 16 {
            return Err(format!("the bit order of table `{}` may be the old one", decl.name));
        }
        let (inputs, outputs) = (words.len(), results.len());
        let alike = words.iter().map(|&word| self.writer.bits(word)).chain(results.iter().copied());
        let alike: Vec<u8> = alike.collect();
        let is_alike = alike.iter().all(|&bits| bits == alike[0]);
        let fits = (1..=ARGUMENTS).contains(&inputs) && outputs <= 64 && is_alike;
        if !fits || entries.len() != 1 << inputs {
            return Err(wrong());
        }
        let bit = |row: usize, output: usize| match is_last_first {
            false => entries[row] >> (outputs - 1 - output) & 1 == 1,
            true => entries[reversed(row, inputs)] >> output & 1 == 1,
        };
        let column = |output| (0..entries.len()).map(|row| bit(row, output)).collect();
        let columns: Vec<Vec<bool>> = (0..outputs).map(column).collect();
        Ok(columns.iter().map(|column| self.writer.lut(alike[0], column, words)).collect())
    }

    /// Whether a table from one word to one word has an entry for each value of the word.
    fn is_whole(&self, decl: &Decl, entries: &[u64]) -> bool {
        let (Some(bits), Some(_)) = (single(&decl.params), single(&decl.results)) else {
            return false;
        };
        let is_complete = (2..=8).contains(&bits) && entries.len() == 1 << bits;
        bits > 1 && (is_complete || self.program.flags.keep_tables)
    }

    /// The entry of a whole word: each bit of it is a function of the bits of the word.
    fn look_up(&mut self, entries: &[u64], word: Id, bits: u8) -> Run<Id> {
        let from = self.writer.bits(word);
        if usize::from(from) > ARGUMENTS {
            return Err(format!("a look-up by a word of {from} bits"));
        }
        let field = |at: u8| self.writer.op(Op::Field, 1, u64::from(at), &[word]);
        let index: Vec<Id> = (0..from).rev().map(field).collect();
        let mut parts = Vec::new();
        for bit in 0..bits {
            let entry = |row: usize| entries.get(row).is_some_and(|entry| entry >> bit & 1 == 1);
            let column: Vec<bool> = (0..1 << from).map(entry).collect();
            parts.push(self.writer.lut(1, &column, &index));
        }
        Ok(self.writer.op(Op::Join, bits, 0, &parts))
    }
}

/// The atoms of some variables, in order; an integer has none.
fn atoms(vars: &[Var]) -> Vec<Option<&Atom>> {
    let mut atoms = Vec::new();
    for var in vars {
        match &var.ty {
            VarType::Nat => atoms.push(None),
            VarType::Words { atom, .. } => {
                atoms.extend(std::iter::repeat_n(Some(atom), var.ty.atoms()));
            }
        }
    }
    atoms
}

/// Fixes an open size, if it has no value yet.
fn bind(sizes: &mut Sizes, atom: &Atom, bits: Option<u8>) {
    if let (Size::Var(name), Some(bits)) = (&atom.size, bits) {
        sizes.entry(name.clone()).or_insert(bits);
    }
}

/// The size of the one word of a list of variables, if the text says it.
fn single(vars: &[Var]) -> Option<u8> {
    match vars {
        [Var { ty: VarType::Words { atom, .. }, .. }] if vars[0].ty.atoms() == 1 => atom.bits(),
        _ => None,
    }
}

/// The low `count` bits in the opposite order.
fn reversed(row: usize, count: usize) -> usize {
    (0..count).map(|bit| (row >> bit & 1) << (count - 1 - bit)).sum()
}
