/* OpenSSL through its EVP interface: CTR where it has that, else single blocks (DES); authenticated
   encryption, hash functions and CMAC. */

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    return OpenSSL_version(OPENSSL_FULL_VERSION_STRING);
}

enum { CHACHA20, CAMELLIA128, CAMELLIA256, SM4, AES128, AES256, DES, TDES, GCM, OCB, CCM, COUNT };

static const char *const names[COUNT] = {
    "ChaCha20",    "CAMELLIA-128-CTR", "CAMELLIA-256-CTR", "SM4-CTR",
    "AES-128-CTR", "AES-256-CTR",      "DES-ECB",          "DES-EDE3-ECB",
    "AES-128-GCM", "AES-128-OCB",      "AES-128-CCM",
};

/* Fetched once, as its manual advises. */
static const EVP_CIPHER *fetch(int number)
{
    static const EVP_CIPHER *ciphers[COUNT];
    if (!ciphers[number]) {
        if (number == DES) {
            OSSL_PROVIDER_load(NULL, "legacy");
            OSSL_PROVIDER_load(NULL, "default");
        }
        ciphers[number] = EVP_CIPHER_fetch(NULL, names[number], NULL);
    }
    return ciphers[number];
}

static void *init(int number, const uint8_t *key)
{
    const EVP_CIPHER *cipher = fetch(number);
    EVP_CIPHER_CTX *context = cipher ? EVP_CIPHER_CTX_new() : NULL;
    if (!context) return NULL;
    if (!EVP_EncryptInit_ex2(context, cipher, key, NULL, NULL)) {
        EVP_CIPHER_CTX_free(context);
        return NULL;
    }
    EVP_CIPHER_CTX_set_padding(context, 0);
    return context;
}

static int run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length)
{
    int written;
    return !EVP_EncryptInit_ex2(state, NULL, NULL, start, NULL) ||
           !EVP_EncryptUpdate(state, out, &written, in, (int)length);
}

/* Its number of a block comes before the nonce. */
static int run_chacha20(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                        size_t length)
{
    uint8_t block[16] = {0};
    memcpy(block + 4, start, 12);
    return run(state, block, in, out, length);
}

static int run_blocks(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                      size_t length)
{
    int written;
    (void)start;
    return !EVP_EncryptUpdate(state, out, &written, in, (int)length);
}

/* The tag of 16 bytes fills the end of the output. */
static int run_sealed(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                      size_t length)
{
    int written;
    return run(state, start, in, out, length - 16)
           || !EVP_EncryptFinal_ex(state, out + length - 16, &written)
           || !EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_GET_TAG, 16, out + length - 16);
}

static void drop(void *state)
{
    EVP_CIPHER_CTX_free(state);
}

/* Both lengths come before the key. */
static void *ccm_init(int number, const uint8_t *key)
{
    const EVP_CIPHER *cipher = fetch(number);
    EVP_CIPHER_CTX *context = cipher ? EVP_CIPHER_CTX_new() : NULL;
    if (!context) return NULL;
    if (EVP_EncryptInit_ex2(context, cipher, NULL, NULL, NULL)
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL)
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, NULL)
        && EVP_EncryptInit_ex2(context, NULL, key, NULL, NULL))
        return context;
    drop(context);
    return NULL;
}

/* The length of the text comes before the text, which must be in one piece. */
static int run_ccm(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                   size_t length)
{
    int written;
    return !EVP_EncryptInit_ex2(state, NULL, NULL, start, NULL)
           || !EVP_EncryptUpdate(state, NULL, &written, NULL, (int)length - 16)
           || !EVP_EncryptUpdate(state, out, &written, in, (int)length - 16)
           || !EVP_EncryptFinal_ex(state, out + length - 16, &written)
           || !EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_GET_TAG, 16, out + length - 16);
}

/* A hash function with outputs of 32 bytes, on messages in sequence. */
typedef struct {
    EVP_MD *function;
    EVP_MD_CTX *context;
    size_t count;
} hash;

static void hash_drop(void *state)
{
    hash *h = state;
    EVP_MD_CTX_free(h->context);
    EVP_MD_free(h->function);
    free(h);
}

static void *hash_init(const char *name, int count)
{
    hash *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->function = EVP_MD_fetch(NULL, name, NULL);
    h->context = EVP_MD_CTX_new();
    h->count = (size_t)count;
    if (h->function && h->context) return h;
    hash_drop(h);
    return NULL;
}

