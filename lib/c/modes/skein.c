
/* Skein 1.3 on any size of block, from Ferguson et al., The Skein Hash Function Family, 2010. A
   chaining value is the state and behind it the tweak of the next block; `bytes` is a chaining
   value and behind it the buffer of a block. */

/* Messages, leaves, or blocks of an output at once. */
#define USUBA_SKEIN_SIDE 32
#define USUBA_SKEIN_CHAIN @CHAIN_MAX@
#define USUBA_SKEIN_BLOCK @BLOCK_MAX@

/* The types of section 3.5.1, and the flags of the upper half of a tweak. */
#define USUBA_SKEIN_KEY 0
#define USUBA_SKEIN_CONFIG 4
#define USUBA_SKEIN_MESSAGE 48
#define USUBA_SKEIN_OUTPUT 63
#define USUBA_SKEIN_PARTIAL ((uint64_t)1 << 55)
#define USUBA_SKEIN_FIRST ((uint64_t)1 << 62)
#define USUBA_SKEIN_LAST ((uint64_t)1 << 63)

/* Phases: a number that memory without a state hardly holds. The lowest three bits of the first are
   the bits of a last byte that is not whole. */
#define USUBA_SKEIN_OPEN 0x536b65696e206f70ULL
#define USUBA_SKEIN_ENDED 0x536b65696e20656eULL

static uint64_t usuba_skein_load(const uint8_t *from)
{
    uint64_t word = 0;
    size_t i = 8;
    while (i--) word = word << 8 | from[i];
    return word;
}

static void usuba_skein_store(uint8_t *to, uint64_t word)
{
    size_t i;
    for (i = 0; i < 8; i++) to[i] = (uint8_t)(word >> (8 * i));
}

/* The tweak of the first block of something whose bytes before `offset` are somewhere else. */
static void usuba_skein_tweak(const usuba_chaining *chaining, uint8_t *chain, uint64_t type,
                              uint64_t level, uint64_t offset)
{
    usuba_skein_store(chain + chaining->block, offset + chaining->block);
    usuba_skein_store(chain + chaining->block + 8, USUBA_SKEIN_FIRST | type << 56 | level << 48);
}

/* Makes the tweak that of a last block with `used` bytes. */
static void usuba_skein_last(const usuba_chaining *chaining, uint8_t *chain, size_t used,
                             uint64_t flags)
{
    uint8_t *tweak = chain + chaining->block;
    usuba_skein_store(tweak, usuba_skein_load(tweak) - chaining->block + used);
    usuba_skein_store(tweak + 8, usuba_skein_load(tweak + 8) | USUBA_SKEIN_LAST | flags);
}

/* The last block of something, of which `used` bytes are in the buffer, and of the last one of them
   the first `bits`, or all if that is 0. */
static void usuba_skein_end(const usuba_chaining *chaining, uint8_t *bytes, size_t used,
                            unsigned bits)
{
    uint8_t *buffer = bytes + chaining->chain;
    const uint8_t *in = buffer;
    memset(buffer + used, 0, chaining->block - used);
    if (bits) {
        const unsigned end = 0x80u >> bits;
        buffer[used - 1] = (uint8_t)((buffer[used - 1] & ~(end - 1)) | end);
    }
    usuba_skein_last(chaining, bytes, used, bits ? USUBA_SKEIN_PARTIAL : 0);
    usuba_link_all(chaining, bytes, &in, 1, 1);
}

/* Unique block iteration over something that is there. */
static void usuba_skein_iterate(const usuba_chaining *chaining, uint8_t *bytes, uint64_t type,
                                const uint8_t *in, size_t length)
{
    size_t used = 0;
    usuba_skein_tweak(chaining, bytes, type, 0, 0);
    usuba_absorb(chaining, bytes, bytes + chaining->chain, &used, 1, in, length);
    usuba_skein_end(chaining, bytes, used, 0);
}

static int usuba_skein_grows(const usuba_skein_parameters *p)
{
    return p && (p->leaf || p->fan_out || p->height);
}

/* Bytes that hold so many bits; 1 if there cannot be that many. */
static int usuba_skein_bytes(uint64_t bits, size_t *length)
{
    const uint64_t bytes = bits / 8 + (bits % 8 != 0);
    *length = (size_t)bytes;
    return *length != bytes;
}

