//! Prefixes before every modelled form: the model rejects them, or agrees with the processor.
//!
//! ```text
//! .byte 0x66;  add eax, ecx        a sum of 16 bits
//! .byte 0x67;  mov eax, [rsi]      rejected: the processor drops half of the address
//! .byte 0xf2;  vpaddd ...          no instruction
//! ```
//!
//! A prefix may shorten an immediate, so that the bytes behind it are other instructions. The model
//! decodes them as the processor does.

use usuba_gen::level;
use usuba_object::simulate;
use usuba_object::x86::X86;

use super::{Form, OUTPUT, assembly, driver, forms, inputs, instructions, machine, missing};

/// Segments, sizes of operands and addresses, `lock`, `repne` and `rep`, and REX.
const PREFIXES: [u8; 15] =
    [0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x40, 0x44, 0x48, 0x4f];

/// A form with a prefix before its last instruction.
fn prefixed(form: &Form, prefix: u8) -> Form {
    let (before, last) = form.text.rsplit_once(';').unwrap_or(("", &form.text));
    let text = format!("{before}; .byte {prefix}; {last}");
    Form { text, flags: form.flags.clone() }
}

/// Each form has the next prefix, or all of them.
fn cases() -> Vec<Form> {
    let share = |form: usize, at: usize| (form + at) % PREFIXES.len();
    let turn = level::turn() as usize;
    let mut cases = Vec::new();
    for (number, form) in forms::all(|_| true).iter().enumerate() {
        for (at, &prefix) in PREFIXES.iter().enumerate() {
            if level::is_whole() || share(number, at) == turn % PREFIXES.len() {
                cases.push(prefixed(form, prefix));
            }
        }
    }
    cases
}

#[test]
fn prefixes_are_rejected_or_modelled() {
    let Some(machine) = machine() else { return };
    let inputs = inputs(2);
    let all = cases();
    let object = super::object(&assembly(&all, machine), machine);
    let (mut kept, mut found) = (Vec::new(), Vec::new());
    let total = all.len();
    for (number, form) in all.into_iter().enumerate() {
        let symbol = format!("case_{number}");
        let run = |input| simulate::numeric::<X86>(&object, &symbol, input, OUTPUT);
        let outputs: Result<Vec<Vec<u8>>, _> = inputs.iter().map(|input| run(input)).collect();
        let Ok(outputs) = outputs else { continue };
        if missing(&instructions(&object, number), machine).is_none() {
            kept.push(form);
            found.extend(outputs);
        }
    }
    println!("{} of {total} cases are modelled", kept.len());
    assert!(kept.len() > total / 10, "the model must execute some of them");
    let text = assembly(&kept, machine);
    let driver = driver(kept.len(), inputs.len());
    let native = super::native(machine, &text, &driver, &inputs.concat());
    let native = native.chunks(OUTPUT);
    assert_eq!(native.len(), found.len());
    let mut wrong = Vec::new();
    for (at, (expected, found)) in native.zip(&found).enumerate() {
        if expected != found {
            let (form, input) = (&kept[at / inputs.len()], &inputs[at % inputs.len()]);
            wrong.push(super::show(form, "numbers", input, expected, found));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// An encoding whose forms are all modelled is to be compared with the processor.
#[test]
fn rejected_encodings_are_rejected() {
    let machine = super::MACHINES[0];
    let inputs = inputs(1);
    for forms in forms::rejected() {
        let object = super::object(&assembly(&forms, machine), machine);
        let is_rejected = |number| {
            let symbol = format!("case_{number}");
            simulate::symbolic::<X86>(&object, &symbol, &inputs, OUTPUT).is_err()
                && simulate::numeric::<X86>(&object, &symbol, &inputs[0], OUTPUT).is_err()
        };
        assert!((0..forms.len()).any(is_rejected), "{} is modelled", forms[0].text);
    }
}
