//! Reference transposition: packs the words of instances into register bytes, and unpacks results.
//!
//! ```text
//! atoms of one port, per instance          bytes of the port's registers
//!   instance 0: [0x61, 0x62]      pack       register 0: lane 0 = 0x61, lane 1 = 0x71, ...
//!   instance 1: [0x71, 0x72]   ────────→     register 1: lane 0 = 0x62, lane 1 = 0x72, ...
//! ```
//!
//! Written for clarity, bit by bit, as the reference for tests of the byte interface's
//! transposition. Registers are little-endian in memory on every target.

use usuba::ir::op::mask;
use usuba::ir::{ByteOrder, Port, Program, Slicing};

/// The arrangement of the instances in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// One bit of each instance: instance j is bit j.
    Bits,
    /// One instance; each value in the smallest C integer that holds it.
    Scalar,
    /// One lane of this many bits per instance, instance j in lane j; zero above the value.
    Lanes(u32),
    /// `words` words of an instance in adjacent lanes of `size` bits.
    Vectors { size: u32, words: u32 },
    /// Words of this many bits across the whole register: bit i (0 = most significant) of instance
    /// j is bit j of element i, and element 0 is the most significant part of the register.
    Across(u32),
    /// Like `Across` in each group of 128 bits, where element 0 comes first in memory.
    AcrossGroups(u32),
}

/// The layout of all ports of one program on one target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    pub packing: Packing,
    /// Bits of a register; for [`Packing::Scalar`] the largest width of a computation.
    pub register_bits: u32,
    /// Bits of the mask for one bit of a constant port, if it is not a register.
    pub mask_bits: Option<u32>,
    slicing: Slicing,
    copies: usize,
}

impl Layout {
    /// The layout of `program` on registers of `register_bits` bits. `simd` distinguishes vector
    /// registers from general-purpose registers; with `masks`, bitsliced kernels take constant
    /// ports as masks of 32 bits.
    ///
    /// # Errors
    /// The slicing has no layout for the word sizes of the program.
    pub fn new(
        program: &Program,
        register_bits: u32,
        simd: bool,
        masks: bool,
    ) -> Result<Layout, String> {
        let ports = program.entry();
        let ports = ports.params.iter().chain(&ports.results);
        let widths = program.nodes.iter().flat_map(|node| &node.bits).copied();
        let words = ports.map(|port| port.value_bits(program.slicing));
        let sizes: Vec<u32> = widths.chain(words).map(u32::from).collect();
        let (least, widest) =
            (sizes.iter().copied().min().unwrap_or(1), sizes.iter().copied().max().unwrap_or(1));
        let packing = match program.slicing {
            _ if widest == 1 => Packing::Bits,
            Slicing::B => return Err("a bitsliced program has a value of more than one bit".into()),
            Slicing::V if simd => Packing::Lanes(widest.next_power_of_two().max(8)),
            Slicing::V if program.packed && widest < register_bits => {
                across(least, widest, register_bits, simd)?
            }
            Slicing::V => Packing::Scalar,
            Slicing::H => across(least, widest, register_bits, simd)?,
            Slicing::W => Packing::Vectors { size: widest.max(8), words: program.vector as u32 },
        };
        let mask_bits = (masks && packing == Packing::Bits).then_some(32);
        let copies = program.copies as usize;
        Ok(Layout { packing, register_bits, mask_bits, slicing: program.slicing, copies })
    }

    /// Instances per call: instances per register times the interleave factor of each port.
    pub fn instances(&self) -> usize {
        self.lanes() * self.copies
    }

    /// Instances per register.
    pub fn lanes(&self) -> usize {
        let lanes = match self.packing {
            Packing::Bits => self.register_bits,
            Packing::Scalar => 1,
            Packing::Lanes(size) | Packing::Across(size) | Packing::AcrossGroups(size) => {
                self.register_bits / size
            }
            Packing::Vectors { size, words } => self.register_bits / size / words,
        };
        lanes as usize
    }

    /// Bytes of one register (or mask) of `port`.
    fn register_bytes(&self, port: &Port) -> usize {
        let bits = port.value_bits(self.slicing) as usize;
        match (self.packing, self.mask_bits) {
            _ if port.bytes.is_some() => bits / 8,
            (_, Some(mask)) if port.constant => mask as usize / 8,
            (Packing::Scalar, _) => bits.next_power_of_two().max(8) / 8,
            _ => self.register_bits as usize / 8,
        }
    }

    /// Bytes of all registers of `port`.
    pub fn port_bytes(&self, port: &Port) -> usize {
        port.values(self.slicing) * self.register_bytes(port)
    }

