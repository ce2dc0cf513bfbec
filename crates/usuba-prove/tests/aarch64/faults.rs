//! Functions that break each rule, their correct neighbours, and changed objects of kernels.
//!
//! ```text
//! f(x, k, y):  y[0] = x[1] ^ k[0];  y[1] = x[0] ^ k[1]        words of 64 bits
//! ```

use std::fmt::Write;

use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::syntax::splice::NoIncludes;
use usuba::{Output, isa};
use usuba_decode::aarch64::decode;
use usuba_object::Rule;
use usuba_object::aarch64::Aarch64;
use usuba_object::compare::{Demands, Verdict};
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::{arithmetic, by_machine};
use usuba_prove::byte_interface;
use usuba_prove::compiler::{self, Compiler};
use usuba_run::cc::{Family, Foreign, run};
use usuba_run::validated::{self, Proofs};

use super::{Assembly, machine, read};

const PROGRAM: &str = "node f (x: u<V>64x2, k: u<V>64x2) returns (y: u<V>64x2)\n\
     let y[0] = x[1] ^ k[0]; y[1] = x[0] ^ k[1] tel\n";

const RIGHT: &str = "ldp x9, x10, [x0]; ldp x11, x12, [x1]; eor x11, x11, x10; eor x12, x12, x9; \
     stp x11, x12, [x2]; ret";

fn compiled(program: &str, target: &str) -> Output {
    let mut sources = Sources::default();
    let root = sources.add("f.ua", program.to_string());
    let options = byte_interface::options(Slicing::V, isa::find(target).expect("a target"));
    validated::compiled(&mut sources, root, &mut NoIncludes, &options, Proofs::Always)
        .expect("right")
}

/// The object of functions f_0, f_1, ...; `None` without a compiler.
fn functions(bodies: &[String]) -> Option<Object> {
    let mut text = String::from(
        ".section .rodata\n.balign 16\ntable: .quad 1, 2, 3, 4\n.balign 16\nother: .quad 1\n\
         .section .rodata.cst16,\"aM\",@progbits,16\n.balign 16\n.Lone: .quad 5, 6\n.Lmore: .quad 7, 8\n\
         .data\n.balign 8\nstate: .quad 0\n.text\n",
    );
    for (at, body) in bodies.iter().enumerate() {
        let body = body.replace(';', "\n");
        let _ = writeln!(text, ".globl f_{at}\n.type f_{at}, @function\nf_{at}:\n{body}");
        let _ = writeln!(text, ".size f_{at}, . - f_{at}");
    }
    Some(read(&Assembly::new(&machine()?, &text).object()))
}

fn verdict(object: &Object, output: &Output, symbol: &str, demands: Demands) -> Verdict {
    let target = isa::find("gp64").expect("a target");
    let mut contract = compiler::contract(output, target).expect("a contract");
    contract.symbol = symbol.into();
    by_machine::prove(object, &contract, &output.program, demands)
}

/// The call of `memset`, with the registers that it does not keep.
const MEMSET: &str = "stp x0, x1, [sp, #-64]!; stp x2, x30, [sp, #16]; add x0, sp, #32; mov w1, #0; \
     mov x2, #16; bl memset; ldp x2, x30, [sp, #16]; ldp x0, x1, [sp], #64;";

#[test]
fn the_right_functions_are_proved() {
    let bodies: Vec<String> = [
        "",
        "stp x19, x20, [sp, #-16]!; ldr x19, [x0]; ldp x19, x20, [sp], #16;",
        "stp d8, d9, [sp, #-16]!; ldr d8, [x0]; ldp d8, d9, [sp], #16;",
        // The upper half of such a vector is the callee's.
        "mov v8.d[1], xzr;",
        "mov x9, #7; 1: subs x9, x9, #1; b.ne 1b;",
        "add x9, x0, #16; 1: add x0, x0, #8; cmp x0, x9; b.cc 1b; sub x0, x0, #16;",
        "cbz x0, 1f; 1: cmp x1, #0; b.eq 2f; mov x9, #3; 2:",
        "adrp x9, table; str x9, [sp, #-16]!; ldr x9, [sp], #16; add x9, x9, :lo12:table;",
        "adrp x9, table; add x9, x9, :lo12:table; add x10, x9, #32; 1: ldr x11, [x9], #8; cmp x9, x10; \
         b.ne 1b; cmp x11, #4; b.eq 2f; .inst 0; 2:",
        "adrp x9, .Lmore+8; ldr x9, [x9, :lo12:.Lmore+8]; cmp x9, #8; b.eq 2f; .inst 0; 2:",
        "mov x9, x30; bl 1f; b 2f; 1: ret; 2: mov x30, x9;",
        "mov x9, #100; mov x10, #7; udiv x9, x9, x10; cmp x9, #14; b.eq 1f; .inst 0; 1:",
        "ldrb w9, [x0, #15]; ldur x9, [x0, #5];",
        "bti c; paciasp; stp x29, x30, [sp, #-16]!; ldp x29, x30, [sp], #16; autiasp;",
        MEMSET,
    ]
    .map(|before| format!("{before} {RIGHT}"))
    .into();
    let Some(object) = functions(&bodies) else { return };
    let output = compiled(PROGRAM, "gp64");
    for (at, body) in bodies.iter().enumerate() {
        let answer = verdict(&object, &output, &format!("f_{at}"), Demands::default());
        assert!(matches!(answer, Verdict::Proved(_)), "{body}: {answer:?}");
    }
}

