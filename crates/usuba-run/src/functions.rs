//! Compilation of cipher-folder functions to C: kernels, key schedules and the byte interface.

use std::path::Path;

use usuba::diag::{Diagnostic, Sources};
use usuba::emit::bytes::{self, library};
use usuba::emit::c::{COptions, LoopForm};
use usuba::emit::keys::of_constants;
use usuba::ir::{Slicing, live};
use usuba::isa::cpu::Cpu;
use usuba::isa::{self, Target};
use usuba::passes::pipeline::PipelineOptions;
use usuba::passes::{When, unroll};
use usuba::{Options, Output};

use crate::validated::{Proofs, compiled};
use usuba_ciphers::{Beside, Cipher, Function, Key, Parameter, loader};

/// A function as C: its kernel, an optional second kernel without interleaving, its key schedule
/// and its byte interface.
#[derive(Clone, Debug)]
pub struct Built {
    pub text: String,
    /// The declarations of the byte interface alone, for a header.
    pub header: String,
    /// The C name before `_blocks`, `_init` and `_ctx`.
    pub name: String,
    pub kernel: usuba::emit::c::Emitted,
    /// The kernel without interleaving, if messages shorter than a batch use one.
    pub single: Option<usuba::emit::c::Emitted>,
    /// The final IR of the kernel.
    pub program: usuba::ir::Program,
    /// The final IR of the key schedule, if there is one.
    pub schedule: Option<usuba::ir::Program>,
    /// Bytes of a block: input, then output.
    pub input: usize,
    pub output: usize,
    /// Bytes of the key; 0 without a context.
    pub key: usize,
}

/// A program and the options of its compile.
#[derive(Clone, Debug)]
pub struct Task {
    /// The file, in its folder.
    pub source: String,
    pub options: Options,
}

impl Task {
    /// The C function of the entry.
    pub fn symbol(&self) -> String {
        let Options { entry, c, .. } = &self.options;
        match c.name.is_empty() {
            true => c.symbol(entry.as_deref().unwrap_or_default()),
            false => format!("{}{}", c.prefix, c.name),
        }
    }

    /// Compiles the program in `folder`.
    ///
    /// # Errors
    /// The diagnostics of the compiler, one per line.
    pub fn compile(&self, folder: &Path, proofs: Proofs) -> Result<Output, String> {
        compile_file(folder, &self.source, &self.options, proofs)
    }
}

/// A task and its result.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub task: Task,
    /// The final IR.
    pub program: usuba::ir::Program,
    pub kernel: usuba::emit::c::Emitted,
}

impl Compiled {
    fn new(
        folder: &Path,
        source: &str,
        options: Options,
        proofs: Proofs,
    ) -> Result<Compiled, String> {
        let task = Task { source: source.to_string(), options };
        let Output { program, kernel, .. } = task.compile(folder, proofs)?;
        Ok(Compiled { task, program, kernel })
    }
}

impl Built {
    /// Whether there is a context.
    pub fn keyed(&self) -> bool {
        self.key > 0
    }
}

/// A kernel with more equations than this, interleaved instances included, has no second kernel for
/// short messages: those messages are padded to a whole batch.
const SECOND_KERNEL: u64 = 4_000;

/// Whether a kernel is too long for a second version.
pub fn is_long(program: &usuba::ir::Program) -> bool {
    written(program) > SECOND_KERNEL
}

/// The number of equations of all nodes.
fn written(program: &usuba::ir::Program) -> u64 {
    program.nodes.iter().map(|node| live::written(&node.body).by_name.values().sum::<u64>()).sum()
}

/// Compiles `function` to C under the C name `name`. The key schedule is not interleaved.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn build(
    cipher: &Cipher,
    function: &Function,
    name: &str,
    slicing: Slicing,
    target: &'static Target,
    pipeline: &PipelineOptions,
    proofs: Proofs,
) -> Result<Built, String> {
    let cpu = isa::cpu::ALL[0];
    let way = Way { target, cpu, pipeline, hidden: false, complemented_keys: true, proofs };
    built(cipher, function, name, slicing, way, false)
}

