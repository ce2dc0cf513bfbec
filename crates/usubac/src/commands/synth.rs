//! `usubac synth`: circuit synthesis for tables, and XOR minimisation for matrices.
//!
//! ```text
//! table ─┬─ file of the cache, if there is one ─┬─ entry of a database, node
//!        └─ usuba-synth ────────────────────────┘
//! ```
//!
//! The name of a cache file contains the class of the table, the gates, the budget and the version
//! of the search. A file is therefore never wrong, only unused. It has the form of the database.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use usuba::circuit::{self, Circuit, Gate, Goal, MAX_INPUTS, Profile, Table};
use usuba::diag::Sources;
use usuba::syntax::ast::DeclOpt;
use usuba::typed::walk::reverse_table;
use usuba::typed::{Decl, Flags, Kind};
use usuba_synth::matrix::{self, Matrix};

use super::front;
use crate::args::{Shape, Synth};
use crate::output::{Place, plain, to_stdout, write_all};
use crate::report::Reporter;
use crate::{Failure, fault, files};

/// A table and the name of its node.
struct Named {
    name: String,
    table: Table,
}

/// The folder of circuits that were found before.
fn folder_of(args: &Synth) -> Option<&Path> {
    args.cache.cache.as_deref()
}

/// Options that have no meaning for the subject are mistakes.
fn misplaced(args: &Synth) -> Option<&'static str> {
    let cache = args.cache.cache.is_some() || args.cache.no_cache;
    match (&args.file, &args.matrix) {
        (None, _) if args.entry.entry.is_some() => Some("--entry belongs to a program"),
        (None, _) if !args.includes.include.is_empty() => Some("-I belongs to a program"),
        (_, None) if args.seed.seed.is_some() => Some("--seed belongs to --matrix"),
        (_, Some(_)) if cache => Some("there is no cache for --matrix"),
        _ => None,
    }
}

pub fn run(args: &Synth, reporter: Reporter) -> Result<(), Failure> {
    if let Some(why) = misplaced(args) {
        return Err(Failure::usage(why));
    }
    if let Some(file) = &args.matrix {
        return linear(file, args);
    }
    let tables = match (&args.table, &args.file) {
        (Some(list), _) => vec![Named { name: "sbox".into(), table: inline(list, args.shape)? }],
        (None, Some(file)) => from_program(file, args, reporter)?,
        (None, None) => unreachable!("the command line has a subject"),
    };
    let profiles = match args.gates.is_empty() {
        true => Profile::ALL.to_vec(),
        false => args.gates.iter().map(|gates| gates.profile()).collect(),
    };
    fault::stage("searching circuits");
    let mut first = true;
    for named in &tables {
        for &profile in &profiles {
            let text = answer(named, profile, args)?;
            to_stdout(if std::mem::take(&mut first) { "" } else { "\n" })?;
            to_stdout(&text)?;
        }
    }
    Ok(())
}

/// The table in a list of entries.
fn inline(list: &str, bits: Option<Shape>) -> Result<Table, Failure> {
    let wrong = |what: String| Failure::program(format!("this is no table: {what}"));
    let mut entries = Vec::new();
    for word in list.split(',') {
        let word = word.trim();
        let entry = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        entries.push(entry.map_err(|_| wrong(format!("`{word}` is not a number")))?);
    }
    let count = entries.len();
    let most = entries.iter().max().copied().unwrap_or(0);
    let shape = match bits {
        Some(shape) => shape,
        None if count.is_power_of_two() && (2..=1 << MAX_INPUTS).contains(&count) => {
            Shape { inputs: count.ilog2() as u8, outputs: (64 - most.leading_zeros()).max(1) as u8 }
        }
        None => {
            let sizes = format!("2, 4, 8, ... or {}", 1 << MAX_INPUTS);
            return Err(wrong(format!("it has {count} entries, and a table has {sizes}")));
        }
    };
    let want = 1 << shape.inputs;
    if count != want {
        let inputs = shape.inputs;
        return Err(wrong(format!("{inputs} input bits need {want} entries, and it has {count}")));
    }
    if shape.outputs < 64 && most >> shape.outputs != 0 {
        let outputs = shape.outputs;
        return Err(wrong(format!("the entry {most} does not fit {outputs} output bits")));
    }
    Ok(Table { inputs: shape.inputs, outputs: shape.outputs, entries })
}

/// The tables of a program; each alternative of an array of tables separately.
fn from_program(file: &Path, args: &Synth, reporter: Reporter) -> Result<Vec<Named>, Failure> {
    fault::stage("checking the program");
    let mut sources = Sources::default();
    let (root, mut loader) = files::open(&mut sources, file, &args.includes.include)?;
    let entry = args.entry.entry.as_deref();
    let checked = usuba::front(&mut sources, root, &mut loader, entry, Flags::default())
        .map_err(|findings| front::reported(&sources, &findings, reporter))?;
    let program = &checked.program;
    let decls = match entry {
        Some(_) => &program.decls[program.entry..=program.entry],
        None => &program.decls[..],
    };
    let tables: Vec<Named> = decls.iter().flat_map(tables).collect();
    if tables.is_empty() {
        return Err(Failure::program(match entry {
            Some(name) => format!("`{name}` is not a table"),
            None => format!("there is no table in {}", file.display()),
        }));
    }
    Ok(tables)
}

