//! One node as a C function: straight-line equations and calls. Loops are in `loops`.
//!
//! Values are `const` locals named after their index. A value that is a result of the node, or
//! that an array of a loop takes, is stored right after its definition: compilers then need not
//! keep it in a register until the end.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Context;
use super::advice;
use super::arrays::Arrays;
use super::demand::{Demand, demand};
use super::helpers::{Applied, fill};
use super::place::{Cell, Place, walk};
use super::wide::{Pair, Pairs, Wide, pairs};
use crate::emit::header::{self, PortText};
use crate::emit::places::Printed;
use crate::emit::{instruction, names};
use crate::ir::{Call, Eqn, Inline, Node, NodeId, Op, OpEqn, Port, Val};
use crate::isa::{Layout, word_type};

/// Prints one node.
pub struct Body<'c, 'p> {
    pub(super) cx: &'c mut Context<'p>,
    pub(super) node: &'p Node,
    pub(super) demand: Demand,
    pub(super) places: Vec<Place>,
    /// Array elements that take a value as soon as it is defined.
    pub(super) stores: Vec<Vec<Cell>>,
    pub(super) text: String,
    pub(super) depth: usize,
    /// Lines of the text.
    lines: u32,
    /// Values of equations, with their first and last line.
    printed: Vec<(Val, u32, u32)>,
    /// The file and line of the last comment on the source.
    commented: Option<(usize, usize)>,
    /// Constants that have a name, one map for each open scope.
    pub(super) named: Vec<BTreeMap<(u8, u64), String>>,
    counter: usize,
    /// Values that are products of words below 2^32.
    halves: Vec<bool>,
    /// Where values that have a local also lie.
    homes: Vec<Option<Cell>>,
    /// The arrays that calls of other kernels filled.
    pub(super) arrays: Arrays,
    /// Words that are defined together.
    pairs: Pairs,
}

/// How a node is called from C.
pub struct Signature {
    pub name: String,
    /// Parameters, then results: C name of each.
    pub params: Vec<String>,
    pub results: Vec<String>,
    /// The single result is returned instead of stored.
    pub returns: bool,
}

/// The ports of a node as C has them: the entry has one array for the ports of one parameter or
/// result of the source.
fn ports<'p>(cx: &Context<'p>, id: NodeId) -> [Vec<&'p [Port]>; 2] {
    let program = cx.program;
    if id == program.entry {
        return [program.params(), program.results()];
    }
    let node = program.node(id);
    [&node.params, &node.results].map(|ports| ports.chunks(1).collect())
}

/// The C signature of a node. The entry and other kernels take a pointer for every port; other
/// nodes take single words by value and return a single result.
pub fn signature(cx: &Context, id: NodeId) -> Signature {
    let node = cx.program.node(id);
    let entry = id == cx.program.entry;
    let function = super::entry_name(cx.program, cx.options);
    let mut taken = Vec::new();
    let [params, results] = ports(cx, id).map(|ports| {
        let mut all = Vec::new();
        for port in ports {
            let name = names::parameter(&port[0].name, &function, &taken);
            taken.push(name.clone());
            all.push(name);
        }
        all
    });
    let linked = cx.linked(id);
    let name = match linked {
        _ if entry => cx.name.clone(),
        Some(name) => cx.options.symbol(name),
        None => format!("{}_n_{}", cx.name, names::escape(&node.name)),
    };
    let returns = !entry && linked.is_none() && node.outs.len() == 1;
    Signature { name, params, results, returns }
}

/// The prototype of a kernel in another file, without its semicolon.
pub fn declared(cx: &Context, id: NodeId) -> String {
    let signature = signature(cx, id);
    let texts = |ports: Vec<&[Port]>, names: &[String]| -> Vec<PortText> {
        let text = |(ports, name): (&[Port], &String)| {
            PortText::new(cx.program, cx.target, cx.layout, ports, name, true)
        };
        ports.into_iter().zip(names).map(text).collect()
    };
    let [params, results] = ports(cx, id);
    let params = texts(params, &signature.params);
    header::prototype(&signature.name, &params, &texts(results, &signature.results))
}

/// The start of a function that the C compiler must inline.
const ALWAYS_INLINE: &str =
    "#ifdef __GNUC__\n__attribute__((always_inline))\n#endif\nstatic inline ";

