//! From C to machine code that is proved: compiles the kernel of a program and shows that the
//! object file computes that program.
//!
//! ```text
//! Output (program after the last pass, C) ─ cc → object ─ usuba_object → Verdict
//! ```
//!
//! The C compiler is not trusted, nor is the emitter: the object is compared with the program. What
//! the object is compared *under*, the layout of registers, is written down by `usuba_equiv` itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use usuba::Output;
use usuba::emit::c::{COptions, Emitted};
use usuba::emit::{self, keys, mask_bits};
use usuba::ir::{NodeId, Program};
use usuba::isa::{self, Target};
use usuba::typed;
use usuba_object::arithmetic;
use usuba_object::calls::Kernel;
use usuba_object::compare::{self, Demands, Verdict};
use usuba_object::elf::Object;
use usuba_object::kernel_contract::{Contract, Layout, Placement};
use usuba_object::x86::X86;

use usuba_run::cc::{self, Family};
use usuba_run::objects::{Cache, Key};

/// Flags of every compilation. The protector of the stack reads a word that lies in no buffer.
pub const FLAGS: &[&str] = &["-O3", "-fno-stack-protector"];

/// Flags of clang besides: its conversion of moves to branches has put secret branches into
/// constant-time code.
pub const CLANG: &[&str] = &["-mllvm", "-x86-cmov-converter=false"];

/// A C compiler for the machine of the prover.
pub struct Compiler {
    pub family: Family,
    machine: cc::Machine,
    pub is_clang: bool,
    /// Its kind and version, as in `gcc 14.2.0`.
    pub name: String,
    /// The header of the intrinsics; empty for none.
    header: &'static str,
    /// Texts that were compiled.
    texts: AtomicUsize,
    /// That header, parsed once for all further texts; `None` where the compiler cannot do that.
    parsed: OnceLock<Option<Parsed>>,
    /// Objects that were made before.
    cache: &'static Cache,
}

/// A header that is parsed already, in a folder of its own. Objects are the same to the byte.
struct Parsed {
    folder: tempfile::TempDir,
}

/// The name of the header that includes what kernels include.
const HEADER: &str = "kernel.h";

