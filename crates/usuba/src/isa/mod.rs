//! Instruction sets, as data: the form of a register, and one row (instruction pattern) each.
//!
//! A row says how one instruction is written in C and whether its time is independent of its data.
//! Operators without a row are legalized by the one table in `fallback`, the same for all targets;
//! `select` turns an Usuba0 operator into rows. A new target is one file and one line in [`ALL`].
//!
//! - `processor`: families of processors, with compilers and emulators; `registers`: vector
//!   registers in the byte interface.
//! - A file for each target: its tables.
//! - `gfni`, `ifma`: the tables of targets that are `avx2` and `avx512` with more instructions.
//! - `clmul`: the tables of targets with carry-less multiplication.
//! - `crypto`: the tables of targets with instructions for AES and SHA-256.
//! - `narrow`: registers that are narrower than the widest of a machine.
//! - `select`: operator and layout → instructions.
//! - `sequence`: the instructions for one operator, and their builder.
//! - `fallback`: legalization of instructions that a target lacks.
//! - `shuffle`: groups of bits that move inside words.
//! - `vectors`: the lanes of a vector, in W.
//! - `cpu`: latencies and ports of processors.

mod avx2;
mod avx512;
mod clmul;
pub mod cpu;
mod crypto;
mod cuda;
pub mod fallback;
mod gfni;
mod gp32;
mod gp64;
mod ifma;
mod narrow;
mod neon;
mod processor;
mod registers;
pub mod select;
pub mod sequence;
mod shuffle;
mod sse;
mod ternary;
mod vectors;
mod vsx;
mod wasm128;

pub use processor::{ANY_PROCESSOR, Cross, Device, Processor, System, Tool, X86_64};
pub use registers::Registers;
pub use select::{lacks, select};

/// The layout of words in registers; the same for all values of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// One bit of every instance fills a register.
    Bits,
    /// General-purpose registers hold one word of one instance, zero-extended to its C type.
    Words,
    /// Lanes of 8, 16, 32 or 64 bits hold one word each, zero-extended.
    Lanes(u8),
    /// The register (on SIMD each group of 128 bits) is cut into this many elements; element i,
    /// counted from the most significant bit of the word, holds that bit of some instances.
    Elements(u8),
    /// Lanes of 8, 16, 32 or 64 bits; `words` of them hold the words of one instance.
    Vectors { lane: u8, words: u8 },
}

/// The effect of one instruction on each lane, or on the whole register for logic.
///
/// Immediates are part of the [`Step`](sequence::Step), not of the row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Inst {
    And,
    Or,
    Xor,
    /// `~a & b`
    Andn,
    Not,
    /// The function of three bits whose table is the immediate.
    Lut3,
    Add,
    Sub,
    Mul,
    /// The upper half of the product.
    MulHigh,
    /// 1 where the first operand is below the second, both unsigned, else 0.
    Less,
    /// 64-bit product of the low halves of two 64-bit lanes.
    MulWide,
    /// The carry-less product, of 128 bits, of the even or of the odd 64-bit lanes of each 128-bit
    /// group.
    ClmulEven,
    ClmulOdd,
    /// The same of the even lanes of one operand and the odd lanes of the other.
    ClmulEvenOdd,
    ClmulOddEven,
    /// The first operand plus bits 0 to 51 of the product of the low 52 bits of the others.
    MulAdd52,
    /// The same with bits 52 to 103 of it.
    MulAddHigh52,
    Shl,
    Shr,
    Sar,
    Rotl,
    /// All ones where the lane is negative, else zero.
    Negative,
    /// All ones where two lanes are equal, else zero.
    Equal,
    /// Result byte i of each 128-bit group is source byte `bytes[i]`, or zero for [`ZERO`].
    Bytes,
    /// The immediate in every lane.
    Splat,
    /// The immediate 16 bytes in every 128-bit group.
    Splat128,
    /// The immediate fills the register.
    Literal,
    /// Each lane by its own amount, which is the lane of the immediate; here and below an amount
    /// of all bits leaves zero.
    ShlEach,
    ShrEach,
    /// Amounts are below the lane width.
    RotlEach,
    /// Four elements of `lane` bits: element i of each group is element `k >> 2i & 3`.
    Quads,
    /// Lane i is the lane whose number is lane i of the immediate.
    Permute,
    /// The same of two registers, one after the other.
    Permute2,
    /// The lower halves of two groups of 128 bits, lane by lane in turns.
    ZipLow,
    ZipHigh,
    /// Two elements of `lane` bits of the first operand, and then two of the second, of each four:
    /// result element i is element `k >> 2i & 3` of its operand.
    Halves,
    /// 16 bytes from byte k upwards of two groups of 128 bits, one after the other.
    Align,
    /// Lane i of the second operand where bit i of the immediate is set, else of the first.
    Blend,
    /// A general-purpose word in another type: its low bits, or zeros above it.
    Widen,
    /// The first operand times the matrix that the second holds, plus the immediate byte; see
    /// [`crate::ir::Op::Affine`].
    Affine,
    /// The same for the inverse of the first operand.
    AffineInverse,
    /// A round of AES on each group of 128 bits, and the last round; the nodes of `std:aes.ua`.
    AesRound,
    AesLastRound,
    /// Rounds of the equivalent inverse cipher.
    AesInverseRound,
    AesInverseLastRound,
    AesInverseMixColumns,
    /// Two steps of SHA-256, and parts of its message schedule; the nodes of `std:sha2.ua`.
    Sha256Rounds2,
    Sha256Message1,
    Sha256Message2,
}

