
static const uint8_t usuba_@NAME@_start[@CHAIN@] = {
@START@};

static const usuba_merkle usuba_@NAME@_merkle = {&@CHAINING@, usuba_@NAME@_start, @OUT@};

int usuba_@NAME@_hash(const uint8_t *in, size_t length, uint8_t out[USUBA_@UPPER@_BYTES])
{
    return usuba_merkle_one(&usuba_@NAME@_merkle, in, length, out);
}

int usuba_@NAME@_hash_many(const uint8_t *const *in, const size_t *lengths, size_t count,
    uint8_t *out)
{
    return usuba_merkle_many(&usuba_@NAME@_merkle, in, lengths, count, out);
}

int usuba_@NAME@_begin(usuba_@NAME@_state *state)
{
    if (!state) return USUBA_ERROR_NULL;
    usuba_merkle_begin(&usuba_@NAME@_merkle, &state->progress, state->bytes);
    return USUBA_OK;
}

int usuba_@NAME@_update(usuba_@NAME@_state *state, const uint8_t *in, size_t length)
{
    if (!state) return USUBA_ERROR_NULL;
    return usuba_merkle_update(&usuba_@NAME@_merkle, &state->progress, state->bytes, in, length);
}

int usuba_@NAME@_final(usuba_@NAME@_state *state, uint8_t out[USUBA_@UPPER@_BYTES])
{
    int status;
    if (!state) return USUBA_ERROR_NULL;
    status = usuba_merkle_final(&usuba_@NAME@_merkle, &state->progress, state->bytes, out);
    if (status == USUBA_OK) @COMMON@wipe(state, sizeof *state);
    return status;
}

int usuba_@NAME@_blocks(uint8_t chain[USUBA_@UPPER@_CHAIN_BYTES], const uint8_t *in,
    size_t nblocks)
{
    return usuba_merkle_blocks(&usuba_@NAME@_merkle, chain, in, nblocks);
}

int usuba_hmac_@NAME@_begin(usuba_hmac_@NAME@_state *state, const uint8_t *key, size_t key_length)
{
    if (!state) return USUBA_ERROR_NULL;
    return usuba_hmac_begin(&usuba_@NAME@_merkle, &state->progress, state->bytes, state->outer, key,
        key_length);
}

int usuba_hmac_@NAME@_update(usuba_hmac_@NAME@_state *state, const uint8_t *in, size_t length)
{
    if (!state) return USUBA_ERROR_NULL;
    return usuba_merkle_update(&usuba_@NAME@_merkle, &state->progress, state->bytes, in, length);
}

int usuba_hmac_@NAME@_final(usuba_hmac_@NAME@_state *state, uint8_t tag[USUBA_@UPPER@_BYTES])
{
    int status;
    if (!state) return USUBA_ERROR_NULL;
    status = usuba_hmac_final(&usuba_@NAME@_merkle, &state->progress, state->bytes, state->outer,
        tag);
    if (status == USUBA_OK) @COMMON@wipe(state, sizeof *state);
    return status;
}

int usuba_hmac_@NAME@_verify(usuba_hmac_@NAME@_state *state, const uint8_t *tag, size_t tag_length)
{
    int status;
    if (!state) return USUBA_ERROR_NULL;
    status = usuba_hmac_verify(&usuba_@NAME@_merkle, &state->progress, state->bytes, state->outer,
        tag, tag_length);
    if (status == USUBA_OK || status == USUBA_ERROR_FORGED) @COMMON@wipe(state, sizeof *state);
    return status;
}

int usuba_hmac_@NAME@_tag(const uint8_t *key, size_t key_length, const uint8_t *in, size_t length,
    uint8_t tag[USUBA_@UPPER@_BYTES])
{
    usuba_hmac_@NAME@_state state;
    int status = usuba_hmac_@NAME@_begin(&state, key, key_length);
    if (status != USUBA_OK) return status;
    status = usuba_hmac_@NAME@_update(&state, in, length);
    if (status == USUBA_OK) status = usuba_hmac_@NAME@_final(&state, tag);
    if (status != USUBA_OK) @COMMON@wipe(&state, sizeof state);
    return status;
}

int usuba_hmac_@NAME@_check(const uint8_t *key, size_t key_length, const uint8_t *in, size_t length,
    const uint8_t *tag, size_t tag_length)
{
    usuba_hmac_@NAME@_state state;
    int status = usuba_hmac_@NAME@_begin(&state, key, key_length);
    if (status != USUBA_OK) return status;
    status = usuba_hmac_@NAME@_update(&state, in, length);
    if (status == USUBA_OK) status = usuba_hmac_@NAME@_verify(&state, tag, tag_length);
    if (status != USUBA_OK) @COMMON@wipe(&state, sizeof state);
    return status;
}

int usuba_hkdf_@NAME@_extract(const uint8_t *salt, size_t salt_length, const uint8_t *secret,
    size_t secret_length, uint8_t key[USUBA_@UPPER@_BYTES])
{
    return usuba_hkdf_extract(&usuba_@NAME@_merkle, salt, salt_length, secret, secret_length, key);
}

int usuba_hkdf_@NAME@_expand(const uint8_t *key, size_t key_length, const uint8_t *info,
    size_t info_length, uint8_t *out, size_t length)
{
    if (!key) return USUBA_ERROR_NULL;
    return usuba_hkdf_expand(&usuba_@NAME@_merkle, key, key_length, info, info_length, out, length);
}

int usuba_hkdf_@NAME@_derive(const uint8_t *salt, size_t salt_length, const uint8_t *secret,
    size_t secret_length, const uint8_t *info, size_t info_length, uint8_t *out, size_t length)
{
    return usuba_hkdf_derive(&usuba_@NAME@_merkle, salt, salt_length, secret, secret_length, info,
        info_length, out, length);
}
