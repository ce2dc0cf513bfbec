//! Vector operations on lanes of 8 to 64 bits.
//!
//! ```text
//! vpaddd a, b, c       each lane: a = b + c mod 2^32
//! vpsrlw a, b, 3       each lane: bit p of a = bit p + 3 of b, zeros above
//! vprold a, b, 7       each lane: bit p of a = bit p - 7 mod 32 of b
//! vpcmpgtb a, b, c     each lane: all ones if b > c as signed numbers, else zeros
//! vpmadd52huq a, b, c  each lane: a = a + (b mod 2^52)(c mod 2^52) div 2^52 mod 2^64
//! ```

use iced_x86::{Code, Instruction, Mnemonic, OpKind};

use super::making::{Cells, Making};
use super::{Outcome, X86, unsupported};
use crate::cell::{Bits, Cell};
use crate::{Fault, Rule, World};

/// What a shift does with the bits that leave.
#[derive(Clone, Copy)]
enum Shift {
    Left,
    Right,
    /// Copies of the top bit enter.
    Arithmetic,
    RotateLeft,
    RotateRight,
}

/// An operation on two lanes.
#[derive(Clone, Copy, PartialEq)]
enum Pair {
    Add,
    Subtract,
    Multiply,
    /// The upper half of the product, of signed numbers or not.
    MultiplyHigh(bool),
    Equal,
    /// As signed numbers.
    Greater,
    /// The product of the lower halves, of signed numbers or not.
    MultiplyHalves(bool),
    /// The sum of the products of both halves, as signed numbers.
    MultiplyAdd,
}

/// Bits of a factor of which a sum takes one half of the product.
const FACTOR: usize = 52;

/// Shift and lane of a shift by one count for all lanes.
fn shift(mnemonic: Mnemonic) -> Option<(Shift, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Psllw | Vpsllw => (Shift::Left, 16),
        Pslld | Vpslld => (Shift::Left, 32),
        Psllq | Vpsllq => (Shift::Left, 64),
        Psrlw | Vpsrlw => (Shift::Right, 16),
        Psrld | Vpsrld => (Shift::Right, 32),
        Psrlq | Vpsrlq => (Shift::Right, 64),
        Psraw | Vpsraw => (Shift::Arithmetic, 16),
        Psrad | Vpsrad => (Shift::Arithmetic, 32),
        Vpsraq => (Shift::Arithmetic, 64),
        Vprold => (Shift::RotateLeft, 32),
        Vprolq => (Shift::RotateLeft, 64),
        Vprord => (Shift::RotateRight, 32),
        Vprorq => (Shift::RotateRight, 64),
        _ => return None,
    })
}

/// The same with a count for each lane.
fn variable_shift(mnemonic: Mnemonic) -> Option<(Shift, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpsllvw => (Shift::Left, 16),
        Vpsllvd => (Shift::Left, 32),
        Vpsllvq => (Shift::Left, 64),
        Vpsrlvw => (Shift::Right, 16),
        Vpsrlvd => (Shift::Right, 32),
        Vpsrlvq => (Shift::Right, 64),
        Vpsravw => (Shift::Arithmetic, 16),
        Vpsravd => (Shift::Arithmetic, 32),
        Vpsravq => (Shift::Arithmetic, 64),
        Vprolvd => (Shift::RotateLeft, 32),
        Vprolvq => (Shift::RotateLeft, 64),
        Vprorvd => (Shift::RotateRight, 32),
        Vprorvq => (Shift::RotateRight, 64),
        _ => return None,
    })
}

fn pair(mnemonic: Mnemonic) -> Option<(Pair, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Paddb | Vpaddb => (Pair::Add, 8),
        Paddw | Vpaddw => (Pair::Add, 16),
        Paddd | Vpaddd => (Pair::Add, 32),
        Paddq | Vpaddq => (Pair::Add, 64),
        Psubb | Vpsubb => (Pair::Subtract, 8),
        Psubw | Vpsubw => (Pair::Subtract, 16),
        Psubd | Vpsubd => (Pair::Subtract, 32),
        Psubq | Vpsubq => (Pair::Subtract, 64),
        Pmullw | Vpmullw => (Pair::Multiply, 16),
        Pmulld | Vpmulld => (Pair::Multiply, 32),
        Vpmullq => (Pair::Multiply, 64),
        Pmulhuw | Vpmulhuw => (Pair::MultiplyHigh(false), 16),
        Pmulhw | Vpmulhw => (Pair::MultiplyHigh(true), 16),
        Pmuludq | Vpmuludq => (Pair::MultiplyHalves(false), 64),
        Pmuldq | Vpmuldq => (Pair::MultiplyHalves(true), 64),
        Pmaddwd | Vpmaddwd => (Pair::MultiplyAdd, 32),
        Pcmpeqb | Vpcmpeqb => (Pair::Equal, 8),
        Pcmpeqw | Vpcmpeqw => (Pair::Equal, 16),
        Pcmpeqd | Vpcmpeqd => (Pair::Equal, 32),
        Pcmpeqq | Vpcmpeqq => (Pair::Equal, 64),
        Pcmpgtb | Vpcmpgtb => (Pair::Greater, 8),
        Pcmpgtw | Vpcmpgtw => (Pair::Greater, 16),
        Pcmpgtd | Vpcmpgtd => (Pair::Greater, 32),
        Pcmpgtq | Vpcmpgtq => (Pair::Greater, 64),
        _ => return None,
    })
}

