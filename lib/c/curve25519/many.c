
#if defined(USUBA_MANY)
/* Takes groups of at least three, the last one with zeros in the lanes that are left over. The number
   of those that it took. */
static USUBA_APART size_t usuba_x25519_groups(const uint8_t *scalars, const uint8_t *points,
                                              uint8_t *out, size_t count)
{
    const usuba_many *many = &usuba_manies[usuba_chosen()];
    struct {
        uint8_t scalars[32 * USUBA_MANY], points[32 * USUBA_MANY], out[32 * USUBA_MANY];
    } s;
    size_t done = 0, i;
    if (!many->lanes) return 0;
    while (count - done > 2) {
        const size_t n = count - done < many->lanes ? count - done : many->lanes;
        memset(&s, 0, sizeof s);
        memcpy(s.scalars, scalars + 32 * done, 32 * n);
        memcpy(s.points, points + 32 * done, 32 * n);
        for (i = 0; i < n; i++) usuba_clamp(s.scalars + 32 * i);
        many->x25519(s.out, s.scalars, s.points);
        memcpy(out + 32 * done, s.out, 32 * n);
        done += n;
    }
    @COMMON@wipe(&s, sizeof s);
    return done;
}

/* The same of public keys. */
static USUBA_APART size_t usuba_x25519_publics(const uint8_t *scalars, uint8_t *out, size_t count)
{
    const usuba_many *many = &usuba_manies[usuba_chosen()];
    struct {
        uint8_t scalar[32], out[32 * USUBA_MANY];
        usuba_sc words, digits[USUBA_MANY];
    } s;
    size_t done = 0, i;
    if (!many->lanes) return 0;
    memset(&s, 0, sizeof s);
    while (count - done > 2) {
        const size_t n = count - done < many->lanes ? count - done : many->lanes;
        for (i = 0; i < n; i++) {
            memcpy(s.scalar, scalars + 32 * (done + i), 32);
            usuba_clamp(s.scalar);
            usuba_words_load(s.words, s.scalar, USUBA_WORDS);
            usuba_sc_muladd(s.words, usuba_half, usuba_offset, s.digits[i]);
        }
        many->shown(s.out, s.digits[0], usuba_comb[0][0], USUBA_SPACING);
        memcpy(out + 32 * done, s.out, 32 * n);
        done += n;
    }
    @COMMON@wipe(&s, sizeof s);
    return done;
}

/* The same of signatures. */
static USUBA_APART size_t usuba_ed25519_groups(const uint8_t *const *secret_keys,
                                               const uint8_t *const *messages,
                                               const size_t *lengths, uint8_t *signatures,
                                               size_t count)
{
    const usuba_many *many = &usuba_manies[usuba_chosen()];
    struct {
        usuba_signing one;
        usuba_sc secrets[USUBA_MANY], nonces[USUBA_MANY], digits[USUBA_MANY];
        uint8_t points[32 * USUBA_MANY];
    } s;
    size_t done = 0, i;
    if (!many->lanes) return 0;
    memset(&s, 0, sizeof s);
    while (count - done > 2) {
        const size_t n = count - done < many->lanes ? count - done : many->lanes;
        for (i = 0; i < n; i++) {
            usuba_ed25519_expand(&s.one, secret_keys[done + i]);
            memcpy(s.secrets[i], s.one.secret, sizeof s.one.secret);
            usuba_ed25519_begin(&s.one.now.hash, USUBA_PURE, NULL, 0);
            usuba_sha512_update(&s.one.now.hash, s.one.bytes + 32, 32);
            usuba_sha512_update(&s.one.now.hash, messages[done + i], lengths[done + i]);
            usuba_ed25519_end(&s.one.now.hash, s.nonces[i]);
            usuba_sc_muladd(s.nonces[i], usuba_half, usuba_offset, s.digits[i]);
        }
        many->base(s.points, s.digits[0], usuba_comb[0][0], USUBA_SPACING);
        for (i = 0; i < n; i++) {
            uint8_t *signature = signatures + 64 * (done + i);
            usuba_ed25519_begin(&s.one.now.hash, USUBA_PURE, NULL, 0);
            usuba_sha512_update(&s.one.now.hash, s.points + 32 * i, 32);
            usuba_sha512_update(&s.one.now.hash, secret_keys[done + i] + 32, 32);
            usuba_sha512_update(&s.one.now.hash, messages[done + i], lengths[done + i]);
            usuba_ed25519_end(&s.one.now.hash, s.one.now.half.number);
            usuba_sc_muladd(s.one.now.half.number, s.secrets[i], s.nonces[i],
                            s.one.now.half.sum);
            memcpy(signature, s.points + 32 * i, 32);
            usuba_words_store(signature + 32, s.one.now.half.sum, USUBA_WORDS);
        }
        done += n;
    }
    @COMMON@wipe(&s, sizeof s);
    return done;
}

