//! The assembly back end of the Usuba compiler: Usuba0 to assembly language for x86-64 with AVX2 or
//! AVX-512.
//!
//! ```text
//! Usuba0 ─select→ code ─schedule→ code ─allocate→ steps ─print→ .S
//!                           └──────── check ────────┘
//! ```
//!
//! C compilers spill, copy and reorder a schedule of the passes, each in its own way; an assembler
//! does not. The result of every step is data, and nothing here is
//! trusted: [`check`] compares the allocation with the code before it, and the prover compares the
//! object file with the program, bit by bit.
//!
//! - [`form`]: instructions, by the text of the rows in `usuba::isa`.
//! - [`code`]: instructions on virtual registers; [`steps`]: on registers and memory.
//! - [`select`], [`schedule`], [`allocate`], [`print`]: the steps of the back end; [`address`]:
//!   general-purpose registers for addresses.
//! - [`check`]: the allocation checker, which knows nothing of the allocator.
//! - [`throughput`]: estimated cycles, by which one of several schedules is chosen.
//! - [`workload`]: the instructions of a program, and the least cycles that a processor needs.

pub mod address;
pub mod allocate;
pub mod check;
pub mod code;
pub mod form;
pub mod print;
pub mod schedule;
pub mod select;
pub mod steps;
pub mod throughput;
pub mod workload;

use usuba::emit::c::{COptions, Emitted, kernel, takes_bytes};
use usuba::emit::{header, keys, layout};
use usuba::ir::Program;
use usuba::isa::cpu::{self, Cpu, GENERIC, Unit};
use usuba::isa::{self, Layout, Target};
use usuba::passes::pipeline::run_pass;
use usuba::passes::{self, PassOptions, inline};

use code::Code;
use print::Printed;
use schedule::Rule;
use steps::Allocated;

/// The rules of scheduling that are tried where words are in lanes. Under bitslicing the order of
/// the passes is the best one: it has few live values.
const RULES: [Rule; 4] = [Rule::Source, Rule::Paths(100), Rule::Paths(300), Rule::Pressure(100)];

/// The targets with assembly language.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    isa::all().filter(|target| has_assembly(target))
}

/// Whether the back end knows the registers of a target.
pub fn has_assembly(target: &Target) -> bool {
    matches!(target.family(), "avx2" | "avx512") && target.machine.is_none()
}

/// Refuses a target without assembly language.
///
/// # Errors
/// The names of those that have it.
pub fn check_target(target: &Target) -> Result<(), String> {
    if has_assembly(target) {
        return Ok(());
    }
    let names: Vec<&str> = targets().map(|target| target.name).collect();
    let names = names.join(", ");
    Err(format!("`{}` has no assembly language; it exists for {names}", target.name))
}

/// The kernel of a program in assembly language. All but the text is as in C: the prototype, the
/// arrays, the comment on top.
///
/// # Errors
/// The program or the target has no assembly language; the message says why, in the user's words.
pub fn assemble(
    program: &Program,
    target: &'static Target,
    cpu: &'static Cpu,
    options: &COptions,
) -> Result<Emitted, String> {
    let emitted = kernel(program, target, options);
    let comment = header::comment(program, target, options, &emitted);
    let text = printed(program, &emitted, target, cpu, options)?.file(&emitted, &comment);
    Ok(Emitted { text, ..emitted })
}

/// The instructions of a kernel whose C is `emitted`.
///
/// # Errors
/// As for [`assemble`].
pub fn printed(
    program: &Program,
    emitted: &Emitted,
    target: &'static Target,
    cpu: &'static Cpu,
    options: &COptions,
) -> Result<Printed, String> {
    let (code, allocated) = compiled(program, target, cpu, options)?;
    print::print(&code, &allocated, target, emitted, options.origins.as_deref())
}