static int usuba_skein_check(const usuba_skein_parameters *p, size_t output, int grows)
{
    if (!output) return USUBA_ERROR_LENGTH;
    if (output != USUBA_SKEIN_ENDLESS && output > SIZE_MAX / 8) return USUBA_ERROR_LENGTH;
    if (usuba_skein_grows(p) != grows) return USUBA_ERROR_PARAMETER;
    if (!p) return USUBA_OK;
    if ((!p->key && p->key_length) || (!p->personalization && p->personalization_length)
        || (!p->public_key && p->public_key_length) || (!p->identifier && p->identifier_length)
        || (!p->nonce && p->nonce_length))
        return USUBA_ERROR_NULL;
    if (grows && (!p->leaf || !p->fan_out || p->height < 2)) return USUBA_ERROR_PARAMETER;
    return USUBA_OK;
}

/* Everything before the message. `start` is the state after the configuration for an output of one
   block without a key, as appendix B of the paper has it, or NULL. */
static void usuba_skein_start(const usuba_chaining *chaining, uint8_t *bytes, const uint8_t *start,
                              const usuba_skein_parameters *p, size_t output)
{
    const int keyed = p && p->key_length;
    if (start && output == chaining->block && !keyed && !usuba_skein_grows(p)) {
        memcpy(bytes, start, chaining->block);
    } else {
        uint8_t config[32] = {0x53, 0x48, 0x41, 0x33, 1};
        memset(bytes, 0, chaining->block);
        if (keyed)
            usuba_skein_iterate(chaining, bytes, USUBA_SKEIN_KEY, p->key, p->key_length);
        usuba_skein_store(config + 8,
                          output == USUBA_SKEIN_ENDLESS ? UINT64_MAX : (uint64_t)output * 8);
        if (p) {
            config[16] = p->leaf;
            config[17] = p->fan_out;
            config[18] = p->height;
        }
        usuba_skein_iterate(chaining, bytes, USUBA_SKEIN_CONFIG, config, sizeof config);
    }
    if (!p) return;
    if (p->personalization)
        usuba_skein_iterate(chaining, bytes, 8, p->personalization, p->personalization_length);
    if (p->public_key)
        usuba_skein_iterate(chaining, bytes, 12, p->public_key, p->public_key_length);
    if (p->identifier)
        usuba_skein_iterate(chaining, bytes, 16, p->identifier, p->identifier_length);
    if (p->nonce) usuba_skein_iterate(chaining, bytes, 20, p->nonce, p->nonce_length);
}

/* The chaining value and the block from which block `number` of the output follows. */
static void usuba_skein_numbered(const usuba_chaining *chaining, uint8_t *chain,
                                 const uint8_t *state, uint8_t *block, uint64_t number)
{
    memmove(chain, state, chaining->block);
    usuba_skein_tweak(chaining, chain, USUBA_SKEIN_OUTPUT, 0, 0);
    usuba_skein_last(chaining, chain, 8, 0);
    memset(block, 0, chaining->block);
    usuba_skein_store(block, number);
}

/* The output from block `number` on. */
static void usuba_skein_output(const usuba_chaining *chaining, const uint8_t *state,
                               uint64_t number, uint8_t *out, size_t length)
{
    uint8_t chains[USUBA_SKEIN_SIDE * USUBA_SKEIN_CHAIN] USUBA_ALIGNED;
    uint8_t blocks[USUBA_SKEIN_SIDE * USUBA_SKEIN_BLOCK];
    const uint8_t *in[USUBA_SKEIN_SIDE];
    size_t most = 0;
    while (length) {
        const size_t left = (length - 1) / chaining->block + 1;
        const size_t count = left < USUBA_SKEIN_SIDE ? left : USUBA_SKEIN_SIDE;
        size_t i;
        for (i = 0; i < count; i++) {
            in[i] = blocks + i * chaining->block;
            usuba_skein_numbered(chaining, chains + i * chaining->chain, state,
                                 blocks + i * chaining->block, number++);
        }
        usuba_link_all(chaining, chains, in, 1, count);
        for (i = 0; i < count; i++) {
            const size_t part = length < chaining->block ? length : chaining->block;
            memcpy(out, chains + i * chaining->chain, part);
            out += part;
            length -= part;
        }
        if (count > most) most = count;
    }
    @COMMON@wipe(chains, most * chaining->chain);
}

