
#if !defined(USUBA_SEAL_KEYED)
#define USUBA_SEAL_KEYED
/* ---- A hash function under a key, which lies prepared behind a state of 16 bytes: GHASH, POLYVAL. ---- */

/* A block that is added to a state multiplies the sum by the key. `prepare` makes a key of an element; the
   state of the block `one` is the key's element. */
typedef struct {
    const usuba_chaining *chaining;
    /* Of eight blocks, if there is one: the powers of the key then lie behind the prepared key. */
    const usuba_chaining *wide;
    int (*prepare)(const uint8_t *element, uint8_t *key, size_t count);
    uint8_t one[16];
} usuba_keyed;

/* Blocks that are taken at once. */
#define USUBA_KEYED_WIDE 8

/* The first state, with a prepared key of `size` bytes. */
static void usuba_keyed_begin(uint8_t *chain, const uint8_t *key, size_t size)
{
    memset(chain, 0, 16);
    memcpy(chain + 16, key, size);
}

/* Bytes of the longest state with its key. */
#define USUBA_KEYED_CHAIN 64

/* Prepares a key of an element, and its powers. */
static USUBA_SPARE int usuba_keyed_init(const usuba_keyed *hash, const uint8_t *element, uint8_t *key)
{
    const size_t size = hash->chaining->chain;
    const int status = hash->prepare(element, key, 1);
#if defined(USUBA_SMALL)
    if (hash->wide) memset(key + (size - 16), 0, 16 * USUBA_KEYED_WIDE);
#else
    static const uint8_t zeros[16] = {0};
    uint8_t chain[USUBA_KEYED_CHAIN], prepared[USUBA_KEYED_CHAIN];
    const uint8_t *place = hash->one;
    size_t i;
    if (status != USUBA_OK || !hash->wide) return status;
    usuba_keyed_begin(chain, key, size - 16);
    for (i = 0; i < USUBA_KEYED_WIDE; i++) {
        usuba_link_all(hash->chaining, chain, &place, 1, 1);
        place = zeros;
        (void)hash->prepare(chain, prepared, 1);
        memcpy(key + (size - 16) + 16 * i, prepared, 16);
    }
    usuba_erase(chain, sizeof chain);
    usuba_erase(prepared, sizeof prepared);
#endif
    return status;
}

#if !defined(USUBA_SMALL)
/* States of the widest kernel that is used. */
#define USUBA_KEYED_LANES 128

/* Segments of a message whose states lie side by side; 1 if one state is as fast. */
static size_t usuba_keyed_width(const usuba_chaining *chaining, size_t nblocks)
{
    const usuba_link_step *step = chaining->ladders[usuba_chosen()];
    const size_t few = nblocks < 256 ? 8 : 16;
    size_t width;
    while (step->from > 1 && (step->unit > USUBA_KEYED_LANES || nblocks < 4 * step->unit)) step++;
    width = step->unit < few ? few : step->unit;
    return step->unit == 1 || width > USUBA_KEYED_LANES || nblocks < 4 * width ? 1 : width;
}

/* Multiplies the states of `count` chains by their keys. */
static void usuba_keyed_times(const usuba_chaining *chaining, uint8_t *chains, size_t count)
{
    static const uint8_t zeros[16] = {0};
    const uint8_t *at[USUBA_KEYED_LANES];
    size_t i;
    for (i = 0; i < count; i++) at[i] = zeros;
    usuba_link_all(chaining, chains, at, 1, count);
}

/* The square of an element, with the key of the element in its chain, and then the key of the square. */
static void usuba_keyed_square(const usuba_keyed *hash, uint8_t *chain)
{
    usuba_keyed_times(hash->chaining, chain, 1);
    (void)hash->prepare(chain, chain + 16, 1);
}

/* The power of the key's element, with its own key. */
static void usuba_keyed_power(const usuba_keyed *hash, const uint8_t *key, size_t exponent, uint8_t *chain)
{
    const size_t size = hash->chaining->chain - 16;
    const uint8_t *place = hash->one;
    size_t bit = 1;
    while (exponent >> 1 >= bit) bit <<= 1;
    usuba_keyed_begin(chain, key, size);
    usuba_link_all(hash->chaining, chain, &place, 1, 1);
    while (bit >>= 1) {
        usuba_keyed_square(hash, chain);
        if (exponent & bit) {
            memcpy(chain + 16, key, size);
            usuba_keyed_times(hash->chaining, chain, 1);
            (void)hash->prepare(chain, chain + 16, 1);
        }
    }
}

