//! Test runner: runs every group of checks on all cores, and prints one sum.
//!
//! ```text
//! cargo test --no-run ─ messages → binaries → units (one test each) ─ workers → sum
//! ```
//!
//! The runner sets the level of the tests, which `usuba_gen::level` reads: the whole run, or the
//! quick one with the share that the commit chooses. Long units take turns (`turns`). An interrupted
//! whole run continues. `scripts/test` lets Clippy compile the workspace, so the build is its check.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::bless::LINTS;
use crate::repo::Repo;
use crate::{answer, budgets, turns};

/// Test binaries of `libtest-mimic`, which take one filter.
const MIMIC: [&str; 2] = ["ciphers", "files"];

/// The least time of a unit that is printed by itself, in seconds.
const LONG: f64 = 1.0;

/// Counts of tests by their outcome.
#[derive(Default, Clone, Copy)]
struct Sum {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// A test binary, or another program that checks something.
struct Binary {
    /// As cargo prints it.
    title: String,
    name: String,
    path: PathBuf,
    folder: PathBuf,
    /// The arguments of a program without tests of its own, which is one unit.
    check: Vec<OsString>,
}

/// A test, in a process of its own.
struct Unit {
    binary: usize,
    test: String,
}

/// The tests of a run.
struct Choice {
    /// The value of `USUBA_TESTS`.
    level: String,
    /// Seconds by units.
    costs: BTreeMap<String, f64>,
    /// Units of other runs.
    waiting: BTreeSet<String>,
}

impl Unit {
    fn name(&self, binaries: &[Binary]) -> String {
        format!("{} {}", binaries[self.binary].title, self.test).trim_end().to_string()
    }
}

/// How much a run has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// The quick level; long units take turns.
    Turns,
    /// The quick level of all units; `blesses` keeps their times as the costs of turns.
    Quick { blesses: bool },
    /// All tests at full length.
    Whole,
}

/// The meaning of the words behind `test`: the extent, and whether a whole run begins again; `None` if they
/// contradict each other, or one is unknown.
pub fn options(words: &[&str]) -> Option<(Extent, bool)> {
    match words {
        [] => Some((Extent::Turns, false)),
        ["quick"] => Some((Extent::Quick { blesses: false }, false)),
        ["quick", "--bless"] => Some((Extent::Quick { blesses: true }, false)),
        ["whole"] => Some((Extent::Whole, false)),
        ["whole", "--fresh"] => Some((Extent::Whole, true)),
        _ => None,
    }
}

/// Runs every group; whether all passed. `fresh` requests also units that an earlier whole run
/// finished.
///
/// # Errors
/// The tests do not build, or the build folder cannot be read or written.
pub fn run(extent: Extent, fresh: bool) -> io::Result<bool> {
    let repo = Repo::load()?;
    let whole = extent == Extent::Whole;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"];
    let build = Command::new(&cargo)
        .args(build)
        .current_dir(&repo.root)
        .stderr(Stdio::inherit())
        .output()?;
    if !build.status.success() {
        return Err(io::Error::other("the tests do not build"));
    }
    let (mut binaries, usubac) = built(&String::from_utf8_lossy(&build.stdout))?;
    // A crate of its own, since this one does not know the compiler.
    binaries.push(Binary {
        title: "documents".into(),
        name: "documents".into(),
        path: usubac.with_file_name("documents"),
        folder: repo.root.clone(),
        check: vec!["docs".into(), usubac.parent().unwrap_or(Path::new(".")).into()],
    });
    let folder =
        usubac.parent().and_then(Path::parent).unwrap_or(Path::new("target")).join("tests");
    fs::create_dir_all(&folder)?;
    let level = if whole { "whole".to_string() } else { commit(&repo.root) };
    println!("== level: {level}");
    let mut groups = Groups { sum: Sum::default(), times: Vec::new() };
    groups.check("format", || {
        let mut command = Command::new(&cargo);
        command.args(["fmt", "--all", "--check"]).current_dir(&repo.root);
        command.status().is_ok_and(|status| status.success())
    });
    let costs = turns::costs(&fs::read_to_string(repo.root.join(turns::COSTS))?)?;
    let waiting = match extent {
        Extent::Turns => turns::waiting(&costs, &level),
        Extent::Quick { .. } | Extent::Whole => BTreeSet::new(),
    };
    let record = Record::new(&folder, &repo, whole, fresh);
    let choice = Choice { level, costs, waiting };
    let times = groups.tests(&binaries, &record, &choice)?;
    if extent == (Extent::Quick { blesses: true }) {
        turns::bless(&repo, &choice.costs, &times)?;
    }
    if whole {
        groups.check("rustdoc", || {
            let mut command = Command::new(&cargo);
            command.args(["doc", "--quiet", "--workspace", "--no-deps"]).current_dir(&repo.root);
            command
                .env("RUSTDOCFLAGS", "-D warnings")
                .env_remove(LINTS)
                .status()
                .is_ok_and(|s| s.success())
        });
        groups.check("budgets", || answer("budgets", budgets::run(&repo)) == ExitCode::SUCCESS);
    }
    println!("\n== time");
    for (name, time) in &groups.times {
        println!("{:8.1} s  {name}", time.as_secs_f64());
    }
    println!("\n{} passed, {} failed", groups.sum.passed, groups.sum.failed);
    Ok(groups.sum.failed == 0)
}

