//! Values of flags: their syntax and their error messages.

use std::fmt;
use std::time::Duration;

use usuba::isa::cpu::{self, Cpu};
use usuba::isa::{self, Target};
use usuba::names::did_you_mean;
use usuba::passes;
use usuba_run::{cc, cpuid};

use super::common::Arch;

pub fn parse_arch(name: &str) -> Result<Arch, String> {
    let native = name == "native";
    match if native { Some(best_here()) } else { isa::find(name) } {
        Some(target) => Ok(Arch { target, native }),
        None => {
            let names = isa::all().map(|target| target.name).chain(["native"]);
            Err(advice("targets", name, names))
        }
    }
}

/// The candidate that an unknown name is close to, or all of them.
fn advice<'a>(nouns: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let all = || format!("the {nouns} are {}", names.join(", "));
    did_you_mean(name, names.iter().copied()).unwrap_or_else(all)
}

pub fn parse_slug(name: &str) -> Result<String, String> {
    match usuba_bench::tune::cpu::is_slug(name) {
        true => Ok(name.to_string()),
        false => Err("a processor is named by letters, digits and `-`".into()),
    }
}

/// `90`, `90s`, `1.5m`, `1h`.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let seconds = number.parse::<f64>().ok().filter(|_| plain).map(|number| number * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a time is a number of seconds, or a number with s, m or h".into())
}

/// The CPU model with this name. `native` is the model of this machine: the model has its own name
/// in the output.
pub fn parse_cpu(name: &str) -> Result<&'static Cpu, String> {
    if name == "native" {
        return cpuid::native();
    }
    let names = cpu::ALL.iter().map(|cpu| cpu.name).chain(["native"]);
    cpu::find(name).ok_or_else(|| advice("CPUs", name, names))
}

/// The widest instruction set that this machine runs, with its extension for bytes if there is
/// one. Its name ends up in the output, which so depends on the machine only if `native` was asked
/// for.
fn best_here() -> &'static Target {
    let pointer = usize::BITS;
    let here = isa::all().filter(|target| cc::runs_here(target) && !multiplies_long_words(target));
    let fits = here.filter(|target| target.simd || target.bits <= pointer);
    fits.max_by_key(|target| (target.bits, target.base.is_some())).expect("plain C runs anywhere")
}

fn multiplies_long_words(target: &Target) -> bool {
    target.row(isa::Inst::MulAdd52, 64).is_some()
}

/// The target of `native` for programs with words of 52 bits, if this machine multiplies them.
pub fn best_for_long_words() -> Option<&'static Target> {
    isa::all().find(|target| multiplies_long_words(target) && cc::runs_here(target))
}

pub fn parse_pass(name: &str) -> Result<String, String> {
    match passes::find(name) {
        Some(pass) => Ok(pass.name.to_string()),
        None => Err(advice("passes", name, passes::ALL.iter().map(|pass| pass.name))),
    }
}

pub fn parse_pass_or_all(name: &str) -> Result<String, String> {
    if name == "all" || name == "lower" { Ok(name.to_string()) } else { parse_pass(name) }
}

pub fn parse_prefix(text: &str) -> Result<String, String> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match text.is_empty() || starts && fits {
        true => Ok(text.to_string()),
        false => Err("a prefix is made of letters, digits and `_`, and begins no number".into()),
    }
}

/// The value of `--unroll`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    Auto,
    All,
    None,
    Rounds(u32),
}

impl fmt::Display for Loops {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Loops::Auto => f.write_str("auto"),
            Loops::All => f.write_str("all"),
            Loops::None => f.write_str("none"),
            Loops::Rounds(rounds) => write!(f, "{rounds}"),
        }
    }
}

pub fn parse_loops(text: &str) -> Result<Loops, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Loops::Auto),
        ("all", _) => Ok(Loops::All),
        ("none", _) => Ok(Loops::None),
        (_, Ok(rounds @ 1..=1000)) => Ok(Loops::Rounds(rounds)),
        _ => Err("auto, all, none, or a factor from 1 to 1000".into()),
    }
}

/// The value of `--interleave`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instances {
    Auto,
    Measure,
    Count(u32),
}

impl fmt::Display for Instances {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Instances::Auto => f.write_str("auto"),
            Instances::Measure => f.write_str("measure"),
            Instances::Count(count) => write!(f, "{count}"),
        }
    }
}

/// The values of `--data-bits`.
pub fn parse_data_bits(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(bits @ (8 | 16)) => Ok(bits),
        _ => Err("8 or 16".into()),
    }
}

pub fn parse_instances(text: &str) -> Result<Instances, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Instances::Auto),
        ("measure", _) => Ok(Instances::Measure),
        (_, Ok(count @ 1..=16)) => Ok(Instances::Count(count)),
        _ => Err("auto, measure, or a number from 1 to 16".into()),
    }
}
