//! Any text has an answer where a description is read: values, or one error with a place.

use std::path::Path;

use usuba_ciphers::vectors;
use usuba_gen::Choices;
use usuba_library::Manifest;
use usuba_prove::{arithmetic_folder, cache, certificate};

/// Reads `text` as `cipher.toml`, as `targets.toml`, as a certificate, as a cache entry, as a manifest
/// and as each kind of test vectors.
///
/// # Panics
/// A reader panics, or an error has no place.
pub fn any_description(text: &str) {
    let path = Path::new("some.toml");
    let files = [
        usuba_ciphers::parse(path, text).map(drop),
        arithmetic_folder::parse(path, text).map(drop),
        certificate::parse(path, text).map(drop),
        cache::parse(path, text).map(drop),
        Manifest::parse(path, text).map(drop),
    ];
    for message in files.into_iter().filter_map(Result::err) {
        assert!(message.starts_with("some.toml:"), "an error without a place: {message}");
    }
    let answers = vectors::parse(text).map(|found| found.len());
    let hashes = vectors::hashes(text).map(|found| found.len());
    let seals = vectors::seals(text, 16).map(|found| found.len());
    for message in [answers, hashes, seals].into_iter().filter_map(Result::err) {
        // The reader of the file writes its name before the line.
        let line = message.split(": ").next().and_then(|line| line.parse::<usize>().ok());
        assert!(line.is_some(), "an error without a place: {message}");
    }
}

/// Texts that a mutation writes into another text.
const TOKENS: &[&str] = &[
    "",
    "\n",
    "\n\n",
    "=",
    "\"",
    "[",
    "]",
    "[[function]]\n",
    "{",
    "}",
    "0",
    "-1",
    "99999999999999999999",
    "18446744073709551615",
    "key = ",
    "in = 0",
    "out",
    "\\u0000",
    "é",
    "\u{1f600}",
    "*/",
    "#",
    "[]",
    "slicings",
    "true",
    "1979-05-27",
    "nan",
    ",",
    ".",
    "'''",
];

/// `text` with up to four pieces deleted, repeated or replaced.
pub fn mutated(text: &str, choices: &mut Choices) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=choices.below(4) {
        let start = choices.below(text.len() + 1);
        let end = (start + choices.below(12)).min(text.len());
        let new: Vec<char> = match choices.below(3) {
            0 => [&text[start..end], &text[start..end]].concat(),
            _ => TOKENS[choices.below(TOKENS.len())].chars().collect(),
        };
        text.splice(start..end, new);
    }
    text.into_iter().collect()
}
