#define USUBA_@UPPER@_BLOCK_BYTES @OUT@
#define USUBA_@UPPER@_TWEAK_BYTES @SIZE@

/* Counter-in-tweak mode, both ways: block i of the key stream, from 0, is the encryption of the
   block `nonce` under the tweak `tweak` + i, and is XORed to block i of `length` bytes. A tweak
   counts as one @ORDER@-endian number of @SIZE@ bytes; to count beyond the last one is an error.
   `position` says how many bytes of the key stream go before.
   This is the mode that encrypts in SCT, called CTRT there (Peyrin, Seurin: CRYPTO 2016, ePrint
   2015/1049), with addition and this order of bytes as the counter. Deoxys-II has the same mode
   with XOR for addition, which is another key stream. */
USUBA_API int usuba_@NAME@_ctrt(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_BLOCK_BYTES], const uint8_t tweak[USUBA_@UPPER@_TWEAK_BYTES],
    uint64_t position, const uint8_t *in, uint8_t *out, size_t length);

/* The key stream itself. */
USUBA_API int usuba_@NAME@_ctrt_keystream(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_BLOCK_BYTES], const uint8_t tweak[USUBA_@UPPER@_TWEAK_BYTES],
    uint64_t position, uint8_t *out, size_t length);
