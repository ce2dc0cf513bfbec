
/* Begins the tag with a key from the first block of the key stream, and takes the data. Behind that
   block `stream` has those of a short message; what it has in all is `used`. */
static int usuba_@NAME@_begin(usuba_poly1305_state *mac, const usuba_@STREAM@_key *key,
    const uint8_t *nonce, const uint8_t *data, size_t data_length, size_t length, uint8_t *stream,
    size_t *used)
{
    int status;
    *used = 64;
    if (length <= USUBA_SEAL_FIRST - 64) *used += (length + 63) / 64 * 64;
    status = usuba_@STREAM@_keystream(key, nonce, 0, stream, *used);
    if (status == USUBA_OK) status = usuba_poly1305_begin(mac, stream);
    if (status == USUBA_OK) status = usuba_poly1305_update(mac, data, data_length);
    if (status == USUBA_OK) usuba_seal_align(mac, data_length);
    return status;
}

static int usuba_@NAME@_seal_under(const usuba_@STREAM@_key *key, const uint8_t *nonce,
    const uint8_t *data, size_t data_length, const uint8_t *in, size_t length, uint8_t *out,
    uint8_t *tag)
{
    usuba_poly1305_state mac;
    const uint64_t all = length;
    uint64_t position = 64;
    uint8_t stream[USUBA_SEAL_FIRST] USUBA_ALIGNED;
    size_t used;
    int status = usuba_@NAME@_begin(&mac, key, nonce, data, data_length, length, stream, &used);
    if (length && used > 64 && status == USUBA_OK) {
        usuba_xors[usuba_chosen()](out, in, stream + 64, length);
        status = usuba_poly1305_update(&mac, out, length);
        length = 0;
    }
    usuba_erase(stream, used);
    while (length && status == USUBA_OK) {
        const size_t part = length < USUBA_SEAL_PART ? length : USUBA_SEAL_PART;
        status = usuba_@STREAM@_xor(key, nonce, position, in, out, part);
        if (status == USUBA_OK) status = usuba_poly1305_update(&mac, out, part);
        position += part;
        in += part;
        out += part;
        length -= part;
    }
    if (status == USUBA_OK) {
        usuba_seal_align(&mac, all);
        usuba_seal_lengths(&mac, data_length, all);
        status = usuba_poly1305_final(&mac, tag);
    }
    if (status != USUBA_OK) usuba_erase(&mac, sizeof mac);
    return status;
}

static int usuba_@NAME@_open_under(const usuba_@STREAM@_key *key, const uint8_t *nonce,
    const uint8_t *data, size_t data_length, const uint8_t *in, size_t length, const uint8_t *tag,
    uint8_t *out)
{
    usuba_poly1305_state mac;
    uint8_t stream[USUBA_SEAL_FIRST] USUBA_ALIGNED;
    size_t used;
    int status = usuba_@NAME@_begin(&mac, key, nonce, data, data_length, length, stream, &used);
    if (status == USUBA_OK) status = usuba_poly1305_update(&mac, in, length);
    if (status == USUBA_OK) {
        usuba_seal_align(&mac, length);
        usuba_seal_lengths(&mac, data_length, length);
        status = usuba_poly1305_verify(&mac, tag);
    }
    if (status != USUBA_OK) usuba_erase(&mac, sizeof mac);
    if (length && status == USUBA_OK) {
        if (used > 64) usuba_xors[usuba_chosen()](out, in, stream + 64, length);
        else status = usuba_@STREAM@_xor(key, nonce, 64, in, out, length);
    }
    usuba_erase(stream, used);
    return status;
}

int usuba_@NAME@_seal_detached(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *data, size_t data_length,
    const uint8_t *in, size_t length, uint8_t *out, uint8_t tag[USUBA_@UPPER@_TAG_BYTES])
{
    int status;
    if (!key || !nonce) return USUBA_ERROR_NULL;
    if (usuba_seal_exceeds(length)) return USUBA_ERROR_LENGTH;
    status = usuba_seal_places(data, data_length, in, length, tag, out);
    if (status != USUBA_OK) return status;
    if (usuba_seal_meet(tag, 16, out, length) || usuba_seal_meet(tag, 16, in, length))
        return USUBA_ERROR_OVERLAP;
@SEAL@}

int usuba_@NAME@_open_detached(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *data, size_t data_length,
    const uint8_t *in, size_t length, const uint8_t tag[USUBA_@UPPER@_TAG_BYTES], uint8_t *out)
{
    int status;
    if (!key || !nonce) return USUBA_ERROR_NULL;
    if (usuba_seal_exceeds(length)) return USUBA_ERROR_LENGTH;
    status = usuba_seal_places(data, data_length, in, length, tag, out);
    if (status != USUBA_OK) return status;
@OPEN@}

int usuba_@NAME@_seal(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *data, size_t data_length,
    const uint8_t *in, size_t length, uint8_t *out)
{
    if (!out) return USUBA_ERROR_NULL;
    if (length > SIZE_MAX - 16) return USUBA_ERROR_LENGTH;
    if (usuba_seal_meet(data, data_length, out, length + 16)) return USUBA_ERROR_OVERLAP;
    return usuba_@NAME@_seal_detached(key, nonce, data, data_length, in, length, out, out + length);
}

int usuba_@NAME@_open(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], const uint8_t *data, size_t data_length,
    const uint8_t *in, size_t length, uint8_t *out)
{
    if (!in) return USUBA_ERROR_NULL;
    if (length < 16) return USUBA_ERROR_LENGTH;
    return usuba_@NAME@_open_detached(key, nonce, data, data_length, in, length - 16,
        in + length - 16, out);
}
