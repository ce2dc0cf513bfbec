/* s2n-bignum: Keccak-f[1600] on four states side by side, in assembly for AVX2. The constants are
   arguments: the caller has their tables. */

#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "s2n-bignum.h"

PEER_EXPORT const char *peer_version(void)
{
    return S2N_BIGNUM_VERSION;
}

typedef struct {
    /* Of the 24 rounds. */
    uint64_t rounds[24];
    /* Indices of vpshufb for rotations by 8 and by 56 bits. */
    uint64_t rho8[4], rho56[4];
} tables;

/* The round constants by the shift register of FIPS 202, section 3.2.5: bit 2^j - 1 of the constant of
   a round is output 7 * round + j. */
static void *init(int number, const uint8_t *key)
{
    tables *new_tables = calloc(1, sizeof *new_tables);
    unsigned lfsr = 1, i, j;
    (void)number;
    (void)key;
    if (!new_tables) return NULL;
    for (i = 0; i < 24; i++)
        for (j = 0; j < 7; j++) {
            new_tables->rounds[i] |= (uint64_t)(lfsr & 1) << ((1 << j) - 1);
            lfsr = lfsr << 1 ^ (lfsr >> 7) * 0x171;
        }
    for (i = 0; i < 4; i++)
        for (j = 0; j < 8; j++) {
            new_tables->rho8[i] |= (uint64_t)(8 * i + (j + 7) % 8) << 8 * j;
            new_tables->rho56[i] |= (uint64_t)(8 * i + (j + 1) % 8) << 8 * j;
        }
    return new_tables;
}

#define RUN(NAME, ...) \
    static int NAME##_run(void *state, const uint8_t *start, const uint8_t *in, uint8_t *out, \
                          size_t length) \
    { \
        const tables *t = state; \
        size_t i; \
        (void)start; \
        memcpy(out, in, length); \
        for (i = 0; i < length; i += 800) NAME((uint64_t *)(out + i), __VA_ARGS__); \
        return 0; \
    }

RUN(sha3_keccak4_f1600, t->rounds)
RUN(sha3_keccak4_f1600_alt, t->rounds, t->rho8, t->rho56)

#define PEER(NAME) {"keccak_f1600_4", "blocks", #NAME, 0, init, NAME##_run, free}

static const peer peers[] = {
    PEER(sha3_keccak4_f1600),
    PEER(sha3_keccak4_f1600_alt),
};

PEER_LIST(peers)
