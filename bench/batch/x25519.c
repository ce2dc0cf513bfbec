/*
 * X25519 in all lanes of a register of 64-bit lanes, one step of all ladders at a time, compared with
 * single calls of libsodium. Both must agree; then both are timed in turn in this process.
 *
 * The kernels are from arithmetic/curve25519/lanes25.ua, or on five limbs from lanes52.ua;
 * scripts/batch compiles everything, and defines VECTOR, LANES and LIMBS.
 */
#include <immintrin.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = LIMBS == 5 ? 4 : 8, BYTES = 32 / WORDS, CALLS = 301 };

typedef VECTOR element[LIMBS];

void fe_unpack(const VECTOR *w, VECTOR *r);
void fe_mul(const VECTOR *a, const VECTOR *b, VECTOR *r);
void fe_inverse(const VECTOR *a, VECTOR *r);
void fe_freeze(const VECTOR *a, VECTOR *r);
void fe_pack(const VECTOR *a, VECTOR *w);
void fe_cswap(const VECTOR *b, const VECTOR *xa, const VECTOR *za, const VECTOR *xb,
              const VECTOR *zb, VECTOR *xc, VECTOR *zc, VECTOR *xd, VECTOR *zd);
void fe_ladder_step(const VECTOR *x, const VECTOR *xa, const VECTOR *za, const VECTOR *xb,
                    const VECTOR *zb, VECTOR *xc, VECTOR *zc, VECTOR *xd, VECTOR *zd);

typedef uint8_t bytes[LANES][32];

static VECTOR one_each(const uint64_t *lanes)
{
    VECTOR v;
    memcpy(&v, lanes, sizeof v);
    return v;
}

static void x25519(bytes out, bytes scalars, bytes points)
{
    VECTOR words[WORDS], bit;
    element x, a = { 0 }, b = { 0 }, c, d = { 0 }, p, q, r, s;
    uint64_t lanes[LANES], before[LANES] = { 0 };
    bytes keys;

    for (int j = 0; j < LANES; j++) {
        memcpy(keys[j], scalars[j], 32);
        keys[j][0] &= 248;
        keys[j][31] = (uint8_t)((keys[j][31] & 127) | 64);
        lanes[j] = 1;
    }
    a[0] = d[0] = one_each(lanes);
    for (int i = 0; i < WORDS; i++) {
        for (int j = 0; j < LANES; j++) {
            lanes[j] = 0;
            memcpy(&lanes[j], points[j] + BYTES * i, BYTES);
        }
        words[i] = one_each(lanes);
    }
    fe_unpack(words, x);
    memcpy(c, x, sizeof c);
    for (int i = 254; i >= 0; i--) {
        for (int j = 0; j < LANES; j++) {
            const uint64_t now = (keys[j][i >> 3] >> (i & 7)) & 1;
            lanes[j] = before[j] ^ now;
            before[j] = now;
        }
        bit = one_each(lanes);
        fe_cswap(&bit, a, b, c, d, p, q, r, s);
        fe_ladder_step(x, p, q, r, s, a, b, c, d);
    }
    bit = one_each(before);
    fe_cswap(&bit, a, b, c, d, p, q, r, s);
    fe_inverse(q, a);
    fe_mul(p, a, b);
    fe_freeze(b, c);
    fe_pack(c, words);
    for (int i = 0; i < WORDS; i++) {
        memcpy(lanes, &words[i], sizeof lanes);
        for (int j = 0; j < LANES; j++) {
            memcpy(out[j] + BYTES * i, &lanes[j], BYTES);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Ticks of a core cycle: a chain of sums that each take one. */
static double ticks_of_a_cycle(void)
{
    uint64_t best = UINT64_MAX, x = 1;
    for (int run = 0; run < 50; run++) {
        const uint64_t start = __rdtsc();
        for (int i = 0; i < 100000; i++) {
            __asm__ volatile("add $1, %0" : "+r"(x));
        }
        const uint64_t ticks = __rdtsc() - start;
        best = ticks < best ? ticks : best;
    }
    return (double)best / 100000;
}

int main(void)
{
    static uint64_t ours[CALLS], theirs[CALLS];
    bytes scalars, points, out;
    uint8_t wanted[32];

    if (sodium_init() < 0) {
        return 2;
    }
    for (int call = 0; call < CALLS; call++) {
        randombytes_buf(scalars, sizeof scalars);
        randombytes_buf(points, sizeof points);
        uint64_t start = __rdtsc();
        x25519(out, scalars, points);
        ours[call] = __rdtsc() - start;
        start = __rdtsc();
        for (int j = 0; j < LANES; j++) {
            const int failed = crypto_scalarmult(wanted, scalars[j], points[j]);
            if (failed != 0 || memcmp(out[j], wanted, 32) != 0) {
                printf("lane %d of call %d differs from libsodium\n", j, call);
                return 1;
            }
        }
        theirs[call] = __rdtsc() - start;
    }
    qsort(ours, CALLS, sizeof *ours, by_size);
    qsort(theirs, CALLS, sizeof *theirs, by_size);
    const double cycle = ticks_of_a_cycle();
    const double mine = (double)ours[CALLS / 10] / LANES;
    const double yours = (double)theirs[CALLS / 10] / LANES;
    printf("%d lanes: %.0f ticks each, %.0f core cycles; libsodium %.0f ticks, theirs / ours %.2f\n",
           LANES, mine, mine / cycle, yours, yours / mine);
    return 0;
}
