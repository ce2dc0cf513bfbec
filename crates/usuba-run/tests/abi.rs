//! The interface of the OCaml compiler: calls kernels behind it as its drivers do, and executes
//! every macro and function of its headers.

mod support;

use std::fmt::Write;

use support::{Case, STRICT, check_all, on_every_machine};
use usuba::emit::abi::usubac;
use usuba::emit::c::{COptions, Emitted};
use usuba::emit::layout;
use usuba::ir::build::Builder;
use usuba::ir::op::mask;
use usuba::ir::random::{self, Random, Shape};
use usuba::ir::{NodeId, Op, Pattern, Port, Program, Slicing};
use usuba::isa::{self, Layout, Target};
use usuba::passes::pipeline::run_pass;
use usuba::passes::{PassOptions, interleave};
use usuba_run::cc::{self, Family, Machine};
use usuba_run::native::{self, Kernel};

const INCLUDE: &str = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include/usubac");

fn flags() -> Vec<&'static str> {
    [STRICT, &[INCLUDE]].concat()
}

/// Calls `test` for each machine whose target the OCaml compiler has, with a header of macros.
fn on_every_header(mut test: impl FnMut(&'static Target, &Machine)) {
    on_every_machine(|target, machine| {
        if !target.original.is_empty() {
            test(target, machine);
        }
    });
}

/// A driver with one pointer for each array of the kernel, as [`native`] calls it, around a function
/// with the interface of the OCaml compiler, which has a parameter for each port.
fn driver(program: &Program, plain: &Emitted, wrapped: &Emitted) -> String {
    let (mut declared, mut before, mut after) = (Vec::new(), String::new(), String::new());
    let mut actual = Vec::new();
    let sets = |ports: &[Port]| {
        let size = ports[0].values(program.slicing);
        (0..ports.len()).map(move |set| (set, size, set * size))
    };
    for (i, (ports, text)) in program.params().into_iter().zip(&plain.params).enumerate() {
        declared.push(format!("const {} *p{i}", text.c_type));
        let array = !ports[0].value_dims(program.slicing).is_empty();
        for (set, n, from) in sets(ports) {
            let a = format!("a{i}_{set}");
            let _ = writeln!(before, "    DATATYPE {a}[{n}];");
            let _ =
                writeln!(before, "    for (int k = 0; k < {n}; k++) {a}[k] = p{i}[{from} + k];");
            actual.push(if array { format!("(void *){a}") } else { format!("*{a}") });
        }
    }
    for (i, (ports, text)) in program.results().into_iter().zip(&plain.results).enumerate() {
        declared.push(format!("{} *r{i}", text.c_type));
        for (set, n, from) in sets(ports) {
            let b = format!("b{i}_{set}");
            let _ = writeln!(before, "    DATATYPE {b}[{n}];");
            let _ = writeln!(after, "    for (int k = 0; k < {n}; k++) r{i}[{from} + k] = {b}[k];");
            actual.push(format!("(void *){b}"));
        }
    }
    let prototype = format!("void driver({})", declared.join(", "));
    let call = format!("    {}({});\n", wrapped.name, actual.join(", "));
    format!("{prototype};\n{prototype}\n{{\n{before}{call}{after}}}\n")
}

#[test]
fn kernels_behind_the_interface_compute_what_they_mean() {
    on_every_machine(|target, machine| {
        let mut cases = Vec::new();
        for shape in [Shape::WORDS, Shape::BITS, Shape::ROWS] {
            for seed in 40..43 {
                let mut program = random::program(seed, shape);
                let what = format!("seed {seed} {:?}", shape.slicing);
                if seed == 42 {
                    let interleave = interleave::Choice { factor: Some(2), grain: 1 };
                    let options = PassOptions { interleave, ..PassOptions::default() };
                    run_pass(&interleave::PASS, &mut program, &options);
                }
                // The linker sees the functions of all cases.
                let prefix = format!("{:?}{seed}_", shape.slicing);
                let options = COptions { prefix, ..COptions::default() };
                let wrapped = usubac(&program, target, &options);
                let plain = COptions { registers: true, ..COptions::default() };
                let case = Case::new(what, program, target, plain, 2, seed);
                let driver = driver(&case.program, &case.emitted, &wrapped);
                cases.push(calling(case, wrapped.text + &driver, "driver"));
            }
        }
        check_all(machine, &flags(), &cases);
    });
}

/// `node f (a:u16x4, k:const u16) returns (b:u16x4) let b = a ^ (k,k,k,k) tel`
fn keyed() -> Program {
    let mut build = Builder::new("f", Slicing::V);
    let a = build.param(Port::new("a", 16, &[4]));
    let k = build.param(Port::new("k", 16, &[]).constant());
    let outs = a.iter().map(|&v| build.op(Op::Xor, &[v, k[0]])).collect();
    let node = build.finish(vec![(Port::new("b", 16, &[4]), outs)]);
    Program::new(vec![node], NodeId(0), Slicing::V)
}

#[test]
fn a_driver_may_use_one_array_for_input_and_output() {
    let machine = cc::find("gp64").expect("a host compiler");
    let emitted = usubac(&keyed(), isa::find("gp64").expect("a target"), &COptions::default());
    let text = emitted.text
        + "void driver(const uint16_t *a, const uint16_t *k, uint16_t *b);\n\
           void driver(const uint16_t *a, const uint16_t *k, uint16_t *b)\n\
           {\n\
               DATATYPE state[4] = { a[0], a[1], a[2], a[3] };\n\
               f__(state, *k, state);\n\
               for (int i = 0; i < 4; i++) b[i] = state[i];\n\
           }\n";
    let bytes = |words: &[u16]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let kernel = Kernel {
        text,
        symbol: "driver".into(),
        align: 8,
        calls: vec![vec![bytes(&[1, 2, 0xffff, 0x8000]), bytes(&[0x0f0f])]],
        outputs: vec![8],
    };
    let outputs = native::run_one(&machine, &flags(), kernel).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outputs[0][0], bytes(&[0x0f0e, 0x0f0d, 0xf0f0, 0x8f0f]));
}

