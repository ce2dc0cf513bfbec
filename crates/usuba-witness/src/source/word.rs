//! Operators that move the bits of a word, or the words of a list.
//!
//! ```text
//! x:u16        Shuffle(x, [3, 2, 1, 0])    x = 0x1235, result 0x5321
//! ```

use usuba_lang::syntax::ast::{ABinOp, AExpr, Expr, ShiftOp, Type, TypeWord, Width};
use usuba_replay::trace::{Id, Op};

use super::Evaluator;
use super::scope::Scope;
use crate::Run;

impl<'p> Evaluator<'p> {
    /// A shift with one amount moves the bits of one word, or the words of a list. One with several
    /// amounts moves the bits of each word.
    pub(super) fn shift(
        &mut self,
        scope: &Scope<'p>,
        op: ShiftOp,
        words: Vec<Id>,
        amounts: &[AExpr],
    ) -> Run<Vec<Id>> {
        let mut by = Vec::new();
        for amount in amounts {
            let value = scope.index(amount)?;
            by.push(u64::try_from(value).map_err(|_| format!("a shift by {value}"))?);
        }
        match (&words[..], &by[..]) {
            ([], _) => Err("a shift of no words".into()),
            (_, &[by]) if words.len() > 1 => self.shift_list(op, words, by),
            (words, by) if words.len() == by.len() => {
                Ok(words.iter().zip(by).map(|(&word, &by)| self.shift_word(op, word, by)).collect())
            }
            _ => Err(format!("{} amounts for {} words", by.len(), words.len())),
        }
    }

    fn shift_word(&mut self, op: ShiftOp, word: Id, by: u64) -> Id {
        let bits = self.writer.bits(word);
        let size = u64::from(bits);
        let (op, by) = match op {
            ShiftOp::RotLeft => (Op::Rotl, by % size),
            ShiftOp::RotRight => (Op::Rotl, (size - by % size) % size),
            ShiftOp::RightArith => (Op::Sar, by.min(size - 1)),
            ShiftOp::Left | ShiftOp::Right if by >= size => return self.writer.number(bits, 0),
            ShiftOp::Left => (Op::Shl, by),
            ShiftOp::Right => (Op::Shr, by),
        };
        self.writer.op(op, bits, by, &[word])
    }

    /// Zeros that enter a list have the size of the word at that end.
    fn shift_list(&mut self, op: ShiftOp, words: Vec<Id>, by: u64) -> Run<Vec<Id>> {
        let count = words.len();
        let turn = (by % count as u64) as usize;
        let gone = by.min(count as u64) as usize;
        let mut zeros = |like: Id| {
            let bits = self.writer.bits(like);
            vec![self.writer.number(bits, 0); gone]
        };
        match op {
            ShiftOp::RotLeft => Ok([&words[turn..], &words[..turn]].concat()),
            ShiftOp::RotRight => Ok([&words[count - turn..], &words[..count - turn]].concat()),
            ShiftOp::Left => Ok([&words[gone..], &zeros(words[count - 1])].concat()),
            ShiftOp::Right => Ok([&zeros(words[0])[..], &words[..count - gone]].concat()),
            ShiftOp::RightArith => Err("`>>!` of a list".into()),
        }
    }

    /// Groups of bits in another order; group 0 is the most significant one.
    pub(super) fn shuffle(&mut self, word: Id, pattern: &[u64]) -> Run<Id> {
        let bits = usize::from(self.writer.bits(word));
        let groups = pattern.len();
        if groups == 0 || bits % groups != 0 || pattern.iter().any(|&from| from >= groups as u64) {
            return Err(format!("a pattern of {groups} groups for a word of {bits} bits"));
        }
        let size = bits / groups;
        let mut wiring = Vec::with_capacity(bits);
        for &from in pattern.iter().rev() {
            let low = (groups - 1 - from as usize) * size;
            wiring.extend((low..low + size).map(|bit| bit as u8));
        }
        Ok(self.wired(&wiring, word))
    }

