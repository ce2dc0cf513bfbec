//! One function that breaks each rule of the prover, and its correct neighbour.
//!
//! ```text
//! f(x, k, y):  y[0] = x[1] ^ k[0];  y[1] = x[0] ^ k[1]        words of 32 bits
//! ```

use std::fmt::Write;

use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::syntax::splice::NoIncludes;
use usuba::{Output, isa};
use usuba_object::Rule;
use usuba_object::compare::{self, Demands, Verdict};
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::x86::X86;
use usuba_prove::byte_interface;
use usuba_prove::compiler;
use usuba_run::cc::Family;
use usuba_run::validated::{self, Proofs};

const PROGRAM: &str = "node f (x: u<V>32x2, k: u<V>32x2) returns (y: u<V>32x2)\n\
     let y[0] = x[1] ^ k[0]; y[1] = x[0] ^ k[1] tel\n";

/// Sums of three words, an order of exclusive ors, and a counter.
const SUMS: &str = "node f (x: u<V>32x2, k: u<V>32x2) returns (y: u<V>32x2)\n\
     let y[0] = (x[0] + x[1]) + (k[0] ^ k[1] ^ x[1]); y[1] = ((x[1] - k[0]) + 21) >>> 9 tel\n";

fn compiled(program: &str, target: &str) -> Output {
    let mut sources = Sources::default();
    let root = sources.add("f.ua", program.to_string());
    let options = byte_interface::options(Slicing::V, isa::find(target).expect("a target"));
    validated::compiled(&mut sources, root, &mut NoIncludes, &options, Proofs::Always)
        .expect("right")
}

/// Functions in assembly, f_0, f_1, ..., in one object.
pub struct Functions {
    pub object: Object,
    /// The program that they should be.
    pub output: Output,
    target: &'static isa::Target,
}

impl Functions {
    pub fn new<T: AsRef<str>>(target: &str, bodies: &[T]) -> Functions {
        Functions::of(PROGRAM, target, bodies)
    }

    pub fn of<T: AsRef<str>>(program: &str, target: &str, bodies: &[T]) -> Functions {
        let mut text = String::from(
            ".intel_syntax noprefix\n.section .rodata\n.balign 32\ntable:\n.fill 64, 1, 7\n.data\n\
             state: .quad 0\n.section .data.rel.ro, \"aw\"\npointers: .quad table + 4, 7 - .\n\
             .section .rodata.cst16, \"aM\", @progbits, 16\n.balign 16\nones: .fill 16, 1, 1\n\
             twos: .fill 16, 1, 2\n.section .rodata.str1.1, \"aMS\", @progbits, 1\n\
             text: .asciz \"abc\"\ntail: .asciz \"c\"\n\
             .section .rodata.str4.4, \"aMS\", @progbits, 4\n.balign 4\n\
             wide: .long 1, 2, 0\nnext: .long 3, 0\n.text\n",
        );
        for (at, body) in bodies.iter().enumerate() {
            let body = body.as_ref().replace(';', "\n");
            let _ = writeln!(text, ".globl f_{at}\n.type f_{at}, @function\nf_{at}:\n{body}");
            let _ = writeln!(text, ".size f_{at}, . - f_{at}");
        }
        text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
        let file = compiler::object(&text, "assembler", "gp64", Family::Gcc, &[]);
        let object =
            Object::read(&file.expect("it assembles"), Extensions::ALL).expect("an object");
        let output = compiled(program, target);
        Functions { object, output, target: isa::find(target).expect("a target") }
    }

    /// The functions of another file.
    pub fn of_object(object: Object) -> Functions {
        let (output, target) = (compiled(PROGRAM, "gp64"), isa::find("gp64").expect("a target"));
        Functions { object, output, target }
    }

    /// The verdict of the prover on one of them; `in_place`: the result may replace the parameter.
    pub fn ask(&self, at: usize, demands: Demands, in_place: bool) -> Verdict {
        let mut contract = compiler::contract(&self.output, self.target).expect("a contract");
        contract.symbol = format!("f_{at}");
        if in_place {
            contract = contract.in_place(0, 2).expect("the same size");
        }
        compare::prove::<X86>(&self.object, &contract, &self.output.program, demands)
    }
}

/// The verdict on `f_0` of another object.
fn asked(object: Object, demands: Demands) -> Verdict {
    Functions::of_object(object).ask(0, demands, false)
}

fn ask(target: &str, body: &str, demands: Demands, in_place: bool) -> Verdict {
    Functions::new(target, &[body]).ask(0, demands, in_place)
}

/// The correct function, which most faults precede.
pub const RIGHT: &str = "mov eax, [rdi + 4]; xor eax, [rsi]; mov ecx, [rdi]; xor ecx, [rsi + 4]; \
     mov [rdx], eax; mov [rdx + 4], ecx; ret";

