//! Nodes that are equal for random inputs.

use usuba::ir::random::Random;
use usuba_replay::hash::Map;
use usuba_replay::net::{Kind, Lit, Net, Node};

/// The values of a node for random inputs.
type Values = [u64; 4];

/// The values of all nodes.
pub struct Samples {
    random: Random,
    values: Vec<Values>,
    /// The first literal whose values are these, the first of them 0.
    known: Map<Values, Lit>,
}

impl Samples {
    pub fn new() -> Samples {
        let zero = [0; 4];
        Samples { random: Random::new(1), values: vec![zero], known: Map::from_iter([(zero, 0)]) }
    }

    fn of_gate(&self, kind: Kind, of: [Lit; 2]) -> Values {
        let [a, b] = of.map(|literal| flipped(self.values[literal as usize / 2], literal));
        std::array::from_fn(|i| if kind == Kind::And { a[i] & b[i] } else { a[i] ^ b[i] })
    }

    /// A literal with the values of a gate.
    pub fn like(&self, kind: Kind, of: [Lit; 2]) -> Option<Lit> {
        let values = self.of_gate(kind, of);
        let flip = values[0] as Lit & 1;
        self.known.get(&flipped(values, flip)).map(|known| known ^ flip)
    }

    /// Records the node that was made last.
    pub fn learn(&mut self, net: &Net) {
        let node = self.values.len() as Lit;
        let values = match net.nodes()[node as usize] {
            Node::Gate(kind, of) => self.of_gate(kind, of),
            _ => std::array::from_fn(|_| self.random.word()),
        };
        self.values.push(values);
        let flip = values[0] as Lit & 1;
        self.known.entry(flipped(values, flip)).or_insert(2 * node + flip);
    }
}

/// The values of a literal, by the values of its node.
fn flipped(values: Values, literal: Lit) -> Values {
    values.map(|word| word ^ 0u64.wrapping_sub(u64::from(literal & 1)))
}
