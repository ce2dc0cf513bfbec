//! The Usuba compiler: text in, text and diagnostics out; no files, clock, threads or environment.
//!
//! ```text
//! .ua text ─syntax→ ast ─typed→ typed program ─lower→ Usuba0 ⟲ passes ─emit→ C (+ header)
//!                                   │                    │                    ▲
//!                                  eval               interp             isa tables
//! ```
//!
//! A tour, in the order of the data. [`compile`] is the same tour as code. The crate `usuba-lang`
//! has the first two stages, `usuba-circuit` the circuits of the third; this crate passes them on.
//!
//! 1. [`syntax`] turns text into a tree: lexer, parser, includes ([`syntax::splice::splice`]). Its
//!    printer ([`syntax::print`]) is the only one of the language; `usubac fmt` is that printer.
//! 2. [`typed`] resolves names, types and sizes. All bounds are compile-time constants, so abstract
//!    interpretation decides every rule: [`typed::walk`] runs the program on a *domain*.
//!    [`typed::check()`] is the domain of rules, [`typed::eval()`] the domain of numbers: the
//!    reference semantics.
//! 3. [`lower`] is a third domain: the interpreter builds Usuba0 in the chosen slicing. Loops that
//!    were unrolled are re-rolled from their equations. Tables become circuits from [`circuit`].
//! 4. [`ir`] is Usuba0: data in SSA form, a verifier and an interpreter. It shares the operators
//!    of the language ([`ir::op`] defines each of them once). [`dump`] makes a syntax tree of it, so
//!    dumps are programs.
//! 5. [`passes`] optimise Usuba0, one file each; [`passes::pipeline`] lists them in named groups.
//!    A pass knows the target only as the numbers of [`cost_model`]; [`packing`] decides whether
//!    narrow words share a register.
//! 6. [`isa`] has the instruction sets, one table each, and the processors ([`isa::cpu`]).
//!    Operators without a row are legalized by one shared expansion table.
//! 7. [`emit`] prints C: the kernel ([`emit::c`]), its header, and the byte interface
//!    ([`emit::bytes`]).
//!
//! [`diag`] has the diagnostics of all stages as data. No stage imports a stage to its right, and
//! nothing here is trusted: `usuba-equiv` compares the programs before and after each step.

pub mod cost_model;

pub mod dump;
pub mod emit;
pub mod ir;
pub mod isa;
pub mod lower;
pub mod packing;
pub mod passes;

pub use usuba_circuit as circuit;
pub use usuba_lang::{Checked, diag, front, lint, names, standard, syntax, typed};

use circuit::Profile;
use diag::{Code, Diagnostic, FileId, Sources};
use syntax::splice::Loader;

