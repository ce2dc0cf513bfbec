//! The hand-written C of `lib/c`: texts, and templates, whose names end with `.in`.

use usuba::emit::template::template;
pub use usuba::emit::template::{Template, Value, context};

/// Texts by their path in `lib/c`.
macro_rules! texts {
    ($($constant:ident = $path:literal;)*) => {
        $(pub const $constant: &str =
            include_str!(concat!("../lib/c/", $path));)*
    };
}

/// Templates by their path in `lib/c`.
macro_rules! templates {
    ($($constant:ident = $path:literal;)*) => {
        $(pub const $constant: Template =
            template!(concat!("../lib/c/", $path));)*
    };
}

texts! {
    STATUS = "common/status.h";
    INTERNAL_H = "common/internal.h";
    WORDS_H = "common/words.h";
    SKEIN_SHARED_H = "api/skein_shared.h";
    FIELD25519 = "curve25519/field.c";
    CURVE25519_BATCH_H = "curve25519/batch.h";
    CURVE25519_BATCH = "curve25519/batch.c";
    MERKLE_SHARED_H = "api/merkle_shared.h";
    SPONGE_SHARED_H = "api/sponge_shared.h";
    KANGAROO_SHARED_H = "api/kangaroo_shared.h";
    NACL_LIST = "nacl/nacl.toml";
    NACL_NAMES = "nacl/names.h";
    NACL_RANDOM = "nacl/random.c";
    SEAL = "modes/seal.c";
    SEAL_STREAM = "modes/seal_stream.c";
    SEAL_RFC8439_SHARED = "modes/seal_rfc8439.c";
    SEAL_KEYED = "modes/seal_keyed.c";
    SEAL_GCM = "modes/seal_gcm.c";
    SEAL_SIV = "modes/seal_siv.c";
    SEAL_CCM = "modes/seal_ccm.c";
    SEAL_OCB = "modes/seal_ocb.c";
    SEGMENTS = "modes/seal_segments.c";
    TIMES_X = "modes/times_x.c";
    CMAC = "modes/cmac.c";
}

