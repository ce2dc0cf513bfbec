//! Binary equivalence checking of arithmetic functions, over the integer abstraction of words.
//!
//! ```text
//! the program, on words that are integers ─┐
//!                                          ├─ every word of every result is one polynomial
//! the function, executed on the same words ┘
//! ```
//!
//! As `compare`, but additions and products are integer operations instead of circuits, because no
//! engine on bits proves two multipliers equal. The rules on addresses, branches and bounds are the
//! same.
//!
//! *Limits:* results with different polynomials are unknown, unless execution on some of a number
//! of inputs shows a difference.

use usuba::ir::random::Random;
use usuba::ir::{Port, Program, Slicing, interp, lanes, verify};
use usuba::typed::{Decl, Var, VarType};

use super::calls::{Calls, Kernel};
use super::compare::{self, Demands, Difference, Verdict};
use super::elf::Object;
use super::frame_phases::{KNOWN_PHASES, Phases};
use super::integer_values;
use super::kernel_contract::{Contract, Meaning};
use super::memory::{Buffer, Memory, Whole};
use super::verdict::Evidence;
use super::{Fault, Forks, Machine, Residue, Rule, World};
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_bits::operators::Word;
use usuba_equiv::Engines;
use usuba_equiv::dag::Edge;
use usuba_equiv::rewrites::Rewrites;
use usuba_equiv::value_numbering::Graph;

/// The most equations of the program, unrolled.
const LONGEST: u64 = 2_000_000;

/// The most instructions of a function, per equation and constant.
const FACTOR: u64 = 64;
const SPARE: u64 = 20_000;

/// The number of inputs on which an unproved function is executed.
const RUNS: usize = 96;

/// The most instructions that are executed on them altogether; one input is always run to its end.
const SEARCH: u64 = 200_000;

/// Whether the function that `contract` names in an object computes `program`, by bits or by
/// integers. Programs with products use integers; others try bits first.
///
/// `linked` are the kernels in other objects that it may call.
pub fn prove_either<M: Machine>(
    object: &Object,
    contract: &Contract,
    program: &Program,
    most: &[u64],
    linked: &[Kernel],
    demands: Demands,
) -> Verdict {
    if !linked.is_empty() || multiplies(program) {
        return prove::<M>(object, contract, program, most, linked, demands);
    }
    let on_bits = compare::prove::<M>(object, contract, program, demands);
    if !matches!(on_bits, Verdict::Unknown(_)) {
        return on_bits;
    }
    match prove::<M>(object, contract, program, most, linked, demands) {
        // The obligation that is open on bits is more precise.
        Verdict::Unknown(_) => on_bits,
        answer => answer,
    }
}

/// Whether a program has products or comparisons of words.
pub fn multiplies(program: &Program) -> bool {
    use usuba::ir::{Eqn, Op};
    fn any(eqns: &[Eqn]) -> bool {
        eqns.iter().any(|eqn| match eqn {
            Eqn::Op(e) => matches!(e.op, Op::Mul | Op::MulHigh | Op::Less),
            Eqn::Call(_) => false,
            Eqn::Loop(lp) => any(&lp.body),
        })
    }
    program.nodes.iter().any(|node| any(&node.body))
}

/// The greatest value of each flattened value of the parameters of a program, by the ranges of its
/// node. Callers keep the ranges.
pub fn most(program: &Program, decl: &Decl) -> Vec<u64> {
    greatest(program, &decl.params, &program.params())
}

/// The greatest values of the results, by the postcondition of the node.
pub fn most_of_results(program: &Program, decl: &Decl) -> Vec<u64> {
    greatest(program, &decl.results, &program.results())
}

fn greatest(program: &Program, vars: &[Var], groups: &[&[Port]]) -> Vec<u64> {
    let words = |var: &&Var| matches!(var.ty, VarType::Words { .. });
    let vars: Vec<&Var> = vars.iter().filter(words).collect();
    let mut all = Vec::new();
    // A bit is below two.
    let bits = program.is_bitsliced();
    if program.slicing == Slicing::V && !bits && vars.len() == groups.len() {
        for (var, ports) in vars.iter().zip(groups) {
            for port in ports.iter() {
                let ones = u64::MAX >> (64 - port.word as u32);
                let high = |at| var.range(at).map_or(ones, |range| ones.min(range.high as u64));
                all.extend((0..port.words()).map(high));
            }
        }
    }
    all
}