/// Everything that a compilation depends on besides the text.
#[derive(Clone, Debug)]
pub struct Options {
    /// For programs that do not write a direction themselves.
    pub slicing: ir::Slicing,
    pub target: &'static isa::Target,
    /// Whose latencies and ports the passes work with (`--cpu`).
    pub cpu: &'static isa::cpu::Cpu,
    /// The word size of an entry that leaves `'m` open (`-m`).
    pub word: Option<u8>,
    /// The entry; the last declaration if absent.
    pub entry: Option<String>,
    pub flags: typed::Flags,
    pub pipeline: passes::pipeline::PipelineOptions,
    pub c: emit::c::COptions,
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Output {
    pub checked: Checked,
    /// After the last pass.
    pub program: ir::Program,
    pub kernel: emit::c::Emitted,
}

/// Compiles `root` to C. `observer` sees the program after lowering (as "lower") and after each
/// pass.
pub fn compile(
    sources: &mut Sources,
    root: FileId,
    loader: &mut dyn Loader,
    options: &Options,
    observer: &mut dyn FnMut(&str, &ir::Program),
) -> Result<Output, Vec<Diagnostic>> {
    let checked = front(sources, root, loader, options.entry.as_deref(), options.flags)?;
    let program = optimise(&checked.program, options, observer)?;
    let kernel = emit::c::kernel(&program, options.target, &options.c);
    Ok(Output { checked, program, kernel })
}

/// Lowers a checked program for the target and runs the passes.
pub fn optimise(
    program: &typed::Program,
    options: &Options,
    observer: &mut dyn FnMut(&str, &ir::Program),
) -> Result<ir::Program, Vec<Diagnostic>> {
    let widest = typed::check::widest(program, options.word);
    let lane = isa::word_lane(widest);
    let lacks = |slicing: ir::Slicing, op: &ir::Op, bits: u8| {
        isa::lacks(options.target, slicing, op, bits, lane)
    };
    let slice = Slice {
        slicing: options.slicing,
        word: options.word,
        profile: profile(options.target),
        vectors: options.target.simd,
        instructions: Some(options.target),
    };
    let mut lowered = to_usuba0(program, slice, &lacks)?;
    let links = &program.decls[program.entry].links;
    let mut linked: Vec<&str> = links.iter().map(|&id| &*program.decls[id].name).collect();
    linked.extend(options.c.linked.iter().map(String::as_str));
    let takes_bytes = |decl: &&typed::Decl| {
        let bytes = decl.params.iter().chain(&decl.results).any(|var| var.bytes.is_some());
        bytes && linked.contains(&&*decl.name)
    };
    if let Some(decl) = program.decls[..program.entry].iter().find(takes_bytes) {
        let text = format!("`{}` has ports of bytes, and its caller has words", decl.name);
        let finding = Diagnostic::error(Code::BadLink, decl.name_span, text);
        return Err(vec![finding.help("link a node of words, or none")]);
    }
    let entry = lowered.entry;
    for (id, node) in lowered.nodes.iter_mut().enumerate() {
        if id != entry.0 as usize && linked.contains(&node.source_name()) {
            node.inline = ir::Inline::Kernel;
        }
    }
    observer("lower", &lowered);
    let mut pipeline = options.pipeline.clone();
    if emit::c::takes_bytes(&lowered) {
        single_words(program, lowered.slicing, options.target)?;
    } else {
        packing::run(&mut lowered, options.target, options.cpu, pipeline.packing());
    }
    let single = lowered.slicing == ir::Slicing::W || !linked.is_empty();
    if single && pipeline.pass.interleave.factor.is_none() {
        // W is for one instance at a time, whose latency counts, and a kernel that is called has
        // one instance in each lane; only users request more.
        pipeline.pass.interleave.factor = Some(1);
    }
    pipeline.pass.free_keys = options.c.complemented_keys;
    pipeline.pass.logic = logic(options.target, lowered.slicing, widest);
    pipeline.pass.machine = cost_model::machine(&lowered, options.target, options.cpu);
    passes::pipeline::run_pipeline(&mut lowered, &pipeline, observer);
    Ok(lowered)
}

/// Refuses ports of bytes where registers hold several instances, or bits of a word.
fn single_words(
    program: &typed::Program,
    slicing: ir::Slicing,
    target: &isa::Target,
) -> Result<(), Vec<Diagnostic>> {
    let entry = &program.decls[program.entry];
    let port = entry.params.iter().chain(&entry.results).find(|var| var.bytes.is_some());
    let Some(port) = port.filter(|_| target.simd || slicing != ir::Slicing::V) else {
        return Ok(());
    };
    let text =
        format!("`{}` is bytes, and registers of this kernel hold no single words", port.name);
    let finding = Diagnostic::error(Code::NoSuchOperation, port.span, text);
    Err(vec![finding.help("compile it in V for gp64 or gp32, or remove the order of the bytes")])
}

/// The logic of a target for passes; the widest word of the program has `widest` bits.
pub fn logic(target: &isa::Target, slicing: ir::Slicing, widest: u8) -> passes::logic::Logic {
    let has = |inst| target.row(inst, 64).is_some();
    let lanes = slicing == ir::Slicing::V && target.simd && widest > 1;
    passes::logic::Logic {
        andn: has(isa::Inst::Andn),
        ternary: has(isa::Inst::Lut3),
        lane: if lanes { isa::word_lane(widest) } else { 0 },
        affine: lanes && target.row(isa::Inst::AffineInverse, 8).is_some(),
        muladd: if lanes && has(isa::Inst::MulAdd52) { 52 } else { 0 },
    }
}

/// The gates that tables become on a target.
pub fn profile(target: &isa::Target) -> Profile {
    if target.row(isa::Inst::Lut3, 64).is_some() {
        Profile::Lut3
    } else if target.simd {
        Profile::Andn
    } else {
        Profile::Basic
    }
}

/// How a program becomes Usuba0.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// For programs that do not write a direction themselves.
    pub slicing: ir::Slicing,
    /// The word size of an entry that leaves `'m` open.
    pub word: Option<u8>,
    /// The gates that tables become.
    pub profile: Profile,
    /// Whether registers have lanes. Where they have none, W is V: a register for each word.
    pub vectors: bool,
    /// The target whose instructions stand for nodes of standard includes; `None` for none.
    pub instructions: Option<&'static isa::Target>,
}

impl Slice {
    /// The slicing that a program gets: the one that it writes or that is asked for, and V for W
    /// where registers have no lanes.
    pub fn of(&self, program: &typed::Program) -> Result<ir::Slicing, Diagnostic> {
        match typed::check::slicing(program, self.slicing)? {
            ir::Slicing::W if !self.vectors => Ok(ir::Slicing::V),
            slicing => Ok(slicing),
        }
    }
}

/// Slices a checked program. `lacks` says why the target has no such operator on words of a number
/// of bits, in the user's words.
pub fn to_usuba0(
    program: &typed::Program,
    slice: Slice,
    lacks: &dyn Fn(ir::Slicing, &ir::Op, u8) -> Option<String>,
) -> Result<ir::Program, Vec<Diagnostic>> {
    let slicing = slice.of(program).map_err(|d| vec![d])?;
    let instance =
        typed::check::entry_instance(program, slicing, slice.word).map_err(|d| vec![d])?;
    let lacks = |op: &ir::Op, bits: u8| lacks(slicing, op, bits);
    // A table that is read from memory is a look-up by words.
    let single_bits = typed::check::widest(program, slice.word) == 1 && !program.flags.keep_tables;
    let has_instruction = |node: &str, bits: u8, words: u8| {
        slice.instructions.is_some_and(|target| target.instruction(node, bits, words).is_some())
    };
    let options = lower::Options {
        slicing,
        single_bits,
        profile: slice.profile,
        lacks: &lacks,
        has_instruction: &has_instruction,
    };
    lower::lower(program, &instance, &options)
}
