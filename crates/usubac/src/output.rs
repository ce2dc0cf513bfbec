//! Everything that is written: standard output, standard error, and files that appear whole or
//! not at all.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Failure;

/// Where a result goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    Stdout,
    File(PathBuf),
}

impl Place {
    /// `-` is standard output.
    pub fn new(path: &Path) -> Place {
        if path == Path::new("-") { Place::Stdout } else { Place::File(path.to_path_buf()) }
    }
}

/// Writes text to standard output. A reader that has gone away is a failure without a message.
pub fn to_stdout(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Silent,
        _ => Failure::program(format!("cannot write to standard output: {}", plain(&error))),
    })
}

/// Writes text to standard error. If even that fails there is nobody left to tell.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes several results; no file is replaced before all of them are written completely.
pub fn write_all(results: &[(Place, String)]) -> Result<(), Failure> {
    let mut staged = Vec::new();
    for (place, text) in results {
        if let Place::File(path) = place {
            staged.push(Staged::write(path, text)?);
        }
    }
    for (place, text) in results {
        if *place == Place::Stdout {
            to_stdout(text)?;
        }
    }
    staged.into_iter().try_for_each(Staged::publish)
}

/// A complete file beside its final place; removed unless it is published.
struct Staged {
    /// `None` once it is published, and for devices, which are written directly.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl Staged {
    fn write(path: &Path, text: &str) -> Result<Staged, Failure> {
        let failed = |error: io::Error| cannot_write(path, &error);
        // Through a link, so that the link stays one.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let existing = fs::metadata(&real).ok();
        if existing.as_ref().is_some_and(|m| m.is_dir()) {
            return Err(cannot_write(path, &io::Error::from(ErrorKind::IsADirectory)));
        }
        if existing.as_ref().is_some_and(|m| !m.is_file()) {
            fs::write(&real, text).map_err(failed)?;
            return Ok(Staged { temporary: None, path: real });
        }
        let mut name = std::ffi::OsString::from(".");
        name.push(real.file_name().unwrap_or_default());
        name.push(format!(".{}.tmp", std::process::id()));
        let staged = Staged { temporary: Some(real.with_file_name(name)), path: real };
        let temporary = staged.temporary.as_deref().expect("just set");
        let mut file = fs::File::create(temporary).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        if let Some(existing) = existing {
            fs::set_permissions(temporary, existing.permissions()).map_err(failed)?;
        }
        Ok(staged)
    }

    fn publish(mut self) -> Result<(), Failure> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        fs::rename(&temporary, &self.path).map_err(|error| {
            let _ = fs::remove_file(&temporary);
            cannot_write(&self.path, &error)
        })
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let why = match error.kind() {
        ErrorKind::NotFound => "the directory does not exist".to_string(),
        _ => plain(error),
    };
    Failure::program(format!("cannot write {}: {why}", path.display()))
}

/// An error of the system without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("a directory");
        let mut names: Vec<String> = entries
            .map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_replaced_if_one_result_fails() {
        let dir = tempfile::tempdir().expect("a directory");
        let good = dir.path().join("a.c");
        fs::write(&good, "old").expect("written");
        let bad = dir.path().join("missing").join("b.c");
        let results = [(Place::File(good.clone()), "new".into()), (Place::File(bad), "new".into())];
        assert!(write_all(&results).is_err());
        assert_eq!(fs::read_to_string(&good).expect("read"), "old");
        assert_eq!(names(dir.path()), ["a.c"]);
        write_all(&results[..1]).expect("written");
        assert_eq!(fs::read_to_string(&good).expect("read"), "new");
        assert_eq!(names(dir.path()), ["a.c"]);
    }

    #[test]
    #[cfg(unix)]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").expect("written");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink(&real, &link).expect("linked");
        write_all(&[(Place::File(link.clone()), "new".into())]).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&real).expect("read"), "new");
        assert_eq!(fs::metadata(&real).expect("there").permissions().mode() & 0o777, 0o640);
    }
}
