//! The last link: that an object file computes the last program.
//!
//! ```text
//! last program ─ C ─ gcc ─→ object ─┐
//!              └ C ─ clang → object ─┼─ executed on symbols: the last program?
//!                 the user's object ─┘
//! ```
//!
//! A proof is about bytes: it names the object by its hash. Which compiler made it, and whether it
//! would make it again, is not part of what is proved.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use usuba::emit::c::{COptions, Emitted, kernel};
use usuba::ir::{self, Program};
use usuba::target::{self, Target};
use usuba::typed::{self, Decl};
use usuba_lab::binary::{self, Compiler};
use usuba_lab::cc::Family;
use usuba_lab::tune::subject::hex;
use usuba_proof::machine::arithmetic;
use usuba_proof::machine::calls::Kernel;
use usuba_proof::machine::compare::{Answer, Demands, Report};
use usuba_proof::machine::object::Object;
use usuba_proof::machine::x86::X86;
use usuba_proof::report::{Claim, Difference, Kind, Outcome};

use super::plant;
use crate::args::prove::Cc;
use crate::output::plain;
use crate::{Failure, args::Prove};

/// No object of a kernel is longer.
const LARGEST: u64 = 64 << 20;

/// What a certificate says of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The compiler with its version, or the name of the file.
    pub by: String,
    /// The flags of the compiler; empty for a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// The function, and how it was called if that is not the only way.
    pub symbol: String,
    pub sha256: String,
}

impl Made {
    pub fn is_file(&self) -> bool {
        self.flags.is_empty()
    }

