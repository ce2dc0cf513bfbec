//! The table of calibrated instructions: one row for each measurement.
//!
//! ```text
//! Row { group: "rotation", file: Zmm, text: "vprold $7,{a},{d}", figure: Of(Rotl, 32), … }
//! ```
//!
//! A row is written in the syntax of the GNU assembler, the destination last. Instruction i of a
//! stream has these operands, where the registers of the stream are numbered 0 to n - 1 in a circle:
//!
//! - `{d}`: the destination, register i; `{a}`: the same register as a source; `{l}`: its low byte.
//! - `{p}`: register i - 1; `{o}`: register i + 1, the oldest; `{x}`, `{y}`: registers i + 7, i + 17.
//! - `{b}`, `{c}`: registers that keep their values, `{b}` always the same one.
//! - `{m}`: one of sixteen places in memory, of the size of a register; `{w}`: one of 32 bits.
//! - `{0}`: the first place in memory.
//!
//! In a dependent chain every instruction has register 0 as `{d}` and `{a}`, or the registers of a
//! stream if the chain names `{p}`, and `{x}` and `{y}` are `{b}`.

use usuba::isa::Inst::{self, *};
use usuba::isa::cpu::Unit;

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum File {
    General,
    Xmm,
    Ymm,
    Zmm,
}

use File::{General, Xmm, Ymm, Zmm};

impl File {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            General => "general",
            Xmm => "128",
            Ymm => "256",
            Zmm => "512",
        }
    }

    /// The target with these registers.
    pub fn target(self) -> &'static str {
        match self {
            General => "gp64",
            Xmm => "sse",
            Ymm => "avx2",
            Zmm => "avx512",
        }
    }

    /// The features that all rows of the file need, as C compilers name them.
    pub fn needs(self) -> &'static [&'static str] {
        match self {
            General => &[],
            Xmm | Ymm => &["avx2"],
            Zmm => &["avx512f", "avx512bw", "avx512dq"],
        }
    }
}

/// The figure of a model that a row is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// Latency and ports of an instruction on lanes of these bits.
    Of(Inst, u8),
    Loads,
    Broadcasts,
    Stores,
    Forward,
    Copies,
    /// Functions of three bits, by the number of recent operands.
    Ternary(usize),
    /// Instructions that begin in a cycle: each one of the row counts.
    Issue,
    Nothing,
}

impl Known {
    /// Cycles of latency and instructions per cycle in the model.
    pub fn in_model(self, unit: &Unit) -> (Option<f64>, Option<f64>) {
        let of_ten = |count: u32| (count > 0).then(|| f64::from(count) / 10.0);
        match self {
            Known::Of(inst, lane) => unit.figure(inst, lane).map_or((None, None), |figure| {
                let rate = f64::from(figure.ports.count_ones()) / f64::from(figure.uops);
                (Some(f64::from(figure.latency)), Some(rate.min(f64::from(unit.issue))))
            }),
            Known::Loads => (None, of_ten(unit.loads)),
            Known::Broadcasts => (None, of_ten(unit.broadcasts)),
            Known::Stores => (None, of_ten(unit.stores)),
            Known::Copies => (None, of_ten(unit.copies)),
            Known::Ternary(recent) => (None, of_ten(unit.ternary[recent - 1])),
            Known::Forward => ((unit.forward > 0).then_some(f64::from(unit.forward)), None),
            Known::Issue => (None, Some(f64::from(unit.issue))),
            Known::Nothing => (None, None),
        }
    }
}

/// One row: a dependent chain, a stream of independent instructions, or both.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub group: &'static str,
    pub file: File,
    /// The instructions of the chain; empty for none. They count as one.
    pub chain: &'static str,
    /// The instructions of the stream; empty for none.
    pub stream: &'static str,
    /// A feature that the file does not need, as C compilers name it; empty for none.
    pub needs: &'static str,
    pub figure: Known,
}

impl Row {
    /// Whether both are the same row.
    pub fn is(&self, other: &Row) -> bool {
        self.group == other.group && self.file == other.file
    }

    /// The instructions that the stream counts for each of its repetitions.
    pub fn counted(&self) -> usize {
        if self.figure == Known::Issue { self.stream.split("; ").count() } else { 1 }
    }

    /// The mnemonics, without operands.
    pub fn mnemonics(&self) -> String {
        let text = if self.stream.is_empty() { self.chain } else { self.stream };
        let names = text.split("; ").filter_map(|line| line.split(' ').next());
        names.collect::<Vec<_>>().join(" + ")
    }

