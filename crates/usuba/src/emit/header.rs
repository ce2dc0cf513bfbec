//! The header of a kernel, and the comment on top of its file.
//!
//! Both say for every array how many registers it has and the places of the bits in them, so that a
//! driver can be written without reading the source.

use std::fmt::Write;

use super::c::{COptions, Emitted};
use super::mask_bits;
use crate::ir::{ByteOrder, Port, Program, Slicing};
use crate::isa::{Layout, Target, word_lane, word_type};

/// A parameter or result of the C function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortText {
    /// The C name.
    pub name: String,
    /// The C type of one register.
    pub c_type: &'static str,
    /// Register sets: the ports of the program that lie side by side in the array.
    pub sets: usize,
    /// Number of registers of all sets.
    pub registers: usize,
    /// The contents of the registers, as one sentence without its full stop.
    pub about: String,
}

impl PortText {
    /// The text of `ports`, which are one port of the source and equal except for their names.
    pub(super) fn new(
        program: &Program,
        target: &Target,
        layout: Layout,
        ports: &[Port],
        name: &str,
        registers: bool,
    ) -> PortText {
        let (port, sets) = (&ports[0], ports.len());
        let mut text = PortText::of_set(program, target, layout, port, name, registers);
        if sets > 1 {
            let size = text.registers;
            let what = if port.bytes.is_some() { "byte" } else { "register" };
            let from = format!("{sets} sets, set s from {what} {size} * s on; each has ");
            text.about.insert_str(0, &from);
            (text.sets, text.registers) = (sets, sets * size);
        }
        text
    }

    /// The text of one register set.
    fn of_set(
        program: &Program,
        target: &Target,
        layout: Layout,
        port: &Port,
        name: &str,
        registers: bool,
    ) -> PortText {
        let slicing = program.slicing;
        let mut about = shape(port, slicing, layout);
        if port.constant {
            about.push_str("; the same for all instances");
        }
        if let Some(order) = port.bytes {
            let first = match order {
                ByteOrder::Little => "least",
                ByteOrder::Big => "most",
            };
            let about =
                format!("{}, in bytes, the {first} significant of a word first", words(port));
            let registers = port.words() * port.word as usize / 8;
            let (name, c_type) = (name.to_string(), word_type(8));
            return PortText { name, c_type, sets: 1, registers, about };
        }
        let mask = mask_bits(target, layout).filter(|_| port.constant && !registers);
        if let Some(bits) = mask {
            let _ = write!(about, "; not registers but masks of {bits} bits, all ones or zero");
        }
        PortText {
            name: name.to_string(),
            c_type: match mask {
                Some(bits) => word_type(bits),
                None => target.c_type(layout, port.value_bits(slicing)),
            },
            sets: 1,
            registers: port.values(slicing),
            about,
        }
    }
}

/// The words of a port.
fn words(port: &Port) -> String {
    let dims: String = port.dims.iter().map(|d| format!("[{d}]")).collect();
    let order = if port.dims.len() > 1 { ", outer dimension first" } else { "" };
    match (port.words(), port.word) {
        (1, 1) => "one bit".to_string(),
        (1, word) => format!("one word of {word} bits"),
        (n, 1) => format!("{n} bits {dims}{order}"),
        (n, word) => format!("{n} words {dims} of {word} bits{order}"),
    }
}

/// The shape of a port in words, and their registers.
fn shape(port: &Port, slicing: Slicing, layout: Layout) -> String {
    let words = words(port);
    match layout {
        Layout::Bits if slicing == Slicing::B && port.word > 1 => {
            let word = port.word;
            format!(
                "{words}; register {word} * i + b holds bit b of word i, bit 0 the most significant"
            )
        }
        Layout::Vectors { words: vector, .. } => {
            format!("{words}; {vector} in each register, the first in the lowest lane")
        }
        _ => format!("{words}; one register each"),
    }
}

/// Where instances sit in a register, as sentences.
fn placement(target: &Target, layout: Layout, lanes: u32) -> String {
    match layout {
        Layout::Bits => format!(
            "Each register holds one bit of {lanes} instances: instance j is bit j % 8, counted \
             from the least significant, of byte j / 8 in memory."
        ),
        Layout::Words => "Each register holds one word of one instance, zero-extended.".to_string(),
        Layout::Lanes(lane) => format!(
            "Each register holds one word of {lanes} instances: instance j is lane j of {lane} \
             bits in memory order, zero-extended."
        ),
        Layout::Vectors { words, .. } if lanes == 1 => {
            format!("Each register holds {words} words of one instance, in memory order.")
        }
        Layout::Vectors { lane, words } => format!(
            "Each register holds {words} words of {lanes} instances: those of instance j are the \
             {words} lanes of {lane} bits from lane {words} * j upwards, in memory order."
        ),
        Layout::Elements(16) if target.simd => "Each group of 128 bits holds one word of 8 \
             instances: bit i of the word, 0 being the most significant, is in byte i; instance j \
             of the group is bit j of it, counted from the least significant."
            .to_string(),
        Layout::Elements(m) if target.simd => format!(
            "Each group of 128 bits holds one word of {} instances: bit i of the word, 0 being \
             the most significant, is in bytes {w} * i to {w} * i + {}; instance j of the group \
             is bit j % 8 of byte j / 8 of them.",
            128 / m as u32,
            16 / m - 1,
            w = 16 / m
        ),
        Layout::Elements(m) => format!(
            "Each register holds one word of {lanes} instances: bit i of the word, 0 being the \
             most significant, is in the {w} bits from {} - {w} * i upwards; instance j is bit j \
             of them, counted from the least significant.",
            target.bits - target.bits / m as u32,
            w = target.bits / m as u32
        ),
    }
}

