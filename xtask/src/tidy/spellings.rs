//! Former spellings of options stand in no document, script, example, message or test: the table of
//! them in `legacy.rs` is the list. Options that only some commands had are looked for beside the
//! names of these commands.
//!
//! ```text
//! (&[], "arch", Words(&["--target"])),              --arch and -arch, anywhere
//! (&["tune"], "budget", Words(&["--time-limit"])),  --budget, in a line with `usubac` and `tune`
//! ```

use crate::repo::{File, Finding, Repo};

/// The table of former spellings.
const TABLE: &str = "crates/usubac/src/legacy.rs";

/// Files about former spellings: their history, their tests, and a script that runs old versions.
const ABOUT: &[&str] = &[
    "CHANGELOG.md",
    TABLE,
    "xtask/src/tidy/spellings.rs",
    "crates/usubac/src/legacy/",
    "tests/cli/flags.txt",
    "scripts/same-c",
];

/// Other tools have options of these names, the original compiler among them.
const OTHERS: &[&str] = &["bench/drivers.txt", "bench/peers/", "bench/published/", "fuzz/"];

/// A row of the table.
struct Former<'a> {
    commands: Vec<&'a str>,
    name: &'a str,
}

pub fn check(repo: &Repo) -> Vec<Finding> {
    let Some(table) = repo.get(TABLE) else { return Vec::new() };
    let all = rows(&table.text);
    let skipped = |file: &&File| ABOUT.iter().chain(OTHERS).any(|own| file.path.starts_with(own));
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| !skipped(file)) {
        for (at, line) in file.text.lines().enumerate() {
            // Answers in transcripts repeat options of the user.
            if file.path.starts_with("tests/cli/") && line.starts_with(['!', '>']) {
                continue;
            }
            for row in all.iter().filter(|row| is_in(line, row)) {
                let what =
                    format!("`--{}` is a former spelling; {TABLE} has the new one", row.name);
                findings.push(Finding::new(&file.path, at + 1, what));
            }
        }
    }
    findings
}

/// The rows of the table, without short options.
fn rows(text: &str) -> Vec<Former<'_>> {
    let table = text.split("const FORMER").nth(1).and_then(|rest| rest.split("\n];").next());
    let mut rows = Vec::new();
    for line in table.unwrap_or_default().lines() {
        let Some((commands, rest)) =
            line.trim().strip_prefix("(&[").and_then(|line| line.split_once("], \""))
        else {
            continue;
        };
        let name = rest.split('"').next().unwrap_or_default();
        let commands = commands.split(',').map(|name| name.trim().trim_matches('"'));
        let commands = commands.filter(|name| !name.is_empty()).collect();
        if name.len() > 1 {
            rows.push(Former { commands, name });
        }
    }
    rows
}

fn is_in(line: &str, row: &Former) -> bool {
    let asked = row.commands.is_empty()
        || line.contains("usubac") && row.commands.iter().any(|command| has_word(line, command));
    asked && (has_word(line, &format!("--{}", row.name)) || has_dash(line, row))
}

/// Whether a line has an option with one dash that every command had.
fn has_dash(line: &str, row: &Former) -> bool {
    row.commands.is_empty() && has_word(line, &format!("-{}", row.name))
}

/// Whether a line has a word that no letter, digit or dash touches.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(part) && !after.starts_with(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "const FORMER: &[Row] = &[\n    (&[], \"arch\", Words(&[\"--target\"])),\n    \
                        (&[\"tune\", \"demo\"], \"budget\", Words(&[\"--time-limit\"])),\n];\n";

    fn found(path: &str, line: &str) -> usize {
        check(&Repo::sample(&[(TABLE, ROWS), (path, line)])).len()
    }

    #[test]
    fn former_spellings_are_found() {
        for line in ["$ usubac f.ua --arch avx2", "`-arch`", "args([\"--arch\", \"avx2\"])"] {
            assert_eq!(found("README.md", line), 1, "{line}");
        }
        assert_eq!(found("docs/a.md", "usubac tune f.ua --budget 5m"), 1);
        for line in ["--march=x --arch-list", "usubac synth --budget 3", "make tune --budget 5"] {
            assert_eq!(found("README.md", line), 0, "{line}");
        }
        assert_eq!(found("CHANGELOG.md", "--arch"), 0);
        assert_eq!(found("tests/cli/a.txt", "! warning: --arch is now --target"), 0);
    }

    #[test]
    fn the_table_is_read() {
        let repo = Repo::load().expect("the repository");
        let text = &repo.get(TABLE).expect("the table").text;
        assert!(rows(text).len() > 30);
    }
}
