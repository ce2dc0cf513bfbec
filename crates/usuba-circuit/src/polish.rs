//! Simulated annealing on networks: rewrites one node at a time.
//!
//! ```text
//! n = a ^ b      →   n = c ^ d          if both are there and the sum is the same
//! n = a & b      →   n = ~(c & ~d)      likewise
//! n = a ^ b      →   t = c ^ d,  n = t ^ e
//! ```
//!
//! Nodes without readers go away, and nodes with equal functions become one. A step that makes the
//! network larger is kept with a probability that falls with the difference and with time
//! (simulated annealing). Functions are compared as whole truth tables, so every step is exact. The
//! random numbers depend on the seed alone.

use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use crate::{
    Circuit, Profile,
    linear::Random,
    network::{Lit, Network, Node},
    realize::{self, Effort},
    simulate::{Truth, input_truth},
};

/// Steps from hot to cold.
const PERIOD: usize = 50_000;
/// Probabilities are in thousandths: the chance to keep a step that adds 1, 2, ... nodes, hot and
/// cold.
const HOT: [usize; 4] = [80, 7, 1, 0];
const COLD: [usize; 4] = [3, 0, 0, 0];

fn xor(x: Truth, y: Truth) -> Truth {
    std::array::from_fn(|i| x[i] ^ y[i])
}

fn signed(x: Truth, sign: bool) -> Truth {
    if sign { x.map(|word| !word) } else { x }
}

/// Whether `x` is 1 only where `y` is.
fn within(x: &Truth, y: &Truth) -> bool {
    (0..4).all(|i| x[i] & !y[i] == 0)
}

/// Signals by function: each stands for its complement too.
#[derive(Default)]
struct Known(FxHashMap<Truth, Lit>);

impl Known {
    fn insert(&mut self, truth: Truth, lit: Lit) {
        let sign = truth[0] & 1 == 1;
        self.0.entry(signed(truth, sign)).or_insert(lit.flipped_if(sign));
    }

    fn find(&self, truth: Truth) -> Option<Lit> {
        let sign = truth[0] & 1 == 1;
        self.0.get(&signed(truth, sign)).map(|lit| lit.flipped_if(sign))
    }
}

/// A network whose nodes need not be in order, with the functions of all nodes.
#[derive(Clone)]
struct Draft {
    inputs: u8,
    nodes: Vec<Node>,
    truths: Vec<Truth>,
    outputs: Vec<Lit>,
}

impl Draft {
    fn of(net: &Network) -> Draft {
        let mut truths: Vec<Truth> = Vec::with_capacity(net.nodes.len());
        for node in &net.nodes {
            truths.push(truth(node, net.inputs, &truths));
        }
        let outputs = net.outputs.clone();
        Draft { inputs: net.inputs, nodes: net.nodes.clone(), truths, outputs }.tidied()
    }

    fn first(&self) -> usize {
        1 + self.inputs as usize
    }

    fn size(&self) -> usize {
        self.nodes.len() - self.first()
    }

    fn of_lit(&self, lit: Lit) -> Truth {
        signed(self.truths[lit.node()], lit.is_complemented())
    }

