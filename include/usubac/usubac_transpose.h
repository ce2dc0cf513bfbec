/*
 * What the headers of all targets share: the 64x64 transposition, and refreshing.
 *
 * Include the header of a target instead.
 */
#ifndef USUBAC_TRANSPOSE_H
#define USUBAC_TRANSPOSE_H

#include <stdint.h>

#if defined(MASKING_ORDER) && MASKING_ORDER > 1
#error "these headers have no masked operations"
#endif

/* Without masking there is one share, and to refresh is to copy. */
#define refresh(x, y) (*(y) = (x))
#define REFRESH(r, a) ((r) = (a))

/* Bit k of row j and bit j of row k, 0 the most significant, change places. */
static inline void usubac_transpose64(uint64_t *rows)
{
    uint64_t m = 0x00000000ffffffffULL;
    int i, k;
    for (k = 32; k != 0; k >>= 1, m ^= m << k) {
        for (i = 0; i < 64; i = (i + k + 1) & ~k) {
            /* The low half of row i changes places with the high half of row i + k. */
            const uint64_t t = (rows[i] ^ rows[i + k] >> k) & m;
            rows[i] ^= t;
            rows[i + k] ^= t << k;
        }
    }
}

#ifdef RUNTIME
/* The same by the name that drivers call. */
static inline void real_ortho(uint64_t *data)
{
    usubac_transpose64(data);
}
#endif

#endif
