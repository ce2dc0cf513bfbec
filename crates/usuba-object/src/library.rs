//! Functions of the C library that copy and fill memory, which compilers call for loops that do
//! the same, too.
//!
//! ```text
//! memset(to, byte, n)      n bytes at `to` become the byte
//! memcpy(to, from, n)      n bytes from `from` to `to`, which do not overlap
//! memmove(to, from, n)     n bytes from `from` to `to`
//! randombytes(to, n)       n secret bytes at `to`
//! __memcpy_chk(to, from, n, size)    the same as memcpy, if size >= n
//! ```
//!
//! They are not in the object. Trusted: they follow the standard, their time depends on
//! nothing but counts and addresses, and they follow the calling convention. The contents of the
//! caller-saved registers after them are unknown, and may be the copied data.

use super::address::Address;
use super::block_copies::{Length, Place, place};
use super::callees::Caller;
use super::word::Word;
use super::{Fault, Rule, World, unsupported};
use usuba_bits::cell::Cell;

/// An effect, or the rule that a call breaks.
type Done = Result<(), Fault>;

/// A call of a function that is not in the object; `None` if it is not modelled. The return address,
/// or the last argument on the stack, is below `above`.
pub fn called<'o>(caller: &mut impl Caller<'o>, name: &str, above: i64) -> Option<Done> {
    // -D_FORTIFY_SOURCE: the program ends if the buffer is too short.
    let checked = name.strip_prefix("__").and_then(|name| name.strip_suffix("_chk"));
    let checked = checked.filter(|name| name.starts_with("mem"));
    if checked.is_some()
        && let Err(fault) = check_size(caller)
    {
        return Some(Err(fault));
    }
    let overlap = match checked.unwrap_or(name) {
        "memset" => None,
        "randombytes" => return Some(random_bytes(caller, above)),
        "memcpy" => Some(false),
        "memmove" => Some(true),
        _ => return None,
    };
    Some(copied(caller, overlap, above))
}

/// Checks that the size of the first buffer, the fourth parameter, suffices.
fn check_size<'o>(caller: &mut impl Caller<'o>) -> Done {
    let (bytes, size) = (caller.parameter(2), caller.parameter(3));
    let most = match caller.world().length(&bytes, 1)? {
        Length::Known(bytes) => bytes,
        Length::Counted(bytes) => caller.world().memory.most(bytes)?,
    };
    match size {
        Word::Number(size) if most as u64 <= size => Ok(()),
        _ => Err(unsupported("the size of a buffer may be too small, which ends the program")),
    }
}

/// Random bytes, which are secret, in their buffer and nowhere else.
fn random_bytes<'o>(caller: &mut impl Caller<'o>, above: i64) -> Done {
    caller.check_call(above)?;
    let (to, bytes, stack) = (caller.parameter(0), caller.parameter(1), caller.stack()?);
    // The number has eight bytes.
    if caller.address_bytes() == 4 && caller.parameter(2) != Word::Number(0) {
        return Err(unsupported("a number of random bytes that may be large"));
    }
    let world = caller.world();
    let (to, bytes) = (to.pointed()?, world.length(&bytes, 1)?);
    check_below(world, to, bytes, stack)?;
    match drawn(world, bytes) {
        Some(cells) => world.store(to, &cells, stack)?,
        None => world.fill_memory(to, &[Cell::OPAQUE; 8], bytes, stack)?,
    }
    caller.returned(Word::unset(), false)
}

/// The names of the next random bytes, where they have some.
fn drawn(world: &mut World, bytes: Length) -> Option<Vec<Cell>> {
    let Length::Known(bytes) = bytes else { return None };
    let World { bits, memory, calls, .. } = world;
    let cells = calls.functions.random(bits, memory.drawn, bytes)?;
    memory.drawn += 1;
    Some(cells)
}

/// A copy, with or without overlap, or `memset` if `overlap` is `None`.
fn copied<'o>(caller: &mut impl Caller<'o>, overlap: Option<bool>, above: i64) -> Done {
    caller.check_call(above)?;
    let [result, second, third] = [0, 1, 2].map(|at| caller.parameter(at));
    let stack = caller.stack()?;
    let world = caller.world();
    let (to, bytes) = (result.pointed()?, world.length(&third, 1)?);
    check_below(world, to, bytes, stack)?;
    let handles_secret = match overlap {
        Some(overlap) => {
            let from = second.pointed()?;
            check_below(world, from, bytes, stack)?;
            world.copy_memory(to, from, bytes, (overlap, stack))?;
            match bytes {
                Length::Known(0) => false,
                Length::Known(bytes) => {
                    let copied = world.load_bytes(to, bytes, stack)?;
                    world.is_secret(&copied)
                }
                Length::Counted(_) => true,
            }
        }
        None => {
            let cells = world.data(&second, "an address becomes data")?;
            world.fill_memory(to, &cells[..8], bytes, stack)?;
            world.is_secret(&cells[..8])
        }
    };
    caller.returned(result, handles_secret)
}

/// The bytes below the stack pointer belong to the callee.
fn check_below(world: &World, address: Address, length: Length, stack: i64) -> Done {
    let lowest = match place(address) {
        Place::Frame(offset) => offset.into(),
        Place::Behind(offset) => world.memory.unknowns.ranges.bounds(offset).0,
        _ => return Ok(()),
    };
    if lowest < stack.into() && !matches!(length, Length::Known(0)) {
        let what = "it hands over bytes below its frame";
        return Err(Fault::new(Rule::OutOfBounds, what));
    }
    Ok(())
}
