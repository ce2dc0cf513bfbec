/*
 * The macro contract of the original Usuba compiler for AVX-512 F and BW.
 *
 * Drivers written for it include this header; code from `usubac --abi usubac` needs only
 * DATATYPE from it. c is the word size of an operation (8, 16, 32 or 64, written as a number), n
 * a constant shift amount, a and b registers. Rotations take n modulo c.
 *
 * Define RUNTIME for the functions orthogonalize and unorthogonalize, and also ORTHO if they
 * should transpose rather than copy.
 */
#ifndef USUBAC_AVX512_H
#define USUBAC_AVX512_H

#include <stdint.h>
#include <stdlib.h>
#include <immintrin.h>

#define DATATYPE __m512i
#define SDATATYPE __m512i
#define REG_SIZE 512
#define CHUNK_SIZE 4096

#define AND(a, b) _mm512_and_si512(a, b)
#define OR(a, b) _mm512_or_si512(a, b)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define ANDN(a, b) _mm512_andnot_si512(a, b)
#define NOT(a) _mm512_xor_si512(a, SET_ALL_ONE())

#define ADD(a, b, c) _mm512_add_epi##c(a, b)
#define SUB(a, b, c) _mm512_sub_epi##c(a, b)

#define SET_ALL_ZERO() _mm512_setzero_si512()
#define SET_ALL_ONE() _mm512_set1_epi32(-1)
#define LIFT_4(x) _mm512_set1_epi8((char)(x))
#define LIFT_8(x) _mm512_set1_epi8((char)(x))
#define LIFT_16(x) _mm512_set1_epi16((short)(x))
#define LIFT_32(x) _mm512_set1_epi32((int)(x))
#define LIFT_64(x) _mm512_set1_epi64((long long)(x))

/* There are no shifts of bytes: those of 16-bit words, without what crosses from the neighbour. */
#define USUBAC_SHL_8(a, n) AND(_mm512_slli_epi16(a, n), LIFT_8(0xff << (n)))
#define USUBAC_SHL_16(a, n) _mm512_slli_epi16(a, n)
#define USUBAC_SHL_32(a, n) _mm512_slli_epi32(a, n)
#define USUBAC_SHL_64(a, n) _mm512_slli_epi64(a, n)
#define USUBAC_SHR_8(a, n) AND(_mm512_srli_epi16(a, n), LIFT_8(0xff >> (n)))
#define USUBAC_SHR_16(a, n) _mm512_srli_epi16(a, n)
#define USUBAC_SHR_32(a, n) _mm512_srli_epi32(a, n)
#define USUBAC_SHR_64(a, n) _mm512_srli_epi64(a, n)

/* The shifted sign bit, taken away again, fills what is above it. */
#define USUBAC_SAR_8(a, n) \
    SUB(XOR(USUBAC_SHR_8(a, n), LIFT_8(0x80 >> (n))), LIFT_8(0x80 >> (n)), 8)
#define USUBAC_SAR_16(a, n) _mm512_srai_epi16(a, n)
#define USUBAC_SAR_32(a, n) _mm512_srai_epi32(a, n)
#define USUBAC_SAR_64(a, n) _mm512_srai_epi64(a, n)

/* In H: byte or 32-bit element i of each 128 bits is element i0, i1, ... of a. */
#define USUBAC_BYTES(i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    _mm_set_epi8(i15, i14, i13, i12, i11, i10, i9, i8, i7, i6, i5, i4, i3, i2, i1, i0)
#define PERMUT_16(a, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(USUBAC_BYTES( \
        i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15)))
#define PERMUT_4(a, i0, i1, i2, i3) \
    _mm512_shuffle_epi32(a, (_MM_PERM_ENUM)((i3) << 6 | (i2) << 4 | (i1) << 2 | (i0)))

/* Aligned registers; `_mm_free` releases them. */
#define ALLOC(n) ((DATATYPE *)_mm_malloc((n) * sizeof(DATATYPE), sizeof(DATATYPE)))

#define USUBAC_LOAD(words) _mm512_loadu_si512(words)
#define USUBAC_STORE(words, a) _mm512_storeu_si512(words, a)

#include "usubac_simd.h"

#endif
