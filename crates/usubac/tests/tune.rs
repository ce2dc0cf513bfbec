//! `usubac tune` with real compilers: a small search, and the same candidates through ninja and
//! distcc. Tests of tools that this machine lacks are skipped by name. No time is asserted.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PROGRAM: &str = "\
node round (s:u32[4], k:u32) returns (t:u32[4])
let
  t = ((s[1] <<< 3) ^ k, s[2] + s[0], (s[3] & s[1]) ^ s[0], ~(s[0] | s[2]))
tel

node f (x:u32[4], k:const u32[8]) returns (y:u32[4])
vars s:u32[9][4]
let
  s[0] = x;
  forall i in [0,7] { s[i+1] = round(s[i], k[i]) }
  y = s[8]
tel
";

/// A folder with the program in it.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("f.ua"), PROGRAM).expect("written");
    dir
}

fn usubac(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    command.args(args).current_dir(dir).stdin(Stdio::null()).output().expect("usubac runs")
}

/// Standard output of a command that succeeds.
fn good(dir: &Path, args: &[&str]) -> String {
    let output = usubac(dir, args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The only tuned file of a folder.
fn tuned(dir: &Path) -> PathBuf {
    let entries = fs::read_dir(dir.join("tuned")).expect("a folder of tuned files");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[test]
fn a_small_search_writes_a_file_that_compiles_use() {
    let dir = folder();
    let search = ["tune", "f.ua", "--target", "gp64", "--time-limit", "4s"];
    let said = good(dir.path(), &search);
    assert!(said.contains("written: tuned") && said.contains("V: "), "{said}");
    let file = tuned(dir.path());
    let text = fs::read_to_string(&file).expect("read");
    assert!(text.contains("program = \"f.ua\"") && text.contains("fastest = true"), "{text}");
    assert!(text.contains("slicing = \"V\"") && text.contains("slicing = \"B\""), "{text}");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();

    let with = good(dir.path(), &["f.ua", "-V", "-o", "-"]);
    assert!(with.contains(&format!("Tuned: tuned/{name}: ")), "{with}");
    let cpu = name.strip_prefix("gp64-").and_then(|n| n.strip_suffix(".toml")).expect("a cpu");
    assert_eq!(good(dir.path(), &["f.ua", "-V", "--tuned", cpu, "-o", "-"]), with);
    for flags in [&["--no-tuned"][..], &["--abi", "usubac"], &["--unroll=all"], &["--skip", "cse"]]
    {
        let without = good(dir.path(), &[&["f.ua", "-V", "-o", "-"], flags].concat());
        assert!(!without.contains("Tuned:"), "{flags:?}");
    }
    // With a record and no time the same file appears again.
    let state = fs::read_dir(dir.path().join("tuned/.state")).expect("a record").count();
    assert_eq!(state, 2, "measurements, and a list that keeps them out of repositories");
    let said = good(dir.path(), &["tune", "f.ua", "--target", "gp64", "--time-limit", "0"]);
    assert!(said.contains("written: "), "{said}");
    assert_eq!(fs::read_to_string(tuned(dir.path())).expect("read"), text);
}

#[test]
fn a_pass_that_is_not_there_is_an_error_with_its_place() {
    let dir = folder();
    good(dir.path(), &["tune", "f.ua", "--target", "gp64", "-V", "--time-limit", "0"]);
    let file = tuned(dir.path());
    let text = fs::read_to_string(&file).expect("read");
    fs::write(&file, text.replace("flags = \"\"", "flags = \"--skip sorcery\"")).expect("written");
    let line = text.lines().position(|line| line == "flags = \"\"").expect("there") + 1;
    for command in
        [&["f.ua", "-o", "-"][..], &["tune", "f.ua", "--target", "gp64", "--time-limit", "0"]]
    {
        let output = usubac(dir.path(), command);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(&format!(".toml:{line}:9: ")), "{errors}");
        assert!(errors.contains("sorcery") && errors.contains("the passes are"), "{errors}");
    }
}

#[test]
fn without_time_and_record_the_defaults_are_written() {
    let dir = folder();
    let said = good(dir.path(), &["tune", "f.ua", "--target", "gp64", "-V", "--time-limit", "0"]);
    assert!(said.contains("V: the defaults\n0 candidates timed"), "{said}");
    let text = fs::read_to_string(tuned(dir.path())).expect("read");
    assert!(text.contains("flags = \"\"") && text.contains("ratio = 1.000"), "{text}");
    let c = good(dir.path(), &["f.ua", "-o", "-"]);
    assert!(c.contains("1.000 of the time of the defaults"), "{c}");
}

/// A cipher folder of one function, whose only vector says that `in` becomes `out`.
fn cipher(dir: &Path, output: &str) {
    let folder = dir.join("ciphers/toy");
    fs::create_dir_all(&folder).expect("made");
    let program = "node toy (x:u16x2, k:const u16x2) returns (y:u16x2)\n\
                   let\n  y = (x[0] ^ k[0], x[1] ^ (k[1] <<< 4))\ntel\n";
    fs::write(folder.join("toy.ua"), program).expect("written");
    let description = "title = \"Toy\"\nspec = \"here\"\nsource = \"toy.ua\"\n\n[[function]]\n\
                       name = \"toy_encrypt\"\nnode = \"toy\"\nslicings = [\"V\", \"B\"]\n\
                       input = { param = \"x\", bytes = \"be\" }\n\
                       output = { param = \"y\", bytes = \"be\" }\n\
                       key = { param = \"k\", bytes = \"be\" }\nvectors = \"vectors.txt\"\n\
                       direction = \"encrypt\"\n";
    fs::write(folder.join("cipher.toml"), description).expect("written");
    let vector = format!("key = 0123abcd\nin = 00010002\nout = {output}\n");
    fs::write(folder.join("vectors.txt"), vector).expect("written");
}

#[test]
fn a_cipher_is_tuned_by_its_vectors() {
    let dir = tempfile::tempdir().expect("a folder");
    cipher(dir.path(), "0122bcd8");
    let search =
        ["tune", "ciphers/toy", "--target", "gp64", "--goal", "bytes", "--time-limit", "3s"];
    let said = good(dir.path(), &search);
    assert!(said.contains("V: ") && said.contains("B: "), "{said}");
    let home = dir.path().join("ciphers/toy");
    let text = fs::read_to_string(tuned(&home)).expect("read");
    assert!(text.contains("entry = \"toy\"") && text.contains("goal = \"bytes\""), "{text}");
    let c = good(dir.path(), &["ciphers/toy/toy.ua", "-V", "-o", "-"]);
    assert!(c.contains("Tuned: tuned/gp64-"), "{c}");
}

#[test]
fn a_candidate_that_computes_something_else_is_a_fault_and_no_result() {
    let dir = tempfile::tempdir().expect("a folder");
    cipher(dir.path(), "0122bcd9");
    let output =
        usubac(dir.path(), &["tune", "ciphers/toy", "--target", "gp64", "--time-limit", "60s"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("something else") && errors.contains("another result"), "{errors}");
    let entries = fs::read_dir(dir.path().join("ciphers/toy/tuned")).expect("a folder");
    let names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, [".state"]);
}

/// Starts a long search and waits until something was measured.
#[cfg(unix)]
fn begun(dir: &Path, tmp: &Path) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(["tune", "f.ua", "--target", "gp64", "-V", "--time-limit", "10m"])
        .current_dir(dir)
        .env("TMPDIR", tmp)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("usubac runs");
    let start = Instant::now();
    while measurements(dir) == 0 {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing is measured");
        thread::sleep(Duration::from_millis(10));
    }
    child
}

/// Lines of the record.
#[cfg(unix)]
fn measurements(dir: &Path) -> usize {
    let Ok(entries) = fs::read_dir(dir.join("tuned/.state")) else { return 0 };
    let texts = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        (path.extension()? == "jsonl").then(|| fs::read_to_string(path).unwrap_or_default())
    });
    texts.map(|text| text.matches('\n').count()).sum()
}

