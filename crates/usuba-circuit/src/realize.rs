//! A network as gates of two inputs, with few NOTs.
//!
//! ```text
//! ~a & ~b      →   t = a | b,     used complemented
//! ~a ^ b       →   t = a ^ b,     used complemented
//! ~a & b       →   andn(a, b),    or a NOT where there is no such gate
//! ```
//!
//! In which form a gate yields its node follows from the forms of its operands. A node may be
//! given the other form too, for one NOT, and then xors read the form that is preferred. Which
//! nodes get a NOT is searched: one change at a time, then, if there is effort left, two at a
//! time and from random starts. The search only ever counts gates, so it needs no proof.

use crate::{
    Circuit, Gate, Profile, Wire, cover,
    linear::Random,
    network::{Lit, Network, Node},
};

/// How much to spend, counted in visits of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Effort(pub usize);

impl Effort {
    /// Single changes only, for one of many candidates.
    pub const LOW: Effort = Effort(0);
}

/// Whether a node has a NOT, and if so in which form xors read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Natural,
    Plain,
    Complement,
}

const FORMS: [Form; 3] = [Form::Natural, Form::Plain, Form::Complement];

/// The circuit of a network on a target with the gates of `profile`.
pub(crate) fn circuit(net: &Network, profile: Profile, effort: Effort) -> Circuit {
    if profile == Profile::Lut3 {
        return cover::circuit(net);
    }
    let mut search = Search::new(net, profile);
    let mut forms = vec![Form::Natural; net.nodes.len()];
    let mut cost = search.descend(&mut forms);
    let least = net.size();
    let mut random = Random::new(7);
    let (mut best, mut best_cost) = (forms.clone(), cost);
    if effort.0 > search.spent && cost > least {
        cost = search.pairs(&mut forms, cost, effort.0);
        (best, best_cost) = (forms.clone(), cost);
    }
    while search.spent < effort.0 && best_cost > least {
        forms.clone_from(&best);
        for _ in 0..2 + random.below(4) {
            let node = search.nodes[random.below(search.nodes.len())];
            forms[node] = FORMS[random.below(3)];
        }
        cost = search.descend(&mut forms);
        if cost <= best_cost {
            (best, best_cost) = (forms.clone(), cost);
        }
    }
    emit(net, &best, profile)
}

struct Search<'a> {
    net: &'a Network,
    profile: Profile,
    /// Nodes that lead to an output and may have a NOT.
    nodes: Vec<usize>,
    have: Vec<[bool; 2]>,
    spent: usize,
}

impl Search<'_> {
    fn new(net: &Network, profile: Profile) -> Search<'_> {
        let uses = net.uses();
        let nodes = (1..net.nodes.len()).filter(|&i| uses[i] > 0).collect();
        Search { net, profile, nodes, have: vec![[false; 2]; net.nodes.len()], spent: 0 }
    }

    /// The gates that the forms lead to, by the traversal of `emit`, which only counts here.
    fn cost(&mut self, forms: &[Form]) -> usize {
        self.spent += self.nodes.len();
        let have = &mut self.have;
        have[0] = [true; 2];
        let mut gates = 0;
        let mut need = |have: &mut Vec<[bool; 2]>, lit: Lit| {
            let form = &mut have[lit.node()][lit.is_complemented() as usize];
            if !*form {
                *form = true;
                gates += 1;
            }
        };
        let mut count = 0;
        for &i in &self.nodes {
            let complemented = match self.net.nodes[i] {
                Node::Zero => continue,
                Node::Input(_) => {
                    have[i] = [true, false];
                    false
                }
                Node::And(a, b) => {
                    count += 1;
                    let has = |lit: Lit| have[lit.node()][lit.is_complemented() as usize];
                    let [pa, na] = [has(a), has(a.flipped_if(true))];
                    let [pb, nb] = [has(b), has(b.flipped_if(true))];
                    if pa && pb || self.profile == Profile::Andn && (na && pb || pa && nb) {
                        false
                    } else if na && nb {
                        true
                    } else {
                        need(have, a);
                        need(have, b);
                        false
                    }
                }
                Node::Xor(a, b) => {
                    count += 1;
                    let read = |lit: Lit| match forms[lit.node()] {
                        Form::Natural => !have[lit.node()][0],
                        form => form == Form::Complement,
                    };
                    read(a) != read(b)
                }
            };
            if !matches!(self.net.nodes[i], Node::Input(_)) {
                have[i] = [!complemented, complemented];
            }
            if forms[i] != Form::Natural {
                need(have, Lit::new(i, false));
                need(have, Lit::new(i, true));
            }
        }
        for &lit in &self.net.outputs {
            need(have, lit);
        }
        gates + count
    }

    /// Changes single nodes as long as that makes the whole cheaper.
    fn descend(&mut self, forms: &mut [Form]) -> usize {
        let mut cost = self.cost(forms);
        loop {
            let before = cost;
            for k in 0..self.nodes.len() {
                let node = self.nodes[k];
                for form in FORMS {
                    let old = std::mem::replace(&mut forms[node], form);
                    let new = if old == form { cost } else { self.cost(forms) };
                    if new < cost {
                        cost = new;
                    } else {
                        forms[node] = old;
                    }
                }
            }
            if cost == before {
                return cost;
            }
        }
    }

    /// Changes two nodes at a time, within the effort.
    fn pairs(&mut self, forms: &mut [Form], mut cost: usize, effort: usize) -> usize {
        for k in 1..self.nodes.len() {
            let first = self.nodes[k];
            for form in FORMS {
                let old = std::mem::replace(&mut forms[first], form);
                let mut kept = old == form;
                for l in 0..k {
                    let second = self.nodes[l];
                    for other in FORMS {
                        if self.spent >= effort {
                            break;
                        }
                        let back = std::mem::replace(&mut forms[second], other);
                        let new = self.cost(forms);
                        if new < cost {
                            cost = new;
                            kept = true;
                        } else {
                            forms[second] = back;
                        }
                    }
                }
                if !kept {
                    forms[first] = old;
                }
            }
        }
        cost
    }
}

