//! Calls: effects that are known from an earlier call, and statuses.

use usuba_object::memory::Access;
use usuba_object::safety::{Evidence, Parameter, Returns, Room, prove};
use usuba_object::x86::X86;
use usuba_object::{Fault, Rule};
use usuba_run::cc::Family;

use super::{LONGEST, assembled, object, of_any_length, room, text};

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

/// The proof of a function over buffers of any length that do not overlap, and 32 public bytes.
fn proved_over_any_length(body: &str) -> Result<Evidence, Fault> {
    let mut function = of_any_length(Returns::Nothing);
    let public = Room { is_public: true, ..room("open", 32, Access::Read) };
    function.parameters.push(Parameter::Buffer(public));
    function.equal.clear();
    prove::<X86>(&object(&text(body), "assembler", Family::Gcc), &function, LONGEST)
}

/// Calls with addresses in buffers of any length: the bounds are checked for each call.
#[test]
fn repeated_calls_stay_in_buffers_of_any_length() {
    let open = |at: usize| format!("mov al, [rsi + {at}]; test al, al; je 1f; nop; 1: ");
    let open: String = (0..14).map(open).collect();
    let open = open.replace("rsi", "rcx");
    let proved = |body: &str| proved_over_any_length(&format!("{open}{body}"));
    // Two words at the end of the input become two words at the end of the result.
    let called = "cmp rdx, 16; jb 1f; lea r8, [rdi + rdx - 16]; lea r9, [rsi + rdx - 16]; \
                  mov rax, [rdi]; mov rdi, r8; mov rsi, r9; call g; lea rdi, [r8 + 8]; lea rsi, [r9 + 8]; \
                  second; call g; 1: xor eax, eax; ret; \
                  g: mov ecx, 2; 1: mov rax, [rdi]; mov [rsi], rax; dec ecx; jne 1b; ret";
    let with = |second: &str| called.replace("second", second);
    assert_eq!(proved(&with("nop")).expect("two calls").repeated, 1);
    for (second, rule) in [
        ("inc rdi", Rule::OutOfBounds),
        ("inc rsi", Rule::OutOfBounds),
        ("sub rdi, rdx", Rule::OutOfBounds),
        ("mov rsi, rdi", Rule::ReadOnly),
    ] {
        let fault = proved(&with(second)).expect_err(second);
        assert_eq!(fault.rule, rule, "{second}: {fault}");
    }
    // The second call writes a secret where the first one has not.
    let secret = "cmp rdx, 16; jb 1f; mov r8, rsi; call g; lea rsi, [r8 + 8]; call g; \
                  movzx eax, byte ptr [r8]; test eax, eax; je 1f; nop; 1: xor eax, eax; ret; \
                  g: mov al, [rdi]; mov [rsi], al; ret";
    assert_eq!(proved(secret).expect_err("a secret").rule, Rule::SecretBranch);
}

/// Calls over any number of bytes are proved once. The bytes of each call must be in bounds, and a
/// number that a callee computes is not lost.
#[test]
fn calls_over_buffers_stay_in_bounds() {
    // As much as the prover has: the search is recursive.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(check_calls_over_buffers);
    thread.expect("a thread").join().expect("no fault");
}

