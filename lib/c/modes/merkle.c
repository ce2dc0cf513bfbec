
/* Hash functions of Merkle and Damgard with the padding of FIPS 180-4, and over them HMAC (RFC 2104)
   and HKDF (RFC 5869). `bytes` is a chaining value and behind it the buffer of a block. */

/* Messages at once. */
#define USUBA_MERKLE_SIDE 32
#define USUBA_MERKLE_CHAIN @CHAIN_MAX@
#define USUBA_MERKLE_BLOCK @BLOCK_MAX@

/* The longest message, with room for the block of a key before it. */
#define USUBA_MERKLE_MOST (UINT64_MAX / 8 - USUBA_MERKLE_BLOCK)

/* The phase of a state: a number that memory without a state hardly holds. */
#define USUBA_MERKLE_OPEN 0x7573756261206d64ULL

/* A hash function: its first chaining value, and the bytes of the last one that are the hash. */
typedef struct {
    const usuba_chaining *chaining;
    const uint8_t *start;
    size_t output;
} usuba_merkle;

/* Whether `length` more bytes behind `done` are too many. Sizes may have fewer bits. */
static int usuba_merkle_exceeds(uint64_t length, uint64_t done)
{
    return length > USUBA_MERKLE_MOST - done;
}

static void usuba_merkle_begin(const usuba_merkle *hash, usuba_merkle_progress *progress,
                               uint8_t *bytes)
{
    memcpy(bytes, hash->start, hash->chaining->chain);
    progress->phase = USUBA_MERKLE_OPEN;
    progress->length = 0;
}

/* Takes bytes that are there into a state that takes them. */
static void usuba_merkle_take(const usuba_merkle *hash, usuba_merkle_progress *progress,
                              uint8_t *bytes, const uint8_t *in, size_t length)
{
    const usuba_chaining *chaining = hash->chaining;
    size_t used = (size_t)progress->length % chaining->block;
    usuba_absorb(chaining, bytes, bytes + chaining->chain, &used, 0, in, length);
    progress->length += length;
}

static int usuba_merkle_update(const usuba_merkle *hash, usuba_merkle_progress *progress,
                               uint8_t *bytes, const uint8_t *in, size_t length)
{
    if (progress->phase != USUBA_MERKLE_OPEN) return USUBA_ERROR_STATE;
    if (length && !in) return USUBA_ERROR_NULL;
    if (usuba_merkle_exceeds(length, progress->length)) return USUBA_ERROR_LENGTH;
    usuba_merkle_take(hash, progress, bytes, in, length);
    return USUBA_OK;
}

/* Pads the `used` bytes of a last block, behind which there is room for another one, for a message
   of `length` bytes; the number of blocks that it becomes. */
static size_t usuba_merkle_pad(const usuba_merkle *hash, uint8_t *last, size_t used,
                               uint64_t length)
{
    const size_t block = hash->chaining->block;
    const size_t blocks = used + 1 + block / 8 > block ? 2 : 1;
    const uint64_t bits = length << 3;
    size_t i;
    last[used] = 0x80;
    memset(last + used + 1, 0, blocks * block - used - 1);
    for (i = 0; i < 8; i++) last[blocks * block - 1 - i] = (uint8_t)(bits >> (8 * i));
    return blocks;
}

/* Ends the message, in the place of its last block: the hash is the beginning of `bytes`. */
static void usuba_merkle_end(const usuba_merkle *hash, const usuba_merkle_progress *progress,
                             uint8_t *bytes)
{
    const usuba_chaining *chaining = hash->chaining;
    const size_t block = chaining->block, used = (size_t)progress->length % block;
    const uint64_t bits = progress->length << 3;
    uint8_t *last = bytes + chaining->chain;
    const uint8_t *in = last;
    size_t i;
    last[used] = 0x80;
    memset(last + used + 1, 0, block - used - 1);
    if (used + 1 + block / 8 > block) {
        usuba_link_all(chaining, bytes, &in, 1, 1);
        memset(last, 0, block);
    }
    for (i = 0; i < 8; i++) last[block - 1 - i] = (uint8_t)(bits >> (8 * i));
    usuba_link_all(chaining, bytes, &in, 1, 1);
}

static int usuba_merkle_final(const usuba_merkle *hash, const usuba_merkle_progress *progress,
                              uint8_t *bytes, uint8_t *out)
{
    if (progress->phase != USUBA_MERKLE_OPEN) return USUBA_ERROR_STATE;
    if (!out) return USUBA_ERROR_NULL;
    usuba_merkle_end(hash, progress, bytes);
    memcpy(out, bytes, hash->output);
    return USUBA_OK;
}

