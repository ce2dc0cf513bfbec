//! Byte interface in parts, for libraries whose contexts combine several kernels and several key
//! schedules.
//!
//! ```text
//! linkage void name(const void *key, const uint8_t *in, uint8_t *out, size_t nblocks);
//! linkage void name_xor(const void *key, const uint8_t *in, const uint8_t *text, uint8_t *out, size_t nblocks);
//! linkage void name(uint8_t *chains, const uint8_t *const *in, size_t nblocks, size_t count);
//! linkage void schedule(uint32_t *made, const uint8_t *key);
//! linkage void name_init(uint32_t *words, const uint32_t *made);
//! ```
//!
//! The text that several of them share is [`shared`].

use super::function::{Entry, moving, support, xoring};
pub use super::keys::{Made, Words, words};
use super::words::HELPERS;
use super::{Function, chain, keys};
use crate::diag::Diagnostic;
use crate::isa::Target;

/// The macros and helpers that functions of this file are written in, once for all of `bodies`. On
/// vector registers the ones that load, store and combine them are always there.
pub fn shared(bodies: &str, target: &Target) -> String {
    support(bodies, target)
}

/// The names of the C functions that [`shared`] may define.
pub fn helpers() -> impl Iterator<Item = &'static str> {
    HELPERS.iter().map(|(name, _)| name.trim_end_matches('('))
}

/// The function `name` over any number of blocks, without the kernel and without [`shared`]. `key`
/// points to the [`words`], or is unused.
///
/// # Errors
/// The names of the function do not match the program, or a layout and a word size do not
/// go together on this target.
pub fn any_number(
    function: &Function,
    target: &Target,
    linkage: &str,
) -> Result<String, Diagnostic> {
    let (name, key) = (function.name, key_words(function)?);
    let head = format!(
        "\n{linkage}void {name}(const void *key, const uint8_t *in, uint8_t *out, \
         size_t nblocks) {{\n{key}"
    );
    moving(function, target, Entry { head: &head, words: "words" })
}

/// The function `name_xor`, below [`any_number`]: the XOR of the results and of the bytes `text`, where
/// `nblocks` is a multiple of the blocks of one register set, and `out` may be `text`. `None` where
/// results cannot be XORed on their way to memory.
///
/// # Errors
/// As [`any_number`].
pub fn xored(
    function: &Function,
    target: &Target,
    linkage: &str,
) -> Result<Option<String>, Diagnostic> {
    let (name, key) = (function.name, key_words(function)?);
    let head = format!(
        "\n{linkage}void {name}_xor(const void *key, const uint8_t *in, const uint8_t *text, \
         uint8_t *out, size_t nblocks) {{\n{key}"
    );
    xoring(function, target, Entry { head: &head, words: "words" })
}

/// The statement that finds the words of the key.
fn key_words(function: &Function) -> Result<String, Diagnostic> {
    Ok(match words(function)? {
        Some(Words { c_type, .. }) => {
            format!("    const {c_type} *words = (const {c_type} *)key;\n")
        }
        None => "    (void)key;\n".to_string(),
    })
}

/// The function `name` over any number of blocks of any number of messages: input 0 is a chaining
/// value, which the output replaces, and input 1 a block of a message. `chains` are `count` chaining
/// values that follow each other; message i begins at `in[i]`, and all have `nblocks` blocks. The
/// kernel and [`shared`] are not in it.
///
/// # Errors
/// As [`any_number`], or the function has a key, or other inputs, or its output cannot be input 0.
pub fn chained(function: &Function, target: &Target, linkage: &str) -> Result<String, Diagnostic> {
    chain::chained(function, target, linkage)
}

/// The function `schedule`, which maps the user's key to the input of [`fill`], and that array;
/// `None` without a key schedule. The kernel of the schedule and [`shared`] are not in it.
/// Functions with the same schedule have it in common.
///
/// # Errors
/// The schedule has not one parameter and one result, or its key has another layout.
pub fn schedule(
    function: &Function,
    symbol: &str,
    linkage: &str,
) -> Result<Option<(String, Made)>, Diagnostic> {
    let Some((key, schedule)) = function.key.and_then(|key| Some((key, key.schedule?))) else {
        return Ok(None);
    };
    let (made, run) = (keys::made(&schedule)?, keys::run(&schedule, key.bytes)?);
    let Made { c_type, .. } = made;
    let head = format!("\n{linkage}void {symbol}({c_type} *made, const uint8_t *key)");
    Ok(Some((format!("{head} {{\n{run}}}\n"), made)))
}

/// The function `name_init`, which fills the [`words`] from the result of [`schedule`], or without
/// a schedule from the user's key; empty without a key. [`shared`] is not in it.
///
/// # Errors
/// As [`any_number`], or the schedule does not deliver the words.
pub fn fill(function: &Function, linkage: &str) -> Result<String, Diagnostic> {
    let (Some(port), Some(key)) = (function.ports()?.key, function.key) else {
        return Ok(String::new());
    };
    let (name, word) = (function.name, keys::word_of(port));
    let from = match key.schedule {
        Some(schedule) => format!("{} *made", keys::made(&schedule)?.c_type),
        None => "uint8_t *key".to_string(),
    };
    let statements = keys::fill(function, key, port, "words")?;
    let head = format!("\n{linkage}void {name}_init({word} *words, const {from})");
    Ok(format!("{head} {{\n{statements}}}\n"))
}
