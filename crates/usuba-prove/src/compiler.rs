//! Translation validation of the C compiler: compiles the C of a kernel and proves that the object
//! file computes the final IR.
//!
//! ```text
//! Output (final IR, C) ─ cc → object ─ usuba_object → Verdict
//! ```
//!
//! Neither the C compiler nor the emitter is trusted: the object is compared with the program.
//! `usuba_equiv` defines the register layout of that comparison independently.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use usuba::Output;
use usuba::emit::c::{COptions, Emitted};
use usuba::emit::{self, keys, mask_bits};
use usuba::ir::{NodeId, Program};
use usuba::isa::{self, Target};
use usuba::typed;
use usuba_object::arithmetic;
use usuba_object::by_machine;
use usuba_object::calls::Kernel;
use usuba_object::compare::{Demands, Verdict};
use usuba_object::elf::Object;
use usuba_object::extensions::Extensions;
use usuba_object::kernel_contract::{Contract, Layout, Placement};

use usuba_run::cc::{self, Family, Foreign};
use usuba_run::objects::{Cache, Key};

/// Flags of every compile. Kernels have no arrays that a stack protector would guard.
pub const FLAGS: &[&str] = &["-O3", "-fno-stack-protector"];

/// Additional flags of clang: its conversion of conditional moves has put secret-dependent branches
/// into constant-time code.
pub const CLANG: &[&str] = &["-mllvm", "-x86-cmov-converter=false"];

/// A C compiler that targets a machine of the prover.
pub struct Compiler {
    pub family: Family,
    machine: cc::Machine,
    pub is_clang: bool,
    /// The machine that it compiles for, if this is not the machine that it runs on.
    pub foreign: Option<Foreign>,
    /// The compiler and its version, as in `gcc 14.2.0`.
    pub name: String,
    /// The intrinsics header; empty for none.
    header: &'static str,
    /// Flags that other compilers do not get.
    own: &'static [&'static str],
    /// The number of compiled texts.
    texts: AtomicUsize,
    /// The precompiled header, shared by all further texts; `None` if the compiler has no support
    /// for it.
    parsed: OnceLock<Option<Parsed>>,
    /// The objects of earlier runs.
    cache: &'static Cache,
}

/// A precompiled header in its own folder. It does not change a byte of the objects.
struct Parsed {
    folder: tempfile::TempDir,
}

/// The name of the header that includes every header of the kernels.
const HEADER: &str = "kernel.h";

impl Compiler {
    /// Finds the compiler of a family for a target.
    ///
    /// # Errors
    /// The reason why there is no such compiler.
    pub fn find(target: &'static Target, family: Family) -> Result<Compiler, cc::Skip> {
        let compiler = Compiler::of(cc::find_to_compile(target, family)?, family, target.header);
        Ok(Compiler { own: if compiler.is_clang { CLANG } else { &[] }, ..compiler })
    }

    /// Finds the compiler of a family for another machine.
    ///
    /// # Errors
    /// The reason why there is no such compiler.
    pub fn find_foreign(
        target: &'static Target,
        foreign: Foreign,
        family: Family,
    ) -> Result<Compiler, cc::Skip> {
        let machine = cc::find_foreign(target, foreign, family)?;
        let compiler = Compiler::of(machine, family, target.header);
        let name = format!("{}{}", foreign.prefix(), compiler.name);
        Ok(Compiler { foreign: Some(foreign), name, ..compiler })
    }

    fn of(machine: cc::Machine, family: Family, header: &'static str) -> Compiler {
        let is_clang = asked(&machine, &["--version"]).contains("clang");
        let version = asked(&machine, &["-dumpfullversion", "-dumpversion"]);
        let kind = if is_clang { "clang" } else { "gcc" };
        let name = format!("{kind} {}", version.trim());
        let (texts, parsed, cache) = (AtomicUsize::new(0), OnceLock::new(), Cache::user());
        let (foreign, own) = (None, &[]);
        Compiler { family, machine, is_clang, foreign, name, header, own, texts, parsed, cache }
    }

