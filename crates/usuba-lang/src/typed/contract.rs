//! Semantics of the terms of a contract, on any kind of integers.
//!
//! ```text
//! value fe (a:u64x5) = sum(i in [0,4], a[i] * 2^(51*i))
//!
//! fe(r) == fe(a) * fe(b) mod 2^255 - 19        integers on both sides
//! r == mul_ref(a, b)                           words on both sides
//! ```
//!
//! Like the interpreter of programs, the interpreter of terms is written once, for any domain,
//! [`Integers`]: nothing at all (the rules of this file), plain numbers (ranges), or the integers
//! of a prover. A term denotes an integer or a list of words; a list of one word is its integer in
//! the place of an integer.

use std::rc::Rc;

use super::types::*;
use crate::diag::{Code, Diagnostic, Span};
use crate::names::did_you_mean;
use crate::syntax::ast::{self, AExpr, Relation, Role, Selector, Term, TermKind, TermOp};

/// Most terms that one sum may have.
const MAX_SUM: i128 = 4096;

/// The domain of the interpretation of terms.
pub trait Integers {
    type Word: Clone;
    type Int: Clone;

    fn literal(&mut self, value: u128) -> Self::Int;

    /// The integer of a word.
    fn word(&mut self, word: &Self::Word) -> Self::Int;

    /// An error is a reason in the user's words.
    fn combine(&mut self, op: TermOp, a: Self::Int, b: Self::Int) -> Result<Self::Int, String>;

    /// A node without contract, applied to flattened words.
    fn node(&mut self, node: DeclId, args: Vec<Self::Word>) -> Result<Vec<Self::Word>, String>;
}

/// The value that a term denotes.
#[derive(Clone, Debug)]
pub enum Meaning<W, I> {
    Int(I),
    Words(Vec<W>),
}

/// Words by name, with the dimensions of their variable.
pub type Scope<W> = Vec<(Rc<str>, Vec<u32>, Vec<W>)>;

/// A run through terms.
pub struct Terms<'p, N: Integers> {
    program: &'p [Decl],
    values: &'p [ValueMap],
    pub integers: N,
}

type Run<T> = Result<T, Box<Diagnostic>>;

fn fail<T>(code: Code, span: Span, text: impl Into<String>, help: &str) -> Run<T> {
    Err(Box::new(Diagnostic::error(code, span, text).help(help)))
}

impl<'p, N: Integers> Terms<'p, N> {
    /// Terms may name these nodes and values.
    pub fn new(program: &'p [Decl], values: &'p [ValueMap], integers: N) -> Self {
        Terms { program, values, integers }
    }

    /// The integer that a term denotes.
    pub fn integer(&mut self, scope: &Scope<N::Word>, term: &Term) -> Run<N::Int> {
        self.int(scope, &mut Vec::new(), term)
    }

    /// Both sides of a comparison: words if one of them is a list, integers otherwise.
    #[allow(clippy::type_complexity)] // Twice the same.
    pub fn sides(
        &mut self,
        scope: &Scope<N::Word>,
        clause: &ast::Clause,
    ) -> Run<(Meaning<N::Word, N::Int>, Meaning<N::Word, N::Int>)> {
        let left = self.meaning(scope, &mut Vec::new(), &clause.left)?;
        let right = self.meaning(scope, &mut Vec::new(), &clause.right)?;
        if let (Meaning::Words(left), Meaning::Words(right)) = (&left, &right)
            && left.len() == right.len()
            && clause.relation == Relation::Equal
            && clause.modulus.is_none()
        {
            return Ok((Meaning::Words(left.clone()), Meaning::Words(right.clone())));
        }
        let left = self.as_int(left, &clause.left)?;
        Ok((Meaning::Int(left), Meaning::Int(self.as_int(right, &clause.right)?)))
    }

    fn as_int(&mut self, meaning: Meaning<N::Word, N::Int>, term: &Term) -> Run<N::Int> {
        match meaning {
            Meaning::Int(value) => Ok(value),
            Meaning::Words(words) => match words.as_slice() {
                [word] => Ok(self.integers.word(word)),
                _ => {
                    let text = format!("{} words where one integer is wanted", words.len());
                    let help = "say what integer they stand for: declare `value fe (...) = ...`, \
                                then write `fe(...)`";
                    fail(Code::BadContract, term.span, text, help)
                }
            },
        }
    }

