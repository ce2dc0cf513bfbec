//! Usuba0 as Usuba text that parses, means the same, and can restart the pipeline.
//!
//! ```text
//! node f (x:u<V>16, k:const u<V>16[3]) returns (y:u<V>16)
//! vars
//!   s, t1, t2: u<V>16
//! let
//!   s = x;
//!   forall i in [0,2] {
//!     t1 := k[i];
//!     t2 := s ^ t1;
//!     s := t2;
//!   }
//!   y = s;
//! tel
//! ```
//!
//! One equation per operator. Directions and word sizes are always written. A kept loop starts
//! with its reads and ends with one update of all carried variables; a carried variable and its
//! value after the loop share a name. Inside of loops every definition is written `:=`, because
//! `=` would define the same atom again in the next iteration. `names` decides what is called
//! how; this file writes it down.
//!
//! Not kept: `Lut3` becomes an expression of plain operators, and under bitslicing a port of
//! m-bit words becomes one of bits with an additional dimension.

mod names;

use std::fmt::Write;
use std::rc::Rc;

use super::lanes::Lanes;
use super::op::mask;
use super::{Eqn, Inline, Loop, Node, NodeId, Op, OpEqn, Port, Program, Slicing, Val};
use names::{Names, Reading};

/// The whole program. The entry is the last node unless a comment on top names it.
pub fn program(program: &Program) -> String {
    let mut out = String::new();
    if program.entry.0 as usize + 1 != program.nodes.len() {
        writeln!(out, "# entry: {}\n", program.entry().name).expect("text grows");
    }
    for (at, (table, bits)) in lookups(program).iter().enumerate() {
        let word = word_type(program, *bits);
        let entries: Vec<String> = table.iter().map(u64::to_string).collect();
        let name = lookup_name(at);
        // Tables of all bytes need no flag.
        if *bits > 8 || table.len() != 1 << bits {
            writeln!(out, "# needs -keep-tables").expect("text grows");
        }
        writeln!(out, "table {name} (x:{word}) returns (y:{word})").expect("text grows");
        writeln!(out, "{{ {} }}\n", entries.join(", ")).expect("text grows");
    }
    for id in 0..program.nodes.len() {
        if id > 0 {
            out.push('\n');
        }
        out.push_str(&node(program, NodeId(id as u32)));
    }
    out
}

fn lookup_name(at: usize) -> String {
    format!("lookup'{at}")
}

/// The table of an operator that is written as one: the language has no other way to write those
/// on bytes that need special instructions.
fn table_of(op: &Op) -> Option<Rc<[u64]>> {
    match op {
        Op::Lookup(table) => Some(table.clone()),
        Op::Affine(..) | Op::AffineInverse(..) => {
            Some((0..256).map(|a| op.eval(8, &[a])).collect())
        }
        _ => None,
    }
}

