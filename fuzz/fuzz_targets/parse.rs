//! Any text has an answer: it is parsed, checked and sliced without a panic, and the output of the
//! formatter is parsed alike.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| filetests::random::any_text(text));
