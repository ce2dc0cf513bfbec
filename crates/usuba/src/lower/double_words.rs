//! Words of 128 bits as two of 64, the upper one first.
//!
//! ```text
//! u128(a) * u128(b)     mulhigh(a, b), a * b
//! x + y                 l = xl + yl;  xh + yh + less(l, xl), l
//! x >> 51               xh >> 51, (xl >> 51) | (xh << 13)
//! ```
//!
//! An upper half that is known to be zero costs nothing: it is the one constant of the node.

use smallvec::{SmallVec, smallvec};

use super::slice::{Bits, Lower, WIDE};
use crate::ir::{Op, Val};
use crate::typed::walk::Refusal;

type Made = Result<Val, Refusal>;

/// Bits of a half.
const HALF: u8 = 64;

impl Lower<'_> {
    /// An operator with a result or operand of 128 bits, in V.
    pub(super) fn wide_op(&mut self, op: &Op, m: u8, args: &[&Bits]) -> Result<Bits, Refusal> {
        if let Op::Resize(from) = op {
            return self.wide_resize(*from, m, args[0]);
        }
        let pair = |arg: &Bits| (arg[0], arg[1]);
        let (h, l) = match op {
            Op::Const(value) => (self.word(HALF, 0), self.word(HALF, *value)),
            Op::Copy => return Ok(args[0].clone()),
            op if op.is_bitwise() => {
                let half = |lower: &mut Self, i: usize| {
                    let values: SmallVec<[Val; 3]> = args.iter().map(|arg| arg[i]).collect();
                    lower.word_op(op, HALF, &values)
                };
                (half(self, 0)?, half(self, 1)?)
            }
            Op::Add => self.wide_sum(pair(args[0]), pair(args[1]))?,
            Op::Sub => {
                let ((ah, al), (bh, bl)) = (pair(args[0]), pair(args[1]));
                let l = self.word_op(&Op::Sub, HALF, &[al, bl])?;
                let borrow = self.word_op(&Op::Less, HALF, &[al, bl])?;
                let h = self.word_op(&Op::Sub, HALF, &[ah, bh])?;
                (self.word_op(&Op::Sub, HALF, &[h, borrow])?, l)
            }
            Op::Mul => {
                let ((ah, al), (bh, bl)) = (pair(args[0]), pair(args[1]));
                let l = self.word_op(&Op::Mul, HALF, &[al, bl])?;
                let mut h = self.word_op(&Op::MulHigh, HALF, &[al, bl])?;
                for (x, y) in [(ah, bl), (al, bh)] {
                    if !self.is_zero(x) && !self.is_zero(y) {
                        let cross = self.word_op(&Op::Mul, HALF, &[x, y])?;
                        h = self.word_op(&Op::Add, HALF, &[h, cross])?;
                    }
                }
                (h, l)
            }
            Op::Shl(k) => {
                let (h, l) = pair(args[0]);
                (self.funnel(h, l, *k)?, self.shifted(Op::Shl, l, *k)?)
            }
            Op::Shr(k) => {
                let (h, l) = pair(args[0]);
                let low = match k.checked_sub(HALF) {
                    None => self.funnel(h, l, HALF - k)?,
                    Some(rest) => self.shifted(Op::Shr, h, rest)?,
                };
                (self.shifted(Op::Shr, h, *k)?, low)
            }
            Op::Sar(k) => {
                let (h, l) = pair(args[0]);
                let sign = self.word_op(&Op::Sar(HALF - 1), HALF, &[h])?;
                let above = if *k < HALF { h } else { sign };
                let top = match k % HALF {
                    0 => above,
                    k => self.word_op(&Op::Sar(k), HALF, &[above])?,
                };
                let low = match *k {
                    k if k <= HALF => self.funnel(h, l, HALF - k)?,
                    k => self.word_op(&Op::Sar(k - HALF), HALF, &[h])?,
                };
                (top, low)
            }
            Op::Rotl(k) => {
                let (mut h, mut l) = pair(args[0]);
                if *k >= HALF {
                    (h, l) = (l, h);
                }
                (self.funnel(h, l, k % HALF)?, self.funnel(l, h, k % HALF)?)
            }
            Op::Bitmask(i) => {
                let part = args[0][1 - (i / HALF) as usize];
                let all = self.word_op(&Op::Bitmask(i % HALF), HALF, &[part])?;
                (all, all)
            }
            Op::Pack => (args[0][0], args[1][0]),
            _ => return Err(Refusal::wide(op)),
        };
        Ok(smallvec![h, l])
    }

    fn is_zero(&mut self, v: Val) -> bool {
        v == self.word(HALF, 0)
    }

    fn wide_sum(&mut self, a: (Val, Val), b: (Val, Val)) -> Result<(Val, Val), Refusal> {
        let l = self.word_op(&Op::Add, HALF, &[a.1, b.1])?;
        let carry = self.word_op(&Op::Less, HALF, &[l, a.1])?;
        let h = match (self.is_zero(a.0), self.is_zero(b.0)) {
            (true, true) => return Ok((carry, l)),
            (true, false) => b.0,
            (false, true) => a.0,
            (false, false) => self.word_op(&Op::Add, HALF, &[a.0, b.0])?,
        };
        Ok((self.word_op(&Op::Add, HALF, &[h, carry])?, l))
    }

    fn wide_resize(&mut self, from: u8, to: u8, arg: &Bits) -> Result<Bits, Refusal> {
        let low = arg[arg.len() - 1];
        let (from, to_half) = (from.min(HALF), to.min(HALF));
        let low = match from == to_half {
            true => low,
            false => self.word_op(&Op::Resize(from), to_half, &[low])?,
        };
        Ok(if to == WIDE { smallvec![self.word(HALF, 0), low] } else { smallvec![low] })
    }

    /// A half shifted by any amount below 128; zeros enter.
    fn shifted(&mut self, shift: fn(u8) -> Op, v: Val, k: u8) -> Made {
        match k {
            0 => Ok(v),
            k if k >= HALF => Ok(self.word(HALF, 0)),
            _ if self.is_zero(v) => Ok(v),
            k => self.word_op(&shift(k), HALF, &[v]),
        }
    }

    /// The upper half of a word that is shifted to the left by k, below 128.
    fn funnel(&mut self, h: Val, l: Val, k: u8) -> Made {
        if k >= HALF {
            return self.shifted(Op::Shl, l, k - HALF);
        }
        let high = self.shifted(Op::Shl, h, k)?;
        let low = match k {
            0 => return Ok(high),
            k => self.shifted(Op::Shr, l, HALF - k)?,
        };
        match (self.is_zero(high), self.is_zero(low)) {
            (true, _) => Ok(low),
            (_, true) => Ok(high),
            _ => self.word_op(&Op::Or, HALF, &[high, low]),
        }
    }
}
