//! Functions that break each rule, their correct neighbours, and changed objects of kernels.
//!
//! ```text
//! f(x, k, y):  y[0] = x[1] ^ k[0];  y[1] = x[0] ^ k[1]        words of 32 bits
//! ```

use std::fmt::Write;

use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::syntax::splice::NoIncludes;
use usuba::{Output, isa};
use usuba_decode::riscv::decode;
use usuba_object::Rule;
use usuba_object::compare::{Demands, Verdict};
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::{arithmetic, by_machine};
use usuba_prove::byte_interface;
use usuba_prove::compiler::{self, Compiler};
use usuba_run::cc::{Family, Foreign};
use usuba_run::validated::{self, Proofs};

use super::{Assembly, machine, read};

const PROGRAM: &str = "node f (x: u<V>32x2, k: u<V>32x2) returns (y: u<V>32x2)\n\
     let y[0] = x[1] ^ k[0]; y[1] = x[0] ^ k[1] tel\n";

const RIGHT: &str = "lw a3, 4(a0); lw a4, 0(a1); xor a3, a3, a4; lw a5, 0(a0); lw a4, 4(a1); \
     xor a5, a5, a4; sw a3, 0(a2); sw a5, 4(a2); ret";

fn compiled(program: &str) -> Output {
    let mut sources = Sources::default();
    let root = sources.add("f.ua", program.to_string());
    let options = byte_interface::options(Slicing::V, isa::find("gp32").expect("a target"));
    validated::compiled(&mut sources, root, &mut NoIncludes, &options, Proofs::Always)
        .expect("right")
}

/// The object of functions f_0, f_1, ...; `None` without a compiler.
fn functions(bodies: &[String]) -> Option<Object> {
    let mut text = String::from(
        ".section .rodata\n.balign 4\ntable: .word 1, 2, 3\n.data\n.balign 4\nstate: .word 0\n.text\n",
    );
    for (at, body) in bodies.iter().enumerate() {
        let body = body.replace(';', "\n");
        let _ = writeln!(text, ".globl f_{at}\n.type f_{at}, @function\nf_{at}:\n{body}");
        let _ = writeln!(text, ".size f_{at}, . - f_{at}");
    }
    Some(read(&Assembly::new(&machine()?, &text).object()))
}

fn verdict(object: &Object, output: &Output, symbol: &str, demands: Demands) -> Verdict {
    let target = isa::find("gp32").expect("a target");
    let mut contract = compiler::contract(output, target).expect("a contract");
    contract.symbol = symbol.into();
    by_machine::prove(object, &contract, &output.program, demands)
}

#[test]
fn the_right_functions_are_proved() {
    let bodies: Vec<String> = [
        "",
        "addi sp, sp, -16; sw s0, 0(sp); lw s0, 0(a0); lw s0, 0(sp); addi sp, sp, 16;",
        "li t0, 7; 1: addi t0, t0, -1; bne t0, zero, 1b;",
        "addi t0, a0, 8; 1: addi a0, a0, 4; bltu a0, t0, 1b; addi a0, a0, -8;",
        "beq a0, zero, 1f; 1:",
        "lui t0, 0x80000; add t1, a0, t0; add t1, t1, t0; beq t1, a0, 1f; ecall; 1:",
        "la t0, table; lw t1, 8(t0); li t2, 3; bne t1, t2, 1f; 1:",
        "mv t0, ra; jal ra, 1f; j 2f; 1: ret; 2: mv ra, t0;",
        "mv t0, ra; call 1f; j 2f; 1: ret; 2: mv ra, t0;",
        "li t0, 100; li t1, 7; divu t0, t0, t1; li t1, 14; beq t0, t1, 1f; 1:",
        "addi sp, sp, -32; sw ra, 0(sp); sw a0, 4(sp); sw a1, 8(sp); sw a2, 12(sp); addi a0, sp, 16; \
         li a1, 0; li a2, 8; call memset; lw ra, 0(sp); lw a0, 4(sp); lw a1, 8(sp); lw a2, 12(sp); \
         addi sp, sp, 32;",
    ]
    .map(|before| format!("{before} {RIGHT}"))
    .into();
    let Some(object) = functions(&bodies) else { return };
    let output = compiled(PROGRAM);
    for (at, body) in bodies.iter().enumerate() {
        let answer = verdict(&object, &output, &format!("f_{at}"), Demands::default());
        assert!(matches!(answer, Verdict::Proved(_)), "{body}: {answer:?}");
    }
}

