//! Code emission: from Usuba0 and a target to C.
//!
//! - `places`: lines of the source for the text.
//! - `names`: identifiers of the program as C identifiers.
//! - `c`: the kernel in C.
//! - `abi`: the names and shapes of the OCaml compiler around it.
//! - `header`: its prototype, with the layout of every array in words.
//! - `keys`: which words of the key the kernel takes as their complements.
//! - `stats`: operation counts and live values, for the comment on top.
//! - `bytes`: the functions on bytes that users call, around a kernel.
//! - `template`: text files with places for values.

pub mod abi;
pub mod bytes;
pub mod c;
pub mod header;
pub mod keys;
pub mod names;
pub mod places;
pub mod stats;
pub mod template;

use crate::ir::{Inline, Node, Port, Program, Slicing};
use crate::isa::{Layout, Row, Target, word_lane, word_type};

/// The register layout of the words of a program on a target.
///
/// A program of one-bit values has the layout of bitslicing under every slicing. Under V on
/// SIMD the lane is the smallest that holds the widest value anywhere in the program. Packed
/// words of V have the layout of H on general-purpose registers.
pub fn layout(program: &Program, target: &Target) -> Layout {
    let all = || program.nodes.iter().flat_map(|n| n.bits.iter().copied());
    let ports = || program.nodes.iter().flat_map(|n| n.params.iter().chain(&n.results));
    let of_ports = || ports().map(|p| p.value_bits(program.slicing));
    let widest = all().chain(of_ports()).max().unwrap_or(1);
    match program.slicing {
        _ if widest <= 1 => Layout::Bits,
        Slicing::B => Layout::Bits,
        Slicing::V if !target.simd && program.packed && (widest as u32) < target.bits => {
            Layout::Elements(widest)
        }
        Slicing::V if !target.simd => Layout::Words,
        Slicing::V => Layout::Lanes(word_lane(widest)),
        Slicing::H => Layout::Elements(widest),
        Slicing::W => Layout::Vectors { lane: word_lane(widest), words: program.vector },
    }
}

/// Bits of the argument for one bit of a constant port, all ones or zero: under bitslicing a mask
/// that the load broadcasts, where the target does that for nothing. A key of 1,408 bits is then
/// 5.5 KiB instead of 88, which would not leave room for data in the first-level cache. `None` if a
/// constant port has registers like all others.
pub fn mask_bits(target: &Target, layout: Layout) -> Option<u8> {
    (target.masks && layout == Layout::Bits).then_some(32)
}

/// The C type of one value of a port of a kernel.
pub fn port_type(target: &Target, layout: Layout, slicing: Slicing, port: &Port) -> &'static str {
    match mask_bits(target, layout).filter(|_| port.constant) {
        Some(bits) => word_type(bits),
        None => target.c_type(layout, port.value_bits(slicing)),
    }
}

/// The instruction of the target that a node is, and its lane width.
pub fn instruction(program: &Program, node: &Node, target: &Target) -> Option<(&'static Row, u8)> {
    let found = || target.instruction(node.source_name(), node.bits[0], program.vector);
    (node.inline == Inline::Instruction).then(found).flatten()
}

/// Instances that one register holds.
pub fn lanes(program: &Program, target: &Target) -> u32 {
    target.lanes(layout(program, target))
}

/// Instances that one call of the kernel processes.
pub fn instances(program: &Program, target: &Target) -> u32 {
    lanes(program, target) * program.copies
}
