//! One test per file of `tests/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use usuba_gen::asks_rarely;

use libtest_mimic::{Failed, Trial};
use usuba::diag::Code;
use usuba::ir::{self, Slicing};
use usuba::isa;
use usuba_run::cc::{self, Machine};
use usuba_run::validated::{Proofs, Trouble, optimised};

use crate::case::{Case, Mode};
use crate::native::{Call, Job};
use crate::{compile, count, data, engines, expect, marks, native, run};

/// The folder of the text files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// The test files, sorted, each with its name relative to the folder.
pub fn files() -> Vec<(String, PathBuf)> {
    fn visit(folder: &Path, prefix: &str, out: &mut Vec<(String, PathBuf)>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let path = entry.path();
            if path.is_dir() {
                visit(&path, &format!("{name}/"), out);
            } else if path.extension().is_some_and(|e| e == "ua") {
                out.push((name, path));
            }
        }
    }
    let mut out = Vec::new();
    visit(&folder(), "", &mut out);
    out.sort();
    out
}

/// Whether expectations are to be rewritten.
fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|v| v == "1")
}

/// Whether the marks of the files name every code that a diagnostic can have.
fn every_code_has_a_test() -> Result<(), Failed> {
    let mut named = BTreeSet::new();
    for (name, path) in files() {
        let text = fs::read_to_string(&path)?;
        let case = Case::parse(&text).map_err(|why| format!("{name}: {why}"))?;
        named.extend(case.marks.into_iter().flatten().map(|mark| mark.code));
    }
    let missing: Vec<String> = Code::ALL
        .iter()
        .filter(|code| !named.contains(code.as_str()))
        .map(|code| format!("{code}, {}", code.title()))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("no file has a mark with\n{}", missing.join("\n")).into()),
    }
}

/// The lines of one entry of one file as jobs for a target, in every slicing that it has there.
fn jobs(name: &str, case: &Case, entry: &str, target: &str) -> Result<Vec<Job>, String> {
    let mut flags = case.flags.clone();
    flags.target = isa::find(target).expect("a target of a machine");
    let front = compile::front(case, Some(entry));
    let checked = front.checked.ok_or_else(|| compile::list(&front.found))?;
    let proofs = Proofs::asked(asks_rarely!("{name}, {entry} on {target}"));
    let mut out = Vec::new();
    for slicing in [Slicing::V, Slicing::B, Slicing::H, Slicing::W] {
        // Where registers have no lanes W is V.
        let lanes = slicing != Slicing::W || flags.target.simd;
        if !lanes || !engines::wanted(&checked, &flags, slicing)? {
            continue;
        }
        let program = match optimised(&checked.program, &flags.options(slicing), proofs) {
            Ok(program) => program,
            // The in-process engines saw to it that the slicing exists where it must.
            Err(Trouble::Findings(found)) if compile::is_refusal(&found) => continue,
            Err(trouble) => return Err(trouble.explained(|found| compile::list(&found))),
        };
        let instances = native::instances(&program, flags.target)?;
        let mut calls = Vec::new();
        for run in case.runs.iter().filter(|run| run.entry == entry) {
            let ports: Vec<_> = program.params().iter().map(|group| group[0].clone()).collect();
            let inputs = data::rows(&ports, instances, Some(&run.inputs), run.line as u64);
            let mut outputs = vec![run.outputs.clone()];
            for row in &inputs[1..] {
                outputs.push(engines::eval(&checked, &flags, row)?);
            }
            calls.push(Call { inputs, outputs });
        }
        out.push(Job { name: format!("{name}: {entry} in {slicing:?}"), program, calls });
    }
    Ok(out)
}

