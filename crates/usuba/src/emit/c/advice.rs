//! Attributes that configure passes of C compilers for a node, and such lines in the text.
//!
//! ```text
//! gcc      passes that undo our order of values, or take long and find nothing
//! clang    no vectors in bitsliced code of general-purpose registers; the counter of a loop is unknown
//! both     the bit of a mask is unknown
//! ```
//!
//! They hold for every compiler and all flags, and the proved objects are the ones that users
//! build.

use std::borrow::Cow;

use super::Context;
use super::place::Place;
use crate::ir::{Loop, Node, NodeId, Op, live};
use crate::isa::Layout;

/// Number of operators of a node in lanes from which on register pressure may exceed the registers.
const MANY: u64 = 48;

/// Number of operators and results of a bitsliced node from which on gcc spends most of its time in
/// passes that find nothing.
const LONG: u64 = 1500;

/// These passes compare each load and store with all others, and our passes have already removed
/// the redundant ones. Without them gcc takes a quarter of the time for a key schedule of AES or
/// for PHOTON in B, whose code is shorter by a twentieth and faster by a tenth. Code of Gimli is
/// faster by a sixth, as fewer values stay live for a second use; key schedules of Camellia and
/// Skinny lose 2 percent.
const NOT_OF_LONG: &str = "\"no-tree-slp-vectorize\", \"no-tree-pre\", \"no-code-hoisting\", \
                           \"no-tree-dse\", \"no-dse\", \"no-gcse\", \"no-gcse-after-reload\", \
                           \"no-rerun-cse-after-loop\"";

/// One more such pass. In general-purpose registers it finds words of a state that loops move,
/// where ACE would lose an eighth. In lanes, and in nodes of many results, code is the same within
/// 3 percent, and a key schedule of GIFT or SKINNY takes 40 percent of the time.
const NOT_OF_MANY: &str = "\"no-tree-fre\"";

/// Number of results of a bitsliced node from which on clang spends most of its time on SLP
/// vectorization, which starts at each run of stores. For a key schedule of Camellia in
/// general-purpose registers this takes nine tenths of the time and leaves the same code. With
/// fewer results it sometimes finds vectors, mostly in states that loops move: Gimli would lose a
/// sixth.
const RESULTS: usize = 1000;

/// No attribute disables that pass for a function, but one disables vectors.
const NO_VECTORS: &str = "target(\"general-regs-only\")";

/// A version of clang that knows the attribute.
const CLANG: &str = "defined(__clang__) && defined(__x86_64__) && __clang_major__ >= 16";

/// Reads of arrays times elements left in arrays, in an iteration of a bitsliced loop, from which
/// on clang spends half of its time on pairwise alias checks: whether an iteration reads an element
/// that the one before has left. They find nothing; key schedules of Serpent have 1024 of both.
const PAIRS: usize = 1 << 18;

/// The lines in such a loop with the counter `k`: clang skips the checks if the trip count of a
/// loop is unknown.
pub(super) fn of_loop(layout: Layout, l: &Loop, k: &str) -> Option<[String; 3]> {
    let wanted = layout == Layout::Bits && l.reads.len() * l.collects.len() >= PAIRS;
    wanted.then(|| opaque("defined(__clang__)", k))
}

/// The lines after which a compiler knows nothing about the value of a variable.
pub(super) fn opaque(compiler: &str, name: &str) -> [String; 3] {
    [format!("#if {compiler}"), format!("__asm__(\"\" : \"+r\"({name}));"), "#endif".into()]
}

impl Context<'_> {
    /// Whether `op` makes a mask of a bit in general-purpose registers: it is a negation, which all
    /// masks of arithmetic are. Compilers must not know that it negates a bit, or they turn the
    /// selection of words by that mask into control flow or addresses: clang 19 at -O1 and above
    /// chose the array to read by a conditional move, so that the accessed addresses depended on a
    /// secret.
    pub(super) fn makes_mask(&self, op: &Op, minuend: &Place) -> bool {
        let words = !self.target.simd && self.layout == Layout::Words;
        words && *op == Op::Sub && *minuend == Place::Const(0)
    }

    /// The lines before the function of a node.
    pub(super) fn advice(&self, id: NodeId) -> String {
        let mut text = String::new();
        if self.target.processor.device.is_some() {
            // Compilers for devices have other passes.
            return text;
        }
        let mut advise = |compiler: &str, attribute: &str| {
            text.push_str(&format!("#if {compiler}\n__attribute__(({attribute}))\n#endif\n"));
        };
        if let Some(passes) = self.passes_of_gcc(id) {
            let optimize = format!("optimize({passes})");
            advise("defined(__GNUC__) && !defined(__clang__)", &optimize);
        }
        if self.is_without_vectors() {
            advise(CLANG, NO_VECTORS);
        }
        text
    }

    /// Whether clang must not vectorize, in any function of the program: clang does not inline a
    /// function with vectors into one without.
    fn is_without_vectors(&self) -> bool {
        let has_many = |node: &Node| node.outs.len() >= RESULTS;
        self.layout == Layout::Bits && !self.target.simd && self.program.nodes.iter().any(has_many)
    }

    /// The attribute that disables or enables passes of gcc for a node.
    ///
    /// In sums of products gcc must not change the schedule: it does not count registers, and
    /// spills ten sums that fit, which takes a fifth of the time in lanes and an eighth of the
    /// instructions of a small core. Products with a sum are long independent chains, which gcc
    /// only interleaves on request: that takes a seventh of the time of a step of a Montgomery
    /// ladder.
    ///
    /// In lanes gcc must not move a value to its first use, which moves loads and operators across
    /// our schedule and lengthens live ranges: GIFT and Pyjamask on AVX2 lose a quarter of their
    /// time by that, Keccak and SKINNY on AVX-512 an eighth and a sixth, others nothing.
    fn passes_of_gcc(&self, id: NodeId) -> Option<Cow<'static, str>> {
        let node = self.program.node(id);
        let written = live::written(&node.body);
        if written.of(Op::MulAdd(0).name()) > 0 {
            return Some("\"schedule-insns\"".into());
        }
        if self.products[id.0 as usize].contains(&true) {
            let passes = match self.layout {
                Layout::Lanes(64) => "\"no-tree-ter\", \"no-tree-reassoc\", \"no-schedule-insns2\"",
                Layout::Vectors { lane: 64, .. } => {
                    "\"no-tree-ter\", \"no-tree-reassoc\", \"schedule-insns\", \"sched-pressure\""
                }
                Layout::Words if self.target.bits == 32 => "\"no-schedule-insns\"",
                _ => return None,
            };
            return Some(passes.into());
        }
        match self.layout {
            Layout::Lanes(_) if written.computing() >= MANY => Some("\"no-tree-ter\"".into()),
            Layout::Bits if written.computing() + node.outs.len() as u64 >= LONG => {
                match self.target.simd || node.outs.len() >= RESULTS {
                    true => Some(format!("{NOT_OF_LONG}, {NOT_OF_MANY}").into()),
                    false => Some(NOT_OF_LONG.into()),
                }
            }
            _ => None,
        }
    }
}
