/* Signing 256 bytes, verifying, and X25519: our library and others, in turn in one process.
   Takes the number of turns. Writes lines of a library, a task and ticks: the 10th percentile of its
   turns. A library whose output differs from ours is a line with `wrong`.

   Compiled with a macro for each installed library: SODIUM, NETTLE, OPENSSL. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "it.h"

static const uint8_t seed[32] = {1, 2, 3};
static uint8_t message[256], public[32], secret[64], signature[64], point[32];

typedef struct {
    const char *name;
    int (*start)(void);
    void (*sign)(uint8_t out[64]);
    int (*verify)(const uint8_t signed_by_us[64]);
    void (*agree)(uint8_t out[32]);
} library;

static int our_start(void)
{
    return 0;
}

static void our_sign(uint8_t out[64])
{
    usuba_ed25519_sign(secret, message, sizeof message, out);
}

static int our_verify(const uint8_t given[64])
{
    return usuba_ed25519_verify(public, message, sizeof message, given);
}

static void our_agree(uint8_t out[32])
{
    usuba_x25519(seed, point, out);
}

#ifdef SODIUM
#include <sodium.h>

static int sodium_start(void)
{
    return sodium_init() < 0;
}

static void sodium_sign(uint8_t out[64])
{
    crypto_sign_detached(out, NULL, message, sizeof message, secret);
}

static int sodium_verify(const uint8_t given[64])
{
    return crypto_sign_verify_detached(given, message, sizeof message, public);
}

static void sodium_agree(uint8_t out[32])
{
    if (crypto_scalarmult(out, seed, point)) abort();
}
#endif

#ifdef NETTLE
#include <nettle/curve25519.h>
#include <nettle/eddsa.h>

static int nettle_start(void)
{
    return 0;
}

static void nettle_sign(uint8_t out[64])
{
    ed25519_sha512_sign(public, seed, sizeof message, message, out);
}

static int nettle_verify(const uint8_t given[64])
{
    return !ed25519_sha512_verify(public, sizeof message, message, given);
}

static void nettle_agree(uint8_t out[32])
{
    curve25519_mul(out, seed, point);
}
#endif

#ifdef OPENSSL
#include <openssl/evp.h>

static EVP_PKEY *key, *other, *alone, *theirs;
static EVP_MD_CTX *context;

static int openssl_start(void)
{
    key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, 32);
    other = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public, 32);
    alone = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, seed, 32);
    theirs = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, point, 32);
    context = EVP_MD_CTX_new();
    return !key || !other || !alone || !theirs || !context;
}

static void openssl_sign(uint8_t out[64])
{
    size_t length = 64;
    EVP_MD_CTX_reset(context);
    EVP_DigestSignInit(context, NULL, NULL, NULL, key);
    EVP_DigestSign(context, out, &length, message, sizeof message);
}

static int openssl_verify(const uint8_t given[64])
{
    EVP_MD_CTX_reset(context);
    EVP_DigestVerifyInit(context, NULL, NULL, NULL, other);
    return EVP_DigestVerify(context, given, 64, message, sizeof message) != 1;
}

static void openssl_agree(uint8_t out[32])
{
    size_t length = 32;
    EVP_PKEY_CTX *derive = EVP_PKEY_CTX_new(alone, NULL);
    EVP_PKEY_derive_init(derive);
    EVP_PKEY_derive_set_peer(derive, theirs);
    EVP_PKEY_derive(derive, out, &length);
    EVP_PKEY_CTX_free(derive);
}
#endif

static const library all[] = {
    {"ours", our_start, our_sign, our_verify, our_agree},
#ifdef SODIUM
    {"libsodium", sodium_start, sodium_sign, sodium_verify, sodium_agree},
#endif
#ifdef NETTLE
    {"Nettle", nettle_start, nettle_sign, nettle_verify, nettle_agree},
#endif
#ifdef OPENSSL
    {"OpenSSL", openssl_start, openssl_sign, openssl_verify, openssl_agree},
#endif
};

enum { LIBRARIES = sizeof all / sizeof *all, TASKS = 3, MOST = 10000 };

static const char *const tasks[TASKS] = {"sign", "verify", "X25519"};

/* Ticks of a clock that does not change its speed. */
static uint64_t now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
#endif
}

static void once(const library *one, int task)
{
    uint8_t out[64];
    if (task == 0) one->sign(out);
    else if (task == 1) one->verify(signature);
    else one->agree(out);
}

static int agrees(const library *one)
{
    uint8_t out[64], shared[32];
    one->sign(out);
    if (memcmp(out, signature, 64) || one->verify(signature)) return 0;
    out[5] ^= 1;
    if (!one->verify(out)) return 0;
    one->agree(out);
    our_agree(shared);
    return !memcmp(out, shared, 32);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int count, char **values)
{
    static uint64_t ticks[LIBRARIES][TASKS][MOST];
    const int turns = count > 1 ? atoi(values[1]) : 0;
    int turn, which, task;
    if (turns < 1 || turns > MOST) return 2;
    for (which = 0; which < 256; which++) message[which] = (uint8_t)which;
    usuba_ed25519_keypair_from_seed(seed, public, secret);
    usuba_x25519_base(secret + 7, point);
    our_sign(signature);
    for (which = 0; which < LIBRARIES; which++)
        if (all[which].start() || !agrees(&all[which])) {
            printf("%s wrong 0\n", all[which].name);
            return 0;
        }
    for (turn = 0; turn < turns; turn++)
        for (task = 0; task < TASKS; task++)
            for (which = 0; which < LIBRARIES; which++) {
                const uint64_t before = now();
                once(&all[which], task);
                ticks[which][task][turn] = now() - before;
            }
    for (which = 0; which < LIBRARIES; which++)
        for (task = 0; task < TASKS; task++) {
            uint64_t *times = ticks[which][task];
            qsort(times, (size_t)turns, sizeof *times, by_size);
            printf("%s %s %llu\n", all[which].name, tasks[task],
                   (unsigned long long)times[turns / 10]);
        }
    return 0;
}