static int usuba_skein_begin(const usuba_chaining *chaining, const uint8_t *start,
                             usuba_skein_progress *progress, uint8_t *bytes,
                             const usuba_skein_parameters *p, size_t output)
{
    const int status = usuba_skein_check(p, output, 0);
    if (status != USUBA_OK) return status;
    usuba_skein_start(chaining, bytes, start, p, output);
    usuba_skein_tweak(chaining, bytes, USUBA_SKEIN_MESSAGE, 0, 0);
    progress->phase = USUBA_SKEIN_OPEN;
    progress->number = 0;
    progress->output = output;
    progress->used = 0;
    return USUBA_OK;
}

/* Whether a message with `done` bytes can go on with `length` more at `in`. */
static int usuba_skein_goes_on(const usuba_chaining *chaining,
                               const usuba_skein_progress *progress, uint64_t done,
                               const uint8_t *in, size_t length)
{
    const uint64_t bits = progress->phase - USUBA_SKEIN_OPEN;
    if (bits > 7 || (bits && length)) return USUBA_ERROR_STATE;
    if (length && !in) return USUBA_ERROR_NULL;
    if (length > UINT64_MAX - chaining->block - done) return USUBA_ERROR_LENGTH;
    return USUBA_OK;
}

static int usuba_skein_update(const usuba_chaining *chaining, usuba_skein_progress *progress,
                              uint8_t *bytes, const uint8_t *in, size_t length, unsigned bits)
{
    const uint64_t position = usuba_skein_load(bytes + chaining->block);
    const int status = usuba_skein_goes_on(
        chaining, progress, position - chaining->block + progress->used, in, length);
    if (status != USUBA_OK) return status;
    usuba_absorb(chaining, bytes, bytes + chaining->chain, &progress->used, 1, in, length);
    progress->phase += bits;
    return USUBA_OK;
}

/* Ends the message; what is left are outputs of the state. */
static void usuba_skein_close(const usuba_chaining *chaining, usuba_skein_progress *progress,
                              uint8_t *bytes)
{
    const unsigned bits = (unsigned)(progress->phase - USUBA_SKEIN_OPEN);
    usuba_skein_end(chaining, bytes, progress->used, bits);
    progress->phase = USUBA_SKEIN_ENDED;
    progress->used = chaining->block;
}

static int usuba_skein_squeeze(const usuba_chaining *chaining, usuba_skein_progress *progress,
                               uint8_t *bytes, uint8_t *out, size_t length)
{
    uint8_t *buffer = bytes + chaining->chain;
    const uint64_t phase = progress->phase;
    size_t blocks, part;
    if (phase != USUBA_SKEIN_ENDED && phase - USUBA_SKEIN_OPEN > 7) return USUBA_ERROR_STATE;
    if (progress->output != USUBA_SKEIN_ENDLESS) return USUBA_ERROR_STATE;
    if (!length) return USUBA_OK;
    if (!out) return USUBA_ERROR_NULL;
    if (phase != USUBA_SKEIN_ENDED) usuba_skein_close(chaining, progress, bytes);
    /* The rest of a block that was begun, whole blocks, the beginning of another one. */
    part = chaining->block - progress->used;
    if (part > length) part = length;
    memcpy(out, buffer + progress->used, part);
    progress->used += part;
    out += part;
    length -= part;
    blocks = length / chaining->block;
    usuba_skein_output(chaining, bytes, progress->number, out, blocks * chaining->block);
    progress->number += blocks;
    out += blocks * chaining->block;
    length -= blocks * chaining->block;
    if (length) {
        usuba_skein_output(chaining, bytes, progress->number++, buffer, chaining->block);
        memcpy(out, buffer, length);
        progress->used = length;
    }
    return USUBA_OK;
}

/* Whether a state can end with an output of `length` bytes. */
static int usuba_skein_ends(const usuba_skein_progress *progress, const uint8_t *out, size_t length)
{
    if (progress->phase != USUBA_SKEIN_ENDED && progress->phase - USUBA_SKEIN_OPEN > 7)
        return USUBA_ERROR_STATE;
    if (!out) return USUBA_ERROR_NULL;
    if (!length) return USUBA_ERROR_LENGTH;
    if (progress->output != USUBA_SKEIN_ENDLESS && progress->output != length)
        return USUBA_ERROR_LENGTH;
    return USUBA_OK;
}