impl Compiler {
    /// The compiler of a family, for a target.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn find(target: &'static Target, family: Family) -> Result<Compiler, cc::Skip> {
        let machine = cc::find_to_compile(target, family)?;
        let is_clang = asked(&machine, &["--version"]).contains("clang");
        let version = asked(&machine, &["-dumpfullversion", "-dumpversion"]);
        let kind = if is_clang { "clang" } else { "gcc" };
        let name = format!("{kind} {}", version.trim());
        let (header, texts, parsed) = (target.header, AtomicUsize::new(0), OnceLock::new());
        let cache = Cache::user();
        Ok(Compiler { family, machine, is_clang, name, header, texts, parsed, cache })
    }

    /// The same, without the objects of earlier runs.
    pub fn afresh(self) -> Compiler {
        Compiler { cache: Cache::off(), ..self }
    }

    /// Flags that spare the compiler to parse the header of the intrinsics once more, which takes
    /// longer than most kernels. A single text is not worth it.
    fn with_parsed(&self) -> Vec<String> {
        if self.header.is_empty() || self.texts.fetch_add(1, Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let Some(parsed) = self.parsed.get_or_init(|| self.parse()) else { return Vec::new() };
        let path = parsed.folder.path().join(HEADER).display().to_string();
        match self.is_clang {
            true => vec!["-include-pch".into(), format!("{path}.gch")],
            false => vec!["-include".into(), path],
        }
    }

    fn parse(&self) -> Option<Parsed> {
        let folder = tempfile::tempdir().ok()?;
        let text = format!("#include <stdint.h>\n#include <{}>\n", self.header);
        fs::write(folder.path().join(HEADER), text).ok()?;
        let mut command = Command::new(std::path::absolute(&self.machine.compiler).ok()?);
        command.current_dir(folder.path()).args(self.flags());
        command.args(["-x", "c-header", "-o", "kernel.h.gch", HEADER]);
        let run = command.output().ok()?;
        run.status.success().then_some(Parsed { folder })
    }

    /// Flags of a compilation, without those that say which files.
    pub fn flags(&self) -> Vec<&str> {
        let own = if self.is_clang { CLANG } else { &[] };
        self.machine.cflags.iter().chain(FLAGS).chain(own).copied().collect()
    }

    /// A text that changes when the compiler does: what it says of itself, and which files its
    /// parts are.
    pub fn identity(&self) -> String {
        let part = |name: &str| asked(&self.machine, &[&format!("-print-prog-name={name}")]);
        let parts = [self.machine.compiler.display().to_string(), part("cc1"), part("as")];
        let file = |path: String| {
            let path = cc::real_path(Path::new(path.trim()))?;
            let data = fs::metadata(&path).ok()?;
            let time = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some(format!("{} {} {}", path.display(), data.len(), time.as_nanos()))
        };
        let files: Vec<String> = parts.into_iter().filter_map(file).collect();
        let version = asked(&self.machine, &["--version"]);
        format!("{version}\n{}\n{}", files.join("\n"), self.flags().join(" "))
    }

    /// The object file of a C or assembly text, which is told apart by `language`: `c` or
    /// `assembler`.
    ///
    /// # Errors
    /// The compiler cannot be run, or what it says.
    pub fn object(&self, text: &str, language: &str, more: &[&str]) -> Result<Vec<u8>, String> {
        let args = self.flags().into_iter().chain([language]).chain(more.iter().copied());
        let mut key = Key::new(&self.machine.compiler, args);
        key.add(text);
        if let Some(object) = self.cache.find(key.clone()) {
            return Ok(object);
        }
        self.compile(text, language, more).map(|object| self.cache.keep(key, object))
    }

    fn compile(&self, text: &str, language: &str, more: &[&str]) -> Result<Vec<u8>, String> {
        let folder =
            tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let object = folder.path().join("kernel.o");
        fs::write(folder.path().join("kernel.c"), text)
            .map_err(|error| format!("cannot write a file: {error}"))?;
        let compiler = std::path::absolute(&self.machine.compiler);
        let mut command = Command::new(compiler.map_err(|error| error.to_string())?);
        // The name of the folder must not reach the object.
        command.current_dir(folder.path()).args(self.flags()).args(more);
        if language == "c" && more.is_empty() {
            command.args(self.with_parsed());
        }
        command.args(["-x", language, "-c", "-o", "kernel.o", "kernel.c"]);
        let run = command.output();
        let run = run.map_err(|error| format!("cannot run {}: {error}", self.machine))?;
        if !run.status.success() {
            return Err(String::from_utf8_lossy(&run.stderr).into_owned());
        }
        fs::read(&object).map_err(|error| format!("cannot read the object: {error}"))
    }
}

