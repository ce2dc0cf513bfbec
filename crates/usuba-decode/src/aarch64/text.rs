//! The text of instructions, as a disassembler without aliases writes it.

use std::fmt::{self, Display, Formatter};

use super::{
    After, At, Choice, Condition, Constant, Content, Extend, Field, Instruction, Jump, Lanes,
    Logic, One, Operand, Register, Shift, Shifted,
};

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 16] = [
            "eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le",
            "al", "nv",
        ];
        f.write_str(NAMES[usize::from(self.0)])
    }
}

impl Shift {
    fn name(self) -> &'static str {
        match self {
            Shift::Left => "lsl",
            Shift::Right => "lsr",
            Shift::Arithmetic => "asr",
            Shift::Rotate => "ror",
        }
    }
}

/// The name of a general-purpose register, where 31 is zero.
pub fn name(wide: bool, register: Register) -> String {
    match (wide, register) {
        (true, 31) => "xzr".into(),
        (false, 31) => "wzr".into(),
        (true, _) => format!("x{register}"),
        (false, _) => format!("w{register}"),
    }
}

/// The same where 31 is the stack pointer.
fn or_stack(wide: bool, register: Register) -> String {
    match (wide, register) {
        (true, 31) => "sp".into(),
        (false, 31) => "wsp".into(),
        _ => name(wide, register),
    }
}

/// A register with its size.
fn sized(content: Content, bytes: usize, register: Register) -> String {
    match content {
        Content::General { wide, .. } => name(wide, register),
        Content::Vector => format!("{}{register}", scalar(8 * bytes)),
    }
}

/// The letter of a part of a vector.
pub fn scalar(bits: usize) -> char {
    match bits {
        8 => 'b',
        16 => 'h',
        32 => 's',
        64 => 'd',
        _ => 'q',
    }
}

/// A vector with its lanes.
pub fn laned(lanes: Lanes, register: Register) -> String {
    let Lanes { bits, all } = lanes;
    match bits == all {
        true => format!("{}{register}", scalar(bits)),
        false => format!("v{register}.{}{}", all / bits, scalar(bits)),
    }
}

/// A vector with its lanes, by their bits.
pub fn vector(bits: usize, all: usize, register: Register) -> String {
    format!("v{register}.{}{}", all / bits, scalar(bits))
}

pub fn lane(bits: usize, register: Register, at: usize) -> String {
    format!("v{register}.{}[{at}]", scalar(bits))
}

impl Display for Shifted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.shift, self.count) {
            (Shift::Left, 0) => Ok(()),
            (shift, count) => write!(f, ", {} #{count}", shift.name()),
        }
    }
}

impl Extend {
    fn name(self) -> String {
        let sign = if self.signed { 's' } else { 'u' };
        let size = match self.bits {
            8 => 'b',
            16 => 'h',
            32 => 'w',
            _ => 'x',
        };
        format!("{sign}xt{size}")
    }
}

impl Display for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            At::Offset { base, offset: 0, .. } => write!(f, "[{}]", or_stack(true, base)),
            At::Offset { base, offset, .. } => write!(f, "[{}, #{offset}]", or_stack(true, base)),
            At::Before { base, offset } => write!(f, "[{}, #{offset}]!", or_stack(true, base)),
            At::After { base, offset } => write!(f, "[{}], #{offset}", or_stack(true, base)),
            At::Index { base, index, extend, shift } => {
                let (base, index) = (or_stack(true, base), name(extend.bits == 64, index));
                let plain = extend == Extend { signed: false, bits: 64 };
                let extend = if plain { "lsl".into() } else { extend.name() };
                match shift {
                    None if plain => write!(f, "[{base}, {index}]"),
                    None => write!(f, "[{base}, {index}, {extend}]"),
                    Some(shift) => write!(f, "[{base}, {index}, {extend} #{shift}]"),
                }
            }
        }
    }
}

impl Display for After {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            After::Register(register) => write!(f, ", x{register}"),
            After::Bytes(bytes) => write!(f, ", #{bytes}"),
        }
    }
}

/// The text of a change of a base, if there is one.
fn changed(after: Option<After>) -> String {
    after.map(|after| after.to_string()).unwrap_or_default()
}

fn sum(subtracts: bool, flags: bool) -> String {
    format!("{}{}", if subtracts { "sub" } else { "add" }, if flags { "s" } else { "" })
}

