/*
 * The macro contract of the original Usuba compiler for general-purpose registers.
 *
 * Drivers written for it include this header; code from `usubac -abi usubac` needs only
 * DATATYPE from it. c is the word size of an operation, n a shift amount, a and b registers.
 * Rotations take n modulo c.
 * BITS_PER_REG (8, 16, 32 or 64) chooses the register; 64 unless the kernel says otherwise.
 */
#ifndef USUBAC_STD_H
#define USUBAC_STD_H

#include <stdint.h>
#include <stdlib.h>


#ifndef BITS_PER_REG
#define BITS_PER_REG 64
#endif

#if BITS_PER_REG == 8
#define DATATYPE uint8_t
#define SDATATYPE int8_t
#elif BITS_PER_REG == 16
#define DATATYPE uint16_t
#define SDATATYPE int16_t
#elif BITS_PER_REG == 32
#define DATATYPE uint32_t
#define SDATATYPE int32_t
#elif BITS_PER_REG == 64
#define DATATYPE uint64_t
#define SDATATYPE int64_t
#else
#error "BITS_PER_REG is 8, 16, 32 or 64"
#endif

#define REG_SIZE BITS_PER_REG
#define CHUNK_SIZE 64

#define AND(a, b) ((DATATYPE)((a) & (b)))
#define OR(a, b) ((DATATYPE)((a) | (b)))
#define XOR(a, b) ((DATATYPE)((a) ^ (b)))
#define ANDN(a, b) ((DATATYPE)(~(a) & (b)))
#define NOT(a) ((DATATYPE)~(a))

#define ADD(a, b, c) ((DATATYPE)(((a) + (b)) & USUBAC_MASK(c)))
#define SUB(a, b, c) ((DATATYPE)(((a) - (b)) & USUBAC_MASK(c)))

/* Ones in the low c bits, for words that are narrower than the register. */
#define USUBAC_MASK(c) ((DATATYPE)(~(uint64_t)0 >> (64 - (c))))

#define L_SHIFT(a, n, c) ((DATATYPE)((uint64_t)(a) << (n) & USUBAC_MASK(c)))
#define R_SHIFT(a, n, c) ((DATATYPE)((a) >> (n)))
#define RA_SHIFT(a, n, c) \
    ((DATATYPE)((int64_t)((uint64_t)(a) << (64 - (c))) >> (n) >> (64 - (c)) & USUBAC_MASK(c)))
#define L_ROTATE(a, n, c) \
    ((DATATYPE)(((uint64_t)(a) << ((n) % (c)) | \
                 (uint64_t)(a) >> (((c) - (n) % (c)) % (c))) & USUBAC_MASK(c)))
#define R_ROTATE(a, n, c) L_ROTATE(a, (c) - (n) % (c), c)

#define SET_ALL_ZERO() ((DATATYPE)0)
#define SET_ALL_ONE() ((DATATYPE)~(DATATYPE)0)
#define LIFT_4(x) ((DATATYPE)(x))
#define LIFT_8(x) ((DATATYPE)(x))
#define LIFT_16(x) ((DATATYPE)(x))
#define LIFT_32(x) ((DATATYPE)(x))
#define LIFT_64(x) ((DATATYPE)(x))

#define BITMASK(a, n, c) ((DATATYPE)((0 - ((uint64_t)(a) >> (n) & 1)) & USUBAC_MASK(c)))
#define PACK_8x2_to_16(a, b) ((uint16_t)((uint16_t)(a) << 8 | (b)))
#define PACK_16x2_to_32(a, b) ((uint32_t)(a) << 16 | (b))
#define PACK_32x2_to_64(a, b) ((uint64_t)(a) << 32 | (b))

#define ALLOC(n) ((DATATYPE *)malloc((n) * sizeof(DATATYPE)))

#define ORTHOGONALIZE(in, out) usubac_transpose(in, out)
#define UNORTHOGONALIZE(in, out) usubac_transpose_back(in, out)

/* Bit k of in[j], 0 the most significant, becomes bit 63 - j of out[k]. */
static inline void usubac_transpose64(const uint64_t *in, uint64_t *out)
{
    uint64_t m = 0x00000000ffffffffULL;
    int i, k;
    for (i = 0; i < 64; i++) {
        out[i] = in[i];
    }
    for (k = 32; k != 0; k >>= 1, m ^= m << k) {
        for (i = 0; i < 64; i = (i + k + 1) & ~k) {
            /* The low half of row i changes places with the high half of row i + k. */
            const uint64_t t = (out[i] ^ out[i + k] >> k) & m;
            out[i] ^= t;
            out[i + k] ^= t << k;
        }
    }
}

static inline void usubac_transpose(const uint64_t *in, DATATYPE *out)
{
    uint64_t rows[64];
    int i;
    usubac_transpose64(in, rows);
    for (i = 0; i < 64; i++) {
        out[i] = (DATATYPE)rows[i];
    }
}

static inline void usubac_transpose_back(const DATATYPE *in, uint64_t *out)
{
    uint64_t rows[64];
    int i;
    for (i = 0; i < 64; i++) {
        rows[i] = in[i];
    }
    usubac_transpose64(rows, out);
}

#endif
