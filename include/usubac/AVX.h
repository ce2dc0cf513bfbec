/*
 * The macro contract of the original Usuba compiler for AVX2.
 *
 * Drivers written for it include this header; code from `usubac -abi usubac` needs only
 * DATATYPE from it. c is the word size of an operation (16, 32 or 64 for shifts, also 8 for
 * sums), n a shift amount, a and b registers. Rotations take n modulo c. RA_SHIFT has no 64-bit
 * words before AVX-512, and BITMASK and PACK_* are left to the compiler.
 */
#ifndef USUBAC_AVX_H
#define USUBAC_AVX_H

#include <stdint.h>
#include <stdlib.h>
#include <immintrin.h>

#define DATATYPE __m256i
#define SDATATYPE __m256i
#define REG_SIZE 256
#define CHUNK_SIZE 256

#define AND(a, b) _mm256_and_si256(a, b)
#define OR(a, b) _mm256_or_si256(a, b)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define ANDN(a, b) _mm256_andnot_si256(a, b)
#define NOT(a) _mm256_xor_si256(a, SET_ALL_ONE())

#define ADD(a, b, c) _mm256_add_epi##c(a, b)
#define SUB(a, b, c) _mm256_sub_epi##c(a, b)

#define L_SHIFT(a, n, c) _mm256_slli_epi##c(a, n)
#define R_SHIFT(a, n, c) _mm256_srli_epi##c(a, n)
#define RA_SHIFT(a, n, c) _mm256_srai_epi##c(a, n)
#define L_ROTATE(a, n, c) \
    ((n) % (c) == 0 ? (a) : OR(L_SHIFT(a, (n) % (c), c), R_SHIFT(a, (c) - (n) % (c), c)))
#define R_ROTATE(a, n, c) L_ROTATE(a, (c) - (n) % (c), c)

#define SET_ALL_ZERO() _mm256_setzero_si256()
#define SET_ALL_ONE() _mm256_set1_epi32(-1)
#define LIFT_4(x) _mm256_set1_epi8((char)(x))
#define LIFT_8(x) _mm256_set1_epi8((char)(x))
#define LIFT_16(x) _mm256_set1_epi16((short)(x))
#define LIFT_32(x) _mm256_set1_epi32((int)(x))
#define LIFT_64(x) _mm256_set1_epi64x((long long)(x))

#define USUBAC_BYTES(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    _mm_set_epi8(i15, i14, i13, i12, i11, i10, i9, i8, i7, i6, i5, i4, i3, i2, i1, i0)
#define PERMUT_16(a, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(USUBAC_BYTES( \
        i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15)))
#define PERMUT_4(a, i0, i1, i2, i3) \
    _mm256_shuffle_epi32(a, ((i3) << 6 | (i2) << 4 | (i1) << 2 | (i0)))

/* Aligned registers; `_mm_free` releases them. */
#define ALLOC(n) ((DATATYPE *)_mm_malloc((n) * sizeof(DATATYPE), sizeof(DATATYPE)))

#define ORTHOGONALIZE(in, out) usubac_transpose(in, out)
#define UNORTHOGONALIZE(in, out) usubac_transpose_back(in, out)

/*
 * REG_SIZE instances of REG_SIZE bits: 64-bit word g of instance i is in[g * REG_SIZE + i]. The
 * groups of 64 registers come out in reverse, as in the original: word 0 is in the last group,
 * its most significant bit first.
 */
static inline void usubac_transpose(const uint64_t *in, DATATYPE *out)
{
    uint64_t words[REG_SIZE / 64];
    int r, i;
    for (r = 0; r < REG_SIZE; r++) {
        const uint64_t *group = in + (REG_SIZE / 64 - 1 - r / 64) * REG_SIZE;
        for (i = 0; i < REG_SIZE / 64; i++) {
            words[i] = 0;
        }
        for (i = 0; i < REG_SIZE; i++) {
            words[i / 64] |= (group[i] >> (63 - r % 64) & 1) << (i % 64);
        }
        out[r] = _mm256_loadu_si256((const __m256i *)words);
    }
}

static inline void usubac_transpose_back(const DATATYPE *in, uint64_t *out)
{
    uint64_t words[REG_SIZE / 64];
    int r, i;
    for (i = 0; i < REG_SIZE / 64 * REG_SIZE; i++) {
        out[i] = 0;
    }
    for (r = 0; r < REG_SIZE; r++) {
        uint64_t *group = out + (REG_SIZE / 64 - 1 - r / 64) * REG_SIZE;
        _mm256_storeu_si256((__m256i *)words, in[r]);
        for (i = 0; i < REG_SIZE; i++) {
            group[i] |= (words[i / 64] >> (i % 64) & 1) << (63 - r % 64);
        }
    }
}

#endif
