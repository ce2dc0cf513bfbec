
/* Encrypts `length` bytes, and makes a tag for them. A nonce is for one message only. `out` is `in`
   or apart from it; the tag is apart from `out`. */
USUBA_API int usuba_@NAME@_seal_detached(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length, uint8_t *out,
    uint8_t tag[USUBA_@UPPER@_TAG_BYTES]);

/* Decrypts `length` bytes if the tag is theirs. Else the answer is USUBA_ERROR_FORGED, and nothing
   was written. */
USUBA_API int usuba_@NAME@_open_detached(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length,
    const uint8_t tag[USUBA_@UPPER@_TAG_BYTES], uint8_t *out);

/* The same with the tag before the ciphertext: 16 + `length` bytes are written. The message lies 16
   bytes behind `out`, where its ciphertext comes, or apart. */
USUBA_API int usuba_@NAME@_seal(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length, uint8_t *out);

/* `length` counts the tag, and `length` - 16 bytes are written: 16 bytes behind `in`, where the
   ciphertext is, or apart. */
USUBA_API int usuba_@NAME@_open(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length, uint8_t *out);
