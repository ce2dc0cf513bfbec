//! Code generation for a transposition plan: the C from bytes to registers, and back.
//!
//! Up to 16 registers are named variables in straight-line code. More are an array, and the
//! steps are grouped into passes that exchange at most three bits of the register number (four
//! where there are 32 registers): each iteration of a pass keeps 8 or 16 registers at hand.

use std::fmt::{self, Write};

use super::macros;
use super::plan::Step;
use super::tiles::{File, Tiles};

/// The direction in which a port moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the bytes `bytes` to the registers `regs`.
    Pack,
    /// From the registers `regs` to the bytes `bytes`.
    Unpack,
}

/// The context of the generated code.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    pub file: File,
    /// C type of a register.
    pub register: &'a str,
    /// Bits of the register number that one pass may exchange.
    pub width: usize,
    /// Whether [`Way::Unpack`] XORs the bytes `text` to the results; `text` may be `bytes`.
    pub xors: bool,
}

/// The statements that move all tiles of a port between `bytes` (a byte pointer) and `regs` (an
/// array of registers); `at(value)` is the C of the register that holds a value.
pub fn statements(writer: Writer, tiles: &Tiles, way: Way, at: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    let Tiles { block, pitch, apart, stride, lanes, .. } = *tiles;
    let bytes = if apart { "wide" } else { "bytes" };
    if apart {
        let _ = writeln!(text, "    uint8_t wide[{}];\n    size_t j;", lanes * stride);
    }
    if apart && way == Way::Pack {
        text += "    memset(wide, 0, sizeof wide);\n";
        let _ = writeln!(
            text,
            "    for (j = 0; j < {lanes}; j++) memcpy(wide + {stride} * j, bytes + {pitch} * j, {block});"
        );
    }
    for (offset, values) in &tiles.tiles {
        Tile { writer, tiles, way, offset: *offset, values, bytes, at }.write(&mut text);
    }
    if apart && way == Way::Unpack {
        let _ = writeln!(
            text,
            "    for (j = 0; j < {lanes}; j++) memcpy(bytes + {pitch} * j, wide + {stride} * j, {block});"
        );
    }
    text
}

/// A step as it is written: zips and exchanges of groups one level at a time.
#[derive(Clone, Debug)]
enum Stage {
    Zip { reg: u8, element: usize },
    Groups { reg: u8 },
    Other(Step),
}

impl Stage {
    /// The bit of the register number that it exchanges, if any.
    fn reg(&self) -> Option<u8> {
        match self {
            Stage::Zip { reg, .. }
            | Stage::Groups { reg }
            | Stage::Other(Step::Swap { reg, .. }) => Some(*reg),
            Stage::Other(_) => None,
        }
    }
}

/// Stages that are done while the same registers are at hand.
struct Pass {
    /// Bits of the register number that vary inside of an iteration, ascending.
    bits: Vec<u8>,
    stages: Vec<Stage>,
}

/// The number of a register: known, or that much more than the variable `r` of a loop.
#[derive(Clone, Copy)]
struct Index {
    looped: bool,
    fixed: usize,
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.looped, self.fixed) {
            (true, 0) => f.write_str("r"),
            (true, fixed) => write!(f, "r + {fixed}"),
            (false, fixed) => write!(f, "{fixed}"),
        }
    }
}

/// One tile in one direction.
struct Tile<'a> {
    writer: Writer<'a>,
    tiles: &'a Tiles,
    way: Way,
    offset: usize,
    values: &'a [Option<usize>],
    bytes: &'a str,
    at: &'a dyn Fn(&str) -> String,
}

