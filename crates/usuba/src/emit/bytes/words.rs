//! Word-by-word transport in C between bytes and integers: general-purpose targets under V, key
//! setup, and the shapes that no tile fits.

use std::fmt::Write;

use super::tiles::{File, Tiles};
use super::transpose::{self, Way, Writer};
use super::{ByteLayout, Shape};
use crate::emit::template::{context, template};
use crate::isa::{Layout, word_lane, word_type};

/// Words up to this number are written one by one, more in a loop.
pub const STRAIGHT: usize = 32;

/// The C functions that read and write words that do not begin or end with a byte. They count bits
/// of the byte string, the most significant of a byte first; `order` 7 reverses them inside of each
/// byte. A whole byte at a time at most.
pub const GET: &str = include_str!("helpers/get.h");

/// See [`GET`]. Bits of the last byte that no word has are left alone.
pub const PUT: &str = include_str!("helpers/put.h");

/// As [`GET`] and [`PUT`] for a word whose bits are `step` bits apart.
pub const GET_APART: &str = include_str!("helpers/get_apart.h");

/// See [`GET_APART`].
pub const PUT_APART: &str = include_str!("helpers/put_apart.h");

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

/// Statements that read the words of a port of `shape` from the bytes at `block` into integers.
pub fn read_words(
    shape: Shape,
    straight: usize,
    bytes: ByteLayout,
    block: &str,
    to: &dyn Fn(&str) -> String,
) -> String {
    let bytes = plain(shape, bytes);
    woven(shape, bytes, Way::Pack, block, to)
        .unwrap_or_else(|| read(shape, straight, bytes, block, to))
}

/// The opposite of [`read_words`].
pub fn write_words(
    shape: Shape,
    straight: usize,
    bytes: ByteLayout,
    block: &str,
    from: &dyn Fn(&str) -> String,
) -> String {
    let bytes = plain(shape, bytes);
    woven(shape, bytes, Way::Unpack, block, from)
        .unwrap_or_else(|| write(shape, straight, bytes, block, from))
}

/// The layout, except that planes of a single word, or of single bits, are the bits in their order.
fn plain(shape: Shape, bytes: ByteLayout) -> ByteLayout {
    match bytes {
        ByteLayout::Planes if shape.row == 1 || shape.bits == 1 => ByteLayout::Be,
        other => other,
    }
}

/// Planes and integers: transposes each row in 64-bit (or 32-bit) registers that hold several
/// words each. `None` if rows are no such registers, or for another layout.
fn woven(
    shape: Shape,
    bytes: ByteLayout,
    way: Way,
    block: &str,
    at: &dyn Fn(&str) -> String,
) -> Option<String> {
    let row = Shape { words: shape.row, ..shape };
    let bits = if row.bytes() >= 8 { 64 } else { 32 };
    let fits = row.bytes() * 8 >= bits && (row.words * row.bits as usize).is_multiple_of(8);
    if bytes != ByteLayout::Planes || !fits {
        return None;
    }
    let file = File { bits: bits as u32, vector: false, groups: false };
    let tiles = Tiles::new(row, bytes, row.bytes(), Layout::Words, 1, file, false)?;
    let register = format!("uint{bits}_t");
    let writer = Writer { file, register: &register, xors: false, width: 3 };
    let moved = transpose::statements(writer, &tiles, way, &|value| format!("u[{value}]"));
    let t = word_type(word_lane(row.bits));
    let lanes = bits / row.bits as usize;
    let mut words = Vec::new();
    for register_number in 0..tiles.count {
        let word = |lane: usize| {
            let index = tiles.word(row, register_number, lane);
            at(&format!("{} * n + {index}", row.words))
        };
        let shift = |lane: usize| lane * row.bits as usize;
        match way {
            Way::Pack => {
                // Words that do not fill their type have zeros above.
                let mask = match word_lane(row.bits) == row.bits {
                    true => String::new(),
                    false => format!(" & {}", (1u64 << row.bits) - 1),
                };
                for lane in 0..lanes {
                    let (word, shift) = (word(lane), shift(lane));
                    words.push(format!("{word} = ({t})(u[{register_number}] >> {shift}{mask})"));
                }
            }
            Way::Unpack => {
                let terms: Vec<String> = (0..lanes)
                    .map(|lane| format!("({register}){} << {}", word(lane), shift(lane)))
                    .collect();
                words.push(format!("u[{register_number}] = {}", terms.join(" | ")));
            }
        }
    }
    Some(template!("templates/woven.c.in").render(context! {
        packs => way == Way::Pack, bytes => block, size => row.bytes(),
        rows => shape.words / shape.row, register, count => tiles.count, moved, words,
    }))
}

/// Statements that read each word i of the block at `block` into the variable `to(i)`, one by one
/// up to `straight` words.
fn read(
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
