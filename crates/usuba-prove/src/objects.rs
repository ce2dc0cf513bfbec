//! Proof driver for object files: each object computes the final IR.
//!
//! ```text
//! final IR ─ C ─ gcc ─→ object ─┐
//!          └ C ─ clang → object ─┼─ symbolic execution: equivalent to the final IR?
//!             the user's object ─┘
//! ```
//!
//! A proof is about bytes and names the object by its hash. It does not state which compiler
//! produced the object, or whether it would do so again.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::compiler::{self, Compiler};
use crate::{Claim, Evidence, Outcome};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use usuba::emit::c::{COptions, Emitted, kernel};
use usuba::ir::{Program, Slicing};
use usuba::isa::cpu::Cpu;
use usuba::isa::{self, Layout, Target};
use usuba::typed::Decl;
use usuba::{emit, typed};
use usuba_equiv::claims::Kind;
use usuba_object::arithmetic;
use usuba_object::by_machine;
use usuba_object::calls::Kernel;
use usuba_object::compare::Demands;
use usuba_object::elf::{Object, Processor};
use usuba_object::extensions::Extensions;
use usuba_run::cc::{Family, Foreign};
use usuba_run::fingerprint::hex;

use crate::fault_injection;
use usuba_ciphers::loader::plain;

/// The largest accepted object of a kernel, in bytes.
const LARGEST: u64 = 64 << 20;

/// The certificate entry of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The compiler with its version, or the name of the file.
    pub by: String,
    /// The flags of the compiler; empty for a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// The function, and its calling mode if it has several.
    pub symbol: String,
    pub sha256: String,
}

impl Made {
    pub fn is_file(&self) -> bool {
        self.flags.is_empty()
    }

    /// The first difference from today's object of the same compiler or file, if there is one.
    pub fn differs(&self, new: &[Made]) -> Option<String> {
        // A compiler matches in any version; a file matches by name.
        let kind = |made: &Made| match made.is_file() {
            true => made.by.clone(),
            false => made.by.split(' ').next().unwrap_or_default().to_string(),
        };
        let is_same = |made: &&Made| kind(made) == kind(self) && made.symbol == self.symbol;
        let Some(same) = new.iter().find(is_same) else {
            return Some(format!("there is no object by {}", self.by));
        };
        if same.sha256 == self.sha256 {
            return None;
        }
        Some(match same.by == self.by {
            _ if self.is_file() => format!("{} is another file", self.by),
            true => format!("{} makes another object of it", self.by),
            false => format!("the object is by {}, and {} makes another one", self.by, same.by),
        })
    }
}

/// An object that the prover has examined.
#[derive(Clone, Debug)]
pub struct Shown {
    pub made: Made,
    /// The duration of the C compile.
    pub made_in: Duration,
    /// Whether this run has compiled the same text with the same flags before and proved the same
    /// object.
    pub is_known: bool,
}

/// The object proofs of this run, by their dependencies. A kernel for a target extension that does
/// not use it shares the proof of its base target.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<HashMap<String, Slot>>>);

/// The proof of one object; locked while a thread works on it.
type Slot = Arc<Mutex<Option<(Claim, Shown)>>>;

impl Memory {
    /// The proof of an object, computed on the first request. Further requests wait for the first
    /// one.
    fn known(
        &self,
        name: String,
        find: impl FnOnce() -> Result<(Claim, Shown), String>,
    ) -> Result<(Claim, Shown), String> {
        let slot = locked(&self.0).entry(name).or_default().clone();
        let mut slot = locked(&slot);
        if let Some((claim, shown)) = &*slot {
            return Ok((claim.clone(), Shown { is_known: true, ..shown.clone() }));
        }
        let found = find()?;
        *slot = Some(found.clone());
        Ok(found)
    }
}

/// A compiler of a family for a target, and compilers for kernels that use fewer extensions.
pub struct Choice {
    own: Compiler,
    /// Compilers of targets with fewer instructions, the smallest first; each with the C names that
    /// its target lacks.
    fewer: Vec<(Compiler, Vec<&'static str>)>,
}

impl Choice {
    fn new(target: &'static Target, family: Family, afresh: bool) -> Result<Choice, String> {
        let compiler = |target| {
            let found = compiler(target, family)?;
            Ok::<_, String>(if afresh { found.afresh() } else { found })
        };
        let mut fewer = Vec::new();
        for other in less_than(target) {
            let lacks = own_names(target).filter(|name| !own_names(other).any(|has| has == *name));
            fewer.push((compiler(other)?, lacks.collect()));
        }
        Ok(Choice { own: compiler(target)?, fewer })
    }

