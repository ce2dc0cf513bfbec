//! `usubac prove --dist` on forged manifests, forged caches and damaged files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use toml::Table;
use usuba::ir::random::Random;
use usuba_gen::asks_rarely;
use usuba_run::cc::{self, Family};

/// The smallest output with functions that are proved.
const PACKAGE: &str = "usuba_poly1305";
const MANIFEST: &str = "usuba_poly1305.manifest.toml";

fn usubac(folder: &Path, arguments: &[&str]) -> Output {
    let ciphers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    let command = command.args(arguments).arg("--ciphers").arg(ciphers).current_dir(folder);
    command.output().expect("usubac runs")
}

fn prove(folder: &Path, file: &str, more: &[&str]) -> Output {
    usubac(folder, &[&["prove", "--dist", file], more].concat())
}

/// The output, its object, its archive and its shared object; `None` without a compiler.
fn made() -> Option<&'static Path> {
    static MADE: OnceLock<Option<TempDir>> = OnceLock::new();
    let make = || {
        let machine =
            cc::find_native("gp64", Family::Any).map_err(|skip| println!("{skip}")).ok()?;
        let folder = tempfile::tempdir().expect("a folder");
        let made = usubac(folder.path(), &["dist", "poly1305", "--target", "gp64"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let compile = |arguments: &[&str]| {
            let mut command = Command::new(&machine.compiler);
            let made = command.args(arguments).current_dir(folder.path()).status();
            assert!(made.expect("the compiler runs").success());
        };
        let (c, object) = (format!("{PACKAGE}.c"), format!("{PACKAGE}.o"));
        compile(&["-O2", "-fPIC", "-c", &c]);
        compile(&["-shared", &object, "-o", &format!("{PACKAGE}.so")]);
        let mut command = Command::new("ar");
        let command = command.args(["rc", &format!("{PACKAGE}.a"), &object]);
        let made = command.current_dir(folder.path()).status();
        assert!(made.is_ok_and(|status| status.success()), "there is a linker, and no ar");
        Some(folder)
    };
    MADE.get_or_init(make).as_ref().map(TempDir::path)
}

/// A folder with copies of the object and the manifest.
fn copied(made: &Path) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in [MANIFEST, "usuba_poly1305.o"] {
        fs::copy(made.join(name), folder.path().join(name)).expect("it is copied");
    }
    folder
}

/// The names in a folder, with sizes.
fn names(folder: &Path) -> BTreeSet<(String, u64)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let name = |entry: fs::DirEntry| {
        let size = entry.metadata().expect("a file").len();
        (entry.file_name().to_string_lossy().into_owned(), size)
    };
    entries.map(name).collect()
}

/// The only error of a run without rows.
fn error(output: &Output, about: &str) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{about}: {text}");
    assert!(output.stdout.is_empty(), "{about}");
    assert_eq!(text.matches("error: ").count(), 1, "{about}: {text}");
    assert!(text.starts_with("error: ") && text.len() < 2000, "{about}: {text}");
    text
}

