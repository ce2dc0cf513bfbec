//! Safety of functions without a specification: fault injection in assembly, and functions in C.
//!
//! Each fault is one instruction away from a function that is proved.

mod calls;
mod contracts;
mod numbers;
mod pointers;

use contracts::{contract, of_any_length, room};
use usuba_object::dispatch::Dispatch;
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::memory::{Access, Field};
use usuba_object::safety::{Bytes, Evidence, Function, Parameter, Returns, Room, prove};
use usuba_object::x86::X86;
use usuba_object::{Fault, Rule};
use usuba_prove::compiler;
use usuba_run::cc::Family;

/// The most instructions of a test.
const LONGEST: u64 = 10_000;

fn object(text: &str, language: &str, family: Family) -> Object {
    let bytes = compiler::object(text, language, "gp64", family, &["-O2"]).expect("it compiles");
    Object::read(&bytes, Extensions::ALL).expect("an object")
}

/// The assembly of a function.
fn text(body: &str) -> String {
    let body = body.replace("; ", "\n");
    format!(".intel_syntax noprefix\n.text\n.globl f\n.type f, @function\nf:\n{body}\n")
}

/// The verdict on a function in assembly, of `secret` in rdi, `open` in rsi and `out` in rdx.
fn assembled(body: &str, returns: Returns) -> Result<Evidence, Fault> {
    let object = object(&text(body), "assembler", Family::Gcc);
    prove::<X86>(&object, &contract(returns), LONGEST)
}

