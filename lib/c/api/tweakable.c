
static const usuba_counter usuba_@NAME@_counter = {@AT@, @SIZE@, @LITTLE@};

static int usuba_@NAME@_stream(const usuba_@NAME@_key *key, const uint8_t *nonce, const uint8_t *tweak,
    uint64_t position, const uint8_t *in, uint8_t *out, size_t length)
{
    uint8_t start[@IN@];
    memcpy(start + @AT@, tweak, @SIZE@);
@START@    return usuba_stream(&@OPERATION@, &usuba_@NAME@_counter, key, start, position, in, out, length);
}

int usuba_@NAME@_ctrt(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_BLOCK_BYTES], const uint8_t tweak[USUBA_@UPPER@_TWEAK_BYTES],
    uint64_t position, const uint8_t *in, uint8_t *out, size_t length)
{
    if (!key || !nonce || !tweak || (length && !in)) return USUBA_ERROR_NULL;
    return usuba_@NAME@_stream(key, nonce, tweak, position, in, out, length);
}

int usuba_@NAME@_ctrt_keystream(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_BLOCK_BYTES], const uint8_t tweak[USUBA_@UPPER@_TWEAK_BYTES],
    uint64_t position, uint8_t *out, size_t length)
{
    if (!key || !nonce || !tweak) return USUBA_ERROR_NULL;
    return usuba_@NAME@_stream(key, nonce, tweak, position, NULL, out, length);
}
