//! Ports of bytes: a wrapper that loads words before the kernel of words, and stores them after it.
//!
//! ```c
//! static void f_words_(const uint64_t *x, uint64_t *y);   the kernel, on words
//! void f(const uint8_t *x, uint8_t *y)
//! {
//!     unsigned i;
//!     struct { uint64_t x[4]; uint64_t y[4]; } words;
//!     for (i = 0; i < 4; i++)
//!         words.x[i] = (uint64_t)x[8 * i] | (uint64_t)x[8 * i + 1] << 8 | ...;
//!     f_words_(words.x, words.y);
//!     for (i = 0; i < 4; i++) {
//!         y[8 * i] = (uint8_t)words.y[i];
//!         ...
//! ```
//!
//! C has no unaligned loads and no order of bytes; compilers make one load of these expressions.

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
        let (word, bytes) = (&format!("{words}.{}[{index}]", text.name), port.word / 8);
        let (load, store) = match is_param {
            true => (load(order, port.word, &text.name, &index), Vec::new()),
            false => (String::new(), stores(order, bytes, &text.name, &index, word)),
        };
        let (name, count) = (&text.name, text.sets * port.words());
        let c_type = word_type(word_lane(port.word));
        Some(context! { type => c_type, name, count, load, store })
    };
    let ports: Vec<Value> = all.iter().filter_map(shown).collect();
    let prototype = header::prototype(name, &emitted.params, &emitted.results);
    let prototype = format!("{}{}{prototype}", cx.linkage(), cx.qualifier());
    let (call, arguments) = (&cx.name, arguments.join(", "));
    template!("byte_ports.c.in")
        .render(context! { prototype, words, index, ports, call, arguments })
}

/// The byte `byte` of word `index`, the least significant being number 0.
fn byte(order: ByteOrder, bytes: u8, port: &str, index: &str, byte: u8) -> String {
    let at = match order {
        ByteOrder::Little => byte,
        ByteOrder::Big => bytes - 1 - byte,
    };
    match (bytes, at) {
        (1, _) => format!("{port}[{index}]"),
        (_, 0) => format!("{port}[{bytes} * {index}]"),
        _ => format!("{port}[{bytes} * {index} + {at}]"),
    }
}

fn load(order: ByteOrder, bits: u8, port: &str, index: &str) -> String {
    let wide = word_type(word_lane(bits).max(32));
    let part = |at: u8| {
        let byte = byte(order, bits / 8, port, index, at);
        if at == 0 { format!("({wide}){byte}") } else { format!("({wide}){byte} << {}", 8 * at) }
    };
    let parts: Vec<String> = (0..bits / 8).map(part).collect();
    format!("({})({})", word_type(word_lane(bits)), parts.join(" | "))
}

fn stores(order: ByteOrder, bytes: u8, port: &str, index: &str, word: &str) -> Vec<String> {
    let store = |at: u8| {
        let byte = byte(order, bytes, port, index, at);
        let shifted = if at == 0 { word.into() } else { format!("({word} >> {})", 8 * at) };
        format!("{byte} = (uint8_t){shifted}")
    };
    (0..bytes).map(store).collect()
}
