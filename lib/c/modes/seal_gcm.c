
#if !defined(USUBA_SEAL_GCM)
#define USUBA_SEAL_GCM
/* ---- GCM (NIST SP 800-38D) ---- */

/* The element 1 of the field: its first bit is the constant coefficient. */
#define USUBA_GCM_ONE {0x80}

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
#endif