templates! {
    COMMON_H = "common/common.h.in";
    MEMORY_H = "common/memory.h.in";
    BACKENDS_H = "common/backends.h.in";
    MEMORY = "common/memory.c.in";
    WORDS = "common/words.c.in";
    ALONE = "common/alone.c.in";
    DISPATCH = "common/dispatch.c.in";
    XOR = "common/xor.c.in";
    NUMBER = "common/number.c.in";
    NUMBERS = "common/numbers.c.in";
    GRID_H = "grid/grid.cuh.in";
    GRID = "grid/grid.cu.in";
    BLOCKS = "modes/blocks.c.in";
    STREAM = "modes/ctr.c.in";
    CBC = "modes/cbc.c.in";
    CHAIN = "modes/chain.c.in";
    SKEIN = "modes/skein.c.in";
    MERKLE = "modes/merkle.c.in";
    SPONGE = "modes/sponge.c.in";
    MANY = "modes/many.c.in";
    HMAC = "modes/hmac.c.in";
    HKDF = "modes/hkdf.c.in";
    XOF = "modes/xof.c.in";
    CXOF = "modes/cxof.c.in";
    SIDE = "modes/side.c.in";
    ENCODE = "modes/encode.c.in";
    KMAC = "modes/kmac.c.in";
    KANGAROO = "modes/kangaroo.c.in";
    XTS = "modes/xts.c.in";
    KEY_H = "api/key.h.in";
    KEY_C = "api/key.c.in";
    BLOCK_H = "api/block.h.in";
    BLOCK_C = "api/block.c.in";
    STREAM_H = "api/stream.h.in";
    STREAM_C = "api/stream.c.in";
    TWEAKABLE_H = "api/tweakable.h.in";
    TWEAKABLE_C = "api/tweakable.c.in";
    EXTENDED_H = "api/extended.h.in";
    EXTENDED_C = "api/extended.c.in";
    RUNNING_H = "api/running.h.in";
    RUNNING_C = "api/running.c.in";
    CBC_H = "api/cbc.h.in";
    CBC_C = "api/cbc.c.in";
    XTS_H = "api/xts.h.in";
    XTS_C = "api/xts.c.in";
    PERMUTATION_H = "api/permutation.h.in";
    PERMUTATION_C = "api/permutation.c.in";
    KEYED_H = "api/keyed.h.in";
    KEYED_C = "api/keyed.c.in";
    UNKEYED_H = "api/unkeyed.h.in";
    UNKEYED_C = "api/unkeyed.c.in";
    SKEIN_H = "api/skein.h.in";
    SKEIN_C = "api/skein.c.in";
    POLY1305_H = "poly1305/poly1305.h.in";
    POLY1305 = "poly1305/poly1305.c.in";
    POLY1305_WIDE = "poly1305/wide.c.in";
    POLY1305_LANES = "poly1305/lanes.c.in";
    CURVE25519_H = "curve25519/curve25519.h.in";
    POINT25519 = "curve25519/point.c.in";
    X25519 = "curve25519/x25519.c.in";
    ED25519 = "curve25519/ed25519.c.in";
    CURVE25519_MANY = "curve25519/many.c.in";
    CURVE25519_WIDE = "curve25519/wide.c.in";
    CURVE25519_LANES = "curve25519/lanes.c.in";
    CURVE25519_ACROSS = "curve25519/across.c.in";
    HASH_H = "api/hash.h.in";
    HASH_C = "api/hash.c.in";
    DESCRIBED = "api/described.c.in";
    XOF_H = "api/xof.h.in";
    XOF_C = "api/xof.c.in";
    KMAC_H = "api/kmac.h.in";
    KMAC_C = "api/kmac.c.in";
    KANGAROO_H = "api/kangaroo.h.in";
    KANGAROO_C = "api/kangaroo.c.in";
    NACL_H = "nacl/nacl.h.in";
    NACL_C = "nacl/nacl.c.in";
    NACL_CMAKE = "nacl/CMakeLists.txt.in";
    CBC_MAC_C = "api/cbc_mac.c.in";
    CMAC_H = "api/cmac.h.in";
    CMAC_C = "api/cmac.c.in";
    SEAL_KEY_H = "api/seal_key.h.in";
    SEAL_KEY_C = "api/seal_key.c.in";
    SEAL_FIRST_C = "api/seal_first.c.in";
    SEAL_BEHIND_H = "api/seal_behind.h.in";
    SEAL_BEHIND_C = "api/seal_behind.c.in";
    SEAL_DETACHED_C = "api/seal_detached.c.in";
    SEAL_GCM_C = "api/seal_gcm.c.in";
    SEAL_PIECES_H = "api/seal_pieces.h.in";
    SEAL_PIECES_C = "api/seal_pieces.c.in";
    SEAL_SIV_C = "api/seal_siv.c.in";
    SEAL_CCM_C = "api/seal_ccm.c.in";
    SEAL_CCM_SIDE_C = "api/seal_ccm_side.c.in";
    SEAL_OCB_C = "api/seal_ocb.c.in";
    SEGMENTS_H = "api/seal_segments.h.in";
    SEGMENTS_C = "api/seal_segments.c.in";
    SEAL_XAES_C = "api/seal_xaes.c.in";
    SEAL_RFC8439_C = "api/seal_rfc8439.c.in";
    SEAL_ASCON = "modes/seal_ascon.c.in";
    SEAL_ASCON_H = "api/seal_ascon.h.in";
    SEAL_ASCON_C = "api/seal_ascon.c.in";
    SEAL_BOX_H = "api/seal_box.h.in";
    SEAL_BOX_C = "api/seal_box.c.in";
    HIDDEN_H = "library/hidden.h.in";
    CMAKE = "library/CMakeLists.txt.in";
    CMAKE_CONFIG = "library/config.cmake.in";
    PKG_CONFIG = "library/package.pc.in";
    HEADER_H = "library/header.h.in";
    SECTION = "library/section.c.in";
    ASSEMBLY = "library/assembly.c.in";
    XORS = "common/xors.c.in";
    LADDERS = "api/ladders.c.in";
    SLH_DSA_SHARED_H = "slh_dsa/shared.h.in";
    SLH_DSA_SET_H = "slh_dsa/set.h.in";
    SLH_DSA_SET_C = "slh_dsa/set.c.in";
    SLH_DSA_HASH = "slh_dsa/hash.c.in";
    SLH_DSA_TREE = "slh_dsa/tree.c.in";
    SLH_DSA_SIGN = "slh_dsa/sign.c.in";
    CURVE25519_LANES_H = "curve25519/lanes.h.in";
    CURVE25519_ACROSS_H = "curve25519/across.h.in";
    POLY1305_LANES_H = "poly1305/lanes.h.in";
}

/// The same context in several templates, one after the other.
pub fn render(templates: &[Template], context: &Value) -> String {
    templates.iter().map(|template| template.render(context.clone())).collect()
}
