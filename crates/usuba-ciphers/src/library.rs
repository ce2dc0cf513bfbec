//! The search for a cipher by its name or path.
//!
//! ```text
//! mine/pebble, .   a path: this folder, or the folder of this program or description
//! pebble           a name: DIR/pebble of `--ciphers DIR`, ./pebble, the built-in folder, or the
//!                  folder with a function of this name: the working directory, DIR/*, built-in
//! ```

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use usuba::names::closest;

use crate::{Cipher, files, find, is_cipher, read};

/// The built-in ciphers, and the folder of cipher folders that goes before them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Library {
    pub folder: Option<PathBuf>,
}

impl Library {
    /// The folder of all ciphers: the chosen one, or the built-in one.
    pub fn root(&self) -> PathBuf {
        self.folder.clone().unwrap_or_else(files::ciphers)
    }

    /// The named ciphers, each folder once; without a name all ciphers.
    ///
    /// # Errors
    /// As [`Library::named`].
    pub fn chosen(&self, names: &[String]) -> Result<Vec<Cipher>, String> {
        if names.is_empty() {
            return find(&self.root());
        }
        let mut all: Vec<Cipher> = Vec::new();
        for name in names {
            let found = self.named(name)?;
            if all.iter().all(|other| other.folder != found.folder) {
                all.push(found);
            }
        }
        Ok(all)
    }

    /// The cipher at a path, of this name, or with a function, a stream, a hash function or a seal
    /// of this name.
    ///
    /// # Errors
    /// There is none, or its `cipher.toml` is malformed; the message lists similar or all names.
    pub fn named(&self, subject: &str) -> Result<Cipher, String> {
        if let Some(cipher) = self.there(subject)? {
            return Ok(cipher);
        }
        let path = Path::new(subject);
        // A program of no cipher folder has a name, too.
        if !is_name(path) || files::is_file(path) {
            let why = match files::is_folder(path) || files::is_file(path) {
                true => "there is no cipher.toml",
                false => "there is no such folder",
            };
            let help = "`usubac new NAME` writes a cipher folder";
            return Err(format!("cannot read the cipher {subject}: {why}; help: {help}"));
        }
        let all = self.all()?;
        let folders = || all.iter().map(|cipher| folder_name(&cipher.folder));
        let functions = all.iter().flat_map(|cipher| cipher.names().map(str::to_string));
        let known: Vec<String> = folders().chain(functions).collect();
        let help = match closest(subject, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let all: BTreeSet<String> = folders().collect();
                format!("there are {}", Vec::from_iter(all).join(", "))
            }
        };
        let place = match self.folder.as_ref().filter(|folder| !files::is_built_in(folder)) {
            Some(folder) => format!("neither {} nor usubac has a", folder.display()),
            None => "there is no".to_string(),
        };
        Err(format!("{place} cipher {subject:?}; help: {help}"))
    }

    /// As [`Library::named`], and `None` if there is no such cipher.
    ///
    /// # Errors
    /// A `cipher.toml` is malformed.
    pub fn there(&self, subject: &str) -> Result<Option<Cipher>, String> {
        if let Some(folder) = self.folder_of(subject)? {
            return read(&folder).map(Some);
        }
        if !is_name(Path::new(subject)) {
            return Ok(None);
        }
        let has = |cipher: &Cipher| cipher.names().any(|known| known == subject);
        Ok(self.all()?.into_iter().find(has))
    }

    /// The cipher of the working directory, the ciphers of the folder, and the built-in ones.
    fn all(&self) -> Result<Vec<Cipher>, String> {
        let here = named_folder(Path::new(".")).filter(|path| is_cipher(path));
        let mut all: Vec<Cipher> = here.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
        for root in self.folder.iter().chain([&files::ciphers()]) {
            all.extend(find(root)?);
        }
        Ok(all)
    }

    /// The folder that a name or a path leads to, if there is one.
    ///
    /// # Errors
    /// The folder of cipher folders is none.
    pub fn folder_of(&self, subject: &str) -> Result<Option<PathBuf>, String> {
        if let Some(folder) = self.folder.as_ref().filter(|folder| !files::is_folder(folder)) {
            return Err(format!("found no folder {}, expected cipher folders", folder.display()));
        }
        let path = PathBuf::from(subject);
        if !is_name(&path) || files::is_file(&path) {
            return Ok(named_folder(&path).filter(|path| is_cipher(path)));
        }
        let first = self.folder.as_ref().map(|folder| folder.join(subject));
        let places = [path, files::ciphers().join(subject)];
        Ok(first.into_iter().chain(places).find(|folder| is_cipher(folder)))
    }
}

/// Whether a text is a name and not a path with separators or dots.
fn is_name(path: &Path) -> bool {
    let mut parts = path.components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == path)
}

/// The folder at a path, or of the file at a path, with a name of its own, which `.` has not.
fn named_folder(path: &Path) -> Option<PathBuf> {
    let folder = match files::is_file(path) {
        true => path.parent()?,
        false => path,
    };
    match folder.file_name() {
        Some(_) => Some(folder.to_path_buf()),
        None => files::canonical(&Path::new(".").join(folder)).ok(),
    }
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_goes_before_the_built_in_ciphers() {
        let all = Library::default();
        let built_in = all.named("gimli").expect("it is built in");
        assert_eq!(built_in.folder, files::ciphers().join("gimli"));
        let aes = all.named("aes128").expect("a function of AES");
        assert_eq!(aes.folder, files::ciphers().join("aes"));
        assert_eq!(all.chosen(&["aes".into(), "aes128".into()]).map(|all| all.len()), Ok(1));
        let place = tempfile::tempdir().expect("a folder");
        let mine = place.path().join("gimli");
        fs::create_dir(&mine).expect("a folder");
        let text = files::read_to_string(&built_in.folder.join("cipher.toml")).expect("built in");
        fs::write(mine.join("cipher.toml"), text).expect("a file");
        let both = Library { folder: Some(place.path().to_path_buf()) };
        assert_eq!(both.named("gimli").expect("it is there").folder, mine);
        assert_eq!(both.named("aes").expect("it is built in"), aes);
        let path = mine.display().to_string();
        assert_eq!(all.named(&path).expect("a path").folder, mine);
        assert_eq!(both.chosen(&[]).map(|all| all.len()), Ok(1));
    }

    #[test]
    fn unknown_names_get_similar_ones() {
        let wrong = |name: &str| Library::default().named(name).expect_err("it is unknown");
        assert!(wrong("chacha2O").ends_with("did you mean `chacha20`?"));
        let all = wrong("nothing-like-this");
        assert!(
            all.contains("there are ace, aes, aes_ccm, aes_cmac, aes_gcm, aes_ocb, ascon, ")
                && !all.contains("rectangle80")
        );
        assert!(wrong("./aes").contains("cannot read the cipher ./aes: there is no such folder"));
        for path in ["..", "Cargo.toml"] {
            let text = format!("cannot read the cipher {path}: there is no cipher.toml");
            assert!(wrong(path).starts_with(&text));
        }
    }
}
