//! Every instruction of the model, against an emulator.
//!
//! ```text
//! case_7:  lw a2, 0(a0);  lw a3, 4(a0);  sltu a4, a2, a3;  sw a4, 0(a1);  ret
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use usuba::ir::random::Random;
use usuba_decode::riscv::decode;
use usuba_object::riscv::Riscv;
use usuba_object::simulate;
use usuba_run::cc::run;

use super::{Assembly, machine, read};

/// Bytes of an input: two operands, and memory; of an output: two results, and memory.
const BYTES: usize = 40;

/// Registers with three bits in compressed instructions, and others.
const OPERATIONS: [&str; 18] = [
    "add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and", "mul", "mulh", "mulhsu",
    "mulhu", "div", "divu", "rem", "remu",
];

/// The forms: instructions that read a2 and a3, and write a4 and a5, or the memory that a1 points
/// behind.
fn forms() -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for operation in OPERATIONS {
        forms.push(format!("{operation} a4, a2, a3"));
        forms.push(format!("{operation} a4, a2, a2"));
        forms.push(format!("{operation} a4, a2, zero"));
        forms.push(format!("{operation} a4, zero, a3"));
    }
    for operation in ["addi", "slti", "sltiu", "xori", "ori", "andi"] {
        for value in [0, 1, -1, 5, 2047, -2048] {
            forms.push(format!("{operation} a4, a2, {value}"));
        }
    }
    for operation in ["slli", "srli", "srai"] {
        forms.extend([0, 1, 7, 31].map(|count| format!("{operation} a4, a2, {count}")));
    }
    for value in ["0", "1", "0x80000", "0xfffff"] {
        forms.push(format!("lui a4, {value}"));
    }
    // Memory of the input is behind the operands, and is copied behind the results.
    for (load, size) in [("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4)] {
        forms.extend([8, 12].map(|at| format!("{load} a4, {}(a0)", at + size)));
    }
    for (store, size) in [("sb", 1), ("sh", 2), ("sw", 4)] {
        forms.extend([8, 12].map(|at| format!("{store} a2, {}(a1)", at + size)));
    }
    for condition in ["beq", "bne", "blt", "bge", "bltu", "bgeu"] {
        forms.push(format!("li a4, 1; {condition} a2, a3, 1f; li a4, 2; 1:"));
        forms.push(format!("li a4, 1; {condition} a2, a2, 1f; li a4, 2; 1:"));
    }
    forms.push("1: addi a5, a5, 1; andi a4, a5, 7; bne a4, zero, 1b".into());
    // Carries and borrows of words in pairs of registers.
    for form in [
        "add a4, a2, a3; sltu a5, a4, a2; add a5, a5, a3",
        "add a4, a2, a3; sltu a5, a4, a3; add a4, a4, a5",
        "sub a4, a2, a3; sltu a5, a2, a3; sub a5, a2, a5",
        "sub a4, a2, a3; sltu a5, a2, a4; sub a4, a4, a5",
        "seqz a4, a2; snez a5, a3",
        "sltz a4, a2; sgtz a5, a3",
        // Calls, and the frame.
        "mv a5, ra; jal ra, 1f; j 2f; 1: addi a4, a2, 3; ret; 2: mv ra, a5; li a5, 0",
        "addi sp, sp, -16; sw a2, 4(sp); sh a3, 8(sp); lw a4, 4(sp); lhu a5, 8(sp); addi sp, sp, 16",
        "la a5, table; lw a4, 4(a5); lhu a5, 2(a5)",
        "lui a5, %hi(table); lw a4, %lo(table)(a5); lw a5, %lo(table+4)(a5)",
        "la a4, table+6; la a5, table; sub a4, a4, a5; li a5, 0",
        // Compressed instructions.
        "c.addi a2, -3; c.mv a4, a2; c.li a5, 17",
        "c.add a2, a3; c.sub a3, a2; c.xor a2, a3; c.or a3, a2; c.and a2, a3; mv a4, a2; mv a5, a3",
        "c.slli a2, 3; c.srli a3, 5; c.srai a2, 2; c.andi a3, 21; mv a4, a2; mv a5, a3",
        "c.lui a4, 0xfffe1; c.lui a5, 3",
        "c.lw a4, 12(a0); c.sw a4, 16(a1)",
        "c.addi16sp sp, -32; c.swsp a2, 8(sp); c.lwsp a4, 8(sp); c.addi4spn a5, sp, 12; \
         c.swsp a3, 12(sp); c.lw a5, 0(a5); c.addi16sp sp, 32",
        "c.li a4, 1; c.beqz a2, 1f; c.li a4, 2; 1: c.bnez a3, 2f; c.j 3f; 2: c.li a5, 4; 3: c.nop",
        "mv a5, ra; c.jal 1f; c.j 2f; 1: addi a4, a2, 3; c.jr ra; 2: mv ra, a5; li a5, 0",
        "mv a5, ra; la t0, function; c.jalr t0; mv ra, a5; mv a5, t1",
        "mv a5, ra; call function; mv ra, a5; mv a5, t1",
    ] {
        forms.push(form.into());
    }
    forms
}