static int usuba_skein_final(const usuba_chaining *chaining, usuba_skein_progress *progress,
                             uint8_t *bytes, uint8_t *out, size_t length)
{
    const int status = usuba_skein_ends(progress, out, length);
    if (status != USUBA_OK) return status;
    if (progress->output == USUBA_SKEIN_ENDLESS)
        return usuba_skein_squeeze(chaining, progress, bytes, out, length);
    usuba_skein_close(chaining, progress, bytes);
    usuba_skein_output(chaining, bytes, 0, out, length);
    return USUBA_OK;
}

/* Whether the output of a state is this one. Its blocks are made in `buffer`; how many bytes agree
   shows neither in the answer nor in its time. */
static int usuba_skein_matches(const usuba_chaining *chaining, const uint8_t *state,
                               uint8_t *buffer, const uint8_t *tag, size_t length)
{
    uint64_t number = 0;
    int status = USUBA_OK;
    while (length) {
        const size_t part = length < chaining->block ? length : chaining->block;
        usuba_skein_output(chaining, state, number++, buffer, part);
        status |= @COMMON@compare(buffer, tag, part);
        tag += part;
        length -= part;
    }
    return status;
}

/* Whether a state can end with a tag of `length` bytes: with no other length than it was begun
   with, lest whoever sends a tag may choose a short one. */
static int usuba_skein_judges(const usuba_skein_progress *progress, const uint8_t *tag,
                              size_t length)
{
    const int status = usuba_skein_ends(progress, tag, length);
    if (status != USUBA_OK) return status;
    return progress->output == USUBA_SKEIN_ENDLESS ? USUBA_ERROR_LENGTH : USUBA_OK;
}

static int usuba_skein_verify(const usuba_chaining *chaining, usuba_skein_progress *progress,
                              uint8_t *bytes, const uint8_t *tag, size_t length)
{
    const int status = usuba_skein_judges(progress, tag, length);
    if (status != USUBA_OK) return status;
    usuba_skein_close(chaining, progress, bytes);
    return usuba_skein_matches(chaining, bytes, bytes + chaining->chain, tag, length);
}

/* ---- Trees: `bytes` is the open leaf, the open node of each level above, and the state that all
   of them start from. The buffer of a node holds the last block that came from below, because that
   may be the only one. ---- */

static uint8_t *usuba_skein_node(const usuba_chaining *chaining, uint8_t *bytes, size_t level)
{
    return bytes + (level + 1) * (chaining->chain + chaining->block);
}

static const uint8_t *usuba_skein_root(const usuba_chaining *chaining, const uint8_t *bytes)
{
    return bytes + (USUBA_SKEIN_LEVELS + 1) * (chaining->chain + chaining->block);
}

/* Bytes of a leaf; what is beyond 64 bits has no end. */
static uint64_t usuba_skein_leaf(const usuba_chaining *chaining, unsigned leaf)
{
    const uint64_t block = chaining->block;
    return leaf > 63 || block << leaf >> leaf != block ? UINT64_MAX : block << leaf;
}

/* Blocks of a node on a level; 0 if it has no end. */
static uint64_t usuba_skein_children(const usuba_skein_growth *growth, size_t level)
{
    return level + 2 == growth->height || growth->fan_out > 63 ? 0 : (uint64_t)1 << growth->fan_out;
}

/* Begins the leaf at byte `done` of the message. */
static void usuba_skein_open(const usuba_chaining *chaining, usuba_skein_growth *growth,
                             uint8_t *bytes)
{
    memcpy(bytes, usuba_skein_root(chaining, bytes), chaining->block);
    usuba_skein_tweak(chaining, bytes, USUBA_SKEIN_MESSAGE, 1, growth->done);
    growth->progress.used = 0;
    growth->inside = 0;
}

/* Takes the block in the buffer of a node into it, which may be the last one of the node. */
static void usuba_skein_join(const usuba_chaining *chaining, const usuba_skein_growth *growth,
                             uint8_t *bytes, size_t level, int last)
{
    uint8_t *node = usuba_skein_node(chaining, bytes, level);
    const uint64_t before = growth->counts[level] - 1;
    const uint64_t children = usuba_skein_children(growth, level);
    if (children ? before % children == 0 : before == 0) {
        memcpy(node, usuba_skein_root(chaining, bytes), chaining->block);
        usuba_skein_tweak(chaining, node, USUBA_SKEIN_MESSAGE, level + 2, before * chaining->block);
    }
    if (last) {
        usuba_skein_end(chaining, node, chaining->block, 0);
    } else {
        const uint8_t *in = node + chaining->chain;
        usuba_link_all(chaining, node, &in, 1, 1);
    }
}