/// Drivers of `-bits-per-reg 8` have arrays of bytes with one bit of eight instances.
#[test]
fn bitsliced_words_may_be_narrower_than_registers() {
    let machine = cc::find("gp64").expect("a host compiler");
    let mut build = Builder::new("f", Slicing::B);
    let a = build.param(Port::new("a", 1, &[2]));
    let outs = vec![build.op(Op::And, &a), build.op(Op::Not, &a[..1])];
    let node = build.finish(vec![(Port::new("b", 1, &[2]), outs)]);
    let program = Program::new(vec![node], NodeId(0), Slicing::B);
    let target = isa::find("gp64").expect("a target");
    for bits in [8, 16] {
        let options = COptions { data_bits: Some(bits), ..COptions::default() };
        let emitted = usubac(&program, target, &options);
        assert_eq!(emitted.lanes, bits);
        assert!(emitted.text.contains(&format!("#define BITS_PER_REG {bits}\n")));
        let text = emitted.text
            + &format!(
                "void driver(const uint{bits}_t *a, uint{bits}_t *b);\n\
                 void driver(const uint{bits}_t *a, uint{bits}_t *b)\n\
                 {{\n    uint{bits}_t state[2] = {{ a[0], a[1] }};\n    f__(state, state);\n    \
                 b[0] = state[0];\n    b[1] = state[1];\n}}\n"
            );
        let bytes = |words: [u16; 2]| -> Vec<u8> {
            let bytes = words.map(|word| word.to_le_bytes()[..bits as usize / 8].to_vec());
            bytes.concat()
        };
        let kernel = Kernel {
            text,
            symbol: "driver".into(),
            align: 8,
            calls: vec![vec![bytes([0x81c3, 0x0f5a])]],
            outputs: vec![bits as usize / 4],
        };
        let outputs = native::run_one(&machine, &flags(), kernel).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(outputs[0][0], bytes([0x0142, 0x7e3c]), "{bits}");
    }
}

