//! Writes the C that turns the user's key into words, and the words into registers.

use std::fmt::Write;

use super::function::read_words;
use super::words;
use super::{ByteLayout, Function, Key, Schedule, Shape, macros};
use crate::diag::{Code, Diagnostic};
use crate::emit::mask_bits;
use crate::ir::Port;
use crate::isa::{Layout, Target, word_lane, word_type};

/// The type of a round key word in the context: it does not depend on the target.
pub fn word_of(port: &Port) -> &'static str {
    word_type(word_lane(port.word))
}

/// Statements that fill `keys` from the words in the array `from`: one register (or one mask,
/// where the kernel takes those) per value of `port` under `layout`. [`Layout::Words`] needs none:
/// it reads the words themselves. The bits of `flips`, a mask for each word, are complemented on
/// the way; without masks there is nothing to complement.
pub fn broadcast(
    target: &Target,
    layout: Layout,
    port: &Port,
    from: &str,
    flips: &[u64],
) -> String {
    let shape = Shape::of(port);
    let (words, bits) = (shape.words, shape.bits as usize);
    let register = target.register;
    let masks = mask_bits(target, layout).map(word_type);
    let mut text = String::new();
    let word_type = word_of(port);
    let mut from = format!("{from}[i]");
    if !flips.is_empty() {
        let masks: Vec<String> = flips.iter().map(|mask| format!("{mask:#x}U")).collect();
        let masks = masks.chunks(8).map(|row| row.join(", ")).collect::<Vec<_>>();
        let masks = masks.join(",\n        ");
        let _ = writeln!(
            text,
            "    static const {word_type} turned[{words}] = {{\n        {masks}\n    }};"
        );
        from = format!("({word_type})({from} ^ turned[i])");
    }
    let head = format!("    for (i = 0; i < {words}; i++)");
    match layout {
        Layout::Words => {}
        Layout::Lanes(lane) => {
            let _ = writeln!(text, "{head} keys[i] = {}LANES{lane}({from});", macros::VECTOR);
        }
        Layout::Bits => {
            let all = |bit: &str| match target.simd {
                _ if let Some(mask) = masks => format!("({mask})(0 - ({mask})({bit}))"),
                true => format!("{}SPLAT(0 - (uint64_t)({bit}))", macros::VECTOR),
                false => format!("({register})(0 - ({register})({bit}))"),
            };
            let ones = all(&format!("{from} >> ({} - b) & 1", bits - 1));
            let _ = writeln!(text, "{head}\n        for (b = 0; b < {bits}; b++)");
            let _ = writeln!(text, "            keys[{bits} * i + b] = {ones};");
        }
        Layout::Vectors { words: vector, .. } => {
            let (vector, lanes) = (vector as usize, target.lanes(layout) as usize);
            let (registers, size) = (words / vector, target.bits as usize / 8);
            let _ = writeln!(text, "    {word_type} place[{}];", words * lanes);
            let all = words * lanes;
            let spread = match lanes {
                1 => "i".to_string(),
                _ => format!("i / {} * {vector} + i % {vector}", vector * lanes),
            };
            let from = from.replace("[i]", &format!("[{spread}]"));
            let _ = writeln!(text, "    for (i = 0; i < {all}; i++) place[i] = {from};");
            let load = format!("{}LOAD((const uint8_t *)place + {size} * i)", macros::VECTOR);
            let _ = writeln!(text, "    for (i = 0; i < {registers}; i++) keys[i] = {load};");
        }
        Layout::Elements(m) if target.simd => {
            let (select, test) = element_bytes(m);
            let wide = m.max(8);
            let p = macros::VECTOR;
            let _ = writeln!(text, "{head} {{\n        const {register} bit = {p}{test};");
            let mut word = format!("{p}LANES{wide}({from})");
            if m > 8 {
                word = format!("{p}SHUFFLE({word}, {p}{select})");
            }
            let _ = writeln!(text, "        keys[i] = {p}EQUAL({p}AND({word}, bit), bit);\n    }}");
        }
        Layout::Elements(m) => {
            let _ = writeln!(text, "{head} {{\n        {register} x = {from};");
            let element = target.bits / m as u32;
            for k in (0..m.ilog2()).rev() {
                let shift = (element - 1) << k;
                let mask = (0..target.bits)
                    .filter(|bit| bit % (element << k) < 1 << k)
                    .fold(0u64, |sum, bit| sum | 1 << bit);
                if shift > 0 {
                    let _ = writeln!(text, "        x = (x | x << {shift}) & 0x{mask:x}U;");
                }
            }
            // Each element holds its bit at the bottom; minus one is that bit everywhere.
            let fill = if element > 1 { format!("(x << {element}) - x") } else { "x".into() };
            let _ = writeln!(text, "        keys[i] = {fill};\n    }}");
        }
    }
    text
}

