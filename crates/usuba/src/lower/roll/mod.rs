//! Loop rerolling: folds unrolled iterations back into a `forall`.
//!
//! ```text
//! a1 = x ^ k[0]                 (c starts as x)
//! b1 = a1 <<< 3                 forall i in [0, 1] {
//! a2 = b1 ^ k[1]          →       a = c ^ k[i];  b = a <<< 3;  c := b
//! b2 = a2 <<< 3                 }
//! ```
//!
//! Iterations fold if they are the same equations up to names. Each operand that an iteration takes
//! from outside then has one of three forms. It is the same value in every iteration, or a
//! loop-carried value, which the iteration before defines or reads in some place (possibly through
//! several iterations, as in a Feistel network). Or it is an element of a list of values from
//! before the loop, read by index (round keys, constants). With any other operand the loop stays
//! unrolled. The source syntax of the state (`s[i+1] = F(s[i])`, `:=`, rolling buffers, renamings)
//! does not matter.
//!
//! Sound because a folded loop computes, iteration by iteration, the equations that it replaces.

use rustc_hash::{FxHashMap, FxHashSet};

use super::scope::{Item, Scope, Unrolled};
use crate::ir::{Args, Carried, Collect, Eqn, Loop, Node, Op, OpEqn, Read, Val};

/// Largest number of iterations that one iteration of a folded loop may stand for, when single
/// iterations differ but repeat (eight S-boxes in turn, for instance). The remaining iterations
/// stay unrolled after the loop.
const MAX_PERIOD: usize = 8;

/// Longest delay, in iterations, of a loop-carried value.
const MAX_DELAY: usize = 16;

/// Finishes a node: folds its loops and sets its results.
pub(super) fn roll(scope: Scope, outs: Vec<Val>) -> Node {
    let Scope { mut node, items, constants, mut last_use, .. } = scope;
    for out in &outs {
        last_use[out.0 as usize] = u32::MAX;
    }
    node.body = constants;
    let mut state = Roll { node, last_use, renamed: FxHashMap::default(), zeros: Vec::new() };
    let body = state.items(items);
    let Roll { mut node, renamed, zeros, .. } = state;
    node.outs = outs.into_iter().map(|v| resolve(&renamed, v)).collect();
    node.body.extend(zeros);
    node.body.extend(body);
    node
}

/// The current name of a value; each level of loops renamed a value of a nested loop.
fn resolve(renamed: &FxHashMap<Val, Val>, mut v: Val) -> Val {
    while let Some(&new) = renamed.get(&v) {
        v = new;
    }
    v
}

struct Roll {
    node: Node,
    /// Position of the last equation that reads each value, in the node as it was written.
    last_use: Vec<u32>,
    /// Values of folded loops under the names by which later equations know them.
    renamed: FxHashMap<Val, Val>,
    /// Initial values for carried values that no iteration reads.
    zeros: Vec<Eqn>,
}

impl Roll {
    fn items(&mut self, items: Vec<Item>) -> Vec<Eqn> {
        let mut out = Vec::new();
        for item in items {
            match item {
                Item::Eqn(mut eqn) => {
                    self.rename(std::slice::from_mut(&mut eqn));
                    out.push(eqn);
                }
                Item::Loop(unrolled) => out.extend(self.unrolled(unrolled)),
            }
        }
        out
    }

    fn unrolled(&mut self, unrolled: Unrolled) -> Vec<Eqn> {
        let Unrolled { unroll, keep, iterations } = unrolled;
        let mut bodies = Vec::with_capacity(iterations.len());
        let mut ends = Vec::with_capacity(iterations.len());
        for iteration in iterations {
            bodies.push(self.items(iteration.items));
            ends.push(iteration.end);
        }
        if unroll || bodies.len() < 2 || bodies.iter().all(Vec::is_empty) {
            return bodies.into_iter().flatten().collect();
        }
        for period in 1..=MAX_PERIOD.min(bodies.len() / 2) {
            let rounds = bodies.len() / period;
            let end = ends[rounds * period - 1];
            let folded = match period {
                1 => self.fold(&bodies, end, keep),
                _ => {
                    let whole = bodies.chunks_exact(period).map(<[_]>::concat).collect::<Vec<_>>();
                    self.fold(&whole, end, keep)
                }
            };
            if let Some(folded) = folded {
                let mut out = vec![Eqn::Loop(Box::new(folded))];
                for mut body in bodies.drain(rounds * period..) {
                    self.rename(&mut body);
                    out.extend(body);
                }
                return out;
            }
        }
        bodies.into_iter().flatten().collect()
    }