/* Digits from -8 to 7 of a number below 2^255 in base 16, `apart` bytes apart. */
static void usuba_windows(const usuba_word *number, int8_t *windows, size_t apart)
{
    unsigned carry = 0, i;
    for (i = 0; i < 64; i++) {
        const unsigned digit = (unsigned)(number[i / 16] >> (4 * (i % 16)) & 15) + carry;
        carry = digit > 7;
        windows[apart * i] = (int8_t)((int)digit - (int)(16 * carry));
    }
}

/* The same of signatures that are judged; all of it is public. */
static size_t usuba_ed25519_judged(const uint8_t *const *public_keys,
                                   const uint8_t *const *messages, const size_t *lengths,
                                   const uint8_t *const *signatures, int *results, size_t count)
{
    const usuba_many *many = &usuba_manies[usuba_chosen()];
    usuba_sha512_state hash;
    usuba_sc number, digits[USUBA_MANY], words, least;
    usuba_fe y;
    uint8_t keys[32 * USUBA_MANY], points[32 * USUBA_MANY], good[USUBA_MANY], fine[USUBA_MANY];
    int8_t windows[64 * USUBA_MANY];
    size_t done = 0, i;
    if (!many->lanes) return 0;
    memset(keys, 0, sizeof keys);
    memset(windows, 0, sizeof windows);
    memset(digits, 0, sizeof digits);
    while (count - done > 2) {
        const size_t n = count - done < many->lanes ? count - done : many->lanes;
        for (i = 0; i < n; i++) {
            const uint8_t *key = public_keys[done + i], *signature = signatures[done + i];
            usuba_word below;
            memcpy(keys + 32 * i, key, 32);
            usuba_words_load(words, signature + 32, USUBA_WORDS);
            usuba_sc_below(words, &below);
            usuba_sc_muladd(words, usuba_half, usuba_offset, digits[i]);
            /* The key must have the one form of its y. */
            usuba_words_load(words, key, USUBA_WORDS);
            words[USUBA_WORDS - 1] &= (usuba_word)-1 >> 1;
            usuba_fe_unpack(words, y);
            usuba_fe_words(y, least);
            fine[i] = below && @COMMON@compare(words, least, sizeof words) == USUBA_OK;
            usuba_ed25519_begin(&hash, USUBA_PURE, NULL, 0);
            usuba_sha512_update(&hash, signature, 32);
            usuba_sha512_update(&hash, key, 32);
            usuba_sha512_update(&hash, messages[done + i], lengths[done + i]);
            usuba_ed25519_end(&hash, number);
            usuba_windows(number, windows + i, many->lanes);
        }
        many->both(points, good, keys, windows, digits[0], usuba_comb[0][0], USUBA_SPACING);
        for (i = 0; i < n; i++) {
            const int equal = @COMMON@compare(points + 32 * i, signatures[done + i], 32);
            results[done + i] = fine[i] && good[i] ? equal : USUBA_ERROR_FORGED;
        }
        done += n;
    }
    return done;
}
#endif

/* Whether one of such results is zero. */
static USUBA_APART usuba_word usuba_x25519_zeros(const uint8_t *out, size_t count)
{
    usuba_word words[USUBA_WORDS], zero = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        usuba_words_load(words, out + 32 * i, USUBA_WORDS);
        zero |= usuba_words_are_zero(words, USUBA_WORDS);
    }
    @COMMON@wipe(words, sizeof words);
    return zero;
}

int usuba_x25519_many(const uint8_t *scalars, const uint8_t *points, uint8_t *out, size_t count)
{
    usuba_word zero;
    size_t i = 0;
    if (count && (!scalars || !points || !out)) return USUBA_ERROR_NULL;
#if defined(USUBA_MANY)
    i = usuba_x25519_groups(scalars, points, out, count);
    if (i) usuba_wipe_many_stack();
#endif
    for (; i < count; i++)
        if (usuba_x25519(scalars + 32 * i, points + 32 * i, out + 32 * i) != USUBA_OK)
            memset(out + 32 * i, 0, 32);
    zero = usuba_x25519_zeros(out, count);
    usuba_wipe_stack();
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