/// Runs the `run:` lines of all files as machine code.
fn native_files(machine: &Machine) -> Result<(), Failed> {
    let mut all = Vec::new();
    let mut wrong = Vec::new();
    for (name, path) in files() {
        let case = Case::parse(&fs::read_to_string(&path)?)?;
        for entry in run::entries(&case) {
            match jobs(&name, &case, entry, machine.target) {
                Ok(jobs) => all.extend(jobs),
                Err(why) => wrong.push(format!("{name}: {entry}: {why}")),
            }
        }
    }
    wrong.extend(native::run(machine, "-O0", &all));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// One test per target; those that this machine cannot run are ignored by name and reason.
fn native_trials() -> Vec<Trial> {
    let trial = |answer| match answer {
        Ok(machine) => {
            let machine: Machine = machine;
            Trial::test(format!("native {}", machine.target), move || native_files(&machine))
        }
        Err(skip) => Trial::test(format!("native: {skip}"), || Ok(())).with_ignored_flag(true),
    };
    cc::survey().into_iter().map(trial).collect()
}

/// A test for every file, and those about all files.
pub fn trials() -> Vec<Trial> {
    let trial = |(name, path): (String, PathBuf)| {
        Trial::test(name, move || {
            let text = fs::read_to_string(&path).map_err(|e| Failed::from(e.to_string()))?;
            match test(&text, blessing()) {
                Ok(None) => Ok(()),
                Ok(Some(blessed)) => Ok(fs::write(&path, blessed)?),
                Err(why) => Err(Failed::from(why)),
            }
        })
    };
    let mut trials: Vec<Trial> = files().into_iter().map(trial).collect();
    trials.push(Trial::test("every diagnostic code has a test", every_code_has_a_test));
    trials.extend(native_trials());
    trials
}

/// Runs one test. With `bless`, expectations that do not hold are rewritten and the new text is
/// returned.
///
/// # Errors
/// The failures, in lines.
pub fn test(text: &str, bless: bool) -> Result<Option<String>, String> {
    let case = Case::parse(text)?;
    if !bless {
        case.complete()?;
    }
    let front = compile::front(&case, None);
    let mut found = front.found.clone();
    let mut printed = None;
    let mut wrong = Vec::new();
    if let (Mode::Lower | Mode::Pass(_), Some(checked)) = (&case.mode, &front.checked) {
        let slicing = case.flags.slicing.unwrap_or(ir::Slicing::V);
        match compile::lower(checked, &case.flags, slicing) {
            Ok(mut program) => {
                if let Err(rule) = ir::verify::verify(&program) {
                    wrong.push(format!("the slicer broke a rule: {rule}"));
                }
                if let Mode::Pass(name) = &case.mode {
                    engines::run_pass(&mut program, &case.flags, name)?;
                }
                for (line, words) in &case.counts {
                    if let Err(why) = count::compare(&program, words) {
                        wrong.push(format!("line {line}: {why}"));
                    }
                }
                printed = Some(usuba::dump::program(&program));
            }
            Err(more) => found.extend(more),
        }
    }
    let part_of = front.part_of(&case);
    let above: Vec<usize> = case.parts.iter().map(|p| p.above).collect();
    let diagnosed = marks::compare(&part_of, &above, &case.marks, &front.sources, &found);
    let expected = match (&case.expect, &printed) {
        (Some(want), Some(printed)) => expect::compare(want, printed),
        (Some(_), None) => Err("nothing to print".into()),
        (None, _) => Ok(()),
    };
    if bless && (diagnosed.is_err() || expected.is_err()) {
        return Ok(Some(blessed(&case, &front, &found, printed.as_deref())));
    }
    wrong.extend(diagnosed.err());
    wrong.extend(expected.err());
    if !case.runs.is_empty() {
        wrong.extend(run::all(&case).err());
    }
    if wrong.is_empty() { Ok(None) } else { Err(wrong.join("\n")) }
}

/// The text of a test with the findings and the printed program of this compiler.
fn blessed(
    case: &Case,
    front: &compile::Front,
    found: &[usuba::diag::Diagnostic],
    printed: Option<&str>,
) -> String {
    let part_of = front.part_of(case);
    let mut out = String::new();
    for (index, part) in case.parts.iter().enumerate() {
        if index > 0 {
            out.push_str(&format!("# file: {}\n", part.name));
        }
        let old = &case.marks[index];
        out.push_str(&marks::bless(&part.text, index, &part_of, &front.sources, found, old));
    }
    if let (Some(_), Some(printed)) = (&case.expect, printed) {
        out.push_str(&expect::block(printed));
    }
    out
}
