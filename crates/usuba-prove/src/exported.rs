//! Contracts of exported functions for the safety prover, from the declarations of a header.
//!
//! ```text
//! int f(const uint8_t key[32], const uint8_t *in /* [length] */, uint8_t *out /* [16 + length] */,
//!     size_t length)
//!   key   32 bytes, read, secret         in    as many bytes as `length` says
//!   out   16 bytes more, read and written; a buffer of the size of `in` may begin where `in` does
//!
//! int g(const uint8_t *const *in /* [count][lengths[i]] */, const size_t *lengths /* [count] */,
//!     size_t count)
//!   in    `count` addresses, public; behind each one as many bytes as `lengths` says, secret
//! ```
//!
//! *Limits:* sizes that depend on two parameters, lengths above the bound, and arrays of pointers to
//! buffers that are written.

use usuba_library::declarations::{self, Access, Function, Memory, Struct};
use usuba_library::size::Size;
use usuba_object::memory::{self, Field};
use usuba_object::safety::{self, Bytes, Parameter, Returns, Room};

/// The greatest size of a buffer with addresses of this number of bytes: no machine has more memory, and with
/// short addresses no C compiler makes larger objects.
fn longest(address: usize) -> i64 {
    if address == 8 { 1 << 56 } else { (1 << (8 * address - 1)) - 1 }
}

