//! Technology mapping (LUT covering): a network as gates of three inputs.
//!
//! ```text
//! t = a & b
//! z = t ^ c      →   z = lut3(a, b, c)       if nothing else needs t
//! ```
//!
//! For each node the mapper keeps a few cuts: sets of at most three nodes from which it can be
//! computed. It chooses one cut per node by its share of the gates below it, then revisits needed
//! nodes with the exact number of gates that a change would save. Complements are free, except for
//! an output that needs the complement of an input, or both forms of the same bit.

use crate::{
    Circuit, Gate, Wire,
    network::{Lit, Network, Node},
};

/// Cuts kept per node.
const KEPT: usize = 24;
/// Times that the choice is revisited.
const ROUNDS: usize = 6;

/// Nodes in ascending order, at most three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cut {
    leaves: [u32; 3],
    len: u8,
}

impl Cut {
    const EMPTY: Cut = Cut { leaves: [0; 3], len: 0 };

    fn of(node: usize) -> Cut {
        Cut { leaves: [node as u32, 0, 0], len: 1 }
    }

    fn leaves(&self) -> &[u32] {
        &self.leaves[..self.len as usize]
    }

    fn with(mut self, leaf: u32) -> Option<Cut> {
        let at = self.leaves().partition_point(|&l| l < leaf);
        if self.leaves().get(at) == Some(&leaf) {
            return Some(self);
        }
        if self.len == 3 {
            return None;
        }
        self.leaves.copy_within(at..2, at + 1);
        self.leaves[at] = leaf;
        self.len += 1;
        Some(self)
    }

    fn union(self, other: &Cut) -> Option<Cut> {
        other.leaves().iter().try_fold(self, |cut, &leaf| cut.with(leaf))
    }
}

struct Cover<'a> {
    net: &'a Network,
    /// Without the node itself.
    cuts: Vec<Vec<Cut>>,
    chosen: Vec<Cut>,
    /// Gates and outputs that read the node under the present choice.
    needed: Vec<u32>,
}

/// The circuit of a network on a target that has every function of three bits.
pub(crate) fn circuit(net: &Network) -> Circuit {
    let uses = net.uses();
    let mut cover = Cover {
        net,
        cuts: vec![Vec::new(); net.nodes.len()],
        chosen: vec![Cut::EMPTY; net.nodes.len()],
        needed: vec![0; net.nodes.len()],
    };
    cover.first_choice(&uses);
    for lit in &net.outputs {
        cover.take(lit.node());
    }
    for _ in 0..ROUNDS {
        for node in 0..net.nodes.len() {
            if cover.is_gate(node) && cover.needed[node] > 0 {
                cover.improve(node);
            }
        }
    }
    cover.emit()
}

