//! Translation validation of machine code: the function in an object computes the IR program.
//!
//! ```text
//! bits of the program, unfolded ─┐
//!                                ├─ one graph ─ every bit of every result is one node: proved
//! the function, executed ────────┘                                      else: runs on numbers
//! ```
//!
//! Both sides are bit-blasted: the program by `bits`, the function by symbolic execution of its
//! instructions. Proofs use the engines that merge nodes. For a function that is expected to be
//! faulty, engine E1 runs alone first, until an input shows a difference.
//! The prover does not know the frame address modulo 64. If the execution depends on it, the
//! function is executed for each distinguishable residue (`phases`).

use usuba::ir::random::Random;
use usuba::ir::{Port, Program, verify};

use super::calls::Calls;
use super::elf::Object;
use super::frame_phases::Phases;
use super::kernel_contract::{Array, Contract, Meaning};
use super::memory::{Buffer, Memory, Whole};
use super::verdict::{self, Evidence};
use super::{Forks, Machine, World};
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_bits::evaluation::{evaluate, value};
use usuba_equiv::Engines;
use usuba_equiv::bitblast::{self, Places};
use usuba_equiv::claims;
use usuba_equiv::counterexample::Counterexample;
use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::execution::{Classes, Loops, Run, Side};
use usuba_equiv::rewrites::Rewrites;
use usuba_equiv::value_numbering::Graph;

/// The verdict on a kernel: it computes the program in every lane.
pub type Verdict = verdict::Verdict<Difference>;

type Obstacle = verdict::Obstacle<Difference>;

/// A counterexample for a function: the found input with the fewest ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The array of the wrong result.
    pub array: String,
    /// The first wrong bit in memory, from the least significant of the first byte.
    pub bit: usize,
    /// The instance of the wrong bit.
    pub instance: u16,
    /// The parameter bits of the instance, the most significant of each value first.
    pub input: Vec<bool>,
    /// The expected result bits of the instance. They equal the found bits if the wrong bit belongs
    /// to no value and should be zero.
    pub expected: Vec<bool>,
    pub found: Vec<bool>,
}

impl Difference {
    /// The counterexample in source terms of `program`.
    pub fn in_words(&self, program: &Program) -> claims::Difference {
        let entry = program.entry();
        let widths = |ports: &[Port]| -> Vec<usize> {
            let widths = ports.iter().flat_map(|port| {
                let (values, bits) =
                    (port.values(program.slicing), port.value_bits(program.slicing));
                std::iter::repeat_n(bits as usize, values)
            });
            widths.collect()
        };
        let words = |bits: &[bool], ports: &[Port]| -> Vec<u64> {
            let mut rest = bits.iter();
            let word = |width: usize| {
                rest.by_ref().take(width).fold(0, |word, &bit| word << 1 | bit as u64)
            };
            widths(ports).into_iter().map(word).collect()
        };
        let example = Counterexample {
            input: words(&self.input, &entry.params),
            expected: words(&self.expected, &entry.results),
            found: words(&self.found, &entry.results),
        };
        let named = claims::Difference::named(program, &example);
        if example.expected != example.found {
            return named;
        }
        // The bit belongs to no word.
        let value = format!("bit {} of the memory of {}", self.bit, self.array);
        claims::Difference { value, expected: 0, found: 1, ..named }
    }
}

/// Requirements on a function besides its results.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Demands {
    /// Zeroization: no secret remains in the frame or in registers.
    pub wiped: bool,
}

/// The maximal number of steps of the unfolded program.
const LONGEST: u64 = 40_000_000;

/// The instruction budget: executed instructions per step of the bit-blasted program and per byte
/// of its buffers, plus a constant. Kernels take up to three per step. A key schedule on single
/// bits moves each bit several times between bytes and words, and these moves are no steps of the
/// program.
const FACTOR: u64 = 8;
const SPARE: u64 = 20_000;

/// The engines for equality of graph nodes.
pub(crate) const ENGINES: Engines =
    Engines::GRAPH.with(Engines::SUMS).with(Engines::CUTS).with(Engines::WINDOWS);

/// Leaves of cuts for the word-level engines: the minimum, because the graph has no words.
pub(crate) const LEAVES: usize = 3;

/// Proves that the function of an object named by `contract` computes `program` and is
/// constant-time. Compilers reorder XOR chains, so all engines run at once. If some results stay
/// open, the engines also search inside additions of words, and then the SAT solver runs.
pub fn prove<M: Machine>(
    object: &Object,
    contract: &Contract,
    program: &Program,
    demands: Demands,
) -> Verdict {
    let attempts = [Attempt::OutsideSums, Attempt::Engines, Attempt::Solver];
    shown::<M>(object, contract, program, demands, &attempts)
}

