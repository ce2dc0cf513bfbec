//! Bit-blasting of comparisons, decided by a SAT solver with replayed RUP proofs.
//!
//! ```text
//! h + 19 < 2^255 + c·2^255      the last carries of two chains are equal
//! fe(r) < 2^255 - 19            after a conditional subtraction
//! ```
//!
//! A number becomes a vector of as many bits as its bound has. A product of two numbers that are
//! not constant becomes a free number in its interval, so the solver never searches a multiplier.
//!
//! *Soundness:* a proof about free numbers holds for the products, too. An assignment is only a
//! candidate: the input that it gives is run.
//!
//! *Limits:* `CONFLICTS` and `MAX_BITS`.

use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

use super::numbers::{Def, Num, Numbers};
use usuba_sat::{Formula, Lit};

/// The number of conflicts after which the answer is unknown.
const CONFLICTS: u64 = 4_000;

/// The most bits of a number.
const MAX_BITS: u64 = 1_200;

/// A comparison of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    Equal,
    Less,
    AtMost,
}

/// A comparison that is assumed or to be shown.
pub type Fact = (Compare, Num, Num);

struct Bits<'n> {
    numbers: &'n Numbers,
    formula: Formula,
    words: FxHashMap<Num, Vec<Lit>>,
}

/// The answer to a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The solver found no counterexample, and its proof was replayed.
    Holds,
    /// The goal may fail where free numbers have these values.
    Fails(FxHashMap<Num, BigUint>),
    Open,
}

/// Whether `goal` holds wherever all `facts` do.
pub fn ask(numbers: &Numbers, facts: &[Fact], goal: Fact) -> Answer {
    let mut bits = Bits { numbers, formula: Formula::new(), words: FxHashMap::default() };
    let mut ok = bits.prepare(&[goal.1, goal.2]);
    for fact in facts {
        // A fact that is too long is left out, which only weakens the assumptions.
        if bits.prepare(&[fact.1, fact.2]) {
            let literal = bits.literal(*fact);
            bits.formula.clause(&[literal]);
        }
    }
    ok &= bits.words.len() < 20_000;
    if !ok {
        return Answer::Open;
    }
    let literal = bits.literal(goal);
    bits.formula.clause(&[!literal]);
    let model = match usuba_sat::solve(&bits.formula, CONFLICTS) {
        usuba_sat::Answer::Proved(_) => return Answer::Holds,
        usuba_sat::Answer::Unknown(_) => return Answer::Open,
        usuba_sat::Answer::Refuted(model) => model,
    };
    let free = bits.words.iter().filter(|(n, _)| numbers.get(**n).def == Def::Any);
    let value = |word: &[Lit]| {
        let mut value = BigUint::ZERO;
        for (place, &bit) in word.iter().enumerate() {
            value.set_bit(place as u64, model.holds(bit));
        }
        value
    };
    Answer::Fails(free.map(|(&n, word)| (n, value(word))).collect())
}

