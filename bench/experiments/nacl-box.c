/* One operation of NaCl on a RISC-V processor and nothing else: between two marks, so that
   instructions are counted, and with a look at the stack. The message has 256 bytes.
     SIGN      crypto_sign
     BOX       crypto_box: an agreement on a key, and its use
     SALSA20   crypto_stream_salsa20_xor
     SECRETBOX crypto_secretbox */
#include "bare.h"
#include "usuba-nacl.h"

#define BYTES 256

static uint8_t public_key[32], secret_key[64], other_public[32], other_secret[32], nonce[24];
static uint8_t message[BYTES], out[BYTES + 64], back[BYTES + 64];

/* The same bytes in each run. */
void randombytes(unsigned char *to, unsigned long long length)
{
    static uint8_t last;
    while (length--) *to++ = ++last;
}

#if defined(SIGN)

static int prepare(void)
{
    return crypto_sign_keypair(public_key, secret_key);
}

static int measured(void)
{
    usuba_length length;
    return crypto_sign(out, &length, message, BYTES, secret_key);
}

static int check(void)
{
    usuba_length length;
    return crypto_sign_open(back, &length, out, BYTES + 64, public_key) || length != BYTES;
}

#elif defined(BOX)

static int prepare(void)
{
    return crypto_box_keypair(public_key, secret_key)
           || crypto_box_keypair(other_public, other_secret);
}

/* The interface of NaCl has 32 bytes of zeros before a message. */
static int measured(void)
{
    return crypto_box(out, message, BYTES, nonce, other_public, secret_key);
}

static int check(void)
{
    return crypto_box_open(back, out, BYTES, nonce, public_key, other_secret);
}

#elif defined(SECRETBOX)

static int prepare(void)
{
    return 0;
}

static int measured(void)
{
    return crypto_secretbox(out, message, BYTES, nonce, secret_key);
}

static int check(void)
{
    return crypto_secretbox_open(back, out, BYTES, nonce, secret_key);
}

#else

/* Set 1, vector 0 of the eSTREAM project, for keys of 256 bits. */
static const uint8_t start[16] = {
    0xe3, 0xbe, 0x8f, 0xdd, 0x8b, 0xec, 0xa2, 0xe3, 0xea, 0x8e, 0xf9, 0x47, 0x5b, 0x29, 0xa6, 0xe7,
};

static int prepare(void)
{
    secret_key[0] = 0x80;
    return 0;
}

static int measured(void)
{
    return crypto_stream_salsa20_xor(out, message, BYTES, nonce, secret_key);
}

static int check(void)
{
    int at, bad = crypto_stream_salsa20_xor(back, out, BYTES, nonce, secret_key);
    for (at = 0; at < 16; at++) bad |= out[at] ^ message[at] ^ start[at];
    return bad;
}

#endif

static int work(void)
{
    int at, bad;
    for (at = 32; at < BYTES; at++) message[at] = (uint8_t)at;
    bad = prepare() || measure(1, "measured", measured) || check();
    for (at = 0; at < BYTES; at++) bad |= back[at] ^ message[at];
    return bad;
}
