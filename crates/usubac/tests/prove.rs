//! `--prove`: its messages, and that output does not depend on it. `usubac prove`: ciphers from
//! their source to the final IR.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use usuba_gen::{asks_rarely, level};

fn usubac(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    command.args(args).current_dir(dir).output().expect("usubac runs")
}

const PROGRAM: &str = "node g (x:u16) returns (y:u16) let y = (x <<< 5) ^ ~x tel
node f (a:u16, k:const u16[8]) returns (b:u16)
vars s:u16[9]
let
  s[0] = a;
  forall i in [0,7] { s[i+1] = g(s[i]) ^ k[i] }
  b = s[8]
tel";

#[test]
fn all_passes_of_a_compilation_are_proved() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("f.ua"), PROGRAM).expect("written");
    for flags in [&["-V"][..], &["-B"], &["-V", "--unroll=all"], &["-V", "--interleave-grain", "2"]]
    {
        let plain = usubac(dir.path(), &[&["f.ua", "-o", "-"], flags].concat());
        let proved = usubac(dir.path(), &[&["f.ua", "-o", "-", "--prove"], flags].concat());
        assert!(proved.status.success(), "{flags:?}");
        assert_eq!(plain.stdout, proved.stdout, "{flags:?}");
        let text = String::from_utf8(proved.stderr).expect("UTF-8");
        let count = text.strip_prefix("proved: ").and_then(|rest| rest.split(' ').next());
        let count: usize = count.and_then(|n| n.parse().ok()).expect("a number of passes");
        assert!(count > 5 && text.contains("times as long"), "{text}");
    }
}

#[test]
fn a_single_pass_can_be_proved() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("f.ua"), PROGRAM).expect("written");
    let flags = ["f.ua", "-O0", "--prove", "--skip", "interleave", "-o", "f.c"];
    let output = usubac(dir.path(), &flags);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(text.starts_with("proved: 1 pass, "), "{text}");
    assert!(dir.path().join("f.c").exists());
}

fn ciphers() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn one_cipher_of_each_slicing_is_proved_from_its_source() {
    for (file, flags) in [
        ("chacha20/chacha20.ua", "-V --target avx2"),
        ("aes/aes_h.ua", "-H --target avx512"),
        ("rectangle/rectangle.ua", "-B --target gp64"),
    ] {
        let path = ciphers().join(file).display().to_string();
        let flags: Vec<&str> = flags.split(' ').collect();
        let output = usubac(Path::new("."), &[&["prove", &path], &flags[..]].concat());
        let said = text(&output.stdout);
        assert!(output.status.success(), "{file}: {said}{}", text(&output.stderr));
        assert!(said.lines().next().is_some_and(|line| line.ends_with(": PROVED")), "{said}");
        for part in ["proved to be the source", "passes", "in every lane", "trusted"] {
            assert!(said.contains(part), "{file}: {said}");
        }
    }
}

#[test]
fn a_selection_of_nothing_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = usubac(dir.path(), &["prove", "chacha20", "--slicing", "H", "--no-cache"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    let errors = text(&output.stderr);
    assert!(errors.contains("no function has these slicings on these targets"), "{errors}");
}

#[test]
fn contracts_have_lines_of_their_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = ciphers().join("../arithmetic/poly1305/limbs26.ua");
    let program = std::fs::read_to_string(file).expect("a program");
    std::fs::write(dir.path().join("p.ua"), &program).expect("a file");
    let proved = |flags: &[&str]| {
        let output = usubac(dir.path(), &[&["prove", "p.ua"], flags].concat());
        let said = text(&output.stdout);
        assert!(output.status.success(), "{said}{}", text(&output.stderr));
        said
    };
    let names = |said: &str| -> Vec<String> {
        let lines = said.lines().filter_map(|line| line.trim_start().strip_prefix("contract "));
        lines.filter_map(|line| Some(line.split_whitespace().next()?.to_string())).collect()
    };
    assert_eq!(names(&proved(&[])), ["step", "twice", "reduce", "unpack", "tag"]);
    let said = proved(&["--entry", "reduce"]);
    assert_eq!(names(&said), ["reduce"], "only the contracts that the entry reaches");
    assert!(said.contains("proved by intervals, polynomials, cases in "), "{said}");
    let output = usubac(dir.path(), &["prove", "p.ua", "--entry", "reduce", "--format=json"]);
    let said = text(&output.stdout);
    let claim = r#"{"kind":"contract","subject":"reduce","verdict":"PROVED","seconds":"#;
    assert!(said.contains(claim), "{said}");
    // A contract that does not hold has an input at its line.
    let wrong = program.replace("chain(h, 5);", "chain(h, 4);");
    std::fs::write(dir.path().join("p.ua"), &wrong).expect("a file");
    let output = usubac(dir.path(), &["prove", "p.ua", "--entry", "reduce"]);
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("U1003") && said.contains("ensures fe(r) < 2^130 - 5"), "{said}");
    assert!(said.contains("on the left") && said.contains("for a = (0x3fffffb, "), "{said}");
}

