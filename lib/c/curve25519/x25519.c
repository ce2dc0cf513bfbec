@WIDE@
/* What of a scalar counts: a multiple of 8 from 2^254 on. */
static void usuba_clamp(uint8_t *scalar)
{
    scalar[0] &= 248;
    scalar[31] = (uint8_t)((scalar[31] & 63) | 64);
}

/* A ladder: after each step the x-coordinates of two points whose difference is the point. */
typedef struct {
    uint8_t scalar[32];
    usuba_word words[USUBA_WORDS], swap;
    usuba_fe x, now[4], next[4];
} usuba_ladder;

/* All steps: s->now[0] and s->now[1] become the x-coordinate, as a quotient, of s->words times s->x. */
static void usuba_ladder_steps(usuba_ladder *s)
{
    usuba_word last = 0;
    unsigned i;
    memset(s->now, 0, sizeof s->now);
    s->now[0][0] = s->now[3][0] = 1;
    memcpy(s->now[2], s->x, sizeof s->x);
    for (i = 255; i--;) {
        const usuba_word bit = usuba_bit(s->words, i);
        s->swap = last ^ bit;
        last = bit;
#if defined(USUBA_FACTORS)
        usuba_ge_swap_points(&s->swap, s->now[0], s->now[2], s->next[0], s->next[2]);
#else
        usuba_ge_cswap(&s->swap, s->now[0], s->now[1], s->now[2], s->now[3], s->next[0], s->next[1],
                       s->next[2], s->next[3]);
#endif
        usuba_ge_ladder_step(s->x, s->next[0], s->next[1], s->next[2], s->next[3], s->now[0],
                             s->now[1], s->now[2], s->now[3]);
    }
}

static USUBA_APART int usuba_x25519_ladder(const uint8_t *scalar, const uint8_t *point, uint8_t *out)
{
    usuba_ladder s;
    int zero;
    memcpy(s.scalar, scalar, 32);
    usuba_clamp(s.scalar);
    usuba_words_load(s.words, point, USUBA_WORDS);
    usuba_fe_unpack(s.words, s.x);
    usuba_words_load(s.words, s.scalar, USUBA_WORDS);
#if defined(USUBA_MANY)
    if (usuba_manies[usuba_chosen()].ladder)
        usuba_manies[usuba_chosen()].ladder(s.now[0], s.words, s.x);
    else
#endif
        usuba_ladder_steps(&s);
    /* The lowest bit is zero, so nothing is to be swapped back. */
    usuba_fe_invert(s.now[1], s.next[0]);
    usuba_fe_mul(s.now[0], s.next[0], s.next[1]);
    usuba_fe_words(s.next[1], s.words);
    zero = usuba_words_are_zero(s.words, USUBA_WORDS) != 0;
    /* This says something about the point, and nothing about the scalar. */
    USUBA_PUBLIC(&zero, sizeof zero);
    if (!zero) usuba_words_store(out, s.words, USUBA_WORDS);
    @COMMON@wipe(&s, sizeof s);
    return zero ? USUBA_ERROR_POINT : USUBA_OK;
}

static USUBA_APART void usuba_x25519_comb(const uint8_t *scalar, uint8_t *out)
{
    struct {
        uint8_t scalar[32];
        usuba_word words[USUBA_WORDS];
        usuba_point point;
    } s;
    usuba_word *x = s.point, *y = x + USUBA_FE_WORDS, *z = y + USUBA_FE_WORDS;
    usuba_word *t = z + USUBA_FE_WORDS;
    memcpy(s.scalar, scalar, 32);
    usuba_clamp(s.scalar);
    usuba_words_load(s.words, s.scalar, USUBA_WORDS);
    usuba_point_base(s.words, s.point);
    /* The same point on the Montgomery curve has x = (1 + y) / (1 - y). */
    usuba_fe_sub(z, y, x);
    usuba_fe_add(z, y, t);
    usuba_fe_invert(x, y);
    usuba_fe_mul(t, y, x);
    usuba_fe_store(x, out);
    @COMMON@wipe(&s, sizeof s);
}

int usuba_x25519(const uint8_t scalar[32], const uint8_t point[32], uint8_t out[32])
{
    int status;
    if (!scalar || !point || !out) return USUBA_ERROR_NULL;
    status = usuba_x25519_ladder(scalar, point, out);
    usuba_wipe_ladder();
    return status;
}

int usuba_x25519_base(const uint8_t scalar[32], uint8_t out[32])
{
    if (!scalar || !out) return USUBA_ERROR_NULL;
    usuba_x25519_comb(scalar, out);
    usuba_wipe_stack();
    return USUBA_OK;
}
