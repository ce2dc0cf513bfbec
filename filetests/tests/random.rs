//! Random programs through everything.
//!
//! `RANDOM_SEED=77` starts elsewhere. In the quick run each program runs on two targets, by turns, and
//! in the whole run on every target.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use filetests::native;
use filetests::random::{self, Failure, Subject};
use usuba::ir::Slicing;
use usuba_gen::level::{self, is_whole};
use usuba_object::Rule;
use usuba_prove::compiler::Compiler;
use usuba_prove::{Claim, Outcome};
use usuba_run::cc::{self, Family, Machine};

/// Programs whose kernels are compiled together.
const BATCH: u64 = 72;

/// Targets of a program in the quick run.
const TARGETS: usize = 2;

/// Programs in the quick run, and in the whole one.
const PROGRAMS: [u64; 2] = [144, 20_000];

/// Programs whose objects are proved in the whole run, and the most of them that may stay open: two
/// do with gcc 12 and clang 19, and other compilers write other code.
const OBJECTS: u64 = 200;
const OPEN: usize = 4;

/// Candidates that shrinking may try: in this process, and by a C compiler.
const TRIES: usize = 600;
const NATIVE_TRIES: usize = 60;

/// The test is about our text, not about the optimiser of the C compiler; this takes half the time.
const LEVEL: &str = "-O0";

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn random_programs_compute_the_same_everywhere() {
    let [quick, whole] = PROGRAMS;
    let count = if is_whole() { whole } else { quick };
    let first = number("RANDOM_SEED", 1 + level::turn() * whole / level::SHARES);
    let mut machines = Vec::new();
    for answer in cc::survey() {
        match answer {
            Ok(machine) => machines.push(machine),
            Err(skip) => println!("{skip}"),
        }
    }
    let apart = if is_whole() { 1 } else { machines.len().div_ceil(TARGETS).max(1) };
    let start = Instant::now();
    let next = AtomicU64::new(first);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(BATCH, Ordering::Relaxed);
                    let to = (from + BATCH).min(first + count);
                    if from >= to || failures.lock().expect("no panic").len() > 3 {
                        return;
                    }
                    let found = batch(from..to, &machines, apart);
                    failures.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    println!("{count} programs in {:.1} s", start.elapsed().as_secs_f64());
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Covering by instructions merges nodes of the SAT sweep with nodes of another structure; windows
/// alone left these programs open.
#[test]
fn covers_of_merged_nodes_are_proved() {
    let programs = [
        (10409, "sse"),
        (10409, "avx512_ifma"),
        (10492, "avx512_ifma"),
        (4024, "avx512_ifma"),
        (5636, "avx512_gfni"),
        (3797, "avx512_gfni"),
    ];
    for (seed, target) in programs {
        let subject = Subject::new(&random::text(seed), seed);
        let subject = subject.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        let proved = subject.proved(usuba::isa::find(target).expect("a target"));
        proved.unwrap_or_else(|why| panic!("seed {seed} on {target}: {why}"));
    }
}

/// Programs in V and B, from their source to the objects of each compiler: no claim is wrong, and
/// few stay open. In the quick run one share of the programs takes its turn.
#[test]
fn objects_of_random_programs_are_proved() {
    let kinds = [(Slicing::V, "gp64"), (Slicing::V, "avx2"), (Slicing::B, "avx512")];
    let kinds = kinds.map(|(slicing, name)| {
        let target = usuba::isa::find(name).expect("a target");
        let mut families = vec![Family::Gcc, Family::Clang];
        families.retain(|&family| Compiler::find(target, family).is_ok());
        (slicing, target, families)
    });
    let share = OBJECTS / level::SHARES;
    let first = level::turn() * share;
    let seeds = if is_whole() { 0..OBJECTS } else { first..first + share };
    let (mut open, mut wrong) = (BTreeMap::new(), Vec::new());
    for seed in seeds {
        let (slicing, target, families) = &kinds[seed as usize % kinds.len()];
        let what = format!("seed {seed} in {slicing:?} on {}", target.name);
        if families.is_empty() {
            println!("skipped: no compiler for {}", target.name);
            continue;
        }
        let claims = random::claims(&random::text(seed), *slicing, target, families);
        for Claim { kind, subject, outcome } in claims.unwrap_or_else(|why| panic!("{what}: {why}"))
        {
            let said = format!("{what}, {kind:?} {subject}: ");
            match outcome {
                Outcome::Proved(_) => {}
                Outcome::Unknown(why) => drop(open.insert(seed, said + &why)),
                Outcome::Refused(fault) if fault.rule == Rule::Unsupported => {
                    open.insert(seed, said + &fault.to_string());
                }
                other => wrong.push(format!("{said}{other:?}")),
            }
        }
    }
    let open: Vec<String> = open.into_values().collect();
    println!("{} programs are open\n{}", open.len(), open.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(open.len() <= OPEN, "{}", open.join("\n"));
}

/// Runs the programs of some seeds, each on every `apart`-th machine; the failures as texts.
fn batch(seeds: std::ops::Range<u64>, machines: &[Machine], apart: usize) -> Vec<String> {
    let mut failures = Vec::new();
    let mut subjects = Vec::new();
    for seed in seeds {
        let text = random::text(seed);
        match Subject::new(&text, seed) {
            Ok(subject) => subjects.push((seed, text, subject)),
            Err(failure) => failures.push(in_process(seed, &text, &failure)),
        }
    }
    for (turn, machine) in machines.iter().enumerate() {
        let mut jobs = Vec::new();
        let here = |seed: u64| (seed as usize + turn).is_multiple_of(apart);
        for (seed, text, subject) in subjects.iter().filter(|(seed, ..)| here(*seed)) {
            match subject.job(machine, turn) {
                Ok(job) => jobs.push(job),
                Err(why) => {
                    failures.push(format!("seed {seed} on {}: {why}\n{text}", machine.target))
                }
            }
        }
        for why in native::run(machine, LEVEL, &jobs) {
            let seed = why.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
            let subject = subjects.iter().find(|(s, ..)| Some(*s) == seed);
            let (seed, text, _) = subject.expect("a job is named by its seed");
            failures.push(on_machine(*seed, text, machine, turn, &why));
        }
    }
    failures
}

fn in_process(seed: u64, text: &str, failure: &Failure) -> String {
    let kind = |f: &Failure| std::mem::discriminant(f);
    let smaller = match failure {
        Failure::Refused(_) => text.to_string(),
        Failure::Wrong(_) => usuba_gen::shrink(text, TRIES, &|candidate| {
            Subject::new(candidate, seed).is_err_and(|f| kind(&f) == kind(failure))
        }),
    };
    let why = Subject::new(&smaller, seed).err().map_or(String::new(), |f| f.to_string());
    format!("seed {seed}: {why}\n{smaller}")
}

fn on_machine(seed: u64, text: &str, machine: &Machine, turn: usize, why: &str) -> String {
    let smaller = usuba_gen::shrink(text, NATIVE_TRIES, &|candidate| {
        let subject = Subject::new(candidate, seed);
        let job = subject.ok().and_then(|subject| subject.job(machine, turn).ok());
        job.is_some_and(|job| !native::run(machine, LEVEL, &[job]).is_empty())
    });
    format!("{why}\n{smaller}")
}