impl Cover<'_> {
    fn is_gate(&self, node: usize) -> bool {
        matches!(self.net.nodes[node], Node::And(..) | Node::Xor(..))
    }

    /// All cuts, and for each node the one with the least share of gates below it.
    fn first_choice(&mut self, uses: &[u32]) {
        let mut flow = vec![0.0f64; self.net.nodes.len()];
        for i in 0..self.net.nodes.len() {
            let (Node::And(a, b) | Node::Xor(a, b)) = self.net.nodes[i] else { continue };
            if uses[i] == 0 {
                continue;
            }
            let own = |node: usize| std::iter::once(Cut::of(node));
            let mut cuts: Vec<(f64, Cut)> = Vec::new();
            for x in own(a.node()).chain(self.cuts[a.node()].iter().copied()) {
                for y in own(b.node()).chain(self.cuts[b.node()].iter().copied()) {
                    let Some(cut) = x.union(&y) else { continue };
                    if cuts.iter().all(|(_, known)| *known != cut) {
                        let below: f64 = cut.leaves().iter().map(|&l| flow[l as usize]).sum();
                        cuts.push((1.0 + below, cut));
                    }
                }
            }
            cuts.sort_by(|x, y| x.0.total_cmp(&y.0));
            cuts.truncate(KEPT);
            flow[i] = cuts[0].0 / uses[i] as f64;
            self.chosen[i] = cuts[0].1;
            self.cuts[i] = cuts.into_iter().map(|(_, cut)| cut).collect();
        }
    }

    /// One more reader of `node`; the number of gates that this adds.
    fn take(&mut self, node: usize) -> u32 {
        self.needed[node] += 1;
        if self.needed[node] > 1 || !self.is_gate(node) {
            return 0;
        }
        let cut = self.chosen[node];
        1 + cut.leaves().iter().map(|&l| self.take(l as usize)).sum::<u32>()
    }

    /// One reader of `node` less; the number of gates that this saves.
    fn drop(&mut self, node: usize) -> u32 {
        self.needed[node] -= 1;
        if self.needed[node] > 0 || !self.is_gate(node) {
            return 0;
        }
        let cut = self.chosen[node];
        1 + cut.leaves().iter().map(|&l| self.drop(l as usize)).sum::<u32>()
    }

    /// Chooses the cut of a needed node that adds the fewest gates; the last of equals, so that
    /// the choice does not get stuck.
    fn improve(&mut self, node: usize) {
        let old = self.chosen[node];
        old.leaves().iter().for_each(|&l| {
            self.drop(l as usize);
        });
        let cuts = std::mem::take(&mut self.cuts[node]);
        let price = |this: &mut Self, cut: &Cut| {
            let added: u32 = cut.leaves().iter().map(|&l| this.take(l as usize)).sum();
            cut.leaves().iter().for_each(|&l| {
                this.drop(l as usize);
            });
            added
        };
        let mut best = (price(self, &old), old);
        for cut in &cuts {
            let added = price(self, cut);
            if added < best.0 || added == best.0 && *cut != old {
                best = (added, *cut);
            }
        }
        self.cuts[node] = cuts;
        self.chosen[node] = best.1;
        best.1.leaves().iter().for_each(|&l| {
            self.take(l as usize);
        });
    }

    /// The function of a node on the leaves of a cut, as the table of a `Lut3` gate.
    fn function(&self, lit: Lit, cut: &Cut) -> u8 {
        const LEAF: [u8; 3] = [0xf0, 0xcc, 0xaa];
        let node = lit.node();
        let plain = match cut.leaves().iter().position(|&l| l as usize == node) {
            Some(i) => LEAF[i],
            None => match self.net.nodes[node] {
                Node::Zero => 0,
                Node::And(a, b) => self.function(a, cut) & self.function(b, cut),
                Node::Xor(a, b) => self.function(a, cut) ^ self.function(b, cut),
                Node::Input(_) => unreachable!("an input is a leaf of every cut above it"),
            },
        };
        if lit.is_complemented() { !plain } else { plain }
    }

    fn emit(&self) -> Circuit {
        let mut lits = vec![Lit::ZERO; self.net.nodes.len()];
        let mut luts = LutNet { inputs: self.net.inputs, gates: Vec::new(), outputs: Vec::new() };
        for (i, node) in self.net.nodes.iter().enumerate() {
            if let Node::Input(k) = node {
                lits[i] = Lit::new(1 + *k as usize, false);
            }
            if self.is_gate(i) && self.needed[i] > 0 {
                let cut = self.chosen[i];
                let mut operands = [Lit::ZERO; 3];
                for (operand, &leaf) in operands.iter_mut().zip(cut.leaves()) {
                    *operand = lits[leaf as usize];
                }
                lits[i] = luts.gate(self.function(Lit::new(i, false), &cut), operands);
            }
        }
        let output = |lit: &Lit| lits[lit.node()].flipped_if(lit.is_complemented());
        luts.outputs = self.net.outputs.iter().map(output).collect();
        luts.circuit()
    }
}

/// Gates of three inputs in which complement is free. Literals name the constant 0, the inputs,
/// then the gates.
pub(crate) struct LutNet {
    inputs: u8,
    gates: Vec<(u8, [Lit; 3])>,
    outputs: Vec<Lit>,
}

impl LutNet {
    fn gate(&mut self, table: u8, operands: [Lit; 3]) -> Lit {
        self.gates.push((table, operands));
        Lit::new(self.inputs as usize + self.gates.len(), false)
    }

    /// The gates of a circuit.
    pub fn of(circuit: &Circuit) -> LutNet {
        let mut luts = LutNet { inputs: circuit.inputs, gates: Vec::new(), outputs: Vec::new() };
        let mut wires: Vec<Lit> =
            (0..circuit.inputs as usize).map(|i| Lit::new(1 + i, false)).collect();
        for gate in &circuit.gates {
            let of = |w: Wire| wires[w as usize];
            let lit = match *gate {
                Gate::Zero => Lit::ZERO,
                Gate::One => Lit::ONE,
                Gate::Not(a) => of(a).flipped_if(true),
                Gate::And(a, b) => luts.gate(0xc0, [of(a), of(b), Lit::ZERO]),
                Gate::Or(a, b) => luts.gate(0xfc, [of(a), of(b), Lit::ZERO]),
                Gate::Xor(a, b) => luts.gate(0x3c, [of(a), of(b), Lit::ZERO]),
                Gate::Andn(a, b) => luts.gate(0x0c, [of(a), of(b), Lit::ZERO]),
                Gate::Lut3(t, a, b, c) => luts.gate(t, [of(a), of(b), of(c)]),
            };
            wires.push(lit);
        }
        luts.outputs = circuit.outputs.iter().map(|&w| wires[w as usize]).collect();
        luts
    }