/// What a compiler answers; nothing if it does not run.
fn asked(machine: &cc::Machine, args: &[&str]) -> String {
    let output = Command::new(&machine.compiler).args(args).stderr(Stdio::null()).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The object file of a text, as [`Compiler::object`] makes it.
///
/// # Errors
/// There is no such compiler, or what it says.
pub fn object(
    text: &str,
    language: &str,
    target: &str,
    family: Family,
    more: &[&str],
) -> Result<Vec<u8>, String> {
    let target = isa::find(target).ok_or("there is no such target")?;
    let compiler = Compiler::find(target, family).map_err(|skip| skip.to_string())?;
    compiler.object(text, language, more)
}

/// How the values of a program sit in the registers of a target, in the words of the prover.
pub fn layout(program: &Program, target: &Target, registers: bool) -> Layout {
    let layout = usuba::emit::layout(program, target);
    let placement = match layout {
        isa::Layout::Bits => Placement::Bits,
        isa::Layout::Words => Placement::Words,
        isa::Layout::Lanes(lane) => Placement::Lanes(lane as u32),
        isa::Layout::Vectors { lane, words } => {
            Placement::Vectors { size: lane as u32, words: words as u32 }
        }
        isa::Layout::Elements(m) if target.simd => Placement::GroupedElements(m as u32),
        isa::Layout::Elements(m) => Placement::Elements(m as u32),
    };
    let mask_bits = mask_bits(target, layout).filter(|_| !registers).map(u32::from);
    Layout { placement, register_bits: target.bits, mask_bits }
}

/// What the kernel of a compilation owes its callers.
///
/// # Errors
/// The words of the program do not fit the layout of the target.
pub fn contract(output: &Output, target: &Target) -> Result<Contract, String> {
    contract_of(&output.program, &output.kernel, target)
}

/// The same of a program and its kernel.
///
/// # Errors
/// The words of the program do not fit the layout of the target.
pub fn contract_of(
    program: &Program,
    kernel: &Emitted,
    target: &Target,
) -> Result<Contract, String> {
    // A constant that is a register in C is one in the contract.
    let registers = !kernel.params.iter().any(|port| port.about.contains("not registers"));
    let complemented =
        if kernel.complemented_keys { keys::complemented(program) } else { Vec::new() };
    Contract::kernel(program, &kernel.name, &layout(program, target, registers), &complemented)
}

/// The kernels in other objects that a program calls, which `options` names, as their nodes declare
/// them in `typed`.
///
/// # Errors
/// The words of such a node sit in registers in another way where it is compiled alone.
pub fn kernels(
    program: &Program,
    typed: &typed::Program,
    target: &Target,
    options: &COptions,
) -> Result<Vec<Kernel>, String> {
    let mut kernels = Vec::new();
    for (at, node) in program.nodes.iter().enumerate() {
        let id = NodeId(at as u32);
        let Some(name) = options.links(node).filter(|_| id != program.entry) else { continue };
        let alone = alone(program, id);
        if emit::layout(&alone, target) != emit::layout(program, target) || program.copies > 1 {
            return Err(format!("`{name}` is another kernel where it is compiled alone"));
        }
        let layout = layout(program, target, true);
        let contract = Contract::kernel(&alone, &options.symbol(name), &layout, &[])?;
        let decl = typed.decls.iter().find(|decl| *decl.name == *name);
        let decl = decl.ok_or("a node has lost its name")?;
        kernels.push(Kernel {
            node: id,
            contract,
            name: name.to_string(),
            params: arithmetic::most(&alone, decl),
            results: arithmetic::most_of_results(&alone, decl),
        });
    }
    Ok(kernels)
}

/// A node of a program as a program of its own.
pub fn alone(program: &Program, id: NodeId) -> Program {
    // Callees come before callers.
    let nodes = program.nodes[..=id.0 as usize].to_vec();
    Program { nodes, entry: id, ..program.clone() }
}

/// Compiles the kernel of a compilation and shows that the object computes the program.
///
/// # Errors
/// There is no such compiler, it refuses the text, or the object cannot be read.
pub fn prove(
    output: &Output,
    target: &'static Target,
    family: Family,
    demands: Demands,
) -> Result<Verdict, String> {
    let file = object(&output.kernel.text, "c", target.name, family, &[])?;
    let (object, contract) = (Object::read(&file)?, contract(output, target)?);
    Ok(compare::prove::<X86>(&object, &contract, &output.program, demands))
}

/// As [`prove`], for an object that is there and probably wrong.
///
/// # Errors
/// The object cannot be read, or its contract cannot be written down.
pub fn prove_object(
    file: &[u8],
    output: &Output,
    target: &Target,
    demands: Demands,
) -> Result<Verdict, String> {
    let (object, contract) = (Object::read(file)?, contract(output, target)?);
    Ok(compare::examine::<X86>(&object, &contract, &output.program, demands))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first text is compiled with its header, the others with the parsed one.
    #[test]
    fn objects_are_the_same_with_a_parsed_header() {
        let target = isa::find("avx2").expect("a target");
        let text = "#include <stdint.h>\n#include <immintrin.h>\n\
                    void f(const __m256i *x, __m256i *y) { y[0] = _mm256_add_epi32(x[0], x[1]); }\n";
        for family in [Family::Gcc, Family::Clang] {
            let compiler = match Compiler::find(target, family) {
                Ok(compiler) => compiler,
                Err(skip) => {
                    println!("{skip}");
                    continue;
                }
            };
            let compiler = compiler.afresh();
            let objects: Vec<_> = (0..3).map(|_| compiler.object(text, "c", &[])).collect();
            assert!(matches!(compiler.parsed.get(), Some(Some(_))), "{} parses", compiler.name);
            assert!(objects[0].is_ok() && objects[0] == objects[1] && objects[1] == objects[2]);
        }
    }
}
