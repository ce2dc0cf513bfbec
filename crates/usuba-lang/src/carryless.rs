//! Carry-less products on bits: polynomials over the field of two elements.
//!
//! ```text
//! (a1 x + a0)(b1 x + b0) = p x² + (r ^ p ^ q) x + q     p = a1 b1, q = a0 b0, r = (a1 ^ a0)(b1 ^ b0)
//! ```
//!
//! Three products of halves take the place of four (Karatsuba). Polynomials of at most four
//! coefficients are multiplied term by term, which takes fewer gates.

/// A gate of two inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    And,
    Xor,
}

/// The longest polynomial that is multiplied term by term.
const SHORT: usize = 4;

/// The `2 n - 1` coefficients of the product of two polynomials of n coefficients, the highest
/// first; `gate` makes a gate.
pub fn product<V: Copy>(a: &[V], b: &[V], gate: &mut impl FnMut(Gate, V, V) -> V) -> Vec<V> {
    let n = a.len();
    if n <= SHORT || n % 2 == 1 {
        return term_by_term(a, b, gate);
    }
    let mut sums = |x: &[V], y: &[V]| -> Vec<V> {
        x.iter().zip(y).map(|(&x, &y)| gate(Gate::Xor, x, y)).collect()
    };
    let ((a1, a0), (b1, b0)) = (a.split_at(n / 2), b.split_at(n / 2));
    let (a2, b2) = (sums(a1, a0), sums(b1, b0));
    let (p, q) = (product(a1, b1, gate), product(a0, b0, gate));
    let mut middle = product(&a2, &b2, gate);
    for part in [&p, &q] {
        for (sum, &bit) in middle.iter_mut().zip(part) {
            *sum = gate(Gate::Xor, *sum, bit);
        }
    }
    // p and q have n - 1 coefficients; between them is the middle one of the product.
    let mut out = [&p[..], &middle[n / 2 - 1..n / 2], &q[..]].concat();
    for (at, &bit) in middle.iter().enumerate().filter(|(at, _)| *at != n / 2 - 1) {
        let sum = &mut out[n / 2 + at];
        *sum = gate(Gate::Xor, *sum, bit);
    }
    out
}

/// The same coefficients, each as a sum of terms from the lowest coefficient of `b` to its highest.
pub fn term_by_term<V: Copy>(a: &[V], b: &[V], gate: &mut impl FnMut(Gate, V, V) -> V) -> Vec<V> {
    let n = a.len();
    let column = |at: usize| (at.saturating_sub(n - 1)..=at.min(n - 1)).map(move |i| (i, at - i));
    (0..2 * n - 1)
        .map(|at| {
            let mut terms = column(at).map(|(i, j)| (a[i], b[j]));
            let (x, y) = terms.next().expect("a column has a term");
            let first = gate(Gate::And, x, y);
            terms.fold(first, |sum, (x, y)| {
                let term = gate(Gate::And, x, y);
                gate(Gate::Xor, sum, term)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;

    /// Each bit holds 64 cases.
    #[test]
    fn products_are_those_of_the_operators() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 32
        };
        for n in [1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64] {
            let [a, b]: [Vec<u64>; 2] = std::array::from_fn(|_| (0..n).map(|_| random()).collect());
            let mut gates = 0;
            let found = product(&a, &b, &mut |gate, x, y| {
                gates += 1;
                if gate == Gate::And { x & y } else { x ^ y }
            });
            assert_eq!(found.len(), 2 * n - 1);
            let mut plain = |gate, x, y| if gate == Gate::And { x & y } else { x ^ y };
            assert_eq!(found, term_by_term(&a, &b, &mut plain));
            assert!(gates <= 2 * n * n, "{gates} gates for {n} bits");
            for case in 0..64 {
                let word =
                    |bits: &[u64]| bits.iter().fold(0, |word, bit| word << 1 | bit >> case & 1);
                let args = [word(&a), word(&b)];
                let low = Op::Clmul.eval(n as u8, &args);
                let high = Op::ClmulHigh.eval(n as u8, &args);
                assert_eq!((word(&found[..n - 1]), word(&found[n - 1..])), (high, low));
            }
        }
    }
}
