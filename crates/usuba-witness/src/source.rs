//! The trace of a program: an evaluator whose values are words of a trace.
//!
//! ```text
//! node f (a:u8, b:u8) returns (c:u8)      w0 = input 0, w1 = input 1
//! let c = (a ^ b) <<< 1 tel               w2 = xor w0, w1;  w3 = rotl w2, 1
//! ```
//!
//! An atom of m bits is one word of m bits in every slicing. Calls and loops are unrolled.
//!
//! - `scope`: the variables and integers of a running node, indices and selections.
//! - `statement`: equations and loops.
//! - `expression`: expressions, and the type that a literal takes from its place.
//! - `word`: shifts and the other operators that move bits.
//! - `call`: calls of nodes, tables and perms; `builtin`: calls of the functions of the language.

mod builtin;
mod call;
mod expression;
mod scope;
mod statement;
mod word;

use std::collections::HashMap;
use std::rc::Rc;

use usuba_lang::typed::{Atom, DeclId, Instance, Kind, Program, Size, Var, VarType};
use usuba_replay::trace::{Id, MOST, Op, Trace, Writer};

use crate::Run;

/// The deepest nesting of calls and expressions, as in the language.
const DEEPEST: usize = 400;

/// The most atoms that are computed or copied.
const STEPS: u64 = 1 << 26;

/// Word sizes by the names of size variables.
type Sizes = HashMap<Rc<str>, u8>;

/// The sizes of the words that a place expects; `None` where a size is still open.
type Want = [Option<u8>];

/// The trace of some copies of an instance of a program.
///
/// Its inputs are the words of the parameters, and its outputs are the words of the results. Each of
/// them stands there once for each copy; a constant parameter is one for all copies.
///
/// # Errors
/// The program has words above 64 bits, an open size or something else that no trace has.
pub fn source(program: &Program, instance: &Instance, copies: usize) -> Result<Trace, String> {
    let decl = program.decls.get(instance.decl).ok_or("the program has no such declaration")?;
    if instance.column {
        return Err("an instance of one column of bits has no trace".into());
    }
    let known = |(name, size): &(Rc<str>, Size)| match size {
        Size::Bits(bits) => Some((name.clone(), *bits)),
        Size::Var(_) => None,
    };
    let unit = Unit {
        id: instance.decl,
        alternative: instance.alternative,
        numbers: instance.nats.clone(),
        sizes: instance.sizes.iter().filter_map(known).collect(),
    };
    let mut evaluator = Evaluator::new(program);
    let mut inputs = vec![Vec::new(); copies];
    for var in &decl.params {
        let widths = words_of(std::slice::from_ref(var), &unit.sizes)?;
        let mut words = Vec::new();
        for (copy, own) in inputs.iter_mut().enumerate() {
            if copy == 0 || !var.constant {
                words = widths.iter().map(|&bits| evaluator.writer.input(bits)).collect();
            }
            own.extend_from_slice(&words);
        }
    }
    let mut results = Vec::new();
    for own in inputs {
        results.push(evaluator.unit(&unit, own)?.into_iter());
    }
    let mut outputs = Vec::new();
    for var in &decl.results {
        let count = words_of(std::slice::from_ref(var), &unit.sizes)?.len();
        results.iter_mut().for_each(|own| outputs.extend(own.by_ref().take(count)));
    }
    let trace = evaluator.writer.finish(&outputs);
    match trace.words.len() > MOST {
        true => Err(format!("the trace has more than {MOST} words")),
        false => Ok(trace),
    }
}

/// One use of a declaration.
struct Unit {
    id: DeclId,
    alternative: usize,
    /// The values of its `nat` parameters.
    numbers: Vec<i64>,
    sizes: Sizes,
}

/// The state of an evaluation.
struct Evaluator<'p> {
    program: &'p Program,
    names: HashMap<&'p str, DeclId>,
    writer: Writer,
    depth: usize,
    steps: u64,
}

impl<'p> Evaluator<'p> {
    fn new(program: &'p Program) -> Self {
        let names = program.decls.iter().enumerate().map(|(id, decl)| (&*decl.name, id)).collect();
        Evaluator { program, names, writer: Writer::default(), depth: 0, steps: 0 }
    }

    /// The results of a declaration on the words of its parameters.
    fn unit(&mut self, unit: &Unit, words: Vec<Id>) -> Run<Vec<Id>> {
        let decl = &self.program.decls[unit.id];
        let missing = || format!("`{}` has no alternative {}", decl.name, unit.alternative);
        match &decl.kind {
            Kind::Node(bodies) => {
                let body = bodies.get(unit.alternative).ok_or_else(missing)?;
                self.nested(|this| this.body(unit, decl, body, words))
            }
            Kind::Table(lists) => {
                let list = lists.get(unit.alternative).ok_or_else(missing)?;
                self.table(unit, decl, &list.values, &words)
            }
            Kind::Perm(lists) => {
                let list = lists.get(unit.alternative).ok_or_else(missing)?;
                let word =
                    |&at: &u64| usize::try_from(at).ok()?.checked_sub(1).map(|at| words.get(at));
                let picked: Option<Vec<Id>> =
                    list.values.iter().map(|at| word(at).flatten().copied()).collect();
                picked.ok_or_else(|| format!("perm `{}` names an input it lacks", decl.name))
            }
        }
    }

    /// Runs one level deeper.
    fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        if self.depth == DEEPEST {
            return Err(format!("calls and expressions nest more than {DEEPEST} deep"));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Counts atoms that are computed or copied.
    fn count(&mut self, atoms: usize) -> Run<()> {
        self.steps += atoms as u64 + 1;
        match self.steps > STEPS {
            true => Err(format!("the program has more than {STEPS} steps")),
            false => Ok(()),
        }
    }

    /// An operator on two words of one size.
    fn pair(&mut self, op: Op, left: Id, right: Id) -> Run<Id> {
        let (bits, other) = (self.writer.bits(left), self.writer.bits(right));
        if bits != other {
            return Err(format!("{op:?} of words of {bits} and {other} bits"));
        }
        Ok(self.writer.op(op, bits, 0, &[left, right]))
    }

    /// The sizes of words, as a place expects them.
    fn sizes(&self, words: &[Id]) -> Vec<Option<u8>> {
        words.iter().map(|&word| Some(self.writer.bits(word))).collect()
    }
}

/// The size of an atom if it is known.
fn known_size(atom: &Atom, sizes: &Sizes) -> Run<Option<u8>> {
    let bits = match &atom.size {
        Size::Bits(bits) => Some(*bits),
        Size::Var(name) => sizes.get(name).copied(),
    };
    match bits {
        Some(0) => Err("a word of no bits".into()),
        Some(bits) if bits > 64 => Err(format!("words of {bits} bits have no trace")),
        _ => Ok(bits),
    }
}

/// The size of an atom.
fn size(atom: &Atom, sizes: &Sizes) -> Run<u8> {
    known_size(atom, sizes)?.ok_or_else(|| format!("the size of {atom} is open"))
}

/// The sizes of all words of some variables, in order.
fn words_of(vars: &[Var], sizes: &Sizes) -> Run<Vec<u8>> {
    let mut words = Vec::new();
    for var in vars {
        if let VarType::Words { atom, .. } = &var.ty {
            words.extend(std::iter::repeat_n(size(atom, sizes)?, var.ty.atoms()));
        }
    }
    Ok(words)
}
