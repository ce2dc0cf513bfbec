
int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length)
{
    if (!key) return USUBA_ERROR_NULL;
    return usuba_@FIRST@_init(&key->first, bytes, length);
}

int usuba_@NAME@_begin(usuba_@NAME@_state *state, const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES])
{
    const size_t backend = usuba_chosen();
    if (!state || !key || !nonce) return USUBA_ERROR_NULL;
    usuba_climb(&@FIRST_OPERATION@, @FIRST_OPERATION@.ladders[backend], &key->first, nonce,
        state->state, 1);
    /* Nothing is there yet. */
    state->used = @PART@;
    return USUBA_OK;
}

static int usuba_@NAME@_run(usuba_@NAME@_state *state, const uint8_t *in, uint8_t *out, size_t length)
{
    const size_t backend = usuba_chosen();
    uint8_t made[@OUT@];
    if (!length) return USUBA_OK;
    if (!out) return USUBA_ERROR_NULL;
    if (in) {
        const int status = usuba_places(in, length, out, length);
        if (status != USUBA_OK) return status;
    }
    while (length) {
        size_t part;
        if (state->used == @PART@) {
            usuba_climb(&@THEN_OPERATION@, @THEN_OPERATION@.ladders[backend], NULL, state->state,
                made, 1);
            memcpy(state->state, made, @FIRST_OUT@);
            memcpy(state->part, made + @FIRST_OUT@, @PART@);
            state->used = 0;
        }
        part = @PART@ - state->used;
        if (part > length) part = length;
        if (in) {
            usuba_xors[backend](out, in, state->part + state->used, part);
            in += part;
        } else {
            memcpy(out, state->part + state->used, part);
        }
        state->used += part;
        out += part;
        length -= part;
    }
    @COMMON@wipe(made, sizeof made);
    return USUBA_OK;
}

int usuba_@NAME@_xor(usuba_@NAME@_state *state, const uint8_t *in, uint8_t *out, size_t length)
{
    if (!state || (length && !in)) return USUBA_ERROR_NULL;
    return usuba_@NAME@_run(state, in, out, length);
}

int usuba_@NAME@_keystream(usuba_@NAME@_state *state, uint8_t *out, size_t length)
{
    if (!state) return USUBA_ERROR_NULL;
    return usuba_@NAME@_run(state, NULL, out, length);
}

/* Key streams that are made at a time. */
#define USUBA_@UPPER@_SIDE 64

int usuba_@NAME@_keystreams(const usuba_@NAME@_key *key, const uint8_t *nonces, size_t count,
    uint8_t *out, size_t length)
{
    const size_t backend = usuba_chosen();
    uint8_t states[USUBA_@UPPER@_SIDE * @FIRST_OUT@], made[USUBA_@UPPER@_SIDE * @OUT@];
    int status;
    if (!key) return USUBA_ERROR_NULL;
    if (!count || !length) return USUBA_OK;
    if (!nonces || !out) return USUBA_ERROR_NULL;
    if (count > SIZE_MAX / @NONCE@ || count > SIZE_MAX / length) return USUBA_ERROR_LENGTH;
    if (nonces == out) return USUBA_ERROR_OVERLAP;
    status = usuba_places(nonces, count * @NONCE@, out, count * length);
    if (status != USUBA_OK) return status;
    while (count) {
        const size_t side = count < USUBA_@UPPER@_SIDE ? count : USUBA_@UPPER@_SIDE;
        size_t done = 0, i;
        usuba_climb(&@FIRST_OPERATION@, @FIRST_OPERATION@.ladders[backend], &key->first, nonces,
            states, side);
        while (done < length) {
            const size_t part = length - done < @PART@ ? length - done : @PART@;
            usuba_climb(&@THEN_OPERATION@, @THEN_OPERATION@.ladders[backend], NULL, states, made,
                side);
            for (i = 0; i < side; i++) {
                memcpy(states + i * @FIRST_OUT@, made + i * @OUT@, @FIRST_OUT@);
                memcpy(out + i * length + done, made + i * @OUT@ + @FIRST_OUT@, part);
            }
            done += part;
        }
        nonces += side * @NONCE@;
        out += side * length;
        count -= side;
    }
    @COMMON@wipe(states, sizeof states);
    @COMMON@wipe(made, sizeof made);
    return USUBA_OK;
}
