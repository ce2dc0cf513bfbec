//! Makes known circuits smaller by chance: how some of `known/*.txt` came about.
//!
//! ```text
//! circuit_polish two|lut3 STEPS SEED FILE [WORD]     entries whose comment has WORD
//! ```
//!
//! A circuit is taken as a network of ands and xors in which complement is free. One step writes
//! one node differently: as another and or xor of nodes that are there, or, with one new node, as
//! the xor of three. What nothing reads any more goes away. A step that makes the network larger
//! is kept with a probability that shrinks with the difference. For `two` the size is the number
//! of nodes, and small networks are then written with few NOTs; for `lut3` it is the number of
//! three-input gates that cover the network. Prints an entry for each profile that improved on
//! what the file has, with the key left zero.

use std::collections::HashMap;
use usuba::circuit::{Circuit, Gate, Profile, parse, restate, simulate};

type Truth = [u64; 4];

/// Twice a signal, plus one if complemented. Signal 0 is the constant, then inputs, then nodes.
type Lit = u32;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Node {
    and: bool,
    a: Lit,
    b: Lit,
}

#[derive(Clone)]
struct Network {
    inputs: usize,
    nodes: Vec<Node>,
    outputs: Vec<Lit>,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    /// True with probability `p`.
    fn chance(&mut self, p: f64) -> bool {
        (self.next() as f64 / (1u64 << 53) as f64) < p
    }
}

fn xor(x: Truth, y: Truth) -> Truth {
    std::array::from_fn(|i| x[i] ^ y[i])
}

/// The complement whose value on input 0 is 0, and whether that was needed.
fn normal(x: Truth) -> (Truth, u32) {
    if x[0] & 1 == 1 { (x.map(|word| !word), 1) } else { (x, 0) }
}

impl Network {
    fn of(circuit: &Circuit) -> Network {
        let inputs = circuit.inputs as usize;
        let mut net = Network { inputs, nodes: Vec::new(), outputs: Vec::new() };
        let mut lits: Vec<Lit> = (1..=inputs as u32).map(|i| 2 * i).collect();
        for gate in &circuit.gates {
            let of = |w: u16| lits[w as usize];
            let (node, flip) = match *gate {
                Gate::Not(a) => {
                    lits.push(of(a) ^ 1);
                    continue;
                }
                Gate::And(a, b) => (Node { and: true, a: of(a), b: of(b) }, 0),
                Gate::Or(a, b) => (Node { and: true, a: of(a) ^ 1, b: of(b) ^ 1 }, 1),
                Gate::Andn(a, b) => (Node { and: true, a: of(a) ^ 1, b: of(b) }, 0),
                Gate::Xor(a, b) => (Node { and: false, a: of(a), b: of(b) }, 0),
                _ => panic!("constants and Lut3 gates are not polished"),
            };
            net.nodes.push(node);
            lits.push(2 * (inputs + net.nodes.len()) as u32 ^ flip);
        }
        net.outputs = circuit.outputs.iter().map(|&w| lits[w as usize]).collect();
        net
    }

    /// The gates, complements written as NOTs.
    fn circuit(&self) -> Circuit {
        let mut gates = Vec::new();
        let mut wires: HashMap<Lit, u16> = HashMap::new();
        for i in 0..self.inputs {
            wires.insert(2 * (i as u32 + 1), i as u16);
        }
        let mut need = |lit: Lit, wires: &mut HashMap<Lit, u16>, gates: &mut Vec<Gate>| {
            if let Some(&wire) = wires.get(&lit) {
                return wire;
            }
            gates.push(Gate::Not(wires[&(lit ^ 1)]));
            let wire = (self.inputs + gates.len() - 1) as u16;
            wires.insert(lit, wire);
            wire
        };
        for (k, node) in self.nodes.iter().enumerate() {
            let a = need(node.a, &mut wires, &mut gates);
            let b = need(node.b, &mut wires, &mut gates);
            gates.push(if node.and { Gate::And(a, b) } else { Gate::Xor(a, b) });
            let wire = (self.inputs + gates.len() - 1) as u16;
            wires.insert(2 * (self.inputs + k + 1) as u32, wire);
        }
        let outputs: Vec<u16> =
            self.outputs.iter().map(|&lit| need(lit, &mut wires, &mut gates)).collect();
        Circuit { inputs: self.inputs as u8, gates, outputs }.without_dead_gates()
    }

    fn truths(&self, inputs: &[Truth]) -> Vec<Truth> {
        let mut truths = vec![[0; 4]];
        truths.extend(inputs);
        for node in &self.nodes {
            let of = |lit: Lit| {
                let truth = truths[(lit / 2) as usize];
                if lit & 1 == 1 { truth.map(|word| !word) } else { truth }
            };
            let (a, b) = (of(node.a), of(node.b));
            truths.push(std::array::from_fn(|i| if node.and { a[i] & b[i] } else { a[i] ^ b[i] }));
        }
        truths
    }