/* Passes what came of a leaf on to the levels from `level` on. */
static void usuba_skein_push(const usuba_chaining *chaining, usuba_skein_growth *growth,
                             uint8_t *bytes, size_t level, const uint8_t *block)
{
    uint8_t next[USUBA_SKEIN_BLOCK];
    memcpy(next, block, chaining->block);
    for (;; level++) {
        uint8_t *node = usuba_skein_node(chaining, bytes, level);
        uint64_t *count = &growth->counts[level];
        const uint64_t children = usuba_skein_children(growth, level);
        const int full = *count && children && *count % children == 0;
        if (*count) usuba_skein_join(chaining, growth, bytes, level, full);
        memcpy(node + chaining->chain, next, chaining->block);
        ++*count;
        if (!full) break;
        memcpy(next, node, chaining->block);
    }
    @COMMON@wipe(next, chaining->block);
}

static int usuba_skein_tree_begin(const usuba_chaining *chaining, usuba_skein_growth *growth,
                                  uint8_t *bytes, const usuba_skein_parameters *p, size_t output)
{
    const int status = usuba_skein_check(p, output, 1);
    if (status != USUBA_OK) return status;
    if (output == USUBA_SKEIN_ENDLESS) return USUBA_ERROR_LENGTH;
    memset(growth, 0, sizeof *growth);
    growth->leaf = p->leaf;
    growth->fan_out = p->fan_out;
    growth->height = p->height;
    growth->progress.phase = USUBA_SKEIN_OPEN;
    growth->progress.output = output;
    usuba_skein_start(chaining, bytes, NULL, p, output);
    memcpy(bytes + (USUBA_SKEIN_LEVELS + 1) * (chaining->chain + chaining->block), bytes,
           chaining->block);
    usuba_skein_open(chaining, growth, bytes);
    return USUBA_OK;
}

/* `count` whole leaves side by side. */
static void usuba_skein_leaves(const usuba_chaining *chaining, usuba_skein_growth *growth,
                               uint8_t *bytes, const uint8_t *in, size_t size, size_t count)
{
    uint8_t chains[USUBA_SKEIN_SIDE * USUBA_SKEIN_CHAIN] USUBA_ALIGNED;
    const uint8_t *places[USUBA_SKEIN_SIDE] = {NULL};
    size_t i;
    for (i = 0; i < count; i++) {
        uint8_t *chain = chains + i * chaining->chain;
        memcpy(chain, usuba_skein_root(chaining, bytes), chaining->block);
        usuba_skein_tweak(chaining, chain, USUBA_SKEIN_MESSAGE, 1, growth->done + i * size);
        places[i] = in + i * size;
    }
    usuba_link_all(chaining, chains, places, size / chaining->block - 1, count);
    for (i = 0; i < count; i++) {
        usuba_skein_last(chaining, chains + i * chaining->chain, chaining->block, 0);
        places[i] += size - chaining->block;
    }
    usuba_link_all(chaining, chains, places, 1, count);
    for (i = 0; i < count; i++)
        usuba_skein_push(chaining, growth, bytes, 0, chains + i * chaining->chain);
    @COMMON@wipe(chains, count * chaining->chain);
}

