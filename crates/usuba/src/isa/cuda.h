#ifndef USUBA_DEVICE
/* CUDA C++ for nvcc, or for clang without any header of CUDA; a function is one of the device and one
   of the host. For other compilers all of it is C for a host. */
#if defined(__CUDACC__) || defined(__CUDA__)
#ifndef __device__
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#endif
#define USUBA_DEVICE __host__ __device__ __attribute__((always_inline))
#define USUBA_EXPORTED __host__ __device__
/* The loop below becomes a copy of its body for each turn, or stays one body. */
#define USUBA_COPIED _Pragma("unroll")
#define USUBA_ROLLED _Pragma("unroll 1")
#else
#define USUBA_DEVICE
#define USUBA_EXPORTED
#define USUBA_COPIED
#define USUBA_ROLLED
#endif

/* Bit i of the result is bit 4x + 2y + z of the table, for bits x, y and z: bits i of a, b and c. */
#define USUBA_OF_TABLE(a_, b_, c_, k_) \
    (((a_) & ((k_ & 0x80 ? (b_) & (c_) : 0) | (k_ & 0x40 ? (b_) & ~(c_) : 0) \
              | (k_ & 0x20 ? ~(b_) & (c_) : 0) | (k_ & 0x10 ? ~((b_) | (c_)) : 0))) \
     | (~(a_) & ((k_ & 0x08 ? (b_) & (c_) : 0) | (k_ & 0x04 ? (b_) & ~(c_) : 0) \
                 | (k_ & 0x02 ? ~(b_) & (c_) : 0) | (k_ & 0x01 ? ~((b_) | (c_)) : 0))))
/* Byte i of the result is the byte of b and a, eight in all, whose number is digit i, from the least
   significant on. */
#define USUBA_OF_DIGIT(a_, b_, k_) \
    ((uint32_t)((((uint64_t)(b_) << 32 | (a_)) >> 8 * ((k_) & 7)) & 0xff))
#define USUBA_OF_DIGITS(a_, b_, k_) \
    (USUBA_OF_DIGIT(a_, b_, k_) | USUBA_OF_DIGIT(a_, b_, (k_) >> 4) << 8 \
     | USUBA_OF_DIGIT(a_, b_, (k_) >> 8) << 16 | USUBA_OF_DIGIT(a_, b_, (k_) >> 12) << 24)
#if defined(__CUDACC__) || defined(__CUDA__)
template <unsigned table> USUBA_DEVICE static inline uint32_t usuba_lut3(uint32_t a, uint32_t b, uint32_t c)
{
#if defined(__CUDA_ARCH__)
    uint32_t d;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(table));
    return d;
#else
    return USUBA_OF_TABLE(a, b, c, table);
#endif
}
template <unsigned table> USUBA_DEVICE static inline uint64_t usuba_lut3_64(uint64_t a, uint64_t b, uint64_t c)
{
    const uint32_t low = usuba_lut3<table>((uint32_t)a, (uint32_t)b, (uint32_t)c);
    const uint32_t high = usuba_lut3<table>((uint32_t)(a >> 32), (uint32_t)(b >> 32), (uint32_t)(c >> 32));
    return (uint64_t)high << 32 | low;
}
template <unsigned digits> USUBA_DEVICE static inline uint32_t usuba_prmt(uint32_t a, uint32_t b)
{
#if defined(__CUDA_ARCH__)
    uint32_t d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "n"(digits));
    return d;
#else
    return USUBA_OF_DIGITS(a, b, digits);
#endif
}
#define USUBA_PRMT(a_, b_, k_) usuba_prmt<k_>(a_, b_)
#define USUBA_LUT3_32(a_, b_, c_, k_) usuba_lut3<k_>(a_, b_, c_)
#define USUBA_LUT3_64(a_, b_, c_, k_) usuba_lut3_64<k_>(a_, b_, c_)
#else
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline uint64_t usuba_lut3(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    return USUBA_OF_TABLE(a, b, c, table);
}
#define USUBA_PRMT USUBA_OF_DIGITS
#define USUBA_LUT3_32(a_, b_, c_, k_) (uint32_t)usuba_lut3(a_, b_, c_, k_)
#define USUBA_LUT3_64(a_, b_, c_, k_) usuba_lut3(a_, b_, c_, k_)
#endif
#define USUBA_LUT3_16 USUBA_LUT3_32
#define USUBA_LUT3_8 USUBA_LUT3_32
#endif
