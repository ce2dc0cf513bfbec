
int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length)
{
    if (!key) return USUBA_ERROR_NULL;
    return usuba_@KEY@_init(&key->inner, bytes, length);
}
