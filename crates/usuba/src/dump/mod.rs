//! Usuba0 as Usuba text that parses, has the same semantics, and can restart the pipeline.
//!
//! ```text
//! node f (x:u<V>16, k:const u<V>16[3]) returns (y:u<V>16)
//! vars s1, t1, t2: u<V>16
//! let
//!   s1 = x;
//!   forall i in [0,2] {
//!     t1 := k[i];
//!     t2 := s1 ^ t1;
//!     s1 := t2
//!   }
//!   y = s1
//! tel
//! ```
//!
//! This module builds the syntax tree of the program, and the formatter prints it, so the grammar
//! has one printer and every dump is formatted.
//!
//! One equation per operator. Directions and word sizes are always written. A rolled loop starts
//! with its reads and ends with one update of all loop-carried values; a loop-carried value and its
//! value after the loop share a name. Inside of loops every definition is written `:=`, because
//! `=` would define the same atom again in the next iteration. `names` assigns the names.
//!
//! Limits: `Lut3` becomes an expression of plain operators, and under bitslicing a port of
//! m-bit words becomes one of bits with an additional dimension.

mod names;

use std::rc::Rc;

use crate::ir::op::{Lanes, mask};
use crate::ir::{Eqn, Inline, Loop, Node, Op, OpEqn, Port, Program, Slicing, Val};
use crate::syntax::ast::{
    self, AExpr, BinOp, DeclKind, DirWord, Expr, ExprKind, Selector, ShiftOp,
};
use crate::syntax::ast::{ParamGroup, Stmt, Type, TypeWord, Var, Width};
use crate::syntax::davio::lut3;
use crate::syntax::print::print;
use names::{Names, Reading};

/// The whole program. The entry is the last node unless a comment on top names it.
pub fn program(program: &Program) -> String {
    let mut tables = Tables::default();
    let nodes: Vec<String> =
        program.nodes.iter().map(|node| text(Dump::node(program, node, &mut tables))).collect();
    let mut parts = Vec::new();
    if program.entry.0 as usize + 1 != program.nodes.len() {
        parts.push(format!("# entry: {}\n", program.entry().name));
    }
    parts.extend(tables.0.iter().enumerate().map(|(at, (table, bits))| {
        // Tables of all bytes need no flag.
        let flag =
            if *bits > 8 || table.len() != 1 << bits { "# needs --keep-tables\n" } else { "" };
        let port = |name| vec![ParamGroup::new(vec![name], word(program, *bits))];
        let list = ast::IntList { values: table.to_vec(), span: Default::default() };
        let kind = DeclKind::Table(list);
        let decl = ast::Decl::new(&*lookup_name(at), port("x".into()), port("y".into()), kind);
        flag.to_string() + &text(decl)
    }));
    parts.extend(nodes);
    parts.join("\n")
}

fn text(decl: ast::Decl) -> String {
    print(&ast::File { items: vec![ast::Item::Decl(decl)] })
}

fn lookup_name(at: usize) -> String {
    format!("lookup'{at}")
}

/// The tables that look-ups read, with their word sizes, in the order of the text.
#[derive(Default)]
struct Tables(Vec<(Rc<[u64]>, u8)>);

impl Tables {
    fn name(&mut self, table: Rc<[u64]>, bits: u8) -> String {
        let entry = (table, bits);
        let known = self.0.iter().position(|known| *known == entry);
        lookup_name(known.unwrap_or_else(|| {
            self.0.push(entry);
            self.0.len() - 1
        }))
    }
}

/// The state of one node.
struct Dump<'a> {
    program: &'a Program,
    node: &'a Node,
    names: Names,
    tables: &'a mut Tables,
    /// Number of loops around the current place.
    depth: usize,
}

