/* Ascon-AEAD128 of ascon-c, the repository of Ascon's designers: its code for 64-bit processors. */

#include <stdlib.h>
#include <string.h>

#include "crypto_aead.h"
#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    return ASCON_VERSION;
}

typedef struct {
    uint8_t key[16];
    size_t count;
} sealer;

static void *init(int count, const uint8_t *key)
{
    sealer *state = malloc(sizeof *state);
    if (!state) return NULL;
    memcpy(state->key, key, 16);
    state->count = (size_t)count;
    return state;
}

/* Messages in sequence; each text has 16 bytes less than its share, and its tag fills them. */
static int run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length)
{
    const sealer *s = state;
    const size_t share = length / s->count;
    unsigned long long written;
    size_t i;
    for (i = 0; i < s->count; i++)
        if (crypto_aead_encrypt(out + i * share, &written, in + i * share, share - 16, NULL, 0,
                                NULL, start, s->key))
            return 1;
    return 0;
}

static const peer peers[] = {
    {"ascon_aead128", "seal", "crypto_aead_encrypt, opt64", 1, init, run, free},
    {"ascon_aead128_8", "seal", "crypto_aead_encrypt, opt64", 8, init, run, free},
};

PEER_LIST(peers)
