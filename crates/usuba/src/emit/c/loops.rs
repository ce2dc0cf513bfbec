//! Rolled loops as C loops.
//!
//! Few carried values are locals that the end of the body assigns:
//!
//!     uint32_t s4 = a[0];
//!     for (unsigned k0 = 0; k0 < 24; k0++) { ...; s4 = v17; }
//!
//! If there are more of them than registers, they live in two arrays by turns, and so do carried
//! values that a function takes. Each is loaded at its first use and its successor stored right
//! after its definition; two phases of the same array would tempt compilers to keep all of it live
//! across the body:
//!
//!     const __m256i *x0 = plain;
//!     __m256i b1[2][64];
//!     for (unsigned k0 = 0; k0 < 25; k0++) {
//!         __m256i *const n2 = b1[k0 & 1];
//!         const __m256i v5 = x0[3];  ...  n2[17] = ...;
//!         x0 = n2;
//!     }
//!
//! The first iteration reads the array that the initial values already lie in, and the last one
//! writes the array that waits for the results, when there are such arrays.

use super::body::Body;
use super::place::{Cell, Place, walk};
use super::{LoopForm, advice};
use crate::ir::{Carried, Collect, Eqn, Loop, Read, Val};

/// Carried values of one C type that live in arrays.
struct Bank<'p> {
    carried: Vec<&'p Carried>,
    /// The pointer to the values of this iteration.
    current: String,
    next: String,
    /// The two arrays by turns.
    pair: String,
    /// Where the last iteration writes instead.
    last: Option<Cell>,
}

