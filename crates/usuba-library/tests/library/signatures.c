/* Signatures with secret seeds that valgrind takes for undefined. Randomizers, roots and signatures count
   as defined once the library says that they are public. */
#include <stdio.h>
#include <stdlib.h>

#include "it.h"

static uint8_t seed[96], public_key[64], secret_key[128], signature[50000];
static usuba_slh_dsa_work work;

static void expect(int holds, int line)
{
    if (holds) return;
    printf("line %d\n", line);
    exit(1);
}

#define EXPECT(holds) expect(holds, __LINE__)

/* PK.seed is public; both secrets, and the random bytes, are not. */
#define SIGNS(name, n) \
    usuba_undefined(seed, 2 * n); \
    usuba_undefined(random, n); \
    EXPECT(!usuba_##name##_keypair_from_seed(seed, public_key, secret_key, &work)); \
    EXPECT(!usuba_##name##_sign_checked(secret_key, random, 0, text, 9, random, signature, &work));

int main(void)
{
    static const uint8_t text[9] = {1, 2, 3};
    static uint8_t random[32];
    size_t i;
    for (i = 0; i < sizeof seed; i++) seed[i] = (uint8_t)(77 * i + 5);
    for (i = 0; usuba_slh_dsa_backends(i); i++) {
        EXPECT(!usuba_slh_dsa_force_backend(usuba_slh_dsa_backends(i)));
        SIGNS(slh_dsa_sha2_128f, 16)
        SIGNS(slh_dsa_shake_128f, 16)
        SIGNS(slh_dsa_sha2_192f, 24)
    }
    return 0;
}
