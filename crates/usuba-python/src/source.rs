//! Programs as Python describes them, and their includes.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use usuba::diag::{FileId, Sources};
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::lint::{Levels, lint};
use usuba::names::did_you_mean;
use usuba::syntax::splice::Loader;
use usuba::typed::{Flags, Instance, Program, check};
use usuba::{Checked, diag::Diagnostic, front};
use usuba_ciphers::loader::plain;
use usuba_ciphers::{Library, files};

use crate::failure::{Failure, run};

/// A program: the fields of `usuba.Program`.
#[derive(FromPyObject)]
pub struct Source {
    /// The name in findings; includes are looked for beside it.
    pub name: String,
    pub text: String,
    /// Further folders of includes.
    pub include: Vec<PathBuf>,
    /// The entry; the last node if absent.
    pub entry: Option<String>,
    /// The word size that the entry leaves open, in bits.
    pub word: Option<u8>,
    /// Whether tables of words are looked up, which is not constant-time.
    pub keep_tables: bool,
}

/// A program that was read, with its files.
pub struct Read {
    pub sources: Sources,
    pub checked: Checked,
}

impl Source {
    /// Reads and checks the program.
    ///
    /// # Errors
    /// The findings of the compiler, or a wrong word size.
    pub fn read(&self) -> Result<Read, Failure> {
        if let Some(bits) = self.word.filter(|bits| !(1..=64).contains(bits)) {
            let text = format!("found a word size of {bits} bits, expected 1 to 64");
            return Err(Failure::Argument(text, "pass `word=32`, for example".into()));
        }
        let mut sources = Sources::default();
        let root = sources.add(&*self.name, &*self.text);
        match self.front(&mut sources, root) {
            Ok(checked) => Ok(Read { sources, checked }),
            Err(findings) => Err(Failure::findings(&sources, &findings)),
        }
    }

    /// The findings about the program as `usubac check` has them.
    pub fn linted(&self) -> (Sources, Result<Checked, ()>, Vec<Diagnostic>) {
        let mut sources = Sources::default();
        let root = sources.add(&*self.name, &*self.text);
        match self.front(&mut sources, root) {
            Ok(checked) => {
                let mut found = checked.warnings.clone();
                found.extend(lint(&sources, &checked.program));
                found.sort_by_key(|finding| (finding.span, finding.code));
                (sources, Ok(checked), Levels::default().apply(found))
            }
            Err(findings) => (sources, Err(()), findings),
        }
    }

    fn front(&self, sources: &mut Sources, root: FileId) -> Result<Checked, Vec<Diagnostic>> {
        let mut loader = Includes { folders: &self.include };
        front(sources, root, &mut loader, self.entry.as_deref(), self.flags())
    }

    /// The flags that change the semantics of the text.
    pub fn flags(&self) -> Flags {
        Flags { keep_tables: self.keep_tables, ..Flags::default() }
    }
}

impl Read {
    /// The instance of the entry, by the slicing of the program or else V.
    ///
    /// # Errors
    /// The entry leaves something open.
    pub fn instance(&self, word: Option<u8>) -> Result<Instance, Failure> {
        let program: &Program = &self.checked.program;
        let instance = check::slicing(program, Slicing::V)
            .and_then(|slicing| check::entry_instance(program, slicing, word));
        instance.map_err(|finding| Failure::findings(&self.sources, &[finding]))
    }
}

/// Finds includes beside the including file, then in each folder in order.
struct Includes<'a> {
    folders: &'a [PathBuf],
}

impl Loader for Includes<'_> {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let beside = Path::new(including).parent().unwrap_or(Path::new("")).to_path_buf();
        let mut tried = Vec::new();
        for folder in [&beside].into_iter().chain(self.folders) {
            let file = folder.join(path);
            let name = file.display().to_string();
            if files::is_file(&file) {
                let text = files::read_to_string(&file);
                let text = text.map_err(|e| format!("{name} cannot be read: {}", plain(&e)))?;
                return Ok((name, text));
            }
            tried.push(name);
        }
        Err(format!("there is no file {}", tried.join(" or ")))
    }
}

/// The target of a name.
///
/// # Errors
/// There is none; the message has a similar name.
pub fn target(name: &str) -> Result<&'static Target, Failure> {
    isa::find(name).ok_or_else(|| {
        let near = did_you_mean(name, isa::all().map(|target| target.name));
        let help = near.unwrap_or("`usuba.targets()` lists all".to_string());
        Failure::Argument(format!("there is no target `{name}`"), help)
    })
}

/// The slicing of a letter.
///
/// # Errors
/// It is none of V, H, B and W.
pub fn slicing(letter: &str) -> Result<Slicing, Failure> {
    match letter {
        "V" => Ok(Slicing::V),
        "H" => Ok(Slicing::H),
        "B" => Ok(Slicing::B),
        "W" => Ok(Slicing::W),
        _ => {
            let text =
                format!("found the slicing {letter:?}, expected \"V\", \"H\", \"B\" or \"W\"");
            Err(Failure::Argument(text, "\"V\" keeps words whole, \"B\" takes bits apart".into()))
        }
    }
}

/// The program of a cipher, or of one of its functions: name and text of the file, node, slicing.
#[pyfunction]
pub fn built_in(py: Python<'_>, name: String) -> PyResult<(String, String, String, String)> {
    run(py, move || {
        let cipher = Library::default().named(&name)?;
        let Some(function) = cipher.function(&name).or(cipher.functions.first()) else {
            let text = format!("`{name}` has no program of its own");
            let help = "its cipher.toml names the programs with contracts that it uses";
            return Err(Failure::Argument(text, help.into()));
        };
        let path = cipher.folder.join(&function.source);
        let text = usuba_ciphers::loader::read(&path)?;
        let slicing = function.slicings.first().copied().unwrap_or(Slicing::V);
        let path = path.display().to_string();
        Ok((path, text, function.node.clone(), format!("{slicing:?}")))
    })
}
