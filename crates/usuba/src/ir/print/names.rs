//! What every value of a node is called in text.
//!
//! A value is an element of an array (a port, the list of a collected value, the list of a read)
//! or a scalar. Results that an operator or call of the outermost block defines are named by
//! their port at once, so `y[2] = a ^ b` needs no temporary.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{Eqn, Loop, Node, Port, Read, Slicing, Val};

/// How a read is written at the start of a loop body.
#[derive(Clone, Copy)]
pub enum Reading {
    /// `array[base + stride * i]`, in a flat numbering of the array, for `count` iterations.
    Walk { array: usize, base: i64, stride: i64, count: u32 },
    /// `array[i]`, where the array is filled before the loop.
    Fill { array: usize },
}

struct Array {
    name: String,
    /// Dimensions, outer first; empty for a port of one word.
    dims: Vec<u32>,
    bits: u8,
    local: bool,
}

pub struct Names {
    text: Vec<String>,
    /// Array and flat index.
    home: Vec<Option<(usize, u32)>>,
    /// Ports first: parameters, then results.
    arrays: Vec<Array>,
    /// By word size, in the order of first definition.
    scalars: Vec<(u8, Vec<String>)>,
    readings: FxHashMap<Val, Reading>,
    indices: Vec<String>,
}

const KEYWORDS: [&str; 23] = [
    "node",
    "returns",
    "vars",
    "let",
    "tel",
    "perm",
    "table",
    "forall",
    "in",
    "include",
    "const",
    "lazyLift",
    "Shuffle",
    "Bitmask",
    "Pack",
    "_inline",
    "_no_inline",
    "_interleave",
    "_no_opt",
    "_lsb_first",
    "_unroll",
    "_no_unroll",
    "_pipelined",
];

impl Names {
    /// Names for all values of `node`: the same for equal nodes.
    pub fn choose(node: &Node, slicing: Slicing) -> Names {
        let mut chooser = Chooser {
            node,
            names: Names {
                text: vec![String::new(); node.bits.len()],
                home: vec![None; node.bits.len()],
                arrays: Vec::new(),
                scalars: Vec::new(),
                readings: FxHashMap::default(),
                indices: Vec::new(),
            },
            used: KEYWORDS.iter().map(|k| k.to_string()).collect(),
            numbers: FxHashMap::default(),
            plain: vec![false; node.bits.len()],
        };
        chooser.ports(slicing);
        chooser.find_plain_and_collects(&node.body, 0);
        chooser.results(slicing);
        chooser.lists(&node.body);
        chooser.temporaries(&node.body);
        chooser.names
    }

    /// What a value is called where it is read or defined.
    pub fn of(&self, v: Val) -> &str {
        &self.text[v.0 as usize]
    }

    /// Element `index`, counted flat, of an array, such as `x[1][3]`.
    pub fn element(&self, array: usize, index: usize) -> String {
        let Array { name, dims, .. } = &self.arrays[array];
        let mut inner: usize = dims.iter().map(|&d| d as usize).product();
        let mut text = name.clone();
        for &d in dims {
            inner /= d as usize;
            text.push_str(&format!("[{}]", index / inner % d as usize));
        }
        text
    }

    pub fn array_name(&self, array: usize) -> &str {
        &self.arrays[array].name
    }

    /// The array that holds a list of collected values.
    pub fn array_of(&self, results: &[Val]) -> usize {
        self.home[results[0].0 as usize].expect("collected values live in an array").0
    }

    /// The whole array that starts at the head of `values`, if its elements follow in order.
    pub fn whole_array(&self, values: &[Val]) -> Option<(&str, usize)> {
        let (array, 0) = self.home[values[0].0 as usize]? else {
            return None;
        };
        let Array { name, dims, .. } = &self.arrays[array];
        let length = dims.iter().map(|&d| d as usize).product();
        let follows = |(i, v): (usize, &Val)| self.home[v.0 as usize] == Some((array, i as u32));
        let whole = length > 1
            && values.len() >= length
            && values[..length].iter().enumerate().all(follows);
        whole.then_some((name, length))
    }

