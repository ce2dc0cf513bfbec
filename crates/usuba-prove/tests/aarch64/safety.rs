//! Safety of functions without a specification, and the call graph.
//!
//! Each fault is one instruction away from a function that is proved.

use usuba_object::aarch64::Aarch64;
use usuba_object::elf::Object;
use usuba_object::safety::{Bytes, Evidence, Parameter, Returns, prove};
use usuba_object::{Fault, Rule};
use usuba_run::cc::{Foreign, Machine};

use super::contracts::{contract, of_any_length};
use super::{Assembly, foreign, machine, read};

/// The most instructions of a test.
const LONGEST: u64 = 10_000;

/// The object of functions in assembly, of which `f` is the first one.
fn object(machine: &Machine, body: &str) -> Object {
    let body = body.replace("; ", "\n");
    let text = format!(
        ".text\n.globl f\n.type f, @function\nf:\n{body}\n.section .rodata\n\
         table: .byte 1, 2, 3, 4, 5, 6, 7, 8\n"
    );
    read(&Assembly::new(machine, &text).object())
}

/// The verdict on a function of `secret` in x0, `open` in x1 and `out` in x2.
fn assembled(machine: &Machine, body: &str, returns: Returns) -> Result<Evidence, Fault> {
    prove::<Aarch64>(&object(machine, body), &contract(returns), LONGEST)
}