/// Every macro for words of `c` bits as a statement on `y[@]`, with the operator that it should
/// compute.
fn macros(slicing: Slicing, c: u8) -> Vec<(String, Op)> {
    let mut all = Vec::new();
    let mut add = |text: String, op: Op| all.push((text, op));
    for (name, op) in [("AND", Op::And), ("OR", Op::Or), ("XOR", Op::Xor), ("ANDN", Op::Andn)] {
        add(format!("{name}(x[0], x[1])"), op);
    }
    add("NOT(x[0])".into(), Op::Not);
    add("SET_ALL_ZERO()".into(), Op::Const(0));
    add("SET_ALL_ONE()".into(), Op::Const(mask(c)));
    add("x[1]; REFRESH(y[@], x[0])".into(), Op::Copy);
    add("x[1]; refresh(x[0], &y[@])".into(), Op::Copy);
    if slicing == Slicing::H {
        let turn: Vec<u8> = (0..c).map(|i| (i + 1) % c).collect();
        let mirror: Vec<u8> = (0..c).rev().collect();
        let spread: Vec<u8> = (0..c).map(|i| i * 5 / 2 % c).collect();
        for pattern in [turn, mirror, spread] {
            let list: Vec<String> = pattern.iter().map(u8::to_string).collect();
            let text = format!("PERMUT_{c}(x[0], {})", list.join(", "));
            add(text, Op::Shuffle(Pattern::from(pattern)));
        }
    }
    if slicing != Slicing::V {
        return all;
    }
    add(format!("ADD(x[0], x[1], {c})"), Op::Add);
    add(format!("SUB(x[0], x[1], {c})"), Op::Sub);
    add(format!("L_ROTATE(x[0], 0, {c})"), Op::Copy);
    add(format!("R_ROTATE(x[0], {c}, {c})"), Op::Copy);
    for n in (1..c).filter(|n| c <= 16 || [1, 7, 8, 16, 31, 33, 63].contains(n)) {
        add(format!("L_SHIFT(x[0], {n}, {c})"), Op::Shl(n));
        add(format!("R_SHIFT(x[0], {n}, {c})"), Op::Shr(n));
        add(format!("RA_SHIFT(x[0], {n}, {c})"), Op::Sar(n));
        add(format!("L_ROTATE(x[0], {n}, {c})"), Op::Rotl(n));
        add(format!("R_ROTATE(x[0], {n}, {c})"), Op::Rotl(c - n));
    }
    for n in [0, 1, c / 2, c - 1] {
        add(format!("BITMASK(x[0], {n}, {c})"), Op::Bitmask(n));
    }
    let value = 0x8123_4567_89ab_cdef & mask(c);
    add(format!("LIFT_{c}({value:#x}ULL)"), Op::Const(value));
    if c > 8 {
        let half = c / 2;
        add(format!("PACK_{half}x2_to_{c}(h[0], h[1])"), Op::Pack);
    }
    all
}

/// A program with the operator of each macro, and the C function with the macros.
fn macro_case(target: &'static Target, slicing: Slicing, c: u8) -> Case {
    let all = macros(slicing, c);
    let packs = all.iter().any(|(_, op)| *op == Op::Pack);
    let mut build = Builder::new("macros", slicing);
    let words = build.param(Port::new("x", c, &[2]));
    let halves = if packs { build.param(Port::new("h", c / 2, &[2])) } else { Vec::new() };
    let outs = all
        .iter()
        .map(|(_, op)| match op {
            Op::Const(value) => build.constant(c, *value),
            Op::Pack => build.op(Op::Pack, &halves),
            _ => build.op(op.clone(), &words[..op.arity()]),
        })
        .collect();
    let node = build.finish(vec![(Port::new("y", c, &[all.len() as u32]), outs)]);
    let program = Program::new(vec![node], NodeId(0), slicing);
    let words = layout(&program, target) == Layout::Words;
    let width = if words { c as u32 } else { target.bits };
    let calls = if words { 24 } else { 2 };
    let what = format!("macros {slicing:?}{c}");
    let case = Case::new(what, program, target, COptions::default(), calls, 8);
    let mut text = format!("#define BITS_PER_REG {width}\n#include \"{}\"\n", target.original);
    let half = match case.emitted.params.get(1) {
        Some(port) => format!("const {} *h, ", port.c_type),
        None => String::new(),
    };
    let symbol = format!("macros_{slicing:?}{c}");
    let prototype = format!("void {symbol}(const DATATYPE *x, {half}DATATYPE *y)");
    let _ = write!(text, "{prototype};\n{prototype}\n{{\n");
    for (i, (statement, _)) in all.iter().enumerate() {
        let _ = writeln!(text, "    y[{i}] = {};", statement.replace('@', &i.to_string()));
    }
    text.push_str("}\n");
    calling(case, text, &symbol)
}

fn macro_cases(target: &'static Target) -> Vec<Case> {
    let vertical = [8, 16, 32, 64].map(|c| macro_case(target, Slicing::V, c));
    let rows = [4, 16].map(|m| macro_case(target, Slicing::H, m));
    [macro_case(target, Slicing::B, 1)].into_iter().chain(vertical).chain(rows).collect()
}

#[test]
fn every_macro_computes_what_it_means() {
    on_every_header(|target, machine| check_all(machine, &flags(), &macro_cases(target)));
}

