
/* Public functions call the function with secrets, and then overwrite USUBA_STACK bytes of the stack,
   or USUBA_STACK_LADDER for X25519. This is enough for gcc and clang from -O1 on; less is needed with
   short pointers and short code. */
#if !defined(USUBA_STACK)
#if UINTPTR_MAX > 0xffffffff
#define USUBA_STACK 3072
#define USUBA_STACK_LADDER 6144
#else
#if defined(__OPTIMIZE_SIZE__)
#define USUBA_STACK 1408
#else
#define USUBA_STACK 1440
#endif
#if defined(USUBA_SMALL)
#define USUBA_STACK_LADDER 1272
#else
#define USUBA_STACK_LADDER 1312
#endif
#endif
#elif !defined(USUBA_STACK_LADDER)
#define USUBA_STACK_LADDER USUBA_STACK
#endif
#define USUBA_WIPE_STACK(name, length) \
    static USUBA_APART void name(void) \
    { \
        USUBA_OVERWRITE(length); \
    }
USUBA_WIPE_STACK(usuba_wipe_stack, USUBA_STACK)
USUBA_WIPE_STACK(usuba_wipe_ladder, USUBA_STACK_LADDER)

/* Modulo p = 2^255 - 19, around kernels whose results do not overlap their arguments. */

/* The one form below p as words. */
static void usuba_fe_words(const usuba_word *a, usuba_word *words)
{
    usuba_fe least;
    usuba_fe_freeze(a, least);
    usuba_fe_pack(least, words);
}

static void usuba_fe_store(const usuba_word *a, uint8_t *bytes)
{
    usuba_word words[USUBA_WORDS];
    usuba_fe_words(a, words);
    usuba_words_store(bytes, words, USUBA_WORDS);
}

static usuba_word usuba_fe_is_zero(const usuba_word *a)
{
    usuba_word words[USUBA_WORDS];
    usuba_fe_words(a, words);
    return usuba_words_are_zero(words, USUBA_WORDS);
}

#if USUBA_WORD_BITS == 32
/* Powers by an addition chain. A step squares the previous number repeatedly, multiplies it by the
   number in a place, and stores the result in another place. Place 0 has the first number, place 1
   its square. */
typedef struct {
    uint8_t squares, by, to;
} usuba_fe_step;

/* By a^9, a^11 in place 3, and a^(2^n - 1) for n = 5, 10, 20, 40, 50, 100, 200 and 250; the last step
   is one of two. */
static const usuba_fe_step usuba_fe_steps[] = {
    {2, 0, 2},  {0, 1, 3},  {1, 2, 4},   {5, 4, 1},  {10, 1, 2}, {20, 2, 4},
    {10, 1, 2}, {50, 2, 1}, {100, 1, 4}, {50, 2, 1}, {5, 3, 2},  {2, 0, 2},
};
#define USUBA_FE_INVERT 10
#define USUBA_FE_POWER58 11

static void usuba_fe_power(const usuba_word *a, size_t last, usuba_word *r)
{
    usuba_fe places[5], s[2];
    const usuba_word *from = places[1];
    size_t at = 0;
    memcpy(places[0], a, sizeof places[0]);
    usuba_fe_square(a, places[1]);
    for (;;) {
        const usuba_fe_step *step = &usuba_fe_steps[at < USUBA_FE_INVERT ? at : last];
        usuba_word *to = at < USUBA_FE_INVERT ? places[step->to] : r;
        unsigned left;
        for (left = step->squares; left--; from = s[left & 1]) usuba_fe_square(from, s[left & 1]);
        usuba_fe_mul(from, places[step->by], to);
        if (to == r) return;
        from = to;
        at++;
    }
}

/* r = a^(p-2), the inverse of a nonzero number. */
static void usuba_fe_inverse(const usuba_word *a, usuba_word *r)
{
    usuba_fe_power(a, USUBA_FE_INVERT, r);
}

/* r = a^((p-5)/8), for square roots. */
static void usuba_fe_power58(const usuba_word *a, usuba_word *r)
{
    usuba_fe_power(a, USUBA_FE_POWER58, r);
}

/* x/z as words of the number below p. */
static void usuba_fe_quotient(const usuba_word *x, const usuba_word *z, usuba_word *words)
{
    usuba_fe inverse, product;
    usuba_fe_inverse(z, inverse);
    usuba_fe_mul(x, inverse, product);
    usuba_fe_words(product, words);
}
#endif