/// The marker of [`Inst::Bytes`] for a byte that becomes zero.
pub const ZERO: u8 = 0x80;

/// Whether the time of an instruction depends on its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// In the vendor's list of instructions with data-independent timing: Intel DOIT, Arm DIT,
    /// RISC-V Zkt.
    Doit,
    /// Constant on current application processors, variable on some small ones. The multiplier
    /// of general-purpose registers is the only such instruction.
    Varies,
}

/// One instruction.
///
/// In `c`, `{0}`, `{1}` and `{2}` are the operands, `{k}` the immediate, `{n}` the bits of a lane,
/// `{m}` the lanes of 128 bits, `{w}` the C word of a lane (`short`), `{t}` and `{s}` its unsigned
/// and signed C type, `{hi}` and `{lo}` the halves of 16 immediate bytes, `{v}` the 64-bit words of
/// an immediate register, the highest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    pub inst: Inst,
    /// The lane widths in bits that it has, as one set (`16 | 32`), or [`ANY`] for all of them and
    /// for an instruction without lanes.
    pub lanes: u8,
    pub c: &'static str,
    pub timing: Timing,
    /// The C macro of an extension that the row needs beyond the target; empty for none. Such a
    /// row is used under `#ifdef`, beside the expansion without it.
    pub when: &'static str,
    /// The instruction in assembly language, operands as AT&T orders them; empty where there is
    /// none. Instructions before a `;` have no operand of their own that is written.
    ///
    /// `{0}`, `{1}` and `{2}` are the operands, `{i}` the register that the immediate describes,
    /// `{zeros}` and `{ones}` such registers; with an `m` at its end a place may be memory. `{d}` is
    /// the result, and `{=0}` the result in the register of an operand. `{k}` is the immediate, `{l}`
    /// the letter of a lane, `{z}` the letters of two lanes in one, `{e}` the letter of the lanes that
    /// a memory operand broadcasts, and `{mask}` a mask register.
    pub asm: &'static str,
}

/// The lane of a row that fits every lane.
pub const ANY: u8 = 0;

/// A row that the target always has.
pub const fn inst(inst: Inst, lanes: u8, c: &'static str, timing: Timing) -> Row {
    Row { inst, lanes, c, timing, when: "", asm: "" }
}

/// A row that needs an extension.
pub const fn inst_when(when: &'static str, inst: Inst, lanes: u8, c: &'static str) -> Row {
    Row { inst, lanes, c, timing: Timing::Doit, when, asm: "" }
}

