//! The chains of WOTS+ over the block functions of the crates `sha2` and `keccak`.

pub fn oracle(function: &str, _: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let sha2 = |function: &str, key: &[u8], input: &[u8]| {
        super::sha2_oracle::oracle(function, key, input).expect("a function of the crate")
    };
    let keccak = |function: &str, key: &[u8], input: &[u8]| {
        super::keccak_oracle::oracle(function, key, input).expect("a function of the crate")
    };
    Some(super::slh_dsa_reference::chain(function, input, sha2, keccak))
}