impl Tile<'_> {
    fn write(&self, text: &mut String) {
        let count = self.tiles.count;
        let passes = self.passes();
        let last = passes.len() - 1;
        // Values beyond the port leave gaps, which the loops cannot skip.
        let gaps = self.values.iter().any(Option::is_none);
        let looped = count > 1 << passes[0].bits.len();
        let direct = !looped || !gaps;
        text.push_str("    {\n");
        if last > 0 || !direct {
            let _ = writeln!(text, "        {} t[{count}];", self.writer.register);
        }
        if looped {
            text.push_str("        size_t k;\n");
            if direct && !self.is_offset() {
                let list: Vec<String> =
                    self.values.iter().flatten().map(usize::to_string).collect();
                let _ = writeln!(
                    text,
                    "        static const uint16_t value[{count}] = {{{}}};",
                    list.join(", ")
                );
            }
        }
        if !direct && self.way == Way::Unpack {
            for (register, value) in self.values.iter().enumerate() {
                let from = value.map_or(self.zero(), |value| (self.at)(&value.to_string()));
                let _ = writeln!(text, "        t[{register}] = {from};");
            }
        }
        for (number, pass) in passes.iter().enumerate() {
            self.pass(text, pass, number == 0, number == last, direct);
        }
        if !direct && self.way == Way::Pack {
            for (register, value) in self.values.iter().enumerate() {
                let Some(value) = value else { continue };
                let _ =
                    writeln!(text, "        {} = t[{register}];", (self.at)(&value.to_string()));
            }
        }
        text.push_str("    }\n");
    }

    fn zero(&self) -> String {
        format!("{}SPLAT(0)", self.prefix())
    }

    fn prefix(&self) -> &'static str {
        if self.writer.file.vector {
            macros::VECTOR
        } else {
            macros::scalar_prefix(self.writer.file.bits)
        }
    }

    /// Whether register r holds value r plus the first value, so that no table is needed.
    fn is_offset(&self) -> bool {
        let first = self.values[0];
        self.values.iter().enumerate().all(|(r, value)| *value == first.map(|first| first + r))
    }

    /// The stages in the order of the direction, grouped.
    fn passes(&self) -> Vec<Pass> {
        let mut stages = Vec::new();
        let forwards = self.tiles.plan.steps.iter();
        let steps: Vec<Step> = match self.way {
            Way::Pack => forwards.cloned().collect(),
            Way::Unpack => forwards.rev().map(Step::inverse).collect(),
        };
        for step in steps {
            match step {
                Step::Zip { regs } => {
                    let element = 1 << (7 - regs.len());
                    stages.extend(regs.iter().map(|&reg| Stage::Zip { reg, element }));
                }
                Step::Groups { regs } => {
                    stages.extend(regs.iter().map(|&reg| Stage::Groups { reg }));
                }
                other => stages.push(Stage::Other(other)),
            }
        }
        let all = self.tiles.count.ilog2() as usize;
        let width = if all <= 4 { all } else { self.writer.width };
        let mut passes = vec![Pass { bits: Vec::new(), stages: Vec::new() }];
        for stage in stages {
            let pass = passes.last_mut().expect("there is always one");
            match stage.reg() {
                Some(reg) if !pass.bits.contains(&reg) && pass.bits.len() == width => {
                    passes.push(Pass { bits: vec![reg], stages: vec![stage] });
                }
                Some(reg) if !pass.bits.contains(&reg) => {
                    pass.bits.push(reg);
                    pass.stages.push(stage);
                }
                _ => pass.stages.push(stage),
            }
        }
        for pass in &mut passes {
            // Fill up: more registers at hand mean fewer iterations.
            let free = (0..all as u8).filter(|bit| !pass.bits.contains(bit));
            let more: Vec<u8> = free.take(width - pass.bits.len()).collect();
            pass.bits.extend(more);
            pass.bits.sort_unstable();
        }
        passes
    }

    fn pass(&self, text: &mut String, pass: &Pass, first: bool, last: bool, direct: bool) {
        let local = 1usize << pass.bits.len();
        let looped = local < self.tiles.count;
        let indent = if looped { "            " } else { "        " };
        if looped {
            let _ = writeln!(
                text,
                "        for (k = 0; k < {}; k++) {{\n            const size_t r = {};",
                self.tiles.count / local,
                spread(&pass.bits, self.tiles.count.ilog2() as u8)
            );
        }
        let index = |l: usize| {
            let fixed: usize =
                pass.bits.iter().enumerate().map(|(n, &bit)| (l >> n & 1) << bit).sum();
            Index { looped, fixed }
        };
        let memory_first = self.way == Way::Pack;
        for l in 0..local {
            let from = match first {
                true if memory_first => self.load(index(l)),
                true if direct => {
                    self.value(index(l)).map_or_else(|| self.zero(), |value| (self.at)(&value))
                }
                _ => format!("t[{}]", index(l)),
            };
            let _ = writeln!(text, "{indent}{} r{l} = {from};", self.writer.register);
        }
        for stage in &pass.stages {
            self.stage(text, indent, stage, pass);
        }
        for l in 0..local {
            let line = match last {
                true if !memory_first => self.store(index(l), &format!("r{l}")),
                true if direct => match self.value(index(l)) {
                    Some(value) => format!("{} = r{l};", (self.at)(&value)),
                    None => continue,
                },
                _ => format!("t[{}] = r{l};", index(l)),
            };
            let _ = writeln!(text, "{indent}{line}");
        }
        if looped {
            text.push_str("        }\n");
        }
    }

    /// The C of the number of the value in a register, if it holds one.
    fn value(&self, index: Index) -> Option<String> {
        if !index.looped {
            return self.values[index.fixed].map(|value| value.to_string());
        }
        match self.values[0] {
            Some(first) if self.is_offset() => {
                Some(Index { fixed: index.fixed + first, ..index }.to_string())
            }
            _ => Some(format!("value[{index}]")),
        }
    }

    fn pointer(&self, bytes: &str, index: Index) -> String {
        let step = self.tiles.register_step;
        let fixed = self.offset + step * index.fixed;
        let moving = if index.looped { format!(" + {step} * r") } else { String::new() };
        if fixed > 0 { format!("{bytes}{moving} + {fixed}") } else { format!("{bytes}{moving}") }
    }

    fn load(&self, index: Index) -> String {
        self.loaded(self.bytes, index)
    }

    fn loaded(&self, bytes: &str, index: Index) -> String {
        let (prefix, pointer) = (self.prefix(), self.pointer(bytes, index));
        if self.tiles.contiguous {
            format!("{prefix}LOAD({pointer})")
        } else {
            format!("{prefix}GATHER({pointer}, {})", self.tiles.group_step)
        }
    }

    fn store(&self, index: Index, register: &str) -> String {
        let (prefix, pointer) = (self.prefix(), self.pointer(self.bytes, index));
        let register = match self.writer.xors {
            true => format!("{prefix}XOR({register}, {})", self.loaded("text", index)),
            false => register.to_string(),
        };
        if self.tiles.contiguous {
            format!("{prefix}STORE({pointer}, {register});")
        } else {
            format!("{prefix}SCATTER({pointer}, {}, {register});", self.tiles.group_step)
        }
    }

    fn stage(&self, text: &mut String, indent: &str, stage: &Stage, pass: &Pass) {
        let local = 1usize << pass.bits.len();
        let p = self.prefix();
        let pairs = |reg: u8| {
            let bit = pass.bits.iter().position(|&b| b == reg).expect("the pass has this bit");
            (0..local).filter(move |l| l >> bit & 1 == 0).map(move |l| (l, l | 1 << bit))
        };
        match stage {
            Stage::Zip { reg, element } => {
                for (a, b) in pairs(*reg) {
                    let _ = writeln!(text, "{indent}{p}ZIP{element}(r{a}, r{b});");
                }
            }
            Stage::Groups { reg } => {
                for (a, b) in pairs(*reg) {
                    let _ = writeln!(text, "{indent}{p}GROUPS(r{a}, r{b});");
                }
            }
            Stage::Other(Step::Swap { reg, bit, anti }) => {
                let mask = self.mask(|position| position >> bit & 1 == 0);
                for (a, b) in pairs(*reg) {
                    let (a, b) = if *anti { (b, a) } else { (a, b) };
                    let _ = writeln!(text, "{indent}{p}SWAP(r{a}, r{b}, {}, {mask});", 1 << bit);
                }
            }
            Stage::Other(Step::Delta { low, high, anti }) => {
                let shift = if *anti { (1 << high) + (1 << low) } else { (1 << high) - (1 << low) };
                let wanted = !*anti as usize;
                let mask = self.mask(|at| at >> low & 1 == wanted && at >> high & 1 == 0);
                for l in 0..local {
                    let _ = writeln!(text, "{indent}{p}DELTA(r{l}, {shift}, {mask});");
                }
            }
            Stage::Other(Step::Flip { bit }) => {
                let mask = self.mask(|position| position >> bit & 1 == 0);
                for l in 0..local {
                    let _ = writeln!(text, "{indent}{p}FLIP(r{l}, {}, {mask});", 1 << bit);
                }
            }
            Stage::Other(Step::Shuffle { from }) => {
                let half = |bytes: &[u8]| {
                    let word = bytes.iter().rev().fold(0u64, |sum, &b| sum << 8 | b as u64);
                    format!("0x{word:016x}ULL")
                };
                let bytes = format!("{p}BYTES({}, {})", half(&from[..8]), half(&from[8..]));
                for l in 0..local {
                    let _ = writeln!(text, "{indent}r{l} = {p}SHUFFLE(r{l}, {bytes});");
                }
            }
            Stage::Other(Step::Zip { .. } | Step::Groups { .. }) => {
                unreachable!("they are written level by level")
            }
        }
    }

    /// The positions of a 64-bit lane, or of a narrower register, that `wanted` holds for.
    fn mask(&self, wanted: impl Fn(usize) -> bool) -> String {
        let bits = self.writer.file.bits.min(64) as usize;
        let mask = (0..bits).filter(|&at| wanted(at)).fold(0u64, |sum, at| sum | 1 << at);
        if bits == 64 { format!("0x{mask:016x}ULL") } else { format!("0x{mask:08x}U") }
    }
}

/// The register number whose bits outside of `bits` are, in order, the bits of `k`; `all` bits
/// in all.
fn spread(bits: &[u8], all: u8) -> String {
    let mut terms = Vec::new();
    let mut taken = 0;
    let mut bit = 0;
    while bit < all {
        if bits.contains(&bit) {
            bit += 1;
            continue;
        }
        let start = bit;
        while bit < all && !bits.contains(&bit) {
            bit += 1;
        }
        let length = bit - start;
        let mut term = if taken > 0 { format!("k >> {taken}") } else { "k".to_string() };
        // The last bits of k need no mask.
        if (bit..all).any(|above| !bits.contains(&above)) {
            term = format!("({term} & {})", (1u32 << length) - 1);
        }
        if start > 0 {
            term = if taken > 0 {
                format!("({term}) << {start}")
            } else {
                format!("{term} << {start}")
            };
        }
        terms.push(format!("({term})"));
        taken += length;
    }
    terms.join(" | ")
}
