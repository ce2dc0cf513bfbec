//! `usubac dist`: cipher folders as C files to embed, or as a library.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use usuba::isa::{self, Target};
use usuba_bench::record::Host;
use usuba_bench::tune::compilers::compilers;
use usuba_ciphers::Cipher;
use usuba_library::ladder::{Costs, FILE, Machine};
use usuba_library::{File, Request, Written, is_for_grids, measure};

use super::moved;
use super::subject::changeable;
use crate::args::{Dist, Packaging};
use crate::output::{Place, plain, to_stderr, to_stdout, write_all};
use crate::report::Reporter;
use crate::{Failure, fault};
use usuba_prove::cache;

pub fn run(args: &Dist, reporter: Reporter) -> Result<(), Failure> {
    fault::stage("writing ciphers as C");
    let request = Request {
        targets: targets(args),
        prefix: args.prefix.of_cipher()?.to_string(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        functions: args.functions.functions.clone(),
    };
    if let Some(&target) = request.targets.iter().find(|target| is_for_grids(target)) {
        return grids(args, &request, target);
    }
    if args.measure {
        return measure(args, &request);
    }
    if let Some((flag, new, table)) = table(args) {
        moved(&format!("dist --{flag}"), &format!("ciphers {new}"), reporter);
        return to_stdout(&table(&ciphers(args)?, &request.targets).map_err(Failure::Program)?);
    }
    if args.kind != Packaging::File && !request.functions.is_empty() {
        return Err(Failure::usage("--function has no place beside --kind"));
    }
    if args.kind == Packaging::Nacl {
        if !args.subjects.is_empty() {
            return Err(Failure::usage("--kind nacl says itself which ciphers it needs"));
        }
        let folder = folder(args)?;
        // The default target runs on any processor.
        let portable = isa::all().filter(|target| target.name == "gp64").collect();
        let targets = if args.targets.is_empty() { portable } else { request.targets };
        let ciphers =
            usuba_library::nacl_ciphers(&args.folder.library().root()).map_err(Failure::Program)?;
        return whole(folder, &ciphers, |ciphers, done| {
            Ok(usuba_library::nacl(&Request { targets, ..request }, ciphers, done)?.files)
        });
    }
    match args.kind {
        Packaging::Library if args.prefix.is_given() => {
            Err(Failure::usage("--prefix has no place beside --kind library"))
        }
        Packaging::Library => whole(folder(args)?, &ciphers(args)?, |ciphers, done| {
            Ok(usuba_library::library(&request, ciphers, done)?.files)
        }),
        Packaging::Rust => whole(folder(args)?, &ciphers(args)?, |ciphers, done| {
            usuba_library::rust(&request, ciphers, done)
        }),
        Packaging::File | Packaging::Nacl => {
            let ciphers = asked(args)?;
            let (folder, stem) = place(args, "c")?;
            let one = |cipher| usuba_library::single(&request, cipher, stem.as_deref());
            verify(&ciphers)?;
            let all = ciphers.iter().map(one).collect::<Result<Vec<_>, _>>();
            let all = all.map_err(Failure::Program)?;
            let files: Vec<File> = all.iter().flat_map(|one| one.files.clone()).collect();
            write(&folder, &files)?;
            if args.sizes || std::io::stderr().is_terminal() {
                all.iter().for_each(|one| to_stderr(&sizes(&folder, one)));
            }
            Ok(())
        }
    }
}

/// Writes each cipher for grids of threads.
fn grids(args: &Dist, request: &Request, target: &'static Target) -> Result<(), Failure> {
    let name = target.name;
    if request.targets.iter().any(|other| other.name != name) {
        return Err(Failure::usage(format!("`{name}` has no place beside other targets")));
    }
    if args.kind != Packaging::File {
        return Err(Failure::usage(format!("--target {name} has no place beside --kind")));
    }
    let other = [("--sizes", args.sizes), ("--measure", args.measure)];
    if let Some((flag, _)) = other.into_iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("{flag} has no place beside --target {name}")));
    }
    let ciphers = asked(args)?;
    let (folder, stem) = place(args, "cu")?;
    verify(&ciphers)?;
    let files = ciphers
        .iter()
        .map(|cipher| usuba_library::grids(request, target, cipher, stem.as_deref()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::Program)?;
    write(&folder, &files.concat())
}

/// The ciphers of files, of which there is at least one.
fn asked(args: &Dist) -> Result<Vec<Cipher>, Failure> {
    if args.subjects.is_empty() {
        return Err(Failure::usage("there is no cipher to write; help: name one"));
    }
    let ciphers = ciphers(args)?;
    if !args.functions.functions.is_empty() && ciphers.len() > 1 {
        return Err(Failure::usage(
            "--function takes functions of one cipher, and there are several",
        ));
    }
    Ok(ciphers)
}

