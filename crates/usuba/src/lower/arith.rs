//! Bit-blasting of `+ - *` into circuits, for bitslicing. Bits come most significant first.

use super::scope::Scope;
use crate::ir::carryless::{self, Gate};
use crate::ir::{Op, Val};

/// Sum modulo 2^m: a ripple of full adders, five gates each.
pub(super) fn add(scope: &mut Scope, a: &[Val], b: &[Val]) -> Vec<Val> {
    ripple(scope, a, b, false)
}

/// Difference modulo 2^m: a ripple of full subtractors, five gates each.
pub(super) fn sub(scope: &mut Scope, a: &[Val], b: &[Val]) -> Vec<Val> {
    ripple(scope, a, b, true)
}

/// With x = a ^ b the digit is x ^ c. The next carry is c where a and b differ and a otherwise;
/// the next borrow is c where they agree and b otherwise, so both are one multiplexer.
fn ripple(scope: &mut Scope, a: &[Val], b: &[Val], borrow: bool) -> Vec<Val> {
    let mut out = Vec::with_capacity(a.len());
    let mut carry: Option<Val> = None;
    for (i, (&a, &b)) in a.iter().zip(b).enumerate().rev() {
        let x = scope.op(Op::Xor, 1, &[a, b]);
        let last = i == 0;
        match carry {
            None => {
                out.push(x);
                if !last {
                    carry = Some(match borrow {
                        true => scope.op(Op::Andn, 1, &[a, b]),
                        false => scope.op(Op::And, 1, &[a, b]),
                    });
                }
            }
            Some(c) => {
                out.push(scope.op(Op::Xor, 1, &[x, c]));
                if !last {
                    // Where a and b differ: c for a sum, b for a difference.
                    let (keep, take) = if borrow { (c, b) } else { (a, c) };
                    let change = scope.op(Op::Xor, 1, &[keep, take]);
                    let change = scope.op(Op::And, 1, &[x, change]);
                    carry = Some(scope.op(Op::Xor, 1, &[keep, change]));
                }
            }
        }
    }
    out.reverse();
    out
}

/// Product modulo 2^m by shift and add: row i is `a << i` where bit i of b is set.
pub(super) fn mul(scope: &mut Scope, a: &[Val], b: &[Val]) -> Vec<Val> {
    let m = a.len();
    let row = |scope: &mut Scope, i: usize| -> Vec<Val> {
        a[i..].iter().map(|&bit| scope.op(Op::And, 1, &[bit, b[m - 1 - i]])).collect()
    };
    let mut sum = row(scope, 0);
    for i in 1..m {
        let next = row(scope, i);
        let high = add(scope, &sum[..m - i], &next);
        sum.splice(..m - i, high);
    }
    sum
}

/// The upper half of a product: the low half of the product of the operands, zero-extended to
/// double length.
pub(super) fn mul_high(scope: &mut Scope, a: &[Val], b: &[Val]) -> Vec<Val> {
    let zero = scope.constant(1, 0);
    let widen = |x: &[Val]| -> Vec<Val> {
        std::iter::repeat_n(zero, x.len()).chain(x.iter().copied()).collect()
    };
    let (a, b) = (widen(a), widen(b));
    let mut product = mul(scope, &a, &b);
    product.truncate(product.len() / 2);
    product
}

/// The carry-less product, of twice the length; its top bit is zero.
pub(super) fn carryless(scope: &mut Scope, a: &[Val], b: &[Val]) -> Vec<Val> {
    let mut out = vec![scope.constant(1, 0)];
    out.extend(carryless::product(a, b, &mut |gate, x, y| {
        let op = if gate == Gate::And { Op::And } else { Op::Xor };
        scope.op(op, 1, &[x, y])
    }));
    out
}

/// Whether a is below b: the borrow of a - b.
pub(super) fn less(scope: &mut Scope, a: &[Val], b: &[Val]) -> Val {
    let zero = scope.constant(1, 0);
    let widen = |x: &[Val]| -> Vec<Val> { [zero].iter().chain(x).copied().collect() };
    let (a, b) = (widen(a), widen(b));
    sub(scope, &a, &b)[0]
}