    pub fn reading(&self, read: &Read) -> Reading {
        self.readings[&read.dst]
    }

    /// The text of a read in the loop with index `i`.
    pub fn indexed(&self, reading: Reading, i: &str) -> String {
        match reading {
            Reading::Fill { array } => format!("{}[{i}]", self.arrays[array].name),
            Reading::Walk { array, base, stride, count } => {
                let Array { name, dims, .. } = &self.arrays[array];
                let mut inner: i64 = dims.iter().map(|&d| d as i64).product();
                let mut text = name.clone();
                for (position, &d) in dims.iter().enumerate() {
                    inner /= d as i64;
                    let outermost = position == 0;
                    let walk = Walk { base, stride, last: count as i64 - 1 };
                    text.push_str(&format!("[{}]", walk.dimension(inner, d as i64, outermost, i)));
                }
                text
            }
        }
    }

    /// The index of a loop inside of `depth` others.
    pub fn index(&self, depth: usize) -> &str {
        &self.indices[depth]
    }

    pub fn scalars(&self) -> &[(u8, Vec<String>)] {
        &self.scalars
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

    /// The index in a dimension of size `d` whose steps are `inner` elements apart. Walks are
    /// monotonic, so a quotient that is the same at both ends is the same everywhere.
    fn dimension(self, inner: i64, d: i64, outermost: bool, i: &str) -> String {
        if self.base / inner == self.end() / inner {
            return (self.base / inner % d).to_string();
        }
        let turn = self.base / (inner * d);
        let wraps = !outermost && turn != self.end() / (inner * d);
        let (base, stride) = (self.base, self.stride);
        if stride % inner == 0 {
            let stride = stride / inner;
            if wraps && stride % d == 0 {
                return (base / inner % d).to_string();
            }
            if wraps {
                let text = linear(base / inner % d, stride, i);
                // A negative stride must not take the index below zero.
                return match stride < 0 {
                    true => format!("({}) % {d}", linear(base / inner, stride, i)),
                    false if text == i => format!("{i} % {d}"),
                    false => format!("({text}) % {d}"),
                };
            }
            return linear(base / inner - turn * d, stride, i);
        }
        let text = linear(base, stride, i);
        let quotient = match (inner, text == i) {
            (1, true) => text,
            (1, false) => format!("({text})"),
            (_, true) => format!("{text} / {inner}"),
            (_, false) => format!("({text}) / {inner}"),
        };
        if outermost { quotient } else { format!("{quotient} % {d}") }
    }
}

fn linear(base: i64, stride: i64, i: &str) -> String {
    let term = match stride.abs() {
        0 => return base.to_string(),
        1 => i.to_string(),
        s => format!("{s} * {i}"),
    };
    match (stride < 0, base) {
        (true, _) => format!("{base} - {term}"),
        (false, 0) => term,
        (false, _) => format!("{term} + {base}"),
    }
}

struct Chooser<'a> {
    node: &'a Node,
    names: Names,
    used: FxHashSet<String>,
    /// The last number given for each prefix of generated names.
    numbers: FxHashMap<&'static str, usize>,
    /// Defined by an operator or a call: any name will do.
    plain: Vec<bool>,
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

