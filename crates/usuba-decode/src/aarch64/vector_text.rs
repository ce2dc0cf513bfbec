//! The text of instructions on vectors.

use std::fmt::{self, Display, Formatter};

use super::text::{lane, laned, name, scalar, signed, vector};
use super::vectors::expanded;
use super::{Gate, LaneShift, Lanewise, Long, OfLane, Permutation, Register, Vector};

impl Lanewise {
    fn name(self) -> &'static str {
        match self {
            Lanewise::Add => "add",
            Lanewise::Subtract => "sub",
            Lanewise::Multiply => "mul",
            Lanewise::MultiplyAdd => "mla",
            Lanewise::MultiplySubtract => "mls",
            Lanewise::Equal => "cmeq",
            Lanewise::Test => "cmtst",
            Lanewise::Greater => "cmgt",
            Lanewise::GreaterOrEqual => "cmge",
            Lanewise::Higher => "cmhi",
            Lanewise::HigherOrSame => "cmhs",
            Lanewise::Shift { signed: true } => "sshl",
            Lanewise::Shift { signed: false } => "ushl",
            Lanewise::Most { signed: true } => "smax",
            Lanewise::Most { signed: false } => "umax",
            Lanewise::Least { signed: true } => "smin",
            Lanewise::Least { signed: false } => "umin",
            Lanewise::AddPairs => "addp",
        }
    }
}

impl Gate {
    fn name(self) -> &'static str {
        match self {
            Gate::And => "and",
            Gate::AndNot => "bic",
            Gate::Or => "orr",
            Gate::OrNot => "orn",
            Gate::Xor => "eor",
            Gate::Choose => "bsl",
            Gate::InsertTrue => "bit",
            Gate::InsertFalse => "bif",
        }
    }
}

impl Long {
    fn name(self) -> &'static str {
        match self {
            Long::Add => "addl",
            Long::AddWide => "addw",
            Long::Subtract => "subl",
            Long::SubtractWide => "subw",
            Long::Multiply => "mull",
            Long::MultiplyAdd => "mlal",
            Long::MultiplySubtract => "mlsl",
            Long::Polynomial => "pmull",
        }
    }
}

impl Permutation {
    fn name(self) -> &'static str {
        match self {
            Permutation::Even => "uzp1",
            Permutation::Odd => "uzp2",
            Permutation::TransposeEven => "trn1",
            Permutation::TransposeOdd => "trn2",
            Permutation::ZipLow => "zip1",
            Permutation::ZipHigh => "zip2",
        }
    }
}