fn check_calls_over_buffers() {
    let open = |at: usize| format!("mov al, [rcx + {at}]; test al, al; je 1f; nop; 1: ");
    let open: String = (0..14).map(open).collect();
    let proved = |body: &str| proved_over_any_length(&format!("{open}{body}"));
    let called = "cmp rdx, 8; jb 9f; first; mov r8, rdi; mov r9, rsi; mov r10, rdx; call g; \
                  lea rdi, [r8 + 8]; lea rsi, [r9 + 8]; lea rdx, [r10 - 8]; second; call g; 9: xor eax, eax; ret; g: xor ecx, ecx; 1: cmp rcx, rdx; jae 2f; \
                  mov al, [rdi + rcx]; body; mov [rsi + rcx], al; inc rcx; jmp 1b; 2: ret";
    let with = |first: &str, second: &str, body: &str| {
        let text = called.replace("first", first).replace("second", second);
        proved(&text.replace("body", body))
    };
    assert_eq!(with("nop", "nop", "nop").expect("two calls").repeated, 2);
    assert_eq!(with("nop", "xor edx, edx", "nop").expect("no byte").repeated, 1);
    for (first, second, body, rule) in [
        ("inc rdi", "nop", "nop", Rule::OutOfBounds),
        ("nop", "inc rdi", "nop", Rule::OutOfBounds),
        ("nop", "inc rsi", "nop", Rule::OutOfBounds),
        ("nop", "inc rdx", "nop", Rule::OutOfBounds),
        ("nop", "mov rsi, rdi", "nop", Rule::ReadOnly),
        ("nop", "nop", "mov al, [rdi + rcx + 1]", Rule::OutOfBounds),
        ("nop", "nop", "mov al, [rdi + rcx - 1]", Rule::OutOfBounds),
        ("nop", "nop", "test al, al; je 2f", Rule::SecretBranch),
    ] {
        let fault = with(first, second, body).expect_err(second);
        assert_eq!(fault.rule, rule, "{first}, {second}, {body}: {fault}");
    }
    // The frame of the callee is not its caller's, and the caller's ends with its return address.
    assert!(with("nop", "lea rsi, [rsp - 64]", "nop").is_err());
    assert!(with("nop", "mov rsi, rsp", "nop").is_err());
    // 32 public bytes are no buffer of any length, which would have secrets: copies of them may stay.
    let public = "call g; xor eax, eax; ret; g: cmp rdx, 32; jb 8f; mov rax, [rcx]; push rax; \
                  mov rdi, rsp; call h; pop rax; 8: ret; h: mov r8, [rdi]; ret";
    assert!(proved(public).expect("a public word").residue.is_empty());
    // A callee that returns 0 for lengths up to 32.
    let limit = "call g; test eax, eax; jne 9f; mov byte ptr [rsp + rdx - 33], 0; 9: xor eax, eax; ret; \
                 g: mov eax, 1; test rdi, rdi; je 1f; cmp rdx, 33; setae al; movzx eax, al; 1: ret";
    assert_eq!(proved(limit).expect("32 bytes").repeated, 1);
    for (from, to) in [("- 33", "- 32"), ("jne", "je"), ("setae", "setb"), ("rdx, 33", "rdx, 34")] {
        assert!(limit.contains(from), "{from}");
        proved(&limit.replace(from, to)).expect_err(to);
    }
    // A byte at a number that the callee returns.
    let index = called.replace("first", "nop").replace("body", "nop");
    let index = |at: &str| proved(&index.replace("second", at));
    index("mov byte ptr [rsi + rcx - 9], 0").expect("the last byte");
    assert_eq!(
        index("mov byte ptr [rsi + rcx - 8], 0").expect_err("behind").rule,
        Rule::OutOfBounds
    );
}

/// `randombytes` fills its buffer with secrets, and leaves none elsewhere.
#[test]
fn random_bytes_are_secrets_in_their_buffer() {
    let filled = "push rdx; mov rdi, rdx; mov esi, COUNT; call randombytes; pop rdx; rest; ret";
    let with = |count: &str, rest: &str| {
        assembled(&filled.replace("COUNT", count).replace("rest", rest), Returns::Nothing)
    };
    let evidence = with("32", "nop").expect("all bytes");
    assert!(evidence.residue.is_empty(), "{evidence:?}");
    let read =
        "mov byte ptr [rdx + 16], 0; movzx eax, byte ptr [rdx + AT]; test eax, eax; je 1f; 1: nop";
    assert_eq!(with("32", &read.replace("AT", "15")).expect_err("secret").rule, Rule::SecretBranch);
    with("32", &read.replace("AT", "16")).expect("it is overwritten");
    assert_eq!(with("33", "nop").expect_err("a byte behind").rule, Rule::OutOfBounds);
    let object = filled.replace("mov rdi, rdx", "mov rdi, rsi").replace("COUNT", "8");
    let fault = assembled(&object.replace("rest", "nop"), Returns::Nothing).expect_err("read only");
    assert_eq!(fault.rule, Rule::ReadOnly);
}

/// A callee writes a number if its status says so: statuses stay apart behind a common epilogue.
#[test]
fn statuses_stay_apart_at_returns() {
    let forks: String = (0..12).map(|at| format!("bt r8, {at}; jae 1f; nop; 1: ")).collect();
    let mut function = of_any_length(Returns::Status);
    function.parameters.extend([Parameter::Any, Parameter::Any]);
    let proof = |failed: &str| {
        let body = format!(
            "{forks}cmp rdx, 9; jb 3f; sub rsp, 8; mov rcx, rsp; call g; pop rcx; \
             test eax, eax; jne 3f; mov byte ptr [rsi + rcx], 0; 3: xor eax, eax; ret; \
             g: push rbx; mov eax, {failed}; bt r8, 20; jae 1f; mov qword ptr [rcx], 8; \
             xor eax, eax; 1: pop rbx; ret"
        );
        let object = object(&text(&body), "assembler", Family::Gcc);
        prove::<X86>(&object, &function, LONGEST).err()
    };
    assert_eq!(proof("2"), None);
    assert!(proof("0").is_some());
}
