//! The database: the best known circuits for tables of published ciphers.
//!
//! An entry of a file in `known/` is separated from the next by an empty line:
//!
//! ```text
//! # PRESENT: in-place search; 14 gates, 5 live
//! 95b6d56c405dd7a9 andn
//! 4 bits: 1^2 ~4&0 1^5 ... -> 15 17 12 13
//! ```
//!
//! After comments, the key of the class (`npn.rs`) and the profile, then the circuit (`text.rs`). A
//! class may have several entries for a profile: they differ in the cost of complements. An entry
//! serves every table of its class, with wires renamed and complements moved to where they cost
//! least.
//!
//! Entries are published gate lists, or come from `usubac synth` and `examples/circuit_inversion.rs`,
//! and were made smaller by `examples/circuit_polish.rs`. A test writes the keys of new ones.

use crate::{
    Circuit, Gate, Goal, Profile, Table, Wire,
    cover::LutNet,
    network::Network,
    npn::{self, Way},
    realize::{self, Effort},
    simulate::table_truths,
    text,
};

/// The files, with their names.
pub(crate) const FILES: [(&str, &str); 3] = [
    ("small.txt", include_str!("known/small.txt")),
    ("des.txt", include_str!("known/des.txt")),
    ("bytes.txt", include_str!("known/bytes.txt")),
];

/// One circuit of the database.
pub(crate) struct Entry {
    pub profile: Profile,
    pub circuit: Circuit,
}

fn profile(name: &str) -> Option<Profile> {
    Profile::ALL.into_iter().find(|profile| profile.name() == name)
}

/// The entries of a file; `None` if it is not in the form above.
#[cfg(test)]
pub(crate) fn entries(text: &str) -> Option<Vec<(u64, Entry)>> {
    let blocks = text.split("\n\n").map(|block| {
        let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
        lines.join("\n")
    });
    blocks.filter(|block| !block.trim().is_empty()).map(|block| entry(&block)).collect()
}

/// An entry with its key.
fn entry(block: &str) -> Option<(u64, Entry)> {
    let (head, circuit) = block.trim_start().split_once('\n')?;
    let (key, name) = head.split_once(' ')?;
    let key = u64::from_str_radix(key, 16).ok()?;
    Some((key, Entry { profile: profile(name)?, circuit: text::parse(circuit)? }))
}

/// The entries of one class in some texts, found by their key without reading the others.
pub(crate) fn of_class<'a>(texts: &'a [&'a str], key: u64) -> impl Iterator<Item = Entry> + 'a {
    let head = format!("{key:016x} ");
    texts.iter().flat_map(move |text| {
        let at: Vec<usize> = text.match_indices(&head).map(|(at, _)| at).collect();
        at.into_iter().filter_map(move |at| {
            let block = &text[at..];
            let end = block.find("\n\n").unwrap_or(block.len());
            let (_, entry) = entry(&block[..end])?;
            entry.circuit.check(entry.profile).is_ok().then_some(entry)
        })
    })
}

/// The key of the class of the function of a circuit.
pub(crate) fn key(circuit: &Circuit) -> Option<u64> {
    let truths = circuit.truths();
    let outputs: Vec<_> = circuit.outputs.iter().map(|&w| truths[w as usize]).collect();
    Some(npn::class(circuit.inputs, &outputs)?.key)
}

/// The best circuit of the database for a table by `goal`.
pub(crate) fn find(table: &Table, profile: Profile, goal: Goal) -> Option<Circuit> {
    find_in(&FILES.each_ref().map(|(_, text)| *text), table, profile, goal)
}

/// The best circuit of some texts for a table by `goal`; on a tie the one with the shortest
/// critical path, then the one with the fewest live wires.
pub(crate) fn find_in(
    texts: &[&str],
    table: &Table,
    profile: Profile,
    goal: Goal,
) -> Option<Circuit> {
    let class = npn::class(table.inputs, &table_truths(table))?;
    let mut best: Option<((usize, usize, usize), Circuit)> = None;
    let serving =
        |entry: &Entry| serves(entry.profile, profile) && entry.circuit.inputs == table.inputs;
    for entry in of_class(texts, class.key).filter(serving) {
        let truths = entry.circuit.truths();
        let outputs: Vec<_> = entry.circuit.outputs.iter().map(|&w| truths[w as usize]).collect();
        let own = npn::class(table.inputs, &outputs)?;
        if own.representative != class.representative {
            continue;
        }
        for way in &class.ways {
            let moved = Moved::new(&own.ways[0], way);
            for circuit in moved.circuits(&entry.circuit, entry.profile, profile) {
                let (cost, depth) = (circuit.cost(profile)?, circuit.depth());
                let price = match goal {
                    Goal::Size => cost,
                    Goal::Chain => cost + 4 * depth,
                };
                let rank = (price, depth, circuit.live());
                if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                    best = Some((rank, circuit));
                }
            }
        }
    }
    best.map(|(_, circuit)| circuit)
}

