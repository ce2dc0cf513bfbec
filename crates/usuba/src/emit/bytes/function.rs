//! Puts the parts of a function together.

use std::fmt::Write;

use super::tiles::{File, Tiles};
use super::transpose::{self, Way, Writer};
use super::words;
use super::{ByteLayout, Function, Kernel, Parameter, Shape, keys, macros};
use crate::diag::{Code, Diagnostic};
use crate::emit::port_type;
use crate::ir::Port;
use crate::target::{Layout, Target, word_lane, word_type};

/// The type of the context and the prototypes, for a header or on top of [`definitions`]. They
/// do not depend on the target.
///
/// # Errors
/// The names of the function are not those of the program.
pub fn declarations(function: &Function) -> Result<String, Diagnostic> {
    let name = function.name;
    let guard = format!("USUBA_{}_DECLARED", name.to_uppercase());
    let (input, output, key) = function.ports()?;
    let mut text = format!(
        "#ifndef {guard}\n#define {guard}\n#include <stddef.h>\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    );
    let (from, to) = (Shape::of(input).bytes(), Shape::of(output).bytes());
    let place =
        if from == to { "; out may be in itself, or apart from it" } else { ", apart from in" };
    let about = format!(
        "/* `nblocks` blocks, {from} bytes each at in, to {to} bytes each at out{place}. \
         Any alignment. */"
    );
    match (key, function.key) {
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
    let (_, _, key) = function.ports()?;
    let name = function.name;
    let mut body = String::new();
    if let (Some(port), Some(key)) = (key, function.key) {
        let init = keys::init(function, key, port, "ctx->key")?;
        let _ =
            write!(body, "\nvoid {name}_init({name}_ctx *ctx, const uint8_t *key) {{\n{init}}}\n");
    }
    let context = key.map(|_| format!("const {name}_ctx *ctx, ")).unwrap_or_default();
    let head = format!(
        "\nvoid {name}_blocks({context}const uint8_t *in, uint8_t *out, size_t nblocks) {{\n"
    );
    body = moving(function, target, Entry { head: &head, words: "ctx->key" })? + &body;
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
    let (from, to) = movers(function, target, layout)?;
    let mut body = String::new();
    from.function(&mut body, function.name, Way::Pack)?;
    to.function(&mut body, function.name, Way::Unpack)?;
    blocks(&mut body, function, target, layout, ports, entry);
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
    if body.contains("usuba_get(") {
        text += words::GET;
    }
    if body.contains("usuba_put(") {
        text += words::PUT;
    }
    text
}

/// How a port moves between bytes and registers.
enum How {
    Tiles(Tiles),
    /// Word by word into integers: one instance.
    Words,
    /// Word by word into lanes of so many bits.
    Lanes(u8),
}

/// A port with the way it moves.
struct Mover<'a> {
    port: &'a Port,
    shape: Shape,
    bytes: ByteLayout,
    how: How,
    target: &'a Target,
    lanes: usize,
}

/// The movers of the input and of the output. Both put the same instance in the same lane.
fn movers<'a>(
    function: &Function<'a>,
    target: &'a Target,
    layout: Layout,
) -> Result<(Mover<'a>, Mover<'a>), Diagnostic> {
    let (input, output, _) = function.ports()?;
    let lanes = target.lanes(layout) as usize;
    let mover = |port: &'a Port, parameter: Parameter, natural: bool| {
        let (shape, bytes) = (Shape::of(port), parameter.bytes);
        let file = File { bits: target.bits, vector: target.simd };
        let tiles = || Tiles::new(shape, bytes, layout, lanes, file, natural).map(How::Tiles);
        let how = match layout {
            Layout::Words => How::Words,
            Layout::Lanes(lane) if bytes != ByteLayout::Planes => {
                tiles().unwrap_or(How::Lanes(lane))
            }
            _ => tiles().ok_or_else(|| unsupported(port, bytes))?,
        };
        Ok(Mover { port, shape, bytes, how, target, lanes })
    };
    let (from, to) = (mover(input, function.input, false)?, mover(output, function.output, false)?);
    let agree = match (&from.how, &to.how) {
        (How::Tiles(from), How::Tiles(to)) => from.lane_order() == to.lane_order(),
        (How::Tiles(_), _) | (_, How::Tiles(_)) => false,
        _ => true,
    };
    if agree {
        return Ok((from, to));
    }
    Ok((mover(input, function.input, true)?, mover(output, function.output, true)?))
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
        .help("bitslicing takes every layout; `planes` wants powers of two elsewhere")
}

