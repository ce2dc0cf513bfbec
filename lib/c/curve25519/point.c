
/* Points of the Edwards curve: X, Y, Z, T, each a number. Tables have y + x, y - x and 2 d x y, as
   words of the number below p. */
typedef usuba_word usuba_point[4 * USUBA_FE_WORDS];
typedef usuba_word usuba_entry[3 * USUBA_WORDS];

/* The base point goes through a comb of USUBA_TEETH teeth, USUBA_SPACING apart, which are cut into
   USUBA_BLOCKS tables; for public numbers there are odd multiples of it, below
   2^(USUBA_BASE_WINDOW - 1), and of another point below 2^(USUBA_WINDOW - 1). */
#define USUBA_TEETH 4
#define USUBA_BLOCKS (256 / USUBA_TEETH / USUBA_SPACING)
#if USUBA_WORD_BITS == 64 && !defined(USUBA_SMALL)
#define USUBA_SPACING @FAST_SPACING@
#define USUBA_BASE_WINDOW @FAST_WINDOW@
#define USUBA_WINDOW 5
#elif !defined(USUBA_SMALL)
#define USUBA_SPACING @SHORT_SPACING@
#define USUBA_BASE_WINDOW @SHORT_WINDOW@
#if defined(__OPTIMIZE_SIZE__)
#define USUBA_WINDOW 2
#else
#define USUBA_WINDOW 3
#endif
#else
#define USUBA_SPACING @SMALL_SPACING@
#define USUBA_BASE_WINDOW @SMALL_WINDOW@
#define USUBA_WINDOW 2
#endif

/* Two halves of 64 bits as words. */
#if USUBA_WORD_BITS == 64
#define USUBA_PAIR(high, low) 0x##high##low##ULL
#else
#define USUBA_PAIR(high, low) 0x##low##U, 0x##high##U
#endif

/* In table j, entry m is the sum of the multiples 2^(spacing (4 j + k)) of the base point for the
   four teeth k: of the first three it is subtracted where bit k of m is 0. */
static const usuba_entry usuba_comb[USUBA_BLOCKS][1 << (USUBA_TEETH - 1)] = {
#if USUBA_SPACING == @FAST_SPACING@
@FAST_COMB@#elif USUBA_SPACING == @SHORT_SPACING@
@SHORT_COMB@#else
@SMALL_COMB@#endif
};

/* Entry i is 2 i + 1 times the base point. */
static const usuba_entry usuba_odd[1 << (USUBA_BASE_WINDOW - 2)] = {
@SMALL_ODD@#if USUBA_BASE_WINDOW > @SMALL_WINDOW@
@SHORT_ODD@#endif
#if USUBA_BASE_WINDOW > @SHORT_WINDOW@
@FAST_ODD@#endif
};

/* (1 + L) / 2, the half of one modulo the order L, and (2^256 - 1) / 2 modulo L. */
static const usuba_word usuba_half[USUBA_WORDS] = {@HALF@};
static const usuba_word usuba_offset[USUBA_WORDS] = {@OFFSET@};

static unsigned usuba_bit(const usuba_word *words, unsigned i)
{
    return (unsigned)(words[i / USUBA_WORD_BITS] >> (i % USUBA_WORD_BITS)) & 1;
}

static void usuba_entry_load(const usuba_word *words, usuba_word *entry)
{
    int i;
    for (i = 0; i < 3; i++) usuba_fe_unpack(words + i * USUBA_WORDS, entry + i * USUBA_FE_WORDS);
}

/* The neutral point. */
static void usuba_point_zero(usuba_word *r)
{
    memset(r, 0, sizeof(usuba_point));
    r[USUBA_FE_WORDS] = r[2 * USUBA_FE_WORDS] = 1;
}

#if USUBA_WORD_BITS == 32 && defined(USUBA_SMALL)
/* Kernels leave the factors of a point apart from it, so it stays where it is. */
#define USUBA_FACTORS
typedef usuba_word usuba_factors[4 * USUBA_FE_WORDS];

/* The point of its factors; T only if somebody reads it next. */
static void usuba_point_complete(const usuba_word *e, int whole, usuba_word *p)
{
    const usuba_word *f = e + USUBA_FE_WORDS, *g = f + USUBA_FE_WORDS, *h = g + USUBA_FE_WORDS;
    usuba_ge_complete(e, f, g, h, p);
    if (whole) usuba_fe_mul(e, h, p + 3 * USUBA_FE_WORDS);
}

