//! Functions that move one port between the bytes of blocks and registers.

use super::tiles::{File, Tiles};
use super::transpose::{self, Way, Writer};
use super::{ByteLayout, Function, Parameter, Ports, Shape, macros, words};
use crate::diag::{Code, Diagnostic};
use crate::emit::template::{context, template};
use crate::ir::Port;
use crate::isa::{Layout, Target, word_lane, word_type};

/// How a port moves between bytes and registers.
enum How {
    Tiles(Tiles),
    /// Word by word into integers: one instance.
    Words,
    /// Word by word into lanes with this number of bits.
    Lanes(u8),
    /// Vectors of several groups with this number of words, as they are.
    Vectors(u8),
}

/// A port with the way it moves.
pub struct Mover<'a> {
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

/// The movers of the inputs and of the output, with the bytes from block to block. All put
/// the same instance in the same lane.
pub fn movers<'a>(
    function: &Function<'a>,
    ports: &Ports<'a>,
    target: &'a Target,
    layout: Layout,
    (from, to): (&dyn Fn(&Port) -> usize, usize),
) -> Result<(Vec<Mover<'a>>, Mover<'a>), Diagnostic> {
    let lanes = target.lanes(layout) as usize;
    let mover = |port: &'a Port, parameter: Parameter, pitch: usize, natural: bool| {
        let (shape, bytes) = (Shape::of(port), parameter.bytes);
        let file = File::of(target);
        let tiles =
            || Tiles::new(shape, bytes, pitch, layout, lanes, file, natural).map(How::Tiles);
        let how = match layout {
            Layout::Words => How::Words,
            Layout::Lanes(lane) => tiles().unwrap_or(How::Lanes(lane)),
            Layout::Vectors { words, lane } => match bytes {
                ByteLayout::Be | ByteLayout::Le if words as u32 * lane as u32 == 128 => {
                    tiles().ok_or_else(|| unsupported(port, bytes))?
                }
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

/// Statements with a word before each loop.
fn straight(body: &str, copied: &str) -> String {
    let line = |line: &str| match line.trim_start().starts_with("for (") {
        true => format!("    {copied}\n{line}\n"),
        false => format!("{line}\n"),
    };
    body.lines().map(line).collect()
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
    pub fn function(&self, name: &str, way: Way) -> String {
        let register = self.register();
        let parameters = match way {
            Way::Pack => {
                format!("const uint8_t *__restrict bytes, {register} *__restrict regs")
            }
            Way::Unpack => {
                format!("const {register} *__restrict regs, uint8_t *__restrict bytes")
            }
        };
        let body = match &self.how {
            How::Tiles(tiles) => self.statements(tiles, way, false),
            How::Words => {
                let at = |i: &str| format!("regs[{i}]");
                let Mover { shape, straight, bytes, .. } = *self;
                match way {
                    Way::Pack => words::read_words(shape, straight, bytes, "bytes", &at),
                    Way::Unpack => words::write_words(shape, straight, bytes, "bytes", &at),
                }
            }
            How::Lanes(lane) => self.lanes(*lane, way),
            How::Vectors(words) => self.vectors(*words as usize, way),
        };
        self.defined(name, &parameters, &body)
    }

    /// `static void name(const T *regs, const uint8_t *text, uint8_t *bytes)`, which unpacks and XORs
    /// the bytes `text`, which may be `bytes`: on vector registers, by tiles that do not overlap.
    pub fn xoring(&self, name: &str) -> Option<String> {
        let How::Tiles(tiles) = &self.how else { return None };
        (self.target.simd && tiles.are_apart()).then(|| {
            let register = self.register();
            let parameters = format!("const {register} *regs, const uint8_t *text, uint8_t *bytes");
            self.defined(name, &parameters, &self.statements(tiles, Way::Unpack, true))
        })
    }

    /// The C that moves tiles.
    fn statements(&self, tiles: &Tiles, way: Way, xors: bool) -> String {
        let (file, register) = (File::of(self.target), self.register());
        let width = if self.target.regs >= 32 { 4 } else { 3 };
        let writer = Writer { file, register, width, xors };
        transpose::statements(writer, tiles, way, &|value| format!("regs[{value}]"))
    }

    fn defined(&self, name: &str, parameters: &str, body: &str) -> String {
        let body = match self.target.processor.device {
            Some(device) => straight(body, device.copied),
            None => body.to_string(),
        };
        let (local, qualifier) = (self.target.local(), self.target.qualifier());
        format!("\n{local}{qualifier}void {name}({parameters}) {{\n{body}}}\n")
    }

    /// Vectors of `vector` words, which lie in memory as in the block: little-endian words are loaded,
    /// big-endian ones turned around in the register.
    fn vectors(&self, vector: usize, way: Way) -> String {
        let Mover { shape, bytes, pitch, lanes, .. } = *self;
        let width = shape.bits as usize / 8;
        let half = |from: usize| {
            (from..from + 8).rev().fold(0u64, |sum, at| {
                sum << 8 | (at / width * width + width - 1 - at % width) as u64
            })
        };
        let order = match bytes == ByteLayout::Le || width == 1 {
            true => String::new(),
            false => {
                format!("{}BYTES(0x{:016x}ULL, 0x{:016x}ULL)", macros::VECTOR, half(0), half(8))
            }
        };
        template!("templates/vectors.c.in").render(context! {
            packs => way == Way::Pack, registers => shape.words / vector, pitch, lanes, order,
            size => self.target.bits / 8,
        })
    }

    /// Word by word through an array with the layout of the registers.
    fn lanes(&self, lane: u8, way: Way) -> String {
        let Mover { shape, bytes, pitch, lanes, .. } = *self;
        let pointer = format!("{pitch} * j + bytes");
        let word = match way {
            Way::Pack => words::get(shape, bytes, &pointer, "i"),
            Way::Unpack => {
                words::put(shape, bytes, &pointer, "i", &format!("lane[{lanes} * i + j]"))
            }
        };
        let padded = !(shape.words * shape.bits as usize).is_multiple_of(8);
        template!("templates/lanes.c.in").render(context! {
            packs => way == Way::Pack, type => word_type(lane), words => shape.words, lanes, word,
            pitch, size => self.target.bits / 8, pad => padded.then(|| shape.bytes() - 1),
        })
    }
}