/// The contract of a declared function, at a symbol of an object whose addresses have `address` bytes.
///
/// # Errors
/// The contract is not expressible; the message says why.
pub fn contract(
    function: &Function,
    types: &[Struct],
    address: usize,
) -> Result<safety::Function, String> {
    let longest = longest(address);
    // The greatest factor of a number in a size; `None` if it is in none.
    let factor = |name: &String| {
        let memories = function.parameters.iter().filter_map(|p| p.memory.as_ref());
        let terms = memories.flat_map(|memory| memory.bytes.terms());
        terms.filter(|(_, names)| names.contains(name)).map(|(factor, _)| factor).max()
    };
    let parameter = |parameter: &declarations::Parameter| match &parameter.memory {
        Some(memory) => {
            // Declarations have addresses of eight bytes.
            let shorter = if is_of_addresses(&parameter.c_type) { 8 / address } else { 1 };
            let room = room(function, &parameter.name, memory, (shorter as i64, longest))?;
            let fields = fields(&parameter.c_type, types, address)?;
            Ok::<_, String>(Parameter::Buffer(Room { fields, ..room }))
        }
        None => {
            let number = match factor(&parameter.name) {
                Some(factor) => Parameter::Length(longest / factor.max(1)),
                None if parameter.c_type == "size_t" => Parameter::Length(longest),
                None => Parameter::Any,
            };
            let is_wide = address < 8 && is_long(&parameter.c_type);
            Ok(if is_wide { Parameter::Wide(Box::new(number)) } else { number })
        }
    };
    let parameters: Vec<Parameter> =
        function.parameters.iter().map(parameter).collect::<Result<_, String>>()?;
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

/// Whether a pointer points to addresses, or to numbers of their size.
fn is_of_addresses(c_type: &str) -> bool {
    let elements = c_type.trim_start_matches("const ").trim_end_matches('*').trim_end();
    elements == "size_t" || elements.contains('*')
}

/// Whether a number has eight bytes on all machines.
pub fn is_long(c_type: &str) -> bool {
    matches!(c_type, "uint64_t" | "unsigned long long") || c_type.ends_with("_length")
}

/// The buffer behind a pointer, whose elements are `shorter` times as short as declared; no buffer has
/// more than `longest` bytes.
fn room(
    function: &Function,
    name: &str,
    memory: &Memory,
    (shorter, longest): (i64, i64),
) -> Result<Room, String> {
    let size = &memory.bytes;
    let unknown = || format!("the size of `{name}` is not a multiple of one length");
    let bytes = match size.fixed() {
        Some(bytes) => {
            Bytes::Fixed(usize::try_from(bytes).map_err(|_| unknown())? / shorter as usize)
        }
        None if size.divisor() != 1 => return Err(unknown()),
        None if is_text(size, name) && memory.access == Access::Read => {
            Bytes::Text { most: longest }
        }
        None => {
            let (mut more, mut times) = (0, None);
            for (factor, names) in size.terms() {
                let factor = factor / shorter;
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
        Access::Out => memory::Access::Write,
    };
    let align = memory.align / shorter as u64;
    let (name, is_public) = (name.to_string(), !memory.secret);
    let each = memory.each.as_ref().map(|size| behind(function, &name, size, is_public, longest));
    let each = each.transpose()?.map(Box::new);
    if each.is_some() && access != memory::Access::Read {
        return Err(format!("`{name}` points to pointers that may change"));
    }
    // Pointers are public, and so are their arrays.
    let is_public = is_public || each.is_some();
    Ok(Room { name, bytes, access, align, is_public, fields: Vec::new(), each })
}

/// Whether a size is the size of a string.
fn is_text(size: &Size, name: &str) -> bool {
    let length = [format!("strlen({name})")];
    let is_part = |term: (i64, &[String])| term == (1, &[]) || term == (1, &length[..]);
    size.terms().count() == 2 && size.terms().all(is_part)
}

/// The buffer behind each pointer of an array, which is only read.
fn behind(
    function: &Function,
    name: &str,
    size: &Size,
    is_public: bool,
    longest: i64,
) -> Result<Room, String> {
    let unknown = || format!("the size behind each pointer of `{name}` is not in an array");
    let index = |term: (i64, &[String])| match term {
        (1, [element]) => {
            let array = element.strip_suffix("[i]")?;
            // Elements with as many bytes as an address, which stay as they are.
            let is_array =
                |of: &declarations::Parameter| of.name == array && of.c_type == "const size_t *";
            function.parameters.iter().position(is_array)
        }
        _ => None,
    };
    let mut terms = size.terms();
    let only = terms.next().and_then(index).filter(|_| terms.next().is_none());
    let bytes = match (size.fixed(), only) {
        (Some(bytes), _) => Bytes::Fixed(usize::try_from(bytes).map_err(|_| unknown())?),
        (None, Some(lengths)) if size.divisor() == 1 => Bytes::Listed { lengths, most: longest },
        _ => return Err(unknown()),
    };
    let name = format!("{name}[i]");
    let (access, fields) = (memory::Access::Read, Vec::new());
    Ok(Room { name, bytes, access, align: 1, is_public, fields, each: None })
}

/// The public fields of the struct behind a pointer; none of other types.
fn fields(c_type: &str, types: &[Struct], address: usize) -> Result<Vec<Field>, String> {
    let name = c_type.trim_start_matches("const ").trim_end_matches(" *");
    let Some(found) = types.iter().find(|known| known.name == name) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for field in &found.fields {
        let (offset, bytes) = (field.offset as usize, field.bytes as usize);
        let inner = fields(&field.c_type, types, address)?;
        if address < 8 && field.c_type.trim_start_matches("const ").starts_with("size_t") {
            return Err(format!("`{}` of `{name}` is shorter than declared", field.name));
        }
        if field.memory.is_some() {
            return Err(format!("`{}` of `{name}` points to memory", field.name));
        }
        if !field.secret && inner.is_empty() {
            let below = field.below.map(|below| below.min(longest(address) as u64) as i64);
            all.push(Field { name: field.name.clone(), offset, bytes, below });
        }
        all.extend(inner.into_iter().map(|inner| Field {
            name: format!("{}.{}", field.name, inner.name),
            offset: offset + inner.offset,
            ..inner
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use usuba_library::declarations::Declarations;

    use super::contract;

    /// Arrays and strings that may change, and lengths of another size, have no contract.
    #[test]
    fn arrays_and_strings_are_constant() {
        let of = |parameters: &str| {
            let header = format!("USUBA_API int f({parameters}, size_t n);");
            let read = Declarations::read(&header).expect("declarations");
            contract(&read.exported[0], &read.types, 8)
        };
        let array = "const uint8_t *const *in /* [n][lengths[i]] */";
        let text = "const char *name /* [strlen(name) + 1] */";
        of(&format!("{array}, const size_t *lengths /* [n] */")).expect("an array");
        of(text).expect("a string");
        for (parameters, why) in [
            (format!("{array}, size_t *lengths /* [n] */"), "is not in an array"),
            (format!("{array}, const uint32_t *lengths /* [n] */"), "is not in an array"),
            ("uint8_t *const *in /* [n][32] */".into(), "that may change"),
            (text.replace("const ", ""), "is not a multiple"),
        ] {
            let found = of(&parameters).expect_err(&parameters);
            assert!(found.contains(why), "{parameters}: {found}");
        }
    }
}
