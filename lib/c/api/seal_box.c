
/* The key stream begins with the key of the tag; the message follows within its first block. */
static int usuba_@NAME@_begin(usuba_poly1305_state *mac, const usuba_@STREAM@_key *key,
    const uint8_t *nonce)
{
    uint8_t block[32];
    int status = usuba_@STREAM@_keystream(key, nonce, 0, block, sizeof block);
    if (status == USUBA_OK) status = usuba_poly1305_begin(mac, block);
    @COMMON@wipe(block, sizeof block);
    return status;
}

static int usuba_@NAME@_seal_under(const usuba_@STREAM@_key *key, const uint8_t *nonce,
    const uint8_t *in, size_t length, uint8_t *out, uint8_t *tag)
{
    usuba_poly1305_state mac;
    uint64_t position = 32;
    int status = usuba_@NAME@_begin(&mac, key, nonce);
    while (length && status == USUBA_OK) {
        /* Later parts begin with a block. */
        const size_t most = position == 32 ? USUBA_SEAL_PART - 32 : USUBA_SEAL_PART;
        const size_t part = length < most ? length : most;
        status = usuba_@STREAM@_xor(key, nonce, position, in, out, part);
        if (status == USUBA_OK) status = usuba_poly1305_update(&mac, out, part);
        position += part;
        in += part;
        out += part;
        length -= part;
    }
    if (status == USUBA_OK) status = usuba_poly1305_final(&mac, tag);
    if (status != USUBA_OK) @COMMON@wipe(&mac, sizeof mac);
    return status;
}

static int usuba_@NAME@_open_under(const usuba_@STREAM@_key *key, const uint8_t *nonce,
    const uint8_t *in, size_t length, const uint8_t *tag, uint8_t *out)
{
    usuba_poly1305_state mac;
    int status = usuba_@NAME@_begin(&mac, key, nonce);
    if (status == USUBA_OK) status = usuba_poly1305_update(&mac, in, length);
    if (status == USUBA_OK) status = usuba_poly1305_verify(&mac, tag);
    @COMMON@wipe(&mac, sizeof mac);
    if (status != USUBA_OK || !length) return status;
    return usuba_@STREAM@_xor(key, nonce, 32, in, out, length);
}

int usuba_@NAME@_seal_detached(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length, uint8_t *out,
    uint8_t tag[USUBA_@UPPER@_TAG_BYTES])
{
    int status;
    if (!key || !nonce) return USUBA_ERROR_NULL;
    status = usuba_seal_places(NULL, 0, in, length, tag, out);
    if (status != USUBA_OK) return status;
    if (usuba_seal_meet(tag, 16, out, length) || usuba_seal_meet(tag, 16, in, length))
        return USUBA_ERROR_OVERLAP;
@SEAL@}

int usuba_@NAME@_open_detached(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length,
    const uint8_t tag[USUBA_@UPPER@_TAG_BYTES], uint8_t *out)
{
    int status;
    if (!key || !nonce) return USUBA_ERROR_NULL;
    status = usuba_seal_places(NULL, 0, in, length, tag, out);
    if (status != USUBA_OK) return status;
@OPEN@}

int usuba_@NAME@_seal(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length, uint8_t *out)
{
    if (!out) return USUBA_ERROR_NULL;
    if (length > SIZE_MAX - 16) return USUBA_ERROR_LENGTH;
    return usuba_@NAME@_seal_detached(key, nonce, in, length, out + 16, out);
}

int usuba_@NAME@_open(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *in, size_t length, uint8_t *out)
{
    if (!in) return USUBA_ERROR_NULL;
    if (length < 16) return USUBA_ERROR_LENGTH;
    return usuba_@NAME@_open_detached(key, nonce, in + 16, length - 16, in, out);
}
