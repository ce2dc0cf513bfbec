//! Simulation of a circuit on all inputs at once, its cost, and whether it is well formed.
//!
//! A function of up to eight bits is its truth table in four words: bit `i` of the 256 is the
//! value on input `i`. With fewer inputs the table repeats, which no operation here disturbs.

use crate::{Circuit, Gate, Profile, Table, Wire};

/// The truth table of one function of at most eight bits.
pub(crate) type Truth = [u64; 4];

/// Why a circuit is not well formed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The gate at this index reads its own wire or a later one.
    Order(usize),
    /// The profile has no such gate as the one at this index.
    Foreign(usize),
    /// The gate at this index has no path to an output.
    Dead(usize),
    /// This output is no wire of the circuit.
    Output(usize),
}

impl Gate {
    /// The operands, in order.
    pub fn operands(&self) -> impl Iterator<Item = Wire> {
        let wires = match *self {
            Gate::Zero | Gate::One => [None; 3],
            Gate::Not(a) => [Some(a), None, None],
            Gate::And(a, b) | Gate::Or(a, b) | Gate::Xor(a, b) | Gate::Andn(a, b) => {
                [Some(a), Some(b), None]
            }
            Gate::Lut3(_, a, b, c) => [Some(a), Some(b), Some(c)],
        };
        wires.into_iter().flatten()
    }

    /// The same gate with each operand `w` replaced by `rename(w)`.
    pub fn map(&self, mut rename: impl FnMut(Wire) -> Wire) -> Gate {
        match *self {
            Gate::Zero => Gate::Zero,
            Gate::One => Gate::One,
            Gate::Not(a) => Gate::Not(rename(a)),
            Gate::And(a, b) => Gate::And(rename(a), rename(b)),
            Gate::Or(a, b) => Gate::Or(rename(a), rename(b)),
            Gate::Xor(a, b) => Gate::Xor(rename(a), rename(b)),
            Gate::Andn(a, b) => Gate::Andn(rename(a), rename(b)),
            Gate::Lut3(t, a, b, c) => Gate::Lut3(t, rename(a), rename(b), rename(c)),
        }
    }

    fn truth(&self, wires: &[Truth]) -> Truth {
        let of = |w: Wire| &wires[w as usize];
        std::array::from_fn(|i| match *self {
            Gate::Zero => 0,
            Gate::One => u64::MAX,
            Gate::Not(a) => !of(a)[i],
            Gate::And(a, b) => of(a)[i] & of(b)[i],
            Gate::Or(a, b) => of(a)[i] | of(b)[i],
            Gate::Xor(a, b) => of(a)[i] ^ of(b)[i],
            Gate::Andn(a, b) => !of(a)[i] & of(b)[i],
            Gate::Lut3(t, a, b, c) => lut3(t, of(a)[i], of(b)[i], of(c)[i]),
        })
    }
}

/// Bit `4a + 2b + c` of `table`, on 64 inputs at once.
pub(crate) fn lut3(table: u8, a: u64, b: u64, c: u64) -> u64 {
    let mut sum = 0;
    for row in (0..8).filter(|row| table >> row & 1 == 1) {
        let pick = |x: u64, bit: u8| if row >> bit & 1 == 1 { x } else { !x };
        sum |= pick(a, 2) & pick(b, 1) & pick(c, 0);
    }
    sum
}

/// The truth table of input bit `i_wire` of `inputs`, which are most significant bit first.
pub(crate) fn input_truth(inputs: u8, wire: u8) -> Truth {
    const LOW: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    match inputs - 1 - wire {
        6 => [0, u64::MAX, 0, u64::MAX],
        7 => [0, 0, u64::MAX, u64::MAX],
        bit => [LOW[bit as usize]; 4],
    }
}

/// The truth tables of the output bits, `o_0` first.
pub(crate) fn table_truths(table: &Table) -> Vec<Truth> {
    let size = table.entries.len();
    (0..table.outputs)
        .map(|k| {
            let mut truth = [0; 4];
            for i in 0..256 {
                let bit = table.entries[i % size] >> (table.outputs - 1 - k) & 1;
                truth[i / 64] |= bit << (i % 64);
            }
            truth
        })
        .collect()
}