#[test]
fn functions_that_break_a_rule_are_refused() {
    let all: [(&str, Rule, &str); 28] = [
        ("lw t0, 0(a0); bne t0, zero, 1f; 1:", Rule::SecretBranch, "depends on an input"),
        ("lw t0, 0(a0); bltu t0, a0, 1f; 1:", Rule::SecretBranch, "data and an address depends"),
        (
            "lw t0, 0(a0); andi t0, t0, 4; add t0, a1, t0; lw t0, 0(t0);",
            Rule::SecretAddress,
            "input",
        ),
        ("addi t0, a0, 16; bltu a0, t0, 1f; 1:", Rule::Unsupported, "comparison of addresses"),
        ("lw t0, 0(a0); jalr ra, 0(t0);", Rule::SecretBranch, "target of the jump"),
        ("lw t0, 0(a0); sll t0, t0, t0;", Rule::SecretShift, "count of a shift"),
        ("lw t0, 0(a0); li t1, 3; remu t0, t0, t1;", Rule::SecretOperand, "time"),
        ("lw t0, 8(a0);", Rule::OutOfBounds, "not inside of"),
        ("lw t0, -4(a1);", Rule::OutOfBounds, "not inside of"),
        ("lw t0, 2(a0);", Rule::Misaligned, "multiple of 4"),
        ("lhu t0, 1(a0);", Rule::Misaligned, "multiple of 2"),
        ("sw zero, 0(a0);", Rule::ReadOnly, "only read"),
        ("la t0, table; sw zero, 0(t0);", Rule::OutOfBounds, "object itself"),
        ("la t0, state; lbu t0, 0(t0);", Rule::OutOfBounds, "no constants"),
        ("la t0, table; lw t0, 12(t0);", Rule::OutOfBounds, "no constants"),
        ("li t0, 4096; lw t0, 0(t0);", Rule::OutOfBounds, "number is used as an address"),
        ("sw a3, -4(sp);", Rule::OutOfBounds, "below the frame"),
        ("lw t0, 0(sp);", Rule::OutOfBounds, "caller's frame"),
        ("addi sp, sp, 16; addi sp, sp, -16;", Rule::NotRestored, "frame of the caller"),
        ("addi sp, sp, -16;", Rule::NotRestored, "off at return"),
        ("mv sp, a0;", Rule::NotRestored, "not in the frame"),
        ("li s3, 1;", Rule::NotRestored, "s3 is not restored"),
        ("addi gp, gp, 1;", Rule::NotRestored, "gp is not restored"),
        ("addi ra, ra, 4;", Rule::Unsupported, "data"),
        ("call memset;", Rule::Unsupported, "the count is not known"),
        ("call elsewhere;", Rule::Unsupported, "elsewhere"),
        // The callee has the register of the return address.
        (
            "addi sp, sp, -32; sw a0, 4(sp); sw a1, 8(sp); sw a2, 12(sp); addi a0, sp, 16; li a1, 0; \
             li a2, 8; call memset; lw a0, 4(sp); lw a1, 8(sp); lw a2, 12(sp); addi sp, sp, 32;",
            Rule::Unsupported,
            "a jump to an address that is data",
        ),
        ("lui t0, %hi(table); lw t1, %lo(table+4)(t0);", Rule::Unsupported, "two places"),
    ];
    let bodies: Vec<String> = all.iter().map(|(before, ..)| format!("{before} {RIGHT}")).collect();
    let Some(object) = functions(&bodies) else { return };
    let output = compiled(PROGRAM);
    for (at, (before, rule, words)) in all.iter().enumerate() {
        match verdict(&object, &output, &format!("f_{at}"), Demands::default()) {
            Verdict::Refused(fault) => {
                let text = fault.to_string();
                assert!(fault.rule == *rule && text.contains(words), "{before}: {text}");
            }
            other => panic!("{before}: {other:?}"),
        }
    }
    // Each other instruction, and a loop without end, is not known.
    let other = [
        "fence; ",
        "ecall; ",
        "csrr t0, cycle; ",
        "lr.w t0, (a0); ",
        ".half 0; ",
        ".half 0x9ffd; ",
        "1: j 1b; ",
    ];
    let bodies = other.map(|before| format!(".option arch, +a, +zicsr; {before} {RIGHT}"));
    let object = functions(&bodies).expect("it was there before");
    for (at, body) in bodies.iter().enumerate() {
        let answer = verdict(&object, &output, &format!("f_{at}"), Demands::default());
        let refused = match &answer {
            Verdict::Refused(fault) => fault.rule == Rule::Unsupported,
            other => matches!(other, Verdict::Unknown(why) if why.contains("does not return")),
        };
        assert!(refused, "{body}: {answer:?}");
    }
}

