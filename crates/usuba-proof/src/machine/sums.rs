//! Sums of words in any order.
//!
//! ```text
//! program    (x + k) + t        {x: 1, k: 1, t: 1}
//! compiler   x + (k + t)        {x: 1, k: 1, t: 1}, so the bits are those of the program
//! ```
//!
//! Compilers write sums of three and more words in an order of their own, and the carries of two
//! orders are different functions of bits, bit by bit, that no engine shows equal. Here each word
//! that is a sum is also a *combination*: words that are no sums, how often each is taken, and a
//! number, modulo 2^n for words of n bits. Addition modulo 2^n is associative and commutative, and
//! ~w = -w - 1, so two words with one combination are equal for all inputs, and the first one that
//! was made stands for both.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::graph::Edge;

/// A sum of words of one size.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
struct Combination {
    /// How often each word is taken, by its number; never zero times.
    words: BTreeMap<u32, u64>,
    constant: u64,
}

/// A word, its least significant bit first.
type Word = Vec<Edge>;

/// The words of which it is known what they are the sum of.
#[derive(Default)]
pub struct Sums {
    /// Numbers of words that are no sums.
    leaves: FxHashMap<Word, u32>,
    combinations: FxHashMap<Word, Combination>,
    /// The first word with a combination, of so many bits.
    words: FxHashMap<(usize, Combination), Word>,
}

impl Sums {
    /// Remembers that `sum` is a + b + carry, and returns the word that stands for it. The node of
    /// the constants is `zero`. Words have at most 64 bits.
    pub fn add(
        &mut self,
        zero: Edge,
        (a, b, carry): (&[Edge], &[Edge], bool),
        sum: &[Edge],
    ) -> Word {
        let modulus = u64::MAX >> (64 - sum.len());
        let mut all = self.combination(zero, a);
        let other = self.combination(zero, b);
        all.constant =
            all.constant.wrapping_add(other.constant).wrapping_add(carry as u64) & modulus;
        for (word, times) in other.words {
            let sum = all.words.entry(word).or_default();
            *sum = sum.wrapping_add(times) & modulus;
        }
        all.words.retain(|_, times| *times != 0);
        // A difference is the complement of a sum, so both have one entry.
        let other = turned(all.clone(), modulus);
        let over = other < all;
        let key = (sum.len(), if over { other } else { all.clone() });
        let either = |word: &[Edge]| if over { flipped(word) } else { word.to_vec() };
        let known = either(self.words.entry(key).or_insert_with(|| either(sum)));
        let flip = sum[0].is_complement();
        // A sum that is no sum any more, such as x + 0, needs no name.
        if sum.iter().any(|edge| edge.node() != zero.node()) {
            let (all, word) = match flip {
                false => (all, sum.to_vec()),
                true => (turned(all, modulus), flipped(sum)),
            };
            self.combinations.entry(word).or_insert(all);
        }
        known
    }

    /// What a word is the sum of: itself, if nothing else is known.
    fn combination(&mut self, zero: Edge, word: &[Edge]) -> Combination {
        let modulus = u64::MAX >> (64 - word.len());
        if word.iter().all(|edge| edge.node() == zero.node()) {
            let bits = word.iter().enumerate();
            let constant = bits.fold(0, |sum, (at, bit)| sum | (bit.is_complement() as u64) << at);
            return Combination { words: BTreeMap::new(), constant };
        }
        // A word and its complement have one entry.
        let flip = word[0].is_complement();
        let upright = if flip { flipped(word) } else { word.to_vec() };
        let found = self.combinations.get(&upright).cloned();
        let found = found.unwrap_or_else(|| {
            let next = self.leaves.len() as u32;
            let number = *self.leaves.entry(upright.clone()).or_insert(next);
            let alone = Combination { words: BTreeMap::from([(number, 1)]), constant: 0 };
            // What is left of a sum may be one word.
            let other = turned(alone.clone(), modulus);
            let (key, named) = match other < alone {
                true => (other, flipped(&upright)),
                false => (alone.clone(), upright),
            };
            self.words.entry((word.len(), key)).or_insert(named);
            alone
        });
        if flip { turned(found, modulus) } else { found }
    }
}

fn flipped(word: &[Edge]) -> Word {
    word.iter().map(|&edge| !edge).collect()
}

/// -w - 1
fn turned(combination: Combination, modulus: u64) -> Combination {
    let negative = |value: u64| value.wrapping_neg() & modulus;
    let words = combination.words.into_iter().map(|(word, times)| (word, negative(times)));
    let constant = negative(combination.constant).wrapping_sub(1) & modulus;
    Combination { words: words.collect(), constant }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, Kind};
    use crate::machine::cell::{Bits, Cell, Instance};

    const WIDTH: usize = 16;

    /// Three words of parameters, with the sums of a program.
    fn bits(sums: &[[Vec<Edge>; 3]], graph: Graph) -> Bits {
        Bits::with_sums(graph, sums)
    }

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
    fn asked() -> (Bits, [Vec<Cell>; 3]) {
        let (graph, words) = words();
        let some = [words[0].clone(), words[1].clone(), words[2].clone()];
        let [x, y, z] = [0, 1, 2].map(|at| cells(&words[at]));
        // The sum of two of them, as a program has it.
        let mut plain = Bits::new(graph);
        let sum = plain.sum(&x, &y, false).0;
        let sum: Word = sum.iter().map(|cell| cell.edge().expect("a bit")).collect();
        let seed = [some[0].clone(), some[1].clone(), sum];
        (bits(&[seed], plain.graph), [x, y, z])
    }

    #[test]
    fn orders_of_a_sum_are_one_word() {
        let (mut bits, [x, y, z]) = asked();
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

    #[test]
    fn other_sums_are_other_words() {
        let (mut bits, [x, y, z]) = asked();
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
}
