//! One test per file of `tests/`. `BLESS=1` rewrites what a file says to what it should say.
//! Folders named `include` hold files that others include.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no test under {}", root.display());
    let trial = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
        Trial::test(name.to_string_lossy().into_owned(), move || check(&path))
    };
    libtest_mimic::run(&Arguments::from_args(), files.into_iter().map(trial).collect()).exit_code()
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "include") {
            find(&path, files);
        } else if path.extension().is_some_and(|e| e == "ua") {
            files.push(path);
        }
    }
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let wanted = filetests::wanted(path, &text)?;
    if wanted == text {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return fs::write(path, wanted).map_err(|e| Failed::from(e.to_string()));
    }
    Err(filetests::difference(&wanted, &text).into())
}
