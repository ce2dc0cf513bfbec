//! Instructions whose effect shows only in a sequence: jumps, the stack, carries, blocks of memory,
//! addresses.

use super::Form;

const CONDITIONS: [&str; 14] =
    ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "l", "ge", "le", "g"];

/// All sequences; `flags` are compared after those that have them.
pub fn all() -> Vec<Form> {
    let plain = [control(), blocks(), addresses(), scatters(), divisions()].into_iter().flatten();
    let mut forms: Vec<Form> = plain.map(Form::plain).collect();
    for (a, b) in [("rax", "rcx"), ("eax", "ecx"), ("r8", "r9")] {
        for text in [
            format!("xor r10, r10; adcx {a}, {b}; adcx {b}, {a}"),
            format!("xor r10, r10; adox {a}, {b}; adox {b}, {a}"),
            format!("shr {b}, 1; adc {a}, 0"),
            format!("shl {b}, 3; adc {a}, 0"),
            format!("neg {b}; sbb {a}, 0"),
            format!("bt {a}, 7; sbb {b}, {b}"),
        ] {
            let flags = if text.contains("adox") { "" } else { "c" };
            forms.extend([Form::plain(text.clone()), Form { text, flags: flags.into() }]);
        }
    }
    forms
}

fn control() -> Vec<String> {
    let mut texts: Vec<String> = [
        "push rax; push 77; push -5; pop rcx; pop rdx; pop r8",
        "push qword ptr mem; pop r9",
        "push rbp; mov rbp, rsp; sub rsp, 64; mov [rsp + 8], rax; mov rcx, [rbp - 56]; leave",
        "call 2f; jmp 3f; 2: inc rax; ret; 3:",
        "lea r9, [rip + 2f]; notrack jmp r9; inc rax; 2: endbr64; xor r9d, r9d",
        "lea r9, [rip + 2f]; push r9; call [rsp]; pop r9; jmp 3f; 2: inc rax; xor r9d, r9d; ret; \
         3: xor r9d, r9d; mov [rsp - 8], r9; mov [rsp - 16], r9",
        "mov rdx, fs:[0x28]; mov [rsp - 8], rdx; xor edx, edx; mov rcx, [rsp - 8]; \
         sub rcx, fs:[0x28]; mov r8, fs:[0x28]; xor r8, [rsp - 8]; mov [rsp - 8], r8",
        "fldz; fldz; fstp st(0); fldz; fstp st(0); fstp st(0)",
        "nop; endbr64; xchg ax, ax; nop dword ptr [rax + rax + 64]",
        "mov ecx, 10; 1: add rax, rdx; dec ecx; jne 1b",
        "xor ecx, ecx; 1: add rax, [rsi + 256 + 8 * rcx]; inc rcx; cmp rcx, 8; jb 1b",
        "mov [rsp - 8], rax; mov ecx, [rsp - 6]; mov [rsp - 7], cl; mov rdx, [rsp - 8]",
    ]
    .map(String::from)
    .into();
    for condition in CONDITIONS {
        for compare in ["cmp r8, r9", "cmp eax, ecx", "test r8, r8", "add r9b, r10b"] {
            texts.push(format!("{compare}; mov edx, 1; j{condition} 1f; mov edx, 2; 1:"));
        }
    }
    texts
}

/// Copies and fillings; registers that a function leaves changed are cleared.
fn blocks() -> Vec<String> {
    let clear = "xor eax, eax; xor ecx, ecx; xor edx, edx; xor r8d, r8d; xor r9d, r9d; \
                 xor r10d, r10d; vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; \
                 vpxor xmm2, xmm2, xmm2; vpxor xmm3, xmm3, xmm3";
    let back = "mov rsi, r11; xor edi, edi";
    let mut texts = Vec::new();
    for (size, count) in [("b", 33), ("w", 9), ("d", 7), ("q", 5)] {
        texts.push(format!(
            "mov r11, rsi; lea rdi, [rsi + 264]; mov ecx, {count}; rep stos{size}; {back}"
        ));
        texts.push(format!(
            "mov r11, rsi; mov r10, rdi; lea rdi, [rsi + 264]; lea rsi, [r10 + 8]; \
             mov ecx, {count}; rep movs{size}; xor r10d, r10d; {back}"
        ));
    }
    for (name, arguments) in [
        ("memset", "mov esi, [rdi + 320]; lea rdi, [rbx + 260]; mov edx, 40"),
        ("memcpy", "lea rsi, [rdi + 3]; lea rdi, [rbx + 260]; mov edx, 40"),
        ("memmove", "lea rsi, [rbx + 256]; lea rdi, [rbx + 260]; mov edx, 40"),
    ] {
        let begin = format!("push rbx; mov rbx, rsi; {arguments}");
        texts.push(format!("{begin}; call {name}@PLT; mov rsi, rbx; pop rbx; {clear}"));
        texts.push(format!(
            "{begin}; sub rsp, 16; call 2f; add rsp, 16; jmp 3f; 2: jmp {name}@PLT; \
             3: mov rsi, rbx; pop rbx; {clear}"
        ));
    }
    texts
}