    /// The same gates where input `i` is the input `inputs[i]`, perhaps complemented, and output
    /// `k` the old output `outputs[k]`, perhaps complemented.
    pub fn moved(&self, inputs: &[(Wire, bool)], outputs: &[(usize, bool)]) -> LutNet {
        let rename = |lit: Lit| match lit.node().checked_sub(1).and_then(|i| inputs.get(i)) {
            Some(&(input, sign)) => {
                Lit::new(1 + input as usize, sign).flipped_if(lit.is_complemented())
            }
            None => lit,
        };
        let gates = self.gates.iter().map(|(table, lits)| (*table, lits.map(rename))).collect();
        let outputs = outputs.iter().map(|&(k, sign)| rename(self.outputs[k]).flipped_if(sign));
        LutNet { inputs: self.inputs, gates, outputs: outputs.collect() }
    }

    /// The circuit: a gate is kept complemented if outputs want it so only.
    pub fn circuit(&self) -> Circuit {
        let mut out = Gates::new(self.inputs);
        let mut kept: Vec<(Wire, bool)> = vec![(0, false)];
        kept.extend((0..self.inputs).map(|i| (i as Wire, false)));
        for (g, (table, operands)) in self.gates.iter().enumerate() {
            let own = Lit::new(1 + self.inputs as usize + g, false);
            let wanted = |sign: bool| self.outputs.contains(&own.flipped_if(sign));
            let complement = wanted(true) && !wanted(false);
            let mut table = if complement { !table } else { *table };
            let mut wires = [0; 3];
            for (k, lit) in operands.iter().enumerate() {
                let (wire, sign) = kept[lit.node()];
                wires[k] = wire;
                if lit.node() == 0 {
                    table = fix_operand(table, k, lit.is_complemented());
                } else if sign != lit.is_complemented() {
                    table = flip_operand(table, k);
                }
            }
            kept.push((out.function(table, wires), complement));
        }
        let mut complements: Vec<Option<Wire>> = vec![None; kept.len()];
        for lit in &self.outputs {
            let (wire, complement) = kept[lit.node()];
            let wire = match *lit {
                Lit::ZERO | Lit::ONE => out.constant(*lit == Lit::ONE),
                lit if lit.is_complemented() == complement => wire,
                lit => *complements[lit.node()].get_or_insert_with(|| out.gate(Gate::Not(wire))),
            };
            out.circuit.outputs.push(wire);
        }
        out.circuit.without_dead_gates()
    }
}

/// The table of the same function with operand `k` (0 = `a`) complemented.
fn flip_operand(table: u8, k: usize) -> u8 {
    let stride = 4 >> k;
    (0..8).fold(0, |sum, row| sum | (table >> (row ^ stride) & 1) << row)
}

/// The table of the function with operand `k` fixed; it no longer depends on that operand.
fn fix_operand(table: u8, k: usize, one: bool) -> u8 {
    let stride = 4 >> k;
    let from = |row: u8| if one { row | stride } else { row & !stride };
    (0..8).fold(0, |sum, row| sum | (table >> from(row) & 1) << row)
}

/// A circuit in the making, each function in its simplest gate.
struct Gates {
    circuit: Circuit,
    constants: [Option<Wire>; 2],
}

impl Gates {
    fn new(inputs: u8) -> Gates {
        let circuit = Circuit { inputs, gates: Vec::new(), outputs: Vec::new() };
        Gates { circuit, constants: [None; 2] }
    }

    fn gate(&mut self, gate: Gate) -> Wire {
        self.circuit.gates.push(gate);
        (self.circuit.inputs as usize + self.circuit.gates.len() - 1) as Wire
    }

    fn constant(&mut self, one: bool) -> Wire {
        if let Some(wire) = self.constants[one as usize] {
            return wire;
        }
        let wire = self.gate(if one { Gate::One } else { Gate::Zero });
        self.constants[one as usize] = Some(wire);
        wire
    }

    /// The wire of a function of three wires.
    fn function(&mut self, table: u8, wires: [Wire; 3]) -> Wire {
        let depends = |k: &usize| flip_operand(table, *k) != table;
        let support: Vec<usize> = (0..3).filter(depends).collect();
        match support[..] {
            [] => self.constant(table != 0),
            // Row 7 has all operands set.
            [k] if table >> 7 & 1 == 1 => wires[k],
            [k] => self.gate(Gate::Not(wires[k])),
            [j, k] => {
                let (a, b) = (wires[j], wires[k]);
                let row = |x: usize, y: usize| table >> (x * (4 >> j) + y * (4 >> k)) & 1;
                let gate = match [row(0, 0), row(0, 1), row(1, 0), row(1, 1)] {
                    [0, 0, 0, 1] => Gate::And(a, b),
                    [0, 1, 1, 1] => Gate::Or(a, b),
                    [0, 1, 1, 0] => Gate::Xor(a, b),
                    // With `c = b`, rows 0, 3, 4 and 7 are the ones that occur.
                    [r0, r1, r2, r3] => {
                        Gate::Lut3(r0 * 7 + r1 * 8 + r2 * 0x70 + r3 * 0x80, a, b, b)
                    }
                };
                self.gate(gate)
            }
            _ => self.gate(Gate::Lut3(table, wires[0], wires[1], wires[2])),
        }
    }
}
