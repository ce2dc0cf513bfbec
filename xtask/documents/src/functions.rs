//! The page of the book about each function of NaCl: its proved claims, by compiler; and their counts in
//! the README.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use xtask::repo::{Finding, Repo};

/// The list that the tests `nacl` of `tests/linked.rs` hold: compiler, function and claims in each line.
const CLAIMS: &str = "crates/usubac/tests/nacl-proofs.txt";
const PAGE: &str = "docs/book/src/reference/nacl-functions.md";
const README: &str = "README.md";

/// The line of the README that has the counts, up to them.
const SENTENCE: &str = "  `usubac prove --dist` proves [exported functions of NaCl]\
    (docs/book/src/reference/nacl-functions.md) memory-safe, terminating and constant-time: ";

/// The claims in the order of the columns, and their titles.
const COLUMNS: [(&str, &str); 6] = [
    ("safe", "memory-safe"),
    ("ends", "terminates"),
    ("time", "constant-time"),
    ("left", "nothing secret left"),
    ("computes", "computes its specification"),
    ("sizes", "computes it at named sizes"),
];

/// Compares the page and the README with the list, or writes them.
///
/// # Errors
/// A file cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let Some(list) = repo.get(CLAIMS) else {
        return Ok(vec![Finding::new(CLAIMS, 0, "is missing")]);
    };
    let Some(claims) = Claims::read(&list.text) else {
        return Ok(vec![Finding::new(CLAIMS, 0, "has a line without a compiler or a function")]);
    };
    let mut findings = crate::generated(repo, PAGE, &claims.page(), bless)?;
    if let Some(readme) = repo.get(README) {
        let Some(line) = readme.text.lines().find(|line| line.starts_with(SENTENCE)) else {
            findings.push(Finding::new(README, 0, format!("has no line `{SENTENCE}...`")));
            return Ok(findings);
        };
        let text = readme.text.replace(line, &format!("{SENTENCE}{}", claims.counts()));
        findings.extend(crate::generated(repo, README, &text, bless)?);
    }
    Ok(findings)
}

/// The claims that are proved, by function and compiler.
struct Claims<'a> {
    compilers: BTreeSet<&'a str>,
    functions: BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<&'a str>>>,
}