/// The same on vectors of 32 bytes.
const VECTORS: &str = "vmovdqa ymm0, [rdi + 32]; vpxor ymm0, ymm0, [rsi]; vmovdqa ymm1, [rdi]; \
     vpxor ymm1, ymm1, [rsi + 32]; vmovdqa [rdx], ymm0; vmovdqa [rdx + 32], ymm1; vzeroupper; ret";

pub fn refused(answer: &Verdict, rule: Rule, words: &str) -> bool {
    matches!(answer, Verdict::Refused(fault) if fault.rule == rule && fault.to_string().contains(words))
}

#[test]
fn the_right_functions_are_proved() {
    let right = |target: &str, body: &str| {
        let answer = ask(target, body, Demands::default(), false);
        assert!(matches!(answer, Verdict::Proved(_)), "{body}: {answer:?}");
    };
    right("gp64", RIGHT);
    right("avx2", VECTORS);
    right("avx2", &VECTORS.replace("vmovdqa", "vmovdqu"));
    // Saved and restored; a loop; a frame that is aligned; constants; a branch on no secret.
    for before in [
        "push rbx; mov ebx, [rdi]; pop rbx",
        "mov ecx, 7; 1: dec ecx; jne 1b",
        "push rbp; mov rbp, rsp; and rsp, -32; sub rsp, 64; vmovdqa [rsp], ymm0; leave",
        "mov [rsp - 128], rdi; mov rdi, [rsp - 128]",
        "lea rax, [rip + table]; vmovdqa ymm0, [rax + 32]; cmp byte ptr [rip + table], 7; jne 1f; 1:",
        "lea rcx, [rdi + 8]; cmp rcx, rdi; jbe 1f; 1: call 2f; jmp 3f; 2: ret; 3:",
        "push rbx; push r12; push r13; mov rbx, rdi; mov r12, rsi; mov r13, rdx; mov rdi, rdx; \
         mov esi, 7; mov edx, 8; call memset; mov rdi, rbx; mov rsi, r12; mov rdx, r13; pop r13; \
         pop r12; pop rbx",
        "mov r8, rdi; mov rdi, rdx; mov ecx, 2; xor eax, eax; rep stosd; mov rdi, r8",
        "vmovq xmm1, rdi; xor edi, edi; vmovq rdi, xmm1",
        "vmovq xmm26, rdi; vmovdqa64 xmm25, xmm26; vmovdqa64 zmm24, zmm25; vmovq rdi, xmm24",
        "mov [rsp - 16], rdi; mov [rsp - 8], rsi; vmovdqu xmm1, [rsp - 16]; \
         vmovdqu [rsp - 48], xmm1; mov rdi, [rsp - 48]; mov rsi, [rsp - 40]",
        "kxnorw k1, k1, k1; vmovdqa64 zmm0{k1}, zmm1",
        "xor eax, eax; cmp byte ptr [table + rax + 3], 7; jne 1f; 1:",
        "mov rax, [rip + table@GOTPCREL]; cmp byte ptr [rax + 63], 7; jne 1f; 1:",
        "mov rax, [rip + pointers]; cmp byte ptr [rax + 59], 7; jne 1f; 1:",
        "cmp dword ptr [rip + text], 0x636261; jne 1f; 1: cmp byte ptr [rip + tail], 99; jne 2f; 2:",
        "cmp dword ptr [rip + wide + 4], 2; jne 1f; 1: cmp dword ptr [rip + next], 3; jne 2f; 2:",
        "pxor xmm0, [rip + twos]; cmp byte ptr [rip + ones + 15], 1; jne 1f; 1:",
        "sub rsp, 128; mov [rsp], rdi; add rsp, 128; sub rsp, 128; mov rdi, [rsp]; add rsp, 128",
    ] {
        right("gp64", &format!("{before}; {RIGHT}"));
    }
}

