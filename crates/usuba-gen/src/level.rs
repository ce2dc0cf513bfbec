//! Test levels: the quick run, a rotating share of the whole run, and the whole run.
//!
//! `USUBA_TESTS` is set by `cargo xtask test` and read here alone:
//!
//! | value | level |
//! |---|---|
//! | none | quick |
//! | `whole` | whole |
//! | anything else, such as a commit | quick, and the items of the whole run that it chooses |
//!
//! Each value chooses one item of [`SHARES`] by a hash of both names, and one of [`RARE`] among items
//! that take many seconds each, so that a sequence of commits covers all items and no run is long. A
//! chosen item is printed after [`CHOSEN`].

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// The part of the whole run that is one share.
pub const SHARES: u64 = 20;

/// The part of the whole run that is one of its long items, such as the proof of an object.
pub const RARE: u64 = 200;

/// The mark before the name of a chosen item in the output.
pub const CHOSEN: &str = "share: ";

/// How much of the tests is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Level {
    Quick,
    /// The quick run, and a share that this text chooses.
    Share(String),
    Whole,
}

impl Level {
    /// The level of a value of `USUBA_TESTS`.
    pub fn of(value: &str) -> Level {
        match value {
            "" => Level::Quick,
            "whole" => Level::Whole,
            seed => Level::Share(seed.to_string()),
        }
    }

    /// Whether an item that the quick run omits runs, if a share has one of `parts` items.
    pub fn asks(&self, item: &str, parts: u64) -> bool {
        match self {
            Level::Quick => false,
            Level::Share(seed) => hash(&[seed, item]).is_multiple_of(parts),
            Level::Whole => true,
        }
    }
}

/// FNV-1a: the same on every machine and by every compiler.
pub fn hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    let sum = |hash: u64, byte: u8| (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, sum);
    // The low bits of the product depend on few bits of the text.
    hash ^ hash >> 32
}

/// The level of this run.
pub fn level() -> &'static Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    LEVEL.get_or_init(|| Level::of(&std::env::var("USUBA_TESTS").unwrap_or_default()))
}

/// Which of the [`SHARES`] this run has: where random programs begin.
pub fn turn() -> u64 {
    turn_of(SHARES)
}

/// The same of another number of turns.
pub fn turn_of(turns: u64) -> u64 {
    match level() {
        Level::Share(seed) => hash(&[seed]) % turns,
        _ => 0,
    }
}

/// Whether all tests are run whole.
pub fn is_whole() -> bool {
    *level() == Level::Whole
}

/// Whether an item that the quick run omits runs in this run.
pub fn asks(item: impl AsRef<str>) -> bool {
    asks_one_of(item.as_ref(), SHARES)
}

/// The same if a share has one of `parts` items.
pub fn asks_one_of(item: &str, parts: u64) -> bool {
    let asked = level().asks(item, parts);
    if asked && !is_whole() {
        static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        if SAID.lock().is_ok_and(|mut said| said.insert(item.to_string())) {
            eprintln!("{CHOSEN}{item}");
        }
    }
    asked
}

/// [`asks`] for the function that this stands in, or for an item of it.
#[macro_export]
macro_rules! asks {
    () => {
        $crate::level::asks($crate::level::function(std::any::type_name_of_val(&{
            fn here() {}
            here
        })))
    };
    ($($item:tt)+) => {
        $crate::asks_one_of!($crate::level::SHARES, $($item)+)
    };
}

/// [`asks`](macro@asks) for a long item of the function that this stands in.
#[macro_export]
macro_rules! asks_rarely {
    ($($item:tt)+) => {
        $crate::asks_one_of!($crate::level::RARE, $($item)+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! asks_one_of {
    ($parts:expr, $($item:tt)+) => {{
        let item = format!($($item)+);
        fn here() {}
        let here = $crate::level::function(std::any::type_name_of_val(&here));
        $crate::level::asks_one_of(&format!("{here}, {item}"), $parts)
    }};
}

/// The path of a function from the name of a function in it.
#[doc(hidden)]
pub fn function(name: &str) -> String {
    name.trim_end_matches("::here").replace("::{{closure}}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_its_turn() {
        let items: Vec<String> = (0..100).map(|item| format!("cipher {item}")).collect();
        let mut left: BTreeSet<&String> = items.iter().collect();
        for seed in 0..400 {
            let level = Level::of(&format!("commit {seed}"));
            let chosen: Vec<_> = items.iter().filter(|item| level.asks(item, SHARES)).collect();
            assert!(chosen.len() < 20, "{} of 100 items in a twentieth", chosen.len());
            left.retain(|item| !chosen.contains(item));
        }
        assert!(left.is_empty(), "{left:?}");
        let here = function(std::any::type_name_of_val(&{
            fn here() {}
            here
        }));
        assert_eq!(here, "usuba_gen::level::tests::every_item_has_its_turn");
        assert!(items.iter().all(|item| {
            Level::of("whole").asks(item, RARE) && !Level::of("").asks(item, SHARES)
        }));
    }
}