/// The wires of one node, as far as there are any yet: plain, complemented.
type Wires = [Option<Wire>; 2];

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
        self.wires[lit.node()][lit.is_complemented() as usize]
    }

    fn set(&mut self, lit: Lit, wire: Wire) {
        self.wires[lit.node()][lit.is_complemented() as usize] = Some(wire);
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
        let andn = profile == Profile::Andn;
        let have = [a, flip(a), b, flip(b)].map(|lit| self.find(lit));
        let (gate, complemented) = match have {
            [Some(a), _, Some(b), _] => (Gate::And(a, b), false),
            [_, Some(a), Some(b), _] if andn => (Gate::Andn(a, b), false),
            [Some(a), _, _, Some(b)] if andn => (Gate::Andn(b, a), false),
            [_, Some(a), _, Some(b)] => (Gate::Or(a, b), true),
            _ => (Gate::And(self.need(a), self.need(b)), false),
        };
        let wire = self.gate(gate);
        self.set(out.flipped_if(complemented), wire);
    }

    fn xor(&mut self, out: Lit, a: Lit, b: Lit, forms: &[Form]) {
        let read = |this: &Self, lit: Lit| {
            let complemented = match forms[lit.node()] {
                Form::Natural => this.find(lit).is_none(),
                form => form == Form::Complement,
            };
            let wire = this.find(Lit::new(lit.node(), complemented));
            (wire.expect("nodes are emitted in order"), complemented)
        };
        let ((a, not_a), (b, not_b)) = (read(self, a), read(self, b));
        let wire = self.gate(Gate::Xor(a, b));
        self.set(out.flipped_if(not_a != not_b), wire);
    }
}

fn emit(net: &Network, forms: &[Form], profile: Profile) -> Circuit {
    let uses = net.uses();
    let circuit = Circuit { inputs: net.inputs, gates: Vec::new(), outputs: Vec::new() };
    let mut emitter = Emitter { circuit, wires: vec![Wires::default(); net.nodes.len()] };
    for (i, node) in net.nodes.iter().enumerate() {
        let out = Lit::new(i, false);
        match *node {
            Node::Input(k) => emitter.set(out, k as Wire),
            _ if uses[i] == 0 => continue,
            Node::Zero => continue,
            Node::And(a, b) => emitter.and(out, a, b, profile),
            Node::Xor(a, b) => emitter.xor(out, a, b, forms),
        }
        if uses[i] > 0 && forms[i] != Form::Natural {
            emitter.need(out);
            emitter.need(out.flipped_if(true));
        }
    }
    emitter.circuit.outputs = net.outputs.iter().map(|&lit| emitter.need(lit)).collect();
    emitter.circuit.without_dead_gates()
}
