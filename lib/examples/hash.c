/* Skein in one file: a hash, a MAC of a message in pieces, a derived key, and many messages.

       usubac dist skein
       cc -O3 hash.c usuba_skein.c && ./a.out */

#include <stdio.h>
#include <string.h>

#include "usuba_skein.h"

static void show(const char *what, const uint8_t *bytes, size_t length)
{
    size_t i;
    printf("%s ", what);
    for (i = 0; i < length; i++) printf("%02x", bytes[i]);
    printf("\n");
}

int main(void)
{
    static const uint8_t message[] = {0xff}, key[] = "a key nobody else knows", name[] = "for backups";
    const uint8_t *messages[20];
    size_t lengths[20], i;
    uint8_t out[64], hashes[20 * 32];
    usuba_skein_parameters parameters;
    usuba_skein512_state state;

    /* No parameters: the hash function. */
    if (usuba_skein512_hash(NULL, message, 1, out, 64) != USUBA_OK) return 1;
    show("hash", out, 16);

    /* With a key: a MAC, here of 32 bytes. */
    memset(&parameters, 0, sizeof parameters);
    parameters.key = key;
    parameters.key_length = sizeof key;
    if (usuba_skein512_begin(&state, &parameters, 32) != USUBA_OK) return 1;
    for (i = 0; i < 100; i++)
        if (usuba_skein512_update(&state, message, 1) != USUBA_OK) return 1;
    if (usuba_skein512_final(&state, out, 32) != USUBA_OK) return 1;
    show("MAC", out, 16);

    /* With the name of another key and no message: that key. */
    parameters.identifier = name;
    parameters.identifier_length = sizeof name;
    if (usuba_skein512_hash(&parameters, NULL, 0, out, 32) != USUBA_OK) return 1;
    show("key", out, 16);
    usuba_skein_wipe(out, sizeof out);

    /* Multi-buffer hashing. */
    for (i = 0; i < 20; i++) {
        messages[i] = key;
        lengths[i] = i;
    }
    if (usuba_skein512_hash_many(NULL, messages, lengths, 20, hashes, 32) != USUBA_OK) return 1;
    if (usuba_skein512_hash(NULL, key, 7, out, 32) != USUBA_OK) return 1;
    printf("%s by %s\n", memcmp(out, hashes + 7 * 32, 32) ? "differs" : "agrees",
           usuba_skein_backend());
    return 0;
}