/// Like [`build`], with the latencies and ports of `cpu`, and with a proof of every pass.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn build_for(
    cipher: &Cipher,
    function: &Function,
    name: &str,
    slicing: Slicing,
    target: &'static Target,
    cpu: &'static Cpu,
    pipeline: &PipelineOptions,
) -> Result<Built, String> {
    let proofs = Proofs::Always;
    let way = Way { target, cpu, pipeline, hidden: false, complemented_keys: true, proofs };
    built(cipher, function, name, slicing, way, false)
}

/// Like [`build`], with the target, processor, passes, C name and zeroization of `options`; nothing
/// is proved.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn build_as(
    cipher: &Cipher,
    function: &Function,
    slicing: Slicing,
    options: &Options,
) -> Result<Built, String> {
    let Options { target, cpu, pipeline, .. } = options;
    let proofs = Proofs::Never;
    let way = Way { target, cpu, pipeline, hidden: false, complemented_keys: true, proofs };
    let name = if options.c.name.is_empty() { &function.name } else { &options.c.name };
    built(cipher, function, name, slicing, way, options.c.wipe)
}

fn built(
    cipher: &Cipher,
    function: &Function,
    name: &str,
    slicing: Slicing,
    way: Way,
    wipe: bool,
) -> Result<Built, String> {
    let target = way.target;
    let (main, single) = kernels(cipher, function, name, slicing, way)?;
    let schedule = schedule(cipher, function, name, way)?;
    let scalar = scalar(target);
    let inputs: Vec<_> = function.inputs.iter().map(as_parameter).collect();
    let interface = bytes::Function {
        name,
        kernel: as_kernel(&main),
        single: single.as_ref().map(as_kernel),
        inputs: &inputs,
        output: as_parameter(&function.output),
        key: function.key.as_ref().map(|key| bytes::Key {
            param: &key.param,
            bytes: key.bytes,
            schedule: schedule.as_ref().map(|output| bytes::Schedule {
                kernel: as_kernel(output),
                target: scalar,
                through: key.through,
            }),
        }),
        wipe,
        rolled: false,
    };
    let explain = |error: Diagnostic| format!("{name}: {}: {}", error.code, error.message);
    let header = bytes::declarations(&interface).map_err(explain)?;
    let definitions = bytes::definitions(&interface, target).map_err(explain)?;
    let (input, output) = interface.blocks().map_err(explain)?;
    let words = library::words(&interface).map_err(explain)?;
    let text = |other: &Option<Compiled>| other.as_ref().map_or("", |o| &o.kernel.text).to_string();
    Ok(Built {
        text: format!("{}{}{}{definitions}", main.kernel.text, text(&single), text(&schedule)),
        header,
        name: name.to_string(),
        input,
        output,
        key: words.map_or(0, |words| words.key_bytes),
        kernel: main.kernel,
        single: single.map(|output| output.kernel),
        program: main.program,
        schedule: schedule.map(|output| output.program),
    })
}

/// Compile options shared by the kernels of a function.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    pub target: &'static Target,
    pub cpu: &'static Cpu,
    pub pipeline: &'a PipelineOptions,
    /// Kernels are `static`.
    pub hidden: bool,
    /// Kernels may take complemented key words, if a caller expands the keys.
    pub complemented_keys: bool,
    pub proofs: Proofs,
}

impl Way<'_> {
    /// A number of `instances` takes the place of the model's choice; 1 stands for nodes that run once,
    /// and takes the place of any choice.
    fn node(
        self,
        cipher: &Cipher,
        (source, node): (&str, &str),
        name: String,
        slicing: Slicing,
        instances: Option<u32>,
    ) -> Result<Compiled, String> {
        let mut pipeline = self.pipeline.clone();
        if instances == Some(1) || pipeline.pass.interleave.factor.is_none() {
            pipeline.pass.interleave.factor = instances;
        }
        let options = Options {
            slicing,
            target: self.target,
            cpu: self.cpu,
            word: None,
            entry: Some(node.to_string()),
            flags: Default::default(),
            c: COptions {
                name,
                form: form(&pipeline),
                hidden: self.hidden,
                complemented_keys: self.complemented_keys
                    && (slicing != Slicing::V || self.target.simd),
                ..COptions::default()
            },
            pipeline,
        };
        let compiled = Compiled::new(&cipher.folder, source, options, self.proofs)?;
        match usuba::emit::c::takes_bytes(&compiled.program) {
            true => Err(format!("`{node}` has ports of bytes; expected a node of words")),
            false => Ok(compiled),
        }
    }
}

