//! Programs and generated tables of the repository, so that `cargo test` finds them out of date.

use documents::{docs, drivers, functions, toolchains};
use xtask::repo::{Finding, Repo};

fn assert_none(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

#[test]
fn programs_in_documents_compile() {
    let repo = Repo::load().expect("the repository can be read");
    assert_none(&docs::programs(&repo));
}

#[test]
fn the_table_of_tools_follows_from_the_targets() {
    let repo = Repo::load().expect("the repository can be read");
    assert_none(&toolchains::check(&repo, false).expect("nothing is written"));
}

#[test]
fn the_page_about_nacl_follows_from_its_proofs() {
    let repo = Repo::load().expect("the repository can be read");
    assert_none(&functions::check(&repo, false).expect("nothing is written"));
}

#[test]
fn the_page_about_drivers_follows_from_their_record() {
    let repo = Repo::load().expect("the repository can be read");
    assert_none(&drivers::check(&repo, false).expect("nothing is written"));
}
