//! Search space of the autotuner, as one table.
//!
//! A dimension is a question ("which calls disappear?"), a choice is a set of flags, and a point is
//! one choice for each dimension. The first choice of a dimension has no flags: it is the default.
//! The command line's own parser reads flags of `usubac`. Choices unknown to this build are left
//! out, so a new flag is one line here.

use usuba::isa::cpu::{self, Cpu};
use usuba::isa::{self, Target};
use usuba::passes::pipeline::PipelineOptions;

use super::compilers::Compiler;

/// The reader of a dimension's flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    Usubac,
    /// The C compiler.
    Cc,
}

/// The condition of a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    Always,
    /// The target has 32 registers, and room for more instances.
    ManyRegisters,
    /// Narrow words can share a register.
    Packs,
    /// The C compiler is gcc.
    Gcc,
    /// The C compiler is clang.
    Clang,
    /// The flag takes a CPU, and is tried with each CPU of the host's family.
    EachCpu,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    pub name: &'static str,
    pub reader: Reader,
    /// Flags with their conditions. The default, which has no flags, is not listed.
    pub choices: &'static [(&'static str, When)],
}

const fn usubac(name: &'static str, choices: &'static [(&'static str, When)]) -> Dimension {
    Dimension { name, reader: Reader::Usubac, choices }
}

const fn cc(name: &'static str, choices: &'static [(&'static str, When)]) -> Dimension {
    Dimension { name, reader: Reader::Cc, choices }
}

use When::{Always, Clang, EachCpu, Gcc, ManyRegisters, Packs};

/// Every dimension except slicing and C compiler. A search visits them from top to bottom, so the
/// dimensions with the largest effects come first.
pub static DIMENSIONS: &[Dimension] = &[
    usubac(
        "instances",
        &[
            ("--interleave 1", Always),
            ("--interleave 2 --interleave-grain 10", Always),
            ("--interleave 3 --interleave-grain 10", Always),
            ("--interleave 4 --interleave-grain 10", Always),
            ("--interleave 5 --interleave-grain 10", ManyRegisters),
            ("--interleave 6 --interleave-grain 10", ManyRegisters),
        ],
    ),
    usubac("lanes", &[("--pack always", Packs), ("--pack never", Packs)]),
    usubac(
        "rounds",
        &[
            ("--unroll none", Always),
            ("--unroll all", Always),
            ("--unroll 2", Always),
            ("--unroll 3", Always),
            ("--unroll 4", Always),
            ("--unroll 8", Always),
        ],
    ),
    usubac(
        "inlining",
        &[
            ("--inline all", Always),
            ("--inline none", Always),
            ("--inline heavy", Always),
            ("--inline light", Always),
        ],
    ),
    usubac(
        "scheduling",
        &[
            ("--schedule always", Always),
            ("--schedule never", Always),
            ("--schedule no-pre", Always),
        ],
    ),
    cc("level", &[("-O2", Always), ("-Os", Always), ("-O1", Always)]),
    cc(
        "C scheduling",
        &[
            ("-fno-schedule-insns2", Gcc),
            ("-fschedule-insns -fsched-pressure", Gcc),
            ("-fno-tree-ter", Gcc),
            ("-mllvm -enable-misched=false", Clang),
            ("-mllvm -pre-RA-sched=source", Clang),
        ],
    ),
    cc("C vectors", &[("-fno-tree-slp-vectorize", Gcc), ("-fno-slp-vectorize", Clang)]),
    usubac(
        "grain",
        &[
            ("--interleave-grain 1", Always),
            ("--interleave-grain 5", Always),
            ("--interleave-grain 20", Always),
            ("--interleave-grain 50", Always),
            ("--interleave-grain 200", Always),
        ],
    ),
    usubac(
        "window",
        &[
            ("--schedule-window 2", Always),
            ("--schedule-window 4", Always),
            ("--schedule-window 6", Always),
            ("--schedule-window 15", Always),
        ],
    ),
    usubac("latencies", &[("--cpu", EachCpu)]),
    usubac("pressure", &[("--skip pressure", Always)]),
    usubac("fusing", &[("--skip fuse", Always)]),
    usubac("complements", &[("--skip complement", Always)]),
];

/// The default optimisation level of the C compiler.
pub const LEVEL: &str = "-O3";

/// The CPUs with vector registers of the host's family, except the default.
fn cpus() -> impl Iterator<Item = &'static str> {
    let names =
        |cpu: &Cpu| cpu.units.iter().flat_map(|unit| unit.targets).filter_map(|t| isa::find(t));
    let runs = |target: &Target| target.simd && target.processor.runs_on(std::env::consts::ARCH);
    let known = cpu::ALL.iter().skip(1).filter(move |cpu| names(cpu).any(runs));
    known.map(|cpu| cpu.name)
}

/// The parsed flags of `usubac`.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub pipeline: PipelineOptions,
    pub cpu: &'static Cpu,
}

/// Parses flags of `usubac` like its command line.
pub type Parse<'a> = dyn Fn(&str) -> Result<Chosen, String> + Sync + 'a;

/// The index of a choice for each dimension of a [`Space`]; 0 is the default. The first dimension
/// is the C compiler.
pub type Point = Vec<usize>;

/// An axis of the space: a dimension with the choices that this build, target and machine support.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    pub name: String,
    pub reader: Reader,
    /// Flags of each choice, the default first.
    choices: Vec<(String, When)>,
}

impl Axis {
    /// An axis of unconditional flags of `usubac`, after the default.
    pub fn new(name: &str, reader: Reader, flags: &[&str]) -> Axis {
        let flags = flags.iter().map(|flags| (flags.to_string(), When::Always));
        let choices = std::iter::once((String::new(), When::Always)).chain(flags).collect();
        Axis { name: name.to_string(), reader, choices }
    }

    /// The number of choices, including the default.
    pub fn choices(&self) -> usize {
        self.choices.len()
    }
}

/// The search space of one target on one machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    pub compilers: Vec<Compiler>,
    axes: Vec<Axis>,
}

