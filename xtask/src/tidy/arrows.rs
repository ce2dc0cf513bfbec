//! Crates depend on each other in one direction, in their tests too.
//!
//! ```text
//! lang, circuit → usuba → asm, ide, ciphers, sat → contracts → decode, equiv → web, object → run → prove → library → bench → usubac, python
//! ```
//!
//! A crate imports only crates to its left. A development dependency that points to the right would
//! build the tools in order to test the prover, and is an error like any other. Crates have a limit
//! on their lines, so that one person can know each.

use crate::repo::{File, Finding, Repo};

/// The crates from left to right.
const ORDER: &[&str] = &[
    "usuba-lang",
    "usuba-circuit",
    "usuba",
    "usuba-asm",
    "usuba-gen",
    "usuba-data",
    "usuba-ide",
    "usuba-ciphers",
    "usuba-replay",
    "usuba-witness",
    "usuba-sat",
    "usuba-contracts",
    "usuba-decode",
    "usuba-ranges",
    "usuba-equiv",
    "usuba-bits",
    "usuba-web",
    "usuba-object",
    "usuba-synth",
    "usuba-run",
    "usuba-library",
    "usuba-prove",
    "usuba-bench",
    "usubac",
    "usuba-python",
];

/// Lines of Rust that a crate has at most.
const LINES: usize = 25_000;

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.matching("crates/", "/Cargo.toml") {
        let name = file.path.split('/').nth(1).unwrap_or_default();
        let Some(place) = ORDER.iter().position(|other| *other == name) else {
            let what = format!("the crate `{name}` is new: say in xtask where it stands");
            findings.push(Finding::new(&file.path, 0, what));
            continue;
        };
        for (line, other) in dependencies(file) {
            if ORDER.iter().position(|name| *name == other).is_some_and(|at| at >= place) {
                let what = format!("`{name}` must not depend on `{other}`, which is right of it");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
        let home = format!("crates/{name}/");
        let lines: usize = repo.matching(&home, ".rs").map(|file| file.text.lines().count()).sum();
        if lines > LINES {
            let what = format!("`{name}` has {lines} lines of Rust, and {LINES} is the limit");
            findings.push(Finding::new(&file.path, 0, what));
        }
    }
    findings
}

/// The names of all dependencies, also of tests, with their lines.
fn dependencies(file: &File) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut out = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            out.push((number + 1, name));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, manifest: &str, lines: usize) -> Vec<String> {
        let (toml, rust) =
            (format!("crates/{name}/Cargo.toml"), format!("crates/{name}/src/lib.rs"));
        let files = [(toml.as_str(), manifest), (rust.as_str(), &"\n".repeat(lines))];
        check(&Repo::sample(&files)).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn crates_depend_to_the_left() {
        let fine = "[dependencies]\nusuba.workspace = true\nsmallvec = \"1\"\n";
        assert_eq!(findings("usuba-equiv", fine, 10), [""; 0]);
        let tests = "[dev-dependencies]\nusuba-run.workspace = true\n";
        assert!(findings("usuba-equiv", tests, 10)[0].contains("right of it"));
        let itself = "[dependencies]\nusuba-equiv = { path = \".\" }\n";
        assert_eq!(findings("usuba-equiv", itself, 10).len(), 1);
    }

    #[test]
    fn a_crate_is_known_and_small() {
        assert!(findings("usuba-new", "", 10)[0].contains("is new"));
        assert!(findings("usuba-sat", "", LINES + 1)[0].contains("25000 is the limit"));
        assert_eq!(findings("usuba-sat", "", LINES), [""; 0]);
    }
}
