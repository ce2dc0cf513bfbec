/* Our side: the library that `usubac dist --library` writes. */

#include <stdlib.h>

#include "peer.h"
#include "usuba.h"

PEER_EXPORT const char *peer_version(void)
{
    return "Usuba";
}

/* Takes one instruction set; 0 if it is there. */
PEER_EXPORT int peer_width(const char *name)
{
    return usuba_force_backend(name);
}

static void drop(void *state)
{
    free(state);
}

#define INIT(NAME, SIZE) \
    static void *NAME##_init(int number, const uint8_t *bytes) \
    { \
        usuba_##NAME##_key *key = malloc(sizeof *key); \
        (void)number; \
        if (key && usuba_##NAME##_init(key, bytes, SIZE) == USUBA_OK) return key; \
        free(key); \
        return NULL; \
    }

#define STREAM(NAME, SIZE) \
    INIT(NAME, SIZE) \
    static int NAME##_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        return usuba_##NAME##_xor(key, start, 0, in, out, length); \
    }

#define BLOCK(NAME, SIZE, BYTES) \
    INIT(NAME, SIZE) \
    static int NAME##_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        return usuba_##NAME##_ctr(key, start, 0, in, out, length); \
    } \
    static int NAME##_blocks(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                             size_t length) \
    { \
        (void)start; \
        return usuba_##NAME##_encrypt_blocks(key, in, out, length / BYTES); \
    }

#define PLAIN(NAME, SIZE, BYTES) \
    INIT(NAME, SIZE) \
    static int NAME##_blocks(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                             size_t length) \
    { \
        (void)start; \
        return usuba_##NAME##_encrypt_blocks(key, in, out, length / BYTES); \
    }

INIT(aes128_gcm, 16)
INIT(aes128_gcm_siv, 16)
INIT(aes128_ocb, 16)
INIT(aes128_ccm, 16)
STREAM(chacha20, 32)
STREAM(salsa20, 32)
BLOCK(serpent128, 16, 16)
BLOCK(camellia128, 16, 16)
BLOCK(camellia256, 32, 16)
BLOCK(noekeon_indirect, 16, 16)
BLOCK(sm4, 16, 16)
BLOCK(aes128, 16, 16)
BLOCK(aes256, 32, 16)
BLOCK(des, 8, 8)
BLOCK(tdes, 24, 8)
PLAIN(threefish256, 48, 32)
PLAIN(threefish512, 80, 64)
PLAIN(threefish1024, 144, 128)

/* A hash function with outputs of SIZE bytes; `number` is the number of messages. */
#define HASH(NAME, SIZE) \
    static int NAME##_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        const size_t count = (size_t)*(int *)key; \
        const uint8_t *places[8]; \
        size_t lengths[8], i; \
        (void)start; \
        if (count == 1) return usuba_##NAME##_hash(NULL, in, length, out, SIZE); \
        for (i = 0; i < count; i++) { \
            places[i] = in + i * (length / count); \
            lengths[i] = length / count; \
        } \
        return usuba_##NAME##_hash_many(NULL, places, lengths, count, out, SIZE); \
    }

HASH(skein256, 32)
HASH(skein512, 64)
HASH(skein1024, 128)

/* The same without parameters. */
#define DIGEST(NAME) \
    static int NAME##_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        const size_t count = (size_t)*(int *)key; \
        const uint8_t *places[8]; \
        size_t lengths[8], i; \
        (void)start; \
        if (count == 1) return usuba_##NAME##_hash(in, length, out); \
        for (i = 0; i < count; i++) { \
            places[i] = in + i * (length / count); \
            lengths[i] = length / count; \
        } \
        return usuba_##NAME##_hash_many(places, lengths, count, out); \
    }

DIGEST(sha256)
DIGEST(sha3_256)
DIGEST(ascon_hash256)

#define SEAL(NAME) \
    static int NAME##_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        return usuba_##NAME##_seal(key, start, NULL, 0, in, length - 16, out); \
    }

SEAL(aes128_gcm)
SEAL(aes128_gcm_siv)
SEAL(aes128_ocb)
SEAL(aes128_ccm)

/* A MAC with tags of 16 bytes; `count` is the number of messages. */
typedef struct {
    usuba_aes128_cmac_key key;
    size_t count;
} tagger;

static void *aes128_cmac_init(int number, const uint8_t *bytes)
{
    tagger *new_tagger = malloc(sizeof *new_tagger);
    if (!new_tagger) return NULL;
    new_tagger->count = (size_t)number;
    usuba_aes128_cmac_init(&new_tagger->key, bytes, 16);
    return new_tagger;
}

static int aes128_cmac_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                           size_t length)
{
    const tagger *t = state;
    const uint8_t *places[8];
    size_t lengths[8], i;
    (void)start;
    if (t->count == 1) return usuba_aes128_cmac_tag(&t->key, in, length, out);
    for (i = 0; i < t->count; i++) {
        places[i] = in + i * (length / t->count);
        lengths[i] = length / t->count;
    }
    return usuba_aes128_cmac_tag_many(&t->key, places, lengths, t->count, out);
}

/* Authenticated encryption: each text has 16 bytes less than its share, and its tag fills them. */
typedef struct {
    usuba_ascon_aead128_key key;
    size_t count;
} sealer;

