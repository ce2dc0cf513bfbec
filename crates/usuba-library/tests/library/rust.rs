//! The Rust crate: its own tests and examples, programs that use it, and a library without `std`.
//!
//! They are one workspace in the folder for temporary files of this build, so that a second run
//! compiles only changed crates. Versions of dependencies are the versions of this repository, and
//! come from the cache of Cargo; only if they are not there Cargo fetches them.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use usuba_gen::asks;

use usuba::isa;
use usuba_library::{File, Request};
use usuba_run::cc::{self, Family};

use super::beside;
use super::subject::{request, root, run};

/// The oracle crates and cases, as this package asks for them.
fn oracles() -> String {
    let own = include_str!("../../Cargo.toml");
    let (_, list) = own.split_once("# Oracles").expect("they have a heading");
    let lines = list.lines().skip(1).take_while(|line| !line.starts_with('['));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Writes only files that changed: Cargo does not recompile sources that are older than their
/// product.
fn write(folder: &Path, files: &[File]) {
    for File { path, text } in files {
        let path = folder.join(path);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder");
        fs::write(path, text).expect("the folder can be written");
    }
}

/// Removes files of earlier runs, such as another set of ciphers.
fn clean(folder: &Path, wanted: &BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            clean(&path, wanted);
        } else if !wanted.contains(&path) {
            fs::remove_file(path).expect("it can be removed");
        }
    }
}

struct Workspace {
    folder: PathBuf,
}

impl Workspace {
    /// A crate of these ciphers for these targets with its users, and the packages of `tests`.
    fn new(name: &str, ciphers: &[&str], targets: &[&str], tests: &[&str], packages: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let all = usuba_ciphers::find(&root()).expect("the folders can be read");
        let wanted = |cipher: &usuba_ciphers::Cipher| {
            let name = cipher.folder.file_name().expect("a name").to_string_lossy().into_owned();
            ciphers.is_empty() || ciphers.contains(&&*name)
        };
        let all: Vec<_> = all.into_iter().filter(wanted).collect();
        let mut request = request("usuba_");
        request.targets.retain(|t| targets.is_empty() || targets.contains(&t.name));
        let request = Request { version: "0.1.0".into(), ..request };
        let files = usuba_library::rust(&request, &all, &mut |_| {}).expect("it compiles");
        let mut all: Vec<File> = files
            .into_iter()
            .map(|file| File { path: format!("usuba-ciphers/{}", file.path), text: file.text })
            .collect();
        let head = |name: &str| {
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\n\
                 usuba-ciphers = {{ path = \"../usuba-ciphers\", features = [\"zeroize\"] }}\n\n"
            )
        };
        let no_std = "[lib]\npath = \"no_std.rs\"\ncrate-type = [\"staticlib\"]\ntest = false\n";
        let mut add = |path: &str, text: String| all.push(File { path: path.into(), text });
        let text = |path: &str| fs::read_to_string(beside().join(path)).expect("it is there");
        // The profile of this repository, so that dependencies are compiled once for both.
        let workspace = "[workspace]\nresolver = \"3\"\n\
                         members = [\"usuba-ciphers\", \"user\", \"no-std-user\"]\n\n\
                         [profile.dev]\ndebug = \"line-tables-only\"\n";
        add("Cargo.toml", workspace.into());
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        add("Cargo.lock", fs::read_to_string(lock).expect("versions are fixed"));
        let user = format!("{}[dev-dependencies]\n{packages}", head("user"));
        add("user/Cargo.toml", user);
        add("user/src/main.rs", text("examples/rust.rs"));
        for test in tests {
            add(&format!("user/tests/{test}"), text(&format!("rust/user/tests/{test}")));
        }
        add("no-std-user/Cargo.toml", head("no-std-user") + no_std);
        add("no-std-user/no_std.rs", text("rust/user/no_std.rs"));
        let wanted: BTreeSet<PathBuf> = all.iter().map(|file| folder.join(&file.path)).collect();
        for package in ["usuba-ciphers", "user", "no-std-user"] {
            clean(&folder.join(package), &wanted);
        }
        write(&folder, &all);
        Workspace { folder }
    }

    /// Runs cargo; without a network if that is possible.
    fn cargo(&self, arguments: &[&str]) -> String {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let command = |offline: &[&str]| {
            let mut command = Command::new(&cargo);
            command.args(arguments).args(offline);
            // Cargo must not inherit the environment of the run that started it.
            for (name, _) in env::vars_os() {
                let text = name.to_string_lossy();
                if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                    command.env_remove(&name);
                }
            }
            let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is below");
            command.env("CARGO_TARGET_DIR", target);
            command
        };
        let mut known = command(&["--offline"]);
        let known = known.current_dir(&self.folder).output();
        let output = known.expect("cargo is there");
        if output.status.success() {
            return String::from_utf8_lossy(&output.stdout).into_owned();
        }
        run(&self.folder, &mut command(&[]))
    }
}

/// Whether there is the compiler that build scripts need; says so if not.
fn there() -> bool {
    let found = cc::find_native(isa::ALL[0].name, Family::Any);
    if let Err(skip) = &found {
        println!("{skip}");
    }
    found.is_ok()
}

/// A block cipher, a stream cipher, a permutation, a cipher with a tweak, one whose blocks are longer
/// than vector registers, and hash functions: the tests of their crate, contracts, the example, and
/// a user without `std`.
#[test]
fn a_crate_is_built_tested_and_used() {
    if !there() {
        return;
    }
    let ciphers = [
        "chacha20poly1305",
        "clyde",
        "curve25519",
        "gimli",
        "keccak",
        "rectangle",
        "sha2",
        "skein",
        "slh_dsa",
        "threefish",
    ];
    let workspace = Workspace::new("crate", &ciphers, &["gp64", "avx2"], &["contracts.rs"], "");
    let text = workspace.cargo(&["test", "-p", "usuba-ciphers", "-p", "user"]);
    let tests = ["chacha20", "chacha20poly1305", "clyde128", "gimli", "rectangle80", "sha512"];
    let sponges = ["sha3_256", "shake128", "cshake256", "kmac128", "turboshake128", "kt256"];
    let others = ["ed25519", "skein512", "slh_dsa_sha2_128f", "threefish1024", "x25519"];
    let others = others.into_iter().chain(["keys_are_wiped"]);
    for name in tests.into_iter().chain(sponges).chain(others) {
        assert!(
            text.contains(&format!("test {name} ... ok")) || !text.contains("running"),
            "{text}"
        );
    }
    let text = workspace.cargo(&["run", "-p", "user"]);
    assert!(text.contains("Whoever has the same key and nonce reads this again."), "{text}");
    let abort = ["--", "-C", "panic=abort"];
    workspace.cargo(&[&["rustc", "-p", "no-std-user"][..], &abort].concat());
}

/// All ciphers for all targets, and the same generic code with the crates of RustCrypto, in the
/// long run.
#[test]
fn a_crate_of_all_ciphers_agrees_with_others() {
    if !asks!() || !there() {
        return;
    }
    let tests = ["curve.rs", "oracles.rs"];
    let workspace = Workspace::new("crate-of-all", &[], &[], &tests, &oracles());
    workspace.cargo(&["test", "-p", "usuba-ciphers", "-p", "user"]);
}
