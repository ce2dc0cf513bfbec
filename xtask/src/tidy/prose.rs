//! Ratchet for prose: counts of vague words and private terms may only fall.
//!
//! Prose is the comments of Rust files and the Markdown documents, both without code.
//! `xtask/prose.txt` has the four counts of `COLUMNS` for each file; files that it does not list
//! have none. `xtask/glossary.txt` pairs private terms with standard ones.
//! `cargo xtask bless prose` lowers the counts and never raises one: a new file takes over only
//! the counts of files that are gone, so that files can move. Questions may ask `what`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::{Add, Sub};

use crate::repo::{File, Finding, Repo};
use crate::rust::comment_start;

const COUNTS: &str = "xtask/prose.txt";

type Counts = [usize; 4];

/// The subject of each number of a line, as messages name it.
const COLUMNS: [&str; 4] = ["`what`", "`those of` or `that of`", "`so many`", "private terms"];

/// Private terms without another meaning, each with its standard term.
fn glossary() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("../../glossary.txt").lines().filter_map(|line| line.split_once(" = "))
}

pub fn check(repo: &Repo) -> Vec<Finding> {
    let listed = listed(repo);
    let mut findings = Vec::new();
    for (file, text) in written(repo) {
        let now = counts(&text);
        let most = listed.get(file.path.as_str()).copied().unwrap_or_default();
        for column in (0..COLUMNS.len()).filter(|&column| now[column] > most[column]) {
            let terms = glossary().filter(|(term, _)| column == 3 && count(&text, term) > 0);
            let (found, name, expected) = (now[column], COLUMNS[column], most[column]);
            let mut message = format!("{found} {name}, expected at most {expected}");
            message.extend(terms.map(|(term, better)| format!(", `{better}` for `{term}`")));
            findings.push(Finding::new(&file.path, 0, message));
        }
    }
    findings
}

/// Lowers the counts of the file to the present ones.
///
/// # Errors
/// The file cannot be written.
pub fn bless(repo: &Repo) -> io::Result<()> {
    fs::write(repo.root.join(COUNTS), lowered(repo))
}

fn lowered(repo: &Repo) -> String {
    let listed = listed(repo);
    let gone = listed.iter().filter(|(path, _)| repo.get(path).is_none());
    let mut pool = gone.fold(Counts::default(), |sum, (_, &of)| each(sum, of, usize::add));
    let mut out = Vec::new();
    for (file, text) in written(repo) {
        let most = listed.get(file.path.as_str());
        let counts = each(counts(&text), most.copied().unwrap_or(pool), usize::min);
        if most.is_none() {
            pool = each(pool, counts, usize::sub);
        }
        if counts != Counts::default() {
            out.push(format!("{} {}\n", file.path, counts.map(|n| n.to_string()).join(" ")));
        }
    }
    out.sort();
    out.concat()
}

fn each(a: Counts, b: Counts, f: fn(usize, usize) -> usize) -> Counts {
    std::array::from_fn(|column| f(a[column], b[column]))
}

fn listed(repo: &Repo) -> BTreeMap<&str, Counts> {
    let lines = repo.get(COUNTS).map_or("", |file| &file.text).lines();
    lines
        .filter_map(|line| {
            let (path, numbers) = line.split_once(' ')?;
            let numbers: Vec<usize> = numbers.split(' ').filter_map(|n| n.parse().ok()).collect();
            Some((path, numbers.try_into().ok()?))
        })
        .collect()
}

/// Every file that has prose, with its prose.
fn written(repo: &Repo) -> impl Iterator<Item = (&File, String)> {
    // The error index repeats pages that are counted themselves.
    let own = |file: &&File| file.path != "docs/book/src/reference/errors.md";
    let documents = repo.matching("", ".md").filter(own);
    documents.chain(repo.matching("", ".rs")).map(|file| (file, prose(file)))
}

/// The words of a file's prose in lower case, each between two spaces, without questions' `what`.
fn prose(file: &File) -> String {
    let (mut words, mut fenced) = (Vec::new(), false);
    for line in file.text.lines() {
        let start = if file.path.ends_with(".rs") { comment_start(line) } else { 0 };
        let line = line[start..].trim_start_matches(['/', '!', ' ']);
        fenced ^= line.starts_with("```");
        // Every other part between backticks is code.
        let parts = line.split('`').step_by(2).filter(|_| !fenced);
        words.extend(parts.flat_map(str::split_whitespace).map(str::to_lowercase));
    }
    let mut question = false;
    for word in words.iter_mut().rev() {
        question = word.ends_with('?') || question && !word.ends_with(['.', ':']);
        *word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_string();
        if question && word == "what" {
            word.clear();
        }
    }
    format!("  {}  ", words.join("  "))
}

fn counts(prose: &str) -> Counts {
    [
        count(prose, "what") + count(prose, "whatever"),
        count(prose, "those of") + count(prose, "that of"),
        count(prose, "so many"),
        glossary().map(|(term, _)| count(prose, term)).sum(),
    ]
}

fn count(prose: &str, words: &str) -> usize {
    prose.matches(&format!(" {} ", words.replace(' ', "  "))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo(counts: &str, text: &str) -> Repo {
        Repo::sample(&[(COUNTS, counts), ("a/new.rs", text), ("b.md", "# What is it?\n`what`\n")])
    }

    #[test]
    fn counts_may_only_fall() {
        let text =
            "//! What it does, and that\n//! of a: so many.\nlet what = \"// what\"; // Planted.\n";
        assert_eq!(check(&repo("", text)).len(), 4);
        assert_eq!(check(&repo("a/new.rs 1 1 1 1\n", text)), []);
        let found = check(&repo("a/new.rs 0 1 1 0\n", text));
        assert_eq!(found[0].what, "1 `what`, expected at most 0");
        assert!(found[1].what.ends_with(", `fault injection` for `planted`"), "{found:?}");
        // Lower counts are taken over, higher ones are not, and a file that moved keeps its own.
        assert_eq!(lowered(&repo("a/new.rs 0 2 1 0\n", text)), "a/new.rs 0 1 1 0\n");
        assert_eq!(lowered(&repo("a/old.rs 1 0 3 0\n", text)), "a/new.rs 1 0 1 0\n");
        assert_eq!(lowered(&repo("", text)), "");
    }
}
