
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

/* Words of numbers below p, three times 32 bytes, as numbers. */
static void usuba_fl_entry_@TARGET@(@REGISTER@ *words, @REGISTER@ *entry)
{
    @REGISTER@ halves[8];
    size_t i, j;
    for (i = 0; i < 3; i++, words += 4, entry += USUBA_FL_LIMBS) {
        if (USUBA_LANE_WORDS == 4) {
            usuba_fl_unpack_@TARGET@(words, entry);
            continue;
        }
        for (j = 0; j < 4; j++) {
            halves[2 * j] = USUBA_AND(words[j], USUBA_SPLAT(0xffffffff));
            halves[2 * j + 1] = USUBA_SHR(words[j], 32);
        }
        usuba_fl_unpack_@TARGET@(halves, entry);
    }
    @COMMON@wipe(halves, sizeof halves);
}

/* As usuba_point_base, for as many numbers as there are lanes, of which `digits` has those words that
   say what is added. `comb` are the tables, of which every entry is read for each digit. */
static void usuba_fl_comb_@TARGET@(const uint64_t *digits, const uint64_t *comb, unsigned spacing,
    @REGISTER@ *r)
{
    struct {
        uint64_t image[2 * USUBA_LANES];
        @REGISTER@ points[2][4 * USUBA_FL_LIMBS], entry[3 * USUBA_FL_LIMBS];
        @REGISTER@ summand[3 * USUBA_FL_LIMBS], words[12], index, negative;
    } s;
    @REGISTER@ *p = s.points[0], *q = s.points[1], *swap;
    unsigned i, j, m, tooth;
    size_t lane, at;
    memset(&s, 0, sizeof s);
    p[USUBA_FL_LIMBS] = p[2 * USUBA_FL_LIMBS] = USUBA_SPLAT(1);
    for (i = spacing; i--;) {
        if (i + 1 < spacing) {
            usuba_fl_double_@TARGET@(p, q);
            swap = p, p = q, q = swap;
        }
        for (j = 0; j < 64 / spacing; j++) {
            for (lane = 0; lane < USUBA_LANES; lane++) {
                uint64_t index = 0, negative;
                for (tooth = 0; tooth < 4; tooth++) {
                    const unsigned place = i + spacing * (4 * j + tooth);
                    index |= (digits[4 * lane + place / 64] >> place % 64 & 1) << tooth;
                }
                negative = 1 ^ (index >> 3);
                /* The index in every byte. */
                s.image[lane] = ((index ^ (0 - negative)) & 7) * 0x0101010101010101ULL;
                s.image[USUBA_LANES + lane] = negative;
            }
            s.index = USUBA_LOAD((const uint8_t *)s.image);
            s.negative = USUBA_LOAD((const uint8_t *)(s.image + USUBA_LANES));
            memset(s.words, 0, sizeof s.words);
            for (m = 0; m < 8; m++) {
                const @REGISTER@ mask = USUBA_EQUAL(s.index, USUBA_LANES8(m));
                const uint64_t *from = comb + 12 * (8 * j + m);
                for (at = 0; at < 12; at++)
                    s.words[at] = USUBA_OR(s.words[at], USUBA_AND(mask, USUBA_SPLAT(from[at])));
            }
            usuba_fl_entry_@TARGET@(s.words, s.entry);
            usuba_fl_negate_affine_@TARGET@(&s.negative, s.entry, s.summand);
            usuba_fl_add_affine_@TARGET@(p, s.summand, q);
            swap = p, p = q, q = swap;
        }
    }
    memcpy(r, p, sizeof s.points[0]);
    @COMMON@wipe(&s, sizeof s);
}

/* As usuba_point_store. */
static void usuba_fl_point_@TARGET@(uint8_t *out, const @REGISTER@ *p)
{
    struct {
        uint64_t image[8 * USUBA_LANES];
        @REGISTER@ inverse[USUBA_FL_LIMBS], x[USUBA_FL_LIMBS], y[USUBA_FL_LIMBS], words[8];
    } s;
    size_t lane;
    usuba_fl_invert_@TARGET@(p + 2 * USUBA_FL_LIMBS, s.inverse);
    usuba_fl_mul_@TARGET@(p, s.inverse, s.x);
    usuba_fl_mul_@TARGET@(p + USUBA_FL_LIMBS, s.inverse, s.y);
    usuba_fl_freeze_@TARGET@(s.y, s.inverse);
    usuba_fl_pack_@TARGET@(s.inverse, s.words);
    usuba_fl_store_@TARGET@(out, s.words, s.image);
    usuba_fl_freeze_@TARGET@(s.x, s.inverse);
    USUBA_STORE((uint8_t *)s.image, s.inverse[0]);
    for (lane = 0; lane < USUBA_LANES; lane++)
        out[32 * lane + 31] ^= (uint8_t)((s.image[lane] & 1) << 7);
    @COMMON@wipe(&s, sizeof s);
}

