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

/* Case 4 of Chalkias, Garillot and Nikolaenko (ePrint 2020/1244): a message, a key and a signature for
   which the equation holds with the cofactor only. */
static const uint8_t cofactor[3][64] = {
    {0xe4, 0x7d, 0x62, 0xc6, 0x3f, 0x83, 0x0d, 0xc7, 0xa6, 0x85, 0x1a, 0x0b, 0x1f, 0x33, 0xae, 0x4b,
     0xb2, 0xf5, 0x07, 0xfb, 0x6c, 0xff, 0xec, 0x40, 0x11, 0xea, 0xcc, 0xd5, 0x5b, 0x53, 0xf5, 0x6c},
    {0xcd, 0xb2, 0x67, 0xce, 0x40, 0xc5, 0xcd, 0x45, 0x30, 0x6f, 0xa5, 0xd2, 0xf2, 0x97, 0x31, 0x45,
     0x93, 0x87, 0xdb, 0xf9, 0xeb, 0x93, 0x3b, 0x7b, 0xd5, 0xae, 0xd9, 0xa7, 0x65, 0xb8, 0x8d, 0x4d},
    {0x16, 0x0a, 0x1c, 0xb0, 0xdc, 0x9c, 0x02, 0x58, 0xcd, 0x0a, 0x7d, 0x23, 0xe9, 0x4d, 0x8f, 0xa8,
     0x78, 0xbc, 0xb1, 0x92, 0x5f, 0x2c, 0x64, 0x24, 0x6b, 0x2d, 0xee, 0x17, 0x96, 0xbe, 0xd5, 0x12,
     0x5e, 0xc6, 0xbc, 0x98, 0x2a, 0x26, 0x9b, 0x72, 0x3e, 0x06, 0x68, 0xe5, 0x40, 0x91, 0x1a, 0x9a,
     0x6a, 0x58, 0x92, 0x1d, 0x69, 0x25, 0xe4, 0x34, 0xab, 0x10, 0xaa, 0x79, 0x40, 0x55, 0x1a, 0x09}};

/* Equations of valid signatures, and of one that is not: a changed signature, message or key. */
static void batch(size_t count)
{
    const uint8_t **keys = malloc(8 * count + 8), **messages = malloc(8 * count + 8);
    const uint8_t **signatures = malloc(8 * count + 8);
    size_t *lengths = malloc(8 * count + 8), i, bit;
    uint8_t *made = some(64 * count + 64), *publics = some(32 * count + 32), secret[64];
    if (!keys || !messages || !signatures || !lengths) abort();
    for (i = 0; i < count; i++) {
        uint8_t *message = some(17 * i % 150);
        lengths[i] = 17 * i % 150;
        messages[i] = message;
        randomize(secret, 32);
        usuba_ed25519_keypair_from_seed(secret, publics + 32 * i, secret);
        usuba_ed25519_sign(secret, message, lengths[i], made + 64 * i);
        keys[i] = publics + 32 * i;
        signatures[i] = made + 64 * i;
    }
    expect(usuba_ed25519_verify_batch(keys, messages, lengths, signatures, count) == USUBA_OK);
    for (i = 0; i < count; i += 1 + count / 3) {
        uint8_t *places[2];
        size_t turn;
        places[0] = made + 64 * i;
        places[1] = publics + 32 * i;
        for (turn = 0; turn < 2; turn++) {
            bit = (size_t)(37 * i + 11 * turn) % (turn ? 256 : 512);
            places[turn][bit / 8] ^= (uint8_t)(1 << bit % 8);
            expect(usuba_ed25519_verify_batch(keys, messages, lengths, signatures, count)
                   == USUBA_ERROR_FORGED);
            places[turn][bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        if (lengths[i]) {
            lengths[i]--;
            expect(usuba_ed25519_verify_batch(keys, messages, lengths, signatures, count)
                   == USUBA_ERROR_FORGED);
            lengths[i]++;
        }
    }
    /* A signature in the place of another one, and one more that has no place of its own. */
    if (count > 1) {
        signatures[0] = made + 64;
        expect(usuba_ed25519_verify_batch(keys, messages, lengths, signatures, count)
               == USUBA_ERROR_FORGED);
        signatures[0] = made;
    }
    if (count) {
        free((void *)messages[count - 1]);
        keys[count - 1] = cofactor[1];
        messages[count - 1] = cofactor[0];
        lengths[count - 1] = 32;
        signatures[count - 1] = cofactor[2];
        expect(usuba_ed25519_verify(cofactor[1], cofactor[0], 32, cofactor[2]) == USUBA_ERROR_FORGED);
        expect(usuba_ed25519_verify_batch(keys, messages, lengths, signatures, count) == USUBA_OK);
        lengths[count - 1] = 31;
        expect(usuba_ed25519_verify_batch(keys, messages, lengths, signatures, count)
               == USUBA_ERROR_FORGED);
        keys[count - 1] = NULL;
        expect(usuba_ed25519_verify_batch(keys, messages, lengths, signatures, count)
               == USUBA_ERROR_NULL);
    }
    for (i = 0; i + 1 < count; i++) free((void *)messages[i]);
    free(keys);
    free(messages);
    free(signatures);
    free(lengths);
    free(made);
    free(publics);
}

/* With an argument, of batches alone. */
int main(int count_of_arguments, char **arguments)
{
    /* None, fewer than are worth lanes, all lanes and one more, twice, and one that is left over. */
    static const size_t counts[] = {0, 1, 3, 4, 8, 9, 17};
    const char *name;
    size_t backend, count, i;
    uint8_t byte[64] = {0};
    const uint8_t *key = byte;
    size_t length = 0;
    (void)arguments;
    expect(usuba_ed25519_verify_batch(NULL, NULL, NULL, NULL, 0) == USUBA_OK);
    expect(usuba_ed25519_verify_batch(&key, &key, &length, NULL, 1) == USUBA_ERROR_NULL);
    expect(usuba_ed25519_verify_batch(&key, &key, &length, &key, 1) == USUBA_ERROR_FORGED);
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) batch(2 * counts[i]);
    if (count_of_arguments > 1) return 0;
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
