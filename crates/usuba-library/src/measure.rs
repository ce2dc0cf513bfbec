//! Cost measurement: cycles of calls of all cores of a cipher folder on this machine.
//!
//! All cores are in one program and take turns, and each C compiler makes one program. The minimum over all rounds counts, because a
//! dispatch table compares kernels without the disturbances of the machine.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rayon::prelude::*;
use usuba::isa::Target;

use super::cores::{self, Assembly, Core};
use super::ladder::Cost;
use super::primitive::primitives;
use super::registers;
use super::section::{includes, section};
use super::template::{self as t, Template, context};
use usuba::emit::template::template;
use usuba_ciphers::Cipher;
use usuba_run::cc::{self, Family};
use usuba_run::cpuid;

const DRIVER: Template = template!("measure.c.in");

/// Measures every core of a folder on each of the backends `targets` that this machine runs, as C by
/// the better one of `compilers`, and in assembly language where the core has it.
///
/// # Errors
/// A compiler rejects its input, or the program does not run.
pub fn measure(
    cipher: &Cipher,
    targets: &[&'static Target],
    compilers: &[PathBuf],
    rounds: u32,
) -> Result<Vec<Cost>, String> {
    let native = |target: &&Target| cc::find_native(target.name, Family::Any).is_ok();
    let targets: Vec<_> = registers(targets, &[cipher]).into_iter().filter(native).collect();
    if targets.is_empty() {
        return Err("this machine runs none of the targets".into());
    }
    let (mut cores, _) = cores::compile(cipher, primitives(cipher), &targets, "static ", false)?;
    cores.iter_mut().for_each(|core| core.fused = None);
    let assembled: Vec<Option<Assembly>> =
        cores.par_iter().map(|core| core.assembled(&cipher.folder)).collect::<Result<_, _>>()?;
    let variants: Vec<Variant> = cores
        .iter()
        .enumerate()
        .flat_map(|(at, core)| {
            let other = assembled[at].as_ref().map(|kernels| Variant::assembly(at, core, kernels));
            [Variant::c(at, core)].into_iter().chain(other)
        })
        .collect();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| {
        fs::write(path(name), text).map_err(|error| format!("cannot write {name}: {error}"))
    };
    write("measure.c", &text(&cores, &variants, &targets, rounds))?;
    let functions: String = variants.iter().map(|variant| &*variant.functions).collect();
    write("kernels.S", &usuba_asm::print::joined("", &functions))?;
    let mut least: Vec<Vec<f64>> = vec![Vec::new(); variants.len()];
    let mut sums = least.clone();
    for compiler in compilers {
        let mut compile = Command::new(compiler);
        compile.args(["-std=gnu11", "-O3", "-w", "-DUSUBA_ASSEMBLY", "-o"]);
        run(compile.args([path("measure"), path("measure.c"), path("kernels.S")]))?;
        let answer = run(&mut Command::new(path("measure")))?;
        let mut points: Vec<Vec<f64>> = vec![Vec::new(); variants.len()];
        for line in answer.lines() {
            let parts = line.split_once(' ');
            let parts =
                parts.and_then(|(core, ticks)| Some((core.parse().ok()?, ticks.parse().ok()?)));
            let (core, ticks): (usize, f64) = parts.ok_or("the program answers something else")?;
            points.get_mut(core).ok_or("the program names another core")?.push(ticks);
        }
        for ((least, sums), points) in least.iter_mut().zip(&mut sums).zip(points) {
            match least.len() == points.len() {
                true => {
                    least.iter_mut().zip(&points).for_each(|(one, other)| *one = one.min(*other))
                }
                false => least.clone_from(&points),
            }
            match sums.len() == points.len() {
                true => sums.iter_mut().zip(points).for_each(|(sum, other)| *sum += other),
                false => *sums = points,
            }
        }
    }
    let count = compilers.len() as f64;
    let mut costs: Vec<Cost> = Vec::new();
    for ((variant, cycles), sums) in variants.iter().zip(least).zip(sums) {
        let core = &cores[variant.core];
        match costs.last_mut() {
            Some(cost) if variant.is_assembly => cost.assembly = Some(cycles),
            _ => costs.push(Cost {
                family: family(),
                function: core.function.name.clone(),
                slicing: cores::letter(core.slicing).to_string(),
                target: core.target.name.to_string(),
                unit: core.unit,
                batch: core.batch,
                cycles,
                mean: (count > 1.0).then(|| sums.into_iter().map(|sum| sum / count).collect()),
                assembly: None,
            }),
        }
    }
    Ok(costs)
}

/// The name of this machine's family: its CPU model, or its architecture without one.
pub fn family() -> String {
    cpuid::native().map_or(std::env::consts::ARCH, |cpu| cpu.name).to_string()
}

/// A core as C, or with kernels in assembly language.
struct Variant {
    core: usize,
    is_assembly: bool,
    symbol: String,
    /// Its C.
    text: String,
    /// Its kernels in assembly language.
    functions: String,
}

impl Variant {
    fn c(at: usize, core: &Core) -> Variant {
        let (symbol, text) = (core.symbol.clone(), core.text());
        Variant { core: at, is_assembly: false, symbol, text, functions: String::new() }
    }

    /// A core beside its C in one program, under other names.
    fn assembly(at: usize, core: &Core, kernels: &Assembly) -> Variant {
        let symbol = core.symbol.replacen("usuba_", "usuba_S_", 1);
        let named = |text: &str| text.replace(&core.symbol, &symbol);
        let text = named(&format!("{}{}", kernels.declarations, core.around));
        let functions = named(&kernels.functions);
        Variant { core: at, is_assembly: true, symbol, text, functions }
    }
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
fn text(cores: &[Core], variants: &[Variant], targets: &[&'static Target], rounds: u32) -> String {
    let most = |of: &dyn Fn(&Core) -> usize| cores.iter().map(of).max().unwrap_or(1);
    let small =
        context! { chunk => 1, counters => 1, block_max => 1, backends => 1, fused => false };
    let mut text = t::INTERNAL_H.to_string() + &t::BACKENDS_H.render(small) + &includes(targets);
    for target in targets {
        let here = variants.iter().filter(|variant| cores[variant.core].target.name == target.name);
        let functions: String = here.map(|variant| &*variant.text).collect();
        text += &section(target, target.name, &functions);
    }
    let row = |variant: &Variant| {
        let symbol = &variant.symbol;
        let Core { chained, input, output, unit, batch, .. } = &cores[variant.core];
        context! { symbol, chained, input, output, unit, batch }
    };
    text + &DRIVER.render(context! {
        cores => variants.iter().map(row).collect::<Vec<_>>(),
        points => most(&|core| core.batch / core.unit + 1),
        in_bytes => most(&|core| 2 * core.batch * core.input),
        out_bytes => most(&|core| 2 * core.batch * core.output),
        messages => most(&|core| 2 * core.batch),
        key => most(&|core| core.key_words),
        rounds,
    })
}