/* The base point times numbers of such digits: 32 bytes each. */
@LOCAL@void usuba_base_lanes_@TARGET@(uint8_t *out, const uint64_t *digits, const uint64_t *comb,
    unsigned spacing)
{
    @REGISTER@ p[4 * USUBA_FL_LIMBS];
    usuba_fl_comb_@TARGET@(digits, comb, spacing, p);
    usuba_fl_point_@TARGET@(out, p);
    @COMMON@wipe(p, sizeof p);
}

/* The public keys of X25519 of numbers of such digits: x = (1 + y) / (1 - y) of the same points on the
   Montgomery curve, 32 bytes each. */
@LOCAL@void usuba_public_lanes_@TARGET@(uint8_t *out, const uint64_t *digits, const uint64_t *comb,
    unsigned spacing)
{
    struct {
        uint64_t image[8 * USUBA_LANES];
        @REGISTER@ p[4 * USUBA_FL_LIMBS], sum[USUBA_FL_LIMBS], difference[USUBA_FL_LIMBS];
        @REGISTER@ inverse[USUBA_FL_LIMBS], words[8];
    } s;
    usuba_fl_comb_@TARGET@(digits, comb, spacing, s.p);
    usuba_fl_sub_@TARGET@(s.p + 2 * USUBA_FL_LIMBS, s.p + USUBA_FL_LIMBS, s.difference);
    usuba_fl_add_@TARGET@(s.p + 2 * USUBA_FL_LIMBS, s.p + USUBA_FL_LIMBS, s.sum);
    usuba_fl_invert_@TARGET@(s.difference, s.inverse);
    usuba_fl_mul_@TARGET@(s.sum, s.inverse, s.difference);
    usuba_fl_freeze_@TARGET@(s.difference, s.inverse);
    usuba_fl_pack_@TARGET@(s.inverse, s.words);
    usuba_fl_store_@TARGET@(out, s.words, s.image);
    @COMMON@wipe(&s, sizeof s);
}

/* `good` becomes 0 where eight times a point is neutral. */
static void usuba_fl_small_@TARGET@(const @REGISTER@ *p, uint8_t *good)
{
    @REGISTER@ q[3 * USUBA_FL_LIMBS], r[3 * USUBA_FL_LIMBS];
    uint64_t image[USUBA_LANES];
    size_t i;
    usuba_fl_double_xyz_@TARGET@(p, q);
    usuba_fl_double_xyz_@TARGET@(q, r);
    usuba_fl_double_xyz_@TARGET@(r, q);
    usuba_fl_freeze_@TARGET@(q, r);
    for (i = 1; i < USUBA_FL_LIMBS; i++) r[0] = USUBA_OR(r[0], r[i]);
    USUBA_STORE((uint8_t *)image, r[0]);
    for (i = 0; i < USUBA_LANES; i++) good[i] = (uint8_t)(good[i] & (image[i] != 0));
}

/* The points of strings of 32 bytes whose y is below p; `good` is 0 where there is none. */
static void usuba_fl_read_@TARGET@(const uint8_t *bytes, @REGISTER@ *p, uint8_t *good)
{
    @REGISTER@ y[USUBA_FL_LIMBS], u[USUBA_FL_LIMBS], v[USUBA_FL_LIMBS], cube[USUBA_FL_LIMBS];
    @REGISTER@ s[USUBA_FL_LIMBS], t[USUBA_FL_LIMBS], low[USUBA_FL_LIMBS], words[8], odd, whole;
    uint64_t image[8 * USUBA_LANES];
    size_t lane;
    usuba_fl_load_@TARGET@(words, bytes, USUBA_LANE_WORDS, image);
    odd = USUBA_SHR(words[USUBA_LANE_WORDS - 1], 256 / USUBA_LANE_WORDS - 1);
    usuba_fl_unpack_@TARGET@(words, y);
    usuba_fl_fraction_@TARGET@(y, u, v);
    /* RFC 8032, 5.1.3: u v^3 (u v^7)^((p-5)/8). */
    usuba_fl_square_@TARGET@(v, s);
    usuba_fl_mul_@TARGET@(s, v, cube);
    usuba_fl_square_@TARGET@(cube, s);
    usuba_fl_mul_@TARGET@(s, v, t);
    usuba_fl_mul_@TARGET@(t, u, s);
    usuba_fl_powers_@TARGET@(s, t, low);
    usuba_fl_squares_@TARGET@(t, 2, low);
    usuba_fl_mul_@TARGET@(low, s, t);
    usuba_fl_mul_@TARGET@(cube, u, s);
    usuba_fl_mul_@TARGET@(s, t, cube);
    usuba_fl_lift_@TARGET@(y, u, v, cube, &odd, p, &whole);
    USUBA_STORE((uint8_t *)image, whole);
    for (lane = 0; lane < USUBA_LANES; lane++) good[lane] = (uint8_t)image[lane];
}

