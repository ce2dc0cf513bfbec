
/* Whether `length` bytes each at in and out are the same place or apart. */
@LOCAL@int usuba_places(const uint8_t *in, size_t length, const uint8_t *out, size_t written)
{
    if (!in || !out) return USUBA_ERROR_NULL;
    if (in == out && length == written) return USUBA_OK;
    if ((uintptr_t)in < (uintptr_t)out + written && (uintptr_t)out < (uintptr_t)in + length)
        return USUBA_ERROR_OVERLAP;
    return USUBA_OK;
}

/* Walks down the ladder. */
@LOCAL@void usuba_climb(const usuba_operation *operation, const usuba_step *step, const void *key,
                 const uint8_t *in, uint8_t *out, size_t nblocks)
{
    while (nblocks) {
        size_t part;
        while (nblocks < step->from) step++;
        part = nblocks < step->unit ? nblocks : nblocks - nblocks % step->unit;
        step->run(key ? (const uint8_t *)key + step->key : NULL, in, out, part);
        in += part * operation->in;
        out += part * operation->out;
        nblocks -= part;
    }
}

@LOCAL@int usuba_blocks(const usuba_operation *operation, const void *key, const uint8_t *in,
                 uint8_t *out, size_t nblocks)
{
    const size_t larger = operation->in < operation->out ? operation->out : operation->in;
    int status;
    if (!nblocks) return USUBA_OK;
    if (nblocks > SIZE_MAX / larger) return USUBA_ERROR_LENGTH;
    status = usuba_places(in, nblocks * operation->in, out, nblocks * operation->out);
    if (status != USUBA_OK) return status;
    usuba_climb(operation, operation->ladders[usuba_chosen()], key, in, out, nblocks);
    return USUBA_OK;
}
