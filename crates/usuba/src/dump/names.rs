//! Names of values in dumps: each value of a node becomes a scalar or an element of an array.
//!
//! A value is an element of an array (a port, the list of a collected value, the list of a read)
//! or a scalar. Results that an operator or call of the outermost block defines are named by
//! their port at once, so `y[2] = a ^ b` needs no temporary.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Eqn, Loop, Node, Port, Read, Slicing, Val};
use crate::syntax::KEYWORDS;
use crate::syntax::ast::{ABinOp, AExpr, Ident, Selector, Var};

/// How a read is written at the start of a loop body.
#[derive(Clone, Copy)]
pub struct Reading {
    pub array: usize,
    /// The array is filled before the loop.
    pub filled: bool,
    walk: Walk,
}

struct Array {
    name: String,
    /// Dimensions, outer first; empty for a port of one word.
    dims: Vec<u32>,
    bits: u8,
    local: bool,
}

/// Where a value is found.
#[derive(Clone, Copy)]
enum Place {
    /// Word size and position in `scalars`.
    Scalar(usize, usize),
    /// Array and flat index.
    Element(usize, u32),
}

pub struct Names {
    places: Vec<Option<Place>>,
    /// Ports first: parameters, then results.
    arrays: Vec<Array>,
    /// By word size, in the order of first definition.
    scalars: Vec<(u8, Vec<String>)>,
    readings: FxHashMap<Val, Reading>,
    indices: Vec<String>,
}

impl Names {
    /// Names for all values of `node`: the same for equal nodes.
    pub fn choose(node: &Node, slicing: Slicing) -> Names {
        let mut chooser = Chooser {
            node,
            names: Names {
                places: vec![None; node.bits.len()],
                arrays: Vec::new(),
                scalars: Vec::new(),
                readings: FxHashMap::default(),
                indices: Vec::new(),
            },
            used: KEYWORDS.iter().map(|k| k.to_string()).collect(),
            numbers: FxHashMap::default(),
            depths: vec![None; node.bits.len()],
        };
        chooser.ports(slicing);
        chooser.definitions(&node.body, 0);
        chooser.results(slicing);
        chooser.lists(&node.body);
        chooser.temporaries(&node.body);
        chooser.names
    }

    /// The variable or element that holds a value.
    pub fn of(&self, v: Val) -> Var {
        match self.place(v).expect("every value has a name") {
            Place::Scalar(group, at) => Var::new(&self.scalars[group].1[at], Vec::new()),
            Place::Element(array, index) => self.element(array, index as usize),
        }
    }

    fn place(&self, v: Val) -> Option<Place> {
        self.places[v.0 as usize]
    }

    /// Array and flat index of a value that is an element.
    fn home(&self, v: Val) -> Option<(usize, u32)> {
        match self.place(v)? {
            Place::Element(array, index) if !self.arrays[array].dims.is_empty() => {
                Some((array, index))
            }
            _ => None,
        }
    }

    /// Element `index`, counted flat, of an array, such as `x[1][3]`.
    pub fn element(&self, array: usize, index: usize) -> Var {
        let Array { name, dims, .. } = &self.arrays[array];
        let mut inner: usize = dims.iter().map(|&d| d as usize).product();
        let dimension = |&d: &u32| {
            inner /= d as usize;
            Selector::Index(AExpr::from((index / inner % d as usize) as u64))
        };
        Var::new(name, dims.iter().map(dimension).collect())
    }

    pub fn array_name(&self, array: usize) -> &str {
        &self.arrays[array].name
    }

    /// The array that holds a list of collected values.
    pub fn array_of(&self, results: &[Val]) -> usize {
        self.home(results[0]).expect("collected values live in an array").0
    }

