//! Regenerates all files that follow from tables, folders and tests.
//!
//! ```text
//! $ cargo xtask bless counts factors
//! ```
//!
//! Parts run in the order of `PARTS`: later ones show the output of a program that earlier ones
//! complete.

use std::ffi::OsString;
use std::io;
use std::process::Command;

use crate::repo::{Finding, Repo};
use crate::{modules, tidy};

/// A part: its name, and the arguments of cargo that rewrite it; none for a function of this crate.
type Part = (&'static str, &'static [&'static str]);

#[rustfmt::skip] // One part, one line.
const PARTS: &[Part] = &[
    ("modules",     &[]),
    ("toolchains",  &["run", "--package", "documents", "--", "toolchains"]),
    ("grammars",    &["test", "--package", "usuba-ide", "--test", "grammars"]),
    ("texts",       &["test", "--package", "filetests", "--test", "files"]),
    ("counts",      &["test", "--package", "usuba-bench", "--test", "counts"]),
    ("factors",     &["test", "--package", "usuba-bench", "--test", "factors"]),
    ("studies",     &["test", "--package", "usuba-bench", "--test", "studies"]),
    ("transcripts", &["test", "--package", "usubac", "--test", "cli"]),
    ("proofs",      &["test", "--package", "usubac", "--test", "linked", "nacl"]),
    ("sizes",       &["test", "--package", "usuba-library", "--test", "library", "files_are_short"]),
    ("functions",   &["run", "--package", "documents", "--", "functions"]),
    ("drivers",     &["run", "--package", "documents", "--", "drivers"]),
    ("errors",      &["run", "--package", "documents", "--", "errors"]),
    ("listings",    &["run", "--package", "documents", "--", "listings"]),
    ("charts",      &["run", "--package", "documents", "--", "charts"]),
    ("documents",   &["run", "--package", "documents", "--", "docs"]),
    ("prose",       &[]),
];

/// Rewrites the parts with these names, or all.
///
/// # Errors
/// An unknown name, or a command that cannot be started.
pub fn run(names: &[&str]) -> io::Result<Vec<Finding>> {
    if let Some(name) = names.iter().find(|name| PARTS.iter().all(|(part, _)| part != *name)) {
        let known: Vec<&str> = PARTS.iter().map(|(part, _)| *part).collect();
        let text = format!("found the part `{name}`, expected one of {}", known.join(", "));
        return Err(io::Error::other(text));
    }
    let wanted = PARTS.iter().filter(|(part, _)| names.is_empty() || names.contains(part));
    let mut findings = Vec::new();
    for (part, args) in wanted {
        if args.is_empty() {
            let write = if *part == "prose" { tidy::prose::bless } else { modules::write };
            write(&Repo::load()?)?;
            continue;
        }
        let status = Command::new(cargo()).args(*args).env("BLESS", "1").status()?;
        if !status.success() {
            let text = format!("the command `cargo {}` failed", args.join(" "));
            findings.push(Finding::new(part, 0, text));
        }
    }
    Ok(findings)
}

/// The variable by which cargo compiles with lints.
pub const LINTS: &str = "RUSTC_WORKSPACE_WRAPPER";

/// The cargo that runs this program.
pub fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_part_is_an_error() {
        let error = run(&["count"]).expect_err("no such part");
        assert!(error.to_string().contains("`count`, expected one of modules, toolchains"));
    }
}
