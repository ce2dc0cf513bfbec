@WIDE@
int usuba_x25519_many(const uint8_t *scalars, const uint8_t *points, uint8_t *out, size_t count)
{
    usuba_word words[USUBA_WORDS], zero = 0;
    size_t i = 0;
    if (count && (!scalars || !points || !out)) return USUBA_ERROR_NULL;
#if defined(USUBA_MANY)
    i = usuba_x25519_groups(scalars, points, out, count);
    if (i) usuba_wipe_many_stack();
#endif
    for (; i < count; i++)
        if (usuba_x25519(scalars + 32 * i, points + 32 * i, out + 32 * i) != USUBA_OK)
            memset(out + 32 * i, 0, 32);
    for (i = 0; i < count; i++) {
        usuba_words_load(words, out + 32 * i, USUBA_WORDS);
        zero |= usuba_words_are_zero(words, USUBA_WORDS);
    }
    @COMMON@wipe(words, sizeof words);
    /* Whether a point has a small order. */
    USUBA_PUBLIC(&zero, sizeof zero);
    return zero ? USUBA_ERROR_POINT : USUBA_OK;
}

int usuba_x25519_base_many(const uint8_t *scalars, uint8_t *out, size_t count)
{
    size_t i = 0;
    if (count && (!scalars || !out)) return USUBA_ERROR_NULL;
#if defined(USUBA_MANY)
    i = usuba_x25519_publics(scalars, out, count);
    if (i) usuba_wipe_many_stack();
#endif
    for (; i < count; i++) usuba_x25519_base(scalars + 32 * i, out + 32 * i);
    return USUBA_OK;
}

int usuba_ed25519_sign_many(const uint8_t *const *secret_keys, const uint8_t *const *messages,
    const size_t *lengths, uint8_t *signatures, size_t count)
{
    size_t i;
    if (count && (!secret_keys || !messages || !lengths || !signatures)) return USUBA_ERROR_NULL;
    for (i = 0; i < count; i++)
        if (!secret_keys[i] || (!messages[i] && lengths[i])) return USUBA_ERROR_NULL;
    i = 0;
#if defined(USUBA_MANY)
    i = usuba_ed25519_groups(secret_keys, messages, lengths, signatures, count);
    if (i) usuba_wipe_many_stack();
#endif
    for (; i < count; i++)
        usuba_ed25519_sign(secret_keys[i], messages[i], lengths[i], signatures + 64 * i);
    return USUBA_OK;
}

int usuba_ed25519_verify_many(const uint8_t *const *public_keys, const uint8_t *const *messages,
    const size_t *lengths, const uint8_t *const *signatures, int *results, size_t count)
{
    int status = USUBA_OK;
    size_t i;
    if (count && (!public_keys || !messages || !lengths || !signatures || !results))
        return USUBA_ERROR_NULL;
    for (i = 0; i < count; i++)
        if (!public_keys[i] || !signatures[i] || (!messages[i] && lengths[i]))
            return USUBA_ERROR_NULL;
    i = 0;
#if defined(USUBA_MANY)
    i = usuba_ed25519_judged(public_keys, messages, lengths, signatures, results, count);
#endif
    for (; i < count; i++)
        results[i] = usuba_ed25519_verify(public_keys[i], messages[i], lengths[i], signatures[i]);
    for (i = 0; i < count; i++)
        if (results[i] != USUBA_OK) status = USUBA_ERROR_FORGED;
    return status;
}