static void usuba_point_double(usuba_word *p, int whole)
{
    usuba_factors e;
    usuba_ge_double_factors(p, e, e + USUBA_FE_WORDS, e + 2 * USUBA_FE_WORDS,
                            e + 3 * USUBA_FE_WORDS);
    usuba_point_complete(e, whole, p);
}

/* Adds the summand in `e`, or what is negative to it; the factors take its place. */
static void usuba_point_add(usuba_word *p, usuba_word *e, usuba_word negative, int whole)
{
    usuba_word turned[3 * USUBA_FE_WORDS];
    usuba_ge_negate_affine(&negative, e, turned);
    usuba_ge_sum_factors(p, turned, e, e + USUBA_FE_WORDS, e + 2 * USUBA_FE_WORDS,
                         e + 3 * USUBA_FE_WORDS);
    usuba_point_complete(e, whole, p);
}
#endif

/* What depends on a secret number, in one place that is wiped. */
typedef struct {
    usuba_word digits[USUBA_WORDS];
#if defined(USUBA_FACTORS)
    usuba_factors factors;
#else
    usuba_point point;
#endif
    union {
        usuba_entry words;
#if !defined(USUBA_FACTORS)
        usuba_word limbs[3 * USUBA_FE_WORDS];
#endif
    } summand;
} usuba_comb_state;

/* r = the base point times a number of 32 bytes as words, in a time that does not depend on it.

   With digits of 1 and -1 in place of bits no sum is empty: bits b of (k + 2^256 - 1) / 2 modulo the
   order stand for 2 b - 1. All entries of a table are read to take one of them. */
static void usuba_point_base(const usuba_word *k, usuba_word *r)
{
    usuba_comb_state s;
#if !defined(USUBA_FACTORS)
    usuba_word *p = r, *q = s.point, *swap;
#endif
    unsigned i, j, tooth, m;
    size_t at;
    usuba_sc_muladd(k, usuba_half, usuba_offset, s.digits);
    usuba_point_zero(r);
    for (i = USUBA_SPACING; i--;) {
#if defined(USUBA_FACTORS)
        usuba_point_double(r, 1);
#else
        if (i + 1 < USUBA_SPACING) {
            usuba_ge_double(p, q);
            swap = p, p = q, q = swap;
        }
#endif
        for (j = 0; j < USUBA_BLOCKS; j++) {
            usuba_word index = 0, negative;
            for (tooth = 0; tooth < USUBA_TEETH; tooth++) {
                const unsigned place = i + USUBA_SPACING * (USUBA_TEETH * j + tooth);
                index |= (usuba_word)usuba_bit(s.digits, place) << tooth;
            }
            negative = 1 ^ (index >> (USUBA_TEETH - 1));
            index = (index ^ (usuba_word)(0 - negative)) & ((1 << (USUBA_TEETH - 1)) - 1);
            memset(s.summand.words, 0, sizeof s.summand.words);
            for (m = 0; m < 1 << (USUBA_TEETH - 1); m++) {
                const usuba_word other = index ^ m;
                const usuba_word mask = (usuba_word)((other - 1) >> (USUBA_WORD_BITS - 1));
                const usuba_word *from = usuba_comb[j][m];
                for (at = 0; at < 3 * USUBA_WORDS; at++)
                    s.summand.words[at] |= from[at] & (usuba_word)(0 - mask);
            }
#if defined(USUBA_FACTORS)
            usuba_entry_load(s.summand.words, s.factors);
            usuba_point_add(r, s.factors, negative, USUBA_BLOCKS > 1);
#else
            /* The point that the sum goes to has room for the entry before. */
            usuba_entry_load(s.summand.words, q);
            usuba_ge_negate_affine(&negative, q, s.summand.limbs);
            usuba_ge_add_affine(p, s.summand.limbs, q);
            swap = p, p = q, q = swap;
#endif
        }
    }
#if !defined(USUBA_FACTORS)
    if (p != r) memcpy(r, p, sizeof(usuba_point));
#endif
    @COMMON@wipe(&s, sizeof s);
}

