//! Chained functions, which take their own results, block after block of a message: the chaining
//! values stay in registers until all blocks are done.
//!
//! ```text
//! name(chains, in, nblocks, count)
//!     chains ──pack──→ registers ←──────────────┐
//!     in[j] + size * n  ──pack──→ registers ──kernel, nblocks times
//!     chains ←──unpack── registers ←────────────┘
//! ```
//!
//! Each lane has its own message, so a batch of messages costs as much as one. Copies of the first
//! message fill the remaining lanes of the last batch.
//!
//! After each block an assembly statement makes the chaining values opaque to the compiler. If one
//! of their words counts blocks, the compiler would otherwise specialise the kernel for that
//! counter; clang then writes three times as many additions.

use super::function::kernels;
use super::mover::movers;
use super::transpose::Way;
use super::{Function, Shape};
use crate::diag::{Code, Diagnostic};
use crate::emit::port_type;
use crate::emit::template::{context, template};
use crate::ir::{Port, Program, Val};
use crate::isa::{Layout, Target};

/// Vectors of a chaining value that compilers keep in registers beside a kernel.
const HELD: usize = 4;

/// The vectors of the chaining value of one instance that a kernel does not give back as they are.
fn changed(program: &Program, chain: &Port) -> Vec<usize> {
    let entry = program.entry();
    let values = |port: &Port| port.values(program.slicing);
    let before = entry.params.iter().take_while(|port| port.name != chain.name);
    let first: usize = before.map(values).sum();
    let is_kept = |at: usize| entry.outs.get(at) == Some(&Val((first + at) as u32));
    (0..values(chain)).filter(|&at| !is_kept(at)).collect()
}

/// See [`super::library::chained`].
pub fn chained(function: &Function, target: &Target, linkage: &str) -> Result<String, Diagnostic> {
    let ports = function.ports()?;
    let name = function.name;
    let ([chain, data], None) = (&ports.inputs[..], ports.key) else {
        let message = format!(
            "`{name}` cannot be chained: it wants a chaining value and a block of a message, and \
             no key"
        );
        return Err(Diagnostic::global(Code::NotSupported, message));
    };
    let same = Shape::of(chain) == Shape::of(ports.output)
        && function.inputs[0].bytes == function.output.bytes;
    if !same {
        let message = format!(
            "`{name}` cannot be chained: `{}` cannot take the place of `{}`",
            ports.output.name, chain.name
        );
        return Err(Diagnostic::global(Code::NotSupported, message)
            .help("both must have the same words and the same byte layout"));
    }
    let layout = crate::emit::layout(function.kernel.program, target);
    let sizes = [Shape::of(chain).bytes(), Shape::of(data).bytes()];
    let pitch = |port: &Port| Shape::of(port).bytes();
    let (from, to) = movers(function, &ports, target, layout, (&pitch, sizes[0]))?;
    let mut text = String::new();
    for (mover, part) in from.iter().zip(["load", "pack"]) {
        text += &mover.function(&format!("{name}_{part}"), Way::Pack);
    }
    text += &to.function(&format!("{name}_unpack"), Way::Unpack);
    let lanes = target.lanes(layout) as usize;
    let [words, inputs] = [*chain, *data].map(|port| port.values(function.slicing()));
    let batches = kernels(function).map(|(what, kernel)| {
        let copies = kernel.program.copies as usize;
        let params = kernel.program.params().into_iter();
        let is_vector = matches!(layout, Layout::Vectors { .. });
        let changed = changed(kernel.program, chain);
        let is_held = is_vector && copies == 1 && changed.len() <= HELD;
        let held = if is_held { target.constraint } else { "" };
        let (from, to) = if held.is_empty() { ("from", "to") } else { ("a", "b") };
        let arrays = params.map(|ports| if ports[0].name == chain.name { from } else { "x" });
        let arguments: Vec<&str> = arrays.chain([to]).collect();
        context! {
            name => format!("{name}_{what}"), kernel => kernel.symbol, arguments, copies, lanes,
            size => lanes * copies, held, changed,
        }
    });
    let [chain_type, data_type] =
        [*chain, *data].map(|port| port_type(target, layout, function.slicing(), port));
    text += &template!("templates/chained.c.in").render(context! {
        name, linkage, chain => sizes[0], block => sizes[1], chain_type, data_type, words, inputs,
        batches => batches.collect::<Vec<_>>(),
    });
    Ok(text)
}
