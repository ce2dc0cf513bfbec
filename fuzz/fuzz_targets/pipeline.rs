//! Differential fuzzing: a random well-typed program computes the same in every engine of this
//! process.
#![no_main]

use filetests::random::Subject;
use libfuzzer_sys::fuzz_target;
use usuba_gen::Choices;

fuzz_target!(|bytes: &[u8]| {
    let text = usuba_gen::program(&mut Choices::from_bytes(bytes));
    if let Err(failure) = Subject::new(&text, bytes.len() as u64) {
        panic!("{failure}\n{text}");
    }
});
