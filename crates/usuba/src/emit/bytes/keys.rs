//! Writes the C that turns the user's key into words, and the words into registers.

use std::fmt::Write;

use super::function::read_words;
use super::words;
use super::{ByteLayout, Function, Key, Schedule, Shape, macros};
use crate::diag::{Code, Diagnostic};
use crate::emit::mask_bits;
use crate::ir::Port;
use crate::target::{Layout, Target, word_lane, word_type};

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
/// The schedule does not deliver the words of `port`.
pub fn init(function: &Function, key: Key, port: &Port, words: &str) -> Result<String, Diagnostic> {
    let shape = Shape::of(port);
    let to = |i: &str| format!("{words}[{i}]");
    let Some(schedule) = key.schedule else {
        super::check(port, key.bytes)?;
        return Ok(read_words(shape, key.bytes, "key", &to));
    };
    let (param, result) = schedule_ports(&schedule)?;
    super::check(param, key.bytes)?;
    let (from, made) = (Shape::of(param), Shape::of(result));
    let layout = crate::emit::layout(schedule.kernel.program, schedule.target);
    let symbol = schedule.kernel.symbol;
    let made_type = word_of(result);
    let same = (made.words, made.bits) == (shape.words, shape.bits);
    let flat = |s: Shape| s.words * s.bits as usize;
    if schedule.through.is_none() && !same && made.bits > 1 || flat(made) != flat(shape) {
        let message = format!(
            "the key schedule of `{}` makes {} words of {} bits, and `{}` has {} words of {} bits",
            function.name, made.words, made.bits, port.name, shape.words, shape.bits
        );
        return Err(Diagnostic::global(Code::NotSupported, message));
    }
    let mut text = format!("    {} from[{}];\n", word_of(param), from.words);
    let direct = same && schedule.through.is_none();
    if !direct {
        let _ = writeln!(text, "    {made_type} made[{}];", made.words);
    }
    let made_at = if direct { words } else { "made" };
    if layout == Layout::Bits {
        let register = schedule.target.register;
        let _ = writeln!(
            text,
            "    {register} x[{}], y[{}];\n    size_t i, b;",
            flat(from),
            flat(made)
        );
        text += &read_words(from, key.bytes, "key", &|i| format!("from[{i}]"));
        let (m, n) = (from.bits, made.bits);
        let _ = writeln!(
            text,
            "    for (i = 0; i < {}; i++)\n        for (b = 0; b < {m}; b++)\n            \
             x[{m} * i + b] = from[i] >> ({m} - 1 - b) & 1;\n    {symbol}(x, y);\n    \
             for (i = 0; i < {}; i++) {{\n        {made_type} word = 0;\n        \
             for (b = 0; b < {n}; b++) word = ({made_type})({} | (y[{n} * i + b] & 1));\n        \
             {made_at}[i] = word;\n    }}",
            from.words,
            made.words,
            if n > 1 { "word << 1" } else { "word" },
        );
    } else {
        text += &read_words(from, key.bytes, "key", &|i| format!("from[{i}]"));
        let _ = writeln!(text, "    {symbol}(from, {made_at});");
    }
    if direct {
        return Ok(text);
    }
    let through = schedule.through.unwrap_or(ByteLayout::Be);
    super::check(port, through)?;
    let _ = writeln!(text, "    {{\n    uint8_t bytes[{}];", made.bytes());
    text += &words::write(made, ByteLayout::Be, "bytes", &|i| format!("made[{i}]"));
    text += &read_words(shape, through, "bytes", &to);
    Ok(text + "    }\n")
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