/// Words of 64 bits in pairs of registers, with comparisons whose differences are one of their
/// operands, or undo a sum.
#[test]
fn sums_of_pairs_are_found() {
    let program = "node f (x: u<V>64x2, k: u<V>64x2) returns (y: u<V>64x2)\n\
         let y[0] = (x[0] + x[1]) + k[0] + 0x123456789abcdef0; y[1] = (x[0] - k[1]) - x[1] tel\n";
    let load = "lw a3, 0(a0); lw a4, 4(a0); lw a5, 8(a0); lw a6, 12(a0); lw t0, 0(a1); \
         lw t1, 4(a1); lw t2, 8(a1); lw t3, 12(a1);";
    // Both carries after all upper halves, and the borrows before the differences.
    let rest = "add t4, a3, a5; sltu a7, t4, a3; add t5, t4, t0; sltu t6, t5, t0; add a0, a4, a6; \
         add a0, a0, t1; add a7, a7, t6; li t6, 0x9abcdef0; add t5, t5, t6; sltu t6, t5, t6; \
         add a7, a7, t6; li t6, 0x12345678; add t6, t6, a7; add a0, a0, t6; sw t5, 0(a2); \
         sw a0, 4(a2); \
         sltu a7, a3, t2; sub a3, a3, t2; sltu t6, a3, a5; sub a3, a3, a5; sub a4, a4, t3; \
         sub a4, a4, a7; sub a4, a4, a6; sub a4, a4, t6; sw a3, 8(a2); sw a4, 12(a2); ret";
    let bodies: Vec<String> = [
        "",
        "sltu a7, a3, zero; sltu a7, zero, a3; li t4, 0; sub t5, a3, t4; sltu t6, a3, t4;",
        "add t4, a3, t0; sub t5, t4, t0; sltu a7, t4, t0; sub t6, t5, a7; add t6, t6, a7;",
    ]
    .map(|between| format!("{load} {between} {rest}"))
    .into();
    let wrong = bodies[0].replacen("add a7, a7, t6", "mv a7, a7", 1);
    // The upper half of the number comes after the carries.
    let late =
        bodies[0].replace("add t6, t6, a7; add a0, a0, t6", "add a0, a0, a7; add a0, a0, t6");
    assert!(late != bodies[0] && wrong != bodies[0]);
    let Some(object) = functions(&[bodies, vec![late, wrong]].concat()) else { return };
    let output = compiled(program);
    for at in 0..4 {
        let answer = verdict(&object, &output, &format!("f_{at}"), Demands::default());
        assert!(matches!(answer, Verdict::Proved(_)), "{at}: {answer:?}");
    }
    let answer = verdict(&object, &output, "f_4", Demands::default());
    assert!(matches!(answer, Verdict::Refuted(_)), "{answer:?}");
}

