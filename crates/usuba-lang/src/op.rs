//! The operators and their semantics, in one place.
//!
//! The low m bits of a `u64` hold a word of m bits; bits above are zero. Usuba0 has no longer
//! words; the language has words of 128 bits, for which there is `eval_wide`. Bit positions in
//! patterns count from the most significant bit, as everywhere in Usuba.

use std::rc::Rc;

use smallvec::SmallVec;

/// An operator on words; [`Op::eval`] is its semantics.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// The word itself; no operand. Below 2^m.
    Const(u64),
    /// One operand, unchanged. Passes remove it.
    Copy,
    Not,
    And,
    Or,
    Xor,
    /// `~a & b`
    Andn,
    /// Any function of three bits, bit by bit: bit `4a + 2b + c` of the table.
    Lut3(u8),
    /// Modulo 2^m, as are `Sub` and `Mul`.
    Add,
    Sub,
    Mul,
    /// The upper half of the product.
    MulHigh,
    /// The low m bits of the carry-less product: the product of two polynomials over the field of two
    /// elements, bit i of a word being coefficient i.
    Clmul,
    /// The m bits above those; the top bit is zero.
    ClmulHigh,
    /// The first operand plus the low k bits of the product of the low k bits of the two others,
    /// with k below m. Passes make it where the target has it.
    MulAdd(u8),
    /// The same with the k bits above those.
    MulAddHigh(u8),
    /// 1 if the first operand is below the second, else 0.
    Less,
    /// The operand with this number of bits: zero-extended, or its low bits.
    Resize(u8),
    /// Zeros enter; `1 <= k < m` here and below.
    Shl(u8),
    Shr(u8),
    /// Copies of the top bit enter.
    Sar(u8),
    Rotl(u8),
    /// The m bits in `pattern.len()` equal groups, group 0 most significant; result group i is
    /// source group `pattern[i]`.
    Shuffle(Pattern),
    /// All ones if bit i is set, else zero; bit 0 is the least significant.
    Bitmask(u8),
    /// `a * 2^k + b` for operands of k bits; the result has 2k bits.
    Pack,
    /// `table[a]`, zero beyond its end. Not constant-time; only `--keep-tables` makes it.
    Lookup(Rc<[u64]>),
    /// `M a ^ c` on words of 8 bits: result bit i, counted from the least significant, is the
    /// parity of `a` and byte `7 - i` of the matrix, as in GF2P8AFFINEQB.
    Affine(u64, u8),
    /// `M (1 / a) ^ c` with the inverse modulo x^8 + x^4 + x^3 + x + 1, and `1 / 0 = 0`, as in
    /// GF2P8AFFINEINVQB.
    AffineInverse(u64, u8),
    /// An operator on the lanes of a vector, in W. All others are on each lane alike.
    Lanes(Lanes),
}

/// An operator on the lanes of a vector; one entry for each lane.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Lanes {
    /// A literal for each lane.
    Const(Rc<[u64]>),
    /// A shift or rotation for each lane, or [`Op::Copy`].
    Each(Rc<[Op]>),
    /// Lane i is lane `pattern[i]` of the operand.
    Move(Pattern),
    /// Lane i is lane `pattern[i]` of the two operands one after the other.
    Join(Pattern),
}

impl Lanes {
    /// Number of lanes.
    pub fn len(&self) -> usize {
        match self {
            Lanes::Const(words) => words.len(),
            Lanes::Each(ops) => ops.len(),
            Lanes::Move(pattern) | Lanes::Join(pattern) => pattern.len(),
        }
    }

    /// Never: vectors have words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is well formed on vectors of `vector` words with `bits` bits each.
    pub fn fits(&self, vector: usize, bits: u8) -> bool {
        let each = |op: &Op| match op {
            Op::Copy => true,
            Op::Shl(k) | Op::Shr(k) | Op::Sar(k) | Op::Rotl(k) => 1 <= *k && *k < bits,
            Op::Const(word) => *word == 0,
            _ => false,
        };
        self.len() == vector
            && match self {
                Lanes::Const(words) => words.iter().all(|word| word & !mask(bits) == 0),
                Lanes::Each(ops) => ops.iter().all(each),
                Lanes::Move(pattern) => pattern.iter().all(|&p| (p as usize) < vector),
                Lanes::Join(pattern) => pattern.iter().all(|&p| (p as usize) < 2 * vector),
            }
    }
}

/// A group pattern of [`Op::Shuffle`], shared because patterns repeat.
pub type Pattern = Rc<[u8]>;

