
/* What the registers of the processor make at once, in so many lanes; 0: nothing. */
#define USUBA_MANY 8

typedef struct {
    size_t lanes;
    void (*x25519)(uint8_t *out, const uint8_t *scalars, const uint8_t *points);
    void (*base)(uint8_t *out, const uint64_t *digits, const uint64_t *comb, unsigned spacing);
    void (*shown)(uint8_t *out, const uint64_t *digits, const uint64_t *comb, unsigned spacing);
    void (*both)(uint8_t *out, uint8_t *good, const uint8_t *keys, const int8_t *windows,
                 const uint64_t *digits, const uint64_t *comb, unsigned spacing);
    /* One ladder alone. */
    void (*ladder)(uint64_t *out, const uint64_t *scalar, const uint64_t *x);
} usuba_many;

static const usuba_many usuba_manies[@BACKENDS@] = {
@TABLE@};

/* As usuba_wipe_stack, behind functions in lanes. */
#if !defined(USUBA_MANY_STACK)
#define USUBA_MANY_STACK 24576
#endif
USUBA_WIPE_STACK(usuba_wipe_many_stack, USUBA_MANY_STACK)
