//! Binary equivalence checking of a function over any number of blocks, by induction.
//!
//! ```text
//! f(ctx, in, out, n):   n = 128 q + r       f(ctx, in, text, out, n): r is a multiple, too
//!   q = 0               r = 0 returns; r > 0 is one tail
//!   q >= 1              a turn, a second turn, and from both an invariant;
//!                       one turn more shows that it does; then q = 1, and the tail
//! ```
//!
//! The function is executed symbolically on an unknown number of blocks: counts and addresses are
//! forms in it (`usuba_ranges`). Where an instruction must know more, ranges of variables are
//! split and the instruction runs again in each part. A branch that is reached a second time while
//! the number of blocks is still unknown is a loop over blocks, and `block_step` proves it. At each
//! turn and at the end, every written bit equals the bit of the program for its own block, and at
//! the end all blocks are done (`stream`). Loops with known counters are executed.
//!
//! *Limits:* all other loops and splits are rejected. The verdict is unknown if the search exceeds
//! its bound on instructions, on cases, or on blocks before a branch depends on their number.

use std::rc::Rc;

use usuba::ir::random::Random;
use usuba::ir::{Program, verify};

use super::block_function::{Interface, KeyPointer, Meaning, Xored};
use super::block_step::{Cover, Join, Joining};
use super::calls::Calls;
use super::compare::ENGINES;
use super::control_flow::ControlFlow;
use super::elf::Object;
use super::frame_phases::{KNOWN_PHASES, Phases};
use super::memory::{Access, Buffer, Memory, Moving, Pointer, Region, Whole};
use super::stream::{Blocks, Open, Side, Stream};
use super::summarized::{Registers, Summarized};
use super::verdict::{self, Evidence};
use super::word::Word;
use super::{Fault, Forks, Machine, Residue, Rule, Step, World};
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_bits::evaluation::evaluate;
use usuba_equiv::Engines;
use usuba_equiv::bitblast::{self, Places};
use usuba_equiv::dag::Edge;
use usuba_equiv::execution::{Classes, Loops, Run};
use usuba_equiv::rewrites::Rewrites;
use usuba_equiv::value_numbering::Graph;
use usuba_ranges::{Asked, Form, Range, Ranges, Split, Unknowns};

/// A machine whose states can be compared at the turns of a loop.
pub trait Turning: Machine + Clone + Summarized + ControlFlow {
    /// The address of the next instruction.
    fn place(&self) -> u64;

    /// The offset of the stack pointer.
    fn stack_offset(&self) -> i64;

    /// The return address at the entry of a function.
    fn return_address(&self, memory: &Memory) -> Option<Pointer>;

    /// Whether there is a conditional branch or move at a place.
    fn is_choice(object: &Object, place: u64) -> bool;

    /// The register with the status at the beginning of an epilogue, which restores registers from the
    /// frame and uses no other memory; `None` elsewhere, or if the epilogue makes the status.
    fn status_at(object: &Object, place: u64) -> Option<usize>;

    /// Whether states that no join describes are equal.
    fn is_like(&self, _other: &Self) -> bool {
        true
    }

    /// The general-purpose registers.
    fn words(&self) -> &[Word];

    /// Goes to an address.
    fn go_to(&mut self, place: u64);

    /// Replaces each form.
    fn map_forms(&mut self, of: &dyn Fn(Form) -> Form);

    /// Makes addresses in some regions unknown public words.
    fn forget(&mut self, is_gone: &dyn Fn(Region) -> bool);

    /// Replaces each number in a register of a call's arguments, of which the callee reads some.
    fn map_arguments(&mut self, read: Registers, of: &mut dyn FnMut(Form) -> Form);

    /// Forgets flags, and public words that are not wholly known, in registers that callers save and
    /// the function reads no more. Only for processors whose backends are chosen at run time.
    fn forget_dead(&mut self, _read: Registers) {}

    /// Whether two states are the same; none of a processor without such a choice.
    fn is_same(&self, _other: &Self) -> bool {
        false
    }

    /// Replaces each bit.
    fn map(&mut self, bits: &Bits, of: &impl Fn(Cell) -> Cell);

    /// See [`Joining`].
    fn joined(&self, other: &Self, bits: &Bits, join: &impl Joining) -> Self;

    /// Weakens the claims that another state breaks.
    fn widen(&mut self, other: &Self, bits: &Bits, cover: &Cover);

    /// See [`Cover`].
    fn covers(&self, other: &Self, bits: &Bits, cover: &Cover) -> bool;
}

