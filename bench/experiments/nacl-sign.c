/* Signs a message of 256 bytes with Ed25519 on a 32-bit RISC-V processor and nothing else: between
   two marks, so that instructions are counted, and with a look at the stack.

   SHA-512 and numbers modulo the order are the library's in each step. Without LIMBS the rest is,
   too. With it a point is multiplied as TweetNaCl does, by a ladder over 256 bits of two sums each,
   from kernels whose header is KERNELS:
     LIMB, LIMBS    the C type of a limb, and how many make a number
     WORD, WORDS    the type of words of 32 bytes, and their number
     ZEROED         results are filled with zeros before they are written
     INDEXED        each step indexes a bit of the number, instead of shifting it out of its byte
     COPIES         arguments and results of sums and products are copied
     DOUBLING       doubling is another kernel than adding
     SQUARING       so is squaring */
#include "bare.h"
#include "it.h"

static const uint8_t secret[64] = {
    1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0x22, 0x1f, 0xe5, 0xf6, 0x85, 0x9a, 0x1a, 0x4f, 0xec, 0x79, 0x05, 0x7c, 0x9d, 0x32, 0xc8, 0xd3,
    0xfc, 0x35, 0x6e, 0x14, 0x4b, 0x1d, 0xa3, 0xb0, 0xf9, 0x01, 0x6e, 0xf6, 0xf2, 0x98, 0x88, 0xda,
};

/* The signature of the bytes 0 to 255, as libsodium makes it. */
static const uint8_t wanted[64] = {
    0x59, 0x56, 0xda, 0xa1, 0x1c, 0xf0, 0xa6, 0x74, 0x67, 0x90, 0x5f, 0xe2, 0xb9, 0xc1, 0x32, 0x9f,
    0x58, 0x3e, 0xae, 0x1b, 0x44, 0x6d, 0xcd, 0x78, 0xfd, 0x63, 0xaf, 0x41, 0x7a, 0xb3, 0x09, 0x14,
    0x24, 0xf0, 0x3c, 0x56, 0xac, 0x21, 0x2d, 0xaf, 0xb4, 0x4f, 0x3d, 0x15, 0xc9, 0xf8, 0xea, 0x5d,
    0x8e, 0xf4, 0x6a, 0xfa, 0xd8, 0x6f, 0x95, 0xd9, 0x21, 0x56, 0xca, 0x5b, 0x7b, 0x6b, 0x92, 0x04,
};

static uint8_t message[256], signature[64];

#ifndef LIMBS

static int sign(void)
{
    return usuba_ed25519_sign(secret, message, sizeof message, signature);
}

#else

#include KERNELS

typedef LIMB number[LIMBS];
typedef LIMB point[4 * LIMBS];

#ifdef ZEROED
#define CLEAR(what) memset(what, 0, sizeof(what))
#else
#define CLEAR(what)
#endif

/* r = a b */
static void times(LIMB *r, const LIMB *a, const LIMB *b)
{
#ifdef COPIES
    number x, y, z;
    CLEAR(z);
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    k_times(x, y, z);
    memcpy(r, z, sizeof z);
#else
    k_times(a, b, r);
#endif
}

static void squared(LIMB *r, const LIMB *a)
{
#ifdef SQUARING
    k_squared(a, r);
#else
    times(r, a, a);
#endif
}

/* r = p + q */
static void sum(LIMB *r, const LIMB *p, const LIMB *q)
{
#ifdef COPIES
    point x, y, z;
    CLEAR(z);
    memcpy(x, p, sizeof x);
    memcpy(y, q, sizeof y);
    k_sum(x, y, z);
    memcpy(r, z, sizeof z);
#else
    k_sum(p, q, r);
#endif
}

static void twice(LIMB *r, const LIMB *p)
{
#ifdef DOUBLING
    k_double(p, r);
#else
    sum(r, p, p);
#endif
}

/* The state of a ladder: two points whose difference is the point. */
typedef struct {
    point low, high, a, b, c, d;
} ladder;

static void step(ladder *s, unsigned which)
{
    const LIMB bit = which;
    k_swapped(&bit, s->low, s->high, s->a, s->b);
    sum(s->c, s->b, s->a);
    twice(s->d, s->a);
    k_swapped(&bit, s->d, s->c, s->low, s->high);
}

