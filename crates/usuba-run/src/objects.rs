//! Compilation cache: a compiler runs once for the same text, flags and version.
//!
//! ```text
//! compiler, its version, its flags, all texts ─ SHA-256 → file: digest of the output, output
//! ```
//!
//! - The key has no times and no paths of temporary folders, so that clones share their objects.
//! - A file is written beside its place and renamed: processes never see a partial file.
//! - A file whose digest is wrong is removed, and the compiler runs again.
//! - Failed compiles are not stored.
//! - Each of the `SHELVES` drops its least recently used files above `SHELF` bytes.
//!
//! `USUBA_OBJECTS` names the folder; `off` disables the cache. The default is `usubac/objects` in
//! the user's cache folder.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::cc;
use crate::fingerprint::{hex, of_file};

/// Subfolders of the cache, by the first digit of the key.
const SHELVES: u64 = 16;

/// The capacity of a subfolder in bytes.
const SHELF: u64 = (4 << 30) / SHELVES;

/// Environment variables that change the output of a compiler.
const VARIABLES: [&str; 7] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "SOURCE_DATE_EPOCH",
];

/// A cache in a folder, or a disabled one.
pub struct Cache {
    folder: Option<PathBuf>,
}

/// The key of an output: a digest of its inputs, each with its length.
#[derive(Clone)]
pub struct Key(Sha256);

impl Key {
    /// The key of one input.
    pub fn of(input: impl AsRef<[u8]>) -> Key {
        let mut key = Key(Sha256::new());
        key.add(input);
        key
    }

    /// The key of a compiler with its arguments.
    pub fn new<A: AsRef<OsStr>>(compiler: &Path, args: impl IntoIterator<Item = A>) -> Key {
        let mut key = Key::of(identity(compiler));
        for variable in VARIABLES {
            key.add(std::env::var_os(variable).unwrap_or_default().as_encoded_bytes());
        }
        for arg in args {
            key.add(arg.as_ref().as_encoded_bytes());
        }
        key
    }

    /// Adds an input.
    pub fn add(&mut self, input: impl AsRef<[u8]>) {
        let input = input.as_ref();
        self.0.update((input.len() as u64).to_le_bytes());
        self.0.update(input);
    }

    /// The key in hexadecimal digits.
    pub fn name(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The identity of a compiler, computed once in a process.
fn identity(compiler: &Path) -> String {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("nobody panics with it");
    known.entry(compiler.to_path_buf()).or_insert_with(|| identified(compiler)).clone()
}

/// The version of a compiler, and the paths and contents of its executables. Their shared libraries
/// are known by the version only.
fn identified(compiler: &Path) -> String {
    let asked = |arg: &str| {
        let output = Command::new(compiler).arg(arg).stderr(Stdio::null()).output();
        output.map_or(String::new(), |out| String::from_utf8_lossy(&out.stdout).into_owned())
    };
    let mut text = asked("--version");
    let parts = ["cc1", "as", "ld"].map(|part| asked(&format!("-print-prog-name={part}")));
    for part in [compiler.display().to_string()].into_iter().chain(parts) {
        if let Some(path) = cc::real_path(Path::new(part.trim())) {
            text += &format!("{} {}\n", path.display(), of_file(&path).unwrap_or_default());
        }
    }
    text
}

impl Cache {
    /// The cache of this user.
    pub fn user() -> &'static Cache {
        static USER: OnceLock<Cache> = OnceLock::new();
        USER.get_or_init(|| {
            let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
            let folder = match variable("USUBA_OBJECTS") {
                Some(off) if off == "off" => None,
                Some(folder) => Some(PathBuf::from(folder)),
                None => variable("XDG_CACHE_HOME")
                    .map(PathBuf::from)
                    .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))
                    .map(|caches| caches.join("usubac/objects")),
            };
            Cache { folder }
        })
    }

    /// The disabled cache.
    pub fn off() -> &'static Cache {
        &Cache { folder: None }
    }

    /// A cache in a folder.
    pub fn at(folder: PathBuf) -> Cache {
        Cache { folder: Some(folder) }
    }

    /// The output of a key; `None` if it is absent or damaged.
    pub fn find(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let found = read(&path)?;
        // Eviction is least recently used; an entry whose time cannot be set looks older.
        let _ =
            File::options().append(true).open(path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(found)
    }

    /// Stores the output of a key and reads it back; after a failure the output is recomputed
    /// later.
    pub fn keep(&self, key: Key, output: Vec<u8>) -> Vec<u8> {
        let Some(path) = self.path(key) else { return output };
        let shelf = path.parent().expect("a file in a folder");
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}.{number}", std::process::id()));
        let whole = [&Sha256::digest(&output)[..], &output].concat();
        let kept = fs::create_dir_all(shelf)
            .and_then(|()| fs::write(&temporary, whole))
            .and_then(|()| fs::rename(&temporary, &path));
        if kept.is_err() {
            let _ = fs::remove_file(temporary);
        }
        let kept = read(&path).filter(|kept| *kept == output);
        drop_oldest(shelf, SHELF);
        kept.unwrap_or(output)
    }

    fn path(&self, key: Key) -> Option<PathBuf> {
        let name = key.name();
        Some(self.folder.as_ref()?.join(&name[..1]).join(name))
    }

    /// Runs a command. A C compile with `-o` runs only if the cache lacks its output; included
    /// headers are part of the key.
    ///
    /// # Errors
    /// The command does not start, or the output cannot be written.
    pub fn run(&self, command: &mut Command) -> io::Result<Output> {
        let Some((key, output)) = self.folder.as_ref().and_then(|_| preprocessed(command)) else {
            return command.output();
        };
        if let Some(found) = self.find(key.clone()) {
            fs::write(&output, found)?;
            set_executable(&output)?;
            return Ok(Output { status: Default::default(), stdout: vec![], stderr: vec![] });
        }
        let ran = command.output()?;
        if ran.status.success() {
            self.keep(key, fs::read(output)?);
        }
        Ok(ran)
    }
}