/// The verdict on a function over blocks: whether it computes the program of each block, for any
/// number of blocks.
pub type Verdict = verdict::Verdict<Difference>;

type Obstacle = verdict::Obstacle<Difference>;

/// A block for which a function gives a wrong result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The bytes of the block.
    pub input: Vec<u8>,
    /// The words of the key, all their bits, the most significant of each first.
    pub key: Vec<bool>,
    /// The bit of the result, from the least significant of its first byte.
    pub bit: usize,
    pub expected: bool,
    pub found: bool,
}

/// The most steps of the program, unrolled.
const LONGEST: u64 = 40_000_000;

/// The most instructions on all paths; SKINNY for 64 blocks, whose bits gcc gathers one by one,
/// takes 5.7 million.
const BUDGET: u64 = 16_000_000;

/// Leaves of cuts for the engines on words, which are not used here, so the least number.
const LEAVES: usize = 3;

/// The most bytes of all blocks: no machine has as many addresses.
const MEMORY: i64 = 1 << 56;

/// A counter of turns with more values than this is handled by induction, not by enumeration.
const MANY: i64 = 16;

/// The variable of the blocks behind the last whole batch, or of their units, which has few values.
const REST: usize = 1;

/// The most distinguished cases; functions of ciphers have about twenty.
const CASES: u32 = 1000;

/// The most blocks before a branch depends on their number, in addition to eight batches.
const UNROLLED: i64 = 1 << 10;

/// Whether the function that `interface` names in an object computes its program on any number of
/// blocks, and keeps all rules.
pub fn prove<M: Turning>(object: &Object, interface: &Interface) -> Verdict {
    if let Err(rule) = verify::verify(interface.program) {
        return Verdict::Unknown(format!("the program is not well-formed: {rule}"));
    }
    let Some((program, sums)) = bitblast::apart_with_sums(interface.program) else {
        return Verdict::Unknown("the program has too many bits".into());
    };
    let Some(entry) = object.function(&interface.symbol) else {
        return Verdict::Unknown(format!("there is no function `{}`", interface.symbol));
    };
    let goal = Goal { object, interface, program: &program, sums: &sums, entry };
    let mut evidence = Evidence { engines: Engines::GRAPH, ..Evidence::default() };
    match goal.show::<M>(&mut evidence, false) {
        Err(Obstacle::Resisted(_)) => {}
        other => return verdict::verdict(other, evidence),
    }
    let mut evidence = Evidence { engines: ENGINES, ..Evidence::default() };
    let outcome = goal.show::<M>(&mut evidence, true);
    verdict::verdict(outcome, evidence)
}

struct Goal<'a> {
    object: &'a Object,
    interface: &'a Interface<'a>,
    /// On bits.
    program: &'a Program,
    /// Where it has sums of words.
    sums: &'a Places,
    entry: u64,
}

