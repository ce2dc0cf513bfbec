//! Build-file export: a search as a `build.ninja`, so that a compile farm compiles the candidates.
//!
//! ```text
//! usubac tune … --candidate FLAGS ─→ c/HASH.c ─→ $cc_launcher gcc … -c ─→ o/ID.o
//! ```
//!
//! An interactive search compiles its next candidates on demand; a farm needs them all at once. The
//! file therefore has every single change of the default and every pair of changes, and each
//! distinct code once. Names equal the candidate names of the search: `usubac tune --from DIR`
//! finds the compiled objects.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use usuba::ir::Slicing;

use super::search::Id;
use super::space::{Point, Space};
use super::workshop::{Job, names};

/// The exported files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// `build.ninja`.
    pub ninja: String,
    /// `candidates.txt`: the name of each candidate, a tab, and its description.
    pub list: String,
    /// Number of C files and of objects.
    pub sources: usize,
    pub objects: usize,
}

/// The default, single changes, then pairs, up to `most` in total.
fn points(space: &Space, most: usize) -> Vec<Point> {
    let origin = space.origin();
    let single = (0..space.axes().len()).flat_map(|axis| space.along(&origin, axis));
    let mut points: Vec<Point> = std::iter::once(origin.clone()).chain(single).collect();
    points.extend(space.pairs(&origin));
    points.truncate(most);
    points
}

/// Plans at most `most` points of each slicing. `usubac` is the command that generates the C of one
/// candidate, up to the flags; `launcher` is an optional prefix of the C compiler.
///
/// # Errors
/// No slicing has a candidate.
pub fn plan(
    job: &Job,
    slicings: &[Slicing],
    most: usize,
    usubac: &[String],
    launcher: &str,
) -> Result<Plan, String> {
    let points = points(job.space, most);
    let mut steps = String::new();
    let mut list = String::new();
    let (mut sources, mut objects) = (BTreeSet::new(), BTreeSet::<Id>::new());
    let mut why = String::new();
    for &slicing in slicings {
        for (point, made) in points.iter().zip(job.sources(slicing, &points)) {
            let source = match made {
                Ok(source) => source,
                Err(message) => {
                    why = message;
                    continue;
                }
            };
            let id = job.id(&source, point);
            let code = format!("c/{}.c", source.hash);
            if sources.insert(source.hash.clone()) {
                let flags = format!("-{slicing:?} {}", job.space.flags(point));
                let flags = shell(flags.trim());
                let _ = write!(steps, "build {code}: generate\n  flags = {}\n", escaped(&flags));
            }
            if objects.insert(id.clone()) {
                let compiler = shell(&command(&job.space.compiler(point).machine.compiler));
                let flags: Vec<String> =
                    job.space.cflags(point).iter().map(|flag| shell(flag)).collect();
                let _ = write!(
                    steps,
                    "build o/{id}.o: compile {code}\n  cc = {}\n  flags = {}\n  names = {}\n",
                    escaped(&compiler),
                    escaped(&flags.join(" ")),
                    names(&id).join(" ")
                );
                let _ = writeln!(list, "{id}\t{}", job.label(slicing, point));
            }
        }
    }
    if objects.is_empty() {
        return Err(why);
    }
    let usubac: Vec<String> = usubac.iter().map(|word| shell(word)).collect();
    let mut ninja = format!(
        "# Made by `usubac tune --ninja`: compile with `ninja -k 0`, and with -j as the farm allows.\n\
         # cc_launcher stands before each C compiler: distcc, icecc, sccache, or a batch command\n\
         # that waits.\n\
         ninja_required_version = 1.3\n\
         cc_launcher = {}\n\
         usubac = {}\n\n\
         rule generate\n  command = $usubac --candidate=$flags -o $out\n  \
         description = usubac $flags\n\
         rule compile\n  command = $cc_launcher $cc $flags $names -c $in -o $out\n  \
         description = $cc $flags $in\n\n",
        escaped(launcher),
        escaped(&usubac.join(" ")),
    );
    ninja += &steps;
    Ok(Plan { ninja, list, sources: sources.len(), objects: objects.len() })
}

/// The name of a program if the search path resolves to it, else its full path: other machines may
/// install their compilers elsewhere.
fn command(program: &Path) -> String {
    let found = program.file_name().filter(|name| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
        files.find(|file| file.is_file()).as_deref() == Some(program)
    });
    found.unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

/// Quotes a word for the shell.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,+:%@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A value of a ninja variable.
fn escaped(text: &str) -> String {
    text.replace('$', "$$").replace('\n', " ")
}

/// The candidates of `candidates.txt` without an object in the folder, with their descriptions.
///
/// # Errors
/// The list cannot be read.
pub fn missing(folder: &Path) -> Result<(usize, Vec<String>), String> {
    let path = folder.join("candidates.txt");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let pairs: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    let there = |id: &str| super::workshop::object(folder, &id.to_string()).is_file();
    let lost = pairs.iter().filter(|(id, _)| !there(id)).map(|(_, what)| what.to_string());
    Ok((pairs.len(), lost.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell_and_ninja() {
        assert_eq!(shell("-O3"), "-O3");
        assert_eq!(shell(""), "''");
        assert_eq!(shell("-V --unroll all"), "'-V --unroll all'");
        assert_eq!(shell("it's"), "'it'\\''s'");
        assert_eq!(escaped("a $b"), "a $$b");
    }
}
