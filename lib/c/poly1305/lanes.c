
#define USUBA_POLY_LANE (@BYTES@ / 8)

/* From so many units on, two at a time are worth the power of the key that they need. */
#define USUBA_POLY_TWOS 4

typedef struct {
    @REGISTER@ h[5], next[5], l[5], k[5], five_l[4], five_k[4], wide[3];
    uint64_t image[5 * USUBA_POLY_LANE];
} usuba_poly_registers_@TARGET@;

/* Takes the next block of each lane into h; the sum with it becomes `next`. Lanes have the blocks
   in the order in which halves of registers are joined. */
static void usuba_poly_one_@TARGET@(const usuba_poly_registers_@TARGET@ *s, const @REGISTER@ *h,
    const uint8_t *in, @REGISTER@ *next)
{
    const @REGISTER@ a = USUBA_LOAD(in), b = USUBA_LOAD(in + @BYTES@);
    @REGISTER@ w[2];
    w[0] = USUBA_LOW64(a, b);
    w[1] = USUBA_HIGH64(a, b);
    usuba_poly_single_@TARGET@(h, w, s->l, s->five_l, next);
}

/* And the next two. */
static void usuba_poly_two_@TARGET@(const usuba_poly_registers_@TARGET@ *s, const @REGISTER@ *h,
    const uint8_t *in, @REGISTER@ *next)
{
    const @REGISTER@ a = USUBA_LOAD(in), b = USUBA_LOAD(in + @BYTES@);
    const @REGISTER@ c = USUBA_LOAD(in + 2 * @BYTES@), d = USUBA_LOAD(in + 3 * @BYTES@);
    @REGISTER@ w[2], v[2];
    w[0] = USUBA_LOW64(a, b);
    w[1] = USUBA_HIGH64(a, b);
    v[0] = USUBA_LOW64(c, d);
    v[1] = USUBA_HIGH64(c, d);
    usuba_poly_double_@TARGET@(h, w, v, s->k, s->l, s->five_k, s->five_l, next);
}

/* Takes `units` units of a block for each lane into the sum. Number n - 1 of the powers is the
   multiplier to the n. */
@LOCAL@void usuba_poly1305_lanes_@TARGET@(uint64_t *sum, const uint64_t *powers, const uint8_t *in,
    size_t units)
{
    usuba_poly_registers_@TARGET@ s;
    const uint64_t *top = powers + 3 * (USUBA_POLY_LANE - 1);
    @REGISTER@ *h = s.h, *next = s.next, *was;
    size_t i, lane;
    for (i = 0; i < 3; i++) s.wide[i] = USUBA_BYTES(top[i], top[i]);
    usuba_poly_narrow_@TARGET@(s.wide, s.l);
    usuba_poly_five_@TARGET@(s.l, s.five_l);
    /* The sum goes to the lane of the first block. */
    for (i = 0; i < 3; i++) {
        for (lane = 1; lane < USUBA_POLY_LANE; lane++) s.image[USUBA_POLY_LANE * i + lane] = 0;
        s.image[USUBA_POLY_LANE * i] = sum[i];
        s.wide[i] = USUBA_LOAD((const uint8_t *)(s.image + USUBA_POLY_LANE * i));
    }
    usuba_poly_narrow_@TARGET@(s.wide, s.h);
    /* The last ones count by their places: the later a block, the lower its power. */
    for (lane = 0; lane < USUBA_POLY_LANE; lane++) {
        const uint64_t *from = top - 3 * (lane / 2 + lane % 2 * (USUBA_POLY_LANE / 2));
        for (i = 0; i < 3; i++) s.image[USUBA_POLY_LANE * i + lane] = from[i];
    }
    if (units > USUBA_POLY_TWOS) {
        usuba_poly_times_@TARGET@(s.l, s.l, s.five_l, s.k);
        usuba_poly_five_@TARGET@(s.k, s.five_k);
        for (; units > 2; units -= 2, in += 4 * @BYTES@) {
            usuba_poly_two_@TARGET@(&s, h, in, next);
            was = h, h = next, next = was;
        }
    }
    for (; units > 1; units--, in += 2 * @BYTES@) {
        usuba_poly_one_@TARGET@(&s, h, in, next);
        was = h, h = next, next = was;
    }
    for (i = 0; i < 3; i++)
        s.wide[i] = USUBA_LOAD((const uint8_t *)(s.image + USUBA_POLY_LANE * i));
    usuba_poly_narrow_@TARGET@(s.wide, s.l);
    usuba_poly_five_@TARGET@(s.l, s.five_l);
    usuba_poly_one_@TARGET@(&s, h, in, next);
    for (i = 0; i < 5; i++) USUBA_STORE((uint8_t *)(s.image + USUBA_POLY_LANE * i), next[i]);
    usuba_poly_sum@LANES@_@TARGET@(s.image, sum);
    usuba_erase(&s, sizeof s);
}