/// The same kernel in a C file: its declaration, and its instructions as an assembler statement for
/// ELF systems.
///
/// # Errors
/// As for [`assemble`].
pub fn in_c(
    program: &Program,
    target: &'static Target,
    cpu: &'static Cpu,
    options: &COptions,
) -> Result<String, String> {
    let emitted = kernel(program, target, options);
    let statement = printed(program, &emitted, target, cpu, options)?.statement(&emitted);
    let (includes, declaration) =
        (header::includes(target), header::declaration(target, &emitted.prototype));
    Ok(format!("{includes}\n{declaration}\n{statement}"))
}

/// The code of a program, scheduled, and its allocation.
///
/// # Errors
/// As for [`assemble`].
pub fn compiled(
    program: &Program,
    target: &'static Target,
    cpu: &'static Cpu,
    options: &COptions,
) -> Result<(Code, Allocated), String> {
    check_target(target)?;
    refuse(program, options)?;
    let flat = match options.complemented_keys {
        true => keys::without_complements(program),
        false => program.clone(),
    };
    let flat = without_calls(&flat);
    let code = select::code(&flat, target)?;
    let regs = target.regs as usize;
    let rules = match layout(program, target) {
        Layout::Bits => &RULES[..1],
        _ => &RULES[..],
    };
    let own = cpu.unit(target).or_else(|| GENERIC.unit(target));
    let own = own.ok_or_else(|| format!("no processor is known for `{}`", target.name))?;
    let made = rules.iter().map(|&rule| {
        let mut code = code.clone();
        schedule::schedule(&mut code, own, regs, rule);
        let allocated = allocate::allocate(&code, regs, target.bits / 8);
        (code, allocated)
    });
    let mut made: Vec<(Code, Allocated)> = made.collect();
    let best = fastest(&made, &units(target, cpu));
    let (code, allocated) = made.swap_remove(best);
    if let Err(wrong) = check::check(&code, &allocated, regs) {
        panic!("the allocation of registers is wrong: {wrong}");
    }
    Ok((code, allocated))
}

/// The program with all calls inlined, but calls of kernels in other files.
pub fn without_calls(program: &Program) -> Program {
    let mut flat = program.clone();
    let inlined = PassOptions { inline: inline::Mode::All, ..PassOptions::default() };
    for name in ["inline", "inline-rest"] {
        let pass = passes::find(name).expect("it is a pass");
        run_pass(pass, &mut flat, &inlined);
    }
    flat
}

/// Refuses programs and options that exist in C only.
fn refuse(program: &Program, options: &COptions) -> Result<(), String> {
    let part = if takes_bytes(program) {
        "ports of bytes exist"
    } else if options.wipe {
        "zeroization of the frame exists"
    } else if options.registers {
        "keys in registers exist"
    } else {
        return Ok(());
    };
    Err(format!("{part} in C only; leave out --emit asm"))
}

/// The registers of a target on the processor that the code is for: without one, on all that are
/// modelled.
fn units(target: &Target, cpu: &'static Cpu) -> Vec<&'static Unit> {
    let of = |cpu: &&'static Cpu| target.processor.runs_on("x86_64").then(|| cpu.unit(target))?;
    match of(&cpu).filter(|_| cpu.name != GENERIC.name) {
        Some(unit) => vec![unit],
        None => cpu::ALL.iter().filter_map(of).collect(),
    }
}

/// The candidate whose estimated cycles exceed the least ones by the smallest factor, on the
/// processor where that factor is largest.
fn fastest(made: &[(Code, Allocated)], units: &[&Unit]) -> usize {
    if made.len() == 1 {
        return 0;
    }
    let cycles = |unit: &&Unit| -> Vec<u64> {
        made.iter().map(|(code, steps)| throughput::cycles(code, steps, unit)).collect()
    };
    let all: Vec<Vec<u64>> = units.iter().map(cycles).collect();
    // A factor in thousandths, so that equal ones are equal.
    let worst = |at: &usize| {
        let factor = |cycles: &Vec<u64>| {
            let least = cycles.iter().copied().min().unwrap_or(1).max(1);
            cycles[*at] * 1_000 / least
        };
        all.iter().map(factor).max()
    };
    (0..made.len()).min_by_key(worst).unwrap_or(0)
}
