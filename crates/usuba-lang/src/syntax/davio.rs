//! Positive Davio expansion: Boolean functions of three operands as expressions of the language.
//!
//! ```text
//! f(a, b, c) = f(0, b, c) ^ a & (f(0, b, c) ^ f(1, b, c))
//! ```

use super::ast::{BinOp, Expr};

/// An expression for a function of three operands: bit `4a + 2b + c` of `table`. `constant` makes
/// the words without and with all bits set.
pub fn lut3(table: u8, [a, b, c]: [&Expr; 3], constant: &dyn Fn(bool) -> Expr) -> Expr {
    let (low, high) = (table & 15, table >> 4);
    let changed = match low ^ high {
        0 => return lut2(low, b, c, constant),
        15 => a.clone(),
        change => Expr::bin(BinOp::And, a.clone(), lut2(change, b, c, constant)),
    };
    match low {
        0 => changed,
        _ => Expr::bin(BinOp::Xor, lut2(low, b, c, constant), changed),
    }
}

/// A function of two operands: bit `2b + c` of `table`.
fn lut2(table: u8, b: &Expr, c: &Expr, constant: &dyn Fn(bool) -> Expr) -> Expr {
    let (b, c) = (|| b.clone(), || c.clone());
    match table & 15 {
        0 => constant(false),
        2 => Expr::bin(BinOp::And, Expr::complement(b()), c()),
        4 => Expr::bin(BinOp::And, b(), Expr::complement(c())),
        6 => Expr::bin(BinOp::Xor, b(), c()),
        8 => Expr::bin(BinOp::And, b(), c()),
        10 => c(),
        11 => Expr::bin(BinOp::Or, Expr::complement(b()), c()),
        12 => b(),
        13 => Expr::bin(BinOp::Or, b(), Expr::complement(c())),
        14 => Expr::bin(BinOp::Or, b(), c()),
        15 => constant(true),
        odd => Expr::complement(lut2(!odd, &b(), &c(), constant)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ast::{ExprKind, LinkKind};
    use super::*;

    #[test]
    fn lut3_expressions_have_their_table() {
        fn value(e: &Expr) -> u8 {
            match &e.kind {
                ExprKind::Int { value, .. } => *value as u8,
                ExprKind::Not(inner) => !value(inner),
                ExprKind::Chain(first, links) => links.iter().fold(value(first), |left, link| {
                    let LinkKind::Bin(op, right) = &link.kind else { panic!("{link:?}") };
                    match op {
                        BinOp::And => left & value(right),
                        BinOp::Or => left | value(right),
                        BinOp::Xor => left ^ value(right),
                        other => panic!("{other:?}"),
                    }
                }),
                other => panic!("{other:?}"),
            }
        }
        let constant = |value| Expr::from(ExprKind::Int { value, ty: None });
        let [a, b, c] = [0xf0, 0xcc, 0xaa].map(constant);
        for table in 0..=255u8 {
            let e = lut3(table, [&a, &b, &c], &|set| constant(if set { 255 } else { 0 }));
            assert_eq!(value(&e), table);
        }
    }
}
