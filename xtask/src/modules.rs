//! Generated module lists: `mod NAME;` for each file of a folder whose `mod.rs` is a list of files.
//! `cargo xtask bless` writes them, `cargo xtask tidy` reports missing lines.
//!
//! This crate does not depend on the compiler, which may not compile without these lines.

use std::io;

use crate::repo::{Finding, Repo};

/// Folders whose `mod.rs` names each file.
const FOLDERS: [&str; 3] =
    ["crates/usuba/src/isa/", "crates/usuba/src/isa/cpu/", "crates/usuba/src/passes/"];

/// Each list of modules, with its text.
fn texts(repo: &Repo) -> Vec<(String, String)> {
    let text = |folder: &&str| {
        let path = format!("{folder}mod.rs");
        let text = with_modules(&repo.get(&path)?.text, &names(repo, folder));
        Some((path, text))
    };
    FOLDERS.iter().filter_map(text).collect()
}

/// The lists that lack a file.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let differs = |(path, text): &(String, String)| repo.get(path).is_none_or(|f| f.text != *text);
    let stale = texts(repo).into_iter().filter(differs);
    stale.map(|(path, _)| Finding::new(&path, 0, "lacks a file: run `cargo xtask bless`")).collect()
}

/// Writes the lists.
///
/// # Errors
/// A file that cannot be written.
pub fn write(repo: &Repo) -> io::Result<()> {
    texts(repo).into_iter().try_for_each(|(path, text)| std::fs::write(repo.root.join(path), text))
}

/// The names of the files of a folder, without its list and its tests.
fn names<'a>(repo: &'a Repo, folder: &'a str) -> Vec<&'a str> {
    let files = repo.matching(folder, ".rs");
    let names = files.filter_map(|file| file.path.strip_prefix(folder)?.strip_suffix(".rs"));
    names.filter(|name| !name.contains('/') && !["mod", "tests"].contains(name)).collect()
}

/// A list of modules with a line for each name that has none, by name.
fn with_modules(text: &str, names: &[&str]) -> String {
    let module = |line: &str| {
        let rest = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ")?;
        rest.strip_suffix(';').map(str::to_string)
    };
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for name in names {
        let listed: Vec<(usize, String)> =
            lines.iter().enumerate().filter_map(|(at, l)| Some((at, module(l)?))).collect();
        let listed = || listed.iter().filter(|(_, other)| other != "tests");
        if listed().any(|(_, other)| other == name) {
            continue;
        }
        let before = listed().find(|(_, other)| other.as_str() > *name);
        let at = before.map(|(at, _)| *at).or_else(|| listed().next_back().map(|(at, _)| at + 1));
        lines.insert(at.unwrap_or(0), format!("mod {name};"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_line_gets_one_in_its_place() {
        let list = "//! Text.\n\npub mod b;\nmod d;\n\n#[cfg(test)]\nmod tests;\n";
        let with = with_modules(list, &["a", "b", "c", "d", "e"]);
        let wanted =
            "//! Text.\n\nmod a;\npub mod b;\nmod c;\nmod d;\nmod e;\n\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(with, wanted);
        assert_eq!(with_modules(wanted, &["a", "e"]), wanted);
    }

    #[test]
    fn a_missing_line_is_found() {
        let list = ("crates/usuba/src/passes/mod.rs", "mod a;\n");
        let files = ["crates/usuba/src/passes/a.rs", "crates/usuba/src/passes/b.rs"];
        let repo = |count: usize| {
            let files = files.iter().take(count).map(|path| (*path, ""));
            Repo::sample(&[list].into_iter().chain(files).collect::<Vec<_>>())
        };
        assert_eq!(check(&repo(1)), []);
        assert!(check(&repo(2))[0].to_string().contains("cargo xtask bless"));
    }
}
