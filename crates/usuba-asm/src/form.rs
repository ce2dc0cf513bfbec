//! Forms of instructions: the assembly text of a row, parsed.
//!
//! ```text
//! vpternlog{e} ${k}, {2m}, {1}, {=0}     ternary: any operand may be the result's register
//! vpadd{l} {1m}, {0}, {d}                commutes; {1} may be memory or a broadcast
//! ```

use usuba::isa::{Inst, Row};

/// A register that an instruction takes besides the operands of its operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// The register that the immediate describes.
    Image,
    Zeros,
    Ones,
}

/// An operand of an instruction, in the order of its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Imm,
    /// A source: an index of [`Form::sources`].
    Source(u8),
    Result,
    /// The result, in the register of this source.
    Tied(u8),
    /// The mask register.
    Mask,
    /// The operand before it changes only where the mask says so.
    Masked,
}

/// A source of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// An operand of the row.
    Operand(u8),
    Given(Given),
}

/// An instruction on lanes of one width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Form {
    pub inst: Inst,
    /// Bits of a lane.
    pub lane: u8,
    /// Complete instructions before it, with `{0}` and `{1}` for sources and `{k}` for the immediate.
    pub before: &'static str,
    /// Its name; `{e}` is open.
    pub name: String,
    pub operands: Vec<Operand>,
    pub sources: Vec<Source>,
    /// The source that may be memory.
    pub memory: Option<u8>,
    /// The source whose register becomes the result.
    pub tied: Option<u8>,
    /// Two sources that may change places.
    pub commutes: Option<(u8, u8)>,
}

impl Form {
    /// The form of a row on lanes of `lane` bits; `None` if it has no text in assembly language.
    pub fn of(row: &'static Row, lane: u8) -> Option<Form> {
        if row.asm.is_empty() {
            return None;
        }
        let (before, text) = row.asm.rsplit_once("; ").unwrap_or(("", row.asm));
        let (name, operands) = text.split_once(' ')?;
        let mut form = Form {
            inst: row.inst,
            lane,
            before,
            name: suffixed(name, lane),
            operands: Vec::new(),
            sources: Vec::new(),
            memory: None,
            tied: None,
            commutes: None,
        };
        // Sources have the numbers of the row's operands, then the registers that are given.
        for at in 0..arity(row.asm) {
            form.sources.push(Source::Operand(at));
        }
        for part in operands.replace("${k}", "$k").split(", ") {
            form.part(part);
        }
        form.commutes = match row.inst {
            Inst::And | Inst::Or | Inst::Xor | Inst::Add | Inst::Mul | Inst::MulWide => {
                Some((0, 1))
            }
            Inst::Equal => Some((0, 1)),
            Inst::MulAdd52 | Inst::MulAddHigh52 => Some((1, 2)),
            _ => None,
        };
        Some(form)
    }

    fn part(&mut self, part: &str) {
        if let Some(masked) = part.strip_suffix("{mask}") {
            self.part(masked);
            return self.operands.push(Operand::Masked);
        }
        let place = part.trim_start_matches('{').trim_end_matches('}');
        let (place, is_memory) = match place.strip_suffix('m') {
            Some(place) => (place, true),
            None => (place, false),
        };
        let operand = match place {
            "$k" => Operand::Imm,
            "%k1" => Operand::Mask,
            "d" => Operand::Result,
            "i" => self.given(Given::Image),
            "zeros" => self.given(Given::Zeros),
            "ones" => self.given(Given::Ones),
            _ => match place.strip_prefix('=') {
                Some(at) => {
                    self.tied = Some(number(at));
                    Operand::Tied(number(at))
                }
                None => Operand::Source(number(place)),
            },
        };
        if let (Operand::Source(at), true) = (operand, is_memory) {
            self.memory = Some(at);
        }
        self.operands.push(operand);
    }

    fn given(&mut self, given: Given) -> Operand {
        self.sources.push(Source::Given(given));
        Operand::Source(self.sources.len() as u8 - 1)
    }

    /// Whether a memory operand may be elements of this many bytes that the load broadcasts.
    pub fn broadcasts(&self, bytes: u8) -> bool {
        let whole = self.name.contains("{e}");
        matches!(bytes, 4 | 8) && (whole || self.lane == 8 * bytes)
    }

    /// Whether it computes any function of three bits.
    pub fn is_ternary(&self) -> bool {
        self.inst == Inst::Lut3
    }
}

/// The number of an operand of a row.
fn number(digit: &str) -> u8 {
    digit.parse().expect("a place of a row is an operand, an immediate or a result")
}

/// Operands of the operator that the text names.
fn arity(asm: &str) -> u8 {
    let has = |at: u8| {
        let (plain, tied) = (format!("{{{at}"), format!("{{={at}"));
        asm.contains(&plain) || asm.contains(&tied)
    };
    (0..3).filter(|&at| has(at)).count() as u8
}

fn suffixed(name: &str, lane: u8) -> String {
    let letter = match lane {
        8 => "b",
        16 => "w",
        32 => "d",
        _ => "q",
    };
    let pair = if lane == 64 { "qdq" } else { "dq" };
    name.replace("{l}", letter).replace("{z}", pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::isa;

    /// A place that is misspelt would be read as another one.
    #[test]
    fn every_text_has_a_result_and_known_places() {
        for target in isa::all() {
            for row in target.all_rows().filter(|row| !row.asm.is_empty()) {
                for lane in row.widths() {
                    let form = Form::of(row, lane).expect("it has a text");
                    let results = form.operands.iter();
                    let results =
                        results.filter(|o| matches!(o, Operand::Result | Operand::Tied(_))).count();
                    assert_eq!(results, 1, "{}", row.asm);
                    let named = form.operands.iter().filter(|o| matches!(o, Operand::Source(_)));
                    let before = row.asm.split_once("; ").is_some_and(|(b, _)| b.contains("{0"));
                    assert!(before || named.count() + form.tied.iter().count() >= 1, "{}", row.asm);
                }
            }
        }
    }
}
