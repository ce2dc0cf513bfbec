/* BearSSL: AES by its functions for AES instructions. They work in place, so the text is copied first. */

#include <bearssl.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    return BEARSSL_VERSION;
}

/* `number` is the length of the key in bytes. */
static void *ctr_init(int number, const uint8_t *key)
{
    br_aes_x86ni_ctr_keys *keys = malloc(sizeof *keys);
    if (keys) br_aes_x86ni_ctr_init(keys, key, (size_t)number);
    return keys;
}

/* The number of a block has 32 bits. */
static int ctr_run(void *keys, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length)
{
    const uint32_t block = (uint32_t)start[12] << 24 | (uint32_t)start[13] << 16
                           | (uint32_t)start[14] << 8 | start[15];
    memcpy(out, in, length);
    br_aes_x86ni_ctr_run(keys, start, block, out, length);
    return 0;
}

typedef struct {
    br_aes_x86ni_ctr_keys keys;
    br_gcm_context context;
} gcm;

/* Carry-less multiplication where the processor has it, as its TLS engine chooses. */
static void *gcm_init(int number, const uint8_t *key)
{
    gcm *state = malloc(sizeof *state);
    br_ghash ghash = br_ghash_pclmul_get();
    if (!state) return NULL;
    br_aes_x86ni_ctr_init(&state->keys, key, (size_t)number);
    br_gcm_init(&state->context, &state->keys.vtable, ghash ? ghash : br_ghash_ctmul64);
    return state;
}

static int gcm_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                   size_t length)
{
    br_gcm_context *context = &((gcm *)state)->context;
    memcpy(out, in, length - 16);
    br_gcm_reset(context, start, 12);
    br_gcm_flip(context);
    br_gcm_run(context, 1, out, length - 16);
    br_gcm_get_tag(context, out + length - 16);
    return 0;
}

typedef struct {
    br_aes_x86ni_ctrcbc_keys keys;
    br_ccm_context context;
} ccm;

static void *ccm_init(int number, const uint8_t *key)
{
    ccm *state = malloc(sizeof *state);
    if (!state) return NULL;
    br_aes_x86ni_ctrcbc_init(&state->keys, key, (size_t)number);
    br_ccm_init(&state->context, &state->keys.vtable);
    return state;
}

static int ccm_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out,
                   size_t length)
{
    br_ccm_context *context = &((ccm *)state)->context;
    memcpy(out, in, length - 16);
    if (!br_ccm_reset(context, start, 12, 0, length - 16, 16)) return 1;
    br_ccm_flip(context);
    br_ccm_run(context, 1, out, length - 16);
    return br_ccm_get_tag(context, out + length - 16) != 16;
}

static const peer peers[] = {
    {"aes128", "ctr", "br_aes_x86ni_ctr_run", 16, ctr_init, ctr_run, free},
    {"aes256", "ctr", "br_aes_x86ni_ctr_run", 32, ctr_init, ctr_run, free},
    {"aes128_gcm", "seal", "br_gcm_run, aes_x86ni", 16, gcm_init, gcm_run, free},
    {"aes128_ccm", "seal", "br_ccm_run, aes_x86ni", 16, ccm_init, ccm_run, free},
};

PEER_LIST(peers)
