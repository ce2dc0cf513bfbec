@WIDE@
int usuba_x25519_many(const uint8_t *scalars, const uint8_t *points, uint8_t *out, size_t count)
{
    usuba_word words[USUBA_WORDS], zero = 0;
    size_t i = 0;
    if (count && (!scalars || !points || !out)) return USUBA_ERROR_NULL;
#if defined(USUBA_MANY)
    i = usuba_x25519_groups(scalars, points, out, count);
    if (i) usuba_wipe_lanes();
#endif
    for (; i < count; i++)
        if (usuba_x25519(scalars + 32 * i, points + 32 * i, out + 32 * i) != USUBA_OK)
            memset(out + 32 * i, 0, 32);
    for (i = 0; i < count; i++) {
        usuba_words_load(words, out + 32 * i, USUBA_WORDS);
        zero |= usuba_words_are_zero(words, USUBA_WORDS);
    }
    @COMMON@wipe(words, sizeof words);
    return zero ? USUBA_ERROR_POINT : USUBA_OK;
}