    /// Replaces operands that folding has renamed. Inside, a folded loop goes on using the names
    /// of its first iteration, which mean something else after it.
    fn rename(&self, body: &mut [Eqn]) {
        let mut own = FxHashSet::default();
        let loops = body.iter().filter(|eqn| matches!(eqn, Eqn::Loop(_)));
        loops.for_each(|l| definitions(std::slice::from_ref(l), &mut |v| own.extend([v])));
        operands(body, &mut |v| {
            if !own.contains(v) {
                *v = resolve(&self.renamed, *v);
            }
        });
    }

    /// A value of the width of `v` that nothing reads outside of the loop.
    fn inner(&mut self, v: Val) -> Val {
        self.last_use.push(0);
        let inner = self.node.fresh(self.node.bits_of(v));
        self.node.origins.set(inner, self.node.origins.of(v));
        inner
    }

    /// A value that stands for `v` after the loop.
    fn outer(&mut self, v: Val) -> Val {
        let result = self.inner(v);
        self.last_use[result.0 as usize] = self.last_use[v.0 as usize];
        result
    }

    /// Folds equal iterations; `end` is the position after the last of them.
    fn fold(&mut self, bodies: &[Vec<Eqn>], end: u32, keep: bool) -> Option<Loop> {
        let traces: Vec<Trace> = bodies.iter().map(|body| Trace::new(body)).collect();
        if !bodies[1..].iter().all(|body| same_shape(&bodies[0], body, &self.node)) {
            return None;
        }
        let mut folder = Folder {
            count: bodies.len(),
            locals: traces.iter().flat_map(|t| t.defs.iter().copied()).collect(),
            traces: &traces,
            sources: FxHashMap::default(),
            columns: Vec::new(),
        };
        // The column of each operand of the body, in the order of the trace.
        let mut operand_of: Vec<Option<usize>> = Vec::with_capacity(traces[0].uses.len());
        for at in 0..traces[0].uses.len() {
            operand_of.push(folder.operand(at)?);
        }
        let mut at = 0;
        while at < folder.columns.len() {
            folder.classify(at, &self.node)?;
            at += 1;
        }
        Some(self.build(&bodies[0], &traces, folder.columns, &operand_of, end, keep))
    }

    fn build(
        &mut self,
        body: &[Eqn],
        traces: &[Trace],
        columns: Vec<Column>,
        operand_of: &[Option<usize>],
        end: u32,
        keep: bool,
    ) -> Loop {
        let mut folded = Loop {
            count: traces.len() as u32,
            carried: Vec::new(),
            reads: Vec::new(),
            body: body.to_vec(),
            collects: Vec::new(),
            keep,
        };
        // The name of each column inside of the body.
        let names: Vec<Val> = columns
            .iter()
            .map(|column| match &column.source {
                Source::Same => column.first(),
                _ => self.inner(column.first()),
            })
            .collect();
        // The final value of each loop-carried value for later equations: its last `next`.
        let mut finals: FxHashMap<Val, Val> = FxHashMap::default();
        let last = traces.len() - 1;
        for (column, &param) in columns.iter().zip(&names) {
            let (next, final_value) = match &column.source {
                Source::Same => continue,
                Source::List => {
                    let list = column.values.iter().map(|v| v.expect("lists are full")).collect();
                    folded.reads.push(Read { dst: param, list });
                    continue;
                }
                Source::Defined(d) => (traces[0].defs[*d], Some(traces[last].defs[*d])),
                Source::Before(c) => (names[*c], columns[*c].values[last]),
                Source::Open => unreachable!("every column is classified"),
            };
            let result = match final_value {
                Some(value) => self.outer(value),
                None => self.inner(column.first()),
            };
            if let Some(value) = final_value {
                finals.entry(value).or_insert(result);
            }
            folded.carried.push(Carried { param, init: column.first(), next, result });
        }
        let mut uses = operand_of.iter();
        operands(&mut folded.body, &mut |v| {
            if let Some(column) = uses.next().expect("one entry per operand") {
                *v = names[*column];
            }
        });
        self.results(&mut folded, traces, &columns, &names, &mut finals, end);
        folded
    }

