
/* The variants of RFC 8032 by what they put before the messages of their hashes. */
#define USUBA_PURE (-1)
#define USUBA_CONTEXT 0
#define USUBA_PREHASHED 1

/* Begins a hash. */
static void usuba_ed25519_begin(usuba_sha512_state *hash, int variant, const uint8_t *context,
                                size_t length)
{
    static const uint8_t name[32] = {0x53, 0x69, 0x67, 0x45, 0x64, 0x32, 0x35, 0x35, 0x31, 0x39,
                                     0x20, 0x6e, 0x6f, 0x20, 0x45, 0x64, 0x32, 0x35, 0x35, 0x31,
                                     0x39, 0x20, 0x63, 0x6f, 0x6c, 0x6c, 0x69, 0x73, 0x69, 0x6f,
                                     0x6e, 0x73};
    uint8_t flags[2];
    usuba_sha512_begin(hash);
    if (variant == USUBA_PURE) return;
    flags[0] = (uint8_t)variant;
    flags[1] = (uint8_t)length;
    usuba_sha512_update(hash, name, sizeof name);
    usuba_sha512_update(hash, flags, 2);
    usuba_sha512_update(hash, context, length);
}

/* Ends a hash as a number below the order. */
static void usuba_ed25519_end(usuba_sha512_state *hash, usuba_word *r)
{
    usuba_word words[2 * USUBA_WORDS];
    uint8_t *bytes = (uint8_t *)words;
    usuba_sha512_final(hash, bytes);
    usuba_words_load(words, bytes, 2 * USUBA_WORDS);
    usuba_sc_reduce(words, r);
    @COMMON@wipe(words, sizeof words);
}

/* Whether arguments can be meant. */
static int usuba_ed25519_check(int variant, const uint8_t *context, size_t context_length,
                               const uint8_t *message, size_t length)
{
    if ((!message && length) || (!context && context_length)) return USUBA_ERROR_NULL;
    if (context_length > 255 || (variant == USUBA_CONTEXT && !context_length))
        return USUBA_ERROR_LENGTH;
    return USUBA_OK;
}

/* What signing keeps secret: the two halves of the hash of a seed, numbers, and in one place what is
   of use one after the other. */
typedef struct {
    uint8_t bytes[64];
    usuba_sc secret, nonce;
    union {
        usuba_sha512_state hash;
        usuba_point point;
        struct {
            usuba_sc number, sum;
        } half;
    } now;
} usuba_signing;

/* The secret number of a seed, and behind it what makes nonces. */
static void usuba_ed25519_expand(usuba_signing *s, const uint8_t *seed)
{
    usuba_sha512_begin(&s->now.hash);
    usuba_sha512_update(&s->now.hash, seed, 32);
    usuba_sha512_final(&s->now.hash, s->bytes);
    usuba_clamp(s->bytes);
    usuba_words_load(s->secret, s->bytes, USUBA_WORDS);
}

static USUBA_APART void usuba_ed25519_finish(int variant, const uint8_t *context,
                                             size_t context_length, const uint8_t *secret_key,
                                             const uint8_t *message, size_t length,
                                             uint8_t *signature)
{
    usuba_signing s;
    usuba_ed25519_expand(&s, secret_key);
    usuba_ed25519_begin(&s.now.hash, variant, context, context_length);
    usuba_sha512_update(&s.now.hash, s.bytes + 32, 32);
    usuba_sha512_update(&s.now.hash, message, length);
    usuba_ed25519_end(&s.now.hash, s.nonce);
    usuba_point_base(s.nonce, s.now.point);
    usuba_point_store(s.now.point, s.bytes);
    usuba_ed25519_begin(&s.now.hash, variant, context, context_length);
    usuba_sha512_update(&s.now.hash, s.bytes, 32);
    usuba_sha512_update(&s.now.hash, secret_key + 32, 32);
    usuba_sha512_update(&s.now.hash, message, length);
    usuba_ed25519_end(&s.now.hash, s.now.half.number);
    usuba_sc_muladd(s.now.half.number, s.secret, s.nonce, s.now.half.sum);
    usuba_words_store(s.bytes + 32, s.now.half.sum, USUBA_WORDS);
    memcpy(signature, s.bytes, 64);
    @COMMON@wipe(&s, sizeof s);
}

static int usuba_ed25519_make(int variant, const uint8_t *context, size_t context_length,
                              const uint8_t *secret_key, const uint8_t *message, size_t length,
                              uint8_t *signature)
{
    const int status = usuba_ed25519_check(variant, context, context_length, message, length);
    if (!secret_key || !signature) return USUBA_ERROR_NULL;
    if (status != USUBA_OK) return status;
    usuba_ed25519_finish(variant, context, context_length, secret_key, message, length, signature);
    usuba_wipe_stack();
    return USUBA_OK;
}

