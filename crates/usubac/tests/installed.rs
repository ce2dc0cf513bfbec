//! The program alone: a copy of it, in an empty folder, without an environment.
//!
//! Whole runs also build packages, an archive and an installation.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use usuba_gen::{asks, asks_rarely};

/// A command line of each command, in an order in which later ones find the files of earlier ones.
const LINES: &[&str] = &[
    "generate man -o man",
    "generate completions -o completions",
    "generate headers -o headers",
    "explain U0201",
    "ciphers list",
    "ciphers show aes curve25519",
    "ciphers copy curve25519 skein gimli",
    "ciphers status gimli",
    "ciphers thresholds gimli --target gp64",
    "ciphers curves gimli",
    "check skein",
    "fmt gimli/gimli.ua",
    "run chacha20",
    "chacha20 -o plain.c",
    "build chacha20 -o chacha20.c",
    "prove rectangle80_encrypt",
    "prove gimli --target gp64 --slicing V",
    "prove gimli/gimli.ua --certify",
    "verify gimli/gimli.ua",
    "dist serpent --target gp64",
    "dist curve25519 skein --target gp64 -o copies",
    "dist --kind nacl -o nacl",
    "new mine",
    "synth --table 0,1,3,2 --node-limit 1000",
    "lsp --help",
    "explore rectangle80_encrypt --page page.html -o rectangle.html",
];

/// The parts of a page that `explore` fills.
const PAGE: &str = concat!(
    "<meta name=\"usuba-version\" content=\"",
    env!("CARGO_PKG_VERSION"),
    "\"><script type=\"application/json\" id=\"program\">null</script>"
);

/// A built-in experiment with C files.
const EXPERIMENT: &str = "bench --experiment threefish-chain --quick";

/// Command lines that run compiled code.
const WITH_A_COMPILER: &[&str] = &[
    "bench rectangle --target gp64 --no-timing",
    "demo --target gp64 --no-timing",
    "test gimli --target gp64",
    "tune ./gimli --time-limit 0",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a program alone with these arguments.
fn alone(program: &Path, line: &str, folder: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(line.split(' ')).current_dir(folder).env_clear();
    // Compilers are found there.
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("HOME", folder).output().expect("it runs")
}

#[test]
fn every_command_works_in_an_empty_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let (folder, program) = (place.path().join("empty"), place.path().join("usubac"));
    fs::create_dir(&folder).expect("a folder");
    fs::copy(env!("CARGO_BIN_EXE_usubac"), &program).expect("copied");
    fs::write(folder.join("page.html"), PAGE).expect("written");
    let has_compiler = Command::new("gcc").arg("--version").output().is_ok();
    let more = if has_compiler { WITH_A_COMPILER } else { &[] };
    let experiment = (has_compiler && asks!("experiment")).then_some(&EXPERIMENT);
    for line in LINES.iter().chain(more).chain(experiment) {
        let output = alone(&program, line, &folder);
        let errors = text(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
        assert!(!errors.contains("warning"), "{line}: {errors}");
    }
    // Each page is of a command, and its name begins a line.
    let lines: BTreeSet<String> =
        LINES.iter().chain(WITH_A_COMPILER).map(|line| line.replace(' ', "-") + "-").collect();
    for page in fs::read_dir(folder.join("man")).expect("pages") {
        let page = page.expect("a page").file_name().to_string_lossy().into_owned();
        let Some(name) = page.strip_prefix("usubac-") else { continue };
        let name = name.replace(".1", "-");
        assert!(lines.iter().any(|line| line.starts_with(&name)), "no line for {page}");
    }
    let same = |name: &str| {
        let written = fs::read_to_string(folder.join("headers").join(name)).expect(name);
        written == fs::read_to_string(root().join("include/usubac").join(name)).expect(name)
    };
    assert!(same("STD.h") && same("usubac_simd.h"));
}

/// A path of the checkout in the program would be a file that another machine does not have.
#[test]
fn the_program_names_no_path_of_the_checkout() {
    let program = fs::read(env!("CARGO_BIN_EXE_usubac")).expect("the program");
    let path = root().join("crates").display().to_string();
    let has = |path: &str| program.windows(path.len()).any(|window| window == path.as_bytes());
    assert!(!has(&path), "{path} is in the program");
}

/// A built-in cipher gives the same files as its folder, and so does its copy.
#[test]
fn built_in_ciphers_are_the_folders() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path();
    let program = Path::new(env!("CARGO_BIN_EXE_usubac"));
    let names = ["curve25519", "chacha20", "skein"];
    let ciphers = root().join("ciphers");
    let run = |line: &str| {
        let output = alone(program, line, folder);
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    };
    run(&format!("ciphers copy {} -o copies", names.join(" ")));
    for name in names {
        run(&format!("dist {name} --target gp64 -o built-in"));
        run(&format!("dist {} --target gp64 -o folder", ciphers.join(name).display()));
        run(&format!("dist copies/{name} --target gp64 -o copy"));
        for ending in ["c", "h"] {
            let file = format!("usuba_{name}.{ending}");
            let read =
                |place: &str| fs::read_to_string(folder.join(place).join(&file)).expect(&file);
            let built_in = read("built-in");
            assert!(built_in == read("folder") && built_in == read("copy"), "{file} differs");
        }
    }
}

