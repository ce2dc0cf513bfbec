//! The package of Python, by its own tests: pytest on the module that cargo built for this test.
//!
//! ```text
//! python/src/usuba/*.py ─┐
//! libusuba_python.so ────┴→ a folder with the package → python -m pytest python/tests
//! ```
//!
//! Without a Python that has NumPy and pytest the test is skipped by name; `scripts/setup` makes an
//! environment with both. `scripts/python` builds the wheel, and tests it alike.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use usuba_gen::asks_rarely;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The folder of the tests' own binaries, such as `target/debug/deps`.
fn built() -> PathBuf {
    let own = std::env::current_exe().expect("the test has a path");
    own.parent().expect("it is in a folder").to_path_buf()
}

/// A Python with the packages of the tests: `PYTHON`, the environment of `scripts/setup`, or the
/// first one in the path.
fn python() -> Option<PathBuf> {
    let here = built().join("../../python/bin/python");
    let given = std::env::var_os("PYTHON").map(PathBuf::from);
    let all = given.into_iter().chain([here, "python3".into()]);
    let has_packages = |python: &PathBuf| {
        let mut command = Command::new(python);
        let output = command.args(["-c", "import numpy, pytest"]).output();
        output.is_ok_and(|output| output.status.success())
    };
    all.into_iter().find(has_packages)
}

/// Copies the files of the package, and the module.
fn package(to: &Path) {
    let from = root().join("python/src/usuba");
    let to = to.join("usuba");
    fs::create_dir(&to).expect("a folder");
    for entry in fs::read_dir(from).expect("the package") {
        let path = entry.expect("a file").path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("copied");
        }
    }
    let module = built().join(format!("{DLL_PREFIX}usuba_python{DLL_SUFFIX}"));
    fs::copy(&module, to.join("_core.abi3.so")).expect("cargo built the module");
}

#[test]
fn the_package_passes_its_tests() {
    let Some(python) = python() else {
        return println!("skipped: the package of Python needs NumPy and pytest");
    };
    let room = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let place = tempfile::tempdir_in(room).expect("a folder");
    package(place.path());
    let mut command = Command::new(&python);
    command.args(["-m", "pytest", "-c", "python/pyproject.toml", "python/tests"]);
    if asks_rarely!("every cipher for every target") {
        command.arg("--whole");
    }
    // Shared objects stay there from run to run.
    let objects = room.join("python-objects");
    let scratch =
        [("PYTHONPATH", place.path()), ("TMPDIR", place.path()), ("USUBA_PYTHON", &objects)];
    command.envs(scratch).env("PYTHONDONTWRITEBYTECODE", "1").env("USUBA_ROOT", root());
    let output = command.current_dir(root()).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains(" passed"), "{said}");
}
