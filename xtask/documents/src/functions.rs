//! The page of the book about each function of NaCl: its proved claims, by compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use xtask::repo::{Finding, Repo};

/// The list that `nacl_keeps_its_proofs` holds: compiler, function and claims in each line.
const CLAIMS: &str = "crates/usubac/tests/nacl-proofs.txt";
const PAGE: &str = "docs/book/src/reference/nacl-functions.md";

/// The claims in the order of the columns, and their titles.
const COLUMNS: [(&str, &str); 6] = [
    ("safe", "memory-safe"),
    ("ends", "terminates"),
    ("time", "constant-time"),
    ("left", "nothing secret left"),
    ("computes", "computes its specification"),
    ("sizes", "computes it at named sizes"),
];

/// Compares the page with the list, or writes it.
///
/// # Errors
/// The page cannot be written.
pub fn check(repo: &Repo, bless: bool) -> io::Result<Vec<Finding>> {
    let Some(list) = repo.get(CLAIMS) else {
        return Ok(vec![Finding::new(CLAIMS, 0, "is missing")]);
    };
    let Some(text) = page(&list.text) else {
        return Ok(vec![Finding::new(CLAIMS, 0, "has a line without a compiler or a function")]);
    };
    crate::generated(repo, PAGE, &text, bless)
}

/// The page; `None` if a line has another form.
fn page(list: &str) -> Option<String> {
    let mut compilers = BTreeSet::new();
    let mut functions: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for line in list.lines() {
        let (head, claims) = line.split_once(':')?;
        let (compiler, function) = head.rsplit_once(' ')?;
        compilers.insert(compiler);
        let claims = claims.split_whitespace().collect();
        functions.entry(function).or_default().insert(compiler, claims);
    }
    let mut text = String::from(
        "# Functions of NaCl and their proofs\n\n\
         <!-- Written by `cargo xtask bless` from crates/usubac/tests/nacl-proofs.txt. -->\n\n\
         `usubac prove --dist` proves these claims about the exported functions of `usubac dist --kind nacl`, compiled with `-O2`.\n\
         Each cell names the compilers whose object has the proof.\n\
         [Proofs of object files](../binary-proofs.md) explains the claims, and how to prove your own file.\n\
         The last column is for all contents at the sizes that `usubac prove --dist` prints, and for no other size.\n\n",
    );
    let proved = |function: &BTreeMap<&str, BTreeSet<&str>>, compiler: &str, claim: &str| {
        function.get(compiler).is_some_and(|claims| claims.contains(claim))
    };
    let titles = COLUMNS.map(|(_, title)| title).join(" | ");
    text +=
        &format!("| compiler | functions | {titles} |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for compiler in &compilers {
        let there = functions.values().filter(|function| function.contains_key(compiler)).count();
        let count = |(claim, _): (&str, &str)| {
            functions.values().filter(|of| proved(of, compiler, claim)).count().to_string()
        };
        text += &format!("| {compiler} | {there} | {} |\n", COLUMNS.map(count).join(" | "));
    }
    text += &format!("\n| function | {titles} |\n|---|---|---|---|---|---|---|\n");
    for (name, function) in &functions {
        let cell = |(claim, _): (&str, &str)| {
            let all = compilers.iter().filter(|compiler| proved(function, compiler, claim));
            all.copied().collect::<Vec<_>>().join(", ")
        };
        text += &format!("| `{name}` | {} |\n", COLUMNS.map(cell).join(" | "));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_counts_what_is_proved() {
        let text = page("clang 19 f: safe\ngcc 12 f: safe ends\ngcc 12 g:\n").expect("a page");
        assert!(text.contains("| gcc 12 | 2 | 1 | 1 | 0 | 0 | 0 | 0 |"), "{text}");
        assert!(text.contains("| `f` | clang 19, gcc 12 | gcc 12 |  |  |  |  |"), "{text}");
        assert!(page("f").is_none());
    }

    #[test]
    fn another_page_is_out_of_date() {
        let list = "gcc 12 f: safe\n";
        let found = |text: &str| {
            check(&Repo::sample(&[(CLAIMS, list), (PAGE, text)]), false).expect("no file").len()
        };
        assert_eq!(found(&page(list).expect("a page")), 0);
        assert_eq!(found("# Functions\n"), 1);
    }
}