    /// Packs the registers of `port` from one row of source words (outer dimension first) per
    /// instance. Lanes without an instance are zero; a constant port takes one row for all lanes.
    ///
    /// # Panics
    /// If there are more rows than lanes, or the length of a row is not the number of source words.
    pub fn pack(&self, port: &Port, rows: &[Vec<u64>]) -> Vec<u8> {
        assert!(rows.len() <= self.lanes(), "{} instances, {} lanes", rows.len(), self.lanes());
        let bits = port.value_bits(self.slicing) as u32;
        let size = self.register_bytes(port);
        let mut bytes = vec![0; self.port_bytes(port)];
        if let Some(mask) = self.mask_bits.filter(|_| port.constant) {
            let row = rows.first().expect("a constant has a value");
            assert!(rows.iter().all(|other| other == row), "the lanes of a constant agree");
            for (bytes, value) in bytes.chunks_mut(mask as usize / 8).zip(self.values(port, row)) {
                bytes.fill((value as u8).wrapping_neg());
            }
            return bytes;
        }
        for lane in 0..self.lanes() {
            let row = if port.constant && rows.len() == 1 { rows.first() } else { rows.get(lane) };
            let Some(row) = row else { continue };
            assert_eq!(row.len(), port.words(), "words of `{}`", port.name);
            for (place, value) in self.values(port, row).into_iter().enumerate() {
                for bit in 0..bits {
                    let at = self.place(port, size, place, bit, lane as u32);
                    bytes[at / 8] |= ((value >> (bits - 1 - bit) & 1) as u8) << (at % 8);
                }
            }
        }
        bytes
    }

    /// The inverse of [`Layout::pack`], for all lanes.
    ///
    /// # Panics
    /// If the length of `bytes` is not the size of the port.
    pub fn unpack(&self, port: &Port, bytes: &[u8]) -> Vec<Vec<u64>> {
        assert_eq!(bytes.len(), self.port_bytes(port), "bytes of `{}`", port.name);
        let bits = port.value_bits(self.slicing) as u32;
        let size = self.register_bytes(port);
        let word = |place: usize, lane: usize| {
            (0..bits).fold(0u64, |sum, bit| {
                let at = self.place(port, size, place, bit, lane as u32);
                sum << 1 | (bytes[at / 8] >> (at % 8) & 1) as u64
            })
        };
        let lanes = 0..self.lanes();
        let values = match self.slicing {
            Slicing::W => port.words(),
            slicing => port.values(slicing),
        };
        let rows = lanes.map(|lane| (0..values).map(|place| word(place, lane)).collect());
        rows.map(|row: Vec<u64>| self.words(port, &row)).collect()
    }

    /// Bytes of the array of each parameter of the C function, and of each result.
    pub fn array_bytes(&self, program: &Program) -> [Vec<usize>; 2] {
        [program.params(), program.results()].map(|groups| {
            let bytes = |ports: &[Port]| ports.iter().map(|port| self.port_bytes(port)).sum();
            groups.into_iter().map(bytes).collect()
        })
    }

    /// Packs the arrays of all parameters of `program` from one row of source words per instance; a
    /// row concatenates the words of the parameters. Constants come from the first row.
    ///
    /// # Panics
    /// If the number of rows is not the number of instances, or `program` has another layout.
    pub fn pack_params(&self, program: &Program, rows: &[Vec<u64>]) -> Vec<Vec<u8>> {
        assert_eq!(rows.len(), self.instances(), "one row for each instance");
        let mut buffers = Vec::new();
        let mut at = 0;
        for group in program.params() {
            let words = at..at + group[0].words();
            at = words.end;
            let rows: Vec<_> = rows.iter().map(|row| row[words.clone()].to_vec()).collect();
            buffers.push(self.pack_sets(group, &rows));
        }
        buffers
    }

    /// Packs the array of one port of the source, whose register sets are `ports`, from one row of
    /// its words for each instance. A constant comes from the first row.
    pub fn pack_sets(&self, ports: &[Port], rows: &[Vec<u64>]) -> Vec<u8> {
        let sets = ports.iter().zip(rows.chunks(self.lanes()));
        sets.flat_map(|(port, rows)| self.pack(port, if port.constant { &rows[..1] } else { rows }))
            .collect()
    }

