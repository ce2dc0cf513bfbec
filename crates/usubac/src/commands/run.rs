//! `usubac run`: runs one instance through an engine, with the output as one line of JSON.

use serde::Serialize;
use serde_json::Value;
use usuba::emit::c::{COptions, kernel};
use usuba::ir::interp::{self, values_to_words, words_to_values};
use usuba::ir::op::mask;
use usuba::ir::{Program, Slicing};
use usuba::isa::Target;
use usuba::typed::{self, Instance, VarType};
use usuba_run::layout::Layout;
use usuba_run::{cc, native};

use super::front::{self, reported};
use super::slice;
use crate::args::common::Written;
use crate::args::{Abi, Engine, Run};
use crate::output::to_stdout;
use crate::report::Reporter;
use crate::{Failure, fault};

pub fn run(args: &Run, reporter: Reporter) -> Result<(), Failure> {
    let given = args.input.as_deref().map(parse_input).transpose()?;
    let input = front::read(&args.file, &args.language, reporter)?;
    let program = &input.checked.program;
    let failed = |d| reported(&input.sources, &[d], reporter);
    let slicing = args.language.slicing()?.unwrap_or(Slicing::V);
    let slicing = typed::check::slicing(program, slicing).map_err(failed)?;
    let instance =
        typed::check::entry_instance(program, slicing, args.language.word).map_err(failed)?;
    let sizes = word_sizes(program, &instance);
    let mut random = Random(args.seed.seed.unwrap_or(0));
    let inputs = given.unwrap_or_else(|| random.words(&sizes));
    fault::stage("running the program");
    // The reference semantics also checks the inputs.
    let meaning = |inputs: &[u64]| {
        typed::eval(program, &instance, inputs)
            .map_err(|findings| reported(&input.sources, &findings, reporter))
    };
    let outputs = meaning(&inputs)?;
    let compiled = || slice::compiled(&input, &args.language, &args.codegen, Abi::Usuba, reporter);
    let outputs = match args.engine {
        Engine::Eval => outputs,
        Engine::Interp => {
            let (program, _) = compiled()?;
            let rows = instances(&program, program.copies as usize, &inputs, &sizes, &mut random);
            let found = interpret(&program, &rows)?;
            confirmed("the program after all passes", &rows, found, &meaning)?
        }
        Engine::Native => {
            let (program, target) = compiled()?;
            let layout = Layout::new(&program, target.bits, target.simd, target.masks)
                .map_err(Failure::program)?;
            let rows = instances(&program, layout.instances(), &inputs, &sizes, &mut random);
            let found = native(&program, target, &layout, &rows)?;
            confirmed(&format!("the kernel on {}", target.name), &rows, found, &meaning)?
        }
    };
    let name = &program.entry_text();
    let result = JsonRun { entry: name, inputs: hex(&inputs), outputs: hex(&outputs) };
    to_stdout(&match args.form.or(Written::Json) {
        Written::Json => serde_json::to_string(&result).expect("strings have a JSON form") + "\n",
        Written::Human => format!(
            "{name}\n  inputs  {}\n  outputs {}\n",
            result.inputs.join(" "),
            result.outputs.join(" ")
        ),
    })
}

#[derive(Serialize)]
struct JsonRun<'a> {
    entry: &'a str,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

fn hex(words: &[u64]) -> Vec<String> {
    words.iter().map(|word| format!("{word:#x}")).collect()
}

/// Parses `[1, "0x2a"]`.
fn parse_input(text: &str) -> Result<Vec<u64>, Failure> {
    let wrong = |what: String| {
        Failure::usage(format!(
            "--input {what}; it is an array of numbers and \"0x...\" strings, as in '[1,\"0x2a\"]'"
        ))
    };
    let value: Value =
        serde_json::from_str(text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
    let Value::Array(items) = value else { return Err(wrong("is no array".into())) };
    let word = |item: &Value| match item {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
            _ => text.parse().ok().filter(|_| !text.starts_with('+')),
        },
        _ => None,
    };
    let read = |item: &Value| {
        word(item).ok_or_else(|| wrong(format!("contains {item}, no number of 64 bits")))
    };
    items.iter().map(read).collect()
}