/// For horizontal slicing in groups of 16 bytes: which byte of the word each byte looks at, and
/// which bit of it, both as C.
fn element_bytes(m: u8) -> (String, String) {
    let c = |byte: &dyn Fn(u32) -> u64| {
        let half =
            |range: std::ops::Range<u32>| range.rev().fold(0u64, |sum, b| sum << 8 | byte(b));
        format!("BYTES(0x{:016x}ULL, 0x{:016x}ULL)", half(0..8), half(8..16))
    };
    // Counted from the least significant bit of the word.
    let bit = |byte: u32| m as u32 - 1 - byte * m as u32 / 16;
    (c(&|byte| (bit(byte) / 8) as u64), c(&|byte| 1 << (bit(byte) % 8)))
}

/// The body of `name_init`: from the bytes `key` to the words in the array `words`.
///
/// # Errors
/// As [`run`] and [`fill`].
pub fn init(function: &Function, key: Key, port: &Port, words: &str) -> Result<String, Diagnostic> {
    let Some(schedule) = key.schedule else { return fill(function, key, port, words) };
    let Made { c_type, count } = made(&schedule)?;
    let run = run(&schedule, key.bytes)?;
    Ok(format!("    {c_type} made[{count}];\n{run}{}", fill(function, key, port, words)?))
}

/// What a schedule leaves: eight bits in a byte, most significant first, if its result consists of
/// bits, and otherwise its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    pub c_type: &'static str,
    pub count: usize,
}

/// What the schedule leaves.
///
/// # Errors
/// It has not one parameter and one result.
pub fn made(schedule: &Schedule) -> Result<Made, Diagnostic> {
    let (_, result) = schedule_ports(schedule)?;
    let shape = Shape::of(result);
    let count = if shape.bits == 1 { shape.bytes() } else { shape.words };
    Ok(Made { c_type: word_of(result), count })
}

/// The schedule: statements from the bytes `key` to the array `made`.
///
/// # Errors
/// It has not one parameter and one result, or its key is not read in the layout `bytes`.
pub fn run(schedule: &Schedule, bytes: ByteLayout) -> Result<String, Diagnostic> {
    let (param, result) = schedule_ports(schedule)?;
    super::check(param, bytes)?;
    let (from, shape) = (Shape::of(param), Shape::of(result));
    let symbol = schedule.kernel.symbol;
    let read = read_words(from, words::STRAIGHT, bytes, "key", &|i| format!("from[{i}]"));
    let sliced = crate::emit::layout(schedule.kernel.program, schedule.target) == Layout::Bits;
    let mut text = format!("    {} from[{}];\n", word_of(param), from.words);
    if !sliced && shape.bits > 1 {
        return Ok(format!("{text}{read}    {symbol}(from, made);\n"));
    }
    let flat = shape.words * shape.bits as usize;
    if sliced {
        let (register, m) = (schedule.target.register, from.bits);
        let _ = write!(
            text,
            "    {register} x[{}], y[{flat}];\n    size_t i, b;\n{read}    \
             for (i = 0; i < {}; i++)\n        for (b = 0; b < {m}; b++)\n            \
             x[{m} * i + b] = from[i] >> ({m} - 1 - b) & 1;\n    {symbol}(x, y);\n",
            from.words * m as usize,
            from.words,
        );
    } else {
        let _ = write!(text, "    uint8_t y[{flat}];\n    size_t i, b;\n{read}");
        let _ = writeln!(text, "    {symbol}(from, y);");
    }
    let Made { c_type, count } = made(schedule)?;
    let n = if shape.bits == 1 { 8 } else { shape.bits as usize };
    let gather = |bits: usize| {
        format!(
            "{c_type} word = 0;\n        for (b = 0; b < {bits}; b++) \
             word = ({c_type})(word << 1 | (y[{n} * i + b] & 1));\n"
        )
    };
    let (whole, rest) = (flat / n, flat % n);
    let _ = writeln!(
        text,
        "    for (i = 0; i < {whole}; i++) {{\n        {}        made[i] = word;\n    }}",
        gather(n)
    );
    if whole < count {
        let _ = writeln!(
            text,
            "    {{\n        {}        made[i] = ({c_type})(word << {});\n    }}",
            gather(rest),
            n - rest
        );
    }
    Ok(text)
}