/// An instruction set.
#[derive(Debug)]
pub struct Target {
    pub name: &'static str,
    /// Other spellings that the command line accepts.
    pub aliases: &'static [&'static str],
    /// The target whose instructions it has too. A target shares every property that depends on a
    /// name with its base, except for instructions.
    pub base: Option<&'static Target>,
    /// The target with the widest registers of its machine, where it is one for some functions only.
    pub machine: Option<&'static Target>,
    /// Register width.
    pub bits: u32,
    /// Number of registers that generated code can count on.
    pub regs: u32,
    /// Whether registers have lanes; without, they hold one word.
    pub simd: bool,
    /// Whether a load can broadcast a mask of 32 bits at no cost over a whole register.
    pub masks: bool,
    /// The header that declares the intrinsics; empty for none.
    pub header: &'static str,
    /// Warnings of gcc that this header itself causes when it is compiled as C++.
    pub header_warnings: &'static [&'static str],
    /// Flags that a C compiler of the native family needs to accept the intrinsics.
    pub cflags: &'static [&'static str],
    /// The C type of a register; general-purpose words have the type of their size instead.
    pub register: &'static str,
    /// The letter of a register in assembler statements of gcc and clang.
    pub constraint: &'static str,
    /// The header of the OCaml compiler's C interface; empty where that compiler has no such
    /// target.
    pub original: &'static str,
    /// The processors that have it.
    pub processor: &'static Processor,
    /// Its vector registers in the byte interface.
    pub registers: Option<&'static Registers>,
    /// Its instructions, without the instructions of its base.
    pub rows: &'static [Row],
}

/// Every target that is no other one with more instructions, in the order in which they are
/// listed to users.
#[rustfmt::skip] // One target, one line.
pub const ALL: &[&Target] = &[
    &gp64::GP64,
    &gp32::GP32,
    &sse::SSE,
    &avx2::AVX2,
    &avx512::AVX512,
    &neon::NEON,
    &wasm128::WASM128,
    &vsx::VSX,
    &cuda::CUDA,
];

/// The targets with a base. Only programs that use their instructions gain by them.
pub const EXTENDED: &[&Target] = &[&gfni::AVX2_GFNI, &gfni::AVX512_GFNI, &ifma::AVX512_IFMA];

/// The targets that stand for no machine of their own: they serve functions that name them, on the
/// machine that they name. Most have registers that are narrower than the widest of the machine, for
/// W and for functions that rotate much; others have instructions that few functions need.
#[rustfmt::skip] // One target, one line.
pub const NARROW: &[&Target] = &[
    &narrow::AVX2_64,
    &narrow::AVX2_128,
    &narrow::AVX512_128,
    &narrow::AVX512_256,
    &clmul::AVX2_CLMUL,
    &clmul::AVX512_CLMUL,
    &crypto::AVX2_AES,
    &crypto::AVX2_VAES,
    &crypto::AVX512_VAES,
    &crypto::AVX2_SHA,
];

/// Every target with the widest registers of its machine.
pub fn all() -> impl Iterator<Item = &'static Target> {
    ALL.iter().chain(EXTENDED).copied()
}

/// The target with this name or alias.
pub fn find(name: &str) -> Option<&'static Target> {
    let mut known = all().chain(NARROW.iter().copied());
    known.find(|t| t.name == name || t.aliases.contains(&name))
}

/// The message that there is no target of this name.
pub fn unknown(name: &str) -> String {
    crate::names::unknown("target", name, all().map(|target| target.name))
}

