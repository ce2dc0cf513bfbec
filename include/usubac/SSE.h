/*
 * The macro contract of the original Usuba compiler for SSE4.2.
 *
 * Drivers written for it include this header; code from `usubac --abi usubac` needs only
 * DATATYPE from it. c is the word size of an operation (8, 16, 32 or 64, written as a number), n
 * a constant shift amount, a and b registers. Rotations take n modulo c.
 *
 * Define RUNTIME for the functions orthogonalize and unorthogonalize, and also ORTHO if they
 * should transpose rather than copy.
 */
#ifndef USUBAC_SSE_H
#define USUBAC_SSE_H

#include <stdint.h>
#include <stdlib.h>
#include <immintrin.h>

#define DATATYPE __m128i
#define SDATATYPE __m128i
#define REG_SIZE 128
#define CHUNK_SIZE 256

#define AND(a, b) _mm_and_si128(a, b)
#define OR(a, b) _mm_or_si128(a, b)
#define XOR(a, b) _mm_xor_si128(a, b)
#define ANDN(a, b) _mm_andnot_si128(a, b)
#define NOT(a) _mm_xor_si128(a, SET_ALL_ONE())

#define ADD(a, b, c) _mm_add_epi##c(a, b)
#define SUB(a, b, c) _mm_sub_epi##c(a, b)

#define SET_ALL_ZERO() _mm_setzero_si128()
#define SET_ALL_ONE() _mm_set1_epi32(-1)
#define LIFT_4(x) _mm_set1_epi8((char)(x))
#define LIFT_8(x) _mm_set1_epi8((char)(x))
#define LIFT_16(x) _mm_set1_epi16((short)(x))
#define LIFT_32(x) _mm_set1_epi32((int)(x))
#define LIFT_64(x) _mm_set1_epi64x((long long)(x))

/* There are no shifts of bytes: those of 16-bit words, without what crosses from the neighbour. */
#define USUBAC_SHL_8(a, n) AND(_mm_slli_epi16(a, n), LIFT_8(0xff << (n)))
#define USUBAC_SHL_16(a, n) _mm_slli_epi16(a, n)
#define USUBAC_SHL_32(a, n) _mm_slli_epi32(a, n)
#define USUBAC_SHL_64(a, n) _mm_slli_epi64(a, n)
#define USUBAC_SHR_8(a, n) AND(_mm_srli_epi16(a, n), LIFT_8(0xff >> (n)))
#define USUBAC_SHR_16(a, n) _mm_srli_epi16(a, n)
#define USUBAC_SHR_32(a, n) _mm_srli_epi32(a, n)
#define USUBAC_SHR_64(a, n) _mm_srli_epi64(a, n)

/* The shifted sign bit, taken away again, fills what is above it: words without an instruction. */
#define USUBAC_SAR_8(a, n) \
    SUB(XOR(USUBAC_SHR_8(a, n), LIFT_8(0x80 >> (n))), LIFT_8(0x80 >> (n)), 8)
#define USUBAC_SAR_16(a, n) _mm_srai_epi16(a, n)
#define USUBAC_SAR_32(a, n) _mm_srai_epi32(a, n)
#define USUBAC_SAR_64(a, n) \
    SUB(XOR(USUBAC_SHR_64(a, n), LIFT_64(0x8000000000000000ULL >> (n))), \
        LIFT_64(0x8000000000000000ULL >> (n)), 64)

/* In H: byte or 32-bit element i of each 128 bits is element i0, i1, ... of a. */
#define USUBAC_BYTES(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    _mm_set_epi8(i15, i14, i13, i12, i11, i10, i9, i8, i7, i6, i5, i4, i3, i2, i1, i0)
#define PERMUT_16(a, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    _mm_shuffle_epi8(a, USUBAC_BYTES( \
        i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15))
#define PERMUT_4(a, i0, i1, i2, i3) \
    _mm_shuffle_epi32(a, ((i3) << 6 | (i2) << 4 | (i1) << 2 | (i0)))

/* Aligned registers; `_mm_free` releases them. */
#define ALLOC(n) ((DATATYPE *)_mm_malloc((n) * sizeof(DATATYPE), sizeof(DATATYPE)))

#define USUBAC_LOAD(words) _mm_loadu_si128((const DATATYPE *)(words))
#define USUBAC_STORE(words, a) _mm_storeu_si128((DATATYPE *)(words), a)

#include "usubac_simd.h"

#endif
