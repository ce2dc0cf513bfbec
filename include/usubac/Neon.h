/*
 * The macro contract of the original Usuba compiler for Advanced SIMD on AArch64.
 *
 * Drivers written for it include this header; code from `usubac --abi usubac` needs only
 * DATATYPE from it. c is the word size of an operation (8, 16, 32 or 64, written as a number), n
 * a shift amount, a and b registers. Rotations take n modulo c.
 *
 * Define RUNTIME for the functions orthogonalize and unorthogonalize, and also ORTHO if they
 * should transpose rather than copy.
 */
#ifndef USUBAC_NEON_H
#define USUBAC_NEON_H

#include <stdint.h>
#include <stdlib.h>
#include <arm_neon.h>

#define DATATYPE uint8x16_t
#define SDATATYPE int8x16_t
#define REG_SIZE 128
#define CHUNK_SIZE REG_SIZE

#define AND(a, b) vandq_u8(a, b)
#define OR(a, b) vorrq_u8(a, b)
#define XOR(a, b) veorq_u8(a, b)
#define ANDN(a, b) vbicq_u8(b, a)
#define NOT(a) vmvnq_u8(a)

/* Registers are vectors of bytes; USUBAC_TO reads one as words of another size, USUBAC_OF back. */
#define USUBAC_TO_u8(a) (a)
#define USUBAC_TO_u16(a) vreinterpretq_u16_u8(a)
#define USUBAC_TO_u32(a) vreinterpretq_u32_u8(a)
#define USUBAC_TO_u64(a) vreinterpretq_u64_u8(a)
#define USUBAC_TO_s8(a) vreinterpretq_s8_u8(a)
#define USUBAC_TO_s16(a) vreinterpretq_s16_u8(a)
#define USUBAC_TO_s32(a) vreinterpretq_s32_u8(a)
#define USUBAC_TO_s64(a) vreinterpretq_s64_u8(a)
#define USUBAC_OF_u8(a) (a)
#define USUBAC_OF_u16(a) vreinterpretq_u8_u16(a)
#define USUBAC_OF_u32(a) vreinterpretq_u8_u32(a)
#define USUBAC_OF_u64(a) vreinterpretq_u8_u64(a)
#define USUBAC_OF_s8(a) vreinterpretq_u8_s8(a)
#define USUBAC_OF_s16(a) vreinterpretq_u8_s16(a)
#define USUBAC_OF_s32(a) vreinterpretq_u8_s32(a)
#define USUBAC_OF_s64(a) vreinterpretq_u8_s64(a)

#define ADD(a, b, c) USUBAC_OF_u##c(vaddq_u##c(USUBAC_TO_u##c(a), USUBAC_TO_u##c(b)))
#define SUB(a, b, c) USUBAC_OF_u##c(vsubq_u##c(USUBAC_TO_u##c(a), USUBAC_TO_u##c(b)))

#define SET_ALL_ZERO() vdupq_n_u8(0)
#define SET_ALL_ONE() vdupq_n_u8(0xff)
#define LIFT_4(x) vdupq_n_u8((uint8_t)(x))
#define LIFT_8(x) vdupq_n_u8((uint8_t)(x))
#define LIFT_16(x) USUBAC_OF_u16(vdupq_n_u16((uint16_t)(x)))
#define LIFT_32(x) USUBAC_OF_u32(vdupq_n_u32((uint32_t)(x)))
#define LIFT_64(x) USUBAC_OF_u64(vdupq_n_u64((uint64_t)(x)))

/* Shifts by a register of amounts take every amount; those by a literal take no 0 to the right. */
#define USUBAC_SHL_8(a, n) \
    USUBAC_OF_u8(vshlq_u8(USUBAC_TO_u8(a), vdupq_n_s8((n))))
#define USUBAC_SHL_16(a, n) \
    USUBAC_OF_u16(vshlq_u16(USUBAC_TO_u16(a), vdupq_n_s16((n))))
#define USUBAC_SHL_32(a, n) \
    USUBAC_OF_u32(vshlq_u32(USUBAC_TO_u32(a), vdupq_n_s32((n))))
#define USUBAC_SHL_64(a, n) \
    USUBAC_OF_u64(vshlq_u64(USUBAC_TO_u64(a), vdupq_n_s64((n))))
#define USUBAC_SHR_8(a, n) \
    USUBAC_OF_u8(vshlq_u8(USUBAC_TO_u8(a), vdupq_n_s8(-(n))))
#define USUBAC_SHR_16(a, n) \
    USUBAC_OF_u16(vshlq_u16(USUBAC_TO_u16(a), vdupq_n_s16(-(n))))
#define USUBAC_SHR_32(a, n) \
    USUBAC_OF_u32(vshlq_u32(USUBAC_TO_u32(a), vdupq_n_s32(-(n))))
#define USUBAC_SHR_64(a, n) \
    USUBAC_OF_u64(vshlq_u64(USUBAC_TO_u64(a), vdupq_n_s64(-(n))))
#define USUBAC_SAR_8(a, n) \
    USUBAC_OF_s8(vshlq_s8(USUBAC_TO_s8(a), vdupq_n_s8(-(n))))
#define USUBAC_SAR_16(a, n) \
    USUBAC_OF_s16(vshlq_s16(USUBAC_TO_s16(a), vdupq_n_s16(-(n))))
#define USUBAC_SAR_32(a, n) \
    USUBAC_OF_s32(vshlq_s32(USUBAC_TO_s32(a), vdupq_n_s32(-(n))))
#define USUBAC_SAR_64(a, n) \
    USUBAC_OF_s64(vshlq_s64(USUBAC_TO_s64(a), vdupq_n_s64(-(n))))

/* In H: byte or 32-bit element i is element i0, i1, ... of a. */
#define PERMUT_16(a, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15) \
    vqtbl1q_u8(a, usubac_bytes(i0, i1, i2, i3, i4, i5, i6, i7, \
                               i8, i9, i10, i11, i12, i13, i14, i15))
#define PERMUT_4(a, i0, i1, i2, i3) \
    PERMUT_16(a, 4 * (i0), 4 * (i0) + 1, 4 * (i0) + 2, 4 * (i0) + 3, \
              4 * (i1), 4 * (i1) + 1, 4 * (i1) + 2, 4 * (i1) + 3, \
              4 * (i2), 4 * (i2) + 1, 4 * (i2) + 2, 4 * (i2) + 3, \
              4 * (i3), 4 * (i3) + 1, 4 * (i3) + 2, 4 * (i3) + 3)

static inline uint8x16_t usubac_bytes(int i0, int i1, int i2, int i3, int i4, int i5, int i6,
                                      int i7, int i8, int i9, int i10, int i11, int i12, int i13,
                                      int i14, int i15)
{
    const uint8_t bytes[16] = {
        (uint8_t)i0, (uint8_t)i1, (uint8_t)i2, (uint8_t)i3, (uint8_t)i4, (uint8_t)i5,
        (uint8_t)i6, (uint8_t)i7, (uint8_t)i8, (uint8_t)i9, (uint8_t)i10, (uint8_t)i11,
        (uint8_t)i12, (uint8_t)i13, (uint8_t)i14, (uint8_t)i15
    };
    return vld1q_u8(bytes);
}

/* AArch64 allocates on 16 bytes; `free` releases. */
#define ALLOC(n) ((DATATYPE *)malloc((n) * sizeof(DATATYPE)))

#define USUBAC_LOAD(words) vreinterpretq_u8_u64(vld1q_u64(words))
#define USUBAC_STORE(words, a) vst1q_u64(words, vreinterpretq_u64_u8(a))

#include "usubac_simd.h"

#endif
