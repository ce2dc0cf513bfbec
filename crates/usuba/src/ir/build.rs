//! Builder of Usuba0 nodes, equation by equation.
//!
//! ```text
//! let mut b = Builder::new("f", Slicing::V);
//! let x = b.param(port);              // all parameters come first
//! let y = b.op(Op::Rotl(9), &[x[0]]); // amounts are reduced here, so 9 on 8 bits becomes 1
//! let node = b.finish(vec![(result_port, vec![y])]);
//! ```
//!
//! The builder folds only free operators: shifts by zero, shifts that leave nothing and shuffles
//! that move nothing. The passes do the rest. A caller that breaks the rules of the module (an
//! operand of the wrong width, a loop that is not closed) is an internal fault and panics with a
//! message; wrong programs of users never get here.

use super::op::mask;
use super::{Args, Call, Carried, Collect, Eqn, Inline, Loop, Node, NodeId, OpEqn, Port, Read};
use super::{Op, Slicing, Val};

/// The five shifts and rotations of the language, for [`Builder::shift`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    /// `<<`: zeros enter.
    Left,
    /// `>>`: zeros enter.
    Right,
    /// `>>!`: copies of the top bit enter.
    RightArith,
    /// `<<<`
    RotLeft,
    /// `>>>`
    RotRight,
}

/// A node under construction, with the loops that are open.
pub struct Builder {
    node: Node,
    slicing: Slicing,
    /// The body of the node, then one entry per open loop.
    blocks: Vec<Vec<Eqn>>,
    open: Vec<OpenLoop>,
}

struct OpenLoop {
    count: u32,
    keep: bool,
    /// Parameter and initial value.
    carried: Vec<(Val, Val)>,
    reads: Vec<Read>,
}

/// The values that are visible after a loop: see [`Builder::end_loop`].
pub struct LoopResults {
    /// The last value of each carried variable, in the order of `carry`.
    pub carried: Vec<Val>,
    /// For each collected value the list of its values, one per iteration.
    pub collects: Vec<Vec<Val>>,
}

impl Builder {
    /// An empty node. `name` must be unique in the program.
    pub fn new(name: impl Into<String>, slicing: Slicing) -> Builder {
        let node = Node {
            name: name.into(),
            params: Vec::new(),
            results: Vec::new(),
            bits: Vec::new(),
            origins: Default::default(),
            body: Vec::new(),
            outs: Vec::new(),
            inline: Inline::Auto,
        };
        Builder { node, slicing, blocks: vec![Vec::new()], open: Vec::new() }
    }

    /// Sets when the node may disappear into its callers; `Inline::Auto` if never called.
    pub fn set_inline(&mut self, inline: Inline) {
        self.node.inline = inline;
    }

    /// Adds a parameter; returns its values in order. All parameters come before any equation.
    pub fn param(&mut self, port: Port) -> Vec<Val> {
        assert_eq!(
            self.node.bits.len(),
            self.node.arity(self.slicing),
            "parameters come before equations"
        );
        let bits = port.value_bits(self.slicing);
        let values = (0..port.values(self.slicing)).map(|_| self.node.fresh(bits)).collect();
        self.node.params.push(port);
        values
    }

    /// Word size of a value.
    pub fn bits_of(&self, v: Val) -> u8 {
        self.node.bits_of(v)
    }

    /// The word `value` of `bits` bits; bits above are dropped.
    pub fn constant(&mut self, bits: u8, value: u64) -> Val {
        self.push(Op::Const(value & mask(bits)), bits, &[])
    }

    /// A literal for each lane of a vector.
    pub fn literal(&mut self, bits: u8, op: Op) -> Val {
        assert_eq!(op.arity(), 0, "a literal has no operands");
        self.push(op, bits, &[])
    }