/// Lane of a shift of two lanes next to each other, of which one is kept.
fn double_shift(mnemonic: Mnemonic) -> Option<(bool, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpshldw => (true, 16),
        Vpshldd => (true, 32),
        Vpshldq => (true, 64),
        Vpshrdw => (false, 16),
        Vpshrdd => (false, 32),
        Vpshrdq => (false, 64),
        _ => return None,
    })
}

/// Whether a sum with a product of 52 bits takes its upper half. Forms without masks, which other
/// processors have, are none of these.
fn added_half(code: Code) -> Option<bool> {
    use Code::*;
    match code {
        EVEX_Vpmadd52luq_xmm_k1z_xmm_xmmm128b64
        | EVEX_Vpmadd52luq_ymm_k1z_ymm_ymmm256b64
        | EVEX_Vpmadd52luq_zmm_k1z_zmm_zmmm512b64 => Some(false),
        EVEX_Vpmadd52huq_xmm_k1z_xmm_xmmm128b64
        | EVEX_Vpmadd52huq_ymm_k1z_ymm_ymmm256b64
        | EVEX_Vpmadd52huq_zmm_k1z_zmm_zmmm512b64 => Some(true),
        _ => None,
    }
}

/// Whether an instruction is a sum with a product, whose lanes have 64 bits.
fn is_sum_of_product(mnemonic: Mnemonic) -> bool {
    matches!(mnemonic, Mnemonic::Vpmadd52luq | Mnemonic::Vpmadd52huq)
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    shift(mnemonic).is_some()
        || is_sum_of_product(mnemonic)
        || variable_shift(mnemonic).is_some()
        || pair(mnemonic).is_some()
        || double_shift(mnemonic).is_some()
}

/// The lanes of an instruction that may have a mask.
pub fn lane(mnemonic: Mnemonic) -> Option<usize> {
    let of = [shift(mnemonic), variable_shift(mnemonic)].into_iter().flatten().next();
    of.map(|(_, lane)| lane)
        .or_else(|| pair(mnemonic).map(|(_, lane)| lane))
        .or_else(|| double_shift(mnemonic).map(|(_, lane)| lane))
        .or_else(|| is_sum_of_product(mnemonic).then_some(64))
}

impl X86 {
    pub(super) fn lanes(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        let mnemonic = i.mnemonic();
        self.make(world, i, |making| {
            if let Some((shift, lane)) = shift(mnemonic) {
                Some(making.shift(shift, lane))
            } else if let Some((shift, lane)) = variable_shift(mnemonic) {
                Some(making.variable_shift(shift, lane))
            } else if let Some((left, lane)) = double_shift(mnemonic) {
                Some(making.double_shift(left, lane))
            } else if let Some(upper) = added_half(i.code()) {
                Some(making.sum_of_product(upper))
            } else {
                pair(mnemonic).map(|(pair, lane)| making.pair(pair, lane))
            }
        })
    }
}

impl Making<'_, '_> {
    fn shift(&mut self, shift: Shift, lane: usize) -> Cells {
        let from = self.source();
        let count = match self.i.op_kind(from + 1) {
            OpKind::Immediate8 => self.i.immediate(from + 1),
            // The count is the lower half of a vector of 128 bits.
            _ => {
                let cells = self.x86.vector(self.world, self.i, from + 1, 128)?;
                known(self.world, &cells[..64], "the count")?
            }
        };
        let cells = self.vector(from)?;
        Ok(cells.chunks(lane).flat_map(|lane| shifted(self.world, lane, shift, count)).collect())
    }

    fn variable_shift(&mut self, shift: Shift, lane: usize) -> Cells {
        let (cells, counts) = self.two()?;
        let mut out = Vec::with_capacity(self.bits);
        for (cells, count) in cells.chunks(lane).zip(counts.chunks(lane)) {
            let count = known(self.world, count, "a count")?;
            out.extend(shifted(self.world, cells, shift, count));
        }
        Ok(out)
    }

    /// Left: the upper lane of b:c << k; right: the lower lane of c:b >> k.
    fn double_shift(&mut self, left: bool, lane: usize) -> Cells {
        if self.i.op_kind(3) != OpKind::Immediate8 {
            return Err(unsupported("the count is no constant"));
        }
        let count = self.i.immediate(3) as usize % lane;
        let (b, c) = (self.vector(1)?, self.vector(2)?);
        let out = b.chunks(lane).zip(c.chunks(lane)).flat_map(|(b, c)| {
            let (low, high) = if left { (c, b) } else { (b, c) };
            let both: Vec<Cell> = low.iter().chain(high).copied().collect();
            let first = if left { lane - count } else { count };
            both[first..first + lane].to_vec()
        });
        Ok(out.collect())
    }

