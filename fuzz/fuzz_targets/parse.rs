//! Fuzz target of the front end: any text is parsed, checked and sliced without a panic, and the
//! output of the formatter has the same tree.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| filetests::random::any_text(text));
