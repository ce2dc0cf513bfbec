/* The library on a 32-bit RISC-V processor: keys, a signature of 256 bytes, its verification, and a
   shared secret. The result is 0 if all results are right. */
#include "bare.h"
#include "it.h"

static uint8_t secret[64], public[32], message[256], signature[64], one[32], other[32];
static const uint8_t seed[32] = {1, 2, 3}, base[32] = {9};

static int keys(void)
{
    return usuba_ed25519_keypair_from_seed(seed, public, secret);
}

static int sign(void)
{
    return usuba_ed25519_sign(secret, message, sizeof message, signature);
}

static int verify(void)
{
    return usuba_ed25519_verify(public, message, sizeof message, signature);
}

static int agree(void)
{
    return usuba_x25519(secret, base, one);
}

static int publish(void)
{
    return usuba_x25519_base(secret, other);
}

static int work(void)
{
    unsigned at;
    int bad = measure(1, "keys", keys) | measure(2, "sign", sign) | measure(3, "verify", verify)
              | measure(4, "X25519", agree) | measure(5, "X25519-base", publish);
    for (at = 0; at < 32; at++) bad |= one[at] ^ other[at];
    signature[3] ^= 1;
    return bad | !verify();
}
