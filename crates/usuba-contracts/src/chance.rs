//! Pseudo-random inputs by splitmix64: the same in every run, with edges of intervals preferred.

use num_bigint::BigUint;

pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// splitmix64
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number of an interval. The run decides whether numbers are the ends of all intervals,
    /// close to them, or uniform.
    pub fn between(&mut self, low: &BigUint, high: &BigUint, run: usize) -> BigUint {
        let width = high - low;
        let near = BigUint::from(self.word() % 40).min(width.clone());
        let kind = match run % 10 {
            0 => 0,
            1 => 1,
            2 => self.word() % 2,
            3 => 2 + self.word() % 2,
            4 => 1 + 2 * (self.word() % 2),
            5 => 5,
            6 | 7 => 5 + self.word() % 2,
            8 => self.word() % 7,
            _ => 4,
        };
        // All ones with one bit less: a limb that is full, in a word that has room for more.
        let full = (BigUint::from(1u8) << width.bits().saturating_sub(1)) - 1u8;
        match kind {
            0 => low.clone(),
            1 => high.clone(),
            2 => low + near,
            3 => high - near,
            5 => low + full,
            6 => low + (&full - near.min(full.clone())),
            _ => {
                let mut value = BigUint::ZERO;
                for _ in 0..=width.bits() / 64 {
                    value = (value << 64) + self.word();
                }
                low + value % (width + 1u8)
            }
        }
    }
}
