
/* XTS mode on one data unit of 16 bytes to 16 MiB, with two independent keys. `tweak` is the number
   of the unit, little-endian. A length that is no multiple of 16 is stolen from the block before. */
USUBA_API int usuba_@NAME@_xts_encrypt(const usuba_@NAME@_key *key,
    const usuba_@NAME@_key *tweak_key, const uint8_t tweak[16], const uint8_t *in, uint8_t *out,
    size_t length);
USUBA_API int usuba_@NAME@_xts_decrypt(const usuba_@NAME@_key *key,
    const usuba_@NAME@_key *tweak_key, const uint8_t tweak[16], const uint8_t *in, uint8_t *out,
    size_t length);
