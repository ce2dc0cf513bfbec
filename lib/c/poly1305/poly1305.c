
/* Poly1305 around kernels modulo 2^130 - 5. The bytes of a state are the sum and the multiplier as
   limbs, the other half of the key, and the buffer of a block that is not whole. */

/* Words of 16 bytes, and bytes that limbs have at most. */
#define USUBA_POLY_HALF (128 / USUBA_WORD_BITS)
#define USUBA_POLY_LIMBS 24
#define USUBA_POLY_MULTIPLIER USUBA_POLY_LIMBS
#define USUBA_POLY_PAD (2 * USUBA_POLY_LIMBS)
#define USUBA_POLY_BUFFER (2 * USUBA_POLY_LIMBS + 16)

/* From so many blocks on two at a time are worth a square. */
#if USUBA_WORD_BITS == 64
#define USUBA_POLY_PAIRS 10
#else
#define USUBA_POLY_PAIRS 4
#endif

/* Kernels that a loop calls are part of it where code may be long: the sum stays in registers,
   which gcc must not take for pairs of words in wide ones. */
#if USUBA_WORD_BITS != 64 || defined(USUBA_SMALL) || defined(__OPTIMIZE_SIZE__)
#define USUBA_POLY_FLAT
#elif defined(__clang__)
#define USUBA_POLY_FLAT __attribute__((flatten))
#elif defined(__GNUC__)
#define USUBA_POLY_FLAT __attribute__((flatten, optimize("no-tree-slp-vectorize")))
#else
#define USUBA_POLY_FLAT
#endif

/* The phase of a state: a number that memory without a state hardly holds. */
#define USUBA_POLY_OPEN 0x75737562612070ULL