/// Whether the function that `contract` names in an object computes `program` and keeps all rules.
/// `most` has the greatest values of parameters; it may be empty. `linked` are the kernels in other
/// objects that it may call.
pub fn prove<M: Machine>(
    object: &Object,
    contract: &Contract,
    program: &Program,
    most: &[u64],
    linked: &[Kernel],
    demands: Demands,
) -> Verdict {
    if let Err(rule) = verify::verify(program) {
        return Verdict::Unknown(format!("the program is not well-formed: {rule}"));
    }
    let program = &lanes::apart(program);
    let Some(mut goal) = Goal::new(object, contract, program, most, demands) else {
        return Verdict::Unknown(format!("there is no function `{}`", contract.symbol));
    };
    goal.linked = linked;
    let mut shown = goal.show::<M>();
    if let Err(Obstacle::Open { .. }) = shown {
        goal.merges = true;
        shown = match goal.show::<M>() {
            Ok(evidence) => Ok(evidence),
            Err(_) => shown,
        };
    }
    match shown {
        Ok(evidence) => Verdict::Proved(evidence),
        Err(Obstacle::Fault(fault)) => Verdict::Refused(fault),
        Err(Obstacle::Impossible(what)) => Verdict::Unknown(what),
        Err(Obstacle::Open { what, longest }) => match goal.difference::<M>(longest) {
            Ok(difference) => Verdict::Refuted(difference),
            Err(inputs) => {
                Verdict::Unknown(format!("{what}, and {inputs} inputs show no difference"))
            }
        },
    }
}

/// An input on which a function and a program give different results, by concrete execution.
pub fn differs<M: Machine>(
    object: &Object,
    contract: &Contract,
    program: &Program,
    most: &[u64],
) -> Option<Difference> {
    let program = &lanes::apart(program);
    let goal = Goal::new(object, contract, program, most, Demands::default())?;
    goal.difference::<M>(LONGEST).ok()
}

/// The reason why a proof ended.
enum Obstacle {
    Fault(Fault),
    /// A word is not proved; the limit on instructions of the function.
    Open {
        what: String,
        longest: u64,
    },
    Impossible(String),
}

struct Goal<'a> {
    object: &'a Object,
    contract: &'a Contract,
    /// Without vectors.
    program: &'a Program,
    /// The size and the greatest value of each parameter.
    params: Vec<(usize, u64)>,
    entry: u64,
    /// Kernels with their own proofs.
    linked: &'a [Kernel],
    demands: Demands,
    /// Whether engines merge bits of words, such as sums of products in another order.
    merges: bool,
}