#[test]
#[cfg(unix)]
fn an_interrupted_search_cleans_up_and_goes_on() {
    let dir = folder();
    let tmp = tempfile::tempdir().expect("a folder");
    let mut child = begun(dir.path(), tmp.path());
    child.kill().expect("killed");
    child.wait().expect("it ends");
    let killed = measurements(dir.path());
    assert!(killed > 0);

    let tmp = tempfile::tempdir().expect("a folder");
    let child = begun(dir.path(), tmp.path());
    let id = child.id().to_string();
    // Long enough for the handler to be there, with or without entries in the record.
    thread::sleep(Duration::from_secs(1));
    assert!(Command::new("kill").args(["-INT", &id]).status().is_ok_and(|s| s.success()));
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("interrupted; what was measured is kept"), "{errors}");
    assert!(errors.contains(&format!("{killed} measurements are there already")), "{errors}");
    assert_eq!(fs::read_dir(tmp.path()).expect("a folder").count(), 0, "it leaves nothing behind");

    let kept = measurements(dir.path());
    let output =
        usubac(dir.path(), &["tune", "f.ua", "--target", "gp64", "-V", "--time-limit", "0"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains(&format!("{kept} measurements are there already")), "{errors}");
    assert!(tuned(dir.path()).is_file());
}

/// Whether a tool is there; says so if it is not.
fn has(tool: &str) -> bool {
    let mut command = Command::new(tool);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    let found = command.status().is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: there is no {tool}");
    }
    found
}

