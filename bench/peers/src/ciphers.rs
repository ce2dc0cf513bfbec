//! The compared ciphers, with the sizes that every adapter agrees on.

/// One cipher under its name in the adapters.
pub struct Cipher {
    pub name: &'static str,
    /// For tables.
    pub title: &'static str,
    /// Bytes of a key, of the start of a message (a counter block or a nonce), and of a block.
    pub key: usize,
    pub start: usize,
    pub block: usize,
    /// Whether we have functions of our own for processors with GFNI.
    pub gfni: bool,
}

const fn cipher(name: &'static str, title: &'static str, sizes: [usize; 3]) -> Cipher {
    let [key, start, block] = sizes;
    Cipher { name, title, key, start, block, gfni: false }
}

const fn gfni(cipher: Cipher) -> Cipher {
    Cipher { gfni: true, ..cipher }
}

pub const ALL: &[Cipher] = &[
    cipher("chacha20", "ChaCha20", [32, 12, 64]),
    cipher("salsa20", "Salsa20", [32, 8, 64]),
    cipher("serpent128", "Serpent-128", [16, 16, 16]),
    gfni(cipher("camellia128", "Camellia-128", [16, 16, 16])),
    gfni(cipher("camellia256", "Camellia-256", [32, 16, 16])),
    cipher("noekeon_indirect", "Noekeon", [16, 16, 16]),
    gfni(cipher("sm4", "SM4", [16, 16, 16])),
    gfni(cipher("aes128", "AES-128", [16, 16, 16])),
    gfni(cipher("aes256", "AES-256", [32, 16, 16])),
    gfni(cipher("aes128_gcm", "AES-128-GCM", [16, 12, 32])),
    gfni(cipher("aes128_gcm_siv", "AES-128-GCM-SIV", [16, 12, 32])),
    gfni(cipher("aes128_ocb", "AES-128-OCB", [16, 12, 32])),
    gfni(cipher("aes128_ccm", "AES-128-CCM", [16, 12, 32])),
    gfni(cipher("aes128_cmac", "AES-128-CMAC", [16, 0, 16])),
    cipher("des", "DES", [8, 8, 8]),
    cipher("tdes", "Triple DES", [24, 8, 8]),
    cipher("ascon_p12", "Ascon permutation", [0, 0, 40]),
    cipher("ascon_hash256", "Ascon-Hash256", [0, 0, 32]),
    // Each message has its tag of 16 bytes in its share.
    cipher("ascon_aead128", "Ascon-AEAD128", [16, 16, 32]),
    cipher("keccak_f1600_4", "Keccak-f[1600], 4 states", [0, 0, 800]),
    cipher("threefish256", "Threefish-256", [48, 0, 32]),
    cipher("threefish512", "Threefish-512", [80, 0, 64]),
    cipher("threefish1024", "Threefish-1024", [144, 0, 128]),
    cipher("skein256", "Skein-256", [0, 0, 32]),
    cipher("skein512", "Skein-512", [0, 0, 64]),
    cipher("skein1024", "Skein-1024", [0, 0, 128]),
    gfni(cipher("sha256", "SHA-256", [0, 0, 64])),
    cipher("sha3_256", "SHA3-256", [0, 0, 136]),
    cipher("shake128", "SHAKE128", [0, 0, 168]),
    cipher("kt128", "KT128", [0, 0, 168]),
    // Hashes and tags follow each other in front of the output, so that they are not longer than
    // messages.
    cipher("skein256_8", "Skein-256, 8 messages", [0, 0, 256]),
    cipher("skein512_8", "Skein-512, 8 messages", [0, 0, 512]),
    cipher("skein1024_8", "Skein-1024, 8 messages", [0, 0, 1024]),
    cipher("sha3_256_8", "SHA3-256, 8 messages", [0, 0, 1088]),
    gfni(cipher("aes128_cmac_8", "AES-128-CMAC, 8 messages", [16, 0, 128])),
    cipher("ascon_hash256_8", "Ascon-Hash256, 8 messages", [0, 0, 256]),
    cipher("ascon_aead128_8", "Ascon-AEAD128, 8 messages", [16, 16, 256]),
];
