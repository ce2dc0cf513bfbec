//! Certificates that others can replay: two traces, and the steps that show them equal.
//!
//! ```text
//! source ----- Trace ----+                          engines E3 to E5 look for nodes that are equal,
//! final IR --- Trace ----+-- graph of usuba-replay  and name a window for each
//! function --- Trace ----+
//! ```
//!
//! The graph is the graph of the replay, which checks each step at once. The engines see it in a graph
//! of their own, node by node. The final IR has the circuits of S-boxes, so that the function's are
//! nodes already. Nodes that are equal for random inputs, as two circuits for a product without carries,
//! are compared as polynomials.
//!
//! - `source`: the trace of a source; `words`: traces of programs, operator by operator; `machine`: the
//!   trace of a function of an object.
//! - `tables`: functions of the arguments of tables; `samples`: nodes that are equal for random inputs.
//! - `kernel`: certificates of kernels, made and replayed.

pub mod kernel;
mod machine;
mod samples;
mod source;
mod tables;
mod words;

pub use machine::of_function;
pub use source::of_source;
use usuba::ir::Program;
use usuba_equiv::dag::{self, Dag, Edge};
use usuba_equiv::rewrites::{Facts, Rewrites};
use usuba_equiv::sat_sweep::{Shown, shown};
use usuba_object::kernel_contract::{self, Contract};
use usuba_replay::certificate::{Certificate, Meaning, Meanings};
use usuba_replay::hash::Map;
use usuba_replay::net::{Evidence, Guide, Kind, Lit, Net, Node, Step};
use usuba_replay::trace::Trace;

use samples::Samples;
use tables::Tables;

/// Leaves of the cuts of engine E3.
const LEAVES: usize = 3;

/// The most polynomials that are compared in vain.
const POLYNOMIALS: usize = 20;

/// The claim that a function of an object computes its source in every instance: a certificate without
/// steps.
///
/// # Errors
/// The contract does not fit the source.
pub fn claim(source: Trace, function: Trace, contract: &Contract) -> Result<Certificate, String> {
    let outputs: Vec<u8> =
        source.outputs.iter().map(|&id| source.words[id as usize].bits).collect();
    let entries = contract.arrays.iter().filter_map(|array| array.entry.as_ref());
    let exits = contract.arrays.iter().filter_map(|array| array.exit.as_ref());
    let entry =
        entries.map(|bits| meanings(bits, &source.inputs)).collect::<Result<Vec<_>, _>>()?;
    let exit = exits.map(|bits| meanings(bits, &outputs)).collect::<Result<Vec<_>, _>>()?;
    let (entry, exit) = (entry.concat(), exit.concat());
    Ok(Certificate { source, between: Vec::new(), function, entry, exit, steps: Vec::new() })
}

/// The certificate of a claim about a function that was compiled of the last one of these programs,
/// which passes made of each other. Programs are between source and function where the steps are not
/// found without them.
///
/// # Errors
/// The engines do not find all steps.
pub fn certified(mut claim: Certificate, programs: &[&Program]) -> Result<Certificate, String> {
    if claim.replay().is_ok() {
        return Ok(claim);
    }
    let mut why = String::new();
    for count in 0..=programs.len() {
        let between = programs[programs.len() - count..].iter();
        let between = between.map(|program| words::of_program(program, &claim.source.inputs));
        let Ok(between) = between.collect::<Result<_, _>>() else { break };
        claim.between = between;
        let mut search = Search::new();
        match claim.guided(&mut search) {
            Ok(_) => return Ok(Certificate { steps: search.steps, ..claim }),
            Err(open) => why = open,
        }
    }
    Err(why)
}

/// The meanings of the words of an array: of 32 bits, then of the bytes that are left.
fn meanings(bits: &[kernel_contract::Meaning], widths: &[u8]) -> Result<Meanings, String> {
    let mut places = Vec::new();
    for (word, &width) in (0..).zip(widths) {
        places.extend((0..width).rev().map(|bit| (word, bit)));
    }
    let meaning = |meaning: &kernel_contract::Meaning| match *meaning {
        kernel_contract::Meaning::Zero => Ok(Meaning::Zero),
        kernel_contract::Meaning::Bit { bit, instance, complement } => {
            let place = places.get(bit as usize).copied();
            let (word, bit) = place.ok_or("the contract is of another program")?;
            let instance = instance.map(u32::from);
            Ok(Meaning::Bit { word, bit, instance, is_complement: complement })
        }
    };
    let (whole, rest) = bits.split_at(bits.len() / 32 * 32);
    whole.chunks(32).chain(rest.chunks(8)).map(|word| word.iter().map(meaning).collect()).collect()
}

