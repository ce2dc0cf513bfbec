/* Sponge functions with keys and messages that valgrind takes for undefined. Tags count as defined
   once the library says that they are public. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "it.h"

#define LENGTH 20000

static uint8_t text[LENGTH], key[200], tag[64], out[2000], many[8][400];

static void expect(int holds, int line)
{
    if (holds) return;
    printf("line %d\n", line);
    exit(1);
}

#define EXPECT(holds) expect(holds, __LINE__)

static void lanes(void)
{
    usuba_shake128_lanes side;
    const uint8_t *in[8];
    uint8_t *to[8];
    size_t lengths[8], i;
    for (i = 0; i < 8; i++) {
        in[i] = text + 400 * i;
        lengths[i] = 300 * i;
        to[i] = many[i];
    }
    EXPECT(!usuba_shake128_many_begin(&side, 3));
    EXPECT(!usuba_shake128_many_absorb(&side, in, 3, 34));
    EXPECT(!usuba_shake128_many_squeeze_blocks(&side, to, 3, 2));
    EXPECT(!usuba_shake256_many(in, 200, to, 400, 8));
    EXPECT(!usuba_sha3_256_hash_many(in, lengths, 8, out));
    EXPECT(!usuba_cshake128_hash_many(key, 3, key, 200, in, lengths, 8, out, 200));
}

int main(void)
{
    usuba_kmac128_state state;
    usuba_shake256_state run;
    size_t i;
    for (i = 0; i < LENGTH; i++) text[i] = (uint8_t)(77 * i + 5);
    memcpy(key, text, sizeof key);
    usuba_undefined(text, sizeof text);
    usuba_undefined(key, sizeof key);
    for (i = 0; usuba_keccak_backends(i); i++) {
        EXPECT(!usuba_keccak_force_backend(usuba_keccak_backends(i)));
        EXPECT(!usuba_sha3_256_hash(text, 1000, out));
        EXPECT(!usuba_hmac_sha3_512_tag(key, 200, text, 700, tag));
        usuba_defined(tag, sizeof tag);
        EXPECT(!usuba_hmac_sha3_512_check(key, 200, text, 700, tag, 64));
        EXPECT(!usuba_kmac256_tag(key, 64, key, 9, text, 700, tag, 64));
        usuba_defined(tag, sizeof tag);
        EXPECT(!usuba_kmac256_check(key, 64, key, 9, text, 700, tag, 64));
        EXPECT(usuba_kmac256_check(key, 64, key, 9, text, 699, tag, 64) == USUBA_ERROR_FORGED);
        EXPECT(!usuba_kmac128_xof_begin(&state, key, 200, NULL, 0));
        EXPECT(!usuba_kmac128_update(&state, text, 100));
        EXPECT(!usuba_kmac128_squeeze(&state, out, 500));
        EXPECT(!usuba_shake256_begin(&run));
        EXPECT(!usuba_shake256_update(&run, text, 3));
        EXPECT(!usuba_shake256_update(&run, text, 700));
        EXPECT(!usuba_shake256_squeeze(&run, out, 7));
        EXPECT(!usuba_shake256_squeeze(&run, out, 700));
        EXPECT(!usuba_turboshake128_xof(0x1f, text, 700, out, 300));
        EXPECT(!usuba_kt128_hash(text, LENGTH, key, 10, out, 100));
        lanes();
    }
    return 0;
}
