//! Contracts of the programs in `arithmetic`: all are proved, and no planted fault is.

use std::path::{Path, PathBuf};

use usuba::diag::{Code, Diagnostic, Sources};
use usuba::syntax::splice::NoIncludes;
use usuba::typed::Program;
use usuba_proof::contracts::{self, Counterexample, Outcome};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../arithmetic")
}

fn front(text: &str) -> (Program, Sources) {
    let mut sources = Sources::default();
    let root = sources.add("test.ua", text);
    let checked = usuba::front(&mut sources, root, &mut NoIncludes, None, Default::default());
    (checked.unwrap_or_else(|diags| panic!("{diags:?}\n{text}")).program, sources)
}

/// The outcome of one node, and the line that it speaks of.
fn outcome(text: &str, node: &str) -> (Outcome, String) {
    let (program, sources) = front(text);
    let id = program.decls.iter().position(|decl| *decl.name == *node).expect("a node");
    let outcome = contracts::check_node(&program, id).outcome;
    let line = match &outcome {
        Outcome::Proved => String::new(),
        Outcome::Refuted(Counterexample { finding, .. }) | Outcome::Unknown(finding) => {
            text.lines().nth(line_of(&sources, finding) - 1).expect("a line").trim().to_string()
        }
    };
    (outcome, line)
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
        let (program, sources) = front(&program(&name));
        let reports = contracts::check(&program);
        assert!(!reports.is_empty(), "{name} promises nothing");
        for report in reports {
            match &report.outcome {
                Outcome::Proved => {
                    assert!(report.obligations > 0);
                }
                Outcome::Refuted(Counterexample { finding, .. }) | Outcome::Unknown(finding) => {
                    let line = line_of(&sources, finding);
                    panic!("{name}:{line}: {}: {}", report.node, finding.message)
                }
            }
        }
    }
}

/// What is changed in a program, in which node that shows, at which line, and as what.
struct Planted {
    node: &'static str,
    from: &'static str,
    to: &'static str,
    line: &'static str,
    code: Code,
}

const fn planted(
    node: &'static str,
    from: &'static str,
    to: &'static str,
    line: &'static str,
    code: Code,
) -> Planted {
    Planted { node, from, to, line, code }
}

const MUL: &str = "ensures fe(r) == fe(a) * fe(b) mod 2^255 - 19";

#[rustfmt::skip] // One fault, one line.
const LIMBS51: &[Planted] = &[
    planted("mul", "s[0] + 19 * q", "s[0] + 18 * q", MUL, Code::ContractFails),
    planted("mul", "u[i+1] := u[i+1] + q", "u[i+1] := u[i+1]", MUL, Code::ContractFails),
    planted("mul", "node mul (a,b:u64x5 in [0, 2^54)", "node mul (a,b:u64x5 in [0, 2^60)", "c[0..4] =", Code::ArithmeticWraps),
    planted("mul", "u128(c[5+i-j])", "u128(c[4+i-j])", MUL, Code::ContractFails),
    planted("mul", "(g, f) = split(u64(s[0] + 19 * q), 51)", "(g, f) = split(u64(s[0] + 19 * q), 50)", MUL, Code::ContractFails),
    planted("mul", "2^(51*i)", "2^(52*i)", MUL, Code::ContractFails),
    planted("square", "w[1] * w[1] + d[3] * e[4]", "w[1] * w[1] + d[2] * e[4]", "ensures fe(r) == fe(a)^2", Code::ContractFails),
    planted("sub", "0x1fffffffffffb4", "0x1fffffffffffb5", "ensures fe(r) == fe(a) - fe(b)", Code::ContractFails),
    planted("sub", "b:u64x5 in [0, 2^52)", "b:u64x5 in [0, 2^54)", "r = a + p - b", Code::ArithmeticWraps),
    planted("add", "in [0, 2^53)) returns (r:u64x5 in [0, 2^54))", "in [0, 2^53)) returns (r:u64x5 in [0, 2^54 - 2))", "node add", Code::ContractFails),
    planted("select", "m = wrap(0 - bit)", "m = wrap(bit - 1)", "ensures fe(r) == fe(a) + bit", Code::ContractFails),
    planted("select", "m = wrap(0 - bit)", "m = 0 - bit", "m = 0 - bit", Code::ArithmeticWraps),
    planted("carry", "19 * q[4]", "q[4]", "ensures fe(r) == fe(a) mod", Code::ContractFails),
    planted("freeze", "split(h[0] + 19 * c, 51)", "split(h[0], 51)", "ensures fe(r) < ", Code::ContractFails),
    planted("freeze", "split(h[0] + 19, 51)", "split(h[0] + 18, 51)", "ensures fe(r) < ", Code::ContractFails),
    planted("freeze", "split(h[0] + 19, 51)", "split(h[0] + 20, 51)", "ensures fe(r) == ", Code::ContractFails),
    planted("freeze", "h[0] := h[0] + 19 * q", "h[0] := h[0] + 18 * q", "ensures fe(r) == ", Code::ContractFails),
    planted("inverse", "forall i in [1,100]", "forall i in [1,99]", "ensures fe(r) == fe(a)^", Code::ContractFails),
];

#[test]
fn planted_faults_are_refuted_at_their_line() {
    let text = program("field25519/limbs51.ua");
    for fault in LIMBS51 {
        assert_eq!(text.matches(fault.from).count(), 1, "`{}` occurs once", fault.from);
        let wrong = text.replace(fault.from, fault.to);
        let (outcome, line) = outcome(&wrong, fault.node);
        let Outcome::Refuted(found) = outcome else {
            panic!("{} with `{}`: {outcome:?}", fault.node, fault.to);
        };
        assert_eq!(found.finding.code, fault.code, "`{}`: {}", fault.to, found.finding.message);
        assert!(line.contains(fault.line), "`{}` is shown at `{line}`", fault.to);
        assert!(found.finding.message.contains("for "), "{}", found.finding.message);
    }
}
