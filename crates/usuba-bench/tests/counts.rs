//! Instruction counts that must not grow: `bench/counts.txt` holds, for the first function of each
//! slicing of a cipher on every target, the instructions of one call of the kernel after all
//! passes, and the bytes that the call works on. They depend on no C compiler and on no clock.
//! `BLESS=1` writes it. The quick run has each kernel on every fourth target.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use usuba::isa::{self, Target};
use usuba_bench::bench::{Batch, Choice, Side, Subject, subjects};
use usuba_bench::session::letter;
use usuba_gen::{asks, level};

const HEAD: &str = "\
# Instructions of one call of the kernel, with the instructions of the target's table, and bytes of
# that call. A test fails when instructions per byte grow; `BLESS=1 cargo test -p usuba-bench --test
# counts` writes this file anew.
#
# function slicing target instructions bytes
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Instructions and bytes, by function, slicing and target.
type Counts = BTreeMap<String, (u64, u64)>;

/// A line's beginning.
fn key(subject: &Subject, target: &Target) -> String {
    format!("{} {} {}", subject.function.name, letter(subject.slicing), target.name)
}

/// The counts of all kernels on all targets, or of the share of this run.
fn counted(all: bool) -> Counts {
    let ciphers = usuba_ciphers::find(&root().join("ciphers")).unwrap_or_else(|e| panic!("{e}"));
    let side = Side::default();
    let choice = Choice::default();
    let subjects = subjects(&ciphers, &choice, &side);
    let targets: Vec<(usize, &Target)> = isa::all().enumerate().collect();
    let count = |&(at, target): &(usize, &'static Target)| {
        let mut chosen = Vec::new();
        for (number, subject) in subjects.iter().enumerate() {
            let key = key(subject, target);
            let is_next = all || (number + at) % 4 == 0 || asks!("{key}");
            chosen.extend((is_next && subject.function.is_for(target)).then_some(*subject));
        }
        let mut counts = Counts::new();
        for (subject, work) in chosen.iter().zip(Batch::works(target, &chosen)) {
            // Other tests cover functions that a target lacks.
            let Ok((work, bytes)) = work else { continue };
            counts.insert(key(subject, target), (work.instructions(), bytes as u64));
        }
        counts
    };
    targets.par_iter().map(count).reduce(Counts::new, |mut all, some| {
        all.extend(some);
        all
    })
}

fn parse(text: &str) -> Counts {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let entry = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [function, slicing, target, instructions, bytes] = words[..] else {
            panic!("five words a line: {line}");
        };
        let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("no number: {line}"));
        (format!("{function} {slicing} {target}"), (number(instructions), number(bytes)))
    };
    lines.map(entry).collect()
}

fn print(counts: &Counts) -> String {
    let lines = counts.iter().map(|(key, (instructions, bytes))| {
        let words: Vec<&str> = key.split(' ').collect();
        format!("{:24} {} {:7} {instructions:>8} {bytes:>6}\n", words[0], words[1], words[2])
    });
    HEAD.to_string() + &lines.collect::<String>()
}

/// Counts that grew, appeared or disappeared, one line each. Fewer instructions are no complaint.
fn complaints(was: &Counts, is: &Counts) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, &(instructions, bytes)) in is {
        match was.get(key) {
            None => lines.push(format!("{key} is not in the file")),
            Some(&(old, old_bytes)) if instructions * old_bytes > old * bytes => {
                lines.push(format!(
                    "{key}: {old} for {old_bytes} bytes, now {instructions} for {bytes}"
                ));
            }
            Some(_) => {}
        }
    }
    let gone = was.keys().filter(|key| !is.contains_key(*key));
    lines.extend(gone.map(|key| format!("{key} is in the file only")));
    lines
}

#[test]
fn no_kernel_needs_more_instructions_than_before() {
    let path = root().join("bench/counts.txt");
    let blesses = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let all = blesses || level::is_whole();
    let is = counted(all);
    if blesses {
        fs::write(&path, print(&is)).unwrap_or_else(|e| panic!("{e}"));
        return;
    }
    let mut was = parse(&fs::read_to_string(&path).unwrap_or_else(|e| panic!("{e}")));
    was.retain(|key, _| all || is.contains_key(key));
    let complaints = complaints(&was, &is);
    assert!(
        complaints.is_empty(),
        "instructions per byte grew, or kernels came and went; if that is meant, \
         BLESS=1 cargo test -p usuba-bench --test counts\n{}",
        complaints.join("\n")
    );
}

#[test]
fn growth_is_seen_per_byte() {
    let counts = |text: &str| parse(text);
    let was = counts("f V avx2 100 50\ng B gp64 10 8\n");
    assert_eq!(complaints(&was, &was), [""; 0]);
    // Twice the instructions for twice the bytes, and fewer.
    assert_eq!(complaints(&was, &counts("f V avx2 200 100\ng B gp64 9 8\n")), [""; 0]);
    let more = complaints(&was, &counts("f V avx2 101 50\nh V sse 1 1\n"));
    assert_eq!(more.len(), 3, "{more:?}");
    assert!(more[0].contains("100 for 50 bytes, now 101 for 50"));
}