/* The states of `count` segments of equal length as one: in pairs, the first of each times the power of
   the key for the length of a segment, which doubles. `chains` has the sum at its beginning. */
static void usuba_keyed_fold(const usuba_keyed *hash, uint8_t *chains, size_t count, uint8_t *power)
{
    const size_t size = hash->chaining->chain;
    uint8_t right[USUBA_KEYED_LANES / 2 * 16];
    size_t i, j;
    while (count > 1) {
        const size_t pairs = count / 2;
        uint8_t *from = chains + count % 2 * size, *to = from;
        for (i = 0; i < pairs; i++, to += size, from += 2 * size) {
            memcpy(right + 16 * i, from + size, 16);
            memmove(to, from, 16);
            memcpy(to + 16, power + 16, size - 16);
        }
        to = chains + count % 2 * size;
        usuba_keyed_times(hash->chaining, to, pairs);
        for (i = 0; i < pairs; i++)
            for (j = 0; j < 16; j++) to[i * size + j] ^= right[16 * i + j];
        count -= pairs;
        if (count > 1) usuba_keyed_square(hash, power);
    }
    usuba_erase(right, sizeof right);
}

/* A long message in segments, of which the first one may be shorter. */
static void usuba_keyed_segments(const usuba_keyed *hash, uint8_t *chain, const uint8_t *in, size_t nblocks,
                                 size_t width)
{
    const size_t size = hash->chaining->chain, length = (nblocks + width - 1) / width;
    const size_t count = (nblocks + length - 1) / length, first = nblocks - (count - 1) * length;
    uint8_t chains[USUBA_KEYED_LANES * USUBA_KEYED_CHAIN] USUBA_ALIGNED, power[USUBA_KEYED_CHAIN];
    const uint8_t *at[USUBA_KEYED_LANES];
    size_t i;
    at[0] = in;
    for (i = 0; i < count; i++) {
        if (i) at[i] = in + 16 * (first + (i - 1) * length);
        usuba_keyed_begin(chains + size * i, chain + 16, size - 16);
    }
    memcpy(chains, chain, 16);
    usuba_link_all(hash->chaining, chains, at, first, count);
    if (first < length) {
        for (i = 1; i < count; i++) at[i] += 16 * first;
        usuba_link_all(hash->chaining, chains + size, at + 1, length - first, count - 1);
    }
    usuba_keyed_power(hash, chain + 16, length, power);
    usuba_keyed_fold(hash, chains, count, power);
    memcpy(chain, chains, 16);
    usuba_erase(chains, size * count);
    usuba_erase(power, sizeof power);
}
#endif

/* Takes whole blocks. */
static void usuba_keyed_blocks(const usuba_keyed *hash, uint8_t *chain, const uint8_t *in, size_t nblocks)
{
#if !defined(USUBA_SMALL)
    const usuba_link_step *step = hash->wide ? hash->wide->ladders[usuba_chosen()] : NULL;
    size_t width;
    if (step && nblocks >= USUBA_KEYED_WIDE) {
        const size_t wide = nblocks / USUBA_KEYED_WIDE;
        step->run(chain, &in, wide, 1);
        in += 16 * USUBA_KEYED_WIDE * wide;
        nblocks -= USUBA_KEYED_WIDE * wide;
    }
    width = usuba_keyed_width(hash->chaining, nblocks);
    if (width > 1) {
        usuba_keyed_segments(hash, chain, in, nblocks, width);
        return;
    }
#endif
    if (nblocks) usuba_link_all(hash->chaining, chain, &in, nblocks, 1);
}

/* Takes bytes, and zeros up to a whole block. */
static void usuba_keyed_padded(const usuba_keyed *hash, uint8_t *chain, const uint8_t *in, size_t length)
{
    const size_t rest = length % 16;
    usuba_keyed_blocks(hash, chain, in, length / 16);
    if (rest) {
        uint8_t last[16] = {0};
        usuba_copy(last, in + (length - rest), rest);
        usuba_keyed_blocks(hash, chain, last, 1);
    }
}
#endif