/// Every table that a look-up reads, with its word size, once, in the order of the text.
fn lookups(program: &Program) -> Vec<(Rc<[u64]>, u8)> {
    fn visit(node: &Node, body: &[Eqn], found: &mut Vec<(Rc<[u64]>, u8)>) {
        for eqn in body {
            match eqn {
                Eqn::Op(OpEqn { op, dst, .. }) => {
                    let bits = node.bits_of(*dst);
                    let entry = table_of(op).map(|table| (table, bits));
                    if let Some(entry) = entry.filter(|entry| !found.contains(entry)) {
                        found.push(entry);
                    }
                }
                Eqn::Loop(lp) => visit(node, &lp.body, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    for node in &program.nodes {
        visit(node, &node.body, &mut found);
    }
    found
}

/// One node of the program.
pub fn node(program: &Program, id: NodeId) -> String {
    let node = program.node(id);
    let names = Names::choose(node, program.slicing);
    let mut printer = Printer { program, node, names, out: String::new(), depth: 0 };
    printer.node();
    printer.out
}

struct Printer<'a> {
    program: &'a Program,
    node: &'a Node,
    names: Names,
    out: String,
    /// Number of loops around the current place.
    depth: usize,
}

impl Printer<'_> {
    fn node(&mut self) {
        match self.node.inline {
            Inline::Auto => {}
            Inline::Always => self.out.push_str("_inline "),
            Inline::Never => self.out.push_str("_no_inline "),
        }
        let (params, results) = (&self.node.params, &self.node.results);
        let params = self.ports(params, 0);
        let results = self.ports(results, self.node.params.len());
        let head = format!("node {} ({params}) returns ({results})\n", self.node.name);
        self.out.push_str(&head);
        self.declarations();
        self.out.push_str("let\n");
        self.block(&self.node.body);
        let ports = self.node.results.len();
        let elements = (0..ports).flat_map(|port| {
            let values = self.node.results[port].values(self.program.slicing);
            (0..values).map(move |index| (port, index))
        });
        for ((port, index), &out) in elements.zip(&self.node.outs).collect::<Vec<_>>() {
            let target = self.names.element(self.node.params.len() + port, index);
            let source = self.names.of(out);
            if target != source {
                self.line(&format!("{target} = {source};"));
            }
        }
        self.out.push_str("tel\n");
    }

    fn ports(&self, ports: &[Port], first_array: usize) -> String {
        let port = |(i, p): (usize, &Port)| {
            let word = word_type(self.program, p.value_bits(self.program.slicing));
            let dims = dims_text(&p.value_dims(self.program.slicing));
            let constant = if p.constant { "const " } else { "" };
            format!("{}:{constant}{word}{dims}", self.names.array_name(first_array + i))
        };
        ports.iter().enumerate().map(port).collect::<Vec<_>>().join(", ")
    }

    /// The `vars` part: scalars grouped by width, wrapped, then the local arrays.
    fn declarations(&mut self) {
        let mut groups: Vec<String> = Vec::new();
        for (bits, names) in self.names.scalars() {
            let mut text = String::new();
            let mut column = 0;
            for (i, name) in names.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                    column += 1;
                    text.push_str(if column > 90 { "\n    " } else { " " });
                    column = if column > 90 { 4 } else { column + 1 };
                }
                text.push_str(name);
                column += name.len();
            }
            groups.push(format!("{text}: {}", word_type(self.program, *bits)));
        }
        for (name, bits, length) in self.names.local_arrays() {
            groups.push(format!("{name}: {}[{length}]", word_type(self.program, bits)));
        }
        if !groups.is_empty() {
            write!(self.out, "vars\n  {}\n", groups.join(",\n  ")).expect("text grows");
        }
    }

    fn block(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => {
                    let value = self.expression(e);
                    self.define(self.names.of(e.dst).to_string(), &value);
                }
                Eqn::Call(call) => {
                    let value =
                        format!("{}({})", self.program.node(call.node).name, self.list(&call.args));
                    self.define(self.pattern(&call.dsts), &value);
                }
                Eqn::Loop(lp) => self.lp(lp),
            }
        }
    }

    fn lp(&mut self, lp: &Loop) {
        // The grammar wants an equation in every loop.
        if does_nothing(lp) {
            return;
        }
        for c in &lp.carried {
            let init = self.names.of(c.init).to_string();
            self.define(self.names.of(c.param).to_string(), &init);
        }
        let readings: Vec<Reading> = lp.reads.iter().map(|r| self.names.reading(r)).collect();
        for (read, reading) in lp.reads.iter().zip(&readings) {
            if let Reading::Fill { array } = reading {
                for (k, &member) in read.list.iter().enumerate() {
                    let value = self.names.of(member).to_string();
                    self.define(self.names.element(*array, k), &value);
                }
            }
        }
        let index = self.names.index(self.depth).to_string();
        let keep = if lp.keep { "_no_unroll " } else { "" };
        self.line(&format!("{keep}forall {index} in [0,{}] {{", lp.count - 1));
        self.depth += 1;
        for (read, reading) in lp.reads.iter().zip(&readings) {
            let value = self.names.indexed(*reading, &index);
            self.define(self.names.of(read.dst).to_string(), &value);
        }
        self.block(&lp.body);
        for collect in &lp.collects {
            let array = self.names.array_of(&collect.results);
            let value = self.names.of(collect.value).to_string();
            let target = format!("{}[{index}]", self.names.array_name(array));
            // In an outer loop the element is defined again by every outer iteration.
            let sign = if self.depth > 1 { ":=" } else { "=" };
            self.line(&format!("{target} {sign} {value};"));
        }
        if !lp.carried.is_empty() {
            let params: Vec<Val> = lp.carried.iter().map(|c| c.param).collect();
            let nexts: Vec<Val> = lp.carried.iter().map(|c| c.next).collect();
            let nexts = self.pattern(&nexts);
            self.define(self.pattern(&params), &nexts);
        }
        self.depth -= 1;
        self.line("}");
    }

    fn define(&mut self, target: String, value: &str) {
        let sign = if self.depth > 0 { ":=" } else { "=" };
        self.line(&format!("{target} {sign} {value};"));
    }

    fn line(&mut self, text: &str) {
        let indent = 2 + 2 * self.depth;
        writeln!(self.out, "{:indent$}{text}", "").expect("text grows");
    }

    /// Several values in parentheses, one without.
    fn pattern(&self, values: &[Val]) -> String {
        let list = self.list(values);
        if values.len() == 1 { list } else { format!("({list})") }
    }

    /// The names of `values`; where the elements of a whole array follow each other, its name.
    fn list(&self, values: &[Val]) -> String {
        let mut names = Vec::new();
        let mut rest = values;
        while let Some(&head) = rest.first() {
            let (name, length) = self.names.whole_array(rest).unwrap_or((self.names.of(head), 1));
            names.push(name);
            rest = &rest[length..];
        }
        names.join(", ")
    }

    /// The amount of a shift, once for each word of a vector.
    fn amount(&self, k: u8) -> String {
        match self.program.slicing {
            Slicing::W => {
                format!("({})", vec![k.to_string(); self.program.vector as usize].join(", "))
            }
            _ => k.to_string(),
        }
    }

    fn expression(&self, e: &OpEqn) -> String {
        let arg = |i: usize| self.names.of(e.args[i]);
        let infix = |sign: &str| format!("{} {sign} {}", arg(0), arg(1));
        let bits = self.node.bits_of(e.dst);
        match &e.op {
            Op::Const(value) => literal(self.program, bits, *value),
            Op::Copy => arg(0).to_string(),
            Op::Not => format!("~{}", arg(0)),
            Op::And => infix("&"),
            Op::Or => infix("|"),
            Op::Xor => infix("^"),
            Op::Andn => format!("~{} & {}", arg(0), arg(1)),
            Op::Lut3(table) => {
                let ones = literal(self.program, bits, mask(bits));
                let zero = literal(self.program, bits, 0);
                lut3(*table, [arg(0), arg(1), arg(2)], &zero, &ones)
            }
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::MulHigh => format!("mulhigh({}, {})", arg(0), arg(1)),
            Op::MulAdd(k) | Op::MulAddHigh(k) => {
                let (outer, inner) = (word_type(self.program, bits), word_type(self.program, *k));
                let (x, y) = (arg(1), arg(2));
                match e.op {
                    Op::MulAdd(_) => format!("{} + {outer}({inner}({x}) * {inner}({y}))", arg(0)),
                    _ => format!("{} + {outer}(mulhigh({inner}({x}), {inner}({y})))", arg(0)),
                }
            }
            Op::Less => format!("less({}, {})", arg(0), arg(1)),
            Op::Resize(_) => format!("{}({})", word_type(self.program, bits), arg(0)),
            Op::Shl(k) => format!("{} << {}", arg(0), self.amount(*k)),
            Op::Shr(k) => format!("{} >> {}", arg(0), self.amount(*k)),
            Op::Sar(k) => format!("{} >>! {}", arg(0), self.amount(*k)),
            Op::Rotl(k) => format!("{} <<< {}", arg(0), self.amount(*k)),
            Op::Lanes(lanes) => match lanes {
                Lanes::Const(words) => literals(bits, words),
                Lanes::Each(ops) => each(ops, arg(0), bits),
                Lanes::Move(pattern) => {
                    let lanes: Vec<String> = pattern.iter().map(|p| p.to_string()).collect();
                    format!("{}[{}]", arg(0), lanes.join(","))
                }
                Lanes::Join(pattern) => {
                    let vector = self.program.vector;
                    let lane = |&p: &u8| format!("{}[{}]", arg((p / vector) as usize), p % vector);
                    let lanes: Vec<String> = pattern.iter().map(lane).collect();
                    format!("({})", lanes.join(", "))
                }
            },
            Op::Shuffle(pattern) => {
                let groups: Vec<String> = pattern.iter().map(|p| p.to_string()).collect();
                format!("Shuffle({},[{}])", arg(0), groups.join(","))
            }
            Op::Bitmask(i) => format!("Bitmask({},{i})", arg(0)),
            Op::Pack => {
                let ty = word_type(self.program, bits);
                format!("Pack({}, {}):{ty}", arg(0), arg(1))
            }
            op @ (Op::Lookup(_) | Op::Affine(..) | Op::AffineInverse(..)) => {
                let entry = (table_of(op).expect("these have tables"), bits);
                let at = lookups(self.program).iter().position(|known| *known == entry);
                let name = lookup_name(at.expect("every look-up is listed"));
                format!("{name}({})", arg(0))
            }
        }
    }
}

