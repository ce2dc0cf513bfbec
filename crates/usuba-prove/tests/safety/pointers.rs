//! Arrays of pointers: messages of different lengths.

use usuba_object::memory::Access;
use usuba_object::safety::{Bytes, Evidence, Function, Parameter, Returns, Room, prove};
use usuba_object::x86::X86;
use usuba_object::{Fault, Rule};
use usuba_prove::threads;
use usuba_run::cc::Family;

use super::{LONGEST, object, room, text};

/// `int f(const uint8_t *const *in, const size_t *lengths, size_t count, uint8_t *out)`: messages of
/// lengths[i] bytes, and two bytes of a result for each.
fn of_messages() -> Function {
    let times = |each| Bytes::Times { each, length: 2, more: 0 };
    let message = Room {
        bytes: Bytes::Listed { lengths: 1, most: 1 << 56 },
        ..room("in[i]", 0, Access::Read)
    };
    let array = |name| Room { bytes: times(8), is_public: true, ..room(name, 0, Access::Read) };
    let parameters = vec![
        Parameter::Buffer(Room { each: Some(Box::new(message)), ..array("in") }),
        Parameter::Buffer(array("lengths")),
        Parameter::Length(1 << 53),
        Parameter::Buffer(Room { bytes: times(2), ..room("out", 0, Access::Write) }),
    ];
    Function { symbol: "f".into(), parameters, equal: Vec::new(), returns: Returns::Status }
}

/// The last byte of each message, and the sum of all.
const C: &str = r#"
#include <stddef.h>
#include <stdint.h>
int f(const uint8_t *const *in, const size_t *lengths, size_t count, uint8_t *out)
{
    const uint8_t *first = count ? in[0] : NULL;
    size_t i, j;
    for (i = 0; i < count; i++)
        if (!in[i] && lengths[i]) return 1;
    for (i = 0; i < count; i++) {
        uint8_t sum = 0;
        out[2 * i] = 0;
        for (j = 0; j < lengths[i]; j++) {
            sum ^= in[i][j];
            out[2 * i] = in[i][j];
            __asm__ __volatile__("" : "+r"(first) : : "memory");
        }
        out[2 * i + 1] = sum;
    }
    return 0;
}
"#;

#[test]
fn messages_behind_pointers_are_bounded() {
    let faults = [
        ("return 0;", "return 0;", None),
        ("sum ^= in[i][j]", "sum ^= in[i][j + 1]", Some(Rule::OutOfBounds)),
        ("j < lengths[i]", "j <= lengths[i]", Some(Rule::OutOfBounds)),
        ("lengths[i]; j++", "lengths[0]; j++", Some(Rule::OutOfBounds)),
        ("(j = 0; j < lengths[i]", "(j = 0; j < lengths[i + 1]", Some(Rule::OutOfBounds)),
        ("sum ^= in[i][j]", "sum ^= in[i + 1][j]", Some(Rule::OutOfBounds)),
        ("sum ^= in[i][j]", "sum ^= in[0][j]", Some(Rule::OutOfBounds)),
        // The pointer that was read first does not point to this message.
        ("sum ^= in[i][j]", "sum ^= first[j]", Some(Rule::Unsupported)),
        ("i < count; i++) {", "i <= count; i++) {", Some(Rule::OutOfBounds)),
        ("out[2 * i + 1]", "out[2 * i + 2]", Some(Rule::OutOfBounds)),
        ("sum ^= in[i][j]", "((uint8_t *)in[i])[j] = 0", Some(Rule::ReadOnly)),
        // A status does not tell the outcomes of all turns.
        ("sum ^= in[i][j]", "if (in[i][j]) sum = out[0]", Some(Rule::Unsupported)),
        ("sum ^= in[i][j]", "sum ^= out[in[i][j]]", Some(Rule::SecretAddress)),
    ];
    let families = [Family::Gcc, Family::Clang];
    let tasks: Vec<_> = families.iter().flat_map(|family| faults.map(|f| (*family, f))).collect();
    let check = |&(family, (right, wrong, rule)): &(Family, (&str, &str, Option<Rule>))| {
        assert!(C.contains(right), "{right}");
        let object = object(&C.replace(right, wrong), "c", family);
        let found = prove::<X86>(&object, &of_messages(), 10 * LONGEST);
        let broken = found.as_ref().map_or_else(|fault| Some(fault.rule), |_| None);
        assert_eq!(broken, rule, "{family:?}: {wrong}: {found:?}");
    };
    threads::each(&tasks, None, check).expect("threads");
}

