
#if !defined(USUBA_CMAC_SIDE)
/* ---- CMAC (NIST SP 800-38B) ---- */

#define USUBA_CMAC_OPEN 1

/* Messages at once: a batch of blocks takes little more time than one block. */
#if defined(USUBA_SMALL)
#define USUBA_CMAC_SIDE 32
#else
#define USUBA_CMAC_SIDE 256
#endif

/* Messages side by side: chaining values, and what is left of each. */
typedef struct {
    uint8_t chains[USUBA_CMAC_SIDE * 16] USUBA_ALIGNED;
    const uint8_t *at[USUBA_CMAC_SIDE];
    size_t left[USUBA_CMAC_SIDE], message[USUBA_CMAC_SIDE];
    uint8_t ended[USUBA_CMAC_SIDE];
} usuba_cmac_lanes;

/* Adds the last block of a message, of at most 16 bytes, to a chaining value. */
static void usuba_cmac_last(const uint8_t *masks, uint8_t *chain, const uint8_t *in, size_t length)
{
    const uint8_t *mask = length == 16 ? masks : masks + 16;
    size_t i;
    for (i = 0; i < 16; i++) chain[i] ^= mask[i];
    for (i = 0; i < length; i++) chain[i] ^= in[i];
    if (length < 16) chain[length] ^= 0x80;
}

/* Adds the next block of the message in lane i. */
static void usuba_cmac_step(const uint8_t *masks, usuba_cmac_lanes *all, size_t i)
{
    uint8_t *chain = all->chains + 16 * i;
    size_t j;
    if (all->left[i] <= 16) {
        usuba_cmac_last(masks, chain, all->at[i], all->left[i]);
        all->ended[i] = 1;
        return;
    }
    for (j = 0; j < 16; j++) chain[j] ^= all->at[i][j];
    all->at[i] += 16;
    all->left[i] -= 16;
}

/* Whether the places of messages and tags are valid. */
static int usuba_cmac_places(const uint8_t *const *in, const size_t *lengths, size_t count,
                             const uint8_t *tags)
{
    size_t i;
    if (!count) return USUBA_OK;
    if (!in || !lengths || !tags) return USUBA_ERROR_NULL;
    if (count > SIZE_MAX / 16) return USUBA_ERROR_LENGTH;
    for (i = 0; i < count; i++) {
        if (!lengths[i]) continue;
        if (!in[i]) return USUBA_ERROR_NULL;
        if ((uintptr_t)in[i] < (uintptr_t)tags + count * 16
            && (uintptr_t)tags < (uintptr_t)in[i] + lengths[i])
            return USUBA_ERROR_OVERLAP;
    }
    return USUBA_OK;
}
#endif
