//! Subterranean 2.0 from the paper (ToSC 2020), bit by bit.

fn round(s: &[u8]) -> Vec<u8> {
    let each = |bit: &dyn Fn(usize) -> u8| -> Vec<u8> { (0..257).map(bit).collect() };
    let mut s = each(&|i| s[i] ^ (s[(i + 1) % 257] ^ 1) & s[(i + 2) % 257]);
    s[0] ^= 1;
    let s = each(&|i| s[i] ^ s[(i + 3) % 257] ^ s[(i + 8) % 257]);
    each(&|i| s[12 * i % 257])
}

/// `subterranean_round` and `subterranean_blank8` on 33 bytes, of which the last has one bit;
/// there is no key.
pub fn reference(function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut state: Vec<u8> = (0..257).map(|i| input[i / 8] >> (i % 8) & 1).collect();
    if function.ends_with("round") {
        state = round(&state);
    } else {
        for _ in 0..8 {
            state = round(&state);
            state[1] ^= 1;
        }
    }
    state.chunks(8).map(|bits| (0..bits.len()).map(|i| bits[i] << i).sum()).collect()
}
