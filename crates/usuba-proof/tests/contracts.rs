//! Contracts of the programs in `arithmetic`: all are proved, and no planted fault is.

use std::path::{Path, PathBuf};

use usuba::diag::{Diagnostic, Sources};
use usuba::syntax::splice::NoIncludes;
use usuba_proof::contracts::{self, Counterexample, Outcome, Report};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arithmetic")
}

fn proved(text: &str) -> (Vec<Report>, Sources) {
    let mut sources = Sources::default();
    let root = sources.add("test.ua", text);
    let checked = usuba::front(&mut sources, root, &mut NoIncludes, None, Default::default());
    let checked = checked.unwrap_or_else(|diags| panic!("{diags:?}\n{text}"));
    (contracts::check(&checked.program), sources)
}

fn program(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("the folder of arithmetic") {
        let inside = entry.expect("a folder").path();
        for file in std::fs::read_dir(&inside).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|e| e == "ua") {
                let name = path.strip_prefix(folder()).expect("below the folder");
                all.push(name.to_str().expect("a plain name").to_string());
            }
        }
    }
    all.sort();
    all
}

fn line_of(sources: &Sources, finding: &Diagnostic) -> usize {
    let span = finding.span.expect("a place");
    sources.line_col(span.file, span.start).0
}

#[test]
fn every_contract_is_proved() {
    let programs = programs();
    assert!(!programs.is_empty());
    for name in programs {
        let start = std::time::Instant::now();
        let (reports, sources) = proved(&program(&name));
        assert!(!reports.is_empty(), "{name} promises nothing");
        for report in reports {
            match &report.outcome {
                Outcome::Proved => {
                    assert!(report.obligations > 0);
                    eprintln!(
                        "{name} {}: {} shown, {} by bits, {} calls",
                        report.node, report.obligations, report.queries, report.calls
                    );
                }
                Outcome::Refuted(Counterexample { finding, .. }) | Outcome::Unknown(finding) => {
                    let line = line_of(&sources, finding);
                    panic!("{name}:{line}: {}: {}", report.node, finding.message)
                }
            }
        }
        eprintln!("{name}: {:?}", start.elapsed());
    }
}