/// Transposes there and back: all of a register's width, then 64-bit blocks.
const TRANSPOSE: &str = "
void transpose(const uint64_t *in, DATATYPE *square, uint64_t *back, DATATYPE *flat, uint64_t *out);
void transpose(const uint64_t *in, DATATYPE *square, uint64_t *back, DATATYPE *flat, uint64_t *out)
{
    ORTHOGONALIZE(in, square);
    UNORTHOGONALIZE(square, back);
    TO_64(in, flat);
    FROM_64(flat, out);
}
";

/// A C file that transposes, and the sizes in registers of the square and the flat arrays.
fn transposer(target: &Target, register: u32, defines: &str) -> (String, usize, usize) {
    let (to, from) = if target.simd {
        (format!("orthogonalize_{register}x64"), format!("unorthogonalize_64x{register}"))
    } else {
        ("orthogonalize".to_string(), "unorthogonalize".to_string())
    };
    let text = format!(
        "{defines}#define BITS_PER_REG {register}\n#include \"{}\"\n#define TO_64 {to}\n\
         #define FROM_64 {from}\n{TRANSPOSE}",
        target.original
    );
    let square = if target.simd { register as usize } else { 64 };
    (text, square, 64)
}

/// The registers that `groups` 64-bit words of each instance become; word g of instance i is
/// `words[g * instances + i]`. Groups of 64 registers come in reverse. On vectors instance i is
/// bit i of the register from below, on general-purpose registers from above.
fn transposed(words: &[u64], instances: usize, groups: usize, from_below: bool) -> Vec<u8> {
    let mut bytes = vec![0; groups * 64 * instances / 8];
    for register in 0..groups * 64 {
        let group = groups - 1 - register / 64;
        for i in 0..instances {
            let bit = words[group * instances + i] >> (63 - register % 64) & 1;
            let at = if from_below { i } else { instances - 1 - i };
            bytes[register * instances / 8 + at / 8] |= (bit as u8) << (at % 8);
        }
    }
    bytes
}

#[test]
fn transpositions_place_bits_as_the_original() {
    let both = "#define RUNTIME\n#define ORTHO\n";
    on_every_header(|target, machine| {
        let widths: &[u32] = if target.simd { &[target.bits] } else { &[8, 16, 32, 64] };
        let mut kernels = Vec::new();
        let mut expected = Vec::new();
        for &register in widths {
            let instances = register as usize;
            let groups = if target.simd { instances / 64 } else { 1 };
            let mut random = Random::new(3);
            let words: Vec<u64> = (0..groups * instances).map(|_| random.word()).collect();
            let bytes = |words: &[u64]| words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let input: Vec<u8> = bytes(&words);
            let first: Vec<u8> = bytes(&words[..instances]);
            let (text, square, flat) = transposer(target, register, both);
            kernels.push(Kernel {
                text,
                symbol: "transpose".into(),
                align: 64,
                calls: vec![vec![input.clone()]],
                outputs: vec![
                    square * instances / 8,
                    input.len(),
                    flat * instances / 8,
                    first.len(),
                ],
            });
            expected.push([
                transposed(&words, instances, groups, target.simd),
                input,
                transposed(&words, instances, 1, target.simd),
                first,
            ]);
        }
        let answers = native::run(machine, &flags(), &kernels);
        for ((answer, expected), width) in answers.into_iter().zip(&expected).zip(widths) {
            let outputs = answer.unwrap_or_else(|failure| panic!("{machine}: {failure}"));
            for (i, (got, want)) in outputs[0].iter().zip(expected).enumerate() {
                assert_eq!(got, want, "{machine}: output {i} at {width} bits");
            }
        }
    });
}

/// Bit 63 - j % 64 of word j / 64 in row i is column j.
#[test]
fn squares_change_rows_with_columns() {
    on_every_header(|target, machine| {
        let width = if target.simd { target.bits as usize } else { 64 };
        let name = if target.simd { format!("_{width}x{width}") } else { String::new() };
        let header = target.original;
        let text = format!(
            "#define RUNTIME\n#define BITS_PER_REG {width}\n#include \"{header}\"\n\
             void square(const DATATYPE *in, DATATYPE *out);\n\
             void square(const DATATYPE *in, DATATYPE *out)\n\
             {{\n    for (int i = 0; i < {width}; i++) out[i] = in[i];\n    \
             real_ortho{name}(out);\n}}\n"
        );
        let mut random = Random::new(9);
        let of_row = width / 64;
        let rows: Vec<u64> = (0..width * of_row).map(|_| random.word()).collect();
        let mut columns = vec![0; rows.len()];
        for i in 0..width {
            for j in 0..width {
                let bit = rows[i * of_row + j / 64] >> (63 - j % 64) & 1;
                columns[j * of_row + i / 64] |= bit << (63 - i % 64);
            }
        }
        let bytes = |words: &[u64]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let kernel = Kernel {
            text,
            symbol: "square".into(),
            align: 64,
            calls: vec![vec![bytes(&rows)]],
            outputs: vec![rows.len() * 8],
        };
        let outputs = native::run_one(machine, &flags(), kernel)
            .unwrap_or_else(|failure| panic!("{machine}: {failure}"));
        assert_eq!(outputs[0][0], bytes(&columns), "{machine}");
    });
}

