//! Usuba0 as C: one self-contained file with the kernel of one program on one target.
//!
//! The text is C99 and C++11, without a warning under `-Wall -Wextra -Wpedantic` of gcc and
//! clang. Inputs and outputs must not overlap: outputs are stored as soon as they are known.
//! Every function but the entry is `static`, and every name begins with the name of the entry.
//!
//! - `arrays`: arrays without remaining reads, for reuse.
//! - `body`: a node as a function; `byte_ports`: ports of bytes around it.
//! - `loops`: rolled loops.
//! - `helpers`: operators as expressions and small functions.
//! - `demand`: liveness, and how often values are read.
//! - `advice`: attributes that configure passes of C compilers.
//! - `place`: the places of values.
//! - `wide`: pairs of words that are one number.
//! - `wipe`: zeroization of stack and registers after a kernel.

mod advice;
mod arrays;
mod body;
mod byte_ports;
mod demand;
mod helpers;
mod loops;
mod place;
mod wide;
pub mod wipe;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use byte_ports::takes_bytes;
use rustc_hash::FxHashMap;

use helpers::{Applied, Helpers, fill, halves as both_halves, literal};

use super::header::{self, PortText};
use super::places::{Places, Printed};
use super::stats::{Stats, stats};
use super::{keys, layout, mask_bits, names};
use crate::ir::op::mask;
use crate::ir::{NodeId, Op, Port, Program, halves};
use crate::isa::select::select_halves;
use crate::isa::sequence::Imm;
use crate::isa::{Inst, Layout, Row, Target, select, word_lane, word_type};

/// The form of rolled loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LoopForm {
    /// Locals while the carried values fit in the registers of the target, else arrays.
    #[default]
    Auto,
    /// Every loop-carried value is a local variable.
    Locals,
    /// Loop-carried values live in two arrays by turns.
    Arrays,
    /// As `Auto`, and values that are only copied from one iteration to the next are copied by
    /// loops.
    Short,
}

/// Options of the text beyond the program. Empty strings are left out of the comment on top.
#[derive(Clone, Debug, Default)]
pub struct COptions {
    /// Put before every name that the linker sees.
    pub prefix: String,
    /// The entry after the prefix, an identifier of C; the name of the entry node if empty.
    pub name: String,
    /// The command that the text comes from.
    pub command: String,
    /// Where the options come from, if they were measured.
    pub tuned: String,
    /// The hash of the source.
    pub source_hash: String,
    /// The version of the compiler.
    pub version: String,
    pub form: LoopForm,
    /// The kernel is `static`, for a wrapper in the same file.
    pub hidden: bool,
    /// Constant ports are registers, also where the target could broadcast masks.
    pub registers: bool,
    /// Bits of `DATATYPE` behind the interface of the OCaml compiler, if it is narrower than the
    /// registers of bitsliced code.
    pub data_bits: Option<u32>,
    /// Callers hand over complements of the constant words that [`keys::complemented`] names.
    pub complemented_keys: bool,
    /// The kernel clears its part of the stack and all registers that are not its caller's.
    pub wipe: bool,
    /// Nodes that are kernels of their own, under the same prefix, in files beside this one: where
    /// they are called, this text declares them only.
    pub linked: Vec<String>,
    /// The places of the source, for comments on the lines that equations come from.
    pub origins: Option<Arc<Places>>,
}

impl COptions {
    /// The C function of such a node, by its name in the source.
    pub fn symbol(&self, name: &str) -> String {
        names::identifier(&self.prefix, name)
    }
}

/// A kernel as text, with the facts that callers need.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The C file.
    pub text: String,
    /// The C function.
    pub name: String,
    /// Its prototype, without the semicolon.
    pub prototype: String,
    pub layout: Layout,
    /// Instances of one register.
    pub lanes: u32,
    /// Register sets of one call: more than 1 after interleaving.
    pub copies: u32,
    /// The parameters in C, one for each parameter of the source.
    pub params: Vec<PortText>,
    pub results: Vec<PortText>,
    pub stats: Stats,
    /// Whether callers hand over complements of the words that [`keys::complemented`] names.
    pub complemented_keys: bool,
    /// The lines of each equation that has any.
    pub lines: Vec<Printed>,
}

impl Emitted {
    /// Instances of one call.
    pub fn instances(&self) -> u32 {
        self.lanes * self.copies
    }
}

/// The state that the parts of the emitter share.
pub(crate) struct Context<'p> {
    program: &'p Program,
    /// For each node the values that are products of words below 2^32.
    products: Vec<Vec<bool>>,
    target: &'p Target,
    layout: Layout,
    /// The C function of the entry node.
    name: String,
    options: &'p COptions,
    helpers: Helpers<'p>,
    called: BTreeSet<NodeId>,
    /// The lines of equations, counted from the start of their functions.
    lines: Vec<Printed>,
}