#[test]
fn each_rule_is_kept() {
    let faults: &[(&str, Rule, &str)] = &[
        ("mov eax, [rdi]; test eax, eax; je 1f; 1:", Rule::SecretBranch, "je"),
        ("mov eax, [rdi]; bswap eax; shl eax, 1; jb 1f; 1:", Rule::SecretBranch, "jb"),
        ("mov eax, [rsi]; and eax, 1; mov ecx, [rdi + 4 * rax]", Rule::SecretAddress, "rax"),
        (
            "mov eax, [rsi]; and eax, 31; lea rcx, [rip + table]; mov al, [rcx + rax]",
            Rule::SecretAddress,
            "rax",
        ),
        ("mov ecx, [rdi]; mov eax, 1; shl eax, cl", Rule::SecretShift, "shl"),
        (
            "mov ecx, [rsi]; mov eax, 1; rorx eax, eax, 3; shrx eax, eax, ecx",
            Rule::SecretShift,
            "shrx",
        ),
        ("mov ecx, [rdi]; bt eax, ecx", Rule::SecretShift, "bt"),
        ("mov ecx, 70; bt [rdi], ecx", Rule::Unsupported, "in memory"),
        ("vmovd xmm1, dword ptr [rdi]; vpshufb xmm0, xmm0, xmm1", Rule::SecretShift, "vpshufb"),
        ("vmovd xmm1, dword ptr [rdi]; vpshufb xmm0, xmm1, xmm1", Rule::SecretShift, "vpshufb"),
        ("vmovd xmm1, dword ptr [rdi]; vpsllvd xmm0, xmm0, xmm1", Rule::SecretShift, "vpsllvd"),
        ("vmovd xmm1, dword ptr [rdi]; pslld xmm0, xmm1", Rule::SecretShift, "pslld"),
        (
            "mov ecx, [rdi]; mov r8, rdx; xor edx, edx; div ecx; mov rdx, r8",
            Rule::SecretOperand,
            "div",
        ),
        // movsxd ax, [rdi]
        (".byte 0x66, 0x63, 0x07", Rule::Unsupported, "some processors read four bytes"),
        ("mov al, [rdi + 8]", Rule::OutOfBounds, "1 bytes at 8"),
        ("mov eax, [rdi + 5]", Rule::OutOfBounds, "4 bytes at 5"),
        // The load does not depend on the condition.
        ("xor eax, eax; cmovne rax, [rdi + 0x10000000]", Rule::OutOfBounds, "8 bytes at 268435456"),
        ("mov r8d, [rdi]; xor eax, eax; cmovne rax, [rdi + 8 * r8]", Rule::SecretAddress, "cmovne"),
        ("mov al, [rsi - 1]", Rule::OutOfBounds, "at -1"),
        ("mov byte ptr [rdx + 8], 0", Rule::OutOfBounds, "`y`"),
        ("mov byte ptr [rsp - 129], 0", Rule::OutOfBounds, "below the frame"),
        ("mov rax, [rsp + 8]", Rule::OutOfBounds, "the caller's frame"),
        ("mov rax, [rbx]", Rule::OutOfBounds, "at entry"),
        ("mov al, [rip + table + 64]", Rule::OutOfBounds, "constants"),
        ("mov rax, [rip + state]", Rule::OutOfBounds, "constants"),
        ("mov qword ptr [rip + state], 1", Rule::OutOfBounds, "object itself"),
        ("mov eax, [0x1000]", Rule::OutOfBounds, "a number"),
        // Places of sections are no numbers.
        ("mov eax, [0x2000000]", Rule::OutOfBounds, "a number"),
        ("push 0x1000006; ret", Rule::NotRestored, "no return address"),
        ("lea rax, [rip + table]; mov [rdx], rax", Rule::Unsupported, "writes an address"),
        ("lea rax, [rip + table]; test eax, 0x7fffe0; je 1f; 1:", Rule::Unsupported, "undefined"),
        ("lea rax, [rip + table]; cmp rax, rdi; je 1f; 1:", Rule::Unsupported, "arithmetic"),
        ("call 1f; 1: pop rax; test eax, 64; je 2f; 2:", Rule::Unsupported, "undefined flags"),
        ("call 1f; 1: pop rax; mov al, [rax]", Rule::OutOfBounds, "constants"),
        ("mov eax, [rip + 0x1000000]", Rule::OutOfBounds, "constants"),
        ("jmp 0x1000000", Rule::Unsupported, "without a symbol"),
        // The linker may put another constant behind one that it merges.
        ("mov al, [rip + ones + 16]", Rule::OutOfBounds, "constants"),
        ("mov al, [rip + text + 4]", Rule::OutOfBounds, "constants"),
        ("mov al, [rip + tail - 1]", Rule::OutOfBounds, "constants"),
        ("mov eax, [rip + wide + 12]", Rule::OutOfBounds, "constants"),
        ("movdqu xmm0, [rip + ones + 1]", Rule::OutOfBounds, "constants"),
        ("lea rax, [rip + ones]; mov al, [rax + 16]", Rule::OutOfBounds, "constants"),
        ("mov al, [table + 64]", Rule::OutOfBounds, "constants"),
        ("mov al, [table + rdi]", Rule::Unsupported, "a sum of addresses"),
        ("mov eax, [rip + pointers]", Rule::OutOfBounds, "the linker writes"),
        ("mov rax, [rip + pointers + 8]", Rule::OutOfBounds, "the linker writes"),
        ("mov rax, [rip + pointers]; mov al, [rax + 60]", Rule::OutOfBounds, "constants"),
        ("mov eax, [rip + table@GOTPCREL]", Rule::OutOfBounds, "constants"),
        // A signal handler may run between any two instructions.
        (
            "sub rsp, 160; mov [rsp], rdi; add rsp, 160; sub rsp, 160; mov rdi, [rsp]; \
             add rsp, 160; mov eax, [rdi]",
            Rule::Unsupported,
            "nobody has written",
        ),
        ("mov r8, rsp; mov rsp, rdi; mov rsp, r8", Rule::NotRestored, "not in the frame"),
        ("add rsp, 16; sub rsp, 16", Rule::NotRestored, "the frame of the caller"),
        ("mov byte ptr [rdi], 0", Rule::ReadOnly, "`x`"),
        ("vmovdqa xmm0, [rsp - 32]", Rule::Misaligned, "multiple of 16"),
        ("vmovdqa ymm0, [rsp - 40]", Rule::Misaligned, "multiple of 32"),
        ("pxor xmm0, [rip + table + 8]", Rule::Misaligned, "multiple of 16"),
        ("vmovdqa ymm0, [rip + table + 16]", Rule::Misaligned, "multiple of 32"),
        ("mov ebx, 1", Rule::NotRestored, "rbx"),
        ("mov r15d, [rdi]", Rule::NotRestored, "r15"),
        ("push rbp; mov rbp, rsp; pop rcx", Rule::NotRestored, "rbp"),
        ("push rdi", Rule::NotRestored, "return"),
        ("mov [rsp], rdi", Rule::NotRestored, "return"),
        ("lea rsp, [rsp + 8]", Rule::OutOfBounds, "the caller's frame"),
        ("cpuid", Rule::Unsupported, "cpuid"),
        ("rdtsc", Rule::Unsupported, "rdtsc"),
        ("ud2", Rule::Unsupported, "ud2"),
        ("movntdq [rsp - 40], xmm0", Rule::Unsupported, "movntdq"),
        ("syscall", Rule::Unsupported, "syscall"),
        ("call memset", Rule::Misaligned, "aligned at the call"),
        ("sub rsp, 8; call memchr", Rule::Unsupported, "memchr"),
        ("mov edx, [rdi]; sub rsp, 8; call memset", Rule::SecretOperand, "the count"),
        (
            "mov rdi, rdx; xor esi, esi; mov edx, 9; sub rsp, 8; call memset",
            Rule::OutOfBounds,
            "9 bytes at 0",
        ),
        ("mov edx, 4; sub rsp, 8; call memcpy", Rule::ReadOnly, "`x`"),
        (
            "mov rdi, rdx; lea rsi, [rdx + 1]; mov edx, 4; sub rsp, 8; call memcpy",
            Rule::Unsupported,
            "onto itself",
        ),
        ("lea rdi, [rsp - 32]; mov edx, 4; sub rsp, 8; call memcpy", Rule::OutOfBounds, "below"),
        (
            "mov rax, rdx; mov rsi, rdi; mov rdi, rax; mov edx, 9; sub rsp, 8; call memmove",
            Rule::OutOfBounds,
            "9 bytes at 0",
        ),
        ("jmp rdi", Rule::Unsupported, "jmp"),
        ("rep movsb", Rule::Unsupported, "movsb"),
        ("mov ecx, [rsi]; mov rdi, rdx; rep stosb", Rule::SecretOperand, "the count"),
        ("xor eax, eax; mov ecx, 9; mov rdi, rdx; rep stosb", Rule::OutOfBounds, "9 bytes at 0"),
        ("repne movsb", Rule::Unsupported, "prefix"),
        // Addresses of 32 bits, and control flow with operands of 16 bits.
        ("xor ecx, ecx; .byte 0x67; rep movsb", Rule::Unsupported, "prefix"),
        ("xor ecx, ecx; .byte 0x48, 0x67; rep stosb", Rule::Unsupported, "prefix"),
        (".byte 0x67; mov eax, [rdi]", Rule::Unsupported, "prefix"),
        ("lea rax, [eip + table]", Rule::Unsupported, "prefix"),
        (".byte 0x67; vmovdqu xmm0, [rip + table]", Rule::Unsupported, "prefix"),
        (".byte 0x66; ret", Rule::Unsupported, "prefix"),
        (".byte 0x66; jmp 1f; 1:", Rule::Unsupported, "prefix"),
        ("xor eax, eax; .byte 0x66; je 1f; 1:", Rule::Unsupported, "prefix"),
        ("push rbp; mov rbp, rsp; .byte 0x66; leave", Rule::Unsupported, "prefix"),
        ("kmovd k1, dword ptr [rdi]; kortestd k1, k1; je 1f; 1:", Rule::SecretBranch, "je"),
        ("vmovdqu8 [rdx]{k1}, zmm0", Rule::Unsupported, "with a mask"),
        (
            "kxnorw k1, k1, k1; vmovd xmm1, dword ptr [rdi]; vpgatherdd xmm0{k1}, [rdi + 4 * xmm1]",
            Rule::SecretAddress,
            "an index",
        ),
        (
            "vmovd xmm1, dword ptr [rdi]; vpmovd2m k1, xmm1; vpxord zmm1, zmm1, zmm1; \
             vpscatterdd [rdx + 4 * xmm1]{k1}, xmm1",
            Rule::SecretAddress,
            "which addresses",
        ),
        (
            "kxnorw k1, k1, k1; vpxord zmm1, zmm1, zmm1; vpscatterdd [rdi + 4 * xmm1]{k1}, xmm1",
            Rule::ReadOnly,
            "`x`",
        ),
        (
            "kxnorw k1, k1, k1; vpxord zmm1, zmm1, zmm1; vpgatherqq xmm0{k1}, [rdi + xmm1 + 1]",
            Rule::OutOfBounds,
            "8 bytes at 1",
        ),
        (
            "vpcmpeqd xmm2, xmm2, xmm2; vpxor xmm1, xmm1, xmm1; vpgatherdd xmm0, [rdi + xmm1], xmm2",
            Rule::Unsupported,
            "AVX2",
        ),
        ("vmovdqu8 [rdx]{k1}, zmm1", Rule::Unsupported, "with a mask"),
        ("vpcompressb zmm0{k1}, zmm1", Rule::Unsupported, "the mask is not known"),
        (
            "vmovd xmm1, dword ptr [rdi]; vpmovb2m k1, xmm1; vpcompressd [rdx]{k1}, zmm0",
            Rule::SecretAddress,
            "which addresses",
        ),
        (
            "mov eax, 7; kmovw k1, eax; vpexpandd zmm0{k1}, zmmword ptr [rdi + 4]",
            Rule::OutOfBounds,
            "12 bytes at 4",
        ),
        // Another encoding of vpmadd52luq, for processors without masks.
        (".byte 0xc4, 0xe2, 0xf1, 0xb4, 0xc2", Rule::Unsupported, "vpmadd52luq"),
        ("vpmadd52luq xmm0, xmm1, [rdi + 8]", Rule::OutOfBounds, "16 bytes at 8"),
        (
            "vpmadd52huq xmm0, xmm0, [rdi - 8]{1to2}; vmovq rax, xmm0; mov eax, [rax]",
            Rule::OutOfBounds,
            "8 bytes at -8",
        ),
        (
            "vmovd xmm1, dword ptr [rdi]; vgf2p8affineinvqb xmm0, xmm0, xmm1, 0",
            Rule::SecretShift,
            "the matrix",
        ),
        (
            "vmovq xmm1, rdi; vpaddq xmm1, xmm1, xmm1; vmovq rax, xmm1; mov eax, [rax]",
            Rule::Unsupported,
            "nobody has written",
        ),
        (
            "vmovq xmm1, rdi; vpxor xmm1, xmm1, xmm1; vmovq rax, xmm1; mov eax, [rax]",
            Rule::OutOfBounds,
            "a number",
        ),
        (
            "vmovq xmm1, rdi; vmovdqa64 xmm2{k1}{z}, xmm1; vmovq rax, xmm2; mov eax, [rax]",
            Rule::Unsupported,
            "nobody has written",
        ),
        (
            "mov [rsp - 16], rdi; vmovdqu xmm1, [rsp - 20]; vmovdqu [rsp - 52], xmm1; \
             mov rdi, [rsp - 48]; mov eax, [rdi]",
            Rule::Unsupported,
            "nobody has written",
        ),
        ("mov [rdx], rdi", Rule::Unsupported, "address"),
        ("lea rax, [rdi + rsi]; mov eax, [rax]", Rule::Unsupported, "addresses"),
        ("cmp edi, esi; je 1f; 1:", Rule::Unsupported, "undefined flags"),
        (".byte 6", Rule::Unsupported, "decoded"),
    ];
    let bodies: Vec<String> = faults.iter().map(|fault| format!("{}; {RIGHT}", fault.0)).collect();
    let functions = Functions::new("gp64", &bodies);
    for (at, (body, rule, words)) in faults.iter().enumerate() {
        let answer = functions.ask(at, Demands::default(), false);
        assert!(refused(&answer, *rule, words), "{body}: {answer:?}");
    }
    let answer =
        ask("avx2", &VECTORS.replacen("rdi + 32", "rdi + 16", 1), Demands::default(), false);
    assert!(refused(&answer, Rule::Misaligned, "multiple of 32"), "{answer:?}");
    let answer =
        ask("avx2", &VECTORS.replacen("rdi + 32", "rdi + 33", 1), Demands::default(), false);
    assert!(refused(&answer, Rule::Misaligned, "multiple of 32"), "{answer:?}");
    let far = VECTORS.replacen("vmovdqa ymm0, [rdi + 32]", "vmovdqu ymm0, [rdi + 33]", 1);
    let answer = ask("avx2", &far, Demands::default(), false);
    assert!(refused(&answer, Rule::OutOfBounds, "32 bytes at 33"), "{answer:?}");
}

