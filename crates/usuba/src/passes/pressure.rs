//! Schedules equations to minimise register pressure: compares list schedules by spill cost.
//!
//! ```text
//! t = x ^ k; u = y ^ k; ... 40 more ...; a = t & z;     →     t = x ^ k; a = t & z; u = y ^ k; ...
//! ```
//!
//! C compilers largely keep the order of the equations: once a body has more live values than the
//! machine has registers, the schedule decides the number of spills and reloads. The pass makes
//! several schedules, counts their spill costs (`spills`), and takes the best:
//!
//! - *as it is*: the schedule of the passes before.
//! - *on demand*: the operands of a stored value come right before it. Best where layers of single
//!   operators follow each other.
//! - *eager*: S-boxes stay in one piece, but an equation without operands in the body waits for its
//!   first reader, and a stored value or an operand of one comes as soon as it can. Best where a
//!   result needs a few outputs of S-boxes.
//! - *deepest first*: on demand, the operand that needs more registers before the other (Sethi and
//!   Ullman).
//! - *greedy*: always the ready equation that leaves the fewest live values, and on a tie the
//!   equation with the newest operand.
//! - the best of them, *improved*: a reloaded value is defined later, or its reader comes earlier,
//!   as long as that saves something.
//!
//! On a tie the earlier candidate wins, so bodies without spills stay as they are. In sliced words
//! only the bodies of loops change that carry more values than there are registers: compilers
//! handle slightly larger bodies well, and waiting for results costs more than an occasional
//! reload. A loop that carries exactly as many values as there are registers changes if that saves
//! much.
//! Sound because equations are pure and every schedule defines values before they are read.
//! Limit: does not rematerialize values, because C compilers would merge the copies again.

use super::graph::{Frame, Graph, Numbering, reorder};
use super::machine::Machine;
use super::schedules::{deepest_first, eager, greedy, improve, on_demand};
use super::spills::{Calls, Memory};
use super::{Pass, PassOptions};
use crate::ir::{Eqn, Loop, Program};

pub const PASS: Pass =
    Pass { name: "pressure", about: "order equations for few loads and stores", run };

fn run(program: &mut Program, options: &PassOptions) {
    let machine = options.machine;
    let bits = program.is_bitsliced();
    for node in &mut program.nodes {
        let frame = Frame::new(node, machine.regs);
        let mut numbering = Numbering::new(node);
        let memory = Memory::new(&machine, Calls::Stay);
        let context = Context { frame: &frame, memory, regs: machine.regs as usize, bits };
        context.body(&mut node.body, None, &mut numbering);
    }
}

/// The values that the entry reloads after they left the registers, in its schedule and by the
/// policy of the pass. A reload in a loop counts once.
pub fn reloads(program: &Program, machine: &Machine) -> usize {
    fn body(
        eqns: &[Eqn],
        around: Option<&Loop>,
        frame: &Frame,
        numbering: &mut Numbering,
        memory: &Memory,
    ) -> usize {
        let mut count = 0;
        for eqn in eqns {
            if let Eqn::Loop(lp) = eqn {
                count += body(&lp.body, Some(lp), frame, numbering, memory);
            }
        }
        let graph = Graph::new(eqns, around, frame, numbering);
        let written: Vec<u32> = (0..graph.len() as u32).collect();
        count + memory.reloads(&graph, &written).reloads.len()
    }
    let node = program.entry();
    let frame = Frame::new(node, machine.regs);
    let memory = Memory::new(machine, Calls::Stay);
    body(&node.body, None, &frame, &mut Numbering::new(node), &memory)
}

struct Context<'f> {
    frame: &'f Frame,
    memory: Memory,
    regs: usize,
    /// Whether the program is bitsliced.
    bits: bool,
}

