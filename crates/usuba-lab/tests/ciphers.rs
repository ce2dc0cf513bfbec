//! Known answers through the byte interface, on every target of this machine: one function of
//! each slicing, with a key schedule in words (RECTANGLE), one in bits whose result is read as
//! planes (AES), and an output longer than the input (ChaCha20).

use std::path::Path;

use usuba::ir::Slicing;
use usuba::target;
use usuba_lab::bench::{Problem, Side, Subject, measure};
use usuba_lab::cipher;

#[test]
fn vectors_hold_on_every_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let wanted = [
        ("rectangle", "rectangle80_encrypt", Slicing::V),
        ("rectangle", "rectangle80_decrypt", Slicing::H),
        ("rectangle", "rectangle128_encrypt", Slicing::B),
        ("aes", "aes128_encrypt_h", Slicing::H),
        ("chacha20", "chacha20_block", Slicing::V),
    ];
    // The emulators like short programs, the compilers do not like much optimisation.
    let side = Side { flags: vec!["-O1".into()], ..Side::default() };
    let ciphers: Vec<_> = wanted
        .iter()
        .map(|(folder, _, _)| cipher::read(&root.join(folder)).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    let subjects: Vec<Subject> = ciphers
        .iter()
        .zip(wanted)
        .map(|(cipher, (_, name, slicing))| {
            let function = cipher.functions.iter().find(|function| function.name == name);
            Subject { cipher, function: function.expect("the folder has it"), slicing, side: &side }
        })
        .collect();
    let mut verified = 0;
    for target in target::ALL {
        for (subject, result) in subjects.iter().zip(measure(target, &subjects, None)) {
            let name = &subject.function.name;
            match result {
                Ok(measured) => {
                    assert!(measured.blocks > 2 * measured.lanes, "{name} on {}", target.name);
                    verified += 1;
                }
                Err(Problem::Skipped(why)) => eprintln!("skipped {}: {why}", target.name),
                Err(Problem::Failed(why)) => panic!("{name} on {}: {why}", target.name),
            }
        }
    }
    assert!(verified > 0, "this machine runs no target");
}