    fn foreign(
        target: &'static Target,
        foreign: Foreign,
        family: Family,
        afresh: bool,
    ) -> Result<Choice, String> {
        let found = Compiler::find_foreign(target, foreign, family).map_err(|skip| {
            let why = skip.why;
            let help = match foreign.compiles(target) {
                true => format!("{} and CLANG name other compilers", foreign.variable()),
                false => format!("{} such C", foreign.targets()),
            };
            let (machine, name) = (foreign.name(), target.name);
            format!("no object for {machine} of {name} can be made: {why}; {help}")
        })?;
        let own = if afresh { found.afresh() } else { found };
        Ok(Choice { own, fewer: Vec::new() })
    }

    /// The compiler for a C text. A compiler selects no instruction of an extension that the text
    /// does not name.
    fn of(&self, text: &str) -> &Compiler {
        let is_enough = |lacks: &[&str]| !lacks.iter().any(|name| text.contains(name));
        let found = self.fewer.iter().find(|(_, lacks)| is_enough(lacks));
        found.map_or(&self.own, |(compiler, _)| compiler)
    }

    fn identity(&self) -> String {
        let all = self.fewer.iter().map(|(compiler, _)| compiler).chain([&self.own]);
        all.map(Compiler::identity).collect::<Vec<_>>().join("\n")
    }
}

/// The base targets of an extended target: the same registers and a subset of its flags, the
/// smallest first. A narrow target shares only instruction patterns with its base; its C needs its
/// own flags.
pub fn less_than(target: &'static Target) -> impl Iterator<Item = &'static Target> {
    let is_extended = isa::EXTENDED.iter().any(|other| other.name == target.name);
    isa::all().filter(move |other| {
        is_extended
            && other.name != target.name
            && other.family() == target.family()
            && other.cflags.iter().all(|flag| target.cflags.contains(flag))
    })
}

/// The C functions of a target's own instructions.
fn own_names(target: &'static Target) -> impl Iterator<Item = &'static str> {
    let rows = target.base.map_or(&[][..], |_| target.rows);
    rows.iter().filter_map(|row| row.c.split_once('(')).map(|(name, _)| name)
}

/// The maker of the object of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// A C compiler, of our C.
    C(Family),
    /// A C compiler for another machine.
    Foreign(Foreign, Family),
    /// The back end for assembly language, and an assembler.
    Assembly,
}

/// The name of the back end in records.
pub const ASSEMBLY: &str = "usubac";

/// The source of objects.
pub enum Objects {
    /// Objects are not proved.
    None,
    Compiled {
        compilers: Vec<Choice>,
        /// The assembler, if kernels in assembly language are proved.
        assembler: Option<Box<Compiler>>,
        memory: Memory,
    },
    Given {
        name: String,
        bytes: Vec<u8>,
        symbol: Option<String>,
    },
}

impl Objects {
    /// Objects of compilers; with `afresh`, even a known text is compiled again.
    ///
    /// # Errors
    /// A compiler is missing, or the target has no model or no assembly language.
    pub fn compiled(
        target: &'static Target,
        makers: &[By],
        memory: Memory,
        afresh: bool,
    ) -> Result<Objects, String> {
        let is_foreign = |by: &By| matches!(by, By::Foreign(..));
        if !has_machine(target) && !makers.iter().all(is_foreign) {
            return Err(no_machine(target));
        }
        let (mut compilers, mut assembler) = (Vec::new(), None);
        for by in makers {
            match *by {
                By::C(family) => compilers.push(Choice::new(target, family, afresh)?),
                By::Foreign(foreign, family) => {
                    compilers.push(Choice::foreign(target, foreign, family, afresh)?);
                }
                By::Assembly => {
                    usuba_asm::check_target(target)?;
                    let found = compiler(target, Family::Any)?;
                    assembler = Some(Box::new(if afresh { found.afresh() } else { found }));
                }
            }
        }
        Ok(Objects::Compiled { compilers, assembler, memory })
    }

    /// The object in a file.
    pub fn given(path: &Path, symbol: Option<String>) -> Result<Objects, String> {
        let name = path.display().to_string();
        let wrong = |why: String| format!("cannot read {name}: {why}");
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|error| wrong(plain(&error)))?;
        let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
        read.map_err(|error| wrong(plain(&error)))?;
        if bytes.len() as u64 > LARGEST {
            return Err(wrong(format!(
                "it is larger than {} MiB; the object of one kernel is wanted",
                LARGEST >> 20
            )));
        }
        Ok(Objects::Given { name, bytes, symbol })
    }

    /// The compilers for a C text; empty if objects come from a file.
    pub fn compilers(&self, text: &str) -> Vec<&Compiler> {
        match self {
            Objects::Compiled { compilers, .. } => {
                compilers.iter().map(|choice| choice.of(text)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The fingerprint of all dependencies of the objects besides the program.
    pub fn identity(&self) -> String {
        match self {
            Objects::None => String::new(),
            Objects::Compiled { compilers, assembler, .. } => {
                let each = compilers.iter().map(Choice::identity);
                let assembler =
                    assembler.iter().map(|found| format!("{ASSEMBLY} {}", found.identity()));
                each.chain(assembler).collect::<Vec<_>>().join("\n")
            }
            Objects::Given { bytes, .. } => sha256(bytes),
        }
    }

    /// Proves each object of a program with entry `entry` in `typed`. A failed proof is reported
    /// and does not stop the others.
    pub fn prove(
        &self,
        program: &Program,
        (typed, entry): (&typed::Program, &Decl),
        (target, cpu): (&'static Target, &'static Cpu),
        options: &COptions,
        fault: Option<fault_injection::Fault>,
        done: &mut dyn FnMut(Claim, Shown),
    ) -> Result<(), String> {
        let kernel = match self {
            Objects::None => return Ok(()),
            _ => kernel(program, target, options),
        };
        let linked = compiler::kernels(program, typed, target, options);
        let linked = linked?;
        let wiped = options.wipe;
        let ranges = Ranges { most: arithmetic::most(program, entry), linked, wiped };
        let look = |by: String, flags: String, bytes: &[u8], symbol: &str, made_in: Duration| {
            let subject = match flags.is_empty() {
                true => by.clone(),
                false => format!("by {by}"),
            };
            let symbol = symbol.to_string();
            let outcome = proved(bytes, program, &ranges, &kernel, &symbol, target)?;
            let made = Made { by, flags, symbol, sha256: sha256(bytes) };
            let shown = Shown { made, made_in, is_known: false };
            Ok((Claim { kind: Kind::Object, subject, outcome }, shown))
        };
        match self {
            Objects::None => {}
            Objects::Compiled { compilers, assembler, memory } => {
                let of_c = compilers.iter().map(|choice| {
                    let compiler = choice.of(&kernel.text);
                    let flags = compiler.flags().join(" ");
                    (compiler, compiler.name.clone(), flags, ("c", kernel.text.clone()))
                });
                let mut all: Vec<_> = of_c.collect();
                if let Some(found) = assembler {
                    let text = usuba_asm::assemble(program, target, cpu, options)?.text;
                    let by = format!("{ASSEMBLY} {}", env!("CARGO_PKG_VERSION"));
                    let flags = format!("--emit asm, by {}", found.name);
                    all.push((found, by, flags, ("assembler-with-cpp", text)));
                }
                for (compiler, by, flags, (language, text)) in all {
                    let name = made_of(program, target, &ranges, &text, &by, &flags);
                    let find = || {
                        let start = Instant::now();
                        let bytes = compiler.object(&text, language, &[]);
                        let mut bytes = bytes.map_err(|what| {
                            format!("{} says: {}", compiler.name, what.trim_end())
                        })?;
                        let made_in = start.elapsed();
                        if let Some(fault) = fault {
                            bytes = fault_injection::in_object(fault, &bytes, &kernel.name)
                                .unwrap_or(bytes);
                        }
                        look(by.clone(), flags.clone(), &bytes, &kernel.name, made_in)
                    };
                    let (claim, shown) = match fault {
                        Some(_) => find()?,
                        None => memory.known(name, find)?,
                    };
                    done(claim, shown);
                }
            }
            Objects::Given { name, bytes, symbol } => {
                let symbol = symbol.as_deref().unwrap_or(&kernel.name);
                let planted =
                    fault.and_then(|fault| fault_injection::in_object(fault, bytes, symbol));
                let bytes = planted.as_ref().unwrap_or(bytes);
                let file = Path::new(name).file_name().unwrap_or_default();
                let by = file.to_string_lossy().into_owned();
                let none = Duration::ZERO;
                let (claim, shown) = look(by, String::new(), bytes, symbol, none)?;
                done(claim, shown);
            }
        }
        Ok(())
    }
}

/// Postconditions of nodes for the object prover: ranges of parameters, complete contracts of
/// called kernels, and whether the kernel zeroizes its frame.
#[derive(Debug)]
struct Ranges {
    most: Vec<u64>,
    linked: Vec<Kernel>,
    wiped: bool,
}

/// The key of an object and its proof within one run.
fn made_of(
    program: &Program,
    target: &Target,
    ranges: &Ranges,
    text: &str,
    compiler: &str,
    flags: &str,
) -> String {
    let code = outside_of_comments(text);
    let ranges = format!("{ranges:?}");
    sha256([&code, &meaning(program, target), &ranges, compiler, flags].join("\0").as_bytes())
}

/// The text of a program without the name of its slicing: on single bits, words are bitsliced in
/// every slicing.
fn meaning(program: &Program, target: &Target) -> String {
    let bits = emit::layout(program, target) == Layout::Bits && program.copies == 1;
    let mut ports = program.nodes.iter().flat_map(|node| node.params.iter().chain(&node.results));
    if bits && program.slicing != Slicing::B && ports.all(|port| port.word == 1) {
        return usuba::dump::program(&Program { slicing: Slicing::B, ..program.clone() });
    }
    usuba::dump::program(program)
}

/// C text without comments, because comments name the target.
pub fn outside_of_comments(text: &str) -> String {
    let code = |part: &str| part.split_once("/*").map_or(part, |(code, _)| code).to_string();
    text.split("*/").map(code).collect()
}

fn locked<T>(memory: &Mutex<T>) -> MutexGuard<'_, T> {
    memory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether the objects of a target are for x86-64.
pub fn has_machine(target: &Target) -> bool {
    target.processor.runs_on("x86_64") && target.processor.device.is_none()
}

pub fn no_machine(target: &Target) -> String {
    let foreign = Foreign::ALL.into_iter().find(|foreign| foreign.compiles(target));
    let help = match foreign.map(Foreign::prefix) {
        Some(prefix) => format!("--cc {prefix}gcc,{prefix}clang compiles its C"),
        None => "without --binary and --interface everything else is proved".into(),
    };
    format!("`{}` is not for x86-64; {help}", target.name)
}

fn compiler(target: &'static Target, family: Family) -> Result<Compiler, String> {
    Compiler::find(target, family).map_err(|skip| {
        let (name, variable, other) = match family {
            Family::Clang => ("clang", "CLANG", "gcc"),
            _ => ("gcc", "GCC", "clang"),
        };
        format!(
            "no object can be made by {name}: {}; {variable} names another {name}, and --cc {other} \
             does without it",
            skip.why
        )
    })
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The verdict on one object.
///
/// # Errors
/// The object cannot be read.
fn proved(
    bytes: &[u8],
    program: &Program,
    ranges: &Ranges,
    kernel: &Emitted,
    symbol: &str,
    target: &Target,
) -> Result<Outcome, String> {
    let object = Object::read_any(bytes, Extensions::of(target.cflags))?;
    let foreign = match object.processor() {
        Processor::X86 if !has_machine(target) => {
            return Err(format!("the object is for x86-64, and `{}` is not", target.name));
        }
        Processor::X86 => None,
        Processor::Riscv32 => Some(Foreign::Riscv),
        Processor::Aarch64 => Some(Foreign::Aarch64),
    };
    if let Some(foreign) = foreign.filter(|foreign| !foreign.compiles(target)) {
        let (machine, name, targets) = (foreign.name(), target.name, foreign.targets());
        return Err(format!(
            "the object is for {machine}, and `{name}` is not; {targets} C for it"
        ));
    }
    let mut contract = compiler::contract_of(program, kernel, target)?;
    contract.symbol = symbol.to_string();
    object.expect(symbol)?;
    let Ranges { most, linked, wiped } = ranges;
    let demands = Demands { wiped: *wiped };
    let verdict = by_machine::prove_either(&object, &contract, program, most, linked, demands);
    Ok(verdict.map(Evidence::Machine, |found| Box::new(found.in_words(program))))
}
