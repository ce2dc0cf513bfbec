//! Bit-blasting: arithmetic on words as gates. A word is a list of bits, the least significant one
//! first, and stands for the number Σ bit[i]·2^i.
//!
//! ```text
//! x + y          a ripple-carry adder: sum = a ^ b ^ c, carry = majority(a, b, c) for each bit
//! x < y          the adder of x + ~y + 1 has no carry out
//! x · y          shift and add: the sum of x·2^i over the bits i of y that are set
//! ```
//!
//! Words have any length. `sum` and `product` are exact, as their results have enough bits for
//! every value; `add`, `sub` and `mul` are modulo 2^n for operands of n bits. A left shift by k
//! puts k times `FALSE` before the bits, and a right shift drops k bits.
//!
//! *Reference:* Kroening and Strichman, Decision Procedures, chapter on bit vectors.

use super::formula::{Formula, Lit};

impl Formula {
    /// A word of new variables.
    pub fn word(&mut self, bits: usize) -> Vec<Lit> {
        (0..bits).map(|_| self.variable()).collect()
    }

    /// `value` modulo 2^`bits`.
    pub fn constant(&self, bits: usize, value: u128) -> Vec<Lit> {
        let bit = |i: usize| i < 128 && value >> i & 1 == 1;
        (0..bits).map(|i| Lit::FALSE.flipped(bit(i))).collect()
    }

    /// The same number in `bits` bits, which are not fewer.
    pub fn extended(&self, x: &[Lit], bits: usize) -> Vec<Lit> {
        assert!(x.len() <= bits, "{} bits do not fit {bits}", x.len());
        let zeros = std::iter::repeat_n(Lit::FALSE, bits - x.len());
        x.iter().copied().chain(zeros).collect()
    }

    /// x + y + carry modulo 2^n, and the carry out, for operands of n bits each.
    pub fn add_with_carry(&mut self, x: &[Lit], y: &[Lit], carry: Lit) -> (Vec<Lit>, Lit) {
        assert_eq!(x.len(), y.len(), "operands of different length");
        let mut carry = carry;
        let mut sum = Vec::with_capacity(x.len());
        for (&a, &b) in x.iter().zip(y) {
            let half = self.xor(a, b);
            sum.push(self.xor(half, carry));
            carry = self.majority(a, b, carry);
        }
        (sum, carry)
    }

    /// x + y modulo 2^n, for operands of n bits each.
    pub fn add(&mut self, x: &[Lit], y: &[Lit]) -> Vec<Lit> {
        self.add_with_carry(x, y, Lit::FALSE).0
    }

    /// x - y modulo 2^n, for operands of n bits each.
    pub fn sub(&mut self, x: &[Lit], y: &[Lit]) -> Vec<Lit> {
        let flipped: Vec<Lit> = y.iter().map(|&bit| !bit).collect();
        self.add_with_carry(x, &flipped, Lit::TRUE).0
    }

    /// x · y modulo 2^n, for operands of n bits each.
    pub fn mul(&mut self, x: &[Lit], y: &[Lit]) -> Vec<Lit> {
        assert_eq!(x.len(), y.len(), "operands of different length");
        let mut product = vec![Lit::FALSE; x.len()];
        for (i, &factor) in y.iter().enumerate() {
            let term: Vec<Lit> = x[..x.len() - i].iter().map(|&b| self.and(b, factor)).collect();
            let high = self.add(&product[i..], &term);
            product[i..].copy_from_slice(&high);
        }
        product
    }

    /// x + y, exactly: one bit more than the longer operand.
    pub fn sum(&mut self, x: &[Lit], y: &[Lit]) -> Vec<Lit> {
        let bits = x.len().max(y.len()) + 1;
        let (x, y) = (self.extended(x, bits), self.extended(y, bits));
        self.add(&x, &y)
    }

    /// x · y, exactly: as many bits as both operands have.
    pub fn product(&mut self, x: &[Lit], y: &[Lit]) -> Vec<Lit> {
        let bits = x.len() + y.len();
        let mut product = vec![Lit::FALSE; bits];
        for (i, &factor) in y.iter().enumerate() {
            let term: Vec<Lit> = x.iter().map(|&b| self.and(b, factor)).collect();
            let term = self.extended(&term, bits - i);
            let high = self.add(&product[i..], &term);
            product[i..].copy_from_slice(&high);
        }
        product
    }

    /// Whether x < y as numbers; operands may differ in length.
    pub fn less(&mut self, x: &[Lit], y: &[Lit]) -> Lit {
        let bits = x.len().max(y.len());
        let (x, y) = (self.extended(x, bits), self.extended(y, bits));
        // x + (2^n - 1 - y) + 1 reaches 2^n if and only if x >= y.
        let flipped: Vec<Lit> = y.iter().map(|&bit| !bit).collect();
        !self.add_with_carry(&x, &flipped, Lit::TRUE).1
    }

    /// Whether x = y as numbers; operands may differ in length.
    pub fn equal(&mut self, x: &[Lit], y: &[Lit]) -> Lit {
        let bits = x.len().max(y.len());
        let (x, y) = (self.extended(x, bits), self.extended(y, bits));
        let same: Vec<Lit> = x.iter().zip(&y).map(|(&a, &b)| !self.xor(a, b)).collect();
        self.all(&same)
    }

    /// The bits of `x` where `condition` holds, else the bits of `y`, which has the same length.
    pub fn choose(&mut self, condition: Lit, x: &[Lit], y: &[Lit]) -> Vec<Lit> {
        assert_eq!(x.len(), y.len(), "operands of different length");
        x.iter().zip(y).map(|(&a, &b)| self.if_else(condition, a, b)).collect()
    }
}
