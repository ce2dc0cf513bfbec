/* libsodium: stream ciphers. Its keys are bytes. */

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

PEER_EXPORT const char *peer_version(void)
{
    return sodium_init() < 0 ? NULL : sodium_version_string();
}

static void *init(int number, const uint8_t *bytes)
{
    uint8_t *key = malloc(32);
    (void)number;
    if (key) memcpy(key, bytes, 32);
    return key;
}

static int chacha20(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out,
                    size_t length)
{
    return crypto_stream_chacha20_ietf_xor(out, in, length, start, key);
}

static int salsa20(void *key, const uint8_t *start, const uint8_t *in, uint8_t *out,
                   size_t length)
{
    return crypto_stream_salsa20_xor(out, in, length, start, key);
}

static const peer peers[] = {
    {"chacha20", "ctr", "crypto_stream_chacha20_ietf_xor", 0, init, chacha20, free},
    {"salsa20", "ctr", "crypto_stream_salsa20_xor", 0, init, salsa20, free},
};

PEER_LIST(peers)
