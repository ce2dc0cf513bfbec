
/* Multiplies by x in GF(2^128), byte 0 being the lowest, as IEEE 1619 does. */
static void usuba_double(uint8_t *tweak)
{
    uint64_t low = 0, high = 0, carry;
    size_t i;
    for (i = 8; i-- > 0;) {
        low = low << 8 | tweak[i];
        high = high << 8 | tweak[8 + i];
    }
    carry = 0 - (high >> 63);
    high = high << 1 | low >> 63;
    low = low << 1 ^ (carry & 0x87);
    for (i = 0; i < 8; i++) {
        tweak[i] = (uint8_t)(low >> (8 * i));
        tweak[8 + i] = (uint8_t)(high >> (8 * i));
    }
}

/* Whole blocks; the tweak becomes the one behind them. */
static void usuba_xts_whole(const usuba_operation *operation, const usuba_step *ladder,
                            size_t backend, const void *key, uint8_t *tweak, const uint8_t *in,
                            uint8_t *out, size_t length)
{
    uint8_t tweaks[USUBA_CHUNK] USUBA_ALIGNED;
    const size_t used = length < USUBA_CHUNK ? length : USUBA_CHUNK;
    size_t chunk = USUBA_CHUNK / 16;
    if (chunk > ladder->batch) chunk -= chunk % ladder->batch;
    chunk *= 16;
    while (length) {
        const size_t part = length < chunk ? length : chunk;
        size_t i;
        for (i = 0; i < part; i += 16) {
            memcpy(tweaks + i, tweak, 16);
            usuba_double(tweak);
        }
        usuba_xors[backend](out, in, tweaks, part);
        usuba_climb(operation, ladder, key, out, out, part / 16);
        usuba_xors[backend](out, out, tweaks, part);
        in += part;
        out += part;
        length -= part;
    }
    @COMMON@wipe(tweaks, used);
}

/* One data unit. `encrypt` makes the first tweak from `start`, `operation` does the rest, forwards
   or `backwards`. The last block may be short: its bytes and those before change places. */
@LOCAL@int usuba_xts(const usuba_operation *operation, int backwards, const usuba_operation *encrypt,
              const void *key, const void *tweak_key, const uint8_t *start, const uint8_t *in,
              uint8_t *out, size_t length)
{
    const size_t backend = usuba_chosen(), rest = length % 16;
    const size_t whole = length - rest - (rest ? 16 : 0);
    const usuba_step *ladder = operation->ladders[backend];
    uint8_t tweak[16], next[16], block[16], old;
    size_t i;
    int status;
    /* IEEE 1619 ends a data unit there. */
    if (length < 16 || length > (size_t)16 << 20) return USUBA_ERROR_LENGTH;
    status = usuba_places(in, length, out, length);
    if (status != USUBA_OK) return status;
    usuba_climb(encrypt, encrypt->ladders[backend], tweak_key, start, tweak, 1);
    if (whole) usuba_xts_whole(operation, ladder, backend, key, tweak, in, out, whole);
    if (rest) {
        in += whole;
        out += whole;
        memcpy(next, tweak, 16);
        usuba_double(next);
        for (i = 0; i < 16; i++) block[i] = (uint8_t)(in[i] ^ (backwards ? next : tweak)[i]);
        usuba_climb(operation, ladder, key, block, block, 1);
        for (i = 0; i < 16; i++) block[i] = (uint8_t)(block[i] ^ (backwards ? next : tweak)[i]);
        for (i = 0; i < rest; i++) {
            old = in[16 + i];
            out[16 + i] = block[i];
            block[i] = old;
        }
        for (i = 0; i < 16; i++) block[i] = (uint8_t)(block[i] ^ (backwards ? tweak : next)[i]);
        usuba_climb(operation, ladder, key, block, block, 1);
        for (i = 0; i < 16; i++) out[i] = (uint8_t)(block[i] ^ (backwards ? tweak : next)[i]);
    }
    @COMMON@wipe(tweak, 16);
    @COMMON@wipe(next, 16);
    @COMMON@wipe(block, 16);
    return USUBA_OK;
}
