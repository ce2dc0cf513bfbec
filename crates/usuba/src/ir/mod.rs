//! Usuba0: the flat language that passes work on and emitters print.
//!
//! A program is monomorphic. Every value is one atom (a word of `bits` bits; one bit under
//! bitslicing), is defined once, and is defined before it is read. Equations compute one operator,
//! call a node, or run a loop with a constant trip count. The program describes one instance; the
//! target decides how many instances share a register.
//!
//! - `op`: the operators and their semantics.
//! - `build`: makes nodes, and folds free operators.
//! - `verify`: the rules above, checked.
//! - `interp`: runs one instance.
//! - `lanes`: vectors of words, as the words that they hold.
//! - `live`: operator counts and the number of live values.
//! - `origins`: the places in the source that equations come from.
//! - `halves`: products that lanes have an instruction for.
//! - `random`: programs for tests.

pub mod build;
pub mod halves;
pub mod interp;
pub mod lanes;
pub mod live;
pub mod origins;
pub mod random;
pub mod verify;

use std::fmt;

use origins::Origins;
use smallvec::SmallVec;
pub use usuba_lang::carryless;
pub use usuba_lang::op::{self, Op, Pattern};
pub use usuba_lang::typed::{ByteOrder, Slicing};

/// A value of one node: an index into [`Node::bits`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

/// A node of a program: an index into [`Program::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Callees before callers.
    pub nodes: Vec<Node>,
    pub entry: NodeId,
    pub slicing: Slicing,
    /// Independent instances that one run of the entry computes: 1, or more after interleaving.
    /// Every result of the entry, and every parameter that is not constant, is then this many
    /// ports of one shape next to each other, one for each instance.
    pub copies: u32,
    /// Whether words of V that are narrower than a general-purpose register share it, as words of H
    /// do. Says nothing about other slicings and registers.
    pub packed: bool,
    /// Words of each value: 1, or more in W.
    pub vector: u8,
    /// Decisions of passes, for people: one line each, on top of the output.
    pub notes: Vec<String>,
}

/// When a node may disappear into its callers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inline {
    Auto,
    Always,
    Never,
    /// Never: it is a kernel of its own, in another file.
    Kernel,
    /// Never: a call is an instruction of the target.
    Instruction,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// A unique name, valid as an Usuba identifier.
    pub name: String,
    /// The flattened parameters are the values `0..n`, in order.
    pub params: Vec<Port>,
    pub results: Vec<Port>,
    /// Word size of every value, indexed by [`Val`].
    pub bits: Vec<u8>,
    /// Where in the source the equation of each value comes from.
    pub origins: Origins,
    pub body: Vec<Eqn>,
    /// One value per flattened result atom, in order; repeats are allowed.
    pub outs: Vec<Val>,
    pub inline: Inline,
}

/// A parameter or result: an array of equal words, flattened row by row, outer dimension first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// The name as the user wrote it (it may contain quotes).
    pub name: String,
    /// Word size in the source, before slicing.
    pub word: u8,
    /// Dimensions in the source; empty for a single word. Bitslicing appends `word` when above 1.
    /// In W the last one is the number of words of a vector.
    pub dims: Vec<u32>,
    /// A uniform value: equal in all instances (a key, usually).
    pub constant: bool,
    /// Where it is a port of the kernel: the order of the bytes of its words, of which it is an
    /// array in memory; else it is an array of registers.
    pub bytes: Option<ByteOrder>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Eqn {
    Op(OpEqn),
    Call(Call),
    Loop(Box<Loop>),
}

/// `dst = op(args)`
#[derive(Clone, PartialEq, Debug)]
pub struct OpEqn {
    pub dst: Val,
    pub op: Op,
    pub args: Args,
}

pub type Args = SmallVec<[Val; 3]>;

/// `dsts = node(args)`, flattened on both sides.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub dsts: Vec<Val>,
    pub node: NodeId,
    pub args: Vec<Val>,
}

/// Runs `body` for k = 0, 1, ..., count-1.
///
/// The body may read values defined before the loop. Nothing defined in the body is visible
/// after the loop except through `carried[..].result` and `collects[..].results`.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    pub count: u32,
    pub carried: Vec<Carried>,
    pub reads: Vec<Read>,
    pub body: Vec<Eqn>,
    pub collects: Vec<Collect>,
    /// The user asked to keep this loop (`_no_unroll`).
    pub keep: bool,
}