/// The bound on instructions is a limit of the prover, and no rule of the contract.
#[test]
fn a_function_that_does_not_return_is_unknown() {
    for body in ["1: jmp 1b", "mov eax, [rdi]; 1: add eax, 1; jmp 1b"] {
        let answer = ask("gp64", &format!("{body}; {RIGHT}"), Demands::default(), false);
        let Verdict::Unknown(what) = answer else { panic!("{body}: {answer:?}") };
        assert!(what.contains("does not return"), "{body}: {what}");
    }
}

/// A symbol that stands for another function at run time, and instructions that a processor of the
/// target may lack.
#[test]
fn other_functions_and_other_processors_are_refused() {
    for (kind, words) in [
        (".type f_0, @gnu_indirect_function", "IFUNC"),
        (".weak f_0", "weak"),
        (".local f_0; .pushsection .text.other; f_0: ret; .popsection", "already defined"),
    ] {
        let text = format!(".text\n.globl f_0\n.type f_0, @function\n{kind}\nf_0: ret\n");
        let text = text.replace(';', "\n");
        match compiler::object(&text, "assembler", "gp64", Family::Gcc, &[]) {
            Ok(file) => {
                let object = Object::read(&file, Extensions::ALL).expect("an object");
                let refused = object.expect("f_0").expect_err(kind);
                assert!(refused.contains(words), "{kind}: {refused}");
                assert_eq!(object.function("f_0"), None, "{kind}");
            }
            Err(error) => assert!(error.contains(words), "{kind}: {error}"),
        }
        let callee = text.replace("f_0", "g") + ".globl f_0\n.type f_0, @function\nf_0: jmp g\n";
        if let Ok(file) = compiler::object(&callee, "assembler", "gp64", Family::Gcc, &[]) {
            let object = Object::read(&file, Extensions::ALL).expect("an object");
            let answer = asked(object, Demands::default());
            assert!(refused(&answer, Rule::Unsupported, words), "{kind}: {answer:?}");
        }
    }
    // The names of two functions, changed to one.
    let text = ".text\n.type f_0, @function\nf_0: ret\n.type h_1, @function\nh_1: ret\n";
    let file = compiler::object(text, "assembler", "gp64", Family::Gcc, &[]).expect("an object");
    let at = file.windows(4).position(|name| name == b"h_1\0").expect("a name");
    let twice = [&file[..at], b"f_0", &file[at + 3..]].concat();
    let object = Object::read(&twice, Extensions::ALL).expect("an object");
    assert!(object.expect("f_0").is_err_and(|refused| refused.contains("two functions")));
    for (flags, before, lacks) in [
        (&[][..], "mov r8, rdx; mov rdx, 3; mulx r10, r9, rdx; mov rdx, r8", Some("BMI2")),
        (&["-mbmi2"], "mov r8, rdx; mov rdx, 3; mulx r10, r9, rdx; mov rdx, r8", None),
        (&["-msse4.2"], "vpxor xmm0, xmm0, xmm0", Some("AVX")),
        (&["-mavx2"], "vpxor ymm0, ymm0, ymm0", None),
        (&["-mavx2"], "vpxord zmm0, zmm0, zmm0", Some("AVX512F")),
        (&["-mavx512f", "-mavx512bw"], "vpxord ymm0, ymm0, ymm0", Some("AVX512VL")),
        (&[], "endbr64; pxor xmm0, xmm0; xor eax, eax; cmove eax, eax; nopw [rax + rax]", None),
    ] {
        let mut object = Functions::new("gp64", &[format!("{before}; {RIGHT}")]).object;
        object.extensions = Extensions::of(flags);
        let answer = asked(object, Demands::default());
        match lacks {
            Some(lacks) => assert!(refused(&answer, Rule::Unsupported, lacks), "{answer:?}"),
            None => assert!(matches!(answer, Verdict::Proved(_)), "{before}: {answer:?}"),
        }
    }
}

