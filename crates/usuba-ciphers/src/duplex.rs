//! Authenticated encryption in mode `ascon`, once more beside the library: NIST SP 800-232, section 4,
//! over permutations under the reference semantics.
//!
//! ```text
//! start, key, nonce ─long→ ⊕ key → data, a block at a time ─short→ → text ─short→ ⊕ key ─long→ ⊕ key → tag
//! ```

use crate::known::Known;
use crate::{Duplex, SealVector};

/// Bytes of a block, and of a key.
const RATE: usize = 16;

/// Adds bytes to a state.
fn add(state: &mut [u8], from: usize, bytes: &[u8]) {
    state[from..].iter_mut().zip(bytes).for_each(|(state, byte)| *state ^= byte);
}

/// A text with its padding.
fn ended(text: &[u8]) -> Vec<u8> {
    let mut padded = [text, &[1]].concat();
    padded.resize(padded.len().next_multiple_of(RATE), 0);
    padded
}

/// The ciphertext and the tag of a vector.
pub fn answer(
    long: &Known,
    short: &Known,
    duplex: &Duplex,
    vector: &SealVector,
) -> Result<Vec<u8>, String> {
    let SealVector { key, nonce, data, input, .. } = vector;
    let mut state = [&duplex.start[..], key, nonce].concat();
    for known in [long, short] {
        let [_, input, output] = known.sizes()?;
        if key.len() != RATE || (input, output) != (state.len(), state.len()) {
            return Err(format!("a state has {} bytes, not {input}", state.len()));
        }
    }
    let behind = state.len() - RATE;
    state = long.answer(&[], &state)?;
    add(&mut state, behind, key);
    if !data.is_empty() {
        for block in ended(data).chunks(RATE) {
            add(&mut state, 0, block);
            state = short.answer(&[], &state)?;
        }
    }
    *state.last_mut().expect("a state is not empty") ^= 0x80;
    let mut output = Vec::new();
    for (number, block) in ended(input).chunks(RATE).enumerate() {
        if number > 0 {
            state = short.answer(&[], &state)?;
        }
        add(&mut state, 0, block);
        output.extend(&state[..RATE]);
    }
    output.truncate(input.len());
    add(&mut state, RATE, key);
    state = long.answer(&[], &state)?;
    add(&mut state, behind, key);
    output.extend(&state[behind..]);
    Ok(output)
}
