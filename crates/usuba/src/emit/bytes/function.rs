//! Puts the parts of a function together.
//!
//! Above 600 lines because every way of moving a port packs and unpacks by one description.

use std::fmt::Write;

use super::tiles::{File, Tiles};
use super::transpose::{self, Way, Writer};
use super::wipe::{self, Wiped};
use super::words;
use super::{ByteLayout, Function, Kernel, Parameter, Ports, Shape, keys, macros};
use crate::diag::{Code, Diagnostic};
use crate::emit::port_type;
use crate::ir::Port;
use crate::isa::{Layout, Target, word_lane, word_type};

/// The type of the context and the prototypes, for a header or on top of [`definitions`]. They
/// do not depend on the target.
///
/// # Errors
/// The names of the function are not those of the program.
pub fn declarations(function: &Function) -> Result<String, Diagnostic> {
    let name = function.name;
    let guard = format!("USUBA_{}_DECLARED", name.to_uppercase());
    let ports = function.ports()?;
    let (from, to) = ports.blocks();
    let mut text = format!(
        "#ifndef {guard}\n#define {guard}\n#include <stddef.h>\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    );
    let place =
        if from == to { "; out may be in itself, or apart from it" } else { ", apart from in" };
    let parts: Vec<String> = ports
        .inputs
        .iter()
        .map(|port| format!("{} of {}", Shape::of(port).bytes(), port.name))
        .collect();
    let parts = if parts.len() > 1 { format!(" ({})", parts.join(", ")) } else { String::new() };
    let about = format!(
        "/* `nblocks` blocks, {from} bytes each{parts} at in, to {to} bytes each at out{place}. \
         Any alignment. */"
    );
    match (ports.key, function.key) {
        (Some(port), Some(key)) => {
            let shape = Shape::of(port);
            let bytes = match key.schedule {
                Some(schedule) => Shape::of(&schedule.kernel.program.entry().params[0]).bytes(),
                None => shape.bytes(),
            };
            let word = keys::word_of(port);
            let _ = write!(
                text,
                "/* The words of the round keys. Secret. */\n\
                 typedef struct {{\n    {word} key[{}];\n}} {name}_ctx;\n\n\
                 /* Sets up `ctx` from a key of {bytes} bytes. */\n\
                 void {name}_init({name}_ctx *ctx, const uint8_t *key);\n\n\
                 {about}\n\
                 void {name}_blocks(const {name}_ctx *ctx, const uint8_t *in, uint8_t *out, \
                 size_t nblocks);\n",
                shape.words
            );
        }
        _ => {
            let _ = write!(
                text,
                "{about}\nvoid {name}_blocks(const uint8_t *in, uint8_t *out, size_t nblocks);\n"
            );
        }
    }
    text += "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    Ok(text)
}

/// The functions, with [`declarations`] on top. The text belongs below the kernel, and the
/// kernel of the schedule if there is one, in the same C file.
///
/// # Errors
/// The names of the function are not those of the program, or a layout and a word size do not
/// go together on this target.
pub fn definitions(function: &Function, target: &Target) -> Result<String, Diagnostic> {
    let ports = function.ports()?;
    let (key, name) = (ports.key, function.name);
    let wiped = |name: &str, parameters: &str, arguments: &str, bytes: usize| match function.wipe {
        true => wipe::around(name, parameters, arguments, bytes),
        false => Wiped { head: format!("void {name}({parameters})"), behind: String::new() },
    };
    let mut body = String::new();
    if let (Some(port), Some(key)) = (key, function.key) {
        let init = keys::init(function, key, port, "ctx->key")?;
        let parameters = format!("{name}_ctx *ctx, const uint8_t *key");
        let bytes = wipe::of_key(key.schedule.as_ref(), port, target);
        let Wiped { head, behind } = wiped(&format!("{name}_init"), &parameters, "ctx, key", bytes);
        let _ = write!(body, "\n{head} {{\n{init}}}\n{behind}");
    }
    let (context, first) = match key {
        Some(_) => (format!("const {name}_ctx *ctx, "), "ctx, "),
        None => (String::new(), ""),
    };
    let parameters = format!("{context}const uint8_t *in, uint8_t *out, size_t nblocks");
    let arguments = format!("{first}in, out, nblocks");
    let bytes = wipe::of_blocks(function, &ports, target);
    let Wiped { head, behind } = wiped(&format!("{name}_blocks"), &parameters, &arguments, bytes);
    let head = format!("\n{head} {{\n");
    let moving = moving(function, target, Entry { head: &head, words: "ctx->key" })?;
    body = moving + &behind + &body;
    if function.wipe && body.contains(&format!("{name}_copy(")) {
        body = wipe::copying(name) + &body;
    }
    let text = declarations(function)? + "\n#include <string.h>\n\n";
    Ok(text + &support(&body, target) + &body)
}

/// The function over any number of blocks, as far as callers differ.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    /// Its signature and the opening brace.
    pub head: &'a str,
    /// The C of the array with the words of the key.
    pub words: &'a str,
}

