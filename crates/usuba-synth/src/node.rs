//! A circuit as a node of the language.
//!
//! ```text
//! 3 bits: 0&2 ~1&3 -> 4 3      →     node f (x:v3) returns (y:v2)
//!                                    vars g:v1[2]
//!                                    let
//!                                      g[0] = x[0] & x[2];
//!                                      g[1] = ~x[1] & g[0];
//!                                      y = (g[1], g[0])
//!                                    tel
//! ```
//!
//! The language has no gates of three inputs: they are written with two, which the compiler puts
//! together again where the target has them.

use std::fmt::Write;

use usuba::circuit::{Circuit, Gate, Wire};

/// The text of a node called `name` that computes `circuit` on `v` words, `x[0]` being `i_0`.
pub fn node(name: &str, circuit: &Circuit) -> String {
    let inputs = circuit.inputs as usize;
    let wire = |w: Wire| match w as usize {
        w if w < inputs => format!("x[{w}]"),
        w => format!("g[{}]", w - inputs),
    };
    let mut text = format!("node {name} (x:v{inputs}) returns (y:v{})\n", circuit.outputs.len());
    if !circuit.gates.is_empty() {
        let _ = writeln!(text, "vars g:v1[{}]", circuit.gates.len());
    }
    text += "let\n";
    for (i, gate) in circuit.gates.iter().enumerate() {
        let made = match *gate {
            Gate::Zero => "x[0] ^ x[0]".to_string(),
            Gate::One => "~(x[0] ^ x[0])".to_string(),
            Gate::Not(a) => format!("~{}", wire(a)),
            Gate::And(a, b) => format!("{} & {}", wire(a), wire(b)),
            Gate::Or(a, b) => format!("{} | {}", wire(a), wire(b)),
            Gate::Xor(a, b) => format!("{} ^ {}", wire(a), wire(b)),
            Gate::Andn(a, b) => format!("~{} & {}", wire(a), wire(b)),
            Gate::Lut3(table, a, b, c) => lut3(table, [a, b, c].map(wire)),
        };
        let _ = writeln!(text, "  g[{i}] = {made};");
    }
    let outputs: Vec<String> = circuit.outputs.iter().map(|&w| wire(w)).collect();
    match &outputs[..] {
        [one] => _ = writeln!(text, "  y[0] = {one}"),
        many => _ = writeln!(text, "  y = ({})", many.join(", ")),
    }
    text + "tel\n"
}

/// A function of three operands as a sum: the function for `a = 0`, changed under `a`.
fn lut3(table: u8, [a, b, c]: [String; 3]) -> String {
    let (low, change) = (table & 15, table & 15 ^ table >> 4);
    let changed = match (change, lut2(change, &b, &c)) {
        (0, _) => None,
        (_, None) => Some(a),
        (_, Some(change)) => Some(format!("({a} & {change})")),
    };
    match (changed, lut2(low, &b, &c)) {
        (Some(changed), Some(low)) => format!("{low} ^ {changed}"),
        (Some(changed), None) if low == 0 => changed,
        (Some(changed), None) => format!("~{changed}"),
        (None, Some(low)) => low,
        (None, None) if low == 0 => "x[0] ^ x[0]".to_string(),
        (None, None) => "~(x[0] ^ x[0])".to_string(),
    }
}

/// A function of two operands in parentheses, bit `2b + c` of `table`; `None` for a constant.
fn lut2(table: u8, b: &str, c: &str) -> Option<String> {
    Some(match table {
        0 | 15 => return None,
        1 => format!("~({b} | {c})"),
        2 => format!("(~{b} & {c})"),
        3 => format!("~{b}"),
        4 => format!("(~{c} & {b})"),
        5 => format!("~{c}"),
        6 => format!("({b} ^ {c})"),
        7 => format!("~({b} & {c})"),
        8 => format!("({b} & {c})"),
        9 => format!("~({b} ^ {c})"),
        10 => c.to_string(),
        11 => format!("(~{b} | {c})"),
        12 => b.to_string(),
        13 => format!("(~{c} | {b})"),
        _ => format!("({b} | {c})"),
    })
}
