
/* How many X25519 the registers of the processor make at once; 0: none. */
#define USUBA_MANY 8

typedef struct {
    size_t lanes;
    void (*x25519)(uint8_t *out, const uint8_t *scalars, const uint8_t *points);
} usuba_many;

static const usuba_many usuba_manies[@BACKENDS@] = {
@TABLE@};

/* What numbers in lanes take of the stack, which is more. */
#if USUBA_STACK
#define USUBA_STACK_LANES 24576
#else
#define USUBA_STACK_LANES 0
#endif
USUBA_WIPE_STACK(usuba_wipe_lanes, USUBA_STACK_LANES)

/* Takes groups of at least three, the last one with zeros in the lanes that are left over. The number
   of those that it took. */
static USUBA_APART size_t usuba_x25519_groups(const uint8_t *scalars, const uint8_t *points,
                                              uint8_t *out, size_t count)
{
    const usuba_many *many = &usuba_manies[usuba_chosen()];
    struct {
        uint8_t scalars[32 * USUBA_MANY], points[32 * USUBA_MANY], out[32 * USUBA_MANY];
    } s;
    size_t done = 0, i;
    if (!many->lanes) return 0;
    while (count - done > 2) {
        const size_t n = count - done < many->lanes ? count - done : many->lanes;
        memset(&s, 0, sizeof s);
        memcpy(s.scalars, scalars + 32 * done, 32 * n);
        memcpy(s.points, points + 32 * done, 32 * n);
        for (i = 0; i < n; i++) usuba_clamp(s.scalars + 32 * i);
        many->x25519(s.out, s.scalars, s.points);
        memcpy(out + 32 * done, s.out, 32 * n);
        done += n;
    }
    @COMMON@wipe(&s, sizeof s);
    return done;
}
