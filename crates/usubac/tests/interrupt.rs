//! An interrupted command leaves no temporary file and no child behind.

#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Waits until something holds, and fails after a minute.
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(10));
    }
}

/// A compiler that never ends is interrupted.
#[test]
fn an_interrupt_ends_children_and_removes_temporary_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("tmp")).expect("a folder");
    fs::write(path("f.ua"), "node f (x:u32) returns (y:u32) let y = ~x tel").expect("a program");
    // Its child has another name, so that both are looked for.
    let script =
        format!("#!/bin/sh\necho $$ > {0}.tmp\nmv {0}.tmp {0}\nsleep 600\n", path("pid").display());
    fs::write(path("cc"), script).expect("a compiler");
    fs::set_permissions(path("cc"), Permissions::from_mode(0o755)).expect("it may run");
    let mut usubac = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(["run", "f.ua", "--engine", "native"])
        .current_dir(dir.path())
        .env("CC", path("cc"))
        .env("TMPDIR", path("tmp"))
        .env("USUBA_OBJECTS", path("objects"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("usubac runs");
    until("the compiler starts", || path("pid").exists());
    assert_eq!(fs::read_dir(path("tmp")).expect("a folder").count(), 1);
    let compiler = fs::read_to_string(path("pid")).expect("a number").trim().to_string();
    let status = Command::new("kill").arg(usubac.id().to_string()).status().expect("kill runs");
    assert!(status.success());
    assert_eq!(usubac.wait().expect("a status").code(), Some(130));
    assert_eq!(fs::read_dir(path("tmp")).expect("a folder").count(), 0);
    let process = Path::new("/proc").join(compiler).join("stat");
    let gone = || fs::read_to_string(&process).map_or(true, |stat| stat.contains(") Z "));
    until("the compiler ends", gone);
}

/// Without a compiler the message has all names and the variable.
#[test]
fn an_absent_compiler_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("f.ua"), "node f (x:u32) returns (y:u32) let y = ~x tel")
        .expect("it");
    let run = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(["run", "f.ua", "--engine", "native"])
        .current_dir(dir.path())
        .env("PATH", dir.path())
        .env_remove("CC")
        .env_remove("GCC")
        .env_remove("CLANG")
        .output()
        .expect("usubac runs");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{errors}");
    for part in ["looked for gcc; looked for clang, clang-19", "set CC to the path of one"] {
        assert!(errors.contains(part), "{errors}");
    }
}
