//! Subjects of commands: a file, a folder, or the name of a cipher.

use std::path::{Path, PathBuf};

use usuba::ir::Slicing;
use usuba_ciphers::{Library, files};

use crate::Failure;
use crate::args::{Cli, Command, Language};

/// Replaces a cipher, where a command takes a program, by the program of its first function.
pub fn resolve(cli: &mut Cli) -> Result<(), Failure> {
    let built_in = Library::default();
    match &mut cli.command {
        Some(Command::Build(args)) => match &mut args.file {
            Some(file) => program(file, &mut args.language, &built_in),
            None => Ok(()),
        },
        Some(Command::Check(args)) => program(&mut args.file, &mut args.language, &built_in),
        Some(Command::Explore(args)) => program(&mut args.file, &mut args.language, &built_in),
        Some(Command::Run(args)) => program(&mut args.file, &mut args.language, &built_in),
        Some(Command::Prove(args)) => {
            let library = args.folder.library();
            match &mut args.subjects[..] {
                // A cipher is proved as a whole; one function of it has its own name.
                [one] if library.folder_of(&one.to_string_lossy()) == Ok(None) => {
                    program(one, &mut args.language, &library)
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The program, entry and slicing of a cipher, unless the command line chooses others. A file goes
/// before a cipher of its name.
fn program(file: &mut PathBuf, language: &mut Language, library: &Library) -> Result<(), Failure> {
    let Some(name) = file.to_str().filter(|name| *name != "-" && !files::is_file(file)) else {
        return Ok(());
    };
    let Some(cipher) = library.there(name).map_err(Failure::Program)? else { return Ok(()) };
    let Some(function) = cipher.function(name).or(cipher.functions.first()) else {
        return Err(Failure::program(format!(
            "`{name}` has no program of its own; help: its cipher.toml names the programs with \
             contracts that it uses"
        )));
    };
    *file = cipher.folder.join(&function.source);
    if language.entry().is_none() {
        language.set_entry(&function.node);
    }
    if let (None, [first, ..]) = (language.slicing()?, &function.slicings[..])
        && !function.slicings.contains(&Slicing::V)
    {
        language.set_slicing(*first);
    }
    Ok(())
}

/// Refuses to write beside a built-in cipher.
pub fn changeable(folder: &Path) -> Result<(), Failure> {
    if !files::is_built_in(folder) {
        return Ok(());
    }
    if folder == files::ciphers() {
        return Err(Failure::program(
            "all ciphers are built in and cannot be changed; help: run `usubac ciphers copy`, and \
             name the folder by --ciphers",
        ));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    Err(Failure::program(format!(
        "`{name}` is built in and cannot be changed; help: run `usubac ciphers copy {name}`"
    )))
}
