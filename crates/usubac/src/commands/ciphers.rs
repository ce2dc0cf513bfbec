//! `usubac ciphers`: lists, shows and copies ciphers, and prints tables about them.
//!
//! A copy stands alone. Programs of `arithmetic` that a `cipher.toml` names go into the copy, and a
//! neighbouring folder that a program includes is copied beside it:
//!
//! ```text
//! copy poly1305   poly1305/cipher.toml, poly1305/arithmetic/poly1305/words64.ua, ...
//! copy skein      skein/skein.ua, threefish/threefish.ua, ...
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use usuba::ir::Slicing;
use usuba::isa::Target;
use usuba_ciphers::{Cipher, Library, files, loader};
use usuba_library::Request;

use crate::args::{Ciphers, Query, Table};
use crate::output::{Place, plain, to_stdout, write_all};
use crate::{Failure, fault};

/// The path from a built-in cipher folder to the programs with contracts.
const ARITHMETIC: &str = "../../arithmetic/";

pub fn run(args: &Ciphers) -> Result<(), Failure> {
    fault::stage("reading the ciphers");
    match &args.query {
        Query::List { folder } => to_stdout(&list(&folder.library())?),
        Query::Show { subjects, folder } => {
            let all = folder.library().chosen(subjects).map_err(Failure::Program)?;
            to_stdout(&all.iter().map(show).collect::<Vec<_>>().join("\n"))
        }
        Query::Copy { subjects, output } => {
            copy(subjects, output.output.as_deref().unwrap_or(Path::new("")))
        }
        Query::Status(table) => of_table(table, usuba_library::status),
        Query::Curves(table) => of_table(table, usuba_library::curves),
        Query::Thresholds(table) => of_table(table, thresholds),
    }
}

/// The name of a cipher's folder.
fn name(cipher: &Cipher) -> String {
    cipher.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn list(library: &Library) -> Result<String, Failure> {
    let all = library.chosen(&[]).map_err(Failure::Program)?;
    let width = all.iter().map(|cipher| name(cipher).len()).max().unwrap_or(0);
    let line = |cipher: &Cipher| format!("{:width$}  {}\n", name(cipher), cipher.title);
    Ok(all.iter().map(line).collect())
}

/// Everything of a cipher that a caller can name.
fn show(cipher: &Cipher) -> String {
    let mut text = format!("{}: {}\n  {}\n", name(cipher), cipher.title, cipher.spec);
    for function in &cipher.functions {
        let slicings: Vec<&str> = function.slicings.iter().map(|s| letter(*s)).collect();
        let (name, source, node) = (&function.name, &function.source, &function.node);
        text += &format!("  function {name}: {node} of {source} in {}", slicings.join(", "));
        if !function.targets.is_empty() {
            text += &format!(", for {}", function.targets.join(", "));
        }
        text += "\n";
    }
    let others = [
        ("keystream", cipher.streams.iter().map(|stream| &stream.name).collect::<Vec<_>>()),
        ("hash function", cipher.hashes.iter().map(|hash| &hash.name).collect()),
        ("message authentication code", cipher.macs.iter().map(|mac| &mac.name).collect()),
        ("authenticated encryption", cipher.seals.iter().map(|seal| &seal.name).collect()),
    ];
    for (kind, names) in others {
        names.iter().for_each(|name| text += &format!("  {kind} {name}\n"));
    }
    for arithmetic in &cipher.arithmetic {
        text += &format!("  arithmetic {}: {}\n", arithmetic.name, arithmetic.nodes.join(", "));
    }
    text
}

fn letter(slicing: Slicing) -> &'static str {
    match slicing {
        Slicing::V => "V",
        Slicing::H => "H",
        Slicing::B => "B",
        Slicing::W => "W",
    }
}

