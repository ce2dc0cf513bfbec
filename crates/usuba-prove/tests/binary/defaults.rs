//! Code that the default flags of compilers and distributions add to a function.
//!
//! ```text
//! mov rax, fs:[0x28]             the canary of the stack protector
//! or  qword ptr [rsp], 0         a probe of a page of the stack
//! call __memcpy_chk              a copy that is checked
//! mov eax, offset table          an address in code without -fPIE
//! ```

use usuba_object::Rule;
use usuba_object::compare::{Demands, Verdict};

use super::faults::{Functions, RIGHT, refused};

/// Code that is proved before the right function.
const PROVED: [&str; 7] = [
    "mov eax, offset table; cmp byte ptr [rax + 63], 7; jne 1f; add rax, 8; mov rcx, 8; \
     add rcx, offset table; cmp rax, rcx; jne 1f; cmp rax, offset table + 8; jne 1f; \
     mov qword ptr [rsp - 8], offset table; sub rax, [rsp - 8]; cmp rax, 8; je 2f; 1: ud2; 2:",
    "push rbx; push r12; push r13; mov rbx, rdi; mov r12, rsi; mov r13, rdx; mov rdi, rdx; \
     mov edx, 8; mov ecx, 8; call __memcpy_chk; mov rdi, r13; mov esi, 7; mov edx, 8; \
     mov rcx, -1; call __memset_chk; mov rdi, rbx; mov rsi, r12; mov rdx, r13; pop r13; \
     pop r12; pop rbx",
    "mov rax, fs:[0x28]; mov [rsp - 8], rax; xor eax, eax; mov rax, [rsp - 8]; \
     sub rax, fs:[0x28]; je 1f; ud2; 1:",
    "mov rax, fs:[0x28]; mov [rsp - 8], rax; mov rax, fs:[0x28]; cmp rax, [rsp - 8]; \
     je 1f; ud2; 1: mov rcx, [rsp - 8]; xor rcx, fs:[0x28]; je 2f; ud2; 2:",
    "sub rsp, 4096; or qword ptr [rsp], 0; mov [rsp], rdi; or qword ptr [rsp], 0; \
     mov rdi, [rsp]; add rsp, 4096",
    "fldz; fldz; fstp st(0); fstp st(0)",
    "mov eax, 100; xor r8d, r8d; mov r9, rdx; xor edx, edx; mov ecx, 7; div ecx; mov r8d, edx; \
     mov rdx, r9; cmp eax, 14; jne 1f; cmp r8d, 2; je 2f; 1: ud2; 2:",
];

/// Code that is refused.
const REFUSED: [(&str, Rule, &str); 26] = [
    ("mov eax, offset table; mov al, [rax + 64]", Rule::OutOfBounds, "constants"),
    ("mov eax, offset table; test al, 64; je 1f; 1:", Rule::Unsupported, "undefined flags"),
    ("mov eax, offset table; cmp eax, offset table", Rule::Unsupported, "in the instruction"),
    ("mov ecx, 8; imul rcx, rcx, offset table", Rule::Unsupported, "in the instruction"),
    ("mov dword ptr [rsp - 8], offset table", Rule::Unsupported, "in the instruction"),
    ("mov rax, offset table; and rax, offset table", Rule::Unsupported, "in the instruction"),
    ("mov ecx, 7; mov edx, 8; sub rsp, 8; call __memset_chk", Rule::Unsupported, "too small"),
    ("mov ecx, 8; mov edx, 8; sub rsp, 8; call __memcmp_chk", Rule::Unsupported, "not in"),
    ("mov rax, fs:[48]", Rule::Unsupported, "prefix"),
    ("mov eax, fs:[40]", Rule::Unsupported, "prefix"),
    ("mov ecx, 40; mov rax, fs:[rcx]", Rule::Unsupported, "prefix"),
    ("mov rax, fs:[40]; mov fs:[40], rax", Rule::Unsupported, "prefix"),
    ("mov rax, fs:[40]; mov [rdx], rax", Rule::Unsupported, "an address to a buffer"),
    ("mov rax, fs:[40]; mov rax, [rax]", Rule::OutOfBounds, "happened to hold"),
    ("mov rax, fs:[40]; test rax, rax; je 1f; 1:", Rule::Unsupported, "undefined flags"),
    ("mov rax, fs:[40]; cmp rax, 7; je 1f; 1:", Rule::Unsupported, "undefined flags"),
    ("mov rax, fs:[40]; xor rax, rdi", Rule::Unsupported, "address"),
    ("lea rax, [rbx + 8]; cmp rax, rbx; jb 1f; 1:", Rule::Unsupported, "undefined flags"),
    ("fldz", Rule::NotRestored, "in use at return"),
    ("fstp st(0)", Rule::Unsupported, "x87"),
    ("fldz; fldz; fstp st(1); fstp st(0)", Rule::Unsupported, "x87"),
    (".rept 9; fldz; .endr; .rept 9; fstp st(0); .endr", Rule::Unsupported, "more x87"),
    ("mov r8, rdx; xor eax, eax; xor edx, edx; div edx", Rule::Unsupported, "the divisor"),
    ("xor eax, eax; mov edx, 7; mov ecx, 7; div ecx", Rule::Unsupported, "does not fit"),
    ("mov eax, 1 << 31; cdq; mov ecx, -1; idiv ecx", Rule::Unsupported, "does not fit"),
    ("mov ecx, 7; mov rax, rdi; xor edx, edx; div ecx", Rule::Unsupported, "not known"),
];

#[test]
fn code_of_default_flags_is_modelled() {
    let bodies = PROVED.iter().chain(REFUSED.iter().map(|(body, ..)| body));
    let bodies: Vec<String> = bodies.map(|body| format!("{body}; {RIGHT}")).collect();
    let functions = Functions::new("gp64", &bodies);
    for (at, body) in bodies.iter().enumerate() {
        let answer = functions.ask(at, Demands::default(), false);
        match at.checked_sub(PROVED.len()).map(|at| REFUSED[at]) {
            None => assert!(matches!(answer, Verdict::Proved(_)), "{body}: {answer:?}"),
            Some((_, rule, words)) => assert!(refused(&answer, rule, words), "{body}: {answer:?}"),
        }
    }
}
