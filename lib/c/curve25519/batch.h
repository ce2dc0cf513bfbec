
/* Whether all of `count` signatures are valid, as one equation: USUBA_OK, else USUBA_ERROR_FORGED without
   a word on which one is invalid. The check is 8 ([S]B - R - [k]A) = 0, with the cofactor, of the sum of
   all with factors of 128 bits that are a hash of all signatures; S, A and R are as strict as in
   usuba_ed25519_verify. So all signatures that usuba_ed25519_verify accepts are accepted, and beside them
   only signatures that were made with the secret key and a point of small order. Signatures, keys and
   messages are public. */
USUBA_API int usuba_ed25519_verify_batch(const uint8_t *const *public_keys /* [count][32], public */,
    const uint8_t *const *messages /* [count][lengths[i]], public */,
    const size_t *lengths /* [count] */, const uint8_t *const *signatures /* [count][64], public */,
    size_t count);