impl<'p> Body<'_, 'p> {
    /// Prints one loop and gives places to the values that it defines.
    pub(super) fn run_loop(&mut self, l: &'p Loop) {
        let carried: Vec<&Carried> = l.carried.iter().filter(|c| self.is_live(c.param)).collect();
        let collects: Vec<&Collect> =
            l.collects.iter().filter(|c| c.results.iter().any(|&r| self.is_live(r))).collect();
        if carried.is_empty() && collects.is_empty() {
            return;
        }
        if l.count == 0 {
            for c in carried {
                let place = self.place(c.init).clone();
                self.define(c.result, place);
            }
            return;
        }
        let k = format!("k{}", self.number());
        let locals = match self.cx.options.form {
            LoopForm::Auto | LoopForm::Short => {
                // Other kernels take arrays, and so do functions.
                carried.len() <= self.cx.target.regs as usize
                    && !self.calls_kernels(&l.body)
                    && !hands_over(&l.body, &carried)
            }
            LoopForm::Locals => true,
            LoopForm::Arrays => false,
        };
        for read in &l.reads {
            if self.is_live(read.dst) {
                self.list(read, &k);
            }
        }
        let ends = self.open_collects(&collects, &k);
        if locals {
            self.with_locals(l, &carried, &k, ends);
        } else {
            self.with_arrays(l, &carried, &k, ends);
        }
        for collect in &collects {
            for &result in &collect.results {
                if self.is_live(result) {
                    let place = self.place(result).clone();
                    self.define(result, place);
                }
            }
        }
    }

    fn open_iterations(&mut self, l: &Loop, k: &str) {
        self.open(&format!("for (unsigned {k} = 0; {k} < {}; {k}++) {{", l.count));
        for line in advice::of_loop(self.cx.layout, l, k).into_iter().flatten() {
            self.line(&line);
        }
    }

    fn calls_kernels(&self, body: &[Eqn]) -> bool {
        body.iter().any(|eqn| match eqn {
            Eqn::Op(_) => false,
            Eqn::Call(call) => self.cx.linked(call.node).is_some(),
            Eqn::Loop(l) => self.calls_kernels(&l.body),
        })
    }

    fn with_locals(&mut self, l: &'p Loop, carried: &[&'p Carried], k: &str, ends: Vec<End>) {
        for c in carried {
            let (ty, name) = (self.c_type(c.param), state(c.param));
            let init = self.read(c.init);
            self.line(&format!("{ty} {name} = {init};"));
            self.places[c.param.0 as usize] = Place::Text(name);
            self.demand.reads[c.next.0 as usize] += 1;
        }
        self.open_iterations(l, k);
        let late = self.await_ends(ends);
        self.block(&l.body);
        self.finish_ends(late);
        let next: Vec<String> = carried.iter().map(|c| self.read(c.next)).collect();
        let names: Vec<String> = carried.iter().map(|c| state(c.param)).collect();
        // A state that becomes another state must be read before that one is overwritten.
        let crossed = |i: usize| next[i] != names[i] && names.contains(&next[i]);
        let mut sources = next.clone();
        for i in (0..next.len()).filter(|&i| crossed(i)) {
            let (ty, name) = (self.c_type(carried[i].param), format!("n{}", self.number()));
            self.line(&format!("const {ty} {name} = {};", next[i]));
            sources[i] = name;
        }
        for (name, source) in names.iter().zip(&sources).filter(|(n, s)| n != s) {
            self.line(&format!("{name} = {source};"));
        }
        self.close();
        for c in carried {
            if self.is_live(c.result) {
                self.define(c.result, Place::Text(state(c.param)));
            }
        }
    }

    fn with_arrays(&mut self, l: &'p Loop, carried: &[&'p Carried], k: &str, mut ends: Vec<End>) {
        let kernels = self.calls_kernels(&l.body);
        let mut banks: Vec<Bank> = Vec::new();
        let mut carried = carried.to_vec();
        if self.cx.options.form == LoopForm::Short {
            // A loop copies consecutive elements.
            carried.sort_by_cached_key(|c| {
                self.place(c.init).register().map(|cell| (cell.array.clone(), cell.base))
            });
        }
        for c in carried {
            let ty = self.c_type(c.param);
            match banks.iter_mut().find(|b| self.c_type(b.carried[0].param) == ty) {
                Some(bank) => bank.carried.push(c),
                None => {
                    let at = self.number();
                    banks.push(Bank {
                        carried: vec![c],
                        current: format!("x{at}"),
                        next: format!("n{at}"),
                        pair: format!("b{at}"),
                        last: None,
                    });
                }
            }
        }
        for bank in &mut banks {
            self.open_bank(bank, kernels);
        }
        self.open_iterations(l, k);
        for bank in &banks {
            let ty = self.c_type(bank.carried[0].param);
            let (next, pair) = (&bank.next, &bank.pair);
            let turn = match &bank.last {
                Some(cell) => {
                    let last = l.count - 1;
                    format!("{k} == {last} ? {} : {pair}[{k} & 1]", cell.address())
                }
                None => format!("{pair}[{k} & 1]"),
            };
            self.line(&format!("{ty} *const {next} = {turn};"));
            for (i, c) in bank.carried.iter().enumerate() {
                let cell = Cell::new(&bank.current, i);
                let depth = self.depth;
                self.places[c.param.0 as usize] =
                    Place::Lazy { expr: cell.text(), cell: Some(cell), depth };
            }
        }
        for bank in &banks {
            for (i, c) in bank.carried.iter().enumerate() {
                ends.push(End { value: c.next, cell: Cell::new(&bank.next, i) });
            }
        }
        let late = self.await_ends(ends);
        self.block(&l.body);
        self.finish_ends(late);
        for bank in &banks {
            self.line(&format!("{} = {};", bank.current, bank.next));
        }
        self.close();
        for bank in &banks {
            let unread = |c: &&Carried| self.demand.reads[c.param.0 as usize] == 0;
            if bank.last.is_some() && bank.carried.iter().all(unread) {
                self.line(&format!("(void){};", bank.current));
            }
        }
        for bank in &banks {
            for (i, c) in bank.carried.iter().enumerate() {
                let cell = match &bank.last {
                    Some(last) => last.further(i as i64),
                    None => Cell::new(&bank.current, i),
                };
                if self.is_live(c.result) {
                    let place = self.memory(cell);
                    self.define(c.result, place);
                }
            }
        }
    }

    /// Declares the arrays of a bank and puts the initial values where the first iteration reads.
    fn open_bank(&mut self, bank: &mut Bank<'p>, kernels: bool) {
        let ty = self.c_type(bank.carried[0].param);
        let size = bank.carried.len();
        let waiting = bank.carried.iter().map(|c| self.stores[c.result.0 as usize].first());
        if let Some((first, 1)) = walk(waiting) {
            for c in &bank.carried {
                self.stores[c.result.0 as usize].remove(0);
            }
            bank.last = Some(first);
        }
        let depth = self.depth;
        let known = kernels.then(|| self.arrays.reuse_pair(ty, size, depth)).flatten();
        let fresh = known.is_none();
        if let Some(known) = known {
            bank.pair = known;
        }
        if kernels {
            self.arrays.declare(&bank.current, ty, size, depth, Some(bank.pair.clone()));
        }
        let inits: Vec<_> = bank.carried.iter().map(|c| self.place(c.init).register()).collect();
        let (current, pair) = (&bank.current, &bank.pair);
        // Arrays that the last iteration overwrites are not read as initial values: with a
        // single iteration the two would be one.
        let start = walk(inits)
            .filter(|(_, step)| *step == 1)
            .filter(|(first, _)| bank.last.as_ref().is_none_or(|last| last.array != first.array));
        if fresh {
            self.line(&format!("{ty} {pair}[2][{size}];"));
        }
        match start {
            Some((first, _)) => self.line(&format!("const {ty} *{current} = {};", first.address())),
            None => {
                let array = format!("{pair}[1]");
                let inits = bank.carried.iter().enumerate();
                let end =
                    |(i, c): (usize, &&Carried)| End { value: c.init, cell: Cell::new(&array, i) };
                let ends = inits.map(end).collect();
                self.finish_ends(ends);
                self.line(&format!("const {ty} *{} = {array};", bank.current));
            }
        }
    }

    /// Gives an indexed read its place: an element of the array that the list walks over or jumps
    /// about in, of a table of literals, or of an array that is filled before the loop.
    fn list(&mut self, read: &Read, k: &str) {
        let depth = self.depth + 1;
        let first = read.list[0];
        let cells: Vec<_> = read.list.iter().map(|&v| self.place(v).cell()).collect();
        let jumps = jumps(&cells);
        let literals: Option<Vec<u64>> = read
            .list
            .iter()
            .map(|&v| match self.place(v) {
                Place::Const(value) => Some(*value),
                _ => None,
            })
            .collect();
        let bits = self.node.bits_of(read.dst);
        let place = if read.list.iter().all(|&v| v == first) {
            self.place(first).clone()
        } else if let Some((start, step)) = walk(cells) {
            let cell = start.walked(step, k);
            Place::Lazy { expr: cell.value(), cell: Some(cell), depth }
        } else if let Some((array, bases)) = jumps {
            let name = self.indices(&bases);
            let cell = array.walked(1, &format!("{name}[{k}]"));
            Place::Lazy { expr: cell.value(), cell: Some(cell), depth }
        } else if let Some(values) = literals {
            let name = self.table(bits, &values);
            Place::Lazy { expr: self.cx.table_read(&name, k), cell: None, depth }
        } else {
            let values: Vec<String> = read.list.iter().map(|&v| self.read(v)).collect();
            let (ty, name) = (self.c_type(read.dst), format!("l{}", self.number()));
            let size = values.len();
            self.line(&format!("const {ty} {name}[{size}] = {{ {} }};", values.join(", ")));
            let cell = Cell::new(&name, 0).walked(1, k);
            Place::Lazy { expr: cell.text(), cell: Some(cell), depth }
        };
        self.places[read.dst.0 as usize] = place;
    }

    /// Declares the arrays of collected values.
    fn open_collects(&mut self, collects: &[&Collect], k: &str) -> Vec<End> {
        let mut ends = Vec::new();
        for collect in collects {
            let waiting = collect.results.iter().map(|r| self.stores[r.0 as usize].first());
            let (first, step) = match walk(waiting) {
                Some((first, step)) if step != 0 => {
                    for r in &collect.results {
                        self.stores[r.0 as usize].remove(0);
                    }
                    (first, step)
                }
                _ => {
                    let (ty, name) = (self.c_type(collect.value), format!("r{}", self.number()));
                    self.line(&format!("{ty} {name}[{}];", collect.results.len()));
                    (Cell::new(&name, 0), 1)
                }
            };
            for (i, r) in collect.results.iter().enumerate() {
                self.places[r.0 as usize] = self.memory(first.further(step * i as i64));
            }
            ends.push(End { value: collect.value, cell: first.walked(step, k) });
        }
        ends
    }

    /// Lets values that the body defines be stored at once; returns those that it does not.
    fn await_ends(&mut self, ends: Vec<End>) -> Vec<End> {
        let mut late = Vec::new();
        for end in ends {
            if self.place(end.value) == &Place::Unset {
                self.stores[end.value.0 as usize].push(end.cell);
            } else {
                late.push(end);
            }
        }
        late
    }

    fn finish_ends(&mut self, ends: Vec<End>) {
        let short = self.cx.options.form == LoopForm::Short;
        let mut rest = &ends[..];
        while let Some(end) = rest.first() {
            let run = if short { self.run_of(rest) } else { 1 };
            match self.place(end.value).register().cloned().filter(|_| run >= RUN) {
                Some(from) => {
                    let k = format!("k{}", self.number());
                    let (to, from) = (end.cell.clone().walked(1, &k), from.walked(1, &k));
                    let turn = TURNS.into_iter().find(|turn| run % turn == 0).unwrap_or(1);
                    self.open(&format!("for (unsigned {k} = 0; {k} < {run}; {k} += {turn}) {{"));
                    for i in 0..turn as i64 {
                        let (to, from) = (to.further(i), from.further(i));
                        self.line(&format!("{} = {};", to.text(), from.text()));
                    }
                    self.close();
                    rest = &rest[run..];
                }
                None => {
                    let value = self.read(end.value);
                    self.line(&format!("{} = {value};", end.cell.text()));
                    rest = &rest[1..];
                }
            }
        }
    }

    /// The number of values from the first one on that lie in a row, and are stored in a row.
    fn run_of(&self, ends: &[End]) -> usize {
        let from = |end: &End| self.place(end.value).register().cloned();
        let Some(first) = from(&ends[0]) else { return 1 };
        let follows = |(i, end): &(usize, &End)| {
            let i = *i as i64;
            end.cell == ends[0].cell.further(i) && from(end) == Some(first.further(i))
        };
        ends.iter().enumerate().take_while(follows).count()
    }
}