    /// Unpacks the source words of all results, concatenated in one row per instance, from their
    /// arrays.
    ///
    /// # Panics
    /// If the length of a buffer is not the size of its array.
    pub fn unpack_results<B: AsRef<[u8]>>(
        &self,
        program: &Program,
        buffers: &[B],
    ) -> Vec<Vec<u64>> {
        let mut rows = vec![Vec::new(); self.instances()];
        let mut buffers = buffers.iter();
        for group in program.results() {
            let mut array = buffers.next().expect("a buffer for each array").as_ref();
            for (port, rows) in group.iter().zip(rows.chunks_mut(self.lanes())) {
                let (bytes, rest) = array.split_at(self.port_bytes(port));
                array = rest;
                for (row, words) in rows.iter_mut().zip(self.unpack(port, bytes)) {
                    row.extend(words);
                }
            }
        }
        rows
    }

    /// Whether all register bits of `port` outside every instance are zero, as zero extension of
    /// every lane requires.
    ///
    /// # Panics
    /// If the length of `bytes` is not the size of the port.
    pub fn is_zero_extended(&self, port: &Port, bytes: &[u8]) -> bool {
        self.pack(&Port { constant: false, ..port.clone() }, &self.unpack(port, bytes)) == bytes
    }

    /// The position of bit `bit` of value `place` of instance `lane` in the registers or bytes of a
    /// port.
    fn place(&self, port: &Port, size: usize, place: usize, bit: u32, lane: u32) -> usize {
        let bits = port.value_bits(self.slicing) as u32;
        let at = self.position(size, place, bits, bit, lane);
        match port.bytes {
            Some(ByteOrder::Big) => (2 * place + 1) * size * 8 - 8 - at / 8 * 8 + at % 8,
            Some(ByteOrder::Little) | None => at,
        }
    }

    /// The position of bit `bit` of value `place` of instance `lane` in registers of `size` bytes.
    fn position(&self, size: usize, place: usize, bits: u32, bit: u32, lane: u32) -> usize {
        let words = match self.packing {
            Packing::Vectors { words, .. } => words as usize,
            _ => 1,
        };
        // Within a register, words of a vector are laid out like adjacent instances.
        let lane = lane as usize * words + place % words;
        place / words * size * 8 + self.bit_position(bits, bit, lane as u32)
    }

    /// The position of bit `bit` (0 = most significant of `bits`) of instance `lane` in a register,
    /// counted from the least significant bit of its first byte.
    fn bit_position(&self, bits: u32, bit: u32, lane: u32) -> usize {
        let position = match self.packing {
            Packing::Bits => lane,
            Packing::Scalar => bits - 1 - bit,
            Packing::Lanes(size) | Packing::Vectors { size, .. } => lane * size + bits - 1 - bit,
            Packing::Across(size) => {
                let element = self.register_bits / size;
                self.register_bits - (bit + 1) * element + lane
            }
            Packing::AcrossGroups(size) => {
                let element = 128 / size;
                128 * (lane / element) + bit * element + lane % element
            }
        };
        position as usize
    }

    /// The values of one instance: its words, or their bits, most significant first.
    fn values(&self, port: &Port, words: &[u64]) -> Vec<u64> {
        if self.slicing != Slicing::B {
            return words.iter().map(|word| word & mask(port.word)).collect();
        }
        let bits = |word: &u64| {
            let word = *word;
            (0..port.word).rev().map(move |bit| word >> bit & 1).collect::<Vec<_>>()
        };
        words.iter().flat_map(bits).collect()
    }

    fn words(&self, port: &Port, values: &[u64]) -> Vec<u64> {
        if self.slicing != Slicing::B {
            return values.to_vec();
        }
        let word = |bits: &[u64]| bits.iter().fold(0, |sum, bit| sum << 1 | bit);
        values.chunks(port.word as usize).map(word).collect()
    }
}