    /// Marks what operators and calls define, and gives each collected value its array.
    fn find_plain_and_collects(&mut self, eqns: &[Eqn], depth: usize) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.plain[e.dst.0 as usize] = true,
                Eqn::Call(call) => {
                    call.dsts.iter().for_each(|dst| self.plain[dst.0 as usize] = true);
                }
                Eqn::Loop(lp) => {
                    if self.names.indices.len() <= depth {
                        let index = self.index(depth);
                        self.names.indices.push(index);
                    }
                    self.find_plain_and_collects(&lp.body, depth + 1);
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
        let mut top_level = vec![false; self.node.bits.len()];
        for eqn in &self.node.body {
            match eqn {
                Eqn::Op(e) => top_level[e.dst.0 as usize] = true,
                Eqn::Call(call) => {
                    call.dsts.iter().for_each(|dst| top_level[dst.0 as usize] = true);
                }
                Eqn::Loop(_) => {}
            }
        }
        let first = self.node.params.len();
        let ports = self.node.results.iter().enumerate();
        let elements =
            ports.flat_map(|(p, port)| (0..port.values(slicing)).map(move |i| (first + p, i)));
        for ((array, index), &out) in elements.zip(&self.node.outs) {
            if top_level[out.0 as usize] && self.names.of(out).is_empty() {
                self.settle(out, array, index);
            }
        }
    }

    /// Decides how each list is read.
    fn lists(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            if let Eqn::Loop(lp) = eqn {
                for read in &lp.reads {
                    let reading = match self.walk(&read.list) {
                        Some(walk) => walk,
                        None => self.gather(&read.list),
                    };
                    self.names.readings.insert(read.dst, reading);
                }
                self.lists(&lp.body);
            }
        }
    }

    /// The list as an affine walk over one array, if it is one.
    fn walk(&self, list: &[Val]) -> Option<Reading> {
        let home = |v: Val| self.names.home[v.0 as usize];
        let (array, base) = home(list[0])?;
        let stride = match list.get(1) {
            Some(&second) => home(second)?.1 as i64 - base as i64,
            None => 0,
        };
        let (base, count) = (base as i64, list.len() as u32);
        for (k, &v) in list.iter().enumerate() {
            let (member_array, index) = home(v)?;
            if member_array != array || index as i64 != base + stride * k as i64 {
                return None;
            }
        }
        Some(Reading::Walk { array, base, stride, count })
    }

    /// A list that walks over no array gets one: its members are named as elements where that
    /// is possible, and copied before the loop where not.
    fn gather(&mut self, list: &[Val]) -> Reading {
        let mut seen = FxHashSet::default();
        let free = list.iter().all(|&v| {
            let named = !self.names.of(v).is_empty();
            self.plain[v.0 as usize] && !named && seen.insert(v)
        });
        let array = self.local_array(list, free);
        match free {
            true => Reading::Walk { array, base: 0, stride: 1, count: list.len() as u32 },
            false => Reading::Fill { array },
        }
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

    /// Names what is left, in the order of definition.
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
            self.names.text[c.result.0 as usize] = self.names.text[c.param.0 as usize].clone();
        }
        lp.reads.iter().for_each(|r| self.scalar(r.dst, "t"));
        self.temporaries(&lp.body);
    }

    fn scalar(&mut self, v: Val, prefix: &'static str) {
        if !self.names.text[v.0 as usize].is_empty() {
            return;
        }
        let name = self.fresh(prefix);
        let bits = self.node.bits_of(v);
        match self.names.scalars.iter_mut().find(|(b, _)| *b == bits) {
            Some((_, names)) => names.push(name.clone()),
            None => self.names.scalars.push((bits, vec![name.clone()])),
        }
        self.names.text[v.0 as usize] = name;
    }

    fn settle(&mut self, v: Val, array: usize, index: usize) {
        self.names.text[v.0 as usize] = self.names.element(array, index);
        if !self.names.arrays[array].dims.is_empty() {
            self.names.home[v.0 as usize] = Some((array, index as u32));
        }
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
pub mod tests {
    use super::Walk;

    /// The index texts of a walk, one per dimension, with the loop index `i`.
    pub fn walk_texts(dims: &[i64], base: i64, stride: i64, count: i64) -> Vec<String> {
        let walk = Walk { base, stride, last: count - 1 };
        let mut inner: i64 = dims.iter().product();
        let mut texts = Vec::new();
        for (position, &d) in dims.iter().enumerate() {
            inner /= d;
            texts.push(walk.dimension(inner, d, position == 0, "i"));
        }
        texts
    }
}