impl Mover<'_> {
    /// The C type of a register.
    fn register(&self) -> &'static str {
        match self.how {
            How::Words => word_type(word_lane(self.shape.bits)),
            _ => self.target.register,
        }
    }

    /// `static void name_pack(const uint8_t *bytes, T *regs)`, or `name_unpack` with `const` on
    /// the other side.
    fn function(&self, text: &mut String, name: &str, way: Way) -> Result<(), Diagnostic> {
        let register = self.register();
        let signature = match way {
            Way::Pack => format!("{name}_pack(const uint8_t *bytes, {register} *regs)"),
            Way::Unpack => format!("{name}_unpack(const {register} *regs, uint8_t *bytes)"),
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
                match way {
                    Way::Pack => read_words(self.port, self.shape, self.bytes, "bytes", &at)?,
                    Way::Unpack => write_words(self.port, self.shape, self.bytes, "bytes", &at)?,
                }
            }
            How::Lanes(lane) => self.lanes(*lane, way),
        };
        let _ = write!(text, "\nstatic void {signature} {{\n{body}}}\n");
        Ok(())
    }

    /// Word by word through an array with the layout of the registers.
    fn lanes(&self, lane: u8, way: Way) -> String {
        let Mover { shape, bytes, lanes, .. } = *self;
        let (words, block) = (shape.words, shape.bytes());
        let t = word_type(lane);
        let mut text = format!(
            "    {t} lane[{}];\n    uint8_t *place = (uint8_t *)lane;\n    size_t i, j;\n",
            words * lanes
        );
        let p = macros::VECTOR;
        let size = self.target.bits / 8;
        let pointer = format!("{block} * j + bytes");
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
                        "    for (j = 0; j < {lanes}; j++) bytes[{block} * j + {}] = 0;\n",
                        block - 1
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

/// Statements that read the words of `port` from the bytes at `block` into integers.
///
/// # Errors
/// The layout has no transposition.
pub fn read_words(
    port: &Port,
    shape: Shape,
    bytes: ByteLayout,
    block: &str,
    to: &dyn Fn(&str) -> String,
) -> Result<String, Diagnostic> {
    match plain(shape, bytes) {
        Some(bytes) => Ok(words::read(shape, bytes, block, to)),
        None => woven(port, shape, Way::Pack, block, to),
    }
}

/// The opposite of [`read_words`].
fn write_words(
    port: &Port,
    shape: Shape,
    bytes: ByteLayout,
    block: &str,
    from: &dyn Fn(&str) -> String,
) -> Result<String, Diagnostic> {
    match plain(shape, bytes) {
        Some(bytes) => Ok(words::write(shape, bytes, block, from)),
        None => woven(port, shape, Way::Unpack, block, from),
    }
}

/// The layout that moves word by word, if there is one: planes of a single word, or of single
/// bits, are the bits in their order.
fn plain(shape: Shape, bytes: ByteLayout) -> Option<ByteLayout> {
    match bytes {
        ByteLayout::Planes if shape.row == 1 || shape.bits == 1 => Some(ByteLayout::Be),
        ByteLayout::Planes => None,
        other => Some(other),
    }
}

/// Planes and integers: transposes each row in 64-bit (or 32-bit) registers that hold several
/// words each.
fn woven(
    port: &Port,
    shape: Shape,
    way: Way,
    block: &str,
    at: &dyn Fn(&str) -> String,
) -> Result<String, Diagnostic> {
    let failed = || unsupported(port, ByteLayout::Planes);
    let row = Shape { words: shape.row, ..shape };
    let bits = if row.bytes() >= 8 { 64 } else { 32 };
    if row.bytes() * 8 < bits || !(row.words * row.bits as usize).is_multiple_of(8) {
        return Err(failed());
    }
    let file = File { bits: bits as u32, vector: false };
    let tiles =
        Tiles::new(row, ByteLayout::Planes, Layout::Words, 1, file, false).ok_or_else(failed)?;
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
                for lane in 0..lanes {
                    let _ = writeln!(
                        words,
                        "        {} = ({t})(u[{register_number}] >> {});",
                        word(lane),
                        shift(lane)
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
    Ok(format!(
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

/// `name_batch`, one call of the kernel; `name_set`, one of the kernel without interleaving if
/// there is one; and `entry`, which loops over batches.
fn blocks<'a>(
    text: &mut String,
    function: &Function<'a>,
    target: &Target,
    layout: Layout,
    (input, output, key): (&Port, &Port, Option<&Port>),
    entry: Entry,
) {
    let name = function.name;
    let c_type = |port: &Port| port_type(target, layout, function.slicing(), port);
    let lanes = target.lanes(layout) as usize;
    let (from, to) = (Shape::of(input).bytes(), Shape::of(output).bytes());
    let batch = |what: &str, kernel: Kernel<'a>| Batch {
        name: format!("{name}_{what}"),
        size: lanes * kernel.program.copies as usize,
        kernel,
    };
    let large = batch("batch", function.kernel);
    let single = function.single.filter(|_| function.kernel.program.copies > 1);
    let small = single.map(|kernel| batch("set", kernel));
    for batch in [Some(&large), small.as_ref()].into_iter().flatten() {
        *text += &batch_function(function, batch, &c_type, (input, output, key));
    }
    *text += entry.head;
    let mut keys_argument = String::new();
    if let Some(key) = key {
        if layout == Layout::Words {
            keys_argument = format!("{}, ", entry.words);
        } else {
            keys_argument = "keys, ".to_string();
            let index = if layout == Layout::Bits { "size_t i, b;" } else { "size_t i;" };
            let registers = key.values(function.slicing());
            let _ = writeln!(text, "    {} keys[{registers}];\n    {index}", c_type(key));
            *text += &keys::broadcast(target, layout, key, entry.words);
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
        format!(
            "uint8_t first[{}], last[{}];\n        \
             memcpy(first, in, {from} * nblocks);\n        \
             memset(first + {from} * nblocks, 0, {from} * ({size} - nblocks));\n        \
             {name}({keys_argument}first, last);\n        \
             memcpy(out, last, {to} * nblocks);\n",
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

/// Packs the register sets of one call, calls the kernel, and unpacks them.
fn batch_function(
    function: &Function,
    batch: &Batch,
    c_type: &dyn Fn(&Port) -> &'static str,
    (input, output, key): (&Port, &Port, Option<&Port>),
) -> String {
    let (program, name) = (batch.kernel.program, function.name);
    let slicing = program.slicing;
    let copies = program.copies as usize;
    let (from, to) = (Shape::of(input).bytes(), Shape::of(output).bytes());
    let (ins, outs) = (input.values(slicing), output.values(slicing));
    let at = |array: &str, registers: usize, copy: usize| match copy {
        0 => array.to_string(),
        _ => format!("{array} + {}", registers * copy),
    };
    let mut args = Vec::new();
    for group in program.params() {
        for copy in 0..group.len() {
            let data = group[0].name == input.name;
            args.push(if data { at("x", ins, copy) } else { "keys".to_string() });
        }
    }
    args.extend((0..copies).map(|copy| at("y", outs, copy)));
    let keyed = key.map(|key| format!("const {} *keys, ", c_type(key))).unwrap_or_default();
    let mut text = format!(
        "\nstatic void {}({keyed}const uint8_t *in, uint8_t *out) {{\n    \
         {} x[{}];\n    {} y[{}];\n",
        batch.name,
        c_type(input),
        ins * copies,
        c_type(output),
        outs * copies,
    );
    let lanes = batch.size / copies;
    let call = format!("    {}({});\n", batch.kernel.symbol, args.join(", "));
    if copies == 1 {
        let _ = write!(text, "    {name}_pack(in, x);\n{call}    {name}_unpack(y, out);\n");
    } else {
        let _ = write!(
            text,
            "    size_t c;\n    \
             for (c = 0; c < {copies}; c++) {name}_pack(in + {} * c, x + {ins} * c);\n{call}    \
             for (c = 0; c < {copies}; c++) {name}_unpack(y + {outs} * c, out + {} * c);\n",
            lanes * from,
            lanes * to,
        );
    }
    text + "}\n"
}
