//! Contracts of the programs in `arithmetic`: all are proved, and every injected fault is refuted.

#[path = "support/arithmetic.rs"]
mod arithmetic;

use std::collections::BTreeMap;
use std::time::Instant;
use usuba_gen::{asks, level};

use usuba::diag::{Code, Diagnostic, Sources};
use usuba_contracts::Verdict;

/// The verdict on one node, and the line that its finding names.
fn outcome(name: &str, text: &str, node: &str) -> (Verdict, String) {
    let (program, sources) = arithmetic::front(name, text, None);
    let id = program.decls.iter().position(|decl| *decl.name == *node).expect("a node");
    let outcome = usuba_contracts::check_node(&program, id).verdict;
    let line = usuba_contracts::finding(outcome.clone()).map_or(String::new(), |finding| {
        let file = sources.file(finding.span.expect("a place").file);
        let line = file.text.lines().nth(line_of(&sources, &finding) - 1);
        line.expect("a line").trim().to_string()
    });
    (outcome, line)
}

fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(arithmetic::folder()).expect("the folder of arithmetic") {
        let inside = entry.expect("a folder").path();
        for file in std::fs::read_dir(&inside).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|e| e == "ua") {
                let name = path.strip_prefix(arithmetic::folder()).expect("below the folder");
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

/// Nodes whose proofs take seconds each, and that have fast proofs on other limbs. Doubling and
/// addition on ten limbs stay in the short run: their ranges are shorter, and a change that breaks
/// another form breaks these.
const LONG: [(&str, &str); 8] = {
    const FILE: &str = "curve25519/limbs25.ua";
    [
        (FILE, "ladder_step"),
        (FILE, "add_cached"),
        (FILE, "sub_cached"),
        (FILE, "sub_affine"),
        (FILE, "root"),
        (FILE, "decompress"),
        ("curve25519/limbs51.ua", "root"),
        ("curve25519/limbs51.ua", "decompress"),
    ]
};

/// Nodes that only programs for few registers or little memory have.
const SHORT_NODES: &[&str] = &[
    "mul",
    "square",
    "scale",
    "added",
    "sub_wide",
    "double_factors",
    "sum_factors",
    "complete",
    "turn",
    "swap_points",
];

#[test]
fn every_contract_is_proved() {
    let programs = programs();
    assert!(!programs.is_empty());
    for name in &programs {
        let (program, sources) = arithmetic::front(name, &arithmetic::text(name), None);
        let promising: Vec<_> = usuba_contracts::promising(&program).collect();
        assert!(!promising.is_empty(), "{name} promises nothing");
        for node in promising {
            let decl = &program.decls[node];
            let file = &sources.file(decl.name_span.file).name;
            // Nodes of an included program are proved there.
            let elsewhere = file != name && programs.contains(file);
            // Other programs have their own formulas, too.
            let short = name.ends_with("rolled25.ua") || name.ends_with("small25.ua");
            let long = name.starts_with("curve25519/lanes")
                || LONG.contains(&(name, &decl.name))
                || (short && !SHORT_NODES.contains(&&*decl.name));
            if elsewhere || (long && !asks!("{name}, {}", decl.name)) {
                continue;
            }
            let start = Instant::now();
            let report = usuba_contracts::check_node(&program, node);
            println!("{name}, {}: {:?} by {}", report.node, start.elapsed(), report.verdict.name());
            assert!(report.obligations > 0);
            if let Some(finding) = usuba_contracts::finding(report.verdict) {
                let line = line_of(&sources, &finding);
                panic!("{name}:{line}: {}: {}", report.node, finding.message)
            }
        }
    }
}

/// The faults to inject, by their program and kind: the node, the changed text, the text instead,
/// and a part of the line that the finding names.
type Faults = BTreeMap<String, BTreeMap<String, Vec<[String; 4]>>>;

#[test]
fn planted_faults_are_refuted_at_their_line() {
    let faults: Faults = toml::from_str(include_str!("faults.toml")).expect("tables of faults");
    let kinds = faults.iter().flat_map(|(name, kinds)| kinds.iter().map(move |kind| (name, kind)));
    let faults = kinds.flat_map(|(name, (kind, all))| all.iter().map(move |f| (name, kind, f)));
    let mut failed = Vec::new();
    for (at, (name, kind, [node, from, to, place])) in faults.enumerate() {
        // Every third one in the quick run, and others for the next commit.
        if !level::is_whole() && at as u64 % 3 != level::turn() % 3 {
            continue;
        }
        let code = match &**kind {
            "fails" => Code::ContractFails,
            "wraps" => Code::ArithmeticWraps,
            other => panic!("there are no faults of the kind `{other}`"),
        };
        let text = arithmetic::text(name);
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once in {name}");
        let subject = format!("{node} of {name} with `{to}`");
        let (outcome, line) = outcome(name, &text.replace(from, to), node);
        let Verdict::Refuted(found) = outcome else {
            failed.push(format!("{subject}: {outcome:?}"));
            continue;
        };
        let finding = found.finding;
        if finding.code != code || !line.contains(place) {
            failed.push(format!("{subject} is shown at `{line}`: {}", finding.message));
        }
        assert!(finding.message.contains("for "), "{subject}: {}", finding.message);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