/* One message that is there: its whole blocks where they lie, and its end. */
static void usuba_merkle_whole(const usuba_merkle *hash, const uint8_t *in, size_t length,
                               uint8_t *out)
{
    const usuba_chaining *chaining = hash->chaining;
    const size_t blocks = length / chaining->block, used = length % chaining->block;
    uint8_t chain[USUBA_MERKLE_CHAIN], last[2 * USUBA_MERKLE_BLOCK];
    const uint8_t *end = last;
    size_t ends;
    memcpy(chain, hash->start, chaining->chain);
    if (blocks) usuba_link_all(chaining, chain, &in, blocks, 1);
    if (used) memcpy(last, in + (length - used), used);
    ends = usuba_merkle_pad(hash, last, used, length);
    usuba_link_all(chaining, chain, &end, ends, 1);
    memcpy(out, chain, hash->output);
    @COMMON@wipe(last, ends * chaining->block);
    @COMMON@wipe(chain, sizeof chain);
}

static int usuba_merkle_one(const usuba_merkle *hash, const uint8_t *in, size_t length,
                            uint8_t *out)
{
    if (!out || (length && !in)) return USUBA_ERROR_NULL;
    if (usuba_merkle_exceeds(length, 0)) return USUBA_ERROR_LENGTH;
    usuba_merkle_whole(hash, in, length, out);
    return USUBA_OK;
}

/* Whole blocks into a chaining value of the caller. */
static int usuba_merkle_blocks(const usuba_merkle *hash, uint8_t *chain, const uint8_t *in,
                               size_t nblocks)
{
    const size_t chain_bytes = hash->chaining->chain, block = hash->chaining->block;
    if (!chain || (nblocks && !in)) return USUBA_ERROR_NULL;
    if (!nblocks) return USUBA_OK;
    if (nblocks > SIZE_MAX / block) return USUBA_ERROR_LENGTH;
    if ((uintptr_t)in < (uintptr_t)chain + chain_bytes
        && (uintptr_t)chain < (uintptr_t)in + nblocks * block)
        return USUBA_ERROR_OVERLAP;
    usuba_link_all(hash->chaining, chain, &in, nblocks, 1);
    return USUBA_OK;
}

/* ---- Many messages: each has a lane for its whole blocks and then for its padded end. ---- */

typedef struct {
    uint8_t chains[USUBA_MERKLE_SIDE * USUBA_MERKLE_CHAIN] USUBA_ALIGNED;
    uint8_t ends[USUBA_MERKLE_SIDE * 2 * USUBA_MERKLE_BLOCK];
    const uint8_t *at[USUBA_MERKLE_SIDE];
    size_t message[USUBA_MERKLE_SIDE], left[USUBA_MERKLE_SIDE];
    int ending[USUBA_MERKLE_SIDE];
} usuba_merkle_lanes;

/* The end of the message in lane i, which begins at `at`. */
static void usuba_merkle_lane_ends(const usuba_merkle *hash, usuba_merkle_lanes *all, size_t i,
                                   const uint8_t *at, size_t length)
{
    const size_t used = length % hash->chaining->block;
    uint8_t *end = all->ends + 2 * i * hash->chaining->block;
    if (used) memcpy(end, at, used);
    all->left[i] = usuba_merkle_pad(hash, end, used, length);
    all->at[i] = end;
    all->ending[i] = 1;
}

/* The last lane takes the place of another one. */
static void usuba_merkle_lane_moves(const usuba_merkle *hash, usuba_merkle_lanes *all, size_t from,
                                    size_t to)
{
    const size_t chain = hash->chaining->chain, end = 2 * hash->chaining->block;
    memcpy(all->chains + to * chain, all->chains + from * chain, chain);
    memcpy(all->ends + to * end, all->ends + from * end, end);
    all->at[to] = all->ending[from]
        ? all->ends + to * end + (all->at[from] - (all->ends + from * end))
        : all->at[from];
    all->message[to] = all->message[from];
    all->left[to] = all->left[from];
    all->ending[to] = all->ending[from];
}