/// Packing, unpacking, batches, and `entry` over any number of blocks.
pub(super) fn moving(
    function: &Function,
    target: &Target,
    entry: Entry,
) -> Result<String, Diagnostic> {
    let ports = function.ports()?;
    let layout = crate::emit::layout(function.kernel.program, target);
    let (from, to) = ports.blocks();
    let (from, to) = movers(function, &ports, target, layout, (&|_| from, to))?;
    let mut body = String::new();
    for (part, mover) in parts(&ports.inputs).zip(&from) {
        mover.function(&mut body, &format!("{}_pack{}", function.name, part.suffix), Way::Pack)?;
    }
    to.function(&mut body, &format!("{}_unpack", function.name), Way::Unpack)?;
    blocks(&mut body, function, target, layout, &ports, entry);
    Ok(body)
}

/// The macros and helpers that `body` is written in.
pub(super) fn support(body: &str, target: &Target) -> String {
    let mut text = String::new();
    if target.simd {
        text += &macros::vector(target);
    }
    // Macros are free where nobody uses them, but functions draw warnings.
    for bits in [32, 64] {
        if body.contains(macros::scalar_prefix(bits)) {
            text += &macros::scalar(bits);
        }
    }
    for (name, helper) in words::HELPERS {
        if body.contains(name) {
            text += helper;
        }
    }
    text
}

/// An input with its place in a block.
struct Part<'a> {
    port: &'a Port,
    /// What the names that are about it end with: nothing if it is the only one, else its number.
    suffix: String,
    /// Its first byte.
    offset: usize,
}

fn parts<'a>(inputs: &'a [&'a Port]) -> impl Iterator<Item = Part<'a>> {
    let mut offset = 0;
    inputs.iter().enumerate().map(move |(number, port)| {
        let suffix = if inputs.len() > 1 { number.to_string() } else { String::new() };
        let part = Part { port, suffix, offset };
        offset += Shape::of(port).bytes();
        part
    })
}

/// How a port moves between bytes and registers.
enum How {
    Tiles(Tiles),
    /// Word by word into integers: one instance.
    Words,
    /// Word by word into lanes of so many bits.
    Lanes(u8),
    /// Vectors of so many words as they are.
    Vectors(u8),
}

/// A port with the way it moves.
pub(super) struct Mover<'a> {
    shape: Shape,
    bytes: ByteLayout,
    /// Bytes from block to block.
    pitch: usize,
    how: How,
    target: &'a Target,
    lanes: usize,
    /// Words up to this number move one by one.
    straight: usize,
}

