/* libgcrypt: CTR, stream ciphers, authenticated encryption, CMAC, SHA-256 and SHA3-256. */

#include <gcrypt.h>
#include <stdlib.h>

#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    const char *version = gcry_check_version(NULL);
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return version;
}

enum { CHACHA20, SALSA20, SERPENT, CAMELLIA128, CAMELLIA256, SM4, AES128, AES256, DES, TDES };

static const struct {
    int algorithm;
    size_t key;
    /* 0 for stream ciphers. */
    size_t block;
    size_t nonce;
} kinds[] = {
    {GCRY_CIPHER_CHACHA20, 32, 0, 12},    {GCRY_CIPHER_SALSA20, 32, 0, 8},
    {GCRY_CIPHER_SERPENT128, 16, 16, 0},  {GCRY_CIPHER_CAMELLIA128, 16, 16, 0},
    {GCRY_CIPHER_CAMELLIA256, 32, 16, 0},
#if GCRYPT_VERSION_NUMBER >= 0x010900
    {GCRY_CIPHER_SM4, 16, 16, 0},
#else
    {0, 0, 0, 0},
#endif
    {GCRY_CIPHER_AES128, 16, 16, 0},      {GCRY_CIPHER_AES256, 32, 16, 0},
    {GCRY_CIPHER_DES, 8, 8, 0},           {GCRY_CIPHER_3DES, 24, 8, 0},
};

typedef struct {
    gcry_cipher_hd_t handle;
    int number;
} context;

static void drop(void *state)
{
    gcry_cipher_close(((context *)state)->handle);
    free(state);
}

static void *init(int number, const uint8_t *key)
{
    context *state = malloc(sizeof *state);
    const int mode = kinds[number].block ? GCRY_CIPHER_MODE_CTR : GCRY_CIPHER_MODE_STREAM;
    if (!state) return NULL;
    state->number = number;
    if (gcry_cipher_open(&state->handle, kinds[number].algorithm, mode, 0)) {
        free(state);
        return NULL;
    }
    if (gcry_cipher_setkey(state->handle, key, kinds[number].key)) {
        drop(state);
        return NULL;
    }
    return state;
}

static int run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length)
{
    const context *c = state;
    const size_t block = kinds[c->number].block;
    if (block ? gcry_cipher_setctr(c->handle, start, block)
              : gcry_cipher_setiv(c->handle, start, kinds[c->number].nonce))
        return 1;
    return gcry_cipher_encrypt(c->handle, out, length, in, length) != 0;
}

/* Authenticated encryption with a nonce of 12 bytes; the tag of 16 bytes fills the end of the
   output. */
static void *seal_init(int mode, const uint8_t *key)
{
    context *state = malloc(sizeof *state);
    if (!state) return NULL;
    state->number = mode;
    if (gcry_cipher_open(&state->handle, GCRY_CIPHER_AES128, mode, 0)) {
        free(state);
        return NULL;
    }
    if (gcry_cipher_setkey(state->handle, key, 16)) {
        drop(state);
        return NULL;
    }
    return state;
}

static int seal_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                    size_t length)
{
    const context *c = state;
    /* Of the text, of the associated data and of the tag. */
    uint64_t lengths[3] = {length - 16, 0, 16};
    if (gcry_cipher_setiv(c->handle, start, 12)) return 1;
    if (c->number == GCRY_CIPHER_MODE_CCM
        && gcry_cipher_ctl(c->handle, GCRYCTL_SET_CCM_LENGTHS, lengths, sizeof lengths))
        return 1;
    return gcry_cipher_final(c->handle)
           || gcry_cipher_encrypt(c->handle, out, length - 16, in, length - 16)
           || gcry_cipher_gettag(c->handle, out + length - 16, 16);
}

/* CMAC under one key, of messages in sequence. */
typedef struct {
    gcry_mac_hd_t handle;
    size_t count;
} mac;

static void mac_drop(void *state)
{
    gcry_mac_close(((mac *)state)->handle);
    free(state);
}

static void *mac_init(int count, const uint8_t *key)
{
    mac *state = malloc(sizeof *state);
    if (!state) return NULL;
    state->count = (size_t)count;
    if (gcry_mac_open(&state->handle, GCRY_MAC_CMAC_AES, 0, NULL)) {
        free(state);
        return NULL;
    }
    if (gcry_mac_setkey(state->handle, key, 16)) {
        mac_drop(state);
        return NULL;
    }
    return state;
}

static int mac_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                   size_t length)
{
    const mac *m = state;
    const size_t each = length / m->count;
    size_t i;
    (void)start;
    for (i = 0; i < m->count; i++) {
        size_t size = 16;
        if (gcry_mac_reset(m->handle) || gcry_mac_write(m->handle, in + i * each, each)
            || gcry_mac_read(m->handle, out + i * 16, &size))
            return 1;
    }
    return 0;
}

/* SHA3-256 on `number` messages in sequence, or SHA-256 on one message. */
static void *hash_init(int number, const uint8_t *key)
{
    int *count = malloc(sizeof *count);
    (void)key;
    if (count) *count = number;
    return count;
}

static int hash_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                    size_t length)
{
    const size_t count = (size_t)*(int *)state, each = length / (count ? count : 1);
    size_t i;
    (void)start;
    if (!count) gcry_md_hash_buffer(GCRY_MD_SHA256, out, in, length);
    for (i = 0; i < count; i++)
        gcry_md_hash_buffer(GCRY_MD_SHA3_256, out + i * 32, in + i * each, each);
    return 0;
}

#define SEAL(NAME, MODE, CALL) \
    {NAME, "seal", "gcry_cipher_encrypt, AES128 " CALL, MODE, seal_init, seal_run, drop}
#define PEER(NAME, NUMBER, CALL) {NAME, "ctr", "gcry_cipher_encrypt, " CALL, NUMBER, init, run, drop}

static const peer peers[] = {
    PEER("chacha20", CHACHA20, "CHACHA20"),
    PEER("salsa20", SALSA20, "SALSA20"),
    PEER("serpent128", SERPENT, "SERPENT128 CTR"),
    PEER("camellia128", CAMELLIA128, "CAMELLIA128 CTR"),
    PEER("camellia256", CAMELLIA256, "CAMELLIA256 CTR"),
    PEER("sm4", SM4, "SM4 CTR"),
    PEER("aes128", AES128, "AES128 CTR"),
    PEER("aes256", AES256, "AES256 CTR"),
    PEER("des", DES, "DES CTR"),
    PEER("tdes", TDES, "3DES CTR"),
    SEAL("aes128_gcm", GCRY_CIPHER_MODE_GCM, "GCM"),
    SEAL("aes128_ocb", GCRY_CIPHER_MODE_OCB, "OCB"),
    SEAL("aes128_ccm", GCRY_CIPHER_MODE_CCM, "CCM"),
    {"aes128_cmac", "mac", "gcry_mac_write, CMAC_AES", 1, mac_init, mac_run, mac_drop},
    {"aes128_cmac_8", "mac", "gcry_mac_write, CMAC_AES", 8, mac_init, mac_run, mac_drop},
    {"sha256", "hash", "gcry_md_hash_buffer", 0, hash_init, hash_run, free},
    {"sha3_256", "hash", "gcry_md_hash_buffer", 1, hash_init, hash_run, free},
    {"sha3_256_8", "hash", "gcry_md_hash_buffer", 8, hash_init, hash_run, free},
};

PEER_LIST(peers)