#[test]
fn functions_that_break_a_rule_are_refused() {
    let keeps = MEMSET.replace("ldp x2, x30", "ldr x2");
    let all: [(&str, Rule, &str); 43] = [
        ("ldr x9, [x0]; cbnz x9, 1f; 1:", Rule::SecretBranch, "depends on an input"),
        ("ldr x9, [x0]; tbz x9, #3, 1f; 1:", Rule::SecretBranch, "depends on an input"),
        ("ldr x9, [x0]; cmp x9, #3; b.hi 1f; 1:", Rule::SecretBranch, "depends on an input"),
        ("ldr x9, [x0]; cmp x9, x0; b.hi 1f; 1:", Rule::Unsupported, "arithmetic of an address"),
        ("b.eq 1f; 1:", Rule::Unsupported, "nothing has set"),
        ("ldr x9, [x0]; and x9, x9, #8; ldr x9, [x1, x9];", Rule::SecretAddress, "input"),
        ("ldr x9, [x0]; and x9, x9, #8; add x9, x1, x9;", Rule::SecretAddress, "input"),
        ("ldr x9, [x0]; ld1 {v0.16b}, [x0], x9;", Rule::SecretAddress, "input"),
        ("add x9, x0, #17; cmp x9, x0; b.hi 1f; 1:", Rule::Unsupported, "the flag is not known"),
        ("cmp x0, x1; b.hi 1f; 1:", Rule::Unsupported, "arithmetic of an address"),
        ("ldr x9, [x0]; blr x9;", Rule::SecretBranch, "target of the jump"),
        ("ldr x9, [x0]; lslv x9, x9, x9;", Rule::SecretShift, "count of a shift"),
        ("ldr q0, [x0]; ushl v0.4s, v0.4s, v0.4s;", Rule::SecretShift, "count"),
        ("ldr q0, [x0]; tbl v0.16b, {v0.16b}, v0.16b;", Rule::SecretShift, "shuffle"),
        ("ldr x9, [x0]; mov x10, #3; udiv x9, x9, x10;", Rule::SecretOperand, "time"),
        ("ldr x9, [x0, #16];", Rule::OutOfBounds, "not inside of"),
        ("ldr q0, [x0, #8]!;", Rule::OutOfBounds, "not inside of"),
        ("ldur x9, [x1, #-8];", Rule::OutOfBounds, "not inside of"),
        ("ldp x9, x10, [x0, #8];", Rule::OutOfBounds, "not inside of"),
        ("ld2 {v0.4s, v1.4s}, [x0];", Rule::OutOfBounds, "not inside of"),
        ("str xzr, [x0];", Rule::ReadOnly, "only read"),
        ("st1 {v0.b}[3], [x1];", Rule::ReadOnly, "only read"),
        ("adrp x9, table; str xzr, [x9, :lo12:table];", Rule::OutOfBounds, "object itself"),
        (
            "adrp x9, state; add x9, x9, :lo12:state; ldr x9, [x9];",
            Rule::OutOfBounds,
            "no constants",
        ),
        (
            "adrp x9, table; add x9, x9, :lo12:table; ldr x9, [x9, #64];",
            Rule::OutOfBounds,
            "no constants",
        ),
        ("mov x9, #4096; ldr x9, [x9];", Rule::OutOfBounds, "number is used as an address"),
        ("str x9, [sp, #-16];", Rule::OutOfBounds, "below the frame"),
        ("ldr x9, [sp];", Rule::OutOfBounds, "caller's frame"),
        ("sub sp, sp, #8; str x9, [sp]; add sp, sp, #8;", Rule::Misaligned, "multiple of 16"),
        ("add sp, sp, #16; sub sp, sp, #16;", Rule::NotRestored, "frame of the caller"),
        ("sub sp, sp, #16;", Rule::NotRestored, "off at return"),
        ("mov sp, x0;", Rule::NotRestored, "not in the frame"),
        ("mov x19, #1;", Rule::NotRestored, "x19 is not restored"),
        ("movi d9, #0;", Rule::NotRestored, "d9 is not restored"),
        ("add x30, x30, #4;", Rule::Unsupported, "return address"),
        ("paciasp;", Rule::Unsupported, "a jump to an address that is data"),
        ("autiasp;", Rule::Unsupported, "signature"),
        ("paciasp; sub sp, sp, #16; autiasp; add sp, sp, #16;", Rule::Unsupported, "signature"),
        ("mov x30, x0; paciasp;", Rule::Unsupported, "signature"),
        (
            "paciasp; mov x9, #1; lsl x9, x9, #62; sub x30, x30, x9;",
            Rule::Unsupported,
            "return address",
        ),
        ("bl memset;", Rule::Unsupported, "the count is not known"),
        ("bl elsewhere;", Rule::Unsupported, "elsewhere"),
        // The callee has the register of the return address.
        (&keeps, Rule::Unsupported, "a jump to an address that is data"),
    ];
    let more = [
        "adrp x9, table; ldr x9, [x9, :lo12:state];",
        "adrp x9, .Lone; ldr x9, [x9, :lo12:.Lmore];",
        "adrp x9, table; str x9, [sp, #-16]!; ldr x9, [sp], #16; add x9, x9, #4; cmp x9, #0; \
         b.eq 1f; 1:",
    ];
    let before = all.iter().map(|(before, ..)| *before).chain(more);
    let bodies: Vec<String> = before.map(|before| format!("{before} {RIGHT}")).collect();
    let Some(object) = functions(&bodies) else { return };
    let output = compiled(PROGRAM, "gp64");
    for (at, (before, rule, words)) in all.iter().enumerate() {
        match verdict(&object, &output, &format!("f_{at}"), Demands::default()) {
            Verdict::Refused(fault) => {
                let text = fault.to_string();
                assert!(fault.rule == *rule && text.contains(words), "{before}: {text}");
            }
            other => panic!("{before}: {other:?}"),
        }
    }
    // Parts of addresses of two places, or as data.
    for (at, body) in bodies.iter().enumerate().skip(all.len()) {
        let answer = verdict(&object, &output, &format!("f_{at}"), Demands::default());
        let is_refused =
            matches!(&answer, Verdict::Refused(fault) if fault.rule == Rule::Unsupported);
        assert!(is_refused, "{body}: {answer:?}");
    }
    // Each other instruction, and a loop without end, is not known.
    let other = [
        "svc #0; ",
        "mrs x9, cntvct_el0; ",
        "dmb ish; ",
        "ldxr x9, [x0]; ",
        "ldar x9, [x0]; ",
        "fadd v0.2d, v0.2d, v1.2d; ",
        "aese v0.16b, v1.16b; ",
        "pacibsp; ",
        "prfm pldl1keep, [x0]; ",
        ".inst 0; ",
        "1: b 1b; ",
    ];
    let bodies = other.map(|before| format!(".arch armv8.3-a+crypto; {before} {RIGHT}"));
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

/// A wrong result is refuted with an input, and secrets that stay are found.
#[test]
fn wrong_functions_are_refuted() {
    let wrong = RIGHT.replacen("eor x11", "orr x11", 1);
    let left = format!("ldr x9, [x0]; str x9, [sp, #-16]!; add sp, sp, #16; {RIGHT}");
    let Some(object) = functions(&[wrong, left]) else { return };
    let output = compiled(PROGRAM, "gp64");
    let answer = verdict(&object, &output, "f_0", Demands::default());
    assert!(matches!(answer, Verdict::Refuted(_)), "{answer:?}");
    assert!(matches!(verdict(&object, &output, "f_1", Demands::default()), Verdict::Proved(_)));
    let answer = verdict(&object, &output, "f_1", Demands { wiped: true });
    assert!(matches!(&answer, Verdict::Refused(fault) if fault.rule == Rule::Left), "{answer:?}");
}

/// Files that are no objects of this model are refused: linked and damaged ones.
#[test]
fn other_files_are_refused() {
    let Some(machine) = machine() else { return };
    let text = ".globl _start\n.type _start, @function\n_start: adrp x9, _start\nret\n";
    let assembly = Assembly::new(&machine, text);
    let file = assembly.object();
    let why = Object::read(&file, Extensions::ALL).expect_err("no x86-64");
    assert!(why.contains("x86-64"), "{why}");
    for end in 0..file.len() {
        let _ = Object::read_any(&file[..end], Extensions::ALL);
        let mut changed = file.clone();
        changed[end] ^= 0xff;
        let _ = Object::read_any(&changed, Extensions::ALL);
    }
    let program = assembly.path("program");
    let mut link = machine.compile();
    link.args(["-nostdlib", "-static"]).arg(assembly.path("cases.o")).arg("-o").arg(&program);
    run(&mut link).expect("it links");
    let file = std::fs::read(program).expect("it has been written");
    let object = Object::read_any(&file, Extensions::ALL).expect("a linked file");
    assert!(object.function("_start").is_some() && object.is_fixed());
    for end in 0..file.len() {
        let _ = Object::read_any(&file[..end], Extensions::ALL);
        let mut changed = file.clone();
        changed[end] ^= 0xff;
        let _ = Object::read_any(&changed, Extensions::ALL);
    }
}

/// Kernels with each bit of their instructions flipped: one that is proved computes the same on all
/// inputs that are tried.
#[test]
fn no_wrong_mutant_is_proved() {
    let programs = [
        (
            "gp64",
            "node f (x: u<V>64x2, k: u<V>64x2) returns (y: u<V>64x2)\n\
             let y[0] = (x[0] + k[0]) ^ (x[1] <<< 5); y[1] = (k[1] & ~x[0]) + y[0] tel\n",
        ),
        (
            "neon",
            "node f (x: u<V>32x2, k: u<V>32x2) returns (y: u<V>32x2)\n\
             let y[0] = (x[0] + k[0]) ^ (x[1] <<< 5); y[1] = (k[1] & ~x[0]) ^ y[0] tel\n",
        ),
    ];
    let mut proved = Vec::new();
    let mut mutants = 0;
    for (name, program) in programs {
        let target = isa::find(name).expect("a target");
        let output = compiled(program, name);
        for family in [Family::Gcc, Family::Clang] {
            let compiler = match Compiler::find_foreign(target, Foreign::Aarch64, family) {
                Ok(compiler) => compiler,
                Err(skip) => {
                    println!("{skip}");
                    continue;
                }
            };
            let file = compiler.object(&output.kernel.text, "c", &[]).expect("right");
            let object = read(&file);
            let contract = compiler::contract(&output, target).expect("a contract");
            let examined = |object: &Object| {
                by_machine::examine(object, &contract, &output.program, Demands::default())
            };
            let answer = examined(&object);
            assert!(matches!(answer, Verdict::Proved(_)), "{}: {answer:?}", compiler.name);
            let place = object.function(&output.kernel.name).expect("it is there");
            let section: Vec<u8> = object.code(place, 4096).to_vec();
            let found = file.windows(section.len()).position(|window| window == section);
            let at = found.expect("code");
            for bit in 0..8 * section.len() {
                let mut changed = file.clone();
                changed[at + bit / 8] ^= 1 << (bit % 8);
                let mutant = read(&changed);
                mutants += 1;
                if matches!(examined(&mutant), Verdict::Proved(_)) {
                    let differs =
                        arithmetic::differs::<Aarch64>(&mutant, &contract, &output.program, &[]);
                    assert!(differs.is_none(), "bit {bit} by {}: {differs:?}", compiler.name);
                    let code = &changed[at + bit / 32 * 4..][..4];
                    let code = u32::from_le_bytes(code.try_into().expect("four bytes"));
                    proved.push(format!(
                        "{bit}: {}",
                        decode(code).map_or_else(String::new, |i| i.to_string())
                    ));
                }
            }
        }
    }
    assert!(proved.len() * 10 <= mutants, "{} of {mutants}: {proved:#?}", proved.len());
}