/// With `LoopForm::Short`, at least `RUN` copies form a loop, with the first of `TURNS` that
/// divides their number as copies per iteration: more would not be much faster.
const RUN: usize = 6;
const TURNS: [usize; 4] = [5, 4, 3, 2];

/// Carried values that a function takes as an array; fewer are loaded and stored as fast.
const ARRAY: usize = 4;

/// Whether a call takes carried values as an array.
fn hands_over(body: &[Eqn], carried: &[&Carried]) -> bool {
    let is_carried = |v: &Val| carried.iter().any(|c| c.param == *v);
    body.iter().any(|eqn| match eqn {
        Eqn::Call(call) => call.args.iter().filter(|v| is_carried(v)).count() >= ARRAY,
        _ => false,
    })
}

/// The array that all cells are in, at its first element, and where each of them is.
fn jumps(cells: &[Option<&Cell>]) -> Option<(Cell, Vec<u64>)> {
    let array = Cell { base: 0, ..(*cells.first()?)?.clone() };
    let base = |cell: &Option<&Cell>| {
        let cell = (*cell)?;
        let same = cell.array == array.array && cell.vary == array.vary;
        if same { u64::try_from(cell.base).ok() } else { None }
    };
    let bases = cells.iter().map(base).collect::<Option<Vec<u64>>>()?;
    Some((array, bases))
}

/// A value that a loop body stores in each iteration, and its place.
struct End {
    value: Val,
    cell: Cell,
}

fn state(param: Val) -> String {
    format!("s{}", param.0)
}
