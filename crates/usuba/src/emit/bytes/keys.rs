//! Key loading in C: turns the user's key into words, and broadcasts the words to registers.

use super::words;
use super::{ByteLayout, Function, Key, Schedule, Shape, macros};
use crate::diag::{Code, Diagnostic};
use crate::emit::mask_bits;
use crate::emit::template::{context, template};
use crate::ir::Port;
use crate::isa::{self, Layout, Target, word_lane};

/// The type of a round key word in the context: it does not depend on the target.
pub fn word_of(port: &Port) -> &'static str {
    isa::word_type(word_lane(port.word))
}

/// The words of a context for a function, and the key that they come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    /// The C type of a word.
    pub c_type: &'static str,
    pub count: usize,
    /// Bytes of the user's key.
    pub key_bytes: usize,
}

/// The words of the key of `function`; `None` if it has none.
///
/// # Errors
/// A name of the function is no name of the program.
pub fn words(function: &Function) -> Result<Option<Words>, Diagnostic> {
    let (Some(port), Some(key)) = (function.ports()?.key, function.key) else { return Ok(None) };
    let shape = Shape::of(port);
    let bytes = match key.schedule {
        Some(schedule) => Shape::of(&schedule.kernel.program.entry().params[0]).bytes(),
        None => shape.bytes(),
    };
    Ok(Some(Words { c_type: word_of(port), count: shape.words, key_bytes: bytes }))
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
    let Shape { words, bits, .. } = Shape::of(port);
    let (register, word_type) = (target.register, word_of(port));
    let masks: Vec<String> = flips.iter().map(|mask| format!("{mask:#x}U")).collect();
    let turned: Vec<String> = masks.chunks(8).map(|row| row.join(", ")).collect();
    let word = |index: &str| match turned.is_empty() {
        true => format!("{from}[{index}]"),
        false => format!("({word_type})({from}[{index}] ^ turned[{index}])"),
    };
    let p = macros::VECTOR;
    let own = match layout {
        Layout::Words => context! { form => "words" },
        Layout::Lanes(lane) => context! { form => "lanes", lane },
        Layout::Bits => {
            let bit = format!("{} >> ({} - b) & 1", word("i"), bits - 1);
            let ones = match mask_bits(target, layout).map(isa::word_type) {
                Some(mask) => format!("({mask})(0 - ({mask})({bit}))"),
                None if target.simd => format!("{p}SPLAT(0 - (uint64_t)({bit}))"),
                None => format!("({register})(0 - ({register})({bit}))"),
            };
            context! { form => "bits", bits, ones }
        }
        Layout::Vectors { words: vector, .. } => {
            let (vector, lanes) = (vector as usize, target.lanes(layout) as usize);
            let spread = match lanes {
                1 => "i".to_string(),
                _ => format!("i / {} * {vector} + i % {vector}", vector * lanes),
            };
            let is_plain = turned.is_empty();
            context! {
                form => "vectors", lanes, vector, registers => words / vector, array => from,
                size => target.bits / 8, from => word(&spread), whole => is_plain && lanes == 1,
                halves => is_plain && vector * bits as usize == 128,
            }
        }
        Layout::Elements(m) if target.simd => {
            let (select, test) = element_bytes(m);
            let word = format!("{p}LANES{}({})", m.max(8), word("i"));
            let word = if m > 8 { format!("{p}SHUFFLE({word}, {p}{select})") } else { word };
            context! { form => "elements", test => format!("{p}{test}"), word }
        }
        Layout::Elements(m) => {
            let element = target.bits / m as u32;
            let step = |k: u32| {
                let mask = (0..target.bits)
                    .filter(|bit| bit % (element << k) < 1 << k)
                    .fold(0u64, |sum, bit| sum | 1 << bit);
                context! { shift => (element - 1) << k, mask => format!("0x{mask:x}U") }
            };
            let steps = (0..m.ilog2()).rev().filter(|_| element > 1).map(step);
            context! { form => "spread", element, steps => steps.collect::<Vec<_>>() }
        }
    };
    template!("templates/broadcast.c.in").render(context! {
        ..own,
        ..context! { word_type, words, register, turned => &turned, from => word("i") },
    })
}

/// For horizontal slicing in groups of 16 bytes: the byte of the word that each byte reads, and the
/// bit of it, both as C.
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

/// The form of the result of a schedule: eight bits in a byte, most significant first, if its
/// result consists of bits, and otherwise its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    pub c_type: &'static str,
    pub count: usize,
}

/// The form of the result of a schedule.
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
    let read = words::read_words(from, words::STRAIGHT, bytes, "key", &|i| format!("from[{i}]"));
    let sliced = crate::emit::layout(schedule.kernel.program, schedule.target) == Layout::Bits;
    let bits = if sliced || shape.bits == 1 { shape.words * shape.bits as usize } else { 0 };
    let Made { c_type, count } = made(schedule)?;
    Ok(template!("templates/schedule.c.in").render(context! {
        from_type => word_of(param), from_words => from.words, m => from.bits, read,
        kernel => schedule.kernel.symbol, flat => bits, made_type => c_type, count,
        register => if sliced { schedule.target.register } else { "" },
        n => if shape.bits == 1 { 8 } else { shape.bits },
    }))
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
        return Ok(words::read_words(shape, words::STRAIGHT, key.bytes, "key", &to));
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
        return Ok(words::read_words(shape, words::STRAIGHT, through, "made", &to));
    }
    if same && schedule.through.is_none() {
        if function.wipe {
            // Compilers turn the loop into a call of `memcpy`, which leaves round keys in
            // registers.
            let (name, count) = (function.name, shape.words);
            return Ok(format!("    {name}_copy({words}, made, {count} * sizeof made[0]);\n"));
        }
        let copy = |i: &str| format!("{words}[{i}] = made[{i}];");
        return Ok(format!("    {{\n{}    }}\n", words::each(shape, words::STRAIGHT, &copy)));
    }
    let bytes =
        words::write(made, words::STRAIGHT, ByteLayout::Be, "bytes", &|i| format!("made[{i}]"));
    let read = words::read_words(shape, words::STRAIGHT, through, "bytes", &to);
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