impl Bits<'_> {
    fn literal(&mut self, (compare, a, b): Fact) -> Lit {
        let (a, b) = (self.words[&a].clone(), self.words[&b].clone());
        match compare {
            Compare::Equal => self.formula.equal(&a, &b),
            Compare::Less => self.formula.less(&a, &b),
            Compare::AtMost => !self.formula.less(&b, &a),
        }
    }

    /// Bit-blasts numbers and all numbers that define them; false if some are too long.
    fn prepare(&mut self, wanted: &[Num]) -> bool {
        let mut stack = wanted.to_vec();
        let (mut needed, mut seen) = (Vec::new(), FxHashSet::default());
        while let Some(n) = stack.pop() {
            if self.words.contains_key(&n) || !seen.insert(n) {
                continue;
            }
            if self.numbers.get(n).high.bits() > MAX_BITS {
                return false;
            }
            needed.push(n);
            stack.extend(self.parts(n));
        }
        // Numbers are made of earlier ones.
        needed.sort_unstable();
        for n in needed {
            let word = self.word(n);
            self.words.insert(n, word);
        }
        true
    }

    /// The numbers that define the bits of a number.
    fn parts(&self, n: Num) -> Vec<Num> {
        match &self.numbers.get(n).def {
            Def::Product(a, b) if self.factor(*a, *b).is_none() => Vec::new(),
            _ => self.numbers.operands(n),
        }
    }

    /// The constant or single-bit factor of a product, then the other factor.
    fn factor(&self, a: Num, b: Num) -> Option<(Num, Num)> {
        let easy = |n: Num| self.numbers.value(n).is_some() || self.numbers.is_bit(n);
        if easy(a) {
            Some((a, b))
        } else if easy(b) {
            Some((b, a))
        } else {
            None
        }
    }

    fn word(&mut self, n: Num) -> Vec<Lit> {
        let number = self.numbers.get(n);
        let bits = number.high.bits() as usize;
        let of = |bits: &Self, n: &Num| bits.words[n].clone();
        let mut word = match &number.def {
            Def::Const(value) => constant(value),
            Def::Sum(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                self.formula.sum(&a, &b)
            }
            Def::Diff(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                let bits = a.len().max(b.len());
                let (a, b) = (self.formula.extended(&a, bits), self.formula.extended(&b, bits));
                self.formula.sub(&a, &b)
            }
            Def::Product(a, b) => match self.factor(*a, *b) {
                Some((factor, other)) => self.times(factor, other),
                None => self.any(n),
            },
            Def::Quotient(a, k) => of(self, a).into_iter().skip(*k as usize).collect(),
            Def::Remainder(a, k) => of(self, a).into_iter().take(*k as usize).collect(),
            Def::Less(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                vec![self.formula.less(&a, &b)]
            }
            Def::And(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                a.iter().zip(&b).map(|(&a, &b)| self.formula.and(a, b)).collect()
            }
            Def::Or(a, b) | Def::Xor(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                let bits = a.len().max(b.len());
                let (a, b) = (self.formula.extended(&a, bits), self.formula.extended(&b, bits));
                let or = matches!(number.def, Def::Or(..));
                let pairs = a.into_iter().zip(b);
                let gate = |f: &mut Formula, a, b| if or { f.or(a, b) } else { f.xor(a, b) };
                pairs.map(|(a, b)| gate(&mut self.formula, a, b)).collect()
            }
            Def::Any => self.any(n),
        };
        // Bits above the bound are zero in every run.
        word.truncate(bits);
        word
    }

    /// Fresh bits for a number that is known by its interval alone.
    fn any(&mut self, n: Num) -> Vec<Lit> {
        let number = self.numbers.get(n);
        let word = self.formula.word(number.high.bits() as usize);
        let high = constant(&number.high);
        let above = self.formula.less(&high, &word);
        self.formula.clause(&[!above]);
        if number.low > BigUint::ZERO {
            let below = self.formula.less(&word, &constant(&number.low));
            self.formula.clause(&[!below]);
        }
        word
    }

    /// The product by a constant, as a sum of shifts, or by a bit.
    fn times(&mut self, factor: Num, other: Num) -> Vec<Lit> {
        let word = self.words[&other].clone();
        let Some(value) = self.numbers.value(factor) else {
            let bit = self.words[&factor].first().copied().unwrap_or(Lit::FALSE);
            return word.into_iter().map(|b| self.formula.and(b, bit)).collect();
        };
        let mut product: Vec<Lit> = Vec::new();
        for place in (0..value.bits()).filter(|&place| value.bit(place)) {
            let shifted: Vec<Lit> = std::iter::repeat_n(Lit::FALSE, place as usize)
                .chain(word.iter().copied())
                .collect();
            product = match product.is_empty() {
                true => shifted,
                false => self.formula.sum(&product, &shifted),
            };
        }
        product
    }
}

/// A constant, its least significant bit first.
fn constant(value: &BigUint) -> Vec<Lit> {
    (0..value.bits()).map(|i| Lit::FALSE.flipped(value.bit(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(numbers: &Numbers, facts: &[Fact], goal: Fact) -> bool {
        ask(numbers, facts, goal) == Answer::Holds
    }

    #[test]
    fn a_carry_is_known_from_another() {
        // (x + 19) div 256 = (x + 19 c) div 256 for its own c, where x < 256.
        let mut n = Numbers::default();
        let x = n.any(0u8, 255u8);
        let nineteen = n.constant(19u8);
        let first = n.sum(x, nineteen);
        let (c, _) = n.split(first, 8);
        let again = n.product(c, nineteen);
        let second = n.sum(x, again);
        let (d, rest) = n.split(second, 8);
        assert!(holds(&n, &[], (Compare::Equal, c, d)));
        let p = n.constant(237u8);
        assert!(holds(&n, &[], (Compare::Less, rest, p)));
        let lower = n.constant(236u8);
        assert!(!holds(&n, &[], (Compare::Less, rest, lower)));
        // The number that is not below the modulus.
        let Answer::Fails(values) = ask(&n, &[], (Compare::Equal, rest, x)) else {
            panic!("it does not hold");
        };
        assert!(values[&x] >= BigUint::from(237u8));
        let fact = (Compare::Less, x, p);
        assert!(holds(&n, &[fact], (Compare::Equal, rest, x)));
    }

    #[test]
    fn products_are_any_numbers() {
        let mut n = Numbers::default();
        let (x, y) = (n.any(0u8, 15u8), n.any(0u8, 15u8));
        let product = n.product(x, y);
        let most = n.constant(226u8);
        assert!(holds(&n, &[], (Compare::Less, product, most)));
        let less = n.constant(225u8);
        assert!(!holds(&n, &[], (Compare::Less, product, less)));
    }
}
