//! The chains of WOTS+, written from FIPS 205, algorithms 5 and 6 and sections 11.1 and 11.2, over the
//! references of SHA-256 and of Keccak.

/// One of the functions that map a chaining value and a block to bytes.
pub type Blocks = fn(&str, &[u8], &[u8]) -> Vec<u8>;

/// F and PRF: the beginning of the hash, the address, and a value.
fn sha256(sha2: Blocks, start: &[u8], address: &[u8], value: &[u8]) -> Vec<u8> {
    let mut block = [address, value, &[0x80]].concat();
    block.resize(56, 0);
    block.extend((8 * (64 + 22 + value.len() as u64)).to_be_bytes());
    sha2("sha256_compress", &[], &[start, &block].concat())[..value.len()].to_vec()
}

fn shake256(keccak: Blocks, seed: &[u8], address: &[u8], value: &[u8]) -> Vec<u8> {
    let mut block = [seed, address, value, &[0x1f]].concat();
    block.resize(136, 0);
    block[135] ^= 0x80;
    block.resize(200, 0);
    keccak("keccak_f1600", &[], &block)[..value.len()].to_vec()
}

/// The end of a chain. `input` is SK.seed in 32 bytes; the hash of the block of PK.seed, or PK.seed in 32
/// bytes; and the address, compressed or not, before its last bytes, which are the number of a step.
pub fn chain(function: &str, input: &[u8], sha2: Blocks, keccak: Blocks) -> Vec<u8> {
    let n: usize = function.rsplit('_').next().and_then(|n| n.parse().ok()).expect("bytes of a hash");
    let (secret, rest) = input.split_at(32);
    let (begin, address) = rest.split_at(32);
    let hash = |kind: u8, step: u8, value: &[u8]| {
        let mut address = address.to_vec();
        if function.starts_with("wots_sha256") {
            address.extend([0, step]);
            address[9] |= kind;
            sha256(sha2, begin, &address, value)
        } else {
            address[31] |= step;
            address[19] |= kind;
            shake256(keccak, &begin[..n], &address, value)
        }
    };
    let start = hash(5, 0, &secret[..n]);
    let mut end = (0..15).fold(start, |value, step| hash(0, step, &value));
    end.resize(32, 0);
    end
}

/// The end of a chain; there is no key.
pub fn reference(function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    chain(function, input, super::sha2_reference::reference, super::keccak_reference::reference)
}
