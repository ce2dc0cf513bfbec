//! The hand-written C of `lib/c`, with `@NAME@` for what differs.

/// Texts by their path in `lib/c`.
macro_rules! templates {
    ($($constant:ident = $path:literal;)*) => {
        $(pub const $constant: &str =
            include_str!(concat!("../../../lib/c/", $path));)*
    };
}

templates! {
    STATUS = "common/status.h";
    COMMON_H = "common/common.h";
    MEMORY_H = "common/memory.h";
    INTERNAL_H = "common/internal.h";
    BACKENDS_H = "common/backends.h";
    WORDS_H = "common/words.h";
    MEMORY = "common/memory.c";
    WORDS = "common/words.c";
    ALONE = "common/alone.c";
    DISPATCH = "common/dispatch.c";
    XOR = "common/xor.c";
    XOR_WIDE = "common/xor_wide.c";
    BLOCKS = "modes/blocks.c";
    STREAM = "modes/ctr.c";
    CBC = "modes/cbc.c";
    CHAIN = "modes/chain.c";
    SKEIN = "modes/skein.c";
    MERKLE = "modes/merkle.c";
    XTS = "modes/xts.c";
    KEY_H = "api/key.h";
    KEY_C = "api/key.c";
    BLOCK_H = "api/block.h";
    BLOCK_C = "api/block.c";
    STREAM_H = "api/stream.h";
    STREAM_C = "api/stream.c";
    TWEAKABLE_H = "api/tweakable.h";
    TWEAKABLE_C = "api/tweakable.c";
    EXTENDED_H = "api/extended.h";
    EXTENDED_C = "api/extended.c";
    RUNNING_H = "api/running.h";
    RUNNING_C = "api/running.c";
    CBC_H = "api/cbc.h";
    CBC_C = "api/cbc.c";
    XTS_H = "api/xts.h";
    XTS_C = "api/xts.c";
    PERMUTATION_H = "api/permutation.h";
    PERMUTATION_C = "api/permutation.c";
    KEYED_H = "api/keyed.h";
    KEYED_C = "api/keyed.c";
    UNKEYED_H = "api/unkeyed.h";
    UNKEYED_C = "api/unkeyed.c";
    SKEIN_SHARED_H = "api/skein_shared.h";
    SKEIN_H = "api/skein.h";
    SKEIN_C = "api/skein.c";
    POLY1305_H = "poly1305/poly1305.h";
    POLY1305 = "poly1305/poly1305.c";
    POLY1305_WIDE = "poly1305/wide.c";
    POLY1305_LANES = "poly1305/lanes.c";
    CURVE25519_H = "curve25519/curve25519.h";
    FIELD25519 = "curve25519/field.c";
    POINT25519 = "curve25519/point.c";
    X25519 = "curve25519/x25519.c";
    ED25519 = "curve25519/ed25519.c";
    CURVE25519_MANY = "curve25519/many.c";
    CURVE25519_WIDE = "curve25519/wide.c";
    CURVE25519_LANES = "curve25519/lanes.c";
    CURVE25519_ACROSS = "curve25519/across.c";
    MERKLE_SHARED_H = "api/merkle_shared.h";
    MERKLE_H = "api/merkle.h";
    MERKLE_C = "api/merkle.c";
    NACL_LIST = "nacl/nacl.toml";
    NACL_H = "nacl/nacl.h";
    NACL_NAMES = "nacl/names.h";
    NACL_C = "nacl/nacl.c";
    NACL_RANDOM = "nacl/random.c";
    NACL_CMAKE = "nacl/CMakeLists.txt";
    NACL_CONFIG = "nacl/config.cmake.in";
    NACL_PKG_CONFIG = "nacl/nacl.pc.in";
    SEAL = "modes/seal.c";
    SEAL_RFC8439_SHARED = "modes/seal_rfc8439.c";
    SEAL_KEY_H = "api/seal_key.h";
    SEAL_KEY_C = "api/seal_key.c";
    SEAL_FIRST_C = "api/seal_first.c";
    SEAL_RFC8439_H = "api/seal_rfc8439.h";
    SEAL_RFC8439_C = "api/seal_rfc8439.c";
    SEAL_BOX_H = "api/seal_box.h";
    SEAL_BOX_C = "api/seal_box.c";
    HIDDEN_H = "library/hidden.h";
    CMAKE = "library/CMakeLists.txt";
    CMAKE_CONFIG = "library/usuba-config.cmake.in";
    PKG_CONFIG = "library/usuba.pc.in";
}

/// `template` with each `@NAME@` of `values` replaced.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    values
        .iter()
        .fold(template.to_string(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}
