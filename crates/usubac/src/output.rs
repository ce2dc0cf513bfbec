//! Output: standard output, standard error, and atomic writes of several files.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Failure;

/// The destination of a result.
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

/// Writes text to standard output. A closed pipe is a failure without a message.
pub fn to_stdout(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Silent,
        _ => Failure::program(format!("cannot write to standard output: {}", plain(&error))),
    })
}

/// Writes text to standard error. A failure is ignored, because no channel is left to report it.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes several results, all or none. No file is replaced before all of them are completely
/// written to temporary files. If a replacement fails, the previous ones are undone.
pub fn write_all(results: &[(Place, String)]) -> Result<(), Failure> {
    let mut paths = Vec::new();
    for (place, _) in results {
        let Place::File(path) = place else { continue };
        let real = real(path);
        if paths.contains(&real) {
            let path = path.display();
            return Err(Failure::usage(format!("two outputs have the same name {path}")));
        }
        paths.push(real);
    }
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
    publish(&mut staged)
}

fn publish(staged: &mut [Staged]) -> Result<(), Failure> {
    for at in 0..staged.len() {
        if let Err(failure) = staged[at].publish() {
            staged[..at].iter_mut().rev().for_each(Staged::take_back);
            return Err(failure);
        }
    }
    Ok(())
}

/// The canonical path of a file behind links, whether it exists or not.
fn real(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let beside =
        |name| fs::canonicalize(parent.unwrap_or(Path::new("."))).ok().map(|p| p.join(name));
    let real = fs::canonicalize(path).ok().or_else(|| path.file_name().and_then(beside));
    real.unwrap_or_else(|| path.to_path_buf())
}

/// A complete file beside its final place; removed unless it is published.
struct Staged {
    /// `None` after publication, and for devices, which are written directly.
    temporary: Option<PathBuf>,
    /// A second name of the replaced file.
    old: Option<PathBuf>,
    path: PathBuf,
}

impl Staged {
    fn write(path: &Path, text: &str) -> Result<Staged, Failure> {
        let failed = |error: io::Error| cannot_write(path, &error);
        // Resolves links, so that a link stays a link.
        let real = real(path);
        let existing = fs::metadata(&real).ok();
        if existing.as_ref().is_some_and(|m| m.is_dir()) {
            return Err(cannot_write(path, &io::Error::from(ErrorKind::IsADirectory)));
        }
        if existing.as_ref().is_some_and(|m| !m.is_file()) {
            fs::write(&real, text).map_err(failed)?;
            return Ok(Staged { temporary: None, old: None, path: real });
        }
        let beside = |ending: &str| {
            let mut name = std::ffi::OsString::from(".");
            name.push(real.file_name().unwrap_or_default());
            name.push(format!(".{}.{ending}", std::process::id()));
            real.with_file_name(name)
        };
        let old = existing.as_ref().map(|_| beside("old"));
        let staged = Staged { temporary: Some(beside("tmp")), old, path: real.clone() };
        let temporary = staged.temporary.as_deref().expect("just set");
        let mut file = fs::File::create(temporary).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        if let Some(existing) = existing {
            keep_owner(temporary, &existing);
            fs::set_permissions(temporary, existing.permissions()).map_err(failed)?;
        }
        Ok(staged)
    }

    fn publish(&mut self) -> Result<(), Failure> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        let failed = |error: io::Error| cannot_write(&self.path, &error);
        if let Some(old) = &self.old {
            // File systems without hard links get a copy.
            fs::hard_link(&self.path, old)
                .or_else(|_| fs::copy(&self.path, old).map(drop))
                .map_err(failed)?;
        }
        fs::rename(temporary, &self.path).map_err(failed)?;
        self.temporary = None;
        Ok(())
    }

    /// Undoes [`Staged::publish`].
    fn take_back(&mut self) {
        let _ = match &self.old {
            Some(old) => fs::rename(old, &self.path),
            None => fs::remove_file(&self.path),
        };
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for left in self.temporary.iter().chain(&self.old) {
            let _ = fs::remove_file(left);
        }
    }
}

/// Gives a new file the owner of the replaced file, if the system permits it.
#[cfg(unix)]
fn keep_owner(new: &Path, old: &fs::Metadata) {
    use std::os::unix::fs::MetadataExt;
    let _ = std::os::unix::fs::chown(new, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &fs::Metadata) {}

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
        let again = dir.path().join(".").join("a.c");
        let twice = [results[0].clone(), (Place::File(again), "other".into())];
        assert!(matches!(write_all(&twice), Err(Failure::Usage(_))));
        assert_eq!(fs::read_to_string(&good).expect("read"), "new");
    }

    #[test]
    fn what_was_replaced_comes_back_if_another_file_cannot_be() {
        let dir = tempfile::tempdir().expect("a directory");
        let [old, new, bad] = ["old", "new", "bad"].map(|name| dir.path().join(name));
        fs::write(&old, "before").expect("written");
        let stage = |path: &Path| Staged::write(path, "after").expect("staged");
        let mut staged = [stage(&old), stage(&new), stage(&bad)];
        // The path became a folder in the meantime.
        fs::create_dir(&bad).expect("made");
        assert!(publish(&mut staged).is_err());
        drop(staged);
        assert_eq!(fs::read_to_string(&old).expect("read"), "before");
        assert_eq!(names(dir.path()), ["bad", "old"]);
    }

    #[test]
    #[cfg(unix)]
    fn the_owner_stays() {
        use std::os::unix::fs::{MetadataExt, chown};
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.ua");
        fs::write(&path, "old").expect("written");
        // Only a superuser can change the owner of a file.
        if chown(&path, Some(1), Some(1)).is_ok() {
            write_all(&[(Place::File(path.clone()), "new".into())]).expect("written");
            let meta = fs::metadata(&path).expect("there");
            assert_eq!((meta.uid(), meta.gid()), (1, 1));
        }
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
