//! Inverter absorption (bubble pushing): moves complements to places where they cost nothing.
//!
//! ```text
//! t = ~(a & b);          t' = a & b;
//! u = (t ^ k) <<< 3;     u' = (t' ^ k) <<< 3;
//! y = u & c;        →    y  = ~u' & c;             (one instruction with andn)
//! z = t ^ 0xf0;          z  = t' ^ 0x0f;
//! ```
//!
//! For every value the pass chooses whether the program computes the value or its complement. XORs,
//! rotations and permutations propagate a complement, constants and tables of ternary logic absorb
//! it, `and` and `or` are each other's complement, and two complements cancel. A loop-carried value
//! may be carried as its complement. The search starts with the forms in the program. It propagates
//! each complement that costs an instruction through XORs and rotations, and keeps a change that
//! saves instructions.
//!
//! Sound because every operator is replaced by one that computes the chosen form from the chosen
//! forms of its operands; results of the node, calls and arithmetic read the values themselves.
//! Requires nothing; finds more after `inline`. Equations stay in their order, and a remaining
//! complement stands before its first reader.
//! With `free_keys` the words of constant ports of the entry may have either form at no cost; the
//! words that one loop reads in turn all have the same form. Those complements are then the first
//! equations of the entry, and the caller of the kernel can compute them instead.
//! Limits: a node stays as it is unless the cost falls noticeably, and so does every node on
//! targets with ternary logic. Arguments and results of calls keep their form.

use std::collections::BTreeSet;

use super::logic::Logic;
use super::{Pass, PassOptions};
use crate::ir::{Args, Eqn, Loop, Node, Op, OpEqn, Program, Slicing, Val};

mod rewrite;

pub const PASS: Pass =
    Pass { name: "complement", about: "move complements to where they cost nothing", run };

/// The least part of the instructions of a node that the pass must save. C compilers generate
/// different code for every other order of complements, up to a fifth slower, which smaller savings
/// do not outweigh.
const WORTH: u64 = 200;

/// Largest number of values that one attempt may complement.
const REACH: usize = 400;

/// Number of times that all remaining complements are tried again.
const ROUNDS: usize = 4;

/// Largest number of operators that a complement is pushed back, to a place without cost.
const DEPTH: usize = 4;

/// Largest number of values that all attempts together complement, per equation of the node.
const BUDGET: usize = 16;

fn run(program: &mut Program, options: &PassOptions) {
    // There `fuse` absorbs the same complements, and its code is faster.
    if options.logic.ternary {
        return;
    }
    let entry = program.entry.0 as usize;
    for (at, node) in program.nodes.iter_mut().enumerate() {
        let before = price(&node.body, options.logic);
        if !has_complements(&node.body) {
            continue;
        }
        let keys = options.free_keys && at == entry;
        let mut choice = Choice::new(node, program.slicing, options.logic, keys);
        choice.improve();
        let rewritten = rewrite::Rewriter::new(node, &choice).node();
        let after = price(&rewritten.body, options.logic) - choice.turned_keys();
        let saved = before.saturating_sub(after);
        if saved > before / WORTH {
            *node = rewritten;
        }
    }
}

fn has_complements(eqns: &[Eqn]) -> bool {
    eqns.iter().any(|eqn| match eqn {
        Eqn::Op(e) => matches!(e.op, Op::Not | Op::Andn),
        Eqn::Call(_) => false,
        Eqn::Loop(lp) => has_complements(&lp.body),
    })
}

/// The values of the constant ports, in order.
fn constants(node: &Node, slicing: Slicing) -> Vec<Val> {
    let mut found = Vec::new();
    let mut next = 0;
    for port in &node.params {
        let end = next + port.values(slicing) as u32;
        if port.constant {
            found.extend((next..end).map(Val));
        }
        next = end;
    }
    found
}

/// The number of executed instructions. Saturates.
fn price(eqns: &[Eqn], logic: Logic) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Op(e) => logic.price(&e.op),
        Eqn::Call(_) => 0,
        Eqn::Loop(lp) => price(&lp.body, logic).saturating_mul(u64::from(lp.count)),
    };
    eqns.iter().map(one).fold(0, u64::saturating_add)
}

/// A value or, if the flag is set, its complement.
type Literal = (Val, bool);

/// A part of the node that costs an instruction if its operands and its result are in the wrong
/// forms.
struct Term {
    kind: Kind,
    args: [Literal; 3],
    count: u8,
    /// The result, if it may be in either form.
    out: Option<Val>,
    /// The result counts as its complement.
    flip: bool,
    /// Hands a value into a loop, from one iteration to the next, or out.
    tie: bool,
    /// The number of executions.
    weight: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// XOR: complements of the operands cancel, and the result has the parity of the rest.
    Sum,
    /// `a & b`
    Product,
    /// The result has the form of the operand. Complements pass through loops this way, too.
    Move,
    /// Any forms of operands and result are free.
    Table,
    /// The operand must be the value itself.
    Plain,
}

