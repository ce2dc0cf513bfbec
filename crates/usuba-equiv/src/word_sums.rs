//! Additions of words in normal form, up to associativity and commutativity.
//!
//! ```text
//! program    (x + k) + t        {x: 1, k: 1, t: 1}
//! compiler   x + (k + t)        {x: 1, k: 1, t: 1}, so the bits are those of the program
//! ```
//!
//! Compilers reassociate additions of three and more words, and the carries of two orders are
//! different functions of bits that no engine proves equal bit by bit. So each sum is also a
//! *combination*: a linear combination of words that are no sums, and a constant, modulo 2^n for
//! words of n bits.
//!
//! *Soundness:* addition modulo 2^n is associative and commutative, and ~w = -w - 1. So two words
//! with one combination are equal for all inputs, and the first one stands for both. Bits of a known
//! word that a shift to the left drops have weights that are multiples of 2^n.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::dag::Edge;

/// A sum of words of one size.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
struct Combination {
    /// The coefficient of each word, by its number, in ascending order; never zero.
    words: Vec<(u32, u64)>,
    constant: u64,
}

/// The most words of a combination; longer sums are words that are no sums.
const MOST: usize = 4096;

/// A word, its least significant bit first.
type Word = Vec<Edge>;

/// The sum of two words.
pub struct Total {
    combination: Rc<Combination>,
    /// The word that stands for it, if there is one.
    pub known: Option<Word>,
}

/// The known words, by combination.
#[derive(Default)]
pub struct Sums {
    /// The widths of the sums of the program.
    widths: BTreeSet<usize>,
    /// Whether words that are no sums are sums of their bits: a + b is a | b where no bits meet.
    by_bits: bool,
    /// Numbers of words that are no sums, or of bits.
    leaves: FxHashMap<Word, u32>,
    /// Their lowest bits, by number.
    firsts: Vec<Edge>,
    combinations: FxHashMap<Word, Rc<Combination>>,
    /// The first word with a combination, by its width.
    words: FxHashMap<(usize, Rc<Combination>), Word>,
    /// All words with a combination, by their lowest bit.
    lowest: FxHashMap<Edge, Vec<Word>>,
}

impl Sums {
    /// Of a program with sums of these widths.
    pub fn new(by_bits: bool, widths: impl Iterator<Item = usize>) -> Sums {
        Sums { by_bits, widths: widths.collect(), ..Sums::default() }
    }

    /// The width of the widest sums of the program that are narrower than `width`, or zero.
    pub fn narrower(&self, width: usize) -> usize {
        self.widths.range(..width).next_back().copied().unwrap_or(0)
    }

    /// Whether a word is constant, or has been a sum or an operand of one.
    pub fn knows(&self, zero: Edge, word: &[Edge]) -> bool {
        if word.iter().all(|edge| edge.node() == zero.node()) {
            return true;
        }
        let plain = if word[0].is_complement() { flipped(word) } else { word.to_vec() };
        let known = self.combinations.contains_key(&plain);
        known || self.lowest.get(&plain[0]).is_some_and(|all| all.contains(&plain))
    }

    /// The combination of a + b + carry. The node of the constants is `zero`. Words have at most 64
    /// bits.
    pub fn total(&mut self, zero: Edge, (a, b, carry): (&[Edge], &[Edge], bool)) -> Total {
        let modulus = u64::MAX >> (64 - a.len());
        let (one, other) = (self.combination(zero, a), self.combination(zero, b));
        let constant = one.constant.wrapping_add(other.constant).wrapping_add(carry as u64);
        let words = merged(&one.words, &other.words, modulus);
        let combination = Rc::new(Combination { words, constant: constant & modulus });
        let known = match combination.words.is_empty() {
            true => Some(number(zero, combination.constant, a.len())),
            false => {
                let (key, over) = upright(&combination, modulus);
                let known = self.words.get(&(a.len(), key));
                let known = known.map(|word| if over { flipped(word) } else { word.clone() });
                let placed = || self.placed(zero, &combination, a.len());
                if self.by_bits { known.or_else(placed) } else { known }
            }
        };
        Total { combination, known }
    }

