/* Messages of many lengths in buffers that are no longer than they say. */
#include <stdlib.h>
#include <string.h>

#include "usuba-nacl.h"

static unsigned long long state = 1;

void randombytes(unsigned char *bytes, unsigned long long length)
{
    while (length--) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        *bytes++ = (unsigned char)(state >> 56);
    }
}

static unsigned char *some(size_t length)
{
    unsigned char *bytes = malloc(length ? length : 1);
    if (!bytes) abort();
    randombytes(bytes, length);
    return bytes;
}

static void expect(int holds)
{
    if (!holds) abort();
}

/* Absent buffers and lengths that cannot be are refused, and nothing is written. */
static void misuse(void)
{
    unsigned char b[200] = {0}, zeros[200] = {0};
    unsigned long long count = 0;
    expect(crypto_sign(b, &count, 0, 5, b) == -1 && crypto_sign(b, &count, b, 5, 0) == -1);
    expect(crypto_sign(0, &count, b, 5, b) == -1);
    expect(crypto_sign(b, &count, b, (unsigned long long)-10, b) == -1);
    expect(crypto_sign_open(b, &count, b, 63, b) == -1);
    expect(crypto_sign_open(b, &count, b, 100, 0) == -1);
    expect(crypto_box(b, b, 31, b, b, b) == -1 && crypto_secretbox(0, b, 40, b, b) == -1);
    expect(crypto_secretbox_open(b, b, 40, 0, b) == -1 && crypto_scalarmult(0, b, b) == -1);
    expect(crypto_hash(b, 0, 5) == -1 && crypto_stream(0, 5, b, b) == -1);
    expect(crypto_verify_16(0, b) == -1 && crypto_onetimeauth(b, 0, 5, b) == -1);
    expect(!count && !memcmp(b, zeros, sizeof b));
}

int main(void)
{
    unsigned char public_key[2][32], secret_key[2][32], sign_public[32], sign_secret[64], nonce[24];
    size_t length;
    misuse();
    crypto_box_keypair(public_key[0], secret_key[0]);
    crypto_box_keypair(public_key[1], secret_key[1]);
    crypto_sign_keypair(sign_public, sign_secret);
    for (length = 0; length < 200; length += 1 + length / 7) {
        unsigned char *message = some(length + 32), *sealed = some(length + 32);
        unsigned char *signed_message = some(length + 64), *opened = some(length + 64);
        unsigned long long count = 0;
        memset(message, 0, 32);
        randombytes(nonce, 24);
        expect(!crypto_box(sealed, message, length + 32, nonce, public_key[0], secret_key[1]));
        expect(!crypto_box_open(opened, sealed, length + 32, nonce, public_key[1], secret_key[0]));
        expect(!memcmp(opened, message, length + 32));
        sealed[16 + length / 2] ^= 4;
        expect(crypto_box_open(opened, sealed, length + 32, nonce, public_key[1], secret_key[0]));
        expect(!crypto_sign(signed_message, &count, message + 32, length, sign_secret));
        expect(count == length + 64);
        expect(!crypto_sign_open(opened, &count, signed_message, length + 64, sign_public));
        expect(count == length && !memcmp(opened, message + 32, length));
        signed_message[length / 2] ^= 1;
        expect(crypto_sign_open(opened, &count, signed_message, length + 64, sign_public) == -1);
        free(message);
        free(sealed);
        free(signed_message);
        free(opened);
    }
    return 0;
}