    /// The whole array that starts at the head of `values`, if its elements follow in order.
    pub fn whole_array(&self, values: &[Val]) -> Option<(Var, usize)> {
        let (array, 0) = self.home(values[0])? else {
            return None;
        };
        let Array { name, dims, .. } = &self.arrays[array];
        let length = dims.iter().map(|&d| d as usize).product();
        let follows = |(i, v): (usize, &Val)| self.home(*v) == Some((array, i as u32));
        let whole = length > 1
            && values.len() >= length
            && values[..length].iter().enumerate().all(follows);
        whole.then(|| (Var::new(name, Vec::new()), length))
    }

    pub fn reading(&self, read: &Read) -> Reading {
        self.readings[&read.dst]
    }

    /// The element that is read in the loop with index `i`.
    pub fn indexed(&self, reading: Reading, i: &Ident) -> Var {
        let Array { name, dims, .. } = &self.arrays[reading.array];
        Var::new(name, reading.walk.indices(dims, i).map(Selector::Index).collect())
    }

    /// The index of a loop inside of `depth` others.
    pub fn index(&self, depth: usize) -> &str {
        &self.indices[depth]
    }

    /// The names of each word size.
    pub fn scalars(&self) -> impl Iterator<Item = (u8, &[String])> {
        self.scalars.iter().map(|(bits, names)| (*bits, &names[..]))
    }

    /// Name, word size and length.
    pub fn local_arrays(&self) -> impl Iterator<Item = (&str, u8, u32)> {
        let local = self.arrays.iter().filter(|a| a.local);
        local.map(|a| (a.name.as_str(), a.bits, a.dims[0]))
    }
}

/// The flat indices `base + stride * k` for k from 0 to `last`.
#[derive(Clone, Copy)]
struct Walk {
    base: i64,
    stride: i64,
    last: i64,
}

impl Walk {
    fn end(self) -> i64 {
        self.base + self.stride * self.last
    }

    /// The index in each dimension of an array, in the loop with index `i`.
    fn indices(self, dims: &[u32], i: &Ident) -> impl Iterator<Item = AExpr> {
        let mut inner: i64 = dims.iter().map(|&d| d as i64).product();
        dims.iter().enumerate().map(move |(position, &d)| {
            inner /= d as i64;
            self.dimension(inner, d as i64, position == 0, i)
        })
    }

    /// The index in a dimension of size `d` whose steps are `inner` elements apart. Walks are
    /// monotonic, so a quotient that is the same at both ends is the same everywhere.
    fn dimension(self, inner: i64, d: i64, outermost: bool, i: &Ident) -> AExpr {
        let Walk { base, stride, .. } = self;
        if base / inner == self.end() / inner {
            return number(base / inner % d);
        }
        let turn = base / (inner * d);
        let wraps = !outermost && turn != self.end() / (inner * d);
        if stride % inner != 0 {
            let quotient = AExpr::bin(ABinOp::Div, linear(base, stride, i), number(inner));
            return if outermost { quotient } else { AExpr::bin(ABinOp::Mod, quotient, number(d)) };
        }
        let (base, stride) = (base / inner, stride / inner);
        match wraps {
            false => linear(base - turn * d, stride, i),
            true if stride % d == 0 => number(base % d),
            true => {
                // A negative stride must not take the index below zero.
                let base = if stride < 0 { base } else { base % d };
                AExpr::bin(ABinOp::Mod, linear(base, stride, i), number(d))
            }
        }
    }
}

fn number(value: i64) -> AExpr {
    AExpr::from(value as u64)
}

fn linear(base: i64, stride: i64, i: &Ident) -> AExpr {
    let index = AExpr::Name(i.clone());
    let term = match stride.abs() {
        0 => return number(base),
        1 => index,
        s => AExpr::bin(ABinOp::Mul, number(s), index),
    };
    match (stride < 0, base) {
        (true, _) => AExpr::bin(ABinOp::Sub, number(base), term),
        (false, 0) => term,
        (false, _) => AExpr::bin(ABinOp::Add, term, number(base)),
    }
}