    /// What is otherwise with the same object today, if it is there.
    pub fn differs(&self, new: &[Made]) -> Option<String> {
        // A compiler is the same in another version, and a file is its name.
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

/// An object that was looked at.
#[derive(Clone, Debug)]
pub struct Shown {
    pub made: Made,
    /// What a proof found; `None` without one.
    pub report: Option<Report>,
}

/// What was found of objects in this run, by what they are made of: kernels for an extension of a
/// target that do not use it are those of the target.
pub type Memory = Arc<Mutex<HashMap<String, (Claim, Shown)>>>;

/// A compiler, and the one for kernels that do not use the extension of a target.
pub struct Choice {
    own: Compiler,
    base: Option<Compiler>,
}

impl Choice {
    /// The one for a C text. An instruction that it does not name is none that a compiler takes
    /// of itself.
    fn of(&self, text: &str) -> &Compiler {
        self.base.as_ref().filter(|_| !text.contains(EXTENSION)).unwrap_or(&self.own)
    }
}

/// What the C of instructions of GFNI has in its names.
const EXTENSION: &str = "_gf2p8";

/// Where objects come from.
pub enum Objects {
    /// They are not looked at.
    None,
    Compiled {
        compilers: Vec<Choice>,
        memory: Memory,
    },
    Given {
        name: String,
        bytes: Vec<u8>,
        symbol: Option<String>,
    },
}

impl Objects {
    /// Those of the kernel that the command line asks for, on a target.
    pub fn asked(args: &Prove, target: &'static Target) -> Result<Objects, Failure> {
        if let Some(path) = &args.object {
            if !has_machine(target) {
                return Err(no_machine(target));
            }
            return Objects::given(path, args.symbol.clone());
        }
        match args.binary {
            true => Objects::compiled(target, args.cc, Memory::default()),
            false => Ok(Objects::None),
        }
    }

    /// Those of compilers.
    pub fn compiled(target: &'static Target, cc: Cc, memory: Memory) -> Result<Objects, Failure> {
        if !has_machine(target) {
            return Err(no_machine(target));
        }
        let choice = |&family: &Family| {
            // A narrow target has a base for its rows; its C needs its own flags.
            let extended = target::EXTENDED.iter().any(|other| other.name == target.name);
            let base = target.base.filter(|_| extended);
            let base = base.map(|base| compiler(base, family)).transpose()?;
            Ok(Choice { own: compiler(target, family)?, base })
        };
        let compilers = cc.families().iter().map(choice).collect::<Result<_, Failure>>()?;
        Ok(Objects::Compiled { compilers, memory })
    }

    /// That of a file.
    pub fn given(path: &Path, symbol: Option<String>) -> Result<Objects, Failure> {
        let name = path.display().to_string();
        let wrong = |why: String| Failure::program(format!("cannot read {name}: {why}"));
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

    /// The compilers for a C text; none where objects are not made here.
    pub fn compilers(&self, text: &str) -> Vec<&Compiler> {
        match self {
            Objects::Compiled { compilers, .. } => {
                compilers.iter().map(|choice| choice.of(text)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A text that changes when something changes that objects depend on besides the program.
    pub fn identity(&self) -> String {
        match self {
            Objects::None => String::new(),
            Objects::Compiled { compilers, .. } => {
                let each: Vec<String> = compilers.iter().map(|c| c.own.identity()).collect();
                each.join("\n\n")
            }
            Objects::Given { bytes, .. } => sha256(bytes),
        }
    }

    /// Proves each object of a program whose entry is `entry` in `typed`. What is no proof stays in what is said, and does not keep the others
    /// from being looked at.
    pub fn prove(
        &self,
        program: &Program,
        (typed, entry): (&typed::Program, &Decl),
        target: &Target,
        options: &COptions,
        fault: Option<plant::Fault>,
        done: &mut dyn FnMut(Claim, Shown),
    ) -> Result<(), Failure> {
        let kernel = match self {
            Objects::None => return Ok(()),
            _ => kernel(program, target, options),
        };
        let linked = binary::kernels(program, typed, target, options);
        let linked = linked.map_err(Failure::program)?;
        let ranges = Ranges { most: arithmetic::most(program, entry), linked };
        let look = |by: String, flags: String, bytes: &[u8], symbol: &str| {
            let subject = match flags.is_empty() {
                true => by.clone(),
                false => format!("by {by}"),
            };
            let symbol = symbol.to_string();
            let (outcome, report) = proved(bytes, program, &ranges, &kernel, &symbol, target)?;
            let made = Made { by, flags, symbol, sha256: sha256(bytes) };
            Ok((Claim { kind: Kind::Object, subject, outcome }, Shown { made, report }))
        };
        match self {
            Objects::None => {}
            Objects::Compiled { compilers, memory } => {
                for compiler in compilers.iter().map(|choice| choice.of(&kernel.text)) {
                    let flags = compiler.flags().join(" ");
                    let key = made_of(program, &ranges, &kernel, &compiler.name, &flags);
                    let known = locked(memory).get(&key).filter(|_| fault.is_none()).cloned();
                    if let Some((claim, shown)) = known {
                        done(claim, shown);
                        continue;
                    }
                    let bytes = compiler.object(&kernel.text, "c", &[]);
                    let mut bytes = bytes.map_err(|what| {
                        Failure::program(format!("{} says: {}", compiler.name, what.trim_end()))
                    })?;
                    if let Some(fault) = fault {
                        bytes = plant::in_object(fault, &bytes, &kernel.name).unwrap_or(bytes);
                    }
                    let found = look(compiler.name.clone(), flags, &bytes, &kernel.name)?;
                    locked(memory).insert(key, found.clone());
                    done(found.0, found.1);
                }
            }
            Objects::Given { name, bytes, symbol } => {
                let symbol = symbol.as_deref().unwrap_or(&kernel.name);
                let planted = fault.and_then(|fault| plant::in_object(fault, bytes, symbol));
                let bytes = planted.as_ref().unwrap_or(bytes);
                let file = Path::new(name).file_name().unwrap_or_default();
                let by = file.to_string_lossy().into_owned();
                let (claim, shown) = look(by, String::new(), bytes, symbol)?;
                done(claim, shown);
            }
        }
        Ok(())
    }
}

/// What nodes say about their words: how large parameters are, and of the kernels that it calls
/// everything.
#[derive(Debug)]
struct Ranges {
    most: Vec<u64>,
    linked: Vec<Kernel>,
}

/// Names all that an object and its proof depend on in one run.
fn made_of(
    program: &Program,
    ranges: &Ranges,
    kernel: &Emitted,
    compiler: &str,
    flags: &str,
) -> String {
    let code = outside_of_comments(&kernel.text);
    let program = ir::print::program(program);
    let ranges = format!("{ranges:?}");
    sha256([&code, &program, &ranges, compiler, flags].join("\0").as_bytes())
}

/// C without its comments, which name the target.
pub fn outside_of_comments(text: &str) -> String {
    let code = |part: &str| part.split_once("/*").map_or(part, |(code, _)| code).to_string();
    text.split("*/").map(code).collect()
}

fn locked(
    memory: &Mutex<HashMap<String, (Claim, Shown)>>,
) -> MutexGuard<'_, HashMap<String, (Claim, Shown)>> {
    memory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether the prover has a model of the processors of a target.
pub fn has_machine(target: &Target) -> bool {
    target.name != "neon"
}

fn no_machine(target: &Target) -> Failure {
    Failure::program(format!(
        "the prover has no model of the processors that `{}` is for; objects are proved for x86-64 \
         only, and without --binary everything else is proved",
        target.name
    ))
}

fn compiler(target: &'static Target, family: Family) -> Result<Compiler, Failure> {
    Compiler::find(target, family).map_err(|skip| {
        let (name, variable, other) = match family {
            Family::Clang => ("clang", "CLANG", "gcc"),
            _ => ("gcc", "GCC", "clang"),
        };
        Failure::program(format!(
            "no object can be made by {name}: {}; {variable} names another {name}, and --cc {other} \
             does without it",
            skip.why
        ))
    })
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// What is known about one object. An object that cannot be looked at is a failure.
fn proved(
    bytes: &[u8],
    program: &Program,
    ranges: &Ranges,
    kernel: &Emitted,
    symbol: &str,
    target: &Target,
) -> Result<(Outcome, Option<Report>), Failure> {
    let object = Object::read(bytes).map_err(|why| Failure::program(why.to_string()))?;
    let mut contract = binary::contract_of(program, kernel, target).map_err(Failure::program)?;
    contract.symbol = symbol.to_string();
    object.expect(symbol).map_err(|why| Failure::program(why.to_string()))?;
    let demands = Demands::default();
    let Ranges { most, linked } = ranges;
    let answer =
        arithmetic::prove_either::<X86>(&object, &contract, program, most, linked, demands);
    Ok(match answer {
        Answer::Proved(report) => (Outcome::Proved(report.engines.to_string()), Some(report)),
        Answer::Refuted(found) => {
            let difference = Difference::of_function(program, &found);
            (Outcome::Refuted(Box::new(difference)), None)
        }
        Answer::Refused(fault) => (Outcome::Refused(fault.to_string()), None),
        Answer::Unknown(what) => (Outcome::Unknown(what), None),
    })
}
