
static const usuba_counter usuba_@NAME@_counter = {@AT@, @SIZE@, @LITTLE@};

static int usuba_@NAME@_stream(const usuba_@NAME@_key *key, const uint8_t *nonce, uint64_t position,
    const uint8_t *in, uint8_t *out, size_t length)
{
    uint8_t start[@IN@] = {0};
@START@    return usuba_stream(&@OPERATION@, &usuba_@NAME@_counter, key, start, position, in, out, length);
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