/// The functions of all cases.
fn cases(forms: &[String]) -> String {
    let copy: String =
        (8..BYTES).step_by(4).map(|at| format!("lw a4, {at}(a0)\nsw a4, {at}(a1)\n")).collect();
    let mut text = String::from(
        ".option arch, rv32imc\n.section .rodata\n.balign 8\n.globl table\ntable: .word 0x12345678, 0x9abcdef0\n.text\n\
         .globl function\n.type function, @function\nfunction: add t1, a2, a3\nret\n",
    );
    for (number, form) in forms.iter().enumerate() {
        let (name, body) = (format!("case_{number}"), form.replace(';', "\n"));
        let _ = writeln!(
            text,
            ".globl {name}\n.type {name}, @function\n{name}:\n{copy}lw a2, 0(a0)\nlw a3, 4(a0)\n\
             li a4, 0\nli a5, 0\n{body}\nsw a4, 0(a1)\nsw a5, 4(a1)\nret\n.size {name}, . - {name}"
        );
    }
    text
}

/// A program that runs all cases on inputs.
fn driver(cases: usize, inputs: &[Vec<u8>]) -> String {
    let bytes = |input: &Vec<u8>| format!(".byte {}\n", join(input));
    let data: String = inputs.iter().map(bytes).collect();
    let addresses: String = (0..cases).map(|number| format!(".word case_{number}\n")).collect();
    format!(
        ".text\n.globl _start\n_start:\nla s0, cases\nla s1, cases_end\n\
         1: la s2, inputs\nla s3, inputs_end\n\
         2: la a1, output\nmv a0, s2\nlw t0, 0(s0)\njalr ra, 0(t0)\n\
         li a0, 1\nla a1, output\nli a2, {BYTES}\nli a7, 64\necall\n\
         addi s2, s2, {BYTES}\nbne s2, s3, 2b\naddi s0, s0, 4\nbne s0, s1, 1b\n\
         li a0, 0\nli a7, 93\necall\n\
         .data\n.balign 16\ninputs:\n{data}inputs_end:\n.balign 16\noutput: .fill {BYTES}, 1, 0\n\
         .balign 4\ncases:\n{addresses}cases_end:\n"
    )
}

fn join(bytes: &[u8]) -> String {
    bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// Random words, and words at the edges.
fn inputs(count: usize) -> Vec<Vec<u8>> {
    let edges = [0, 1, u32::MAX, 1 << 31, i32::MAX as u32, 0xffff, 0x8000_0001];
    let mut random = Random::new(5);
    let mut word = |run: usize, at: usize| match run % 3 {
        0 => random.word() as u32,
        1 => edges[random.below(edges.len())],
        _ => edges[(run / 3 + at * (run / 21 + 1)) % edges.len()],
    };
    let input = |run| (0..BYTES / 4).flat_map(|at| word(run, at).to_le_bytes()).collect();
    (0..count).map(input).collect()
}

#[test]
fn the_model_is_the_emulator() {
    let Some(machine) = machine() else { return };
    let (forms, inputs) = (forms(), inputs(60));
    let assembly = Assembly::new(&machine, &cases(&forms));
    let file = assembly.object();
    let object = read(&file);
    fs::write(assembly.path("driver.s"), driver(forms.len(), &inputs)).expect("a file");
    let program = assembly.path("program");
    let mut link = assembly.machine.compile();
    run(link.args([assembly.path("cases.o"), assembly.path("driver.s")]).arg("-o").arg(&program))
        .expect("it links");
    let ran = machine.command(&program).output().expect("the emulator runs");
    assert!(ran.status.success(), "the cases crash: {}", ran.status);
    let expected: Vec<&[u8]> = ran.stdout.chunks(BYTES).collect();
    assert_eq!(expected.len(), forms.len() * inputs.len());
    let mut wrong = Vec::new();
    let mut covered = BTreeSet::new();
    for (number, form) in forms.iter().enumerate() {
        let symbol = format!("case_{number}");
        let expected = &expected[number * inputs.len()..][..inputs.len()];
        let symbolic = simulate::symbolic::<Riscv>(&object, &symbol, &inputs, BYTES);
        for (run, &expected) in expected.iter().enumerate() {
            if let Ok(found) = &symbolic
                && found[run] != expected
            {
                wrong.push(format!("{form} on symbols: {:?}", &inputs[run][..8]));
            }
            match simulate::numeric::<Riscv>(&object, &symbol, &inputs[run], BYTES) {
                Ok(found) if found == expected => {}
                Ok(_) => wrong.push(format!("{form} on numbers: {:?}", &inputs[run][..8])),
                Err(fault) => {
                    wrong.push(format!("{form}: {fault}"));
                    break;
                }
            }
        }
        covered.extend(mnemonics(&object, &symbol));
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
    // Every mnemonic of the model.
    let all = OPERATIONS.into_iter().chain([
        "lui", "auipc", "jal", "jalr", "beq", "bne", "blt", "bge", "bltu", "bgeu", "lb", "lbu",
        "lh", "lhu", "lw", "sb", "sh", "sw", "addi", "slti", "sltiu", "xori", "ori", "andi",
        "slli", "srli", "srai",
    ]);
    let missing: Vec<&str> = all.filter(|&name| !covered.contains(name)).collect();
    assert!(missing.is_empty(), "compared with nothing: {missing:?}");
}

/// The mnemonics of a case.
fn mnemonics(object: &usuba_object::elf::Object, symbol: &str) -> BTreeSet<String> {
    let mut place = object.function(symbol).expect("the case");
    let mut found = BTreeSet::new();
    while object.name(place).split('+').next() == Some(symbol) {
        let Some((instruction, bytes)) = decode(object.code(place, 4)) else { break };
        let text = instruction.to_string();
        found.insert(text.split(' ').next().unwrap_or_default().to_string());
        place += bytes as u64;
    }
    found
}