/// The whole function definition of a node.
pub fn function(cx: &mut Context, id: NodeId) -> String {
    let program = cx.program;
    let node = program.node(id);
    let signature = signature(cx, id);
    let entry = id == program.entry;
    let slicing = program.slicing;
    let mut declared = Vec::new();
    let mut places = vec![Place::Unset; node.bits.len()];
    let [params, results] = ports(cx, id);
    let count = |ports: &[Port]| ports.iter().map(|port| port.values(slicing)).sum::<usize>();
    let mut at = 0;
    for (ports, name) in params.iter().zip(&signature.params) {
        let (port, count) = (&ports[0], count(ports));
        let ty = cx.c_type(port.value_bits(slicing));
        let by_value = !entry && count == 1;
        let broadcast = (entry && cx.masked(port)).then(|| cx.broadcast());
        let ty = if broadcast.is_some() { word_type(32) } else { ty };
        declared.push(if by_value {
            format!("{ty} {name}")
        } else {
            format!("const {ty} *__restrict {name}")
        });
        for i in 0..count {
            places[at + i] = if by_value {
                Place::Text(name.clone())
            } else {
                let cell = Cell { broadcast, ..Cell::new(name, i) };
                Place::Lazy { expr: cell.value(), cell: Some(cell), depth: 1 }
            };
        }
        at += count;
    }
    let arity = at;
    let mut stores = vec![Vec::new(); node.bits.len()];
    let mut result_type = "void";
    let mut outs = node.outs.iter();
    for (ports, name) in results.iter().zip(&signature.results) {
        let ty = cx.c_type(ports[0].value_bits(slicing));
        if signature.returns {
            result_type = ty;
            continue;
        }
        declared.push(format!("{ty} *__restrict {name}"));
        for (i, out) in outs.by_ref().take(count(ports)).enumerate() {
            stores[out.0 as usize].push(Cell::new(name, i));
        }
    }
    let demand = demand(node);
    let wide = !cx.target.simd && cx.target.bits == 64 && cx.layout == Layout::Words;
    let pairs = if wide { pairs(node, &demand) } else { Pairs::default() };
    let halves = cx.products[id.0 as usize].clone();
    let mut body = Body {
        demand,
        pairs,
        cx,
        node,
        places,
        stores,
        text: String::new(),
        depth: 1,
        lines: 0,
        printed: Vec::new(),
        commented: None,
        named: vec![BTreeMap::new()],
        counter: 0,
        halves,
        homes: vec![None; node.bits.len()],
        arrays: Arrays::new(node),
    };
    body.unused_params(&params, &signature);
    for v in 0..arity {
        body.flush(Val(v as u32));
    }
    body.block(&node.body);
    if signature.returns {
        let value = body.read(node.outs[0]);
        body.line(&format!("return {value};"));
    }
    let target = body.cx.target;
    let (linkage, qualifier) = match (entry, node.inline) {
        (true, _) if !super::takes_bytes(program) => (body.cx.linkage(), body.cx.qualifier()),
        // The node must not become a call in the machine code.
        (false, Inline::Always) => (ALWAYS_INLINE, target.qualifier()),
        _ => (target.local(), target.qualifier()),
    };
    let (advice, printed) = (body.cx.advice(id), std::mem::take(&mut body.printed));
    if declared.is_empty() {
        declared.push("void".into());
    }
    let (text, ports) = (body.text, declared.join(", "));
    let head = format!("{advice}{linkage}{qualifier}{result_type} {}({ports})", signature.name);
    let before = head.lines().count() as u32 + 1;
    let printed = printed.into_iter().map(|(value, first, last)| {
        let lines = (first + before, last + before);
        Printed { node: id, value, lines }
    });
    cx.lines.extend(printed);
    format!("{head}\n{{\n{text}}}\n")
}

