//! Writes the C that moves whole words between bytes and integers: general-purpose targets under
//! V, key set-up, and the shapes that no tile fits.

use std::fmt::Write;

use super::{ByteLayout, Shape};
use crate::isa::{word_lane, word_type};

/// Words up to this number are written one by one, more in a loop.
pub const STRAIGHT: usize = 16;

/// The C functions that read and write words that do not begin or end with a byte. Bits are
/// those of the byte string, the most significant of a byte first; `order` 7 reverses them
/// inside of each byte. A whole byte at a time at most.
pub const GET: &str = "\
#ifndef USUBA_GET
#define USUBA_GET(p_, at_, bits_, order_) usuba_get(p_, at_, bits_, order_)
static uint64_t usuba_get(const uint8_t *p, size_t at, unsigned bits, unsigned order) {
    uint64_t word = 0;
    while (bits) {
        unsigned start = (unsigned)(at % 8), count = 8 - start < bits ? 8 - start : bits;
        unsigned byte = p[at / 8];
        if (order) {
            byte = (byte & 0x55) << 1 | (byte >> 1 & 0x55);
            byte = (byte & 0x33) << 2 | (byte >> 2 & 0x33);
            byte = (byte & 0x0f) << 4 | byte >> 4;
        }
        word = word << count | (byte >> (8 - start - count) & (0xffU >> (8 - count)));
        at += count;
        bits -= count;
    }
    return word;
}
#endif
";

/// See [`GET`]. Bits of the last byte that no word has are left alone.
pub const PUT: &str = "\
#ifndef USUBA_PUT
#define USUBA_PUT(p_, at_, bits_, order_, word_) usuba_put(p_, at_, bits_, order_, word_)
static void usuba_put(uint8_t *p, size_t at, unsigned bits, unsigned order, uint64_t word) {
    while (bits) {
        unsigned start = (unsigned)(at % 8), count = 8 - start < bits ? 8 - start : bits;
        unsigned mask = (0xffU >> (8 - count)) << (8 - start - count);
        unsigned byte = (unsigned)(word >> (bits - count)) << (8 - start - count) & mask;
        if (order) {
            byte = (byte & 0x55) << 1 | (byte >> 1 & 0x55);
            byte = (byte & 0x33) << 2 | (byte >> 2 & 0x33);
            byte = (byte & 0x0f) << 4 | byte >> 4;
            mask = (mask & 0x55) << 1 | (mask >> 1 & 0x55);
            mask = (mask & 0x33) << 2 | (mask >> 2 & 0x33);
            mask = (mask & 0x0f) << 4 | mask >> 4;
        }
        p[at / 8] = (uint8_t)((p[at / 8] & ~mask) | byte);
        at += count;
        bits -= count;
    }
}
#endif
";

/// As [`GET`] and [`PUT`] for a word whose bits are `step` bits apart.
pub const GET_APART: &str = "\
#ifndef USUBA_GET_APART
#define USUBA_GET_APART(p_, at_, step_, bits_) usuba_get_apart(p_, at_, step_, bits_)
static uint64_t usuba_get_apart(const uint8_t *p, size_t at, size_t step, unsigned bits) {
    uint64_t word = 0;
    for (; bits; bits--, at += step) word = word << 1 | (p[at / 8] >> (7 - at % 8) & 1);
    return word;
}
#endif
";

/// See [`GET_APART`].
pub const PUT_APART: &str = "\
#ifndef USUBA_PUT_APART
#define USUBA_PUT_APART(p_, at_, step_, bits_, word_) usuba_put_apart(p_, at_, step_, bits_, word_)
static void usuba_put_apart(uint8_t *p, size_t at, size_t step, unsigned bits, uint64_t word) {
    for (; bits; bits--, at += step) {
        unsigned bit = (unsigned)(word >> (bits - 1) & 1), place = (unsigned)(7 - at % 8);
        p[at / 8] = (uint8_t)((p[at / 8] & ~(1U << place)) | bit << place);
    }
}
#endif
";

/// Every helper, by how its calls begin.
pub const HELPERS: [(&str, &str); 4] = [
    ("usuba_get(", GET),
    ("usuba_put(", PUT),
    ("usuba_get_apart(", GET_APART),
    ("usuba_put_apart(", PUT_APART),
];

/// Whether words of `shape` need [`GET`] and [`PUT`].
pub fn needs_helpers(shape: Shape, bytes: ByteLayout) -> bool {
    !shape.bits.is_multiple_of(8) || bytes == ByteLayout::LeBits
}

/// Statements that read each word i of the block at `block` into the variable `to(i)`, one by one
/// up to `straight` words.
pub fn read(
    shape: Shape,
    straight: usize,
    bytes: ByteLayout,
    block: &str,
    to: &dyn Fn(&str) -> String,
) -> String {
    each(shape, straight, &|i| format!("{} = {};", to(i), get(shape, bytes, block, i)))
}