    /// The missing features of this row, if `has` tells which ones exist.
    pub fn missing(&self, has: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let all = self.file.needs().iter().copied().chain([self.needs]);
        all.filter(|feature| !feature.is_empty() && !has(feature)).collect()
    }
}

/// Every row, in the order of the table.
pub fn all() -> Vec<Row> {
    let mut rows = GENERAL_ROWS.to_vec();
    for file in [Xmm, Ymm, Zmm] {
        for op in VECTOR_OPS {
            let text = if file == Zmm { op.evex } else { op.vex };
            // Permutations of one group of 128 bits are shuffles.
            if text.is_empty() || file == Xmm && op.across {
                continue;
            }
            let Op { group, needs, figure, .. } = *op;
            // AVX comes with products of 128 bits.
            let needs = if file == Xmm && needs == "vpclmulqdq" { "pclmul" } else { needs };
            rows.push(Row { group, file, chain: text, stream: text, needs, figure });
        }
        rows.extend(MEMORY_ROWS.iter().filter(|row| row.file == file));
    }
    rows
}

/// An instruction of general-purpose registers.
const fn general(group: &'static str, text: &'static str, inst: Inst) -> Row {
    let figure = Known::Of(inst, 64);
    Row { group, file: General, chain: text, stream: text, needs: "", figure }
}

#[rustfmt::skip] // One row, one line.
const GENERAL_ROWS: &[Row] = &[
    general("logic",      "xor {b},{d}",           Xor),
    general("sum",        "add {b},{d}",           Add),
    Row { needs: "bmi", ..general("and with complement", "andn {b},{a},{d}", Andn) },
    general("shift",      "shl $7,{d}",            Shl),
    general("rotation",   "rol $7,{d}",            Rotl),
    general("comparison", "cmp {b},{d}; setb {l}", Less),
    general("product",    "imul {b},{d}",          Mul),
    Row { chain: "mulx {b},%r15,%rdx", stream: "mulx {b},%r15,{d}", needs: "bmi2",
          ..general("upper half of a product", "", MulHigh) },
    Row { chain: "mov (%rdi),%rdi", stream: "mov {m},{d}", figure: Known::Loads,
          ..general("load", "", And) },
    Row { chain: "", stream: "mov {d},{m}", figure: Known::Stores, ..general("store", "", And) },
    Row { chain: "mov {d},{0}; mov {0},{d}", figure: Known::Forward,
          ..general("store and load", "", And) },
    Row { chain: "mov {p},{d}", stream: "mov {o},{d}", figure: Known::Copies,
          ..general("copy", "", And) },
    Row { chain: "", stream: "add {b},{d}; mov {m},%rdx; mov {b},%r15; cmp {b},{d}", figure: Known::Issue,
          ..general("mixed", "", And) },
];

/// An instruction of vector registers, in both encodings.
struct Op {
    group: &'static str,
    /// Its text for 128 and 256 bits; empty if there is none.
    vex: &'static str,
    /// Its text for 512 bits; empty if there is none.
    evex: &'static str,
    needs: &'static str,
    /// Whether it moves data across groups of 128 bits.
    across: bool,
    figure: Known,
}

/// An instruction of AVX2 and AVX-512.
const fn op(
    group: &'static str,
    vex: &'static str,
    evex: &'static str,
    inst: Inst,
    lane: u8,
) -> Op {
    Op { group, vex, evex, needs: "", across: false, figure: Known::Of(inst, lane) }
}

/// An instruction with the same text in both encodings.
const fn both(group: &'static str, text: &'static str, inst: Inst, lane: u8) -> Op {
    op(group, text, text, inst, lane)
}

