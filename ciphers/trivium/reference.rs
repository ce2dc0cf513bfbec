//! Trivium clock by clock, written from the eSTREAM specification, with its numbering of bits
//! from 1 to 288.

/// The bits of a key or initial value in the order of eSTREAM: from the last byte, each from the
/// most significant bit.
fn bits(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    bytes.iter().rev().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
}

/// The first 64 bytes of the key stream from a key of 10 bytes and an initial value of 10.
pub fn reference(_function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut s = [0u8; 289];
    for (at, bit) in bits(key).enumerate() {
        s[1 + at] = bit;
    }
    for (at, bit) in bits(input).enumerate() {
        s[94 + at] = bit;
    }
    s[286..=288].fill(1);
    let mut stream = vec![0; 64];
    for clock in 0..1152 + 512 {
        let (t1, t2, t3) = (s[66] ^ s[93], s[162] ^ s[177], s[243] ^ s[288]);
        if clock >= 1152 {
            let at = clock - 1152;
            stream[at / 8] |= (t1 ^ t2 ^ t3) << (at % 8);
        }
        let into_first = t3 ^ s[286] & s[287] ^ s[69];
        let into_second = t1 ^ s[91] & s[92] ^ s[171];
        let into_third = t2 ^ s[175] & s[176] ^ s[264];
        s.copy_within(1..288, 2);
        (s[1], s[94], s[178]) = (into_first, into_second, into_third);
    }
    stream
}
