//! Words against their values: operators, masks of one bit, joins by OR, words that differ.

use usuba::ir::Op;
use usuba::ir::random::Random;

use super::cells::{cells, gathered};
use super::*;
use crate::operators::operated;
use usuba_equiv::value_numbering::Graph;

/// Values of variables and nodes where the parameters have some.
struct Values<'a> {
    bits: &'a Bits,
    words: &'a Words,
    given: &'a [u64],
    known: std::cell::RefCell<FxHashMap<u32, BigInt>>,
}

impl Values<'_> {
    fn of(&self, poly: &Poly) -> BigInt {
        let variables = poly.variables().into_iter();
        poly.assign(&variables.map(|v| (v, self.variable(v))).collect()).1
    }

    fn variable(&self, variable: u32) -> BigInt {
        if let Some(known) = self.known.borrow().get(&variable) {
            return known.clone();
        }
        let given = self.given.get(variable as usize / 2);
        let value = match (given, self.words.integers.definition(variable)) {
            (Some(&given), _) => BigInt::from(given),
            (None, Some((of, k))) => self.of(&of) >> k,
            (None, None) => {
                let bits = &self.words.bits_of[&Poly::variable(variable)];
                BigInt::from(u8::from(self.edge(bits[0])))
            }
        };
        self.known.borrow_mut().insert(variable, value.clone());
        value
    }

    fn edge(&self, edge: Edge) -> bool {
        let node = self.bits.graph.nodes[edge.node() as usize];
        let at = |raw| self.edge(Edge::from_raw(raw));
        let value = match node.kind {
            Kind::And => at(node.a) & at(node.b),
            Kind::Xor => at(node.a) ^ at(node.b),
            Kind::Const => false,
            _ => {
                let (word, place) = self.words.places[&edge.node()];
                let value = self.of(&self.words.words[word].integer.poly) >> place;
                value & BigInt::from(1) == BigInt::from(1)
            }
        };
        value != edge.is_complement()
    }
}

#[test]
fn words_have_the_values_of_their_operators() {
    let ops = [
        (Op::Add, 2),
        (Op::Sub, 2),
        (Op::Mul, 2),
        (Op::MulHigh, 2),
        (Op::Less, 2),
        (Op::And, 2),
        (Op::Or, 2),
        (Op::Xor, 2),
        (Op::Not, 1),
        (Op::Shl(13), 1),
        (Op::Shr(51), 1),
        (Op::Sar(3), 1),
        (Op::Rotl(20), 1),
        (Op::Bitmask(0), 1),
        (Op::Bitmask(63), 1),
    ];
    let mut random = Random::new(4);
    for round in 0..60 {
        let mut bits = Bits::new(Graph::new(None));
        let given: Vec<u64> = (0..3).map(|_| random.word() >> (random.below(2) * 40)).collect();
        let mut words: Vec<Vec<Cell>> = Vec::new();
        for _ in &given {
            let edges = bits.free_word(64, u64::MAX);
            words.push(cells(&bits, &edges, Instance::Every));
        }
        words.push(bits.number(0x7_ffff_ffff_ffff, 64));
        words.push(bits.number(19, 64));
        let mut values = given.clone();
        values.extend([0x7_ffff_ffff_ffff, 19]);
        for _ in 0..12 {
            let (op, arity) = &ops[random.below(ops.len())];
            let args: Vec<usize> = (0..*arity).map(|_| random.below(words.len())).collect();
            let operands: Vec<&Vec<Cell>> = args.iter().map(|&at| &words[at]).collect();
            let word = operated(&mut bits, op, 64, &operands).expect("it is modelled");
            let numbers: Vec<u64> = args.iter().map(|&at| values[at]).collect();
            values.push(op.eval(64, &numbers));
            words.push(word);
        }
        for (word, &expected) in words.iter().zip(&values) {
            let Some((edges, _)) = gathered(&bits, &[word]) else { continue };
            let mut state = bits.words.take().expect("words are integers");
            let integer = state.integer(&mut bits, &edges[0], false);
            let all =
                Values { bits: &bits, words: &state, given: &given, known: Default::default() };
            let bit = |(at, &edge): (usize, &Edge)| u64::from(all.edge(edge)) << at;
            let found: u64 = edges[0].iter().enumerate().map(bit).sum();
            assert_eq!(found, expected, "bits of round {round}");
            if let Some(integer) = integer {
                assert_eq!(all.of(&integer.poly), BigInt::from(expected), "round {round}");
                assert!(integer.high >= BigUint::from(expected), "round {round}");
                assert!(integer.low <= BigUint::from(expected), "round {round}");
            }
            bits.words = Some(state);
        }
    }
}

#[test]
fn masks_of_a_bit_are_copies_of_it() {
    let mut bits = Bits::new(Graph::new(None));
    let edges = bits.free_word(64, 1);
    let bit = cells(&bits, &edges, Instance::Every);
    let [zero, one, two] = [0, 1, 2].map(|value| bits.number(value, 64));
    let mask = bits.difference(&zero, &bit).0;
    assert_eq!(mask, vec![bit[0]; 64]);
    let other = bits.difference(&bit, &one).0;
    assert_eq!(other, vec![bits.not(bit[0]); 64]);
    let less = bits.difference(&bit, &two).0;
    assert_eq!((less[0], less[1]), (bit[0], bits.constant(true)));
}

