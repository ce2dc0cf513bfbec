
int usuba_@NAME@_cbc_decrypt(const usuba_@NAME@_key *key, const uint8_t iv[16],
    const uint8_t *in, uint8_t *out, size_t length)
{
    if (!key || !iv) return USUBA_ERROR_NULL;
    return usuba_cbc_decrypt(&@INVERSE@, key, iv, in, out, length);
}
