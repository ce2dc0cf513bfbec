
/* Arithmetic is on words of 64 bits where the compiler multiplies them, else on words of 32. With
   USUBA_SMALL kernels are rolled loops and tables are short, for processors with little memory. */
#if !defined(USUBA_WORD_BITS)
#if defined(__SIZEOF_INT128__)
#define USUBA_WORD_BITS 64
#else
#define USUBA_WORD_BITS 32
#endif
#endif
#if USUBA_WORD_BITS == 64
typedef uint64_t usuba_word;
#else
typedef uint32_t usuba_word;
#endif
/* Words of 32 bytes. */
#define USUBA_WORDS (256 / USUBA_WORD_BITS)
