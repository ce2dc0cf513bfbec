
/* The key and the nonce of the key stream: @FIRST@ takes the beginning of the nonce. */
static int usuba_@NAME@_derive(const usuba_@NAME@_key *key, const uint8_t *nonce,
    usuba_@STREAM@_key *subkey, uint8_t *inner)
{
    uint8_t bytes[32];
    int status = usuba_@FIRST@_blocks(&key->inner, nonce, bytes, 1);
    if (status == USUBA_OK) status = usuba_@STREAM@_init(subkey, bytes, sizeof bytes);
    memset(inner, 0, USUBA_@STREAM_UPPER@_NONCE_BYTES);
    memcpy(inner + USUBA_@STREAM_UPPER@_NONCE_BYTES - (USUBA_@UPPER@_NONCE_BYTES - 16), nonce + 16,
        USUBA_@UPPER@_NONCE_BYTES - 16);
    usuba_erase(bytes, sizeof bytes);
    return status;
}
