//! The crate `keccak`.

pub fn oracle(_: &str, _: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let mut state = [0; 25];
    for (lane, bytes) in state.iter_mut().zip(input.chunks_exact(8)) {
        *lane = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    keccak::Keccak::new().with_f1600(|f1600| f1600(&mut state));
    Some(state.iter().flat_map(|lane| lane.to_le_bytes()).collect())
}
