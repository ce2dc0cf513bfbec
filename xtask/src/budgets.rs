//! Extension budgets: the cost of an extension, counted on toys.
//!
//! ```text
//! xtask/toys/pass/crates/usuba/src/passes/toy.rs    a file that somebody writes
//! xtask/toys/pass/LINES                             path|line before it|line that somebody writes
//! xtask/toys/cipher/COPY                            folder|its copy|name|name in the copy
//! ```
//!
//! The last column of "Where the next thing goes" in ARCHITECTURE.md is the budget, and `tidy`
//! compares it with the toys. `cargo xtask budgets` adds all toys to a scratch copy of the
//! repository, runs `cargo xtask bless` and the tests that concern them, and shows the generated
//! lines. An extension that needs a line in another list fails the run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bless::{LINTS, cargo};
use crate::repo::{Finding, Repo};

const TOYS: &str = "xtask/toys/";

/// Rows of the table in ARCHITECTURE.md, and their toys.
const ROWS: [(&str, &str); 6] = [
    ("a pass", "pass"),
    ("an instruction", "instruction"),
    ("a CPU", "cpu"),
    ("a target", "target"),
    ("a cipher", "cipher"),
    ("a diagnostic", "diagnostic"),
];

/// Commands of cargo that must pass with all toys.
const CHECKS: &[&[&str]] = &[
    &["xtask", "tidy"],
    &["test", "--package", "usuba", "--lib", "--", "isa::", "passes::tests"],
    &["test", "--package", "usuba-equiv", "--test", "planted"],
    &["test", "--package", "usuba-run", "--test", "rows", "--", "every_row_is_reached"],
    &["test", "--package", "usuba-library", "--test", "ciphers", "--", "toy"],
    &["test", "--package", "usuba-bench", "--test", "counts", "--test", "factors"],
    &["test", "--package", "filetests", "--test", "files"],
    &["test", "--package", "usubac", "--test", "cli", "--test", "pages"],
];

/// The hand-written files and lines of one extension.
#[derive(Default, PartialEq, Eq, Debug)]
struct Cost {
    folders: usize,
    files: usize,
    lines: usize,
    pages: usize,
    tests: usize,
}

impl Cost {
    fn of(repo: &Repo, toy: &str) -> Cost {
        let home = format!("{TOYS}{toy}/");
        let mut cost = Cost::default();
        for file in repo.matching(&home, "") {
            let path = &file.path[home.len()..];
            let records = file.text.lines().count();
            match path {
                "LINES" => cost.lines += records,
                "COPY" => cost.folders += records,
                _ if path.starts_with("tests/") => cost.tests += 1,
                _ if path.starts_with("docs/") => cost.pages += 1,
                _ => cost.files += 1,
            }
        }
        cost
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = [
            (self.folders, "folder"),
            (self.files, "file"),
            (self.lines, "line"),
            (self.pages, "page"),
            (self.tests, "test"),
        ];
        let some = counts.into_iter().filter(|(count, _)| *count > 0);
        let word = |(count, name)| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
        f.write_str(&some.map(word).collect::<Vec<_>>().join(", "))
    }
}

/// Compares the toys with the budgets.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let path = "ARCHITECTURE.md";
    let Some(document) = repo.get(path) else { return Vec::new() };
    let finding = |(name, toy): &(&str, &str)| {
        let cost = Cost::of(repo, toy).to_string();
        let rows = document.text.lines().enumerate();
        let row = rows.into_iter().find(|(_, line)| line.starts_with(&format!("| {name} |")));
        let (at, line) = row.unwrap_or((0, ""));
        let budget = line.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let text = format!("{name} costs {cost}, and the budget is `{budget}`");
        (budget != cost).then(|| Finding::new(path, at + 1, text))
    };
    ROWS.iter().filter_map(finding).collect()
}