#[cfg(unix)]
fn set_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Reads an output from a cache file. Removes a damaged file.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut whole = fs::read(path).ok()?;
    let output = whole.split_off(whole.len().min(32));
    if whole[..] == Sha256::digest(&output)[..] {
        return Some(output);
    }
    let _ = fs::remove_file(path);
    None
}

/// Evicts the least recently used files of a folder until the others have at most `most` bytes.
fn drop_oldest(shelf: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(shelf) else { return };
    let file = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        let about = entry.metadata().ok()?;
        Some((about.modified().ok()?, about.len(), entry.path()))
    };
    let mut files: Vec<_> = entries.filter_map(file).collect();
    let mut size: u64 = files.iter().map(|(_, size, _)| size).sum();
    files.sort();
    for (_, bytes, path) in files {
        if size <= most {
            break;
        }
        // Another process may have removed it already.
        let _ = fs::remove_file(path);
        size -= bytes;
    }
}

/// The key of a C compile with `-o`, and the path of its output. The key has the arguments, the
/// preprocessed sources, and the files among the arguments. `None` for other commands, and where
/// libraries are searched by name.
fn preprocessed(command: &Command) -> Option<(Key, PathBuf)> {
    let folder = command.get_current_dir().unwrap_or(Path::new("."));
    let compiler = Path::new(command.get_program());
    let name = compiler.file_name()?.to_string_lossy();
    if !["cc", "clang", "++"].iter().any(|part| name.contains(part)) {
        return None;
    }
    let mut args: Vec<&OsStr> = command.get_args().collect();
    let at = args.iter().position(|arg| *arg == "-o")?;
    let output = folder.join(args.get(at + 1)?);
    args.drain(at..at + 2);
    // Libraries are found by their names, and `@` stands before a file of arguments.
    let is_found = |arg: &&OsStr| {
        let arg = arg.as_encoded_bytes();
        arg.starts_with(b"-l") || arg.starts_with(b"-L") || arg.starts_with(b"@")
    };
    if args.iter().any(is_found) {
        return None;
    }
    let mut expand = Command::new(compiler);
    // Without line markers, which contain folder names.
    expand.args(args.iter().filter(|arg| **arg != "-c")).args(["-E", "-P"]);
    let expanded = expand.current_dir(folder).stdin(Stdio::null()).output().ok()?;
    if !expanded.status.success() {
        return None;
    }
    let place = folder.as_os_str().to_string_lossy();
    let plain = args.iter().map(|arg| arg.to_string_lossy().replace(&*place, "."));
    let mut key = Key::new(compiler, plain);
    key.add(expanded.stdout);
    for arg in args {
        // The preprocessor leaves out objects, assembly and scripts of the linker.
        let file = folder.join(arg);
        if file.is_file() {
            key.add(fs::read(file).ok()?);
        }
    }
    Some((key, output))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        let mut key = Key::new(Path::new("cc"), ["-O2"]);
        key.add(text);
        key
    }

    #[test]
    fn damaged_files_are_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path().join("objects"));
        assert_eq!(cache.find(key("a")), None);
        assert_eq!(cache.keep(key("a"), b"output".to_vec()), b"output");
        assert_eq!(cache.find(key("a")), Some(b"output".to_vec()));
        assert_eq!(cache.find(key("b")), None);
        let path = cache.path(key("a")).expect("a folder");
        let whole = fs::read(&path).expect("a file");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged[..whole.len() - at % 2]).expect("written");
            assert_eq!(cache.find(key("a")), None, "byte {at}");
            assert!(!path.exists());
        }
    }

    /// A compiler of the same length, with the same time and version, is another one.
    #[test]
    fn compilers_are_known_by_their_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cc");
        let [one, other] = ["a", "b"].map(|name| {
            fs::write(&path, format!("{name}\n")).expect("written");
            let file = File::options().append(true).open(&path).expect("a file");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
            identified(&path)
        });
        assert_ne!(one, other);
    }

    #[test]
    fn the_least_recently_used_are_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        for (age, name) in ["new", "old", "older"].iter().enumerate() {
            let path = folder.path().join(name);
            fs::write(&path, [0; 100]).expect("written");
            let time = SystemTime::now() - std::time::Duration::from_secs(60 * age as u64);
            File::options()
                .append(true)
                .open(path)
                .and_then(|f| f.set_modified(time))
                .expect("set");
        }
        drop_oldest(folder.path(), 250);
        let left = |name| folder.path().join(name).exists();
        assert!(left("new") && left("old") && !left("older"));
    }

    /// The second run hits the cache, until a header changes.
    #[test]
    fn compilers_run_once_for_the_same_texts() {
        let machine = cc::find("gp64").expect("a host compiler");
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let cache = Cache::at(folders[0].path().join("objects"));
        let run = |folder: &Path, header: &str| {
            fs::write(folder.join("a.h"), header).expect("written");
            fs::write(folder.join("a.c"), "#include \"a.h\"\nint main(void) { return A; }\n")
                .expect("written");
            let mut command = Command::new(&machine.compiler);
            let command = command.args(["-o", "a", "a.c"]).current_dir(folder);
            let known = cache.find(preprocessed(command).expect("a compiler").0).is_some();
            assert!(cache.run(command).expect("it runs").status.success());
            let status = Command::new(folder.join("a")).status().expect("it runs");
            (known, status.code())
        };
        let [first, second] = [folders[0].path(), folders[1].path()];
        assert_eq!(run(first, "#define A 3\n"), (false, Some(3)));
        assert_eq!(run(second, "#define A 3\n"), (true, Some(3)));
        assert_eq!(run(second, "#define A 4\n"), (false, Some(4)));
        let links = |args: &[&str]| {
            let mut command = Command::new(&machine.compiler);
            preprocessed(command.args(["-o", "a", "a.c"]).args(args).current_dir(second))
        };
        fs::write(second.join("b.s"), ".globl b\n").expect("written");
        let before = links(&["b.s"]).expect("a compiler").0.name();
        fs::write(second.join("b.s"), ".globl c\n").expect("written");
        assert_ne!(links(&["b.s"]).expect("a compiler").0.name(), before);
        assert!(links(&["-L.", "-lb"]).is_none());
        assert!(
            !cache
                .run(Command::new("false").current_dir(second))
                .expect("it runs")
                .status
                .success()
        );
    }
}