/// Arguments on the stack belong to the function, which may leave secrets there.
#[test]
fn arguments_on_the_stack_are_wiped() {
    let program = "node f (a,b,c,d,e,g,h: u<V>32) returns (y: u<V>32) let y = a ^ h tel\n";
    let body = "mov ecx, [rdi]; mov rax, [rsp + 8]; xor ecx, [rax]; mov rax, [rsp + 16]; \
                mov [rax], ecx; xor eax, eax; xor ecx, ecx; ret";
    let spilled = body.replacen("mov rax", "mov rdx, rcx; mov rax", 1);
    let spilled = spilled.replacen("mov [rax]", "mov [rsp + 8], rdx; xor edx, edx; mov [rax]", 1);
    let functions = Functions::of(program, "gp64", &[body, &spilled]);
    let wiped = Demands { wiped: true };
    assert!(matches!(functions.ask(0, wiped, false), Verdict::Proved(_)));
    assert!(matches!(functions.ask(1, Demands::default(), false), Verdict::Proved(_)));
    let answer = functions.ask(1, wiped, false);
    assert!(refused(&answer, Rule::Left, "4 bytes of the frame"), "{answer:?}");
}

#[test]
fn wrong_results_are_refuted() {
    for (target, body, change) in [
        ("gp64", RIGHT, ["xor eax, [rsi]", "xor eax, [rsi + 4]"]),
        ("gp64", RIGHT, ["xor eax", "or eax"]),
        ("gp64", RIGHT, ["mov ecx, [rdi]", "movzx ecx, word ptr [rdi]"]),
        ("avx2", VECTORS, ["vmovdqa [rdx]", "vpshufd ymm0, ymm0, 0xb1; vmovdqa [rdx]"]),
        ("avx2", VECTORS, ["vmovdqa [rdx]", "vpermq ymm0, ymm0, 0x4e; vmovdqa [rdx]"]),
        ("avx2", VECTORS, ["vpxor ymm1, ymm1", "vpaddd ymm1, ymm1"]),
        ("avx2", VECTORS, ["vpxor ymm0, ymm0", "pxor xmm0, xmm2; vpxor ymm0, ymm0"]),
    ] {
        let body = body.replacen(change[0], change[1], 1);
        let answer = ask(target, &body, Demands::default(), false);
        match (answer, body.contains("xmm2")) {
            (Verdict::Refuted(difference), false) => {
                assert_eq!(difference.array, "y", "{body}");
                assert_ne!(difference.expected, difference.found);
            }
            // A result that was never written is not wrong, but unknown.
            (Verdict::Unknown(_), true) => {}
            (other, _) => panic!("{body}: {other:?}"),
        }
    }
    for missing in ["mov [rdx], eax; ", "mov [rdx + 4], ecx; "] {
        let answer = ask("gp64", &RIGHT.replace(missing, ""), Demands::default(), false);
        assert!(matches!(&answer, Verdict::Unknown(what) if what.contains("not written")));
    }
}

