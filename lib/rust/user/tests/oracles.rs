//! The same generic code with this crate and with the crates of RustCrypto: the types change, and
//! the answers do not.

use skein::digest::consts::{U20, U32, U64, U128, U200};
use usuba_ciphers::cipher::array::Array;
use usuba_ciphers::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit, KeyIvInit, StreamCipher,
    StreamCipherSeek,
};
use usuba_ciphers::digest::Digest;

/// Numbers of blocks, and calls with each.
const COUNTS: [usize; 8] = [1, 2, 7, 16, 33, 255, 1025, 3000];

/// A sequence of numbers (SplitMix64).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

fn assert_blocks<C, D>()
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
    D: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = C::BlockSize>,
{
    let mut noise = Noise(C::block_size() as u64);
    for count in COUNTS {
        let key = noise.bytes(C::key_size());
        let one = C::new_from_slice(&key).expect("a key");
        let other = D::new_from_slice(&key).expect("a key of the same length");
        let block = |_| Array::try_from(&noise.bytes(C::block_size())[..]).expect("a block");
        let mut blocks: Vec<Array<u8, C::BlockSize>> = (0..count).map(block).collect();
        let plain = blocks.clone();
        one.encrypt_blocks(&mut blocks);
        let mut expected = plain.clone();
        other.encrypt_blocks(&mut expected);
        assert_eq!(blocks, expected);
        one.decrypt_blocks(&mut blocks);
        assert_eq!(blocks, plain);
        other.decrypt_blocks(&mut expected);
        assert_eq!(expected, plain);
    }
}

fn assert_hashes<C: Digest, D: Digest>() {
    let mut noise = Noise(<C as Digest>::output_size() as u64);
    for _ in 0..200 {
        let most = [20, 200, 5000][(noise.next() % 3) as usize];
        let length = noise.next() as usize % most;
        let message = noise.bytes(length);
        let mut one = C::new();
        let mut rest = &message[..];
        while !rest.is_empty() {
            let piece = (noise.next() as usize % most).min(rest.len());
            one.update(&rest[..piece]);
            rest = &rest[piece..];
        }
        assert_eq!(one.finalize()[..], D::digest(&message)[..]);
    }
}

fn assert_streams<C, D>()
where
    C: KeyIvInit + StreamCipher + StreamCipherSeek,
    D: KeyIvInit + StreamCipher + StreamCipherSeek,
{
    let mut noise = Noise(C::iv_size() as u64);
    for _ in 0..20 {
        let (key, iv) = (noise.bytes(C::key_size()), noise.bytes(C::iv_size()));
        let mut one = C::new_from_slices(&key, &iv).expect("these lengths");
        let mut other = D::new_from_slices(&key, &iv).expect("the same lengths");
        let (mut first, length) = (vec![0; 20000], 20000);
        let mut second = first.clone();
        let mut at = (noise.next() % 1000) as usize;
        one.seek(at);
        other.seek(at);
        at = 0;
        while at < length {
            let bound = [20, 200, 9000][(noise.next() % 3) as usize];
            let piece = (noise.next() as usize % bound).min(length - at);
            one.apply_keystream(&mut first[at..at + piece]);
            other.apply_keystream(&mut second[at..at + piece]);
            assert_eq!(one.current_pos::<u64>(), other.current_pos::<u64>());
            at += piece;
        }
        assert_eq!(first, second);
    }
}

#[test]
fn block_ciphers() {
    assert_blocks::<usuba_ciphers::aes::Aes128, aes::Aes128>();
    assert_blocks::<usuba_ciphers::aes::Aes192, aes::Aes192>();
    assert_blocks::<usuba_ciphers::aes::Aes256, aes::Aes256>();
    assert_blocks::<usuba_ciphers::camellia::Camellia128, camellia::Camellia128>();
    assert_blocks::<usuba_ciphers::camellia::Camellia192, camellia::Camellia192>();
    assert_blocks::<usuba_ciphers::camellia::Camellia256, camellia::Camellia256>();
    assert_blocks::<usuba_ciphers::des::Des, des::Des>();
    assert_blocks::<usuba_ciphers::des::Tdes, des::TdesEde3>();
    assert_blocks::<usuba_ciphers::gift::Gift128, gift_cipher::Gift128>();
    assert_blocks::<usuba_ciphers::sm4::Sm4, sm4::Sm4>();
}

#[test]
fn stream_ciphers() {
    assert_streams::<usuba_ciphers::chacha20::ChaCha20, chacha20::ChaCha20>();
    assert_streams::<usuba_ciphers::chacha20::ChaCha12, chacha20::ChaCha12>();
    assert_streams::<usuba_ciphers::chacha20::ChaCha8, chacha20::ChaCha8>();
    assert_streams::<usuba_ciphers::salsa20::Salsa20, salsa20::Salsa20>();
    assert_streams::<usuba_ciphers::salsa20::Salsa20_12, salsa20::Salsa12>();
    assert_streams::<usuba_ciphers::salsa20::Salsa20_8, salsa20::Salsa8>();
}

#[test]
fn hash_functions() {
    assert_hashes::<usuba_ciphers::skein::Skein256<U20>, skein::Skein256<U20>>();
    assert_hashes::<usuba_ciphers::skein::Skein256, skein::Skein256<U32>>();
    assert_hashes::<usuba_ciphers::skein::Skein512, skein::Skein512<U64>>();
    assert_hashes::<usuba_ciphers::skein::Skein512<U200>, skein::Skein512<U200>>();
    assert_hashes::<usuba_ciphers::skein::Skein1024, skein::Skein1024<U128>>();
    assert_hashes::<usuba_ciphers::skein::Skein1024<U20>, skein::Skein1024<U20>>();
}
