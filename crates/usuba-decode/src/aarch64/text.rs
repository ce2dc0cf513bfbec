//! The text of instructions, as a disassembler without aliases writes it.

use std::fmt::{self, Display, Formatter};

use super::vectors::expanded;
use super::{
    After, At, Choice, Condition, Constant, Content, Extend, Field, Gate, Instruction, Jump,
    LaneShift, Lanes, Lanewise, Logic, Long, OfLane, One, Operand, Permutation, Register, Shift,
    Shifted, Vector,
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

/// A register of so many bytes.
fn sized(content: Content, bytes: usize, register: Register) -> String {
    match content {
        Content::General { wide, .. } => name(wide, register),
        Content::Vector => format!("{}{register}", scalar(8 * bytes)),
    }
}

/// The letter of a part of a vector.
fn scalar(bits: usize) -> char {
    match bits {
        8 => 'b',
        16 => 'h',
        32 => 's',
        64 => 'd',
        _ => 'q',
    }
}

/// A vector with its lanes.
fn laned(lanes: Lanes, register: Register) -> String {
    let Lanes { bits, all } = lanes;
    match bits == all {
        true => format!("{}{register}", scalar(bits)),
        false => format!("v{register}.{}{}", all / bits, scalar(bits)),
    }
}

/// A vector with lanes of so many bits.
fn vector(bits: usize, all: usize, register: Register) -> String {
    format!("v{register}.{}{}", all / bits, scalar(bits))
}

fn lane(bits: usize, register: Register, at: usize) -> String {
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

fn signed(is: bool) -> char {
    if is { 's' } else { 'u' }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use Instruction::*;
        match *self {
            Nothing { number } => write!(f, "hint #{number:#x}"),
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
                let ([to, c], [a, b]) = ([to, c].map(|r| name(true, r)), [a, b].map(|r| name(false, r)));
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
                let (to, from) = (vector(bits, 64 << usize::from(upper), to), vector(2 * bits, 128, from));
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
                let (to, from) = (vector(2 * bits, 128, to), vector(bits, 64 << usize::from(upper), from));
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
            let number = if flag { f64::from_bits(value) } else { f32::from_bits(value as u32).into() };
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
