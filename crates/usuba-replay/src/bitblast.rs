//! Traces as gates: each bit of each word becomes a literal.
//!
//! ```text
//! w3 = add w1, w2      sum and carry of each bit; a sum of the same terms is not made again
//! w4 = rotl w3, 7      literals in another order
//! w5 = mul w3, w4      free variables, the same for equal operands; of 64 bits, by products of halves
//! ```
//!
//! *Soundness:* a product is any function of its operands, but zero for a factor of zero; for sums see
//! `sums`. With halves of 32 bits, ab is a0 b0 + 2^32 (a0 b1 + a1 b0) modulo 2^64.

use crate::hash::Map;
use crate::net::{FALSE, Guide, Lit, Net, TRUE};
use crate::sums::{PAIR, Sums};
use crate::trace::{Op, Table, Trace, Word, mask};

/// The graph with the words that were made in it.
pub struct Blaster<'a> {
    pub net: Net,
    guide: &'a mut dyn Guide,
    sums: Sums,
    products: Map<(Op, Vec<Lit>, Vec<Lit>), Vec<Lit>>,
}

type Made<T> = Result<T, String>;

impl Blaster<'_> {
    pub fn new(guide: &mut dyn Guide) -> Blaster<'_> {
        Blaster { net: Net::default(), guide, sums: Sums::default(), products: Map::default() }
    }

    /// Free variables.
    pub fn inputs(&mut self, count: usize) -> Made<Vec<Lit>> {
        (0..count).map(|_| self.net.input(self.guide)).collect()
    }

    /// The outputs of a trace for the literals of its inputs.
    ///
    /// # Errors
    /// A step is wrong.
    pub fn run(&mut self, trace: &Trace, inputs: &[Vec<Lit>]) -> Made<Vec<Vec<Lit>>> {
        self.words(trace, inputs, |word| word.bits)
    }

    /// The same of one bit of each word, where each word has one bit for each of many instances, and
    /// each operator acts on each bit alone ([`is_bitwise`]).
    pub fn run_on_one_bit(&mut self, trace: &Trace, inputs: &[Vec<Lit>]) -> Made<Vec<Vec<Lit>>> {
        self.words(trace, inputs, |_| 1)
    }

    fn words(
        &mut self,
        trace: &Trace,
        inputs: &[Vec<Lit>],
        width: impl Fn(&Word) -> u8,
    ) -> Made<Vec<Vec<Lit>>> {
        let mut words: Vec<Vec<Lit>> = Vec::with_capacity(trace.words.len());
        for word in &trace.words {
            let of: Vec<&[Lit]> =
                trace.operands(word).iter().map(|&id| &*words[id as usize]).collect();
            let made = match word.op {
                Op::Input => inputs[word.number as usize].clone(),
                _ => self.word(trace, word, usize::from(width(word)), &of)?,
            };
            words.push(made);
        }
        Ok(trace.outputs.iter().map(|&id| words[id as usize].clone()).collect())
    }

    fn word(&mut self, trace: &Trace, word: &Word, m: usize, of: &[&[Lit]]) -> Made<Vec<Lit>> {
        let n = word.number as usize;
        let from = |at: usize| of[0].get(at).copied().unwrap_or(FALSE);
        let top = of.first().and_then(|bits| bits.last()).copied().unwrap_or(FALSE);
        Ok(match word.op {
            Op::Input => return Err("an input has no gates".into()),
            Op::Const => (0..m).map(|bit| (word.number >> bit & 1) as Lit).collect(),
            Op::Not => of[0].iter().map(|bit| bit ^ 1).collect(),
            Op::And => self.each(of, |net, a, b, guide| net.and(a, b, guide))?,
            Op::Or => self.each(of, |net, a, b, guide| Ok(1 ^ net.and(a ^ 1, b ^ 1, guide)?))?,
            Op::Xor => self.each(of, |net, a, b, guide| net.xor(a, b, guide))?,
            Op::Add => self.sum(of[0], of[1], false)?,
            Op::Sub => self.sum(of[0], of[1], true)?,
            Op::Mul | Op::MulHigh => self.product(word.op, of[0], of[1])?,
            Op::Less => self.less(of[0], of[1])?,
            Op::LessSigned => {
                let turned = |bits: &[Lit]| {
                    let mut bits = bits.to_vec();
                    bits[m - 1] ^= 1;
                    bits
                };
                self.less(&turned(of[0]), &turned(of[1]))?
            }
            Op::Shl => (0..m).map(|bit| if bit < n { FALSE } else { from(bit - n) }).collect(),
            Op::Shr => (0..m).map(|bit| from(bit + n)).collect(),
            Op::Sar => (0..m).map(|bit| if bit + n < m { from(bit + n) } else { top }).collect(),
            Op::Rotl => (0..m).map(|bit| from((bit + m - n) % m)).collect(),
            Op::Field => of[0][n..n + m].to_vec(),
            Op::Extend => (0..m).map(from).collect(),
            Op::ExtendSigned => (0..m).map(|bit| of[0].get(bit).copied().unwrap_or(top)).collect(),
            Op::Join => of.concat(),
            Op::Lut => {
                let table = &trace.tables[n];
                let mut bits = Vec::with_capacity(m);
                for bit in 0..m {
                    let arguments: Vec<Lit> = of.iter().map(|word| word[bit]).collect();
                    self.guide.arguments(&arguments);
                    bits.push(self.picked(table, &arguments, &mut Map::default())?);
                }
                bits
            }
            Op::Wire => trace.wirings[n].iter().map(|&bit| of[0][usize::from(bit)]).collect(),
            Op::Clmul => self.carryless(of[0], of[1])?[..m].to_vec(),
            Op::ClmulHigh => self.carryless(of[0], of[1])?[m..].to_vec(),
        })
    }

    fn each(
        &mut self,
        of: &[&[Lit]],
        gate: impl Fn(&mut Net, Lit, Lit, &mut dyn Guide) -> Made<Lit>,
    ) -> Made<Vec<Lit>> {
        let pairs = of[0].iter().zip(of[1]);
        pairs.map(|(&a, &b)| gate(&mut self.net, a, b, self.guide)).collect()
    }

    /// The sum of two words and a carry, and the carry out of it.
    fn added(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> Made<(Vec<Lit>, Lit)> {
        let Blaster { net, guide, .. } = self;
        let mut sum = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let differ = net.xor(a, b, *guide)?;
            sum.push(net.xor(differ, carry, *guide)?);
            let (both, passed) = (net.and(a, b, *guide)?, net.and(differ, carry, *guide)?);
            carry = net.xor(both, passed, *guide)?;
        }
        Ok((sum, carry))
    }

    fn sum(&mut self, a: &[Lit], b: &[Lit], is_difference: bool) -> Made<Vec<Lit>> {
        let sign = if is_difference { u64::MAX } else { 1 };
        let sum = self.sums.of(a).plus(sign, &self.sums.of(b));
        if let Some(known) = self.sums.get(&sum) {
            return Ok(known);
        }
        let turned: Vec<Lit> = b.iter().map(|bit| bit ^ is_difference as Lit).collect();
        let into = is_difference as Lit;
        if a.len() != usize::from(PAIR) {
            let made = self.added(a, &turned, into)?.0;
            self.sums.learn(sum, &made);
            return Ok(made);
        }
        let half = a.len() / 2;
        let (mut made, carry) = self.added(&a[..half], &turned[..half], into)?;
        made.extend(self.added(&a[half..], &turned[half..], carry)?.0);
        self.sums.learn(sum, &made);
        self.sums.learn_pair(a, &turned, into, &made, carry);
        Ok(made)
    }

    /// 1 in as many bits if the first word is below the second one.
    fn less(&mut self, a: &[Lit], b: &[Lit]) -> Made<Vec<Lit>> {
        let borrow = self.sums.borrow(a, b);
        let known = borrow.as_ref().and_then(|borrow| self.sums.carry(borrow));
        let is_less = match known {
            Some(known) => known,
            None => {
                let turned: Vec<Lit> = b.iter().map(|bit| bit ^ 1).collect();
                self.added(a, &turned, TRUE)?.1 ^ 1
            }
        };
        if let Some(borrow) = borrow {
            self.sums.learn_carry(borrow, is_less);
        }
        Ok((0..a.len()).map(|bit| if bit == 0 { is_less } else { FALSE }).collect())
    }

    fn product(&mut self, op: Op, a: &[Lit], b: &[Lit]) -> Made<Vec<Lit>> {
        let is_zero = |factor: &[Lit]| factor.iter().all(|&bit| bit == FALSE);
        if is_zero(a) || is_zero(b) {
            return Ok(vec![FALSE; a.len()]);
        }
        let key = (op, a.min(b).to_vec(), a.max(b).to_vec());
        if let Some(known) = self.products.get(&key) {
            return Ok(known.clone());
        }
        let made = match op {
            Op::Mul if a.len() == usize::from(PAIR) => {
                let [(a0, a1), (b0, b1)] = [a, b].map(|word| word.split_at(a.len() / 2));
                let mut made = self.product(Op::Mul, a0, b0)?;
                let mut upper = self.product(Op::MulHigh, a0, b0)?;
                for (a, b) in [(a0, b1), (a1, b0)] {
                    let product = self.product(Op::Mul, a, b)?;
                    upper = self.sum(&upper, &product, false)?;
                }
                made.extend(upper);
                made
            }
            _ => self.inputs(a.len())?,
        };
        self.products.insert(key, made.clone());
        Ok(made)
    }

    /// The carry-less product, in twice as many bits.
    fn carryless(&mut self, a: &[Lit], b: &[Lit]) -> Made<Vec<Lit>> {
        let mut sum = vec![FALSE; 2 * a.len()];
        for (shift, &factor) in b.iter().enumerate() {
            for (at, &bit) in a.iter().enumerate() {
                let term = self.net.and(bit, factor, self.guide)?;
                sum[at + shift] = self.net.xor(sum[at + shift], term, self.guide)?;
            }
        }
        Ok(sum)
    }

    /// The entry of a table at the row that the arguments are, the first one most significant.
    fn picked(
        &mut self,
        table: &[bool],
        arguments: &[Lit],
        known: &mut Map<Table, Lit>,
    ) -> Made<Lit> {
        if table.iter().all(|&entry| entry == table[0]) {
            return Ok(table[0] as Lit);
        }
        if let Some(&literal) = known.get(table) {
            return Ok(literal);
        }
        let (low, high) = table.split_at(table.len() / 2);
        let low = self.picked(low, &arguments[1..], known)?;
        let high = self.picked(high, &arguments[1..], known)?;
        let differ = self.net.xor(low, high, self.guide)?;
        let change = self.net.and(arguments[0], differ, self.guide)?;
        let literal = self.net.xor(low, change, self.guide)?;
        known.insert(table.to_vec(), literal);
        Ok(literal)
    }
}

/// Whether each bit of each word depends on the same bit of the inputs alone, by one function.
pub fn is_bitwise(trace: &Trace) -> bool {
    trace.words.iter().all(|word| match word.op {
        Op::Input | Op::Not | Op::And | Op::Or | Op::Xor | Op::Lut => true,
        Op::Const => word.number == 0 || word.number == mask(word.bits),
        _ => false,
    })
}