/// Statements that fill the array `words` from `made`, or from the bytes `key` where no schedule
/// stands between them.
///
/// # Errors
/// The schedule does not deliver the words of `port`.
pub fn fill(function: &Function, key: Key, port: &Port, words: &str) -> Result<String, Diagnostic> {
    let shape = Shape::of(port);
    let to = |i: &str| format!("{words}[{i}]");
    let Some(schedule) = key.schedule else {
        super::check(port, key.bytes)?;
        return Ok(read_words(shape, words::STRAIGHT, key.bytes, "key", &to));
    };
    let (_, result) = schedule_ports(&schedule)?;
    let made = Shape::of(result);
    let same = (made.words, made.bits) == (shape.words, shape.bits);
    let flat = |s: Shape| s.words * s.bits as usize;
    if schedule.through.is_none() && !same && made.bits > 1 || flat(made) != flat(shape) {
        let message = format!(
            "the key schedule of `{}` makes {} words of {} bits, and `{}` has {} words of {} bits",
            function.name, made.words, made.bits, port.name, shape.words, shape.bits
        );
        return Err(Diagnostic::global(Code::NotSupported, message));
    }
    let through = schedule.through.unwrap_or(ByteLayout::Be);
    super::check(port, through)?;
    if made.bits == 1 {
        return Ok(read_words(shape, words::STRAIGHT, through, "made", &to));
    }
    if same && schedule.through.is_none() {
        if function.wipe {
            // A compiler makes a call of `memcpy` of the loop, which leaves round keys in registers.
            let (name, count) = (function.name, shape.words);
            return Ok(format!("    {name}_copy({words}, made, {count} * sizeof made[0]);\n"));
        }
        let copy = |i: &str| format!("{words}[{i}] = made[{i}];");
        return Ok(format!("    {{\n{}    }}\n", words::each(shape, words::STRAIGHT, &copy)));
    }
    let bytes =
        words::write(made, words::STRAIGHT, ByteLayout::Be, "bytes", &|i| format!("made[{i}]"));
    let read = read_words(shape, words::STRAIGHT, through, "bytes", &to);
    Ok(format!("    {{\n    uint8_t bytes[{}];\n{bytes}{read}    }}\n", made.bytes()))
}

/// The only parameter and the only result of a schedule.
fn schedule_ports<'a>(schedule: &Schedule<'a>) -> Result<(&'a Port, &'a Port), Diagnostic> {
    let entry = schedule.kernel.program.entry();
    match (entry.params.as_slice(), entry.results.as_slice()) {
        ([param], [result]) => Ok((param, result)),
        _ => {
            let message =
                format!("the key schedule `{}` must have one parameter and one result", entry.name);
            Err(Diagnostic::global(Code::NotSupported, message))
        }
    }
}