/// An array is public, also where it is read as bytes, and a pointer that belongs to another index
/// is no address any more.
#[test]
fn pointers_belong_to_an_index() {
    let proved = |body: &str| -> Result<Evidence, Fault> {
        let body = format!("xor eax, eax; cmp rdx, 2; jb 1f; {body}; 1: xor eax, eax; ret");
        let object = object(&text(&body), "assembler", Family::Gcc);
        prove::<X86>(&object, &of_messages(), LONGEST)
    };
    let last = "mov r8, [rdi]; mov r9, [rsi]; test r9, r9; je 1f; mov al, [r8 + r9 - 1]";
    for body in [
        last,
        "mov r9, [rsi]; test r9, r9; je 1f; mov r8, [rdi]; mov al, [r8]",
        "mov r8, [rdi + 8]; mov r9, [rsi + 8]; cmp r9, 7; jb 1f; mov al, [r8 + 6]",
        "mov r8, [rdi + rdx * 8 - 8]; mov r9, [rsi + rdx * 8 - 8]; cmp r9, 7; jb 1f; mov al, [r8 + 6]",
        "mov al, [rdi + 3]; test al, al; je 1f",
        "movdqu xmm0, [rdi]; movd eax, xmm0; test eax, eax; je 1f",
        // One message after another.
        "mov r8, [rdi]; mov r9, [rsi]; test r9, r9; je 1f; mov al, [r8]; \
         mov r8, [rdi + 8]; mov r9, [rsi + 8]; test r9, r9; je 1f; mov al, [r8]",
    ] {
        let proof = proved(body);
        assert!(proof.is_ok(), "{body}: {proof:?}");
    }
    for (body, rule) in [
        ("mov r8, [rdi]; mov al, [r8]", Rule::OutOfBounds),
        ("mov r8, [rdi]; mov r9, [rsi]; mov al, [r8 + r9 - 1]", Rule::OutOfBounds),
        ("mov r8, [rdi + rdx * 8]", Rule::OutOfBounds),
        ("mov r8, [rdi - 8]", Rule::OutOfBounds),
        ("mov r8, [rdi + 4]; mov al, [r8]", Rule::Unsupported),
        // Lengths and addresses of two messages, in both orders.
        ("mov r8, [rdi]; mov r9, [rsi + 8]; test r9, r9; je 1f; mov al, [r8]", Rule::Unsupported),
        ("mov r9, [rsi]; mov r8, [rdi + 8]; test r9, r9; je 1f; mov al, [r8]", Rule::OutOfBounds),
        // An address that a register, the frame, a vector or an offset keeps.
        (&format!("{last}; mov r10, [rsi + 8]; mov al, [r8]"), Rule::Unsupported),
        (&format!("{last}; push r8; mov r10, [rsi + 8]; pop r8; mov al, [r8]"), Rule::Unsupported),
        (
            &format!("{last}; movq xmm0, r8; mov r10, [rsi + 8]; movq r8, xmm0; mov al, [r8]"),
            Rule::Unsupported,
        ),
        (&format!("{last}; add r8, r9; mov r10, [rsi + 8]; mov al, [r8 - 1]"), Rule::Unsupported),
        // The content is secret.
        (&format!("{last}; test al, al; je 1f"), Rule::SecretBranch),
        (&format!("{last}; mov byte ptr [r8], 0"), Rule::ReadOnly),
        // The places of two messages are not known.
        ("mov r8, [rdi]; mov r9, [rdi + 8]; sub r9, r8; mov al, [rcx + r9]", Rule::Unsupported),
    ] {
        let fault = proved(body).expect_err(body);
        assert_eq!(fault.rule, rule, "{body}: {fault}");
    }
}

/// Arrays and buffers behind pointers that the function may write have no proof.
#[test]
fn arrays_of_pointers_are_only_read() {
    let object = object(&text("xor eax, eax; ret"), "assembler", Family::Gcc);
    let proved = |function: &Function| prove::<X86>(&object, function, LONGEST);
    proved(&of_messages()).expect("it is safe");
    for (parameter, is_behind) in [(0, false), (0, true), (1, false)] {
        let mut function = of_messages();
        let Parameter::Buffer(room) = &mut function.parameters[parameter] else { unreachable!() };
        let room = if is_behind { room.each.as_mut().expect("an array") } else { room };
        room.access = Access::Both;
        let fault = proved(&function).expect_err("it may be written");
        assert_eq!(fault.rule, Rule::Unsupported, "{parameter}: {fault}");
    }
}

/// `int f(const char *name, uint8_t out[8])`: the end of a string is its zero.
const STRING: &str = r#"
#include <stdint.h>
#include <stddef.h>
int f(const char *name, uint8_t *out)
{
    const char *other = "usuba";
    size_t i = 0;
    while (*name && *name == *other) name++, other++, out[i++] = 1;
    return *name != *other;
}
"#;

#[test]
fn strings_end_with_zero() {
    let name = Room {
        bytes: Bytes::Text { most: 1 << 56 },
        is_public: true,
        ..room("name", 0, Access::Read)
    };
    let out = room("out", 5, Access::Write);
    let parameters = [name, out].map(Parameter::Buffer).into();
    let returns = Returns::Status;
    let function = Function { symbol: "f".into(), parameters, equal: Vec::new(), returns };
    let faults = [
        ("i = 0", "i = 0", None),
        ("*name && ", "", Some(Rule::OutOfBounds)),
        ("return *name", "return name[1]", Some(Rule::OutOfBounds)),
        ("i = 0", "i = 1", Some(Rule::OutOfBounds)),
        ("name++, ", "name += 2, ", Some(Rule::OutOfBounds)),
        ("out[i++] = 1", "*(char *)name = 1", Some(Rule::ReadOnly)),
    ];
    for family in [Family::Gcc, Family::Clang] {
        for (right, wrong, rule) in faults {
            assert!(STRING.contains(right), "{right}");
            let object = object(&STRING.replace(right, wrong), "c", family);
            let found = prove::<X86>(&object, &function, LONGEST);
            let broken = found.as_ref().map_or_else(|fault| Some(fault.rule), |_| None);
            assert_eq!(broken, rule, "{family:?}: {wrong}: {found:?}");
        }
    }
}
