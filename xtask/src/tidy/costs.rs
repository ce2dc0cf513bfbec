//! Limits on the cost of a new pass, target or cipher.
//!
//! | change | costs |
//! |---|---|
//! | a pass | its file, its line in `passes/pipeline.rs`, two text tests |
//! | a target | its file, its line in `isa/mod.rs` |
//! | a cipher | its folder |
//!
//! So a pass is called as its file; outside of their folder no code names the value of a pass or
//! the module of a target; and no Rust code knows a cipher.

use crate::repo::{Finding, Repo};
use crate::rust::{is_test_file, product};

const PASSES: &str = "crates/usuba/src/passes/";
const TARGETS: &str = "crates/usuba/src/isa/";

/// Text tests that each pass has at least.
const TESTS_OF_A_PASS: usize = 2;

/// Rust files that name ciphers, and why each has to.
const KNOW_CIPHERS: &[(&str, &str)] = &[
    ("bench/peers/", "other libraries have names of their own for what is compared"),
    ("crates/usuba-circuit/src/", "S-boxes are known by their cipher"),
    (
        "crates/usubac/src/commands/bench.rs",
        "the demonstration shows two that are different enough",
    ),
    ("crates/usuba-run/src/cc.rs", "a feature of x86-64 has the name of a cipher"),
    ("crates/usuba-prove/src/scenarios/nacl.rs", "NaCl names its functions by their ciphers"),
];

pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    passes(repo, &mut findings);
    targets(repo, &mut findings);
    ciphers(repo, &mut findings);
    findings
}

fn passes(repo: &Repo, findings: &mut Vec<Finding>) {
    let Some(list) = repo.get(&format!("{PASSES}pipeline.rs")) else { return };
    let listed = |module: &str| list.text.contains(&format!("&{module}::PASS"));
    for file in repo.matching(PASSES, ".rs") {
        let module = &file.path[PASSES.len()..file.path.len() - ".rs".len()];
        let is_pass = file.text.contains("pub const PASS: Pass =");
        if is_pass != listed(module) {
            let what = format!("the file and the levels do not agree on the pass `{module}`");
            findings.push(Finding::new(&file.path, 0, what));
        }
        if !is_pass {
            continue;
        }
        let name = module.replace('_', "-");
        if !file.text.contains(&format!("name: \"{name}\"")) {
            let what = format!("the pass of this file must be called `{name}`");
            findings.push(Finding::new(&file.path, 0, what));
        }
        let folder = format!("tests/passes/{name}/");
        let tests = repo.matching(&folder, ".ua").count();
        if tests < TESTS_OF_A_PASS {
            let what = format!("{folder} has {tests} tests of {TESTS_OF_A_PASS}");
            findings.push(Finding::new(&file.path, 0, what));
        }
        let value = format!("{module}::PASS");
        named(repo, PASSES, &value, "outside of the passes: find it by its name", findings);
    }
}

fn targets(repo: &Repo, findings: &mut Vec<Finding>) {
    let Some(list) = repo.get(&format!("{TARGETS}mod.rs")) else { return };
    for file in repo.matching(TARGETS, ".rs") {
        if !file.text.contains(": Target = Target {") {
            continue;
        }
        let module = &file.path[TARGETS.len()..file.path.len() - ".rs".len()];
        if !list.text.contains(&format!("&{module}::")) {
            let what = format!("the target `{module}` is not in the list `ALL`");
            findings.push(Finding::new(&file.path, 0, what));
        }
        let value = format!("isa::{module}");
        named(repo, TARGETS, &value, "outside of the targets: find it by its name", findings);
    }
}

/// Finds `value` in product code that is not in the folder `home`.
fn named(repo: &Repo, home: &str, value: &str, why: &str, findings: &mut Vec<Finding>) {
    for file in repo.rust().filter(|file| !file.path.starts_with(home)) {
        for (line, text) in product(&file.text) {
            if text.contains(value) && !is_test_file(&file.path) {
                findings.push(Finding::new(&file.path, line, format!("`{value}` {why}")));
            }
        }
    }
}

fn ciphers(repo: &Repo, findings: &mut Vec<Finding>) {
    let names: Vec<&str> = super::ciphers::folders(repo);
    for file in repo.matching("", ".rs") {
        let may = KNOW_CIPHERS.iter().any(|(path, _)| file.path.starts_with(path));
        if may || is_test_file(&file.path) || file.path.starts_with("ciphers/") {
            continue;
        }
        for (line, text) in product(&file.text) {
            for name in &names {
                if text.contains(&format!("\"{name}\""))
                    || text.contains(&format!("ciphers/{name}"))
                {
                    let what = format!("the code knows the cipher `{name}`: read the folders");
                    findings.push(Finding::new(&file.path, line, what));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSE: &str = "pub const PASS: Pass = Pass {\n    name: \"cse\",\n";

    fn with_pass<'a>(list: &'a str, pass: &'a str, more: &[(&'a str, &'a str)]) -> Vec<String> {
        let mut files = vec![
            ("crates/usuba/src/passes/pipeline.rs", list),
            ("crates/usuba/src/passes/cse.rs", pass),
            ("tests/passes/cse/a.ua", ""),
        ];
        files.extend(more);
        check(&Repo::sample(&files)).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_pass_is_listed_named_and_tested() {
        let list = "static ALL: &[&Pass] = &[\n    &cse::PASS,\n];";
        let second = [("tests/passes/cse/b.ua", "")];
        assert_eq!(with_pass(list, CSE, &second), [""; 0]);
        assert!(with_pass(list, CSE, &[])[0].contains("1 tests of 2"));
        assert!(with_pass("static ALL: &[&Pass] = &[];", CSE, &second)[0].contains("do not agree"));
        let other = CSE.replace("\"cse\"", "\"common\"");
        assert!(with_pass(list, &other, &second)[0].contains("must be called `cse`"));
    }

    #[test]
    fn a_pass_is_found_by_its_name() {
        let list = "&cse::PASS";
        let user = ("crates/usubac/src/main.rs", "run(&passes::cse::PASS)");
        let found = with_pass(list, CSE, &[("tests/passes/cse/b.ua", ""), user]);
        assert!(found[0].contains("find it by its name"), "{found:?}");
    }

    #[test]
    fn a_target_is_listed_and_found_by_its_name() {
        let found = |list: &str, user: &str| {
            check(&Repo::sample(&[
                ("crates/usuba/src/isa/mod.rs", list),
                ("crates/usuba/src/isa/sse.rs", "pub static SSE: Target = Target {"),
                ("crates/usuba/src/emit/mod.rs", user),
            ]))
            .len()
        };
        assert_eq!(found("&[&sse::SSE]", "isa::find(name)"), 0);
        assert_eq!(found("&[]", ""), 1);
        assert_eq!(found("&[&sse::SSE]", "isa::sse::SSE"), 1);
    }

    #[test]
    fn no_code_knows_a_cipher() {
        let found = |text: &str| {
            let files = [("ciphers/des/cipher.toml", ""), ("crates/usubac/src/main.rs", text)];
            check(&Repo::sample(&files)).len()
        };
        assert_eq!(found("let all = [\"des\"];"), 1);
        assert_eq!(found("open(\"ciphers/des/des.ua\")"), 1);
        assert_eq!(found("// des is old\nread_dir(\"ciphers\")"), 0);
    }
}