/// Like [`prove`], for a function that is expected to be faulty. Engine E1 and the search for a
/// counterexample are fast; the other engines run if no input differs.
pub fn examine<M: Machine>(
    object: &Object,
    contract: &Contract,
    program: &Program,
    demands: Demands,
) -> Verdict {
    shown::<M>(object, contract, program, demands, &[Attempt::Structure, Attempt::Engines])
}

/// The engines of an attempt to prove nodes equal.
#[derive(Clone, Copy, PartialEq)]
enum Attempt {
    /// Engine E1.
    Structure,
    /// The other engines too, but not for carries and bits inside additions of words. These are
    /// matched as words (`sums`), and are most of the nodes of a program that adds.
    OutsideSums,
    Engines,
    /// The SAT solver too.
    Solver,
}

impl Attempt {
    fn engines(self) -> Engines {
        match self {
            Attempt::Structure => Engines::GRAPH,
            Attempt::OutsideSums | Attempt::Engines => ENGINES,
            Attempt::Solver => ENGINES.with(Engines::SOLVER),
        }
    }

    fn rewrites(self) -> Option<Rewrites> {
        match self {
            Attempt::Structure => None,
            Attempt::OutsideSums | Attempt::Engines => Some(Rewrites::new(LEAVES)),
            Attempt::Solver => Some(Rewrites::with_solver(LEAVES)),
        }
    }
}