impl Space {
    /// The table without choices that do not apply to the target or that `parse` rejects.
    pub fn new(target: &Target, compilers: Vec<Compiler>, parse: &Parse) -> Space {
        let fits = |dimension: &Dimension, (flags, when): &(String, When)| {
            let here = match when {
                When::Always | When::EachCpu => true,
                When::ManyRegisters => target.bits == 512,
                When::Packs => !target.simd,
                When::Gcc => compilers.iter().any(|compiler| !compiler.is_clang),
                When::Clang => compilers.iter().any(|compiler| compiler.is_clang),
            };
            here && (dimension.reader == Reader::Cc || parse(flags).is_ok())
        };
        let axis = |dimension: &Dimension| {
            let mut axis = Axis::new(dimension.name, dimension.reader, &[]);
            let all = dimension.choices.iter().flat_map(|(flags, when)| match when {
                When::EachCpu => cpus().map(|cpu| (format!("{flags} {cpu}"), *when)).collect(),
                _ => vec![(flags.to_string(), *when)],
            });
            axis.choices.extend(all.filter(|choice| fits(dimension, choice)));
            axis
        };
        let axes = DIMENSIONS.iter().map(axis).collect();
        Space::with(compilers, axes)
    }

    /// A space of the given axes, and the axis of the compilers.
    pub fn with(compilers: Vec<Compiler>, mut axes: Vec<Axis>) -> Space {
        let mut first = Axis::new("C compiler", Reader::Cc, &[]);
        first.choices.resize(compilers.len().max(1), (String::new(), When::Always));
        axes.insert(0, first);
        axes.retain(|axis| axis.name == "C compiler" || axis.choices() > 1);
        Space { compilers, axes }
    }

    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// All defaults.
    pub fn origin(&self) -> Point {
        vec![0; self.axes.len()]
    }

    /// The C compiler of a point.
    pub fn compiler(&self, point: &Point) -> &Compiler {
        &self.compilers[point[0]]
    }

    /// Whether the compiler of the point understands all of its flags.
    pub fn is_possible(&self, point: &Point) -> bool {
        self.chosen(point).all(|(_, (_, when))| match when {
            When::Always | When::ManyRegisters | When::Packs | When::EachCpu => true,
            When::Gcc => !self.compiler(point).is_clang,
            When::Clang => self.compiler(point).is_clang,
        })
    }

    fn chosen<'a>(
        &'a self,
        point: &'a Point,
    ) -> impl Iterator<Item = (&'a Axis, &'a (String, When))> {
        self.axes.iter().zip(point).map(|(axis, &choice)| (axis, &axis.choices[choice]))
    }

    /// The flags of `usubac`, separated by blanks. If two choices give a flag with a value, the
    /// later dimension wins; `--skip` accumulates.
    pub fn flags(&self, point: &Point) -> String {
        let mut flags: Vec<(&str, Option<&str>)> = Vec::new();
        for (axis, (text, _)) in self.chosen(point) {
            if axis.reader != Reader::Usubac {
                continue;
            }
            let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
            while let Some(name) = words.next() {
                let value = words.next_if(|word| !word.starts_with('-'));
                match flags.iter_mut().find(|(known, _)| *known == name && name != "--skip") {
                    Some(flag) => flag.1 = value,
                    None => flags.push((name, value)),
                }
            }
        }
        let word = |(name, value): &(&str, Option<&str>)| match value {
            Some(value) => format!("{name} {value}"),
            None => name.to_string(),
        };
        flags.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// All flags of the C compiler: first the target's, then the point's.
    pub fn cflags(&self, point: &Point) -> Vec<String> {
        let target = self.compiler(point).machine.cflags.iter().map(|flag| flag.to_string());
        target.chain(self.levels(point)).collect()
    }

    /// The flags of the C compiler after the target's: its level and further options.
    pub fn levels(&self, point: &Point) -> Vec<String> {
        let chosen = self.chosen(point).filter(|(axis, _)| axis.reader == Reader::Cc);
        let words: Vec<String> = chosen
            .flat_map(|(_, (text, _))| text.split(' '))
            .filter(|word| !word.is_empty())
            .map(str::to_string)
            .collect();
        let level = words.iter().any(|word| word.starts_with("-O"));
        let level = (!level).then(|| LEVEL.to_string());
        level.into_iter().chain(words).collect()
    }

    /// The points that differ from `point` in dimension `axis` alone.
    pub fn along(&self, point: &Point, axis: usize) -> Vec<Point> {
        let others = (0..self.axes[axis].choices()).filter(|&choice| choice != point[axis]);
        let moved = others.map(|choice| {
            let mut moved = point.clone();
            moved[axis] = choice;
            moved
        });
        moved.filter(|point| self.is_possible(point)).collect()
    }

    /// The points that differ from `point` in exactly two dimensions.
    pub fn pairs(&self, point: &Point) -> Vec<Point> {
        let mut pairs = Vec::new();
        for first in 0..self.axes.len() {
            for second in first + 1..self.axes.len() {
                for choice in (0..self.axes[first].choices()).filter(|&c| c != point[first]) {
                    let mut moved = point.clone();
                    moved[first] = choice;
                    pairs.extend(self.along(&moved, second));
                }
            }
        }
        pairs
    }
}
