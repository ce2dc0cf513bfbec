//! Shifts of words and of lists, and other operators that move the bits of a word.

use super::frame::Frame;
use super::*;

impl<D: Domain> Walker<'_, D> {
    pub(super) fn shift(
        &mut self,
        f: &Frame<D::V>,
        op: ast::ShiftOp,
        mut atoms: Vec<Typed<D::V>>,
        k: u64,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        use ast::ShiftOp::*;
        self.tick(atoms.len(), span)?;
        if let [(ty, value)] = atoms.as_slice() {
            if f.instance.column {
                return Err(Stop::NotColumnwise);
            }
            let Some(bits) = ty.bits() else { return Ok(atoms) };
            let value = match of_word(op, bits, k) {
                Op::Copy => value.clone(),
                op @ Op::Const(_) => self.op(&op, ty, &[], span)?,
                op => self.op(&op, ty, &[value], span)?,
            };
            return Ok(vec![(ty.clone(), value)]);
        }
        let len = atoms.len();
        let (first, last) = (atoms[0].0.clone(), atoms[len - 1].0.clone());
        let dropped = k.min(len as u64) as usize;
        let turn = (k % len as u64) as usize;
        match op {
            RotLeft => atoms.rotate_left(turn),
            RotRight => atoms.rotate_right(turn),
            Left => {
                let zero = self.zero(&last, span)?;
                atoms.drain(..dropped);
                atoms.extend(std::iter::repeat_n(zero, dropped));
            }
            Right => {
                let zero = self.zero(&first, span)?;
                atoms.truncate(len - dropped);
                atoms.splice(0..0, std::iter::repeat_n(zero, dropped));
            }
            RightArith => {
                let text = format!("`>>!` on a list of {len} atoms");
                let help = "an arithmetic shift works on a single word; use >> to shift the list";
                return self.fail(Code::BadShift, span, text, help);
            }
        }
        Ok(atoms)
    }

    /// Each word by its own amount.
    pub(super) fn shifts(
        &mut self,
        f: &Frame<D::V>,
        op: ast::ShiftOp,
        atoms: Vec<Typed<D::V>>,
        amounts: &[ast::AExpr],
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        self.tick(atoms.len(), span)?;
        if amounts.len() != atoms.len() {
            let text = format!("{} amounts for {}", amounts.len(), super::atoms(atoms.len()));
            let help = "write one amount for each word, or a single one to move the whole list";
            return self.fail(Code::BadShift, span, text, help);
        }
        let mut ops = Vec::with_capacity(atoms.len());
        for ((ty, _), amount) in atoms.iter().zip(amounts) {
            let k = self.index(f, amount)?;
            if k < 0 {
                return self.backwards(k, amount.span());
            }
            ops.push(ty.bits().map_or(Op::Copy, |bits| of_word(op, bits, k as u64)));
        }
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        let (types, values): (Vec<Atom>, Vec<D::V>) = atoms.into_iter().unzip();
        self.list(&ops, types, &[&values], span)
    }

    /// An amount below zero.
    pub(super) fn backwards<T>(&mut self, k: i64, span: Span) -> Run<T> {
        let help = "amounts are 0 or more; shift the other way";
        self.fail(Code::BadShift, span, format!("a shift by {k}"), help)
    }

    fn zero(&mut self, ty: &Atom, span: Span) -> Run<Typed<D::V>> {
        Ok((ty.clone(), self.op(&Op::Const(0), ty, &[], span)?))
    }

    pub(super) fn shuffle(
        &mut self,
        f: &Frame<D::V>,
        atoms: Vec<Typed<D::V>>,
        pattern: &[u64],
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        let k = pattern.len();
        if let Some(bad) = pattern.iter().find(|&&p| p >= k as u64) {
            let text = format!("group {bad} in a pattern of {k} groups");
            let help = format!("groups are numbered 0 to {}", k - 1);
            return self.fail(Code::BadShuffle, span, text, &help);
        }
        self.tick(atoms.len(), span)?;
        let groups: Rc<[u8]> = pattern.iter().map(|&p| p as u8).collect();
        let identity = pattern.iter().enumerate().all(|(i, &p)| i as u64 == p);
        let mut ops = Vec::with_capacity(atoms.len());
        for (ty, _) in &atoms {
            let Some(bits) = ty.bits() else {
                ops.push(Op::Copy);
                continue;
            };
            if !(bits as usize).is_multiple_of(k) {
                let text = format!("{k} groups in a word of {bits} bits");
                let help = "the number of groups must divide the word size";
                return self.fail(Code::BadShuffle, span, text, help);
            }
            ops.push(if identity { Op::Copy } else { Op::Shuffle(groups.clone()) });
        }
        let (types, values): (Vec<Atom>, Vec<D::V>) = atoms.into_iter().unzip();
        self.list(&ops, types, &[&values], span)
    }

    pub(super) fn bitmask(
        &mut self,
        f: &Frame<D::V>,
        atoms: Vec<Typed<D::V>>,
        i: i64,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        self.tick(atoms.len(), span)?;
        let mut ops = Vec::with_capacity(atoms.len());
        for (ty, _) in &atoms {
            let Some(bits) = ty.bits() else {
                ops.push(Op::Copy);
                continue;
            };
            if i < 0 || i >= bits as i64 {
                let text = format!("bit {i} of a word of {bits} bits");
                let help = format!("bits are numbered 0 (least significant) to {}", bits - 1);
                return self.fail(Code::BadShuffle, span, text, &help);
            }
            ops.push(if bits == 1 { Op::Copy } else { Op::Bitmask(i as u8) });
        }
        let (types, values): (Vec<Atom>, Vec<D::V>) = atoms.into_iter().unzip();
        self.list(&ops, types, &[&values], span)
    }

    pub(super) fn pack(
        &mut self,
        f: &mut Frame<D::V>,
        high: &ast::Expr,
        low: &ast::Expr,
        ty: Option<&ast::Type>,
        span: Span,
    ) -> Run<Vec<Typed<D::V>>> {
        if f.instance.column {
            return Err(Stop::NotColumnwise);
        }
        let Some(ty) = ty else {
            let help = "write the type of the result, as in Pack(a, b):u16";
            return self.fail(Code::BadShuffle, span, "Pack without the type of its result", help);
        };
        let ty = self.written_type(ty)?;
        let VarType::Words { atom, .. } = &ty else {
            return self.fail(Code::NatMismatch, span, "Pack to a nat", "write a word type");
        };
        let atom = f.instance.apply(atom);
        let half = match atom.bits() {
            Some(bits) if bits.is_multiple_of(2) => Size::Bits(bits / 2),
            Some(bits) => {
                let text = format!("Pack to a word of {bits} bits");
                let help = "the result is twice as wide as each operand";
                return self.fail(Code::BadShuffle, span, text, help);
            }
            None => atom.size.clone(),
        };
        let want = vec![Atom { dir: atom.dir.clone(), size: half }; ty.atoms()];
        let a = self.expr(f, high, Some(&want))?;
        let b = self.expr(f, low, Some(&want))?;
        if atom.bits().is_some() {
            self.check_types(&want, &a, "half of the result", "the first operand", high.span)?;
            self.check_types(&want, &b, "half of the result", "the second operand", low.span)?;
        }
        self.tick(a.len(), span)?;
        let mut out = Vec::with_capacity(a.len());
        for ((_, a), (_, b)) in a.into_iter().zip(b) {
            out.push((atom.clone(), self.op(&Op::Pack, &atom, &[&a, &b], span)?));
        }
        Ok(out)
    }
}

/// The operator for a shift of a word of `bits` bits by `k`.
fn of_word(op: ast::ShiftOp, bits: u8, k: u64) -> Op {
    use ast::ShiftOp::*;
    let m = bits as u64;
    let op = match op {
        RotLeft => Op::Rotl((k % m) as u8),
        RotRight => Op::Rotl(((m - k % m) % m) as u8),
        Left | Right if k >= m => Op::Const(0),
        Left => Op::Shl(k as u8),
        Right => Op::Shr(k as u8),
        RightArith => Op::Sar(k.min(m - 1) as u8),
    };
    match op {
        Op::Rotl(0) | Op::Shl(0) | Op::Shr(0) | Op::Sar(0) => Op::Copy,
        op => op,
    }
}