static void usuba_merkle_run(const usuba_merkle *hash, usuba_merkle_lanes *all,
                             const uint8_t *const *in, const size_t *lengths, size_t count,
                             uint8_t *out)
{
    const size_t chain = hash->chaining->chain, block = hash->chaining->block;
    size_t active = 0, next = 0, i;
    for (;;) {
        size_t least = SIZE_MAX;
        for (; active < USUBA_MERKLE_SIDE && next < count; active++, next++) {
            memcpy(all->chains + active * chain, hash->start, chain);
            all->message[active] = next;
            all->at[active] = in[next];
            all->left[active] = lengths[next] / block;
            all->ending[active] = 0;
            if (!all->left[active])
                usuba_merkle_lane_ends(hash, all, active, in[next], lengths[next]);
        }
        if (!active) return;
        for (i = 0; i < active; i++)
            if (all->left[i] < least) least = all->left[i];
        usuba_link_all(hash->chaining, all->chains, all->at, least, active);
        for (i = 0; i < active; i++) {
            all->at[i] += least * block;
            all->left[i] -= least;
        }
        for (i = 0; i < active;) {
            if (!all->left[i] && !all->ending[i])
                usuba_merkle_lane_ends(hash, all, i, all->at[i], lengths[all->message[i]]);
            if (all->left[i]) {
                i++;
                continue;
            }
            memcpy(out + all->message[i] * hash->output, all->chains + i * chain, hash->output);
            active--;
            /* It comes next. */
            if (i < active) usuba_merkle_lane_moves(hash, all, active, i);
        }
    }
}

static int usuba_merkle_many(const usuba_merkle *hash, const uint8_t *const *in,
                             const size_t *lengths, size_t count, uint8_t *out)
{
    usuba_merkle_lanes all;
    size_t i;
    if (!count) return USUBA_OK;
    if (!in || !lengths || !out) return USUBA_ERROR_NULL;
    if (count > SIZE_MAX / hash->output) return USUBA_ERROR_LENGTH;
    for (i = 0; i < count; i++) {
        if (!lengths[i]) continue;
        if (!in[i]) return USUBA_ERROR_NULL;
        if (usuba_merkle_exceeds(lengths[i], 0)) return USUBA_ERROR_LENGTH;
        if ((uintptr_t)in[i] < (uintptr_t)out + count * hash->output
            && (uintptr_t)out < (uintptr_t)in[i] + lengths[i])
            return USUBA_ERROR_OVERLAP;
    }
    usuba_merkle_run(hash, &all, in, lengths, count, out);
    @COMMON@wipe(&all, sizeof all);
    return USUBA_OK;
}

/* ---- HMAC: the state of the inner hash, behind the block of the key, and the chaining value of the
   outer one, also behind it. ---- */

static int usuba_hmac_begin(const usuba_merkle *hash, usuba_merkle_progress *progress,
                            uint8_t *bytes, uint8_t *outer, const uint8_t *key, size_t length)
{
    const size_t chain = hash->chaining->chain, block = hash->chaining->block;
    uint8_t pad[USUBA_MERKLE_BLOCK];
    const uint8_t *in = pad;
    size_t i;
    if (length && !key) return USUBA_ERROR_NULL;
    if (usuba_merkle_exceeds(length, 0)) return USUBA_ERROR_LENGTH;
    memset(pad, 0, block);
    if (length > block) {
        usuba_merkle_whole(hash, key, length, pad);
    } else if (length) {
        memcpy(pad, key, length);
    }
    for (i = 0; i < block; i++) pad[i] ^= 0x5c;
    memcpy(outer, hash->start, chain);
    usuba_link_all(hash->chaining, outer, &in, 1, 1);
    for (i = 0; i < block; i++) pad[i] ^= 0x5c ^ 0x36;
    usuba_merkle_begin(hash, progress, bytes);
    usuba_merkle_take(hash, progress, bytes, pad, block);
    @COMMON@wipe(pad, block);
    return USUBA_OK;
}

/* Ends the message: the tag is the beginning of `bytes`. */
static void usuba_hmac_end(const usuba_merkle *hash, usuba_merkle_progress *progress,
                           uint8_t *bytes, const uint8_t *outer)
{
    const size_t chain = hash->chaining->chain, block = hash->chaining->block;
    usuba_merkle_end(hash, progress, bytes);
    memcpy(bytes + chain, bytes, hash->output);
    memcpy(bytes, outer, chain);
    progress->length = block + hash->output;
    usuba_merkle_end(hash, progress, bytes);
}

static int usuba_hmac_final(const usuba_merkle *hash, usuba_merkle_progress *progress,
                            uint8_t *bytes, const uint8_t *outer, uint8_t *tag)
{
    if (progress->phase != USUBA_MERKLE_OPEN) return USUBA_ERROR_STATE;
    if (!tag) return USUBA_ERROR_NULL;
    usuba_hmac_end(hash, progress, bytes, outer);
    memcpy(tag, bytes, hash->output);
    return USUBA_OK;
}