/// The word size of every flattened input atom.
fn word_sizes(program: &typed::Program, instance: &Instance) -> Vec<u8> {
    let mut sizes = Vec::new();
    for var in &program.decls[instance.decl].params {
        if let VarType::Words { atom, .. } = &var.ty {
            let bits = instance.apply(atom).bits().expect("the entry has no open sizes");
            sizes.extend(std::iter::repeat_n(bits, var.ty.atoms()));
        }
    }
    sizes
}

/// Sebastiano Vigna's SplitMix64: well mixed for every seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn words(&mut self, sizes: &[u8]) -> Vec<u64> {
        sizes.iter().map(|&bits| self.next() & mask(bits)).collect()
    }
}

/// The reference semantics of a program.
type Meaning<'a> = dyn Fn(&[u64]) -> Result<Vec<u64>, Failure> + 'a;

/// Inputs of `count` instances: `first`, and random ones. A constant is uniform.
fn instances(
    program: &Program,
    count: usize,
    first: &[u64],
    sizes: &[u8],
    random: &mut Random,
) -> Vec<Vec<u64>> {
    let mut rows = vec![first.to_vec()];
    rows.extend((1..count).map(|_| random.words(sizes)));
    let mut at = 0;
    for group in program.params() {
        let words = at..at + group[0].words();
        at = words.end;
        if group[0].constant {
            for row in &mut rows[1..] {
                row[words.clone()].copy_from_slice(&first[words.clone()]);
            }
        }
    }
    rows
}

/// Runs all instances of one call by the interpreter.
fn interpret(program: &Program, rows: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, Failure> {
    let entry = program.entry();
    let mut words = Vec::new();
    let mut at = 0;
    for group in program.params() {
        let size = group[0].words();
        // A constant has one port, so it is taken from the first instance.
        let rows = rows.iter().take(group.len());
        words.extend(rows.flat_map(|row| &row[at..at + size]).copied());
        at += size;
    }
    let values = words_to_values(&entry.params, program.slicing, &words);
    let results = interp::run(program, &values);
    let results = results.map_err(|error| Failure::program(error.to_string()))?;
    let words = values_to_words(&entry.results, program.slicing, &results);
    let mut found = vec![Vec::new(); rows.len()];
    let mut words = words.as_slice();
    for group in program.results() {
        for (port, row) in group.iter().zip(&mut found) {
            let (own, rest) = words.split_at(port.words());
            row.extend(own);
            words = rest;
        }
    }
    Ok(found)
}

/// Compiles the kernel and calls it once, with different data in every instance.
fn native(
    program: &Program,
    target: &'static Target,
    layout: &Layout,
    rows: &[Vec<u64>],
) -> Result<Vec<Vec<u64>>, Failure> {
    let machine = cc::find(target.name).map_err(|skip| Failure::program(skip.to_string()))?;
    fault::stage("running the kernel");
    let emitted = kernel(program, target, &COptions::default());
    let [_, outputs] = layout.array_bytes(program);
    let call = native::Kernel {
        text: emitted.text,
        symbol: emitted.name,
        align: (target.bits as usize / 8).min(64),
        calls: vec![layout.pack_params(program, rows)],
        outputs,
    };
    let outputs = native::run_one(&machine, &["-O1"], call)
        .map_err(|failure| Failure::program(format!("the kernel on {machine}: {failure}")))?;
    Ok(layout.unpack_results(program, &outputs[0]))
}

/// The outputs of the first instance, after all instances agree with the reference semantics.
fn confirmed(
    what: &str,
    rows: &[Vec<u64>],
    mut found: Vec<Vec<u64>>,
    meaning: &Meaning,
) -> Result<Vec<u64>, Failure> {
    for (instance, (row, found)) in rows.iter().zip(&found).enumerate() {
        let wanted = meaning(row)?;
        if *found != wanted {
            return Err(Failure::Refuted(format!(
                "instance {instance} of {what} gives {:?} for {:?}, but the program means {:?}; \
                 this is a bug in usubac",
                hex(found),
                hex(row),
                hex(&wanted),
            )));
        }
    }
    Ok(found.swap_remove(0))
}
