//! The crates of the compiler and of the provers touch no file, clock, thread, process or
//! environment and print nothing.
//!
//! So they run unchanged in a fuzzer, in an editor and in a browser, and their output depends on
//! their input alone. Only the programs around them, and tests, have side effects.

use crate::repo::{Finding, Repo};
use crate::rust::{is_test_file, product};

/// Where the pure libraries are.
const PURE: &[&str] = &[
    "crates/usuba-lang/src/",
    "crates/usuba-circuit/src/",
    "crates/usuba/src/",
    "crates/usuba-ide/src/",
    "crates/usuba-sat/src/",
    "crates/usuba-contracts/src/",
    "crates/usuba-decode/src/",
    "crates/usuba-ranges/src/",
    "crates/usuba-equiv/src/",
    "crates/usuba-bits/src/",
    "crates/usuba-object/src/",
];

/// Text that shows a side effect.
const WORLD: &[&str] = &[
    "std::fs",
    "std::process",
    "std::env",
    "std::time",
    "std::thread",
    "std::net",
    "std::io",
    "std::sync::Mutex",
    "print!(",
    "println!(",
    "eprint!(",
    "eprintln!(",
    "dbg!(",
    "HashSet::new()",
    "HashMap::new()",
];

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in PURE.iter().flat_map(|home| repo.matching(home, ".rs")) {
        if is_test_file(&file.path) {
            continue;
        }
        for (line, text) in product(&file.text) {
            if let Some(word) = WORLD.iter().find(|word| names(&text, word)) {
                let what = format!("`{word}` in the pure library");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
    }
    findings
}

/// Whether `text` has `word` not as the end of a longer name: `FxHashMap::new` is another thing
/// than the map whose order changes from run to run.
fn names(text: &str, word: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Repo::sample(&[(path, text)])).len()
    }

    #[test]
    fn the_world_is_found() {
        let path = "crates/usuba/src/ir/mod.rs";
        assert_eq!(findings(path, "let t = std::fs::read(path);"), 1);
        assert_eq!(findings(path, "println!(\"{x}\");\neprintln!();\n"), 2);
        assert_eq!(findings(path, "let seen = HashMap::new();"), 1);
        let path = "crates/usuba-equiv/src/rewrites.rs";
        assert_eq!(findings(path, "let now = std::time::Instant::now();"), 1);
    }

    #[test]
    fn other_crates_tests_and_comments_may() {
        assert_eq!(findings("crates/usubac/src/main.rs", "println!(\"{x}\");"), 0);
        assert_eq!(findings("crates/usuba/src/ir/tests.rs", "use std::fs;"), 0);
        assert_eq!(findings("crates/usuba/src/ir/mod.rs", "// Unlike std::fs."), 0);
        assert_eq!(findings("crates/usuba/src/ir/mod.rs", "let m = FxHashMap::new();"), 0);
    }
}
