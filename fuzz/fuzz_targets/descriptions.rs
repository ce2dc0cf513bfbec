//! Fuzz target of the file readers: any text gives values, or one error with a place.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| filetests::descriptions::any_description(text));
