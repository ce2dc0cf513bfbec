//! `usubac FILE`: compiles a program to C or to another requested output.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};
use usuba::diag::Sources;
use usuba::emit::abi;
use usuba::emit::c::{COptions, Emitted, kernel, takes_bytes};
use usuba::emit::header::{PortText, header};
use usuba::emit::places::Places;
use usuba::ir::{self, Program, Slicing};
use usuba::isa::Target;
use usuba::syntax::{parse, print};

use super::front::{self, Input, reported};
use super::{origins, slice, tuned};
use crate::args::{Abi, Codegen, Compile, Emit};
use crate::output::{Place, write_all};
use crate::report::Reporter;
use crate::{Failure, fault, files};

pub fn run(args: &Compile, reporter: Reporter) -> Result<(), Failure> {
    let Some(file) = args.file.as_deref() else {
        return Err(Failure::usage("there is no program to compile; `usubac --help` shows how"));
    };
    if args.codegen.wipe && args.abi == Abi::Usubac {
        return Err(Failure::usage(
            "--wipe has no place beside --abi usubac, whose functions keep copies of their own",
        ));
    }
    if args.emit == Emit::Asm && args.abi == Abi::Usubac {
        return Err(Failure::usage(
            "--emit asm has no place beside --abi usubac, whose functions are C",
        ));
    }
    if args.abi == Abi::Usubac && (args.origins || args.emit == Emit::Origins) {
        let flag = if args.origins { "--origins" } else { "--emit origins" };
        return Err(Failure::usage(format!(
            "{flag} has no place beside --abi usubac, whose functions are more than the kernel",
        )));
    }
    if args.data_bits.is_some() && args.abi != Abi::Usubac {
        return Err(Failure::usage(
            "--data-bits has no place without --abi usubac, whose functions convert words",
        ));
    }
    let place = place(args, file)?;
    if args.emit == Emit::Ast || args.parse_only {
        let tree = formatted(file, reporter)?;
        return if args.parse_only { Ok(()) } else { write_all(&[(place, tree)]) };
    }
    let input = front::read(file, &args.language, reporter)?;
    if args.type_only {
        return Ok(());
    }
    let tuned = tuned::find(args, file, &input, reporter)?;
    let (language, codegen, note) = match tuned {
        Some(tuned) => (tuned.language, Some(tuned.codegen), tuned.note),
        None => (args.language.clone(), None, String::new()),
    };
    let codegen = codegen.as_ref().unwrap_or(&args.codegen);
    let (program, target) = slice::compiled(&input, &language, codegen, args.abi, reporter)?;
    if args.abi == Abi::Usubac && takes_bytes(&program) {
        return Err(Failure::usage("--abi usubac has no ports of bytes; remove `le` and `be`"));
    }
    if let (Some(bits), true) = (args.data_bits, target.simd || program.slicing != Slicing::B) {
        return Err(Failure::usage(format!(
            "--data-bits {bits} is for bitsliced code in general-purpose registers; help: remove \
             it, or write -B and --target gp64"
        )));
    }
    fault::stage("writing the output");
    if args.emit == Emit::U0 {
        return write_all(&[(place, usuba::dump::program(&program))]);
    }
    let options =
        COptions { tuned: note, ..options(args, codegen, file, &input, &program, target) };
    let emitted = match args.abi {
        Abi::Usuba => kernel(&program, target, &options),
        Abi::Usubac => abi::usubac(&program, target, &options),
    };
    let head = || match args.abi {
        Abi::Usuba => header(&program, target, &options, &emitted),
        Abi::Usubac => abi::header(&program, target, &options, &emitted),
    };
    let text = match args.emit {
        Emit::H => head(),
        Emit::Json => json(&program, target, &emitted),
        Emit::Origins => origins::table(&program, &emitted, &Places::new(&input.sources)),
        Emit::Asm => assembly(&program, target, codegen, &options)?,
        _ => emitted.text.clone(),
    };
    let mut results = vec![(place, text)];
    if let Some(path) = &args.header {
        results.push((Place::new(path), head()));
    }
    write_all(&results)
}

/// The destination of the output. Outputs for inspection go to standard output.
fn place(args: &Compile, file: &Path) -> Result<Place, Failure> {
    let ending = match args.emit {
        Emit::C => "c",
        Emit::H => "h",
        Emit::Asm => "S",
        Emit::Ast | Emit::U0 | Emit::Json | Emit::Origins => "",
    };
    let place = match (&args.output.output, file.file_stem()) {
        (Some(path), _) => Place::new(path),
        (None, Some(stem)) if !ending.is_empty() && file != Path::new("-") => {
            Place::File(PathBuf::from(stem).with_extension(ending))
        }
        _ => Place::Stdout,
    };
    let outputs = [Some(place.clone()), args.header.as_deref().map(Place::new)];
    for output in outputs.into_iter().flatten() {
        let Place::File(path) = output else { continue };
        let same = match (std::fs::canonicalize(&path), std::fs::canonicalize(file)) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        if same {
            let path = path.display();
            return Err(Failure::usage(format!("the output {path} would replace the program")));
        }
    }
    Ok(place)
}