    /// The nodes that lead to an output, in order, equal functions once.
    fn tidied(&self) -> Draft {
        let mut order = vec![false; self.nodes.len()];
        let mut known = Known::default();
        let first = self.first();
        let mut lits: Vec<Option<Lit>> = vec![None; self.nodes.len()];
        let mut tidy = Draft {
            inputs: self.inputs,
            nodes: self.nodes[..first].to_vec(),
            truths: self.truths[..first].to_vec(),
            outputs: Vec::new(),
        };
        for (i, lit) in lits.iter_mut().take(first).enumerate() {
            *lit = Some(Lit::new(i, false));
            known.insert(self.truths[i], Lit::new(i, false));
        }
        let mut stack: Vec<usize> = self.outputs.iter().rev().map(|lit| lit.node()).collect();
        while let Some(&i) = stack.last() {
            if lits[i].is_none() {
                lits[i] = known.find(self.truths[i]);
            }
            if lits[i].is_some() {
                stack.pop();
                continue;
            }
            let (Node::And(a, b) | Node::Xor(a, b)) = self.nodes[i] else {
                unreachable!("the constant and the inputs come first")
            };
            let (Some(x), Some(y)) = (lits[a.node()], lits[b.node()]) else {
                assert!(!order[i], "internal error: a network with a circle");
                order[i] = true;
                stack.extend([b.node(), a.node()].into_iter().filter(|&j| lits[j].is_none()));
                continue;
            };
            stack.pop();
            let (x, y) = (x.flipped_if(a.is_complemented()), y.flipped_if(b.is_complemented()));
            tidy.nodes.push(match self.nodes[i] {
                Node::And(..) => Node::And(x, y),
                _ => Node::Xor(x, y),
            });
            tidy.truths.push(self.truths[i]);
            let lit = Lit::new(tidy.nodes.len() - 1, false);
            known.insert(self.truths[i], lit);
            lits[i] = Some(lit);
        }
        let lit = |lit: &Lit| {
            let new = lits[lit.node()].expect("internal error: an output was not visited");
            new.flipped_if(lit.is_complemented())
        };
        tidy.outputs = self.outputs.iter().map(lit).collect();
        // A node may have become equal to a node below its former operands.
        if tidy.used().iter().skip(first).all(|&used| used) { tidy } else { tidy.tidied() }
    }

    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|lit| used[lit.node()] = true);
        for i in (0..self.nodes.len()).rev() {
            if let (Node::And(a, b) | Node::Xor(a, b), true) = (self.nodes[i], used[i]) {
                used[a.node()] = true;
                used[b.node()] = true;
            }
        }
        used
    }

    /// Writes one node differently; `None` if the way that chance picks does not exist.
    fn changed(&self, random: &mut Random) -> Option<Draft> {
        let target = self.first() + random.below(self.size());
        let mut above = vec![false; self.nodes.len()];
        above[target] = true;
        for i in target + 1..self.nodes.len() {
            if let Node::And(a, b) | Node::Xor(a, b) = self.nodes[i] {
                above[i] = above[a.node()] || above[b.node()];
            }
        }
        let free: Vec<usize> = (1..self.nodes.len()).filter(|&i| !above[i]).collect();
        let goal = self.truths[target];
        let mut next = self.clone();
        match random.below(10) {
            0..=2 => {
                let (a, b) = self.xors(goal, &free, random)?;
                next.nodes[target] = Node::Xor(a, b);
            }
            3..=4 => {
                let sign = random.below(2) == 1;
                let (a, b) = self.ands(signed(goal, sign), &free, random)?;
                next.nodes[target] = Node::And(a, b);
                next.turn(target, sign);
            }
            _ => {
                let c = free[random.below(free.len())];
                let (a, b) = self.xors(xor(goal, self.truths[c]), &free, random)?;
                let (a, b) = if random.below(2) == 0 { (a, b) } else { (b, a) };
                next.nodes.push(Node::Xor(a, Lit::new(c, false)));
                next.truths.push(xor(self.of_lit(a), self.truths[c]));
                next.nodes[target] = Node::Xor(Lit::new(next.nodes.len() - 1, false), b);
            }
        }
        Some(next.tidied())
    }

    /// A pair of signals whose xor is `goal`.
    fn xors(&self, goal: Truth, free: &[usize], random: &mut Random) -> Option<(Lit, Lit)> {
        let mut known = Known::default();
        let mut ways = Vec::new();
        for &i in free {
            if let Some(other) = known.find(xor(goal, self.truths[i])) {
                ways.push((other, Lit::new(i, false)));
            }
            known.insert(self.truths[i], Lit::new(i, false));
        }
        (!ways.is_empty()).then(|| ways[random.below(ways.len())])
    }

    /// A pair of literals whose and is `goal`.
    fn ands(&self, goal: Truth, free: &[usize], random: &mut Random) -> Option<(Lit, Lit)> {
        let both = free.iter().flat_map(|&i| [Lit::new(i, false), Lit::new(i, true)]);
        let wide: Vec<(Lit, Truth)> = both
            .map(|lit| (lit, self.of_lit(lit)))
            .filter(|(_, truth)| within(&goal, truth))
            .collect();
        let mut ways = Vec::new();
        for (k, (a, x)) in wide.iter().enumerate() {
            for (b, y) in &wide[..k] {
                if (0..4).all(|i| x[i] & y[i] == goal[i]) {
                    ways.push((*b, *a));
                }
            }
        }
        (!ways.is_empty()).then(|| ways[random.below(ways.len())])
    }

    /// Says that the node at `target` now holds the complement, if `sign`.
    fn turn(&mut self, target: usize, sign: bool) {
        if !sign {
            return;
        }
        self.truths[target] = signed(self.truths[target], true);
        let flip = |lit: &mut Lit| *lit = lit.flipped_if(lit.node() == target);
        for node in &mut self.nodes[1..] {
            if let Node::And(a, b) | Node::Xor(a, b) = node {
                flip(a);
                flip(b);
            }
        }
        self.outputs.iter_mut().for_each(flip);
    }

    fn network(&self) -> Network {
        let mut net = Network::new(self.inputs);
        let mut lits: Vec<Lit> = Vec::with_capacity(self.nodes.len());
        for (i, node) in self.nodes.iter().enumerate() {
            let of = |lit: Lit| lits[lit.node()].flipped_if(lit.is_complemented());
            let lit = match *node {
                Node::Zero | Node::Input(_) => Lit::new(i, false),
                Node::And(a, b) => net.and(of(a), of(b)),
                Node::Xor(a, b) => net.xor(of(a), of(b)),
            };
            lits.push(lit);
        }
        let output = |lit: &Lit| lits[lit.node()].flipped_if(lit.is_complemented());
        net.outputs = self.outputs.iter().map(output).collect();
        net
    }
}