impl<'p> Body<'_, 'p> {
    pub(super) fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
        self.lines += 1;
    }

    /// A number for a name that is unique in the function.
    pub(super) fn number(&mut self) -> usize {
        self.counter += 1;
        self.counter - 1
    }

    pub(super) fn c_type(&self, v: Val) -> &'static str {
        self.cx.c_type(self.node.bits_of(v))
    }

    pub(super) fn is_live(&self, v: Val) -> bool {
        self.demand.live[v.0 as usize]
    }

    pub(super) fn place(&self, v: Val) -> &Place {
        &self.places[v.0 as usize]
    }

    /// C warns about a parameter that nothing reads.
    fn unused_params(&mut self, params: &[&[Port]], signature: &Signature) {
        let mut at = 0;
        for (ports, name) in params.iter().zip(&signature.params) {
            let values = ports.iter().map(|port| port.values(self.cx.program.slicing));
            let of_ports = at..at + values.sum::<usize>();
            at = of_ports.end;
            if of_ports.into_iter().all(|v| !self.demand.live[v]) {
                self.line(&format!("(void){name};"));
            }
        }
    }

    pub(super) fn block(&mut self, eqns: &'p [Eqn]) {
        for eqn in eqns {
            let (at, first) = (self.text.len(), self.lines);
            match eqn {
                Eqn::Op(op) if self.is_live(op.dst) => self.operation(op),
                Eqn::Op(_) => {}
                Eqn::Call(call) if call.dsts.iter().any(|&d| self.is_live(d)) => self.call(call),
                Eqn::Call(_) => {}
                Eqn::Loop(l) => self.run_loop(l),
            }
            if let Some(v) = eqn.first_value()
                && self.lines > first
            {
                self.came_from(v, at, first);
            }
            self.arrays.spend(eqn);
        }
    }

    /// Notes the lines of an equation, whose text begins at `at` after `first` lines, and writes
    /// the place in the source before them where it is another line than before.
    fn came_from(&mut self, v: Val, at: usize, mut first: u32) {
        if let Some(places) = &self.cx.options.origins
            && let Some(place) = self.node.origins.of(v).and_then(|span| places.of(span))
            && self.commented.replace((place.file, place.line)) != Some((place.file, place.line))
        {
            let name = place.name.replace("*/", "* /");
            let blanks = "    ".repeat(self.depth);
            self.text.insert_str(at, &format!("{blanks}/* {name}:{} */\n", place.line));
            self.lines += 1;
            first += 1;
        }
        self.printed.push((v, first, self.lines - 1));
    }

    /// Gives a value its place and performs the stores that wait for it.
    pub(super) fn define(&mut self, v: Val, place: Place) {
        if let Some(cell) = place.cell() {
            self.arrays.holds(cell, v);
        }
        self.places[v.0 as usize] = place;
        self.flush(v);
    }

    fn flush(&mut self, v: Val) {
        for cell in std::mem::take(&mut self.stores[v.0 as usize]) {
            let value = self.read(v);
            self.line(&format!("{} = {value};", cell.text()));
        }
    }

    /// An array element that is loaded at its first use in the open scope.
    pub(super) fn memory(&self, cell: Cell) -> Place {
        Place::Lazy { expr: cell.value(), cell: Some(cell), depth: self.depth }
    }

    /// The C expression of a value. The first of several reads of a lazy value gives it a local.
    pub(super) fn read(&mut self, v: Val) -> String {
        match self.place(v).clone() {
            Place::Text(text) => text,
            Place::Cell(cell) => cell.value(),
            Place::Lazy { expr, depth, .. }
                if depth != self.depth || self.demand.reads[v.0 as usize] <= 1 =>
            {
                expr
            }
            Place::Lazy { expr, cell, .. } => {
                let ty = self.c_type(v);
                let name = format!("v{}", v.0);
                self.line(&format!("const {ty} {name} = {expr};"));
                self.homes[v.0 as usize] = cell;
                self.places[v.0 as usize] = Place::Text(name.clone());
                name
            }
            Place::Const(value) => self.constant(self.node.bits_of(v), value),
            Place::Unset => unreachable!("%{} is read before it is defined", v.0),
        }
    }

    /// The name or text of a constant; vectors get a local at the first use in a scope.
    fn constant(&mut self, bits: u8, value: u64) -> String {
        if let Some(name) = self.named.iter().find_map(|scope| scope.get(&(bits, value))) {
            return name.clone();
        }
        let expr = self.cx.constant(bits, value);
        if !self.cx.target.simd {
            return expr;
        }
        let name = format!("c{}", self.number());
        let register = self.cx.target.register;
        self.line(&format!("const {register} {name} = {expr};"));
        let scope = self.named.last_mut().expect("a body has a scope");
        scope.insert((bits, value), name.clone());
        name
    }

    fn operation(&mut self, eqn: &OpEqn) {
        if let Op::Const(value) = eqn.op {
            return self.define(eqn.dst, Place::Const(value));
        }
        if matches!(eqn.op, Op::Copy) {
            return self.alias(eqn.dst, eqn.args[0]);
        }
        if self.pairs.took(eqn.dst) {
            return;
        }
        if let Some(pair) = self.pairs.at(eqn.dst) {
            return self.pair(pair);
        }
        let bits = self.node.bits_of(eqn.dst);
        let mut args: Vec<String> = eqn.args.iter().map(|&a| self.read(a)).collect();
        if eqn.args.first().is_some_and(|&a| self.cx.makes_mask(&eqn.op, self.place(a))) {
            args[1] = self.opaque(eqn.dst, &args[1]);
        }
        if self.halves[eqn.dst.0 as usize]
            && let Some(expr) = self.cx.helpers.product_of_halves(&args)
        {
            return self.assign(eqn.dst, &expr);
        }
        match self.cx.helpers.apply(&eqn.op, bits, &args) {
            Applied::Operand(i) => self.alias(eqn.dst, eqn.args[i as usize]),
            Applied::Text(expr) => self.assign(eqn.dst, &expr),
        }
    }

    /// The operand of a value in a variable whose value compilers do not know.
    fn opaque(&mut self, dst: Val, operand: &str) -> String {
        let (ty, name) = (self.c_type(dst), format!("t{}", dst.0));
        self.line(&format!("{ty} {name} = {operand};"));
        for line in advice::opaque("defined(__GNUC__)", &name) {
            self.line(&line);
        }
        name
    }

    /// Defines both words of a pair.
    fn pair(&mut self, pair: Pair) {
        let Pair { low, high, of } = pair;
        let call = match of {
            Wide::Product(a, b) => {
                let args = [self.read(a), self.read(b)];
                self.cx.helpers.wide_product(&args)
            }
            Wide::Sum(words, upper) => {
                let words = words.map(|v| self.read(v));
                let upper = upper.map(|v| v.map_or("0".to_string(), |v| self.read(v)));
                self.cx.helpers.wide_sum(&words, &upper)
            }
        };
        let ty = self.c_type(high);
        self.line(&format!("{ty} v{};", high.0));
        let call = format!("{call}, &v{})", high.0);
        let at = low.0 as usize;
        // The lower word may have been read for its carry only.
        let used = self.demand.reads[at] > 1
            || !self.stores[at].is_empty()
            || matches!(of, Wide::Product(..));
        match used {
            true => self.line(&format!("const {ty} v{} = {call};", low.0)),
            false => self.line(&format!("(void){call};")),
        }
        self.define(low, Place::Text(format!("v{}", low.0)));
        self.define(high, Place::Text(format!("v{}", high.0)));
    }

    fn alias(&mut self, dst: Val, source: Val) {
        let place = self.place(source).clone();
        self.define(dst, place);
    }

    /// Defines a value by an expression, directly in memory if that is its only reader.
    fn assign(&mut self, dst: Val, expr: &str) {
        let at = dst.0 as usize;
        if self.demand.reads[at] == 0 && self.stores[at].len() == 1 {
            let cell = self.stores[at].pop().expect("there is one store");
            self.line(&format!("{} = {expr};", cell.text()));
            self.places[at] = Place::Cell(cell);
            return;
        }
        let ty = self.c_type(dst);
        self.line(&format!("const {ty} v{} = {expr};", dst.0));
        self.define(dst, Place::Text(format!("v{}", dst.0)));
    }

    fn call(&mut self, call: &Call) {
        let callee = self.cx.program.node(call.node);
        if let Some((row, lane)) = instruction(self.cx.program, callee, self.cx.target) {
            let operands: Vec<String> = call.args.iter().map(|&v| self.read(v)).collect();
            let expr = fill(&row.text(lane), &operands, "", "", "");
            return self.assign(call.dsts[0], &expr);
        }
        self.cx.called.insert(call.node);
        let signature = signature(self.cx, call.node);
        let slicing = self.cx.program.slicing;
        let linked = self.cx.linked(call.node).is_some();
        let mut actual = Vec::new();
        let mut args = call.args.as_slice();
        for port in &callee.params {
            let (these, rest) = args.split_at(port.values(slicing));
            args = rest;
            actual.push(self.argument(these, linked));
        }
        if signature.returns {
            let expr = format!("{}({})", signature.name, actual.join(", "));
            return self.assign(call.dsts[0], &expr);
        }
        let mut dsts = call.dsts.as_slice();
        let mut defined = Vec::new();
        for port in &callee.results {
            let (these, rest) = dsts.split_at(port.values(slicing));
            dsts = rest;
            if these.is_empty() {
                actual.push("0".to_string());
                continue;
            }
            let cell = self.result_array(these);
            actual.push(cell.address());
            for (i, &dst) in these.iter().enumerate() {
                defined.push((dst, cell.further(i as i64)));
            }
        }
        self.line(&format!("{}({});", signature.name, actual.join(", ")));
        for (dst, cell) in defined {
            let place = self.memory(cell);
            self.define(dst, place);
        }
        self.arrays.called();
    }

    /// The argument of a call for one port: a word, a part of an array, or a fresh array. Kernels
    /// take an array also for a single word.
    fn argument(&mut self, these: &[Val], kernel: bool) -> String {
        if let ([single], false) = (these, kernel) {
            return self.read(*single);
        }
        if these.is_empty() {
            return "0".to_string();
        }
        let cells: Vec<_> = these.iter().map(|&v| self.place(v).register()).collect();
        if let Some((first, 1)) = walk(cells) {
            return first.address();
        }
        let cells: Vec<_> = these.iter().map(|&v| self.home(v)).collect();
        if let Some((first, 1)) = walk(cells) {
            return first.address();
        }
        let literal = |v: &Val| match self.place(*v) {
            Place::Const(value) => Some(*value),
            _ => None,
        };
        if !self.cx.target.simd
            && let Some(values) = these.iter().map(literal).collect::<Option<Vec<u64>>>()
        {
            return self.table(self.node.bits_of(these[0]), &values);
        }
        let values: Vec<String> = these.iter().map(|&v| self.read(v)).collect();
        let name = format!("a{}", self.number());
        let ty = self.c_type(these[0]);
        self.line(&format!("const {ty} {name}[{}] = {{ {} }};", these.len(), values.join(", ")));
        name
    }

    /// The register in memory that holds a value, whether or not it has a local too.
    fn home(&self, v: Val) -> Option<&Cell> {
        let home = self.homes[v.0 as usize].as_ref().filter(|cell| cell.broadcast.is_none());
        self.place(v).register().or(home)
    }

    /// The array for one result port of a call: the array that waits for all of it, or a fresh one.
    /// Arrays that calls filled are reused after their last read: small machines have small stacks.
    fn result_array(&mut self, these: &[Val]) -> Cell {
        let waiting = these.iter().map(|v| self.stores[v.0 as usize].first());
        if let Some((first, 1)) = walk(waiting) {
            for v in these {
                self.stores[v.0 as usize].remove(0);
            }
            return first;
        }
        let (ty, depth) = (self.c_type(these[0]), self.depth);
        if let Some(name) = self.arrays.reuse(ty, these.len(), depth) {
            return Cell::new(&name, 0);
        }
        let name = format!("r{}", self.number());
        self.line(&format!("{ty} {name}[{}];", these.len()));
        self.arrays.declare(&name, ty, these.len(), depth, None);
        Cell::new(&name, 0)
    }

    /// Opens a scope and prints its first line.
    pub(super) fn open(&mut self, head: &str) {
        self.line(head);
        self.depth += 1;
        self.named.push(BTreeMap::new());
    }

    pub(super) fn close(&mut self) {
        self.arrays.close(self.depth);
        self.depth -= 1;
        self.named.pop();
        self.line("}");
    }

    /// A `static const` table of indices into an array.
    pub(super) fn indices(&mut self, indices: &[u64]) -> String {
        let name = format!("p{}", self.number());
        let ty = if indices.iter().all(|&i| i < 256) { "uint8_t" } else { "uint32_t" };
        let items: Vec<String> = indices.iter().map(u64::to_string).collect();
        self.line(&format!(
            "static const {ty} {name}[{}] = {{ {} }};",
            items.len(),
            items.join(", ")
        ));
        name
    }

    /// A `static const` table of the literals of one word size.
    pub(super) fn table(&mut self, bits: u8, values: &[u64]) -> String {
        let name = format!("p{}", self.number());
        let mut text = String::new();
        let (ty, items) = self.cx.table_items(bits, values);
        for (at, item) in items.iter().enumerate() {
            let _ = write!(text, "{}{item}", if at > 0 { ", " } else { "" });
        }
        self.line(&format!("static const {ty} {name}[{}] = {{ {text} }};", items.len()));
        name
    }
}
