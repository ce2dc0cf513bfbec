
/* Many blocks side by side, where the processor has wide registers: `run` takes `units` units of
   `lanes` blocks; `powers` are the multiplier and as many of its powers as a unit has blocks, which
   pay from USUBA_POLY_LANES blocks on, those of more than four lanes from USUBA_POLY_MANY. */
#define USUBA_POLY_LANES 28
#define USUBA_POLY_MANY 64
#define USUBA_POLY_MOST 8

typedef struct {
    size_t lanes;
    void (*run)(uint64_t *sum, const uint64_t *powers, const uint8_t *in, size_t units);
} usuba_poly_ladder;

static const usuba_poly_ladder usuba_poly_ladders[@BACKENDS@] = {
@TABLE@};

/* From so many blocks on pairs pay: never where four lanes take long messages. Such processors,
   which are those without AVX-512, add too few words in a cycle. */
static size_t usuba_poly_from(void)
{
    return usuba_poly_ladders[usuba_chosen()].lanes == 4 ? SIZE_MAX : USUBA_POLY_PAIRS;
}

/* The number of blocks that it took. */
static size_t usuba_poly_wide(usuba_word *sum, const usuba_word *multiplier, const uint8_t *in,
                              size_t nblocks)
{
    const usuba_poly_ladder *ladder = &usuba_poly_ladders[usuba_chosen()];
    const size_t unit = ladder->lanes;
    usuba_poly powers[USUBA_POLY_MOST], none;
    size_t i;
    if (!unit || (unit > 4 && nblocks < USUBA_POLY_MANY)) return 0;
    memset(none, 0, sizeof none);
    memcpy(powers[0], multiplier, sizeof powers[0]);
    /* Number i has the exponent i + 1. */
    for (i = 1; i < unit; i++) usuba_poly_step(powers[(i - 1) / 2], none, powers[i / 2], powers[i]);
    ladder->run(sum, powers[0], in, nblocks / unit);
    usuba_erase(powers, sizeof powers);
    return nblocks / unit * unit;
}
