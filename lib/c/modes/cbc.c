
@LOCAL@int usuba_cbc_decrypt(const usuba_operation *operation, const void *key, const uint8_t *start,
                      const uint8_t *in, uint8_t *out, size_t length)
{
    const size_t size = operation->in, backend = usuba_chosen();
    const usuba_step *ladder = operation->ladders[backend];
    /* The block before, and the chunk as it came: out may be in. */
    uint8_t space[64 + USUBA_CHUNK] USUBA_ALIGNED, *saved = space + 64 - size;
    size_t chunk = USUBA_CHUNK / size;
    int status;
    if (length % size) return USUBA_ERROR_LENGTH;
    if (!length) return USUBA_OK;
    status = usuba_places(in, length, out, length);
    if (status != USUBA_OK) return status;
    if (chunk > ladder->batch) chunk -= chunk % ladder->batch;
    chunk *= size;
    memcpy(saved, start, size);
    while (length) {
        const size_t part = length < chunk ? length : chunk;
        memcpy(saved + size, in, part);
        usuba_climb(operation, ladder, key, saved + size, out, part / size);
        usuba_xors[backend](out, out, saved, part);
        memcpy(saved, saved + part, size);
        in += part;
        out += part;
        length -= part;
    }
    return USUBA_OK;
}
