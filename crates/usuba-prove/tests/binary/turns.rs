//! Flags at the turns of a loop over blocks, in functions of assembly.
//!
//! ```text
//! f(in, out, n):   each block of two words of 32 bits with its words exchanged
//! ```

use usuba_object::Rule;
use usuba_object::block_function::{Interface, KeyPointer};
use usuba_object::blocks::{self, Verdict};
use usuba_object::byte_order::Order;
use usuba_object::compare::Demands;
use usuba_object::x86::X86;

use super::faults::Functions;

const PROGRAM: &str =
    "node f (x: u<V>32x2) returns (y: u<V>32x2) let y[0] = x[1]; y[1] = x[0] tel\n";

/// The function with these instructions at the end of a turn, where `r8d` is zero in the first turn
/// and a word of the block before in others, and at the end of the function.
fn function(turn: &str, end: &str) -> String {
    format!(
        "xor r8d, r8d; test rdx, rdx; je 2f; 1: mov eax, [rdi]; mov ecx, [rdi + 4]; \
         mov [rsi], ecx; mov [rsi + 4], eax; lea rdi, [rdi + 8]; lea rsi, [rsi + 8]; {turn}; \
         mov r8d, eax; mov eax, 0; mov ecx, 0; jne 1b; 2: mov r8d, 0; {end}; ret"
    )
}

/// The verdict on one of the functions.
fn ask(functions: &Functions, at: usize) -> Verdict {
    let interface = Interface {
        symbol: format!("f_{at}"),
        program: &functions.output.program,
        inputs: vec![("x".to_string(), Order::Le)],
        output: Order::Le,
        key: KeyPointer::Absent,
        batch: 1,
        in_place: false,
        xored: None,
        demands: Demands { wiped: true },
    };
    blocks::prove::<X86>(&functions.object, &interface)
}

/// A flag that depends on a block in all turns but the first is left, and not undefined.
#[test]
fn a_flag_that_is_secret_in_some_turns_is_left() {
    let all = [
        ("dec rdx", "nop", true),
        ("dec rdx; bt r8d, 3", "nop", false),
        ("dec rdx; bt r8d, 3", "xor eax, eax", true),
        // The count keeps the flag.
        ("bt eax, 3; dec rdx", "nop", false),
        ("bt eax, 3; dec rdx", "xor eax, eax", true),
    ];
    let bodies = all.map(|(turn, end, _)| function(turn, end));
    let functions = Functions::of(PROGRAM, "gp64", &bodies);
    for (at, (turn, end, is_wiped)) in all.into_iter().enumerate() {
        let answer = ask(&functions, at);
        match &answer {
            Verdict::Proved(_) => assert!(is_wiped, "{turn}; {end}"),
            Verdict::Refused(fault) if fault.rule == Rule::Left => {
                assert!(!is_wiped && fault.what.contains("carry flag"), "{turn}; {end}: {fault}");
            }
            other => panic!("{turn}; {end}: {other:?}"),
        }
    }
}

/// A count is divided by a number if the quotient is known for every count.
#[test]
fn counts_are_divided() {
    let all = [
        ("lea rax, [8 * rdx]; xor edx, edx; mov ecx, 8; div rcx", true),
        ("lea rax, [8 * rdx]; cqo; mov ecx, 8; idiv rcx", true),
        ("lea rax, [8 * rdx + 5]; xor edx, edx; mov ecx, 8; div rcx; cmp edx, 5; jne 2f", true),
        ("lea rax, [8 * rdx + 5]; xor edx, edx; mov ecx, 8; div rcx; test edx, edx; jne 2f", false),
        ("lea rax, [8 * rdx]; xor edx, edx; mov ecx, 16; div rcx", false),
        ("lea rax, [8 * rdx]; xor edx, edx; mov ecx, 4; div rcx", false),
        ("lea rax, [8 * rdx]; xor edx, edx; xor ecx, ecx; div rcx", false),
        ("lea rax, [8 * rdx]; mov edx, 1; mov ecx, 8; div rcx", false),
        ("lea rax, [8 * rdx]; xor edx, edx; mov rcx, -8; idiv rcx", false),
    ];
    let turns = function("dec rdx", "mov ecx, 0; mov edx, 0; xor eax, eax");
    let bodies = all.map(|(body, _)| format!("{body}; mov rdx, rax; {turns}"));
    let functions = Functions::of(PROGRAM, "gp64", &bodies);
    for (at, (body, holds)) in all.into_iter().enumerate() {
        let answer = ask(&functions, at);
        assert_eq!(matches!(answer, Verdict::Proved(_)), holds, "{body}: {answer:?}");
    }
}