    /// Names the results of the loop that later equations read.
    fn results(
        &mut self,
        folded: &mut Loop,
        traces: &[Trace],
        columns: &[Column],
        names: &[Val],
        finals: &mut FxHashMap<Val, Val>,
        end: u32,
    ) {
        let last = traces.len() - 1;
        for d in 0..traces[0].defs.len() {
            let value = traces[0].defs[d];
            let mut wanted: Vec<(Val, Option<Val>)> = Vec::new();
            for (k, trace) in traces.iter().enumerate() {
                let seen = trace.defs[d];
                if self.last_use[seen.0 as usize] < end {
                    continue;
                }
                if let Some(&result) = finals.get(&seen) {
                    self.renamed.insert(seen, result);
                    continue;
                }
                let held = |column: &Column| column.values[last] == Some(seen);
                let through = columns.iter().position(held).map(|c| names[c]);
                wanted.push((seen, if k == last { Some(value) } else { through }));
            }
            if wanted.iter().all(|(_, next)| next.is_some()) {
                for (seen, next) in wanted {
                    let result = self.carry_out(folded, seen, next.expect("all are known"));
                    finals.insert(seen, result);
                }
                continue;
            }
            let mut results = Vec::with_capacity(traces.len());
            for trace in traces {
                let seen = trace.defs[d];
                let result = self.outer(seen);
                self.renamed.entry(seen).or_insert(result);
                results.push(result);
            }
            folded.collects.push(Collect { value, results });
        }
        // The values themselves are now inside of the loop, or gone.
        for seen in traces.iter().flat_map(|trace| &trace.defs) {
            self.last_use[seen.0 as usize] = 0;
        }
    }

    /// A loop-carried value that only equations after the loop read.
    fn carry_out(&mut self, folded: &mut Loop, seen: Val, next: Val) -> Val {
        let init = self.inner(seen);
        self.zeros.push(Eqn::Op(OpEqn { dst: init, op: Op::Const(0), args: Args::new() }));
        let param = self.inner(seen);
        let result = self.outer(seen);
        folded.carried.push(Carried { param, init, next, result });
        self.renamed.insert(seen, result);
        result
    }
}

/// The operands and definitions of an iteration, in the order of its text.
struct Trace {
    uses: Vec<Val>,
    defs: Vec<Val>,
    /// Where in `defs` a value is.
    place: FxHashMap<Val, usize>,
}

impl Trace {
    fn new(body: &[Eqn]) -> Trace {
        let mut uses = Vec::new();
        let mut scratch = body.to_vec();
        operands(&mut scratch, &mut |v| uses.push(*v));
        let mut defs = Vec::new();
        definitions(body, &mut |v| defs.push(v));
        let place = defs.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        Trace { uses, defs, place }
    }
}

/// The values of an operand by iteration; `None` where no equation reads it.
#[derive(Clone)]
struct Column {
    values: Vec<Option<Val>>,
    source: Source,
}

impl Column {
    fn first(&self) -> Val {
        self.values[0].expect("a column starts with a value")
    }
}

#[derive(Clone, PartialEq)]
enum Source {
    Open,
    /// One value from before the loop.
    Same,
    /// Values from before the loop, by index.
    List,
    /// The value that the iteration before defined at this place of its trace.
    Defined(usize),
    /// The value of this column in the iteration before.
    Before(usize),
}

struct Folder<'t> {
    count: usize,
    traces: &'t [Trace],
    /// All values that any iteration defines.
    locals: FxHashSet<Val>,
    /// Columns by their full lists of values.
    sources: FxHashMap<Vec<Option<Val>>, usize>,
    columns: Vec<Column>,
}