/// The text that chooses the share: the commit, or a fixed word outside of git.
fn commit(root: &Path) -> String {
    let git = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root).output();
    let said = git.ok().filter(|output| output.status.success());
    said.map_or("none".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The test binaries among cargo's messages, and the compiler.
fn built(messages: &str) -> io::Result<(Vec<Binary>, PathBuf)> {
    let (mut binaries, mut usubac) = (Vec::new(), None);
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        let Some(path) = message["executable"].as_str().map(PathBuf::from) else { continue };
        let name = text(&message["target"]["name"]);
        if message["profile"]["test"] != true {
            if name == "usubac" {
                usubac = Some(path);
            }
            continue;
        }
        let manifest = PathBuf::from(text(&message["manifest_path"]));
        let folder = manifest.parent().unwrap_or(Path::new(".")).to_path_buf();
        let source = PathBuf::from(text(&message["target"]["src_path"]));
        let place = source.strip_prefix(&folder).unwrap_or(&source).display().to_string();
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let title = format!("{place} ({package})");
        binaries.push(Binary { title, name, path, folder, check: Vec::new() });
    }
    binaries.sort_by(|a, b| a.title.cmp(&b.title));
    let usubac = usubac.ok_or_else(|| io::Error::other("cargo did not build `usubac`"))?;
    Ok((binaries, usubac))
}

/// The finished units of an interrupted whole run.
struct Record {
    done: Option<PathBuf>,
}

impl Record {
    fn new(folder: &Path, repo: &Repo, whole: bool, fresh: bool) -> Record {
        // Finished units count for the same files only.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in repo.files.iter().flat_map(|file| file.path.bytes().chain(file.text.bytes())) {
            hash = (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3);
        }
        let done = whole.then(|| folder.join(format!("done-{hash:016x}")));
        if let (true, Some(done)) = (fresh, &done) {
            let _ = fs::remove_file(done);
        }
        Record { done }
    }

    /// The finished units, each with the tests that passed.
    fn done(&self) -> BTreeMap<String, u64> {
        let text = self.done.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let text = text.unwrap_or_default();
        let line =
            |line: &str| line.split_once(' ').map(|(n, name)| Some((name.into(), n.parse().ok()?)));
        text.lines().filter_map(line).flatten().collect()
    }

    fn finished(&self, name: &str, passed: u64) -> io::Result<()> {
        let Some(path) = &self.done else { return Ok(()) };
        let mut file = fs::File::options().create(true).append(true).open(path)?;
        writeln!(file, "{passed} {name}")
    }
}

struct Groups {
    sum: Sum,
    times: Vec<(String, Duration)>,
}

/// The state that workers share.
struct Progress {
    next: usize,
    /// By binary: the outcomes of its tests, how many of its units are left, and their time.
    binaries: Vec<(Sum, usize, Duration)>,
    times: BTreeMap<String, f64>,
    shares: BTreeSet<String>,
}