/// Search budget for the NOTs of one candidate.
const EFFORT: Effort = Effort(10_000);

/// Whether circuits made for one profile are worth trying for another.
fn serves(made: Profile, wanted: Profile) -> bool {
    made == wanted || made != Profile::Lut3
}

/// How a circuit of a class becomes the circuit of another table of the class.
struct Moved {
    /// For each input wire of the circuit, the wire of the table, perhaps complemented.
    inputs: Vec<(Wire, bool)>,
    /// For each output of the table, the output of the circuit, perhaps complemented.
    outputs: Vec<(usize, bool)>,
}

impl Moved {
    fn new(from: &Way, to: &Way) -> Moved {
        let n = from.inputs.len();
        // Ways count inputs from the least significant, circuits from the most significant.
        let input = |wire: usize| {
            let (common, sign) = from.inputs[n - 1 - wire];
            let same = |(other, _): &(u8, bool)| *other == common;
            let index = to.inputs.iter().position(same).expect("ways cover all inputs");
            ((n - 1 - index) as Wire, sign ^ to.inputs[index].1)
        };
        let mut outputs = vec![(0, false); to.outputs.len()];
        for (&(old, old_sign), &(new, new_sign)) in from.outputs.iter().zip(&to.outputs) {
            outputs[new as usize] = (old as usize, old_sign ^ new_sign);
        }
        Moved { inputs: (0..n).map(input).collect(), outputs }
    }

    /// Circuits of the table, made from one for `made`.
    fn circuits(&self, circuit: &Circuit, made: Profile, profile: Profile) -> Vec<Circuit> {
        if made == Profile::Lut3 {
            return vec![LutNet::of(circuit).moved(&self.inputs, &self.outputs).circuit()];
        }
        let mut found = Vec::new();
        if profile != Profile::Lut3 && circuit.cost(profile).is_some() {
            found.push(self.renamed(circuit));
        }
        let signed = self.inputs.iter().any(|i| i.1) || self.outputs.iter().any(|o| o.1);
        if signed || made != profile {
            let mut net =
                Network::of(circuit, &self.inputs).expect("only Lut3 entries have Lut3 gates");
            let output = |&(k, sign): &(usize, bool)| net.outputs[k].flipped_if(sign);
            net.outputs = self.outputs.iter().map(output).collect();
            found.push(realize::circuit(&net, profile, EFFORT));
        }
        found
    }

    /// The same gates on other wires, with a NOT for each wire that is complemented.
    fn renamed(&self, circuit: &Circuit) -> Circuit {
        let inputs = circuit.inputs as usize;
        let mut gates = Vec::new();
        let mut wires: Vec<Wire> = Vec::new();
        let mut add = |gate: Gate| {
            gates.push(gate);
            (inputs + gates.len() - 1) as Wire
        };
        for &(wire, sign) in &self.inputs {
            wires.push(if sign { add(Gate::Not(wire)) } else { wire });
        }
        for gate in &circuit.gates {
            wires.push(add(gate.map(|w| wires[w as usize])));
        }
        let output = |&(k, sign): &(usize, bool)| {
            let wire = wires[circuit.outputs[k] as usize];
            if sign { add(Gate::Not(wire)) } else { wire }
        };
        let outputs = self.outputs.iter().map(output).collect();
        Circuit { inputs: circuit.inputs, gates, outputs }.without_dead_gates()
    }
}