/// The movers of the inputs and of the output, which are so many bytes from block to block. All put
/// the same instance in the same lane.
pub(super) fn movers<'a>(
    function: &Function<'a>,
    ports: &Ports<'a>,
    target: &'a Target,
    layout: Layout,
    (from, to): (&dyn Fn(&Port) -> usize, usize),
) -> Result<(Vec<Mover<'a>>, Mover<'a>), Diagnostic> {
    let lanes = target.lanes(layout) as usize;
    let mover = |port: &'a Port, parameter: Parameter, pitch: usize, natural: bool| {
        let (shape, bytes) = (Shape::of(port), parameter.bytes);
        let file = File { bits: target.bits, vector: target.simd };
        let tiles =
            || Tiles::new(shape, bytes, pitch, layout, lanes, file, natural).map(How::Tiles);
        let how = match layout {
            Layout::Words => How::Words,
            Layout::Lanes(lane) => tiles().unwrap_or(How::Lanes(lane)),
            Layout::Vectors { words, .. } => match bytes {
                ByteLayout::Be | ByteLayout::Le => How::Vectors(words),
                ByteLayout::Planes | ByteLayout::LeBits => return Err(unsupported(port, bytes)),
            },
            _ => tiles().ok_or_else(|| unsupported(port, bytes))?,
        };
        let straight = if function.rolled { 1 } else { words::STRAIGHT };
        Ok(Mover { shape, bytes, pitch, how, target, lanes, straight })
    };
    let all = |natural| {
        let inputs = ports.inputs.iter().zip(function.inputs);
        let inputs = inputs.map(|(port, parameter)| mover(port, *parameter, from(port), natural));
        Ok((
            inputs.collect::<Result<Vec<_>, _>>()?,
            mover(ports.output, function.output, to, natural)?,
        ))
    };
    let order = |mover: &Mover| match &mover.how {
        How::Tiles(tiles) => Some(tiles.lane_order()),
        How::Words | How::Lanes(_) | How::Vectors(_) => None,
    };
    let (inputs, output) = all(false)?;
    if inputs.iter().all(|input| order(input) == order(&output)) {
        return Ok((inputs, output));
    }
    all(true)
}

fn unsupported(port: &Port, bytes: ByteLayout) -> Diagnostic {
    let name = ByteLayout::ALL.iter().find(|(_, layout)| *layout == bytes).map_or("", |(n, _)| n);
    let message = format!(
        "the byte layout `{name}` of `{}` ({} words of {} bits) has no transposition here",
        port.name,
        port.words(),
        port.word
    );
    Diagnostic::global(Code::NotSupported, message)
        .help("horizontal slicing wants powers of two; the others take every layout")
}

