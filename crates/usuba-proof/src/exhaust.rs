//! Small functions on all their inputs.
//!
//! ```text
//! table of 16 entries      16 rows, four inputs      one word holds a value on all inputs
//! its circuit              the same rows             equal rows: equal functions
//! ```
//!
//! A node that treats all bits of a word alike is a function of single bits. With few parameters
//! all of its inputs are tried at once, one bit of a row for each, so the answer is certain in
//! both directions. Row i is the input in which parameter j is bit j of i.

use usuba::ir::op::mask;
use usuba::ir::{Eqn, Node, NodeId, Op, Program, Val};

/// Parameters of such a node, at most: the rows fit into so many words.
const MOST: usize = 12;

/// Equations that may be run.
const LONGEST: usize = 200_000;

/// One bit for each input.
type Rows = Vec<u64>;

/// Where two nodes differ: the row, and the number of the first output that differs there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    pub row: usize,
    pub output: usize,
}

/// Whether two nodes with the same parameters compute the same; `None` if they are not small or
/// do not work on each bit alone. The difference is that of the first row.
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

/// The rows of each output.
fn rows(program: &Program, id: NodeId) -> Option<Vec<Rows>> {
    let node = program.node(id);
    let inputs = node.arity(program.slicing);
    if inputs > MOST {
        return None;
    }
    let words = (1usize << inputs).div_ceil(64);
    let args: Vec<Rows> = (0..inputs).map(|variable| parameter(variable, words)).collect();
    let mut table = Table { program, words, left: LONGEST };
    let mut out = table.node(node, args)?;
    // Rows beyond the last input say nothing.
    if inputs < 6 {
        out.iter_mut().for_each(|rows| rows[0] &= mask(1 << inputs));
    }
    Some(out)
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
    /// Equations that may still be run.
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

    /// An operator on each row; `None` if it does not treat all bits of a word alike.
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