impl Target {
    /// The name of the registers: its own, or the name of its base.
    pub fn family(&self) -> &'static str {
        self.base.map_or(self.name, |base| base.name)
    }

    /// Every row, its own first.
    pub fn all_rows(&self) -> impl Iterator<Item = &'static Row> {
        self.rows.iter().chain(self.base.map_or(&[][..], |base| base.rows))
    }

    /// The row that every machine of this target has for an instruction on lanes of `lane` bits.
    pub fn row(&self, inst: Inst, lane: u8) -> Option<&'static Row> {
        self.all_rows().find(|r| r.fits(inst, lane) && r.when.is_empty())
    }

    /// The row of an extension for an instruction on lanes of `lane` bits.
    pub fn row_when(&self, inst: Inst, lane: u8) -> Option<&'static Row> {
        self.all_rows().find(|r| r.fits(inst, lane) && !r.when.is_empty())
    }

    /// The instruction that is a node of a standard include, on vectors of `words` words of `bits`
    /// bits, and its lane width.
    pub fn instruction(&self, node: &str, bits: u8, words: u8) -> Option<(&'static Row, u8)> {
        let (inst, lane) = crypto::of_node(node)?;
        let is_whole = bits == lane && u32::from(bits) * u32::from(words) == 128;
        self.row(inst, lane).filter(|_| is_whole).map(|row| (row, lane))
    }

    /// Instances that one call processes under `layout`.
    pub fn lanes(&self, layout: Layout) -> u32 {
        match layout {
            Layout::Bits => self.bits,
            Layout::Words => 1,
            Layout::Lanes(lane) => self.bits / lane as u32,
            Layout::Elements(m) => self.bits / m as u32,
            Layout::Vectors { lane, words } => self.bits / lane as u32 / words as u32,
        }
    }

    /// Whether the rotation of a word of `bits` bits rotates a whole general-purpose register. C
    /// has no rotation, but every C compiler recognizes one in two shifts.
    pub fn rotates(&self, layout: Layout, bits: u8) -> bool {
        let whole = match layout {
            Layout::Words => word_lane(bits) == bits,
            Layout::Elements(_) => true,
            Layout::Bits | Layout::Lanes(_) | Layout::Vectors { .. } => false,
        };
        whole && !self.simd
    }

    /// The text before a C function that is `static inline`: nothing, or a qualifier and a blank.
    pub fn qualifier(&self) -> &'static str {
        self.processor.device.map_or("", |device| device.qualifier)
    }

    /// The same for a C function that other files call.
    pub fn exported(&self) -> &'static str {
        self.processor.device.map_or("", |device| device.exported)
    }

    /// Whether a register has several groups of 128 bits, which two registers can exchange.
    pub fn has_groups(&self) -> bool {
        self.registers.is_some_and(|registers| !registers.groups.0.is_empty())
    }

    /// How a C function begins that only its own file calls.
    pub fn local(&self) -> &'static str {
        if self.processor.device.is_some() { "static inline " } else { "static " }
    }

    /// The C type of a value of `bits` bits under `layout`.
    pub fn c_type(&self, layout: Layout, bits: u8) -> &'static str {
        match layout {
            Layout::Words => word_type(word_lane(bits)),
            _ => self.register,
        }
    }
}

impl Row {
    /// The row with its text in assembly language.
    pub const fn asm(self, asm: &'static str) -> Row {
        Row { asm, ..self }
    }

    fn fits(&self, inst: Inst, lane: u8) -> bool {
        self.inst == inst && (self.lanes == ANY || self.lanes & lane != 0)
    }

    /// The lane widths that it has and whose C differs: one if the instruction has no lanes.
    pub fn widths(&self) -> Vec<u8> {
        let widths = [8, 16, 32, 64].into_iter();
        match self.lanes {
            ANY if self.text(8) == self.text(64) => vec![64],
            lanes => widths.filter(|width| lanes == ANY || lanes & width != 0).collect(),
        }
    }

    /// Its C on lanes of `lane` bits, with places for operands and immediates.
    pub fn text(&self, lane: u8) -> String {
        let lane = if lane == ANY { 64 } else { lane };
        let word = match lane {
            8 => "char",
            16 => "short",
            32 => "int",
            _ => "long long",
        };
        let places = [
            ("{n}", &*lane.to_string()),
            ("{m}", &*(128 / lane).to_string()),
            ("{w}", word),
            ("{t}", word_type(lane)),
            ("{s}", &word_type(lane)[1..]),
        ];
        let fill = |text: String, (place, value): (&str, &str)| text.replace(place, value);
        places.into_iter().fold(self.c.to_string(), fill)
    }
}

/// The smallest of 8, 16, 32, 64 that holds a word of `bits` bits.
pub fn word_lane(bits: u8) -> u8 {
    match bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// The unsigned C type of `lane` bits.
pub fn word_type(lane: u8) -> &'static str {
    match lane {
        8 => "uint8_t",
        16 => "uint16_t",
        32 => "uint32_t",
        _ => "uint64_t",
    }
}
