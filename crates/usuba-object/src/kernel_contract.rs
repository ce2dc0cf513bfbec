//! The contract of a kernel: its buffers, and the value that each of their bits holds.
//!
//! ```text
//! f(const __m256i *x, const __m256i *k, __m256i *y)      words of 16 bits, V, AVX2
//! x: 4 registers of 32 bytes, read, aligned to 32        bit 37 of register 1 is bit 10 of x[1]
//! k: 104 registers, read                                 (0 the most significant), instance 2
//! y: 4 registers, written
//! of two interleaved instances: x: 2 * 4 registers, of which the last four are for the second
//! ```
//!
//! The headers of generated C define the same layout. This is a second implementation, apart from
//! the emitter, because a proof about the wrong bits is worthless.

use usuba::ir::{ByteOrder, Port, Program, lanes};

use super::byte_order::{Order, Words};
use super::memory::Access;

/// How words sit in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// One bit of every instance: instance j is bit j.
    Bits,
    /// One instance; a word in the smallest C integer that holds it, zero above.
    Words,
    /// Lanes of this width: instance j is lane j, zero above the word.
    Lanes(u32),
    /// Vectors of `words` words of one instance in lanes of `size` bits next to each other.
    Vectors { size: u32, words: u32 },
    /// Elements, one for each bit of a word of this width, the most significant element first;
    /// instance j is bit j of each.
    Elements(u32),
    /// The same in each group of 128 bits, but the element of the most significant bit comes first
    /// in memory.
    GroupedElements(u32),
}

/// How the values of a program sit in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    pub placement: Placement,
    /// Bits of a register.
    pub register_bits: u32,
    /// Bits of the mask that stands for one bit of a constant port, where it is not a register.
    pub mask_bits: Option<u32>,
}

impl Layout {
    /// Instances of one register.
    pub fn lanes(&self) -> u32 {
        match self.placement {
            Placement::Bits => self.register_bits,
            Placement::Words => 1,
            Placement::Lanes(size)
            | Placement::Elements(size)
            | Placement::GroupedElements(size) => self.register_bits / size,
            Placement::Vectors { size, words } => self.register_bits / size / words,
        }
    }

    /// Where bit `bit` (0 = most significant of `bits`) of instance `lane` sits in a register,
    /// counted from the least significant bit of its first byte.
    fn position(&self, bits: u32, bit: u32, lane: u32) -> u32 {
        match self.placement {
            Placement::Bits => lane,
            Placement::Words => bits - 1 - bit,
            Placement::Lanes(size) | Placement::Vectors { size, .. } => {
                lane * size + bits - 1 - bit
            }
            Placement::Elements(size) => {
                let element = self.register_bits / size;
                self.register_bits - (bit + 1) * element + lane
            }
            Placement::GroupedElements(size) => {
                let element = 128 / size;
                lane / element * 128 + bit * element + lane % element
            }
        }
    }
}

/// The meaning of one bit of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    Zero,
    /// Bit number `bit` of all flattened values of the parameters, or of the results, the most
    /// significant of each value first; of one instance, or of all if that is `None`.
    Bit {
        bit: u32,
        instance: Option<u16>,
        complement: bool,
    },
}

/// A buffer, for a parameter or result of the source, or for a parameter and the result that
/// replaces it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    pub name: String,
    /// The alignment in bytes of the C type of an element.
    pub align: u64,
    /// Bits in memory.
    pub size: usize,
    /// The meaning of each bit at entry; `None` if it is unknown.
    pub entry: Option<Vec<Meaning>>,
    /// The meaning of each bit at return; `None` if the buffer is read-only.
    pub exit: Option<Vec<Meaning>>,
}

impl Array {
    pub fn access(&self) -> Access {
        match (&self.entry, &self.exit) {
            (_, None) => Access::Read,
            (None, Some(_)) => Access::Write,
            (Some(_), Some(_)) => Access::Both,
        }
    }
}

/// The interface of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contract {
    /// The name of the function.
    pub symbol: String,
    pub arrays: Vec<Array>,
    /// For each pointer that the function takes, the array to whose beginning it points. Arrays do
    /// not overlap; two pointers may point to the same one.
    pub pointers: Vec<usize>,
}

