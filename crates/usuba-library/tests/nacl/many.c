/* Many at once beside one at a time, on every instruction set that there is, in buffers that are no
   longer than they say. */
#include <stdlib.h>
#include <string.h>

#include "it.h"

static unsigned long long state = 1;

static void randomize(uint8_t *bytes, size_t length)
{
    while (length--) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        *bytes++ = (uint8_t)(state >> 56);
    }
}

static uint8_t *some(size_t length)
{
    uint8_t *bytes = malloc(length ? length : 1);
    if (!bytes) abort();
    randomize(bytes, length);
    return bytes;
}

static void expect(int holds)
{
    if (!holds) abort();
}

/* RFC 7748, section 5.2: a thousand times, one after the other. */
static void iterated(void)
{
    static const uint8_t wanted[32] = {
        0x68, 0x4c, 0xf5, 0x9b, 0xa8, 0x33, 0x09, 0x55, 0x28, 0x00, 0xef, 0x56, 0x6f, 0x2f, 0x4d, 0x3c,
        0x1c, 0x38, 0x87, 0xc4, 0x93, 0x60, 0xe3, 0x87, 0x5f, 0x2e, 0xb9, 0x4d, 0x99, 0x53, 0x2c, 0x51};
    uint8_t scalar[32] = {9}, point[32] = {9}, out[32];
    unsigned turn;
    for (turn = 0; turn < 1000; turn++) {
        expect(usuba_x25519(scalar, point, out) == USUBA_OK);
        memcpy(point, scalar, 32);
        memcpy(scalar, out, 32);
    }
    expect(!memcmp(scalar, wanted, 32));
}

/* Points of small order, and the largest number, among others; sometimes into a buffer of an
   argument. */
static void x25519(size_t count, size_t zero)
{
    uint8_t *scalars = some(32 * count), *points = some(32 * count), *out = some(32 * count);
    uint8_t wanted[32];
    size_t i;
    int status = USUBA_OK;
    if (count > 2) memset(points + 64, 0xff, 32);
    if (zero < count) memset(points + 32 * zero, 0, 32);
    expect(usuba_x25519_many(scalars, points, out, count)
           == (zero < count ? USUBA_ERROR_POINT : USUBA_OK));
    for (i = 0; i < count; i++) {
        memset(wanted, 0, 32);
        status = usuba_x25519(scalars + 32 * i, points + 32 * i, wanted);
        expect((status == USUBA_OK) == (i != zero) && !memcmp(out + 32 * i, wanted, 32));
    }
    usuba_x25519_many(scalars, points, count % 2 ? scalars : points, count);
    expect(!memcmp(out, count % 2 ? scalars : points, 32 * count));
    free(scalars);
    free(points);
    free(out);
}

/* Public keys, sometimes into the buffer of the scalars. */
static void base(size_t count)
{
    uint8_t *scalars = some(32 * count), *out = some(32 * count), wanted[32];
    size_t i;
    expect(usuba_x25519_base_many(scalars, out, count) == USUBA_OK);
    for (i = 0; i < count; i++) {
        expect(usuba_x25519_base(scalars + 32 * i, wanted) == USUBA_OK);
        expect(!memcmp(out + 32 * i, wanted, 32));
    }
    usuba_x25519_base_many(scalars, scalars, count);
    expect(!memcmp(out, scalars, 32 * count));
    free(scalars);
    free(out);
}

#define S10 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66
#define F10 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

static void ed25519(size_t count)
{
    const uint8_t **keys = malloc(8 * count + 8), **messages = malloc(8 * count + 8);
    size_t *lengths = malloc(8 * count + 8), i;
    uint8_t *signatures = some(64 * count), wanted[64], public_key[32];
    const uint8_t *some_keys[17], *made[17];
    /* Neutral, of order 2, p, -0, no point, all ones. */
    static const uint8_t odd[6][32] = {
        {1}, {0xec, F10, F10, F10, 0x7f}, {0xed, F10, F10, F10, 0x7f}, {1, [31] = 0x80}, {2},
        {F10, F10, F10, 0xff, 0xff}};
    /* B and 1: what the equation takes for each key of order 1. */
    static const uint8_t weak[64] = {0x58, S10, S10, S10, 0x66, 1};
    int results[17], status, all = 0;
    if (!keys || !messages || !lengths) abort();
    for (i = 0; i < count; i++) {
        uint8_t *key = some(64);
        usuba_ed25519_keypair_from_seed(key, public_key, key);
        lengths[i] = 17 * i % 150;
        keys[i] = key;
        messages[i] = some(lengths[i]);
    }
    expect(usuba_ed25519_sign_many(keys, messages, lengths, signatures, count) == USUBA_OK);
    for (i = 0; i < count; i++) {
        usuba_ed25519_sign(keys[i], messages[i], lengths[i], wanted);
        expect(!memcmp(signatures + 64 * i, wanted, 64));
        /* Three of four are changed: the signature, the key, the message, to what others made. */
        some_keys[i] = keys[i] + 32;
        made[i] = signatures + 64 * i;
        if (i % 4 == 1) signatures[64 * i + i % 64] ^= (uint8_t)(1 << i % 8);
        if (i % 4 == 2) some_keys[i] = odd[i / 4 % 6];
        if (i % 24 == 2) made[i] = weak;
        if (i % 8 == 3) made[i] = signatures;
        if (i % 8 == 7) lengths[i] /= 2;
    }
    status = usuba_ed25519_verify_many(some_keys, messages, lengths, made, results, count);
    for (i = 0; i < count; i++) {
        const int wanted_result = usuba_ed25519_verify(some_keys[i], messages[i], lengths[i], made[i]);
        expect(results[i] == wanted_result);
        all |= wanted_result != USUBA_OK;
    }
    expect((status != USUBA_OK) == all && (count < 2 || all));
    for (i = 0; i < count; i++) {
        free((void *)keys[i]);
        free((void *)messages[i]);
    }
    free(keys);
    free(messages);
    free(lengths);
    free(signatures);
}

int main(void)
{
    /* None, fewer than are worth lanes, all lanes and one more, twice, and one that is left over. */
    static const size_t counts[] = {0, 1, 3, 4, 8, 9, 17};
    const char *name;
    size_t backend, count, i;
    uint8_t byte[32] = {0};
    expect(usuba_x25519_many(byte, NULL, byte, 1) == USUBA_ERROR_NULL);
    expect(usuba_x25519_many(NULL, NULL, NULL, 0) == USUBA_OK);
    expect(usuba_x25519_base_many(byte, NULL, 1) == USUBA_ERROR_NULL);
    expect(usuba_x25519_base_many(NULL, NULL, 0) == USUBA_OK);
    for (backend = 0; (name = usuba_curve25519_backends(backend)); backend++) {
        expect(usuba_curve25519_force_backend(name) == USUBA_OK);
        iterated();
        for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            count = counts[i];
            x25519(count, 3 * count / 4 + count % 2);
            base(count);
            ed25519(count);
        }
    }
    return backend > 0 ? 0 : 1;
}