#[rustfmt::skip] // One row, one line.
const VECTOR_OPS: &[Op] = &[
    op("logic", "vpxor {b},{a},{d}", "vpxord {b},{a},{d}", Xor, 32),
    both("sum",              "vpaddd {b},{a},{d}",  Add,      32),
    both("shift",            "vpslld $7,{a},{d}",   Shl,      32),
    both("shift by lanes",   "vpsllvd {b},{a},{d}", ShlEach,  32),
    op("rotation", "",       "vprold $7,{a},{d}",   Rotl,     32),
    op("rotation by lanes", "", "vprolvd {b},{a},{d}", RotlEach, 32),
    Op { needs: "avx512vbmi2", ..op("rotation of 16 bits", "", "vpshldw $7,{a},{a},{d}", Rotl, 16) },
    both("byte shuffle",     "vpshufb {b},{a},{d}", Bytes,    8),
    both("byte alignment",   "vpalignr $4,{b},{a},{d}", Align, 8),
    both("word shuffle",     "vpshufd $27,{a},{d}", Quads,    32),
    both("zip",              "vpunpckldq {b},{a},{d}", ZipLow, 32),
    op("blend", "vpblendd $5,{b},{a},{d}", "vpblendmd {b},{a},{d}{{%k1}}", Blend, 32),
    Op { across: true, ..both("permutation of quarters", "vpermq $27,{a},{d}", Quads, 64) },
    Op { across: true, ..both("permutation", "vpermd {a},{b},{d}", Permute, 32) },
    op("permutation of two", "", "vpermt2d {c},{b},{d}", Permute2, 32),
    op("comparison with zero", "vpcmpgtb {a},{b},{d}", "vpmovb2m {a},%k2; vpmovm2b %k2,{d}", Negative, 8),
    op("equality", "vpcmpeqb {b},{a},{d}", "vpcmpeqb {b},{a},%k2; vpmovm2b %k2,{d}", Equal, 8),
    both("product of 16 bits", "vpmullw {b},{a},{d}", Mul, 16),
    both("product of 32 bits", "vpmulld {b},{a},{d}", Mul, 32),
    op("product of 64 bits", "", "vpmullq {b},{a},{d}", Mul, 64),
    both("product to 64 bits", "vpmuludq {b},{a},{d}", MulWide, 64),
    Op { needs: "avx512ifma", ..op("product of 52 bits", "", "vpmadd52luq {b},{a},{d}", MulAdd52, 64) },
    Op { needs: "gfni", ..both("affine map", "vgf2p8affineqb $0,{b},{a},{d}", Affine, 8) },
    Op { needs: "gfni", ..both("affine map of an inverse", "vgf2p8affineinvqb $0,{b},{a},{d}", AffineInverse, 8) },
    Op { needs: "vpclmulqdq", ..both("carry-less product", "vpclmulqdq $0,{b},{a},{d}", ClmulEven, 64) },
];

/// A stream of vector instructions.
const fn stream(group: &'static str, file: File, stream: &'static str, figure: Known) -> Row {
    Row { group, file, chain: "", stream, needs: "", figure }
}

/// A chain of vector instructions.
const fn chain(group: &'static str, file: File, chain: &'static str, figure: Known) -> Row {
    Row { group, file, chain, stream: "", needs: "", figure }
}

/// A stream of ternary logic; recent instructions computed `recent` of the operands.
const fn ternary(group: &'static str, stream: &'static str, recent: usize) -> Row {
    Row { group, file: Zmm, chain: "", stream, needs: "", figure: Known::Ternary(recent) }
}

