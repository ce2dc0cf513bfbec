/* A parameter set of SPHINCS+ in PQClean, whose functions begin with the macro SET. */

#include <string.h>

#include "api.h"
#include "peer.h"
#include "randombytes.h"

#define JOINED(SET, NAME) SET##_crypto_sign_##NAME
#define FUNCTION(SET, NAME) JOINED(SET, NAME)

PEER_EXPORT const char *peer_version(void)
{
    return PQCLEAN_VERSION;
}

/* Signatures of a measurement need no randomness. */
int randombytes(uint8_t *output, size_t n)
{
    memset(output, 0, n);
    return 0;
}

PEER_EXPORT int peer_keys(const uint8_t *seed, uint8_t *public_key, uint8_t *secret_key)
{
    return FUNCTION(SET, seed_keypair)(public_key, secret_key, seed);
}

PEER_EXPORT int peer_sign(const uint8_t *secret_key, const uint8_t *message, size_t length,
                          uint8_t *signature)
{
    size_t written;
    return FUNCTION(SET, signature)(signature, &written, message, length, secret_key);
}

PEER_EXPORT int peer_verify(const uint8_t *public_key, const uint8_t *message, size_t length,
                            const uint8_t *signature, size_t signature_length)
{
    return FUNCTION(SET, verify)(signature, signature_length, message, length, public_key);
}
