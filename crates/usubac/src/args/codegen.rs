//! The options about how a program becomes code; none of them changes the function of the program.

use clap::{Args, ValueEnum};
use usuba::emit::c::COptions;
use usuba::isa::cpu::Cpu;
use usuba::isa::{self, Target};
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::passes::{PassOptions, Schedule as Scheduling, When, inline, interleave, unroll};

use super::Abi;
use super::common::{OPTIMISATION, OUTPUT, Prefix, TARGET, Targets};
use super::values::{
    Instances, Loops, parse_cpu, parse_instances, parse_loops, parse_pass, parse_pass_or_all,
};
use crate::Failure;

/// How the program becomes code.
#[derive(Args, Clone, Debug)]
pub struct Codegen {
    #[command(flatten)]
    pub targets: Targets,
    /// The model of a processor
    ///
    /// Its latencies and ports drive scheduling; `usubac --print cpus` lists all, and `native` is
    /// the processor of this machine.
    #[arg(long, value_name = "CPU", default_value = "generic", value_parser = parse_cpu,
          help_heading = TARGET)]
    pub cpu: &'static Cpu,
    /// Register width of general-purpose code: 32 or 64
    #[arg(long, value_name = "BITS", hide_short_help = true, help_heading = TARGET)]
    pub bits_per_reg: Option<u32>,
    /// Optimisation level
    #[arg(hide_short_help = true, short = 'O', value_name = "LEVEL", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(0..=2), help_heading = OPTIMISATION)]
    level: u8,
    /// Which calls disappear: auto, all, heavy, light or none [default: auto]
    ///
    /// `heavy` keeps the nodes that say _no_inline, `light` inlines only those that say _inline.
    #[arg(long, value_enum, value_name = "CALLS", hide_possible_values = true,
          help_heading = OPTIMISATION)]
    inline: Option<Calls>,
    /// Which loops disappear: auto, all, none, or a factor [default: auto]
    ///
    /// `auto` unrolls short loops, and takes two or more rounds together where values would
    /// otherwise only change places. A factor is about loops that stay, and 1 keeps them.
    #[arg(long, value_name = "LOOPS", value_parser = parse_loops, help_heading = OPTIMISATION)]
    unroll: Option<Loops>,
    /// Whether words share a register: auto, always or never [default: auto]
    ///
    /// Narrow words of V then lie in a general-purpose register as with H. `auto` is where the operators say that it pays, but never
    /// below -O2 and with --abi usubac.
    #[arg(long, value_enum, value_name = "WHEN", hide_possible_values = true,
          help_heading = OPTIMISATION)]
    pack: Option<Pack>,
    /// Instances that one kernel runs: auto, measure, or a number [default: auto]
    ///
    /// `auto` asks a model, but is 1 below -O2 and with --abi usubac; `measure` takes the fastest
    /// on this machine.
    #[arg(long, value_name = "COUNT", value_parser = parse_instances, help_heading = OPTIMISATION)]
    interleave: Option<Instances>,
    /// Consecutive equations of one instance; alone, it also means two instances
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..),
          hide_short_help = true, help_heading = OPTIMISATION)]
    interleave_grain: Option<u32>,
    /// Reordering: auto, always, never or no-pre [default: auto]
    ///
    /// Of equations. `always` is also where it does not pay on the processor, `no-pre` leaves out bitslice-sched;
    /// --skip pressure also keeps the order of bitsliced code.
    #[arg(long, value_enum, value_name = "WHEN", hide_possible_values = true,
          help_heading = OPTIMISATION)]
    schedule: Option<Schedule>,
    /// Equations between a definition and its use, if there are others to put there
    #[arg(long, value_name = "COUNT", default_value_t = Scheduling::default().window,
          value_parser = clap::value_parser!(u32).range(1..=1000), hide_short_help = true,
          help_heading = OPTIMISATION)]
    schedule_window: u32,
    /// Leave out a pass
    ///
    /// `usubac --print passes` lists all.
    #[arg(hide_short_help = true, long, value_name = "PASS", value_parser = parse_pass,
          help_heading = OPTIMISATION)]
    pub skip: Vec<String>,
    /// End the pipeline after a pass
    #[arg(long, value_name = "PASS", value_parser = parse_pass, hide_short_help = true,
          help_heading = OPTIMISATION)]
    pub stop_after: Option<String>,
    /// Take constant parameters (keys) of bitsliced kernels as registers
    ///
    /// Otherwise they are 32-bit masks.
    #[arg(long, hide_short_help = true, help_heading = OPTIMISATION)]
    pub key_registers: bool,
    /// Write the program after a pass to standard error, as Usuba
    ///
    /// `lower` is the program before the first pass, `all` is every pass.
    #[arg(long, value_name = "PASS", value_parser = parse_pass_or_all, help_heading = OUTPUT,
          hide_short_help = true)]
    pub print_after: Vec<String>,
    /// Clear secrets from the stack and registers before the kernel returns
    ///
    /// That is, the stack below the kernel and all registers that are not the caller's.
    #[arg(long, hide_short_help = true, help_heading = OUTPUT)]
    pub wipe: bool,
    /// Call these nodes, separated by commas, as kernels of other files
    ///
    /// They are compiled to other files with the same prefix.
    #[arg(long, value_name = "NODES", value_delimiter = ',', help_heading = OUTPUT,
          hide_short_help = true)]
    pub link: Vec<String>,
    /// Prove after each pass that the program computes the same function
    #[arg(long, help_heading = OUTPUT)]
    pub prove: bool,
    #[command(flatten)]
    pub prefix: Prefix,
}

/// The values of `--inline`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Calls {
    Auto,
    All,
    Heavy,
    Light,
    None,
}

