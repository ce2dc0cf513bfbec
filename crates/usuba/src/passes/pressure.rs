//! Puts equations in an order that keeps values in registers.
//!
//! ```text
//! t = x ^ k; u = y ^ k; ... 40 more ...; a = t & z;     →     t = x ^ k; a = t & z; u = y ^ k; ...
//! ```
//!
//! C compilers keep to the order that they are given far more than one would like: once a body
//! has more values alive than the machine has registers, the order decides how much goes through
//! memory. Several orders are made, their traffic is counted (`traffic`), and the best is taken:
//!
//! - *as it is*, after whatever passes decided before.
//! - *on demand*: what a stored value needs comes right before it. Best where layers of single
//!   operators follow each other.
//! - *eager*: S-boxes stay in one piece, but what only loads waits for its first reader, and
//!   what is stored, or is an operand of that, comes as soon as it can. Best where a result needs a
//!   few outputs of S-boxes.
//! - *deepest first*: on demand, the operand that needs more registers before the other (Sethi
//!   and Ullman).
//! - *greedy*: always the ready equation after which the fewest values live, among equals the one
//!   that reads what is newest.
//! - the best of them, *improved*: a value that came back from memory is defined later, or its
//!   reader comes earlier, as long as that saves something.
//!
//! Bodies that fit in the registers as they are stay as they are.
//! Sound because equations are pure and every order defines values before they are read.
//! Computes nothing twice: C compilers would merge it again.

use super::graph::{Frame, Graph, Numbering, reorder};
use super::orders::{deepest_first, eager, greedy, improve, on_demand};
use super::traffic::{Calls, Memory};
use super::{Pass, PassOptions};
use crate::ir::{Eqn, Loop, Program};

pub const PASS: Pass =
    Pass { name: "pressure", about: "order equations for few loads and stores", run };

fn run(program: &mut Program, options: &PassOptions) {
    let machine = options.machine;
    for node in &mut program.nodes {
        let frame = Frame::new(node, machine.regs);
        let mut numbering = Numbering::new(node);
        let memory = Memory::new(&machine, Calls::Stay);
        let context = Context { frame: &frame, memory };
        context.body(&mut node.body, None, &mut numbering);
    }
}

struct Context<'f> {
    frame: &'f Frame,
    memory: Memory,
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
        let graph = Graph::new(body, around, self.frame, numbering);
        if let Some(order) = best(&graph, &self.memory) {
            reorder(&order, body);
        }
    }
}

/// The best order, if it is better than the one that there is.
fn best(graph: &Graph, memory: &Memory) -> Option<Vec<u32>> {
    let program: Vec<u32> = (0..graph.len() as u32).collect();
    let mut least = memory.cost(graph, &program);
    let mut found = None;
    let candidates: [fn(&Graph) -> Vec<u32>; 4] = [on_demand, eager, deepest_first, greedy];
    for make in candidates {
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
