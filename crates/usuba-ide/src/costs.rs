//! Costs: operations and register pressure of each node, by a compilation with the node as entry.
//!
//! ```text
//! round    19 operations, 7 live of 16 registers (V, avx2)
//! ```
//!
//! Numbers count one instance after all passes: the comment on top of the generated C has the
//! same. A node has no costs if it cannot be an entry: an array of nodes, a node with `nat`
//! parameters, or one whose word size is open and not given.

use std::collections::BTreeMap;

use usuba::circuit::Goal;
use usuba::diag::Span;
use usuba::ir::{self, Slicing, live};
use usuba::isa::{Target, cpu};
use usuba::passes::pipeline::PipelineOptions;
use usuba::passes::pressure;
use usuba::typed::{Arguments, Kind, Program};
use usuba::{Options, cost_model, emit, optimise, profile};

use crate::tables::{self, Size};

/// The machine and layout of a compilation.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub target: &'static Target,
    pub slicing: Slicing,
    /// The word size of nodes that leave it open.
    pub word: Option<u8>,
}

/// The costs of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeCosts {
    pub name: String,
    pub operations: u64,
    /// Largest number of live values.
    pub live: usize,
    pub registers: u32,
    /// The places in the source where more values are live than there are registers, the first one
    /// first, each with the largest number of live values there.
    pub above: Vec<(Span, usize)>,
    /// Values that are reloaded after they left the registers.
    pub reloads: usize,
}

/// The circuit of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableCosts {
    pub name: String,
    pub size: Size,
}

/// The costs of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Costs {
    pub nodes: Vec<NodeCosts>,
    pub tables: Vec<TableCosts>,
}

/// Compiles each node and each table of a sound program. `cancelled` is asked before each of them;
/// if it says so there is no answer.
pub fn costs(
    program: &Program,
    machine: Machine,
    cancelled: &mut dyn FnMut() -> bool,
) -> Option<Costs> {
    let mut costs = Costs::default();
    let bitsliced = machine.slicing == Slicing::B;
    let goal = if bitsliced { Goal::Size } else { Goal::Chain };
    for decl in &program.decls {
        if cancelled() {
            return None;
        }
        let functions = tables::functions(decl);
        if let Some(size) = tables::size(&functions, profile(machine.target), goal) {
            costs.tables.push(TableCosts { name: decl.name.to_string(), size });
        }
    }
    let mut program = program.clone();
    for id in 0..program.decls.len() {
        if cancelled() {
            return None;
        }
        if matches!(program.decls[id].kind, Kind::Node(_)) {
            program.entry = id;
            program.arguments = Arguments::default();
            costs.nodes.extend(node(&program, machine));
        }
    }
    Some(costs)
}

fn node(program: &Program, machine: Machine) -> Option<NodeCosts> {
    let decl = &program.decls[program.entry];
    let mut pipeline = PipelineOptions::default();
    // Interleaved instances would count several times.
    pipeline.pass.interleave.factor = Some(1);
    let options = Options {
        slicing: machine.slicing,
        target: machine.target,
        cpu: &cpu::GENERIC,
        word: machine.word,
        entry: None,
        flags: program.flags,
        pipeline,
        c: emit::c::COptions::default(),
    };
    let compiled = optimise(program, &options, &mut |_, _| {}).ok()?;
    let machine = cost_model::machine(&compiled, machine.target, &cpu::GENERIC);
    let registers = machine.regs;
    let above = above(&compiled, registers as usize);
    let reloads = if above.is_empty() { 0 } else { pressure::reloads(&compiled, &machine) };
    Some(NodeCosts {
        name: decl.name.to_string(),
        operations: live::executed(&compiled).computing(),
        live: live::max_live(&compiled),
        registers,
        above,
        reloads,
    })
}

/// The places where the entry has more live values than registers.
fn above(program: &ir::Program, registers: usize) -> Vec<(Span, usize)> {
    let mut found: Vec<(Span, usize)> = Vec::new();
    let mut known = BTreeMap::new();
    for (v, live) in live::at_equations(program) {
        let Some(span) = program.entry().origins.of(v).filter(|_| live > registers) else {
            continue;
        };
        let at = *known.entry(span).or_insert(found.len());
        match found.get_mut(at) {
            Some((_, most)) => *most = live.max(*most),
            None => found.push((span, live)),
        }
    }
    found
}
