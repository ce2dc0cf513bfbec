
static const usuba_counter usuba_@NAME@_counter = {0, @IN@, 0};

int usuba_@NAME@_ctr(const usuba_@NAME@_key *key,
    const uint8_t counter[USUBA_@UPPER@_BLOCK_BYTES], uint64_t position, const uint8_t *in, uint8_t *out,
    size_t length)
{
    if (!key || !counter || (length && !in)) return USUBA_ERROR_NULL;
    return usuba_stream(&@OPERATION@, &usuba_@NAME@_counter, key, counter, position, in, out, length);
}

int usuba_@NAME@_ctr_keystream(const usuba_@NAME@_key *key,
    const uint8_t counter[USUBA_@UPPER@_BLOCK_BYTES], uint64_t position, uint8_t *out, size_t length)
{
    if (!key || !counter) return USUBA_ERROR_NULL;
    return usuba_stream(&@OPERATION@, &usuba_@NAME@_counter, key, counter, position, NULL, out, length);
}