/* The multiple of the base point with such digits minus a multiple of the point `keys`: 32 bytes for
   each lane. Row i of `windows` has for each lane digit i, from -8 to 7, of the number in base 16.
   All of this is public. `good` is 0 where the key is no point, or one of both has a small order. */
@LOCAL@void usuba_both_lanes_@TARGET@(uint8_t *out, uint8_t *good, const uint8_t *keys,
    const int8_t *windows, const uint64_t *digits, const uint64_t *comb, unsigned spacing)
{
    @REGISTER@ table[9][4 * USUBA_FL_LIMBS], points[2][4 * USUBA_FL_LIMBS];
    @REGISTER@ entry[4 * USUBA_FL_LIMBS], three[3 * USUBA_FL_LIMBS], index, negative;
    @REGISTER@ *p = points[0], *q = points[1], *swap;
    uint64_t image[2 * USUBA_LANES];
    size_t lane, i, at, m, turn;
    usuba_fl_read_@TARGET@(keys, p, good);
    usuba_fl_small_@TARGET@(p, good);
    /* Entry 0 is the neutral point. */
    memset(table, 0, sizeof table);
    table[0][0] = table[0][USUBA_FL_LIMBS] = USUBA_SPLAT(1);
    table[0][2 * USUBA_FL_LIMBS] = USUBA_SPLAT(2);
    for (m = 1; m < 9; m++) {
        usuba_fl_cache_@TARGET@(p, entry);
        usuba_fl_carry_@TARGET@(entry, table[m]);
        usuba_fl_carry_@TARGET@(entry + USUBA_FL_LIMBS, table[m] + USUBA_FL_LIMBS);
        memcpy(table[m] + 2 * USUBA_FL_LIMBS, entry + 2 * USUBA_FL_LIMBS, sizeof entry / 2);
        usuba_fl_add_cached_@TARGET@(p, table[1], q);
        swap = p, p = q, q = swap;
    }
    memset(p, 0, sizeof points[0]);
    p[USUBA_FL_LIMBS] = p[2 * USUBA_FL_LIMBS] = USUBA_SPLAT(1);
    for (i = 64; i--;) {
        for (turn = 0; turn < 3 && i < 63; turn++) {
            usuba_fl_double_xyz_@TARGET@(p, q);
            swap = p, p = q, q = swap;
        }
        if (i < 63) {
            usuba_fl_double_@TARGET@(p, q);
            swap = p, p = q, q = swap;
        }
        for (lane = 0; lane < USUBA_LANES; lane++) {
            const int digit = windows[USUBA_LANES * i + lane];
            image[lane] = (uint64_t)(digit < 0 ? -digit : digit) * 0x0101010101010101ULL;
            image[USUBA_LANES + lane] = digit > 0;
        }
        index = USUBA_LOAD((const uint8_t *)image);
        negative = USUBA_LOAD((const uint8_t *)(image + USUBA_LANES));
        memset(entry, 0, sizeof entry);
        for (m = 0; m < 9; m++) {
            const @REGISTER@ mask = USUBA_EQUAL(index, USUBA_LANES8(m));
            for (at = 0; at < 4 * USUBA_FL_LIMBS; at++)
                entry[at] = USUBA_OR(entry[at], USUBA_AND(mask, table[m][at]));
        }
        /* The negative one of Y + X, Y - X, 2 d T. */
        memcpy(q, entry, 2 * USUBA_FL_LIMBS * sizeof *q);
        memcpy(q + 2 * USUBA_FL_LIMBS, entry + 3 * USUBA_FL_LIMBS, USUBA_FL_LIMBS * sizeof *q);
        usuba_fl_negate_affine_@TARGET@(&negative, q, three);
        memcpy(entry, three, 2 * USUBA_FL_LIMBS * sizeof *q);
        memcpy(entry + 3 * USUBA_FL_LIMBS, three + 2 * USUBA_FL_LIMBS, USUBA_FL_LIMBS * sizeof *q);
        usuba_fl_add_cached_@TARGET@(p, entry, q);
        swap = p, p = q, q = swap;
    }
    usuba_fl_comb_@TARGET@(digits, comb, spacing, q);
    usuba_fl_cache_@TARGET@(q, entry);
    usuba_fl_add_cached_@TARGET@(p, entry, q);
    usuba_fl_small_@TARGET@(q, good);
    usuba_fl_point_@TARGET@(out, q);
}