#if USUBA_WORD_BITS == 64
static inline uint64_t usuba_poly_word(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16
        | (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40
        | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

/* Without a loop, which compilers would keep: the words stay in registers. */
static inline void usuba_poly_load(uint64_t *words, const uint8_t *bytes)
{
    words[0] = usuba_poly_word(bytes);
    words[1] = usuba_poly_word(bytes + 8);
}

static void usuba_poly_store(uint8_t *bytes, const uint64_t *words)
{
    size_t i;
    for (i = 0; i < 2; i++, bytes += 8) {
        bytes[0] = (uint8_t)words[i];
        bytes[1] = (uint8_t)(words[i] >> 8);
        bytes[2] = (uint8_t)(words[i] >> 16);
        bytes[3] = (uint8_t)(words[i] >> 24);
        bytes[4] = (uint8_t)(words[i] >> 32);
        bytes[5] = (uint8_t)(words[i] >> 40);
        bytes[6] = (uint8_t)(words[i] >> 48);
        bytes[7] = (uint8_t)(words[i] >> 56);
    }
}
#else
static void usuba_poly_load(uint32_t *words, const uint8_t *bytes)
{
    size_t i;
    for (i = 0; i < USUBA_POLY_HALF; i++, bytes += 4)
        words[i] = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
            | (uint32_t)bytes[3] << 24;
}

static void usuba_poly_store(uint8_t *bytes, const uint32_t *words)
{
    size_t i;
    for (i = 0; i < 16; i++) bytes[i] = (uint8_t)(words[i / 4] >> (8 * i % 32));
}
#endif

/* One block with the bit `above` it. */
static void usuba_poly_block(const uint8_t *in, usuba_word above, usuba_word *block)
{
    usuba_word words[USUBA_POLY_HALF];
    usuba_poly_load(words, in);
    usuba_poly_unpack(words, &above, block);
}

/* Takes pairs of blocks. What is local here stays in registers, as in kernels. */
static USUBA_POLY_FLAT void usuba_poly_pairs(usuba_word *sum, const usuba_word *square,
                             const usuba_word *multiplier, const uint8_t *in, size_t pairs)
{
    usuba_poly h, l, k, block, other, next;
    memcpy(h, sum, sizeof h);
    memcpy(l, square, sizeof l);
    memcpy(k, multiplier, sizeof k);
    for (; pairs; pairs--, in += 32) {
        usuba_poly_block(in, 1, block);
        usuba_poly_block(in + 16, 1, other);
        usuba_poly_twice(h, block, other, l, k, next);
        memcpy(h, next, sizeof h);
    }
    memcpy(sum, h, sizeof h);
}

/* One block after the other. The multiplier is that of the key. */
static USUBA_POLY_FLAT void usuba_poly_singles(usuba_word *sum, const usuba_word *multiplier,
                                               const uint8_t *in, size_t nblocks, usuba_word above)
{
#if USUBA_WORD_BITS == 64
    usuba_poly h, next;
    usuba_word block[2], k[2], rest;
    usuba_poly_join(sum, h);
    usuba_poly_divide(multiplier, k, &rest);
    for (; nblocks; nblocks--, in += 16) {
        usuba_poly_load(block, in);
        usuba_poly_chain(h, block, &above, k, next);
        memcpy(h, next, sizeof h);
    }
    usuba_poly_unpack(h, h + 2, sum);
#else
    usuba_poly h, k, block, next;
    memcpy(h, sum, sizeof h);
    memcpy(k, multiplier, sizeof k);
    for (; nblocks; nblocks--, in += 16) {
        usuba_poly_block(in, above, block);
        usuba_poly_step(h, block, k, next);
        memcpy(h, next, sizeof h);
    }
    memcpy(sum, h, sizeof h);
#endif
}

/* Takes blocks, from `from` on by pairs; `above` is the bit above each. */
static void usuba_poly_blocks(usuba_word *sum, const usuba_word *multiplier, const uint8_t *in,
                              size_t nblocks, usuba_word above, size_t from)
{
    if (nblocks >= from) {
        usuba_poly square, none;
        memset(none, 0, sizeof none);
        usuba_poly_step(multiplier, none, multiplier, square);
        usuba_poly_pairs(sum, square, multiplier, in, nblocks / 2);
        in += nblocks / 2 * 32;
        nblocks %= 2;
        usuba_erase(square, sizeof square);
    }
    if (nblocks) usuba_poly_singles(sum, multiplier, in, nblocks, above);
}
@WIDE@
/* The same, side by side where there are many. */
static void usuba_poly_all(usuba_word *sum, const usuba_word *multiplier, const uint8_t *in,
                           size_t nblocks, usuba_word above)
{
    size_t from = USUBA_POLY_PAIRS;
#if defined(USUBA_POLY_LANES)
    if (nblocks >= USUBA_POLY_LANES) {
        const size_t done = usuba_poly_wide(sum, multiplier, in, nblocks);
        in += 16 * done;
        nblocks -= done;
    }
    from = usuba_poly_from();
#endif
    usuba_poly_blocks(sum, multiplier, in, nblocks, above, from);
}

/* Takes whole blocks into a state. */
static void usuba_poly_take(uint8_t *bytes, const uint8_t *in, size_t nblocks, usuba_word above)
{
    usuba_poly sum, multiplier;
    memcpy(sum, bytes, sizeof sum);
    memcpy(multiplier, bytes + USUBA_POLY_MULTIPLIER, sizeof multiplier);
    usuba_poly_all(sum, multiplier, in, nblocks, above);
    memcpy(bytes, sum, sizeof sum);
    usuba_erase(sum, sizeof sum);
    usuba_erase(multiplier, sizeof multiplier);
}

/* The multiplier of a key. `words` and `clamped` are memory for it. */
static void usuba_poly_key(const uint8_t *key, usuba_word *words, usuba_word *clamped,
                           usuba_word *multiplier)
{
    const usuba_word above = 0;
    usuba_poly_load(words, key);
    usuba_poly_clamp(words, clamped);
    usuba_poly_unpack(clamped, &above, multiplier);
}

/* The tag of a sum. `words` and `least` are memory for it. */
static void usuba_poly_give(const usuba_word *sum, const usuba_word *pad, usuba_word *words,
                            usuba_word *least, uint8_t *tag)
{
    usuba_poly_freeze(sum, least);
    usuba_poly_tag(least, pad, words);
    usuba_poly_store(tag, words);
}

int usuba_poly1305_begin(usuba_poly1305_state *state, const uint8_t key[USUBA_POLY1305_KEY_BYTES])
{
    usuba_word words[USUBA_POLY_HALF], clamped[USUBA_POLY_HALF];
    usuba_poly multiplier;
    if (!state || !key) return USUBA_ERROR_NULL;
    usuba_poly_key(key, words, clamped, multiplier);
    memcpy(state->bytes + USUBA_POLY_PAD, key + 16, 16);
    memset(state->bytes, 0, USUBA_POLY_LIMBS);
    memcpy(state->bytes + USUBA_POLY_MULTIPLIER, multiplier, sizeof multiplier);
    state->phase = USUBA_POLY_OPEN;
    state->used = 0;
    usuba_erase(words, sizeof words);
    usuba_erase(clamped, sizeof clamped);
    usuba_erase(multiplier, sizeof multiplier);
    return USUBA_OK;
}

int usuba_poly1305_update(usuba_poly1305_state *state, const uint8_t *in, size_t length)
{
    uint8_t *buffer;
    size_t used;
    if (!state) return USUBA_ERROR_NULL;
    if (state->phase != USUBA_POLY_OPEN) return USUBA_ERROR_STATE;
    if (!length) return USUBA_OK;
    if (!in) return USUBA_ERROR_NULL;
    buffer = state->bytes + USUBA_POLY_BUFFER;
    used = (size_t)state->used;
    if (used) {
        const size_t part = length < 16 - used ? length : 16 - used;
        memcpy(buffer + used, in, part);
        in += part;
        length -= part;
        used += part;
        if (used == 16) {
            usuba_poly_take(state->bytes, buffer, 1, 1);
            used = 0;
        }
    }
    if (length >= 16) {
        usuba_poly_take(state->bytes, in, length / 16, 1);
        in += length / 16 * 16;
        length %= 16;
    }
    if (length) {
        memcpy(buffer, in, length);
        used = length;
    }
    state->used = used;
    return USUBA_OK;
}

/* Ends the message. */
static void usuba_poly_end(usuba_poly1305_state *state, uint8_t *tag)
{
    usuba_word words[USUBA_POLY_HALF], pad[USUBA_POLY_HALF];
    usuba_poly sum, least;
    uint8_t *buffer = state->bytes + USUBA_POLY_BUFFER;
    const size_t used = (size_t)state->used;
    if (used) {
        /* The bit above lies in the block itself. */
        buffer[used] = 1;
        memset(buffer + used + 1, 0, 15 - used);
        usuba_poly_take(state->bytes, buffer, 1, 0);
    }
    memcpy(sum, state->bytes, sizeof sum);
    usuba_poly_load(pad, state->bytes + USUBA_POLY_PAD);
    usuba_poly_give(sum, pad, words, least, tag);
    usuba_erase(words, sizeof words);
    usuba_erase(pad, sizeof pad);
    usuba_erase(sum, sizeof sum);
    usuba_erase(least, sizeof least);
    usuba_erase(state, sizeof *state);
}

int usuba_poly1305_final(usuba_poly1305_state *state, uint8_t tag[USUBA_POLY1305_TAG_BYTES])
{
    if (!state) return USUBA_ERROR_NULL;
    if (state->phase != USUBA_POLY_OPEN) return USUBA_ERROR_STATE;
    if (!tag) return USUBA_ERROR_NULL;
    usuba_poly_end(state, tag);
    return USUBA_OK;
}

int usuba_poly1305_verify(usuba_poly1305_state *state, const uint8_t tag[USUBA_POLY1305_TAG_BYTES])
{
    uint8_t right[USUBA_POLY1305_TAG_BYTES];
    int status;
    if (!state) return USUBA_ERROR_NULL;
    if (state->phase != USUBA_POLY_OPEN) return USUBA_ERROR_STATE;
    if (!tag) return USUBA_ERROR_NULL;
    usuba_poly_end(state, right);
    status = @COMMON@compare(right, tag, sizeof right);
    usuba_erase(right, sizeof right);
    return status;
}

/* The tag of a message that is there: no state is kept, and what is secret is wiped at once. */
static void usuba_poly_whole(const uint8_t *key, const uint8_t *in, size_t length, uint8_t *tag)
{
    struct {
        usuba_poly sum, multiplier, least;
        usuba_word words[USUBA_POLY_HALF], pad[USUBA_POLY_HALF];
        uint8_t last[16];
    } s;
    const size_t rest = length % 16;
    usuba_poly_key(key, s.words, s.pad, s.multiplier);
    memset(s.sum, 0, sizeof s.sum);
    usuba_poly_all(s.sum, s.multiplier, in, length / 16, 1);
    if (rest) {
        memset(s.last, 0, sizeof s.last);
        memcpy(s.last, in + (length - rest), rest);
        /* The bit above lies in the block itself. */
        s.last[rest] = 1;
        usuba_poly_singles(s.sum, s.multiplier, s.last, 1, 0);
    }
    usuba_poly_load(s.pad, key + 16);
    usuba_poly_give(s.sum, s.pad, s.words, s.least, tag);
    usuba_erase(&s, sizeof s);
}

int usuba_poly1305_tag(const uint8_t key[USUBA_POLY1305_KEY_BYTES], const uint8_t *in,
    size_t length, uint8_t tag[USUBA_POLY1305_TAG_BYTES])
{
    if (!key || !tag || (length && !in)) return USUBA_ERROR_NULL;
    usuba_poly_whole(key, in, length, tag);
    return USUBA_OK;
}

int usuba_poly1305_check(const uint8_t key[USUBA_POLY1305_KEY_BYTES], const uint8_t *in,
    size_t length, const uint8_t tag[USUBA_POLY1305_TAG_BYTES])
{
    uint8_t right[USUBA_POLY1305_TAG_BYTES];
    int status;
    if (!key || !tag || (length && !in)) return USUBA_ERROR_NULL;
    usuba_poly_whole(key, in, length, right);
    status = @COMMON@compare(right, tag, sizeof right);
    usuba_erase(right, sizeof right);
    return status;
}
