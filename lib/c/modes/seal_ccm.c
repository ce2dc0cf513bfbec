
#if !defined(USUBA_CCM_PART)
/* ---- CCM (NIST SP 800-38C) ---- */

/* Bytes of a part that is authenticated and encrypted while it is in the cache. */
#if defined(USUBA_SMALL)
#define USUBA_CCM_PART 512
#else
#define USUBA_CCM_PART 8192
#endif

/* Whether a message is longer than a number of `size` bytes says; sizes may have fewer bits. */
static int usuba_ccm_exceeds(size_t size, uint64_t length)
{
    return size < 8 && length >> (8 * size) != 0;
}

/* The first block of the MAC: the sizes of tag and number, whether there are data, the nonce, and the
   length (section A.2.1). */
static void usuba_ccm_first(uint8_t *block, const uint8_t *nonce, size_t size, size_t tag, int data,
                            uint64_t length)
{
    size_t i;
    block[0] = (uint8_t)((data ? 64 : 0) + 4 * (tag - 2) + (size - 1));
    memcpy(block + 1, nonce, 15 - size);
    for (i = 0; i < size; i++) {
        block[15 - i] = (uint8_t)length;
        length >>= 8;
    }
}

/* The first counter block, with a number of `size` bytes (section A.3). */
static void usuba_ccm_counter(uint8_t *block, const uint8_t *nonce, size_t size)
{
    memset(block, 0, 16);
    block[0] = (uint8_t)(size - 1);
    memcpy(block + 1, nonce, 15 - size);
}

/* Adds bytes of one block, at most. */
static void usuba_ccm_add(uint8_t *chain, const uint8_t *in, size_t length)
{
    size_t i;
    if (length < 16)
        for (i = 0; i < length; i++) chain[i] ^= in[i];
    else
        for (i = 0; i < 16; i++) chain[i] ^= in[i];
}

/* A number of 4 bytes, the highest first. */
static void usuba_ccm_number(uint8_t *to, uint32_t number)
{
    to[0] = (uint8_t)(number >> 24);
    to[1] = (uint8_t)(number >> 16);
    to[2] = (uint8_t)(number >> 8);
    to[3] = (uint8_t)number;
}

/* The length of data in front of them, in 2, 6 or 10 bytes (section A.2.2). */
static size_t usuba_ccm_length(uint8_t *block, uint64_t length)
{
    if (length < 0xff00) {
        block[0] = (uint8_t)(length >> 8);
        block[1] = (uint8_t)length;
        return 2;
    }
    block[0] = 0xff;
    if (!(length >> 32)) {
        block[1] = 0xfe;
        usuba_ccm_number(block + 2, (uint32_t)length);
        return 6;
    }
    block[1] = 0xff;
    usuba_ccm_number(block + 2, (uint32_t)(length >> 32));
    usuba_ccm_number(block + 6, (uint32_t)length);
    return 10;
}
#endif
