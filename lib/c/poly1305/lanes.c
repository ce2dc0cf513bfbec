
#define USUBA_POLY_LANE (@BYTES@ / 8)

/* Five registers with the limbs of number `power` in all lanes, or, if `places` is 1, of one that is lower
   the later the block of a lane comes. Lanes have the blocks in the order in which halves of
   registers are joined. */
static void usuba_poly_spread_@TARGET@(@REGISTER@ *to, const uint64_t *limbs, size_t power,
    size_t places)
{
    uint64_t image[5 * USUBA_POLY_LANE];
    size_t lane, i;
    for (lane = 0; lane < USUBA_POLY_LANE; lane++) {
        const size_t block = lane / 2 + lane % 2 * (USUBA_POLY_LANE / 2);
        const uint64_t *from = limbs + 5 * (power - places * block);
        for (i = 0; i < 5; i++) image[USUBA_POLY_LANE * i + lane] = from[i];
    }
    for (i = 0; i < 5; i++) to[i] = USUBA_LOAD((const uint8_t *)(image + USUBA_POLY_LANE * i));
    usuba_erase(image, sizeof image);
}

/* Takes `units` units of two blocks for each lane into the sum. Number n - 1 of the powers is the
   multiplier to the n. */
@LOCAL@void usuba_poly1305_lanes_@TARGET@(uint64_t *sum, const uint64_t *powers, const uint8_t *in,
    size_t units)
{
    uint64_t limbs[5 * 2 * USUBA_POLY_LANE], image[5 * USUBA_POLY_LANE];
    @REGISTER@ h[5], next[5], k[5], l[5], w[2], v[2];
    size_t i;
    for (i = 0; i < 2 * USUBA_POLY_LANE; i++)
        usuba_poly_narrow_@TARGET@(powers + 3 * i, limbs + 5 * i);
    usuba_poly_spread_@TARGET@(k, limbs, 2 * USUBA_POLY_LANE - 1, 0);
    usuba_poly_spread_@TARGET@(l, limbs, USUBA_POLY_LANE - 1, 0);
    /* The sum goes to the lane of the first block. */
    memset(image, 0, sizeof image);
    usuba_poly_narrow_@TARGET@(sum, image);
    for (i = 5; i-- > 1;) {
        image[USUBA_POLY_LANE * i] = image[i];
        image[i] = 0;
    }
    for (i = 0; i < 5; i++) h[i] = USUBA_LOAD((const uint8_t *)(image + USUBA_POLY_LANE * i));
    while (units--) {
        const @REGISTER@ a = USUBA_LOAD(in), b = USUBA_LOAD(in + @BYTES@);
        const @REGISTER@ c = USUBA_LOAD(in + 2 * @BYTES@), d = USUBA_LOAD(in + 3 * @BYTES@);
        if (!units) {
            /* The last ones count by their places. */
            usuba_poly_spread_@TARGET@(k, limbs, 2 * USUBA_POLY_LANE - 1, 1);
            usuba_poly_spread_@TARGET@(l, limbs, USUBA_POLY_LANE - 1, 1);
        }
        w[0] = USUBA_LOW64(a, b);
        w[1] = USUBA_HIGH64(a, b);
        v[0] = USUBA_LOW64(c, d);
        v[1] = USUBA_HIGH64(c, d);
        usuba_poly_double_@TARGET@(h, w, v, k, l, next);
        for (i = 0; i < 5; i++) h[i] = next[i];
        in += 4 * @BYTES@;
    }
    for (i = 0; i < 5; i++) USUBA_STORE((uint8_t *)(image + USUBA_POLY_LANE * i), h[i]);
    usuba_poly_sum@LANES@_@TARGET@(image, sum);
    usuba_erase(limbs, sizeof limbs);
    usuba_erase(image, sizeof image);
}
