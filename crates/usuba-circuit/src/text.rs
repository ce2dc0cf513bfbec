//! Circuits as text: the form in which the database keeps them.
//!
//! ```text
//! 4 bits: 0&1 4^2 ~3 ~5&6 96(0,1,7) -> 8 4 5
//! ```
//!
//! Wires are numbers, inputs first; each gate defines the next wire. `~a` is a NOT, `~a&b` an
//! ANDN, `t(a,b,c)` a LUT3 whose table `t` is two hexadecimal digits, `zero` and `one` are the
//! constants. After `->` stand the outputs. Any white space separates.

use std::fmt;

use crate::{Circuit, Gate, Wire};

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Gate::Zero => write!(f, "zero"),
            Gate::One => write!(f, "one"),
            Gate::Not(a) => write!(f, "~{a}"),
            Gate::And(a, b) => write!(f, "{a}&{b}"),
            Gate::Or(a, b) => write!(f, "{a}|{b}"),
            Gate::Xor(a, b) => write!(f, "{a}^{b}"),
            Gate::Andn(a, b) => write!(f, "~{a}&{b}"),
            Gate::Lut3(t, a, b, c) => write!(f, "{t:02x}({a},{b},{c})"),
        }
    }
}

impl fmt::Display for Circuit {
    /// In lines of at most 100 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = format!("{} bits:", self.inputs);
        let gates = self.gates.iter().map(Gate::to_string);
        let outputs = self.outputs.iter().map(Wire::to_string);
        for item in gates.chain(["->".to_string()]).chain(outputs) {
            if line.len() + 1 + item.len() > 100 {
                writeln!(f, "{line}")?;
                line = item;
            } else {
                line.push(' ');
                line.push_str(&item);
            }
        }
        write!(f, "{line}")
    }
}

fn gate(word: &str) -> Option<Gate> {
    let two = |text: &str, op: char| {
        let (a, b) = text.split_once(op)?;
        Some((a.parse().ok()?, b.parse().ok()?))
    };
    match word {
        "zero" => return Some(Gate::Zero),
        "one" => return Some(Gate::One),
        _ => {}
    }
    if let Some(rest) = word.strip_prefix('~') {
        return match two(rest, '&') {
            Some((a, b)) => Some(Gate::Andn(a, b)),
            None => rest.parse().ok().map(Gate::Not),
        };
    }
    if let Some((table, operands)) = word.strip_suffix(')').and_then(|word| word.split_once('(')) {
        let operands: Result<Vec<Wire>, _> = operands.split(',').map(str::parse).collect();
        let [a, b, c] = operands.ok()?.try_into().ok()?;
        return Some(Gate::Lut3(u8::from_str_radix(table, 16).ok()?, a, b, c));
    }
    let and = two(word, '&').map(|(a, b)| Gate::And(a, b));
    let or = || two(word, '|').map(|(a, b)| Gate::Or(a, b));
    let xor = || two(word, '^').map(|(a, b)| Gate::Xor(a, b));
    and.or_else(or).or_else(xor)
}

/// The circuit that a text says; `None` if it is not in the form above. Wires are not checked.
pub fn parse(text: &str) -> Option<Circuit> {
    let (inputs, rest) = text.split_once(" bits:")?;
    let (gates, outputs) = rest.split_once("->")?;
    Some(Circuit {
        inputs: inputs.trim().parse().ok()?,
        gates: gates.split_whitespace().map(gate).collect::<Option<_>>()?,
        outputs: outputs.split_whitespace().map(|w| w.parse().ok()).collect::<Option<_>>()?,
    })
}