    /// `op(args)`; the width of the result follows from the operator. `Op::Const` has no operand
    /// to take its width from: use [`Builder::constant`].
    pub fn op(&mut self, op: Op, args: &[Val]) -> Val {
        assert_eq!(args.len(), op.arity(), "operands of {op:?}");
        let bits = self.bits_of(*args.first().expect("constants are made by `constant`"));
        assert!(args.iter().all(|&a| self.bits_of(a) == bits), "widths of the operands of {op:?}");
        match op {
            Op::Shl(k) => self.shift(Shift::Left, args[0], k as u64),
            Op::Shr(k) => self.shift(Shift::Right, args[0], k as u64),
            Op::Sar(k) => self.shift(Shift::RightArith, args[0], k as u64),
            Op::Rotl(k) => self.shift(Shift::RotLeft, args[0], k as u64),
            Op::Shuffle(ref pattern)
                if pattern.iter().enumerate().all(|(i, &p)| i == p as usize) =>
            {
                args[0]
            }
            Op::Pack => self.push(Op::Pack, bits * 2, args),
            Op::Resize(_) => panic!("sizes are changed by `resize`"),
            _ => self.push(op, bits, args),
        }
    }

    /// The word with `bits` bits: its low bits, or zeros above it.
    pub fn resize(&mut self, bits: u8, v: Val) -> Val {
        match self.bits_of(v) {
            from if from == bits => v,
            from => self.push(Op::Resize(from), bits, &[v]),
        }
    }

    /// Shifts by any amount: rotations are reduced modulo the width, larger shifts give zero or
    /// copies of the top bit.
    pub fn shift(&mut self, shift: Shift, v: Val, amount: u64) -> Val {
        let bits = self.bits_of(v);
        let m = bits as u64;
        let rotation = match shift {
            Shift::RotLeft => Some(amount % m),
            Shift::RotRight => Some((m - amount % m) % m),
            _ => None,
        };
        match (shift, rotation) {
            (_, Some(0)) => v,
            (_, Some(k)) => self.push(Op::Rotl(k as u8), bits, &[v]),
            _ if amount == 0 => v,
            (Shift::RightArith, _) if m == 1 => v,
            (Shift::RightArith, _) => self.push(Op::Sar(amount.min(m - 1) as u8), bits, &[v]),
            _ if amount >= m => self.constant(bits, 0),
            (Shift::Left, _) => self.push(Op::Shl(amount as u8), bits, &[v]),
            _ => self.push(Op::Shr(amount as u8), bits, &[v]),
        }
    }

    /// Calls `callee`, which is node `id` of the program, on flattened arguments; returns the
    /// flattened results.
    pub fn call(&mut self, id: NodeId, callee: &Node, args: &[Val]) -> Vec<Val> {
        assert_eq!(args.len(), callee.arity(self.slicing), "arguments of `{}`", callee.name);
        let dsts: Vec<Val> =
            callee.outs.iter().map(|&out| self.node.fresh(callee.bits_of(out))).collect();
        self.emit(Eqn::Call(Call { dsts: dsts.clone(), node: id, args: args.to_vec() }));
        dsts
    }

    /// Opens a loop of `count >= 1` iterations; equations go to its body until `end_loop`.
    /// `keep` says that the user asked to keep it.
    pub fn begin_loop(&mut self, count: u32, keep: bool) {
        assert!(count >= 1, "a loop runs at least once");
        self.open.push(OpenLoop { count, keep, carried: Vec::new(), reads: Vec::new() });
        self.blocks.push(Vec::new());
    }

    /// Hands a value from one iteration of the innermost loop to the next: returns its name
    /// inside of the body, which is `init` (a value from before the loop) in iteration 0.
    pub fn carry(&mut self, init: Val) -> Val {
        let param = self.node.fresh(self.node.bits_of(init));
        self.open.last_mut().expect("`carry` outside of a loop").carried.push((param, init));
        param
    }

    /// The value that is `list[k]` in iteration k; `list` has one member per iteration, all of
    /// one width and from before the loop.
    pub fn read(&mut self, list: Vec<Val>) -> Val {
        let dst = self.node.fresh(self.node.bits_of(list[0]));
        let open = self.open.last_mut().expect("`read` outside of a loop");
        assert_eq!(list.len(), open.count as usize, "a read has one member per iteration");
        open.reads.push(Read { dst, list });
        dst
    }