    /// Remembers a word that is a sum, which stands for it unless another one does.
    pub fn remember(&mut self, zero: Edge, total: &Total, sum: &[Edge]) {
        let modulus = u64::MAX >> (64 - sum.len());
        let all = &total.combination;
        if all.words.len() > MOST {
            return;
        }
        let (key, over) = upright(all, modulus);
        let either = |flip: bool| if flip { flipped(sum) } else { sum.to_vec() };
        self.words.entry((sum.len(), key)).or_insert_with(|| either(over));
        // A sum that is no sum any more, such as x + 0, needs no name.
        if sum.iter().any(|edge| edge.node() != zero.node()) {
            let flip = sum[0].is_complement();
            let all = if flip { Rc::new(turned(all, modulus)) } else { all.clone() };
            let word = either(flip);
            if !self.combinations.contains_key(&word) {
                self.lowest.entry(word[0]).or_default().push(word.clone());
                self.combinations.insert(word, all);
            }
        }
    }

    /// The combination of a word: the word itself, if no other is known.
    fn combination(&mut self, zero: Edge, word: &[Edge]) -> Rc<Combination> {
        let modulus = u64::MAX >> (64 - word.len());
        if word.iter().all(|edge| edge.node() == zero.node()) {
            let bits = word.iter().enumerate();
            let constant = bits.fold(0, |sum, (at, bit)| sum | (bit.is_complement() as u64) << at);
            return Rc::new(Combination { words: Vec::new(), constant });
        }
        // A word and its complement have one entry.
        let flip = word[0].is_complement();
        let plain = if flip { flipped(word) } else { word.to_vec() };
        let found = self.combinations.get(&plain).cloned();
        let found = found.or_else(|| self.shifted(zero, &plain)).unwrap_or_else(|| {
            let alone = Rc::new(self.alone(zero, &plain));
            // The rest of a sum may be one word.
            let (key, over) = upright(&alone, modulus);
            if let Entry::Vacant(place) = self.words.entry((word.len(), key)) {
                place.insert(if over { flipped(&plain) } else { plain.clone() });
                self.lowest.entry(plain[0]).or_default().push(plain);
            }
            alone
        });
        if flip { Rc::new(turned(&found, modulus)) } else { found }
    }

    /// The combination of a shifted word, 2^k x.
    fn shifted(&mut self, zero: Edge, word: &[Edge]) -> Option<Rc<Combination>> {
        let modulus = u64::MAX >> (64 - word.len());
        let by = word.iter().take_while(|&&edge| edge == zero).count();
        if by == 0 {
            return None;
        }
        let flip = word[by].is_complement();
        let rest = if flip { flipped(&word[by..]) } else { word[by..].to_vec() };
        let same = |known: &&Word| known.len() == word.len() && known.starts_with(&rest);
        let known = self.lowest.get(&rest[0])?.iter().find(same)?.clone();
        let known = self.combination(zero, &known);
        let known = if flip { Rc::new(turned(&known, modulus)) } else { known };
        Some(Rc::new(scaled(&known, 1 << by, modulus)))
    }

    /// The combination of a word that is no sum: the word itself, or its bits.
    fn alone(&mut self, zero: Edge, word: &[Edge]) -> Combination {
        if !self.by_bits {
            return Combination { words: vec![(self.leaf(word), 1)], constant: 0 };
        }
        let modulus = u64::MAX >> (64 - word.len());
        let (mut terms, mut constant) = (BTreeMap::<u32, u64>::new(), 0u64);
        for (at, &edge) in word.iter().enumerate() {
            let weight = 1 << at;
            // ~b = 1 - b
            constant = constant.wrapping_add(weight * edge.is_complement() as u64);
            if edge.node() != zero.node() {
                let weight = if edge.is_complement() { weight.wrapping_neg() } else { weight };
                let times = terms.entry(self.leaf(&[edge.plain()])).or_default();
                *times = times.wrapping_add(weight) & modulus;
            }
        }
        let words = terms.into_iter().filter(|&(_, times)| times != 0).collect();
        Combination { words, constant: constant & modulus }
    }

