
#if !defined(USUBA_SEAL_GCM)
#define USUBA_SEAL_GCM
/* ---- GCM (NIST SP 800-38D) ---- */

/* The element 1 of the field: its first bit is the constant coefficient. */
#define USUBA_GCM_ONE {0x80}

/* The phases of a message in pieces. */
#define USUBA_GCM_DATA 1
#define USUBA_GCM_TEXT 2

/* The first counter block of a nonce of 12 bytes. */
static void usuba_gcm_start(const uint8_t *nonce, uint8_t *start)
{
    memcpy(start, nonce, 12);
    memset(start + 12, 0, 3);
    start[15] = 1;
}

/* Bytes of keystream that are made at once for a message in pieces. */
#if defined(USUBA_SMALL)
#define USUBA_GCM_PART 512
#else
#define USUBA_GCM_PART 8192
#endif

/* The counter blocks from `number` on. Their last 32 bits have no carry. A first block that is the hash of
   a nonce is secret, so that no branch depends on it. */
static void usuba_gcm_number(const uint8_t *start, uint64_t number, uint8_t *to, size_t count)
{
    const uint32_t low = (uint32_t)start[12] << 24 | (uint32_t)start[13] << 16
        | (uint32_t)start[14] << 8 | (uint32_t)start[15];
    size_t i;
    for (i = 0; i < count; i++, to += 16) {
        const uint32_t word = (uint32_t)(low + number + i);
        memcpy(to, start, 12);
        to[12] = (uint8_t)(word >> 24);
        to[13] = (uint8_t)(word >> 16);
        to[14] = (uint8_t)(word >> 8);
        to[15] = (uint8_t)word;
        USUBA_COUNT(i);
    }
}

/* Whether the counter, which has 32 bits, or a length in bits, which has 64, would overflow. Sizes may
   have fewer bits. */
static int usuba_gcm_exceeds(uint64_t length, uint64_t data_length)
{
    return length > ((uint64_t)1 << 36) - 32 || data_length >= (uint64_t)1 << 61;
}

/* The tag: the bits of data and ciphertext come last, and the first block of the keystream hides it. */
static void usuba_gcm_tag(const usuba_keyed *hash, uint8_t *chain, uint64_t data, uint64_t length,
                          const uint8_t *mask, uint8_t *tag)
{
    uint8_t bytes[16];
    size_t i;
    for (i = 0; i < 8; i++) {
        bytes[7 - i] = (uint8_t)(8 * data >> (8 * i));
        bytes[15 - i] = (uint8_t)(8 * length >> (8 * i));
    }
    usuba_keyed_blocks(hash, chain, bytes, 1);
    for (i = 0; i < 16; i++) tag[i] = (uint8_t)(chain[i] ^ mask[i]);
}

/* Hashes bytes behind `before` others; those of an incomplete block wait in `last`. */
static void usuba_gcm_take(const usuba_keyed *hash, uint8_t *chain, uint8_t *last, uint64_t before,
                           const uint8_t *in, size_t length)
{
    const size_t used = (size_t)(before % 16), room = 16 - used;
    if (!length) return;
    if (used) {
        const size_t part = length < room ? length : room;
        usuba_copy(last + used, in, part);
        if (part < room) return;
        usuba_keyed_blocks(hash, chain, last, 1);
        in += part;
        length -= part;
    }
    usuba_keyed_blocks(hash, chain, in, length / 16);
    usuba_copy(last, in + (length - length % 16), length % 16);
}
#endif