#[test]
fn built_in_ciphers_are_not_written() {
    let place = tempfile::tempdir().expect("a folder");
    let program = Path::new(env!("CARGO_BIN_EXE_usubac"));
    for line in ["dist --measure gimli", "tune gimli", "prove --certify gimli"] {
        let output = alone(program, line, place.path());
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {errors}");
        let message = "error: `gimli` is built in and cannot be changed";
        assert!(errors.starts_with(message), "{line}: {errors}");
        assert!(errors.contains("help: run `usubac ciphers copy gimli`"), "{line}: {errors}");
    }
    let output = alone(program, "prove --all --certify", place.path());
    assert!(text(&output.stderr).contains("are built in"), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 0);
    let run = |line: &str| alone(program, line, place.path());
    assert!(run("ciphers copy gimli").status.success());
    let again = run("ciphers copy serpent gimli");
    assert!(text(&again.stderr).starts_with("error: gimli is there already; help: "));
    assert!(!place.path().join("serpent").exists(), "a part of the copies");
}

/// A script of the repository, in a copy of the environment.
fn script(line: &str, variables: &[(&str, &Path)]) {
    let mut words = line.split(' ');
    let mut command = Command::new(root().join(words.next().expect("a name")));
    command.args(words).current_dir(root()).envs(variables.iter().copied());
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
}

/// The names of the files below a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    let name = |path: &PathBuf| path.strip_prefix(folder).expect("below").display().to_string();
    let mut names: Vec<String> = found.iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn archives_are_equal_and_installations_are_removed() {
    if !asks_rarely!("two archives") {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name);
    for out in ["one", "two"] {
        script(&format!("scripts/archive {}", at(out).display()), &[]);
    }
    let names = files(&at("one"));
    assert_eq!(names.len(), 2, "{names:?}");
    for name in &names {
        let read = |out: &str| fs::read(at(out).join(name)).expect(name);
        assert!(read("one") == read("two"), "{name} differs");
    }
    let variables = [("DESTDIR", &*at("root")), ("PREFIX", Path::new("/usr"))];
    script("scripts/install", &variables);
    let program = at("root/usr/bin/usubac");
    let size = fs::metadata(&program).expect("the program").len();
    assert!(size < 20_000_000, "the program has {size} bytes");
    let installed = files(&at("root"));
    for file in ["share/man/man1/usubac-dist.1", "share/doc/usubac/LICENSE-MIT"] {
        assert!(installed.contains(&format!("usr/{file}")), "{file}: {installed:?}");
    }
    let folder = at("empty");
    fs::create_dir(&folder).expect("a folder");
    let output = alone(&program, "dist gimli", &folder);
    assert!(output.status.success(), "{}", text(&output.stderr));
    script("scripts/install --remove", &variables);
    assert_eq!(files(&at("root")), Vec::<String>::new());
}

/// Each package has all of its files: the compiler builds from the packages alone.
#[test]
fn packages_build() {
    if !asks!() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let run = |command: &mut Command| {
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    };
    let cargo = || Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let outside = ["filetests", "xtask", "documents", "usuba-gen"];
    let exclude = outside.iter().flat_map(|name| ["--exclude", name]);
    let mut package = cargo();
    package.args(["package", "--workspace", "--locked", "--no-verify", "--allow-dirty"]);
    package.args(exclude).arg("--target-dir").arg(place.path()).current_dir(root());
    run(&mut package);
    let unpacked = place.path().join("unpacked");
    fs::create_dir(&unpacked).expect("a folder");
    for name in files(&place.path().join("package")) {
        if name.ends_with(".crate") && !name.contains('/') {
            let file = place.path().join("package").join(name);
            run(Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(&unpacked));
        }
    }
    let mut check = cargo();
    check.args(["check", "--offline"]).current_dir(&unpacked);
    check.arg("--target-dir").arg(place.path().join("target"));
    for entry in fs::read_dir(&unpacked).expect("packages") {
        let folder = entry.expect("a package").path();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let (name, _) = name.rsplit_once('-').expect("a name and a version");
        match name {
            "usubac" => check.arg("--manifest-path").arg(folder.join("Cargo.toml")),
            name => check.arg("--config").arg(format!("patch.crates-io.{name}.path = {folder:?}")),
        };
    }
    run(&mut check);
}
