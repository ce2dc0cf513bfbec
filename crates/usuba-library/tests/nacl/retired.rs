//! Instruction counts on a small processor: `bench/rv32/counts.txt` holds the instructions and the
//! bytes of stack of each function on RV32IM, and the bytes of code and constants of all of them,
//! which must not grow. `BLESS=1` writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use usuba_gen::asks;

use usuba_run::riscv::{self, Counter};

use crate::object::{curve, run, write};

const PROGRAM: &str = include_str!("../../../../bench/rv32/curve.c");

const HEAD: &str = "\
# Executed instructions and bytes of stack on RV32IM, counted in an emulator, and as `text` the bytes
# of code and constants of these functions and all that they call, without the program that measures.
# A test fails when there are more; `BLESS=1 cargo test -p usuba-library --test nacl retired` writes this
# file anew.
#
";

/// Growth by one in `SLACK` is no complaint: the same compiler differs from one package to the
/// next.
const SLACK: u64 = 200;

/// How the library is compiled; the first one in the short run of the tests.
const CASES: [&[&str]; 3] = [&["-O2"], &["-Os"], &["-Os", "-DUSUBA_SMALL"]];

/// Instructions that functions may take, or bytes of text, with any compiler.
const MOST: [(&str, u64); 8] = [
    ("-O2 sign", 1_200_000),
    ("-O2 verify", 3_400_000),
    ("-O2 X25519", 2_400_000),
    ("-O2 text", 30_000),
    ("-Os-DUSUBA_SMALL sign", 4_000_000),
    ("-Os-DUSUBA_SMALL verify", 4_000_000),
    ("-Os-DUSUBA_SMALL X25519", 4_000_000),
    ("-Os-DUSUBA_SMALL text", 16_384),
];

/// Bytes of stack of each of them.
const DEEPEST: u64 = 1500;

/// Instructions and stack by flags and function; as `text` bytes, and no stack.
type Counts = BTreeMap<String, (u64, u64)>;

fn counted(counter: &Counter, flags: &[&str]) -> Counts {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), curve());
    let file = |name: &str| folder.path().join(name);
    fs::write(file("curve.c"), PROGRAM).expect("the folder can be written");
    let files = [file("curve.c"), file("it.c")];
    let linked = counter.link("rv32im", flags, &files, &file("it"));
    linked.unwrap_or_else(|e| panic!("{flags:?}: {e}"));
    let alone = counter.compile("rv32im", flags, &files[0], &file("curve.o"));
    alone.unwrap_or_else(|e| panic!("{flags:?}: {e}"));
    let text = |name| riscv::text(&file(name)).unwrap_or_else(|e| panic!("{flags:?}: {e}"));
    let parts = counter.run(&file("it")).unwrap_or_else(|e| panic!("{flags:?}: {e}"));
    let key = |name: &str| format!("{} {name}", flags.join(""));
    let all = parts.iter().map(|part| (key(&part.name), (part.instructions, part.stack)));
    all.chain([(key("text"), (text("it") - text("curve.o"), 0))]).collect()
}

fn parse(text: &str) -> Counts {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [flags, name, instructions, stack] = words[..] else {
            panic!("four words a line: {line}");
        };
        let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("no number: {line}"));
        (format!("{flags} {name}"), (number(instructions), number(stack)))
    };
    lines.map(entry).collect()
}

fn print(compiler: &str, counts: &Counts) -> String {
    let line = |(key, (instructions, stack)): (&String, &(u64, u64))| {
        let words: Vec<&str> = key.split(' ').collect();
        format!("{:17} {:12} {instructions:>8} {stack:>5}\n", words[0], words[1])
    };
    let lines: String = counts.iter().map(line).collect();
    format!("{HEAD}# {compiler}\n{lines}")
}

/// Counts that grew, and counts of functions that only one of both has.
fn complaints(was: &Counts, is: &Counts) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, &(instructions, stack)) in is {
        match was.get(key) {
            None => lines.push(format!("{key} is not in the file")),
            Some(&(old, deep)) => {
                if instructions > old + old / SLACK {
                    let what = if key.ends_with(" text") { "bytes" } else { "instructions" };
                    lines.push(format!("{key}: {old} {what}, now {instructions}"));
                }
                if stack > deep + 64 {
                    lines.push(format!("{key}: {deep} bytes of stack, now {stack}"));
                }
            }
        }
    }
    lines
}

#[test]
fn nothing_needs_more_instructions_than_before() {
    let counter = match Counter::find() {
        Ok(counter) => counter,
        Err(why) => {
            println!("skipped instructions on RV32: {why}");
            return;
        }
    };
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let cases = if asks!() || bless { CASES.len() } else { 1 };
    let is: Counts = CASES[..cases].iter().flat_map(|flags| counted(&counter, flags)).collect();
    for (key, most) in MOST {
        match is.get(key) {
            Some((count, _)) => assert!(*count <= most, "{key}: {count}"),
            None => assert!(cases < CASES.len(), "{key} is not counted"),
        }
    }
    for (key, (_, stack)) in &is {
        assert!(*stack <= DEEPEST, "{key}: {stack} bytes of stack");
    }
    let mut version = std::process::Command::new(counter.compiler());
    let version = run(Path::new("."), version.arg("-dumpfullversion"));
    let compiler = format!("gcc {}", version.trim());
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/rv32/counts.txt");
    if bless {
        fs::write(&path, print(&compiler, &is)).unwrap_or_else(|e| panic!("{e}"));
        return;
    }
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{e}"));
    if !text.contains(&format!("# {compiler}\n")) {
        println!("skipped the comparison with bench/rv32/counts.txt: this is {compiler}");
        return;
    }
    let complaints = complaints(&parse(&text), &is);
    assert!(
        complaints.is_empty(),
        "if that is meant, BLESS=1 cargo test -p usuba-library --test nacl retired\n{}",
        complaints.join("\n")
    );
}

#[test]
fn growth_is_seen() {
    let was = parse("# gcc 1\n-O2 sign 1000000 2000\n-O2 verify 10 10\n");
    assert_eq!(complaints(&was, &was), [""; 0]);
    let fewer = parse("-O2 sign 1000100 1000\n");
    assert_eq!(complaints(&was, &fewer), [""; 0]);
    let more = complaints(&was, &parse("-O2 sign 1006000 2100\n-O2 open 1 1\n"));
    assert_eq!(more.len(), 3, "{more:?}");
    assert_eq!(parse(&print("gcc 1", &was)), was);
}
