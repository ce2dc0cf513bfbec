//! How many micro-operations begin in a cycle, by a model of a processor: `llvm-mca`.
//!
//! Counters of micro-operations cannot be read on most machines, and count retired ones on others.
//! The model schedules the instructions of a kernel as Skylake does; it knows neither caches nor the
//! front end. Reports say that its numbers are modelled.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use usuba::isa::Target;

use super::slicing;
use crate::bench::Side;
use usuba_ciphers::{Cipher, Function};
use usuba_run::cc::{Machine, run};
use usuba_run::functions::build_for;

/// The processor of the model.
const CPU: &str = "skylake";

/// Calls of the kernel behind each other.
const CALLS: &str = "3";

/// The head of the table of the model's answer.
const HEAD: &str = "number of cycles where we saw N micro opcodes issued";

/// The share of cycles in which at least 0, 1, 2, ... micro-operations begin; `None` without the model,
/// or if it does not know an instruction.
pub fn busy(
    cipher: &Cipher,
    function: &Function,
    letter: &str,
    target: &'static Target,
    side: &Side,
    machine: &Machine,
) -> Option<Vec<f64>> {
    let slicing = slicing(letter)?;
    let name = &function.name;
    let built =
        build_for(cipher, function, name, slicing, target, side.cpu, &side.pipeline).ok()?;
    let place = tempfile::tempdir().ok()?;
    fs::write(place.path().join("kernel.c"), &built.kernel.text).ok()?;
    let mut compile = machine.compile();
    compile.current_dir(place.path()).args(&side.flags).args(["-w", "-S", "kernel.c"]);
    run(&mut compile).ok()?;
    let mut model = Command::new(program()?);
    model.current_dir(place.path()).args(["-mcpu", CPU, "-iterations", CALLS]).args([
        "-scheduler-stats",
        "-instruction-info=false",
        "-resource-pressure=false",
        "kernel.s",
    ]);
    read(&run(&mut model).ok()?)
}

/// The model's program.
fn program() -> Option<PathBuf> {
    let versions = (14..=21).rev().map(|version| format!("llvm-mca-{version}"));
    let names = ["llvm-mca".to_string()].into_iter().chain(versions);
    let answers = |name: &String| Command::new(name).arg("--version").output().is_ok();
    names.into_iter().find(answers).map(PathBuf::from)
}

/// Reads the table: `[# issued], [# cycles]`, such as ` 3,          1569  (28.0%)`.
fn read(text: &str) -> Option<Vec<f64>> {
    let (_, table) = text.split_once(HEAD)?;
    let mut cycles: Vec<f64> = Vec::new();
    for line in table.lines().skip(2).take_while(|line| !line.trim().is_empty()) {
        let (issued, rest) = line.split_once(',')?;
        let issued: usize = issued.trim().parse().ok()?;
        cycles.resize(cycles.len().max(issued + 1), 0.0);
        cycles[issued] = rest.split_whitespace().next()?.parse().ok()?;
    }
    let all: f64 = cycles.iter().sum();
    let from = |n: usize| crate::record::rounded(cycles[n..].iter().sum::<f64>() / all);
    (all > 0.0).then(|| (0..cycles.len()).map(from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_model_is_read() {
        let text = format!(
            "Schedulers - {HEAD}:\n[# issued], [# cycles]\n 0,          10  (10.0%)\n \
             2,          30  (30.0%)\n 3,          60  (60.0%)\n\nScheduler's queue usage:\n"
        );
        assert_eq!(read(&text), Some(vec![1.0, 0.9, 0.9, 0.6]));
        assert_eq!(read("error: unknown CPU"), None);
    }
}