impl Contract {
    /// The contract of the kernel of a program. `complemented` says for each flattened value of the
    /// parameters whether callers pass its complement; it may be empty.
    ///
    /// # Errors
    /// The words of the program do not fit the layout.
    pub fn kernel(
        program: &Program,
        symbol: &str,
        layout: &Layout,
        complemented: &[bool],
    ) -> Result<Contract, String> {
        let vector = program.vector as usize;
        let complemented: Vec<bool> =
            complemented.iter().flat_map(|&turned| std::iter::repeat_n(turned, vector)).collect();
        let complemented = &complemented[..];
        // Vectors are treated in scalar form.
        let program = &lanes::apart(program);
        let mut arrays = Vec::new();
        let (params, results) = (program.params(), program.results());
        for (groups, access) in [(params, Access::Read), (results, Access::Write)] {
            let turned = if access == Access::Read { complemented } else { &[] };
            let (mut first, mut bit) = (0, 0);
            for ports in groups {
                // Interleaved instances follow each other in one array.
                let (mut align, mut bits) = (1, Vec::new());
                for port in ports {
                    let values = port.values(program.slicing);
                    let of_port = first..first + values;
                    let turned: Vec<_> = of_port.map(|at| turned.get(at) == Some(&true)).collect();
                    let word = port.value_bits(program.slicing) as u32;
                    let (of_element, of_set) = registers(port, word, &turned, bit, layout)?;
                    align = of_element;
                    bits.extend(of_set);
                    first += values;
                    bit += values as u32 * word;
                }
                arrays.push(accessed(&ports[0].name, align, bits, access));
            }
        }
        let pointers = (0..arrays.len()).collect();
        Ok(Contract { symbol: symbol.to_string(), arrays, pointers })
    }

    /// The same where callers may let the result that pointer `result` names replace the parameter
    /// that pointer `parameter` names, in one buffer.
    ///
    /// # Errors
    /// They are no parameter and result of one size.
    pub fn in_place(mut self, parameter: usize, result: usize) -> Result<Contract, String> {
        let pointer = |at: usize| self.pointers.get(at).copied().ok_or("there is no such pointer");
        let (from, to) = (pointer(parameter)?, pointer(result)?);
        let (old, new) = (&self.arrays[from], &self.arrays[to]);
        if old.exit.is_some() || new.entry.is_some() || old.size != new.size {
            return Err(format!("`{}` cannot take the place of `{}`", new.name, old.name));
        }
        self.arrays[from].exit = new.exit.clone();
        self.pointers[result] = from;
        // Nothing points to it any more, so nothing would be written to it.
        self.arrays[to].exit = None;
        Ok(self)
    }
}

/// The bits in memory of a port whose values have `word` bits, the first of them number `first`,
/// and the alignment in bytes of its elements.
fn registers(
    port: &Port,
    word: u32,
    turned: &[bool],
    first: u32,
    layout: &Layout,
) -> Result<(u64, Vec<Meaning>), String> {
    let mask = layout.mask_bits.filter(|_| port.constant);
    let fits = match layout.placement {
        Placement::Bits => word == 1,
        Placement::Words => word <= 64,
        Placement::Lanes(size) => word <= size,
        Placement::Vectors { size, words } => {
            word == size && turned.len().is_multiple_of(words as usize)
        }
        Placement::Elements(size) => word == size && layout.register_bits.is_multiple_of(size),
        Placement::GroupedElements(size) => word == size && 128u32.is_multiple_of(size),
    };
    if !fits {
        return Err(format!("words of {word} bits do not fit {:?}", layout.placement));
    }
    if let Some(order) = port.bytes {
        let words = Words { count: turned.len(), row: 1, bits: word as usize };
        return bytes(order, words, first)
            .filter(|_| layout.placement == Placement::Words && !turned.contains(&true))
            .map(|bits| (1, bits))
            .ok_or_else(|| format!("`{}` cannot lie in bytes", port.name));
    }
    let size = match (mask, layout.placement) {
        (Some(mask), _) => mask,
        (None, Placement::Words) => word.next_power_of_two().max(8),
        (None, _) => layout.register_bits,
    };
    let words = match layout.placement {
        Placement::Vectors { words, .. } => words,
        _ => 1,
    };
    let mut bits = vec![Meaning::Zero; size as usize * (turned.len() / words as usize)];
    for (value, &complement) in turned.iter().enumerate() {
        let from = value / words as usize * size as usize;
        let register = &mut bits[from..from + size as usize];
        if mask.is_some() {
            let bit = first + value as u32;
            register.fill(Meaning::Bit { bit, instance: None, complement });
            continue;
        }
        for lane in 0..layout.lanes() {
            for at in 0..word {
                let bit = first + value as u32 * word + at;
                let meaning = Meaning::Bit { bit, instance: Some(lane as u16), complement };
                // Words of a vector are like instances next to each other.
                let place = lane * words + value as u32 % words;
                register[layout.position(word, at, place) as usize] = meaning;
            }
        }
    }
    Ok((size as u64 / 8, bits))
}

/// The bits of a port of bytes; `None` if its words have no whole bytes.
fn bytes(order: ByteOrder, words: Words, first: u32) -> Option<Vec<Meaning>> {
    let order = match order {
        ByteOrder::Little => Order::Le,
        ByteOrder::Big => Order::Be,
    };
    let meaning = |flat: Option<usize>| {
        Some(Meaning::Bit { bit: first + flat? as u32, instance: Some(0), complement: false })
    };
    order.bits(words)?.into_iter().map(meaning).collect()
}

/// An array that is read, or else written.
fn accessed(name: &str, align: u64, bits: Vec<Meaning>, access: Access) -> Array {
    let size = bits.len();
    let (entry, exit) =
        if access == Access::Read { (Some(bits), None) } else { (None, Some(bits)) };
    Array { name: name.to_string(), align, size, entry, exit }
}
