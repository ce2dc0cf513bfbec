
int usuba_@FUNCTION@_blocks(const usuba_@NAME@_key *key, const uint8_t *in, uint8_t *out,
    size_t nblocks)
{
    if (!key) return USUBA_ERROR_NULL;
    return usuba_blocks(&@OPERATION@, key, in, out, nblocks);
}
