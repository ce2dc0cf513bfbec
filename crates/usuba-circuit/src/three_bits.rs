//! Any function of three bits as an expression of and, or, xor, andn and not.
//!
//! ```text
//! 0xe8  →  (b & c) | (a & (b ^ c))       (majority)
//! ```
//!
//! The cheapest expression tree of every one of the 256 functions is found once, by relaxing
//! costs until nothing improves, like shortest paths. Sharing inside an expression is not
//! counted, so a few functions have a cheaper circuit with sharing than the tree found here.

use std::sync::OnceLock;

/// How the cheapest tree of a function is made at its root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Operand 0, 1 or 2.
    Operand(u8),
    Zero,
    Ones,
    /// The complement of the function with this table.
    Not(u8),
    And(u8, u8),
    Or(u8, u8),
    Xor(u8, u8),
    /// `~a & b`
    Andn(u8, u8),
}

#[derive(Clone, Copy)]
struct Best {
    cost: u32,
    form: Form,
}

/// The root of the cheapest tree for `table`, whose bit `4a + 2b + c` is the value at (a, b, c).
/// `andn` says whether `~a & b` is one instruction; otherwise it counts as two.
pub fn cheapest(table: u8, andn: bool) -> Form {
    static WITH: OnceLock<Vec<Best>> = OnceLock::new();
    static WITHOUT: OnceLock<Vec<Best>> = OnceLock::new();
    let all = if andn { WITH.get_or_init(|| relax(1)) } else { WITHOUT.get_or_init(|| relax(2)) };
    all[table as usize].form
}

fn relax(andn: u32) -> Vec<Best> {
    let unknown = Best { cost: u32::MAX / 4, form: Form::Zero };
    let mut best = vec![unknown; 256];
    let free = [
        (0xf0, Form::Operand(0)),
        (0xcc, Form::Operand(1)),
        (0xaa, Form::Operand(2)),
        (0, Form::Zero),
    ];
    for (table, form) in free {
        best[table] = Best { cost: 0, form };
    }
    // A register of ones costs a load where a register of zeros does not.
    best[0xff] = Best { cost: 1, form: Form::Ones };
    loop {
        let mut better = false;
        let mut offer = |table: u8, cost: u32, form: Form, best: &mut Vec<Best>| {
            if cost < best[table as usize].cost {
                best[table as usize] = Best { cost, form };
                better = true;
            }
        };
        for f in 0..=255u8 {
            let cost_f = best[f as usize].cost;
            offer(!f, cost_f + 1, Form::Not(f), &mut best);
            for g in 0..=255u8 {
                let cost = cost_f + best[g as usize].cost + 1;
                if cost >= unknown.cost {
                    continue;
                }
                offer(f & g, cost, Form::And(f, g), &mut best);
                offer(f | g, cost, Form::Or(f, g), &mut best);
                offer(f ^ g, cost, Form::Xor(f, g), &mut best);
                offer(!f & g, cost + andn - 1, Form::Andn(f, g), &mut best);
            }
        }
        if !better {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(table: u8, andn: bool) -> u8 {
        match cheapest(table, andn) {
            Form::Operand(i) => [0xf0, 0xcc, 0xaa][i as usize],
            Form::Zero => 0,
            Form::Ones => 0xff,
            Form::Not(f) => !meaning(f, andn),
            Form::And(f, g) => meaning(f, andn) & meaning(g, andn),
            Form::Or(f, g) => meaning(f, andn) | meaning(g, andn),
            Form::Xor(f, g) => meaning(f, andn) ^ meaning(g, andn),
            Form::Andn(f, g) => !meaning(f, andn) & meaning(g, andn),
        }
    }

    #[test]
    fn every_function_has_a_tree_that_computes_it() {
        for table in 0..=255 {
            assert_eq!(meaning(table, true), table);
            assert_eq!(meaning(table, false), table);
        }
    }
}
