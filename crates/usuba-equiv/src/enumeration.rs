//! Exhaustive enumeration: small functions on all their inputs, by bit-parallel simulation.
//!
//! ```text
//! table of 16 entries      16 rows, four inputs      one word holds a value on all inputs
//! its circuit              the same rows             equal rows: equal functions
//! ```
//!
//! A node that acts on all bits of a word alike is a function of single bits. With few parameters
//! all of its inputs are simulated at once, one bit of a row for each, so the answer is certain in
//! both directions. Row i is the input in which parameter j is bit j of i.
//!
//! A node of many parameters is enumerated in the same way if each of its results depends on few of
//! them, for example eight bits of a register in which sixteen bytes go through one table.
//!
//! *Limits:* `MOST` parameters, and the numbers of equations below.

use std::collections::BTreeMap;

use usuba::ir::op::mask;
use usuba::ir::{Eqn, Node, NodeId, Op, Program, Val};

/// The most parameters of such a node: the rows are 2^MOST bits long.
const MOST: usize = 12;

/// The most equations of a node.
const LONGEST: usize = 200_000;

/// The most equations of both entries together, counted once for each group of results with the
/// same inputs.
const LONGEST_OF_ALL: usize = 20_000_000;

/// One bit for each input.
pub type Rows = Vec<u64>;

/// The first difference of two nodes: the row, and the number of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    pub row: usize,
    pub output: usize,
}

/// Whether two nodes with the same parameters are equal; `None` if they are not small or do not act
/// on each bit alone. The difference is the first row that differs.
pub fn compare(
    before: (&Program, NodeId),
    after: (&Program, NodeId),
) -> Option<Result<(), Difference>> {
    let (old, new) = (rows(before.0, before.1)?, rows(after.0, after.1)?);
    let inputs = |(program, id): (&Program, NodeId)| program.node(id).arity(program.slicing);
    if old.len() != new.len() || inputs(before) != inputs(after) {
        return None;
    }
    let mut first: Option<Difference> = None;
    for (output, (old, new)) in old.iter().zip(&new).enumerate() {
        let Some(word) = old.iter().zip(new).position(|(a, b)| a != b) else { continue };
        let row = word * 64 + (old[word] ^ new[word]).trailing_zeros() as usize;
        if first.is_none_or(|known| row < known.row) {
            first = Some(Difference { row, output });
        }
    }
    Some(first.map_or(Ok(()), Err))
}

