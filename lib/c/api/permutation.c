
int usuba_@NAME@_permute(uint8_t *states, size_t count)
{
    return usuba_blocks(&@OPERATION@, NULL, states, states, count);
}
