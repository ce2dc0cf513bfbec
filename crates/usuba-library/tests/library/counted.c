/* AES-GCM with keys, texts and data that valgrind takes for undefined. Nonces and sealed messages are
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

int main(void)
{
    static const uint8_t nonce[12] = {1, 2, 3};
    static const size_t lengths[] = {0, 5, 16, 1008, 1009, 20000};
    usuba_aes128_gcm_key key;
    size_t i, j;
    for (i = 0; i < sizeof text; i++) text[i] = (uint8_t)(77 * i + 5);
    usuba_undefined(text, sizeof text);
    for (i = 0; usuba_aes_gcm_backends(i); i++) {
        EXPECT(!usuba_aes_gcm_force_backend(usuba_aes_gcm_backends(i)));
        EXPECT(!usuba_aes128_gcm_init(&key, text, 16));
        for (j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
            const size_t length = lengths[j], size = 7 * j;
            EXPECT(!usuba_aes128_gcm_seal(&key, nonce, text + 16, size, text, length, sealed));
            usuba_defined(sealed, length + 16);
            EXPECT(!usuba_aes128_gcm_open(&key, nonce, text + 16, size, sealed, length + 16, opened));
            sealed[length / 2] ^= 1;
            EXPECT(usuba_aes128_gcm_open(&key, nonce, text + 16, size, sealed, length + 16, opened)
                   == USUBA_ERROR_FORGED);
        }
    }
    return 0;
}