/// A vector whose words are shifted one by one: in one equation where all shift alike, or not at
/// all.
fn each(ops: &[Op], arg: &str, bits: u8) -> String {
    let of = |op: &Op| match op {
        Op::Shl(k) => ("<<", *k),
        Op::Shr(k) => (">>", *k),
        Op::Sar(k) => (">>!", *k),
        Op::Rotl(k) => ("<<<", *k),
        Op::Const(_) => ("<<", bits),
        _ => ("", 0),
    };
    let mut signs: Vec<&str> = ops.iter().map(|op| of(op).0).filter(|s| !s.is_empty()).collect();
    signs.dedup();
    match signs.as_slice() {
        [sign] => {
            let amounts: Vec<String> = ops.iter().map(|op| of(op).1.to_string()).collect();
            format!("{arg} {sign} ({})", amounts.join(", "))
        }
        _ => {
            let word = |(at, op): (usize, &Op)| match of(op) {
                ("", _) => format!("{arg}[{at}]"),
                (sign, k) => format!("({arg}[{at}] {sign} {k})"),
            };
            let words: Vec<String> = ops.iter().enumerate().map(word).collect();
            format!("({})", words.join(", "))
        }
    }
}

/// Whether a loop has become empty, so that no equation of it would be written.
fn does_nothing(lp: &Loop) -> bool {
    let empty = |eqn: &Eqn| matches!(eqn, Eqn::Loop(inner) if does_nothing(inner));
    lp.carried.is_empty()
        && lp.reads.is_empty()
        && lp.collects.is_empty()
        && lp.body.iter().all(empty)
}

