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

use usuba_equiv::dag::Edge;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Bits, Cell, Instance};
    use usuba_equiv::dag::Kind;
    use usuba_equiv::value_numbering::Graph;

    const WIDTH: usize = 16;

    /// Three words of parameters.
    fn words() -> (Graph, [Word; 3]) {
        let mut graph = Graph::new(None);
        let mut word = |first: usize| -> Word {
            (first..first + WIDTH).map(|at| graph.intern(Kind::Param, 1, 0, at as u64, 0)).collect()
        };
        let words = [word(0), word(WIDTH), word(2 * WIDTH)];
        (graph, words)
    }

    fn cells(word: &Word) -> Vec<Cell> {
        word.iter().map(|&edge| Cell::new(edge, Instance::Number(7))).collect()
    }

    /// Bits that ask for sums, and the cells of three words.
    fn asked(by_bits: bool) -> (Bits, [Vec<Cell>; 3]) {
        let (graph, words) = words();
        let some = [words[0].clone(), words[1].clone(), words[2].clone()];
        let [x, y, z] = [0, 1, 2].map(|at| cells(&words[at]));
        // The sum of two of them, as a program has it.
        let mut plain = Bits::new(graph);
        let sum = plain.sum(&x, &y, false).0;
        let sum: Word = sum.iter().map(|cell| cell.edge().expect("a bit")).collect();
        let seed = [some[0].clone(), some[1].clone(), sum];
        (Bits::with_sums(plain.graph, &[seed], (by_bits, true), WIDTH), [x, y, z])
    }

    /// Runs a test with words, and with bits, as parts of sums.
    fn each(test: impl Fn(Bits, [Vec<Cell>; 3])) {
        for by_bits in [false, true] {
            let (bits, words) = asked(by_bits);
            test(bits, words);
        }
    }

    #[test]
    fn orders_of_a_sum_are_one_word() {
        each(orders);
    }

    fn orders(mut bits: Bits, [x, y, z]: [Vec<Cell>; 3]) {
        let two = bits.sum(&x, &y, false).0;
        let one = bits.sum(&two, &z, false).0;
        let other = bits.sum(&z, &y, false).0;
        assert_eq!(bits.sum(&other, &x, false).0, one);
        let third = bits.sum(&x, &z, false).0;
        assert_eq!(bits.sum(&y, &third, false).0, one);
        // Differences, and constants on the way.
        let five = bits.number(5, WIDTH);
        let more = bits.sum(&one, &five, false).0;
        let less = bits.difference(&more, &y).0;
        let plain = bits.sum(&third, &five, false).0;
        assert_eq!(less, plain);
        let back = bits.difference(&less, &five).0;
        assert_eq!(back, third);
        let alone = bits.difference(&back, &x).0;
        assert_eq!(alone, z);
        let ended = bits.sum(&five, &plain, true).0;
        let eleven = bits.number(11, WIDTH);
        assert_eq!(bits.sum(&third, &eleven, false).0, ended);
    }

    fn sum(bits: &mut Bits, words: &[&[Cell]]) -> Vec<Cell> {
        words[1..].iter().fold(words[0].to_vec(), |all, next| bits.sum(&all, next, false).0)
    }

    /// A shift is a multiple, and a sum in a wider register has the low bits of the sum of the low
    /// bits.
    #[test]
    fn shifts_and_wider_registers_are_sums() {
        each(|mut bits, [x, y, z]| {
            let zero = bits.constant(false);
            let shifted =
                |word: &[Cell], by: usize| [&vec![zero; by], &word[..WIDTH - by]].concat();
            let five = sum(&mut bits, &[&y, &x, &x, &x, &x, &x]);
            assert_eq!(sum(&mut bits, &[&x, &shifted(&x, 2), &y]), five);
            let both = sum(&mut bits, &[&x, &y]);
            let twice = sum(&mut bits, &[&both, &both, &z]);
            assert_eq!(sum(&mut bits, &[&shifted(&x, 1), &z, &shifted(&y, 1)]), twice);
            assert_eq!(sum(&mut bits, &[&z, &shifted(&both, 1)]), twice);
            assert_ne!(sum(&mut bits, &[&z, &shifted(&both, 2)]), twice);

            let wide = |word: &[Cell]| [word, &[zero; WIDTH]].concat();
            let low = sum(&mut bits, &[&wide(&y), &wide(&x), &wide(&z)]);
            assert_eq!(low[..WIDTH], sum(&mut bits, &[&x, &z, &y]));
        });
    }

    /// By bits, a word is the sum of its fields, its highest bit is a constant away from the
    /// complement, and a word of one bit is its negative.
    #[test]
    fn parts_of_words_are_sums() {
        let (mut bits, [x, y, z]) = asked(true);
        let zero = bits.constant(false);
        let field = |word: &[Cell], from: usize, to: usize| -> Vec<Cell> {
            (0..WIDTH).map(|at| if (from..to).contains(&at) { word[at] } else { zero }).collect()
        };
        let both = sum(&mut bits, &[&x, &y]);
        let (low, high) = (field(&x, 0, 5), field(&x, 5, WIDTH));
        assert_eq!(sum(&mut bits, &[&high, &y, &low]), both);
        assert_eq!(bits.difference(&x, &low).0, high);
        assert_ne!(sum(&mut bits, &[&y, &field(&x, 4, WIDTH), &low]), both);

        let mut top = x.clone();
        top[WIDTH - 1] = bits.not(x[WIDTH - 1]);
        let half = bits.number(1 << (WIDTH - 1), WIDTH);
        assert_eq!(sum(&mut bits, &[&half, &x]), top);
        let moved = sum(&mut bits, &[&x, &y, &half]);
        assert_eq!(sum(&mut bits, &[&top, &y]), moved);
        assert_ne!(both, moved);

        let mut one = vec![zero; WIDTH];
        one[0] = z[3];
        let less = sum(&mut bits, &[&x, &[z[3]; WIDTH], &y]);
        assert_eq!(bits.difference(&both, &one).0, less);
    }

    #[test]
    fn other_sums_are_other_words() {
        each(others);
    }

    fn others(mut bits: Bits, [x, y, z]: [Vec<Cell>; 3]) {
        let one = {
            let two = bits.sum(&x, &y, false).0;
            bits.sum(&two, &z, false).0
        };
        let twice = {
            let two = bits.sum(&z, &y, false).0;
            bits.sum(&two, &z, false).0
        };
        assert_ne!(one, twice);
        let carried = {
            let two = bits.sum(&y, &x, true).0;
            bits.sum(&two, &z, false).0
        };
        assert_ne!(one, carried);
        // Half of a word is no word of the sum.
        let low = bits.sum(&x[..8], &y[..8], false).0;
        let high = bits.sum(&x[8..], &y[8..], false).0;
        let glued = [low, high].concat();
        let sum = bits.sum(&glued, &z, false).0;
        assert_ne!(sum, one);
        // Another instance is another word, and two instances have no sum.
        let other = |word: &[Cell]| -> Vec<Cell> {
            let edge = |cell: &Cell| cell.edge().expect("a bit");
            word.iter().map(|cell| Cell::new(edge(cell), Instance::Number(8))).collect()
        };
        let far = {
            let two = bits.sum(&other(&y), &other(&z), false).0;
            bits.sum(&two, &other(&x), false).0
        };
        assert!(far.iter().zip(&one).all(|(a, b)| a.edge() == b.edge() && a != b));
        let mixed = bits.sum(&x, &other(&y), false).0;
        assert!(mixed.iter().all(|cell| cell.edge().is_none()));
    }

    /// The carry out of a sum that is looked up, and not computed bit by bit.
    #[test]
    fn sums_that_are_found_carry_what_they_should() {
        each(carries);
    }

    fn carries(mut bits: Bits, [x, y, z]: [Vec<Cell>; 3]) {
        let mut random = usuba::ir::random::Random::new(5);
        let mut plain = Bits::new(words().0);
        let zero = bits.constant(false);
        for carried in [false, true] {
            let one = bits.constant(carried);
            // Twice, so that the second one is found.
            let first = bits.sum_with(&x, &y, one);
            let found = bits.sum_with(&y, &x, one);
            let wanted = plain.sum_with(&x, &y, one);
            let less = bits.difference_with(&found.0, &z, zero);
            let again = bits.difference_with(&first.0, &z, zero);
            let wanted_less = plain.difference_with(&wanted.0, &z, zero);
            let inputs: Vec<u64> = (0..3 * WIDTH).map(|_| random.word()).collect();
            let values = |bits: &Bits, cells: &[Cell]| -> Vec<u64> {
                let all = crate::compare::evaluate(&bits.graph, &inputs);
                let value = |cell: &Cell| {
                    let edge = cell.edge().expect("a bit");
                    all[edge.node() as usize] ^ 0u64.wrapping_sub(edge.is_complement() as u64)
                };
                cells.iter().map(value).collect()
            };
            for ((sum, carry), (own, last)) in [
                (&first, &wanted),
                (&found, &wanted),
                (&less, &wanted_less),
                (&again, &wanted_less),
            ] {
                assert_eq!(values(&bits, sum), values(&plain, own));
                assert_eq!(values(&bits, &[*carry]), values(&plain, &[*last]));
            }
        }
    }
}