    /// Closes the innermost loop. `nexts` are the next values of the carried variables, in the
    /// order of `carry`; `collects` are values of the body to be kept for every iteration.
    pub fn end_loop(&mut self, nexts: &[Val], collects: &[Val]) -> LoopResults {
        let open = self.open.pop().expect("`end_loop` without `begin_loop`");
        let body = self.blocks.pop().expect("a block per loop");
        assert_eq!(nexts.len(), open.carried.len(), "one next value per carried variable");
        let carried: Vec<Carried> = open
            .carried
            .iter()
            .zip(nexts)
            .map(|(&(param, init), &next)| {
                let result = self.node.fresh(self.node.bits_of(param));
                Carried { param, init, next, result }
            })
            .collect();
        let collects: Vec<Collect> = collects
            .iter()
            .map(|&value| {
                let bits = self.node.bits_of(value);
                let results = (0..open.count).map(|_| self.node.fresh(bits)).collect();
                Collect { value, results }
            })
            .collect();
        let results = LoopResults {
            carried: carried.iter().map(|c| c.result).collect(),
            collects: collects.iter().map(|c| c.results.clone()).collect(),
        };
        let (count, keep, reads) = (open.count, open.keep, open.reads);
        self.emit(Eqn::Loop(Box::new(Loop { count, carried, reads, body, collects, keep })));
        results
    }

    /// The finished node: its results are the given ports with their values in order.
    pub fn finish(mut self, results: Vec<(Port, Vec<Val>)>) -> Node {
        assert!(self.open.is_empty(), "a loop is still open");
        for (port, values) in results {
            assert_eq!(values.len(), port.values(self.slicing), "values of `{}`", port.name);
            self.node.results.push(port);
            self.node.outs.extend(values);
        }
        self.node.body = self.blocks.pop().expect("the body of the node");
        self.node
    }

    fn push(&mut self, op: Op, bits: u8, args: &[Val]) -> Val {
        let dst = self.node.fresh(bits);
        self.emit(Eqn::Op(OpEqn { dst, op, args: Args::from_slice(args) }));
        dst
    }

    fn emit(&mut self, eqn: Eqn) {
        self.blocks.last_mut().expect("the body of the node").push(eqn);
    }
}

impl Port {
    /// A port of words of `word` bits with the given dimensions, different for every instance.
    pub fn new(name: impl Into<String>, word: u8, dims: &[u32]) -> Port {
        Port { name: name.into(), word, dims: dims.to_vec(), constant: false, bytes: None }
    }

    /// The same port with one value for all instances.
    pub fn constant(mut self) -> Port {
        self.constant = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ops(node: &Node) -> Vec<Op> {
        node.body
            .iter()
            .map(|e| match e {
                Eqn::Op(e) => e.op.clone(),
                _ => panic!("an operator"),
            })
            .collect()
    }

    #[test]
    fn amounts_are_reduced() {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[]))[0];
        assert_eq!(b.shift(Shift::RotLeft, x, 16), x);
        assert_eq!(b.shift(Shift::Left, x, 0), x);
        b.shift(Shift::RotRight, x, 11);
        b.shift(Shift::Right, x, 8);
        b.shift(Shift::RightArith, x, u64::MAX);
        b.op(Op::Shl(3), &[x]);
        let node = b.finish(vec![(Port::new("y", 8, &[]), vec![x])]);
        assert_eq!(ops(&node), [Op::Rotl(5), Op::Const(0), Op::Sar(7), Op::Shl(3)]);
    }

    #[test]
    fn widths_follow_from_the_operator() {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[2]));
        let p = b.op(Op::Pack, &[x[0], x[1]]);
        assert_eq!(b.bits_of(p), 16);
        let q = b.op(Op::Bitmask(3), &[p]);
        assert_eq!(b.bits_of(q), 16);
        assert_eq!(b.op(Op::Shuffle([0, 1].as_slice().into()), &[q]), q);
    }
}