impl Goal<'_> {
    /// Runs both sides, the function for each phase of the frame that matters.
    fn show<M: Turning>(&self, evidence: &mut Evidence, engines: bool) -> Result<(), Obstacle> {
        let graph = Graph::new(engines.then(|| Rewrites::new(LEAVES)));
        let classes = Classes::default();
        let opaque = Default::default();
        let mut run =
            Run::new(graph, [self.program; 2], &classes, opaque, Loops::Unfolded, LONGEST)
                .with_sums(self.sums, true);
        let meaning =
            self.interface.meaning(self.program, &mut run).map_err(Obstacle::Impossible)?;
        let mut bits =
            Bits::with_sums(run.graph, &run.summed, (false, true), 8 * M::CONVENTION.address);
        let mut wanted = meaning.output.clone();
        for (wanted, &text) in wanted.iter_mut().zip(&meaning.text) {
            let [one, other] = [*wanted, text].map(|edge| Cell::new(edge, Instance::Every));
            *wanted = bits.xor(one, other).edge().expect("a sum of known bits");
        }
        let blocks = Rc::new(Blocks {
            input: meaning.input.len() / 8,
            output: meaning.output.len() / 8,
            results: match (self.interface.in_place, self.interface.xored) {
                (true, _) => Side::Input,
                (false, Some(Xored { in_place: true, .. })) => Side::Text,
                (false, _) => Side::Output,
            },
            most: UNROLLED + 8 * self.interface.batch as i64,
            params: meaning.input.clone(),
            text: meaning.text.clone(),
            wanted,
            constants: [false, true].map(|bit| bits.constant(bit)),
        });
        if blocks.results == Side::Input && blocks.input != blocks.output {
            return Err(Obstacle::Impossible("blocks of two sizes have one place".into()));
        }
        let mut search = Search {
            world: World {
                bits,
                memory: Memory::new(M::CONVENTION, Vec::new(), &[], 0),
                object: self.object,
                calls: Calls::default(),
                forks: Forks::default(),
            },
            evidence,
            meaning: &meaning,
            asked: KNOWN_PHASES,
            wiped: self.interface.demands.wiped,
            cases: 0,
        };
        let mut phases = Phases::of(M::CONVENTION);
        while let Some(phase) = phases.next() {
            search.evidence.phases += 1;
            search.asked = KNOWN_PHASES;
            let state = self.enter::<M>(&search.world.bits, &meaning, &blocks, phase);
            search.explore(state, &mut Vec::new())?;
            phases.done(phase, search.asked);
        }
        let search_nodes = search.world.bits.graph.nodes.len();
        evidence.nodes = evidence.nodes.max(search_nodes);
        Ok(())
    }

    fn enter<M: Turning>(
        &self,
        bits: &Bits,
        meaning: &Meaning,
        blocks: &Rc<Blocks>,
        phase: u64,
    ) -> Box<State<M>> {
        let batch = self.interface.batch.max(1) as i64;
        let unit = self.interface.xored.map_or(1, |xored| xored.unit.max(1) as i64);
        let mut ranges = Ranges::default();
        let bytes = batch * blocks.input.max(blocks.output) as i64;
        ranges.0[0] = Range { low: 0, high: MEMORY / bytes };
        ranges.0[REST] = Range { low: 0, high: (batch / unit).max(1) - 1 };
        let mut count = Form::default();
        // A rest that is always zero is in no other form.
        (count.terms[0], count.terms[REST]) = (batch, if batch > unit { unit } else { 0 });
        let mut buffers = Vec::new();
        let mut parameters = Vec::new();
        if self.interface.key != KeyPointer::Absent {
            // A pointer that is not read points to a buffer of no bytes.
            let zero = bits.constant(false);
            let cell = |edge: &Option<Edge>| edge.map_or(zero, |e| Cell::new(e, Instance::Every));
            let cells = meaning.key.iter().map(cell).collect();
            let (access, align) = (Access::Read, meaning.key_align);
            buffers.push(Buffer { name: "key".into(), access, align, cells });
            parameters.push(Some(Whole::start(0)));
        }
        let stream =
            |side| Whole::Moving(Moving { region: Region::Stream(side), offset: Form::default() });
        parameters.push(Some(stream(Side::Input)));
        if !blocks.text.is_empty() {
            parameters.push(Some(stream(Side::Text)));
        }
        parameters.extend([stream(blocks.results), Whole::Count(count)].map(Some));
        let mut memory = Memory::new(M::CONVENTION, buffers, &[], phase);
        memory.unknowns = Unknowns { ranges, used: 2, asked: None };
        memory.stream = Some(Stream::new(blocks.clone(), count));
        Box::new(State { machine: M::enter(&parameters, self.entry), memory })
    }
}

/// Where an execution is.
#[derive(Clone)]
struct State<M> {
    machine: M,
    memory: Memory,
}

impl<M: Turning> State<M> {
    fn stream(&mut self) -> &mut Stream {
        self.memory.stream.as_mut().expect("there are blocks")
    }

    /// The state below a split, and from it on.
    fn halves(mut self: Box<Self>, split: Split) -> [Box<Self>; 2] {
        let mut one = self.clone();
        let ranges = self.memory.unknowns.ranges.halves(split);
        for (state, ranges) in [&mut one, &mut self].into_iter().zip(ranges) {
            state.memory.unknowns.ranges = ranges.clone();
            state.memory.refine();
            state.machine.map_forms(&|form| ranges.reduced(form).unwrap_or(form));
        }
        [one, self]
    }
}

/// A branch at which the number of blocks was still unknown.
struct Visit<M> {
    place: u64,
    state: Box<State<M>>,
    variable: usize,
    /// The invariant of the turns, once the branch has been reached again.
    every: Option<(Box<State<M>>, Cover)>,
}

struct Search<'a> {
    /// Its memory belongs to the state that runs.
    world: World<'a>,
    evidence: &'a mut Evidence,
    meaning: &'a Meaning,
    /// The largest alignment of the frame that any path has asked for.
    asked: u64,
    /// Whether no residue is allowed.
    wiped: bool,
    /// The number of cases so far.
    cases: u32,
}