fn across(least: u32, widest: u32, register_bits: u32, simd: bool) -> Result<Packing, String> {
    if least != widest {
        return Err(format!("words of {least} and {widest} bits cannot share horizontal slicing"));
    }
    match (simd, widest) {
        (true, 2 | 4 | 8 | 16) => Ok(Packing::AcrossGroups(widest)),
        (false, m) if m.is_power_of_two() && m <= register_bits => Ok(Packing::Across(m)),
        _ => Err(format!("horizontal slicing has no layout for words of {widest} bits here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::ir::{Inline, Node, NodeId};

    fn port(word: u8, count: u32) -> Port {
        Port::new("x", word, &[count])
    }

    /// The identity program: it returns its only parameter.
    fn identity(slicing: Slicing, port: &Port) -> Program {
        let count = port.values(slicing);
        let node = Node {
            name: "id".into(),
            params: vec![port.clone()],
            results: vec![Port { name: "y".into(), ..port.clone() }],
            bits: vec![port.value_bits(slicing); count],
            origins: Default::default(),
            body: Vec::new(),
            outs: (0..count as u32).map(usuba::ir::Val).collect(),
            inline: Inline::Auto,
        };
        Program::new(vec![node], NodeId(0), slicing)
    }

    fn layout(slicing: Slicing, port: &Port, bits: u32, simd: bool) -> Layout {
        Layout::new(&identity(slicing, port), bits, simd, false).expect("it has a layout")
    }

    #[test]
    fn pack_then_unpack_is_the_identity() {
        let targets = [(64, false), (32, false), (128, true), (256, true), (512, true)];
        for (bits, simd) in targets {
            for slicing in [Slicing::B, Slicing::V, Slicing::H] {
                for word in [1, 3, 4, 8, 16, 24, 32, 64] {
                    let port = port(word, 5);
                    let Ok(layout) = Layout::new(&identity(slicing, &port), bits, simd, false)
                    else {
                        assert_eq!(slicing, Slicing::H);
                        continue;
                    };
                    let mut seed = 1u64;
                    let mut next = || {
                        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        (seed >> 16) & mask(word) | seed >> 63
                    };
                    let rows: Vec<Vec<u64>> =
                        (0..layout.lanes()).map(|_| (0..5).map(|_| next()).collect()).collect();
                    let bytes = layout.pack(&port, &rows);
                    assert_eq!(layout.unpack(&port, &bytes), rows, "{layout:?}");
                    assert!(layout.is_zero_extended(&port, &bytes));
                }
            }
        }
    }

    #[test]
    fn bitsliced_registers_hold_one_bit_of_each_instance() {
        let port = port(2, 1);
        let layout = layout(Slicing::B, &port, 64, false);
        let bytes = layout.pack(&port, &[vec![0b10], vec![0b01], vec![0b11]]);
        assert_eq!(&bytes[..8], &[0b101, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&bytes[8..], &[0b110, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn constants_of_bitsliced_kernels_are_masks() {
        let key = Port { constant: true, ..port(2, 1) };
        let layout = Layout::new(&identity(Slicing::B, &key), 256, true, true).expect("a layout");
        assert_eq!(layout.port_bytes(&key), 8);
        assert_eq!(layout.pack(&key, &[vec![0b01]]), [0, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(layout.port_bytes(&port(2, 1)), 64, "other ports are registers");
        let vertical = Layout::new(&identity(Slicing::V, &key), 256, true, true).expect("a layout");
        assert_eq!(vertical.port_bytes(&key), 32, "and so are words");
    }

    #[test]
    fn vertical_registers_hold_one_lane_per_instance() {
        let port = port(16, 2);
        let layout = layout(Slicing::V, &port, 128, true);
        assert_eq!(layout.lanes(), 8);
        let bytes = layout.pack(&port, &[vec![0x1234, 0xabcd], vec![0x5678, 0]]);
        assert_eq!(&bytes[..4], &[0x34, 0x12, 0x78, 0x56]);
        assert_eq!(&bytes[16..18], &[0xcd, 0xab]);
    }

    #[test]
    fn scalar_registers_are_as_wide_as_their_value() {
        let port = port(24, 2);
        let layout = layout(Slicing::V, &port, 64, false);
        assert_eq!((layout.lanes(), layout.port_bytes(&port)), (1, 8));
        assert_eq!(layout.pack(&port, &[vec![0x01_0203, 4]]), [3, 2, 1, 0, 4, 0, 0, 0]);
        assert!(!layout.is_zero_extended(&port, &[0, 0, 0, 1, 0, 0, 0, 0]));
    }

    #[test]
    fn horizontal_registers_spread_a_word() {
        let port = port(16, 1);
        let simd = layout(Slicing::H, &port, 256, true);
        assert_eq!(simd.lanes(), 16);
        let mut rows = vec![vec![0]; 16];
        rows[1] = vec![0x8000];
        rows[9] = vec![0x0001];
        let bytes = simd.pack(&port, &rows);
        let set: Vec<(usize, u8)> =
            bytes.iter().copied().enumerate().filter(|(_, byte)| *byte != 0).collect();
        assert_eq!(set, [(0, 2), (16 + 15, 2)]);

        let gp = layout(Slicing::H, &port, 64, false);
        assert_eq!(gp.lanes(), 4);
        // Element 0 is the top four bits, and instance 1 its second bit from below.
        assert_eq!(gp.pack(&port, &rows[..4]), (1u64 << 61).to_le_bytes());
    }

    #[test]
    fn programs_of_single_bits_are_bitsliced_whatever_they_say() {
        let port = port(1, 3);
        assert_eq!(layout(Slicing::V, &port, 128, true).packing, Packing::Bits);
        assert_eq!(layout(Slicing::H, &port, 64, false).packing, Packing::Bits);
    }
}