impl<'a> Claims<'a> {
    /// The claims of a list; `None` if a line has another form.
    fn read(list: &'a str) -> Option<Claims<'a>> {
        let (mut compilers, mut functions) = (BTreeSet::new(), BTreeMap::new());
        for line in list.lines() {
            let (head, claims) = line.split_once(':')?;
            let (compiler, function) = head.rsplit_once(' ')?;
            compilers.insert(compiler);
            let claims = claims.split_whitespace().collect();
            let by: &mut BTreeMap<_, _> = functions.entry(function).or_default();
            by.insert(compiler, claims);
        }
        Some(Claims { compilers, functions })
    }

    /// How many functions of a compiler's object have all of these claims.
    fn count(&self, compiler: &str, claims: &[&str]) -> usize {
        let all = self.functions.values().filter_map(|function| function.get(compiler));
        all.filter(|proved| claims.iter().all(|claim| proved.contains(claim))).count()
    }

    /// The counts of safe functions, of those that leave no secret, and of those that compute their
    /// specifications; compilers with equal counts share one.
    fn counts(&self) -> String {
        let shared = |count: &dyn Fn(&str) -> ([usize; 2], &'static str)| {
            let mut groups: BTreeMap<([usize; 2], &str), Vec<&str>> = BTreeMap::new();
            for compiler in &self.compilers {
                groups.entry(count(compiler)).or_default().push(compiler);
            }
            let group = |(([first, second], word), by): (&([usize; 2], &str), &Vec<&str>)| {
                format!("{first} {word} {second} by {}", by.join(", "))
            };
            groups.iter().rev().map(group).collect::<Vec<String>>().join(", but ")
        };
        let of = |claims: &[&str]| {
            shared(&|compiler| ([claims, &[]].map(|all| self.count(compiler, all)), "of"))
        };
        let computing = shared(&|compiler| {
            (["computes", "sizes"].map(|claim| self.count(compiler, &[claim])), "and")
        });
        format!(
            "{}; to leave no secret on the stack or in registers: {}; to compute their specifications \
             for all inputs, and at named sizes only: {computing}.",
            of(&["safe", "ends", "time"]),
            of(&["left"]),
        )
    }

    fn page(&self) -> String {
        let Claims { compilers, functions } = self;
        let mut text = String::from(
            "# Functions of NaCl and their proofs\n\n\
             <!-- Written by `cargo xtask bless` from crates/usubac/tests/nacl-proofs.txt. -->\n\n\
             `usubac prove --dist` proves these claims about the exported functions of `usubac dist --kind nacl`.\n\
             gcc and clang compile for x86-64, and `aarch64-gcc` for AArch64, with `-O2` or the named level; `riscv-gcc` compiles the C of `--target gp32` for RV32IM with `-DUSUBA_SMALL -ffreestanding` and the named level.\n\
             Each cell names the compilers whose object has the proof.\n\
             [Proofs of object files](../binary-proofs.md) explains the claims, and how to prove your own file.\n\
             The last column is for all contents at the sizes that `usubac prove --dist` prints, and for no other size.\n\n",
        );
        let titles = COLUMNS.map(|(_, title)| title).join(" | ");
        text += &format!(
            "| compiler | functions | {titles} |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
        );
        for compiler in compilers {
            let count = |(claim, _): (&str, &str)| self.count(compiler, &[claim]).to_string();
            let there = self.count(compiler, &[]);
            text += &format!("| {compiler} | {there} | {} |\n", COLUMNS.map(count).join(" | "));
        }
        text += &format!("\n| function | {titles} |\n|---|---|---|---|---|---|---|\n");
        for (name, function) in functions {
            let cell = |(claim, _): (&str, &str)| {
                let is_proved = |compiler: &&&str| {
                    function.get(**compiler).is_some_and(|claims| claims.contains(claim))
                };
                let all: Vec<&str> = compilers.iter().filter(is_proved).copied().collect();
                if all.len() == compilers.len() { "all".to_string() } else { all.join(", ") }
            };
            text += &format!("| `{name}` | {} |\n", COLUMNS.map(cell).join(" | "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_counts_what_is_proved() {
        let list = "clang 19 f: safe\ngcc 12 f: safe ends time\ngcc 12 g: sizes\n";
        let claims = Claims::read(list).expect("claims");
        let text = claims.page();
        assert!(text.contains("| gcc 12 | 2 | 1 | 1 | 1 | 0 | 0 | 1 |"), "{text}");
        assert!(text.contains("| `f` | all | gcc 12 | gcc 12 |  |  |  |"), "{text}");
        let counts = claims.counts();
        assert!(counts.starts_with("1 of 2 by gcc 12, but 0 of 1 by clang 19; "), "{counts}");
        assert!(
            counts.contains("registers: 0 of 2 by gcc 12, but 0 of 1 by clang 19; "),
            "{counts}"
        );
        assert!(counts.ends_with(": 0 and 1 by gcc 12, but 0 and 0 by clang 19."), "{counts}");
        let twice = Claims::read("clang 19 f: safe\ngcc 12 f: safe\n").expect("claims").counts();
        assert!(twice.starts_with("0 of 1 by clang 19, gcc 12; "), "{twice}");
        assert!(Claims::read("f").is_none());
    }

    #[test]
    fn another_page_is_out_of_date() {
        let list = "gcc 12 f: safe\n";
        let claims = Claims::read(list).expect("claims");
        let found = |page: &str, counts: &str| {
            let readme = format!("one\n{SENTENCE}{counts}\ntwo\n");
            let files = [(CLAIMS, list), (PAGE, page), (README, &readme)];
            check(&Repo::sample(&files), false).expect("no file").len()
        };
        assert_eq!(found(&claims.page(), &claims.counts()), 0);
        assert_eq!(found("# Functions\n", &claims.counts()), 1);
        assert_eq!(found(&claims.page(), "all of them"), 1);
    }
}
