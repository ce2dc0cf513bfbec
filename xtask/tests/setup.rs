//! `scripts/setup` on machines that are made of a few scripts: its installations, its messages, and
//! the conditions under which it gives up.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tools that every Debian has.
const TOOLS: &[&str] =
    &["bash", "mktemp", "uname", "cut", "sed", "tr", "paste", "awk", "grep", "rm", "cat", "chmod"];

/// Held by one machine at a time: a process that another test starts would inherit a script that is
/// still open for writing, and an open script cannot run.
static ALONE: Mutex<()> = Mutex::new(());

/// A folder that is the whole path of a machine.
struct Machine {
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    fn new(name: &str) -> Machine {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("an old folder can be removed");
        }
        fs::create_dir_all(&folder).expect("a folder can be made");
        let machine = Machine { folder, _alone: alone };
        let path = std::env::var_os("PATH").expect("there is a path");
        for tool in TOOLS {
            let found = std::env::split_paths(&path).map(|folder| folder.join(tool));
            let found = found.into_iter().find(|file| file.is_file()).expect("a usual tool");
            symlink(found, machine.folder.join(tool)).expect("a link can be made");
        }
        machine.script("cargo", "exit 0");
        machine
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::write(&path, format!("#!{}/bash\n{text}\n", self.folder.display())).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
    }

    /// Makes root of the user, and gives it an `apt-get` that notes its calls and then runs
    /// `install` for each package, called `$p`.
    fn with_apt(self, install: &str) -> Machine {
        self.script("id", "echo 0");
        self.script("apt-cache", "[ \"$2\" != clang-19 ]");
        let here = self.folder.display();
        let text = format!("echo \"$*\" >> {here}/calls\nfor p; do {install}; done");
        self.script("apt-get", &text);
        self
    }

    /// Exit status, output, and the packages that `apt-get` was asked for.
    fn setup(&self, variable: &str) -> (Option<i32>, String, String) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/setup");
        let output = Command::new(self.folder.join("bash"))
            .arg(script)
            .env_clear()
            .env("PATH", &self.folder)
            .env("USUBA_SETUP", variable)
            .output()
            .expect("bash runs");
        let text = [output.stdout, output.stderr].concat();
        let calls = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned(), calls)
    }
}

/// A compiler that always makes an executable.
const COMPILER: &str =
    "out=; for a; do [ \"$last\" = -o ] && out=$a; last=$a; done; echo > \"$out\"";

#[test]
fn without_a_compiler_it_stops_and_says_what_to_install() {
    let (status, said, _) = Machine::new("bare").setup("");
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("there is no working C compiler"), "{said}");
    assert!(
        said.contains("apt-get install gcc libc6-dev make clang gcc-riscv64-unknown-elf"),
        "{said}"
    );
    assert!(!said.contains("command not found"), "{said}");
}

#[test]
fn what_is_missing_is_installed_at_once() {
    let machine = Machine::new("apt");
    machine.script("cc.real", COMPILER);
    let here = machine.folder.display().to_string();
    let machine = machine.with_apt(&format!(
        "[ \"$p\" != gcc ] || {{ cat {here}/cc.real > {here}/gcc; chmod +x {here}/gcc; }}"
    ));
    let (status, said, calls) = machine.setup("");
    assert_eq!(status, Some(0), "{said}");
    let wanted = "gcc libc6-dev make clang gcc-riscv64-unknown-elf qemu-user \
                  gcc-aarch64-linux-gnu libc6-dev-arm64-cross lld-19 wasi-libc";
    let installs = calls.lines().find(|line| line.contains(" install ")).unwrap_or_default();
    assert!(installs.contains(wanted), "{calls}");
    assert!(said.contains("target neon is skipped"), "{said}");
}

#[test]
fn one_bad_package_costs_only_itself() {
    let machine = Machine::new("bad");
    machine.script("gcc", COMPILER);
    let machine = machine.with_apt("[ \"$p\" != clang ] || exit 100");
    let (status, said, calls) = machine.setup("");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("clang cannot be installed"), "{said}");
    assert!(
        calls.lines().any(|line| line.ends_with("--no-install-recommends qemu-user")),
        "{calls}"
    );
}

#[test]
fn it_only_looks_when_asked_to() {
    let machine = Machine::new("look");
    machine.script("gcc", COMPILER);
    let machine = machine.with_apt("exit 100");
    let (status, said, calls) = machine.setup("check");
    assert_eq!((status, calls.as_str()), (Some(0), ""), "{said}");
}

#[test]
fn nothing_is_done_when_nothing_is_missing() {
    let machine = Machine::new("whole").with_apt("exit 100");
    machine.script("gcc", COMPILER);
    machine.script("clang", COMPILER);
    for program in
        ["make", "time", "ninja", "valgrind", "python3", "tree-sitter", "node", "npm", "chromium"]
    {
        machine.script(program, "exit 0");
    }
    // Each line of the table names a compiler or an emulator.
    let table = include_str!("../../scripts/toolchains");
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split('|').nth(4).and_then(|names| names.split(' ').next());
        machine.script(name.expect("a line names a program"), COMPILER);
    }
    let (status, said, calls) = machine.setup("");
    assert_eq!((status, said.as_str(), calls.as_str()), (Some(0), "", ""));
}