/// Orders of a sum are one word; an expression that is nearly a sum is another.
#[test]
fn sums_in_any_order_are_proved_and_nothing_else() {
    let right = "mov eax, [rdi]; mov ecx, [rdi + 4]; mov r8d, [rsi]; mov r9d, [rsi + 4]; \
         mov r10d, r9d; xor r10d, ecx; xor r10d, r8d; lea r11d, [rax + r10]; add r11d, ecx; \
         mov [rdx], r11d; sub ecx, r8d; lea eax, [rcx + 21]; ror eax, 9; mov [rdx + 4], eax; ret";
    let changes = [
        // Another order, twice, and a form with complements.
        ("", "", true),
        ("lea r11d, [rax + r10]; add r11d, ecx", "lea r11, [rcx + rax]; add r11d, r10d", true),
        ("sub ecx, r8d; lea eax, [rcx + 21]", "add ecx, 21; sub ecx, r8d; mov eax, ecx", true),
        ("sub ecx, r8d", "not ecx; add ecx, r8d; not ecx", true),
        ("lea r11d, [rax + r10]", "lea r11d, [eax + r10d]", true),
        // One word twice, a carry too much, sums of halves, and bits above the top of a word.
        ("add r11d, ecx", "add r11d, eax", false),
        ("lea eax, [rcx + 21]", "lea eax, [rcx + 20]", false),
        ("lea eax, [rcx + 21]", "lea eax, [2 * rcx + 21]", false),
        ("add r11d, ecx", "add r11d, ecx; adc r11d, 0", false),
        ("add r11d, ecx", "add r11w, cx", false),
        ("lea eax, [rcx + 21]; ror eax, 9", "lea eax, [rcx + 21]; shr eax, 9", false),
        ("add r11d, ecx; mov [rdx], r11d", "add r11, rcx; shr r11, 1; mov [rdx], r11d", false),
        ("xor r10d, r8d", "or r10d, r8d", false),
        ("sub ecx, r8d", "sub r8d, ecx; mov ecx, r8d", false),
    ];
    let bodies = changes.map(|(from, to, _)| match from {
        "" => right.to_string(),
        _ => right.replacen(from, to, 1),
    });
    let functions = Functions::of(SUMS, "gp64", &bodies);
    for (at, (_, to, holds)) in changes.iter().enumerate() {
        let answer = functions.ask(at, Demands::default(), false);
        match holds {
            true => assert!(matches!(answer, Verdict::Proved(_)), "{to}: {answer:?}"),
            false => assert!(matches!(answer, Verdict::Refuted(_)), "{to}: {answer:?}"),
        }
    }
}