impl Display for Vector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use Vector::*;
        let half = |upper: bool| if upper { "2" } else { "" };
        match *self {
            Gate { gate, all, to, a, b } => {
                let [to, a, b] = [to, a, b].map(|register| vector(8, all, register));
                write!(f, "{} {to}, {a}, {b}", gate.name())
            }
            Lanewise { operation, lanes, to, a, b } => {
                let [to, a, b] = [to, a, b].map(|register| laned(lanes, register));
                write!(f, "{} {to}, {a}, {b}", operation.name())
            }
            ByElement { operation, lanes, to, a, b, at } => {
                let [to, a] = [to, a].map(|register| laned(lanes, register));
                write!(f, "{} {to}, {a}, {}", operation.name(), lane(lanes.bits, b, at))
            }
            Long { operation, signed: is_signed, bits, upper, to, a, b, at } => {
                let sign = match operation {
                    self::Long::Polynomial => String::new(),
                    _ => signed(is_signed).to_string(),
                };
                let to = match (operation, bits) {
                    (self::Long::Polynomial, 64) => format!("v{to}.1q"),
                    _ => vector(2 * bits, 128, to),
                };
                let parts = 64 << usize::from(upper);
                let a = match operation {
                    self::Long::AddWide | self::Long::SubtractWide => vector(2 * bits, 128, a),
                    _ => vector(bits, parts, a),
                };
                let b = match at {
                    Some(at) => lane(bits, b, at),
                    None => vector(bits, parts, b),
                };
                write!(f, "{sign}{}{} {to}, {a}, {b}", operation.name(), half(upper))
            }
            OfLane { operation, lanes, to, from } => {
                let [to, from] = [to, from].map(|register| laned(lanes, register));
                let (op, zero) = match operation {
                    self::OfLane::Not => ("not", ""),
                    self::OfLane::Bits => ("rbit", ""),
                    self::OfLane::Reverse(16) => ("rev16", ""),
                    self::OfLane::Reverse(32) => ("rev32", ""),
                    self::OfLane::Reverse(_) => ("rev64", ""),
                    self::OfLane::Count => ("cnt", ""),
                    self::OfLane::LeadingZeros => ("clz", ""),
                    self::OfLane::Absolute => ("abs", ""),
                    self::OfLane::Negate => ("neg", ""),
                    self::OfLane::Sign => ("fneg", ""),
                    self::OfLane::NoSign => ("fabs", ""),
                    self::OfLane::EqualZero => ("cmeq", ", #0"),
                    self::OfLane::GreaterZero => ("cmgt", ", #0"),
                    self::OfLane::GreaterOrEqualZero => ("cmge", ", #0"),
                    self::OfLane::LessZero => ("cmlt", ", #0"),
                    self::OfLane::LessOrEqualZero => ("cmle", ", #0"),
                };
                write!(f, "{op} {to}, {from}{zero}")
            }
            Narrow { bits, upper, shift, to, from } => {
                let (to, from) =
                    (vector(bits, 64 << usize::from(upper), to), vector(2 * bits, 128, from));
                match shift {
                    None => write!(f, "xtn{} {to}, {from}", half(upper)),
                    Some(count) => write!(f, "shrn{} {to}, {from}, #{count}", half(upper)),
                }
            }
            Shift { shift, lanes, to, from, count } => {
                let op = match shift {
                    LaneShift::Left => "shl",
                    LaneShift::Right { signed: true } => "sshr",
                    LaneShift::Right { signed: false } => "ushr",
                    LaneShift::RightAdd { signed: true } => "ssra",
                    LaneShift::RightAdd { signed: false } => "usra",
                    LaneShift::InsertLeft => "sli",
                    LaneShift::InsertRight => "sri",
                };
                write!(f, "{op} {}, {}, #{count}", laned(lanes, to), laned(lanes, from))
            }
            ShiftLong { signed: is_signed, bits, upper, to, from, count } => {
                let (to, from) =
                    (vector(2 * bits, 128, to), vector(bits, 64 << usize::from(upper), from));
                match count == bits {
                    true => write!(f, "shll{} {to}, {from}, #{count}", half(upper)),
                    false => {
                        let sign = signed(is_signed);
                        write!(f, "{sign}shll{} {to}, {from}, #{count}", half(upper))
                    }
                }
            }
            Permute { permutation, lanes, to, a, b } => {
                let [to, a, b] = [to, a, b].map(|register| laned(lanes, register));
                write!(f, "{} {to}, {a}, {b}", permutation.name())
            }
            Align { all, to, a, b, at } => {
                let [to, a, b] = [to, a, b].map(|register| vector(8, all, register));
                write!(f, "ext {to}, {a}, {b}, #{at}")
            }
            Table { keeps, all, to, first, count, numbers } => {
                let op = if keeps { "tbx" } else { "tbl" };
                let one = |at: usize| vector(8, 128, (first + at) % 32);
                let list = match count {
                    1 => one(0),
                    _ if first + count > 32 || count == 2 => {
                        (0..count).map(one).collect::<Vec<_>>().join(", ")
                    }
                    _ => format!("{}-{}", one(0), one(count - 1)),
                };
                let (to, numbers) = (vector(8, all, to), vector(8, all, numbers));
                write!(f, "{op} {to}, {{{list}}}, {numbers}")
            }
            Duplicate { lanes, to, from, at } => {
                write!(f, "dup {}, {}", laned(lanes, to), lane(lanes.bits, from, at))
            }
            Broadcast { lanes, to, from } => {
                write!(f, "dup {}, {}", laned(lanes, to), name(lanes.bits == 64, from))
            }
            Insert { bits, to, at, from } => {
                write!(f, "ins {}, {}", lane(bits, to, at), name(bits == 64, from))
            }
            InsertLane { bits, to, at, from, lane: other } => {
                write!(f, "ins {}, {}", lane(bits, to, at), lane(bits, from, other))
            }
            Extract { signed: is_signed, wide, bits, to, from, at } => {
                write!(f, "{}mov {}, {}", signed(is_signed), name(wide, to), lane(bits, from, at))
            }
            Constant { all, flag, mode, byte, to } => constant(f, all, flag, mode, byte, to),
            ToGeneral { bits, upper, to, from } => match upper {
                true => write!(f, "fmov {}, {}", name(true, to), lane(64, from, 1)),
                false => write!(f, "fmov {}, {}{from}", name(bits == 64, to), scalar(bits)),
            },
            FromGeneral { bits, upper, to, from } => match upper {
                true => write!(f, "fmov {}, {}", lane(64, to, 1), name(true, from)),
                false => write!(f, "fmov {}{to}, {}", scalar(bits), name(bits == 64, from)),
            },
            Move { bits, to, from } => {
                let size = scalar(bits);
                write!(f, "fmov {size}{to}, {size}{from}")
            }
            Sum { lanes, to, from } => {
                write!(f, "addv {}{to}, {}", scalar(lanes.bits), laned(lanes, from))
            }
            SumOfPair { to, from } => write!(f, "addp d{to}, {}", vector(64, 128, from)),
        }
    }
}

/// The text of a constant vector.
fn constant(
    f: &mut Formatter<'_>,
    all: usize,
    flag: bool,
    mode: usize,
    byte: u64,
    to: Register,
) -> fmt::Result {
    let op = match (flag, mode) {
        (false, mode) if mode < 12 && mode & 1 == 1 => "orr",
        (true, mode) if mode < 12 && mode & 1 == 1 => "bic",
        (true, mode) if mode != 14 => "mvni",
        _ => "movi",
    };
    let (bits, shift) = match mode {
        0..8 => (32, format!(", lsl #{}", mode / 2 * 8)),
        8..12 => (16, format!(", lsl #{}", (mode - 8) / 2 * 8)),
        12 => (32, ", msl #8".into()),
        13 => (32, ", msl #16".into()),
        _ => (8, String::new()),
    };
    let shift = if shift == ", lsl #0" { String::new() } else { shift };
    match (flag, mode) {
        (_, 15) => {
            let bits = if flag { 64 } else { 32 };
            let value = expanded(flag, mode, byte);
            let number =
                if flag { f64::from_bits(value) } else { f32::from_bits(value as u32).into() };
            let text = format!("{number:.18e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, power) = match power.strip_prefix('-') {
                Some(power) => ('-', power),
                None => ('+', power),
            };
            write!(f, "fmov {}, #{digits}e{sign}{power:0>2}", vector(bits, all, to))
        }
        (true, 14) => {
            let value = expanded(flag, mode, byte);
            let to = if all == 64 { format!("d{to}") } else { vector(64, 128, to) };
            write!(f, "movi {to}, #{value:#x}")
        }
        _ => write!(f, "{op} {}, #{byte:#x}{shift}", vector(bits, all, to)),
    }
}
