
#if !defined(USUBA_OCB_PART)
/* ---- OCB (RFC 7253) ---- */

/* Bytes of a part whose blocks are encrypted at once. */
#if defined(USUBA_SMALL)
#define USUBA_OCB_PART 512
#else
#define USUBA_OCB_PART 8192
#endif

/* Masks of numbers with up to 31 zeros at their end; before them are the mask of a block that is not
   whole and the one of the tag. */
#define USUBA_OCB_MASKS 34

/* Whether a block has a number without a mask; sizes may have fewer bits. */
static int usuba_ocb_exceeds(uint64_t length, uint64_t data_length)
{
    return length >> 36 != 0 || data_length >> 36 != 0;
}

/* The masks behind the first one. */
static void usuba_ocb_masks(uint8_t *masks)
{
    size_t i;
    for (i = 1; i < USUBA_OCB_MASKS; i++) {
        memcpy(masks + 16 * i, masks + 16 * i - 16, 16);
        usuba_times_x(masks + 16 * i);
    }
}

static void usuba_ocb_add(uint8_t *sum, const uint8_t *block)
{
    size_t i;
    for (i = 0; i < 16; i++) sum[i] ^= block[i];
}

/* The offsets of `count` blocks behind block `number`; `offset` becomes the last one. */
static void usuba_ocb_offsets(const uint8_t *masks, uint8_t *offset, uint64_t number,
                              uint8_t *offsets, size_t count)
{
    /* In variables, which need no memory between blocks. */
    uint64_t own[2], mask[2];
    memcpy(own, offset, 16);
    for (; count; count--, offsets += 16) {
        size_t zeros = 0;
        for (number++; !(number >> zeros & 1); zeros++) {}
        memcpy(mask, masks + 16 * (2 + zeros), 16);
        own[0] ^= mask[0];
        own[1] ^= mask[1];
        memcpy(offsets, own, 16);
    }
    memcpy(offset, own, 16);
}

/* Adds bytes, and a one and zeros up to a whole block. */
static void usuba_ocb_sum(uint8_t *sum, const uint8_t *in, size_t length)
{
    uint64_t own[2], block[2];
    size_t i;
    memcpy(own, sum, 16);
    for (; length >= 16; length -= 16, in += 16) {
        memcpy(block, in, 16);
        own[0] ^= block[0];
        own[1] ^= block[1];
    }
    memcpy(sum, own, 16);
    for (i = 0; i < length; i++) sum[i] ^= in[i];
    if (length) sum[length] ^= 0x80;
}

/* The block of a nonce of `size` bytes for tags of `tag`, without its last bits, which are the result. */
static unsigned usuba_ocb_nonce(uint8_t *block, const uint8_t *nonce, size_t size, size_t tag)
{
    unsigned bottom;
    memset(block, 0, 16);
    block[0] = (uint8_t)(tag % 16 << 4);
    block[15 - size] |= 1;
    memcpy(block + 16 - size, nonce, size);
    bottom = block[15] & 63;
    block[15] &= 0xc0;
    return bottom;
}

/* The first offset, from the encrypted block of a nonce and its last bits. */
static void usuba_ocb_start(uint8_t *offset, const uint8_t *top, unsigned bottom)
{
    uint8_t stretch[24];
    size_t i;
    memcpy(stretch, top, 16);
    for (i = 0; i < 8; i++) stretch[16 + i] = (uint8_t)(top[i] ^ top[i + 1]);
    for (i = 0; i < 16; i++) {
        const unsigned both = (unsigned)stretch[i + bottom / 8] << 8 | stretch[i + bottom / 8 + 1];
        offset[i] = (uint8_t)(both >> (8 - bottom % 8));
    }
    usuba_erase(stretch, sizeof stretch);
}
#endif