/// The zero flag of data is a bit; a flag of an earlier result is none of a later one.
#[test]
fn zero_flags_are_bits() {
    let program = "node f (x: u<V>32) returns (y: u<V>32) let y = ~(x | (0 - x)) >> 31 tel\n";
    let bodies = [
        ("mov eax, [rdi]; xor ecx, ecx; test eax, eax; sete cl", true),
        ("mov eax, [rdi]; xor ecx, ecx; cmp eax, ecx; setbe cl", true),
        ("mov ecx, 1; xor r8d, r8d; mov eax, [rdi]; or eax, eax; cmovne ecx, r8d", true),
        ("mov eax, [rdi]; xor ecx, ecx; add eax, 7; sub eax, 7; ror eax, 3; sete cl", true),
        ("mov eax, [rdi]; xor ecx, ecx; test eax, eax; setne cl", false),
        ("mov eax, [rdi]; xor ecx, ecx; test ax, ax; sete cl", false),
        ("mov eax, [rdi]; xor ecx, ecx; test eax, eax; add eax, 1; sete cl", false),
    ];
    let all = bodies.map(|(body, _)| format!("{body}; mov [rsi], ecx; ret"));
    let functions = Functions::of(program, "gp64", &all);
    for (at, (body, holds)) in bodies.iter().enumerate() {
        let answer = functions.ask(at, Demands::default(), false);
        match holds {
            true => assert!(matches!(answer, Verdict::Proved(_)), "{body}: {answer:?}"),
            false => assert!(matches!(answer, Verdict::Refuted(_)), "{body}: {answer:?}"),
        }
    }
}

