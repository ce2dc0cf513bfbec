//! Trivium clock by clock, written from the eSTREAM specification, with its numbering of bits
//! from 1 to 288.

/// The three registers, the newest bit first. Bits that the specification has dropped follow, up
/// to 128, because the states between two calls hold them.
struct Registers([[u8; 128]; 3]);

impl Registers {
    /// Bit number `number` of the specification.
    fn s(&self, number: usize) -> u8 {
        match number {
            ..94 => self.0[0][number - 1],
            94..178 => self.0[1][number - 94],
            _ => self.0[2][number - 178],
        }
    }

    /// One clock, and its bit of the keystream.
    fn clock(&mut self) -> u8 {
        let s = |number| self.s(number);
        let (t1, t2, t3) = (s(66) ^ s(93), s(162) ^ s(177), s(243) ^ s(288));
        let new = [
            t3 ^ s(286) & s(287) ^ s(69),
            t1 ^ s(91) & s(92) ^ s(171),
            t2 ^ s(175) & s(176) ^ s(264),
        ];
        for (register, bit) in self.0.iter_mut().zip(new) {
            register.copy_within(..127, 1);
            register[0] = bit;
        }
        t1 ^ t2 ^ t3
    }

    /// After 1152 clocks. Key and initial value begin with their last byte, each byte with its
    /// most significant bit.
    fn start(key: &[u8], iv: &[u8]) -> Registers {
        let mut registers = Registers([[0; 128]; 3]);
        for (register, bytes) in registers.0.iter_mut().zip([key, iv]) {
            let bits = bytes.iter().rev().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit));
            register.iter_mut().zip(bits).for_each(|(to, bit)| *to = bit & 1);
        }
        registers.0[2][108..111].fill(1);
        (0..1152).for_each(|_| _ = registers.clock());
        registers
    }

    /// 48 bytes: two little-endian words for each register, the newest bit the most significant.
    fn words(&self) -> Vec<u8> {
        let word = |bits: &[u8]| bits.iter().fold(0, |word: u64, bit| word << 1 | *bit as u64);
        let words = self.0.iter().flat_map(|register| register.chunks(64)).map(word);
        words.flat_map(u64::to_le_bytes).collect()
    }

    fn from_words(bytes: &[u8]) -> Registers {
        let mut registers = Registers([[0; 128]; 3]);
        for (at, register) in registers.0.iter_mut().enumerate() {
            for (number, bit) in register.iter_mut().enumerate() {
                let (word, place) = (2 * at + number / 64, 63 - number % 64);
                *bit = bytes[8 * word + place / 8] >> (place % 8) & 1;
            }
        }
        registers
    }

    /// 64 bytes of keystream, from the least significant bit of the first.
    fn stream(&mut self) -> Vec<u8> {
        let byte = |registers: &mut Registers| (0..8).map(|bit| registers.clock() << bit).sum();
        (0..64).map(|_| byte(self)).collect()
    }
}

/// `trivium_stream`: the first 64 bytes of the keystream from a key of 10 bytes and an initial
/// value of 10; `trivium_start`: the state before it; `trivium_next`: from a state the next state
/// and the keystream between them.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    match function {
        "trivium_start" => Registers::start(key, input).words(),
        "trivium_next" => {
            let mut registers = Registers::from_words(input);
            let stream = registers.stream();
            [registers.words(), stream].concat()
        }
        _ => Registers::start(key, input).stream(),
    }
}