/// Adds all toys to a scratch copy and runs the tests that concern them.
///
/// # Errors
/// A file that cannot be copied, a toy without its place, or a command that cannot be started.
pub fn run(repo: &Repo) -> io::Result<Vec<Finding>> {
    let mut findings = check(repo);
    for (name, toy) in ROWS {
        println!("{name:16} {}", Cost::of(repo, toy));
    }
    let scratch = scratch(repo)?;
    for (_, toy) in ROWS {
        add(repo, toy, &scratch)?;
    }
    let before = Repo::of(&scratch)?;
    // `bless` comes first: without its `mod` lines nothing compiles.
    let bless: &[&str] = &["xtask", "bless"];
    for args in [bless].iter().chain(CHECKS) {
        let status = Command::new(cargo())
            .args(*args)
            .current_dir(&scratch)
            // Two trees in one build folder would overwrite the programs of each other.
            .env("CARGO_TARGET_DIR", repo.root.join("target/budgets/target"))
            .env_remove(LINTS)
            .status()?;
        if !status.success() {
            let text = format!("`cargo {}` fails with the toys", args.join(" "));
            findings.push(Finding::new("budgets", 0, text));
        }
    }
    println!("\ngenerated lines:");
    let old: BTreeMap<&str, &str> = before.files.iter().map(|f| (&*f.path, &*f.text)).collect();
    for file in &Repo::of(&scratch)?.files {
        let was = old.get(&*file.path).copied().unwrap_or_default();
        let new = file.text.lines().filter(|line| !was.lines().any(|other| other == *line));
        let count = new.count();
        if count > 0 {
            println!("{count:5} {}", file.path);
        }
    }
    Ok(findings)
}

/// A copy of all files that git knows or would add.
fn scratch(repo: &Repo) -> io::Result<PathBuf> {
    let scratch = repo.root.join("target/budgets/tree");
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(&repo.root)
        .output()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)?;
    }
    for path in listed.split('\0').filter(|path| repo.root.join(path).is_file()) {
        let to = scratch.join(path);
        std::fs::create_dir_all(to.parent().unwrap_or(&scratch))?;
        std::fs::copy(repo.root.join(path), to)?;
    }
    Ok(scratch)
}

/// Adds one toy to a copy of the repository.
fn add(repo: &Repo, toy: &str, scratch: &Path) -> io::Result<()> {
    let home = format!("{TOYS}{toy}/");
    for file in repo.matching(&home, "") {
        match &file.path[home.len()..] {
            "LINES" => file.text.lines().try_for_each(|record| insert(record, scratch))?,
            "COPY" => file.text.lines().try_for_each(|record| copy(repo, record, scratch))?,
            path => write(&scratch.join(path), &file.text)?,
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    std::fs::write(path, text)
}

/// Inserts a line after the first that starts as the record says.
fn insert(record: &str, scratch: &Path) -> io::Result<()> {
    let wrong = || io::Error::other(format!("no place for `{record}`"));
    let [path, before, line] = record.splitn(3, '|').collect::<Vec<_>>()[..] else {
        return Err(wrong());
    };
    let path = scratch.join(path);
    let text = std::fs::read_to_string(&path)?;
    let mut lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(before)).ok_or_else(wrong)?;
    lines.insert(at + 1, line);
    std::fs::write(path, lines.join("\n") + "\n")
}

/// Copies a folder with another name in it. Measured costs are no part of an extension.
fn copy(repo: &Repo, record: &str, scratch: &Path) -> io::Result<()> {
    let [from, to, old, new] = record.split('|').collect::<Vec<_>>()[..] else {
        return Err(io::Error::other(format!("no copy: `{record}`")));
    };
    let files = repo.matching(from, "").filter(|file| !file.path.ends_with("/costs.toml"));
    for file in files {
        let path = format!("{to}{}", file.path[from.len()..].replace(old, new));
        write(&scratch.join(path), &file.text.replace(old, new))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_lines_are_counted_and_compared() {
        let row = |cost: &str| format!("| a pass | some folder | {cost} |\n");
        let found = |text: &str| {
            let files = [
                ("ARCHITECTURE.md", text),
                ("xtask/toys/pass/crates/usuba/src/passes/toy.rs", ""),
                ("xtask/toys/pass/LINES", "a|b|c\n"),
                ("xtask/toys/pass/tests/passes/toy/a.ua", ""),
                ("xtask/toys/pass/tests/passes/toy/b.ua", ""),
            ];
            let findings = check(&Repo::sample(&files));
            findings.into_iter().any(|finding| finding.to_string().contains("a pass costs"))
        };
        assert!(!found(&row("1 file, 1 line, 2 tests")));
        assert!(found(&row("1 file, 2 tests")) && found(""));
    }

    #[test]
    fn a_line_without_its_place_is_an_error() {
        let error = insert("path|before", Path::new("")).expect_err("no line");
        assert!(error.to_string().contains("no place"));
    }
}
