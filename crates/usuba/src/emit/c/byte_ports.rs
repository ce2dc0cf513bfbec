//! Ports of bytes: a wrapper that loads words before the kernel of words, and stores them after it.
//!
//! ```c
//! static void f_words_(const uint64_t *x, uint64_t *y);   the kernel, on words
//! void f(const uint8_t *x, uint8_t *y)
//! {
//!     struct { uint64_t x[4]; uint64_t y[4]; } words;
//!     words.x[0] = (uint64_t)x[0] | (uint64_t)x[1] << 8 | ...;
//!     ...
//!     f_words_(words.x, words.y);
//!     y[0] = (uint8_t)words.y[0];
//!     ...
//! ```
//!
//! C has no unaligned loads and no order of bytes; compilers make one load of these expressions,
//! gcc only outside of loops. Ports of many words have loops.

use super::{Context, Emitted};
use crate::emit::header::{self, PortText};
use crate::emit::names;
use crate::emit::template::{Value, context, template};
use crate::ir::{ByteOrder, Port, Program};
use crate::isa::{word_lane, word_type};

/// The suffix of the name of a kernel of words inside of its wrapper. No name of a program ends with
/// an underscore in C, except reserved names.
pub const INNER: &str = "_words_";

/// Whether the entry has ports of bytes.
pub fn takes_bytes(program: &Program) -> bool {
    let entry = program.entry();
    entry.params.iter().chain(&entry.results).any(|port| port.bytes.is_some())
}

/// The function `name` on bytes, which calls the kernel of words.
pub fn wrapper(cx: &Context, emitted: &Emitted, name: &str) -> String {
    let params = cx.program.params().into_iter().zip(&emitted.params);
    let results = cx.program.results().into_iter().zip(&emitted.results);
    // Of several sets, which lie side by side, the first stands for all.
    let all: Vec<(&Port, &PortText, bool)> = params
        .map(|(ports, text)| (&ports[0], text, true))
        .chain(results.map(|(ports, text)| (&ports[0], text, false)))
        .collect();
    let mut taken: Vec<String> = all.iter().map(|(_, text, _)| text.name.clone()).collect();
    let mut local = |wish: &str| {
        let local = names::parameter(wish, name, &taken);
        taken.push(local.clone());
        local
    };
    let (words, index) = (local("words"), local("i"));
    let argument = |(port, text, _): &(&Port, &PortText, bool)| match port.bytes {
        Some(_) => format!("{words}.{}", text.name),
        None => text.name.clone(),
    };
    let arguments: Vec<String> = all.iter().map(argument).collect();
    let shown = |&(port, text, is_param): &(&Port, &PortText, bool)| -> Option<Value> {
        let order = port.bytes?;
        let (name, count) = (&text.name, text.sets * port.words());
        let one = |index: Index| {
            let word = format!("{words}.{name}[{}]", index.word());
            match is_param {
                true => vec![format!("{word} = {}", load(order, port.word, name, index))],
                false => stores(order, port.word / 8, name, index, &word),
            }
        };
        let (is_loop, lines) = match count <= STRAIGHT {
            true => (false, (0..count).flat_map(|at| one(Index::Number(at))).collect::<Vec<_>>()),
            false => (true, one(Index::Local(&index))),
        };
        let c_type = word_type(word_lane(port.word));
        Some(context! { type => c_type, name, count, is_param, is_loop, lines })
    };
    let ports: Vec<Value> = all.iter().filter_map(shown).collect();
    let prototype = header::prototype(name, &emitted.params, &emitted.results);
    let prototype = format!("{}{}{prototype}", cx.linkage(), cx.qualifier());
    let (call, arguments) = (&cx.name, arguments.join(", "));
    let has_loop = |(port, text, _): &(&Port, &PortText, bool)| {
        port.bytes.is_some() && text.sets * port.words() > STRAIGHT
    };
    let loops = all.iter().any(has_loop);
    template!("byte_ports.c.in")
        .render(context! { prototype, words, index, loops, ports, call, arguments })
}

/// The most words of a port that are loaded and stored without a loop.
const STRAIGHT: usize = 16;

/// The number of a word.
#[derive(Clone, Copy)]
enum Index<'a> {
    Number(usize),
    Local(&'a str),
}

impl Index<'_> {
    fn word(self) -> String {
        match self {
            Index::Number(number) => number.to_string(),
            Index::Local(name) => name.to_string(),
        }
    }

    /// The place of a byte of a word of `bytes` bytes.
    fn byte(self, bytes: u8, at: u8) -> String {
        match (self, bytes, at) {
            (Index::Number(number), ..) => (number * bytes as usize + at as usize).to_string(),
            (Index::Local(name), 1, _) => name.to_string(),
            (Index::Local(name), _, 0) => format!("{bytes} * {name}"),
            (Index::Local(name), ..) => format!("{bytes} * {name} + {at}"),
        }
    }
}

/// The byte `byte` of word `index`, the least significant being number 0.
fn byte(order: ByteOrder, bytes: u8, port: &str, index: Index, byte: u8) -> String {
    let at = match order {
        ByteOrder::Little => byte,
        ByteOrder::Big => bytes - 1 - byte,
    };
    format!("{port}[{}]", index.byte(bytes, at))
}

fn load(order: ByteOrder, bits: u8, port: &str, index: Index) -> String {
    let wide = word_type(word_lane(bits).max(32));
    let part = |at: u8| {
        let byte = byte(order, bits / 8, port, index, at);
        if at == 0 { format!("({wide}){byte}") } else { format!("({wide}){byte} << {}", 8 * at) }
    };
    let parts: Vec<String> = (0..bits / 8).map(part).collect();
    let all = parts.join(" | ");
    if wide == word_type(word_lane(bits)) {
        all
    } else {
        format!("({})({all})", word_type(word_lane(bits)))
    }
}

fn stores(order: ByteOrder, bytes: u8, port: &str, index: Index, word: &str) -> Vec<String> {
    let store = |at: u8| {
        let byte = byte(order, bytes, port, index, at);
        let shifted = if at == 0 { word.into() } else { format!("({word} >> {})", 8 * at) };
        format!("{byte} = (uint8_t){shifted}")
    };
    (0..bytes).map(store).collect()
}
