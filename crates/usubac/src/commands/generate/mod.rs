//! `usubac generate`: manual pages, completions of shells, and headers.
//!
//! - `man`: the manual pages.

mod man;

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use clap_complete::{Generator, Shell};

use crate::args::common::Output;
use crate::args::{self, Generate, Generated};
use crate::output::{Place, plain, to_stdout, write_all};
use crate::{Failure, fault};

/// The folder of the headers for `--abi usubac`, in the data of the program.
const HEADERS: &str = "include/usubac";

pub fn run(args: &Generate) -> Result<(), Failure> {
    fault::stage("writing what belongs to the program");
    match &args.what {
        Generated::Man(to) => write(folder(to)?, man::pages()),
        Generated::Completions(to) => {
            let file = |shell: &Shell| (shell.file_name("usubac"), completions(*shell));
            write(folder(to)?, Shell::value_variants().iter().map(file).collect())
        }
        Generated::Headers(to) => headers(folder(to)?),
    }
}

/// The folder of the files.
fn folder(to: &Output) -> Result<&Path, Failure> {
    to.output.as_deref().ok_or_else(|| {
        Failure::usage("there is no folder for the files; help: name it by --output DIR")
    })
}

/// Writes files of these names and texts into a folder.
fn write(folder: &Path, files: Vec<(String, String)>) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", folder.display(), plain(&error)))
    })?;
    let place = |(name, text)| (Place::File(folder.join(name)), text);
    write_all(&files.into_iter().map(place).collect::<Vec<_>>())
}

/// Writes the headers for `--abi usubac`.
pub fn headers(folder: &Path) -> Result<(), Failure> {
    let file = |(path, text): (&'static str, &str)| {
        let name = path.rsplit('/').next().unwrap_or(path);
        (name.to_string(), text.to_string())
    };
    write(folder, usuba_data::below(HEADERS).map(file).collect())
}

/// The completions of a shell.
pub fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "usubac", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes the main manual page to standard output, as earlier versions did.
pub fn main_page() -> Result<(), Failure> {
    let main = man::pages().into_iter().find(|(name, _)| name == "usubac.1");
    to_stdout(&main.map(|(_, text)| text).unwrap_or_default())
}
