
/* ---- Verification of many signatures as one equation. All data are public. ---- */

/* Signatures of one equation: they share its doublings, and each has two tables of odd multiples. With
   short words, an equation is one signature, which needs no tables. */
#if USUBA_WORD_BITS == 32
#define USUBA_BATCH 1
#else
#define USUBA_BATCH 16
#define USUBA_BATCH_WINDOW 4
#endif

/* The points -R and -A of a signature, the numbers of its equation, and its S. */
typedef struct {
    usuba_point points[2 * USUBA_BATCH];
    usuba_sc numbers[2 * USUBA_BATCH], sums[USUBA_BATCH];
} usuba_batch;

/* Takes a signature into place i and into the hash of all. Whether S, A and R are allowed alone. */
static USUBA_APART int usuba_batch_take(usuba_batch *all, size_t i, usuba_sha512_state *hash,
                                        const uint8_t *public_key, const uint8_t *message,
                                        size_t length, const uint8_t *signature)
{
    static const usuba_sc one = {1}, zero = {0};
    uint8_t number[32];
    usuba_sc least;
    usuba_word difference = 0;
    size_t word;
    usuba_words_load(all->sums[i], signature + 32, USUBA_WORDS);
    /* Below the order S is its own product with 1. */
    usuba_sc_muladd(all->sums[i], one, zero, least);
    for (word = 0; word < USUBA_SC_WORDS; word++) difference |= all->sums[i][word] ^ least[word];
    if (difference) return 0;
    if (!usuba_point_load(all->points[2 * i], signature) || usuba_point_is_small(all->points[2 * i]))
        return 0;
    if (!usuba_point_load(all->points[2 * i + 1], public_key)
        || usuba_point_is_small(all->points[2 * i + 1]))
        return 0;
    usuba_ed25519_challenge(USUBA_PURE, NULL, 0, public_key, message, length, signature,
                            all->numbers[2 * i + 1]);
    usuba_words_store(number, all->numbers[2 * i + 1], USUBA_WORDS);
    usuba_sha512_update(hash, signature, 64);
    usuba_sha512_update(hash, public_key, 32);
    usuba_sha512_update(hash, number, 32);
    return 1;
}

#if USUBA_WORD_BITS == 32
/* Eight times a point, without T. */
static void usuba_batch_eightfold(usuba_word *p)
{
#if defined(USUBA_FACTORS)
    int i;
    for (i = 0; i < 3; i++) usuba_point_double(p, 0);
#else
    usuba_word q[3 * USUBA_FE_WORDS], r[3 * USUBA_FE_WORDS];
    usuba_ge_double_xyz(p, q);
    usuba_ge_double_xyz(q, r);
    usuba_ge_double_xyz(r, p);
#endif
}

/* Whether 8 (S B - k A) = 8 R, of one signature: a factor changes nothing. */
static USUBA_APART int usuba_batch_holds(usuba_batch *all, size_t count, const uint8_t *seed)
{
    usuba_word *r = all->points[0], *s = all->points[1];
    usuba_fe one, other, difference;
    int i;
    (void)count;
    (void)seed;
    usuba_point_both(all->sums[0], all->numbers[1], s);
    usuba_batch_eightfold(r);
    usuba_batch_eightfold(s);
    for (i = 0; i < 2; i++) {
        usuba_fe_mul(r + i * USUBA_FE_WORDS, s + 2 * USUBA_FE_WORDS, one);
        usuba_fe_mul(s + i * USUBA_FE_WORDS, r + 2 * USUBA_FE_WORDS, other);
        usuba_fe_sub(one, other, difference);
        if (!usuba_fe_is_zero(difference)) return 0;
    }
    return 1;
}
#else
/* A factor of 128 bits for signature i, that nobody chooses: it is a hash of all signatures. */
static void usuba_batch_factor(const uint8_t *seed, size_t i, usuba_word *factor)
{
    usuba_sha512_state hash;
    uint8_t bytes[64];
    bytes[0] = (uint8_t)i;
    usuba_sha512_begin(&hash);
    usuba_sha512_update(&hash, seed, 64);
    usuba_sha512_update(&hash, bytes, 1);
    usuba_sha512_final(&hash, bytes);
    memset(bytes + 16, 0, 16);
    usuba_words_load(factor, bytes, USUBA_WORDS);
}

/* Odd multiples of a point. */
typedef usuba_point usuba_batch_table[1 << (USUBA_BATCH_WINDOW - 2)];