static int usuba_hmac_verify(const usuba_merkle *hash, usuba_merkle_progress *progress,
                             uint8_t *bytes, const uint8_t *outer, const uint8_t *tag,
                             size_t length)
{
    if (progress->phase != USUBA_MERKLE_OPEN) return USUBA_ERROR_STATE;
    if (!tag) return USUBA_ERROR_NULL;
    if (length < hash->output / 2 || length > hash->output) return USUBA_ERROR_LENGTH;
    usuba_hmac_end(hash, progress, bytes, outer);
    return @COMMON@compare(bytes, tag, length);
}

/* ---- HKDF ---- */

static int usuba_hkdf_extract(const usuba_merkle *hash, const uint8_t *salt, size_t salt_length,
                              const uint8_t *secret, size_t secret_length, uint8_t *key)
{
    uint8_t bytes[USUBA_MERKLE_CHAIN + USUBA_MERKLE_BLOCK], outer[USUBA_MERKLE_CHAIN];
    usuba_merkle_progress progress;
    int status;
    if (!key) return USUBA_ERROR_NULL;
    status = usuba_hmac_begin(hash, &progress, bytes, outer, salt, salt_length);
    if (status != USUBA_OK) return status;
    status = usuba_merkle_update(hash, &progress, bytes, secret, secret_length);
    if (status == USUBA_OK) status = usuba_hmac_final(hash, &progress, bytes, outer, key);
    @COMMON@wipe(bytes, sizeof bytes);
    @COMMON@wipe(outer, sizeof outer);
    return status;
}

static int usuba_hkdf_expand(const usuba_merkle *hash, const uint8_t *key, size_t key_length,
                             const uint8_t *info, size_t info_length, uint8_t *out, size_t length)
{
    uint8_t bytes[USUBA_MERKLE_CHAIN + USUBA_MERKLE_BLOCK], outer[USUBA_MERKLE_CHAIN];
    uint8_t start[USUBA_MERKLE_CHAIN], last[USUBA_MERKLE_CHAIN], number = 0;
    usuba_merkle_progress progress;
    int status;
    if (key_length < hash->output || length > 255 * hash->output) return USUBA_ERROR_LENGTH;
    if (usuba_merkle_exceeds(info_length, USUBA_MERKLE_BLOCK)) return USUBA_ERROR_LENGTH;
    if ((length && !out) || (info_length && !info)) return USUBA_ERROR_NULL;
    if (info_length && length && (uintptr_t)info < (uintptr_t)out + length
        && (uintptr_t)out < (uintptr_t)info + info_length)
        return USUBA_ERROR_OVERLAP;
    status = usuba_hmac_begin(hash, &progress, bytes, outer, key, key_length);
    if (status != USUBA_OK) return status;
    /* The key is set up once; nothing of the message is in the buffer then. */
    memcpy(start, bytes, hash->chaining->chain);
    while (length) {
        const size_t part = length < hash->output ? length : hash->output;
        memcpy(bytes, start, hash->chaining->chain);
        progress.length = hash->chaining->block;
        if (number) usuba_merkle_take(hash, &progress, bytes, last, hash->output);
        usuba_merkle_take(hash, &progress, bytes, info, info_length);
        number++;
        usuba_merkle_take(hash, &progress, bytes, &number, 1);
        usuba_hmac_end(hash, &progress, bytes, outer);
        memcpy(last, bytes, hash->output);
        memcpy(out, last, part);
        out += part;
        length -= part;
    }
    @COMMON@wipe(bytes, sizeof bytes);
    @COMMON@wipe(outer, sizeof outer);
    @COMMON@wipe(start, sizeof start);
    @COMMON@wipe(last, sizeof last);
    return USUBA_OK;
}

static int usuba_hkdf_derive(const usuba_merkle *hash, const uint8_t *salt, size_t salt_length,
                             const uint8_t *secret, size_t secret_length, const uint8_t *info,
                             size_t info_length, uint8_t *out, size_t length)
{
    uint8_t key[USUBA_MERKLE_CHAIN];
    int status = usuba_hkdf_extract(hash, salt, salt_length, secret, secret_length, key);
    if (status == USUBA_OK)
        status = usuba_hkdf_expand(hash, key, hash->output, info, info_length, out, length);
    @COMMON@wipe(key, sizeof key);
    return status;
}