impl Mover<'_> {
    /// The C type of a register.
    fn register(&self) -> &'static str {
        match self.how {
            How::Words => word_type(word_lane(self.shape.bits)),
            _ => self.target.register,
        }
    }

    /// `static void name(const uint8_t *bytes, T *regs)` to pack; to unpack the `const` is on the
    /// other side.
    pub(super) fn function(
        &self,
        text: &mut String,
        name: &str,
        way: Way,
    ) -> Result<(), Diagnostic> {
        let register = self.register();
        let signature = match way {
            Way::Pack => format!("{name}(const uint8_t *bytes, {register} *regs)"),
            Way::Unpack => format!("{name}(const {register} *regs, uint8_t *bytes)"),
        };
        let body = match &self.how {
            How::Tiles(tiles) => {
                let file = File { bits: self.target.bits, vector: self.target.simd };
                let width = if self.target.regs >= 32 { 4 } else { 3 };
                let writer = Writer { file, register, width };
                transpose::statements(writer, tiles, way, &|value| format!("regs[{value}]"))
            }
            How::Words => {
                let at = |i: &str| format!("regs[{i}]");
                let Mover { shape, straight, bytes, .. } = *self;
                match way {
                    Way::Pack => read_words(shape, straight, bytes, "bytes", &at),
                    Way::Unpack => write_words(shape, straight, bytes, "bytes", &at),
                }
            }
            How::Lanes(lane) => self.lanes(*lane, way),
            How::Vectors(words) => self.vectors(*words as usize, way),
        };
        let _ = write!(text, "\nstatic void {signature} {{\n{body}}}\n");
        Ok(())
    }

    /// Vectors of `vector` words, whose memory is that of the block: little-endian words are loaded,
    /// big-endian ones turned around in the register.
    fn vectors(&self, vector: usize, way: Way) -> String {
        let Mover { shape, bytes, pitch, lanes, .. } = *self;
        let (p, registers) = (macros::VECTOR, shape.words / vector);
        let (size, width) = (self.target.bits as usize / 8, shape.bits as usize / 8);
        let turned = |value: &str| {
            if bytes == ByteLayout::Le || width == 1 {
                return value.to_string();
            }
            let half = |from: usize| {
                (from..from + 8).rev().fold(0u64, |sum, at| {
                    sum << 8 | (at / width * width + width - 1 - at % width) as u64
                })
            };
            let order = format!("{p}BYTES(0x{:016x}ULL, 0x{:016x}ULL)", half(0), half(8));
            format!("{p}SHUFFLE({value}, {order})")
        };
        let head = format!("    for (i = 0; i < {registers}; i++)");
        let load = |from: &str| {
            let value = turned(&format!("{p}LOAD({from} + {size} * i)"));
            format!("{head} regs[i] = {value};\n")
        };
        let store =
            |to: &str| format!("{head} {p}STORE({to} + {size} * i, {});\n", turned("regs[i]"));
        if lanes == 1 {
            let body = if way == Way::Pack { load("bytes") } else { store("bytes") };
            return format!("    size_t i;\n{body}");
        }
        // Several instances in a register: the vectors of one block are apart.
        let chunk = size / lanes;
        let inside = format!("place + {chunk} * ({lanes} * i + j)");
        let outside = format!("bytes + {pitch} * j + {chunk} * i");
        let (to, from) = if way == Way::Pack { (&inside, &outside) } else { (&outside, &inside) };
        let copies = format!(
            "    for (j = 0; j < {lanes}; j++)\n        for (i = 0; i < {registers}; i++) \
             memcpy({to}, {from}, {chunk});\n"
        );
        let body = match way {
            Way::Pack => copies + &load("place"),
            Way::Unpack => store("place") + &copies,
        };
        format!("    uint8_t place[{}];\n    size_t i, j;\n{body}", size * registers)
    }

    /// Word by word through an array with the layout of the registers.
    fn lanes(&self, lane: u8, way: Way) -> String {
        let Mover { shape, bytes, pitch, lanes, .. } = *self;
        let words = shape.words;
        let t = word_type(lane);
        let mut text = format!(
            "    {t} lane[{}];\n    uint8_t *place = (uint8_t *)lane;\n    size_t i, j;\n",
            words * lanes
        );
        let p = macros::VECTOR;
        let size = self.target.bits / 8;
        let pointer = format!("{pitch} * j + bytes");
        let at = format!("lane[{lanes} * i + j]");
        match way {
            Way::Pack => {
                let word = words::get(shape, bytes, &pointer, "i");
                let _ = write!(
                    text,
                    "    for (j = 0; j < {lanes}; j++)\n        for (i = 0; i < {words}; i++) \
                     {at} = {word};\n    \
                     for (i = 0; i < {words}; i++) regs[i] = {p}LOAD(place + {size} * i);\n"
                );
            }
            Way::Unpack => {
                let put = words::put(shape, bytes, &pointer, "i", &at);
                let pad = match words * shape.bits as usize % 8 {
                    0 => String::new(),
                    _ => format!(
                        "    for (j = 0; j < {lanes}; j++) bytes[{pitch} * j + {}] = 0;\n",
                        shape.bytes() - 1
                    ),
                };
                let _ = write!(
                    text,
                    "    for (i = 0; i < {words}; i++) {p}STORE(place + {size} * i, regs[i]);\n{pad}    \
                     for (j = 0; j < {lanes}; j++)\n        for (i = 0; i < {words}; i++) {{ {put} }}\n"
                );
            }
        }
        text
    }
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
        .unwrap_or_else(|| words::read(shape, straight, bytes, block, to))
}

/// The opposite of [`read_words`].
fn write_words(
    shape: Shape,
    straight: usize,
    bytes: ByteLayout,
    block: &str,
    from: &dyn Fn(&str) -> String,
) -> String {
    let bytes = plain(shape, bytes);
    woven(shape, bytes, Way::Unpack, block, from)
        .unwrap_or_else(|| words::write(shape, straight, bytes, block, from))
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
    let file = File { bits: bits as u32, vector: false };
    let tiles = Tiles::new(row, bytes, row.bytes(), Layout::Words, 1, file, false)?;
    let register = format!("uint{bits}_t");
    let writer = Writer { file, register: &register, width: 3 };
    let moved = transpose::statements(writer, &tiles, way, &|value| format!("u[{value}]"));
    let t = word_type(word_lane(row.bits));
    let lanes = bits / row.bits as usize;
    let mut words = String::new();
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
                    let _ = writeln!(
                        words,
                        "        {word} = ({t})(u[{register_number}] >> {shift}{mask});"
                    );
                }
            }
            Way::Unpack => {
                let terms: Vec<String> = (0..lanes)
                    .map(|lane| format!("({register}){} << {}", word(lane), shift(lane)))
                    .collect();
                let _ = writeln!(words, "        u[{register_number}] = {};", terms.join(" | "));
            }
        }
    }
    let rows = shape.words / shape.row;
    let constant = if way == Way::Pack { "const " } else { "" };
    let (first, second) = if way == Way::Pack { (&moved, &words) } else { (&words, &moved) };
    let outer = if block == "bytes" { "all_" } else { block };
    let rename = if block == "bytes" {
        format!("    {{ {constant}uint8_t *all_ = bytes; size_t n;\n")
    } else {
        "    { size_t n;\n".to_string()
    };
    Some(format!(
        "{rename}    for (n = 0; n < {rows}; n++) {{\n        {register} u[{}];\n        \
         {constant}uint8_t *bytes = {outer} + {} * n;\n{first}{second}    }}\n    }}\n",
        tiles.count,
        row.bytes(),
    ))
}

