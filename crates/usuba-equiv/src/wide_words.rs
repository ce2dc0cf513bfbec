//! 128-bit words, which Usuba0 does not have, as multi-precision arithmetic on two halves.
//!
//! ```text
//! x + y     l = xl + yl;  h = xh + yh + (l < xl)
//! x * y     l = xl * yl;  h = the upper half of xl * yl, and xh * yl, and xl * yh
//! ```

use usuba::ir::{Op, Val};
use usuba::typed::walk::Refusal;

use crate::semantics::{Scope, Word};

/// Bits of a half.
const HALF: u8 = 64;

impl Scope {
    fn half(&mut self, op: Op, args: &[Val]) -> Val {
        self.op(op, HALF, args)
    }

    fn zero(&mut self) -> Val {
        self.half(Op::Const(0), &[])
    }

    fn half_shifted(&mut self, shift: fn(u8) -> Op, v: Val, k: u8) -> Val {
        match k {
            0 => v,
            k if k >= HALF => self.zero(),
            k => self.half(shift(k), &[v]),
        }
    }

    /// The 64 bits that begin k bits below the top of two halves, `k <= 64`.
    fn window(&mut self, high: Val, low: Val, k: u8) -> Val {
        match k {
            0 => high,
            k if k == HALF => low,
            k => {
                let (h, l) = (self.half(Op::Shl(k), &[high]), self.half(Op::Shr(HALF - k), &[low]));
                self.half(Op::Or, &[h, l])
            }
        }
    }

    /// A change of size with 128 bits on one side.
    pub fn wide_resize(&mut self, to: u8, arg: &Word) -> Word {
        let from = if arg.high.is_some() { HALF } else { self.bits_of(arg.low) };
        let low = match to.min(HALF) {
            to if to == from => arg.low,
            to => self.op(Op::Resize(from), to, &[arg.low]),
        };
        let high = (to > HALF).then(|| self.zero());
        Word { high, low }
    }

    /// An operator whose result and operands have 128 bits; operands of `Pack` have 64.
    pub fn wide_op(&mut self, op: &Op, args: &[&Word]) -> Result<Word, Refusal> {
        if let (Op::Pack, [a, b]) = (op, args) {
            return Ok(Word { high: Some(a.low), low: b.low });
        }
        let halves = |arg: &Word| (arg.high.expect("a word of 128 bits"), arg.low);
        let args: Vec<(Val, Val)> = args.iter().map(|arg| halves(arg)).collect();
        let (high, low) = match (op, &args[..]) {
            (Op::Const(word), _) => (self.zero(), self.half(Op::Const(*word), &[])),
            (op, _) if op.is_bitwise() => {
                let highs: Vec<Val> = args.iter().map(|arg| arg.0).collect();
                let lows: Vec<Val> = args.iter().map(|arg| arg.1).collect();
                (self.half(op.clone(), &highs), self.half(op.clone(), &lows))
            }
            (Op::Add, &[(ah, al), (bh, bl)]) => {
                let low = self.half(Op::Add, &[al, bl]);
                let carry = self.half(Op::Less, &[low, al]);
                let high = self.half(Op::Add, &[ah, bh]);
                (self.half(Op::Add, &[high, carry]), low)
            }
            (Op::Sub, &[(ah, al), (bh, bl)]) => {
                let low = self.half(Op::Sub, &[al, bl]);
                let borrow = self.half(Op::Less, &[al, bl]);
                let high = self.half(Op::Sub, &[ah, bh]);
                (self.half(Op::Sub, &[high, borrow]), low)
            }
            (Op::Mul, &[(ah, al), (bh, bl)]) => {
                let low = self.half(Op::Mul, &[al, bl]);
                let high = self.half(Op::MulHigh, &[al, bl]);
                let first = self.half(Op::Mul, &[ah, bl]);
                let second = self.half(Op::Mul, &[al, bh]);
                let high = self.half(Op::Add, &[high, first]);
                (self.half(Op::Add, &[high, second]), low)
            }
            (Op::Shl(k), &[(h, l)]) => {
                let zero = self.zero();
                let high = match k.checked_sub(HALF) {
                    None => self.window(h, l, *k),
                    Some(k) => self.window(l, zero, k),
                };
                (high, self.half_shifted(Op::Shl, l, *k))
            }
            (Op::Shr(k), &[(h, l)]) => {
                let low = match k.checked_sub(HALF) {
                    None => self.window(h, l, HALF - k),
                    Some(k) => self.half_shifted(Op::Shr, h, k),
                };
                (self.half_shifted(Op::Shr, h, *k), low)
            }
            (Op::Sar(k), &[(h, l)]) => {
                let sign = self.half(Op::Sar(HALF - 1), &[h]);
                match k.checked_sub(HALF) {
                    None => (self.half(Op::Sar(*k), &[h]), self.window(h, l, HALF - k)),
                    Some(0) => (sign, h),
                    Some(k) => (sign, self.half(Op::Sar(k), &[h])),
                }
            }
            (Op::Rotl(k), &[(h, l)]) => {
                let (h, l) = if *k >= HALF { (l, h) } else { (h, l) };
                (self.window(h, l, k % HALF), self.window(l, h, k % HALF))
            }
            (Op::Bitmask(i), &[(h, l)]) => {
                let half = if *i >= HALF { h } else { l };
                let all = self.half(Op::Bitmask(i % HALF), &[half]);
                (all, all)
            }
            (op, _) => return Err(Refusal::wide(op)),
        };
        Ok(Word { high: Some(high), low })
    }
}