/// Prints the kernel of `program` for `target`.
///
/// The program must be verified, and all its operators must exist under its slicing on the
/// target (`isa::lacks` says so); lowering sees to that.
pub fn kernel(program: &Program, target: &Target, options: &COptions) -> Emitted {
    let other;
    let program = if options.complemented_keys {
        other = keys::without_complements(program);
        &other
    } else {
        program
    };
    let layout = layout(program, target);
    let products: Vec<Vec<bool>> = program.nodes.iter().map(halves::products).collect();
    let uncut;
    let program = match select_halves(target, layout) {
        Some(_) => {
            let nodes = program.nodes.iter().zip(&products);
            let nodes = nodes.map(|(node, products)| halves::uncut(node, products)).collect();
            uncut = Program { nodes, ..program.clone() };
            &uncut
        }
        None => program,
    };
    let name = entry_name(program, options);
    let helpers = Helpers::new(target, layout, format!("{name}_"));
    let around = if options.wipe { format!("{name}{}", wipe::INNER) } else { name.clone() };
    let inner =
        if takes_bytes(program) { around.clone() + byte_ports::INNER } else { around.clone() };
    let called = BTreeSet::new();
    let lines = Vec::new();
    let mut cx =
        Context { program, products, target, layout, name: inner, options, helpers, called, lines };
    cx.called.insert(program.entry);
    let (mut functions, mut linked, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    // Callers come after callees, so walking backwards meets every call first.
    for at in (0..=program.entry.0).rev() {
        let id = NodeId(at);
        match cx.called.contains(&id) {
            true if cx.linked(id).is_some() => linked.push(body::declared(&cx, id)),
            true => {
                functions.push(body::function(&mut cx, id));
                ids.push(id);
            }
            false => {}
        }
    }
    functions.reverse();
    ids.reverse();
    linked.reverse();
    let signature = body::signature(&cx, program.entry);
    let texts = |ports: Vec<&[Port]>, names: &[String]| -> Vec<PortText> {
        let text = |(ports, name): (&[Port], &String)| {
            PortText::new(program, target, layout, ports, name, options.registers)
        };
        ports.into_iter().zip(names).map(text).collect()
    };
    let params = texts(program.params(), &signature.params);
    let results = texts(program.results(), &signature.results);
    let prototype = header::prototype(&name, &params, &results);
    let mut emitted = Emitted {
        text: String::new(),
        name,
        prototype,
        layout,
        lanes: target.lanes(layout),
        copies: program.copies,
        complemented_keys: options.complemented_keys,
        params,
        results,
        stats: stats(program),
        lines: Vec::new(),
    };
    if takes_bytes(program) {
        functions.push(byte_ports::wrapper(&cx, &emitted, &around));
    }
    let (text, first) = file(&cx, &emitted, &around, &linked, &functions);
    emitted.text = text;
    emitted.lines = placed(cx.lines, first, &ids, &functions);
    emitted
}

/// The C name of the entry.
pub(super) fn entry_name(program: &Program, options: &COptions) -> String {
    match options.name.is_empty() {
        true => names::identifier(&options.prefix, &program.entry().name),
        false => format!("{}{}", options.prefix, options.name),
    }
}

/// The lines of equations in the file, in which line `first` begins the function of `ids[0]`.
fn placed(
    mut lines: Vec<Printed>,
    first: usize,
    ids: &[NodeId],
    functions: &[String],
) -> Vec<Printed> {
    let mut starts = FxHashMap::default();
    let mut start = first as u32;
    for (id, function) in ids.iter().zip(functions) {
        starts.insert(*id, start);
        // An empty line follows each function.
        start += function.lines().count() as u32 + 1;
    }
    for printed in &mut lines {
        let start = starts[&printed.node];
        printed.lines = (printed.lines.0 + start, printed.lines.1 + start);
    }
    lines
}

/// The text of the file, and the line of its first function.
fn file(
    cx: &Context,
    emitted: &Emitted,
    around: &str,
    linked: &[String],
    functions: &[String],
) -> (String, usize) {
    let mut text = header::comment(cx.program, cx.target, cx.options, emitted);
    text.push('\n');
    text.push_str(&header::includes(cx.target));
    text.push('\n');
    if !cx.options.hidden {
        text.push_str(&header::declaration(cx.target, &emitted.prototype));
        text.push('\n');
    }
    for prototype in linked {
        match cx.options.hidden {
            true => {
                let (local, qualifier) = (cx.target.local(), cx.target.qualifier());
                text.push_str(&format!("{local}{qualifier}{prototype};\n"));
            }
            false => text.push_str(&header::declaration(cx.target, prototype)),
        }
        text.push('\n');
    }
    text.push_str(&cx.helpers.text());
    let first = text.lines().count() + 1;
    text.push_str(&functions.join("\n"));
    if cx.options.wipe {
        let linkage = if cx.options.hidden { "static " } else { "" };
        text.push_str(&wipe::wrapper(cx.program, emitted, around, cx.target, linkage));
    }
    (text, first)
}

impl Context<'_> {
    /// The name in the source of a node whose calls go to a kernel in another file.
    fn linked(&self, id: NodeId) -> Option<&str> {
        self.program.node(id).kernel()
    }

    /// How the kernel begins.
    fn linkage(&self) -> &'static str {
        match (self.options.wipe, self.options.hidden) {
            (true, _) => wipe::APART,
            (false, false) => "",
            (false, true) => self.target.local(),
        }
    }

    /// The text before the kernel besides its linkage.
    fn qualifier(&self) -> &'static str {
        if self.options.hidden { self.target.qualifier() } else { self.target.exported() }
    }

    fn c_type(&self, bits: u8) -> &'static str {
        self.target.c_type(self.layout, bits)
    }

    /// Whether a port of the entry is masks to broadcast.
    fn masked(&self, port: &Port) -> bool {
        port.constant && !self.options.registers && mask_bits(self.target, self.layout).is_some()
    }

    /// The instruction that broadcasts a mask.
    fn broadcast(&self) -> &'static Row {
        let row = self.target.row(Inst::Splat, 32);
        row.expect("a target with masks has their broadcast")
    }

    /// The C expression of a literal in every instance.
    fn constant(&mut self, bits: u8, value: u64) -> String {
        match self.helpers.apply(&Op::Const(value), bits, &[]) {
            Applied::Text(expr) => expr,
            Applied::Operand(_) => unreachable!("a literal has no operands"),
        }
    }

    /// The element type and the elements of a table that [`Context::table_read`] reads.
    fn table_items(&self, bits: u8, values: &[u64]) -> (&'static str, Vec<String>) {
        let simd = self.target.simd;
        match self.layout {
            Layout::Lanes(lane) | Layout::Vectors { lane, .. } => {
                let item = |v: &u64| literal(v & mask(bits), lane);
                (word_type(lane), values.iter().map(item).collect())
            }
            Layout::Words => {
                let lane = word_lane(bits);
                (word_type(lane), values.iter().map(|&v| literal(v, lane)).collect())
            }
            Layout::Bits | Layout::Elements(_) => {
                let lane = if simd { 64 } else { self.target.bits as u8 };
                let items = values.iter().flat_map(|&v| self.register_items(bits, v, lane));
                (word_type(lane), items.collect())
            }
        }
    }

    /// The words of one constant register: two for SIMD in H, else one.
    fn register_items(&self, bits: u8, value: u64, lane: u8) -> Vec<String> {
        let selected = select(self.target, self.layout, &Op::Const(value), bits, false)
            .expect("every layout has literals");
        let count =
            if self.target.simd && matches!(self.layout, Layout::Elements(_)) { 2 } else { 1 };
        match selected.steps[0].imm {
            Imm::Bytes(bytes) => {
                let (low, high) = both_halves(&bytes);
                vec![literal(low, lane), literal(high, lane)]
            }
            Imm::Int(k) => vec![literal(k, lane); count],
            Imm::None | Imm::Register(..) => {
                unreachable!("the same literal in every lane is a number")
            }
        }
    }

    /// The C expression that broadcasts element `k` of a table.
    fn table_read(&self, table: &str, k: &str) -> String {
        if !self.target.simd {
            return format!("{table}[{k}]");
        }
        let row = |inst, lane| {
            let row = self.target.row(inst, lane);
            row.expect("every vector target broadcasts constants").text(lane)
        };
        match self.layout {
            Layout::Lanes(lane) | Layout::Vectors { lane, .. } => {
                fill(&row(Inst::Splat, lane), &[], &format!("{table}[{k}]"), "", "")
            }
            Layout::Elements(_) => {
                let (high, low) = (format!("{table}[2 * {k} + 1]"), format!("{table}[2 * {k}]"));
                fill(&row(Inst::Splat128, 64), &[], "", &high, &low)
            }
            _ => fill(&row(Inst::Splat, 64), &[], &format!("{table}[{k}]"), "", ""),
        }
    }
}
