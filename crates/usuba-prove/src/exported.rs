//! Contracts of exported functions for the safety prover, from the declarations of a header.
//!
//! ```text
//! int f(const uint8_t key[32], const uint8_t *in /* [length] */, uint8_t *out /* [16 + length] */,
//!     size_t length)
//!   key   32 bytes, read, secret         in    as many bytes as `length` says
//!   out   16 bytes more, read and written; a buffer of the size of `in` may begin where `in` does
//! ```
//!
//! *Limits:* sizes that depend on two parameters, and numbers above the bound on lengths.

use usuba_library::declarations::{self, Access, Function, Memory};
use usuba_object::memory;
use usuba_object::safety::{self, Bytes, Parameter, Returns, Room};

/// The greatest length: no machine has more bytes.
const LONGEST: i64 = 1 << 56;

/// The contract of a declared function, at a symbol of an object.
///
/// # Errors
/// The contract is not expressible; the message says why.
pub fn contract(function: &Function) -> Result<safety::Function, String> {
    let parameter = |parameter: &declarations::Parameter| match &parameter.memory {
        Some(memory) => room(function, &parameter.name, memory).map(Parameter::Buffer),
        None if parameter.c_type == "size_t" => Ok(Parameter::Length(LONGEST)),
        None => Err(format!("`{}` is any number of its type", parameter.name)),
    };
    let parameters: Vec<Parameter> =
        function.parameters.iter().map(parameter).collect::<Result<_, _>>()?;
    let rooms: Vec<Option<&Room>> = parameters
        .iter()
        .map(|parameter| match parameter {
            Parameter::Buffer(room) => Some(room),
            _ => None,
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

/// The buffer behind a pointer.
fn room(function: &Function, name: &str, memory: &Memory) -> Result<Room, String> {
    let size = &memory.bytes;
    let unknown = || format!("the size of `{name}` is not a multiple of one length");
    let bytes = match size.fixed() {
        _ if memory.each.is_some() => return Err(format!("`{name}` points to pointers")),
        Some(bytes) => Bytes::Fixed(usize::try_from(bytes).map_err(|_| unknown())?),
        None if size.divisor() != 1 => return Err(unknown()),
        None => {
            let (mut more, mut times) = (0, None);
            for (factor, names) in size.terms() {
                match names {
                    [] => more = factor,
                    [length] if times.is_none() => {
                        let place = |p: &declarations::Parameter| p.name == *length;
                        let at = function.parameters.iter().position(place);
                        times = Some((factor, at.ok_or_else(unknown)?));
                    }
                    _ => return Err(unknown()),
                }
            }
            let (each, length) = times.ok_or_else(unknown)?;
            Bytes::Times { each, length, more }
        }
    };
    let access = match memory.access {
        Access::Read => memory::Access::Read,
        Access::Write => memory::Access::Both,
    };
    let (name, align, is_public) = (name.to_string(), memory.align, !memory.secret);
    Ok(Room { name, bytes, access, align, is_public })
}