impl Dump<'_> {
    fn node(program: &Program, node: &Node, tables: &mut Tables) -> ast::Decl {
        let names = Names::choose(node, program.slicing);
        let mut dump = Dump { program, node, names, tables, depth: 0 };
        let mut stmts = Vec::new();
        dump.block(&node.body, &mut stmts);
        let ports = node.results.iter().enumerate();
        let elements = ports.flat_map(|(at, port)| {
            (0..port.values(program.slicing)).map(move |index| (node.params.len() + at, index))
        });
        for ((array, index), &out) in elements.zip(&node.outs) {
            let (target, source) = (dump.names.element(array, index), dump.names.of(out));
            if target != source {
                stmts.push(Stmt::define(vec![target], false, source.into()));
            }
        }
        let body = DeclKind::Node(ast::Body::new(dump.declarations(), stmts));
        let params = dump.ports(&node.params, 0);
        let results = dump.ports(&node.results, node.params.len());
        let mut decl = ast::Decl::new(&*node.name, params, results, body);
        if node.name == program.entry().name {
            let kernels = program.nodes.iter().filter(|node| node.inline == Inline::Kernel);
            let names: Vec<_> = kernels.map(|kernel| kernel.name.as_str().into()).collect();
            let links = ast::Links { names, span: Default::default() };
            decl.links = (!links.names.is_empty()).then(|| Box::new(links));
        }
        decl.opts.extend(match node.inline {
            Inline::Auto | Inline::Kernel | Inline::Instruction => None,
            Inline::Always => Some(ast::DeclOpt::Inline),
            Inline::Never => Some(ast::DeclOpt::NoInline),
        });
        decl
    }

    fn ports(&self, ports: &[Port], first_array: usize) -> Vec<ParamGroup> {
        let slicing = self.program.slicing;
        let port = |(i, p): (usize, &Port)| {
            let word = word_type(self.program, p.value_bits(slicing));
            let ty = Type::new(word, p.value_dims(slicing).into_iter().map(u64::from));
            let mut group =
                ParamGroup::new(vec![self.names.array_name(first_array + i).into()], ty);
            group.is_const = p.constant;
            group.bytes = p.bytes.map(|order| (order, Default::default()));
            group
        };
        ports.iter().enumerate().map(port).collect()
    }

    /// The `vars` part: scalars grouped by width, then the local arrays.
    fn declarations(&self) -> Vec<ParamGroup> {
        let scalars = self.names.scalars().map(|(bits, names)| {
            let names = names.iter().map(|name| name.as_str().into()).collect();
            ParamGroup::new(names, word(self.program, bits))
        });
        let arrays = self.names.local_arrays().map(|(name, bits, length)| {
            let ty = Type::new(word_type(self.program, bits), [length as u64]);
            ParamGroup::new(vec![name.into()], ty)
        });
        scalars.chain(arrays).collect()
    }

    fn block(&mut self, eqns: &[Eqn], out: &mut Vec<Stmt>) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => {
                    let value = self.expression(e);
                    out.push(self.define(vec![self.names.of(e.dst)], value));
                }
                Eqn::Call(c) => {
                    let args = self.list(&c.args).into_iter().map(Expr::from).collect();
                    let value = call(&self.program.node(c.node).name, args);
                    out.push(self.define(self.list(&c.dsts), value));
                }
                Eqn::Loop(lp) => self.lp(lp, out),
            }
        }
    }

    fn lp(&mut self, lp: &Loop, out: &mut Vec<Stmt>) {
        // The grammar wants an equation in every loop.
        if does_nothing(lp) {
            return;
        }
        for c in &lp.carried {
            out.push(self.define(vec![self.names.of(c.param)], self.names.of(c.init).into()));
        }
        let readings: Vec<Reading> = lp.reads.iter().map(|r| self.names.reading(r)).collect();
        for (read, reading) in lp.reads.iter().zip(&readings) {
            if reading.filled {
                out.extend(read.list.iter().enumerate().map(|(k, &member)| {
                    let target = self.names.element(reading.array, k);
                    self.define(vec![target], self.names.of(member).into())
                }));
            }
        }
        let index: ast::Ident = self.names.index(self.depth).into();
        let mut body = Vec::new();
        self.depth += 1;
        for (read, reading) in lp.reads.iter().zip(&readings) {
            let value = self.names.indexed(*reading, &index);
            body.push(self.define(vec![self.names.of(read.dst)], value.into()));
        }
        self.block(&lp.body, &mut body);
        for collect in &lp.collects {
            let array = self.names.array_name(self.names.array_of(&collect.results));
            let element = Selector::Index(AExpr::Name(index.clone()));
            let target = vec![Var::new(array, vec![element])];
            // In an outer loop the element is defined again by every outer iteration.
            body.push(Stmt::define(target, self.depth > 1, self.names.of(collect.value).into()));
        }
        if !lp.carried.is_empty() {
            let params: Vec<Val> = lp.carried.iter().map(|c| c.param).collect();
            let nexts: Vec<Val> = lp.carried.iter().map(|c| c.next).collect();
            let value = tuple(self.list(&nexts).into_iter().map(Expr::from));
            body.push(self.define(self.list(&params), value));
        }
        self.depth -= 1;
        out.push(Stmt::Loop(ast::Loop {
            opts: if lp.keep { vec![ast::LoopOpt::NoUnroll] } else { Vec::new() },
            index,
            from: 0.into(),
            to: (lp.count as u64 - 1).into(),
            body,
            span: Default::default(),
        }));
    }

    fn define(&self, targets: Vec<Var>, value: Expr) -> Stmt {
        Stmt::define(targets, self.depth > 0, value)
    }

    /// The names of `values`; where the elements of a whole array follow each other, its name.
    fn list(&self, values: &[Val]) -> Vec<Var> {
        let mut names = Vec::new();
        let mut rest = values;
        while let Some(&head) = rest.first() {
            let whole = self.names.whole_array(rest);
            let (name, length) = whole.unwrap_or_else(|| (self.names.of(head), 1));
            names.push(name);
            rest = &rest[length..];
        }
        names
    }

    fn expression(&mut self, e: &OpEqn) -> Expr {
        let bits = self.node.bits_of(e.dst);
        if let Some(table) = table_of(&e.op) {
            let name = self.tables.name(table, bits);
            return call(&name, vec![self.names.of(e.args[0]).into()]);
        }
        let program = self.program;
        let arg = |i: usize| Expr::from(self.names.of(e.args[i]));
        let infix = |op| Expr::bin(op, arg(0), arg(1));
        let cast = |bits, value| call(&word_type(program, bits).to_string(), vec![value]);
        // A vector has an amount for each of its words.
        let words = if program.slicing == Slicing::W { program.vector as usize } else { 1 };
        let shift = |op, k: u8| shift(op, arg(0), vec![k; words]);
        match &e.op {
            Op::Const(value) => literal(program, bits, *value),
            Op::Copy => arg(0),
            Op::Not => Expr::complement(arg(0)),
            Op::And => infix(BinOp::And),
            Op::Or => infix(BinOp::Or),
            Op::Xor => infix(BinOp::Xor),
            Op::Andn => Expr::bin(BinOp::And, Expr::complement(arg(0)), arg(1)),
            Op::Lut3(table) => {
                let constant = |set| literal(program, bits, if set { mask(bits) } else { 0 });
                lut3(*table, [&arg(0), &arg(1), &arg(2)], &constant)
            }
            Op::Add => infix(BinOp::Add),
            Op::Sub => infix(BinOp::Sub),
            Op::Mul => infix(BinOp::Mul),
            Op::MulHigh | Op::Clmul | Op::ClmulHigh => call(e.op.name(), vec![arg(0), arg(1)]),
            Op::MulAdd(k) | Op::MulAddHigh(k) => {
                let (x, y) = (cast(*k, arg(1)), cast(*k, arg(2)));
                let product = match e.op {
                    Op::MulAdd(_) => Expr::bin(BinOp::Mul, x, y),
                    _ => call("mulhigh", vec![x, y]),
                };
                Expr::bin(BinOp::Add, arg(0), cast(bits, product))
            }
            Op::Less => call("less", vec![arg(0), arg(1)]),
            Op::Resize(_) => cast(bits, arg(0)),
            Op::Shl(k) => shift(ShiftOp::Left, *k),
            Op::Shr(k) => shift(ShiftOp::Right, *k),
            Op::Sar(k) => shift(ShiftOp::RightArith, *k),
            Op::Rotl(k) => shift(ShiftOp::RotLeft, *k),
            Op::Lanes(lanes) => self.lanes(lanes, e, bits),
            Op::Shuffle(pattern) => {
                let pattern = pattern.iter().map(|&p| p as u64).collect();
                let value = self.names.of(e.args[0]);
                ExprKind::Shuffle { value, pattern, braces: false }.into()
            }
            Op::Bitmask(i) => ExprKind::Bitmask(arg(0).into(), AExpr::from(*i as u64)).into(),
            Op::Pack => {
                let (high, low) = (arg(0).into(), arg(1).into());
                ExprKind::Pack { high, low, ty: Some(word(program, bits)) }.into()
            }
            Op::Lookup(_) | Op::Affine(..) | Op::AffineInverse(..) => unreachable!("tables"),
        }
    }

    fn lanes(&self, lanes: &Lanes, e: &OpEqn, bits: u8) -> Expr {
        let part = |arg: usize, lanes: &[u8]| {
            let mut var = self.names.of(e.args[arg]);
            let mut lanes: Vec<AExpr> = lanes.iter().map(|&p| AExpr::from(p as u64)).collect();
            var.selectors.push(match lanes.len() {
                1 => Selector::Index(lanes.remove(0)),
                _ => Selector::List(lanes),
            });
            Expr::from(var)
        };
        match lanes {
            Lanes::Const(words) => literals(bits, words),
            Lanes::Move(pattern) => part(0, pattern),
            Lanes::Join(pattern) => {
                let vector = self.program.vector;
                tuple(pattern.iter().map(|p| part((p / vector) as usize, &[p % vector])))
            }
            Lanes::Each(ops) => {
                // One equation where all words are shifted alike, or not at all.
                let of = |op: &Op| match op {
                    Op::Shl(k) => Some((ShiftOp::Left, *k)),
                    Op::Shr(k) => Some((ShiftOp::Right, *k)),
                    Op::Sar(k) => Some((ShiftOp::RightArith, *k)),
                    Op::Rotl(k) => Some((ShiftOp::RotLeft, *k)),
                    Op::Const(_) => Some((ShiftOp::Left, bits)),
                    _ => None,
                };
                let mut signs: Vec<ShiftOp> = ops.iter().filter_map(of).map(|(op, _)| op).collect();
                signs.dedup();
                if let [sign] = signs[..] {
                    let amounts = ops.iter().map(|op| of(op).map_or(0, |(_, k)| k)).collect();
                    return shift(sign, self.names.of(e.args[0]).into(), amounts);
                }
                tuple(ops.iter().enumerate().map(|(at, op)| match of(op) {
                    Some((sign, k)) => shift(sign, part(0, &[at as u8]), vec![k]),
                    None => part(0, &[at as u8]),
                }))
            }
        }
    }
}

