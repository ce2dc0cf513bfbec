//! Abstract interpreter: one run through a program, on values of any [`Domain`].
//!
//! The interpreter runs loops, cuts argument lists, selects elements, types literals and keeps
//! track of definitions; the domain only computes on single atoms. So the rules of the language
//! stand here once, for checking, evaluating and lowering alike.
//!
//! | file | part of the language |
//! |---|---|
//! | `statements` | statements, in order, and their definitions |
//! | `frame` | the variables of a running node |
//! | `selectors` | indices and selections |
//! | `expr` | expressions and the operators on lists |
//! | `literals` | literals and their types |
//! | `shifts` | shifts, shuffles and packs |
//! | `calls`, `builtin`, `tables` | calls of nodes and of built-in functions, and tables |

mod builtin;
mod calls;
mod expr;
mod frame;
mod literals;
mod selectors;
mod shifts;
mod statements;
mod tables;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use builtin::Builtin;
pub use tables::{legacy_table, reverse_table};

use super::types::*;
use crate::diag::{Code, Diagnostic, Span};
use crate::op::{self, Op};
use crate::syntax::{ast, size_word};

/// Deepest nesting of calls and expressions together, while walking.
pub const MAX_NESTING: usize = 400;

/// The abstract domain of an interpretation.
pub trait Domain: Sized {
    /// The value of one atom.
    type V: Clone;

    /// The operators, tables and calls that follow stand at this place.
    fn at(&mut self, _place: Span) {}

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

    /// The operators of one construct on lists of equal length, one for each atom, where
    /// [`Op::Copy`] leaves an atom as it is. A domain that keeps atoms together sees here which.
    fn list(
        &mut self,
        ops: &[Op],
        types: &[Atom],
        args: &[&[Self::V]],
    ) -> Result<Vec<Self::V>, Refusal> {
        let atom = |(at, (op, ty)): (usize, (&Op, &Atom))| match op {
            Op::Copy => Ok(args[0][at].clone()),
            Op::Const(_) => self.op(op, ty, &[]),
            _ => {
                let args: SmallVec<[&Self::V; 3]> = args.iter().map(|list| &list[at]).collect();
                self.op(op, ty, &args)
            }
        };
        ops.iter().zip(types).enumerate().map(atom).collect()
    }

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

    /// A shift or rotation in the text, before it becomes operators.
    fn shift(
        &mut self,
        _op: ast::ShiftOp,
        _words: &[Typed<Self::V>],
        _amounts: &[ast::AExpr],
        _span: Span,
    ) {
    }

    /// Whether loops are shown by one turn, for the words of any turn that [`Domain::carry`] gives.
    fn by_induction(&self) -> bool {
        false
    }

    /// A value for a word at the beginning of a turn that also stands for the word at its end;
    /// `None` if the value at the beginning does. It was replaced `widened` times before.
    fn carry(&mut self, _word: Carried<'_, Self::V>, _widened: usize) -> Option<Self::V> {
        None
    }

    /// A loop begins; then [`Domain::iteration`] for every iteration; then `loop_exit`.
    fn loop_enter(&mut self, _opts: &[ast::LoopOpt]) {}
    fn iteration(&mut self) {}
    fn loop_exit(&mut self) {}
}

/// A word that a loop carries from one turn to the next.
pub struct Carried<'a, V> {
    pub name: &'a dyn Fn() -> String,
    /// The declared range, which every value that the word takes was shown to keep.
    pub range: Option<Range>,
    pub ty: &'a Atom,
    /// Its value at the beginning of a turn, then at the end.
    pub begin: &'a V,
    pub end: &'a V,
}

/// Why a domain does not compute something.
pub struct Refusal {
    pub code: Code,
    pub message: String,
    pub help: Option<String>,
}

impl Refusal {
    /// An operator that words of 128 bits lack.
    pub fn wide(op: &Op) -> Refusal {
        Refusal {
            code: Code::BadArithmetic,
            message: format!("`{}` on words of 128 bits", op.name()),
            help: Some("split the word into two of 64 bits by `u64(x)` and `u64(x >> 64)`".into()),
        }
    }
}

/// The reason why an interpretation stops. [`Walker::diags`] has the errors.
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
    pub(super) depth: usize,
    /// The greatest [`Walker::depth`] since the last reset.
    pub(super) deepest: usize,
    steps: u64,
    errors: usize,
    /// A limit was reached: every later finding would only repeat that.
    full: bool,
    decls: FxHashMap<Rc<str>, DeclId>,
}

impl<'p, D: Domain> Walker<'p, D> {
    pub fn new(program: &'p Program, domain: D) -> Self {
        Walker {
            program,
            domain,
            diags: Vec::new(),
            seen: FxHashSet::default(),
            depth: 0,
            deepest: 0,
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
            self.report(too_deep(span));
            return Err(Stop::Error);
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let result = run(self);
        self.depth -= 1;
        result
    }

    fn op(&mut self, op: &Op, ty: &Atom, args: &[&D::V], span: Span) -> Run<D::V> {
        self.domain.at(span);
        self.domain.op(op, ty, args).map_err(|refusal| self.refuse(refusal, span))
    }

    /// Operators on lists of equal length, one for each atom.
    fn list(
        &mut self,
        ops: &[Op],
        types: Vec<Atom>,
        args: &[&[D::V]],
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        self.domain.at(span);
        let values = self.domain.list(ops, &types, args);
        let values = values.map_err(|refusal| self.refuse(refusal, span))?;
        Ok(types.into_iter().zip(values).collect())
    }

    /// Records the refusal of a domain, at a place.
    pub fn refuse(&mut self, refusal: Refusal, span: Span) -> Stop {
        let mut diag = Diagnostic::error(refusal.code, span, refusal.message);
        diag.help = refusal.help;
        self.report(diag);
        Stop::Error
    }
}

/// Calls and expressions nest deeper than [`MAX_NESTING`].
pub fn too_deep(span: Span) -> Diagnostic {
    let text =
        format!("calls and expressions nest more than {MAX_NESTING} deep; this is the limit");
    Diagnostic::error(Code::TooDeep, span, text)
        .help("name intermediate results, or shorten the chain of calls")
}

fn atoms(count: usize) -> String {
    format!("{count} atom{}", if count == 1 { "" } else { "s" })
}