/* The number that a key, a message and the first half of a signature make. */
static USUBA_APART void usuba_ed25519_challenge(int variant, const uint8_t *context,
                                                size_t context_length, const uint8_t *public_key,
                                                const uint8_t *message, size_t length,
                                                const uint8_t *half, usuba_word *number)
{
    usuba_sha512_state hash;
    usuba_ed25519_begin(&hash, variant, context, context_length);
    usuba_sha512_update(&hash, half, 32);
    usuba_sha512_update(&hash, public_key, 32);
    usuba_sha512_update(&hash, message, length);
    usuba_ed25519_end(&hash, number);
}

/* Whether a signature is that of a message which makes the number with it. */
static USUBA_APART int usuba_ed25519_decide(const usuba_word *number, const uint8_t *public_key,
                                            const uint8_t *signature)
{
    usuba_sc words;
    usuba_point point;
    usuba_word below;
    usuba_words_load(words, signature + 32, USUBA_WORDS);
    usuba_sc_below(words, &below);
    if (!below || !usuba_point_load(point, public_key) || usuba_point_is_small(point))
        return USUBA_ERROR_FORGED;
    usuba_point_both(words, number, point);
    if (usuba_point_is_small(point)) return USUBA_ERROR_FORGED;
    usuba_point_store(point, (uint8_t *)words);
    return @COMMON@compare(words, signature, 32);
}

static int usuba_ed25519_judge(int variant, const uint8_t *context, size_t context_length,
                               const uint8_t *public_key, const uint8_t *message, size_t length,
                               const uint8_t *signature)
{
    usuba_sc number;
    const int status = usuba_ed25519_check(variant, context, context_length, message, length);
    if (!public_key || !signature) return USUBA_ERROR_NULL;
    if (status != USUBA_OK) return status;
    usuba_ed25519_challenge(variant, context, context_length, public_key, message, length,
                            signature, number);
    return usuba_ed25519_decide(number, public_key, signature);
}

static USUBA_APART void usuba_ed25519_keys(const uint8_t *seed, uint8_t *public_key,
                                           uint8_t *secret_key)
{
    usuba_signing s;
    usuba_ed25519_expand(&s, seed);
    usuba_point_base(s.secret, s.now.point);
    /* The seed may lie where the keys come. */
    memcpy(s.bytes, seed, 32);
    usuba_point_store(s.now.point, s.bytes + 32);
    memcpy(secret_key, s.bytes, 64);
    memcpy(public_key, s.bytes + 32, 32);
    @COMMON@wipe(&s, sizeof s);
}

int usuba_ed25519_keypair_from_seed(const uint8_t seed[32], uint8_t public_key[32],
    uint8_t secret_key[64])
{
    if (!seed || !public_key || !secret_key) return USUBA_ERROR_NULL;
    usuba_ed25519_keys(seed, public_key, secret_key);
    usuba_wipe_stack();
    return USUBA_OK;
}

int usuba_ed25519_sign(const uint8_t secret_key[64], const uint8_t *message, size_t length,
    uint8_t signature[64])
{
    return usuba_ed25519_make(USUBA_PURE, NULL, 0, secret_key, message, length, signature);
}

int usuba_ed25519_verify(const uint8_t public_key[32], const uint8_t *message, size_t length,
    const uint8_t signature[64])
{
    return usuba_ed25519_judge(USUBA_PURE, NULL, 0, public_key, message, length, signature);
}

int usuba_ed25519ctx_sign(const uint8_t secret_key[64], const uint8_t *context,
    size_t context_length, const uint8_t *message, size_t length, uint8_t signature[64])
{
    return usuba_ed25519_make(USUBA_CONTEXT, context, context_length, secret_key, message, length,
        signature);
}

int usuba_ed25519ctx_verify(const uint8_t public_key[32], const uint8_t *context,
    size_t context_length, const uint8_t *message, size_t length, const uint8_t signature[64])
{
    return usuba_ed25519_judge(USUBA_CONTEXT, context, context_length, public_key, message, length,
        signature);
}

int usuba_ed25519ph_sign(const uint8_t secret_key[64], const uint8_t *context,
    size_t context_length, const uint8_t hash[64], uint8_t signature[64])
{
    return usuba_ed25519_make(USUBA_PREHASHED, context, context_length, secret_key, hash, 64,
        signature);
}

int usuba_ed25519ph_verify(const uint8_t public_key[32], const uint8_t *context,
    size_t context_length, const uint8_t hash[64], const uint8_t signature[64])
{
    return usuba_ed25519_judge(USUBA_PREHASHED, context, context_length, public_key, hash, 64,
        signature);
}