#[test]
fn forged_manifests_are_refused() {
    let Some(made) = made() else { return };
    let folder = copied(made);
    let text = fs::read_to_string(made.join(MANIFEST)).expect("a manifest");
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let unit = text.find("[[unit]]").expect("a unit");
    let unit = &text[unit..text[unit + 1..].find("[[").expect("another") + unit + 1];
    let another = "the sources make another `usuba_poly1305.manifest.toml`: behind";
    let nested = format!("{text}\nx = {}", "[".repeat(100_000));
    let many = (0..100_000).map(|at| format!("[[unit]]\nsymbol = \"f{at}\"\n")).collect::<String>();
    let whole = (0..100_000).map(|at| unit.replace("poly_reduce", &format!("s{at}")));
    let forged: Vec<(String, &str)> = vec![
        (changed("usuba_poly_reduce", "usuba_poly_chain"), another),
        (changed("node = \"reduce\"", "node = \"chain\""), another),
        (changed("kind = \"kernel\"", "kind = \"blocks\""), another),
        (changed("words64.ua", "limbs26.ua"), another),
        (changed("size = 96", "size = 95"), another),
        (changed("bytes = 80", "bytes = 8"), another),
        (changed("secret = true", "secret = false"), another),
        (changed("name = \"memcpy\"", "name = \"memset\""), another),
        (changed("\nsha256 = \"", "\nsha256 = \"0"), another),
        (format!("{text}\n{unit}"), another),
        (changed("[\"gp64\"]", "[\"gp64\", \"avx2\"]"), another),
        (changed("[\"gp64\"]", "[\"gp65\"]"), "found the target \"gp65\""),
        (changed("folders = [\"poly1305\"]", "folders = [\"chacha20\"]"), another),
        (
            changed("folders = [\"poly1305\"]", "folders = [\"../ciphers/poly1305\"]"),
            "a cipher folder",
        ),
        (
            changed("folders = [\"poly1305\"]", "folders = [\"/\"]"),
            "expected a cipher folder below",
        ),
        (
            changed("folders = [\"poly1305\"]", "folders = [\"..\"]"),
            "expected a cipher folder below",
        ),
        (changed("folders = [\"poly1305\"]", "folders = []"), "found 0 folders"),
        (
            changed("folders = [\"poly1305\"]", "folders = [\"poly1305\", \"aes\"]"),
            "found 2 folders",
        ),
        (changed("package = \"usuba_", "package = \"../"), "found the package \"../poly1305\""),
        (changed("prefix = \"usuba_\"", "prefix = \"a;\""), "found the prefix \"a;\""),
        (changed("form = \"single\"", "form = \"double\""), "double"),
        (changed("format = 1", "format = 2"), "found format 2, expected 1"),
        (changed("version = \"", "version = \"9."), "found version \"9."),
        (changed("format = 1", "format = 1\nformat = 1"), "duplicate key"),
        (format!("{text}\n[dispatch]\ncell = \"a\"\n[dispatch]\n"), "duplicate key"),
        (format!("{text}\n[new]\n"), "unknown field `new`"),
        (format!("{text}\n{many}"), "missing field"),
        (format!("{text}\n{}", whole.collect::<String>()), "expected a manifest"),
        (nested, "recursion"),
        (text[..text.len() / 2].to_string() + "\"", "error: "),
        (String::new(), "missing field"),
    ];
    let before = names(folder.path());
    let check = |forged: &[u8], words: &str| {
        fs::write(folder.path().join(MANIFEST), forged).expect("it can be written");
        let found = error(&prove(folder.path(), "usuba_poly1305.o", &[]), words);
        assert!(found.contains(words), "{words}: {found}");
    };
    forged.iter().for_each(|(text, words)| check(text.as_bytes(), words));
    check(&[text.as_bytes(), b"# \xff\xfe"].concat(), "found no text");
    check(&vec![b'#'; (16 << 20) + 1], "found more than 16 MiB");
    fs::write(folder.path().join(MANIFEST), text).expect("it can be written");
    assert_eq!(names(folder.path()), before);
}

/// The rows without their times.
fn rows(output: &Output) -> Vec<Value> {
    let mut report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = report["members"][0]["rows"].as_array_mut().expect("rows");
    rows.iter_mut().for_each(|row| row["seconds"] = Value::Null);
    rows.clone()
}

/// The content of a file of the cache, by its number.
type Change<'a> = &'a dyn Fn(usize) -> Vec<u8>;

/// Copies the files of a folder.
fn copied_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copied_files(&entry.path(), &to),
            false => fs::copy(entry.path(), to).map(|_| ()).expect("it is copied"),
        }
    }
}

