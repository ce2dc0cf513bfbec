//! Data for the lanes of a call: different in every instance, the same for the same seed.

use usuba::ir::Port;
use usuba::ir::op::mask;

/// A small generator of numbers (xorshift64*, Vigna 2016).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Every seed gives another sequence.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 bits.
    pub fn step(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A word of `bits` bits; one in eight is zero, all ones, one, or the top bit alone.
    pub fn word(&mut self, bits: u8) -> u64 {
        let ones = mask(bits);
        match self.step() >> 59 {
            0 => 0,
            1 => ones,
            2 => 1,
            3 => ones ^ (ones >> 1),
            _ => self.step() >> (64 - bits),
        }
    }
}

/// Rows of source words for `ports`: the first one is `first` if there is one. Words of `const`
/// ports are the same in all rows.
pub fn rows(ports: &[Port], count: usize, first: Option<&[u64]>, seed: u64) -> Vec<Vec<u64>> {
    let mut random = Random::new(seed);
    let mut rows: Vec<Vec<u64>> = Vec::with_capacity(count);
    for at in 0..count {
        let mut row = Vec::new();
        for port in ports {
            for _ in 0..port.words() {
                let word = random.word(port.word);
                let shared = rows.first().filter(|_| port.constant).map(|head| head[row.len()]);
                let given = first.filter(|_| at == 0).map(|first| first[row.len()]);
                row.push(shared.or(given).unwrap_or(word));
            }
        }
        rows.push(row);
    }
    rows
}
