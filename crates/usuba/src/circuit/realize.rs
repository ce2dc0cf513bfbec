//! A network as gates, with few NOTs.
//!
//! ```text
//! ~a & ~b      →   t = a | b,     used complemented
//! ~a ^ b       →   t = a ^ b,     used complemented
//! ~a & b       →   andn(a, b),    or a NOT where there is no such gate
//! ```
//!
//! Each node is kept either as it is or complemented. For an and that follows from its operands,
//! unless a NOT is paid for; for an xor too. Starting from no voluntary NOT, single nodes are
//! turned over as long as that makes the whole cheaper.

use super::{
    Circuit, Gate, Profile, Wire, cover,
    network::{Lit, Network, Node},
};

/// The circuit of a network on a target with the gates of `profile`.
pub(super) fn circuit(net: &Network, profile: Profile) -> Circuit {
    if profile == Profile::Lut3 {
        return cover::circuit(net);
    }
    let mut turned = vec![false; net.nodes.len()];
    let uses = net.uses();
    let mut best = emit(net, &uses, &turned, profile);
    loop {
        let before = best.gates.len();
        for node in 1..net.nodes.len() {
            if uses[node] == 0 {
                continue;
            }
            turned[node] = !turned[node];
            let other = emit(net, &uses, &turned, profile);
            if other.gates.len() < best.gates.len() {
                best = other;
            } else {
                turned[node] = !turned[node];
            }
        }
        if best.gates.len() == before {
            return best;
        }
    }
}

/// The wires of one node, as far as there are any yet.
#[derive(Clone, Copy, Default)]
struct Wires {
    plain: Option<Wire>,
    complement: Option<Wire>,
}

struct Emitter {
    circuit: Circuit,
    wires: Vec<Wires>,
}

impl Emitter {
    fn gate(&mut self, gate: Gate) -> Wire {
        self.circuit.gates.push(gate);
        (self.circuit.inputs as usize + self.circuit.gates.len() - 1) as Wire
    }

    fn find(&self, lit: Lit) -> Option<Wire> {
        let wires = self.wires[lit.node()];
        if lit.is_complemented() { wires.complement } else { wires.plain }
    }

    fn set(&mut self, lit: Lit, wire: Wire) {
        let wires = &mut self.wires[lit.node()];
        *(if lit.is_complemented() { &mut wires.complement } else { &mut wires.plain }) =
            Some(wire);
    }

    /// The wire of a literal, by a NOT if only its complement is there.
    fn need(&mut self, lit: Lit) -> Wire {
        if let Some(wire) = self.find(lit) {
            return wire;
        }
        let gate = match (lit, self.find(lit.flipped_if(true))) {
            (Lit::ZERO, _) => Gate::Zero,
            (Lit::ONE, _) => Gate::One,
            (_, Some(wire)) => Gate::Not(wire),
            (_, None) => unreachable!("nodes are emitted in order"),
        };
        let wire = self.gate(gate);
        self.set(lit, wire);
        wire
    }

    fn and(&mut self, out: Lit, a: Lit, b: Lit, profile: Profile) {
        let flip = |lit: Lit| lit.flipped_if(true);
        let have = [a, flip(a), b, flip(b)].map(|lit| self.find(lit));
        let (wire, complemented) = match have {
            [Some(a), _, Some(b), _] => (self.gate(Gate::And(a, b)), false),
            [_, Some(a), _, Some(b)] => (self.gate(Gate::Or(a, b)), true),
            [_, Some(a), Some(b), _] if profile == Profile::Andn => {
                (self.gate(Gate::Andn(a, b)), false)
            }
            [Some(a), _, _, Some(b)] if profile == Profile::Andn => {
                (self.gate(Gate::Andn(b, a)), false)
            }
            _ => {
                let (a, b) = (self.need(a), self.need(b));
                (self.gate(Gate::And(a, b)), false)
            }
        };
        self.set(out.flipped_if(complemented), wire);
    }

    fn xor(&mut self, out: Lit, a: Lit, b: Lit) {
        // Both operands exist in one form at least; which one only decides the form of the sum.
        let form = |this: &Self, lit: Lit| match this.find(lit) {
            Some(wire) => (wire, false),
            None => (this.find(lit.flipped_if(true)).expect("nodes are emitted in order"), true),
        };
        let ((a, not_a), (b, not_b)) = (form(self, a), form(self, b));
        let wire = self.gate(Gate::Xor(a, b));
        self.set(out.flipped_if(not_a != not_b), wire);
    }
}

/// The circuit in which the nodes of `turned` also have a NOT.
fn emit(net: &Network, uses: &[u32], turned: &[bool], profile: Profile) -> Circuit {
    let circuit = Circuit { inputs: net.inputs, gates: Vec::new(), outputs: Vec::new() };
    let mut emitter = Emitter { circuit, wires: vec![Wires::default(); net.nodes.len()] };
    for (i, node) in net.nodes.iter().enumerate() {
        let out = Lit::new(i, false);
        match *node {
            Node::Input(k) => emitter.set(out, k as Wire),
            _ if uses[i] == 0 => continue,
            Node::Zero => continue,
            Node::And(a, b) => emitter.and(out, a, b, profile),
            Node::Xor(a, b) => emitter.xor(out, a, b),
        }
        if turned[i] {
            emitter.need(out);
            emitter.need(out.flipped_if(true));
        }
    }
    let outputs = net.outputs.iter().map(|&lit| emitter.need(lit)).collect();
    emitter.circuit.outputs = outputs;
    emitter.circuit.without_dead_gates()
}