    fn int(
        &mut self,
        scope: &Scope<N::Word>,
        indices: &mut Vec<(Rc<str>, i128)>,
        term: &Term,
    ) -> Run<N::Int> {
        let meaning = self.meaning(scope, indices, term)?;
        self.as_int(meaning, term)
    }

    fn meaning(
        &mut self,
        scope: &Scope<N::Word>,
        indices: &mut Vec<(Rc<str>, i128)>,
        term: &Term,
    ) -> Run<Meaning<N::Word, N::Int>> {
        match &term.kind {
            TermKind::Int(value) => Ok(Meaning::Int(self.integers.literal(*value))),
            TermKind::Var(var) => {
                let index = indices.iter().rev().find(|(n, _)| **n == *var.name.name);
                if let (Some(&(_, value)), []) = (index, var.selectors.as_slice()) {
                    let Ok(value) = u64::try_from(value) else {
                        let text = format!("the index is {value} here");
                        let help = "in a term of its own an index is 0 or more";
                        return fail(Code::BadContract, term.span, text, help);
                    };
                    return Ok(Meaning::Int(self.integers.literal(value.into())));
                }
                self.select(scope, indices, var).map(Meaning::Words)
            }
            TermKind::Apply { callee, args } => {
                let mut words = Vec::new();
                for arg in args {
                    match self.meaning(scope, indices, arg)? {
                        Meaning::Words(part) => words.extend(part),
                        Meaning::Int(_) => {
                            let text = format!("an integer as an argument of `{}`", callee.name);
                            let help = "values and nodes take words";
                            return fail(Code::BadContract, arg.span, text, help);
                        }
                    }
                }
                self.apply(callee, words, term.span)
            }
            TermKind::Bin(op, left, right) => {
                let left = self.int(scope, indices, left)?;
                let right = self.int(scope, indices, right)?;
                match self.integers.combine(*op, left, right) {
                    Ok(value) => Ok(Meaning::Int(value)),
                    Err(text) => {
                        let help = "powers and quotients are of constants, or a constant power";
                        fail(Code::BadContract, term.span, text, help)
                    }
                }
            }
            TermKind::Sum { index, from, to, term: inner } => {
                let (from, to) = (number(indices, from)?, number(indices, to)?);
                if to - from >= MAX_SUM {
                    let text = format!("a sum of more than {MAX_SUM} terms; this is the limit");
                    return fail(Code::TooLarge, term.span, text, "shorten the sum");
                }
                let mut total = self.integers.literal(0);
                for i in from..=to {
                    indices.push((index.name.as_str().into(), i));
                    let next = self.int(scope, indices, inner);
                    indices.pop();
                    let next = next?;
                    let sum = self.integers.combine(TermOp::Add, total, next);
                    total = sum.or_else(|text| fail(Code::BadContract, term.span, text, ""))?;
                }
                Ok(Meaning::Int(total))
            }
        }
    }

    fn apply(
        &mut self,
        callee: &ast::Ident,
        words: Vec<N::Word>,
        span: Span,
    ) -> Run<Meaning<N::Word, N::Int>> {
        let wrong = |wanted: usize, place: Span| {
            let text = format!("`{}` takes {wanted} words, not {}", callee.name, words.len());
            let error = Diagnostic::error(Code::BadContract, span, text);
            let error = error.related(place, format!("`{}` is declared here", callee.name));
            Err(Box::new(error.help("arguments are flattened, as in a call")))
        };
        if let Some(map) = self.values.iter().find(|map| *map.name == *callee.name) {
            let wanted = map.params.iter().map(|var| var.ty.atoms()).sum();
            if wanted != words.len() {
                return wrong(wanted, map.span);
            }
            let scope = bind(&map.params, &words);
            return self.int(&scope, &mut Vec::new(), &map.term).map(Meaning::Int);
        }
        let Some(id) = self.program.iter().position(|decl| *decl.name == *callee.name) else {
            let text = format!("`{}` is neither a value nor a node declared before", callee.name);
            let nodes = self.program.iter().map(|decl| &*decl.name);
            let near =
                did_you_mean(&callee.name, nodes.chain(self.values.iter().map(|v| &*v.name)));
            let help = near.unwrap_or("declare it above, as `value fe (a:u64x5) = ...`".into());
            return fail(Code::BadContract, callee.span, text, &help);
        };
        let decl = &self.program[id];
        let wanted = decl.params.iter().map(|var| var.ty.atoms()).sum();
        let nats = decl.params.iter().any(|var| var.ty == VarType::Nat);
        if decl.array || nats || !decl.size_vars().is_empty() {
            let text = format!("`{}` is no single function of words", callee.name);
            let help = "a contract names nodes without nat parameters, with word sizes written";
            return fail(Code::BadContract, callee.span, text, help);
        }
        if wanted != words.len() {
            return wrong(wanted, decl.name_span);
        }
        match self.integers.node(id, words) {
            Ok(results) => Ok(Meaning::Words(results)),
            Err(text) => fail(Code::BadContract, span, text, "call it with words in its ranges"),
        }
    }