impl Groups {
    /// Runs a group that passes or fails as one.
    fn check(&mut self, name: &str, check: impl FnOnce() -> bool) {
        println!("\n== {name}");
        let start = Instant::now();
        match check() {
            true => self.sum.passed += 1,
            false => {
                println!("{name} failed");
                self.sum.failed += 1;
            }
        }
        self.times.push((name.into(), start.elapsed()));
    }

    /// Runs all test binaries, the longest units first, as many at a time as there are cores.
    /// The seconds of each that passed.
    fn tests(
        &mut self,
        binaries: &[Binary],
        record: &Record,
        choice: &Choice,
    ) -> io::Result<BTreeMap<String, f64>> {
        println!("\n== tests");
        let start = Instant::now();
        let done = record.done();
        let mut units = units(binaries, &choice.costs)?;
        units.retain(|unit| !choice.waiting.contains(&unit.name(binaries)));
        let before = units.len();
        let mut sums = vec![(Sum::default(), 0, Duration::ZERO); binaries.len()];
        units.retain(|unit| match done.get(&unit.name(binaries)) {
            Some(passed) => {
                sums[unit.binary].0.passed += passed;
                false
            }
            None => true,
        });
        if before > units.len() {
            println!("{} of {before} units passed in an earlier run", before - units.len());
        }
        units.iter().for_each(|unit| sums[unit.binary].1 += 1);
        let (times, shares) = (BTreeMap::new(), BTreeSet::new());
        let shared = Mutex::new(Progress { next: 0, binaries: sums, times, shares });
        let cores = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| work(&units, binaries, &shared, record, &choice.level));
            }
        });
        let Progress { binaries: sums, times, shares, .. } =
            shared.into_inner().expect("no worker panics");
        println!("\n{} units wait for their turn in another commit:", choice.waiting.len());
        choice.waiting.iter().for_each(|name| println!("    {name}"));
        println!("\n{} items of the whole run that this commit chooses:", shares.len());
        shares.iter().for_each(|share| println!("    {share}"));
        println!();
        for (binary, (sum, _, time)) in binaries.iter().zip(sums) {
            println!("     Running {}", binary.title);
            let ending = if sum.failed == 0 { "ok" } else { "FAILED" };
            println!(
                "test result: {ending}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered \
                 out; finished in {:.2}s",
                sum.passed,
                sum.failed,
                sum.ignored,
                time.as_secs_f64()
            );
            self.sum.passed += sum.passed;
            self.sum.failed += sum.failed;
        }
        self.times.push(("tests".into(), start.elapsed()));
        Ok(times)
    }
}

/// The units of all binaries, the longest first.
fn units(binaries: &[Binary], costs: &BTreeMap<String, f64>) -> io::Result<Vec<Unit>> {
    let mut units = Vec::new();
    for (number, binary) in binaries.iter().enumerate() {
        if !binary.check.is_empty() {
            units.push(Unit { binary: number, test: String::new() });
            continue;
        }
        let output = binary.command().args(["--list", "--format", "terse"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        units.extend(tests.map(|test| Unit { binary: number, test: test.into() }));
    }
    let cost = |unit: &Unit| costs.get(&unit.name(binaries)).copied().unwrap_or(0.0);
    units.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    Ok(units)
}

impl Binary {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            // Lints are for this workspace, and not for crates that a test writes.
            .env_remove(LINTS)
            .stdin(Stdio::null());
        command
    }
}

/// Runs units until there are none.
fn work(
    units: &[Unit],
    binaries: &[Binary],
    shared: &Mutex<Progress>,
    record: &Record,
    level: &str,
) {
    loop {
        let unit = {
            let mut shared = shared.lock().expect("no worker panics");
            shared.next += 1;
            let Some(unit) = units.get(shared.next - 1) else { return };
            unit
        };
        let binary = &binaries[unit.binary];
        let mut command = binary.command();
        command.env("USUBA_TESTS", level).args(&binary.check);
        if binary.check.is_empty() {
            command.args(["--test-threads=1", "--exact", &unit.test]);
        }
        if binary.check.is_empty() && !MIMIC.contains(&&*binary.name) {
            // Items of the share are named by tests that pass.
            command.arg("--show-output");
        }
        let start = Instant::now();
        let output = command.output();
        let time = start.elapsed();
        let (text, success) = match output {
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                (String::from_utf8_lossy(&text).into_owned(), output.status.success())
            }
            Err(error) => (error.to_string(), false),
        };
        let mut sum = results(&text);
        match success {
            true if !binary.check.is_empty() => sum.passed = 1,
            // The process died before it counted.
            false if sum.failed == 0 => sum.failed = 1,
            _ => {}
        }
        let name = unit.name(binaries);
        let mut shared = shared.lock().expect("no worker panics");
        // A test that fails may end early.
        if sum.failed == 0 {
            shared.times.insert(name.clone(), time.as_secs_f64());
        }
        let shares = text.lines().filter_map(|line| line.strip_prefix(SHARE));
        shared.shares.extend(shares.map(String::from));
        let (whole, left, spent) = &mut shared.binaries[unit.binary];
        whole.passed += sum.passed;
        whole.failed += sum.failed;
        whole.ignored += sum.ignored;
        *left -= 1;
        *spent += time;
        if sum.failed > 0 {
            println!("{text}");
        } else if let Err(error) = record.finished(&name, sum.passed) {
            println!("cannot record {name}: {error}");
        }
        let seconds = time.as_secs_f64();
        match sum.failed {
            0 if seconds < LONG => {}
            0 => println!("ok {name} ({seconds:.1} s)"),
            _ => println!("FAILED {name} ({seconds:.1} s)"),
        }
    }
}

