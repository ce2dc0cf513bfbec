/*
 * The macro contract of the original Usuba compiler for general-purpose registers.
 *
 * Drivers written for it include this header; code from `usubac --abi usubac` needs only
 * DATATYPE from it. c is the word size of an operation, n a shift amount, a and b registers.
 * Rotations take n modulo c.
 * BITS_PER_REG (8, 16, 32 or 64) chooses the register; 64 unless the kernel says otherwise.
 *
 * Define RUNTIME for the functions orthogonalize and unorthogonalize, and also ORTHO if they
 * should transpose rather than copy.
 */
#ifndef USUBAC_STD_H
#define USUBAC_STD_H

#include <stdint.h>
#if __STDC_HOSTED__
#include <stdlib.h>
#endif

#include "usubac_transpose.h"

#ifndef BITS_PER_REG
#define BITS_PER_REG 64
#endif

#if BITS_PER_REG == 8
#define USUBAC_WORD(sign) sign##int8_t
#elif BITS_PER_REG == 16
#define USUBAC_WORD(sign) sign##int16_t
#elif BITS_PER_REG == 32
#define USUBAC_WORD(sign) sign##int32_t
#elif BITS_PER_REG == 64
#define USUBAC_WORD(sign) sign##int64_t
#else
#error "BITS_PER_REG is 8, 16, 32 or 64"
#endif

/* A driver may have defined another name of the type. */
#ifndef DATATYPE
#define DATATYPE USUBAC_WORD(u)
#endif
#ifndef SDATATYPE
#define SDATATYPE USUBAC_WORD()
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
#define ZERO SET_ALL_ZERO()
#define ONES SET_ALL_ONE()
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

/* In H: element i of a is the i-th group of bits from the most significant. */
#define PERMUT_4(a, i0, i1, i2, i3) \
    ((DATATYPE)(USUBAC_PUT(a, i0, 0, 4) | USUBAC_PUT(a, i1, 1, 4) | \
                USUBAC_PUT(a, i2, 2, 4) | USUBAC_PUT(a, i3, 3, 4)))
#define PERMUT_16(a, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    ((DATATYPE)(USUBAC_PUT(a, i0, 0, 16) | USUBAC_PUT(a, i1, 1, 16) | \
                USUBAC_PUT(a, i2, 2, 16) | USUBAC_PUT(a, i3, 3, 16) | \
                USUBAC_PUT(a, i4, 4, 16) | USUBAC_PUT(a, i5, 5, 16) | \
                USUBAC_PUT(a, i6, 6, 16) | USUBAC_PUT(a, i7, 7, 16) | \
                USUBAC_PUT(a, i8, 8, 16) | USUBAC_PUT(a, i9, 9, 16) | \
                USUBAC_PUT(a, i10, 10, 16) | USUBAC_PUT(a, i11, 11, 16) | \
                USUBAC_PUT(a, i12, 12, 16) | USUBAC_PUT(a, i13, 13, 16) | \
                USUBAC_PUT(a, i14, 14, 16) | USUBAC_PUT(a, i15, 15, 16)))

/* Element i of a, of m in a register, at the place of element j. */
#define USUBAC_PUT(a, i, j, m) \
    (((uint64_t)(a) >> REG_SIZE / (m) * ((m) - 1 - (i)) & USUBAC_MASK(REG_SIZE / (m))) \
     << REG_SIZE / (m) * ((m) - 1 - (j)))

#define ALLOC(n) ((DATATYPE *)malloc((n) * sizeof(DATATYPE)))

/*
 * REG_SIZE instances of 64 bits: bit k of in[j], 0 the most significant, becomes bit
 * REG_SIZE - 1 - j of out[k]. `in` and `out` may be the same array.
 */
static inline void usubac_transpose(const uint64_t *in, DATATYPE *out)
{
    uint64_t rows[64];
    int i;
    for (i = 0; i < 64; i++) {
        rows[i] = i < REG_SIZE ? in[i] : 0;
    }
    usubac_transpose64(rows);
    for (i = 0; i < 64; i++) {
        out[i] = (DATATYPE)(rows[i] >> (64 - REG_SIZE));
    }
}

/* The opposite of usubac_transpose. */
static inline void usubac_transpose_back(const DATATYPE *in, uint64_t *out)
{
    uint64_t rows[64];
    int i;
    for (i = 0; i < 64; i++) {
        rows[i] = (uint64_t)in[i] << (64 - REG_SIZE);
    }
    usubac_transpose64(rows);
    for (i = 0; i < REG_SIZE; i++) {
        out[i] = rows[i];
    }
}

#ifdef RUNTIME

/* With ORTHO transpositions, else copies, for drivers that measure the cipher alone. */
static inline void orthogonalize(const uint64_t *in, DATATYPE *out)
{
#ifdef ORTHO
    usubac_transpose(in, out);
#else
    int i;
    for (i = 0; i < REG_SIZE; i++) {
        out[i] = (DATATYPE)in[i];
    }
#endif
}

static inline void unorthogonalize(const DATATYPE *in, uint64_t *out)
{
#ifdef ORTHO
    usubac_transpose_back(in, out);
#else
    int i;
    for (i = 0; i < REG_SIZE; i++) {
        out[i] = in[i];
    }
#endif
}

#define ORTHOGONALIZE(in, out) orthogonalize(in, out)
#define UNORTHOGONALIZE(in, out) unorthogonalize(in, out)

#else

#define ORTHOGONALIZE(in, out) usubac_transpose(in, out)
#define UNORTHOGONALIZE(in, out) usubac_transpose_back(in, out)

#endif

#endif