/// The prototype without its semicolon.
pub(super) fn prototype(name: &str, params: &[PortText], results: &[PortText]) -> String {
    let inputs = params.iter().map(|p| format!("const {} *{}", p.c_type, p.name));
    let outputs = results.iter().map(|p| format!("{} *{}", p.c_type, p.name));
    let all: Vec<String> = inputs.chain(outputs).collect();
    let list = if all.is_empty() { "void".to_string() } else { all.join(", ") };
    format!("void {name}({list})")
}

/// A prototype with C linkage.
pub fn declaration(target: &Target, prototype: &str) -> String {
    let (open, close) =
        ("#ifdef __cplusplus\nextern \"C\" {\n#endif", "#ifdef __cplusplus\n}\n#endif");
    format!("{open}\n{}{prototype};\n{close}\n", target.exported())
}

/// The header file of a kernel.
pub fn header(program: &Program, target: &Target, options: &COptions, emitted: &Emitted) -> String {
    let guard = format!("{}_H", emitted.name.to_uppercase());
    let mut text = comment(program, target, options, emitted);
    let _ = write!(text, "\n#ifndef {guard}\n#define {guard}\n\n{}", includes(target));
    let _ = write!(text, "\n{}\n#endif\n", declaration(target, &emitted.prototype));
    text
}

/// The headers that a kernel needs.
pub fn includes(target: &Target) -> String {
    let mut text = String::from("#include <stdint.h>\n");
    if let Some(device) = target.processor.device {
        text.push_str(device.prelude);
    }
    if target.header.is_empty() {
        return text;
    }
    let include = format!("#include <{}>\n", target.header);
    if target.header_warnings.is_empty() {
        return text + &include;
    }
    // Some intrinsics of gcc start from a register that is left undefined on purpose.
    text.push_str("#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC diagnostic push\n");
    for warning in target.header_warnings {
        let _ = writeln!(text, "#pragma GCC diagnostic ignored \"{warning}\"");
    }
    text.push_str("#endif\n");
    text.push_str(&include);
    text.push_str("#if defined(__GNUC__) && !defined(__clang__)\n");
    text.push_str("#pragma GCC diagnostic pop\n#endif\n");
    text
}

/// The comment that opens the C file and the header.
pub fn comment(
    program: &Program,
    target: &Target,
    options: &COptions,
    emitted: &Emitted,
) -> String {
    let mut lines = vec![format!("{}: made by usubac {}", emitted.name, options.version)];
    let mut field = |label: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("{label}: {value}"));
        }
    };
    field("Command", &options.command);
    field("Tuned", &options.tuned);
    field("Source", &options.source_hash);
    let slicing = match program.slicing {
        Slicing::B => "bitslicing (B)",
        Slicing::V => "vertical slicing (V)",
        Slicing::H => "horizontal slicing (H)",
        Slicing::W => "words in lanes (W)",
    };
    let flags = if target.cflags.is_empty() {
        String::new()
    } else {
        format!("; compile with {}", target.cflags.join(" "))
    };
    field("Target", &format!("{}, {slicing}{flags}", target.name));
    let operations = format!("Operations: {}", emitted.stats);
    wrap(&mut lines, &operations, "    ");
    program.notes.iter().for_each(|note| wrap(&mut lines, note, "    "));
    lines.push(String::new());
    wrap(&mut lines, &placement(target, emitted.layout, emitted.lanes), "");
    if emitted.copies > 1 {
        let holds = match emitted.lanes {
            1 => "instance s".to_string(),
            lanes => format!("instances {lanes} * s to {lanes} * s + {}", lanes - 1),
        };
        let mut ports = emitted.params.iter().chain(&emitted.results);
        let sets = match ports.any(|port| port.sets > 1) {
            true => {
                "The sets of a port lie side by side in its array; a port that is the same for \
                     all instances has one set."
            }
            false => {
                "Every port occurs once for each set, unless it is the same for all instances."
            }
        };
        let text = format!(
            "One call takes {} instances, in {} register sets: set s holds {holds}. {sets}",
            emitted.instances(),
            emitted.copies,
        );
        wrap(&mut lines, &text, "");
    }
    if emitted.layout == Layout::Words {
        let widths: Vec<_> =
            [8, 16, 32, 64].iter().filter(|&&w| uses(emitted, w)).map(|&w| word_type(w)).collect();
        wrap(&mut lines, &format!("Words have the types {}.", widths.join(", ")), "");
    }
    wrap(&mut lines, "Inputs and outputs must not overlap.", "");
    let params = emitted.params.iter().map(|port| ("in  ", port));
    for (way, port) in params.chain(emitted.results.iter().map(|port| ("out ", port))) {
        let size = match port.sets {
            1 => port.registers.to_string(),
            sets => format!("{sets} * {}", port.registers / sets),
        };
        let text = format!("{way}{}[{size}]: {}.", port.name, port.about);
        wrap(&mut lines, &text, "    ");
    }
    let mut text = String::from("/*\n");
    for line in lines {
        let line = line.replace("*/", "* /").replace("/*", "/ *");
        let _ = writeln!(text, "{}", format!(" * {line}").trim_end());
    }
    text + " */\n"
}

fn uses(emitted: &Emitted, lane: u8) -> bool {
    let mut ports = emitted.params.iter().chain(&emitted.results);
    ports.any(|p| p.c_type == word_type(word_lane(lane)))
}

/// Breaks a paragraph at 90 columns; lines after the first are indented.
fn wrap(lines: &mut Vec<String>, text: &str, indent: &str) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + word.len() >= 90 {
            lines.push(std::mem::replace(&mut line, indent.to_string()));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
}