/// The verdict of the first attempt that decides.
fn shown<M: Machine>(
    object: &Object,
    contract: &Contract,
    program: &Program,
    demands: Demands,
    attempts: &[Attempt],
) -> Verdict {
    if let Err(rule) = verify::verify(program) {
        return Verdict::Unknown(format!("the program is not well-formed: {rule}"));
    }
    let Some((program, sums)) = bitblast::apart_with_sums(program) else {
        return Verdict::Unknown("the program has too many bits".into());
    };
    let Some(entry) = object.function(&contract.symbol) else {
        return Verdict::Unknown(format!("there is no function `{}`", contract.symbol));
    };
    let goal = Goal { object, contract, program: &program, sums: &sums, entry, demands };
    let mut last = Verdict::Unknown("nothing was tried".into());
    for &attempt in attempts {
        if attempt == Attempt::OutsideSums && sums.is_empty() {
            continue;
        }
        let mut evidence = Evidence { engines: attempt.engines(), ..Evidence::default() };
        let outcome = goal.show::<M>(&mut evidence, attempt);
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
    contract: &'a Contract,
    /// The bit-blasted program.
    program: &'a Program,
    /// Its additions of words.
    sums: &'a Places,
    entry: u64,
    demands: Demands,
}

impl Goal<'_> {
    /// Executes both sides, the function once for each distinguishable frame residue.
    fn show<M: Machine>(&self, evidence: &mut Evidence, attempt: Attempt) -> Result<(), Obstacle> {
        let graph = Graph::new(attempt.rewrites());
        let classes = Classes::default();
        let programs = [self.program; 2];
        let opaque = Default::default();
        let mut run = Run::new(graph, programs, &classes, opaque, Loops::Unfolded, LONGEST)
            .with_sums(self.sums, attempt != Attempt::OutsideSums);
        let arity = self.program.entry().arity(self.program.slicing) as u64;
        let params: Vec<Edge> =
            (0..arity).map(|at| run.graph.intern(Kind::Param, 1, 0, at, 0)).collect();
        let wanted = run.node(Side::Before, self.program.entry, &params);
        let wanted = wanted.map_err(|stop| Obstacle::Impossible(stop.to_string()))?;
        let bytes: u64 = self.contract.arrays.iter().map(|array| array.size as u64 / 8).sum();
        let longest = SPARE + FACTOR * (run.steps + bytes);
        let by_bits = matches!(attempt, Attempt::Engines | Attempt::Solver);
        let asks = attempt != Attempt::OutsideSums;
        let mut bits =
            Bits::with_sums(run.graph, &run.summed, (by_bits, asks), 8 * M::CONVENTION.address);
        let mut phases = Phases::of(M::CONVENTION);
        while let Some(phase) = phases.next() {
            evidence.phases += 1;
            let asked;
            (bits, asked) =
                self.at_phase::<M>((phase, longest), bits, &params, &wanted, evidence)?;
            phases.done(phase, asked);
        }
        Ok(())
    }

    /// Executes the function once within an instruction budget. Returns the graph, and the largest
    /// alignment of the frame that the execution asked for.
    fn at_phase<M: Machine>(
        &self,
        (phase, longest): (u64, u64),
        bits: Bits,
        params: &[Edge],
        wanted: &[Edge],
        evidence: &mut Evidence,
    ) -> Result<(Bits, u64), Obstacle> {
        let arrays = self.contract.arrays.iter().map(|array| buffer(&bits, array, params));
        let buffers = arrays.collect::<Result<Vec<Buffer>, String>>();
        let buffers = buffers.map_err(Obstacle::Impossible)?;
        let pointers: Vec<Option<Whole>> =
            self.contract.pointers.iter().map(|&at| Some(Whole::start(at))).collect();
        let memory = Memory::new(M::CONVENTION, buffers, M::on_stack(&pointers), phase);
        let mut world = World {
            bits,
            memory,
            object: self.object,
            calls: Calls::default(),
            forks: Forks::default(),
        };
        let (instructions, residue) =
            super::run::<M>(&mut world, &pointers, self.entry, longest).map_err(Obstacle::Fault)?;
        evidence.instructions = evidence.instructions.max(instructions);
        evidence.nodes = evidence.nodes.max(world.bits.graph.nodes.len());
        evidence.frame = evidence.frame.max(world.memory.frame_bytes());
        if residue.frame >= evidence.residue.frame {
            evidence.residue = residue;
        }
        self.compare(&world, wanted)?;
        if self.demands.wiped && !evidence.residue.is_empty() {
            return Err(Obstacle::Fault(evidence.residue.fault()));
        }
        Ok((world.bits, world.memory.asked))
    }

    /// Proves that every result bit equals the program's bit.
    fn compare(&self, world: &World, wanted: &[Edge]) -> Result<(), Obstacle> {
        let mut open: Vec<Open> = Vec::new();
        for (number, array) in self.contract.arrays.iter().enumerate() {
            let Some(meanings) = &array.exit else { continue };
            let found = world.memory.buffer(number);
            for (at, (meaning, &found)) in meanings.iter().zip(found).enumerate() {
                let expected = cell(&world.bits, meaning, wanted).map_err(Obstacle::Impossible)?;
                let instance = expected.instance();
                if found.edge().is_none() {
                    let (name, state) = (
                        &array.name,
                        match found {
                            Cell::UNSET => "not written",
                            _ => "not a function of one instance",
                        },
                    );
                    let what = format!("bit {at} of `{name}` is {state}");
                    return Err(Obstacle::Impossible(what));
                }
                let same_instance = [instance, Instance::Every].contains(&found.instance())
                    || world.bits.value(expected).is_some();
                if found.edge() == expected.edge() && same_instance {
                    continue;
                }
                let result = match *meaning {
                    Meaning::Bit { bit, .. } => Some(bit as usize),
                    Meaning::Zero => None,
                };
                open.push(Open { array: number, at, result, expected, found, same_instance });
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        if let Some(difference) = self.difference(world, wanted, &open) {
            return Err(Obstacle::Differs(difference));
        }
        let Open { array, at, .. } = open[0];
        let name = &self.contract.arrays[array].name;
        Err(Obstacle::Resisted(format!(
            "{} bits of results could not be shown equal; the first is bit {at} of `{name}`",
            open.len()
        )))
    }

    /// Searches for a counterexample by evaluating the graph: zeros and single ones first, then
    /// random inputs. The found input is reduced by clearing ones while a bit stays wrong.
    fn difference(&self, world: &World, wanted: &[Edge], open: &[Open]) -> Option<Difference> {
        let arity = self.program.entry().arity(self.program.slicing);
        let mut random = Random::new(1);
        let trial = Trial::new(world, open, arity, &mut random);
        for first in (0..=arity).step_by(64) {
            // Run k sets bit `first + k - 1`; bit -1 does not exist.
            let set = |at: usize| match (at + 1).checked_sub(first) {
                Some(run @ 0..64) => 1u64 << run,
                _ => 0,
            };
            if let Some(found) = trial.first(&(0..arity).map(set).collect::<Vec<u64>>()) {
                return Some(self.described(&trial, wanted, found));
            }
        }
        for _ in 0..RUNS {
            let inputs: Vec<u64> = (0..arity).map(|_| random.word()).collect();
            if let Some(found) = trial.first(&inputs) {
                let smaller = trial.smaller(found, &mut random);
                return Some(self.described(&trial, wanted, smaller));
            }
        }
        None
    }

    fn described(&self, trial: &Trial, wanted: &[Edge], input: Vec<bool>) -> Difference {
        let words: Vec<u64> = input.iter().map(|&bit| bit as u64).collect();
        let (own, wrong) = trial.wrong(&words);
        let (first, _) = wrong.iter().find(|(_, runs)| runs & 1 == 1).expect("it was found before");
        let instance = match first.expected.instance() {
            Instance::Number(number) => number,
            Instance::Every => 0,
        };
        let expected: Vec<bool> = wanted.iter().map(|&edge| value(&own, edge) & 1 == 1).collect();
        let mut found = expected.clone();
        for (bit, _) in wrong.iter().filter(|(_, runs)| runs & 1 == 1) {
            let of_instance = bit.expected.instance() == first.expected.instance();
            if let (Some(bit), true) = (bit.result, of_instance) {
                found[bit] = !expected[bit];
            }
        }
        let array = self.contract.arrays[first.array].name.clone();
        Difference { array, bit: first.at, instance, input, expected, found }
    }
}

/// Random evaluations of the graph, each on 64 inputs.
const RUNS: usize = 4;

/// Rounds of the reduction.
const ROUNDS: usize = 32;

/// A result bit with another node than expected.
#[derive(Clone, Copy)]
struct Open {
    array: usize,
    at: usize,
    /// The index of the bit among all results, if it belongs to a result.
    result: Option<usize>,
    expected: Cell,
    found: Cell,
    same_instance: bool,
}

/// Evaluations of the graph in the search for a wrong bit.
struct Trial<'a> {
    graph: &'a Graph,
    open: &'a [Open],
    /// Node values for a foreign instance, which has its own inputs.
    other: Vec<u64>,
}

impl<'a> Trial<'a> {
    fn new(world: &'a World, open: &'a [Open], arity: usize, random: &mut Random) -> Trial<'a> {
        let graph = &world.bits.graph;
        let other: Vec<u64> = (0..arity).map(|_| random.word()).collect();
        Trial { graph, open, other: evaluate(graph, &other) }
    }

    /// The node values on 64 inputs, and each open bit with the runs in which it is wrong.
    fn wrong(&self, inputs: &[u64]) -> (Vec<u64>, Vec<(Open, u64)>) {
        let own = evaluate(self.graph, inputs);
        let edge = |cell: Cell| cell.edge().expect("a known bit");
        let differ = |bit: &Open| {
            let found = if bit.same_instance { &own } else { &self.other };
            (*bit, value(&own, edge(bit.expected)) ^ value(found, edge(bit.found)))
        };
        let wrong = self.open.iter().map(differ).collect();
        (own, wrong)
    }

    /// The first of 64 inputs on which a bit is wrong.
    fn first(&self, inputs: &[u64]) -> Option<Vec<bool>> {
        let runs = self.wrong(inputs).1.iter().fold(0, |runs, (_, wrong)| runs | wrong);
        (runs != 0).then(|| run(inputs, runs.trailing_zeros()))
    }

    /// Reduces an input on which a bit is wrong: each round tries 64 random subsets of its ones,
    /// from half of them to almost all.
    fn smaller(&self, mut input: Vec<bool>, random: &mut Random) -> Vec<bool> {
        for _ in 0..ROUNDS {
            // Run k keeps a one with odds of 1 - 2^-(1 + k / 8).
            let lost = |random: &mut Random| {
                (0..64u32).fold(0, |lost, run| {
                    let chance = 1 << (1 + run / 8);
                    lost | ((random.below(chance) == 0) as u64) << run
                })
            };
            let inputs: Vec<u64> =
                input.iter().map(|&bit| if bit { !lost(random) } else { 0 }).collect();
            let runs = self.wrong(&inputs).1.iter().fold(0, |runs, (_, wrong)| runs | wrong);
            let ones = |input: &[bool]| input.iter().filter(|&&bit| bit).count();
            let found = (0..64).filter(|at| runs >> at & 1 == 1).map(|at| run(&inputs, at));
            input = found.chain([input]).min_by_key(|input| ones(input)).expect("at least one");
        }
        input
    }
}

/// Extracts one of 64 inputs.
fn run(inputs: &[u64], at: u32) -> Vec<bool> {
    inputs.iter().map(|&word| word >> at & 1 == 1).collect()
}

/// The expected content of a memory bit, given the edges of parameters or results.
fn cell(bits: &Bits, meaning: &Meaning, edges: &[Edge]) -> Result<Cell, String> {
    Ok(match *meaning {
        Meaning::Zero => bits.constant(false),
        Meaning::Bit { bit, instance, complement } => {
            let edge = edges.get(bit as usize).ok_or("the contract is of another program")?;
            let instance = instance.map_or(Instance::Every, Instance::Number);
            Cell::new(edge.flipped(complement), instance)
        }
    })
}

fn buffer(bits: &Bits, array: &Array, params: &[Edge]) -> Result<Buffer, String> {
    let cells = match &array.entry {
        None => vec![Cell::UNSET; array.size],
        Some(meanings) => {
            meanings.iter().map(|m| cell(bits, m, params)).collect::<Result<_, _>>()?
        }
    };
    Ok(Buffer { name: array.name.clone(), access: array.access(), align: array.align, cells })
}
