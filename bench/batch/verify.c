/*
 * Ed25519: signatures verified one after the other, in lanes, and as equations, by turns in this
 * process, for each number of signatures and each instruction set. Times are thousands of ticks for a
 * signature, the median of 31 rounds; the last lines say from how many signatures on equations are
 * faster.
 *
 * scripts/batch compiles it with the file of `usubac dist curve25519`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "usuba_curve25519.h"

enum { MOST = 64, LENGTH = 256, ROUNDS = 31, WAYS = 3 };

static uint8_t publics[MOST][32], secrets[MOST][64], signatures[MOST][64], texts[MOST][LENGTH];
static const uint8_t *keys[MOST], *messages[MOST], *made[MOST];
static size_t lengths[MOST];

static int verified(int way, size_t count)
{
    int results[MOST], status = 0;
    if (way == 1) return usuba_ed25519_verify_many(keys, messages, lengths, made, results, count);
    if (way == 2) return usuba_ed25519_verify_batch(keys, messages, lengths, made, count);
    for (size_t i = 0; i < count; i++)
        status |= usuba_ed25519_verify(keys[i], messages[i], lengths[i], made[i]);
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median for each way. */
static void measure(size_t count, double *medians)
{
    static double times[WAYS][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int way = 0; way < WAYS; way++) {
            const unsigned long long start = __rdtsc();
            if (verified(way, count)) {
                fprintf(stderr, "a signature is refused\n");
                exit(1);
            }
            times[way][round] = (double)(__rdtsc() - start) / 1000 / (double)count;
        }
    }
    for (int way = 0; way < WAYS; way++) {
        qsort(times[way], ROUNDS, sizeof times[way][0], compare);
        medians[way] = times[way][ROUNDS / 2];
    }
}

static void report(const char *others, size_t from)
{
    if (from > MOST) printf("  equations are never faster than %s\n", others);
    else printf("  equations are faster than %s from %zu signatures on\n", others, from);
}

int main(void)
{
    static const size_t counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64};
    const size_t rows = sizeof counts / sizeof counts[0];
    for (size_t i = 0; i < MOST; i++) {
        uint8_t seed[32];
        for (size_t j = 0; j < sizeof seed; j++) seed[j] = (uint8_t)(7 * i + 13 * j);
        for (size_t j = 0; j < LENGTH; j++) texts[i][j] = (uint8_t)(i + j);
        usuba_ed25519_keypair_from_seed(seed, publics[i], secrets[i]);
        usuba_ed25519_sign(secrets[i], texts[i], LENGTH, signatures[i]);
        keys[i] = publics[i];
        messages[i] = texts[i];
        made[i] = signatures[i];
        lengths[i] = LENGTH;
    }
    const char *name;
    for (size_t at = 0; (name = usuba_curve25519_backends(at)); at++) {
        if (usuba_curve25519_force_backend(name)) continue;
        printf("%s\n  signatures   single    lanes  equation\n", name);
        /* The first number from which on all measured ones are faster. */
        size_t from[2] = {MOST + 1, MOST + 1};
        for (size_t row = 0; row < rows; row++) {
            double medians[WAYS];
            measure(counts[row], medians);
            printf("  %10zu %8.1f %8.1f %9.1f\n", counts[row], medians[0], medians[1], medians[2]);
            for (int way = 0; way < 2; way++) {
                if (medians[2] >= medians[way]) from[way] = MOST + 1;
                else if (from[way] > MOST) from[way] = counts[row];
            }
        }
        report("single signatures", from[0]);
        report("lanes", from[1]);
    }
    return 0;
}