/// For each value whether its complement is computed, and the cost of that choice.
struct Choice<'a> {
    node: &'a Node,
    logic: Logic,
    /// Each value as a literal: a value that is computed, or the complement of one.
    literal: Vec<Literal>,
    constant: Vec<bool>,
    /// The value that decides the form: for example, a loop-carried value and its result share one
    /// form.
    form_of: Vec<Val>,
    /// By `form_of`: whether the complement is computed.
    complemented: Vec<bool>,
    terms: Vec<Term>,
    /// By `form_of`: the terms with that value.
    terms_of: Vec<Vec<u32>>,
    /// By `form_of`: its form is fixed.
    fixed: Vec<bool>,
    /// The parameters that callers hand over in either form.
    keys: Vec<Val>,
    /// By `form_of`: whether it stands for such a parameter.
    is_key: Vec<bool>,
    /// The cost of the terms of the attempt that is being made, before it.
    was: Vec<Option<u64>>,
    /// The values that all attempts together may still complement.
    budget: usize,
}

impl<'a> Choice<'a> {
    fn new(node: &'a Node, slicing: Slicing, logic: Logic, free_keys: bool) -> Choice<'a> {
        let count = node.bits.len();
        let values: Vec<Val> = (0..count as u32).map(Val).collect();
        let mut choice = Choice {
            node,
            logic,
            literal: values.iter().map(|&v| (v, false)).collect(),
            constant: vec![false; count],
            form_of: values,
            complemented: vec![false; count],
            terms: Vec::new(),
            terms_of: vec![Vec::new(); count],
            fixed: vec![false; count],
            keys: if free_keys { constants(node, slicing) } else { Vec::new() },
            is_key: vec![false; count],
            was: Vec::new(),
            budget: 0,
        };
        choice.fixed[..node.arity(slicing)].fill(true);
        choice.keys.iter().for_each(|v| choice.fixed[v.0 as usize] = false);
        choice.join_reads(&node.body);
        for &key in &choice.keys {
            choice.is_key[choice.form_of[key.0 as usize].0 as usize] = true;
        }
        choice.block(&node.body, 1);
        for &out in &node.outs {
            choice.term(Kind::Plain, &[out], None, 1);
        }
        choice.was = vec![None; choice.terms.len()];
        choice.budget = BUDGET * (choice.terms.len() + 100);
        choice
    }

    fn term(&mut self, kind: Kind, args: &[Val], out: Option<Val>, weight: u64) {
        let at = self.terms.len() as u32;
        let mut literals = [(Val(0), false); 3];
        for (literal, &arg) in literals.iter_mut().zip(args) {
            *literal = self.literal[arg.0 as usize];
        }
        let own = literals[..args.len()].iter().map(|&(v, _)| v).chain(out);
        for v in own.collect::<Args>() {
            let form = self.form_of[v.0 as usize];
            let terms = &mut self.terms_of[form.0 as usize];
            if terms.last() != Some(&at) {
                terms.push(at);
            }
        }
        let count = args.len() as u8;
        self.terms.push(Term { kind, args: literals, count, out, flip: false, tie: false, weight });
    }

    fn tie(&mut self, from: Val, to: Val, weight: u64) {
        self.term(Kind::Move, &[from], Some(to), weight);
        self.terms.last_mut().expect("just made").tie = true;
    }

    fn block(&mut self, eqns: &[Eqn], weight: u64) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.equation(e, weight),
                Eqn::Call(call) => {
                    call.args.iter().for_each(|&v| self.term(Kind::Plain, &[v], None, weight));
                    call.dsts.iter().for_each(|v| self.fixed[v.0 as usize] = true);
                }
                Eqn::Loop(lp) => self.lp(lp, weight),
            }
        }
    }

    fn equation(&mut self, e: &OpEqn, weight: u64) {
        let dst = e.dst.0 as usize;
        let narrow = self.logic.is_narrow(self.node.bits_of(e.dst));
        let kind = match &e.op {
            Op::Const(_) => {
                self.constant[dst] = true;
                return;
            }
            Op::Copy | Op::Not => {
                let (root, sign) = self.literal[e.args[0].0 as usize];
                self.literal[dst] = (root, sign ^ (e.op == Op::Not));
                self.constant[dst] = self.constant[root.0 as usize];
                return;
            }
            Op::Xor => Kind::Sum,
            Op::And | Op::Or | Op::Andn => Kind::Product,
            Op::Rotl(_) | Op::Sar(_) | Op::Shuffle(_) | Op::Bitmask(_) => Kind::Move,
            Op::Lut3(_) if !narrow => Kind::Table,
            _ => Kind::Plain,
        };
        if kind == Kind::Plain {
            e.args.iter().for_each(|&v| self.term(Kind::Plain, &[v], None, weight));
            self.fixed[dst] = true;
            return;
        }
        self.term(kind, &e.args, Some(e.dst), weight);
        let term = self.terms.last_mut().expect("just made");
        match e.op {
            Op::Andn => term.args[0].1 ^= true,
            // An `or` is the complement of an `and` of complements.
            Op::Or => {
                term.args[..2].iter_mut().for_each(|arg| arg.1 ^= true);
                term.flip = true;
            }
            _ => {}
        }
    }

    fn lp(&mut self, lp: &Loop, weight: u64) {
        let inside = weight.saturating_mul(u64::from(lp.count));
        for c in &lp.carried {
            self.form_of[c.result.0 as usize] = c.param;
            self.tie(c.init, c.param, weight);
        }
        for read in &lp.reads {
            let constant = |v: &Val| self.constant[v.0 as usize];
            self.constant[read.dst.0 as usize] = read.list.iter().all(constant);
            let joined = self.form_of[read.dst.0 as usize] != read.dst;
            if !self.constant[read.dst.0 as usize] && !joined {
                read.list.iter().for_each(|&v| self.term(Kind::Plain, &[v], None, weight));
                self.fixed[read.dst.0 as usize] = true;
            }
        }
        self.block(&lp.body, inside);
        for c in &lp.carried {
            self.tie(c.next, c.param, inside);
        }
        for collect in &lp.collects {
            let Some(&first) = collect.results.first() else { continue };
            collect.results.iter().for_each(|r| self.form_of[r.0 as usize] = first);
            self.tie(collect.value, first, inside);
        }
    }

    /// Gives keys that a loop reads in turn one form. Runs before the terms, which refer to forms.
    fn join_reads(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            let Eqn::Loop(lp) = eqn else { continue };
            for read in &lp.reads {
                if read.list.iter().all(|v| self.keys.binary_search(v).is_ok()) {
                    let old: Args = read.list.iter().map(|v| self.form_of[v.0 as usize]).collect();
                    let Some(&new) = old.iter().min() else { continue };
                    for form in &mut self.form_of {
                        if old.contains(form) {
                            *form = new;
                        }
                    }
                    self.form_of[read.dst.0 as usize] = new;
                }
            }
            self.join_reads(&lp.body);
        }
    }

    /// The keys whose complement is wanted.
    fn turned(&self) -> impl Iterator<Item = Val> {
        self.keys.iter().copied().filter(|&v| self.form(v))
    }

    /// The cost of those complements as equations.
    fn turned_keys(&self) -> u64 {
        self.turned().count() as u64 * self.logic.price(&Op::Not)
    }

    fn form(&self, v: Val) -> bool {
        self.complemented[self.form_of[v.0 as usize].0 as usize]
    }

    /// Whether the value computed for the literal is its complement.
    fn inverted(&self, (v, sign): Literal) -> bool {
        self.form(v) ^ sign
    }

    fn cost(&self, term: &Term) -> u64 {
        let args = &term.args[..term.count as usize];
        // A constant takes either form.
        let free = |arg: &Literal| self.constant[arg.0.0 as usize];
        let out = term.out.is_some_and(|v| self.form(v));
        let wrong = match term.kind {
            Kind::Table => false,
            Kind::Plain => !free(&args[0]) && self.inverted(args[0]),
            Kind::Move => !free(&args[0]) && self.inverted(args[0]) != out,
            Kind::Sum if args.iter().any(free) => false,
            Kind::Sum => args.iter().fold(out, |odd, &arg| odd ^ self.inverted(arg)),
            Kind::Product => {
                let out = out ^ term.flip;
                let (a, b) = (self.inverted(args[0]), self.inverted(args[1]));
                let fits = |a, b| product(a, b, out, self.logic.andn).is_some();
                let possible = fits(a, b)
                    || (free(&args[0]) && fits(!a, b))
                    || (free(&args[1]) && fits(a, !b));
                !possible
            }
        };
        if wrong { term.weight } else { 0 }
    }

    /// Propagates every complement that costs an instruction, until none can be saved.
    fn improve(&mut self) {
        for _ in 0..ROUNDS {
            let mut better = false;
            for at in 0..self.terms.len() {
                if self.cost(&self.terms[at]) > 0 {
                    better |= self.repair(at);
                }
            }
            if !better {
                break;
            }
        }
    }

    fn repair(&mut self, at: usize) -> bool {
        let starts = self.forms(at);
        starts.into_iter().any(|v| self.search(v, false, DEPTH) || self.search(v, true, DEPTH))
    }

    /// The values of a term whose form can be chosen: result first.
    fn forms(&self, at: usize) -> Args {
        let term = &self.terms[at];
        let args = term.args[..term.count as usize].iter().map(|&(v, _)| v);
        let values = term.out.into_iter().chain(args).filter(|v| !self.constant[v.0 as usize]);
        let forms = values.map(|v| self.form_of[v.0 as usize]);
        forms.filter(|v| !self.fixed[v.0 as usize]).collect()
    }

    /// Computes the other form of `v` and of the values that follow from it, also from one
    /// iteration of a loop to the next if `across`. Keeps that if it saves an instruction. If the
    /// cost stays the same, it may save one together with another form of an operand of `v`.
    fn search(&mut self, v: Val, across: bool, depth: usize) -> bool {
        if self.budget == 0 {
            return false;
        }
        let Some((change, turned)) = self.attempt(v, across) else { return false };
        if change < 0 {
            return true;
        }
        if change == 0 && depth > 0 {
            let made = self.terms_of[v.0 as usize].iter().map(|&t| t as usize).find(|&t| {
                let term = &self.terms[t];
                term.out == Some(v) && !term.tie && self.cost(term) > 0
            });
            let operands = made.map(|t| self.forms(t)).unwrap_or_default();
            for operand in operands.into_iter().filter(|&o| o != v) {
                if self.search(operand, across, depth - 1) {
                    return true;
                }
            }
        }
        turned.iter().for_each(|v| self.complemented[v.0 as usize] ^= true);
        false
    }

    /// Inverts `v` and the values that follow from it; returns the change in cost and the inverted
    /// values. `None`, with nothing inverted, if too many values follow.
    fn attempt(&mut self, v: Val, across: bool) -> Option<(i64, Vec<Val>)> {
        let mut turned = Vec::new();
        // Touched terms with their previous cost, and open terms in order.
        let mut touched: Vec<u32> = Vec::new();
        let mut open: BTreeSet<u32> = BTreeSet::new();
        let mut next = Some(v);
        while let Some(v) = next {
            turned.push(v);
            for at in 0..self.terms_of[v.0 as usize].len() {
                let t = self.terms_of[v.0 as usize][at];
                if self.was[t as usize].is_none() {
                    self.was[t as usize] = Some(self.cost(&self.terms[t as usize]));
                    touched.push(t);
                }
                open.insert(t);
            }
            self.complemented[v.0 as usize] ^= true;
            next = None;
            while next.is_none()
                && let Some(t) = open.pop_first()
            {
                next = self.follows(t, across, &turned).filter(|v| !turned.contains(v));
            }
            if turned.len() > REACH {
                break;
            }
        }
        self.budget = self.budget.saturating_sub(turned.len());
        let mut change = 0i64;
        for &t in &touched {
            let before = self.was[t as usize].take().expect("noted when it was touched");
            change += self.cost(&self.terms[t as usize]) as i64 - before as i64;
        }
        if turned.len() > REACH {
            turned.iter().for_each(|v| self.complemented[v.0 as usize] ^= true);
            return None;
        }
        Some((change, turned))
    }

    /// The value that changes its form because an operand of term `t` did: a key in the same XOR
    /// that is not in `turned`, else the result of the term.
    fn follows(&self, t: u32, across: bool, turned: &[Val]) -> Option<Val> {
        let term = &self.terms[t as usize];
        if term.kind == Kind::Sum && self.was[t as usize] == Some(0) && self.cost(term) > 0 {
            let args = term.args[..term.count as usize].iter();
            let mut forms = args.map(|&(v, _)| self.form_of[v.0 as usize]);
            let key = forms.find(|form| self.is_key[form.0 as usize] && !turned.contains(form));
            if key.is_some() {
                return key;
            }
        }
        let out = self.form_of[term.out?.0 as usize];
        let linear = matches!(term.kind, Kind::Sum | Kind::Move) && (across || !term.tie);
        let wrong = self.was[t as usize] == Some(0) && self.cost(term) > 0;
        (linear && wrong && !self.fixed[out.0 as usize]).then_some(out)
    }
}

/// The operator that makes the `and` of two values from their complements or themselves, with
/// whether the operands change places: `out` if the complement of the `and` is wanted.
fn product(a: bool, b: bool, out: bool, andn: bool) -> Option<(Op, bool)> {
    match (a, b, out) {
        (false, false, false) => Some((Op::And, false)),
        (true, true, true) => Some((Op::Or, false)),
        (true, false, false) if andn => Some((Op::Andn, false)),
        (false, true, false) if andn => Some((Op::Andn, true)),
        _ => None,
    }
}