/* The base point: its coordinates, 1 and their product. */
static const LIMB base[4 * LIMBS] = {
#if LIMBS == 16
    0xd51a, 0x8f25, 0x2d60, 0xc956, 0xa7b2, 0x9525, 0xc760, 0x692c, 0xdc5c, 0xfdd6, 0xe231,
    0xc0a4, 0x53fe, 0xcd6e, 0x36d3, 0x2169, 0x6658, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666,
    0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x1,
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xdda3,
    0xa5b7, 0x8ab3, 0x6dde, 0x52f5, 0x7751, 0x9f80, 0x20f0, 0xe37d, 0x64ab, 0x4e8e, 0x66ea,
    0x7665, 0xd78b, 0x5f0f, 0x6787
#else
    0x325d51a, 0x18b5823, 0xf6592a, 0x104a92d, 0x1a4b31d, 0x1d6dc5c, 0x27118fe, 0x7fd814,
    0x13cd6e5, 0x85a4db, 0x2666658, 0x1999999, 0xcccccc, 0x1333333, 0x1999999, 0x666666,
    0x3333333, 0xcccccc, 0x2666666, 0x1999999, 0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x1b7dda3, 0x1a2ace9, 0x25eadbb, 0x3ba8a, 0x83c27e, 0xabe37d, 0x1274732, 0xccacdd,
    0xfd78b7, 0x19e1d7c
#endif
};

/* r = k times the base point */
static void multiple(LIMB *r, const uint8_t *k)
{
    ladder s;
    int i;
    memset(&s, 0, sizeof s);
    s.low[LIMBS] = s.low[2 * LIMBS] = 1;
    memcpy(s.high, base, sizeof base);
#ifdef INDEXED
    for (i = 255; i >= 0; i--) step(&s, (unsigned)(k[i / 8] >> (i & 7)) & 1);
#else
    for (i = 31; i >= 0; i--) {
        unsigned byte = k[i], j;
        for (j = 0; j < 8; j++, byte <<= 1) step(&s, (byte >> 7) & 1);
    }
#endif
    memcpy(r, s.low, sizeof s.low);
}

/* r = a^(p-2): all bits of p - 2 are 1 except bits 2 and 4. */
static void inverse(LIMB *r, const LIMB *a)
{
    number s, t;
    int i;
    memcpy(s, a, sizeof s);
    for (i = 253; i >= 0; i--) {
        squared(t, s);
        if (i == 2 || i == 4) memcpy(s, t, sizeof s);
        else times(s, t, a);
    }
    memcpy(r, s, sizeof s);
}

static void words_of(const LIMB *a, WORD *words)
{
    number least;
    k_freeze(a, least);
    k_pack(least, words);
}

static void store(uint8_t *bytes, const LIMB *p)
{
    number z, x, y;
    WORD words[WORDS];
    unsigned i, j;
    inverse(z, p + 2 * LIMBS);
    times(x, p, z);
    times(y, p + LIMBS, z);
    words_of(y, words);
    for (i = 0; i < WORDS; i++)
        for (j = 0; j < sizeof(WORD); j++)
            bytes[i * sizeof(WORD) + j] = (uint8_t)(words[i] >> 8 * j);
    words_of(x, words);
    bytes[31] ^= (uint8_t)((words[0] & 1) << 7);
}

/* Words of 32 bits, the lowest first. */
static void load(uint32_t *words, const uint8_t *bytes, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++, bytes += 4)
        words[i] = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
                   | (uint32_t)bytes[3] << 24;
}

static void unload(uint8_t *bytes, const uint32_t *words, unsigned count)
{
    unsigned i;
    for (i = 0; i < 4 * count; i++) bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

/* A hash as a number below the order. */
static void reduced(usuba_sha512_state *hash, uint32_t *r)
{
    uint8_t bytes[64];
    uint32_t words[16];
    usuba_sha512_final(hash, bytes);
    load(words, bytes, 16);
    sc_reduce(words, r);
}

static int sign(void)
{
    usuba_sha512_state hash;
    uint8_t expanded[64];
    uint32_t key[8], nonce[8], challenge[8], s[8];
    point r;
    usuba_sha512_begin(&hash);
    usuba_sha512_update(&hash, secret, 32);
    usuba_sha512_final(&hash, expanded);
    expanded[0] &= 248;
    expanded[31] = (uint8_t)((expanded[31] & 63) | 64);
    load(key, expanded, 8);
    usuba_sha512_begin(&hash);
    usuba_sha512_update(&hash, expanded + 32, 32);
    usuba_sha512_update(&hash, message, sizeof message);
    reduced(&hash, nonce);
    unload(expanded, nonce, 8);
    multiple(r, expanded);
    store(signature, r);
    usuba_sha512_begin(&hash);
    usuba_sha512_update(&hash, signature, 32);
    usuba_sha512_update(&hash, secret + 32, 32);
    usuba_sha512_update(&hash, message, sizeof message);
    reduced(&hash, challenge);
    sc_muladd(challenge, key, nonce, s);
    unload(signature + 32, s, 8);
    return 0;
}

#endif

static int work(void)
{
    unsigned i, different = 0;
    int failed;
    for (i = 0; i < sizeof message; i++) message[i] = (uint8_t)i;
    failed = measure(1, "sign", sign);
    for (i = 0; i < sizeof signature; i++) different |= signature[i] ^ wanted[i];
    return failed || different;
}