impl Context<'_> {
    fn body(&self, body: &mut Vec<Eqn>, around: Option<&Loop>, numbering: &mut Numbering) {
        for eqn in body.iter_mut() {
            if let Eqn::Loop(lp) = eqn {
                let mut inner = std::mem::take(&mut lp.body);
                self.body(&mut inner, Some(lp), numbering);
                lp.body = inner;
            }
        }
        let carried = around.map_or(0, |lp| lp.carried.len());
        if !self.bits && carried < self.regs {
            return;
        }
        let graph = Graph::new(body, around, self.frame, numbering);
        let Some(order) = best(&graph, &self.memory) else { return };
        if self.bits || carried > self.regs || self.saves_much(&graph, &order) {
            reorder(&order, body);
        }
    }

    /// Whether a schedule saves a load for every other equation.
    fn saves_much(&self, graph: &Graph, order: &[u32]) -> bool {
        let written: Vec<u32> = (0..graph.len() as u32).collect();
        let saved = self.memory.cost(graph, &written) - self.memory.cost(graph, order);
        saved >= self.memory.load() * graph.len() as u64 / 2
    }
}

/// Heuristics that make a schedule.
const CANDIDATES: [fn(&Graph) -> Vec<u32>; 4] = [on_demand, eager, deepest_first, greedy];

/// The best schedule, if it is better than the order of the program.
fn best(graph: &Graph, memory: &Memory) -> Option<Vec<u32>> {
    let program: Vec<u32> = (0..graph.len() as u32).collect();
    let mut least = memory.cost(graph, &program);
    let mut found = None;
    for make in CANDIDATES {
        let order = make(graph);
        let cost = memory.cost(graph, &order);
        if cost < least {
            least = cost;
            found = Some(order);
        }
    }
    let start = found.clone().unwrap_or(program);
    improve(graph, memory, &start, least).or(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::random::Random;
    use crate::ir::{Node, Op, Port, Slicing, Val};

    /// A node of `size` operators, each of which reads two of the last `reach` values.
    fn tangle(seed: u64, size: usize, reach: usize) -> Node {
        let mut random = Random::new(seed);
        let mut b = Builder::new("f", Slicing::B);
        let mut values = b.param(Port::new("x", 1, &[64]));
        while values.len() < size + 64 {
            let last = reach.min(values.len());
            let mut pick = || values[values.len() - 1 - random.below(last)];
            let (x, y) = (pick(), pick());
            let op = if random.below(3) == 0 { Op::And } else { Op::Xor };
            let v = b.op(op, &[x, y]);
            values.push(v);
        }
        let outs: Vec<Val> = values[values.len() - 32..].to_vec();
        b.finish(vec![(Port::new("y", 1, &[32]), outs)])
    }

    fn graph_of(node: &Node, regs: u32) -> Graph {
        let frame = Frame::new(node, regs);
        Graph::new(&node.body, None, &frame, &mut Numbering::new(node))
    }

    #[test]
    fn every_order_is_one() {
        for seed in 0..40 {
            let node = tangle(seed, 300, 20 + 5 * seed as usize);
            let graph = graph_of(&node, 8);
            for make in CANDIDATES {
                assert!(graph.allows(&make(&graph)), "seed {seed}");
            }
        }
    }

    #[test]
    fn traffic_never_grows() {
        let mut better = 0;
        for seed in 0..20 {
            let node = tangle(seed, 300, 10 + 5 * seed as usize);
            for regs in [6, 16, 32] {
                let graph = graph_of(&node, regs);
                let memory = Memory::new(&Machine { regs, ..Machine::default() }, Calls::Stay);
                let written: Vec<u32> = (0..graph.len() as u32).collect();
                if let Some(order) = best(&graph, &memory) {
                    assert!(graph.allows(&order), "seed {seed}");
                    assert!(memory.cost(&graph, &order) < memory.cost(&graph, &written));
                    better += 1;
                }
            }
        }
        assert!(better > 50, "only {better} of 60 orders are better than random");
    }

    #[test]
    fn many_equations_take_little_time() {
        let nodes = vec![tangle(1, 200_000, 500)];
        let mut program = Program::new(nodes, crate::ir::NodeId(0), Slicing::B);
        // Quadratic time would be minutes.
        run(&mut program, &PassOptions::default());
        assert_eq!(program.nodes[0].body.len(), 200_000);
    }
}