/// One kernel with the C function around it that takes a batch of bytes.
struct Batch<'a> {
    /// `name_batch`, `name_set`
    name: String,
    kernel: Kernel<'a>,
    /// Blocks.
    size: usize,
}

/// Hides from compilers that few blocks are left. One that knows writes copies of its own, which
/// look at the lowest bits of addresses, and are no faster than those of the C library.
const HIDDEN: &str = "#ifdef __GNUC__\n        __asm__ (\"\" : \"+r\"(nblocks));\n#endif\n";

/// `name_batch`, one call of the kernel; `name_set`, one of the kernel without interleaving if
/// there is one; and `entry`, which loops over batches.
fn blocks<'a>(
    text: &mut String,
    function: &Function<'a>,
    target: &Target,
    layout: Layout,
    ports: &Ports,
    entry: Entry,
) {
    let name = function.name;
    let c_type = |port: &Port| port_type(target, layout, function.slicing(), port);
    let lanes = target.lanes(layout) as usize;
    let (from, to) = ports.blocks();
    let batch = |what: &str, kernel: Kernel<'a>| Batch {
        name: format!("{name}_{what}"),
        size: lanes * kernel.program.copies as usize,
        kernel,
    };
    let large = batch("batch", function.kernel);
    let single = function.single.filter(|_| function.kernel.program.copies > 1);
    let small = single.map(|kernel| batch("set", kernel));
    for batch in [Some(&large), small.as_ref()].into_iter().flatten() {
        *text += &batch_function(function, batch, &c_type, ports);
    }
    *text += entry.head;
    let mut keys_argument = String::new();
    if let Some(key) = ports.key {
        if layout == Layout::Words {
            keys_argument = format!("{}, ", entry.words);
        } else {
            keys_argument = "keys, ".to_string();
            let index = if layout == Layout::Bits { "size_t i, b;" } else { "size_t i;" };
            let registers = key.values(function.slicing());
            let _ = writeln!(text, "    {} keys[{registers}];\n    {index}", c_type(key));
            let flips = flips(function, key);
            *text += &keys::broadcast(target, layout, key, entry.words, &flips);
        }
    }
    let whole = |batch: &Batch, at_least: usize| {
        let Batch { name, size, .. } = batch;
        format!(
            "    for (; nblocks >= {at_least}; nblocks -= {size}, in += {}, out += {})\n        \
             {name}({keys_argument}in, out);\n",
            size * from,
            size * to
        )
    };
    let rest = |batch: &Batch| {
        let Batch { name, size, .. } = batch;
        let (copy, zero) = match function.wipe {
            true => (format!("{}_copy", function.name), format!("{}_zero(", function.name)),
            false => ("memcpy".to_string(), "memset(".to_string()),
        };
        let what = if function.wipe { "" } else { "0, " };
        format!(
            "uint8_t first[{}], last[{}];\n{HIDDEN}        \
             {copy}(first, in, {from} * nblocks);\n        \
             {zero}first + {from} * nblocks, {what}{from} * ({size} - nblocks));\n        \
             {name}({keys_argument}first, last);\n        \
             {copy}(out, last, {to} * nblocks);\n",
            size * from,
            size * to
        )
    };
    *text += &whole(&large, large.size);
    match &small {
        None if large.size > 1 => {
            let _ = write!(text, "    if (nblocks) {{\n        {}    }}\n", rest(&large));
        }
        None => {}
        Some(small) => {
            let half = large.size / 2;
            let _ = write!(
                text,
                "    if (nblocks > {half}) {{\n        {}        return;\n    }}\n",
                rest(&large)
            );
            *text += &whole(small, small.size);
            if small.size > 1 {
                let _ = write!(text, "    if (nblocks) {{\n        {}    }}\n", rest(small));
            }
        }
    }
    text.push_str("}\n");
}

