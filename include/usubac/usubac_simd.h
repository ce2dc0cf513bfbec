/*
 * What the headers of vector targets share, on top of their shifts, sums and constants.
 *
 * Include the header of a target instead. It defines for each word size USUBAC_SHL, USUBAC_SHR
 * and USUBAC_SAR, and USUBAC_LOAD and USUBAC_STORE between a register and an array of uint64_t.
 */
#ifndef USUBAC_SIMD_H
#define USUBAC_SIMD_H

#include "usubac_transpose.h"

#define ZERO SET_ALL_ZERO()
#define ONES SET_ALL_ONE()

#define L_SHIFT(a, n, c) USUBAC_SHL_##c(a, n)
#define R_SHIFT(a, n, c) USUBAC_SHR_##c(a, n)
#define RA_SHIFT(a, n, c) USUBAC_SAR_##c(a, n)
#define L_ROTATE(a, n, c) \
    ((n) % (c) == 0 ? (a) : OR(L_SHIFT(a, (n) % (c), c), R_SHIFT(a, (c) - (n) % (c), c)))
#define R_ROTATE(a, n, c) L_ROTATE(a, (c) - (n) % (c), c)

/* All ones in the words whose bit n, counted from the least significant, is set. */
#define BITMASK(a, n, c) SUB(SET_ALL_ZERO(), AND(R_SHIFT(a, n, c), LIFT_##c(1)), c)

/* Two words of half the size, zero-extended in lanes of the whole size; a is the upper half. */
#define PACK_8x2_to_16(a, b) OR(L_SHIFT(a, 8, 16), b)
#define PACK_16x2_to_32(a, b) OR(L_SHIFT(a, 16, 32), b)
#define PACK_32x2_to_64(a, b) OR(L_SHIFT(a, 32, 64), b)

/*
 * REG_SIZE instances of `groups` 64-bit words: word g of instance i is in[g * REG_SIZE + i]. Its
 * bits become 64 registers, the most significant first. The groups of registers come out in
 * reverse, as in the original: word 0 is in the last group. `in` and `out` must not overlap.
 */
static inline void usubac_transpose_groups(const uint64_t *in, DATATYPE *out, int groups)
{
    uint64_t rows[REG_SIZE / 64][64], words[REG_SIZE / 64];
    int g, w, i;
    for (g = 0; g < groups; g++) {
        const uint64_t *from = in + g * REG_SIZE;
        DATATYPE *to = out + (groups - 1 - g) * 64;
        for (w = 0; w < REG_SIZE / 64; w++) {
            /* Backwards, so that instance i is bit i counted from the least significant. */
            for (i = 0; i < 64; i++) {
                rows[w][63 - i] = from[64 * w + i];
            }
            usubac_transpose64(rows[w]);
        }
        for (i = 0; i < 64; i++) {
            for (w = 0; w < REG_SIZE / 64; w++) {
                words[w] = rows[w][i];
            }
            to[i] = USUBAC_LOAD(words);
        }
    }
}

/* The opposite of usubac_transpose_groups. */
static inline void usubac_transpose_groups_back(const DATATYPE *in, uint64_t *out, int groups)
{
    uint64_t rows[REG_SIZE / 64][64], words[REG_SIZE / 64];
    int g, w, i;
    for (g = 0; g < groups; g++) {
        const DATATYPE *from = in + (groups - 1 - g) * 64;
        uint64_t *to = out + g * REG_SIZE;
        for (i = 0; i < 64; i++) {
            USUBAC_STORE(words, from[i]);
            for (w = 0; w < REG_SIZE / 64; w++) {
                rows[w][i] = words[w];
            }
        }
        for (w = 0; w < REG_SIZE / 64; w++) {
            usubac_transpose64(rows[w]);
            for (i = 0; i < 64; i++) {
                to[64 * w + i] = rows[w][63 - i];
            }
        }
    }
}

#ifdef RUNTIME

/* With ORTHO square transpositions, else copies, for drivers that measure the cipher alone. */
static inline void orthogonalize(const uint64_t *in, DATATYPE *out)
{
#ifdef ORTHO
    usubac_transpose_groups(in, out, REG_SIZE / 64);
#else
    int r;
    for (r = 0; r < REG_SIZE; r++) {
        out[r] = USUBAC_LOAD(in + r * (REG_SIZE / 64));
    }
#endif
}

static inline void unorthogonalize(const DATATYPE *in, uint64_t *out)
{
#ifdef ORTHO
    usubac_transpose_groups_back(in, out, REG_SIZE / 64);
#else
    int r;
    for (r = 0; r < REG_SIZE; r++) {
        USUBAC_STORE(out + r * (REG_SIZE / 64), in[r]);
    }
#endif
}

/* REG_SIZE instances of 64 bits: 128x64, 256x64 or 512x64, and 64x128 and so on back. */
#define USUBAC_JOIN(a, b, c) USUBAC_JOIN_(a, b, c)
#define USUBAC_JOIN_(a, b, c) a##b##c

static inline void USUBAC_JOIN(orthogonalize_, REG_SIZE, x64)(const uint64_t *in, DATATYPE *out)
{
    usubac_transpose_groups(in, out, 1);
}

static inline void USUBAC_JOIN(unorthogonalize_64x, REG_SIZE, )(const DATATYPE *in, uint64_t *out)
{
    usubac_transpose_groups_back(in, out, 1);
}

/*
 * A square of bits in place, real_ortho_128x128 and so on: row i is register i, and column j is
 * bit 63 - j % 64 of its 64-bit word j / 64.
 */
static inline void USUBAC_JOIN(USUBAC_JOIN(real_ortho_, REG_SIZE, x), REG_SIZE, )(DATATYPE *data)
{
    uint64_t rows[REG_SIZE / 64][64], words[REG_SIZE / 64];
    uint64_t square[REG_SIZE][REG_SIZE / 64];
    int band, i, w;
    for (band = 0; band < REG_SIZE / 64; band++) {
        for (i = 0; i < 64; i++) {
            USUBAC_STORE(words, data[64 * band + i]);
            for (w = 0; w < REG_SIZE / 64; w++) {
                rows[w][i] = words[w];
            }
        }
        for (w = 0; w < REG_SIZE / 64; w++) {
            usubac_transpose64(rows[w]);
            for (i = 0; i < 64; i++) {
                square[64 * w + i][band] = rows[w][i];
            }
        }
    }
    for (i = 0; i < REG_SIZE; i++) {
        data[i] = USUBAC_LOAD(square[i]);
    }
}

#define ORTHOGONALIZE(in, out) orthogonalize(in, out)
#define UNORTHOGONALIZE(in, out) unorthogonalize(in, out)

#else

#define ORTHOGONALIZE(in, out) usubac_transpose_groups(in, out, REG_SIZE / 64)
#define UNORTHOGONALIZE(in, out) usubac_transpose_groups_back(in, out, REG_SIZE / 64)

#endif

#endif
