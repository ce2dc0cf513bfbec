//! Contracts of key setups: from the bytes of a key to the words of its round keys.
//!
//! ```text
//! name_init(words, key)                       one function
//! name_made(made, key)  name_init(words, made)    or two, where several forms share a schedule
//! ```
//!
//! `made` is the result of the schedule: eight bits in a byte, the most significant first, if it
//! consists of bits, and otherwise its words. A setup without a schedule moves bits only, so its
//! program returns its parameter.

use usuba::emit::bytes::ByteLayout;
use usuba::ir::build::Builder;
use usuba::ir::{NodeId, Port, Program, Slicing};
use usuba_ciphers::Key;
use usuba_object::byte_order::Words;
use usuba_object::kernel_contract::{Array, Contract, Meaning};

use crate::byte_interface::order;

/// The contract of the function from the key to the words of `port`, and its reference program.
///
/// # Errors
/// The words and the bytes of the key do not fit.
pub fn whole(
    symbol: String,
    port: &Port,
    key: &Key,
    schedule: Option<&Program>,
) -> Result<(Contract, Program), String> {
    let program = schedule.cloned().unwrap_or_else(|| unchanged(port));
    let entry = key_bytes(&program, key.bytes)?;
    let exit = key_words(port, schedule.and(key.through))?;
    Ok((contract(symbol, exit, entry), program))
}

/// The contract of the function from the key to the result of `schedule`.
///
/// # Errors
/// The words and the bytes of the key do not fit.
pub fn schedule(symbol: String, schedule: &Program, key: ByteLayout) -> Result<Contract, String> {
    Ok(contract(symbol, made(schedule)?, key_bytes(schedule, key)?))
}

/// The contract of the function from the result of `schedule` to the words of `port`, and its
/// reference program.
///
/// # Errors
/// The words do not fit the result.
pub fn fill(
    symbol: String,
    port: &Port,
    schedule: &Program,
    through: Option<ByteLayout>,
) -> Result<(Contract, Program), String> {
    let [result] = &schedule.entry().results[..] else {
        return Err("a schedule has one result".into());
    };
    let contract = contract(symbol, key_words(port, through)?, made(schedule)?);
    Ok((contract, unchanged(result)))
}

/// A part of memory: the alignment of its elements in bytes, and its bits.
type Part = (u64, Vec<Meaning>);

fn contract(symbol: String, (align, exit): Part, (from, entry): Part) -> Contract {
    let array = |name: &str, align, size, entry, exit| Array {
        name: name.to_string(),
        align,
        size,
        entry,
        exit,
    };
    let arrays = vec![
        array("words", align, exit.len(), None, Some(exit)),
        array("key", from, entry.len(), Some(entry), None),
    ];
    Contract { symbol, arrays, pointers: vec![0, 1] }
}

fn bit(at: usize) -> Meaning {
    Meaning::Bit { bit: at as u32, instance: None, complement: false }
}

/// The words of a port.
pub fn words(port: &Port) -> Words {
    let row = port.dims.last().map_or(1, |&size| size as usize);
    Words { count: port.words(), row, bits: port.word as usize }
}

/// The bytes of the only parameter of a program.
fn key_bytes(program: &Program, bytes: ByteLayout) -> Result<Part, String> {
    let [from] = &program.entry().params[..] else { return Err("a schedule has one key".into()) };
    let places = order(bytes).bits(words(from)).ok_or_else(|| no_order(from))?;
    let bits: Option<Vec<Meaning>> = places.into_iter().map(|place| place.map(bit)).collect();
    Ok((1, bits.ok_or("the last byte of the key is not all key")?))
}

/// The words of `port`, from the bits of a result.
fn key_words(port: &Port, through: Option<ByteLayout>) -> Result<Part, String> {
    let to = words(port);
    Ok(in_integers(to.bits, &made_bits(port, through)?))
}

/// The bit of a schedule's result that each bit of `port` is: in their order, or as if the bytes that
/// hold them were read in the layout `through`.
///
/// # Errors
/// The words do not have this layout.
pub fn made_bits(port: &Port, through: Option<ByteLayout>) -> Result<Vec<usize>, String> {
    let to = words(port);
    let mut made: Vec<Option<usize>> = (0..to.count * to.bits).map(Some).collect();
    if let Some(through) = through {
        let places = order(through).bits(to).ok_or_else(|| no_order(port))?;
        made.fill(None);
        for (at, place) in places.into_iter().enumerate() {
            if let Some(place) = place {
                // The bytes hold the bits of the schedule in order.
                made[place] = Some(at / 8 * 8 + 7 - at % 8);
            }
        }
    }
    let made: Option<Vec<usize>> = made.into_iter().collect();
    made.ok_or_else(|| "the schedule makes too few bits".to_string())
}

/// The result of a schedule.
fn made(schedule: &Program) -> Result<Part, String> {
    let [result] = &schedule.entry().results[..] else {
        return Err("a schedule has one result".into());
    };
    let shape = words(result);
    let count = shape.count * shape.bits;
    if shape.bits > 1 {
        return Ok(in_integers(shape.bits, &(0..count).collect::<Vec<_>>()));
    }
    // The last byte ends with zeros.
    let place = |at: usize| match at / 8 * 8 + 7 - at % 8 {
        at if at < count => bit(at),
        _ => Meaning::Zero,
    };
    Ok((1, (0..count.next_multiple_of(8)).map(place).collect()))
}

/// Words, the most significant bit first, each in the smallest C integer that holds it.
fn in_integers(bits: usize, words: &[usize]) -> Part {
    let size = bits.next_power_of_two().max(8);
    let integer = |word: &[usize]| {
        let word = word.iter().rev().map(|&at| bit(at));
        word.chain(std::iter::repeat(Meaning::Zero)).take(size).collect::<Vec<_>>()
    };
    (size as u64 / 8, words.chunks(bits).flat_map(integer).collect())
}

fn no_order(port: &Port) -> String {
    format!("the words of `{}` do not have that order of bytes", port.name)
}

/// The program that returns its parameter.
fn unchanged(port: &Port) -> Program {
    let mut build = Builder::new("unchanged", Slicing::V);
    let values = build.param(Port { constant: false, ..port.clone() });
    let result = Port { name: "words".into(), constant: false, ..port.clone() };
    let node = build.finish(vec![(result, values)]);
    Program::new(vec![node], NodeId(0), Slicing::V)
}