/// The table of an operator that is written as one: the language has no other way to write an
/// operator on bytes that needs a special instruction.
fn table_of(op: &Op) -> Option<Rc<[u64]>> {
    match op {
        Op::Lookup(table) => Some(table.clone()),
        Op::Affine(..) | Op::AffineInverse(..) => {
            Some((0..256).map(|a| op.eval(8, &[a])).collect())
        }
        _ => None,
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
fn word_type(program: &Program, bits: u8) -> TypeWord {
    let word = |dir, len| TypeWord::U { dir: Some(dir), width: Width::Bits(bits as u64), len };
    match program.slicing {
        Slicing::B => TypeWord::B { dir: Some(DirWord::B), len: 1 },
        Slicing::V => word(DirWord::V, None),
        Slicing::H => word(DirWord::H, None),
        Slicing::W => word(DirWord::W, Some(program.vector as u64)),
    }
}

fn word(program: &Program, bits: u8) -> Type {
    Type::new(word_type(program, bits), [])
}

fn literal(program: &Program, bits: u8, value: u64) -> Expr {
    if program.slicing == Slicing::W {
        return literals(bits, &vec![value; program.vector as usize]);
    }
    ExprKind::Int { value, ty: Some(word(program, bits)) }.into()
}

/// A vector, word by word.
fn literals(bits: u8, words: &[u64]) -> Expr {
    tuple(words.iter().map(|&value| {
        let (dir, width) = (Some(DirWord::W), Width::Bits(bits as u64));
        let ty = Type::new(TypeWord::U { dir, width, len: None }, []);
        ExprKind::Int { value, ty: Some(ty) }.into()
    }))
}

fn call(callee: &str, args: Vec<Expr>) -> Expr {
    ExprKind::Call { callee: callee.into(), instance: None, args }.into()
}

/// Several values in parentheses, one without.
fn tuple(parts: impl Iterator<Item = Expr>) -> Expr {
    let mut parts: Vec<Expr> = parts.collect();
    if parts.len() == 1 { parts.remove(0) } else { ExprKind::Tuple(parts).into() }
}

fn shift(op: ShiftOp, value: Expr, amounts: Vec<u8>) -> Expr {
    Expr::shift(op, value, amounts.into_iter().map(|k| AExpr::from(k as u64)).collect())
}

#[cfg(test)]
mod tests;