/// The view of a kernel for the byte interface.
pub fn as_kernel(compiled: &Compiled) -> bytes::Kernel<'_> {
    bytes::Kernel {
        program: &compiled.program,
        symbol: &compiled.kernel.name,
        complemented_keys: compiled.kernel.complemented_keys,
    }
}

/// The view of a parameter for the byte interface.
fn as_parameter(parameter: &Parameter) -> bytes::Parameter<'_> {
    bytes::Parameter { param: &parameter.param, bytes: parameter.bytes }
}

/// The target for the key schedules of a function on `target`.
pub fn scalar(target: &Target) -> &'static Target {
    isa::find(if target.name == "gp32" { "gp32" } else { "gp64" }).expect("both exist")
}

/// The kernel `name_kernel`, and `name_single` without interleaving if that is faster.
pub fn kernels(
    cipher: &Cipher,
    function: &Function,
    name: &str,
    slicing: Slicing,
    way: Way,
) -> Result<(Compiled, Option<Compiled>), String> {
    let entry = |what: &str, instances| {
        let name = format!("{name}_{what}");
        way.node(cipher, (&function.source, &function.node), name, slicing, instances)
    };
    let main = entry("kernel", function.interleave)?;
    if main.program.packed && way.pipeline.packing == When::Auto && !moves(function, &main, way) {
        let pipeline = PipelineOptions { packing: When::Never, ..way.pipeline.clone() };
        return kernels(cipher, function, name, slicing, Way { pipeline: &pipeline, ..way });
    }
    let single = match main.program.copies > 1 && !is_long(&main.program) {
        true => Some(entry("single", Some(1))?),
        false => None,
    };
    // Both kernels take one key.
    if let Some(single) = &single
        && way.complemented_keys
        && of_constants(&main.program) != of_constants(&single.program)
    {
        let way = Way { complemented_keys: false, ..way };
        return kernels(cipher, function, name, slicing, way);
    }
    Ok((main, single))
}

/// Whether the byte interface can transpose between the block bytes and the kernel's registers.
fn moves(function: &Function, main: &Compiled, way: Way) -> bool {
    let inputs: Vec<_> = function.inputs.iter().map(as_parameter).collect();
    fn unmade(key: &Key) -> bytes::Key<'_> {
        bytes::Key { param: &key.param, bytes: key.bytes, schedule: None }
    }
    let interface = bytes::Function {
        name: "f",
        kernel: as_kernel(main),
        single: None,
        inputs: &inputs,
        output: as_parameter(&function.output),
        key: function.key.as_ref().map(unmade),
        wipe: false,
        rolled: false,
    };
    library::any_number(&interface, way.target, "").is_ok()
}

/// The kernel `name_schedule` of the key schedule, if there is one.
pub fn schedule(
    cipher: &Cipher,
    function: &Function,
    name: &str,
    way: Way,
) -> Result<Option<Compiled>, String> {
    let Some((file, node)) = function.key.as_ref().and_then(|key| key.schedule.as_ref()) else {
        return Ok(None);
    };
    // The pipeline for one key, word by word.
    let mut pipeline = way.pipeline.clone();
    pipeline.packing = When::Never;
    let way = Way { target: scalar(way.target), pipeline: &pipeline, ..way };
    let compile =
        |slicing| way.node(cipher, (file, node), format!("{name}_schedule"), slicing, Some(1));
    // Uses words if the schedule supports them; else the error rules them out, and bits are used.
    compile(Slicing::V).or_else(|_| compile(Slicing::B)).map(Some)
}

