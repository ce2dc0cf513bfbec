#include <stddef.h>
#include <stdint.h>

/* All that is asked of a C library; without one, somebody has these two. */
#if defined(__STDC_HOSTED__) && !__STDC_HOSTED__
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t length);
void *memset(void *to, int byte, size_t length);
#ifdef __cplusplus
}
#endif
#else
#include <string.h>
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define USUBA_X86_64
#endif
#if defined(__GNUC__) && defined(__aarch64__)
#define USUBA_AARCH64
#endif

/* Bytes that are computed from secrets and are none: whether something was forged, say. Nothing
   happens to them, but whoever follows secrets through a program can define this. */
#if !defined(USUBA_PUBLIC)
#define USUBA_PUBLIC(memory, length) ((void)(memory))
#endif

/* What wiping is; here it is part of what calls it. */
static inline void usuba_erase(void *memory, size_t length)
{
#if defined(__GNUC__)
#if defined(USUBA_X86_64) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) \
    && !defined(__clang__)
    /* gcc would take an instruction that is slow to begin, the C library does not. */
    if (__builtin_constant_p(length) && length > 96) __asm__("" : "+r"(length));
#endif
    memset(memory, 0, length);
    /* The compiler must assume that somebody reads it. */
    __asm__ __volatile__("" : : "r"(memory) : "memory");
#else
    volatile uint8_t *byte = (volatile uint8_t *)memory;
    while (length--) *byte++ = 0;
#endif
}
