
int usuba_@FUNCTION@_blocks(const uint8_t *in, uint8_t *out, size_t nblocks)
{
    return usuba_blocks(&@OPERATION@, NULL, in, out, nblocks);
}
