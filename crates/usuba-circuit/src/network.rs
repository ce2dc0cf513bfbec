//! XOR-AND graphs (XAGs) in which complement is free: the representation of synthesis.
//!
//! A literal is a node, or its complement. Nodes are hash-consed, and constants are folded away, so
//! that no node but the first is constant by construction.

use rustc_hash::FxHashMap;

use crate::{Circuit, Gate, Wire};

/// Twice the index of a node, plus one if complemented.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Lit(u32);

impl Lit {
    pub const ZERO: Lit = Lit(0);
    pub const ONE: Lit = Lit(1);

    pub fn new(node: usize, complemented: bool) -> Lit {
        Lit((node as u32) << 1 | complemented as u32)
    }

    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub fn is_complemented(self) -> bool {
        self.0 & 1 == 1
    }

    pub fn flipped_if(self, flip: bool) -> Lit {
        Lit(self.0 ^ flip as u32)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    Zero,
    /// Input bit `i_0`, `i_1`, ...
    Input(u8),
    And(Lit, Lit),
    /// Both operands are uncomplemented: complements move to the result.
    Xor(Lit, Lit),
}

/// Nodes in order of definition: the constant, the inputs, then the rest.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub inputs: u8,
    pub nodes: Vec<Node>,
    pub outputs: Vec<Lit>,
    known: FxHashMap<Node, u32>,
}

impl Network {
    pub fn new(inputs: u8) -> Network {
        let mut nodes = vec![Node::Zero];
        nodes.extend((0..inputs).map(Node::Input));
        Network { inputs, nodes, outputs: Vec::new(), known: FxHashMap::default() }
    }

    /// Input bit `i_index`.
    pub fn input(&self, index: u8) -> Lit {
        Lit::new(1 + index as usize, false)
    }

    fn node(&mut self, node: Node) -> Lit {
        let next = self.nodes.len() as u32;
        let index = *self.known.entry(node).or_insert(next);
        if index == next {
            self.nodes.push(node);
        }
        Lit::new(index as usize, false)
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match a {
            Lit::ZERO => Lit::ZERO,
            Lit::ONE => b,
            _ if a == b => a,
            _ if a.node() == b.node() => Lit::ZERO,
            _ => self.node(Node::And(a, b)),
        }
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        self.and(a.flipped_if(true), b.flipped_if(true)).flipped_if(true)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.is_complemented() ^ b.is_complemented();
        let (a, b) = (Lit::new(a.node(), false), Lit::new(b.node(), false));
        let (a, b) = (a.min(b), a.max(b));
        let plain = match a {
            _ if a == b => Lit::ZERO,
            Lit::ZERO => b,
            _ => self.node(Node::Xor(a, b)),
        };
        plain.flipped_if(flip)
    }

    /// The network of a circuit without `Lut3` gates, whose input wire `w` is the input bit
    /// `inputs[w]`, perhaps complemented; `None` if there is such a gate.
    pub fn of(circuit: &Circuit, inputs: &[(Wire, bool)]) -> Option<Network> {
        let mut net = Network::new(circuit.inputs);
        let input = |&(i, sign): &(Wire, bool)| net.input(i as u8).flipped_if(sign);
        let inputs: Vec<Lit> = inputs.iter().map(input).collect();
        net.outputs = net.append(circuit, &inputs)?;
        Some(net)
    }

    /// The outputs of a circuit without `Lut3` gates on `inputs`; `None` if there is such a gate.
    pub fn append(&mut self, circuit: &Circuit, inputs: &[Lit]) -> Option<Vec<Lit>> {
        let mut wires = inputs.to_vec();
        for gate in &circuit.gates {
            let of = |w: u16| wires[w as usize];
            let lit = match *gate {
                Gate::Zero => Lit::ZERO,
                Gate::One => Lit::ONE,
                Gate::Not(a) => of(a).flipped_if(true),
                Gate::And(a, b) => self.and(of(a), of(b)),
                Gate::Or(a, b) => self.or(of(a), of(b)),
                Gate::Xor(a, b) => self.xor(of(a), of(b)),
                Gate::Andn(a, b) => self.and(of(a).flipped_if(true), of(b)),
                Gate::Lut3(..) => return None,
            };
            wires.push(lit);
        }
        Some(circuit.outputs.iter().map(|&w| wires[w as usize]).collect())
    }

    /// How many operands and outputs read each node, counting only nodes that lead to an output.
    pub fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.nodes.len()];
        self.outputs.iter().for_each(|lit| uses[lit.node()] += 1);
        for i in (0..self.nodes.len()).rev() {
            if let (Node::And(a, b) | Node::Xor(a, b), true) = (self.nodes[i], uses[i] > 0) {
                uses[a.node()] += 1;
                uses[b.node()] += 1;
            }
        }
        uses
    }

    /// And and xor nodes that lead to an output: the cost if complements were free.
    pub fn size(&self) -> usize {
        let gate = |i: &usize| matches!(self.nodes[*i], Node::And(..) | Node::Xor(..));
        let uses = self.uses();
        (0..self.nodes.len()).filter(gate).filter(|&i| uses[i] > 0).count()
    }
}
