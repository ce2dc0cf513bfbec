
/* Bytes as words, and back; the lowest byte comes first. */
@LOCAL@void usuba_words_load(usuba_word *words, const uint8_t *bytes, size_t count)
{
    const size_t each = sizeof(usuba_word);
    size_t i, j;
    for (i = 0; i < count; i++) {
        usuba_word word = 0;
        for (j = each; j--;) word = (usuba_word)(word << 8 | bytes[each * i + j]);
        words[i] = word;
    }
}

@LOCAL@void usuba_words_store(uint8_t *bytes, const usuba_word *words, size_t count)
{
    const size_t each = sizeof(usuba_word);
    size_t i, j;
    for (i = 0; i < count; i++)
        for (j = 0; j < each; j++) bytes[each * i + j] = (uint8_t)(words[i] >> (8 * j));
}

/* 1 if all words are zero, else 0. */
@LOCAL@usuba_word usuba_words_are_zero(const usuba_word *words, size_t count)
{
    usuba_word all = 0;
    size_t i;
    for (i = 0; i < count; i++) all |= words[i];
    return (usuba_word)(1 ^ ((all | (usuba_word)(0 - all)) >> (USUBA_WORD_BITS - 1)));
}
