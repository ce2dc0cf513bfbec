
#if !defined(USUBA_SEAL_RFC8439)
#define USUBA_SEAL_RFC8439
USUBA_INTERNAL int usuba_poly_update(usuba_poly1305_state *state, const uint8_t *in, size_t length);
USUBA_INTERNAL void usuba_poly_end(usuba_poly1305_state *state, uint8_t *tag);

/* Whether a message is longer than the keystream: its counter has 32 bits, and the first block has
   the key of the tag. Sizes may have fewer bits. */
static int usuba_seal_exceeds(uint64_t length)
{
    return length > ((uint64_t)1 << 38) - 64;
}

/* Authenticates bytes, and zeros up to a whole block. */
static void usuba_seal_padded(usuba_poly1305_state *mac, const uint8_t *in, size_t length)
{
    const size_t rest = length % 16;
    uint8_t last[16] = {0};
    usuba_poly_update(mac, in, length - rest);
    if (rest) {
        usuba_copy(last, in + (length - rest), rest);
        usuba_poly_update(mac, last, sizeof last);
    }
}

/* The lengths of data and ciphertext, which come last. */
static void usuba_seal_lengths(usuba_poly1305_state *mac, uint64_t data, uint64_t length)
{
    uint8_t bytes[16];
    size_t i;
    for (i = 0; i < 8; i++, data >>= 8, length >>= 8) {
        bytes[i] = (uint8_t)data;
        bytes[8 + i] = (uint8_t)length;
    }
    usuba_poly_update(mac, bytes, sizeof bytes);
}
#endif