static void *sha3_init(int count, const uint8_t *key)
{
    (void)key;
    return hash_init("SHA3-256", count);
}

static void *sha256_init(int count, const uint8_t *key)
{
    (void)key;
    return hash_init("SHA256", count);
}

static void *shake_init(int count, const uint8_t *key)
{
    (void)key;
    return hash_init("SHAKE128", count);
}

static int sha3_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                    size_t length)
{
    hash *h = state;
    const size_t each = length / h->count;
    size_t i;
    (void)start;
    for (i = 0; i < h->count; i++)
        if (!EVP_DigestInit_ex2(h->context, h->function, NULL)
            || !EVP_DigestUpdate(h->context, in + i * each, each)
            || !EVP_DigestFinal_ex(h->context, out + i * 32, NULL))
            return 1;
    return 0;
}

static int shake_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                     size_t length)
{
    hash *h = state;
    (void)start;
    return !EVP_DigestInit_ex2(h->context, h->function, NULL)
           || !EVP_DigestUpdate(h->context, in, length)
           || !EVP_DigestFinalXOF(h->context, out, 32);
}

/* CMAC under one key, of messages in sequence. */
typedef struct {
    EVP_MAC_CTX *context;
    size_t count;
} mac;

static void cmac_drop(void *state)
{
    mac *m = state;
    EVP_MAC_CTX_free(m->context);
    free(m);
}

static void *cmac_init(int count, const uint8_t *key)
{
    static EVP_MAC *function;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, "AES-128-CBC", 0),
        OSSL_PARAM_construct_end(),
    };
    mac *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    if (!function) function = EVP_MAC_fetch(NULL, "CMAC", NULL);
    m->context = function ? EVP_MAC_CTX_new(function) : NULL;
    m->count = (size_t)count;
    if (m->context && EVP_MAC_init(m->context, key, 16, parameters)) return m;
    cmac_drop(m);
    return NULL;
}

static int cmac_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                    size_t length)
{
    mac *m = state;
    const size_t each = length / m->count;
    size_t i, written;
    (void)start;
    for (i = 0; i < m->count; i++)
        if (!EVP_MAC_init(m->context, NULL, 0, NULL)
            || !EVP_MAC_update(m->context, in + i * each, each)
            || !EVP_MAC_final(m->context, out + i * 16, &written, 16))
            return 1;
    return 0;
}

static const peer peers[] = {
    {"chacha20", "ctr", "EVP ChaCha20", CHACHA20, init, run_chacha20, drop},
    {"camellia128", "ctr", "EVP CAMELLIA-128-CTR", CAMELLIA128, init, run, drop},
    {"camellia256", "ctr", "EVP CAMELLIA-256-CTR", CAMELLIA256, init, run, drop},
    {"sm4", "ctr", "EVP SM4-CTR", SM4, init, run, drop},
    {"aes128", "ctr", "EVP AES-128-CTR", AES128, init, run, drop},
    {"aes256", "ctr", "EVP AES-256-CTR", AES256, init, run, drop},
    {"aes128_gcm", "seal", "EVP AES-128-GCM", GCM, init, run_sealed, drop},
    {"aes128_ocb", "seal", "EVP AES-128-OCB", OCB, init, run_sealed, drop},
    {"aes128_ccm", "seal", "EVP AES-128-CCM", CCM, ccm_init, run_ccm, drop},
    {"aes128_cmac", "mac", "EVP_MAC CMAC", 1, cmac_init, cmac_run, cmac_drop},
    {"aes128_cmac_8", "mac", "EVP_MAC CMAC", 8, cmac_init, cmac_run, cmac_drop},
    {"des", "blocks", "EVP DES-ECB", DES, init, run_blocks, drop},
    {"tdes", "blocks", "EVP DES-EDE3-ECB", TDES, init, run_blocks, drop},
    {"sha256", "hash", "EVP SHA256", 1, sha256_init, sha3_run, hash_drop},
    {"sha3_256", "hash", "EVP SHA3-256", 1, sha3_init, sha3_run, hash_drop},
    {"sha3_256_8", "hash", "EVP SHA3-256", 8, sha3_init, sha3_run, hash_drop},
    {"shake128", "hash", "EVP SHAKE128", 1, shake_init, shake_run, hash_drop},
};

PEER_LIST(peers)
