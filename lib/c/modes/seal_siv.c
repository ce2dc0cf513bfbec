
#if !defined(USUBA_SIV_PART)
/* ---- GCM-SIV (RFC 8452) ---- */

/* Bytes of a part whose keystream is made at once. */
#if defined(USUBA_SMALL)
#define USUBA_SIV_PART 512
#else
#define USUBA_SIV_PART 8192
#endif

/* x^128 modulo the polynomial of POLYVAL: products are divided by it. */
#define USUBA_SIV_ONE {0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc2}

/* Section 6; sizes may have fewer bits. */
static int usuba_siv_exceeds(uint64_t length, uint64_t data_length)
{
    return length > (uint64_t)1 << 36 || data_length > (uint64_t)1 << 36;
}

/* The hash of a message before its encryption: the bits of data and text come last, then the nonce. */
static void usuba_siv_end(const usuba_keyed *keyed, uint8_t *chain, uint64_t data, uint64_t length,
                          const uint8_t *nonce, uint8_t *hash)
{
    uint8_t bytes[16];
    size_t i;
    for (i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(8 * data >> (8 * i));
        bytes[8 + i] = (uint8_t)(8 * length >> (8 * i));
    }
    usuba_keyed_blocks(keyed, chain, bytes, 1);
    memcpy(hash, chain, 16);
    for (i = 0; i < 12; i++) hash[i] ^= nonce[i];
    hash[15] &= 0x7f;
}

/* `count` counters from block `number` of a message on: the tag with its last bit set, whose first 32 bits
   count and overflow. */
static void usuba_siv_counters(const uint8_t *tag, uint64_t number, uint8_t *blocks, size_t count)
{
    uint32_t first = (uint32_t)tag[0] | (uint32_t)tag[1] << 8 | (uint32_t)tag[2] << 16
        | (uint32_t)tag[3] << 24;
    for (first += (uint32_t)number; count; count--, blocks += 16, first++) {
        memcpy(blocks + 4, tag + 4, 12);
        blocks[0] = (uint8_t)first;
        blocks[1] = (uint8_t)(first >> 8);
        blocks[2] = (uint8_t)(first >> 16);
        blocks[3] = (uint8_t)(first >> 24);
        blocks[15] |= 0x80;
    }
}
#endif