impl<'a> Goal<'a> {
    /// `None` if there is no such function.
    fn new(
        object: &'a Object,
        contract: &'a Contract,
        program: &'a Program,
        most: &[u64],
        demands: Demands,
    ) -> Option<Goal<'a>> {
        let entry = object.function(&contract.symbol)?;
        let param = |(at, size): (usize, usize)| {
            let ones = u64::MAX >> (64 - size as u32);
            (size, ones.min(most.get(at).copied().unwrap_or(ones)))
        };
        let params = sizes(program, &program.entry().params).enumerate().map(param).collect();
        Some(Goal { object, contract, program, params, entry, linked: &[], demands, merges: false })
    }

    /// Runs both sides, the function for each phase of the frame that matters.
    fn show<M: Machine>(&self) -> Result<Evidence, Obstacle> {
        let mut evidence = Evidence { engines: Engines::POLYNOMIALS, ..Evidence::default() };
        let engines = self.merges.then(|| Rewrites::new(compare::LEAVES));
        let mut bits = Bits::new(Graph::new(engines));
        let mut params: Vec<Word> = Vec::new();
        for &(size, most) in &self.params {
            let word = bits.free_word(size, most);
            params.push(word.into_iter().map(|edge| Cell::new(edge, Instance::Every)).collect());
        }
        let mut calls = Calls::new(self.linked, self.object);
        let run = integer_values::run(self.program, &mut bits, &mut calls, &params, LONGEST);
        let (wanted, steps) = run.map_err(Obstacle::Impossible)?;
        let longest = SPARE + FACTOR * steps;
        let (given, wanted) = (flat(&params), flat(&wanted));
        let mut phases = Phases::of(M::CONVENTION);
        while let Some(phase) = phases.next() {
            evidence.phases += 1;
            let asked;
            let sides = (&given[..], &wanted[..]);
            (bits, asked) =
                self.at_phase::<M>((phase, longest), bits, &calls, sides, &mut evidence)?;
            phases.done(phase, asked);
        }
        Ok(evidence)
    }

    /// Runs the function once, for at most this number of instructions. Returns the bits, and the
    /// largest alignment of the frame that was tested.
    fn at_phase<M: Machine>(
        &self,
        (phase, longest): (u64, u64),
        bits: Bits,
        calls: &Calls,
        (given, wanted): (&[Edge], &[Edge]),
        evidence: &mut Evidence,
    ) -> Result<(Bits, u64), Obstacle> {
        let buffers = self.buffers(&bits, given).map_err(Obstacle::Impossible)?;
        let mut world = self.world::<M>(bits, calls.clone(), buffers, phase);
        let run = super::run::<M>(&mut world, &self.pointers(), self.entry, longest);
        let (instructions, residue) = run.map_err(Obstacle::Fault)?;
        evidence.instructions = evidence.instructions.max(instructions);
        evidence.nodes = evidence.nodes.max(world.bits.graph.nodes.len());
        evidence.frame = evidence.frame.max(world.memory.frame_bytes());
        if residue.frame >= evidence.residue.frame {
            evidence.residue = residue;
        }
        self.compare(&mut world, wanted, longest)?;
        if self.demands.wiped && !evidence.residue.is_empty() {
            let Residue { frame, registers } = &evidence.residue;
            let what = format!(
                "{frame} bytes of the frame and {} registers ({}) hold what depends on inputs",
                registers.len(),
                registers.join(", ")
            );
            return Err(Obstacle::Fault(Fault::new(Rule::Left, what)));
        }
        Ok((world.bits, world.memory.asked))
    }

    fn pointers(&self) -> Vec<Option<Whole>> {
        self.contract.pointers.iter().map(|&at| Some(Whole::start(at))).collect()
    }

    fn world<M: Machine>(
        &self,
        bits: Bits,
        calls: Calls,
        buffers: Vec<Buffer>,
        phase: u64,
    ) -> World<'_> {
        let memory = Memory::new(M::CONVENTION, buffers, M::on_stack(&self.pointers()), phase);
        World { bits, memory, object: self.object, calls, forks: Forks::default() }
    }

    /// The buffers at entry, for the bits of the parameters.
    fn buffers(&self, bits: &Bits, given: &[Edge]) -> Result<Vec<Buffer>, String> {
        let buffer = |array: &super::kernel_contract::Array| {
            let cells = match &array.entry {
                None => vec![Cell::UNSET; array.size],
                Some(all) => all.iter().map(|m| meant(bits, m, given)).collect::<Result<_, _>>()?,
            };
            let (name, access) = (array.name.clone(), array.access());
            Ok(Buffer { name, access, align: array.align, cells })
        };
        self.contract.arrays.iter().map(buffer).collect()
    }

    /// Whether every word of every result equals the word of the program. Consecutive bits in a
    /// value and in memory are a word.
    fn compare(&self, world: &mut World, wanted: &[Edge], longest: u64) -> Result<(), Obstacle> {
        let mut open = None;
        for (number, array) in self.contract.arrays.iter().enumerate() {
            let Some(meanings) = &array.exit else { continue };
            let found = world.memory.buffer(number).to_vec();
            let mut at = 0;
            while at < meanings.len() {
                let end = (at + 1..meanings.len())
                    .find(|&next| !follows(&meanings[next - 1], &meanings[next]))
                    .unwrap_or(meanings.len());
                let expected = meanings[at..end].iter().map(|m| meant(&world.bits, m, wanted));
                let expected = expected.collect::<Result<Vec<Cell>, String>>();
                let expected = expected.map_err(Obstacle::Impossible)?;
                let name = &array.name;
                if found[at..end].contains(&Cell::UNSET) {
                    let what = format!("bit {at} of `{name}` is not written");
                    return Err(Obstacle::Impossible(what));
                }
                let same = found[at..end] == expected[..];
                if !same && !world.bits.are_equal(&found[at..end], &expected) {
                    open.get_or_insert_with(|| {
                        format!("bits {at} to {} of `{name}` are not shown to be equal", end - 1)
                    });
                }
                at = end;
            }
        }
        match open {
            None => Ok(()),
            Some(what) => Err(Obstacle::Open { what, longest }),
        }
    }

    /// An input on which the function gives a wrong result, by concrete execution; else the number
    /// of inputs that were tried. The search ends after an amount of work, and not after a time, so
    /// that it finds the same on every machine.
    fn difference<M: Machine>(&self, longest: u64) -> Result<Difference, usize> {
        let mut random = Random::new(7);
        let mut work = 0;
        for run in 0..RUNS {
            let word = |&(_, most): &(usize, u64)| edge_word(&mut random, most, run);
            let words: Vec<u64> = self.params.iter().map(word).collect();
            // An input that cannot be run may have taken any time.
            let ran = self.differs::<M>(&words, longest);
            let (found, instructions) = ran.unwrap_or((None, longest));
            work += instructions;
            match found {
                Some(difference) => return Ok(difference),
                None if work > SEARCH => return Err(run + 1),
                None => {}
            }
        }
        Err(RUNS)
    }

    /// The difference of the results for an input, if there is one, and the number of instructions;
    /// all instances have the same input. `None` if the input cannot be run.
    fn differs<M: Machine>(
        &self,
        words: &[u64],
        longest: u64,
    ) -> Option<(Option<Difference>, u64)> {
        let bits = Bits::new(Graph::new(None));
        let constants = |words: &[u64], sizes: &[usize]| -> Vec<Word> {
            words.iter().zip(sizes).map(|(&word, &size)| bits.number(word, size)).collect()
        };
        let sizes: Vec<usize> = self.params.iter().map(|param| param.0).collect();
        let input = flat(&constants(words, &sizes));
        let outs = interp::run(self.program, words).ok()?;
        let out_sizes = self::sizes(self.program, &self.program.entry().results);
        let expected = flat(&constants(&outs, &out_sizes.collect::<Vec<usize>>()));
        let buffers = self.buffers(&bits, &input).ok()?;
        let calls = Calls::on_numbers(self.linked, self.object, self.program);
        let mut world = self.world::<M>(bits, calls, buffers, KNOWN_PHASES / 2);
        let run = super::run::<M>(&mut world, &self.pointers(), self.entry, longest);
        let (instructions, _) = run.ok()?;
        let bits = &world.bits;
        let is_set = |edge: &Edge| edge.is_complement();
        let mut found: Vec<bool> = expected.iter().map(is_set).collect();
        let mut first = None;
        for (number, array) in self.contract.arrays.iter().enumerate() {
            let Some(meanings) = &array.exit else { continue };
            for (at, (meaning, &cell)) in
                meanings.iter().zip(world.memory.buffer(number)).enumerate()
            {
                let wanted = meant(bits, meaning, &expected).ok()?;
                let (wanted, value) = (bits.value(wanted)?, bits.value(cell)?);
                if wanted == value {
                    continue;
                }
                let (bit, instance) = match *meaning {
                    Meaning::Bit { bit, instance, .. } => (Some(bit), instance.unwrap_or(0)),
                    Meaning::Zero => (None, 0),
                };
                let (_, _, own) = *first.get_or_insert((array.name.clone(), at, instance).clone());
                if let (Some(bit), true) = (bit, own == instance) {
                    found[bit as usize] ^= true;
                }
            }
        }
        let Some((array, bit, instance)) = first else { return Some((None, instructions)) };
        let input = input.iter().map(is_set).collect();
        let expected = expected.iter().map(is_set).collect();
        Some((Some(Difference { array, bit, instance, input, expected, found }), instructions))
    }
}

