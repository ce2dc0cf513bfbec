
int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length)
{
    if (!key || !bytes) return USUBA_ERROR_NULL;
    if (length != USUBA_@UPPER@_KEY_BYTES) return USUBA_ERROR_LENGTH;
@INIT@    return USUBA_OK;
}
