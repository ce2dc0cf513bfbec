
int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length)
{
    if (!key) return USUBA_ERROR_NULL;
    return usuba_@FIRST@_init(&key->first, bytes, length);
}

static int usuba_@NAME@_stream(const usuba_@NAME@_key *key, const uint8_t *nonce, uint64_t position,
    const uint8_t *in, uint8_t *out, size_t length)
{
    uint8_t bytes[@FIRST_OUT@], inner[@INNER@] = {0};
    usuba_@THEN@_key subkey;
    int status = usuba_blocks(&@FIRST_OPERATION@, &key->first, nonce, bytes, 1);
    if (status == USUBA_OK) status = usuba_@THEN@_init(&subkey, bytes, sizeof bytes);
    if (status == USUBA_OK) {
        memcpy(inner + @ZEROS@, nonce + @FIRST_IN@, @REST@);
        status = usuba_@THEN@_stream(&subkey, inner, position, in, out, length);
    }
    usuba_erase(bytes, sizeof bytes);
    usuba_erase(&subkey, sizeof subkey);
    return status;
}

int usuba_@NAME@_xor(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], uint64_t position, const uint8_t *in, uint8_t *out,
    size_t length)
{
    if (!key || !nonce || (length && !in)) return USUBA_ERROR_NULL;
    return usuba_@NAME@_stream(key, nonce, position, in, out, length);
}

int usuba_@NAME@_keystream(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], uint64_t position, uint8_t *out, size_t length)
{
    if (!key || !nonce) return USUBA_ERROR_NULL;
    return usuba_@NAME@_stream(key, nonce, position, NULL, out, length);
}