/// Prints a table of the chosen ciphers and targets.
fn of_table(
    table: &Table,
    text: fn(&[Cipher], &[&'static Target]) -> Result<String, String>,
) -> Result<(), Failure> {
    let targets = match table.targets.is_empty() {
        true => usuba_library::usual(),
        false => table.targets.all(),
    };
    let ciphers = table.folder.library().chosen(&table.subjects).map_err(Failure::Program)?;
    to_stdout(&text(&ciphers, &targets).map_err(Failure::Program)?)
}

/// The dispatch thresholds of ciphers.
pub fn thresholds(ciphers: &[Cipher], targets: &[&'static Target]) -> Result<String, String> {
    let (prefix, version) = ("usuba_".to_string(), env!("CARGO_PKG_VERSION").to_string());
    let request = Request { targets: targets.to_vec(), prefix, version, functions: Vec::new() };
    ciphers.iter().map(|cipher| usuba_library::ladders(&request, cipher)).collect()
}

/// Writes built-in folders below `to`, all or none.
fn copy(subjects: &[String], to: &Path) -> Result<(), Failure> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for subject in subjects {
        let built_in = Library { folder: Some(files::ciphers()) };
        let folder = built_in.named(subject).map_err(Failure::Program)?.folder;
        if !files::is_built_in(&folder) {
            return Err(Failure::program(format!(
                "`{subject}` is a folder already; help: only built-in ciphers are copied"
            )));
        }
        add(folder, &mut folders);
    }
    let (mut written, mut at) = (Vec::new(), 0);
    while let Some(folder) = folders.get(at).cloned() {
        let place = to.join(folder.file_name().unwrap_or_default());
        if place.exists() {
            return Err(Failure::program(format!(
                "{} is there already; help: remove it, or name another place by --output",
                place.display()
            )));
        }
        one(&folder, &place, &mut folders, &mut written)?;
        at += 1;
    }
    for (path, _) in &written {
        let parent = path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(parent).map_err(|error| {
            Failure::program(format!("cannot make {}: {}", parent.display(), plain(&error)))
        })?;
    }
    let files: Vec<_> = written.into_iter().map(|(path, text)| (Place::File(path), text)).collect();
    write_all(&files)?;
    let line = |folder: &PathBuf| {
        let place = to.join(folder.file_name().unwrap_or_default());
        format!("written: {}\n", place.display())
    };
    to_stdout(&folders.iter().map(line).collect::<String>())
}

/// Adds a folder that is not in the list.
fn add(folder: PathBuf, folders: &mut Vec<PathBuf>) {
    if !folders.contains(&folder) {
        folders.push(folder);
    }
}

/// Collects the files of one folder for its copy at `place`, and the folders that it includes.
fn one(
    folder: &Path,
    place: &Path,
    folders: &mut Vec<PathBuf>,
    written: &mut Vec<(PathBuf, String)>,
) -> Result<(), Failure> {
    let mut arithmetic: Vec<PathBuf> = Vec::new();
    for file in files::below(folder) {
        let text = loader::read(&file).map_err(Failure::Program)?;
        for path in quoted(&text) {
            let found = canonical(&folder.join(path))?;
            if path.starts_with(ARITHMETIC) {
                arithmetic.push(found);
            } else if path.starts_with("../") {
                add(found.parent().unwrap_or(folder).to_path_buf(), folders);
            }
        }
        let name = file.strip_prefix(folder).expect("it is below the folder");
        let text = text.replace(&format!("\"{ARITHMETIC}"), "\"arithmetic/");
        written.push((place.join(name), text));
    }
    let root = canonical(&folder.join(ARITHMETIC))?;
    let mut done = BTreeSet::new();
    while let Some(file) = arithmetic.pop() {
        if !done.insert(file.clone()) {
            continue;
        }
        let text = loader::read(&file).map_err(Failure::Program)?;
        let beside = file.parent().unwrap_or(&root);
        for path in quoted(&text) {
            arithmetic.push(canonical(&beside.join(path))?);
        }
        let name = file.strip_prefix(&root).expect("arithmetic includes arithmetic");
        written.push((place.join("arithmetic").join(name), text));
    }
    Ok(())
}

fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    files::canonical(path).map_err(|error| {
        Failure::program(format!("cannot read {}: {}", path.display(), plain(&error)))
    })
}

/// The quoted paths of programs in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .filter(|path| path.ends_with(".ua"))
}