fn tables(decl: &Decl) -> Vec<Named> {
    let Kind::Table(lists) = &decl.kind else { return Vec::new() };
    let inputs: usize = decl.params.iter().map(|var| var.ty.atoms()).sum();
    let outputs: usize = decl.results.iter().map(|var| var.ty.atoms()).sum();
    let table = |values: &[u64]| Table {
        inputs: inputs as u8,
        outputs: outputs as u8,
        entries: match decl.opts.contains(&DeclOpt::LsbFirst) {
            true => reverse_table(values, inputs, outputs),
            false => values.to_vec(),
        },
    };
    let name = |i: usize| match decl.array {
        true => format!("{}_{i}", decl.name),
        false => decl.name.to_string(),
    };
    lists
        .iter()
        .enumerate()
        .map(|(i, list)| Named { name: name(i), table: table(&list.values) })
        .collect()
}

/// The answer for one table and one kind of gates.
fn answer(named: &Named, profile: Profile, args: &Synth) -> Result<String, Failure> {
    let table = &named.table;
    let cached = folder_of(args).and_then(|folder| {
        let text =
            fs::read_to_string(folder.join(file_name(table, profile, args.node_limit)?)).ok()?;
        let circuit = circuit::in_entries(&text, table, profile, Goal::Size)?;
        let note = text.lines().next()?.strip_prefix("# ")?.to_string();
        Some((circuit, note))
    });
    let (circuit, note) = match cached {
        Some(found) => found,
        None => {
            let found = usuba_synth::synthesise(table, profile, args.node_limit);
            let gates = found.circuit.cost(profile).expect("gates of the profile");
            let bound = match found.least {
                least if least == gates => "; there is no smaller one".to_string(),
                0 => String::new(),
                least => format!("; there is none with fewer than {least}, not counting NOTs"),
            };
            let note = format!("{}{bound}", found.how);
            keep(&found.circuit, table, profile, &note, args)?;
            (found.circuit, note)
        }
    };
    let gates = circuit.cost(profile).expect("gates of the profile");
    let (inputs, outputs) = (table.inputs, table.outputs);
    let mut text = format!(
        "# {}, {inputs} to {outputs} bits, {}: {gates} gate{}, depth {}, {} live\n# {note}\n",
        named.name,
        profile.name(),
        if gates == 1 { "" } else { "s" },
        circuit.depth(),
        circuit.live()
    );
    // A circuit with more outputs than a class supports is still valid.
    let entry = circuit::entry(&circuit, profile);
    text += &entry.unwrap_or_else(|| format!("{circuit}\n"));
    let node = usuba_synth::node(&named.name, &circuit);
    let _ = write!(text, "\n{}", node);
    Ok(text)
}

/// The cache file of a table; `None` if it has too many outputs for a class.
fn file_name(table: &Table, profile: Profile, budget: u64) -> Option<String> {
    let key = circuit::class_key(table)?;
    let version = usuba_synth::VERSION;
    Some(format!("{key:016x}-{}-{budget}-{version}.txt", profile.name()))
}

/// Writes a circuit into the cache.
fn keep(
    circuit: &Circuit,
    table: &Table,
    profile: Profile,
    note: &str,
    args: &Synth,
) -> Result<(), Failure> {
    let Some(folder) = folder_of(args) else { return Ok(()) };
    let Some(name) = file_name(table, profile, args.node_limit) else { return Ok(()) };
    let Some(entry) = circuit::entry(circuit, profile) else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", folder.display(), plain(&error)))
    })?;
    write_all(&[(Place::File(folder.join(name)), format!("# {note}\n{entry}"))])
}

/// Synthesizes the XORs of a matrix.
fn linear(file: &Path, args: &Synth) -> Result<(), Failure> {
    fault::stage("searching sums");
    let text = files::read(file)?;
    let matrix = Matrix::parse(&text.text)
        .map_err(|what| Failure::program(format!("{}: {what}", text.name)))?;
    // Without three-input gates there are only XORs, even if other gates are available.
    let mut arities: Vec<usize> = args
        .gates
        .iter()
        .map(|gates| if gates.profile() == Profile::Lut3 { 3 } else { 2 })
        .collect();
    arities.dedup();
    if arities.is_empty() {
        arities.push(2);
    }
    for (i, &arity) in arities.iter().enumerate() {
        let circuit =
            matrix::synthesise(&matrix, arity, args.node_limit, args.seed.seed.unwrap_or(1));
        let gates = circuit.gates.iter().filter(|gate| **gate != Gate::Zero).count();
        to_stdout(&format!(
            "{}# matrix, {} to {} bits: {gates} {}, depth {}, {} live; {} xors row by row\n\
             {circuit}\n\n{}",
            if i == 0 { "" } else { "\n" },
            matrix.inputs,
            matrix.rows.len(),
            if arity == 3 { "sums of two or three" } else { "xors" },
            circuit.depth(),
            circuit.live(),
            matrix.naive(),
            usuba_synth::node("matrix", &circuit)
        ))?;
    }
    Ok(())
}
