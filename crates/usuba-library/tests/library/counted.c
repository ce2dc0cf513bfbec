/* AES-GCM, AES-GCM-SIV and XAES-256-GCM with keys, texts and data that valgrind takes for undefined. Nonces and sealed messages are
   public. */
#include <stdio.h>
#include <stdlib.h>

#include "it.h"

static uint8_t text[20000], sealed[20016], opened[20000];

static void expect(int holds, int line)
{
    if (holds) return;
    printf("line %d\n", line);
    exit(1);
}

#define EXPECT(holds) expect(holds, __LINE__)

/* Calls under a key, of one mode. */
#define MODE(NAME, KEY) \
    do { \
        usuba_##NAME##_key key; \
        EXPECT(!usuba_##NAME##_init(&key, text, KEY)); \
        for (j = 0; j < sizeof lengths / sizeof lengths[0]; j++) { \
            const size_t length = lengths[j], size = 7 * j, all = length + 16; \
            EXPECT(!usuba_##NAME##_seal(&key, nonce, text + 32, size, text, length, sealed)); \
            usuba_defined(sealed, all); \
            EXPECT(!usuba_##NAME##_open(&key, nonce, text + 32, size, sealed, all, opened)); \
            sealed[length / 2] ^= 1; \
            EXPECT(usuba_##NAME##_open(&key, nonce, text + 32, size, sealed, all, opened) \
                   == USUBA_ERROR_FORGED); \
        } \
    } while (0)

int main(void)
{
    static const uint8_t nonce[24] = {1, 2, 3};
    static const size_t lengths[] = {0, 5, 16, 1008, 1009, 20000};
    size_t i, j;
    for (i = 0; i < sizeof text; i++) text[i] = (uint8_t)(77 * i + 5);
    usuba_undefined(text, sizeof text);
    for (i = 0; usuba_aes_gcm_backends(i); i++) {
        EXPECT(!usuba_aes_gcm_force_backend(usuba_aes_gcm_backends(i)));
        MODE(aes128_gcm, 16);
        MODE(aes128_gcm_siv, 16);
        MODE(xaes256_gcm, 32);
    }
    return 0;
}
