//! The house rules. Each file says its rule in its header and has broken samples as tests.
//!
//! - `arrows`: crates depend on each other in one direction.
//! - `circles`: files import each other without circles, and have names of their own.
//! - `stages`: stages import only leftwards.
//! - `purity`: the compiler library does not touch the world.
//! - `files`: headers, lengths, words and paths that nobody wants to find.
//! - `manifests`: every dependency says why it is there.
//! - `costs`: passes, targets and ciphers are cheap to add.
//! - `codes`: every diagnostic is used, tested and explained.
//! - `ciphers`: the files of a cipher folder.
//! - `proofs`: a test can fail.
//! - `documents`: links that lead somewhere, one sentence per line.
//! - `prose`: words without a noun and private terms may only get fewer.
//! - `crate::modules`: lists of modules that name each file.
//! - `crate::budgets`: the cost of an extension.

pub mod arrows;
pub mod ciphers;
pub mod circles;
pub mod codes;
pub mod costs;
pub mod documents;
pub mod files;
pub mod manifests;
pub mod proofs;
pub mod prose;
pub mod purity;
pub mod stages;

use crate::repo::{Finding, Repo};
use crate::{budgets, modules};

/// Every rule.
pub static RULES: &[fn(&Repo) -> Vec<Finding>] = &[
    arrows::check,
    circles::check,
    stages::check,
    purity::check,
    files::check,
    manifests::check,
    costs::check,
    codes::check,
    ciphers::check,
    proofs::check,
    documents::check,
    prose::check,
    modules::check,
    budgets::check,
];

/// Everything that breaks a rule, sorted by place.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(repo)).collect();
    findings.sort();
    findings.dedup();
    findings
}
