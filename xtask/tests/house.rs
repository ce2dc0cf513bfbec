//! The house rules on the repository itself, so that `cargo test` finds the same errors as `tidy`.

use xtask::{repo::Repo, tidy};

fn assert_none(findings: &[xtask::repo::Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

#[test]
fn the_repository_is_tidy() {
    let repo = Repo::load().expect("the repository can be read");
    assert!(repo.files.len() > 100, "only {} files were found", repo.files.len());
    assert_none(&tidy::check(&repo));
}