/// A wrong result is refuted with an input, and secrets that stay are found.
#[test]
fn wrong_functions_are_refuted() {
    let wrong = RIGHT.replacen("xor a3, a3, a4", "or a3, a3, a4", 1);
    let left = format!("addi sp, sp, -16; lw t0, 0(a0); sw t0, 0(sp); addi sp, sp, 16; {RIGHT}");
    let Some(object) = functions(&[wrong, left]) else { return };
    let output = compiled(PROGRAM);
    let answer = verdict(&object, &output, "f_0", Demands::default());
    assert!(matches!(answer, Verdict::Refuted(_)), "{answer:?}");
    assert!(matches!(verdict(&object, &output, "f_1", Demands::default()), Verdict::Proved(_)));
    let answer = verdict(&object, &output, "f_1", Demands { wiped: true });
    assert!(matches!(&answer, Verdict::Refused(fault) if fault.rule == Rule::Left), "{answer:?}");
}

/// Files that are no objects of this model are refused: with instructions that the linker replaces,
/// for half of the registers, for 64 bits, and damaged ones.
#[test]
fn other_files_are_refused() {
    let Some(machine) = machine() else { return };
    let text = ".globl f_0\n.type f_0, @function\nf_0: lla t0, f_0\nret\n";
    let assembly = Assembly::new(&machine, text);
    let object = |flags: &[&str]| {
        let to = assembly.path("other.o");
        let mut command = assembly.machine.compile();
        command.args(flags).arg("-c").arg(assembly.path("cases.s")).arg("-o").arg(&to);
        usuba_run::cc::run(&mut command).expect("it assembles");
        std::fs::read(to).expect("it has been written")
    };
    let output = compiled(PROGRAM);
    let relaxed = read(&object(&["-mrelax"]));
    let answer = verdict(&relaxed, &output, "f_0", Demands::default());
    assert!(format!("{answer:?}").contains("-mno-relax"), "{answer:?}");
    let why = |file: &[u8]| Object::read_any(file, Extensions::ALL).expect_err("another file");
    assert!(why(&object(&["-march=rv32e", "-mabi=ilp32e"])).contains("RV32E"));
    assert!(why(&object(&["-march=rv64im", "-mabi=lp64"])).contains("Riscv64"));
    let file = object(&["-mno-relax"]);
    let why = Object::read(&file, Extensions::ALL).expect_err("no x86-64");
    assert!(why.contains("x86-64"), "{why}");
    for end in 0..file.len() {
        let _ = Object::read_any(&file[..end], Extensions::ALL);
        let mut changed = file.clone();
        changed[end] ^= 0xff;
        let _ = Object::read_any(&changed, Extensions::ALL);
    }
}