/// Sums of registers, parts of registers, and addresses in vector registers.
fn addresses() -> Vec<String> {
    [
        "lea ax, [rcx + 4 * rdx + 77]",
        "lea rax, [rcx + 4 * rdx + 77]",
        "lea eax, [8 * r8 - 5]",
        "lea rax, [r9 + r9]",
        "lea rax, [ecx + 4 * edx + 77]",
        "lea eax, [8 * r8d - 5]",
        "mov ah, dl",
        "mov al, ch",
        "add ah, cl",
        "xor dh, dh",
        "movzx eax, ch",
        "movsx eax, ch",
        "vmovq xmm5, rdi; xor edi, edi; vmovq rdx, xmm5; mov rax, [rdx + 8]; mov rdx, rax; \
         vmovdqu xmm5, xmm0",
        "movq xmm5, rdi; movq xmm6, xmm5; movq rdx, xmm6; mov rax, [rdx + 8]; mov rdx, rax",
        "mov [rsp - 8], rdi; vmovq xmm0, qword ptr [rsp - 8]; vmovq [rsp - 16], xmm0; \
         mov rdx, [rsp - 16]; mov rcx, [rdx + 16]; xor edx, edx; vpxor xmm0, xmm0, xmm0",
        "vmovq xmm5, rdi; vmovdqa xmm6, xmm5; vmovdqu [rsp - 40], ymm6; \
         vmovdqu xmm7, [rsp - 40]; mov rcx, [rsp - 40]; vmovq rdx, xmm7; mov rax, [rdx + 8]; \
         mov rcx, [rcx + 16]; mov rdx, [rsp - 32]; vmovdqu xmm5, xmm0; vmovdqu xmm6, xmm0; \
         vmovdqu xmm7, xmm0",
    ]
    .map(String::from)
    .into()
}

/// Negative indices; and several that are equal, of which the last one is written.
fn scatters() -> Vec<String> {
    let set = "kxnorw k1, k1, k1; vpmovzxbd zmm1, xmmword ptr con";
    let negative = "vpternlogd zmm2, zmm2, zmm2, 0xff; vpxord zmm1, zmm1, zmm2";
    vec![
        format!("{set}; {negative}; vpgatherdd zmm0{{k1}}, [rsi + 4 * zmm1 + 320]"),
        format!("{set}; vpsrld zmm1, zmm1, 1; vpscatterdd [rsi + 8 * zmm1 + 256]{{k1}}, zmm0"),
    ]
}

/// Divisions of numbers of all sizes, with results at the edges.
fn divisions() -> Vec<String> {
    let mut texts = Vec::new();
    for (high, low, by, signed) in [
        ("0", "1000", "7", false),
        ("6", "-1", "7", false),
        ("-2", "-1", "-1", false),
        ("0", "0", "1", false),
        ("-1", "-1000", "7", true),
        ("0", "1000", "-7", true),
        ("-1", "-5", "-2", true),
        ("3", "0", "-8", true),
    ] {
        for [a, d, c] in [["ax", "dx", "cx"], ["eax", "edx", "ecx"], ["rax", "rdx", "rcx"]] {
            let name = if signed { "idiv" } else { "div" };
            let set = format!("mov {d}, {high}; mov {a}, {low}; mov {c}, {by}");
            texts.push(format!("xor edx, edx; xor eax, eax; {set}; {name} {c}"));
        }
    }
    for sign in ["mov eax, 5; cqo", "mov rax, -5; cqo", "mov eax, -5; cdq", "mov eax, 5; cdq"] {
        texts.push(format!("{sign}; mov rcx, rdx"));
    }
    texts
}