pub fn signed(is: bool) -> char {
    if is { 's' } else { 'u' }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use Instruction::*;
        match *self {
            Nothing { number } => write!(f, "hint #{number:#x}"),
            Sign { checks } => write!(f, "hint #{:#x}", if checks { 29 } else { 25 }),
            Place { is_page, to, offset } => {
                write!(f, "adr{} {}, {offset}", if is_page { "p" } else { "" }, name(true, to))
            }
            AddImmediate { wide, subtracts, flags, to, from, value } => {
                let to = if flags { name(wide, to) } else { or_stack(wide, to) };
                let (op, from) = (sum(subtracts, flags), or_stack(wide, from));
                match value >> 12 {
                    0 => write!(f, "{op} {to}, {from}, #{value:#x}"),
                    upper => write!(f, "{op} {to}, {from}, #{upper:#x}, lsl #12"),
                }
            }
            Add { wide, subtracts, flags, to, a, b } => {
                let [to, a, c] = [to, a, b.register].map(|register| name(wide, register));
                write!(f, "{} {to}, {a}, {c}{b}", sum(subtracts, flags))
            }
            AddExtended { wide, subtracts, flags, to, a, b, extend, count } => {
                let is_stack = a == 31 || to == 31 && !flags;
                let to = if flags { name(wide, to) } else { or_stack(wide, to) };
                let (op, a) = (sum(subtracts, flags), or_stack(wide, a));
                let b = name(wide && extend.bits == 64, b);
                // A whole register is shifted, where one is the stack pointer.
                let is_whole = !extend.signed && extend.bits == if wide { 64 } else { 32 };
                let extend = if is_whole && is_stack { "lsl".into() } else { extend.name() };
                match count {
                    0 if is_whole && is_stack => write!(f, "{op} {to}, {a}, {b}"),
                    0 => write!(f, "{op} {to}, {a}, {b}, {extend}"),
                    _ => write!(f, "{op} {to}, {a}, {b}, {extend} #{count}"),
                }
            }
            AddCarry { wide, subtracts, flags, to, a, b } => {
                let op = if subtracts { "sbc" } else { "adc" };
                let [to, a, b] = [to, a, b].map(|register| name(wide, register));
                write!(f, "{op}{} {to}, {a}, {b}", if flags { "s" } else { "" })
            }
            LogicImmediate { wide, logic, flags, to, from, value } => {
                let to = if flags { name(wide, to) } else { or_stack(wide, to) };
                write!(f, "{} {to}, {}, #{value:#x}", logic.name(false, flags), name(wide, from))
            }
            Logic { wide, logic, inverts, flags, to, a, b } => {
                let [to, a, c] = [to, a, b.register].map(|register| name(wide, register));
                write!(f, "{} {to}, {a}, {c}{b}", logic.name(inverts, flags))
            }
            Constant { wide, constant, to, value, shift } => {
                let op = match constant {
                    self::Constant::Complement => "movn",
                    self::Constant::Zeros => "movz",
                    self::Constant::Keep => "movk",
                };
                let to = name(wide, to);
                match shift {
                    0 => write!(f, "{op} {to}, #{value:#x}"),
                    _ => write!(f, "{op} {to}, #{value:#x}, lsl #{shift}"),
                }
            }
            Field { wide, field, to, from, right, top } => {
                let op = match field {
                    self::Field::Signed => "sbfm",
                    self::Field::Inserted => "bfm",
                    self::Field::Unsigned => "ubfm",
                };
                write!(f, "{op} {}, {}, #{right}, #{top}", name(wide, to), name(wide, from))
            }
            Extract { wide, to, high, low, at } => {
                let [to, high, low] = [to, high, low].map(|register| name(wide, register));
                write!(f, "extr {to}, {high}, {low}, #{at}")
            }
            ShiftBy { wide, shift, to, from, count } => {
                let [to, from, count] = [to, from, count].map(|register| name(wide, register));
                write!(f, "{}v {to}, {from}, {count}", shift.name())
            }
            One { wide, one, to, from } => {
                let op = match one {
                    self::One::Bits => "rbit",
                    self::One::Bytes(16) => "rev16",
                    self::One::Bytes(32) if wide => "rev32",
                    self::One::Bytes(_) => "rev",
                    self::One::LeadingZeros => "clz",
                };
                write!(f, "{op} {}, {}", name(wide, to), name(wide, from))
            }
            Divide { wide, signed: is_signed, to, a, b } => {
                let [to, a, b] = [to, a, b].map(|register| name(wide, register));
                write!(f, "{}div {to}, {a}, {b}", signed(is_signed))
            }
            MultiplyAdd { wide, subtracts, to, a, b, c } => {
                let [to, a, b, c] = [to, a, b, c].map(|register| name(wide, register));
                write!(f, "{} {to}, {a}, {b}, {c}", if subtracts { "msub" } else { "madd" })
            }
            MultiplyLong { signed: is_signed, subtracts, to, a, b, c } => {
                let op = if subtracts { "msubl" } else { "maddl" };
                let ([to, c], [a, b]) =
                    ([to, c].map(|r| name(true, r)), [a, b].map(|r| name(false, r)));
                write!(f, "{}{op} {to}, {a}, {b}, {c}", signed(is_signed))
            }
            MultiplyHigh { signed: is_signed, to, a, b } => {
                let [to, a, b] = [to, a, b].map(|register| name(true, register));
                write!(f, "{}mulh {to}, {a}, {b}", signed(is_signed))
            }
            Select { wide, choice, to, a, b, condition } => {
                let op = match choice {
                    Choice::Plain => "csel",
                    Choice::Increment => "csinc",
                    Choice::Complement => "csinv",
                    Choice::Negate => "csneg",
                };
                let [to, a, b] = [to, a, b].map(|register| name(wide, register));
                write!(f, "{op} {to}, {a}, {b}, {condition}")
            }
            CompareIf { wide, subtracts, a, b, otherwise, condition } => {
                let op = if subtracts { "ccmp" } else { "ccmn" };
                let b = match b {
                    Operand::Register(b) => name(wide, b),
                    Operand::Immediate(value) => format!("#{value:#x}"),
                };
                write!(f, "{op} {}, {b}, #{otherwise:#x}, {condition}", name(wide, a))
            }
            Branch { is_call, offset } => write!(f, "b{} {offset}", if is_call { "l" } else { "" }),
            BranchIf { condition, offset } => write!(f, "b.{condition} {offset}"),
            BranchZero { wide, if_zero, register, offset } => {
                let op = if if_zero { "cbz" } else { "cbnz" };
                write!(f, "{op} {}, {offset}", name(wide, register))
            }
            BranchBit { if_zero, register, bit, offset } => {
                let op = if if_zero { "tbz" } else { "tbnz" };
                write!(f, "{op} {}, #{bit}, {offset}", name(bit > 31, register))
            }
            JumpTo { jump, register } => {
                let op = match jump {
                    Jump::Plain => "br",
                    Jump::Call => "blr",
                    Jump::Return => "ret",
                };
                write!(f, "{op} {}", name(true, register))
            }
            Access { loads, bytes, content, register, at } => {
                let unscaled = matches!(at, At::Offset { unscaled: true, .. });
                let start = match (loads, unscaled) {
                    (true, false) => "ldr",
                    (true, true) => "ldur",
                    (false, false) => "str",
                    (false, true) => "stur",
                };
                let (sign, size) = match content {
                    Content::Vector => ("", ""),
                    Content::General { signed, .. } => {
                        let size = match bytes {
                            1 => "b",
                            2 => "h",
                            4 if signed => "w",
                            _ => "",
                        };
                        (if signed { "s" } else { "" }, size)
                    }
                };
                write!(f, "{start}{sign}{size} {}, {at}", sized(content, bytes, register))
            }
            AccessPair { loads, bytes, content, registers, at } => {
                let [first, second] = registers.map(|register| sized(content, bytes, register));
                let is_signed = matches!(content, Content::General { signed: true, .. });
                let op = match loads {
                    true if is_signed => "ldpsw",
                    true => "ldp",
                    false => "stp",
                };
                write!(f, "{op} {first}, {second}, {at}")
            }
            LoadNear { bytes, content, register, offset } => {
                let is_signed = matches!(content, Content::General { signed: true, .. });
                let op = if is_signed { "ldrsw" } else { "ldr" };
                write!(f, "{op} {}, {offset}", sized(content, bytes, register))
            }
            Vectors { loads, by_turns, lanes, first, count, base, after } => {
                let op = if loads { "ld" } else { "st" };
                let structure = if by_turns { count } else { 1 };
                let lanes = |at: usize| {
                    let Lanes { bits, all } = lanes;
                    vector(bits, all, (first + at) % 32)
                };
                let list = match count {
                    1 => lanes(0),
                    _ if first + count > 32 || count == 2 => {
                        (0..count).map(lanes).collect::<Vec<_>>().join(", ")
                    }
                    _ => format!("{}-{}", lanes(0), lanes(count - 1)),
                };
                let (base, after) = (or_stack(true, base), changed(after));
                write!(f, "{op}{structure} {{{list}}}, [{base}]{after}")
            }
            Lane { loads, bits, register, lane, base, after } => {
                let op = if loads { "ld1" } else { "st1" };
                let (base, after, size) = (or_stack(true, base), changed(after), scalar(bits));
                write!(f, "{op} {{v{register}.{size}}}[{lane}], [{base}]{after}")
            }
            LoadCopies { lanes, register, base, after } => {
                let Lanes { bits, all } = lanes;
                let (base, after) = (or_stack(true, base), changed(after));
                write!(f, "ld1r {{{}}}, [{base}]{after}", vector(bits, all, register))
            }
            Vector(ref vector) => vector.fmt(f),
        }
    }
}

impl Logic {
    fn name(self, inverts: bool, flags: bool) -> &'static str {
        match (self, inverts, flags) {
            (Logic::And, false, false) => "and",
            (Logic::And, false, true) => "ands",
            (Logic::And, true, false) => "bic",
            (Logic::And, true, true) => "bics",
            (Logic::Or, false, _) => "orr",
            (Logic::Or, true, _) => "orn",
            (Logic::Xor, false, _) => "eor",
            (Logic::Xor, true, _) => "eon",
        }
    }
}
