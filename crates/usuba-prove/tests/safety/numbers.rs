//! Numbers that functions compare, add and divide.

use usuba_object::Rule;
use usuba_object::safety::{Bytes, Parameter, Returns, prove};
use usuba_object::x86::X86;
use usuba_run::cc::Family;

use super::{LONGEST, object, of_any_length, text};

/// A part of a block, which ends with the block or with the input.
const PART: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
void f(const uint8_t *secret, uint8_t *out, size_t n, uint64_t position)
{
    uint8_t block[64];
    size_t used = position % 64, part = n < 64 - used ? n : 64 - used;
    memset(block, 0, 64);
    memcpy(block + used, secret, part);
    memcpy(out, block + used, SIZE);
    memset(block, 0, 64);
    __asm__ __volatile__("" : : "r"(block) : "memory");
}
"#;

#[test]
fn numbers_are_compared_with_each_other() {
    let mut function = of_any_length(Returns::Nothing);
    function.parameters.push(Parameter::Any);
    for family in [Family::Gcc, Family::Clang] {
        for (size, rule) in [
            ("part", None),
            ("part / 2", None),
            ("part + 1", Some(Rule::OutOfBounds)),
            ("64 - used", Some(Rule::OutOfBounds)),
        ] {
            let object = object(&PART.replace("SIZE", size), "c", family);
            let fault = prove::<X86>(&object, &function, 10 * LONGEST).err();
            assert_eq!(fault.map(|fault| fault.rule), rule, "{family:?} {size}");
        }
    }
}

/// A sum of the low halves of numbers is known but for its high half.
#[test]
fn low_halves_are_added() {
    let proof = |body: &str| {
        let object = object(&text(body), "assembler", Family::Gcc);
        prove::<X86>(&object, &of_any_length(Returns::Nothing), LONGEST)
    };
    let rest = "mov eax, edx; lea r9d, [rax + 3]; and r9d, 63; \
                mov byte ptr [rsp + r9 - 64], 0; xor eax, eax; ret";
    proof(rest).expect("a byte of 64");
    let fault = proof(&rest.replace("r9d, 63", "r9d, 127")).expect_err("a byte of 128");
    assert_eq!(fault.rule, Rule::OutOfBounds, "{fault}");
    // 5, if n is below 2^32 - 5.
    let five = "mov eax, edx; lea r9, [rdx + 5]; sub r9, rdx; mov byte ptr [rsp + r9 - 64], 0; \
                xor eax, eax; ret";
    proof(five).expect("byte 5");
    assert!(proof(&five.replace("r9, [rdx", "r9d, [rax")).is_err());
}

/// A borrow that is spread over a register is known in each case of the numbers that are compared.
#[test]
fn a_spread_borrow_is_a_number() {
    let proof = |body: &str| {
        let object = object(&text(body), "assembler", Family::Gcc);
        prove::<X86>(&object, &of_any_length(Returns::Nothing), LONGEST)
    };
    // 16 bytes below a length of 64, and 32 from there on.
    let blocks = "mov ecx, 16; cmp rdx, 64; sbb rax, rax; add rax, 2; imul rcx, rax; \
                  mov byte ptr [rsp + rcx - 33], 0; xor eax, eax; ret";
    proof(blocks).expect("a byte of the red zone");
    let fault = proof(&blocks.replace("- 33", "- 32")).expect_err("the return address");
    assert_eq!(fault.rule, Rule::NotRestored, "{fault}");
}

/// A loop in which a number that it does not change is divided.
const NESTED: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
__attribute__((noinline)) static void words(uint8_t *to, size_t bytes)
{
    memset(to, 0, (bytes / 8 MORE) * 8);
}
void f(const uint8_t *secret, uint8_t *out, size_t n, size_t bytes)
{
    if (bytes < 1024)
        for (; n >= 1024; n -= 1024, out += 1024) words(out, bytes);
}
"#;

#[test]
fn loops_divide_other_numbers() {
    let mut function = of_any_length(Returns::Nothing);
    function.parameters.push(Parameter::Length(1 << 56));
    for family in [Family::Gcc, Family::Clang] {
        for (more, rule) in [("", None), ("+ 1", None), ("+ 2", Some(Rule::OutOfBounds))] {
            let object = object(&NESTED.replace("MORE", more), "c", family);
            let fault = prove::<X86>(&object, &function, 10 * LONGEST).err();
            let found = fault.as_ref().map(|fault| fault.rule);
            assert_eq!(found, rule, "{family:?} {more}: {fault:?}");
        }
    }
}

/// The sign of a number of 32 bits from 2^31 on is one.
#[test]
fn a_short_number_has_a_sign() {
    let of = |most: i64, shift: &str| {
        let mut function = of_any_length(Returns::Nothing);
        function.parameters[2] = Parameter::Length(most);
        function.equal.clear();
        let Parameter::Buffer(out) = &mut function.parameters[1] else { unreachable!() };
        out.bytes = Bytes::Fixed(2);
        let body = format!(
            "mov eax, edx; {shift} eax, 30; movsxd rax, eax; mov byte ptr [rsi + rax], 0; ret"
        );
        prove::<X86>(&object(&text(&body), "assembler", Family::Gcc), &function, LONGEST)
    };
    for (most, shift) in [((1 << 31) - 1, "sar"), ((1 << 31) - 1, "shr")] {
        of(most, shift).expect("zero or one");
    }
    for (most, shift) in [((1 << 31), "sar"), ((1 << 32) - 1, "sar"), (1 << 31, "shr")] {
        of(most, shift).expect_err("two, or less than zero");
    }
}