    /// A wiring that moves no bit is no operator.
    fn wired(&mut self, wiring: &[u8], word: Id) -> Id {
        let is_same = wiring.iter().enumerate().all(|(at, &from)| at == usize::from(from));
        match is_same && wiring.len() == usize::from(self.writer.bits(word)) {
            true => word,
            false => self.writer.wire(wiring, word),
        }
    }

    /// A word of copies of one bit, counted from the least significant.
    pub(super) fn bitmask(&mut self, word: Id, bit: i64) -> Run<Id> {
        let bits = self.writer.bits(word);
        match u8::try_from(bit) {
            Ok(bit) if bit < bits => Ok(self.wired(&vec![bit; usize::from(bits)], word)),
            _ => Err(format!("bit {bit} of a word of {bits} bits")),
        }
    }

    /// Two words, one above the other.
    pub(super) fn pack(
        &mut self,
        scope: &Scope<'p>,
        high: &Expr,
        low: &Expr,
        ty: Option<&Type>,
    ) -> Run<Vec<Id>> {
        let (bits, count) = self.written(scope, ty.ok_or("a Pack without a type")?)?;
        let want = vec![Some(bits / 2); count];
        let high = self.expression(scope, high, &want)?;
        let low = self.expression(scope, low, &want)?;
        if bits % 2 != 0 || self.sizes(&high) != want || self.sizes(&low) != want {
            return Err(format!("the operands of a Pack to {bits} bits do not have half of them"));
        }
        let join = |(high, low)| self.writer.op(Op::Join, bits, 0, &[low, high]);
        Ok(high.into_iter().zip(low).map(join).collect())
    }

    /// The same number with more bits, or its low bits.
    pub(super) fn resized(&mut self, word: Id, bits: u8) -> Id {
        match self.writer.bits(word) < bits {
            true => self.writer.op(Op::Extend, bits, 0, &[word]),
            false => self.writer.op(Op::Field, bits, 0, &[word]),
        }
    }

    /// The size and number of the words of a type in the text.
    pub(super) fn written(&self, scope: &Scope<'p>, ty: &Type) -> Run<(u8, usize)> {
        let named = |name: &str| {
            let size = scope.sizes.get(name).map(|&bits| u64::from(bits));
            size.ok_or_else(|| format!("the size '{name} is open"))
        };
        let (bits, mut count) = match &ty.word {
            TypeWord::U { width: Width::Bits(bits), len, .. } => (*bits, len.unwrap_or(1)),
            TypeWord::U { width: Width::Var(name), len, .. } => (named(name)?, len.unwrap_or(1)),
            TypeWord::B { len, .. } => (1, *len),
            TypeWord::V { len, .. } => (named("m")?, *len),
            TypeWord::Nat | TypeWord::Named(_) => return Err("a type that is not of words".into()),
        };
        for dim in &ty.dims {
            count = dimension(dim)?.checked_mul(count).ok_or("a type that is too large")?;
        }
        match bits {
            0 => Err("a word of no bits".into()),
            1..=64 if (1..=1 << 20).contains(&count) => Ok((bits as u8, count as usize)),
            1..=64 => Err(format!("a type of {count} words")),
            _ => Err(format!("words of {bits} bits have no trace")),
        }
    }
}

/// The value of a dimension: numbers only.
fn dimension(e: &AExpr) -> Run<u64> {
    let AExpr::Bin(op, left, right) = e else {
        return match e {
            AExpr::Int(value, _) => Ok(*value),
            _ => Err("a dimension that is no number".into()),
        };
    };
    let (left, right) = (dimension(left)?, dimension(right)?);
    let value = match op {
        ABinOp::Add => left.checked_add(right),
        ABinOp::Sub => left.checked_sub(right),
        ABinOp::Mul => left.checked_mul(right),
        ABinOp::Div => left.checked_div(right),
        ABinOp::Mod => left.checked_rem(right),
    };
    value.ok_or_else(|| "a dimension that is no number of words".into())
}
