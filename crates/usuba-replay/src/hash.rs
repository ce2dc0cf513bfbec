//! Maps by a fast hash. Keys are nodes and words, and no care is taken of keys that collide on purpose: a
//! forged certificate can make a replay slow, and not wrong.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by [`Fast`].
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fast>>;

/// A set by [`Fast`].
pub type Set<K> = HashSet<K, BuildHasherDefault<Fast>>;

/// Multiplies by the golden ratio, in 64 bits, for each word.
#[derive(Clone, Copy, Default, Debug)]
pub struct Fast(u64);

impl Hasher for Fast {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            self.write_u64(part.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
