//! Values of `cipher.toml` that are words of a list, numbers of a range, or bytes.

use serde::{Deserialize, Deserializer};
use usuba::emit::bytes::ByteLayout;
use usuba::ir::Slicing;
use usuba::isa;

/// The value that is called `found` in a list of all of them.
fn one_of<T: Copy, E: serde::de::Error>(
    kind: &str,
    all: &[(&str, T)],
    found: &str,
) -> Result<T, E> {
    let value = all.iter().find(|(name, _)| *name == found).map(|(_, value)| *value);
    value.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|(name, _)| format!("`{name}`")).collect();
        E::custom(format!("found {kind} `{found}`, expected one of {}", names.join(", ")))
    })
}

/// The order of bytes of a parameter.
pub fn layout<'de, D: Deserializer<'de>>(from: D) -> Result<ByteLayout, D::Error> {
    one_of("byte layout", ByteLayout::ALL, &String::deserialize(from)?)
}

/// The same, where it may be absent.
pub fn some_layout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ByteLayout>, D::Error> {
    layout(from).map(Some)
}

/// A list of slicings.
pub fn slicings<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Slicing>, D::Error> {
    let all = [("V", Slicing::V), ("H", Slicing::H), ("B", Slicing::B), ("W", Slicing::W)];
    Vec::<String>::deserialize(from)?.iter().map(|name| one_of("slicing", &all, name)).collect()
}

/// Instances of a node in a kernel.
const INSTANCES: std::ops::RangeInclusive<u32> = 1..=8;

/// A number of instances in a kernel.
pub fn instances<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let count = u32::deserialize(from)?;
    match INSTANCES.contains(&count) {
        true => Ok(Some(count)),
        false => Err(serde::de::Error::custom(format!(
            "found {count} instances, expected {} to {}",
            INSTANCES.start(),
            INSTANCES.end()
        ))),
    }
}

/// A list of names of targets.
pub fn targets<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    let all: Vec<_> = isa::all().chain(isa::NARROW.iter().copied()).collect();
    let all: Vec<(&str, ())> = all.iter().map(|target| (target.name, ())).collect();
    names.iter().try_for_each(|name| one_of("target", &all, name))?;
    Ok(names)
}

/// Bytes in hexadecimal digits.
pub fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    let wrong = || serde::de::Error::custom("expected pairs of hexadecimal digits");
    hex(&text).ok_or_else(wrong)
}

/// The bytes of pairs of digits.
pub fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