    /// Used nodes only, in order, equal functions once. `changed` may have broken the order, but
    /// never made a circle.
    fn tidied(&self, inputs: &[Truth]) -> Network {
        let first = self.inputs as u32 + 1;
        let mut net = Network { inputs: self.inputs, nodes: Vec::new(), outputs: Vec::new() };
        let mut lits: Vec<Option<Lit>> = vec![None; first as usize + self.nodes.len()];
        let mut truths: Vec<Truth> = vec![[0; 4]];
        truths.extend(inputs);
        let mut known: HashMap<Truth, Lit> = HashMap::new();
        for (signal, &truth) in truths.iter().enumerate() {
            lits[signal] = Some(2 * signal as u32);
            known.insert(normal(truth).0, 2 * signal as u32 ^ normal(truth).1);
        }
        let mut stack: Vec<u32> = self.outputs.iter().rev().map(|lit| lit / 2).collect();
        while let Some(&signal) = stack.last() {
            if lits[signal as usize].is_some() {
                stack.pop();
                continue;
            }
            let node = self.nodes[(signal - first) as usize];
            match (lits[(node.a / 2) as usize], lits[(node.b / 2) as usize]) {
                (Some(a), Some(b)) => {
                    stack.pop();
                    let (a, b) = (a ^ node.a & 1, b ^ node.b & 1);
                    let of = |lit: Lit| {
                        let truth = truths[(lit / 2) as usize];
                        if lit & 1 == 1 { truth.map(|word| !word) } else { truth }
                    };
                    let (x, y) = (of(a), of(b));
                    let truth: Truth =
                        std::array::from_fn(|i| if node.and { x[i] & y[i] } else { x[i] ^ y[i] });
                    let (plain, flip) = normal(truth);
                    let lit = match known.get(&plain) {
                        Some(&lit) => lit ^ flip,
                        None => {
                            net.nodes.push(Node { and: node.and, a, b });
                            truths.push(truth);
                            let lit = 2 * (truths.len() as u32 - 1);
                            known.insert(plain, lit ^ flip);
                            lit
                        }
                    };
                    lits[signal as usize] = Some(lit);
                }
                (a, b) => {
                    if b.is_none() {
                        stack.push(node.b / 2);
                    }
                    if a.is_none() {
                        stack.push(node.a / 2);
                    }
                }
            }
        }
        let output = |lit: &Lit| lits[(lit / 2) as usize].expect("outputs are visited") ^ lit & 1;
        net.outputs = self.outputs.iter().map(output).collect();
        // Equal functions made some nodes useless: once more if so.
        let mut used = vec![false; first as usize + net.nodes.len()];
        net.outputs.iter().for_each(|lit| used[(lit / 2) as usize] = true);
        for (k, node) in net.nodes.iter().enumerate().rev() {
            if used[first as usize + k] {
                used[(node.a / 2) as usize] = true;
                used[(node.b / 2) as usize] = true;
            }
        }
        if used[first as usize..].iter().all(|&u| u) { net } else { net.tidied(inputs) }
    }

    /// Signals that depend on a node, itself included.
    fn above(&self, signal: usize) -> Vec<bool> {
        let first = self.inputs + 1;
        let mut above = vec![false; first + self.nodes.len()];
        above[signal] = true;
        for (k, node) in self.nodes.iter().enumerate().skip(signal + 1 - first) {
            above[first + k] |= above[(node.a / 2) as usize] || above[(node.b / 2) as usize];
        }
        above
    }

