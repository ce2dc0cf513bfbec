//! `usubac bench`: a run as a file, two runs compared, an experiment on a tiny cipher, the
//! instructions of this machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const PROGRAM: &str = "\
node mix (x:u16x2) returns (y:u16x2)
let
  y[0] = x[0] ^ (x[1] <<< 3);
  y[1] = x[1]
tel
";

const CIPHER: &str = "\
title  = \"Mix\"
spec   = \"none\"
source = \"mix.ua\"

[[function]]
name      = \"mix\"
node      = \"mix\"
slicings  = [\"V\"]
input     = { param = \"x\", bytes = \"be\" }
output    = { param = \"y\", bytes = \"be\" }
vectors   = \"vectors.txt\"
direction = \"permute\"
";

/// 0x1234 ^ (0x8001 <<< 3) is 0x1234 ^ 0x000c.
const VECTORS: &str = "# source: by hand\nin = 12348001\nout = 12388001\n";

const EXPERIMENT: &str = "\
title = \"A tiny one\"
about = \"Whether anything is measured.\"
ciphers = [\"mix\", \"enigma\"]
targets = [\"gp64\"]
columns = [\"speedup:same\", \"cycles:plain\", \"speedup:odd\", \"busy-1:plain\"]

[[compiler]]
family = \"gcc\"
flags = [\"-O1\"]
label = \"host\"

[[variant]]
label = \"plain\"

[[variant]]
label = \"same\"
flags = \"--unroll none\"

[[variant]]
label = \"odd\"
flags = \"-no-such-flag\"

[[published]]
from = { file = \"nobody.json\", column = \"gain\" }
target = \"gp64\"
compiler = \"any\"
ours = \"speedup:same\"
";

const PUBLISHED: &str = r#"{
 "title": "Mixing", "author": "Nobody", "date": "never", "where": "a drawer", "section": "one",
 "about": "speed-up", "conditions": {},
 "columns": [{"name": "gain", "label": "gain", "unit": "ratio", "decimals": 2}],
 "rows": [{"name": "mix", "cipher": "mix", "values": {"gain": 1.5}},
          {"name": "enigma", "cipher": "enigma", "values": {"gain": 1.1}}]
}"#;

/// A folder with a cipher folder and an experiment.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let cipher = dir.path().join("ciphers/mix");
    fs::create_dir_all(&cipher).expect("made");
    for (name, text) in [("mix.ua", PROGRAM), ("cipher.toml", CIPHER), ("vectors.txt", VECTORS)] {
        fs::write(cipher.join(name), text).expect("written");
    }
    fs::write(dir.path().join("tiny.toml"), EXPERIMENT).expect("written");
    fs::write(dir.path().join("nobody.json"), PUBLISHED).expect("written");
    dir
}

fn usubac(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(args)
        .current_dir(dir)
        .output()
        .expect("usubac runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).expect("JSON")
}

/// Multiplies all times of all kernels.
fn slower(run: &mut Value, factor: f64) {
    for entry in run["entries"].as_array_mut().expect("a list") {
        let kernel = &mut entry["outcome"]["measured"]["kernel"];
        let number = |value: &Value| value.as_f64().expect("a number") * factor;
        kernel["median"] = Value::from(number(&kernel["median"]));
        for list in ["samples", "processes"] {
            let values: Vec<f64> =
                kernel[list].as_array().expect("a list").iter().map(number).collect();
            kernel[list] = Value::from(values);
        }
    }
}

/// A run without the noise of the machine that the test happens to run on.
fn quiet(run: &mut Value) {
    for entry in run["entries"].as_array_mut().expect("a list") {
        let kernel = &mut entry["outcome"]["measured"]["kernel"];
        let median = kernel["median"].as_f64().expect("a number");
        let processes: Vec<f64> = (0..8).map(|i| median * (1.0 + 0.001 * i as f64)).collect();
        kernel["processes"] = Value::from(processes);
        for scatter in ["scatter", "calibration_scatter"] {
            kernel[scatter] = Value::from(0.001);
        }
    }
}

#[test]
fn runs_are_compared() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    let args = [
        "bench",
        "mix",
        "--ciphers",
        "ciphers",
        "--target",
        "gp64",
        "--quick",
        "--format=json",
        "--output",
        "a.json",
    ];
    let (status, table, errors) = usubac(dir.path(), &args);
    assert_eq!(status, Some(0), "{errors}");
    assert!(table.contains("verified") && table.contains("/limit"), "{table}");
    let mut run = read(&path("a.json"));
    for part in ["host", "compilers", "throughput", "entries"] {
        assert!(!run[part].is_null(), "{part}");
    }
    let numbers = &run["entries"][0]["outcome"]["measured"];
    assert_eq!(numbers["kernel"]["samples"].as_array().expect("a list").len(), 31);
    assert_eq!(numbers["work"]["computing"]["logic"], 1);

    let (status, report, _) = usubac(dir.path(), &["bench", "--compare", "a.json", "a.json"]);
    assert_eq!(status, Some(0), "{report}");
    assert!(report.contains("0 faster, 0 slower, of 1"), "{report}");

    quiet(&mut run);
    fs::write(path("b.json"), run.to_string()).expect("written");
    slower(&mut run, 1.2);
    fs::write(path("c.json"), run.to_string()).expect("written");
    let (status, report, errors) = usubac(dir.path(), &["bench", "--compare", "b.json", "c.json"]);
    assert_eq!(status, Some(3), "{report}");
    assert!(report.contains("SLOWER") && errors.contains("slower"), "{report}");
    let (status, report, _) = usubac(dir.path(), &["bench", "--compare", "c.json", "b.json"]);
    assert_eq!(status, Some(0), "{report}");
    assert!(report.contains("1 faster, 0 slower"), "{report}");

    run["host"]["processor"] = Value::from("another");
    fs::write(path("d.json"), run.to_string()).expect("written");
    let (status, _, errors) = usubac(dir.path(), &["bench", "--compare", "b.json", "d.json"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("cannot be compared"), "{errors}");
    let (status, _, errors) = usubac(dir.path(), &["bench", "--compare", "b.json", "tiny.toml"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("tiny.toml: no measurements"), "{errors}");
}

#[test]
fn sides_are_measured_by_turns_and_marked() {
    let dir = folder();
    let args = [
        "bench",
        "mix",
        "--ciphers",
        "ciphers",
        "--target",
        "gp64",
        "--quick",
        "--flags",
        "",
        "--flags",
        "--unroll all",
    ];
    let (status, table, errors) = usubac(dir.path(), &args);
    assert_eq!(status, Some(0), "{errors}");
    assert!(table.contains("variant") && table.contains("--unroll all"), "{table}");
    let args = ["bench", "--flags=-no-such-flag"];
    let (status, _, errors) = usubac(dir.path(), &args);
    assert_eq!(status, Some(2));
    assert!(errors.contains("no-such-flag") && errors.lines().count() == 1, "{errors}");
}

#[test]
fn an_experiment_is_resumed() {
    let dir = folder();
    let path = |name: &str| dir.path().join("out").join(name);
    let args = [
        "bench",
        "--experiment",
        "tiny.toml",
        "--ciphers",
        "ciphers",
        "--quick",
        "--output",
        "out",
    ];
    let (status, text, errors) = usubac(dir.path(), &args);
    if Command::new("gcc").arg("--version").output().is_err() {
        assert!(text.contains("gp64 with host: there is no C compiler"), "{text}");
        return;
    }
    assert_eq!(status, Some(0), "{errors}");
    for part in [
        "enigma: not in the library yet",
        "1.00 [1.50]",
        "no-such-flag",
        "| mix | V |",
        "| nobody, mix, gain | 1.500 | 1.000 | 1.000–1.000 | mix V gp64 host, speedup:same | no \
         difference here |",
        "| nobody, enigma, gain | | – | | | not in the library yet |",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let rows = read(&path("tiny-quick.rows.json"));
    let line = &rows["lines"][0];
    assert_eq!((&line["column"], &line["value"]), (&json!("speedup:same"), &json!(1.0)));
    assert_eq!(line["published"][0]["against"], "no difference here");
    assert_eq!(rows["absent"][0]["row"], "enigma");
    // The model is a program that not every machine has.
    let lines = rows["lines"].as_array().expect("a list");
    let modelled = lines.iter().find(|line| line["column"] == "busy-1:plain");
    if Command::new("llvm-mca").arg("--version").output().is_ok() {
        let share = modelled.and_then(|line| line["value"].as_f64()).expect("a number");
        assert!((0.1..=1.0).contains(&share), "{share}");
    }
    assert_eq!(fs::read_to_string(path("tiny-quick.md")).expect("written"), text);
    let plot = fs::read_to_string(path("tiny-quick-cycles-plain.svg")).expect("written");
    assert!(plot.starts_with("<svg") && plot.contains("mix V"), "{plot}");
    let mut results = read(&path("tiny-quick.json"));
    let cell = &results["cells"][0];
    assert_eq!(cell["same_as"], json!([0, 0, 2]));

    // The chapter is rendered from the folder.
    let chapter = ["bench", "--chapter", "out", "--output", "page"];
    let (status, _, errors) = usubac(dir.path(), &chapter);
    assert_eq!(status, Some(0), "{errors}");
    let page = fs::read_to_string(dir.path().join("page/studies.md")).expect("written");
    assert!(page.contains("| out |") && page.contains("tiny (quick form)"), "{page}");
    let (status, _, errors) = usubac(dir.path(), &["bench", "--chapter", "ciphers", "-o", "page"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("ciphers: there is no file `NAME.rows.json`"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");

    // A finished cell is kept, which is seen by a mark in it.
    let mark = |results: &Value| {
        results["cells"][0]["entries"][0]["outcome"]["measured"]["blocks"].clone()
    };
    results["cells"][0]["entries"][0]["outcome"]["measured"]["blocks"] = Value::from(77);
    fs::write(path("tiny-quick.json"), results.to_string()).expect("written");
    let (status, _, errors) = usubac(dir.path(), &args);
    assert_eq!(status, Some(0), "{errors}");
    assert_eq!(mark(&read(&path("tiny-quick.json"))), 77);

    // Other flags of the C compiler make another fingerprint.
    let other = EXPERIMENT.replace("-O1", "-O2");
    fs::write(dir.path().join("tiny.toml"), other).expect("written");
    let (status, _, errors) = usubac(dir.path(), &args);
    assert_eq!(status, Some(0), "{errors}");
    let results = read(&path("tiny-quick.json"));
    assert_ne!(mark(&results), 77);
    assert_eq!(results["cells"].as_array().expect("a list").len(), 1);
}

#[test]
fn the_demonstration_reports_each_result_at_once() {
    let dir = folder();
    let args = ["demo", "mix", "--ciphers", "ciphers", "--target", "gp64", "--no-timing"];
    let (status, table, told) = usubac(dir.path(), &args);
    let lines: Vec<&str> = told.lines().collect();
    let expected = [
        "mix: 1 of 1 vectors right by the reference semantics",
        "mix in V on gp64: verified in every lane",
    ];
    assert_eq!((status, &lines[..]), (Some(0), &expected[..]), "{table}");
    assert!(table.contains("mix       V        gp64"), "{table}");
}

/// Numbers depend on the machine: the test looks at the shape, and at latencies that all x86-64
/// processors have in common.
#[test]
fn the_machine_is_calibrated() {
    if !cfg!(target_arch = "x86_64") {
        return println!("skipped: a calibration measures instructions of x86-64");
    }
    if let Err(skip) = usuba_run::cc::find_native("gp64", usuba_run::cc::Family::Any) {
        return println!("{skip}");
    }
    let dir = folder();
    let args = ["bench", "--calibrate", "--quick", "--cpu=skylake", "--format=json", "-o=c.json"];
    let (status, table, errors) = usubac(dir.path(), &args);
    assert_eq!(status, Some(0), "{errors}");
    assert!(table.contains("Model: skylake") && table.contains("cache of level 1"), "{table}");
    let run = read(&dir.path().join("c.json"));
    let rows = run["rows"].as_array().expect("a list");
    let logic = rows.iter().find(|row| row["instructions"] == "logic").expect("it is measured");
    assert_eq!((&logic["registers"], &logic["mnemonic"]), (&"general".into(), &"xor".into()));
    let latency = logic["latency"]["measured"].as_f64().expect("a number");
    // The tolerance is wide because a busy machine disturbs single samples.
    assert!((0.5..2.0).contains(&latency), "an exclusive or takes {latency} cycles");
    assert_eq!(logic["latency"]["model"], 1.0);
    let skipped = run["skipped"].as_array().expect("a list");
    let named = |row: &Value| row["missing"].as_array().is_some_and(|list| !list.is_empty());
    assert!(skipped.iter().all(named), "{skipped:?}");
    assert_eq!(run["caches"].as_array().expect("a list").len(), 2);
    assert!(run["rows"].as_array().expect("a list").len() >= 12);
}

#[test]
fn a_calibration_takes_no_subjects() {
    let dir = folder();
    let (status, _, errors) = usubac(dir.path(), &["bench", "aes", "--calibrate"]);
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains("--calibrate"), "{errors}");
    let (status, _, errors) = usubac(dir.path(), &["bench", "--cpu=zen4"]);
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains("--calibrate"), "{errors}");
}
