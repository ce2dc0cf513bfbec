//! Operators of the final IR on symbolic bits.
//!
//! ```text
//! mulhigh     bits 64 to 127 of the product
//! less        the borrow of a difference
//! ```
//!
//! They are the operations of instructions, in `cell` and `integers`, so equal computations are equal.

use usuba::ir::Op;

use super::cell::{Bits, Cell};

/// The bits of a word, the least significant one first.
pub type Word = Vec<Cell>;

/// The result of an operator, in `width` bits.
pub fn operated(bits: &mut Bits, op: &Op, width: u8, args: &[&Word]) -> Result<Word, String> {
    let m = width as usize;
    let zero = bits.constant(false);
    let a = args.first().map_or(&[][..], |word| &word[..]);
    let b = args.get(1).map_or(&[][..], |word| &word[..]);
    let each = |bits: &mut Bits, f: fn(&mut Bits, Cell, Cell) -> Cell| {
        a.iter().zip(b).map(|(&x, &y)| f(bits, x, y)).collect::<Word>()
    };
    Ok(match op {
        Op::Const(value) => bits.number(*value, m),
        Op::Copy => a.to_vec(),
        Op::Not => a.iter().map(|&bit| bits.not(bit)).collect(),
        Op::And => each(bits, Bits::and),
        Op::Or => each(bits, Bits::or),
        Op::Xor => each(bits, Bits::xor),
        Op::Andn => each(bits, |bits, x, y| {
            let x = bits.not(x);
            bits.and(x, y)
        }),
        Op::Lut3(table) => {
            let c = args[2];
            (0..m).map(|at| bits.function(*table, [a[at], b[at], c[at]])).collect()
        }
        Op::Add => bits.sum(a, b, false).0,
        Op::Sub => bits.difference(a, b).0,
        Op::Mul => bits.product(a, b),
        Op::MulHigh => bits.whole_product(a, b).split_off(m),
        Op::Clmul => bits.carryless(a, b)[..m].to_vec(),
        Op::ClmulHigh => bits.carryless(a, b).split_off(m),
        Op::MulAdd(k) | Op::MulAddHigh(k) => {
            let (k, high) = (*k as usize, matches!(op, Op::MulAddHigh(_)));
            let product = bits.whole_product(&b[..k], &args[2][..k]);
            let mut part: Word = if high { &product[k..] } else { &product[..k] }.to_vec();
            part.resize(m, zero);
            bits.sum(a, &part, false).0
        }
        Op::Less => {
            let mut word = vec![zero; m];
            word[0] = bits.difference(a, b).1;
            word
        }
        Op::Resize(_) => {
            let mut word = a.to_vec();
            word.resize(m, zero);
            word
        }
        Op::Shl(k) => moved(m, |at| at.checked_sub(*k as usize), a, zero),
        Op::Shr(k) => moved(m, |at| Some(at + *k as usize).filter(|&from| from < m), a, zero),
        Op::Sar(k) => moved(m, |at| Some((at + *k as usize).min(m - 1)), a, zero),
        Op::Rotl(k) => moved(m, |at| Some((at + m - *k as usize) % m), a, zero),
        Op::Bitmask(at) => vec![a[*at as usize]; m],
        Op::Pack => [b, a].concat(),
        Op::Shuffle(pattern) => {
            let groups = pattern.len();
            let size = m / groups;
            // Groups count from the most significant one.
            let from = |at: usize| {
                let group = pattern[groups - 1 - at / size] as usize;
                (groups - 1 - group) * size + at % size
            };
            moved(m, |at| Some(from(at)), a, zero)
        }
        Op::Lookup(_) | Op::Affine(..) | Op::AffineInverse(..) | Op::Lanes(_) => {
            return Err(format!("`{}` is no arithmetic", op.name()));
        }
    })
}

/// Each bit of a word from another place, or zero.
fn moved(width: usize, from: impl Fn(usize) -> Option<usize>, word: &[Cell], zero: Cell) -> Word {
    (0..width).map(|at| from(at).map_or(zero, |from| word[from])).collect()
}

#[cfg(test)]
mod tests {
    use usuba::ir::random::Random;

    use super::*;
    use usuba_equiv::value_numbering::Graph;

    #[test]
    fn operators_of_constants_are_their_meaning() {
        let mut bits = Bits::new(Graph::new(None));
        let mut random = Random::new(3);
        let ops = [
            (Op::Copy, 1),
            (Op::Not, 1),
            (Op::And, 2),
            (Op::Or, 2),
            (Op::Xor, 2),
            (Op::Andn, 2),
            (Op::Lut3(0xca), 3),
            (Op::Add, 2),
            (Op::Sub, 2),
            (Op::Mul, 2),
            (Op::MulHigh, 2),
            (Op::Clmul, 2),
            (Op::ClmulHigh, 2),
            (Op::MulAdd(7), 3),
            (Op::MulAddHigh(5), 3),
            (Op::Less, 2),
            (Op::Shl(5), 1),
            (Op::Shr(5), 1),
            (Op::Sar(5), 1),
            (Op::Rotl(5), 1),
            (Op::Shuffle([2, 0, 3, 1].into()), 1),
            (Op::Bitmask(6), 1),
        ];
        for (op, arity) in ops {
            for width in [8u8, 16, 32, 64] {
                let words: Vec<u64> =
                    (0..arity).map(|_| random.word() >> (64 - width as u32)).collect();
                let cells: Vec<Word> =
                    words.iter().map(|&word| bits.number(word, width as usize)).collect();
                let cells: Vec<&Word> = cells.iter().collect();
                let found = operated(&mut bits, &op, width, &cells).expect("it is modelled");
                assert_eq!(bits.word(&found), Some(op.eval(width, &words)), "{op:?} on {width}");
            }
        }
    }
}