/// The engines, on a copy of the graph.
struct Search {
    dag: Dag,
    rewrites: Rewrites,
    /// For each node of the graph its edge, and for each node of the copy its node.
    edges: Vec<Edge>,
    nodes: Map<u32, u32>,
    /// The facts about the node that is made next.
    facts: Option<Facts>,
    steps: Vec<(u64, Step)>,
    gates: u64,
    tables: Tables,
    samples: Samples,
    /// Polynomials that were compared in vain.
    unequal: usize,
}

impl Search {
    fn new() -> Search {
        let mut dag = Dag::default();
        let zero = dag.constant(1, 0);
        Search {
            dag,
            rewrites: Rewrites::with_solver(LEAVES),
            edges: vec![zero],
            nodes: Map::from_iter([(zero.node(), 0)]),
            facts: None,
            steps: Vec::new(),
            gates: 0,
            tables: Tables::default(),
            samples: Samples::new(),
            unequal: 0,
        }
    }

    fn edge(&self, literal: Lit) -> Edge {
        self.edges[literal as usize / 2].flipped(literal & 1 == 1)
    }

    fn literal(&self, edge: Edge) -> Option<Lit> {
        let node = self.nodes.get(&edge.node())?;
        Some(2 * node + edge.is_complement() as Lit)
    }

    /// The step that shows `kind` of two edges to be a third one.
    fn shown(&mut self, kind: dag::Kind, [a, b, c]: [Edge; 3]) -> Option<Step> {
        let equals = self.literal(c)?;
        let nodes = |search: &Search, leaves: Vec<Edge>| -> Option<Vec<u32>> {
            let nodes = leaves.iter().map(|leaf| search.nodes.get(&leaf.node()).copied());
            nodes.filter(|node| *node != Some(0)).collect()
        };
        let evidence = match shown(&mut self.dag, kind, [a, b, c])? {
            Shown::Window(leaves) => Evidence::Window(nodes(self, leaves)?, Vec::new()),
            Shown::Parity(leaves) => Evidence::Parity(nodes(self, leaves)?),
        };
        Some(Step { equals, evidence })
    }

    /// The step for a gate that is an older node for random inputs and as a polynomial.
    fn polynomial(&mut self, net: &Net, kind: Kind, of: [Lit; 2]) -> Option<Step> {
        let equals = self.samples.like(kind, of).filter(|_| self.unequal < POLYNOMIALS)?;
        let step = Step { equals, evidence: Evidence::Polynomial };
        match net.check(kind, of, &step) {
            Ok(()) => Some(step),
            Err(_) => {
                self.unequal += 1;
                None
            }
        }
    }
}

fn kind_of(kind: Kind) -> dag::Kind {
    match kind {
        Kind::And => dag::Kind::And,
        Kind::Xor => dag::Kind::Xor,
    }
}

impl Guide for Search {
    fn step(&mut self, net: &Net, kind: Kind, of: [Lit; 2]) -> Result<Option<Step>, String> {
        let [a, b] = of.map(|literal| self.edge(literal));
        let step = self.tables.step(kind, of).or_else(|| {
            match self.rewrites.known(&mut self.dag, kind_of(kind), a, b) {
                Ok(edge) => {
                    self.rewrites.renew();
                    self.shown(kind_of(kind), [a, b, edge])
                }
                Err(facts) => {
                    self.facts = Some(facts);
                    None
                }
            }
        });
        let step = step.or_else(|| self.polynomial(net, kind, of)).inspect(|_| self.facts = None);
        match &step {
            Some(step) => {
                self.tables.learn_step(kind, of, step.equals, self.steps.len() as u32);
                self.steps.push((self.gates, step.clone()));
                self.gates = 0;
            }
            None => self.gates += 1,
        }
        Ok(step)
    }

    fn arguments(&mut self, of: &[Lit]) {
        self.tables.learn_leaves(of);
    }

    fn made(&mut self, net: &Net) {
        self.tables.learn_node(net);
        self.samples.learn(net);
        let number = net.nodes().len() as u32 - 1;
        let edge = match net.nodes()[number as usize] {
            Node::Gate(kind, of) => {
                let [a, b] = of.map(|literal| self.edge(literal));
                let (a, b) = (a.min(b), a.max(b));
                self.dag.intern(kind_of(kind), 1, 0, a.raw(), b.raw())
            }
            _ => self.dag.intern(dag::Kind::Param, 1, 0, u64::from(number), 0),
        };
        if let Some(facts) = self.facts.take() {
            self.rewrites.learn(&mut self.dag, edge, facts);
        }
        self.edges.push(edge);
        self.nodes.insert(edge.node(), number);
    }
}
