//! Additions and subtractions of symbolic words: sums of the program by their normal form, and
//! ripple-carry adders elsewhere.

use std::ops::RangeInclusive;

use usuba_equiv::dag::Edge;
use usuba_equiv::value_numbering::Graph;

use super::{Bits, Cell, Instance};
use usuba_equiv::word_sums::{Sums, Total};

/// Widths of the words whose additions are in normal form.
const WORDS: RangeInclusive<usize> = 8..=64;

/// Two words of one instance and a carry, the least significant bits first.
struct Addends {
    a: Vec<Edge>,
    b: Vec<Edge>,
    carry: bool,
    instance: Instance,
}

impl Bits {
    /// With the additions of a program, operands and result: other orders of them are the same
    /// words, with `by_bits` also of parts of their words. With `asks` engines examine their bits and
    /// carries. Registers have `register` bits: of wider sums, the lower parts are sums, too.
    pub fn with_sums(
        graph: Graph,
        summed: &[[Vec<Edge>; 3]],
        (by_bits, asks): (bool, bool),
        register: usize,
    ) -> Bits {
        let mut bits = Bits::new(graph);
        bits.asks_sums = asks;
        if !summed.is_empty() {
            let summed = summed.iter().filter(|[_, _, sum]| WORDS.contains(&sum.len()));
            let parts = summed.flat_map(|[a, b, sum]| {
                let of = move |size: usize| [&a[..size], &b[..size], &sum[..size]];
                let lower = (sum.len() > register).then(|| of(register));
                lower.into_iter().chain([of(sum.len())])
            });
            let mut sums = Sums::new(by_bits, parts.clone().map(|[_, _, sum]| sum.len()));
            for [a, b, sum] in parts {
                let total = sums.total(bits.zero, (a, b, false));
                sums.remember(bits.zero, &total, sum);
            }
            bits.sums = Some(sums);
        }
        bits
    }

    /// a + b + carry, least significant bits first, and the carry out.
    pub fn sum(&mut self, a: &[Cell], b: &[Cell], carry: bool) -> (Vec<Cell>, Cell) {
        let carry = self.constant(carry);
        self.sum_with(a, b, carry)
    }

    /// The same with a carry that need not be known.
    ///
    /// The carry of two bits and a carry is `a & b ^ (a ^ b) & c`, as in the sums of the program.
    pub fn sum_with(&mut self, a: &[Cell], b: &[Cell], carry: Cell) -> (Vec<Cell>, Cell) {
        if let (Some(x), Some(y), Some(one)) = (self.short(a), self.short(b), self.value(carry)) {
            let sum = x + y + one as u128;
            return (self.long_number(sum, a.len()), self.constant(sum >> a.len() & 1 == 1));
        }
        if let Some(sum) = self.sum_of_integers(a, b, carry) {
            return sum;
        }
        let addends = match self.value(carry) {
            Some(carry) if WORDS.contains(&a.len()) => self.addends(a, b, carry),
            _ => None,
        };
        let Some(sums) = &mut self.sums else { return self.rippled(a, b, carry) };
        let low = sums.narrower(a.len());
        let total = addends.map(|Addends { a, b, carry, instance }| {
            (sums.total(self.zero, (&a, &b, carry)), instance)
        });
        if let Some((Total { known: Some(known), .. }, instance)) = &total {
            let known = self.cells(known, *instance);
            // With s = a ^ b ^ c, the carry a & b ^ (a ^ b) & c is this.
            let top = a.len() - 1;
            let carry = self.function(0xd4, [a[top], b[top], known[top]]);
            return (known, carry);
        }
        // The low bits may be a sum of the program: words of 16 bits are added in registers of 32.
        let (mut out, carry) = match low {
            0 => (Vec::new(), carry),
            _ => self.sum_with(&a[..low], &b[..low], carry),
        };
        let engines = self.graph.rewrites.take_if(|_| total.is_some() && !self.asks_sums);
        let (rest, last) = self.rippled(&a[low..], &b[low..], carry);
        out.extend(rest);
        if engines.is_some() {
            self.graph.rewrites = engines;
        }
        let edges = out.iter().map(|cell| cell.edge()).collect::<Option<Vec<_>>>();
        if let (Some((total, _)), Some(edges), Some(sums)) = (total, edges, &mut self.sums) {
            sums.remember(self.zero, &total, &edges);
        }
        (out, last)
    }

    /// Whether additions are in normal form.
    pub fn has_sums(&self) -> bool {
        self.sums.is_some()
    }

    /// Whether both words are operands or results of sums, or constant.
    pub fn are_summands(&self, a: &[Cell], b: &[Cell]) -> bool {
        let Some(sums) = &self.sums else { return false };
        let known = |a: &[Edge]| sums.knows(self.zero, a);
        self.addends(a, b, false).is_some_and(|found| known(&found.a) && known(&found.b))
    }

    /// The edges of two words of one instance, which are to be added.
    fn addends(&self, a: &[Cell], b: &[Cell], carry: bool) -> Option<Addends> {
        let mut instance = Instance::Every;
        let mut edges = |cells: &[Cell]| {
            let edge = |cell: &Cell| {
                let edge = cell.edge()?;
                match (instance, cell.instance()) {
                    (_, Instance::Every) => {}
                    (Instance::Every, own) => instance = own,
                    (known, own) if known == own => {}
                    _ => return None,
                }
                Some(edge)
            };
            cells.iter().map(edge).collect::<Option<Vec<Edge>>>()
        };
        let (a, b) = (edges(a)?, edges(b)?);
        Some(Addends { a, b, carry, instance })
    }

    /// The bits of a word of an instance.
    fn cells(&self, word: &[Edge], instance: Instance) -> Vec<Cell> {
        let cell = |&edge: &Edge| match edge.node() == self.zero.node() {
            true => Cell::new(edge, Instance::Every),
            false => Cell::new(edge, instance),
        };
        word.iter().map(cell).collect()
    }

    fn rippled(&mut self, a: &[Cell], b: &[Cell], mut carry: Cell) -> (Vec<Cell>, Cell) {
        let mut out = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let half = self.xor(x, y);
            out.push(self.xor(half, carry));
            let both = self.and(x, y);
            let kept = self.and(half, carry);
            carry = self.xor(both, kept);
        }
        (out, carry)
    }

    /// a - b, and whether it borrows.
    pub fn difference(&mut self, a: &[Cell], b: &[Cell]) -> (Vec<Cell>, Cell) {
        let borrow = self.constant(false);
        self.difference_with(a, b, borrow)
    }

    /// a - b - borrow, which is ~(~a + b + borrow), and whether it borrows.
    pub fn difference_with(&mut self, a: &[Cell], b: &[Cell], borrow: Cell) -> (Vec<Cell>, Cell) {
        if let Some(difference) = self.difference_of_integers(a, b, borrow) {
            return difference;
        }
        let flipped: Vec<Cell> = a.iter().map(|&bit| self.not(bit)).collect();
        let (sum, carry) = self.sum_with(&flipped, b, borrow);
        (sum.into_iter().map(|bit| self.not(bit)).collect(), carry)
    }
}

#[cfg(test)]
mod tests {
    use crate::cell::{Bits, Cell, Instance};
    use usuba_equiv::dag::{Edge, Kind};
    use usuba_equiv::value_numbering::Graph;

    type Word = Vec<Edge>;

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
                let all = crate::evaluation::evaluate(&bits.graph, &inputs);
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
