
/* Adds to the number of a block; 1 if it passed its end. */
static int usuba_advance(uint8_t *block, const usuba_counter *counter, uint64_t count)
{
    unsigned carry = 0;
    size_t i;
    for (i = 0; i < counter->size; i++) {
        uint8_t *byte = block + counter->at + (counter->little ? i : counter->size - 1 - i);
        carry += *byte + (unsigned)(count & 0xff);
        *byte = (uint8_t)carry;
        carry >>= 8;
        count >>= 8;
    }
    return carry || count;
}

static void usuba_big(uint8_t *to, uint64_t word)
{
    to[0] = (uint8_t)(word >> 56);
    to[1] = (uint8_t)(word >> 48);
    to[2] = (uint8_t)(word >> 40);
    to[3] = (uint8_t)(word >> 32);
    to[4] = (uint8_t)(word >> 24);
    to[5] = (uint8_t)(word >> 16);
    to[6] = (uint8_t)(word >> 8);
    to[7] = (uint8_t)word;
}

/* Writes `count` inputs from `block` on, which becomes the one behind them. `again`: inputs are
   there that differ in the first 32 bits of their counters only; the answer is whether they will. */
static int usuba_number(const usuba_operation *operation, const usuba_counter *counter,
                        uint8_t *block, uint8_t *to, size_t count, int again)
{
    const size_t size = operation->in;
    const int whole = !counter->little && !counter->at && counter->size == size;
    int alike = 1;
    while (count) {
        size_t part = 1;
        if (whole && (size == 8 || size == 16)) {
            /* As many as only change the last 64 bits. */
            uint64_t low = 0;
            size_t i;
            for (i = size - 8; i < size; i++) low = low << 8 | block[i];
            part = count - 1 > UINT64_MAX - low ? (size_t)(UINT64_MAX - low) + 1 : count;
            if (size == 8) {
                for (i = 0; i < part; i++) usuba_big(to + 8 * i, low + i);
            } else {
                for (i = 0; i < part; i++) {
                    memcpy(to + 16 * i, block, 8);
                    usuba_big(to + 16 * i + 8, low + i);
                }
            }
        } else if (counter->little && counter->size >= 4 && size == 16) {
            /* As many as only change the first 32 bits. */
            uint8_t *at = block + counter->at;
            const uint32_t low = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16
                | (uint32_t)at[3] << 24;
            size_t i;
            part = count - 1 > UINT32_MAX - low ? (size_t)(UINT32_MAX - low) + 1 : count;
            for (i = 0; i < part; i++) {
                const uint32_t word = (uint32_t)(low + i);
                uint8_t *here = to + 16 * i;
                if (!again) memcpy(here, block, 16);
                here += counter->at;
                here[0] = (uint8_t)word;
                here[1] = (uint8_t)(word >> 8);
                here[2] = (uint8_t)(word >> 16);
                here[3] = (uint8_t)(word >> 24);
            }
            if (part > UINT32_MAX - low) again = alike = 0;
        } else {
            memcpy(to, block, size);
        }
        usuba_advance(block, counter, part);
        to += part * size;
        count -= part;
    }
    return alike;
}

/* The key stream from its byte `position` on, whose first block comes from the input `start`;
   added to `in` unless that is NULL. Everything but counter and places is checked. */
@LOCAL@int usuba_stream(const usuba_operation *operation, const usuba_counter *counter, const void *key,
                 const uint8_t *start, uint64_t position, const uint8_t *in, uint8_t *out,
                 size_t length)
{
    const size_t from = operation->in, to = operation->out;
    const size_t backend = usuba_chosen();
    const usuba_step *ladder = operation->ladders[backend];
    size_t skip = (size_t)(position % to), chunk = USUBA_CHUNK / to, blocks, used;
    uint8_t stream[USUBA_CHUNK + USUBA_COUNTERS] USUBA_ALIGNED;
    uint8_t block[USUBA_BLOCK], last[USUBA_BLOCK];
    int again = 0;
    if (!length) return USUBA_OK;
    if (!out) return USUBA_ERROR_NULL;
    if (in) {
        const int status = usuba_places(in, length, out, length);
        if (status != USUBA_OK) return status;
    }
    if (length > SIZE_MAX - skip) return USUBA_ERROR_LENGTH;
    blocks = (length + skip - 1) / to + 1;
    memcpy(block, start, from);
    if (usuba_advance(block, counter, position / to)) return USUBA_ERROR_COUNTER;
    memcpy(last, block, from);
    if (usuba_advance(last, counter, blocks - 1)) return USUBA_ERROR_COUNTER;
    /* What was just written is read again while it is near. Keys of block ciphers are spread
       once a chunk, so theirs are longer. */
    if (from != to && chunk / 4 >= ladder->batch) chunk /= 4;
    if (chunk > ladder->batch) chunk -= chunk % ladder->batch;
    used = (blocks < chunk ? blocks : chunk) * to;
    while (length) {
        const size_t count = blocks < chunk ? blocks : chunk;
        const size_t part = count * to - skip < length ? count * to - skip : length;
        /* Whole blocks of nothing but key stream need no buffer behind them. */
        uint8_t *target = !in && part == count * to ? out : stream;
        uint8_t *numbers = from == to ? target : stream + USUBA_CHUNK;
        again = usuba_number(operation, counter, block, numbers, count, again) && from != to;
        usuba_climb(operation, ladder, key, numbers, target, count);
        if (in) {
            usuba_xors[backend](out, in, stream + skip, part);
            in += part;
        } else if (target == stream) {
            memcpy(out, stream + skip, part);
        }
        out += part;
        length -= part;
        blocks -= count;
        skip = 0;
    }
    usuba_erase(stream, used);
    return USUBA_OK;
}