/// All ones in the low `bits` bits.
pub fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Op {
    /// The name by which counts and messages speak of the operator.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Const(_) => "const",
            Op::Copy => "copy",
            Op::Not => "not",
            Op::And => "and",
            Op::Or => "or",
            Op::Xor => "xor",
            Op::Andn => "andn",
            Op::Lut3(_) => "lut3",
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::MulHigh => "mulhigh",
            Op::Clmul => "clmul",
            Op::ClmulHigh => "clmulhigh",
            Op::MulAdd(_) => "muladd",
            Op::MulAddHigh(_) => "muladdhigh",
            Op::Less => "less",
            Op::Resize(_) => "resize",
            Op::Shl(_) => "shl",
            Op::Shr(_) => "shr",
            Op::Sar(_) => "sar",
            Op::Rotl(_) => "rotl",
            Op::Shuffle(_) => "shuffle",
            Op::Bitmask(_) => "bitmask",
            Op::Pack => "pack",
            Op::Lookup(_) => "lookup",
            Op::Affine(..) => "affine",
            Op::AffineInverse(..) => "affine inverse",
            Op::Lanes(Lanes::Const(_)) => "lanes const",
            Op::Lanes(Lanes::Each(_)) => "lanes each",
            Op::Lanes(Lanes::Move(_)) => "lanes move",
            Op::Lanes(Lanes::Join(_)) => "lanes join",
        }
    }

    /// Number of operands.
    pub fn arity(&self) -> usize {
        match self {
            Op::Const(_) | Op::Lanes(Lanes::Const(_)) => 0,
            Op::Lanes(Lanes::Each(_) | Lanes::Move(_)) => 1,
            Op::Lanes(Lanes::Join(_)) => 2,
            Op::Copy | Op::Not | Op::Shl(_) | Op::Shr(_) | Op::Sar(_) | Op::Rotl(_) => 1,
            Op::Shuffle(_) | Op::Bitmask(_) | Op::Lookup(_) | Op::Resize(_) => 1,
            Op::Affine(..) | Op::AffineInverse(..) => 1,
            Op::And | Op::Or | Op::Xor | Op::Andn => 2,
            Op::Add | Op::Sub | Op::Mul | Op::Pack | Op::MulHigh | Op::Less => 2,
            Op::Clmul | Op::ClmulHigh => 2,
            Op::Lut3(_) | Op::MulAdd(_) | Op::MulAddHigh(_) => 3,
        }
    }

    /// Whether each result bit depends on the same bit of each operand only.
    pub fn is_bitwise(&self) -> bool {
        matches!(self, Op::Copy | Op::Not | Op::And | Op::Or | Op::Xor | Op::Andn | Op::Lut3(_))
    }

    /// Whether the two operands may be exchanged.
    pub fn is_commutative(&self) -> bool {
        matches!(self, Op::And | Op::Or | Op::Xor | Op::Add | Op::Mul | Op::MulHigh)
            || matches!(self, Op::Clmul | Op::ClmulHigh)
    }

    /// The result word of `bits` bits.
    pub fn eval(&self, bits: u8, args: &[u64]) -> u64 {
        let m = bits as u32;
        let a = args.first().copied().unwrap_or(0);
        let b = args.get(1).copied().unwrap_or(0);
        let word = match self {
            Op::Const(value) => *value,
            Op::Copy => a,
            Op::Not => !a,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Andn => !a & b,
            Op::Lut3(table) => lut3(*table, a, b, args[2]),
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::MulHigh => ((a as u128 * b as u128) >> m) as u64,
            Op::Clmul => carryless(a, b) as u64,
            Op::ClmulHigh => (carryless(a, b) >> m) as u64,
            Op::MulAdd(k) => {
                let product = (b & mask(*k)).wrapping_mul(args[2] & mask(*k));
                a.wrapping_add(product & mask(*k))
            }
            Op::MulAddHigh(k) => {
                let product = (b & mask(*k)) as u128 * (args[2] & mask(*k)) as u128;
                a.wrapping_add((product >> *k) as u64)
            }
            Op::Less => (a < b) as u64,
            Op::Resize(_) => a,
            Op::Shl(k) => a << k,
            Op::Shr(k) => a >> k,
            Op::Sar(k) => {
                let up = 64 - m;
                (((a << up) as i64) >> (up + *k as u32)) as u64
            }
            Op::Rotl(k) => a << k | a >> (m - *k as u32),
            Op::Shuffle(pattern) => shuffle(bits, pattern, a),
            Op::Bitmask(i) => 0u64.wrapping_sub(a >> i & 1),
            Op::Pack => a << (m / 2) | b,
            Op::Lookup(table) => table.get(a as usize).copied().unwrap_or(0),
            Op::Affine(matrix, c) => affine(*matrix, *c, a as u8) as u64,
            Op::AffineInverse(matrix, c) => affine(*matrix, *c, INVERSES[a as u8 as usize]) as u64,
            Op::Lanes(_) => unreachable!("an operator on vectors; `lanes::apart` has it on words"),
        };
        word & mask(bits)
    }

    /// The result word of `bits` bits, 128 at most; `None` if there is no such operator on words of
    /// 128 bits.
    pub fn eval_wide(&self, bits: u8, args: &[u128]) -> Option<u128> {
        let narrow = |args: &[u128]| args.iter().map(|&a| a as u64).collect::<SmallVec<[u64; 3]>>();
        let a = args.first().copied().unwrap_or(0);
        let b = args.get(1).copied().unwrap_or(0);
        if let Op::Resize(_) = self {
            return Some(if bits == 128 { a } else { a & mask(bits) as u128 });
        }
        if bits <= 64 {
            return Some(self.eval(bits, &narrow(args)) as u128);
        }
        Some(match self {
            Op::Const(value) => *value as u128,
            Op::Copy => a,
            Op::Not => !a,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Andn => !a & b,
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::Shl(k) => a << k,
            Op::Shr(k) => a >> k,
            Op::Sar(k) => (a as i128 >> k) as u128,
            Op::Rotl(k) => a.rotate_left(*k as u32),
            Op::Bitmask(i) => 0u128.wrapping_sub(a >> i & 1),
            Op::Pack => a << 64 | b,
            Op::Lut3(_) | Op::Shuffle(_) | Op::Lookup(_) | Op::MulHigh | Op::Less => return None,
            Op::Affine(..) | Op::AffineInverse(..) | Op::Lanes(_) => return None,
            Op::MulAdd(_) | Op::MulAddHigh(_) => return None,
            Op::Clmul | Op::ClmulHigh => return None,
            Op::Resize(_) => unreachable!("handled above"),
        })
    }
}