/// Results that replace a parameter must not be stored before all of it is read.
#[test]
fn overlapping_buffers_are_part_of_the_contract() {
    let late = "mov eax, [rdi + 4]; xor eax, [rsi]; mov [rdx], eax; mov ecx, [rdi]; \
         xor ecx, [rsi + 4]; mov [rdx + 4], ecx; ret";
    assert!(matches!(ask("gp64", RIGHT, Demands::default(), true), Verdict::Proved(_)));
    assert!(matches!(ask("gp64", late, Demands::default(), false), Verdict::Proved(_)));
    assert!(matches!(ask("gp64", late, Demands::default(), true), Verdict::Refuted(_)));
}

#[test]
fn what_is_left_is_found() {
    let wiped = Demands { wiped: true };
    let spilled = format!("mov eax, [rdi]; mov [rsp - 8], eax; {RIGHT}");
    let clean = RIGHT.replace("ret", "xor eax, eax; xor ecx, ecx; ret");
    let answer = ask("gp64", &clean, wiped, false);
    assert!(matches!(&answer, Verdict::Proved(report) if report.residue.is_empty()), "{answer:?}");
    let answer = ask("gp64", RIGHT, wiped, false);
    assert!(refused(&answer, Rule::Left, "rax, rcx"), "{answer:?}");
    let answer = ask("gp64", &spilled, Demands::default(), false);
    assert!(matches!(&answer, Verdict::Proved(report) if report.residue.frame == 4), "{answer:?}");
    let spilled = spilled.replace("ret", "xor eax, eax; xor ecx, ecx; ret");
    let answer = ask("gp64", &spilled, wiped, false);
    assert!(refused(&answer, Rule::Left, "4 bytes of the frame"), "{answer:?}");
    let answer = ask("gp64", &spilled.replace("ret", "mov [rsp - 8], eax; ret"), wiped, false);
    assert!(matches!(answer, Verdict::Proved(_)), "{answer:?}");
    let answer = ask("avx2", VECTORS, wiped, false);
    assert!(refused(&answer, Rule::Left, "xmm0, xmm1"), "{answer:?}");
}