/// A driver may define the type before it includes the header.
#[test]
fn a_type_of_the_driver_stays() {
    let machine = cc::find("gp64").expect("a host compiler");
    let text = "#define BITS_PER_REG 32\n#define DATATYPE unsigned int\n#include \"STD.h\"\n\
                extern DATATYPE word;\nDATATYPE word = NOT(0);\n";
    native::compiles(&machine, &flags(), false, text).unwrap_or_else(|e| panic!("{e}"));
}

/// `orthogonalize` without ORTHO, for drivers that leave transposition out of the measurement.
#[test]
fn without_ortho_registers_are_copied() {
    const COPY: &str = "
void copy(const uint64_t *in, DATATYPE *registers, uint64_t *back);
void copy(const uint64_t *in, DATATYPE *registers, uint64_t *back)
{
    orthogonalize(in, registers);
    unorthogonalize(registers, back);
}
";
    on_every_header(|target, machine| {
        let width = if target.simd { target.bits } else { 64 };
        let header = target.original;
        let text =
            format!("#define RUNTIME\n#define BITS_PER_REG {width}\n#include \"{header}\"\n{COPY}");
        let bytes: Vec<u8> = (0..width * width / 8).map(|i| (i * 7 + i / 256) as u8).collect();
        let kernel = Kernel {
            text,
            symbol: "copy".into(),
            align: 64,
            calls: vec![vec![bytes.clone()]],
            outputs: vec![bytes.len(); 2],
        };
        let outputs = native::run_one(machine, &flags(), kernel)
            .unwrap_or_else(|failure| panic!("{machine}: {failure}"));
        assert!(outputs[0].iter().all(|got| *got == bytes), "{machine}");
    });
}

/// The macros, the functions of the headers, and a kernel: all of it on one page where the width
/// of the registers allows that, since most of the time goes into the headers of compilers.
fn pages(target: &'static Target) -> Vec<String> {
    let cases = macro_cases(target).into_iter().map(|case| case.emitted.text);
    let (transposer, ..) = transposer(target, target.bits, "#define RUNTIME\n#define ORTHO\n");
    let mut pages = vec![transposer];
    if target.simd {
        cases.for_each(|text| pages[0].push_str(&text));
    } else {
        pages.extend(cases);
    }
    pages.push(usubac(&keyed(), target, &COptions::default()).text);
    pages
}

#[test]
fn the_text_is_c_and_cxx_without_warnings() {
    on_every_header(|target, _| {
        for family in [Family::Gcc, Family::Clang] {
            let machine = match cc::find_with(target.name, family) {
                Ok(machine) => machine,
                Err(skip) => {
                    eprintln!("{skip}");
                    continue;
                }
            };
            let standards = [(false, "-std=c99"), (true, "-std=c++11")];
            for (cxx, standard) in
                standards.into_iter().filter(|(cxx, _)| !cxx || machine.has_cxx())
            {
                let flags = [&flags()[..], &[standard, "-O0"]].concat();
                for page in pages(target) {
                    if let Err(failure) = native::compiles(&machine, &flags, cxx, &page) {
                        panic!("{machine}, {standard}: {failure}\n{page}");
                    }
                }
            }
        }
    });
}

#[test]
fn masked_drivers_are_refused() {
    let machine = cc::find("gp64").expect("a host compiler");
    let text = "#define MASKING_ORDER 2\n#include \"STD.h\"\n";
    let failure = native::compiles(&machine, &flags(), false, text).expect_err("no masking");
    assert!(failure.to_string().contains("no masked operations"), "{failure}");
}

/// The same data for another C function with the same parameters.
fn calling(mut case: Case, text: String, symbol: &str) -> Case {
    case.emitted.text = text.clone();
    case.kernel.text = text;
    case.kernel.symbol = symbol.to_string();
    case
}