#[test]
fn words_joined_by_or_are_zero_if_their_sum_is() {
    let mut bits = Bits::new(Graph::new(None));
    let mut word = |most: u64| {
        let edges = bits.free_word(64, most);
        cells(&bits, &edges, Instance::Number(3))
    };
    let (a, b, c) = (word(1 << 40), word(1 << 50), word(u64::MAX));
    let [zero, one] = [0, 1].map(|value| bits.number(value, 64));
    let joined = |bits: &mut Bits, a: &[Cell], b: &[Cell]| -> Vec<Cell> {
        a.iter().zip(b).map(|(&a, &b)| bits.or(a, b)).collect()
    };
    let both = joined(&mut bits, &a, &b);
    let sum = bits.sum(&a, &b, false).0;
    let wanted = bits.difference(&sum, &one).1;
    assert_eq!(bits.equal(&both, &zero), wanted);
    let more = bits.sum(&sum, &one, false).0;
    let other = bits.difference(&more, &one).1;
    assert_ne!(bits.equal(&both, &zero), other);
    // A sum that may wrap is zero more often than its words are.
    let both = joined(&mut bits, &b, &c);
    let sum = bits.sum(&b, &c, false).0;
    let wrapped = bits.difference(&sum, &one).1;
    assert_ne!(bits.equal(&both, &zero), wrapped);
    // One word in another order of its bits, and bits that are complements.
    let mut turned = both.clone();
    turned.rotate_left(1);
    assert_ne!(bits.equal(&turned, &zero), wrapped);
    let flipped: Vec<Cell> = a.iter().map(|&bit| bits.not(bit)).collect();
    let both = joined(&mut bits, &flipped, &b);
    assert_ne!(bits.equal(&both, &zero), wanted);
}

#[test]
fn words_that_differ_are_not_equal() {
    let mut bits = Bits::new(Graph::new(None));
    let mut word = || {
        let edges = bits.free_word(64, u64::MAX);
        cells(&bits, &edges, Instance::Number(0))
    };
    let (a, b) = (word(), word());
    let other: Vec<Cell> = a
        .iter()
        .map(|cell| Cell::new(cell.edge().expect("an edge"), Instance::Number(1)))
        .collect();
    let zero = bits.constant(false);
    let sum = bits.sum_with(&a, &b, zero);
    let turned = bits.sum_with(&b, &a, zero);
    assert!(bits.are_equal(&sum.0, &turned.0) && sum.1 == turned.1);
    assert!(!bits.are_equal(&sum.0, &a));
    assert!(!bits.are_equal(&a, &other));
    // One instance and another do not meet.
    assert_eq!(bits.sum_with(&other, &b, zero).0, vec![Cell::OPAQUE; 64]);
    let product = bits.whole_product(&a, &b);
    let nearly = bits.sum_with(&product[64..], &vec![zero; 64], sum.1);
    assert!(!bits.are_equal(&product[64..], &nearly.0));
    let back = bits.difference_with(&nearly.0, &vec![zero; 64], sum.1);
    assert!(bits.are_equal(&product[64..], &back.0));
}

#[test]
fn bits_are_equal_however_they_are_joined() {
    let mut bits = Bits::new(Graph::new(None));
    let word: Vec<Cell> = (0..4)
        .map(|_| {
            let edges = bits.free_word(64, 1);
            cells(&bits, &edges[..1], Instance::Every)[0]
        })
        .collect();
    let [a, b, c, d] = word[..] else { unreachable!("four bits") };
    // (a | b) & c as one instruction makes it, with its operands in two orders, and as two make it.
    let one = bits.function(0xa8, [a, b, c]);
    let turned = bits.function(0xe0, [c, b, a]);
    let either = bits.or(a, b);
    let two = bits.and(either, c);
    assert!(bits.are_equal(&[one], &[turned]) && bits.are_equal(&[one], &[two]));
    let other = bits.and(either, d);
    let neither = bits.not(two);
    let both = bits.and(a, b);
    let less = bits.and(both, c);
    for wrong in [other, neither, less, either, c] {
        assert!(!bits.are_equal(&[one], &[wrong]));
    }
    // c & (1 - (a & b)) by arithmetic and by a choice: of c without b, if a, and of c.
    let [mut word, unit] = [0, 1].map(|value| bits.number(value, 64));
    word[0] = both;
    let rest = bits.difference(&unit, &word).0[0];
    let taken = bits.and(c, rest);
    let not = bits.not(b);
    let without = bits.and(c, not);
    let chosen = [a, b].map(|bit| bits.function(0xca, [bit, without, c]));
    assert!(bits.are_equal(&[taken], &chosen[..1]) && !bits.are_equal(&[taken], &chosen[1..]));
}

#[test]
fn what_a_bit_chooses_is_no_longer_than_what_it_chooses_from() {
    let mut bits = Bits::new(Graph::new(None));
    let mut word = |most: u64| {
        let edges = bits.free_word(64, most);
        cells(&bits, &edges, Instance::Every)
    };
    let (x, y, bit, other) = (word(1000), word(900), word(1)[0], word(1)[0]);
    let masked = |bits: &mut Bits, word: &[Cell], bit: Cell| -> Vec<Cell> {
        word.iter().map(|&cell| bits.and(cell, bit)).collect()
    };
    let not = bits.not(bit);
    let (a, b) = (masked(&mut bits, &x, not), masked(&mut bits, &y, bit));
    let chosen = bits.sum(&a, &b, false).0;
    assert_eq!(bits.greatest(&chosen), Some(1000));
    let c = masked(&mut bits, &y, other);
    let either = bits.sum(&a, &c, false).0;
    assert_eq!(bits.greatest(&either), Some(1900));
}