static int usuba_skein_tree_update(const usuba_chaining *chaining, usuba_skein_growth *growth,
                                   uint8_t *bytes, const uint8_t *in, size_t length, unsigned bits)
{
    usuba_skein_progress *progress = &growth->progress;
    const uint64_t size = usuba_skein_leaf(chaining, growth->leaf);
    const int status =
        usuba_skein_goes_on(chaining, progress, growth->done + growth->inside, in, length);
    if (status != USUBA_OK) return status;
    while (length) {
        size_t part = length;
        if (growth->inside == size) {
            usuba_skein_end(chaining, bytes, progress->used, 0);
            usuba_skein_push(chaining, growth, bytes, 0, bytes);
            growth->done += size;
            usuba_skein_open(chaining, growth, bytes);
        }
        /* The last leaf stays open, because nobody knows whether it ends there. */
        if (!growth->inside && (length - 1) / size >= 2) {
            const size_t most = (size_t)((length - 1) / size);
            const size_t count = most < USUBA_SKEIN_SIDE ? most : USUBA_SKEIN_SIDE;
            usuba_skein_leaves(chaining, growth, bytes, in, (size_t)size, count);
            growth->done += count * size;
            usuba_skein_open(chaining, growth, bytes);
            in += count * (size_t)size;
            length -= count * (size_t)size;
            continue;
        }
        if (part > size - growth->inside) part = (size_t)(size - growth->inside);
        usuba_absorb(chaining, bytes, bytes + chaining->chain, &progress->used, 1, in, part);
        growth->inside += part;
        in += part;
        length -= part;
    }
    progress->phase += bits;
    return USUBA_OK;
}

/* Ends the message; the answer is the state that outputs are made from. */
static const uint8_t *usuba_skein_tree_close(const usuba_chaining *chaining,
                                             usuba_skein_growth *growth, uint8_t *bytes)
{
    size_t level = 0;
    usuba_skein_close(chaining, &growth->progress, bytes);
    usuba_skein_push(chaining, growth, bytes, 0, bytes);
    /* A level with one block ends the tree with that block; of others the last node is open. */
    while (growth->counts[level] > 1) {
        const uint8_t *node = usuba_skein_node(chaining, bytes, level);
        usuba_skein_join(chaining, growth, bytes, level, 1);
        level++;
        usuba_skein_push(chaining, growth, bytes, level, node);
    }
    return usuba_skein_node(chaining, bytes, level) + chaining->chain;
}

static int usuba_skein_tree_final(const usuba_chaining *chaining, usuba_skein_growth *growth,
                                  uint8_t *bytes, uint8_t *out, size_t length)
{
    const int status = usuba_skein_ends(&growth->progress, out, length);
    if (status != USUBA_OK) return status;
    usuba_skein_output(chaining, usuba_skein_tree_close(chaining, growth, bytes), 0, out, length);
    return USUBA_OK;
}

static int usuba_skein_tree_verify(const usuba_chaining *chaining, usuba_skein_growth *growth,
                                   uint8_t *bytes, const uint8_t *tag, size_t length)
{
    const int status = usuba_skein_judges(&growth->progress, tag, length);
    if (status != USUBA_OK) return status;
    return usuba_skein_matches(chaining, usuba_skein_tree_close(chaining, growth, bytes),
                               bytes + chaining->chain, tag, length);
}

/* ---- Many messages: each has a lane for its blocks, its last block and its output. ---- */

typedef struct {
    size_t message, left;
    const uint8_t *at;
    uint64_t number;
    /* 0: whole blocks of the message; 1: its last block; 2: a block of the output. */
    int phase;
} usuba_skein_lane;

typedef struct {
    uint8_t chains[USUBA_SKEIN_SIDE * USUBA_SKEIN_CHAIN] USUBA_ALIGNED;
    /* Blocks that are not in a message, and what outputs are made from. */
    uint8_t blocks[USUBA_SKEIN_SIDE * USUBA_SKEIN_BLOCK];
    uint8_t states[USUBA_SKEIN_SIDE * USUBA_SKEIN_BLOCK];
    usuba_skein_lane lanes[USUBA_SKEIN_SIDE];
} usuba_skein_lanes;

/* The last block of a lane's message, of which `rest` bytes begin at `at`. */
static void usuba_skein_lane_ends(const usuba_chaining *chaining, usuba_skein_lanes *all, size_t i,
                                  const uint8_t *at, size_t rest)
{
    uint8_t *block = all->blocks + i * chaining->block;
    if (rest) memcpy(block, at, rest);
    memset(block + rest, 0, chaining->block - rest);
    usuba_skein_last(chaining, all->chains + i * chaining->chain, rest, 0);
    all->lanes[i].phase = 1;
    all->lanes[i].left = 1;
    all->lanes[i].at = block;
}

