//! The source of random choices: a seed, or the bytes of a fuzzer.

/// A source of choices. When bytes run out every choice is the first one, and the first one is
/// always the simplest, so programs from short strings are small.
pub struct Choices<'a> {
    source: Source<'a>,
}

enum Source<'a> {
    /// xorshift64* (Vigna 2016).
    Seed(u64),
    Bytes(std::slice::Iter<'a, u8>),
}

impl<'a> Choices<'a> {
    /// An endless sequence of choices, different for every seed.
    pub fn from_seed(seed: u64) -> Choices<'a> {
        Choices { source: Source::Seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1) }
    }

    /// The choices that a fuzzer made.
    pub fn from_bytes(bytes: &'a [u8]) -> Choices<'a> {
        Choices { source: Source::Bytes(bytes.iter()) }
    }

    /// 64 bits.
    pub fn word(&mut self) -> u64 {
        match &mut self.source {
            Source::Seed(state) => {
                *state ^= *state >> 12;
                *state ^= *state << 25;
                *state ^= *state >> 27;
                state.wrapping_mul(0x2545_f491_4f6c_dd1d)
            }
            Source::Bytes(bytes) => {
                (0..8).fold(0, |sum, _| sum << 8 | bytes.next().copied().unwrap_or(0) as u64)
            }
        }
    }

    /// A number below `count`, which is at least 1.
    pub fn below(&mut self, count: usize) -> usize {
        let number = match &mut self.source {
            Source::Seed(_) => self.word() >> 32,
            Source::Bytes(bytes) => {
                let size = if count > 256 { 2 } else { 1 };
                (0..size).fold(0, |sum, _| sum << 8 | bytes.next().copied().unwrap_or(0) as u64)
            }
        };
        number as usize % count
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// True in this number of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of `list`, which is not empty.
    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }
}