/// Writes a `build.ninja` of few candidates.
fn plan(dir: &Path, launcher: &str) {
    let mut args =
        vec!["tune", "f.ua", "--target", "gp64", "-V", "--ninja", "farm", "--points", "8"];
    args.extend(["--launcher", launcher]);
    let said = good(dir, &args);
    assert!(said.contains("ninja -k 0 -C farm") && said.contains("--from farm"), "{said}");
}

/// Objects that should be there.
fn planned(dir: &Path) -> Vec<PathBuf> {
    let list = fs::read_to_string(dir.join("farm/candidates.txt")).expect("a list");
    let ids = list.lines().map(|line| line.split('\t').next().expect("a name").to_string());
    ids.map(|id| dir.join("farm/o").join(id + ".o")).collect()
}

fn measured(dir: &Path, all: usize, there: usize) {
    let args = ["tune", "f.ua", "--target", "gp64", "-V", "--from", "farm", "--time-limit", "4s"];
    let output = usubac(dir, &args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains(&format!("{there} of {all} objects are there")), "{errors}");
    assert_eq!(errors.matches("missing: ").count(), (all - there).min(11), "{errors}");
    assert!(tuned(dir).is_file());
}

#[test]
fn ninja_compiles_the_candidates_and_tune_measures_those_that_are_there() {
    if !has("ninja") {
        return;
    }
    let dir = folder();
    plan(dir.path(), "");
    let mut ninja = Command::new("ninja");
    let output = ninja.args(["-k", "0", "-C", "farm"]).current_dir(dir.path()).output();
    let output = output.expect("ninja runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let objects = planned(dir.path());
    assert!(objects.len() >= 4 && objects.iter().all(|path| path.is_file()));
    // An object that a farm loses is no candidate.
    fs::remove_file(&objects[1]).expect("removed");
    measured(dir.path(), objects.len(), objects.len() - 1);
}

/// A compile server on loopback that ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Server {
        let port = free_port();
        let child = Command::new("distccd")
            .args(["--daemon", "--no-detach", "--listen", "127.0.0.1", "--allow", "127.0.0.1"])
            .args(["--jobs", "2", "--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("distccd runs");
        let server = Server { child, port };
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(30), "distccd does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        server
    }

    fn stop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        // It ends its helpers if it is asked to end, and leaves them alone if it is killed.
        let id = self.child.id().to_string();
        let asked = Command::new("kill").arg(id).status().is_ok_and(|status| status.success());
        if !asked {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
    listener.local_addr().expect("an address").port()
}

/// A farm of hosts at work.
fn farm(dir: &Path, hosts: &str) -> Child {
    fs::create_dir_all(dir.join("distcc")).expect("a folder for locks");
    Command::new("ninja")
        .args(["-k", "0", "-j", "2", "-C", "farm"])
        .env("DISTCC_HOSTS", hosts)
        .env("DISTCC_DIR", dir.join("distcc"))
        .env("DISTCC_VERBOSE", "1")
        .env("DISTCC_LOG", dir.join("log"))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("ninja runs")
}

fn has_farm() -> bool {
    ["ninja", "distcc", "distccd"].into_iter().all(has)
}

#[test]
fn distcc_compiles_on_loopback_and_a_host_that_is_away_costs_nothing_but_time() {
    if !has_farm() {
        return;
    }
    let dir = folder();
    plan(dir.path(), "distcc");
    let server = Server::start();
    let hosts = format!("127.0.0.1:{} 127.0.0.1:{}", free_port(), server.port);
    let status = farm(dir.path(), &hosts).wait().expect("ninja ends");
    assert!(status.success());
    let objects = planned(dir.path());
    assert!(objects.iter().all(|path| path.is_file()));
    let log = fs::read_to_string(dir.path().join("log")).expect("distcc keeps a log");
    let port = server.port;
    assert!(log.contains(&format!("127.0.0.1:{port} completed ok")), "nothing was sent: {log}");
    measured(dir.path(), objects.len(), objects.len());
}

#[test]
fn a_host_that_dies_in_the_middle_costs_nothing_but_time() {
    if !has_farm() {
        return;
    }
    let dir = folder();
    plan(dir.path(), "distcc");
    let objects = planned(dir.path());
    let mut server = Server::start();
    let mut ninja = farm(dir.path(), &format!("127.0.0.1:{}", server.port));
    let start = Instant::now();
    while !objects.iter().any(|path| path.is_file()) {
        assert!(start.elapsed() < Duration::from_secs(120), "the farm makes nothing");
        thread::sleep(Duration::from_millis(5));
    }
    server.stop();
    assert!(ninja.wait().expect("ninja ends").success());
    assert!(objects.iter().all(|path| path.is_file()));
    measured(dir.path(), objects.len(), objects.len());
}
