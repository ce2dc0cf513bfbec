
/* The key stream begins with the key of the tag; the message follows within its first block. Of a
   short one `stream` has all of it; what it has with the key is `used`. */
static int usuba_@NAME@_begin(usuba_poly1305_state *mac, const usuba_@STREAM@_key *key,
    const uint8_t *nonce, size_t length, uint8_t *stream, size_t *used)
{
    int status;
    *used = 64;
    if (length <= USUBA_SEAL_FIRST - 32) *used = (32 + length + 63) / 64 * 64;
    status = usuba_@STREAM@_keystream(key, nonce, 0, stream, *used);
    if (status == USUBA_OK) status = usuba_poly1305_begin(mac, stream);
    return status;
}

static int usuba_@NAME@_seal_under(const usuba_@STREAM@_key *key, const uint8_t *nonce,
    const uint8_t *in, size_t length, uint8_t *out, uint8_t *tag)
{
    usuba_poly1305_state mac;
    uint64_t position = 32;
    uint8_t stream[USUBA_SEAL_FIRST] USUBA_ALIGNED;
    size_t used;
    int status = usuba_@NAME@_begin(&mac, key, nonce, length, stream, &used);
    if (length && length <= used - 32 && status == USUBA_OK) {
        usuba_xors[usuba_chosen()](out, in, stream + 32, length);
        status = usuba_poly1305_update(&mac, out, length);
        length = 0;
    }
    usuba_erase(stream, used);
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
    if (status != USUBA_OK) usuba_erase(&mac, sizeof mac);
    return status;
}

static int usuba_@NAME@_open_under(const usuba_@STREAM@_key *key, const uint8_t *nonce,
    const uint8_t *in, size_t length, const uint8_t *tag, uint8_t *out)
{
    usuba_poly1305_state mac;
    uint8_t stream[USUBA_SEAL_FIRST] USUBA_ALIGNED;
    size_t used;
    int status = usuba_@NAME@_begin(&mac, key, nonce, length, stream, &used);
    if (status == USUBA_OK) status = usuba_poly1305_update(&mac, in, length);
    if (status == USUBA_OK) status = usuba_poly1305_verify(&mac, tag);
    if (status != USUBA_OK) usuba_erase(&mac, sizeof mac);
    if (length && status == USUBA_OK) {
        if (length <= used - 32) usuba_xors[usuba_chosen()](out, in, stream + 32, length);
        else status = usuba_@STREAM@_xor(key, nonce, 32, in, out, length);
    }
    usuba_erase(stream, used);
    return status;
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
