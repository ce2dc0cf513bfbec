#include <stddef.h>
#include <stdint.h>

/* The only functions of the C library; without one, the program defines these two. */
#if defined(__STDC_HOSTED__) && !__STDC_HOSTED__
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to /* [length] */, const void *from /* [length] */, size_t length);
void *memset(void *to /* [length] */, int byte, size_t length);
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

/* Public bytes that are computed from secrets, such as the result of a verification. The macro does
   nothing by default; a tool that tracks secrets can define it. */
#if !defined(USUBA_PUBLIC)
#define USUBA_PUBLIC(memory, length) ((void)(memory))
#endif

/* Zeroization, inlined into its callers. */
static inline void usuba_erase(void *memory, size_t length)
{
#if defined(__GNUC__)
#if defined(USUBA_X86_64) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) \
    && !defined(__clang__)
    /* gcc would use an instruction with a slow start; the C library does not. */
    if (__builtin_constant_p(length) && length > 96) __asm__("" : "+r"(length));
#endif
    memset(memory, 0, length);
    /* The compiler must assume that it is read. */
    __asm__ __volatile__("" : : "r"(memory) : "memory");
#else
    volatile uint8_t *byte = (volatile uint8_t *)memory;
    while (length--) *byte++ = 0;
#endif
}
