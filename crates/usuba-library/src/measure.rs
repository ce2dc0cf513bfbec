//! Cost measurement: cycles of calls of all cores of a cipher folder on this machine.
//!
//! All cores are in one program and take turns. The minimum over all rounds counts, because a
//! dispatch table compares kernels without the disturbances of the machine.

use std::fs;
use std::process::Command;

use usuba::isa::Target;

use super::cores::{self, Core};
use super::ladder::Cost;
use super::primitive::primitives;
use super::registers;
use super::section::{includes, section};
use super::template::{self as t, Template, context};
use usuba::emit::template::template;
use usuba_ciphers::Cipher;
use usuba_run::cc::{self, Family};

const DRIVER: Template = template!("measure.c.in");

/// Measures every core of a folder on each of the backends `targets` that this machine runs.
///
/// # Errors
/// A compiler rejects its input, or the program does not run.
pub fn measure(
    cipher: &Cipher,
    targets: &[&'static Target],
    rounds: u32,
) -> Result<Vec<Cost>, String> {
    let native = |target: &&Target| cc::find_native(target.name, Family::Any).is_ok();
    let targets: Vec<_> = registers(targets, &[cipher]).into_iter().filter(native).collect();
    let [first, ..] = targets[..] else {
        return Err("this machine runs none of the targets".into());
    };
    let machine = cc::find_native(first.name, Family::Any).map_err(|skip| skip.to_string())?;
    let (cores, _) = cores::compile(cipher, primitives(cipher), &targets, "static ", false)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, program) = (folder.path().join("measure.c"), folder.path().join("measure"));
    fs::write(&source, text(&cores, &targets, rounds)).map_err(|error| error.to_string())?;
    let mut compile = Command::new(&machine.compiler);
    compile.args(["-std=gnu11", "-O3", "-w", "-o"]).arg(&program).arg(&source);
    run(&mut compile)?;
    let answer = run(&mut Command::new(&program))?;
    let mut costs: Vec<Cost> = cores
        .iter()
        .map(|core| Cost {
            function: core.function.name.clone(),
            slicing: cores::letter(core.slicing).to_string(),
            target: core.target.name.to_string(),
            unit: core.unit,
            batch: core.batch,
            cycles: Vec::new(),
        })
        .collect();
    for line in answer.lines() {
        let parts = line.split_once(' ');
        let parts = parts.and_then(|(core, ticks)| Some((core.parse().ok()?, ticks.parse().ok()?)));
        let (core, ticks): (usize, f64) = parts.ok_or("the program answers something else")?;
        costs.get_mut(core).ok_or("the program names another core")?.cycles.push(ticks);
    }
    Ok(costs)
}

/// Runs a command and returns its standard output.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The C program with all cores and the driver.
fn text(cores: &[Core], targets: &[&'static Target], rounds: u32) -> String {
    let most = |of: &dyn Fn(&Core) -> usize| cores.iter().map(of).max().unwrap_or(1);
    let small = context! { chunk => 1, counters => 1, block_max => 1, backends => 1 };
    let mut text = t::INTERNAL_H.to_string() + &t::BACKENDS_H.render(small) + &includes(targets);
    for target in targets {
        let here = cores.iter().filter(|core| core.target.name == target.name);
        let functions: String = here.map(|core| &*core.text).collect();
        text += &section(target, target.name, &functions);
    }
    let row = |core: &Core| {
        let Core { symbol, chained, input, output, unit, batch, .. } = core;
        context! { symbol, chained, input, output, unit, batch }
    };
    text + &DRIVER.render(context! {
        cores => cores.iter().map(row).collect::<Vec<_>>(),
        points => most(&|core| core.batch / core.unit + 1),
        in_bytes => most(&|core| 2 * core.batch * core.input),
        out_bytes => most(&|core| 2 * core.batch * core.output),
        messages => most(&|core| 2 * core.batch),
        key => most(&|core| core.key_words),
        rounds,
    })
}
