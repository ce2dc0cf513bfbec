/* A key that two parties derive from a secret, a message sealed under it, and one that was forged.
   Built with the files of `usubac dist sha2` and `usubac dist chacha20poly1305`:

       cc seal.c usuba_sha2.c usuba_chacha20poly1305.c */

#include <stdio.h>
#include <string.h>

#include "usuba_chacha20poly1305.h"
#include "usuba_sha2.h"

int main(void)
{
    static const uint8_t secret[] = "shared by agreement, not yet a key";
    static const uint8_t info[] = "example, from left to right";
    static const uint8_t header[] = "message 1";
    const char *text = "Whoever changes a bit of this is found out.";
    const size_t length = strlen(text), sealed_length = length + USUBA_CHACHA20POLY1305_TAG_BYTES;
    uint8_t bytes[32], nonce[12] = {0}, sealed[100], opened[100] = {0}, hash[32];
    usuba_chacha20poly1305_key key;
    usuba_sha256_state state;
    size_t i;
    int status;

    usuba_hkdf_sha256_derive(NULL, 0, secret, sizeof secret, info, sizeof info, bytes, sizeof bytes);
    usuba_chacha20poly1305_init(&key, bytes, sizeof bytes);
    usuba_chacha20poly1305_wipe(bytes, sizeof bytes);
    /* The first message; the next one has the nonce 1. */
    status = usuba_chacha20poly1305_seal(&key, nonce, header, sizeof header, (const uint8_t *)text,
        length, sealed);
    if (status != USUBA_OK) return 1;
    status = usuba_chacha20poly1305_open(&key, nonce, header, sizeof header, sealed, sealed_length,
        opened);
    if (status != USUBA_OK) return 2;
    puts((const char *)opened);
    sealed[5] ^= 1;
    status = usuba_chacha20poly1305_open(&key, nonce, header, sizeof header, sealed, sealed_length,
        opened);
    puts(status == USUBA_ERROR_FORGED ? "and that was forged" : "nobody noticed");
    usuba_sha256_begin(&state);
    usuba_sha256_update(&state, opened, length);
    usuba_sha256_final(&state, hash);
    for (i = 0; i < 8; i++) printf("%02x", hash[i]);
    puts("");
    usuba_chacha20poly1305_wipe(&key, sizeof key);
    return 0;
}
