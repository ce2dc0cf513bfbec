//! Linear forms: sums of variables with factors, over the integers.
//!
//! ```text
//! n = 128 q + r          n / 128 has the remainder r, if 0 <= r < 128
//! ```
//!
//! A register that holds a form holds it modulo 2^64, or 2^32 where it has 32 bits.
//!
//! *Limits:* forms and their products with constants; `VARIABLES` variables.

/// Variables of a proof, at most.
pub const VARIABLES: usize = 24;

/// A sum of variables with factors, and a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Form {
    pub constant: i64,
    pub terms: [i64; VARIABLES],
}

/// The greatest common divisor, with some sign.
pub fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a.wrapping_rem(b));
    }
    a
}

impl Form {
    pub fn number(constant: i64) -> Form {
        Form { constant, ..Form::default() }
    }

    pub fn variable(at: usize) -> Form {
        let mut form = Form::default();
        form.terms[at] = 1;
        form
    }

    /// The value, if it depends on no variable.
    pub fn value(self) -> Option<i64> {
        (self.terms == [0; VARIABLES]).then_some(self.constant)
    }

    /// `None` if a factor overflows.
    pub fn plus(self, other: Form) -> Option<Form> {
        let mut sum = Form::number(self.constant.checked_add(other.constant)?);
        for (at, term) in sum.terms.iter_mut().enumerate() {
            *term = self.terms[at].checked_add(other.terms[at])?;
        }
        Some(sum)
    }

    /// `None` if a factor overflows.
    pub fn times(self, factor: i64) -> Option<Form> {
        let mut product = Form::number(self.constant.checked_mul(factor)?);
        for (at, term) in product.terms.iter_mut().enumerate() {
            *term = self.terms[at].checked_mul(factor)?;
        }
        Some(product)
    }

    /// `None` if a factor overflows.
    pub fn minus(self, other: Form) -> Option<Form> {
        self.plus(other.times(-1)?)
    }

    /// `None` if a factor overflows.
    pub fn opposite(&self) -> Option<Form> {
        self.times(-1)
    }

    /// The form with the remainders of all factors by a positive divisor. Factors have the remainders
    /// of least absolute value, so that the rest has few values.
    pub(crate) fn remainder(mut self, divisor: i64) -> Form {
        self.constant = self.constant.rem_euclid(divisor);
        for factor in &mut self.terms {
            let rest = factor.rem_euclid(divisor);
            *factor = if rest > divisor / 2 { rest - divisor } else { rest };
        }
        self
    }

    /// The greatest common divisor of its factors; 1 if it has none.
    pub(crate) fn step(self) -> i64 {
        Form { constant: 0, ..self }.content().max(1)
    }

    /// The form divided by the greatest common divisor of its factors, rounded down.
    pub(crate) fn rounded(mut self) -> Form {
        let divisor = self.step();
        self.constant = self.constant.div_euclid(divisor);
        self.terms.iter_mut().for_each(|factor| *factor /= divisor);
        self
    }

    /// The form without its constant, divided by the greatest common divisor of its factors.
    pub fn primitive(self) -> Form {
        Form { constant: 0, ..self }.rounded()
    }

    /// The greatest common divisor of its constant and its factors; 0 of zero, and 1 if it has no place
    /// in a number.
    pub fn content(self) -> i64 {
        self.terms.into_iter().fold(self.constant, gcd).checked_abs().unwrap_or(1)
    }

    /// A multiple of a divisor, divided by it.
    pub fn over(mut self, divisor: i64) -> Form {
        self.constant /= divisor;
        self.terms.iter_mut().for_each(|factor| *factor /= divisor);
        self
    }

    /// With another form in the place of a variable.
    pub fn with(self, variable: usize, other: Form) -> Option<Form> {
        let factor = self.terms[variable];
        let mut rest = self;
        rest.terms[variable] = 0;
        rest.plus(other.times(factor)?)
    }
}