/// An answer that relies on the contract of a kernel is for this contract: the same object is
/// proved again for another one.
#[test]
fn a_changed_contract_is_another_question() {
    let Some(made) = made() else { return };
    let (folder, root) = (copied(made), Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    for name in ["ciphers/poly1305", "arithmetic/poly1305"] {
        copied_files(&root.join(name), &folder.path().join(name));
    }
    let reason = || {
        let more = ["--format=json", "--cache", "cache", "--function", "usuba_poly1305_tag"];
        let asked = [&["prove", "--dist", "usuba_poly1305.o", "--ciphers", "ciphers"][..], &more];
        let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
        let found = command.args(asked.concat()).current_dir(folder.path()).output();
        let rows = rows(&found.expect("usubac runs"));
        let row = rows.iter().find(|row| row["function"] == "usuba_poly1305_tag").expect("a row");
        row["answers"][4].clone()
    };
    let right = reason();
    assert!(right["sizes"].is_string(), "{right}");
    let path = folder.path().join("arithmetic/poly1305/words64.ua");
    let text = fs::read_to_string(&path).expect("a program");
    let wrong = text.replacen(
        "+ (num(w[6..7]) + 2^128) * clamped(k) mod",
        "+ num(w[6..7]) * clamped(k) mod",
        1,
    );
    assert_ne!(wrong, text);
    fs::write(&path, wrong).expect("written");
    let open = reason();
    let why = open["open"].as_str().unwrap_or_default();
    assert!(why.contains("is another one than the specification says"), "{open}");
    fs::write(&path, text).expect("written");
    assert_eq!(reason(), right);
}

/// Answers in the cache that belong to another question, or that are damaged, are proved again.
#[test]
fn forged_caches_are_not_believed() {
    let Some(made) = made() else { return };
    let folder = copied(made);
    let run =
        || rows(&prove(folder.path(), "usuba_poly1305.o", &["--format=json", "--cache", "cache"]));
    let right = run();
    let shelves = fs::read_dir(folder.path().join("cache")).expect("a cache");
    let shelves = shelves.map(|shelf| shelf.expect("a shelf").path());
    let files = shelves.flat_map(|shelf| fs::read_dir(shelf).expect("a shelf"));
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let kept: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).expect("a file")).collect();
    assert!(files.len() >= 4, "{files:?}");
    // Other answers with the right digest, for a statement with another field.
    let forged = |at: usize, field: &str| -> Vec<u8> {
        let text = std::str::from_utf8(&kept[at][32..]).expect("a text");
        let mut file: Table = text.parse().expect("two tables");
        let other = format!("0{}", file["statement"][field].as_str().expect("a text"));
        file["statement"][field] = other.into();
        file["found"]["answers"] = vec!["proved"; 5].into();
        let text = toml::to_string(&file).expect("it was one");
        [&Sha256::digest(&text)[..], text.as_bytes()].concat()
    };
    let next = |at: usize| kept[(at + 1) % kept.len()].clone();
    let changes: [(&str, Change); 9] = [
        ("swapped", &next),
        ("one byte", &|at| {
            let mut bytes = kept[at].clone();
            let last = bytes.len() - 1;
            bytes[last / 2] ^= 1;
            bytes
        }),
        ("short", &|at| kept[at][..40].to_vec()),
        ("build", &|at| forged(at, "build")),
        ("source", &|at| forged(at, "source")),
        ("program", &|at| forged(at, "program")),
        ("schedule", &|at| forged(at, "schedule")),
        ("function", &|at| forged(at, "function")),
        ("object", &|at| forged(at, "object")),
    ];
    for (what, change) in changes {
        for (at, file) in files.iter().enumerate() {
            fs::write(file, change(at)).expect("it can be written");
        }
        assert_eq!(run(), right, "{what}");
        // They are stored again.
        for (file, kept) in files.iter().zip(&kept) {
            let now = fs::read(file).expect("it is there again");
            let statement = |bytes: &[u8]| {
                let text = String::from_utf8(bytes[32..].to_vec()).expect("a text");
                text.split_once("seconds").expect("the last field").0.to_string()
            };
            assert_eq!(statement(&now), statement(kept), "{what}");
        }
    }
}

/// Files with a few changed bytes have rows, or one error.
#[test]
fn damaged_files_have_rows_or_one_error() {
    let Some(made) = made() else { return };
    let mut random = Random::new(22);
    let (mut errors, mut reports) = (0, 0);
    for round in 0..if asks_rarely!("many rounds") { 402 } else { 24 } {
        let ending = ["o", "a", "so"][round % 3];
        let name = format!("{PACKAGE}.{ending}");
        let folder = copied(made);
        let mut bytes = fs::read(made.join(&name)).expect("a file");
        for _ in 0..1 + random.below(4) {
            // Half of the damage is in headers and tables.
            let end = if round % 2 == 0 { 1024 } else { bytes.len() };
            let at = random.below(end);
            bytes[at] = random.word() as u8;
        }
        fs::write(folder.path().join(&name), bytes).expect("it can be written");
        let before = names(folder.path());
        let run = prove(folder.path(), &name, &["--format=json"]);
        match run.stdout.is_empty() {
            true => {
                error(&run, &format!("{name} in round {round}"));
                errors += 1;
            }
            false => {
                let text = String::from_utf8_lossy(&run.stderr);
                assert!(matches!(run.status.code(), Some(0 | 1)), "{name}, {round}: {text}");
                assert!(!text.contains("panicked"), "{name}, {round}: {text}");
                assert!(!rows(&run).is_empty());
                reports += 1;
            }
        }
        assert_eq!(names(folder.path()), before, "{name} in round {round}");
    }
    assert!(errors > 0 && reports > 0, "{errors} errors, {reports} reports");
}