/// The kernel `name_schedule` of the key schedule in bits, for the registers of `way`: a key in each
/// lane. `None` without a schedule, or if it has no bits.
pub fn schedule_in_bits(
    cipher: &Cipher,
    function: &Function,
    name: &str,
    way: Way,
) -> Option<Compiled> {
    let (file, node) = function.key.as_ref().and_then(|key| key.schedule.as_ref())?;
    way.node(cipher, (file, node), format!("{name}_schedule"), Slicing::B, Some(1)).ok()
}

/// The kernel of `function` alone, as C and as final IR.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn kernel(
    cipher: &Cipher,
    function: &Function,
    slicing: Slicing,
    target: &'static Target,
    pipeline: &PipelineOptions,
    proofs: Proofs,
) -> Result<Output, String> {
    let options = Options {
        slicing,
        target,
        cpu: isa::cpu::ALL[0],
        word: None,
        entry: Some(function.node.clone()),
        flags: Default::default(),
        pipeline: pipeline.clone(),
        c: COptions::default(),
    };
    compile_file(&cipher.folder, &function.source, &options, proofs)
}

/// Compiles an arithmetic node in V or W to a C function, which is `static`. `c` has its name and the
/// nodes that it links.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn arithmetic(
    folder: &Path,
    (source, node): (&str, &str),
    c: COptions,
    (slicing, target): (Slicing, &'static Target),
    pipeline: &PipelineOptions,
) -> Result<Compiled, String> {
    let options = Options {
        slicing,
        target,
        cpu: isa::cpu::ALL[0],
        word: None,
        entry: Some(node.to_string()),
        flags: Default::default(),
        pipeline: pipeline.clone(),
        c: COptions { form: form(pipeline), hidden: true, ..c },
    };
    Compiled::new(folder, source, options, Proofs::Never)
}

/// The loop form: without unrolling, the shortest code.
fn form(pipeline: &PipelineOptions) -> LoopForm {
    match pipeline.pass.unroll {
        unroll::Mode::None => LoopForm::Short,
        _ => LoopForm::Auto,
    }
}

/// Compiles a file of `folder`; diagnostics become lines of text.
fn compile_file(
    folder: &Path,
    source: &str,
    options: &Options,
    proofs: Proofs,
) -> Result<Output, String> {
    let path = folder.join(source);
    let text = loader::read(&path)?;
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let result = compiled(&mut sources, root, &mut Beside, options, proofs);
    let explained = |findings: Vec<Diagnostic>| {
        let line = |finding: &Diagnostic| match finding.span {
            Some(span) => {
                let (line, column) = sources.line_col(span.file, span.start);
                let file = &sources.file(span.file).name;
                format!("{file}:{line}:{column}: {}: {}", finding.code, finding.message)
            }
            None => format!("{}: {}", finding.code, finding.message),
        };
        findings.iter().filter(|f| f.is_error()).map(line).collect::<Vec<_>>().join("\n")
    };
    result.map_err(|trouble| trouble.explained(explained))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The S-box of RECTANGLE has complements at its outputs, and a key addition follows each.
    #[test]
    fn complements_end_in_the_keys() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/rectangle");
        let cipher = usuba_ciphers::read(&folder).expect("the folder can be read");
        let function = &cipher.functions[0];
        let target = isa::find("gp64").expect("a target");
        let way = Way {
            target,
            cpu: isa::cpu::ALL[0],
            pipeline: &PipelineOptions::default(),
            hidden: false,
            complemented_keys: true,
            proofs: Proofs::Always,
        };
        let complements = |way| {
            let (main, _) = kernels(&cipher, function, "f", Slicing::B, way).expect("it compiles");
            let turned = of_constants(&main.program).into_iter().filter(|&turned| turned).count();
            (turned, main.kernel.stats.operations.of("not"))
        };
        let (turned, left) = complements(way);
        let (none, more) = complements(Way { complemented_keys: false, ..way });
        assert_eq!(none, 0);
        assert!(turned > 100 && left + 200 < more, "{turned} keys, {left} instead of {more}");
    }
}