/// The carry-less product of two words.
fn carryless(a: u64, b: u64) -> u128 {
    (0..64).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ (a as u128) << i)
}

/// The inverse of each element of the field of 256 elements modulo x^8 + x^4 + x^3 + x + 1; 0 maps
/// to 0.
pub const INVERSES: [u8; 256] = inverses();

const fn inverses() -> [u8; 256] {
    let mut inverses = [0; 256];
    // 3 generates the group, and a second element runs through it in the opposite direction.
    let (mut forth, mut back) = (1u8, 1u8);
    let mut step = 0;
    while step < 255 {
        inverses[forth as usize] = back;
        forth ^= double(forth);
        // Times 1/3, which is 0xf6.
        let (mut power, mut sum, mut bit) = (back, 0, 0);
        while bit < 8 {
            if 0xf6 >> bit & 1 == 1 {
                sum ^= power;
            }
            power = double(power);
            bit += 1;
        }
        back = sum;
        step += 1;
    }
    inverses
}

const fn double(a: u8) -> u8 {
    a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 }
}

fn affine(matrix: u64, c: u8, a: u8) -> u8 {
    let bit = |i: u32| ((matrix >> (8 * (7 - i))) as u8 & a).count_ones() as u8 & 1;
    (0..8).fold(c, |sum, i| sum ^ bit(i) << i)
}

/// The matrix and the constant of [`Op::Affine`] for a table of 256 bytes, if it is affine.
pub fn affine_form(table: &[u8; 256]) -> Option<(u64, u8)> {
    let c = table[0];
    let row = |i: u32| (0..8).fold(0, |row, j| row | ((table[1 << j] ^ c) >> i & 1) << j);
    let matrix = (0..8).fold(0, |matrix, i| matrix | (row(i) as u64) << (8 * (7 - i)));
    (0..=255u8).all(|a| table[a as usize] == affine(matrix, c, a)).then_some((matrix, c))
}

/// The same for [`Op::AffineInverse`].
pub fn affine_inverse_form(table: &[u8; 256]) -> Option<(u64, u8)> {
    // Inversion is its own inverse.
    affine_form(&INVERSES.map(|a| table[a as usize]))
}

fn lut3(table: u8, a: u64, b: u64, c: u64) -> u64 {
    (0..8).filter(|i| table >> i & 1 == 1).fold(0, |sum, i| {
        let pick = |x: u64, bit: u8| if i >> bit & 1 == 1 { x } else { !x };
        sum | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

fn shuffle(bits: u8, pattern: &[u8], a: u64) -> u64 {
    let group = bits / pattern.len() as u8;
    pattern.iter().fold(0, |sum, &p| {
        let shift = bits - (p + 1) * group;
        let taken = a >> shift & mask(group);
        (if group >= 64 { 0 } else { sum << group }) | taken
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any word, or one whose low 52 bits are set: products that carry far.
    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), any::<u64>().prop_map(|word| word | u64::MAX >> 12)]
    }

    proptest! {
        #[test]
        fn products_with_a_sum_are_both_halves_of_the_product(x in word(), y in word()) {
            for k in [1, 26, 32, 52, 63] {
                let (a, b) = (x & mask(k), y & mask(k));
                let low = Op::MulAdd(k).eval(64, &[0, x, y]);
                let high = Op::MulAddHigh(k).eval(64, &[0, x, y]);
                assert_eq!((high as u128) << k | low as u128, a as u128 * b as u128, "{k} bits");
                assert_eq!((low >> k, high >> k), (0, 0));
                for (op, part) in [(Op::MulAdd(k), low), (Op::MulAddHigh(k), high)] {
                    assert_eq!(op.eval(64, &[x, x, y]), x.wrapping_add(part), "{op:?}");
                }
                // As words of k bits have them.
                assert_eq!((Op::Mul.eval(k, &[a, b]), Op::MulHigh.eval(k, &[a, b])), (low, high));
            }
        }
    }
}
