//! What C compilers are told of their passes for a node, by attributes and lines in the text.
//!
//! ```text
//! gcc      passes that undo our order of values, or take long and find nothing
//! clang    no vectors in bitsliced code of general-purpose registers; the counter of a loop is unknown
//! ```
//!
//! They hold for whoever compiles the text with whatever flags, and objects that are proved
//! are those that users make.

use std::borrow::Cow;

use super::Context;
use crate::ir::{Loop, Node, NodeId, Op, live};
use crate::isa::Layout;

/// Operators of a node in lanes from which on it may need more registers than there are.
const MANY: u64 = 48;

/// Operators and results of a bitsliced node from which on gcc takes most of its time for passes that
/// find nothing.
const LONG: u64 = 1500;

/// These passes: for each load and store they walk over all others, and what could be loaded twice or
/// overwritten is not there after our own. Without them gcc takes a quarter of the time for a key
/// schedule of AES or for PHOTON in B, whose code is shorter by a twentieth and faster by a tenth, and
/// that of Gimli by a sixth, as fewer values are kept alive for a second use; key schedules of
/// Camellia and Skinny lose 2 percent.
const NOT_OF_LONG: &str = "\"no-tree-slp-vectorize\", \"no-tree-pre\", \"no-code-hoisting\", \
                           \"no-tree-dse\", \"no-dse\", \"no-gcse\", \"no-gcse-after-reload\", \
                           \"no-rerun-cse-after-loop\"";

/// One more such pass. What it finds in general-purpose registers are words of a state that loops
/// move, where ACE would lose an eighth; in lanes, and in nodes of many results, code is the same
/// within 3 percent, and a key schedule of GIFT or SKINNY takes 40 percent of the time.
const NOT_OF_MANY: &str = "\"no-tree-fre\"";

/// Results of a bitsliced node from which on clang takes most of its time to look for words that make
/// a vector, which it does from each run of stores: nine tenths for a key schedule of Camellia in
/// general-purpose registers, and it leaves the same code. With fewer results it finds some at times,
/// mostly in states that loops move: Gimli would lose a sixth.
const RESULTS: usize = 1000;

/// No function can be told to do without that, but that there are no vectors.
const NO_VECTORS: &str = "target(\"general-regs-only\")";

/// A clang that knows it.
const CLANG: &str = "defined(__clang__) && defined(__x86_64__) && __clang_major__ >= 16";

/// Reads of arrays times elements left in arrays, in an iteration of a bitsliced loop, from which on
/// clang takes half of its time to compare each of them with each: whether an iteration reads what
/// the one before has left. It finds nothing; key schedules of Serpent have 1024 of both.
const PAIRS: usize = 1 << 18;

/// The lines in such a loop with the counter `k`: where clang does not know how often a loop runs, it
/// compares nothing.
pub(super) fn of_loop(layout: Layout, l: &Loop, k: &str) -> Option<[String; 3]> {
    let counter = format!("__asm__(\"\" : \"+r\"({k}));");
    let wanted = layout == Layout::Bits && l.reads.len() * l.collects.len() >= PAIRS;
    wanted.then(|| ["#if defined(__clang__)".into(), counter, "#endif".into()])
}

impl Context<'_> {
    /// The lines before the function of a node.
    pub(super) fn advice(&self, id: NodeId) -> String {
        let mut text = String::new();
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

    /// Whether clang must not look for vectors, in no function of the program: one that has them is
    /// not inlined into one that has none.
    fn is_without_vectors(&self) -> bool {
        let has_many = |node: &Node| node.outs.len() >= RESULTS;
        self.layout == Layout::Bits && !self.target.simd && self.program.nodes.iter().any(has_many)
    }

    /// What gcc is told of its passes for a node.
    ///
    /// It must not change the order of sums of products: it does not count registers, and ten sums
    /// that fit are spilled, which takes a fifth of the time in lanes and an eighth of the
    /// instructions of a small core. Products with a sum are long chains side by side, which gcc mixes
    /// only if it is asked to: that takes a seventh of the time of a step of a ladder.
    ///
    /// In lanes it must not put a value where it is first used, which moves loads and operators past
    /// our order and keeps more alive: GIFT and Pyjamask on AVX2 take a quarter of their time for
    /// that, Keccak and SKINNY on AVX-512 an eighth and a sixth, others nothing.
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