/// The mark of an item of the share; see `usuba_gen::level`.
const SHARE: &str = "share: ";

/// The sum of the lines `test result: ok. 1 passed; 0 failed; 0 ignored; …` of a text.
fn results(text: &str) -> Sum {
    let mut sum = Sum::default();
    for line in text.lines().filter(|line| line.starts_with("test result: ")) {
        let number = |word: &str| {
            let before = line.split(word).next()?.trim_end();
            before.rsplit(' ').next()?.parse::<u64>().ok()
        };
        sum.passed += number(" passed;").unwrap_or(0);
        sum.failed += number(" failed;").unwrap_or(0);
        sum.ignored += number(" ignored;").unwrap_or(0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_do_not_contradict_each_other() {
        assert_eq!(options(&["whole", "--fresh"]), Some((Extent::Whole, true)));
        for words in [&["quick", "whole"][..], &["--bless"], &["--fresh"], &["whole", "quick"]] {
            assert_eq!(options(words), None, "{words:?}");
        }
    }

    #[test]
    fn sums_of_two_runners_are_added() {
        let text = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out\n\
                    more\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured\n";
        let Sum { passed, failed, ignored } = results(text);
        assert_eq!((passed, failed, ignored), (13, 2, 1));
    }

    #[test]
    fn binaries_are_found_in_messages_of_cargo() {
        let message = |test: bool, name: &str| {
            format!(
                "{{\"manifest_path\":\"a/Cargo.toml\",\"profile\":{{\"test\":{test}}},\
                 \"target\":{{\"name\":\"{name}\",\"src_path\":\"a/tests/{name}.rs\"}},\
                 \"executable\":\"debug/{name}\"}}\n"
            )
        };
        let text = message(true, "one") + &message(false, "usubac") + "not a message\n";
        let (binaries, usubac) = built(&text).expect("messages");
        assert_eq!(usubac, Path::new("debug/usubac"));
        let titles: Vec<&str> = binaries.iter().map(|binary| &*binary.title).collect();
        assert_eq!(titles, ["tests/one.rs (a)"]);
        assert!(built(&message(true, "one")).is_err());
    }

    #[test]
    fn a_whole_run_goes_on_where_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let repo = Repo::sample(&[("a.rs", "one")]);
        let record = Record::new(folder.path(), &repo, true, false);
        record.finished("tests/one.rs (a) f", 3).expect("written");
        let again = Record::new(folder.path(), &repo, true, false);
        assert_eq!(again.done().get("tests/one.rs (a) f"), Some(&3));
        let other = Record::new(folder.path(), &Repo::sample(&[("a.rs", "two")]), true, false);
        assert!(other.done().is_empty());
        let fresh = Record::new(folder.path(), &repo, true, true);
        assert!(fresh.done().is_empty());
    }
}
