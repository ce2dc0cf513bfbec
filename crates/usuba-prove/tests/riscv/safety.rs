//! Safety of functions without a specification, and the call graph.
//!
//! Each fault is one instruction away from a function that is proved.

use usuba_object::elf::Object;
use usuba_object::riscv::Riscv;
use usuba_object::safety::{Bytes, Evidence, Function, Parameter, Returns, prove};
use usuba_object::{Fault, Rule};
use usuba_run::cc::{Foreign, Machine};

use super::contracts::{contract, of_any_length};
use super::{Assembly, foreign, machine, read};

/// The most instructions of a test.
const LONGEST: u64 = 10_000;

/// The greatest size of a buffer.
const MOST: i64 = (1 << 31) - 1;

/// The object of functions in assembly, of which `f` is the first one.
fn object(machine: &Machine, body: &str) -> Object {
    let body = body.replace("; ", "\n");
    let text = format!(".text\n.globl f\n.type f, @function\nf:\n{body}\n");
    read(&Assembly::new(machine, &text).object())
}

/// The verdict on a function of `secret` in a0, `open` in a1 and `out` in a2.
fn assembled(machine: &Machine, body: &str, returns: Returns) -> Result<Evidence, Fault> {
    prove::<Riscv>(&object(machine, body), &contract(returns), LONGEST)
}

/// A function of `secret` in a0, `out` in a1, and `n` bytes each in a2.
fn any_length() -> Function {
    let mut function = of_any_length(Returns::Nothing);
    function.parameters[2] = Parameter::Length(MOST);
    function
}

/// The same with other parameters behind buffers of some bytes.
fn fixed(bytes: usize, more: &[Parameter]) -> Function {
    let mut function = any_length();
    for at in [0, 1] {
        let Parameter::Buffer(room) = &mut function.parameters[at] else { unreachable!() };
        room.bytes = Bytes::Fixed(bytes);
    }
    function.parameters.truncate(2);
    function.parameters.extend(more.iter().cloned());
    function
}