    /// Writes one node differently; `None` if the chosen way does not exist.
    fn changed(&self, inputs: &[Truth], random: &mut Random) -> Option<Network> {
        let first = self.inputs + 1;
        let k = random.below(self.nodes.len());
        let signal = first + k;
        let truths = self.truths(inputs);
        let above = self.above(signal);
        let free: Vec<usize> = (1..truths.len()).filter(|&s| !above[s]).collect();
        let goal = truths[signal];
        let mut net = self.clone();
        let known: HashMap<Truth, Lit> = free
            .iter()
            .map(|&s| (normal(truths[s]).0, 2 * s as u32 ^ normal(truths[s]).1))
            .collect();
        let find = |truth: Truth| {
            let (plain, flip) = normal(truth);
            known.get(&plain).map(|lit| lit ^ flip)
        };
        let replace = |net: &mut Network, node: Node, flip: u32| {
            net.nodes[k] = node;
            if flip == 1 {
                let own = 2 * signal as u32;
                for other in net.nodes.iter_mut() {
                    for lit in [&mut other.a, &mut other.b] {
                        if *lit / 2 * 2 == own {
                            *lit ^= 1;
                        }
                    }
                }
                net.outputs.iter_mut().filter(|lit| **lit / 2 * 2 == own).for_each(|l| *l ^= 1);
            }
        };
        let kind = random.below(10);
        if kind < 3 {
            // Another xor of two signals.
            let ways: Vec<(Lit, Lit)> = free
                .iter()
                .filter_map(|&u| Some((2 * u as u32, find(xor(goal, truths[u]))?)))
                .filter(|(u, v)| *u < *v && *v > 1)
                .collect();
            let (a, b) = *ways.get(random.below(ways.len().max(1)))?;
            replace(&mut net, Node { and: false, a, b }, 0);
        } else if kind < 5 {
            // Another and of two signals, either form of all three.
            let mut ways = Vec::new();
            for flip in [0, 1] {
                let want = if flip == 1 { goal.map(|word| !word) } else { goal };
                let mut wide: Vec<(Lit, Truth)> = Vec::new();
                for &s in &free {
                    for sign in [0, 1] {
                        let t = if sign == 1 { truths[s].map(|w| !w) } else { truths[s] };
                        if (0..4).all(|i| want[i] & !t[i] == 0) {
                            wide.push((2 * s as u32 ^ sign, t));
                        }
                    }
                }
                for (i, (a, x)) in wide.iter().enumerate() {
                    for (b, y) in &wide[..i] {
                        if (0..4).all(|i| x[i] & y[i] == want[i]) {
                            ways.push((*a, *b, flip));
                        }
                    }
                }
            }
            let &(a, b, flip) = ways.get(random.below(ways.len().max(1)))?;
            replace(&mut net, Node { and: true, a, b }, flip);
        } else {
            // The xor of three signals, by one new node.
            let w = free[random.below(free.len())];
            let rest = xor(goal, truths[w]);
            let ways: Vec<(Lit, Lit)> = free
                .iter()
                .filter_map(|&u| Some((2 * u as u32, find(xor(rest, truths[u]))?)))
                .filter(|(u, v)| *u < *v && *v > 1)
                .collect();
            let (a, b) = *ways.get(random.below(ways.len().max(1)))?;
            let new = 2 * (first + net.nodes.len()) as u32;
            let (x, y) = if random.below(2) == 0 { (a, b) } else { (b, a) };
            net.nodes.push(Node { and: false, a: x, b: 2 * w as u32 });
            replace(&mut net, Node { and: false, a: new, b: y }, 0);
        }
        Some(net.tidied(inputs))
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, metric, steps, seed, file, words @ ..] = &args[..] else {
        panic!("usage: circuit_polish two|lut3 STEPS SEED FILE [WORD]");
    };
    let lut3 = metric == "lut3";
    let steps: usize = steps.parse().expect("STEPS is a number");
    let text = std::fs::read_to_string(file).expect("FILE can be read");
    for block in text.split("\n\n") {
        let comment: String = block.lines().filter(|line| line.starts_with('#')).collect();
        let body: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
        let Some(circuit) = body.get(1..).and_then(|lines| parse(&lines.join("\n"))) else {
            continue;
        };
        if body[0].ends_with("lut3") || !words.iter().all(|word| comment.contains(word)) {
            continue;
        }
        let seed: u64 = seed.parse().expect("SEED is a number");
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let entries = simulate(&circuit);
        let profiles: &[Profile] =
            if lut3 { &[Profile::Lut3] } else { &[Profile::Basic, Profile::Andn] };
        let mut best: Vec<Option<((usize, usize), Circuit)>> = vec![None; profiles.len()];
        let mut offer = |net: &Network, effort: usize| {
            let plain = net.circuit();
            let mut size = 0;
            for (profile, best) in profiles.iter().zip(&mut best) {
                let circuit = restate(&plain, *profile, effort).expect("no Lut3 gates");
                size = circuit.cost(*profile).expect("gates of the profile");
                let rank = (size, circuit.live());
                if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                    assert_eq!(simulate(&circuit), entries, "a step changed the function");
                    *best = Some((rank, circuit));
                }
            }
            size
        };
        let count = circuit.inputs;
        let inputs: Vec<Truth> = (0..count)
            .map(|i| {
                let bit = |x: usize| (x >> (count - 1 - i) & 1) as u64;
                std::array::from_fn(|w| (0..64).fold(0, |t, x| t | bit(w * 64 + x) << x))
            })
            .collect();
        let mut net = Network::of(&circuit).tidied(&inputs);
        let start = (net.nodes.len(), offer(&net, 2_000_000));
        let mut size = if lut3 { start.1 } else { start.0 };
        let mut least = size;
        for step in 0..steps {
            let Some(other) = net.changed(&inputs, &mut random) else { continue };
            // Networks much larger than the least never pay.
            if other.nodes.len() > start.0 + if lut3 { 12 } else { 3 } {
                continue;
            }
            let new = if lut3 { offer(&other, 0) } else { other.nodes.len() };
            let heat = 0.35 * (1.0 - (step % 50_000) as f64 / 50_000.0) + 0.05;
            if new <= size || random.chance((-((new - size) as f64) / heat).exp()) {
                if !lut3 && (new < least || new == least && random.chance(0.02)) {
                    least = least.min(new);
                    offer(&other, 100_000);
                }
                (net, size) = (other, new);
            }
        }
        if !lut3 {
            offer(&net, 1_000_000);
        }
        let name = comment.trim_start_matches("# ").split(':').next().unwrap_or("").to_string();
        for (profile, best) in profiles.iter().zip(&best) {
            let Some(((gates, live), circuit)) = best else { continue };
            let label = format!("{profile:?}").to_lowercase();
            eprintln!("{name}: {start:?} -> {label} {gates} gates, {live} live");
            println!("{comment}; polished, {gates} gates\n{:016x} {label}\n{circuit}\n", 0);
        }
    }
}