/// In a static executable addresses are numbers: of constants, of functions, and elsewhere.
#[test]
fn functions_of_linked_files_are_proved() {
    let Some(machine) = machine() else { return };
    let all = [
        ("la t0, table; lw t1, 8(t0); li t2, 3; bne t1, t2, 1f; 1:", ""),
        ("lui t0, %hi(table); lw t1, %lo(table+4)(t0);", ""),
        ("1: auipc t0, %pcrel_hi(table); lw t1, %pcrel_lo(1b)(t0);", ""),
        ("addi sp, sp, -16; sw ra, 0(sp); call clear; lw ra, 0(sp); addi sp, sp, 16;", ""),
        (
            "addi sp, sp, -16; sw ra, 0(sp); la t0, clear; jalr t0; lw ra, 0(sp); addi sp, sp, 16;",
            "",
        ),
        ("la t0, table; lw t1, 12(t0);", "no constants"),
        ("la t0, table; sw zero, 0(t0);", "object itself"),
        ("la t0, state; lw t1, 0(t0);", "no constants"),
        ("li t0, 64; lw t1, 0(t0);", "number is used as an address"),
        ("la t0, table; jr t0;", "can be decoded"),
    ];
    let mut text = String::from(
        ".globl _start\n_start: ecall\n.type clear, @function\nclear: li t0, 0\nret\n\
         .section .rodata\n.balign 4\ntable: .word 1, 2, 3\n.data\n.balign 4\nstate: .word 0\n.text\n",
    );
    for (at, (before, _)) in all.iter().enumerate() {
        let body = format!("{before} {RIGHT}").replace(';', "\n");
        let _ = writeln!(text, ".globl f_{at}\n.type f_{at}, @function\nf_{at}:\n{body}");
    }
    let assembly = Assembly::new(&machine, &text);
    let program = assembly.path("program");
    let mut link = assembly.machine.compile();
    usuba_run::cc::run(link.arg(assembly.path("cases.s")).arg("-o").arg(&program))
        .expect("it links");
    let file = std::fs::read(program).expect("it has been written");
    let (object, output) = (read(&file), compiled(PROGRAM));
    for (at, (before, words)) in all.iter().enumerate() {
        let answer = verdict(&object, &output, &format!("f_{at}"), Demands::default());
        match (words.is_empty(), &answer) {
            (true, Verdict::Proved(_)) => {}
            (false, Verdict::Refused(fault)) if fault.to_string().contains(words) => {}
            _ => panic!("{before}: {answer:?}"),
        }
    }
    for end in (0..file.len()).step_by(7) {
        let _ = Object::read_any(&file[..end], Extensions::ALL);
        let mut changed = file.clone();
        changed[end] ^= 0xff;
        let _ = Object::read_any(&changed, Extensions::ALL);
    }
}

/// Kernels with each bit of some instructions flipped: one that is proved has another code for the
/// same instruction, or one that makes no difference to any result.
#[test]
fn no_wrong_mutant_is_proved() {
    let target = isa::find("gp32").expect("a target");
    let program = "node f (x: u<V>32x2, k: u<V>32x2) returns (y: u<V>32x2)\n\
         let y[0] = (x[0] + k[0]) ^ (x[1] <<< 5); y[1] = (k[1] & ~x[0]) + y[0] tel\n";
    let output = compiled(program);
    let mut proved = Vec::new();
    let mut mutants = 0;
    for family in [Family::Gcc, Family::Clang] {
        let compiler = match Compiler::find_foreign(target, Foreign::Riscv, family) {
            Ok(compiler) => compiler,
            Err(skip) => {
                println!("{skip}");
                continue;
            }
        };
        let file = compiler.object(&output.kernel.text, "c", &["-march=rv32imc"]).expect("right");
        let object = read(&file);
        let symbol = output.kernel.name.clone();
        let answer = verdict(&object, &output, &symbol, Demands::default());
        assert!(matches!(answer, Verdict::Proved(_)), "{}: {answer:?}", compiler.name);
        let place = object.function(&symbol).expect("it is there");
        let section: Vec<u8> = object.code(place, 4096).to_vec();
        let at = file.windows(section.len()).position(|window| window == section).expect("code");
        let contract = compiler::contract(&output, target).expect("a contract");
        for bit in 0..8 * section.len() {
            let mut changed = file.clone();
            changed[at + bit / 8] ^= 1 << (bit % 8);
            let mutant = read(&changed);
            mutants += 1;
            let answer =
                by_machine::examine(&mutant, &contract, &output.program, Demands::default());
            let run = arithmetic::differs::<usuba_object::riscv::Riscv>;
            if matches!(answer, Verdict::Proved(_)) {
                let differs = run(&mutant, &contract, &output.program, &[]);
                assert!(differs.is_none(), "bit {bit} by {}: {differs:?}", compiler.name);
                let text = decode(&changed[at + bit / 16 * 2..]).map(|(i, _)| i.to_string());
                proved.push(format!("{bit}: {text:?}"));
            }
        }
    }
    assert!(proved.len() * 20 <= mutants, "{} of {mutants}: {proved:#?}", proved.len());
}