/// For each word of the key the bits that the kernels take as complements; empty if there are none.
fn flips(function: &Function, key: &Port) -> Vec<u64> {
    let Kernel { program, complemented_keys, .. } = function.kernel;
    if !complemented_keys {
        return Vec::new();
    }
    let turned = crate::emit::keys::complemented(program);
    let before: usize = program
        .entry()
        .params
        .iter()
        .take_while(|port| port.name != key.name)
        .map(|port| port.values(program.slicing))
        .sum();
    let turned = &turned[before..][..key.values(program.slicing)];
    // A vector is turned with all of its words.
    let vector = program.vector as usize;
    let turned: Vec<bool> =
        turned.iter().flat_map(|&turned| std::iter::repeat_n(turned, vector)).collect();
    if !turned.contains(&true) {
        return Vec::new();
    }
    let (words, bits) = (Shape::of(key).words, Shape::of(key).bits as usize);
    let each = turned.len() / words;
    let word = |values: &[bool]| match each {
        // Of one bit each, the most significant one first.
        _ if each == bits => values.iter().fold(0, |mask, &bit| mask << 1 | u64::from(bit)),
        _ if values[0] => crate::ir::op::mask(bits as u8),
        _ => 0,
    };
    turned.chunks(each).map(word).collect()
}

/// Packs the register sets of one call, calls the kernel, and unpacks them.
fn batch_function(
    function: &Function,
    batch: &Batch,
    c_type: &dyn Fn(&Port) -> &'static str,
    ports: &Ports,
) -> String {
    let (program, name) = (batch.kernel.program, function.name);
    let slicing = program.slicing;
    let copies = program.copies as usize;
    let lanes = batch.size / copies;
    let (from, to) = ports.blocks();
    let output = ports.output;
    let at = |array: &str, registers: usize, copy: usize| match copy {
        0 => array.to_string(),
        _ => format!("{array} + {}", registers * copy),
    };
    let inputs: Vec<Part> = parts(&ports.inputs).collect();
    let mut args = Vec::new();
    for group in program.params() {
        let part = inputs.iter().find(|part| part.port.name == group[0].name);
        for copy in 0..group.len() {
            args.push(part.map_or("keys".to_string(), |part| {
                at(&format!("x{}", part.suffix), part.port.values(slicing), copy)
            }));
        }
    }
    let outs = output.values(slicing);
    args.extend((0..copies).map(|copy| at("y", outs, copy)));
    let keyed = ports.key.map(|key| format!("const {} *keys, ", c_type(key))).unwrap_or_default();
    let mut text =
        format!("\nstatic void {}({keyed}const uint8_t *in, uint8_t *out) {{\n", batch.name);
    let mut packs = String::new();
    for Part { port, suffix, offset } in &inputs {
        let registers = port.values(slicing);
        let _ = writeln!(text, "    {} x{suffix}[{}];", c_type(port), registers * copies);
        let bytes = at("in", *offset, (*offset > 0) as usize);
        let _ = if copies == 1 {
            writeln!(packs, "    {name}_pack{suffix}({bytes}, x{suffix});")
        } else {
            writeln!(
                packs,
                "    for (c = 0; c < {copies}; c++) \
                 {name}_pack{suffix}({bytes} + {} * c, x{suffix} + {registers} * c);",
                lanes * from
            )
        };
    }
    let _ = writeln!(text, "    {} y[{}];", c_type(output), outs * copies);
    if copies > 1 {
        text += "    size_t c;\n";
    }
    let _ = writeln!(text, "{packs}    {}({});", batch.kernel.symbol, args.join(", "));
    if copies == 1 {
        let _ = writeln!(text, "    {name}_unpack(y, out);");
    } else {
        let _ = writeln!(
            text,
            "    for (c = 0; c < {copies}; c++) {name}_unpack(y + {outs} * c, out + {} * c);",
            lanes * to
        );
    }
    text + "}\n"
}