    /// The vector that is written, and one half of the product of the others' lower 52 bits.
    fn sum_of_product(&mut self, upper: bool) -> Cells {
        let (before, (b, c)) = (self.vector(0)?, self.two()?);
        let mut out = Vec::with_capacity(self.bits);
        let lanes = before.chunks(64).zip(b.chunks(64)).zip(c.chunks(64));
        for ((before, b), c) in lanes {
            let bits = &mut self.world.bits;
            let mut half = bits.whole_product(&b[..FACTOR], &c[..FACTOR]);
            let mut half = if upper { half.split_off(FACTOR) } else { half[..FACTOR].to_vec() };
            half.resize(64, bits.constant(false));
            out.extend(bits.sum(before, &half, false).0);
        }
        Ok(out)
    }

    fn pair(&mut self, pair: Pair, lane: usize) -> Cells {
        if self.x86.is_same_register(self.i)
            && matches!(pair, Pair::Equal | Pair::Subtract | Pair::Greater)
        {
            return Ok(vec![self.world.bits.constant(pair == Pair::Equal); self.bits]);
        }
        let (a, b) = self.two()?;
        Ok(self.world.bits.each_lane([&a, &b], lane, |bits, [a, b]| paired(bits, pair, a, b)))
    }
}

/// The number that some bits are.
pub(super) fn known(world: &World, cells: &[Cell], what: &str) -> Result<u64, Fault> {
    if let Some(value) = world.bits.word(cells) {
        return Ok(value);
    }
    if cells.iter().any(|&cell| world.bits.is_secret(cell)) {
        return Err(Fault::new(Rule::SecretShift, format!("{what} depends on an input")));
    }
    Err(unsupported(format!("{what} is what nobody has written")))
}

/// One lane, shifted. Counts beyond the lane clear it, or fill it with its top bit.
fn shifted(world: &World, cells: &[Cell], shift: Shift, count: u64) -> Vec<Cell> {
    let lane = cells.len();
    let zero = world.bits.constant(false);
    let turn = (count % lane as u64) as usize;
    let count = count.min(lane as u64) as usize;
    let bit = |p: usize| match shift {
        Shift::Left => p.checked_sub(count).map_or(zero, |from| cells[from]),
        Shift::Right => cells.get(p + count).copied().unwrap_or(zero),
        Shift::Arithmetic => cells[(p + count).min(lane - 1)],
        Shift::RotateLeft => cells[(p + lane - turn) % lane],
        Shift::RotateRight => cells[(p + turn) % lane],
    };
    (0..lane).map(bit).collect()
}

fn paired(bits: &mut Bits, pair: Pair, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    let lane = a.len();
    match pair {
        Pair::Add => bits.sum(a, b, false).0,
        Pair::Subtract => bits.difference(a, b).0,
        Pair::Multiply => bits.product(a, b),
        Pair::MultiplyHalves(signed) => {
            let extended = |word: &[Cell]| -> Vec<Cell> {
                let half = &word[..lane / 2];
                let above = if signed { half[lane / 2 - 1] } else { bits.constant(false) };
                half.iter().copied().chain(std::iter::repeat_n(above, lane / 2)).collect()
            };
            let (a, b) = (extended(a), extended(b));
            bits.product(&a, &b)
        }
        Pair::MultiplyAdd => {
            let mut half = |at: usize| {
                let [a, b] = [a, b].map(|word| {
                    let mut half = word[at..at + lane / 2].to_vec();
                    half.resize(lane, word[at + lane / 2 - 1]);
                    half
                });
                bits.product(&a, &b)
            };
            let (low, high) = (half(0), half(lane / 2));
            bits.sum(&low, &high, false).0
        }
        Pair::MultiplyHigh(signed) => {
            // Numbers of twice as many bits, modulo which the product is exact.
            let zero = bits.constant(false);
            let extended = |word: &[Cell]| {
                let above = if signed { word[lane - 1] } else { zero };
                [word, &vec![above; lane]].concat()
            };
            let (a, b) = (extended(a), extended(b));
            // A factor that is known says which terms there are.
            let product = match a.iter().all(|&cell| bits.value(cell).is_some()) {
                true => bits.product(&b, &a),
                false => bits.product(&a, &b),
            };
            product[lane..].to_vec()
        }
        Pair::Equal => {
            let equal = bits.equal(a, b);
            vec![equal; lane]
        }
        Pair::Greater => {
            // With both signs flipped this is the order of unsigned numbers.
            let flipped = |word: &[Cell]| -> Vec<Cell> {
                let mut word = word.to_vec();
                word[lane - 1] = bits.not(word[lane - 1]);
                word
            };
            let (a, b) = (flipped(a), flipped(b));
            let borrow = bits.difference(&b, &a).1;
            vec![borrow; lane]
        }
    }
}