/// A program of enough operators that without links two instances would be interleaved.
#[test]
fn links_of_the_text_and_of_the_command_line_are_alike() {
    let rounds = "y := step(y) ^ (x >>> 3) ^ (y >>> 5);\n".repeat(12);
    let program = |links: &str| {
        format!(
            "node step (x:u32) returns (y:u32) let y = x + (x <<< 7) tel\n\
             node mix (x:u32) returns (y:u32)\n{links}\nlet y = x;\n{rounds} tel\n"
        )
    };
    let dir = tempfile::tempdir().expect("a folder");
    let run = |name: &str, links: &str, flags: &[&str]| {
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("p.ua"), program(links)).expect("a file");
        let written = usubac(&folder, &[&["p.ua", "-V", "-o", "p.c"], flags].concat());
        assert!(written.status.success(), "{}", text(&written.stderr));
        let c = std::fs::read_to_string(folder.join("p.c")).expect("the C");
        let proved = usubac(&folder, &[&["prove", "p.ua", "-V"], flags].concat());
        let said = text(&proved.stdout);
        assert!(said.contains(": PROVED\n") && said.contains("callee "), "{said}");
        c[c.find("*/").expect("a header")..].to_string()
    };
    let by_text = run("text", "link step", &[]);
    assert!(by_text.contains("void step("), "{by_text}");
    assert_eq!(by_text, run("flag", "", &["--link", "step"]));
    // A kernel of bytes takes no words.
    let bytes = program("").replace("step (x:u32)", "step (x:u32 le)");
    std::fs::write(dir.path().join("p.ua"), bytes).expect("a file");
    let refused = usubac(dir.path(), &["p.ua", "-V", "--link", "step"]);
    let said = text(&refused.stderr);
    assert!(said.contains("U0208") && said.contains("`step` has ports of bytes"), "{said}");
}

#[test]
fn faults_in_ciphers_are_refuted() {
    for (file, flags, fault, after) in [
        ("chacha20/chacha20.ua", "-V", "rotation@lower", "after lowering"),
        ("rectangle/rectangle.ua", "-H", "gate@lower", "after lowering"),
        ("rectangle/rectangle.ua", "-B", "ports@cse", "after the pass cse"),
        ("present/present.ua", "-B", "gate@lower", "after lowering"),
    ] {
        let path = ciphers().join(file).display().to_string();
        let output =
            usubac(Path::new("."), &["prove", &path, flags, "--target", "avx2", "--plant", fault]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{file}: {said}{}", text(&output.stderr));
        assert!(said.contains("REFUTED") && said.contains(after), "{file}: {said}");
        assert!(said.contains(" gives ") && said.contains(" and should give "), "{file}: {said}");
    }
}

/// A compile proves nothing, so its output is the same with a certificate, genuine or forged.
#[test]
fn compiles_read_no_certificates() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("f.ua"), PROGRAM).expect("written");
    let compiled =
        || ["c", "h"].map(|emit| usubac(dir.path(), &["f.ua", "-V", "--emit", emit, "-o", "-"]));
    let before = compiled();
    assert!(before.iter().all(|output| output.status.success()));
    assert!(usubac(dir.path(), &["prove", "f.ua", "-V", "--certify"]).status.success());
    assert_eq!(compiled(), before);
    let path = dir.path().join("proof/gp64.toml");
    let certificate = std::fs::read_to_string(&path).expect("a certificate");
    let object =
        "[[proof.object]]\nby = \"gcc 99\"\nflags = \"-O3\"\nsymbol = \"f\"\nsha256 = \"00\"\n";
    std::fs::write(&path, certificate + "\n" + object).expect("written");
    assert_eq!(compiled(), before);
    assert_eq!(usubac(dir.path(), &["verify", "f.ua"]).status.code(), Some(1));
}