static void *ascon_aead128_init(int number, const uint8_t *bytes)
{
    sealer *new_sealer = malloc(sizeof *new_sealer);
    if (!new_sealer) return NULL;
    new_sealer->count = (size_t)number;
    usuba_ascon_aead128_init(&new_sealer->key, bytes, 16);
    return new_sealer;
}

static int ascon_aead128_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                             size_t length)
{
    const sealer *s = state;
    const size_t share = length / s->count;
    const usuba_ascon_aead128_key *keys[8];
    const uint8_t *nonces[8], *texts[8];
    uint8_t *sealed[8];
    size_t lengths[8], i;
    if (s->count == 1)
        return usuba_ascon_aead128_seal(&s->key, start, NULL, 0, in, length - 16, out);
    for (i = 0; i < s->count; i++) {
        keys[i] = &s->key;
        nonces[i] = start;
        texts[i] = in + i * share;
        sealed[i] = out + i * share;
        lengths[i] = share - 16;
    }
    return usuba_ascon_aead128_seal_many(keys, nonces, NULL, NULL, texts, lengths, sealed, s->count);
}

static int shake128_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out,
                        size_t length)
{
    (void)key;
    (void)start;
    return usuba_shake128_xof(in, length, out, 32);
}

static int kt128_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out,
                     size_t length)
{
    (void)key;
    (void)start;
    return usuba_kt128_hash(in, length, NULL, 0, out, 32);
}

static void *hash_init(int number, const uint8_t *bytes)
{
    int *count = malloc(sizeof *count);
    (void)bytes;
    if (count) *count = number;
    return count;
}

static void *permutation_init(int number, const uint8_t *bytes)
{
    (void)number;
    (void)bytes;
    return malloc(1);
}

#define PERMUTATION(NAME, SIZE) \
    static int NAME##_run(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        (void)key; \
        (void)start; \
        return usuba_##NAME##_blocks(in, out, length / SIZE); \
    }

PERMUTATION(ascon_p12_le, 40)
PERMUTATION(keccak_f1600, 200)

#define STREAM_PEER(NAME) \
    {#NAME, "ctr", "usuba_" #NAME "_xor", 0, NAME##_init, NAME##_run, drop}
#define PLAIN_PEER(NAME) \
    {#NAME, "blocks", "usuba_" #NAME "_encrypt_blocks", 0, NAME##_init, NAME##_blocks, drop}
#define HASH_PEERS(NAME) \
    {#NAME, "hash", "usuba_" #NAME "_hash", 1, hash_init, NAME##_run, drop}, \
    {#NAME "_8", "hash", "usuba_" #NAME "_hash_many", 8, hash_init, NAME##_run, drop}
#define BLOCK_PEERS(NAME) \
    {#NAME, "ctr", "usuba_" #NAME "_ctr", 0, NAME##_init, NAME##_run, drop}, PLAIN_PEER(NAME)

static const peer peers[] = {
    STREAM_PEER(chacha20),
    STREAM_PEER(salsa20),
    BLOCK_PEERS(serpent128),
    BLOCK_PEERS(camellia128),
    BLOCK_PEERS(camellia256),
    BLOCK_PEERS(noekeon_indirect),
    BLOCK_PEERS(sm4),
    BLOCK_PEERS(aes128),
    BLOCK_PEERS(aes256),
    BLOCK_PEERS(des),
    BLOCK_PEERS(tdes),
    PLAIN_PEER(threefish256),
    PLAIN_PEER(threefish512),
    PLAIN_PEER(threefish1024),
    HASH_PEERS(skein256),
    HASH_PEERS(skein512),
    HASH_PEERS(skein1024),
    {"sha256", "hash", "usuba_sha256_hash", 1, hash_init, sha256_run, free},
    HASH_PEERS(sha3_256),
    HASH_PEERS(ascon_hash256),
    {"aes128_gcm", "seal", "usuba_aes128_gcm_seal", 0, aes128_gcm_init, aes128_gcm_run, drop},
    {"aes128_gcm_siv", "seal", "usuba_aes128_gcm_siv_seal", 0, aes128_gcm_siv_init,
     aes128_gcm_siv_run, drop},
    {"aes128_ocb", "seal", "usuba_aes128_ocb_seal", 0, aes128_ocb_init, aes128_ocb_run, drop},
    {"aes128_ccm", "seal", "usuba_aes128_ccm_seal", 0, aes128_ccm_init, aes128_ccm_run, drop},
    {"aes128_cmac", "mac", "usuba_aes128_cmac_tag", 1, aes128_cmac_init, aes128_cmac_run, drop},
    {"aes128_cmac_8", "mac", "usuba_aes128_cmac_tag_many", 8, aes128_cmac_init, aes128_cmac_run,
     drop},
    {"ascon_aead128", "seal", "usuba_ascon_aead128_seal", 1, ascon_aead128_init, ascon_aead128_run,
     drop},
    {"ascon_aead128_8", "seal", "usuba_ascon_aead128_seal_many", 8, ascon_aead128_init,
     ascon_aead128_run, drop},
    {"shake128", "hash", "usuba_shake128_xof", 1, hash_init, shake128_run, drop},
    {"kt128", "hash", "usuba_kt128_hash", 1, hash_init, kt128_run, drop},
    {"ascon_p12", "blocks", "usuba_ascon_p12_le_blocks", 0, permutation_init, ascon_p12_le_run, drop},
    {"keccak_f1600_4", "blocks", "usuba_keccak_f1600_blocks", 0, permutation_init, keccak_f1600_run,
     drop},
};

PEER_LIST(peers)
