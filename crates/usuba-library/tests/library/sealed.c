/* Authenticated encryption and hash functions of one folder, with keys, texts and data that valgrind
   takes for undefined. Sealed messages are public. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "it.h"

#define COUNT 9

static uint8_t text[20000], sealed[COUNT][9100], opened[COUNT][9100], out[300];
static const size_t lengths[COUNT] = {0, 1, 16, 255, 256, 300, 700, 2000, 9000};
static const size_t data_lengths[COUNT] = {0, 7, 0, 16, 300, 1, 0, 15, 40};

static void expect(int holds, int line)
{
    if (holds) return;
    printf("line %d\n", line);
    exit(1);
}

#define EXPECT(holds) expect(holds, __LINE__)

int main(void)
{
    usuba_ascon_aead128_key key;
    const usuba_ascon_aead128_key *keys[COUNT];
    const uint8_t *nonces[COUNT], *data[COUNT], *in[COUNT], *from[COUNT];
    uint8_t *to[COUNT], *back[COUNT];
    size_t sizes[COUNT], i, j;
    int results[COUNT];
    for (i = 0; i < sizeof text; i++) text[i] = (uint8_t)(77 * i + 5);
    usuba_undefined(text, sizeof text);
    for (i = 0; usuba_ascon_backends(i); i++) {
        EXPECT(!usuba_ascon_force_backend(usuba_ascon_backends(i)));
        EXPECT(!usuba_ascon_hash256_hash(text, 1000, out));
        EXPECT(!usuba_ascon_xof128_xof(text, 100, out, 300));
        EXPECT(!usuba_ascon_cxof128_xof(text, 256, text, 99, out, 300));
        EXPECT(!usuba_ascon_aead128_init(&key, text, 16));
        for (j = 0; j < COUNT; j++) {
            keys[j] = &key;
            nonces[j] = text + 16 * j;
            data[j] = text + 100;
            in[j] = text + j;
            from[j] = to[j] = sealed[j];
            back[j] = opened[j];
            sizes[j] = lengths[j] + 16;
            EXPECT(!usuba_ascon_aead128_seal(&key, nonces[j], data[j], data_lengths[j], in[j],
                                             lengths[j], to[j]));
            usuba_defined(to[j], sizes[j]);
            EXPECT(!usuba_ascon_aead128_open(&key, nonces[j], data[j], data_lengths[j], to[j],
                                             sizes[j], back[j]));
            to[j][lengths[j] / 2] ^= 1;
            EXPECT(usuba_ascon_aead128_open(&key, nonces[j], data[j], data_lengths[j], to[j], sizes[j],
                                            back[j]) == USUBA_ERROR_FORGED);
        }
        EXPECT(!usuba_ascon_aead128_seal_many(keys, nonces, data, data_lengths, in, lengths, to, COUNT));
        for (j = 0; j < COUNT; j++) usuba_defined(to[j], sizes[j]);
        to[3][0] ^= 1;
        EXPECT(usuba_ascon_aead128_open_many(keys, nonces, data, data_lengths, from, sizes, back, results,
                                             COUNT) == USUBA_ERROR_FORGED);
        for (j = 0; j < COUNT; j++) EXPECT(results[j] == (j == 3 ? USUBA_ERROR_FORGED : USUBA_OK));
    }
    return 0;
}