/// Whether two entries without loops and calls are equal, by enumerating the inputs of each result;
/// `None` if a result has too many inputs, or they do not act on each bit alone.
pub fn compare_results(before: &Program, after: &Program) -> Option<bool> {
    let sides = [before, after];
    let reads = [readers(before)?, readers(after)?];
    let outs = sides.map(|program| &program.entry().outs);
    let inputs = sides.map(|program| program.entry().arity(program.slicing));
    if outs[0].len() != outs[1].len() || inputs[0] != inputs[1] {
        return None;
    }
    let mut groups: BTreeMap<Reads, Vec<usize>> = BTreeMap::new();
    for output in 0..outs[0].len() {
        let of = |side: usize| reads[side][outs[side][output].0 as usize].as_ref();
        groups.entry(union(of(0)?, of(1)?)?).or_default().push(output);
    }
    let length = sides.map(|program| program.entry().body.len()).iter().sum::<usize>();
    if groups.len() * length > LONGEST_OF_ALL {
        return None;
    }
    for (inputs, results) in &groups {
        let [old, new] = [0, 1].map(|side| part(sides[side], &reads[side], inputs));
        let (old, new) = (old?, new?);
        let used = used(inputs.len());
        for &output in results {
            let value = |values: &[Rows], side: usize| {
                let rows_of: &Rows = &values[outs[side][output].0 as usize];
                rows_of.iter().map(|word| word & used).collect::<Rows>()
            };
            if value(&old, 0) != value(&new, 1) {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// The numbers of the inputs that a value depends on, ascending.
type Reads = Vec<u32>;

fn union(a: &Reads, b: &Reads) -> Option<Reads> {
    let mut all: Reads = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    (all.len() <= MOST).then_some(all)
}

/// The inputs of each value of an entry; `None` for values with many inputs.
fn readers(program: &Program) -> Option<Vec<Option<Reads>>> {
    let node = program.entry();
    let inputs = node.arity(program.slicing) as u32;
    let mut reads: Vec<Option<Reads>> = vec![None; node.bits.len()];
    for input in 0..inputs {
        reads[input as usize] = Some(vec![input]);
    }
    for eqn in &node.body {
        let Eqn::Op(e) = eqn else { return None };
        let own = e.args.iter().try_fold(Reads::new(), |sum, v| {
            reads[v.0 as usize].as_ref().and_then(|reads| union(&sum, reads))
        });
        reads[e.dst.0 as usize] = own;
    }
    Some(reads)
}

/// The rows of all values of an entry that depend on some of `inputs` and nothing else.
fn part(program: &Program, reads: &[Option<Reads>], inputs: &Reads) -> Option<Vec<Rows>> {
    let node = program.entry();
    let width = *node.bits.first()?;
    if node.bits.iter().any(|&bits| bits != width) {
        return None;
    }
    let words = (1usize << inputs.len()).div_ceil(64);
    let mut values: Vec<Rows> = vec![Rows::new(); node.bits.len()];
    for (variable, &input) in inputs.iter().enumerate() {
        values[input as usize] = parameter(variable, words);
    }
    let table = Table { program, words, left: 0 };
    for eqn in &node.body {
        let Eqn::Op(e) = eqn else { return None };
        let own = reads[e.dst.0 as usize].as_ref();
        if own.is_some_and(|own| own.iter().all(|input| inputs.binary_search(input).is_ok())) {
            values[e.dst.0 as usize] = table.op(&e.op, width, &e.args, &values)?;
        }
    }
    Some(values)
}

/// The bits of a word that are rows of this number of inputs.
fn used(inputs: usize) -> u64 {
    if inputs < 6 { mask(1 << inputs) } else { u64::MAX }
}

/// The rows of each output; `None` if the node is not small, or does not act on each bit alone.
pub fn rows(program: &Program, id: NodeId) -> Option<Vec<Rows>> {
    let node = program.node(id);
    let inputs = node.arity(program.slicing);
    if inputs > MOST {
        return None;
    }
    let words = (1usize << inputs).div_ceil(64);
    let args: Vec<Rows> = (0..inputs).map(|variable| parameter(variable, words)).collect();
    let mut table = Table { program, words, left: LONGEST };
    let mut out = table.node(node, args)?;
    // Bits beyond the last input are no rows.
    out.iter_mut().for_each(|rows| rows[0] &= used(inputs));
    Some(out)
}

/// Whether each output is an XOR of inputs and of a constant.
pub fn is_linear(inputs: usize, outputs: &[Rows]) -> bool {
    let is_linear = |rows: &Rows| {
        let bit = |row: usize| rows[row / 64] >> (row % 64) & 1;
        // Without its lowest input, a row changes as the row of this input alone does.
        let fits = |row: usize| {
            let lowest = row & row.wrapping_neg();
            bit(row) ^ bit(row ^ lowest) == bit(lowest) ^ bit(0)
        };
        (1..1 << inputs).all(fits)
    };
    outputs.iter().all(is_linear)
}

/// The rows of a parameter itself.
fn parameter(variable: usize, words: usize) -> Rows {
    let pattern = |word: usize| match variable {
        0..6 => (0..64).filter(|bit| bit >> variable & 1 == 1).fold(0, |sum, bit| sum | 1 << bit),
        _ if word >> (variable - 6) & 1 == 1 => u64::MAX,
        _ => 0,
    };
    (0..words).map(pattern).collect()
}

struct Table<'a> {
    program: &'a Program,
    words: usize,
    /// The number of equations that may still be run.
    left: usize,
}

impl Table<'_> {
    fn node(&mut self, node: &Node, args: Vec<Rows>) -> Option<Vec<Rows>> {
        let width = *node.bits.first()?;
        if node.bits.iter().any(|&bits| bits != width) {
            return None;
        }
        let mut values: Vec<Rows> = vec![Rows::new(); node.bits.len()];
        for (value, arg) in values.iter_mut().zip(args) {
            *value = arg;
        }
        self.block(&node.body, width, &mut values)?;
        Some(node.outs.iter().map(|v| values[v.0 as usize].clone()).collect())
    }

    fn block(&mut self, eqns: &[Eqn], width: u8, values: &mut [Rows]) -> Option<()> {
        for eqn in eqns {
            self.left = self.left.checked_sub(1)?;
            match eqn {
                Eqn::Op(e) => {
                    let row = self.op(&e.op, width, &e.args, values)?;
                    values[e.dst.0 as usize] = row;
                }
                Eqn::Call(call) => {
                    let args = call.args.iter().map(|v| values[v.0 as usize].clone()).collect();
                    let callee = self.program.node(call.node);
                    for (dst, rows) in call.dsts.iter().zip(self.node(callee, args)?) {
                        values[dst.0 as usize] = rows;
                    }
                }
                Eqn::Loop(_) => return None,
            }
        }
        Some(())
    }

    /// An operator on each row; `None` if it does not act on all bits of a word alike.
    fn op(&self, op: &Op, width: u8, args: &[Val], values: &[Rows]) -> Option<Rows> {
        let all = |word: u64| vec![word; self.words];
        match op {
            Op::Const(0) => return Some(all(0)),
            Op::Const(word) if *word == mask(width) => return Some(all(u64::MAX)),
            op if op.is_bitwise() => {}
            _ => return None,
        }
        let row = |at: usize| {
            let mut words = [0; 3];
            for (word, v) in words.iter_mut().zip(args) {
                *word = values[v.0 as usize][at];
            }
            op.eval(64, &words[..args.len()])
        };
        Some((0..self.words).map(row).collect())
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::build::Builder;
    use usuba::ir::{Port, Slicing};

    use super::*;

    /// A program of one node of `inputs` parameters.
    fn single(inputs: u32, make: impl Fn(&mut Builder, &[Val]) -> Vec<Val>) -> Program {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 16, &[inputs]));
        let outs = make(&mut b, &x);
        let node = b.finish(vec![(Port::new("y", 16, &[outs.len() as u32]), outs)]);
        Program::new(vec![node], NodeId(0), Slicing::V)
    }

    fn compared(a: &Program, b: &Program) -> Option<Result<(), Difference>> {
        compare((a, a.entry), (b, b.entry))
    }

    #[test]
    fn different_formulas_of_one_function_are_equal() {
        let mux = single(9, |b, x| {
            let (p, n) = (b.op(Op::And, &[x[0], x[8]]), b.op(Op::Andn, &[x[8], x[5]]));
            vec![b.op(Op::Or, &[p, n])]
        });
        // Lut3 takes its first operand as the most significant bit of the row.
        let ternary =
            |rows: u8| single(9, move |b, x| vec![b.op(Op::Lut3(rows), &[x[8], x[0], x[5]])]);
        assert_eq!(compared(&mux, &ternary(0b1100_1010)), Some(Ok(())));
        let wrong = compared(&mux, &ternary(0b1100_1011));
        assert_eq!(wrong, Some(Err(Difference { row: 0, output: 0 })));
    }

    #[test]
    fn one_wrong_row_is_found() {
        let product = |swap: bool| {
            single(7, move |b, x| {
                let all = x[1..].iter().fold(x[0], |sum, &y| b.op(Op::And, &[sum, y]));
                let last = if swap { b.op(Op::Not, &[x[0]]) } else { x[0] };
                let zero = b.op(Op::Xor, &[all, all]);
                vec![x[0], b.op(Op::And, &[all, last]), zero]
            })
        };
        let (right, wrong) = (product(false), product(true));
        assert_eq!(compared(&right, &right), Some(Ok(())));
        assert_eq!(compared(&right, &wrong), Some(Err(Difference { row: 127, output: 1 })));
    }

    #[test]
    fn every_row_of_every_output_counts() {
        for inputs in [3, 6, 7, 12] {
            let program = |row: Option<usize>, output: usize| {
                single(inputs, move |b, x| {
                    let all = x[1..].iter().fold(x[0], |sum, &y| b.op(Op::Xor, &[sum, y]));
                    let mut outs = vec![all, x[0]];
                    if let Some(row) = row {
                        let mut one = b.constant(16, 0xffff);
                        for (variable, &x) in x.iter().enumerate() {
                            let op = if row >> variable & 1 == 1 { Op::And } else { Op::Andn };
                            one =
                                b.op(op.clone(), &if op == Op::And { [one, x] } else { [x, one] });
                        }
                        outs[output] = b.op(Op::Xor, &[outs[output], one]);
                    }
                    outs
                })
            };
            let right = program(None, 0);
            let rows = (0..1usize << inputs).step_by(if inputs == 12 { 171 } else { 1 });
            for row in rows.chain([(1 << inputs) - 1]) {
                for output in [0, 1] {
                    let found = compared(&right, &program(Some(row), output));
                    assert_eq!(found, Some(Err(Difference { row, output })));
                }
            }
            assert_eq!(compared(&right, &program(None, 0)), Some(Ok(())));
        }
    }

    /// A register of bytes that go through a table; one row of one byte may be wrong.
    fn bytes(count: usize, formula: bool, wrong: Option<(usize, usize)>) -> Program {
        let mut b = Builder::new("f", Slicing::B);
        let x = b.param(Port::new("x", 1, &[8 * count as u32]));
        let mut outs = Vec::new();
        for (at, byte) in x.chunks(8).enumerate() {
            // The and of all bits, or the nor of their complements.
            let each: Vec<Val> =
                byte.iter().map(|&bit| if formula { b.op(Op::Not, &[bit]) } else { bit }).collect();
            let op = if formula { Op::Or } else { Op::And };
            let all = each[1..].iter().fold(each[0], |sum, &y| b.op(op.clone(), &[sum, y]));
            let mut all = if formula { b.op(Op::Not, &[all]) } else { all };
            if let Some((_, row)) = wrong.filter(|&(byte, _)| byte == at) {
                let mut one = b.constant(1, 1);
                for (variable, &bit) in byte.iter().enumerate() {
                    let set = row >> variable & 1 == 1;
                    let bit = if set { bit } else { b.op(Op::Not, &[bit]) };
                    one = b.op(Op::And, &[one, bit]);
                }
                all = b.op(Op::Xor, &[all, one]);
            }
            outs.push(all);
            outs.push(b.constant(1, 1));
        }
        let node = b.finish(vec![(Port::new("y", 1, &[outs.len() as u32]), outs)]);
        Program::new(vec![node], NodeId(0), Slicing::B)
    }

    #[test]
    fn each_result_is_tried_on_what_it_reads() {
        let right = bytes(16, false, None);
        assert_eq!(compare_results(&right, &bytes(16, true, None)), Some(true));
        for byte in 0..16 {
            for row in [0, 1, 77, 128, 254, 255] {
                let wrong = bytes(16, true, Some((byte, row)));
                assert_eq!(compare_results(&right, &wrong), Some(false), "{byte} {row}");
            }
        }
        assert_eq!(compare_results(&right, &bytes(15, true, None)), None);
    }

    #[test]
    fn a_result_that_reads_another_input_is_another() {
        let program = |inputs: usize, from: usize| {
            let mut b = Builder::new("f", Slicing::B);
            let x = b.param(Port::new("x", 1, &[32]));
            let sum =
                x[from + 1..from + inputs].iter().fold(x[from], |s, &y| b.op(Op::Xor, &[s, y]));
            let node = b.finish(vec![(Port::new("y", 1, &[1]), vec![sum])]);
            Program::new(vec![node], NodeId(0), Slicing::B)
        };
        assert_eq!(compare_results(&program(1, 3), &program(1, 3)), Some(true));
        assert_eq!(compare_results(&program(1, 3), &program(1, 4)), Some(false));
        assert_eq!(compare_results(&program(5, 3), &program(5, 4)), Some(false));
        assert_eq!(compare_results(&program(12, 3), &program(12, 3)), Some(true));
        // Thirteen inputs of one side, or of both together, are too many.
        assert_eq!(compare_results(&program(13, 3), &program(13, 3)), None);
        assert_eq!(compare_results(&program(12, 3), &program(12, 4)), None);
    }

    #[test]
    fn nodes_of_other_shapes_are_not_compared() {
        let pair = single(2, |_, x| x.to_vec());
        let one = single(2, |_, x| x[..1].to_vec());
        let three = single(3, |_, x| x[..2].to_vec());
        assert_eq!(compared(&pair, &one), None);
        assert_eq!(compared(&pair, &three), None);
        let repeated = single(2, |b, x| {
            b.begin_loop(2, true);
            let s = b.carry(x[0]);
            let next = b.op(Op::Xor, &[s, x[1]]);
            b.end_loop(&[next], &[]).carried
        });
        assert_eq!(compared(&repeated, &repeated), None);
    }

    #[test]
    fn what_moves_bits_or_is_large_is_not_answered() {
        let sum = single(2, |b, x| vec![b.op(Op::Add, x)]);
        let rotation = single(2, |b, x| vec![b.op(Op::Rotl(1), &x[..1])]);
        let mixed = single(2, |b, x| {
            let five = b.constant(16, 5);
            vec![b.op(Op::And, &[x[0], five])]
        });
        let large = single(13, |_, x| x.to_vec());
        for program in [&sum, &rotation, &mixed, &large] {
            assert_eq!(compared(program, program), None);
        }
    }
}
