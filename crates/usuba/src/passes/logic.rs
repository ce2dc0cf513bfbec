//! Operators on bits that a target has as one instruction, for `complement`, `fuse` and others.
//!
//! ```text
//! general registers   and or xor not
//! AVX2                and or xor andn; not takes a register of ones
//! AVX-512             any function of three bits
//! GFNI                beside those, affine maps of bytes
//! IFMA                beside those of AVX-512, products of 52 bits with a sum
//! ```
//!
//! Plain data that the facade fills in from the target. The default is the poorest machine.

use crate::ir::op::mask;
use crate::ir::{Args, Op, Val};

/// The logic of a target, beside and, or, xor.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Logic {
    /// `~a & b` is one instruction.
    pub andn: bool,
    /// Every function of three bits is one instruction.
    pub ternary: bool,
    /// Width of the lanes that hold words, zero-extended; 0 if words fill their registers.
    pub lane: u8,
    /// Affine maps of bytes and of their inverses are one instruction each.
    pub affine: bool,
    /// Products of words of `muladd` bits with a sum of 64 bits are one instruction; 0 for none.
    pub muladd: u8,
}

/// The tables of the operands of `Lut3`.
pub const OPERANDS: [u8; 3] = [0xf0, 0xcc, 0xaa];

impl Logic {
    /// Whether a word of `bits` bits leaves bits of its lane unused. There, a complement needs a
    /// mask, and so does a function of three bits that is one where its operands are zero.
    pub fn is_narrow(self, bits: u8) -> bool {
        self.lane > bits
    }

    /// Instructions of an operator on bits. Masks of narrow words are not counted.
    pub fn price(self, op: &Op) -> u64 {
        match op {
            Op::Const(_) | Op::Copy => 0,
            Op::Andn if !self.andn && !self.ternary => 2,
            _ => 1,
        }
    }

    /// One instruction for a function of at most three values on words of `bits` bits, or `None`.
    /// Bit `4a + 2b + c` of `table` is its value; the table must not depend on operands beyond
    /// `leaves`.
    pub fn instruction(self, table: u8, leaves: &[Val], bits: u8) -> Option<(Op, Args)> {
        let [x, y, _] = OPERANDS;
        let some = |op: Op, args: &[Val]| Some((op, Args::from_slice(args)));
        if table == 0 || table == 0xff {
            return some(Op::Const(if table == 0 { 0 } else { mask(bits) }), &[]);
        }
        match *leaves {
            [a] if table == x => return some(Op::Copy, &[a]),
            [a] => return some(Op::Not, &[a]),
            [a, b] => match table {
                t if t == x & y => return some(Op::And, &[a, b]),
                t if t == x | y => return some(Op::Or, &[a, b]),
                t if t == x ^ y => return some(Op::Xor, &[a, b]),
                t if t == !x & y && self.andn => return some(Op::Andn, &[a, b]),
                t if t == x & !y && self.andn => return some(Op::Andn, &[b, a]),
                _ => {}
            },
            _ => {}
        }
        if !self.ternary || (self.is_narrow(bits) && table & 1 == 1) {
            return None;
        }
        let last = *leaves.last()?;
        some(Op::Lut3(table), &[leaves[0], *leaves.get(1)?, last])
    }
}

/// The table with its operands and its result complemented where `flips` and `flip` say so.
pub fn flipped(table: u8, flips: [bool; 3], flip: bool) -> u8 {
    let moved = flips.iter().zip([4u8, 2, 1]).filter(|(f, _)| **f).map(|(_, bit)| bit).sum::<u8>();
    let rows = (0..8).filter(|row| table >> (row ^ moved) & 1 == 1);
    let table = rows.fold(0u8, |sum, row| sum | 1 << row);
    if flip { !table } else { table }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_compute_their_tables() {
        let leaves = [Val(0), Val(1), Val(2)];
        for andn in [false, true] {
            for ternary in [false, true] {
                let logic = Logic { andn, ternary, ..Logic::default() };
                for count in 1..=3 {
                    for table in 0..=255u8 {
                        let depends = |i: usize| {
                            let at = [4, 2, 1][i];
                            (0..8).any(|r| (table >> r ^ table >> (r ^ at)) & 1 == 1)
                        };
                        if (count..3).any(depends) {
                            continue;
                        }
                        let Some((op, args)) = logic.instruction(table, &leaves[..count], 8) else {
                            assert!(!ternary);
                            continue;
                        };
                        let words: Vec<u64> =
                            args.iter().map(|v| OPERANDS[v.0 as usize] as u64).collect();
                        assert_eq!(op.eval(8, &words), table as u64, "{op:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn narrow_words_get_no_function_that_fills_their_lane() {
        let logic = Logic { andn: true, ternary: true, lane: 32, ..Logic::default() };
        let leaves = [Val(0), Val(1), Val(2)];
        assert!(logic.instruction(0x69, &leaves, 24).is_none());
        assert!(logic.instruction(0x69, &leaves, 32).is_some());
        assert!(logic.instruction(0x96, &leaves, 24).is_some());
    }

    #[test]
    fn flipping_is_complementing() {
        for table in [0x96u8, 0xca, 0x17, 0x80] {
            for flips in 0..8u8 {
                let flips = [flips & 4 > 0, flips & 2 > 0, flips & 1 > 0];
                for flip in [false, true] {
                    let word = |i: usize| OPERANDS[i] ^ if flips[i] { 0xff } else { 0 };
                    let words = [word(0) as u64, word(1) as u64, word(2) as u64];
                    let plain = Op::Lut3(table).eval(8, &words) as u8 ^ if flip { 0xff } else { 0 };
                    assert_eq!(plain, flipped(table, flips, flip));
                }
            }
        }
    }
}
