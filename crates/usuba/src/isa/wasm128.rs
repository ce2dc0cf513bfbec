//! 128-bit registers of WebAssembly with its SIMD instructions.
//!
//! clang compiles `wasm_simd128.h`; an engine then compiles the module for its processor. Byte
//! shuffles give zero for an index outside of the register, and shifts exist for every lane.
//! WebAssembly promises no timing: engines map these instructions to single ones of current
//! processors, whose time does not depend on data.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Cross, Processor, Registers, Row, System, Target, Tool, inst};

pub static WASM128: Target = Target {
    name: "wasm128",
    aliases: &["wasm"],
    base: None,
    machine: None,
    bits: 128,
    regs: 16,
    simd: true,
    masks: false,
    header: "wasm_simd128.h",
    header_warnings: &[],
    cflags: &["-msimd128"],
    register: "v128_t",
    constraint: "r",
    original: "",
    processor: &WASM,
    registers: Some(&REGISTERS),
    rows: ROWS,
};

static WASM: Processor = Processor {
    name: "WebAssembly",
    hosts: &["wasm32"],
    guard: "__wasm_simd128__",
    library: false,
    asks: false,
    cross: Some(&Cross {
        compiler: Tool {
            about: "WebAssembly compiler",
            variable: "WASM_CC",
            names: &["clang-19", "clang", "clang-18", "clang-17"],
            packages: "clang-19/clang lld-19/lld wasi-libc \
                       libclang-rt-19-dev-wasm32/libclang-rt-dev-wasm32",
        },
        clang: true,
        // The stack of 64 KiB is too small for bitsliced kernels; below the data, it cannot grow
        // into them unseen. Where nothing is linked, clang would warn of the linker's flags.
        // Engines limit the locals of a function, and unoptimised code has one for each value: the
        // later level holds.
        cflags: &[
            "--target=wasm32-wasi",
            "-Xclang",
            "-O1",
            "-Wl,-z,stack-size=8388608,--stack-first",
            "-Qunused-arguments",
        ],
        emulator: Tool {
            about: "WebAssembly engine",
            variable: "NODE",
            names: &["node", "nodejs"],
            packages: "nodejs",
        },
        arguments: &["--no-warnings", "-e", RUN],
        system: System::Hosted,
    }),
    device: None,
};

/// Runs a module with the system interface of WASI.
const RUN: &str = "const { WASI } = require('wasi'); \
    const wasi = new WASI({ version: 'preview1', returnOnExit: true }); \
    WebAssembly.instantiate(require('fs').readFileSync(process.argv[1]), wasi.getImportObject()) \
        .then(({ instance }) => process.exit(wasi.start(instance)));";

static REGISTERS: Registers = Registers {
    load: "wasm_v128_load((const void *)({0}))",
    store: "wasm_v128_store((void *)({0}), {1})",
    gather: "",
    scatter: "",
    groups: ("", ""),
    select: "wasm_v128_bitselect({0}, {1}, {2})",
    lanes: [""; 4],
    zip: ("", ""),
    shuffle: "wasm_i8x16_swizzle({0}, {1})",
    bytes: "",
    equal: "wasm_i8x16_eq({0}, {1})",
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lanes          C                                                  timing
    inst(And,      ANY,          "wasm_v128_and({0}, {1})",                          Doit),
    inst(Or,       ANY,          "wasm_v128_or({0}, {1})",                           Doit),
    inst(Xor,      ANY,          "wasm_v128_xor({0}, {1})",                          Doit),
    inst(Andn,     ANY,          "wasm_v128_andnot({1}, {0})",                       Doit),
    inst(Not,      ANY,          "wasm_v128_not({0})",                               Doit),
    inst(Add,      ANY,          "wasm_i{n}x{m}_add({0}, {1})",                      Doit),
    inst(Sub,      ANY,          "wasm_i{n}x{m}_sub({0}, {1})",                      Doit),
    inst(Mul,      16 | 32 | 64, "wasm_i{n}x{m}_mul({0}, {1})",                      Doit),
    inst(MulWide,  64,           "wasm_i64x2_mul(wasm_v128_and({0}, wasm_i64x2_splat(0xffffffff)), wasm_v128_and({1}, wasm_i64x2_splat(0xffffffff)))", Doit),
    inst(Shl,      ANY,          "wasm_i{n}x{m}_shl({0}, {k})",                      Doit),
    inst(Shr,      ANY,          "wasm_u{n}x{m}_shr({0}, {k})",                      Doit),
    inst(Sar,      ANY,          "wasm_i{n}x{m}_shr({0}, {k})",                      Doit),
    inst(Bytes,    ANY,          "wasm_i8x16_swizzle({0}, wasm_u64x2_make({lo}, {hi}))", Doit),
    inst(Splat,    ANY,          "wasm_u{n}x{m}_splat((uint{n}_t){k})",              Doit),
    inst(ZipLow,   8,            "wasm_i8x16_shuffle({0}, {1}, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)", Doit),
    inst(ZipLow,   16,           "wasm_i16x8_shuffle({0}, {1}, 0, 8, 1, 9, 2, 10, 3, 11)", Doit),
    inst(ZipLow,   32,           "wasm_i32x4_shuffle({0}, {1}, 0, 4, 1, 5)",         Doit),
    inst(ZipLow,   64,           "wasm_i64x2_shuffle({0}, {1}, 0, 2)",               Doit),
    inst(ZipHigh,  8,            "wasm_i8x16_shuffle({0}, {1}, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)", Doit),
    inst(ZipHigh,  16,           "wasm_i16x8_shuffle({0}, {1}, 4, 12, 5, 13, 6, 14, 7, 15)", Doit),
    inst(ZipHigh,  32,           "wasm_i32x4_shuffle({0}, {1}, 2, 6, 3, 7)",         Doit),
    inst(ZipHigh,  64,           "wasm_i64x2_shuffle({0}, {1}, 1, 3)",               Doit),
    inst(Align,    ANY,          "wasm_i8x16_shuffle({0}, {1}, {k}, {k} + 1, {k} + 2, {k} + 3, {k} + 4, {k} + 5, {k} + 6, {k} + 7, {k} + 8, {k} + 9, {k} + 10, {k} + 11, {k} + 12, {k} + 13, {k} + 14, {k} + 15)", Doit),
    inst(Splat128, ANY,          "wasm_u64x2_make({lo}, {hi})",                      Doit),
];
