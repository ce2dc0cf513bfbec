//! The layout of the words of a parameter in the bytes of a block.
//!
//! ```text
//! u16x4 in bytes "be":      0123 4567 89ab cdef are the words 0x0123, 0x4567, ...
//! u16x4 in bytes "le":      0123 4567 89ab cdef are the words 0x2301, 0x6745, ...
//! ```
//!
//! The chapter on `cipher.toml` defines these layouts. As with the layout of registers in
//! `kernel_contract`, this is a second implementation, apart from the emitter.

/// A layout of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The bits of all words, each from its most significant bit, are the bits of the bytes, each
    /// from its most significant bit.
    Be,
    /// Each word by itself, its least significant byte first.
    Le,
    /// Rows of words, as long as the last dimension. The bits of the bytes, from the most
    /// significant one of each, are the top bits of all words of the row, then the next bits.
    Planes,
    /// The bits of all words, each from its most significant bit, are the bits of the bytes, each
    /// from its least significant bit.
    LeBits,
}

/// The words of a parameter: their number, words of a row, and bits of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    pub count: usize,
    pub row: usize,
    pub bits: usize,
}

impl Words {
    /// Bytes of all words, the last one filled up.
    pub fn bytes(&self) -> usize {
        (self.count * self.bits).div_ceil(8)
    }
}

impl Order {
    /// For each bit of the bytes, from the least significant one of the first byte, the bit of all
    /// words that it is, the most significant bit of the first word being number 0. `None` for bits
    /// that fill up the last byte. An order of whole bytes wants words that are such.
    pub fn bits(self, words: Words) -> Option<Vec<Option<usize>>> {
        let Words { count, row, bits } = words;
        if self == Order::Le && !bits.is_multiple_of(8) || row == 0 || !count.is_multiple_of(row) {
            return None;
        }
        let mut places = vec![None; 8 * words.bytes()];
        for word in 0..count {
            for bit in 0..bits {
                let flat = word * bits + bit;
                let from_the_top = |at: usize| at / 8 * 8 + 7 - at % 8;
                let place = match self {
                    Order::Be => from_the_top(flat),
                    Order::LeBits => flat,
                    Order::Le => word * bits + bits - 1 - bit,
                    Order::Planes => from_the_top(word / row * row * bits + bit * row + word % row),
                };
                places[place] = Some(flat);
            }
        }
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that eight bytes are in each order.
    #[test]
    fn orders_are_those_of_the_book() {
        let bytes = 0xefcd_ab89_6745_2301u64.to_le_bytes();
        let words = |order: Order, row| {
            let words = Words { count: 4, row, bits: 16 };
            let mut found = [0u64; 4];
            for (at, place) in order.bits(words).expect("it fits").into_iter().enumerate() {
                let place = place.expect("there is nothing to fill up");
                let bit = bytes[at / 8] >> (at % 8) & 1;
                found[place / 16] |= (bit as u64) << (15 - place % 16);
            }
            found
        };
        assert_eq!(words(Order::Be, 4), [0x0123, 0x4567, 0x89ab, 0xcdef]);
        assert_eq!(words(Order::Le, 4), [0x2301, 0x6745, 0xab89, 0xefcd]);
        assert_eq!(words(Order::LeBits, 4), [0x80c4, 0xa2e6, 0x91d5, 0xb3f7]);
        // Rows of one word are the bits in their order.
        assert_eq!(words(Order::Planes, 1), words(Order::Be, 1));
        // Nibbles 0 to f: bit 0 of each, bit 1 of each, ...
        assert_eq!(words(Order::Planes, 4), [0x00ff, 0x0f0f, 0x3333, 0x5555]);
        assert_eq!(Order::Le.bits(Words { count: 1, row: 1, bits: 5 }), None);
        let filled = Order::Be.bits(Words { count: 1, row: 1, bits: 5 }).expect("it fits");
        assert_eq!(filled.iter().filter(|place| place.is_none()).count(), 3);
        assert_eq!(filled[7], Some(0));
    }
}