#[test]
fn every_injected_fault_breaks_its_rule() {
    let Some(machine) = machine() else { return };
    for (body, rule) in [
        ("lw t0, 0(a0); beqz t0, 1f; 1: ret", Rule::SecretBranch),
        ("lw t0, 0(a0); sltu t0, t0, a0; ret", Rule::SecretBranch),
        ("lw t0, 0(a0); bltu a1, t0, 1f; 1: ret", Rule::SecretBranch),
        ("lbu t0, 0(a0); add t0, a1, t0; lbu t0, 0(t0); ret", Rule::SecretAddress),
        ("lw t0, 0(a0); jr t0", Rule::SecretBranch),
        ("lw t0, 0(a0); sll t0, t0, t0; ret", Rule::SecretShift),
        ("lw t0, 0(a0); li t1, 9; divu t0, t0, t1; ret", Rule::SecretOperand),
        ("lw t0, 0(a0); li t1, 9; rem t0, t1, t0; ret", Rule::SecretOperand),
        ("lbu t0, -1(a0); ret", Rule::OutOfBounds),
        ("lbu t0, 32(a0); ret", Rule::OutOfBounds),
        ("sb zero, 32(a2); ret", Rule::OutOfBounds),
        ("sb zero, 0(sp); ret", Rule::OutOfBounds),
        ("lbu t0, -1(sp); ret", Rule::OutOfBounds),
        ("sb zero, 0(a1); ret", Rule::ReadOnly),
        ("lw t0, 2(a1); ret", Rule::Misaligned),
        ("li s1, 0; ret", Rule::NotRestored),
        ("addi sp, sp, -16; ret", Rule::NotRestored),
        ("1: j 1b", Rule::TooLong),
        ("1: lbu t0, 0(a1); beqz t0, 1b; ret", Rule::TooLong),
        (
            "addi sp, sp, -16; sw ra, 0(sp); call elsewhere; lw ra, 0(sp); addi sp, sp, 16; ret",
            Rule::Unsupported,
        ),
    ] {
        let mut function = contract(Returns::Nothing);
        for parameter in &mut function.parameters {
            let Parameter::Buffer(room) = parameter else { unreachable!() };
            room.align = 4;
        }
        let fault = prove::<Riscv>(&object(&machine, body), &function, LONGEST).expect_err(body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

#[test]
fn secrets_that_are_left_are_counted() {
    let Some(machine) = machine() else { return };
    let left = |body: &str| {
        let residue = assembled(&machine, body, Returns::Nothing).expect(body).residue;
        (residue.frame, residue.registers.join(" "))
    };
    let clean = (0, String::new());
    assert_eq!(left("lbu t0, 0(a0); sb t0, 0(a2); li t0, 0; ret"), clean);
    assert_eq!(left("lbu t0, 0(a0); sb t0, 0(a2); ret"), (0, "t0".into()));
    let kept = "lbu t0, 0(a0); addi sp, sp, -16; sw t0, 0(sp); li t0, 0; addi sp, sp, 16; ret";
    assert_eq!(left(kept), (1, "".into()));
    assert_eq!(left(&kept.replace("li t0, 0", "li t0, 0; sw t0, 0(sp)")), clean);
    assert_eq!(left("lbu t0, 0(a1); ret"), clean);
}

#[test]
fn a_public_status_may_tell_the_outcome_of_a_branch() {
    let Some(machine) = machine() else { return };
    let told = "lbu t0, 0(a0); li a0, 9; beqz t0, 1f; li a0, 0; li t0, 1; sb t0, 0(a2); 1: ret";
    let evidence = assembled(&machine, told, Returns::Status).expect("the status tells it");
    assert_eq!((evidence.told.len(), evidence.paths), (1, 2));
    let fault = assembled(&machine, told, Returns::Nothing).expect_err("no status");
    assert_eq!(fault.rule, Rule::SecretBranch);
    let kept = told.replace("li a0, 0", "nop");
    let fault = assembled(&machine, &kept, Returns::Status).expect_err("one status");
    assert_eq!(fault.rule, Rule::SecretBranch);
}

/// Many public branches in a row have too many paths, so they are joined.
#[test]
fn joined_paths_keep_every_rule() {
    let Some(machine) = machine() else { return };
    let open = |at: usize| format!("lbu t0, {at}(a1); beqz t0, 1f; nop; 1: ");
    let open: String = (0..14).map(open).collect();
    let joined = |body: &str| {
        let proof = assembled(&machine, &format!("{open}{body}"), Returns::Nothing);
        proof.map(|evidence| (evidence.paths, evidence.residue.frame, evidence.residue.registers))
    };
    let index = "li t1, 0; lbu t0, 0(a1); beqz t0, 1f; li t1, 31; 1: add t2, a1, t1; \
                 lbu t0, 0(t2); add t2, a2, t1; sb t0, 0(t2); ret";
    assert_eq!(joined(index), Ok((1, 0, vec![])));
    let called = "addi sp, sp, -32; sw ra, 0(sp); sw s1, 4(sp); call g; li t0, 0; call g; \
                  lw ra, 0(sp); lw s1, 4(sp); addi sp, sp, 32; ret; \
                  g: lbu s1, 0(a1); beqz s1, 2f; li s1, 0; ret; 2: nop; ret";
    assert_eq!(joined(called), Ok((1, 0, vec![])));
    // The status of a callee that its caller does not read is no reason for two paths.
    let unread = "addi sp, sp, -16; sw ra, 0(sp); call g; mv a0, a1; lw ra, 0(sp); addi sp, sp, 16; ret; \
                  g: lbu a0, 0(a1); beqz a0, 2f; li a0, 5; ret; 2: li a0, 6; ret";
    assert_eq!(joined(unread), Ok((1, 0, vec![])));
    // Nor is the place of the last call, whose address stays in a register.
    let calls = "addi sp, sp, -16; sw ra, 0(sp); lbu t0, 0(a1); beqz t0, 1f; call g; j 2f; 1: call g; \
                 2: lw ra, 0(sp); addi sp, sp, 16; ret; g: li t0, 0; ret";
    assert_eq!(joined(calls), Ok((1, 0, vec![])));
    for (body, rule) in [
        (index.replace("li t1, 31", "li t1, 32"), Rule::OutOfBounds),
        (index.replace("li t1, 31", "li t1, -1"), Rule::OutOfBounds),
        (index.replace("li t1, 31", "lw t1, 0(a0)"), Rule::Misaligned),
        (index.replace("li t1, 31", "lbu t1, 0(a0)"), Rule::SecretAddress),
        (index.replace("add t2, a2", "add t2, a1"), Rule::ReadOnly),
        (called.replace("li t0, 0", "addi a1, a1, 32"), Rule::OutOfBounds),
        (called.replace("li t0, 0", "mv a1, a0"), Rule::SecretBranch),
        (called.replace("2: nop", "2: li s2, 0"), Rule::NotRestored),
        (called.replace("lw s1, 4(sp)", "nop"), Rule::NotRestored),
        (called.replace("2: nop", "2: addi sp, sp, -16"), Rule::Unsupported),
        (called.replace("2: nop", "2: j g"), Rule::TooLong),
        (
            unread.replace("li a0, 6", "li a1, 6").replace("mv a0, a1", "lbu t0, 0(a1)"),
            Rule::OutOfBounds,
        ),
    ] {
        let fault = joined(&body).expect_err(&body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

/// Functions of `secret` in a0, `out` in a1, and `n` bytes each in a2.
#[test]
fn loops_of_any_length_are_safe_by_induction() {
    let Some(machine) = machine() else { return };
    let looped = |body: &str| prove::<Riscv>(&object(&machine, body), &any_length(), LONGEST);
    let copied = "beqz a2, 2f; li t0, 0; 1: add t1, a0, t0; lbu t2, 0(t1); add t1, a1, t0; \
                  sb t2, 0(t1); addi t0, t0, 1; bltu t0, a2, 1b; 2: li t2, 0; ret";
    let evidence = looped(copied).expect("it copies n bytes");
    assert!(evidence.loops > 0 && evidence.residue.is_empty(), "{evidence:?}");
    let parts = "li t2, 8; 1: bltu a2, t2, 2f; lbu t0, 7(a0); sb t0, 7(a1); addi a0, a0, 8; \
                 addi a1, a1, 8; addi a2, a2, -8; j 1b; \
                 2: beqz a2, 3f; lbu t0, 0(a0); addi a0, a0, 1; sb t0, 0(a1); addi a1, a1, 1; \
                 addi a2, a2, -1; j 2b; 3: ret";
    looped(parts).expect("it copies a byte of each eight, and then bytes");
    let ends = "add t1, a0, a2; 1: beq a0, t1, 2f; lbu t0, 0(a0); addi a0, a0, 1; sb t0, 0(a1); \
                addi a1, a1, 1; j 1b; 2: ret";
    looped(ends).expect("it ends at an address");
    let chunks = "srli t1, a2, 6; beqz t1, 2f; 1: sb zero, 0(a1); addi a1, a1, 64; addi t1, t1, -1; \
                  bnez t1, 1b; 2: ret";
    looped(chunks).expect("it writes a byte of each 64");
    let divided = "li t2, 48; divu t1, a2, t2; remu t3, a2, t2; mul t1, t1, t2; add a1, a1, t1; \
                   1: beqz t3, 2f; sb zero, 0(a1); addi a1, a1, 1; addi t3, t3, -1; j 1b; 2: ret";
    looped(divided).expect("it writes the bytes behind the last multiple");
    let saved = "addi sp, sp, -16; sw ra, 0(sp); sw s1, 4(sp); sw s2, 8(sp); sw s3, 12(sp); mv s1, a1; \
                 mv s2, a2; li s3, 0; 1: bgeu s3, s2, 2f; add a0, s1, s3; call g; addi s3, s3, 1; j 1b; \
                 2: lw ra, 0(sp); lw s1, 4(sp); lw s2, 8(sp); lw s3, 12(sp); addi sp, sp, 16; ret; \
                 g: sb zero, 0(a0); ret";
    looped(saved).expect("it calls a function in each turn");
    for (body, rule) in [
        (copied.replace("bltu t0, a2", "bgeu a2, t0"), Rule::OutOfBounds),
        (copied.replace("li t0, 0", "li t0, 1"), Rule::OutOfBounds),
        (copied.replace("beqz a2, 2f; ", ""), Rule::OutOfBounds),
        (copied.replace("lbu t2, 0(t1)", "lbu t2, 1(t1)"), Rule::OutOfBounds),
        (copied.replace("add t1, a1", "add t1, a0"), Rule::ReadOnly),
        (copied.replace("addi t0, t0, 1", "beqz t2, 2f; addi t0, t0, 1"), Rule::SecretBranch),
        (parts.replace("li t2, 8", "li t2, 7"), Rule::OutOfBounds),
        (parts.replace("lbu t0, 7", "lbu t0, 8"), Rule::OutOfBounds),
        (chunks.replace("srli t1, a2, 6", "srli t1, a2, 5"), Rule::OutOfBounds),
        (divided.replace("remu t3, a2, t2", "addi t3, t2, -1"), Rule::OutOfBounds),
        (divided.replace("remu t3, a2, t2", "remu t3, a2, t2; addi t3, t3, 1"), Rule::OutOfBounds),
        (saved.replace("bgeu s3, s2", "bltu s2, s3"), Rule::OutOfBounds),
        (saved.replace("sb zero, 0(a0)", "mv s1, a0; sb zero, 0(a0)"), Rule::OutOfBounds),
    ] {
        let fault = looped(&body).expect_err(&body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

/// A loop that has tests in two places: paths of the first one meet before the next turn, or leave the loop.
#[test]
fn loops_have_several_ends() {
    let Some(machine) = machine() else { return };
    let looped = |body: &str| {
        let mut function = any_length();
        function.returns = Returns::Status;
        function.equal.clear();
        let Parameter::Buffer(room) = &mut function.parameters[0] else { unreachable!() };
        room.is_public = true;
        prove::<Riscv>(&object(&machine, body), &function, LONGEST)
    };
    let found = "li t0, 0; 1: bgeu t0, a2, 3f; add t1, a0, t0; lbu t2, 0(t1); beqz t2, 2f; \
                 lbu t3, 0(a0); beqz t3, 4f; 2: addi t0, t0, 1; j 1b; 3: li a0, 0; ret; 4: li a0, 1; ret";
    let evidence = looped(found).expect("it reads n bytes");
    assert!(evidence.loops > 0, "{evidence:?}");
    for body in [
        found.replace("bgeu t0, a2", "bltu a2, t0"),
        found.replace("beqz t3, 4f", "add t4, a0, a2; lbu t4, 0(t4); beqz t3, 4f"),
    ] {
        let fault = looped(&body).expect_err(&body);
        assert_eq!(fault.rule, Rule::OutOfBounds, "{body}: {fault}");
    }
}

/// Numbers and addresses have 32 bits: sums go on at zero, and so do comparisons.
#[test]
fn words_are_numbers_modulo_two_to_the_32() {
    let Some(machine) = machine() else { return };
    let of = |function: &Function, body: &str| {
        prove::<Riscv>(&object(&machine, body), function, LONGEST)
    };
    let lengths = fixed(32, &[Parameter::Length(MOST), Parameter::Length(MOST)]);
    // A sum of two lengths fits in a word without sign, and may be negative with one.
    let sum = "add t0, a2, a3; li t1, 31; bltu t1, t0, 1f; add t0, a1, t0; sb zero, 0(t0); 1: ret";
    of(&lengths, sum).expect("the sum is below 32");
    of(&lengths, &sum.replace("bltu t1, t0", "blt t1, t0")).expect_err("it may be negative");
    of(&lengths, &sum.replace("add t0, a2, a3", "add t0, a2, a3; add t0, t0, a3"))
        .expect_err("three lengths may be more than 2^32");
    of(&lengths, &sum.replace("li t1, 31", "li t1, 32")).expect_err("it may be 32");
    // A length times four may begin again at zero.
    let times =
        "li t1, 31; bltu t1, a2, 1f; slli t0, a2, 2; add t0, a1, t0; sb zero, 0(t0); 1: ret";
    let wide = fixed(128, &[Parameter::Length(MOST)]);
    of(&wide, times).expect("it is below 32 before it is multiplied");
    let late = "slli t0, a2, 2; li t1, 124; bltu t1, t0, 1f; add t0, a1, t0; sb zero, 0(t0); \
                add t0, a1, a2; sb zero, 0(t0); 1: ret";
    of(&wide, late).expect_err("the product says little about its factor");
    // One past the end of memory is its beginning: pointers that are equal may have other offsets.
    let any = fixed(32, &[Parameter::Any]);
    let moved = "add t0, a1, a2; bne t0, a1, 1f; add t0, a1, a2; sb zero, 0(t0); 1: ret";
    of(&any, moved).expect_err("nothing is known about the number");
    of(&any, "li t0, -32; addi t1, a1, 32; add t1, t1, t0; sb zero, 0(t1); ret")
        .expect("it is the first byte again");
    of(&any, "lui t0, 0x80000; add t1, a1, t0; add t1, t1, t0; sb zero, 0(t1); ret")
        .expect("twice 2^31 is nothing");
    of(&any, "lui t0, 0x80000; add t1, a1, t0; sb zero, 0(t1); ret").expect_err("half of memory");
}

/// Numbers of eight bytes are in two registers: of a length the upper one is zero.
#[test]
fn wide_parameters_have_two_words() {
    let Some(machine) = machine() else { return };
    let wide = |inner: Parameter| Parameter::Wide(Box::new(inner));
    let of = |parameters: &[Parameter], body: &str| {
        prove::<Riscv>(&object(&machine, body), &fixed(32, parameters), LONGEST)
    };
    let below = "li t1, 31; bltu t1, a2, 1f; add t0, a1, a2; sb zero, 0(t0); 1: ret";
    let upper = "add t0, a1, a3; sb zero, 31(t0); ret";
    of(&[wide(Parameter::Length(MOST))], below).expect("the lower half is the length");
    of(&[wide(Parameter::Length(MOST))], upper).expect("the upper half is zero");
    of(&[wide(Parameter::Any)], upper).expect_err("the upper half is any number");
    of(&[wide(Parameter::Any), Parameter::Number(1)], &upper.replace("a3", "a4"))
        .expect_err("a byte behind the buffer");
    of(&[wide(Parameter::Any), Parameter::Number(0)], &upper.replace("a3", "a4"))
        .expect("the next parameter is behind both");
    // Six words before it: the one on the stack has an address that is a multiple of eight.
    let six = [vec![Parameter::Any; 7], vec![wide(Parameter::Length(MOST))]].concat();
    let stacked = "lw a2, 8(sp); lw a3, 12(sp); ";
    of(&six, &format!("{stacked}{upper}")).expect("the upper half is on the stack");
    of(&six, &format!("{}{upper}", stacked.replace("12", "4"))).expect_err("other words");
}

/// An address that is a multiple of four stays one where paths with different ones are joined.
#[test]
fn joined_addresses_are_aligned() {
    let Some(machine) = machine() else { return };
    let of = |body: &str| {
        let mut function = contract(Returns::Nothing);
        let Parameter::Buffer(room) = &mut function.parameters[2] else { unreachable!() };
        room.align = 4;
        prove::<Riscv>(&object(&machine, body), &function, LONGEST)
    };
    let right = "lbu t0, 0(a1); li t1, 4; beqz t0, 1f; li t1, 28; 1: lbu t0, 1(a1); beqz t0, 2f; nop; \
                 2: add t1, a2, t1; sw zero, 0(t1); ret";
    of(right).expect("both are multiples of four");
    let fault = of(&right.replace("li t1, 28", "li t1, 26")).expect_err("one is none");
    assert_eq!(fault.rule, Rule::Misaligned, "{fault}");
}

/// The remainder of a public word of which nothing is known.
#[test]
fn a_remainder_is_less_than_its_divisor() {
    let Some(machine) = machine() else { return };
    let divided = |body: &str| {
        prove::<Riscv>(&object(&machine, body), &fixed(64, &[Parameter::Any]), LONGEST)
    };
    let right = "li t0, 64; remu t0, a2, t0; add t0, a1, t0; sb zero, 0(t0); ret";
    divided(right).expect("the remainder is below 64");
    for body in [
        right.replace("64", "65"),
        right.replace("remu", "rem"),
        right.replace("remu", "divu"),
        right.replace("sb zero, 0", "sb zero, 1"),
    ] {
        divided(&body).expect_err(&body);
    }
}

/// Two words that differ, and sums of words with public parts that are not known, have names of their own.
#[test]
fn sums_of_unknown_words_are_not_confused() {
    let Some(machine) = machine() else { return };
    let of = |body: &str| {
        prove::<Riscv>(
            &object(&machine, body),
            &fixed(32, &[Parameter::Any, Parameter::Any]),
            LONGEST,
        )
    };
    // The carry of a sum is zero or one; a comparison of other words is any bit, and no number.
    let carry = "add t0, a2, a3; sltu t0, t0, a2; add t0, a1, t0; sb zero, 30(t0); ret";
    of(carry).expect("the carry is a bit");
    of(&carry.replace("30", "31")).expect_err("it may be one");
    let differing = "xor t0, a2, a3; sltiu t0, t0, 1; add t0, a1, t0; sb zero, 30(t0); ret";
    of(differing).expect("the comparison is a bit");
    of(&differing.replace("30", "31")).expect_err("they may be equal");
}

/// Three times a public index that is not known, without a multiplication.
#[test]
fn a_scaled_index_stays_in_its_table() {
    let Some(machine) = machine() else { return };
    let of = |body: &str| assembled(&machine, body, Returns::Nothing);
    let body = "lbu t0, 0(a1); andi t0, t0, 3; slli t1, t0, 1; add t1, t1, t0; add t1, a2, t1; \
                sb zero, 22(t1); ret";
    of(body).expect("three times three is nine");
    for wrong in [
        body.replace("22(t1)", "23(t1)"),
        body.replace("t0, 3", "t0, 7"),
        body.replace("slli t1, t0, 1", "slli t1, t0, 2"),
        body.replace("(a1)", "(a0)"),
    ] {
        let fault = of(&wrong).expect_err(&wrong);
        assert!(matches!(fault.rule, Rule::OutOfBounds | Rule::SecretAddress), "{wrong}: {fault}");
    }
}

#[test]
fn functions_in_c_are_safe() {
    if machine().is_some() {
        let levels = ["-O2", "-O3", "-Os"];
        let count =
            foreign::functions_in_c_are_safe::<Riscv>(Foreign::Riscv, "gp32", &levels, LONGEST);
        assert!(count > 0, "the assembler belongs to a compiler");
    }
}

#[test]
fn the_call_graph_has_all_callers() {
    let Some(machine) = machine() else { return };
    let functions = foreign::functions("jal", "j", "beqz a0,", "lla a0,");
    let file = object(&machine, &functions);
    for (callee, caller) in foreign::CALLERS {
        let found = foreign::callers(&file, callee);
        assert_eq!(found, caller.map(|caller| vec![caller.to_string()]), "{callee}");
    }
}