    /// The words that the selectors of a variable pick, in order.
    fn select(
        &mut self,
        scope: &Scope<N::Word>,
        indices: &[(Rc<str>, i128)],
        var: &ast::Var,
    ) -> Run<Vec<N::Word>> {
        let name = &var.name.name;
        let Some((_, dims, words)) = scope.iter().find(|(n, ..)| **n == *name) else {
            let text = format!("`{name}` has no meaning in this contract");
            let near = did_you_mean(name, scope.iter().map(|(known, ..)| &**known));
            let help = near.unwrap_or(
                "`requires` and ranges speak of parameters, `ensures` of results as well".into(),
            );
            return fail(Code::BadContract, var.span, text, &help);
        };
        let mut size = words.len();
        let mut dims = dims.iter();
        let mut chosen = vec![0];
        for selector in &var.selectors {
            let Some(&dim) = dims.next() else {
                let text = format!("`{name}` has no dimension for this index");
                return fail(Code::NotIndexable, var.span, text, "remove the index");
            };
            size /= dim as usize;
            let element = |e: &AExpr| match number(indices, e)? {
                i if (0..dim as i128).contains(&i) => Ok(i as usize),
                i => {
                    let text = format!("index {i} of `{name}`, whose dimension is {dim}");
                    let help = format!("indices go from 0 to {}", dim - 1);
                    fail(Code::IndexOutOfRange, e.span(), text, &help)
                }
            };
            let members: Vec<usize> = match selector {
                Selector::Index(e) => vec![element(e)?],
                Selector::List(list) => list.iter().map(element).collect::<Run<_>>()?,
                Selector::Range(a, b) => match (element(a)?, element(b)?) {
                    (a, b) if a <= b => (a..=b).collect(),
                    (a, b) => (b..=a).rev().collect(),
                },
            };
            let picked = &members;
            chosen = chosen
                .iter()
                .flat_map(|base| picked.iter().map(move |i| base + i * size))
                .collect();
        }
        Ok(chosen.iter().flat_map(|&base| words[base..base + size].iter().cloned()).collect())
    }
}

/// The words of variables, flattened, under the names of the variables.
pub fn bind<W: Clone>(vars: &[Var], words: &[W]) -> Scope<W> {
    let mut rest = words;
    let mut scope = Vec::new();
    for var in vars {
        let VarType::Words { dims, .. } = &var.ty else { continue };
        let (these, after) = rest.split_at(var.ty.atoms().min(rest.len()));
        rest = after;
        scope.push((var.name.clone(), dims.clone(), these.to_vec()));
    }
    scope
}

/// An index expression.
fn number(indices: &[(Rc<str>, i128)], e: &AExpr) -> Run<i128> {
    match e {
        AExpr::Int(value, _) => Ok(*value as i128),
        AExpr::Name(id) => match indices.iter().rev().find(|(n, _)| **n == *id.name) {
            Some((_, value)) => Ok(*value),
            None => {
                let text = format!("`{}` is no index of a sum", id.name);
                fail(Code::NotConstant, id.span, text, "use numbers and indices of sums")
            }
        },
        AExpr::Bin(op, l, r) => {
            let (a, b) = (number(indices, l)?, number(indices, r)?);
            let value = match op {
                ast::ABinOp::Add => a.checked_add(b),
                ast::ABinOp::Sub => a.checked_sub(b),
                ast::ABinOp::Mul => a.checked_mul(b),
                ast::ABinOp::Div => a.checked_div(b),
                ast::ABinOp::Mod => a.checked_rem_euclid(b),
            };
            let help = "indices are small numbers";
            value.map_or_else(|| fail(Code::NotConstant, e.span(), "no such index", help), Ok)
        }
    }
}