#[rustfmt::skip] // One row, one line.
const MEMORY_ROWS: &[Row] = &[
    stream("load",           Xmm, "vmovdqa {m},{d}",                   Known::Loads),
    stream("load",           Ymm, "vmovdqa {m},{d}",                   Known::Loads),
    stream("load",           Zmm, "vmovdqa64 {m},{d}",                 Known::Loads),
    stream("logic with a load", Ymm, "vpxor {m},{a},{d}",              Known::Loads),
    stream("logic with a load", Zmm, "vpxord {m},{a},{d}",             Known::Loads),
    stream("broadcast load", Xmm, "vpbroadcastd {w},{d}",              Known::Broadcasts),
    stream("broadcast load", Ymm, "vpbroadcastd {w},{d}",              Known::Broadcasts),
    stream("broadcast load", Zmm, "vpbroadcastd {w},{d}",              Known::Broadcasts),
    stream("logic with a broadcast", Zmm, "vpxord {w}{{1to16}},{a},{d}", Known::Broadcasts),
    stream("store",          Xmm, "vmovdqa {d},{m}",                   Known::Stores),
    stream("store",          Ymm, "vmovdqa {d},{m}",                   Known::Stores),
    stream("store",          Zmm, "vmovdqa64 {d},{m}",                 Known::Stores),
    chain("store and load",  Xmm, "vmovdqa {d},{0}; vmovdqa {0},{d}",  Known::Forward),
    chain("store and load",  Ymm, "vmovdqa {d},{0}; vmovdqa {0},{d}",  Known::Forward),
    chain("store and load",  Zmm, "vmovdqa64 {d},{0}; vmovdqa64 {0},{d}", Known::Forward),
    Row { chain: "vmovdqa {p},{d}", ..stream("copy", Xmm, "vmovdqa {o},{d}", Known::Copies) },
    Row { chain: "vmovdqa {p},{d}", ..stream("copy", Ymm, "vmovdqa {o},{d}", Known::Copies) },
    Row { chain: "vmovdqa64 {p},{d}", ..stream("copy", Zmm, "vmovdqa64 {o},{d}", Known::Copies) },
    stream("mixed", Ymm, "vpxor {b},{c},{d}; vmovdqa {m},{x}; vpaddd {b},{c},{y}; vmovdqa {c},{o}", Known::Issue),
    stream("mixed", Zmm, "vpxord {b},{c},{d}; vmovdqa64 {c},{x}; vmovdqa64 {b},{y}", Known::Issue),
    Row { needs: "avx512vl", ..stream("ternary logic, one recent operand",    Ymm, "vpternlogd $150,{c},{b},{d}", Known::Nothing) },
    Row { needs: "avx512vl", ..stream("ternary logic, two recent operands",   Ymm, "vpternlogd $150,{c},{x},{d}", Known::Nothing) },
    Row { needs: "avx512vl", ..stream("ternary logic, three recent operands", Ymm, "vpternlogd $150,{y},{x},{d}", Known::Nothing) },
    chain("ternary logic",   Zmm, "vpternlogd $150,{y},{x},{d}",       Known::Of(Lut3, 32)),
    ternary("ternary logic, one recent operand",    "vpternlogd $150,{c},{b},{d}", 1),
    ternary("ternary logic, two recent operands",   "vpternlogd $150,{c},{x},{d}", 2),
    ternary("ternary logic, three recent operands", "vpternlogd $150,{y},{x},{d}", 3),
    stream("copy and ternary logic",  Zmm, "vmovdqa64 {o},{d}; vpternlogd $150,{y},{x},{d}", Known::Nothing),
    stream("logic and ternary logic", Zmm, "vpxord {y},{x},{d}; vpternlogd $150,{y},{x},{d}", Known::Nothing),
];

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::isa::{self, Target};

    #[test]
    fn every_row_has_a_measurement_and_a_name_of_its_own() {
        let rows = all();
        for (at, row) in rows.iter().enumerate() {
            assert!(!row.chain.is_empty() || !row.stream.is_empty(), "{row:?}");
            assert!(!rows[at + 1..].iter().any(|other| other.is(row)), "{row:?}");
        }
        for file in [General, Xmm, Ymm, Zmm] {
            let groups = ["logic", "load", "store", "store and load", "copy"];
            let has = |group| rows.iter().any(|row| row.file == file && row.group == group);
            assert!(groups.into_iter().all(has), "{file:?}");
        }
    }

    /// Every figure of a model of an x86 processor has a row that measures it.
    #[test]
    fn figures_of_models_are_measured() {
        let rows = all();
        for cpu in usuba::isa::cpu::ALL.iter().filter(|cpu| !cpu.machines.is_empty()) {
            for unit in cpu.units {
                let here = |row: &&Row| unit.targets.contains(&row.file.target());
                let measured = |inst: Inst| {
                    rows.iter().filter(here).any(|row| match row.figure {
                        Known::Of(other, lane) => {
                            unit.figure(other, lane) == unit.figure(inst, lane)
                        }
                        _ => false,
                    })
                };
                // A list may serve two units, of which one has no such instruction.
                let targets = || isa::all().chain(isa::NARROW.iter().copied());
                let exists = |inst: Inst| {
                    let of_unit = |target: &&Target| unit.targets.contains(&target.family());
                    let has = |target: &Target| target.all_rows().any(|row| row.inst == inst);
                    targets().filter(of_unit).any(has)
                };
                for inst in unit.figures.iter().flat_map(|figure| figure.insts) {
                    let fine = measured(*inst) || !exists(*inst);
                    assert!(fine, "{}: {inst:?} of {:?}", cpu.name, unit.targets);
                }
            }
        }
    }

    #[test]
    fn missing_features_are_named() {
        let rows = all();
        let affine = rows.iter().find(|row| row.group == "affine map").expect("it is listed");
        assert_eq!(affine.mnemonics(), "vgf2p8affineqb");
        assert_eq!(affine.missing(|feature| feature == "avx2"), ["gfni"]);
        assert_eq!(rows[0].missing(|_| false), [""; 0]);
    }
}