/* y with the lowest bit of x in bit 255; of a point without T, too. */
static void usuba_point_store(const usuba_word *p, uint8_t *bytes)
{
    usuba_fe inverse, x, y;
    usuba_word words[USUBA_WORDS];
    usuba_fe_invert(p + 2 * USUBA_FE_WORDS, inverse);
    usuba_fe_mul(p, inverse, x);
    usuba_fe_mul(p + USUBA_FE_WORDS, inverse, y);
    usuba_fe_words(x, words);
    usuba_fe_store(y, bytes);
    bytes[31] ^= (uint8_t)((words[0] & 1) << 7);
}

/* 1 if bytes are the one form of a point, which p becomes, else 0. The root of u/v is
   u (u v)^((p-5)/8) or that times a root of -1, if there is one: with w = (u v)^((p-1)/4) the square
   of the former times v is u w, and w is 1 or -1 where u/v is a square. */
#if defined(USUBA_FACTORS)
/* Without T, and in a time that depends on the point, which is public. */
static USUBA_APART int usuba_point_load(usuba_word *p, const uint8_t *bytes)
{
    usuba_word words[USUBA_WORDS], least[USUBA_WORDS], odd, *y = p + USUBA_FE_WORDS;
    usuba_word q[3 * USUBA_FE_WORDS], turned[3 * USUBA_FE_WORDS];
    usuba_word *u = q, *v = u + USUBA_FE_WORDS, *x = v + USUBA_FE_WORDS;
    usuba_fe s, t;
    usuba_words_load(words, bytes, USUBA_WORDS);
    odd = words[USUBA_WORDS - 1] >> (USUBA_WORD_BITS - 1);
    words[USUBA_WORDS - 1] ^= odd << (USUBA_WORD_BITS - 1);
    usuba_point_zero(p);
    usuba_fe_unpack(words, y);
    usuba_fe_words(y, least);
    if (@COMMON@compare(words, least, sizeof words)) return 0;
    usuba_ge_fraction(y, u, v);
    usuba_fe_mul(u, v, s);
    usuba_fe_power58(s, t);
    usuba_fe_mul(u, t, x);
    usuba_fe_square(x, s);
    usuba_fe_mul(s, v, t);
    usuba_fe_sub(t, u, s);
    if (!usuba_fe_is_zero(s)) {
        usuba_fe_add(t, u, s);
        if (!usuba_fe_is_zero(s)) return 0;
        usuba_ge_turn(x, s);
        memcpy(x, s, sizeof s);
    }
    usuba_fe_words(x, words);
    if (odd && usuba_words_are_zero(words, USUBA_WORDS)) return 0;
    odd ^= words[0] & 1;
    /* The last of three numbers becomes negative. */
    usuba_ge_negate_affine(&odd, q, turned);
    usuba_fe_carry(turned + 2 * USUBA_FE_WORDS, p);
    return 1;
}
#else
static USUBA_APART int usuba_point_load(usuba_word *p, const uint8_t *bytes)
{
    usuba_word words[USUBA_WORDS], least[USUBA_WORDS], odd, good, different = 0;
    usuba_fe y, u, v, s, t;
    size_t i;
    usuba_words_load(words, bytes, USUBA_WORDS);
    odd = words[USUBA_WORDS - 1] >> (USUBA_WORD_BITS - 1);
    words[USUBA_WORDS - 1] ^= odd << (USUBA_WORD_BITS - 1);
    usuba_fe_unpack(words, y);
    usuba_fe_words(y, least);
    for (i = 0; i < USUBA_WORDS; i++) different |= words[i] ^ least[i];
    usuba_ge_fraction(y, u, v);
    usuba_fe_mul(u, v, s);
    usuba_fe_power58(s, t);
    usuba_fe_mul(u, t, s);
    usuba_ge_lift(y, u, v, s, &odd, p, &good);
    return good && !different;
}
#endif

/* Whether eight times a point is neutral. */
static USUBA_APART int usuba_point_is_small(const usuba_word *p)
{
    usuba_word q[3 * USUBA_FE_WORDS];
#if defined(USUBA_FACTORS)
    int i;
    memcpy(q, p, sizeof q);
    for (i = 0; i < 3; i++) usuba_point_double(q, 0);
#else
    usuba_word r[3 * USUBA_FE_WORDS];
    usuba_ge_double_xyz(p, q);
    usuba_ge_double_xyz(q, r);
    usuba_ge_double_xyz(r, q);
#endif
    /* Eight times a point is in the group of prime order, where only that has x = 0. */
    return usuba_fe_is_zero(q) != 0;
}

