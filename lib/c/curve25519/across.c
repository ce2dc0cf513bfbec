
/* The ladder of one scalar, as words below 2^255, with both of its points in the lanes of registers:
   the x-coordinate of the multiple of the point with the limbs x, as a quotient of limbs. */
@LOCAL@void usuba_ladder_across_@TARGET@(uint64_t *out, const uint64_t *scalar, const uint64_t *x)
{
    struct {
        uint64_t limbs[2][USUBA_FX_LIMBS], image[4 * USUBA_FX_LIMBS];
        @REGISTER@ swap, constants[USUBA_FX_LIMBS], now[USUBA_FX_LIMBS], next[USUBA_FX_LIMBS];
    } s;
    uint64_t last = 0;
    size_t i;
    usuba_fx_halves_@TARGET@(x, s.limbs[0]);
    /* Lanes of what does not change: the constant of the curve in lane 1, x in lane 3. */
    memset(s.image, 0, sizeof s.image);
    s.image[1] = 121665;
    for (i = 0; i < USUBA_FX_LIMBS; i++) {
        s.image[4 * i + 3] = s.limbs[0][i];
        s.constants[i] = USUBA_LOAD((const uint8_t *)(s.image + 4 * i));
    }
    /* The neutral point and this one: 1 and 0, x and 1. */
    memset(s.image, 0, sizeof s.image);
    s.image[0] = s.image[3] = 1;
    for (i = 0; i < USUBA_FX_LIMBS; i++) {
        s.image[4 * i + 2] = s.limbs[0][i];
        s.now[i] = USUBA_LOAD((const uint8_t *)(s.image + 4 * i));
    }
    for (i = 255; i--;) {
        const uint64_t bit = scalar[i / 64] >> i % 64 & 1;
        s.swap = USUBA_SPLAT(last ^ bit);
        last = bit;
        usuba_fx_swap_@TARGET@(&s.swap, s.now, s.next);
        usuba_fx_ladder_step_@TARGET@(s.constants, s.next, s.now);
    }
    /* The lowest bit is zero, so nothing is to be swapped back. */
    for (i = 0; i < USUBA_FX_LIMBS; i++) {
        USUBA_STORE((uint8_t *)s.image, s.now[i]);
        s.limbs[0][i] = s.image[0];
        s.limbs[1][i] = s.image[1];
    }
    usuba_fx_whole_@TARGET@(s.limbs[0], out);
    usuba_fx_whole_@TARGET@(s.limbs[1], out + USUBA_FX_LIMBS / 2);
    @COMMON@wipe(&s, sizeof s);
}
