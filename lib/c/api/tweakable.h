#define USUBA_@UPPER@_BLOCK_BYTES @OUT@
#define USUBA_@UPPER@_TWEAK_BYTES @SIZE@

/* Counter-in-tweak mode (CTRT; Peyrin, Seurin: CRYPTO 2016, ePrint 2015/1049): adds the
   encryptions of `nonce` under the tweaks tweak, tweak + 1, ... to `length` bytes, both ways. A
   tweak counts as one @ORDER@-endian number. `position` says how many bytes of the key stream go
   before. */
USUBA_API int usuba_@NAME@_ctrt(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_BLOCK_BYTES], const uint8_t tweak[USUBA_@UPPER@_TWEAK_BYTES],
    uint64_t position, const uint8_t *in, uint8_t *out, size_t length);

/* The key stream itself. */
USUBA_API int usuba_@NAME@_ctrt_keystream(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_BLOCK_BYTES], const uint8_t tweak[USUBA_@UPPER@_TWEAK_BYTES],
    uint64_t position, uint8_t *out, size_t length);