/// The size of each flattened value of some ports.
fn sizes<'a>(
    program: &Program,
    ports: &'a [usuba::ir::Port],
) -> impl Iterator<Item = usize> + use<'a> {
    let slicing = program.slicing;
    ports.iter().flat_map(move |port| {
        std::iter::repeat_n(port.value_bits(slicing) as usize, port.values(slicing))
    })
}

/// The bits of words, the most significant of each word first, as contracts count them.
fn flat(words: &[Word]) -> Vec<Edge> {
    let edge = |cell: &Cell| cell.edge().unwrap_or(Edge::NONE);
    words.iter().flat_map(|word| word.iter().rev().map(edge)).collect()
}

/// The expected value of a bit of memory, for the edges of parameters or of results.
fn meant(bits: &Bits, meaning: &Meaning, edges: &[Edge]) -> Result<Cell, String> {
    let Meaning::Bit { bit, instance, complement } = *meaning else {
        return Ok(bits.constant(false));
    };
    let edge = edges.get(bit as usize).ok_or("the contract is of another program")?;
    if *edge == Edge::NONE {
        return Err("a result of the program is not known".into());
    }
    let instance = instance.map_or(Instance::Every, Instance::Number);
    let cell = Cell::new(edge.flipped(complement), instance);
    // All instances share constants.
    Ok(bits.value(cell).map_or(cell, |value| bits.constant(value)))
}

/// Whether a bit of memory is the next one of the same word of the same instance.
fn follows(one: &Meaning, next: &Meaning) -> bool {
    match (one, next) {
        (Meaning::Zero, Meaning::Zero) => true,
        (
            Meaning::Bit { bit: a, instance: i, complement: c },
            Meaning::Bit { bit: b, instance: j, complement: d },
        ) => *b + 1 == *a && i == j && c == d,
        _ => false,
    }
}

/// A number from 0 to `most`: at an edge, near a power of two, or any.
fn edge_word(random: &mut Random, most: u64, run: usize) -> u64 {
    let word = random.word();
    let near = 1u64 << (word % 64);
    let word = match (run, random.below(5)) {
        (0, _) => 0,
        (1, _) => most,
        (_, 0) => most >> (word % 64),
        (_, 1) => near.wrapping_add(random.below(3) as u64),
        (_, 2) => near.wrapping_sub(random.below(20) as u64),
        (_, 3) => most.wrapping_sub(random.below(20) as u64),
        _ => word,
    };
    most.checked_add(1).map_or(word, |count| word % count)
}
