//! Interleaving: the choice of the factor, and the messages about it.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A chain of 300 instructions, too long for one call to overlap with the next.
const CHAIN: &str = "node f (x:u64, k:const u64) returns (y:u64)
vars s: u64[101]
let
  s[0] = x;
  forall i in [0,99] { s[i+1] = (s[i] <<< 5) ^ ((s[i] >> 3) + k) }
  y = s[100]
tel";

/// Status, standard output and standard error of `usubac ARGS` beside the chain, `f.ua`.
fn usubac(args: &str) -> (Option<i32>, String, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let dir: &Path = dir.path();
    fs::write(dir.join("f.ua"), CHAIN).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(args.split_whitespace())
        .current_dir(dir)
        .output()
        .expect("usubac runs");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The parameters of the kernel, and the line on interleaving above it.
fn kernel(args: &str) -> (String, Option<String>) {
    let (status, text, messages) = usubac(&format!("f.ua -V -o - {args}"));
    assert_eq!(status, Some(0), "{args}: {messages}");
    let starts = |line: &&str| line.starts_with("void f");
    let prototype = text.lines().find(starts).expect("a prototype");
    let note = text.lines().find_map(|line| line.strip_prefix(" * Interleaving: "));
    (prototype.to_string(), note.map(String::from))
}

#[test]
fn a_model_chooses_by_default_and_says_why() {
    let (prototype, note) = kernel("");
    let note = note.expect("the choice is written down");
    assert!(note.contains("by a model"), "{note}");
    let (single, _) = kernel("--interleave 1");
    assert_eq!(single, "void f(const uint64_t *x, const uint64_t *k, uint64_t *y);");
    assert_eq!(prototype, single, "the sets of a port lie side by side");
    for others in ["-O1", "-O0", "--skip interleave"] {
        assert_eq!(kernel(others).0, single, "{others}");
    }
    // Drivers of the OCaml compiler know the types of their arguments.
    assert_eq!(kernel("--abi usubac").0, "void f__ (DATATYPE x__, DATATYPE k__, DATATYPE *y__);");
}

#[test]
fn the_user_chooses_by_number_or_by_grain() {
    for (args, copies) in [
        ("--interleave 3", 3),
        ("--interleave 8 --interleave-grain 2", 8),
        ("--interleave-grain 5", 2),
        ("-O1 --interleave 2", 2),
    ] {
        let (_, text, _) = usubac(&format!("f.ua -V -o - {args}"));
        for port in
            [format!("in x[{copies} * 1]: "), "in k[1]: ".into(), format!("out y[{copies} * 1]: ")]
        {
            assert!(text.contains(&format!("\n * {port}")), "{args}: {port}: {text}");
        }
        let last = format!("y[{}] = ", copies - 1);
        assert!(text.contains(&last), "{args}: {text}");
    }
    let (_, note) = kernel("--interleave 3");
    assert_eq!(note.as_deref(), Some("3, as asked for"));
    let (_, text, _) = usubac("f.ua -V --interleave 3 --emit json -o -");
    assert!(text.contains("\"lanes\":1,\"copies\":3,"), "{text}");
    assert!(text.contains("\"c_type\":\"uint64_t\",\"sets\":3,\"registers\":3}"), "{text}");
}

#[test]
fn all_instances_of_a_call_are_compared() {
    for engine in ["interp", "native"] {
        for flags in ["", "--interleave 3", "-B --interleave 2"] {
            let args = format!("run f.ua {flags} --engine {engine} --input [1,2]");
            let (status, text, messages) = usubac(&args);
            assert_eq!(status, Some(0), "{args}: {messages}");
            let (_, wanted, _) = usubac("run f.ua --input [1,2]");
            assert_eq!(text, wanted, "{args}");
        }
    }
}

#[test]
fn the_fastest_is_measured_on_request() {
    let (status, text, messages) = usubac("f.ua -V --interleave measure -o -");
    assert_eq!(status, Some(0), "{messages}");
    assert!(messages.starts_with("interleaving on gp64, cycles per instance: 1: "), "{messages}");
    assert_eq!(messages.lines().count(), 1, "{messages}");
    assert!(text.contains(" * Interleaving: "), "{text}");
    assert!(text.contains("the fastest of those measured"), "{text}");
    let (status, _, message) = usubac("f.ua -V --interleave measure --interleave 2 -o -");
    assert_eq!(status, Some(2), "{message}");
}

#[test]
fn what_cannot_run_here_cannot_be_measured() {
    let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    let (status, _, message) =
        usubac(&format!("f.ua -V --interleave measure --target {foreign} -o -"));
    assert_eq!(status, Some(1));
    let wanted = format!("--interleave measure cannot measure {foreign} on this machine: ");
    assert!(message.contains(&wanted) && message.lines().count() == 1, "{message}");
}
