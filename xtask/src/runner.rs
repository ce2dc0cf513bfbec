//! Test runner: runs every group of checks on all cores, and prints one sum.
//!
//! ```text
//! cargo test --no-run ─ messages → binaries → units (a binary, or one test of it) ─ workers → sum
//! ```
//!
//! The runner sets the level of the tests, which `usuba_gen::level` reads: the whole run, or the
//! quick one with the share that the commit chooses. An interrupted whole run continues.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::repo::Repo;
use crate::{answer, budgets};

/// The slowest test binaries, in the order in which they start without times of an earlier run, and
/// whether their tests are independent. Then each test is a unit, so that no core waits for the
/// last one.
const LONGEST: [(&str, bool); 24] = [
    ("linked", false),
    ("smoke", false),
    ("files", false),
    ("forged", false),
    ("nacl", false),
    ("robustness", false),
    ("ciphers", true),
    ("library", true),
    ("new", false),
    ("installed", false),
    ("safety", false),
    ("prove", false),
    ("interface", false),
    ("contracts", false),
    ("instructions", false),
    ("bytes", true),
    ("random", true),
    ("planted", true),
    ("binary", true),
    ("arithmetic", true),
    ("passes", true),
    ("rows", true),
    ("abi", true),
    ("tune", false),
];

/// Test binaries of `libtest-mimic`, which take one filter.
const MIMIC: [&str; 2] = ["ciphers", "files"];

/// Counts of tests by their outcome.
#[derive(Default, Clone, Copy)]
struct Sum {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// A test binary.
struct Binary {
    /// As cargo prints it.
    title: String,
    name: String,
    path: PathBuf,
    folder: PathBuf,
}

/// Tests that run in one process.
struct Unit {
    binary: usize,
    /// One test; all tests without it.
    test: Option<String>,
    /// Seconds of an earlier run.
    cost: Option<f64>,
}

impl Unit {
    fn name(&self, binaries: &[Binary]) -> String {
        let Binary { title, .. } = &binaries[self.binary];
        self.test.as_ref().map_or(title.clone(), |test| format!("{title} {test}"))
    }
}

/// Runs every group; whether all passed. `whole` requests all tests, and `fresh` also units that an
/// earlier whole run finished.
///
/// # Errors
/// The tests do not build, or the build folder cannot be read or written.
pub fn run(whole: bool, fresh: bool) -> io::Result<bool> {
    let repo = Repo::load()?;
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
    let (binaries, usubac) = built(&String::from_utf8_lossy(&build.stdout))?;
    let folder =
        usubac.parent().and_then(Path::parent).unwrap_or(Path::new("target")).join("tests");
    fs::create_dir_all(&folder)?;
    let level = if whole { "whole".to_string() } else { commit(&repo.root) };
    println!("== level: {level}");
    let mut groups = Groups { sum: Sum::default(), times: Vec::new() };
    let lints = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    for (name, args) in [("format", &["fmt", "--all", "--check"][..]), ("clippy", &lints)] {
        groups.check(name, || {
            let mut command = Command::new(&cargo);
            command.args(args).current_dir(&repo.root).status().is_ok_and(|s| s.success())
        });
    }
    groups.tests(&binaries, &Record::new(&folder, &repo, whole, fresh), &level)?;
    // A crate of its own, since this one does not know the compiler.
    let documents = usubac.with_file_name("documents");
    groups.check("documents", || {
        let mut command = Command::new(&documents);
        command.arg("docs").args(usubac.parent()).status().is_ok_and(|status| status.success())
    });
    if whole {
        groups.check("rustdoc", || {
            let mut command = Command::new(&cargo);
            command.args(["doc", "--quiet", "--workspace", "--no-deps"]).current_dir(&repo.root);
            command.env("RUSTDOCFLAGS", "-D warnings").status().is_ok_and(|s| s.success())
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
        binaries.push(Binary { title: format!("{place} ({package})"), name, path, folder });
    }
    binaries.sort_by(|a, b| a.title.cmp(&b.title));
    let usubac = usubac.ok_or_else(|| io::Error::other("cargo did not build `usubac`"))?;
    Ok((binaries, usubac))
}

/// The times of units, and the finished units of an interrupted whole run.
struct Record {
    times: PathBuf,
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
        Record { times: folder.join("times"), done }
    }

    fn times(&self) -> BTreeMap<String, f64> {
        let text = fs::read_to_string(&self.times).unwrap_or_default();
        let line =
            |line: &str| line.split_once(' ').map(|(t, n)| Some((n.into(), t.parse().ok()?)));
        text.lines().filter_map(line).flatten().collect()
    }

    fn keep_times(&self, times: &BTreeMap<String, f64>) -> io::Result<()> {
        let lines: Vec<String> = times.iter().map(|(name, t)| format!("{t:.2} {name}\n")).collect();
        fs::write(&self.times, lines.concat())
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
    fn tests(&mut self, binaries: &[Binary], record: &Record, level: &str) -> io::Result<()> {
        println!("\n== tests");
        let start = Instant::now();
        let (known, done) = (record.times(), record.done());
        let mut units = units(binaries, &known)?;
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
        let shared =
            Mutex::new(Progress { next: 0, binaries: sums, times: known, shares: BTreeSet::new() });
        let cores = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| work(&units, binaries, &shared, record, level));
            }
        });
        let Progress { binaries: sums, times, shares, .. } =
            shared.into_inner().expect("no worker panics");
        record.keep_times(&times)?;
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
        Ok(())
    }
}

/// The units of all binaries, the longest first; unknown ones before known ones.
fn units(binaries: &[Binary], known: &BTreeMap<String, f64>) -> io::Result<Vec<Unit>> {
    let mut units = Vec::new();
    for (number, binary) in binaries.iter().enumerate() {
        if !LONGEST.contains(&(&binary.name, true)) {
            units.push(Unit { binary: number, test: None, cost: None });
            continue;
        }
        let output = binary.command().args(["--list", "--format", "terse"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        units.extend(tests.map(|test| Unit {
            binary: number,
            test: Some(test.into()),
            cost: None,
        }));
    }
    units.iter_mut().for_each(|unit| unit.cost = known.get(&unit.name(binaries)).copied());
    let rank = |unit: &Unit| {
        let name = &*binaries[unit.binary].name;
        LONGEST.iter().position(|(other, _)| *other == name).unwrap_or(LONGEST.len())
    };
    units.sort_by(|a, b| {
        let [ours, theirs] = [a, b].map(|unit| unit.cost.unwrap_or(f64::INFINITY));
        theirs.total_cmp(&ours).then(rank(a).cmp(&rank(b)))
    });
    Ok(units)
}

impl Binary {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
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
        command.env("USUBA_TESTS", level).arg("--test-threads=1");
        if let Some(test) = &unit.test {
            command.args(["--exact", test]);
        }
        if !MIMIC.contains(&&*binary.name) {
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
        if !success && sum.failed == 0 {
            // The process died before it counted.
            sum.failed = 1;
        }
        let name = unit.name(binaries);
        let mut shared = shared.lock().expect("no worker panics");
        shared.times.insert(name.clone(), time.as_secs_f64());
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
        println!(
            "{} {name} ({:.1} s)",
            if sum.failed == 0 { "ok" } else { "FAILED" },
            time.as_secs_f64()
        );
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