/// The kernel in assembly language.
fn assembly(
    program: &Program,
    target: &'static Target,
    codegen: &Codegen,
    options: &COptions,
) -> Result<String, Failure> {
    let emitted = usuba_asm::assemble(program, target, codegen.cpu, options);
    emitted.map(|emitted| emitted.text).map_err(Failure::program)
}

fn formatted(file: &Path, reporter: Reporter) -> Result<String, Failure> {
    fault::stage("parsing the program");
    let text = files::read(file)?;
    let mut sources = Sources::default();
    let id = sources.add(text.name, text.text);
    let (tree, findings) = parse(&sources, id);
    if findings.iter().any(|d| d.is_error()) {
        return Err(reported(&sources, &findings, reporter));
    }
    Ok(print::format(&tree, &sources.file(id).text))
}

fn letter(slicing: Slicing) -> &'static str {
    match slicing {
        Slicing::V => "V",
        Slicing::H => "H",
        Slicing::B => "B",
        Slicing::W => "W",
    }
}

/// Options of the emitter. The recorded command contains every input of the text, and not its
/// destination.
fn options(
    args: &Compile,
    codegen: &Codegen,
    file: &Path,
    input: &Input,
    program: &Program,
    target: &Target,
) -> COptions {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_owned();
    let name = |path: &Path| name(path).to_string_lossy().into_owned();
    let mut command =
        format!("usubac {} -{} --target {}", name(file), letter(program.slicing), target.name);
    if let Some(bits) = args.language.word {
        command.push_str(&format!(" -m {bits}"));
    }
    if let Some(entry) = args.language.entry() {
        let quote = if entry.contains(['(', '<']) { "\"" } else { "" };
        command.push_str(&format!(" --entry {quote}{entry}{quote}"));
    }
    let tables = [
        (args.language.keep_tables, " --keep-tables"),
        (args.language.legacy_tables, " --legacy-tables"),
    ];
    command.extend(tables.iter().filter(|(on, _)| *on).map(|(_, flag)| *flag));
    if args.abi == Abi::Usubac {
        command.push_str(" --abi usubac");
    }
    if let Some(bits) = args.data_bits {
        command.push_str(&format!(" --data-bits {bits}"));
    }
    if args.origins {
        command.push_str(" --origins");
    }
    command.push_str(&codegen.written());
    let hashes = input.sources.files.iter().map(|source| {
        let digest = Sha256::digest(source.text.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} sha256 {hex}", name(Path::new(&source.name)))
    });
    COptions {
        command,
        source_hash: hashes.collect::<Vec<_>>().join(", "),
        version: env!("CARGO_PKG_VERSION").to_string(),
        data_bits: args.data_bits,
        origins: args.origins.then(|| Arc::new(Places::new(&input.sources))),
        ..codegen.text()
    }
}

#[derive(Serialize)]
struct JsonKernel<'a> {
    name: &'a str,
    prototype: &'a str,
    slicing: &'static str,
    target: &'static str,
    cflags: &'static [&'static str],
    /// Instances of one register.
    lanes: u32,
    /// The interleave factor: the register sets of every port that is not constant.
    copies: u32,
    params: Vec<JsonPort<'a>>,
    results: Vec<JsonPort<'a>>,
    operations: &'a std::collections::BTreeMap<&'static str, u64>,
    instructions: u64,
    live: usize,
}

#[derive(Serialize)]
struct JsonPort<'a> {
    name: &'a str,
    word_bits: u8,
    dims: &'a [u32],
    constant: bool,
    /// The order of the bytes of each word, if the registers are bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'static str>,
    c_type: &'a str,
    /// Register sets, side by side.
    sets: usize,
    /// Registers of all sets.
    registers: usize,
}

fn json(program: &Program, target: &'static Target, emitted: &Emitted) -> String {
    fn ports<'a>(ports: &'a [ir::Port], texts: &'a [PortText]) -> Vec<JsonPort<'a>> {
        let port = |(port, text): (&'a ir::Port, &'a PortText)| JsonPort {
            name: &text.name,
            word_bits: port.word,
            dims: &port.dims,
            constant: port.constant,
            bytes: port.bytes.map(ir::ByteOrder::word),
            c_type: text.c_type,
            sets: text.sets,
            registers: text.registers,
        };
        // The ports of several sets are equal except for their names.
        let mut rest = ports.iter();
        let mut of = |text: &PortText| rest.nth(text.sets - 1);
        texts.iter().filter_map(|text| Some(port((of(text)?, text)))).collect()
    }
    let entry = program.entry();
    let kernel = JsonKernel {
        name: &emitted.name,
        prototype: &emitted.prototype,
        slicing: letter(program.slicing),
        target: target.name,
        cflags: target.cflags,
        lanes: emitted.lanes,
        copies: emitted.copies,
        params: ports(&entry.params, &emitted.params),
        results: ports(&entry.results, &emitted.results),
        operations: &emitted.stats.operations.by_name,
        instructions: emitted.stats.operations.computing(),
        live: emitted.stats.live,
    };
    let text = serde_json::to_string(&kernel).expect("strings and numbers have a JSON form");
    text + "\n"
}