/// The values of `--pack`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Pack {
    Auto,
    Always,
    Never,
}

/// The values of `--schedule`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Schedule {
    Auto,
    Always,
    Never,
    NoPre,
}

impl Codegen {
    /// The instruction set with the register width that was asked for.
    pub fn target(&self) -> Result<&'static Target, Failure> {
        let target = self.targets.one("gp64")?.target;
        if self.wipe && target.processor.device.is_some() {
            return Err(Failure::usage(format!(
                "--wipe has no place beside --target {}",
                target.name
            )));
        }
        let Some(bits) = self.bits_per_reg.filter(|bits| target.simd || *bits != target.bits)
        else {
            return Ok(target);
        };
        let found = isa::ALL.iter().find(|t| !t.simd && !target.simd && t.bits == bits);
        found.copied().ok_or_else(|| {
            Failure::usage(format!(
                "`--bits-per-reg {bits}` does not fit --target {}; general-purpose registers have \
                 32 or 64 bits, the width of others is part of the target",
                target.name
            ))
        })
    }

    /// Whether a measurement chooses the number of instances.
    pub fn measures(&self) -> bool {
        self.interleave == Some(Instances::Measure)
    }

    /// The number of instances and the grain. Drivers of the OCaml compiler know the ports that
    /// they pass: there only the grain requests more than one instance.
    fn interleave(&self, abi: Abi) -> interleave::Choice {
        let grain = self.interleave_grain.unwrap_or(interleave::Choice::AUTO.grain);
        let factor = match (self.interleave, self.interleave_grain, abi) {
            (_, None, Abi::Usubac) => Some(1),
            (Some(Instances::Count(factor)), _, _) => Some(factor),
            (_, Some(_), _) => Some(2),
            (_, None, Abi::Usuba) => None,
        };
        interleave::Choice { factor, grain }
    }

    /// Drivers of the OCaml compiler pass words.
    fn packing(&self, abi: Abi) -> When {
        match (self.pack, abi) {
            (Some(Pack::Always), _) => When::Always,
            (Some(Pack::Never), _) | (_, Abi::Usubac) => When::Never,
            _ => When::Auto,
        }
    }

    fn schedule(&self) -> Scheduling {
        let (bitslice, mslice) = match self.schedule {
            Some(Schedule::Always) => (When::Always, When::Always),
            Some(Schedule::Never) => (When::Never, When::Never),
            Some(Schedule::NoPre) => (When::Never, When::Auto),
            Some(Schedule::Auto) | None => (When::Auto, When::Auto),
        };
        Scheduling { bitslice, mslice, window: self.schedule_window }
    }

    pub fn pipeline(&self, abi: Abi) -> PipelineOptions {
        let inline = match self.inline {
            Some(Calls::All) => inline::Mode::All,
            Some(Calls::Heavy) => inline::Mode::Heavy,
            Some(Calls::Light) => inline::Mode::Light,
            Some(Calls::None) => inline::Mode::None,
            Some(Calls::Auto) | None => inline::Mode::Auto,
        };
        let unroll = match self.unroll {
            Some(Loops::All) => unroll::Mode::All,
            Some(Loops::None) => unroll::Mode::None,
            Some(Loops::Rounds(rounds)) => unroll::Mode::Rounds(rounds),
            Some(Loops::Auto) | None => unroll::Mode::Auto,
        };
        let level = match self.level {
            0 => Level::O0,
            1 => Level::O1,
            _ => Level::O2,
        };
        PipelineOptions {
            level,
            skip: self.skip.clone(),
            stop_after: self.stop_after.clone(),
            packing: self.packing(abi),
            pass: PassOptions {
                inline,
                unroll,
                interleave: self.interleave(abi),
                schedule: self.schedule(),
                ..PassOptions::default()
            },
        }
    }

    /// The options of the C text.
    pub fn text(&self) -> COptions {
        COptions {
            prefix: self.prefix.text().to_string(),
            registers: self.key_registers,
            wipe: self.wipe,
            linked: self.link.clone(),
            ..COptions::default()
        }
    }

    /// The flags that differ from their defaults, for the comment on top of the output.
    pub fn written(&self) -> String {
        let mut text = String::new();
        let mut flag = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                text.push_str(format!(" --{name} {value}").trim_end());
            }
        };
        let on = |on: bool| on.then(String::new);
        let named = |value: &str| (!value.is_empty()).then(|| value.to_string());
        flag("inline", self.inline.and_then(name));
        flag("unroll", self.unroll.filter(|l| *l != Loops::Auto).map(|l| l.to_string()));
        flag("pack", self.pack.and_then(name));
        let instances = self.interleave.filter(|i| *i != Instances::Auto);
        flag("interleave", instances.map(|i| i.to_string()));
        flag("interleave-grain", self.interleave_grain.map(|grain| grain.to_string()));
        flag("schedule", self.schedule.and_then(name));
        let window = self.schedule_window;
        flag(
            "schedule-window",
            (window != Scheduling::default().window).then(|| window.to_string()),
        );
        for pass in &self.skip {
            flag("skip", Some(pass.clone()));
        }
        flag("key-registers", on(self.key_registers));
        flag("wipe", on(self.wipe));
        flag("link", named(&self.link.join(",")));
        flag("stop-after", self.stop_after.clone());
        flag("cpu", named(self.cpu.name).filter(|cpu| cpu != "generic"));
        flag("prefix", named(self.prefix.text()));
        if self.level != 2 {
            text.push_str(&format!(" -O{}", self.level));
        }
        text
    }
}

/// The name of a value that is not `auto`.
fn name<T: ValueEnum>(value: T) -> Option<String> {
    let value = value.to_possible_value()?;
    Some(value.get_name().to_string()).filter(|name| name != "auto")
}