/// Checks the names and shapes of the contract of a node; `decls` are those before it.
pub fn check(decls: &[Decl], values: &[ValueMap], node: &Decl) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut terms = Terms::new(decls, values, Shapes { decls });
    let units = |vars: &[Var]| -> Scope<()> {
        let count = vars.iter().map(|var| var.ty.atoms()).sum();
        bind(vars, &vec![(); count])
    };
    let (params, results) = (units(&words(&node.params)), units(&words(&node.results)));
    for clause in &node.contract {
        let mut scope = params.clone();
        if clause.role == Role::Ensures {
            scope.extend(results.iter().cloned());
        }
        let found = terms.sides(&scope, clause).map(|_| ());
        let modulus = clause.modulus.as_ref().map(constant_term);
        findings.extend(found.and(modulus.unwrap_or(Ok(()))).err().map(|finding| *finding));
    }
    findings
}

/// Checks the names and shapes of a value map.
pub fn check_value(decls: &[Decl], values: &[ValueMap], map: &ValueMap) -> Vec<Diagnostic> {
    let mut terms = Terms::new(decls, values, Shapes { decls });
    let count = map.params.iter().map(|var| var.ty.atoms()).sum();
    let scope = bind(&map.params, &vec![(); count]);
    terms.integer(&scope, &map.term).err().map(|finding| *finding).into_iter().collect()
}

fn words(vars: &[Var]) -> Vec<Var> {
    vars.iter().filter(|var| var.ty != VarType::Nat).cloned().collect()
}

/// Whether a modulus names no variables.
fn constant_term(term: &Term) -> Run<()> {
    match &term.kind {
        TermKind::Int(_) => Ok(()),
        TermKind::Bin(_, l, r) => constant_term(l).and_then(|()| constant_term(r)),
        _ => {
            let help = "write it as a number, such as 2^255 - 19";
            fail(Code::BadContract, term.span, "a modulus that is no constant", help)
        }
    }
}

/// The domain of unknown integers, for shape checks.
struct Shapes<'p> {
    decls: &'p [Decl],
}

impl Integers for Shapes<'_> {
    type Word = ();
    type Int = ();

    fn literal(&mut self, _: u128) {}

    fn word(&mut self, (): &()) {}

    fn combine(&mut self, _: TermOp, (): (), (): ()) -> Result<(), String> {
        Ok(())
    }

    fn node(&mut self, node: DeclId, _: Vec<()>) -> Result<Vec<()>, String> {
        Ok(vec![(); self.decls[node].results.iter().map(|var| var.ty.atoms()).sum()])
    }
}

/// Numbers below 2^128.
struct Numbers;

impl Integers for Numbers {
    type Word = ();
    type Int = u128;

    fn literal(&mut self, value: u128) -> u128 {
        value
    }

    fn word(&mut self, (): &()) -> u128 {
        unreachable!("a range has no variables in its scope");
    }

    fn combine(&mut self, op: TermOp, a: u128, b: u128) -> Result<u128, String> {
        let value = match op {
            TermOp::Add => a.checked_add(b),
            TermOp::Sub => a.checked_sub(b),
            TermOp::Mul => a.checked_mul(b),
            TermOp::Div => a.checked_div(b),
            TermOp::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        };
        value.ok_or_else(|| "a bound below zero or beyond 2^128".to_string())
    }

    fn node(&mut self, _: DeclId, _: Vec<()>) -> Result<Vec<()>, String> {
        Err("a node in a range".to_string())
    }
}

/// The range of words of `bits` bits, both ends in it; open sizes are not known.
pub fn range(range: &ast::Range, bits: Option<u8>) -> Run<Range> {
    let mut terms = Terms::new(&[], &[], Numbers);
    let low = terms.integer(&Vec::new(), &range.low)?;
    let above = terms.integer(&Vec::new(), &range.high)?;
    let high = if range.closed { Some(above) } else { above.checked_sub(1) };
    let Some(high) = high.filter(|high| low <= *high) else {
        let help = "the first bound is below the second";
        return fail(Code::BadRange, range.span, "a range without any number", help);
    };
    if let Some(bits) = bits.filter(|&bits| bits < 128 && high >> bits != 0) {
        let text = format!("a range beyond the words of {bits} bits");
        let help = format!("the largest number of {bits} bits is 2^{bits} - 1");
        return fail(Code::BadRange, range.span, text, &help);
    }
    Ok(Range { low, high, span: range.span })
}