impl Search<'_> {
    /// Runs a state to all its ends.
    fn explore<M: Turning>(
        &mut self,
        mut state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
    ) -> Result<(), Obstacle> {
        self.cases += 1;
        if self.cases > CASES {
            return Err(Obstacle::Impossible(format!("it has more than {CASES} cases")));
        }
        let before = self.evidence.instructions;
        let Some(split) = self.run(&mut state)? else { return Ok(()) };
        let range = state.memory.unknowns.ranges.0[split.variable];
        // The first instruction after a split may ask for another one.
        let is_same = self.evidence.instructions == before + 1;
        if is_same || split.variable == REST || range.high - range.low <= MANY {
            for half in state.halves(split) {
                self.explore(half, visits)?;
            }
            return Ok(());
        }
        // A turn is over, or no turn has begun.
        let place = state.machine.place();
        state.stream().commit(&self.world.bits).map_err(|fault| self.at(place, fault))?;
        self.check(&mut state)?;
        let Some(at) = visits.iter().position(|visit| visit.place == place) else {
            visits.push(Visit {
                place,
                state: state.clone(),
                variable: split.variable,
                every: None,
            });
            let at = visits.len() - 1;
            let [below, above] = state.halves(split);
            self.explore(above, visits)?;
            // The invariant of a loop around this branch, or of its own loop, holds in the first
            // turn too, and has been followed to its end.
            if visits.len() <= at {
                return Ok(());
            }
            visits.truncate(at + 1);
            let visit = visits.pop().expect("it was put there");
            return if visit.every.is_some() { Ok(()) } else { self.explore(below, visits) };
        };
        if let Some((every, cover)) = &visits[at].every {
            let bits = &self.world.bits;
            let same = every.memory.covers(&state.memory, cover)
                && every.machine.covers(&state.machine, bits, cover);
            self.evidence.turns.get_or_insert_default().loops += 1;
            return match same {
                true => Ok(()),
                false => {
                    Err(self.at(place, unsupported("no claim about the loop holds a turn later")))
                }
            };
        }
        self.generalise(visits, at, &mut state, split)
    }

    /// Proposes the invariant of two turns and follows it: one more turn must end in the invariant,
    /// which is checked where the turn ends.
    fn generalise<M: Turning>(
        &mut self,
        visits: &mut Vec<Visit<M>>,
        at: usize,
        state: &mut State<M>,
        split: Split,
    ) -> Result<(), Obstacle> {
        let place = visits[at].place;
        if visits[at].variable != split.variable {
            return Err(self.at(place, unsupported("the loop depends on two numbers")));
        }
        let behind = state.memory.unknowns.fresh();
        let behind =
            behind.ok_or_else(|| self.at(place, unsupported("too many loops over blocks")))?;
        let join = Join { ahead: split.variable, behind, step: 1, constants: None, ranges: None };
        let first = &visits[at].state;
        let memory = first.memory.joined(&state.memory, &join);
        let mut memory = memory.ok_or_else(|| {
            self.at(place, unsupported("the blocks of a turn are not as many in each"))
        })?;
        join.unknowns(&mut memory.unknowns, &state.memory.unknowns)
            .ok_or_else(|| self.at(place, unsupported("the number of blocks is too large")))?;
        let machine = first.machine.joined(&state.machine, &self.world.bits, &join);
        let mut every = Box::new(State { machine, memory });
        visits.truncate(at + 1);
        let cover = Cover { join: join.clone(), is_first: false, ranges: None };
        visits[at].every = Some((every.clone(), cover));
        let Some(split) = self.run(&mut every)? else {
            return Err(self.at(place, unsupported("a branch has become another one")));
        };
        if every.machine.place() != place || split.variable != join.ahead {
            return Err(self.at(place, unsupported("the loop depends on something else as well")));
        }
        for half in every.halves(split) {
            self.explore(half, visits)?;
        }
        Ok(())
    }

    /// Runs a state until an instruction needs a split, before that instruction; `None` at the end
    /// of the function.
    fn run<M: Turning>(&mut self, state: &mut State<M>) -> Result<Option<Split>, Obstacle> {
        let State { machine, memory } = state;
        std::mem::swap(&mut self.world.memory, memory);
        loop {
            if self.evidence.instructions == BUDGET {
                let what = format!("it takes more than {BUDGET} instructions");
                return Err(Obstacle::Fault(Fault::new(Rule::TooLong, what)));
            }
            self.evidence.instructions += 1;
            let place = machine.place();
            match self.world.step(machine) {
                Ok(Step::Next | Step::Called | Step::Back) => {}
                Ok(Step::Returned) => {
                    let registers = machine.leave(&self.world).map_err(Obstacle::Fault)?;
                    self.leave(registers)?;
                    self.finish()?;
                    return Ok(None);
                }
                Err(fault) => {
                    let asked = self.world.memory.unknowns.asked.take();
                    let Some(Asked::Split(split, _)) = asked else {
                        return Err(Obstacle::Fault(fault));
                    };
                    machine.go_to(place);
                    std::mem::swap(&mut self.world.memory, memory);
                    self.asked = self.asked.max(memory.asked);
                    return Ok(Some(split));
                }
            }
        }
    }

    /// The residue at the end of a path.
    fn leave(&mut self, registers: Vec<String>) -> Result<(), Obstacle> {
        let residue = self.world.residue(registers);
        if self.wiped && !residue.is_empty() {
            return Err(Obstacle::Fault(residue.fault()));
        }
        let size = |residue: &Residue| (residue.frame, residue.registers.len());
        if size(&residue) > size(&self.evidence.residue) {
            self.evidence.residue = residue;
        }
        Ok(())
    }

    /// The end of a path.
    fn finish(&mut self) -> Result<(), Obstacle> {
        let World { bits, memory, .. } = &mut self.world;
        self.evidence.turns.get_or_insert_default().paths += 1;
        self.evidence.frame = self.evidence.frame.max(memory.frame_bytes());
        self.asked = self.asked.max(memory.asked);
        let stream = memory.stream.as_mut().expect("there are blocks");
        stream.finish(&memory.unknowns.ranges, bits).map_err(Obstacle::Fault)?;
        let open = std::mem::take(&mut stream.open);
        self.close(&open)
    }

    /// Whether all comparisons so far are equal.
    fn check<M: Turning>(&self, state: &mut State<M>) -> Result<(), Obstacle> {
        let open = std::mem::take(&mut state.stream().open);
        self.close(&open)
    }

    fn close(&self, open: &[Open]) -> Result<(), Obstacle> {
        let Some(first) = open.first() else { return Ok(()) };
        if let Some(difference) = self.difference(open) {
            return Err(Obstacle::Differs(difference));
        }
        Err(Obstacle::Resisted(format!(
            "{} bits of results could not be shown equal; the first is bit {} of a block",
            open.len(),
            first.bit
        )))
    }

    /// Looks for a block for which a bit is wrong, by evaluating the graph.
    fn difference(&self, open: &[Open]) -> Option<Difference> {
        let mut random = Random::new(1);
        let graph = &self.world.bits.graph;
        let block = self.meaning.input.len();
        let arity = block + self.meaning.key_bits + self.meaning.text.len();
        for _ in 0..RUNS {
            let inputs: Vec<u64> = (0..arity).map(|_| random.word()).collect();
            // Another block has bytes and a text of its own, and the same key.
            let mut other = inputs.clone();
            let key = block..block + self.meaning.key_bits;
            let own = other.iter_mut().enumerate().filter(|(at, _)| !key.contains(at));
            own.for_each(|(_, word)| *word = random.word());
            let [own, other] = [&inputs, &other].map(|words| evaluate(graph, words));
            let value = |values: &[u64], cell: Cell| {
                let edge = cell.edge().expect("a known bit");
                values[edge.node() as usize] ^ 0u64.wrapping_sub(edge.is_complement() as u64)
            };
            for bit in open {
                let instances = [bit.expected.instance(), Instance::Every];
                let is_own = instances.contains(&bit.found.instance());
                let expected = value(&own, bit.expected);
                let found = value(if is_own { &own } else { &other }, bit.found);
                let differ = expected ^ found;
                if differ == 0 {
                    continue;
                }
                let run = differ.trailing_zeros();
                let pick = |word: u64| word >> run & 1 == 1;
                let byte = |bits: &[u64]| {
                    bits.iter().rev().fold(0, |sum, &word| sum << 1 | pick(word) as u8)
                };
                return Some(Difference {
                    input: inputs[..block].chunks(8).map(byte).collect(),
                    key: inputs[key].iter().map(|&word| pick(word)).collect(),
                    bit: bit.bit,
                    expected: pick(expected),
                    found: pick(found),
                });
            }
        }
        None
    }

    fn at(&self, place: u64, fault: Fault) -> Obstacle {
        Obstacle::Fault(Fault { place: self.world.object.name(place), ..fault })
    }
}

fn unsupported(what: &str) -> Fault {
    Fault::new(Rule::Unsupported, what)
}

/// Evaluations of the graph, each on 64 random blocks.
const RUNS: usize = 4;
