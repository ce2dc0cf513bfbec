
/* There is one instruction set, and nothing to choose. */
@LOCAL@size_t usuba_chosen(void)
{
    return 0;
}

const char *@COMMON@backend(void)
{
    return @NAMES@;
}

const char *@COMMON@backends(size_t index)
{
    return index ? NULL : @NAMES@;
}

int @COMMON@force_backend(const char *name)
{
    const char *other = @NAMES@;
    if (!name) return USUBA_OK;
    while (*name && *name == *other) name++, other++;
    return *name == *other ? USUBA_OK : USUBA_ERROR_BACKEND;
}
