//! Calls whose effect is known from an earlier call.

use usuba_object::Rule;
use usuba_object::safety::Returns;

use super::assembled;

/// The second call of a function is known from the first one, if it begins in a case of its state.
/// Faults of the second call alone are faults.
#[test]
fn repeated_calls_keep_every_rule() {
    let open = |at: usize| format!("mov al, [rsi + {at}]; test al, al; je 1f; nop; 1: ");
    let open: String = (0..14).map(open).collect();
    let proved = |body: &str, returns| assembled(&format!("{open}{body}"), returns);
    let seen = |body: &str| {
        let evidence = proved(body, Returns::Nothing).expect(body);
        let (residue, frame) = (evidence.residue, evidence.frame);
        (evidence.repeated, frame, residue.frame, residue.registers.join(" "))
    };
    // It saves a register, writes a result of public data, and has a loop and a branch.
    let called = "push rbx; xor ebx, ebx; xor eax, eax; first; call g; second; call g; last; pop rbx; \
                  ret; g: push rbx; mov ecx, 3; 1: mov rbx, [rsi]; mov [rdx], rbx; dec ecx; jne 1b; \
                  test ebx, ebx; je 2f; nop; 2: body; pop rbx; ret";
    let with = |first: &str, second: &str, body: &str, last: &str| {
        let text = called.replace("first", first).replace("second", second);
        text.replace("body", body).replace("last", last)
    };
    let secret = "mov rax, [rdi]; mov [rdx + 8], rax; xor eax, eax";
    assert_eq!(seen(&with("nop", "nop", "nop", "nop")), (1, 24, 0, "".into()));
    assert_eq!(seen(&with("nop", "sub rsp, 64", "nop", "add rsp, 64")), (1, 88, 0, "".into()));
    assert_eq!(seen(&with("nop", "mov ebx, 5", "nop", "nop")).0, 1);
    assert_eq!(seen(&with("call h", "call h", "nop", "nop").replace("g:", "h: ret; g:")).0, 2);
    // Secrets that only the second call leaves, or both after the first one is wiped.
    let copied =
        with("mov qword ptr [rdx + 8], 0", secret, "mov rax, [rdx + 8]; push rax; pop r8", "nop");
    assert_eq!(seen(&copied), (0, 32, 8, "rax r8".into()));
    let twice = with(
        secret,
        "xor r8d, r8d; xor eax, eax; mov [rsp - 24], rax",
        "mov rax, [rdx + 8]; push rax; pop r8",
        "nop",
    );
    assert_eq!(seen(&twice), (1, 32, 8, "rax r8".into()));
    assert_eq!(seen(&with("nop", "mov rbx, [rdi]", "nop", "nop")), (0, 24, 8, "".into()));
    for (body, rule) in [
        // An index, a secret and an alignment that the first call does not have.
        (
            with(
                "mov dword ptr [rdx + 8], 31",
                "mov dword ptr [rdx + 8], 32",
                "mov eax, [rdx + 8]; mov al, [rsi + rax]",
                "nop",
            ),
            Rule::OutOfBounds,
        ),
        (with("nop", "add rsi, 25", "nop", "nop"), Rule::OutOfBounds),
        (with("mov r8d, 31", "mov r8d, 32", "mov al, [rsi + r8]", "nop"), Rule::OutOfBounds),
        (
            with(
                "mov qword ptr [rdx + 8], 0",
                secret,
                "mov rax, [rdx + 8]; test rax, rax; je 3f; nop; 3: xor eax, eax",
                "nop",
            ),
            Rule::SecretBranch,
        ),
        (
            with("nop", "mov eax, [rdi]", "test eax, eax; je 3f; nop; 3: nop", "nop"),
            Rule::SecretBranch,
        ),
        (
            with("nop", "mov ebx, [rdi]", "cmp [rsp], rcx; je 3f; nop; 3: nop", "nop"),
            Rule::SecretBranch,
        ),
        (
            with("nop", "mov r8, [rdi]", "test r8, r8; je 3f; nop; 3: nop", "nop"),
            Rule::SecretBranch,
        ),
        (with("nop", "sub rsp, 8", "movaps [rsp - 32], xmm0", "add rsp, 8"), Rule::Misaligned),
        // A byte that one path of the callee writes alone keeps its secret on the other path.
        (
            with(
                "mov qword ptr [rdx + 8], 0",
                secret,
                "mov al, [rsi]; test al, al; je 3f; mov qword ptr [rdx + 8], 0; 3: nop",
                "mov rax, [rdx + 8]; test rax, rax; je 3f; nop; 3: nop",
            ),
            Rule::SecretBranch,
        ),
        (with("nop", "nop", "xor ebp, ebp", "nop"), Rule::NotRestored),
        (with("nop", "nop", "push rbx", "nop"), Rule::NotRestored),
        (with("nop", "nop", "pop rax", "nop"), Rule::NotRestored),
        (with("nop", "nop", "mov rax, [rdi]; mov [rsp + 8], rax", "nop"), Rule::NotRestored),
        (
            with("nop", "nop", "mov al, [rsi + 1]; test al, al; je 3f; call g; 3: nop", "nop"),
            Rule::TooLong,
        ),
        (with("nop", "nop", "call h", "nop").replace("g:", "h: call g; ret; g:"), Rule::TooLong),
    ] {
        let fault = proved(&body, Returns::Nothing).expect_err(&body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
    // The library may have overwritten the bytes below the stack pointer of the second call, too.
    let below = "push rbx; push rsi; push rdx; call g; mov qword ptr [rsp - 64], 0; call g; \
                 mov rax, [rsp - 64]; pop rdx; pop rsi; last; pop rbx; xor eax, eax; ret; \
                 g: sub rsp, 8; mov rdi, [rsp + 16]; xor esi, esi; mov edx, 8; call memset; \
                 add rsp, 8; ret";
    assert_eq!(seen(&below.replace("last", "nop")).0, 1);
    let index = below.replace("last", "mov al, [rsi + rax]");
    assert!(proved(&index, Returns::Nothing).is_err());
    // The status of the second call is another one.
    let other = "push rbx; mov rax, [rdi]; mov rbx, rax; mov rcx, rax; mov [rdx], rax; call g; mov ebx, eax; mov rax, [rdi + 8]; \
                 mov [rdx], rax; call g; test ebx, ebx; je 2f; test REGISTER, REGISTER; je 3f; nop; \
                 3: nop; 2: mov eax, ebx; pop rbx; ret; \
                 g: mov rcx, [rdx]; xor eax, eax; test rcx, rcx; setne al; ret";
    let same = proved(&other.replace("REGISTER", "ebx"), Returns::Status).expect("it is known");
    assert_eq!(same.repeated, 1);
    let fault = proved(&other.replace("REGISTER", "eax"), Returns::Status).expect_err("it is not");
    assert_eq!(fault.rule, Rule::SecretBranch);
}