struct Chooser<'a> {
    node: &'a Node,
    names: Names,
    used: FxHashSet<String>,
    /// The last number given for each prefix of generated names.
    numbers: FxHashMap<&'static str, usize>,
    /// The number of loops around the operator or call that defines a value; any name will do for
    /// such a value.
    depths: Vec<Option<usize>>,
}

impl Chooser<'_> {
    fn ports(&mut self, slicing: Slicing) {
        let mut value = 0u32;
        for (position, port) in self.node.params.iter().chain(&self.node.results).enumerate() {
            let array = self.port(port, slicing);
            if position < self.node.params.len() {
                for index in 0..port.values(slicing) {
                    self.settle(Val(value), array, index);
                    value += 1;
                }
            }
        }
    }

    fn port(&mut self, port: &Port, slicing: Slicing) -> usize {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
        let mut name: String = port.name.chars().filter(|&c| is_word(c)).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, 'p');
        }
        let base = name.clone();
        let mut number = 1;
        while !self.used.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        let (dims, bits) = (port.value_dims(slicing), port.value_bits(slicing));
        self.names.arrays.push(Array { name, dims, bits, local: false });
        self.names.arrays.len() - 1
    }

    /// Notes how deep operators and calls define values, and gives each collected value its array.
    fn definitions(&mut self, eqns: &[Eqn], depth: usize) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.depths[e.dst.0 as usize] = Some(depth),
                Eqn::Call(call) => {
                    call.dsts.iter().for_each(|dst| self.depths[dst.0 as usize] = Some(depth));
                }
                Eqn::Loop(lp) => {
                    if self.names.indices.len() <= depth {
                        let index = self.index(depth);
                        self.names.indices.push(index);
                    }
                    self.definitions(&lp.body, depth + 1);
                    for collect in &lp.collects {
                        self.local_array(&collect.results, true);
                    }
                }
            }
        }
    }

    fn index(&mut self, depth: usize) -> String {
        match ["i", "j", "k"].get(depth) {
            Some(name) if self.used.insert(name.to_string()) => name.to_string(),
            _ => self.fresh("i"),
        }
    }

    /// Names results by their port where the outermost block defines them.
    fn results(&mut self, slicing: Slicing) {
        let first = self.node.params.len();
        let ports = self.node.results.iter().enumerate();
        let elements =
            ports.flat_map(|(p, port)| (0..port.values(slicing)).map(move |i| (first + p, i)));
        for ((array, index), &out) in elements.zip(&self.node.outs) {
            if self.depths[out.0 as usize] == Some(0) && self.names.place(out).is_none() {
                self.settle(out, array, index);
            }
        }
    }

    /// Decides how each list is read.
    fn lists(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            if let Eqn::Loop(lp) = eqn {
                for read in &lp.reads {
                    let walk = self.walk(&read.list);
                    let reading = walk.unwrap_or_else(|| self.gather(&read.list));
                    self.names.readings.insert(read.dst, reading);
                }
                self.lists(&lp.body);
            }
        }
    }

    /// The list as an affine walk over one array, if it is one.
    fn walk(&self, list: &[Val]) -> Option<Reading> {
        let (array, base) = self.names.home(list[0])?;
        let stride = match list.get(1) {
            Some(&second) => self.names.home(second)?.1 as i64 - base as i64,
            None => 0,
        };
        let walk = Walk { base: base as i64, stride, last: list.len() as i64 - 1 };
        let follows = |(k, &v): (usize, &Val)| {
            let at = walk.base + stride * k as i64;
            self.names.home(v).is_some_and(|(other, index)| other == array && index as i64 == at)
        };
        let all = list.iter().enumerate().all(follows);
        all.then_some(Reading { array, filled: false, walk })
    }

    /// A list without such a sequence gets an array: its members become elements if possible, and
    /// are copied before the loop otherwise.
    fn gather(&mut self, list: &[Val]) -> Reading {
        let mut seen = FxHashSet::default();
        let free = list.iter().all(|&v| {
            let named = self.names.place(v).is_some();
            self.depths[v.0 as usize].is_some() && !named && seen.insert(v)
        });
        let array = self.local_array(list, free);
        let walk = Walk { base: 0, stride: 1, last: list.len() as i64 - 1 };
        Reading { array, filled: !free, walk }
    }

    /// A new local array as long as `list`; `settle` makes the members its elements.
    fn local_array(&mut self, list: &[Val], settle: bool) -> usize {
        let name = self.fresh("w");
        let (dims, bits) = (vec![list.len() as u32], self.node.bits_of(list[0]));
        let array = self.names.arrays.len();
        self.names.arrays.push(Array { name, dims, bits, local: true });
        if settle {
            list.iter().enumerate().for_each(|(index, &v)| self.settle(v, array, index));
        }
        array
    }

    /// Names the remaining values, in the order of definition.
    fn temporaries(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.scalar(e.dst, "t"),
                Eqn::Call(call) => call.dsts.iter().for_each(|&dst| self.scalar(dst, "t")),
                Eqn::Loop(lp) => self.loop_temporaries(lp),
            }
        }
    }

    fn loop_temporaries(&mut self, lp: &Loop) {
        for c in &lp.carried {
            self.scalar(c.param, "s");
            self.names.places[c.result.0 as usize] = self.names.place(c.param);
        }
        lp.reads.iter().for_each(|r| self.scalar(r.dst, "t"));
        self.temporaries(&lp.body);
    }

    fn scalar(&mut self, v: Val, prefix: &'static str) {
        if self.names.place(v).is_some() {
            return;
        }
        let name = self.fresh(prefix);
        let (bits, scalars) = (self.node.bits_of(v), &mut self.names.scalars);
        let group = scalars.iter().position(|(b, _)| *b == bits).unwrap_or_else(|| {
            scalars.push((bits, Vec::new()));
            scalars.len() - 1
        });
        let names = &mut scalars[group].1;
        names.push(name);
        self.names.places[v.0 as usize] = Some(Place::Scalar(group, names.len() - 1));
    }

    fn settle(&mut self, v: Val, array: usize, index: usize) {
        self.names.places[v.0 as usize] = Some(Place::Element(array, index as u32));
    }

    fn fresh(&mut self, prefix: &'static str) -> String {
        let number = self.numbers.entry(prefix).or_insert(0);
        loop {
            *number += 1;
            let name = format!("{prefix}{number}");
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(a: &AExpr, i: u64) -> u64 {
        match a {
            AExpr::Int(value, _) => *value,
            AExpr::Name(_) => i,
            AExpr::Bin(op, l, r) => {
                let (l, r) = (evaluate(l, i), evaluate(r, i));
                match op {
                    ABinOp::Add => l + r,
                    ABinOp::Sub => l - r,
                    ABinOp::Mul => l * r,
                    ABinOp::Div => l / r,
                    ABinOp::Mod => l % r,
                }
            }
        }
    }

    #[test]
    fn index_expressions_name_the_right_element() {
        // Every walk over a 3 by 4 by 2 array, evaluated as the language would.
        let dims = [3, 4, 2];
        for (base, stride) in (0..24).flat_map(|base| (-5..=12).map(move |s| (base, s))) {
            for last in 0..7 {
                let walk = Walk { base, stride, last };
                if !(0..24).contains(&walk.end()) {
                    continue;
                }
                let indices: Vec<AExpr> = walk.indices(&dims, &"i".into()).collect();
                for k in 0..=last {
                    let element = indices.iter().zip(dims);
                    let flat = element
                        .fold(0, |sum, (index, d)| sum * d as u64 + evaluate(index, k as u64));
                    assert_eq!(flat as i64, base + stride * k, "{indices:?} at {k}");
                }
            }
        }
    }
}