    /// The same compiler without the objects of earlier runs.
    pub fn afresh(self) -> Compiler {
        Compiler { cache: Cache::off(), ..self }
    }

    /// Flags that use the precompiled header: parsing the intrinsics takes longer than compiling
    /// most kernels. For a single text, precompilation does not pay.
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

    /// The flags of a compile, without file names.
    pub fn flags(&self) -> Vec<&str> {
        self.machine.cflags.iter().chain(FLAGS).chain(self.own).copied().collect()
    }

    /// The identity of the compiler with its flags: its version, and a digest of its executables.
    pub fn identity(&self) -> String {
        format!("{} {}", self.name, Key::new(&self.machine.compiler, self.flags()).name())
    }

    /// Compiles a C or assembly text to an object file; `language` is `c` or `assembler`.
    ///
    /// # Errors
    /// The compiler cannot be run, or it rejects the text.
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
        // The folder name must not reach the object.
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

/// The compiler's standard output; empty if it does not run.
fn asked(machine: &cc::Machine, args: &[&str]) -> String {
    let output = Command::new(&machine.compiler).args(args).stderr(Stdio::null()).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Compiles a text to an object file, like [`Compiler::object`].
///
/// # Errors
/// There is no such compiler, or it rejects the text.
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

/// The register layout of a program's values on a target, as a prover type.
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

/// The contract of a compiled kernel.
///
/// # Errors
/// The words of the program do not fit the layout of the target.
pub fn contract(output: &Output, target: &Target) -> Result<Contract, String> {
    contract_of(&output.program, &output.kernel, target)
}

/// The contract of a program and its kernel.
///
/// # Errors
/// The words of the program do not fit the layout of the target.
pub fn contract_of(
    program: &Program,
    kernel: &Emitted,
    target: &Target,
) -> Result<Contract, String> {
    // A constant in a C register is a register in the contract.
    let registers = !kernel.params.iter().any(|port| port.about.contains("not registers"));
    let complemented =
        if kernel.complemented_keys { keys::complemented(program) } else { Vec::new() };
    Contract::kernel(program, &kernel.name, &layout(program, target, registers), &complemented)
}

/// The external kernels that a program calls, with their declarations in `typed`.
///
/// # Errors
/// The register layout of an external node differs from its layout when compiled alone.
pub fn kernels(
    program: &Program,
    typed: &typed::Program,
    target: &Target,
    options: &COptions,
) -> Result<Vec<Kernel>, String> {
    let mut kernels = Vec::new();
    for (at, node) in program.nodes.iter().enumerate() {
        let id = NodeId(at as u32);
        let Some(name) = node.kernel() else { continue };
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

/// Extracts a node as a program.
pub fn alone(program: &Program, id: NodeId) -> Program {
    // Callees precede callers.
    let nodes = program.nodes[..=id.0 as usize].to_vec();
    Program { nodes, entry: id, ..program.clone() }
}

/// Compiles a kernel and proves that the object computes the final IR.
///
/// # Errors
/// There is no such compiler, it rejects the text, or the object cannot be read.
pub fn prove(
    output: &Output,
    target: &'static Target,
    family: Family,
    demands: Demands,
) -> Result<Verdict, String> {
    let file = object(&output.kernel.text, "c", target.name, family, &[])?;
    let (object, contract) =
        (Object::read_any(&file, Extensions::of(target.cflags))?, contract(output, target)?);
    Ok(by_machine::prove(&object, &contract, &output.program, demands))
}

/// Like [`prove`], for an existing object that is expected to be faulty.
///
/// # Errors
/// The object cannot be read, or the layout of the target admits no contract.
pub fn prove_object(
    file: &[u8],
    output: &Output,
    target: &Target,
    demands: Demands,
) -> Result<Verdict, String> {
    let (object, contract) =
        (Object::read_any(file, Extensions::of(target.cflags))?, contract(output, target)?);
    Ok(by_machine::examine(&object, &contract, &output.program, demands))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first text is compiled with the plain header, the others with the precompiled one.
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
