//! Contracts of exported functions for the safety prover, from the declarations of a header.
//!
//! ```text
//! int f(const uint8_t key[32], const state *s, uint8_t out[32])
//!   key   32 bytes, read, secret      s   the size and alignment of the struct
//!   out   32 bytes, read and written; it may begin where `key` does
//! ```
//!
//! *Limits:* sizes that depend on other parameters.

use usuba_library::declarations::{Access, Function, Parameter};
use usuba_object::memory;
use usuba_object::safety::{self, Bytes, Returns, Room};

/// The contract of a declared function, at a symbol of an object.
///
/// # Errors
/// The contract is not expressible; the message says why.
pub fn contract(function: &Function) -> Result<safety::Function, String> {
    let parameters: Vec<safety::Parameter> =
        function.parameters.iter().map(parameter).collect::<Result<_, _>>()?;
    let rooms: Vec<Option<&Room>> = parameters
        .iter()
        .map(|parameter| match parameter {
            safety::Parameter::Buffer(room) => Some(room),
            safety::Parameter::Number(_) | safety::Parameter::Length(_) => None,
        })
        .collect();
    // Results may replace a parameter of the same type and size.
    let mut equal = Vec::new();
    for (at, room) in rooms.iter().enumerate() {
        for (before, other) in rooms[..at].iter().enumerate() {
            let (Some(room), Some(other)) = (room, other) else { continue };
            let kind = |at: usize| function.parameters[at].c_type.trim_start_matches("const ");
            let is_written = [room, other].iter().any(|room| room.access != memory::Access::Read);
            if is_written && room.bytes == other.bytes && kind(at) == kind(before) {
                equal.push([before, at]);
            }
        }
    }
    let returns = match &*function.returns {
        "int" => Returns::Status,
        _ => Returns::Nothing,
    };
    Ok(safety::Function { symbol: function.name.clone(), parameters, equal, returns })
}

fn parameter(parameter: &Parameter) -> Result<safety::Parameter, String> {
    let Parameter { name, memory, .. } = parameter;
    let memory = memory.as_ref().ok_or_else(|| format!("`{name}` is any number"))?;
    let bytes = memory.bytes.fixed().and_then(|bytes| usize::try_from(bytes).ok());
    let Some(bytes) = bytes.filter(|_| memory.each.is_none()) else {
        return Err(format!("the size of `{name}` is any number"));
    };
    let access = match memory.access {
        Access::Read => memory::Access::Read,
        Access::Write => memory::Access::Both,
    };
    let bytes = Bytes::Fixed(bytes);
    let (name, align, is_public) = (name.clone(), memory.align, !memory.secret);
    Ok(safety::Parameter::Buffer(Room { name, bytes, access, align, is_public }))
}
