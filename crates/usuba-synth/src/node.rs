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
use usuba::ir::print;

/// The constants, of the first input.
const ZERO: &str = "(x[0] ^ x[0])";
const ONES: &str = "~(x[0] ^ x[0])";

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
            Gate::Zero => ZERO.to_string(),
            Gate::One => ONES.to_string(),
            Gate::Not(a) => format!("~{}", wire(a)),
            Gate::And(a, b) => format!("{} & {}", wire(a), wire(b)),
            Gate::Or(a, b) => format!("{} | {}", wire(a), wire(b)),
            Gate::Xor(a, b) => format!("{} ^ {}", wire(a), wire(b)),
            Gate::Andn(a, b) => format!("~{} & {}", wire(a), wire(b)),
            Gate::Lut3(table, a, b, c) => {
                let [a, b, c] = [a, b, c].map(wire);
                print::lut3(table, [&a, &b, &c], ZERO, ONES)
            }
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
