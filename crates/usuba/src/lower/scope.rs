//! The node that is being written: its equations in order, with the loops that they came from.

use rustc_hash::FxHashMap;

use crate::diag::Span;
use crate::ir::op::Lanes;
use crate::ir::{Args, Call, Eqn, Inline, Node, NodeId, Op, OpEqn, Port, Val};

/// A piece of a body as it was written down.
pub(super) enum Item {
    Eqn(Eqn),
    Loop(Unrolled),
}

/// A loop, iteration by iteration.
pub(super) struct Unrolled {
    /// `_unroll`: stays as it is.
    pub unroll: bool,
    /// `_no_unroll`: stays a loop if it can be one.
    pub keep: bool,
    pub iterations: Vec<Iteration>,
}

#[derive(Default)]
pub(super) struct Iteration {
    pub items: Vec<Item>,
    /// Number of equations of the node that were written when the iteration ended.
    pub end: u32,
}

pub(super) struct Scope {
    pub node: Node,
    pub items: Vec<Item>,
    /// Constants come before everything else, so that iterations of a loop share them.
    pub constants: Vec<Eqn>,
    known: FxHashMap<(u8, Op), Val>,
    /// The place in the source of the equations that follow.
    pub origin: Option<Span>,
    open: Vec<Unrolled>,
    /// Number of equations so far; the position of the next one.
    pub written: u32,
    /// Position of the last equation that reads each value.
    pub last_use: Vec<u32>,
}

impl Scope {
    pub fn new(name: String, inline: Inline) -> Scope {
        Scope {
            node: Node {
                name,
                params: Vec::new(),
                results: Vec::new(),
                bits: Vec::new(),
                origins: Default::default(),
                body: Vec::new(),
                outs: Vec::new(),
                inline,
            },
            items: Vec::new(),
            constants: Vec::new(),
            known: FxHashMap::default(),
            origin: None,
            open: Vec::new(),
            written: 0,
            last_use: Vec::new(),
        }
    }

    /// Adds a parameter of `count` values, which is declared at `place`.
    pub fn param(&mut self, port: Port, count: usize, bits: u8, place: Span) -> Vec<Val> {
        self.node.params.push(port);
        self.origin = Some(place);
        (0..count).map(|_| self.fresh(bits)).collect()
    }

    pub fn fresh(&mut self, bits: u8) -> Val {
        self.last_use.push(0);
        let v = self.node.fresh(bits);
        self.node.origins.set(v, self.origin);
        v
    }

    pub fn constant(&mut self, bits: u8, value: u64) -> Val {
        self.literal(bits, Op::Const(value))
    }

    /// A literal, or one for each lane of a vector.
    fn literal(&mut self, bits: u8, op: Op) -> Val {
        let key = (bits, op);
        if let Some(&v) = self.known.get(&key) {
            return v;
        }
        let dst = self.fresh(bits);
        self.constants.push(Eqn::Op(OpEqn { dst, op: key.1.clone(), args: Args::new() }));
        self.known.insert(key, dst);
        dst
    }

    pub fn op(&mut self, op: Op, bits: u8, args: &[Val]) -> Val {
        if matches!(op, Op::Const(_) | Op::Lanes(Lanes::Const(_))) {
            return self.literal(bits, op);
        }
        self.touch(args);
        let dst = self.fresh(bits);
        self.push(Eqn::Op(OpEqn { dst, op, args: args.into() }));
        dst
    }

    pub fn call(&mut self, node: NodeId, args: Vec<Val>, result_bits: &[u8]) -> Vec<Val> {
        self.touch(&args);
        let dsts: Vec<Val> = result_bits.iter().map(|&bits| self.fresh(bits)).collect();
        self.push(Eqn::Call(Call { dsts: dsts.clone(), node, args }));
        dsts
    }

    fn touch(&mut self, args: &[Val]) {
        for arg in args {
            self.last_use[arg.0 as usize] = self.written;
        }
    }

    fn push(&mut self, eqn: Eqn) {
        self.written += 1;
        self.current().push(Item::Eqn(eqn));
    }

    fn current(&mut self) -> &mut Vec<Item> {
        match self.open.last_mut().and_then(|l| l.iterations.last_mut()) {
            Some(iteration) => &mut iteration.items,
            None => &mut self.items,
        }
    }

    pub fn loop_enter(&mut self, unroll: bool, keep: bool) {
        self.open.push(Unrolled { unroll, keep, iterations: Vec::new() });
    }

    pub fn iteration(&mut self) {
        self.end_iteration();
        let open = self.open.last_mut().expect("iterations are inside of loops");
        open.iterations.push(Iteration::default());
    }

    pub fn loop_exit(&mut self) {
        self.end_iteration();
        let done = self.open.pop().expect("every exit has an enter");
        self.current().push(Item::Loop(done));
    }

    fn end_iteration(&mut self) {
        let written = self.written;
        if let Some(last) = self.open.last_mut().and_then(|l| l.iterations.last_mut()) {
            last.end = written;
        }
    }
}