    /// The number of a word that is no sum.
    fn leaf(&mut self, word: &[Edge]) -> u32 {
        if let Some(&number) = self.leaves.get(word) {
            return number;
        }
        let number = self.leaves.len() as u32;
        self.leaves.insert(word.to_vec(), number);
        self.firsts.push(word[0]);
        number
    }

    /// The word of a combination of bits none of which carries.
    fn placed(&self, zero: Edge, all: &Combination, bits: usize) -> Option<Word> {
        let modulus = u64::MAX >> (64 - bits);
        let (mut word, mut constant) = (vec![Edge::NONE; bits], all.constant);
        for &(number, times) in &all.words {
            let less = times.wrapping_neg() & modulus;
            let is_plain = times.is_power_of_two();
            let weight = if is_plain { times } else { less };
            let at = weight.trailing_zeros() as usize;
            if !weight.is_power_of_two() || word[at] != Edge::NONE {
                return None;
            }
            // The highest bit is its own negative.
            let flip = !is_plain || at + 1 == bits && constant & weight != 0;
            constant = constant.wrapping_sub(weight * flip as u64) & modulus;
            word[at] = self.firsts[number as usize].flipped(flip);
        }
        for (at, edge) in word.iter_mut().enumerate() {
            let is_one = constant >> at & 1 == 1;
            match *edge == Edge::NONE {
                true => *edge = zero.flipped(is_one),
                false if is_one => return None,
                false => {}
            }
        }
        Some(word)
    }
}

/// A multiple of a combination.
fn scaled(all: &Combination, by: u64, modulus: u64) -> Combination {
    let scaled = |value: u64| value.wrapping_mul(by) & modulus;
    let words = all.words.iter().map(|&(word, times)| (word, scaled(times)));
    let words = words.filter(|&(_, times)| times != 0).collect();
    Combination { words, constant: scaled(all.constant) }
}

/// How often each word is taken in two sums together.
fn merged(one: &[(u32, u64)], other: &[(u32, u64)], modulus: u64) -> Vec<(u32, u64)> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let (word, times) = match (left.peek(), right.peek()) {
            (Some(&&(a, times)), Some(&&(b, more))) if a == b => {
                left.next();
                right.next();
                (a, times.wrapping_add(more) & modulus)
            }
            (Some(&&(a, times)), other) if other.is_none_or(|&&(b, _)| a < b) => {
                left.next();
                (a, times)
            }
            (_, Some(&&last)) => {
                right.next();
                last
            }
            (_, None) => return all,
        };
        if times != 0 {
            all.push((word, times));
        }
    }
}

/// The smaller one of a combination and its complement, and whether it is the complement: a
/// difference is the complement of a sum, so both have one entry.
fn upright(all: &Rc<Combination>, modulus: u64) -> (Rc<Combination>, bool) {
    let other = turned(all, modulus);
    match other < **all {
        true => (Rc::new(other), true),
        false => (all.clone(), false),
    }
}

/// The word of a number.
fn number(zero: Edge, value: u64, bits: usize) -> Word {
    (0..bits).map(|at| zero.flipped(value >> at & 1 == 1)).collect()
}

fn flipped(word: &[Edge]) -> Word {
    word.iter().map(|&edge| !edge).collect()
}

/// -w - 1
fn turned(combination: &Combination, modulus: u64) -> Combination {
    let negative = |value: u64| value.wrapping_neg() & modulus;
    let words = combination.words.iter().map(|&(word, times)| (word, negative(times)));
    let constant = negative(combination.constant).wrapping_sub(1) & modulus;
    Combination { words: words.collect(), constant }
}
