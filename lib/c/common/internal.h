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

/* The linkage of functions that other files of a library call. */
#if !defined(USUBA_INTERNAL)
#define USUBA_INTERNAL static
#endif

#if defined(__GNUC__)
#define USUBA_APART __attribute__((noinline, unused))
#define USUBA_SPARE __attribute__((unused))
/* Compilers remove no call of a function with this statement. */
#define USUBA_KEEP __asm__ __volatile__("")
/* Compilers know nothing about a counter behind it, so that it stays the counter of its loop. */
#define USUBA_COUNT(number) __asm__("" : "+r"(number))
#else
#define USUBA_APART
#define USUBA_SPARE
#define USUBA_KEEP ((void)0)
#define USUBA_COUNT(number) ((void)0)
#endif

/* Machines that load and store words at multiples of their size only: elsewhere a word is made of
   bytes, which takes longer than the bytes alone. */
#if defined(__riscv) && !defined(__riscv_misaligned_fast)
#define USUBA_STRICT_ALIGNMENT
#elif defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
#define USUBA_STRICT_ALIGNMENT
#endif

/* Functions with a proof of their own, which proofs of their callers use: compilers call them as C
   says, and have no other versions of them. */
#define USUBA_LINKED
#if defined(__has_attribute)
#if __has_attribute(noipa)
#undef USUBA_LINKED
#define USUBA_LINKED __attribute__((noipa))
#elif __has_attribute(used)
#undef USUBA_LINKED
#define USUBA_LINKED __attribute__((noinline, used))
#endif
#endif

/* Functions of other files that a shared library does not export. */
#if defined(__GNUC__)
#define USUBA_HIDDEN __attribute__((visibility("hidden")))
#else
#define USUBA_HIDDEN
#endif

/* Kernels are in a file in assembly language, which is for 64-bit pointers. */
#if defined(USUBA_ASSEMBLY) && defined(USUBA_X86_64) && defined(__LP64__)
#define USUBA_KERNELS
#endif

/* Functions with this attribute clear the caller-saved registers, where compilers support it. */
#define USUBA_CLEARS
#if defined(__has_attribute) && (defined(USUBA_X86_64) || defined(USUBA_AARCH64))
#if __has_attribute(zero_call_used_regs)
#undef USUBA_CLEARS
#define USUBA_CLEARS __attribute__((zero_call_used_regs("all")))
#endif
#endif

/* Inlined into all callers, which would keep a status on the stack around a call. */
#if defined(__GNUC__) && defined(USUBA_X86_64)
#define USUBA_WITHIN inline __attribute__((always_inline))
#else
#define USUBA_WITHIN inline
#endif

#if defined(__GNUC__)
/* Zeros, which a compiler keeps if it must assume that they are read. */
static USUBA_WITHIN void usuba_zeros(void *memory, size_t length)
{
#if defined(USUBA_X86_64) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) \
    && !defined(__clang__)
    /* gcc would use an instruction with a slow start; the C library does not. */
    if (!__builtin_constant_p(length) || length > 96) __asm__("" : "+r"(length));
#endif
    memset(memory, 0, length);
}
#endif

/* Zeroization, inlined into its callers. */
static USUBA_WITHIN void usuba_erase(void *memory, size_t length)
{
#if defined(__GNUC__)
    usuba_zeros(memory, length);
    __asm__ __volatile__("" : : "r"(memory) : "memory");
#else
    volatile uint8_t *byte = (volatile uint8_t *)memory;
    while (length--) *byte++ = 0;
#endif
}

/* Copies a secret. The C library may leave it in registers that only some processors have. */
static inline USUBA_SPARE void usuba_copy(void *to, const void *from, size_t length)
{
#if defined(USUBA_X86_64)
    __asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
#else
    memcpy(to, from, length);
#endif
}

/* The XOR of eight bytes at two places. */
static inline USUBA_SPARE uint64_t usuba_xored(const uint8_t *one, const uint8_t *other)
{
    uint64_t a, b;
    memcpy(&a, one, 8);
    memcpy(&b, other, 8);
    return a ^ b;
}

/* Clears the caller-saved registers, so that a function of the C library keeps no secret in its frame. */
static USUBA_APART USUBA_CLEARS void usuba_clear(void)
{
#if defined(USUBA_AARCH64)
    /* Compilers leave the flags, and the upper halves of callee-saved registers, which callers save. */
    __asm__ __volatile__("cmp xzr, xzr" : : : "cc");
#if defined(__ARM_NEON)
    __asm__ __volatile__("mov v8.d[1], xzr\n\tmov v9.d[1], xzr\n\tmov v10.d[1], xzr\n\t"
        "mov v11.d[1], xzr\n\tmov v12.d[1], xzr\n\tmov v13.d[1], xzr\n\t"
        "mov v14.d[1], xzr\n\tmov v15.d[1], xzr");
#endif
#else
    USUBA_KEEP;
#endif
}

/* Kernels and their callers leave their variables on the stack below the caller. Behind calls with
   secrets, public functions overwrite the stack below their own frame, and clear registers. They do
   not with other compilers, or if USUBA_STACK is 0. With the pointer of the frame on the stack, and no
   register beside it, alignment leaves no gap above the room. */
#if defined(__GNUC__) && (!defined(USUBA_STACK) || USUBA_STACK)
#define USUBA_FRAME __asm__ __volatile__("" : : "r"(__builtin_frame_address(0)))
#define USUBA_READ(memory) __asm__ __volatile__("" : : "m"(memory) : "memory")
#define USUBA_FILL(room) usuba_zeros(room, sizeof room); USUBA_READ(room)
#define USUBA_OVERWRITE(length) uint8_t room[length]; USUBA_FRAME; usuba_clear(); USUBA_FILL(room)
#else
#define USUBA_OVERWRITE(length) ((void)0)
#endif

/* As much as kernels on general registers and their callers take, by gcc and clang from -O1 on. */
static USUBA_APART void usuba_wipe_calls(void)
{
    USUBA_OVERWRITE(160 * sizeof(size_t));
}