/// The table that a circuit computes: one entry per input, as in `Table::entries`.
///
/// The circuit must be in order (`Circuit::check` reports no `Order` or `Output` fault), have
/// 1 to 8 inputs and at most 64 outputs.
pub fn simulate(circuit: &Circuit) -> Vec<u64> {
    let wires = circuit.truths();
    (0..1usize << circuit.inputs)
        .map(|i| {
            let bit = |w: &Wire| wires[*w as usize][i / 64] >> (i % 64) & 1;
            circuit.outputs.iter().fold(0, |entry, w| entry << 1 | bit(w))
        })
        .collect()
}

impl Circuit {
    /// The truth table of every wire.
    pub(crate) fn truths(&self) -> Vec<Truth> {
        let mut wires: Vec<Truth> = (0..self.inputs).map(|i| input_truth(self.inputs, i)).collect();
        for gate in &self.gates {
            wires.push(gate.truth(&wires));
        }
        wires
    }

    /// Instructions on a target of `profile`: one per gate, constants free. `None` if the target
    /// has not got one of the gates.
    pub fn cost(&self, profile: Profile) -> Option<usize> {
        let paid = |gate: &&Gate| !matches!(gate, Gate::Zero | Gate::One);
        let foreign = self.gates.iter().any(|gate| !profile.allows(gate));
        (!foreign).then(|| self.gates.iter().filter(paid).count())
    }

    /// The number of gates on the longest way from an input to an output.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.inputs as usize];
        for gate in &self.gates {
            let deepest = gate.operands().map(|w| depths[w as usize]).max();
            depths.push(1 + deepest.unwrap_or(0));
        }
        self.outputs.iter().map(|&w| depths[w as usize]).max().unwrap_or(0)
    }

    /// The most wires that are needed at one time, in the order of the gates, with the inputs
    /// live from the start and the outputs to the end.
    pub fn live(&self) -> usize {
        let inputs = self.inputs as usize;
        let mut last: Vec<usize> = vec![0; inputs + self.gates.len()];
        for (i, gate) in self.gates.iter().enumerate() {
            gate.operands().for_each(|w| last[w as usize] = i);
        }
        self.outputs.iter().for_each(|&w| last[w as usize] = usize::MAX);
        let mut live = inputs;
        let mut most = live;
        for (i, gate) in self.gates.iter().enumerate() {
            let mut ended: Vec<Wire> = gate.operands().filter(|&w| last[w as usize] == i).collect();
            ended.sort_unstable();
            ended.dedup();
            live = live + 1 - ended.len();
            most = most.max(live);
        }
        most
    }

    /// Whether every gate reads earlier wires, belongs to `profile` and is used, and every output
    /// is a wire.
    pub fn check(&self, profile: Profile) -> Result<(), Fault> {
        let inputs = self.inputs as usize;
        for (i, gate) in self.gates.iter().enumerate() {
            if gate.operands().any(|w| w as usize >= inputs + i) {
                return Err(Fault::Order(i));
            }
            if !profile.allows(gate) {
                return Err(Fault::Foreign(i));
            }
        }
        let wires = inputs + self.gates.len();
        if let Some(k) = self.outputs.iter().position(|&w| w as usize >= wires) {
            return Err(Fault::Output(k));
        }
        let used = self.used();
        match (0..self.gates.len()).find(|i| !used[inputs + i]) {
            Some(i) => Err(Fault::Dead(i)),
            None => Ok(()),
        }
    }

    /// Which wires lead to an output.
    fn used(&self) -> Vec<bool> {
        let inputs = self.inputs as usize;
        let mut used = vec![false; inputs + self.gates.len()];
        self.outputs.iter().for_each(|&w| used[w as usize] = true);
        for (i, gate) in self.gates.iter().enumerate().rev() {
            if used[inputs + i] {
                gate.operands().for_each(|w| used[w as usize] = true);
            }
        }
        used
    }

    /// The same outputs without the gates that lead to none.
    pub fn without_dead_gates(&self) -> Circuit {
        let used = self.used();
        let mut renamed: Vec<Wire> = (0..self.inputs as Wire).collect();
        let mut gates = Vec::new();
        for (i, gate) in self.gates.iter().enumerate() {
            renamed.push(self.inputs as Wire + gates.len() as Wire);
            if used[self.inputs as usize + i] {
                gates.push(gate.map(|w| renamed[w as usize]));
            }
        }
        let outputs = self.outputs.iter().map(|&w| renamed[w as usize]).collect();
        Circuit { inputs: self.inputs, gates, outputs }
    }
}
