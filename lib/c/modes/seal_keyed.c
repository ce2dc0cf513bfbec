
#if !defined(USUBA_SEAL_KEYED)
#define USUBA_SEAL_KEYED
/* ---- A hash function under a key, which lies prepared behind a state of 16 bytes: GHASH, POLYVAL. ---- */

/* The first state, with a prepared key of `size` bytes. */
static void usuba_keyed_begin(uint8_t *chain, const uint8_t *key, size_t size)
{
    memset(chain, 0, 16);
    memcpy(chain + 16, key, size);
}

/* Takes bytes, and zeros up to a whole block. */
static void usuba_keyed_padded(const usuba_chaining *chaining, uint8_t *chain, const uint8_t *in,
                               size_t length)
{
    const size_t rest = length % 16;
    if (length / 16) usuba_link_all(chaining, chain, &in, length / 16, 1);
    if (rest) {
        uint8_t last[16] = {0};
        const uint8_t *place = last;
        usuba_copy(last, in + (length - rest), rest);
        usuba_link_all(chaining, chain, &place, 1, 1);
    }
}
#endif