/// `u<V>16`, `b<B>1`, `u<W>32x4`
fn word_type(program: &Program, bits: u8) -> String {
    match program.slicing {
        Slicing::B => "b<B>1".to_string(),
        Slicing::V => format!("u<V>{bits}"),
        Slicing::H => format!("u<H>{bits}"),
        Slicing::W => format!("u<W>{bits}x{}", program.vector),
    }
}

fn dims_text(dims: &[u32]) -> String {
    dims.iter().map(|d| format!("[{d}]")).collect()
}

fn literal(program: &Program, bits: u8, value: u64) -> String {
    if program.slicing == Slicing::W {
        return literals(bits, &vec![value; program.vector as usize]);
    }
    number(&word_type(program, bits), value)
}

/// A vector, word by word.
fn literals(bits: u8, words: &[u64]) -> String {
    let ty = format!("u<W>{bits}");
    let words: Vec<String> = words.iter().map(|&word| number(&ty, word)).collect();
    format!("({})", words.join(", "))
}

fn number(ty: &str, value: u64) -> String {
    if value < 10 { format!("{value}:{ty}") } else { format!("{value:#x}:{ty}") }
}

/// An expression for a function of three operands, given as in [`Op::Lut3`]: where it depends on
/// `a`, the function for `a = 0` changed, under `a`, into the function for `a = 1`. `zero` and
/// `ones` are how the constants are written.
pub fn lut3(table: u8, [a, b, c]: [&str; 3], zero: &str, ones: &str) -> String {
    let (low, high) = (table & 15, table >> 4);
    let change = low ^ high;
    let low_text = lut2(low, b, c, zero, ones);
    let changed = match change {
        0 => return low_text,
        15 => a.to_string(),
        _ => format!("({a} & {})", lut2(change, b, c, zero, ones)),
    };
    if low == 0 { changed } else { format!("({low_text} ^ {changed})") }
}

/// A function of two operands: bit `2b + c` of `table`.
fn lut2(table: u8, b: &str, c: &str, zero: &str, ones: &str) -> String {
    match table & 15 {
        0 => zero.to_string(),
        1 => format!("~({b} | {c})"),
        2 => format!("(~{b} & {c})"),
        3 => format!("~{b}"),
        4 => format!("({b} & ~{c})"),
        5 => format!("~{c}"),
        6 => format!("({b} ^ {c})"),
        7 => format!("~({b} & {c})"),
        8 => format!("({b} & {c})"),
        9 => format!("~({b} ^ {c})"),
        10 => c.to_string(),
        11 => format!("(~{b} | {c})"),
        12 => b.to_string(),
        13 => format!("({b} | ~{c})"),
        14 => format!("({b} | {c})"),
        _ => ones.to_string(),
    }
}

#[cfg(test)]
mod tests;