static void usuba_batch_multiples(const usuba_word *p, usuba_point *table)
{
    usuba_point twice, sum;
    size_t i;
    usuba_ge_cache(p, table[0]);
    usuba_ge_double(p, twice);
    for (i = 1; i < sizeof(usuba_batch_table) / sizeof(usuba_point); i++) {
        usuba_ge_add_cached(twice, table[i - 1], sum);
        usuba_ge_cache(sum, table[i]);
    }
}

/* Whether (sum of z S) B - sum of z R - sum of z k A has a small order, with a factor z for each
   signature. */
static USUBA_APART int usuba_batch_holds(usuba_batch *all, size_t count, const uint8_t *seed)
{
    usuba_batch_table tables[2 * USUBA_BATCH];
    usuba_window windows[2 * USUBA_BATCH], of_base = {NULL, 0, 0, USUBA_BASE_WINDOW, 0};
    usuba_sc base = {0}, zero = {0}, sum;
    usuba_word entry[3 * USUBA_FE_WORDS];
    usuba_point one, other;
    usuba_word *s = one, *t = other, *swap;
    size_t i;
    int bit;
    for (i = 0; i < count; i++) {
        usuba_word *z = all->numbers[2 * i], *k = all->numbers[2 * i + 1];
        usuba_batch_factor(seed, i, z);
        usuba_sc_muladd(z, all->sums[i], base, sum);
        memcpy(base, sum, sizeof base);
        usuba_sc_muladd(z, k, zero, sum);
        memcpy(k, sum, sizeof sum);
    }
    of_base.words = base;
    for (i = 0; i < 2 * count; i++) {
        const usuba_window window = {all->numbers[i], 0, 0, USUBA_BATCH_WINDOW, 0};
        windows[i] = window;
        usuba_batch_multiples(all->points[i], tables[i]);
    }
    usuba_point_zero(s);
    for (bit = 253; bit >= 0; bit--) {
        /* Factors have 128 bits, and a digit at most one more. */
        const size_t step = bit > 128 ? 2 : 1;
        usuba_ge_double(s, t);
        swap = s, s = t, t = swap;
        for (i = step - 1; i < 2 * count; i += step) {
            int digit;
            usuba_window_move(&windows[i], bit);
            digit = windows[i].digit;
            if (!digit) continue;
            if (digit < 0) usuba_ge_add_cached(s, USUBA_ODD(tables[i], digit), t);
            else usuba_ge_sub_cached(s, USUBA_ODD(tables[i], digit), t);
            swap = s, s = t, t = swap;
        }
        usuba_window_move(&of_base, bit);
        if (of_base.digit) {
            usuba_entry_load(USUBA_ODD(usuba_odd, of_base.digit), entry);
            if (of_base.digit < 0) usuba_ge_sub_affine(s, entry, t);
            else usuba_ge_add_affine(s, entry, t);
            swap = s, s = t, t = swap;
        }
    }
    return usuba_point_is_small(s);
}
#endif

/* The same of no more signatures than an equation has. */
static USUBA_APART int usuba_batch_judge(const uint8_t *const *public_keys,
                                         const uint8_t *const *messages, const size_t *lengths,
                                         const uint8_t *const *signatures, size_t count)
{
    usuba_batch all;
    usuba_sha512_state hash;
    uint8_t seed[64];
    size_t i;
    usuba_sha512_begin(&hash);
    for (i = 0; i < count; i++)
        if (!usuba_batch_take(&all, i, &hash, public_keys[i], messages[i], lengths[i],
                              signatures[i]))
            return 0;
    usuba_sha512_final(&hash, seed);
    return usuba_batch_holds(&all, count, seed);
}

int usuba_ed25519_verify_batch(const uint8_t *const *public_keys, const uint8_t *const *messages,
    const size_t *lengths, const uint8_t *const *signatures, size_t count)
{
    size_t i, part;
    if (count && (!public_keys || !messages || !lengths || !signatures)) return USUBA_ERROR_NULL;
    for (i = 0; i < count; i++)
        if (!public_keys[i] || !signatures[i] || (!messages[i] && lengths[i]))
            return USUBA_ERROR_NULL;
    for (i = 0; i < count; i += part) {
        part = count - i < USUBA_BATCH ? count - i : USUBA_BATCH;
        if (!usuba_batch_judge(public_keys + i, messages + i, lengths + i, signatures + i, part))
            return USUBA_ERROR_FORGED;
    }
    return USUBA_OK;
}
