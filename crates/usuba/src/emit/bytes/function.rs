//! Byte interface of one function: its context, its prototypes and the functions around its kernel.

use std::fmt::Write;

use super::mover::movers;
use super::transpose::Way;
use super::wipe::{self, Wiped};
use super::{Function, Kernel, Ports, Shape, keys, macros, words};
use crate::diag::Diagnostic;
use crate::emit::port_type;
use crate::emit::template::{context, template};
use crate::ir::live::executed;
use crate::ir::{Port, Program};
use crate::isa::{Layout, Target};

/// The type of the context and the prototypes, for a header or on top of [`definitions`]. They
/// do not depend on the target.
///
/// # Errors
/// The names of the function do not match the program.
pub fn declarations(function: &Function) -> Result<String, Diagnostic> {
    let name = function.name;
    let ports = function.ports()?;
    let (from, to) = ports.blocks();
    let part = |port: &&Port| context! { bytes => Shape::of(port).bytes(), name => &port.name };
    let parts: Vec<_> = ports.inputs.iter().map(part).collect();
    let key = keys::words(function)?
        .map(|key| context! { word => key.c_type, words => key.count, bytes => key.key_bytes });
    let guard = format!("USUBA_{}_DECLARED", name.to_uppercase());
    let declared = context! { name, guard, from, to, parts, key };
    Ok(template!("templates/declarations.h.in").render(declared))
}

/// The functions, with [`declarations`] on top. The text belongs below the kernel, and the
/// kernel of the schedule if there is one, in the same C file.
///
/// # Errors
/// The names of the function do not match the program, or a layout and a word size do not
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
        body += &mover.function(&format!("{}_pack{}", function.name, part.suffix), Way::Pack);
    }
    body += &to.function(&format!("{}_unpack", function.name), Way::Unpack);
    Ok(body + &blocks(function, target, layout, &ports, entry, false))
}

/// `entry` over whole register sets of blocks, which XORs the results to the bytes `text`; below
/// [`moving`]. `None` if results cannot be XORed on their way to memory.
pub(super) fn xoring(
    function: &Function,
    target: &Target,
    entry: Entry,
) -> Result<Option<String>, Diagnostic> {
    let ports = function.ports()?;
    let layout = crate::emit::layout(function.kernel.program, target);
    let (from, to) = ports.blocks();
    let (_, to) = movers(function, &ports, target, layout, (&|_| from, to))?;
    let unpack = to.xoring(&format!("{}_unpack_xor", function.name));
    Ok(unpack.map(|unpack| unpack + &blocks(function, target, layout, &ports, entry, true)))
}

/// The macros and helpers that `body` is written in.
pub(super) fn support(body: &str, target: &Target) -> String {
    let mut text = String::new();
    if target.simd {
        text += &macros::vector(target);
    }
    // Unused macros cost nothing, but unused functions draw warnings.
    for bits in [32, 64] {
        if body.contains(macros::scalar_prefix(bits)) {
            text += &macros::scalar(bits, target);
        }
    }
    for (name, helper) in words::HELPERS {
        if body.contains(name) {
            text +=
                &helper.replace("static ", &format!("{}{}", target.local(), target.qualifier()));
        }
    }
    text
}

/// An input with its place in a block.
pub(super) struct Part<'a> {
    pub port: &'a Port,
    /// The suffix of its names: empty if it is the only one, else its number.
    pub suffix: String,
    /// Its first byte.
    pub offset: usize,
}

pub(super) fn parts<'a>(inputs: &'a [&'a Port]) -> impl Iterator<Item = Part<'a>> {
    let mut offset = 0;
    inputs.iter().enumerate().map(move |(number, port)| {
        let suffix = if inputs.len() > 1 { number.to_string() } else { String::new() };
        let part = Part { port, suffix, offset };
        offset += Shape::of(port).bytes();
        part
    })
}

/// The C of `entry`, which loops over batches: calls of the kernel, and of the kernel without
/// interleaving if there is one. `xors`: results are XORed to `text`.
fn blocks(
    function: &Function,
    target: &Target,
    layout: Layout,
    ports: &Ports,
    entry: Entry,
    xors: bool,
) -> String {
    let name = function.name;
    let suffix = if xors { "_xor" } else { "" };
    let c_type = |port: &Port| port_type(target, layout, function.slicing(), port);
    let registers = |port: &Port| port.values(function.slicing());
    let (from, to) = ports.blocks();
    let mut setup = String::new();
    let mut argument = String::new();
    if let Some(key) = ports.key {
        if layout == Layout::Words {
            argument = format!("{}, ", entry.words);
        } else {
            argument = "keys, ".to_string();
            let index = if layout == Layout::Bits { "size_t i, b;" } else { "size_t i;" };
            setup = format!("    {} keys[{}];\n    {index}\n", c_type(key), registers(key));
            setup += &keys::broadcast(target, layout, key, entry.words, &flips(function, key));
        }
    }
    let inputs = parts(&ports.inputs).map(|Part { port, suffix, offset }| {
        context! { suffix, offset, type => c_type(port), registers => registers(port) }
    });
    let output = context! { type => c_type(ports.output), registers => registers(ports.output) };
    let lanes = target.lanes(layout) as usize;
    let batches = kernels(function).map(|(what, kernel)| {
        let copies = kernel.program.copies as usize;
        context! {
            name => format!("{name}{suffix}_{what}"), kernel => kernel.symbol, copies, lanes,
            size => lanes * copies, arguments => arguments(kernel, ports),
        }
    });
    template!("templates/blocks.c.in").render(context! {
        name, from, to, inputs => inputs.collect::<Vec<_>>(), output, setup, argument,
        batches => batches.collect::<Vec<_>>(), head => entry.head, wipe => function.wipe, xors,
        key_type => ports.key.map_or("", c_type),
        fills => function.single.is_none_or(|single| is_long(single.program)),
    })
}

/// Operators of a kernel whose calls in a row a processor with a window of hundreds of instructions
/// executes side by side.
const SHORT: u64 = 40;

/// Whether some calls of a kernel take longer than one call of all its copies with copies of blocks.
fn is_long(program: &Program) -> bool {
    executed(program).computing() > SHORT
}

/// The kernels of a function, with the suffixes of the C functions around them: the kernel of a
/// whole batch, and for less the kernel without interleaving.
pub(super) fn kernels<'a>(
    function: &Function<'a>,
) -> impl Iterator<Item = (&'static str, Kernel<'a>)> {
    let single = function.single.filter(|_| function.kernel.program.copies > 1);
    [Some(("batch", function.kernel)), single.map(|kernel| ("set", kernel))].into_iter().flatten()
}

/// The arguments of a call of `kernel`, in its order: inputs `x`, `keys`, the output `y`.
pub(super) fn arguments(kernel: Kernel, ports: &Ports) -> Vec<String> {
    let inputs: Vec<Part> = parts(&ports.inputs).collect();
    let argument = |group: &[Port]| {
        let part = inputs.iter().find(|part| part.port.name == group[0].name);
        part.map_or("keys".to_string(), |part| format!("x{}", part.suffix))
    };
    let params = kernel.program.params().into_iter();
    params.map(argument).chain(["y".to_string()]).collect()
}

/// For each word of the key the bits that the kernels take as complements; empty if there are none.
pub(super) fn flips(function: &Function, key: &Port) -> Vec<u64> {
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
    // A vector is complemented with all of its words.
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
