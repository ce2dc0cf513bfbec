//! The error index: every code has a page whose first example has the error and whose second
//! does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use usuba::diag::{Code, Sources};
use usuba::syntax::splice::NoIncludes;

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors")
}

/// The examples of a page: flags and program.
fn examples(page: &str) -> Vec<(Vec<String>, String)> {
    let mut examples = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find("```usuba") {
        let block = &rest[at + "```usuba".len()..];
        let (flags, block) = block.split_once('\n').expect("a fence ends its line");
        let (program, after) = block.split_once("```").expect("a fence is closed");
        let flags = flags.split_whitespace().map(str::to_string).collect();
        examples.push((flags, program.to_string()));
        rest = after;
    }
    examples
}

/// Status and findings of `usubac COMMAND example.ua FLAGS` on a program.
fn usubac(command: &[&str], flags: &[String], program: &str) -> (Option<i32>, String) {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("example.ua"), program).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(command)
        .arg("example.ua")
        .args(flags)
        .current_dir(dir.path())
        .output()
        .expect("usubac runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The codes of the findings of a proof of the contracts of a program.
fn proof_of(text: &str) -> Vec<Code> {
    let mut sources = Sources::default();
    let root = sources.add("example.ua", text);
    let checked = usuba::front(&mut sources, root, &mut NoIncludes, None, Default::default());
    let reports = usuba_contracts::check(&checked.expect("a program").program);
    reports
        .into_iter()
        .filter_map(|report| Some(usuba_contracts::finding(report.verdict)?.code))
        .collect()
}

#[test]
fn every_code_has_a_page_with_its_title() {
    let mut names: Vec<String> = fs::read_dir(pages())
        .expect("the pages")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut wanted: Vec<String> = Code::ALL.iter().map(|c| format!("{c}.md")).collect();
    wanted.sort();
    assert_eq!(names, wanted);
    for code in Code::ALL {
        let text = fs::read_to_string(pages().join(format!("{code}.md"))).expect("a page");
        let title = format!("# {code}: {}", code.title());
        assert_eq!(text.lines().next(), Some(title.as_str()));
    }
}

#[test]
fn the_examples_have_the_error_and_its_repair() {
    let mut wrong = Vec::new();
    for code in Code::ALL {
        let text = fs::read_to_string(pages().join(format!("{code}.md"))).expect("a page");
        let [(flags, bad), (good_flags, good)] = &examples(&text)[..] else {
            panic!("{code} does not have two examples");
        };
        if matches!(code, Code::ContractFails | Code::ArithmeticWraps | Code::ContractUnknown) {
            let (found, repaired) = (proof_of(bad), proof_of(good));
            if !found.contains(code) || !repaired.is_empty() {
                wrong.push(format!("{code}: the proofs give {found:?} and {repaired:?}"));
            }
            continue;
        }
        let check = ["check", "--error-format", "json"];
        let mark = format!("\"code\":\"{code}\"");
        let (_, found) = usubac(&check, flags, bad);
        if !found.contains(&mark) {
            wrong.push(format!("{code}: the first example gives\n{found}"));
        }
        let (status, found) = usubac(&check, good_flags, good);
        if status != Some(0) || found.contains(&mark) {
            wrong.push(format!("{code}: the second example gives {status:?}\n{found}"));
        }
        let (status, found) = usubac(&["fmt", "--check"], &[], good);
        if status != Some(0) {
            wrong.push(format!("{code}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
