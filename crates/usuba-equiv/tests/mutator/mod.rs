//! Small changes to programs: another operator, operand or constant, another loop.

use usuba::ir::op::mask;
use usuba::ir::random::Random;
use usuba::ir::{Eqn, Loop, Node, Op, OpEqn, Program, Val};

/// Changes one thing in a program. The result may be malformed.
pub struct Mutator<'a> {
    pub random: &'a mut Random,
}

impl Mutator<'_> {
    /// Whether something was found to change.
    pub fn change(&mut self, program: &mut Program) -> bool {
        let at = self.random.below(program.nodes.len());
        let node = &mut program.nodes[at];
        let mut body = std::mem::take(&mut node.body);
        let changed = match self.random.below(12) {
            0 => self.outs(node),
            _ => self.block(node, &mut body),
        };
        program.nodes[at].body = body;
        changed
    }

    fn outs(&mut self, node: &mut Node) -> bool {
        let count = node.outs.len();
        if count == 0 {
            return false;
        }
        let (i, j) = (self.random.below(count), self.random.below(count));
        node.outs.swap(i, j);
        node.outs[i] != node.outs[j]
    }

    fn block(&mut self, node: &Node, eqns: &mut [Eqn]) -> bool {
        if eqns.is_empty() {
            return false;
        }
        let at = self.random.below(eqns.len());
        match &mut eqns[at] {
            Eqn::Op(e) => self.op(node, e),
            Eqn::Call(call) if call.args.is_empty() => false,
            Eqn::Call(call) => {
                let at = self.random.below(call.args.len());
                call.args[at] = self.other(node, call.args[at]);
                true
            }
            Eqn::Loop(lp) if self.random.once_in(3) => self.lp(node, lp),
            Eqn::Loop(lp) => self.block(node, &mut lp.body),
        }
    }

    fn op(&mut self, node: &Node, e: &mut OpEqn) -> bool {
        let bits = node.bits_of(e.dst);
        let amount = 1 + self.random.below(63) as u8;
        if !e.args.is_empty() && self.random.once_in(2) {
            let at = self.random.below(e.args.len());
            e.args[at] = self.other(node, e.args[at]);
            return true;
        }
        let pick = |random: &mut Random, list: &[Op]| list[random.below(list.len())].clone();
        let new = match (&e.op, e.args.len()) {
            (Op::Const(value), _) => Op::Const((value ^ 1 << (amount - 1)) & mask(bits)),
            (Op::Lut3(table), _) => Op::Lut3(table ^ 1 << (amount % 8)),
            (Op::Shuffle(pattern), _) => {
                let mut pattern = pattern.to_vec();
                pattern.rotate_left(1);
                Op::Shuffle(pattern.into())
            }
            (Op::Bitmask(k), _) => Op::Bitmask(k ^ 1),
            (Op::Affine(matrix, c), _) => Op::Affine(matrix.rotate_left(9), *c),
            (Op::AffineInverse(matrix, c), _) => Op::AffineInverse(matrix.rotate_left(9), *c),
            (Op::Pack | Op::Lookup(_), _) => return false,
            (_, 1) => pick(
                self.random,
                &[
                    Op::Copy,
                    Op::Not,
                    Op::Shl(amount),
                    Op::Shr(amount),
                    Op::Sar(amount),
                    Op::Rotl(amount),
                ],
            ),
            _ => {
                pick(self.random, &[Op::And, Op::Or, Op::Xor, Op::Andn, Op::Add, Op::Sub, Op::Mul])
            }
        };
        std::mem::replace(&mut e.op, new) != e.op
    }

    fn lp(&mut self, node: &Node, lp: &mut Loop) -> bool {
        match self.random.below(5) {
            0 if !lp.carried.is_empty() => {
                let at = self.random.below(lp.carried.len());
                lp.carried[at].init = self.other(node, lp.carried[at].init);
            }
            1 if !lp.carried.is_empty() => {
                let at = self.random.below(lp.carried.len());
                lp.carried[at].next = self.other(node, lp.carried[at].next);
            }
            2 if !lp.reads.is_empty() => {
                let at = self.random.below(lp.reads.len());
                lp.reads[at].list.rotate_left(1);
            }
            3 if !lp.collects.is_empty() => {
                let at = self.random.below(lp.collects.len());
                lp.collects[at].value = self.other(node, lp.collects[at].value);
            }
            4 if !lp.collects.is_empty() => {
                let at = self.random.below(lp.collects.len());
                lp.collects[at].results.rotate_left(1);
            }
            _ => return false,
        }
        true
    }

    /// Another value of the same width, if there is one; it need not be visible.
    fn other(&mut self, node: &Node, v: Val) -> Val {
        let count = node.bits.len() as u32;
        let near = (1..20u32).flat_map(|d| [v.0.wrapping_sub(d), v.0 + d]);
        let fitting: Vec<Val> = near
            .filter(|&w| w < count && node.bits[w as usize] == node.bits_of(v))
            .map(Val)
            .collect();
        if fitting.is_empty() { v } else { fitting[self.random.below(fitting.len())] }
    }
}
