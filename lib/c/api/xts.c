
int usuba_@NAME@_xts_encrypt(const usuba_@NAME@_key *key,
    const usuba_@NAME@_key *tweak_key, const uint8_t tweak[16], const uint8_t *in, uint8_t *out,
    size_t length)
{
    if (!key || !tweak_key || !tweak) return USUBA_ERROR_NULL;
    return usuba_xts(&@OPERATION@, 0, &@OPERATION@, key, tweak_key, tweak, in, out, length);
}

int usuba_@NAME@_xts_decrypt(const usuba_@NAME@_key *key,
    const usuba_@NAME@_key *tweak_key, const uint8_t tweak[16], const uint8_t *in, uint8_t *out,
    size_t length)
{
    if (!key || !tweak_key || !tweak) return USUBA_ERROR_NULL;
    return usuba_xts(&@INVERSE@, 1, &@OPERATION@, key, tweak_key, tweak, in, out, length);
}
