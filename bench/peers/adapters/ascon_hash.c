/* Ascon-Hash256 of ascon-c, the repository of Ascon's designers: its code for 64-bit processors. An
   adapter of its own, because its functions have the names that the AEAD has, too. */

#include <stdlib.h>

#include "crypto_hash.h"
#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    return ASCON_VERSION;
}

static void *init(int number, const uint8_t *key)
{
    int *count = malloc(sizeof *count);
    (void)key;
    if (count) *count = number;
    return count;
}

/* Messages in sequence. */
static int run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length)
{
    const size_t count = (size_t)*(int *)state, each = length / count;
    size_t i;
    (void)start;
    for (i = 0; i < count; i++)
        if (crypto_hash(out + i * 32, in + i * each, each)) return 1;
    return 0;
}

static const peer peers[] = {
    {"ascon_hash256", "hash", "crypto_hash, opt64", 1, init, run, free},
    {"ascon_hash256_8", "hash", "crypto_hash, opt64", 8, init, run, free},
};

PEER_LIST(peers)
