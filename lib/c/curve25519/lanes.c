
/* Numbers in lanes: each register has one limb of as many numbers as it has lanes. */
#define USUBA_LANES (@BYTES@ / 8)
/* Words of 32 bytes. */
#define USUBA_LANE_WORDS (USUBA_FL_LIMBS == 5 ? 4 : 8)

/* r = a^(2^count), by at least one square. */
static void usuba_fl_squares_@TARGET@(const @REGISTER@ *a, unsigned count, @REGISTER@ *r)
{
    @REGISTER@ s[USUBA_FL_LIMBS];
    if (count & 1) {
        usuba_fl_square_@TARGET@(a, r);
    } else {
        usuba_fl_square_@TARGET@(a, s);
        usuba_fl_square_@TARGET@(s, r);
        count--;
    }
    for (; count > 1; count -= 2) {
        usuba_fl_square_@TARGET@(r, s);
        usuba_fl_square_@TARGET@(s, r);
    }
}

/* high = a^(2^250 - 1) and low = a^11, by 249 squares and 9 products. */
static void usuba_fl_powers_@TARGET@(const @REGISTER@ *a, @REGISTER@ *high, @REGISTER@ *low)
{
    @REGISTER@ s[USUBA_FL_LIMBS], t[USUBA_FL_LIMBS], u[USUBA_FL_LIMBS];
    usuba_fl_square_@TARGET@(a, s);
    usuba_fl_squares_@TARGET@(s, 2, t);
    usuba_fl_mul_@TARGET@(t, a, u);
    usuba_fl_mul_@TARGET@(s, u, low);
    usuba_fl_square_@TARGET@(low, s);
    usuba_fl_mul_@TARGET@(s, u, t);
    usuba_fl_squares_@TARGET@(t, 5, s);
    usuba_fl_mul_@TARGET@(s, t, u);
    usuba_fl_squares_@TARGET@(u, 10, s);
    usuba_fl_mul_@TARGET@(s, u, t);
    usuba_fl_squares_@TARGET@(t, 20, s);
    usuba_fl_mul_@TARGET@(s, t, high);
    usuba_fl_squares_@TARGET@(high, 10, s);
    usuba_fl_mul_@TARGET@(s, u, t);
    usuba_fl_squares_@TARGET@(t, 50, s);
    usuba_fl_mul_@TARGET@(s, t, u);
    usuba_fl_squares_@TARGET@(u, 100, s);
    usuba_fl_mul_@TARGET@(s, u, high);
    usuba_fl_squares_@TARGET@(high, 50, s);
    usuba_fl_mul_@TARGET@(s, t, high);
}

/* r = a^(p-2), the inverse of what is not zero. */
static void usuba_fl_invert_@TARGET@(const @REGISTER@ *a, @REGISTER@ *r)
{
    @REGISTER@ high[USUBA_FL_LIMBS], low[USUBA_FL_LIMBS], s[USUBA_FL_LIMBS];
    usuba_fl_powers_@TARGET@(a, high, low);
    usuba_fl_squares_@TARGET@(high, 5, s);
    usuba_fl_mul_@TARGET@(s, low, r);
}

/* Registers with word i of each of the strings of 32 bytes, and back; `image` is memory for it. */
static void usuba_fl_load_@TARGET@(@REGISTER@ *to, const uint8_t *bytes, size_t count, uint64_t *image)
{
    const size_t each = 32 / count;
    size_t lane, i;
    memset(image, 0, 8 * count * USUBA_LANES);
    for (lane = 0; lane < USUBA_LANES; lane++)
        for (i = 0; i < count; i++)
            memcpy(image + USUBA_LANES * i + lane, bytes + 32 * lane + each * i, each);
    for (i = 0; i < count; i++) to[i] = USUBA_LOAD((const uint8_t *)(image + USUBA_LANES * i));
}

static void usuba_fl_store_@TARGET@(uint8_t *bytes, const @REGISTER@ *from, uint64_t *image)
{
    const size_t each = 32 / USUBA_LANE_WORDS;
    size_t lane, i;
    for (i = 0; i < USUBA_LANE_WORDS; i++)
        USUBA_STORE((uint8_t *)(image + USUBA_LANES * i), from[i]);
    for (lane = 0; lane < USUBA_LANES; lane++)
        for (i = 0; i < USUBA_LANE_WORDS; i++)
            memcpy(bytes + 32 * lane + each * i, image + USUBA_LANES * i + lane, each);
}

/* X25519 of as many scalars, which are clamped, and points as there are lanes: one step of all
   ladders at a time. */
@LOCAL@void usuba_x25519_lanes_@TARGET@(uint8_t *out, const uint8_t *scalars, const uint8_t *points)
{
    struct {
        uint64_t image[8 * USUBA_LANES];
        @REGISTER@ key[4], words[8], now[4][USUBA_FL_LIMBS], next[4][USUBA_FL_LIMBS], bits, last, swap;
        @REGISTER@ x[USUBA_FL_LIMBS];
    } s;
    size_t i;
    memset(&s, 0, sizeof s);
    usuba_fl_load_@TARGET@(s.key, scalars, 4, s.image);
    usuba_fl_load_@TARGET@(s.words, points, USUBA_LANE_WORDS, s.image);
    usuba_fl_unpack_@TARGET@(s.words, s.x);
    s.now[0][0] = s.now[3][0] = USUBA_SPLAT(1);
    memcpy(s.now[2], s.x, sizeof s.x);
    /* Bit 255 is none of the scalar. */
    s.bits = USUBA_SHL(s.key[3], 1);
    for (i = 255; i--;) {
        @REGISTER@ bit;
        if (i % 64 == 63) s.bits = s.key[i / 64];
        bit = USUBA_SHR(s.bits, 63);
        s.bits = USUBA_SHL(s.bits, 1);
        s.swap = USUBA_XOR(s.last, bit);
        s.last = bit;
        usuba_fl_cswap_@TARGET@(&s.swap, s.now[0], s.now[1], s.now[2], s.now[3], s.next[0],
            s.next[1], s.next[2], s.next[3]);
        usuba_fl_ladder_step_@TARGET@(s.x, s.next[0], s.next[1], s.next[2], s.next[3], s.now[0],
            s.now[1], s.now[2], s.now[3]);
    }
    /* The lowest bit is zero, so nothing is to be swapped back. */
    usuba_fl_invert_@TARGET@(s.now[1], s.next[0]);
    usuba_fl_mul_@TARGET@(s.now[0], s.next[0], s.next[1]);
    usuba_fl_freeze_@TARGET@(s.next[1], s.next[0]);
    usuba_fl_pack_@TARGET@(s.next[0], s.words);
    usuba_fl_store_@TARGET@(out, s.words, s.image);
    @COMMON@wipe(&s, sizeof s);
}
