
#if !defined(USUBA_SEAL)
#define USUBA_SEAL
/* Authenticated encryption: the places of a message. */

/* Whether two places have a byte in common. */
static USUBA_APART int usuba_seal_meet(const uint8_t *one, size_t length, const uint8_t *other, size_t size)
{
    return length && size && (uintptr_t)one < (uintptr_t)other + size
        && (uintptr_t)other < (uintptr_t)one + length;
}

/* Whether the buffers of a message with a detached tag are valid. */
static USUBA_APART int usuba_seal_places(const uint8_t *data, size_t data_length, const uint8_t *in,
                             size_t length, const uint8_t *tag, const uint8_t *out)
{
    if (!tag || (length && (!in || !out)) || (data_length && !data)) return USUBA_ERROR_NULL;
    if (in != out && usuba_seal_meet(in, length, out, length)) return USUBA_ERROR_OVERLAP;
    if (usuba_seal_meet(data, data_length, out, length)) return USUBA_ERROR_OVERLAP;
    return USUBA_OK;
}
#endif