#[test]
fn every_injected_fault_breaks_its_rule() {
    for (body, rule) in [
        ("mov rax, [rdi]; test rax, rax; je 1f; 1: ret", Rule::SecretBranch),
        ("movzx eax, byte ptr [rdi]; mov al, [rsi + rax]; ret", Rule::SecretAddress),
        (
            "movzx eax, byte ptr [rdi]; lea rcx, [rip + 1f]; add rcx, rax; jmp rcx; 1: ret",
            Rule::Unsupported,
        ),
        ("mov ecx, [rdi]; mov eax, 1; shl eax, cl; ret", Rule::SecretShift),
        ("mov eax, 9; xor edx, edx; mov ecx, [rdi]; div ecx; ret", Rule::SecretOperand),
        ("mov al, [rdi - 1]; ret", Rule::OutOfBounds),
        ("mov al, [rdi + 32]; ret", Rule::OutOfBounds),
        ("mov rax, [rsi + 25]; ret", Rule::OutOfBounds),
        ("mov byte ptr [rdx - 1], 0; ret", Rule::OutOfBounds),
        ("mov byte ptr [rdx + 32], 0; ret", Rule::OutOfBounds),
        ("mov byte ptr [rsp + 8], 0; ret", Rule::OutOfBounds),
        ("mov byte ptr [rsi], 0; ret", Rule::ReadOnly),
        ("movaps xmm0, [rdi]; ret", Rule::Misaligned),
        ("xor ebx, ebx; ret", Rule::NotRestored),
        ("push rax; ret", Rule::NotRestored),
        ("fldz; ret", Rule::NotRestored),
        ("1: jmp 1b", Rule::TooLong),
        ("1: mov al, [rsi]; test al, al; je 1b; ret", Rule::TooLong),
        ("call elsewhere; ret", Rule::Unsupported),
        // An index with bits that are not known, which is too large, and the shift of a secret.
        ("mov eax, [rsi]; and eax, 0x30; mov al, [rsi + rax]; ret", Rule::OutOfBounds),
        ("movzx eax, byte ptr [rsi]; mov al, [rax + rsi]; ret", Rule::OutOfBounds),
        ("mov ecx, [rsi]; mov eax, [rdi]; shr eax, cl; je 1f; 1: ret", Rule::SecretBranch),
        ("mov ecx, [rsi]; cmp [rdi], ecx; shl eax, cl; je 1f; 1: ret", Rule::SecretBranch),
        (
            "movd xmm0, [rdi]; movd xmm1, [rsi]; psrlq xmm0, xmm1; movd eax, xmm0; \
             mov al, [rsi + rax]; ret",
            Rule::SecretAddress,
        ),
        // A choice of a secret, by public data.
        (
            "cmp byte ptr [rsi], 1; mov rax, [rsi]; cmovne rax, [rdi]; test rax, rax; je 1f; 1: ret",
            Rule::SecretBranch,
        ),
    ] {
        let fault = assembled(body, Returns::Nothing).expect_err(body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

/// Indexes and counts that are public need not be known.
#[test]
fn public_numbers_need_not_be_known() {
    for body in [
        "mov eax, [rsi]; and eax, 0x18; mov rax, [rsi + rax]; ret",
        "mov eax, [rsi]; and eax, 0x18; mov rax, [rax + rsi]; ret",
        "mov ecx, [rsi]; mov eax, 8; shl eax, cl; and eax, 0x18; mov rax, [rsi + rax]; ret",
        "mov ecx, [rsi]; mov eax, [rsi]; ror eax, cl; test eax, eax; je 1f; 1: ret",
        "movd xmm0, [rsi]; movd xmm1, [rsi]; psllq xmm0, xmm1; movd eax, xmm0; test al, al; \
         je 1f; 1: ret",
    ] {
        assembled(body, Returns::Nothing).expect(body);
    }
}

#[test]
fn secrets_that_are_left_are_counted() {
    let left = |body: &str| {
        let residue = assembled(body, Returns::Nothing).expect(body).residue;
        (residue.frame, residue.registers.join(" "))
    };
    let clean = (0, String::new());
    assert_eq!(left("mov rax, [rdi]; mov [rdx], rax; xor eax, eax; ret"), clean);
    assert_eq!(left("mov rax, [rdi]; mov [rdx], rax; ret"), (0, "rax".into()));
    assert_eq!(left("mov rax, [rdi]; mov [rsp - 8], rax; xor eax, eax; ret"), (8, "".into()));
    let wiped = "mov rax, [rdi]; mov [rsp - 8], rax; xor eax, eax; mov [rsp - 8], rax; ret";
    assert_eq!(left(wiped), clean);
    assert_eq!(left("movups xmm0, [rdi]; ret"), (0, "xmm0".into()));
    // Public data may stay, and so may the bytes that a caller left in a buffer for results not.
    assert_eq!(left("mov rax, [rsi]; mov [rsp - 8], rax; ret"), clean);
    assert_eq!(left("mov rax, [rdx]; ret"), (0, "rax".into()));
}

/// A signal handler may overwrite an address below the red zone, also where bytes were lost before.
#[test]
fn bytes_below_the_red_zone_are_lost_each_time() {
    let used = "sub rsp, 200; mov [rsp], rsi; middle; mov rax, [rsp]; mov al, [rax]; add rsp, 200; \
                xor eax, eax; ret";
    let moved = "add rsp, 200; sub rsp, 200";
    for before in ["nop", "sub rsp, 200; mov [rsp], rsi; add rsp, 200"] {
        let with = |middle: &str| {
            let body = format!("{before}; {}", used.replace("middle", middle));
            assembled(&body, Returns::Nothing)
        };
        with("nop").expect(before);
        assert!(with(moved).is_err(), "{before}");
    }
}

/// The status is public, and so are copies of its bits; other bits of its secrets are not.
#[test]
fn copies_of_the_status_are_no_secrets() {
    let left = |body: &str| {
        let residue = assembled(body, Returns::Status).expect(body).residue;
        (residue.frame, residue.registers.join(" "))
    };
    let computed = "mov rax, [rdi]; xor ecx, ecx; test rax, rax; setne cl; lea eax, [8 * rcx]";
    for (copy, registers) in [
        ("mov edx, eax", ""),
        ("mov edx, eax; neg edx", ""),
        ("mov edx, eax; not edx", ""),
        ("mov [rsp - 8], rax", ""),
        ("movd xmm0, eax", ""),
        ("mov edx, [rdi]", "rdx"),
        ("mov edx, [rdi]; or edx, eax", "rdx"),
    ] {
        let body = format!("{computed}; {copy}; xor ecx, ecx; ret");
        assert_eq!(left(&body), (0, registers.into()), "{copy}");
    }
    // Where paths are joined, a status may have no name, as other secrets have none.
    let open = |at: usize| format!("mov al, [rsi + {at}]; test al, al; je 1f; nop; 1: ");
    let open: String = (0..14).map(open).collect();
    let joined = "mov rcx, [rdi]; mov rdx, [rdi + 8]; mov al, [rsi + 15]; test al, al; je 1f; \
                  xchg rcx, rdx; 1: mov eax, ecx; xor ecx, ecx; ret";
    assert_eq!(left(&format!("{open}{joined}")), (0, "rdx".into()));
}

#[test]
fn a_public_status_may_tell_the_outcome_of_a_branch() {
    let told = "mov rax, [rdi]; test rax, rax; mov eax, 9; je 1f; xor eax, eax; \
                mov qword ptr [rdx], 1; 1: ret";
    let evidence = assembled(told, Returns::Status).expect("the status tells it");
    assert_eq!((evidence.told.len(), evidence.paths), (1, 2));
    // The same without a status, and with one that is the same on both sides.
    let fault = assembled(told, Returns::Nothing).expect_err("no status");
    assert_eq!(fault.rule, Rule::SecretBranch);
    let kept = told.replace("xor eax, eax", "nop");
    let fault = assembled(&kept, Returns::Status).expect_err("one status");
    assert_eq!(fault.rule, Rule::SecretBranch);
    // A status that was computed before the branch is known after it, because its bit has a name.
    let named = "mov rax, [rdi]; xor ecx, ecx; test rax, rax; setne cl; lea eax, [8 * rcx]; \
                 test eax, eax; je 1f; mov qword ptr [rdx], 1; 1: test eax, eax; je 2f; nop; 2: ret";
    let evidence = assembled(named, Returns::Status).expect("the status is the bit");
    assert_eq!((evidence.told.len(), evidence.paths), (1, 2));
    // The outcome of one branch is not the outcome of the next.
    let next = "2: mov rcx, [rdi + 8]; test rcx, rcx; je 3f; nop; 3: xor ecx, ecx; ret";
    for test in ["test eax, eax; je 1f", "bt eax, 3; jae 1f"] {
        let body = named.replace("2: ret", next).replacen("test eax, eax; je 1f", test, 1);
        let fault = assembled(&body, Returns::Status).expect_err("another");
        assert_eq!(fault.rule, Rule::SecretBranch);
    }
    // Two secrets, and a status that tells one.
    let two = "mov rax, [rdi]; test rax, rax; mov eax, 9; je 1f; xor eax, eax; \
               mov rcx, [rdi + 8]; test rcx, rcx; je 1f; nop; 1: ret";
    assert_eq!(assembled(two, Returns::Status).expect_err("two").rule, Rule::SecretBranch);
}

/// Each turn would double the paths.
#[test]
fn choices_by_public_data_are_one_path() {
    for choice in [
        "mov r9, [rsi + 8]; cmovne rax, r9",
        "setne r8b; add al, r8b",
        "jne 3f; add rax, [rsi + 8]; 3:",
    ] {
        let turns = format!(
            "xor eax, eax; mov ecx, 70; 1: cmp byte ptr [rsi], 1; {choice}; dec ecx; jne 1b; ret"
        );
        let evidence = assembled(&turns, Returns::Nothing).expect(choice);
        assert_eq!(evidence.paths, 1, "{choice}");
    }
}

/// A function with a frame, calls, a table, a public branch and zeroization.
const C: &str = include_str!("status.c");

#[test]
fn a_function_in_c_is_safe() {
    let mut function = contract(Returns::Status);
    // `out` may be `secret`.
    function.equal.push([0, 2]);
    for family in [Family::Gcc, Family::Clang] {
        let object = object(C, "c", family);
        let evidence = prove::<X86>(&object, &function, LONGEST).expect("it is safe");
        assert_eq!(evidence.residue.frame, 0, "{family:?}: {evidence:?}");
        assert!(!evidence.told.is_empty() && evidence.paths >= 8, "{family:?}: {evidence:?}");
        let mut short = function.clone();
        let Parameter::Buffer(out) = &mut short.parameters[2] else { unreachable!() };
        out.bytes = Bytes::Fixed(31);
        let fault = prove::<X86>(&object, &short, LONGEST).expect_err("a byte behind the buffer");
        assert_eq!(fault.rule, Rule::OutOfBounds, "{family:?}: {fault}");
    }
}

/// Fourteen public branches in a row have too many paths, so they are joined. A fault on one path
/// is still a fault after the join.
#[test]
fn joined_paths_keep_every_rule() {
    let open = |at: usize| format!("mov al, [rsi + {at}]; test al, al; je 1f; nop; 1: ");
    let open: String = (0..14).map(open).collect();
    let joined = |body: &str| {
        let proof = assembled(&format!("{open}{body}"), Returns::Nothing);
        proof.map(|evidence| (evidence.paths, evidence.residue.frame, evidence.residue.registers))
    };
    let index = "xor ecx, ecx; mov al, [rsi]; test al, al; je 1f; mov ecx, 31; 1: \
                 mov al, [rsi + rcx]; mov [rdx + rcx], al; xor eax, eax; ret";
    assert_eq!(joined(index), Ok((1, 0, vec![])));
    let called = "push rbx; call g; xor eax, eax; call g; pop rbx; ret; \
                  g: mov ebx, [rsi]; test ebx, ebx; je 2f; xor ebx, ebx; ret; 2: nop; ret";
    assert_eq!(joined(called), Ok((1, 0, vec![])));
    let left = called.replace("2: nop", "2: mov rcx, [rdi]; mov [rsp - 8], rcx");
    assert_eq!(joined(&left), Ok((1, 8, vec!["rcx".to_string()])));
    // A callee-saved register with the address of another buffer on each path, which is dead or live.
    let dead = "push rbx; mov rbx, rsi; mov al, [rsi]; test al, al; je 1f; mov rbx, rdi; 1: \
                xor eax, eax; pop rbx; ret";
    assert_eq!(joined(dead), Ok((1, 0, vec![])));
    let live = dead.replace("1: ", "1: mov al, [rbx]; mov [rdx], al; ");
    assert_eq!(joined(&live), Ok((2, 0, vec![])));
    for (body, rule) in [
        (live.replace("[rbx]", "[rbx + 32]"), Rule::OutOfBounds),
        (live.replace("mov [rdx], al", "test al, al; je 2f; nop; 2: "), Rule::SecretBranch),
        (index.replace("mov ecx, 31", "mov ecx, 32"), Rule::OutOfBounds),
        (index.replace("mov ecx, 31", "mov ecx, -1; movsxd rcx, ecx"), Rule::OutOfBounds),
        (index.replace("mov ecx, 31", "mov ecx, [rdi]"), Rule::SecretAddress),
        (index.replace("[rdx + rcx], al", "[rsi + rcx], al"), Rule::ReadOnly),
        // The second call alone reads too far, or has a secret where the first one has none.
        (called.replace("xor eax, eax", "add rsi, 29"), Rule::OutOfBounds),
        (called.replace("xor eax, eax", "mov rsi, rdi"), Rule::SecretBranch),
        (called.replace("2: nop", "2: mov rax, [rdi]; test rax, rax; jne 2b"), Rule::SecretBranch),
        (called.replace("2: nop", "2: xor ebp, ebp"), Rule::NotRestored),
        (called.replace("2: nop", "2: push rbx"), Rule::NotRestored),
        (called.replace("2: nop", "2: call g"), Rule::TooLong),
        (called.replace("2: nop", "2: jmp g"), Rule::TooLong),
    ] {
        let fault = joined(&body).expect_err(&body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

#[test]
fn loops_of_any_length_are_safe_by_induction() {
    let looped = |body: &str| {
        let object = object(&text(body), "assembler", Family::Gcc);
        prove::<X86>(&object, &of_any_length(Returns::Nothing), LONGEST)
    };
    let copied = "test rdx, rdx; je 2f; xor ecx, ecx; 1: mov al, [rdi + rcx]; mov [rsi + rcx], al; \
                  inc rcx; cmp rcx, rdx; jne 1b; 2: xor eax, eax; ret";
    let evidence = looped(copied).expect("it copies n bytes");
    assert!(evidence.loops > 0 && evidence.residue.is_empty(), "{evidence:?}");
    let words = "1: cmp rdx, 8; jb 2f; mov rax, [rdi]; mov [rsi], rax; add rdi, 8; add rsi, 8; \
                 sub rdx, 8; jmp 1b; 2: test rdx, rdx; je 3f; mov al, [rdi]; mov [rsi], al; \
                 inc rdi; inc rsi; dec rdx; jmp 2b; 3: xor eax, eax; ret";
    looped(words).expect("it copies words, and then bytes");
    let is = |rule: Rule, body: &str| {
        let fault = looped(body).expect_err(body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    };
    // The loop after a test of the upper half of n, to which its counter is related.
    let far = "mov r10, rdx; shr r10, 6; call 4f; ret; 4: mov rax, rdx; or rax, 64; shr rax, 32; \
               je 1f; nop; 1: test r10, r10; je 3f; 2: mov byte ptr [rsi], 0; add rsi, 64; dec r10; \
               jne 2b; 3: xor eax, eax; ret";
    looped(far).expect("it writes a byte of each 64");
    let chunks = "mov rcx, rdx; and rcx, -64; lea r8, [rdi + rcx]; test rcx, rcx; je 2f; \
                  1: mov al, [rdi + 63]; mov [rsi], al; add rdi, 64; add rsi, 64; cmp rdi, r8; \
                  jne 1b; 2: and edx, 63; ";
    let part = "cmp rdx, size; jb 1f; mov al, [rdi]; mov [rsi + size - 1], al; add rdi, size; \
                add rsi, size; sub rdx, size; 1: ";
    let parts: String = ["32", "16", "8", "4", "2", "1"].map(|n| part.replace("size", n)).concat();
    let parts = format!("{chunks}{parts}xor eax, eax; ret");
    looped(&parts).expect("it copies chunks up to an address, and a part of each size or none");
    is(Rule::OutOfBounds, &parts.replace("cmp rdx, 4", "cmp rdx, 3"));
    let counted = "mov eax, 1; movd xmm1, eax; pxor xmm0, xmm0; 1: cmp rdx, 16; jb 2f; \
                   movups [rsi], xmm0; paddd xmm0, xmm1; add rsi, 16; sub rdx, 16; jmp 1b; \
                   2: xor eax, eax; ret";
    looped(counted).expect("it writes numbers of a vector");
    is(Rule::OutOfBounds, &counted.replace("cmp rdx, 16", "cmp rdx, 15"));
    // A flag is a number and the outcome of a branch.
    let flagged = "test rdx, rdx; je 2f; mov r9, rdx; mov rax, rdx; xor r10d, r10d; mul rdx; \
                   test rdx, rdx; setne r10b; jne 2f; 1: mov byte ptr [rsi + r10], 0; inc r10; \
                   cmp r10, r9; jne 1b; 2: xor eax, eax; ret";
    looped(flagged).expect("the number is zero");
    is(Rule::OutOfBounds, &flagged.replace("setne r10b", "sete r10b; mov al, [rdi + r10]"));
    // One byte too many at each end, and eight bytes where there may be seven.
    is(Rule::OutOfBounds, &copied.replace("[rsi + rcx]", "[rsi + rcx + 1]"));
    is(Rule::OutOfBounds, &copied.replace("[rdi + rcx]", "[rdi + rcx - 1]"));
    is(Rule::OutOfBounds, &copied.replace("test rdx, rdx; je 2f; ", ""));
    is(Rule::OutOfBounds, &words.replace("cmp rdx, 8", "cmp rdx, 7"));
    is(Rule::OutOfBounds, &far.replace("rsi, 64", "rsi, 128"));
    is(Rule::ReadOnly, &copied.replace("mov [rsi + rcx], al", "mov [rdi + rcx], al"));
    is(Rule::SecretBranch, &copied.replace("inc rcx", "test al, al; je 2f; inc rcx"));
    is(Rule::NotRestored, &copied.replace("2: ", "2: pop rcx; push rcx; push rcx; "));
    // A length or an address makes no secret public.
    for mixed in ["add rax, rdx", "and rax, rdi", "lea rcx, [rdi + rdx]; xor rax, rcx"] {
        let body =
            "test rdx, rdx; je 1f; movzx eax, byte ptr [rdi]; mix; test rax, rax; js 1f; 1: ret";
        is(Rule::SecretBranch, &body.replace("mix", mixed));
    }
    // A loop that does not end for each length, or for odd ones.
    is(Rule::TooLong, "1: cmp rdx, 8; jae 1b; ret");
    is(Rule::TooLong, "test rdx, rdx; je 2f; 1: sub rdx, 2; jne 1b; 2: ret");
    let left = copied.replace("xor eax, eax", "nop");
    assert_eq!(looped(&left).expect("a byte is left").residue.registers, ["rax"]);
}

/// A function over any length, with a tail, a copy and a status.
const ANY: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int f(const uint8_t *secret, uint8_t *out, size_t n)
{
    uint8_t block[16];
    size_t i;
    for (; n >= 16; n -= 16, secret += 16, out += 16) {
        memcpy(block, secret, 16);
        for (i = 0; i < 16; i++) block[i] = (uint8_t)(block[i] * 3);
        memcpy(out, block, 16);
    }
    memset(block, 0, 16);
    if (n) {
        memcpy(block, secret, n);
        for (i = 0; i < 16; i++) block[i] ^= 0x55;
        memcpy(out, block, n);
        memset(block, 0, 16);
    }
    __asm__ __volatile__("" : : "r"(block) : "memory");
    return 0;
}
"#;

#[test]
fn a_function_in_c_is_safe_for_any_length() {
    for family in [Family::Gcc, Family::Clang] {
        let object = object(ANY, "c", family);
        let function = of_any_length(Returns::Status);
        let evidence = prove::<X86>(&object, &function, 100 * LONGEST).expect("it is safe");
        assert!(evidence.loops > 0, "{family:?}: {evidence:?}");
        let mut short = function;
        let Parameter::Buffer(out) = &mut short.parameters[1] else { unreachable!() };
        out.bytes = Bytes::Times { each: 1, length: 2, more: -1 };
        short.equal.clear();
        let fault = prove::<X86>(&object, &short, 100 * LONGEST).expect_err("one byte less");
        assert_eq!(fault.rule, Rule::OutOfBounds, "{family:?}: {fault}");
    }
}

/// Relations and bounds of numbers survive joins, and count loops. Twelve public branches make all paths too
/// many.
#[test]
fn joined_paths_keep_relations() {
    let mut function = of_any_length(Returns::Nothing);
    function.parameters.push(Parameter::Any);
    let fork = |bit: usize| format!("bt rcx, {bit}; jae 1f; nop; 1: ");
    let forks: String = (0..12).map(fork).collect();
    let proof = |body: &str| {
        let object = object(&text(&format!("{forks}{body}")), "assembler", Family::Gcc);
        prove::<X86>(&object, &function, 10 * LONGEST)
    };
    let copied = "test r9, r9; je 3f; 2: mov al, [rdi]; mov [rsi], al; inc rdi; inc rsi; dec r9; \
                  jne 2b; 3: xor eax, eax; ret";
    // The least of n and 16, 9 bytes of at least 9, and 64 - n bytes of red zone from n on.
    let least = "mov r9, rdx; cmp rdx, 16; jbe 1f; mov r9d, 16; 1: ";
    let sum = "cmp rdx, 9; jb 3f; mov eax, 3; mov r9d, 6; bt rcx, 20; jae 1f; mov eax, 7; \
               mov r9d, 2; 1: add rdi, rax; add rsi, rax; ";
    let rest = "cmp rdx, 64; ja 3f; mov r9d, 64; sub r9, rdx; je 3f; lea rax, [rsp + rdx - 64]; \
                2: mov byte ptr [rax], 0; inc rax; dec r9; jne 2b; 3: xor eax, eax; ret";
    // Pairs of blocks if there are ten blocks, and the rest: an equation of all paths.
    let blocks = "mov rcx, rdx; shr rcx, 4; test cl, 1; je 1f; nop; 1: call g; ret; \
                  g: cmp rcx, 10; jb 1f; mov rax, rcx; shr rax, 1; shl rax, 5; add rdi, rax; \
                  add rsi, rax; and ecx, 1; 1: test rcx, rcx; je 3f; 2: mov rax, [rdi + 8]; \
                  mov [rsi + 8], rax; add rdi, 16; add rsi, 16; dec rcx; jne 2b; \
                  3: xor eax, eax; ret";
    // The bytes behind the whole blocks: no register has their number at the branch.
    let tail = "mov r9, rdx; shr r9, 6; xor r9d, r9d; call g; ret; g: mov rax, rdx; \
                and rax, -16; cmp rax, 64; jb 1f; nop; 1: mov r9, rdx; sub r9, rax; \
                add rdi, rax; add rsi, rax; ";
    // A sum of n and rax, which is below 64 on both paths.
    let turned = "cmp rdx, 63; ja 3f; lea r9, [rdx + 32]; mov eax, 64; cmp rdx, 32; jb 1f; \
                  sub r9, 64; xor eax, eax; 1: mov byte ptr [rsp + r9 - 64], 0; 3: xor eax, eax; \
                  ret";
    for (body, fault) in [
        (turned.to_string(), ("r9 - 64", "r9 - 63")),
        (blocks.to_string(), ("shl rax, 5", "shl rax, 6")),
        (format!("{tail}{copied}"), ("sub r9, rax", "sub r9, rax; inc r9")),
        (format!("{least}{copied}"), ("r9d, 16", "r9d, 18")),
        (format!("{sum}{copied}"), ("r9d, 2", "r9d, 3")),
        (rest.to_string(), ("r9d, 64", "r9d, 65")),
    ] {
        proof(&body).expect(&body);
        let planted = body.replace(fault.0, fault.1);
        assert!(proof(&planted).is_err(), "{planted}");
    }
}

/// A struct with a number that is below 16.
const STATE: &str = r#"
#include <stdint.h>
typedef struct { uint64_t used; uint8_t bytes[16]; } state;
int f(state *s, const uint8_t *in, uint64_t position)
{
    READ;
    s->bytes[position % MODULUS] = in[3];
    s->used = NEXT;
    return 0;
}
"#;

/// Each function may rely on the bounds of fields, and establishes them.
#[test]
fn fields_keep_their_bounds() {
    let verdict = |read: &str, modulus: &str, next: &str, access, family| {
        let text = STATE.replace("READ", read).replace("MODULUS", modulus).replace("NEXT", next);
        let below = Some(16);
        let fields = vec![Field { name: "used".into(), offset: 0, bytes: 8, below }];
        let state = Room { fields, ..room("s", 24, access) };
        let rooms = [state, room("in", 16, Access::Read)];
        let parameters = rooms.map(Parameter::Buffer).into_iter().chain([Parameter::Any]);
        let (symbol, parameters) = ("f".into(), parameters.collect());
        let function = Function { symbol, parameters, equal: Vec::new(), returns: Returns::Status };
        let fault = prove::<X86>(&object(&text, "c", family), &function, LONGEST).err();
        fault.map(|fault| fault.rule)
    };
    let read = "s->bytes[0] = s->bytes[s->used]";
    for family in [Family::Gcc, Family::Clang] {
        let is = |rule: Option<Rule>, read: &str, modulus: &str, next: &str, access| {
            let found = verdict(read, modulus, next, access, family);
            assert_eq!(found, rule, "{family:?}: {read} {modulus} {next}");
        };
        for next in ["0", "(s->used + 1) % 16", "s->used > 14 ? 0 : s->used + 1", "position & 7"] {
            is(None, read, "16", next, Access::Both);
        }
        for next in ["s->used + 1", "position", "16", "position % 17", "in[0] & 1"] {
            is(Some(Rule::Field), read, "16", next, Access::Both);
        }
        is(Some(Rule::OutOfBounds), read, "32", "0", Access::Both);
        // Nothing is known of a struct that is only written.
        is(None, "", "8", "0", Access::Write);
        is(Some(Rule::Field), "", "8", "s->used", Access::Write);
        is(Some(Rule::SecretAddress), read, "8", "0", Access::Write);
    }
}

/// A choice of AVX2 at run time, and a loop over the steps of a table with addresses.
const DISPATCHED: &str = "
    typedef unsigned char u8;
    typedef int wide __attribute__((vector_size(32), aligned(1)));
    static int choice;
    __attribute__((noinline, target(\"avx2\"))) static void clear(u8 *out) { *(wide *)out = (wide){0}; }
    __attribute__((noinline)) static void mark(u8 *out) { *out = 1; }
    static const struct step { unsigned long from; void (*run)(u8 *); } steps[2][3] = {
        {{200, clear}, {3, mark}, {0, clear}},
        {{100, mark}, {2, mark}, {0, mark}}};
    static int chosen(const u8 *open) {
        int now = __atomic_load_n(&choice, __ATOMIC_RELAXED);
        if (now) return now;
        now = __builtin_cpu_supports(\"avx2\") ? 4 : 1;
        __atomic_store_n(&choice, now, __ATOMIC_RELAXED);
        return now;
    }
    int f(const u8 *secret, const u8 *open, u8 *out, unsigned long length) {
        const struct step *step = steps[chosen(open) != 4];
        while (length < step->from) step++;
        step->run(out);
        return 0;
    }";

/// A path uses a backend only after it has found its features, or a choice that another one has made.
#[test]
fn a_backend_is_used_after_its_features_were_found() {
    let f = contract(Returns::Status);
    let parameters = [f.parameters.clone(), vec![Parameter::Length(1 << 40)]].concat();
    let f = Function { parameters, ..f };
    let features = [vec![], vec![], vec!["sse4.2".to_string()], vec!["avx2".to_string()]];
    for family in [Family::Gcc, Family::Clang] {
        let proved = |(from, to): (&str, &str)| {
            let text = DISPATCHED.replace(from, to);
            assert_eq!(text == DISPATCHED, from == to, "{from}");
            let mut object = object(&text, "c", family);
            let values = [0, 1, 3, 4].into_iter().zip(features.iter().map(Vec::as_slice));
            let dispatch =
                Dispatch::new(|name| object.variable(name), "choice", values).expect("a variable");
            object.dispatch = Some(dispatch.into());
            prove::<X86>(&object, &f, LONGEST)
        };
        let evidence = proved(("", "")).expect("a function that asks first");
        assert!(evidence.paths >= 6, "{evidence:?}");
        for (from, to, words) in [
            ("supports(\"avx2\")", "supports(\"sse4.2\")", "backend 4 without its features"),
            ("? 4 : 1", "? 5 : 1", "backend 5 without its features"),
            ("? 4 : 1", "? *open : 1", "not known which backend"),
            ("{2, mark}", "{2, clear}", "need not have AVX"),
            ("{0, mark}", "{1, mark}", "constants"),
            ("while (", "if (*open == 7) clear(out); while (", "need not have AVX"),
        ] {
            let fault = proved((from, to)).expect_err(to);
            assert!(fault.what.contains(words), "{to}: {fault}");
        }
    }
}

/// A table has the address of a constant that the linker merges, and no address inside of one.
#[test]
fn addresses_of_merged_constants_are_known() {
    let body = |offset: u32, last: u32| {
        format!(
            "mov rax, [rip + table]; mov cl, [rax]; mov cl, [rax + {last}]; ret; \
             .section .data.rel.ro, \"aw\", @progbits; table: .quad .rodata.str1.1 + {offset}; \
             .section .rodata.str1.1, \"aMS\", @progbits, 1; .string \"one\"; .string \"three\""
        )
    };
    for (offset, last) in [(0, 3), (4, 5)] {
        assembled(&body(offset, last), Returns::Nothing).expect("a constant");
        let fault = assembled(&body(offset, last + 1), Returns::Nothing).expect_err("behind it");
        assert_eq!(fault.rule, Rule::OutOfBounds, "{fault}");
    }
    let fault = assembled(&body(5, 0), Returns::Nothing).expect_err("a part of a constant");
    assert!(fault.what.contains("merges"), "{fault}");
}