#[test]
fn every_injected_fault_breaks_its_rule() {
    let Some(machine) = machine() else { return };
    for (body, rule) in [
        ("ldr x9, [x0]; cbz x9, 1f; 1: ret", Rule::SecretBranch),
        ("ldr x9, [x0]; tbnz x9, #5, 1f; 1: ret", Rule::SecretBranch),
        ("ldr x9, [x0]; cmp x9, #1; ccmp x9, #2, #0, ne; b.eq 1f; 1: ret", Rule::SecretBranch),
        ("ldrb w9, [x0]; ldrb w9, [x1, x9]; ret", Rule::SecretAddress),
        ("ldrb w9, [x0]; add x9, x1, x9; ret", Rule::SecretAddress),
        ("ldr x9, [x0]; br x9", Rule::SecretBranch),
        ("ldr x9, [x0]; lsl x9, x9, x9; ret", Rule::SecretShift),
        ("ldr x9, [x0]; mov x10, #9; udiv x9, x9, x10; ret", Rule::SecretOperand),
        ("ldrb w9, [x0, #-1]; ret", Rule::OutOfBounds),
        ("ldrb w9, [x0, #32]; ret", Rule::OutOfBounds),
        ("ldur x9, [x1, #25]; ret", Rule::OutOfBounds),
        ("ldur q0, [x1, #17]; ret", Rule::OutOfBounds),
        ("ldp x9, x10, [x1, #24]; ret", Rule::OutOfBounds),
        ("strb wzr, [x2, #32]; ret", Rule::OutOfBounds),
        ("strb wzr, [sp]; ret", Rule::OutOfBounds),
        ("ldrb w9, [sp, #-1]; ret", Rule::OutOfBounds),
        ("strb wzr, [x1]; ret", Rule::ReadOnly),
        ("mov x19, #0; ret", Rule::NotRestored),
        ("movi d9, #0; ret", Rule::NotRestored),
        ("sub sp, sp, #16; ret", Rule::NotRestored),
        ("1: b 1b", Rule::TooLong),
        ("1: ldrb w9, [x1]; cbz w9, 1b; ret", Rule::TooLong),
        (
            "stp x29, x30, [sp, #-16]!; bl elsewhere; ldp x29, x30, [sp], #16; ret",
            Rule::Unsupported,
        ),
        // A choice of a secret, by public data.
        (
            "ldr x9, [x1]; ldr x10, [x0]; cmp x9, #1; csel x9, x9, x10, eq; cbz x9, 1f; 1: ret",
            Rule::SecretBranch,
        ),
    ] {
        let fault = assembled(&machine, body, Returns::Nothing).expect_err(body);
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
    assert_eq!(left("ldr x9, [x0]; str x9, [x2]; mov x9, #0; ret"), clean);
    assert_eq!(left("ldr x9, [x0]; str x9, [x2]; ret"), (0, "x9".into()));
    let kept = "ldr x9, [x0]; str x9, [sp, #-16]!; mov x9, #0; add sp, sp, #16; ret";
    assert_eq!(left(kept), (8, "".into()));
    assert_eq!(left(&kept.replace("mov x9, #0", "mov x9, #0; str x9, [sp]")), clean);
    assert_eq!(left("ldr q0, [x0]; ret"), (0, "v0".into()));
    assert_eq!(left("ldr x9, [x1]; ret"), clean);
    assert_eq!(left("ldr x9, [x2]; ret"), (0, "x9".into()));
}

#[test]
fn a_public_status_may_tell_the_outcome_of_a_branch() {
    let Some(machine) = machine() else { return };
    let told = "ldr x9, [x0]; mov w0, #9; cbz x9, 1f; mov w0, #0; mov x9, #1; str x9, [x2]; 1: ret";
    let evidence = assembled(&machine, told, Returns::Status).expect("the status tells it");
    assert_eq!((evidence.told.len(), evidence.paths), (1, 2));
    let fault = assembled(&machine, told, Returns::Nothing).expect_err("no status");
    assert_eq!(fault.rule, Rule::SecretBranch);
    let kept = told.replace("mov w0, #0", "nop");
    let fault = assembled(&machine, &kept, Returns::Status).expect_err("one status");
    assert_eq!(fault.rule, Rule::SecretBranch);
}

/// Many public branches in a row have too many paths, so they are joined.
#[test]
fn joined_paths_keep_every_rule() {
    let Some(machine) = machine() else { return };
    let open = |at: usize| format!("ldrb w9, [x1, #{at}]; cbz w9, 1f; nop; 1: ");
    let open: String = (0..14).map(open).collect();
    let joined = |body: &str| {
        let proof = assembled(&machine, &format!("{open}{body}"), Returns::Nothing);
        proof.map(|evidence| (evidence.paths, evidence.residue.frame, evidence.residue.registers))
    };
    let index = "mov x10, #0; ldrb w9, [x1]; cbz w9, 1f; mov x10, #31; 1: ldrb w9, [x1, x10]; \
                 strb w9, [x2, x10]; ret";
    assert_eq!(joined(index), Ok((1, 0, vec![])));
    let called = "stp x30, x19, [sp, #-32]!; str d8, [sp, #16]; bl g; mov x9, #0; bl g; \
                  ldr d8, [sp, #16]; ldp x30, x19, [sp], #32; ret; \
                  g: movi d8, #0; ldr w19, [x1]; cbz w19, 2f; mov w19, #0; ret; 2: nop; ret";
    assert_eq!(joined(called), Ok((1, 0, vec![])));
    let calls = "stp x30, x19, [sp, #-16]!; ldrb w9, [x1]; cbz w9, 1f; bl g; b 2f; 1: bl g; \
                 2: ldp x30, x19, [sp], #16; ret; g: mov x9, #0; ret";
    assert_eq!(joined(calls), Ok((1, 0, vec![])));
    for (body, rule) in [
        (index.replace("mov x10, #31", "mov x10, #32"), Rule::OutOfBounds),
        (index.replace("mov x10, #31", "mov x10, #-1"), Rule::OutOfBounds),
        (index.replace("mov x10, #31", "ldr x10, [x0]"), Rule::SecretAddress),
        (index.replace("[x2, x10]", "[x1, x10]"), Rule::ReadOnly),
        (called.replace("mov x9, #0", "add x1, x1, #29"), Rule::OutOfBounds),
        (called.replace("mov x9, #0", "mov x1, x0"), Rule::SecretBranch),
        (called.replace("2: nop", "2: mov x20, #0"), Rule::NotRestored),
        (called.replace("2: nop", "2: movi d9, #0"), Rule::NotRestored),
        (called.replace("ldr d8, [sp, #16]", "nop"), Rule::NotRestored),
        (called.replace("2: nop", "2: sub sp, sp, #16"), Rule::Unsupported),
        (called.replace("2: nop", "2: b g"), Rule::TooLong),
    ] {
        let fault = joined(&body).expect_err(&body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

/// Functions of `secret` in x0, `out` in x1, and `n` bytes each in x2.
/// A status that nobody reads keeps no paths apart, in a function and behind its return.
#[test]
fn statuses_that_nobody_reads_are_joined() {
    // As much as the prover has: the search is recursive.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(check_statuses);
    thread.expect("a thread").join().expect("no fault");
}

fn check_statuses() {
    let Some(machine) = machine() else { return };
    let mut function = of_any_length(Returns::Status);
    function.parameters.extend([Parameter::Any, Parameter::Any]);
    // A callee that asks for a number has no summary.
    let proof = |read: &str| {
        let call = |at: usize| format!("mov w5, #{at}; bl g; {read}; ");
        let calls: String = (0..32).map(call).collect();
        let body = format!(
            "stp x29, x30, [sp, #-16]!; {calls}mov w0, wzr; ldp x29, x30, [sp], #16; ret; \
             g: cmp x2, x5; b.lo 1f; nop; 1: lsr x4, x3, x5; tst x4, #1; cset w0, ne; ret"
        );
        prove::<Aarch64>(&object(&machine, &body), &function, LONGEST).err()
    };
    assert_eq!(proof("nop"), None);
    // A read of each keeps all paths apart.
    assert!(proof("add w10, w10, w0").is_some());
}

#[test]
fn loops_of_any_length_are_safe_by_induction() {
    let Some(machine) = machine() else { return };
    let looped = |body: &str| {
        prove::<Aarch64>(&object(&machine, body), &of_any_length(Returns::Nothing), LONGEST)
    };
    let copied = "cbz x2, 2f; mov x9, #0; 1: ldrb w10, [x0, x9]; strb w10, [x1, x9]; \
                  add x9, x9, #1; cmp x9, x2; b.ne 1b; 2: mov w10, #0; ret";
    let evidence = looped(copied).expect("it copies n bytes");
    assert!(evidence.loops > 0 && evidence.residue.is_empty(), "{evidence:?}");
    let words = "1: cmp x2, #8; b.lo 2f; ldr x9, [x0], #8; str x9, [x1], #8; sub x2, x2, #8; b 1b; \
                 2: cbz x2, 3f; ldrb w9, [x0], #1; strb w9, [x1], #1; subs x2, x2, #1; b 2b; 3: ret";
    looped(words).expect("it copies words, and then bytes");
    let ends = "add x3, x0, x2; 1: cmp x0, x3; b.eq 2f; ldrb w9, [x0], #1; strb w9, [x1], #1; b 1b; \
                2: ret";
    looped(ends).expect("it ends at an address");
    let vectors = "and x3, x2, #-32; add x3, x0, x3; 1: cmp x0, x3; b.eq 2f; ldp q0, q1, [x0], #32; \
                   stp q0, q1, [x1], #32; b 1b; 2: ands x2, x2, #31; b.eq 4f; \
                   3: ldrb w9, [x0], #1; strb w9, [x1], #1; subs x2, x2, #1; b.ne 3b; 4: ret";
    looped(vectors).expect("it copies vectors, and then bytes");
    let chunks =
        "lsr x3, x2, #6; cbz x3, 2f; 1: strb wzr, [x1], #64; subs x3, x3, #1; b.ne 1b; 2: ret";
    looped(chunks).expect("it writes a byte of each 64");
    let saved = "stp x29, x30, [sp, #-48]!; stp x19, x20, [sp, #16]; str x21, [sp, #32]; mov x19, x1; \
                 mov x20, x2; mov x21, #0; 1: cmp x21, x20; b.hs 2f; add x0, x19, x21; bl g; \
                 add x21, x21, #1; b 1b; 2: ldr x21, [sp, #32]; ldp x19, x20, [sp, #16]; \
                 ldp x29, x30, [sp], #48; ret; g: strb wzr, [x0]; ret";
    looped(saved).expect("it calls a function in each turn");
    // The second loop ends at the last index of the first one.
    let twice = "cbz x2, 4f; mov x3, #0; b 2f; 1: mov x3, x4; 2: ldrb w9, [x0, x3]; add x4, x3, #1; \
                 cmp x2, x4; b.ne 1b; mov x5, #0; 3: strb wzr, [x1, x5]; cmp x3, x5; \
                 add x5, x5, #1; b.ne 3b; 4: mov w9, #0; ret";
    looped(twice).expect("it reads n bytes, and writes n bytes");
    // A flag is a number and the outcome of a branch.
    let flagged = twice.replace(
        "mov x3, #0; b 2f",
        "umulh x9, x2, x2; cmp x9, #0; cset x5, ne; b.ne 4f; mov x3, #0; b 2f",
    );
    let flagged = flagged.replace("mov x5, #0; ", "");
    looped(&flagged).expect("the number is zero");
    for (body, rule) in [
        (flagged.replace("cset x5, ne", "cset x5, eq; ldrb w9, [x0, x5]"), Rule::OutOfBounds),
        (twice.replace("[x1, x5]", "[x1, x4]"), Rule::OutOfBounds),
        (twice.replace("cmp x3, x5", "cmp x4, x5"), Rule::OutOfBounds),
        (copied.replace("b.ne", "b.ls"), Rule::OutOfBounds),
        (copied.replace("mov x9, #0", "mov x9, #1"), Rule::OutOfBounds),
        (copied.replace("cbz x2, 2f; ", ""), Rule::OutOfBounds),
        (copied.replace("ldrb w10, [x0", "ldrh w10, [x0"), Rule::OutOfBounds),
        (copied.replace("strb w10, [x1", "strb w10, [x0"), Rule::ReadOnly),
        (copied.replace("add x9, x9, #1", "cbz w10, 2f; add x9, x9, #1"), Rule::SecretBranch),
        (words.replace("cmp x2, #8", "cmp x2, #7"), Rule::OutOfBounds),
        (words.replace("subs x2, x2, #1", "subs x2, x2, #2"), Rule::OutOfBounds),
        (vectors.replace("ands x2, x2, #31", "ands x2, x2, #63"), Rule::OutOfBounds),
        (vectors.replace("and x3, x2, #-32", "and x3, x2, #-16"), Rule::OutOfBounds),
        (chunks.replace("lsr x3, x2, #6", "lsr x3, x2, #5"), Rule::OutOfBounds),
        (saved.replace("b.hs", "b.hi"), Rule::OutOfBounds),
        (saved.replace("strb wzr, [x0]", "mov x19, x0; strb wzr, [x0]"), Rule::OutOfBounds),
    ] {
        let fault = looped(&body).expect_err(&body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

/// The remainder of a public word of which nothing is known, by a quotient and a product.
#[test]
fn a_remainder_is_less_than_its_divisor() {
    let Some(machine) = machine() else { return };
    let divided = |body: &str| {
        let mut function = of_any_length(Returns::Nothing);
        function.parameters[2] = Parameter::Any;
        for at in [0, 1] {
            let Parameter::Buffer(room) = &mut function.parameters[at] else { unreachable!() };
            room.bytes = Bytes::Fixed(64);
        }
        prove::<Aarch64>(&object(&machine, body), &function, LONGEST)
    };
    let right = "mov x9, #64; udiv x10, x2, x9; msub x10, x10, x9, x2; strb wzr, [x1, x10]; ret";
    divided(right).expect("the remainder is below 64");
    let kept = right.replace("udiv x10", "str x2, [sp, #-16]!; udiv x10");
    let kept = kept.replace("; msub", "; ldr x2, [sp], #16; msub");
    divided(&kept).expect_err("another copy of the dividend is another word here");
    for body in [
        right.replace("#64", "#65"),
        right.replace("; msub", "; add x2, x2, #1; msub"),
        right.replace("; msub", "; add x10, x10, #1; msub"),
        right.replace("; msub", "; mov x9, #63; msub"),
        right.replace("udiv", "sdiv"),
        right.replace("x9, x2; strb", "x9, x3; strb"),
        right.replace("msub x10, x10, x9, x2", "madd x10, x10, x9, x2"),
        right.replace("msub x10, x10, x9, x2", "msub w10, w10, w9, w2"),
        right.replace("strb", "strh"),
    ] {
        divided(&body).expect_err(&body);
    }
}

/// A comparison of the lower half of a word says nothing about the upper one.
#[test]
fn a_comparison_of_a_half_is_of_a_half() {
    let Some(machine) = machine() else { return };
    let compared = |body: &str| {
        let mut function = of_any_length(Returns::Nothing);
        function.parameters[2] = Parameter::Any;
        for at in [0, 1] {
            let Parameter::Buffer(room) = &mut function.parameters[at] else { unreachable!() };
            room.bytes = Bytes::Fixed(32);
        }
        prove::<Aarch64>(&object(&machine, body), &function, LONGEST)
    };
    let right = "mov w2, w2; cmp w2, #31; b.hi 1f; strb wzr, [x1, x2]; 1: ret";
    compared(right).expect("it is below 32");
    let lower = right.replace("[x1, x2]", "[x1, w2, uxtw]").replace("mov w2, w2; ", "");
    assert!(compared(&lower).is_err_and(|fault| fault.rule != Rule::OutOfBounds));
    for body in [
        right.replace("mov w2, w2; ", ""),
        right.replace("#31", "#32"),
        right.replace("b.hi", "b.gt"),
        right.replace("cmp w2", "cmp w3"),
    ] {
        compared(&body).expect_err(&body);
    }
}

#[test]
fn functions_in_c_are_safe() {
    if machine().is_some() {
        let levels = ["-O2", "-O3", "-Os", "-mbranch-protection=standard"];
        let count =
            foreign::functions_in_c_are_safe::<Aarch64>(Foreign::Aarch64, "gp64", &levels, LONGEST);
        assert!(count > 0, "the assembler belongs to a compiler");
    }
}

#[test]
fn the_call_graph_has_all_callers() {
    let Some(machine) = machine() else { return };
    let functions = foreign::functions("bl", "b", "cbz x0,", "adr x0,");
    let file = object(&machine, &functions);
    for (callee, caller) in foreign::CALLERS {
        let found = foreign::callers(&file, callee);
        assert_eq!(found, caller.map(|caller| vec![caller.to_string()]), "{callee}");
    }
    // A page may have the address of each of its functions, where the linker has written distances.
    let paged = functions.replace("adr x0, m", "adrp x0, m; add x0, x0, :lo12:m");
    let file = object(&machine, &paged);
    assert_eq!(foreign::callers(&file, "m"), None);
    assert!(foreign::callers(&file, "k").is_some());
}