/// A table about ciphers and targets.
type Table = fn(&[Cipher], &[&'static Target]) -> Result<String, String>;

/// The table that a former flag asks for, with the flag and its place in `usubac ciphers`.
fn table(args: &Dist) -> Option<(&'static str, &'static str, Table)> {
    match args {
        Dist { status: true, .. } => Some(("status", "status", usuba_library::status)),
        Dist { curves: true, .. } => Some(("curves", "curves", usuba_library::curves)),
        Dist { ladders: true, .. } => Some(("ladders", "thresholds", super::ciphers::thresholds)),
        _ => None,
    }
}

/// The C file of an output, with the bytes of its functions.
fn sizes(folder: &Path, Written { files, extents, .. }: &Written) -> String {
    let paths = files.iter().map(|file| &file.path);
    let c: Vec<String> = paths
        .filter(|path| path.ends_with(".c"))
        .map(|path| folder.join(path).display().to_string())
        .collect();
    format!("{}\n{}", c.join(", "), usuba_library::table(extents))
}

/// The folder of a kind of output that is one.
fn folder(args: &Dist) -> Result<&Path, Failure> {
    args.output.output.as_deref().ok_or_else(|| {
        Failure::usage("this --kind writes a folder; help: name it with --output DIR")
    })
}

/// Checks the functions of ciphers and of their dependencies against the test vectors.
fn verify(ciphers: &[Cipher]) -> Result<(), Failure> {
    let (folder, build) = (cache::home("known-answers"), cache::this_build());
    let kept = folder.as_deref().zip(build);
    let all = usuba_ciphers::with_needs(ciphers).map_err(Failure::Program)?;
    all.iter().try_for_each(|cipher| cipher.verify(kept)).map_err(Failure::Program)
}

/// Writes the files that `writer` makes of several ciphers together.
fn whole(
    folder: &Path,
    ciphers: &[Cipher],
    writer: impl FnOnce(&[Cipher], &mut dyn FnMut(&str)) -> Result<Vec<File>, String>,
) -> Result<(), Failure> {
    verify(ciphers)?;
    let bar = ProgressBar::new(ciphers.len() as u64);
    let files = writer(ciphers, &mut |_| bar.inc(1));
    bar.finish_and_clear();
    write(folder, &files.map_err(Failure::Program)?)
}

/// Rounds of a measurement, whose minimum counts.
const ROUNDS: u32 = 200;

fn measure(args: &Dist, request: &Request) -> Result<(), Failure> {
    let ciphers = ciphers(args)?;
    ciphers.iter().try_for_each(|cipher| changeable(&cipher.folder))?;
    let bar = ProgressBar::new(ciphers.len() as u64);
    for cipher in &ciphers {
        let targets = usuba_library::backends(&request.targets, std::slice::from_ref(cipher));
        let mut all = Costs::read(&cipher.folder).map_err(Failure::Program)?;
        let found = compilers(targets[0]).map_err(Failure::Program)?;
        let paths: Vec<PathBuf> =
            found.iter().map(|found| found.machine.compiler.clone()).collect();
        let costs = measure::measure(cipher, &targets, &paths, ROUNDS).map_err(Failure::Program)?;
        let compilers: Vec<&str> = found.iter().map(|found| &*found.name).collect();
        let machine = Machine {
            family: measure::family(),
            processor: Host::here().processor,
            compilers: compilers.join(", "),
        };
        all.replace(machine, costs);
        let path = cipher.folder.join(FILE);
        write_all(&[(Place::File(path), all.text())])?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

fn targets(args: &Dist) -> Vec<&'static Target> {
    match args.targets.is_empty() {
        true => usuba_library::usual(),
        false => args.targets.all(),
    }
}

/// The selected ciphers, or all.
fn ciphers(args: &Dist) -> Result<Vec<Cipher>, Failure> {
    args.folder.library().chosen(&args.subjects).map_err(Failure::Program)
}

/// The output folder, and the stem of its files if one was given: a path with this ending.
fn place(args: &Dist, wanted: &str) -> Result<(PathBuf, Option<String>), Failure> {
    let Some(out) = &args.output.output else { return Ok((PathBuf::from("."), None)) };
    if out.extension().is_none_or(|ending| ending != wanted) {
        return Ok((out.clone(), None));
    }
    if args.subjects.len() != 1 {
        return Err(Failure::usage("--output names one file, and there are several ciphers"));
    }
    let stem = out.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !usuba_library::is_stem(&stem) {
        return Err(Failure::usage(format!(
            "found the file name {stem:?}, expected letters, digits, `_`, `-`, `.` and `+`"
        )));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")).to_path_buf(), Some(stem)))
}

fn write(folder: &Path, files: &[File]) -> Result<(), Failure> {
    let mut places = Vec::new();
    for File { path, text } in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| {
                Failure::program(format!("cannot make {}: {}", parent.display(), plain(&error)))
            })?;
        }
        places.push((Place::File(path), text.clone()));
    }
    write_all(&places)
}
