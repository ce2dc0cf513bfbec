//! The house rules. The header of each file states its rule, and its tests have samples that break
//! it.
//!
//! - `arrows`: crates depend on each other in one direction.
//! - `circles`: files import each other without cycles, and have unique names.
//! - `stages`: stages import only leftwards.
//! - `purity`: the compiler library has no input and output.
//! - `files`: headers, lengths, unwanted words and paths.
//! - `manifests`: every dependency has a reason.
//! - `costs`: passes, targets and ciphers are cheap to add.
//! - `codes`: every diagnostic is used, tested and explained.
//! - `ciphers`: the files of a cipher folder.
//! - `proofs`: a test can fail.
//! - `documents`: links with a target, one sentence per line.
//! - `prose`: counts of vague words and private terms may only fall.
//! - `spellings`: options have their present names.
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
pub mod spellings;
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
    spellings::check,
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
