
/* CBC mode, decryption; `length` is a multiple of the block. Whoever goes on with a message passes
   the last block of ciphertext as the next `iv`. Encryption is not parallel and not offered. */
USUBA_API int usuba_@NAME@_cbc_decrypt(const usuba_@NAME@_key *key, const uint8_t iv[16],
    const uint8_t *in, uint8_t *out, size_t length);