/// A loop-carried value: handed from one iteration to the next.
#[derive(Clone, PartialEq, Debug)]
pub struct Carried {
    /// Name inside the body.
    pub param: Val,
    /// `param` in iteration 0; defined before the loop.
    pub init: Val,
    /// `param` of the next iteration: a value of the body, a `param`, a read, or one defined
    /// before the loop.
    pub next: Val,
    /// `next` of the last iteration, visible after the loop.
    pub result: Val,
}

/// `dst` is `list[k]` in iteration k; the members are defined before the loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Read {
    pub dst: Val,
    pub list: Vec<Val>,
}

/// `results[k]` is `value` as it was in iteration k.
#[derive(Clone, PartialEq, Debug)]
pub struct Collect {
    pub value: Val,
    pub results: Vec<Val>,
}

impl Program {
    /// A program whose run computes one instance.
    pub fn new(nodes: Vec<Node>, entry: NodeId, slicing: Slicing) -> Program {
        let (copies, vector) = (1, 1);
        Program { nodes, entry, slicing, copies, packed: false, vector, notes: Vec::new() }
    }

    /// Whether each value is one bit: in bitslicing, and where all words are single bits.
    pub fn is_bitsliced(&self) -> bool {
        let bits = || self.nodes.iter().flat_map(|node| &node.bits);
        self.slicing == Slicing::B || bits().all(|&bits| bits == 1)
    }

    /// The parameters of the entry as the source has them: for each its ports, of which a
    /// constant has one and others one per copy. In C each is one array, in which the registers of
    /// its ports lie side by side: every interface of a kernel follows from this list.
    pub fn params(&self) -> Vec<&[Port]> {
        let mut rest = &self.entry().params[..];
        let mut groups = Vec::new();
        while let Some(first) = rest.first() {
            let copies = if first.constant { 1 } else { self.copies as usize };
            let (group, after) = rest.split_at(copies.min(rest.len()));
            groups.push(group);
            rest = after;
        }
        groups
    }

    /// The results of the entry as the source has them: for each its ports, one per copy. In C
    /// each is one array, as for [`Program::params`].
    pub fn results(&self) -> Vec<&[Port]> {
        self.entry().results.chunks(self.copies.max(1) as usize).collect()
    }

    pub fn entry(&self) -> &Node {
        &self.nodes[self.entry.0 as usize]
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}

impl Port {
    /// Number of words in the source.
    pub fn words(&self) -> usize {
        self.dims.iter().map(|&d| d as usize).product()
    }

    /// Number of values (registers) under `slicing`.
    pub fn values(&self, slicing: Slicing) -> usize {
        match slicing {
            Slicing::B => self.words() * self.word as usize,
            Slicing::W => self.value_dims(slicing).iter().map(|&d| d as usize).product(),
            Slicing::V | Slicing::H => self.words(),
        }
    }

    /// Word size of each value under `slicing`.
    pub fn value_bits(&self, slicing: Slicing) -> u8 {
        if slicing == Slicing::B { 1 } else { self.word }
    }

    /// Dimensions of the array of values under `slicing`.
    pub fn value_dims(&self, slicing: Slicing) -> Vec<u32> {
        let mut dims = self.dims.clone();
        if slicing == Slicing::B && self.word > 1 {
            dims.push(self.word as u32);
        }
        if slicing == Slicing::W {
            dims.pop();
        }
        dims
    }
}

impl Node {
    /// The name in the source. In Usuba0 the sizes of the words are behind it, after a quote.
    pub fn source_name(&self) -> &str {
        self.name.rsplit_once('\'').map_or(&*self.name, |(name, _)| name)
    }

    /// The name in the source of a kernel of its own.
    pub fn kernel(&self) -> Option<&str> {
        (self.inline == Inline::Kernel).then(|| self.source_name())
    }

    pub fn bits_of(&self, v: Val) -> u8 {
        self.bits[v.0 as usize]
    }

    /// A fresh value of `bits` bits.
    pub fn fresh(&mut self, bits: u8) -> Val {
        self.bits.push(bits);
        Val(self.bits.len() as u32 - 1)
    }

    /// Number of flattened parameter values.
    pub fn arity(&self, slicing: Slicing) -> usize {
        self.params.iter().map(|p| p.values(slicing)).sum()
    }
}

impl fmt::Debug for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}