/// Statements that write each word i, `from(i)`, to the block at `block`, one by one up to
/// `straight` words.
pub fn write(
    shape: Shape,
    straight: usize,
    bytes: ByteLayout,
    block: &str,
    from: &dyn Fn(&str) -> String,
) -> String {
    let mut text = String::new();
    if !(shape.words * shape.bits as usize).is_multiple_of(8) {
        let _ = writeln!(text, "    ({block})[{}] = 0;", shape.bytes() - 1);
    }
    text + &each(shape, straight, &|i| put(shape, bytes, block, i, &from(i)))
}

/// `line(i)` for every word i, one by one up to `straight` words, else in a loop.
pub fn each(shape: Shape, straight: usize, line: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    if shape.words <= straight {
        for i in 0..shape.words {
            let _ = writeln!(text, "    {}", line(&i.to_string()));
        }
    } else {
        let _ = writeln!(text, "    {{\n        size_t i;");
        let _ = writeln!(text, "        for (i = 0; i < {}; i++) {{", shape.words);
        let _ = writeln!(text, "            {}\n        }}\n    }}", line("i"));
    }
    text
}

/// The C of word `i` of the block at the pointer `block`, with the type of the word.
pub fn get(shape: Shape, bytes: ByteLayout, block: &str, i: &str) -> String {
    let bits = shape.bits as usize;
    let t = word_type(word_lane(shape.bits));
    if bytes == ByteLayout::Planes {
        let Shape { row, .. } = shape;
        return format!("({t})usuba_get_apart({block}, {}, {row}, {bits})", first_bit(shape, i));
    }
    if bits == 1 {
        let shift = match bytes {
            ByteLayout::LeBits => format!("((size_t){i} & 7)"),
            _ => format!("(7 - ((size_t){i} & 7))"),
        };
        return format!("({t})(({block})[(size_t){i} >> 3] >> {shift} & 1)");
    }
    if needs_helpers(shape, bytes) {
        let order = if bytes == ByteLayout::LeBits { 7 } else { 0 };
        return format!("({t})usuba_get({block}, {bits} * (size_t){i}, {bits}, {order})");
    }
    let wide = if bits > 32 { "uint64_t" } else { "uint32_t" };
    let terms: Vec<String> = shifts(bits, bytes)
        .map(|(byte, shift)| {
            let byte = format!("({wide}){}", byte_of(block, bits / 8, i, byte));
            if shift > 0 { format!("{byte} << {shift}") } else { byte }
        })
        .collect();
    format!("({t})({})", terms.join(" | "))
}

/// The C statements that store `word` as word `i` of the block at the pointer `block`.
pub fn put(shape: Shape, bytes: ByteLayout, block: &str, i: &str, word: &str) -> String {
    let bits = shape.bits as usize;
    if bytes == ByteLayout::Planes {
        let Shape { row, .. } = shape;
        return format!(
            "usuba_put_apart({block}, {}, {row}, {bits}, {word});",
            first_bit(shape, i)
        );
    }
    if needs_helpers(shape, bytes) {
        let order = if bytes == ByteLayout::LeBits { 7 } else { 0 };
        return format!("usuba_put({block}, {bits} * (size_t){i}, {bits}, {order}, {word});");
    }
    let stores: Vec<String> = shifts(bits, bytes)
        .map(|(byte, shift)| {
            let place = byte_of(block, bits / 8, i, byte);
            let shift = if shift > 0 { format!(" >> {shift}") } else { String::new() };
            format!("{place} = (uint8_t)({word}{shift});")
        })
        .collect();
    stores.join(" ")
}

/// The C of the number of the first bit of word `i` under `planes`.
fn first_bit(shape: Shape, i: &str) -> String {
    let Shape { row, bits, .. } = shape;
    match i.parse::<usize>() {
        Ok(i) => (i / row * row * bits as usize + i % row).to_string(),
        Err(_) => format!("(size_t){i} / {row} * {} + (size_t){i} % {row}", row * bits as usize),
    }
}

/// The C of byte `byte` of word `i`, in words of `size` bytes from the pointer `block`.
fn byte_of(block: &str, size: usize, i: &str, byte: usize) -> String {
    let block = if block.contains(' ') { format!("({block})") } else { block.to_string() };
    match i.parse::<usize>() {
        Ok(i) => format!("{block}[{}]", size * i + byte),
        Err(_) => format!("{block}[{size} * {i} + {byte}]"),
    }
}

/// Each byte of a word of `bits` bits with the place of its bits in the word.
fn shifts(bits: usize, bytes: ByteLayout) -> impl Iterator<Item = (usize, usize)> {
    let count = bits / 8;
    let little = bytes == ByteLayout::Le;
    (0..count).map(move |byte| (byte, 8 * if little { byte } else { count - 1 - byte }))
}