fn truth(node: &Node, inputs: u8, truths: &[Truth]) -> Truth {
    let of = |lit: Lit| signed(truths[lit.node()], lit.is_complemented());
    match *node {
        Node::Zero => [0; 4],
        Node::Input(i) => input_truth(inputs, i),
        Node::And(a, b) => {
            let (x, y) = (of(a), of(b));
            std::array::from_fn(|i| x[i] & y[i])
        }
        Node::Xor(a, b) => xor(of(a), of(b)),
    }
}

/// The circuits that were the best for each profile: fewest gates, then fewest live wires.
struct Best<'a> {
    profiles: &'a [Profile],
    found: Vec<Option<((usize, usize), Circuit)>>,
}

impl Best<'_> {
    /// The gates of the last profile.
    fn offer(&mut self, draft: &Draft, effort: Effort) -> usize {
        let net = draft.network();
        let mut gates = 0;
        for (profile, best) in self.profiles.iter().zip(&mut self.found) {
            let circuit = realize::circuit(&net, *profile, effort);
            gates = circuit.cost(*profile).expect("gates of the profile");
            if best.as_ref().is_none_or(|(rank, _)| gates <= rank.0) {
                let rank = (gates, circuit.live());
                if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                    *best = Some((rank, circuit));
                }
            }
        }
        gates
    }
}

/// Circuits for a network, one for each of the profiles, after `steps` steps. The profiles are
/// either all without `Lut3` gates or `Lut3` alone.
pub(crate) fn circuits(
    net: &Network,
    profiles: &[Profile],
    steps: usize,
    seed: u64,
) -> Vec<Circuit> {
    let cover = profiles == [Profile::Lut3];
    let mut random = Random::new(seed);
    let mut best = Best { profiles, found: vec![None; profiles.len()] };
    let mut draft = Draft::of(net);
    let start = draft.size();
    let first = best.offer(&draft, Effort(1_000_000.min(steps * 20)));
    let mut size = if cover { first } else { start };
    let mut least = size;
    let fits: RangeInclusive<usize> = 1..=start + if cover { 12 } else { 3 };
    for step in 0..if start == 0 { 0 } else { steps } {
        let Some(other) = draft.changed(&mut random) else { continue };
        if !fits.contains(&other.size()) {
            continue;
        }
        let new = if cover { best.offer(&other, Effort::LOW) } else { other.size() };
        if new > size {
            let heat = PERIOD - step % PERIOD;
            let row = |odds: &[usize; 4]| odds.get(new - size - 1).copied().unwrap_or(0);
            let odds = (row(&HOT) * heat + row(&COLD) * (PERIOD - heat)) / PERIOD;
            if random.below(1000) >= odds {
                continue;
            }
        }
        // Networks of equal size differ in the cost of complements, but computing it is expensive.
        if !cover && (new < least || new == least && random.below(200) == 0) {
            least = new;
            best.offer(&other, Effort(100_000.min(steps * 5)));
        }
        (draft, size) = (other, new);
    }
    best.found.into_iter().map(|found| found.expect("the start was offered").1).collect()
}
