//! The proof of a function over blocks of several messages, for a number of messages and of blocks.
//!
//! ```text
//! f(chains, in, 2, 1)     chains[0..32] = F(F(chains[0..32] ++ in[0][0..64]) ++ in[0][64..128])
//! ```
//!
//! Program and function are executed into one graph, as in `compare`; every bit of every chaining
//! value must be the bit of the program.

use super::block_function::Interface;
use super::compare::{ENGINES, LEAVES};
use super::elf::Object;
use super::functions::{BlockCounts, Functions};
use super::memory::Access;
use super::trial::{Argument, Call, Content, Data, Trial};
use super::verdict::Verdict;
use super::verdict::{self, Evidence, Obstacle};
use usuba::ir::{Program, verify};
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_equiv::bitblast::{self, Places};
use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::execution::{Classes, Loops, Run};
use usuba_equiv::rewrites::Rewrites;
use usuba_equiv::value_numbering::Graph;

/// The most steps of the program for all blocks.
const LONGEST: u64 = 40_000_000;

/// A difference has no example here.
pub type Difference = String;

/// Whether the function that `interface` names computes its program on each block of each message
/// in turn: the first input of the program is the chaining value, and its output the next one. The
/// key pointer and the batch of `interface` are not used.
pub fn prove(object: &Object, interface: &Interface, counts: BlockCounts) -> Verdict<Difference> {
    if let Err(rule) = verify::verify(interface.program) {
        return Verdict::Unknown(format!("the program is not well-formed: {rule}"));
    }
    let Some((program, sums)) = bitblast::apart_with_sums(interface.program) else {
        return Verdict::Unknown("the program has too many bits".into());
    };
    let goal = Goal { object, interface, program: &program, sums: &sums, counts };
    let mut last = Verdict::Unknown("nothing was tried".into());
    for in_sums in [false, true] {
        let mut evidence = Evidence { engines: ENGINES, ..Evidence::default() };
        let outcome = goal.show(&mut evidence, in_sums);
        let resisted = matches!(outcome, Err(Obstacle::Resisted(_)));
        last = verdict::verdict(outcome, evidence);
        if !resisted {
            break;
        }
    }
    last
}

struct Goal<'a> {
    object: &'a Object,
    interface: &'a Interface<'a>,
    /// On bits.
    program: &'a Program,
    /// Its additions of words.
    sums: &'a Places,
    counts: BlockCounts,
}

impl Goal<'_> {
    /// Executes both sides. `in_sums`: the engines also search inside additions of words.
    fn show(&self, evidence: &mut Evidence, in_sums: bool) -> Result<(), Obstacle<Difference>> {
        let BlockCounts { blocks, messages } = self.counts;
        let impossible = Obstacle::Impossible;
        let graph = Graph::new(Some(Rewrites::new(LEAVES)));
        let classes = Classes::default();
        let opaque = Default::default();
        let mut run =
            Run::new(graph, [self.program; 2], &classes, opaque, Loops::Unfolded, LONGEST)
                .with_sums(self.sums, in_sums);
        let [chain, block] = self.interface.input_bits().map_err(impossible)?[..] else {
            return Err(impossible("it has not two inputs".into()));
        };
        let mut count = 0;
        let mut free = |run: &mut Run, bits: usize| -> Vec<Edge> {
            let mut next = || {
                count += 1;
                run.graph.intern(Kind::Param, 1, 0, count - 1, 0)
            };
            (0..bits).map(|_| next()).collect()
        };
        let chains = free(&mut run, messages * chain);
        let texts: Vec<Vec<Edge>> = (0..messages).map(|_| free(&mut run, blocks * block)).collect();
        let mut wanted = Vec::new();
        for (mut value, text) in chains.chunks(chain).map(<[Edge]>::to_vec).zip(&texts) {
            for block in text.chunks(block) {
                let input = [&value[..], block].concat();
                value = self
                    .interface
                    .output_of(self.program, &mut run, &input, &[])
                    .map_err(impossible)?;
            }
            wanted.extend(value);
        }
        if wanted.len() != chains.len() {
            return Err(impossible("its output is no chaining value".into()));
        }
        let bits = Bits::with_sums(
            run.graph,
            &run.summed,
            (in_sums, in_sums),
            8 * self.object.processor().address(),
        );
        let mut trial = Trial::new(self.object, bits, Functions::default());
        let data = |name: &str, access, align, content| Data {
            name: name.to_string(),
            align,
            access,
            content,
        };
        let cells = |edges: &[Edge]| {
            let cell = |&edge: &Edge| Cell::new(edge, Instance::Every);
            Content::Bits(edges.iter().map(cell).collect())
        };
        let addresses = Content::Addresses((2..2 + messages).collect());
        let mut buffers = vec![
            data("chains", Access::Both, 1, cells(&chains)),
            data("in", Access::Read, 8, addresses),
        ];
        buffers.extend(texts.iter().map(|text| data("message", Access::Read, 1, cells(text))));
        let numbers = [blocks, messages].map(|number| Argument::Number(number as u64));
        let arguments = [Argument::Buffer(0), Argument::Buffer(1)].into_iter().chain(numbers);
        let symbol = self.interface.symbol.clone();
        let call = Call { symbol, arguments: arguments.collect() };
        trial.call(&mut buffers, &call).map_err(Obstacle::Fault)?;
        evidence.instructions = trial.instructions;
        evidence.nodes = trial.symbols().0.graph.nodes.len();
        let wrong = |(&cell, &edge): (&Cell, &Edge)| cell.edge() != Some(edge);
        match buffers[0].bits().iter().zip(&wanted).position(wrong) {
            None => Ok(()),
            Some(at) => Err(Obstacle::Resisted(format!(
                "bit {at} of the chaining values could not be shown equal"
            ))),
        }
    }
}