impl Folder<'_> {
    /// The operand at place `at` of the traces: `Some(None)` if each iteration takes it from
    /// itself, `Some(Some(column))` if from outside, `None` if iterations differ.
    fn operand(&mut self, at: usize) -> Option<Option<usize>> {
        let place = |t: &Trace| t.place.get(&t.uses[at]).copied();
        let first = place(&self.traces[0]);
        if self.traces.iter().any(|t| place(t) != first) {
            return None;
        }
        if first.is_some() {
            return Some(None);
        }
        let values: Vec<Option<Val>> = self.traces.iter().map(|t| Some(t.uses[at])).collect();
        Some(Some(self.column(values)))
    }

    fn column(&mut self, values: Vec<Option<Val>>) -> usize {
        if let Some(&at) = self.sources.get(&values) {
            return at;
        }
        let at = self.columns.len();
        self.sources.insert(values.clone(), at);
        self.columns.push(Column { values, source: Source::Open });
        at
    }

    fn classify(&mut self, at: usize, node: &Node) -> Option<()> {
        let values = self.columns[at].values.clone();
        let first = values[0]?;
        if self.locals.contains(&first) {
            return None;
        }
        let known = || values.iter().flatten();
        if known().all(|&v| v == first) {
            self.columns[at].source = Source::Same;
            return Some(());
        }
        if let Some(d) = self.defined_before(&values) {
            self.columns[at].source = Source::Defined(d);
            return Some(());
        }
        if values.iter().all(Option::is_some) && known().all(|v| !self.locals.contains(v)) {
            self.columns[at].source = Source::List;
            return Some(());
        }
        if values[1..].iter().all(Option::is_none) {
            self.columns[at].source = Source::Before(at);
            return Some(());
        }
        // The value was on its way: some column held it in the iteration before.
        let holds = |column: &Column| {
            node.bits_of(column.first()) == node.bits_of(first)
                && (1..self.count).all(|k| match (values[k], column.values[k - 1]) {
                    (Some(v), Some(held)) => v == held,
                    (Some(_), None) => false,
                    (None, _) => true,
                })
        };
        if let Some(c) = self.columns.iter().position(holds) {
            self.columns[at].source = Source::Before(c);
            return Some(());
        }
        let delay = values.iter().rev().take_while(|v| v.is_none()).count() + 1;
        if delay > MAX_DELAY || delay >= self.count {
            return None;
        }
        let mut earlier: Vec<Option<Val>> = values[1..].to_vec();
        earlier.push(None);
        let c = self.column(earlier);
        self.columns[at].source = Source::Before(c);
        Some(())
    }

    /// The place of the trace where each iteration defines the operand of the next one.
    fn defined_before(&self, values: &[Option<Val>]) -> Option<usize> {
        let k = (1..self.count).find(|&k| values[k].is_some())?;
        let d = *self.traces[k - 1].place.get(&values[k]?)?;
        let made = |k: usize| values[k].is_none_or(|v| v == self.traces[k - 1].defs[d]);
        (1..self.count).all(made).then_some(d)
    }
}

/// Whether two bodies are equal up to the names of their values.
fn same_shape(a: &[Eqn], b: &[Eqn], node: &Node) -> bool {
    let same_bits = |a: &[Val], b: &[Val]| {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| node.bits_of(a) == node.bits_of(b))
    };
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (a, b) {
            (Eqn::Op(a), Eqn::Op(b)) => a.op == b.op && same_bits(&[a.dst], &[b.dst]),
            (Eqn::Call(a), Eqn::Call(b)) => a.node == b.node && a.args.len() == b.args.len(),
            (Eqn::Loop(a), Eqn::Loop(b)) => {
                let widths = |l: &Loop| -> Vec<Val> {
                    let carried = l.carried.iter().map(|c| c.param);
                    carried.chain(l.reads.iter().map(|r| r.dst)).collect()
                };
                a.count == b.count
                    && a.keep == b.keep
                    && a.carried.len() == b.carried.len()
                    && a.reads.len() == b.reads.len()
                    && a.collects.len() == b.collects.len()
                    && same_bits(&widths(a), &widths(b))
                    && same_shape(&a.body, &b.body, node)
            }
            _ => false,
        })
}

/// Every operand of every equation, in the order of the text.
fn operands(body: &mut [Eqn], visit: &mut dyn FnMut(&mut Val)) {
    for eqn in body {
        match eqn {
            Eqn::Op(eqn) => eqn.args.iter_mut().for_each(&mut *visit),
            Eqn::Call(call) => call.args.iter_mut().for_each(&mut *visit),
            Eqn::Loop(l) => {
                for carried in &mut l.carried {
                    visit(&mut carried.init);
                    visit(&mut carried.next);
                }
                for read in &mut l.reads {
                    read.list.iter_mut().for_each(&mut *visit);
                }
                operands(&mut l.body, visit);
                for collect in &mut l.collects {
                    visit(&mut collect.value);
                }
            }
        }
    }
}

/// Every value that equations define, in the order of the text.
fn definitions(body: &[Eqn], visit: &mut dyn FnMut(Val)) {
    for eqn in body {
        match eqn {
            Eqn::Op(eqn) => visit(eqn.dst),
            Eqn::Call(call) => call.dsts.iter().copied().for_each(&mut *visit),
            Eqn::Loop(l) => {
                for carried in &l.carried {
                    visit(carried.param);
                    visit(carried.result);
                }
                l.reads.iter().for_each(|read| visit(read.dst));
                definitions(&l.body, visit);
                for collect in &l.collects {
                    collect.results.iter().copied().for_each(&mut *visit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
