//! Every Rust file has a header, which says why a long file is long; no file holds a promise
//! instead of code, an excuse instead of a test, or a path of one machine.

use crate::repo::{File, Finding, Repo};

/// A file above this many lines must justify it in its header, with the word "lines".
pub const LONG: usize = 600;

// Written in two parts so that this file passes its own rule.
const UNWANTED: &[(&str, &str)] = &[
    (concat!("todo", "!("), "write it, or return a diagnostic"),
    (concat!("unimplemented", "!("), "write it, or return a diagnostic"),
    (concat!("#[", "ignore"), "a test runs or does not exist"),
    (concat!("FIX", "ME"), "mend it, or write what is missing where users look"),
    (concat!("XX", "X"), "mend it, or write what is missing where users look"),
    (concat!("TO", "DO"), "do it, or write what is missing where users look"),
    (concat!("allow(dead", "_code"), "delete what nobody uses"),
];

/// Folders at the root of every system; any other absolute path belongs to one machine.
const SYSTEM: &[&str] = &["bin", "dev", "etc", "proc", "usr"];

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repo.files {
        if file.path.ends_with(".rs") {
            header(file, &mut findings);
        }
        // Licences are texts of others, and cargo writes lock files.
        if file.path.starts_with("LICENSE") || file.path == "Cargo.lock" {
            continue;
        }
        for (number, line) in file.text.lines().enumerate() {
            for (word, advice) in UNWANTED {
                if has_word(line, word) {
                    let what = format!("`{word}`: {advice}");
                    findings.push(Finding::new(&file.path, number + 1, what));
                }
            }
            if let Some(path) = foreign_path(line) {
                let what = format!("`{path}` exists on one machine only");
                findings.push(Finding::new(&file.path, number + 1, what));
            }
        }
    }
    findings
}

fn header(file: &File, findings: &mut Vec<Finding>) {
    let header: Vec<&str> = file.text.lines().take_while(|line| line.starts_with("//!")).collect();
    if header.is_empty() {
        findings.push(Finding::new(&file.path, 0, "the file starts without a `//!` header"));
    }
    let lines = file.text.lines().count();
    if lines > LONG && !header.iter().any(|line| line.contains("lines")) {
        let what =
            format!("{lines} lines: split it, or say in the header why it has so many lines");
        findings.push(Finding::new(&file.path, 0, what));
    }
}

/// Whether `line` has `word` and not only inside a longer word.
fn has_word(line: &str, word: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric();
    line.match_indices(word).any(|(at, _)| {
        let rest = &line[at + word.len()..];
        let open = word.ends_with(inner) && rest.starts_with(inner);
        !line[..at].ends_with(inner) && !open
    })
}

/// The first absolute path in `line` that exists on one machine only.
fn foreign_path(line: &str) -> Option<&str> {
    for (at, _) in line.match_indices('/') {
        let before = line[..at].chars().next_back();
        let starts = before.is_none_or(|c| c.is_whitespace() || "\"'`(=".contains(c));
        let rest = &line[at + 1..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(0);
        let more = rest[length..].strip_prefix('/').is_some_and(|below| {
            below.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '$')
        });
        if starts && length > 0 && more && !SYSTEM.contains(&&rest[..length]) {
            let end = line[at..].find(|c: char| c.is_whitespace() || "\"'`)".contains(c));
            return Some(&line[at..end.map_or(line.len(), |end| at + end)]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let found = check(&Repo::sample(&[("crates/a/src/lib.rs", text)]));
        found.into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_file_needs_a_header() {
        assert!(findings("pub fn f() {}\n")[0].contains("header"));
        assert_eq!(findings("//! One.\npub fn f() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn a_long_file_defends_itself() {
        let body = "\n".repeat(LONG);
        assert!(findings(&format!("//! One.\n{body}"))[0].contains("601 lines"));
        let defended = format!("//! One.\n//! Above {LONG} lines because of this.\n{body}");
        assert_eq!(findings(&defended), Vec::<String>::new());
    }

    #[test]
    fn unwanted_words_are_found_where_they_stand() {
        for (word, _) in UNWANTED {
            let found = findings(&format!("//! One.\nlet x = 1; {word} a"));
            assert!(found.len() == 1 && found[0].contains("lib.rs:2:"), "{word}: {found:?}");
        }
        // Part of a longer word.
        assert_eq!(findings("//! MAXX\x58XY\n"), Vec::<String>::new());
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        let path = |folder: &str| format!("//! See `/{folder}/x` here.\n");
        assert!(findings(&path("somewhere"))[0].contains("somewhere/x` exists on one machine"));
        assert!(findings(&path("home"))[0].contains("one machine"));
        assert_eq!(findings(&path("usr")), Vec::<String>::new());
        assert_eq!(findings("//! a/b/c, a / b / c, /* x */ and https://x.y/z/w\n"), [""; 0]);
    }
}