/// Everything, with its objects, in whole runs; else two small ciphers on two targets, and the
/// objects of the folders that the share has.
#[test]
fn folders_are_proved_and_what_was_proved_is_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let (folder, cache) = (ciphers().display().to_string(), dir.path().join("cache"));
    let cache = cache.display().to_string();
    let prove = |more: &str| {
        let mut args = vec!["prove", "--ciphers", &folder, "--cache", &cache];
        args.extend(more.split(' '));
        for again in [false, true] {
            let output = usubac(dir.path(), &args);
            let said = text(&output.stdout);
            assert!(output.status.success(), "{said}{}", text(&output.stderr));
            let last = said.lines().find(|line| line.contains(" PROVED in ")).unwrap_or_default();
            let count = last.split(' ').next().and_then(|count| count.parse::<usize>().ok());
            let count = count.expect("a number of proofs");
            assert!(count > 0 && last.starts_with(&format!("{count} of {count} PROVED")), "{last}");
            assert_eq!(last.contains(&format!("{count} of them before")), again, "{last}");
        }
    };
    if level::is_whole() {
        return prove("--all --binary");
    }
    prove("rectangle trivium --target gp64,avx512");
    let entries = [ciphers(), ciphers().join("../arithmetic")].map(std::fs::read_dir);
    let folders = entries.into_iter().flat_map(|entries| entries.expect("a folder"));
    let names = folders.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    names.dedup();
    // Schemes that only put other folders together have no kernel of their own.
    let description =
        |name: &str| std::fs::read_to_string(ciphers().join(name).join("cipher.toml"));
    names.retain(|name| {
        description(name).map_or(true, |text| text.contains("[[function]]"))
            || ciphers().join("../arithmetic").join(name).is_dir()
    });
    for name in names.iter().filter(|name| asks_rarely!("objects of {name}")) {
        prove(&format!("{name} --binary"));
    }
}

/// The files of a cache.
fn kept(cache: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = inside(cache).flat_map(|shelf| inside(&shelf.path())).map(|file| file.path());
    files.filter(|file| file.extension().is_none()).collect()
}

/// Another program with the same length and time proves all again, and a file in the place of
/// another one is no answer.
#[test]
fn caches_answer_only_their_own_questions() {
    let dir = tempfile::tempdir().expect("a folder");
    let program = |end: &str| {
        let copy =
            format!("cp \"$0\" usubac && printf {end} >> usubac && touch -t 202601010000 usubac");
        let mut shell = Command::new("sh");
        shell.args(["-c", &copy, env!("CARGO_BIN_EXE_usubac")]).current_dir(dir.path());
        assert!(shell.status().expect("a shell").success());
    };
    let before = || {
        let folder = ciphers().display().to_string();
        let mut command = Command::new(dir.path().join("usubac"));
        command.args(["prove", "rectangle", "--ciphers", &folder, "--cache", "cache", "-V"]);
        command.args(["--target", "gp64"]).current_dir(dir.path());
        let said = text(&command.output().expect("usubac runs").stdout);
        assert!(said.contains("4 of 4 PROVED"), "{said}");
        let count =
            said.split_once(" of them before").and_then(|(rest, _)| rest.rsplit(' ').next());
        count.map_or(0, |count| count.parse::<usize>().expect("a number"))
    };
    program("a");
    assert_eq!([(); 2].map(|()| before()), [0, 4]);
    program("b");
    assert_eq!([(); 2].map(|()| before()), [0, 4]);
    program("a");
    assert_eq!(before(), 4);
    let files = kept(&dir.path().join("cache"));
    let contents: Vec<_> = files.iter().map(|file| std::fs::read(file).expect("read")).collect();
    for (file, content) in files.iter().zip(contents.iter().cycle().skip(1)) {
        std::fs::write(file, content).expect("written");
    }
    assert_eq!([(); 2].map(|()| before()), [0, 4]);
}

/// Proofs that finished before a run is stopped are not repeated.
#[test]
fn a_run_that_was_stopped_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let (folder, cache) = (ciphers().display().to_string(), dir.path().join("cache"));
    let flags = "trivium rectangle --target gp64,avx2 --jobs 1";
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    command.args(["prove", "--ciphers", &folder, "--cache", "cache"]);
    command.args(flags.split(' ')).current_dir(dir.path());
    let kept = || kept(Path::new(&cache)).len();
    let mut first = command.spawn().expect("usubac runs");
    while kept() == 0 && first.try_wait().expect("it runs").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    first.kill().expect("stopped");
    first.wait().expect("stopped");
    let before = kept();
    assert!(before > 0, "nothing is kept");
    let said = text(&command.output().expect("usubac runs").stdout);
    assert!(said.contains(&format!(", {before} of them before")), "{before}: {said}");
}