/* What lane i does next; 0 if that is nothing. */
static int usuba_skein_lane_next(const usuba_chaining *chaining, usuba_skein_lanes *all, size_t i,
                                 const size_t *lengths, uint8_t *out, size_t out_length)
{
    const size_t size = chaining->block;
    usuba_skein_lane *lane = &all->lanes[i];
    uint8_t *chain = all->chains + i * chaining->chain;
    uint8_t *state = all->states + i * size, *block = all->blocks + i * size;
    if (lane->phase == 0) {
        usuba_skein_lane_ends(chaining, all, i, lane->at, (lengths[lane->message] - 1) % size + 1);
        return 1;
    }
    if (lane->phase == 1) {
        memcpy(state, chain, size);
        lane->phase = 2;
        lane->number = 0;
    } else {
        const size_t before = (size_t)lane->number * size, left = out_length - before;
        memcpy(out + lane->message * out_length + before, chain, left < size ? left : size);
        if (left <= size) return 0;
        lane->number++;
    }
    usuba_skein_numbered(chaining, chain, state, block, lane->number);
    lane->left = 1;
    lane->at = block;
    return 1;
}

/* All messages from the state `start` on. */
static void usuba_skein_run(const usuba_chaining *chaining, usuba_skein_lanes *all,
                            const uint8_t *start, const uint8_t *const *in, const size_t *lengths,
                            size_t count, uint8_t *out, size_t out_length)
{
    const size_t size = chaining->block;
    const uint8_t *places[USUBA_SKEIN_SIDE];
    size_t active = 0, next = 0, i;
    for (;;) {
        size_t least = SIZE_MAX;
        for (; active < USUBA_SKEIN_SIDE && next < count; active++, next++) {
            uint8_t *chain = all->chains + active * chaining->chain;
            usuba_skein_lane *lane = &all->lanes[active];
            memcpy(chain, start, size);
            usuba_skein_tweak(chaining, chain, USUBA_SKEIN_MESSAGE, 0, 0);
            lane->message = next;
            lane->phase = 0;
            lane->at = in[next];
            lane->left = lengths[next] ? (lengths[next] - 1) / size : 0;
            if (!lane->left) usuba_skein_lane_ends(chaining, all, active, in[next], lengths[next]);
        }
        if (!active) return;
        for (i = 0; i < active; i++) {
            places[i] = all->lanes[i].at;
            if (all->lanes[i].left < least) least = all->lanes[i].left;
        }
        usuba_link_all(chaining, all->chains, places, least, active);
        for (i = 0; i < active; i++) {
            all->lanes[i].at += least * size;
            all->lanes[i].left -= least;
            if (all->lanes[i].left) continue;
            if (usuba_skein_lane_next(chaining, all, i, lengths, out, out_length)) continue;
            /* The last lane takes the place; it comes next. */
            active--;
            if (i < active) {
                all->lanes[i] = all->lanes[active];
                memcpy(all->chains + i * chaining->chain, all->chains + active * chaining->chain,
                       chaining->chain);
                memcpy(all->states + i * size, all->states + active * size, size);
                i--;
            }
        }
    }
}

static int usuba_skein_many(const usuba_chaining *chaining, const uint8_t *start,
                            const usuba_skein_parameters *p, const uint8_t *const *in,
                            const size_t *lengths, size_t count, uint8_t *out, size_t out_length)
{
    uint8_t bytes[USUBA_SKEIN_CHAIN + USUBA_SKEIN_BLOCK];
    usuba_skein_lanes all;
    size_t i;
    const int status = usuba_skein_check(p, out_length, 0);
    if (status != USUBA_OK) return status;
    if (out_length == USUBA_SKEIN_ENDLESS) return USUBA_ERROR_LENGTH;
    if (!count) return USUBA_OK;
    if (!in || !lengths || !out) return USUBA_ERROR_NULL;
    if (count > SIZE_MAX / out_length) return USUBA_ERROR_LENGTH;
    for (i = 0; i < count; i++) {
        if (!lengths[i]) continue;
        if (!in[i]) return USUBA_ERROR_NULL;
        if ((uintptr_t)in[i] < (uintptr_t)out + count * out_length
            && (uintptr_t)out < (uintptr_t)in[i] + lengths[i])
            return USUBA_ERROR_OVERLAP;
    }
    usuba_skein_start(chaining, bytes, start, p, out_length);
    usuba_skein_run(chaining, &all, bytes, in, lengths, count, out, out_length);
    @COMMON@wipe(bytes, sizeof bytes);
    @COMMON@wipe(&all, sizeof all);
    return USUBA_OK;
}
