//! Changes of the C of `usubac dist`, each of which makes an exported function wrong.

/// A change of C, and an exported function that it makes wrong.
pub struct Mutant {
    pub from: &'static str,
    pub to: &'static str,
    pub function: &'static str,
}

const fn mutant(from: &'static str, to: &'static str, function: &'static str) -> Mutant {
    Mutant { from, to, function }
}

/// Changes of the C around compression functions: paddings, masks, lengths, numbers, statuses.
pub const OF_HASHES: &[Mutant] = &[
    mutant("last[used] = 0x80;", "last[used] = 0x81;", "usuba_sha256_hash"),
    mutant("pad[i] ^= 0x5c;", "pad[i] ^= 0x5d;", "usuba_hmac_sha256_tag"),
    mutant("if (length > block) {", "if (length >= block) {", "usuba_hmac_sha256_tag"),
    mutant("= ++s->number;", "= s->number++;", "usuba_hkdf_sha256_expand"),
    mutant("(difference + 255) >> 8", "(difference + 254) >> 8", "usuba_hmac_sha256_check"),
];

/// Changes of the C around keystreams.
pub const OF_STREAMS: &[Mutant] = &[mutant(
    "memcpy(inner + 4, nonce + 16, 8);",
    "memcpy(inner + 3, nonce + 16, 8);",
    "usuba_xchacha20_keystream",
)];

/// Changes of the C around arithmetic modulo 2^130 - 5, and of the arithmetic.
pub const OF_CODES: &[Mutant] = &[
    mutant("s.last[rest] = 1;", "s.last[rest] = 2;", "usuba_poly1305_tag"),
    mutant("in += fours * 64;", "in += fours * 48;", "usuba_poly1305_tag"),
    mutant("w[0] & 0xffffffc0fffffffULL", "w[0] & 0xffffffc0ffffffeULL", "usuba_poly1305_check"),
    mutant("buffer[used] = 1;", "buffer[used] = 0;", "usuba_poly1305_final"),
    mutant("=C64(5ULL*", "=C64(4ULL*", "usuba_poly1305_tag"),
];

/// Changes of the C around a keystream and Poly1305.
pub const OF_SEALS: &[Mutant] = &[
    mutant(
        "usuba_poly_update(&mac, in, length);",
        "usuba_poly_update(&mac, in, length / 2);",
        OPEN,
    ),
    mutant("if (status == USUBA_OK) usuba_seal_first(", "usuba_seal_first(", OPEN),
    mutant("in + 16, length - 16, in, out);", "in + 16, length - 16, in + 1, out);", OPEN),
];
const OPEN: &str = "usuba_xsalsa20poly1305_open";

/// Changes of the C around points of a curve and numbers modulo its order, and of their tables.
pub const OF_CURVES: &[Mutant] = &[
    mutant("P(0cc81f71,7da99845)", "P(0cc81f71,7da99846)", BASE),
    mutant(
        "usuba_bit(s.digits, place) << tooth;",
        "usuba_bit(s.digits, place) << (3 - tooth);",
        BASE,
    ),
    mutant("usuba_word other = index ^ m;", "usuba_word other = index ^ m ^ 1;", BASE),
    mutant("usuba_opaque(1 ^ (index >>", "usuba_opaque(1 & (index >>", BASE),
    mutant("for (i = USUBA_SPACING; i--;) {", "for (i = USUBA_SPACING - 1; i--;) {", BASE),
    mutant("if (i + 1 < USUBA_SPACING) {", "if (i + 2 < USUBA_SPACING) {", BASE),
    mutant("usuba_half, usuba_offset, s.digits", "usuba_half, usuba_half, s.digits", BASE),
    mutant("scalar[0] &= 248;", "scalar[0] &= 252;", BASE),
    mutant("usuba_fe_quotient(t, x, s.words);", "usuba_fe_quotient(x, t, s.words);", BASE),
    mutant("usuba_fe_mul(p, inverse, x);", "usuba_fe_mul(p + USUBA_FE_WORDS, inverse, x);", KEYS),
    mutant("(words[0] & 1) << 7);", "(words[0] & 1) << 6);", KEYS),
    mutant("memcpy(s.bytes, seed, 32);", "memcpy(s.bytes, seed, 31);", KEYS),
    mutant("hash, s.bytes + 32, 32);", "hash, s.bytes, 32);", SIGN),
    mutant("number, s.secret, s.nonce,", "number, s.nonce, s.secret,", SIGN),
    mutant("hash, secret_key + 32, 32);", "hash, secret_key, 32);", SIGN),
];
const BASE: &str = "usuba_x25519_base";
const KEYS: &str = "usuba_ed25519_keypair_from_seed";
const SIGN: &str = "usuba_ed25519_sign";

/// Changes of the C around blocks: tweaks and their order, stolen bytes, blocks before.
pub const OF_MODES: &[Mutant] = &[
    mutant("(carry & 0x87);", "(carry & 0x86);", UNIT),
    mutant("encrypt->ladders[backend], tweak_key,", "encrypt->ladders[backend], key,", UNIT),
    mutant("(block[i] ^ (backwards ? tweak : next)[i]);", "(block[i] ^ tweak[i]);", UNIT),
    mutant("block[i] = old;", "block[i] = 0;", UNIT),
    mutant("out + done, saved + done,", "out + done, saved + size + done,", CHAIN),
];
const UNIT: &str = "usuba_noekeon_xts_encrypt";
const CHAIN: &str = "usuba_noekeon_cbc_decrypt";