/* Odd digits of a public number, from its highest bit on: bits b stand for b - 2 b + b, so a window
   from bit i on down is -b[i], the bits below, and the first bit behind it once more. */
typedef struct {
    int next, at, digit;
} usuba_window;

static int usuba_window_digit(usuba_window *window, const usuba_word *words, int i, int width)
{
    if (i == window->next) {
        const int bit = (int)usuba_bit(words, (unsigned)i);
        if (bit == (i ? (int)usuba_bit(words, (unsigned)i - 1) : 0)) {
            window->next--;
        } else {
            const int last = i + 1 < width ? 0 : i + 1 - width;
            int value = -bit, j;
            for (j = i - 1; j >= last; j--)
                value = 2 * value + (int)usuba_bit(words, (unsigned)j);
            if (last) value += (int)usuba_bit(words, (unsigned)last - 1);
            window->next = last - 1;
            window->at = last;
            for (; !(value & 1); value /= 2) window->at++;
            window->digit = value;
        }
    }
    return i == window->at ? window->digit : 0;
}

/* r = b times the base point minus a times r, in a time that depends on the numbers, which are below
   the order. */
#if defined(USUBA_FACTORS)
static USUBA_APART void usuba_point_both(const usuba_word *b, const usuba_word *a, usuba_word *r)
{
    usuba_word own[3 * USUBA_FE_WORDS];
    usuba_factors e;
    usuba_window of_b = {253, -1, 0}, of_a = {253, -1, 0};
    int i;
    /* Z is 1, so the point is a summand. */
    usuba_ge_entry(r, r + USUBA_FE_WORDS, own);
    usuba_point_zero(r);
    for (i = 253; i >= 0; i--) {
        const int of_base = usuba_window_digit(&of_b, b, i, USUBA_BASE_WINDOW);
        const int of_point = usuba_window_digit(&of_a, a, i, USUBA_WINDOW);
        usuba_point_double(r, of_base || of_point);
        if (of_point) {
            memcpy(e, own, sizeof own);
            usuba_point_add(r, e, of_point > 0, of_base != 0);
        }
        if (of_base) {
            usuba_entry_load(usuba_odd[(of_base < 0 ? -of_base : of_base) / 2], e);
            usuba_point_add(r, e, of_base < 0, 0);
        }
    }
}
#else
static USUBA_APART void usuba_point_both(const usuba_word *b, const usuba_word *a, usuba_word *r)
{
    usuba_point table[1 << (USUBA_WINDOW - 2)], other;
    usuba_word entry[3 * USUBA_FE_WORDS];
    usuba_word *s = other, *t = r, *swap;
    usuba_window of_b = {253, -1, 0}, of_a = {253, -1, 0};
    int i, started = 0;
    size_t at;
    usuba_ge_cache(r, table[0]);
    usuba_ge_double(r, s);
    for (at = 1; at < sizeof table / sizeof table[0]; at++) {
        usuba_ge_add_cached(s, table[at - 1], t);
        usuba_ge_cache(t, table[at]);
    }
    usuba_point_zero(s);
    for (i = 253; i >= 0; i--) {
        const int of_base = usuba_window_digit(&of_b, b, i, USUBA_BASE_WINDOW);
        const int of_point = usuba_window_digit(&of_a, a, i, USUBA_WINDOW);
        if (started) {
            if (of_base || of_point) usuba_ge_double(s, t);
            else usuba_ge_double_xyz(s, t);
            swap = s, s = t, t = swap;
        }
        if (of_point) {
            if (of_point < 0) usuba_ge_add_cached(s, table[-of_point / 2], t);
            else usuba_ge_sub_cached(s, table[of_point / 2], t);
            swap = s, s = t, t = swap;
            started = 1;
        }
        if (of_base) {
            usuba_entry_load(usuba_odd[(of_base < 0 ? -of_base : of_base) / 2], entry);
            if (of_base < 0) usuba_ge_sub_affine(s, entry, t);
            else usuba_ge_add_affine(s, entry, t);
            swap = s, s = t, t = swap;
            started = 1;
        }
    }
    if (s != r) memcpy(r, s, sizeof(usuba_point));
}
#endif
