/* All functions of NaCl that have secrets, with secrets that valgrind takes for undefined: keys,
   seeds, messages that are encrypted or signed. What they make counts as defined once it is public:
   public keys, signatures, tags, ciphertexts.

   Compiled with a definition of USUBA_PUBLIC, so that the library says of what it returns that it is
   public. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usuba-nacl.h"

#define SECRET(place) usuba_undefined(place, sizeof(place))
#define PUBLIC(place) usuba_defined(place, sizeof(place))
#define LENGTH 700

static unsigned char some[32 + LENGTH], message[32 + LENGTH], sealed[32 + LENGTH + 64];
static unsigned char opened[32 + LENGTH + 64], nonce[24];

void randombytes(unsigned char *bytes, unsigned long long length)
{
    unsigned long long i;
    for (i = 0; i < length; i++) bytes[i] = (unsigned char)(77 * i + 5);
    usuba_undefined(bytes, (size_t)length);
}

static void expect(int holds, int line)
{
    if (holds) return;
    printf("line %d\n", line);
    exit(1);
}

#define EXPECT(holds) expect(holds, __LINE__)

/* A message of secrets behind its zeros. */
static void new_message(void)
{
    memset(message, 0, 32);
    memcpy(message + 32, some, LENGTH);
    usuba_undefined(message + 32, LENGTH);
}

static void agree(void)
{
    static unsigned char one[32], other[32], public_key[32], shared[32], key[32];
    static const unsigned char zero[32] = {0};
    randombytes(one, 32);
    EXPECT(!crypto_scalarmult_base(public_key, one));
    PUBLIC(public_key);
    randombytes(other, 32);
    other[3] ^= 1;
    EXPECT(!crypto_scalarmult(shared, other, public_key));
    EXPECT(crypto_scalarmult(shared, other, zero) == -1);
    EXPECT(!crypto_box_beforenm(key, public_key, other));
}

static void sign(void)
{
    static unsigned char public_key[32], secret_key[64], seed[32], signature[64], hash[64];
    unsigned long long count;
    EXPECT(!crypto_sign_keypair(public_key, secret_key));
    randombytes(seed, 32);
    EXPECT(!crypto_sign_seed_keypair(public_key, secret_key, seed));
    PUBLIC(public_key);
    new_message();
    EXPECT(!crypto_sign(sealed, &count, message + 32, LENGTH, secret_key));
    EXPECT(!crypto_sign_detached(signature, &count, message + 32, 5, secret_key));
    EXPECT(!usuba_ed25519ctx_sign(secret_key, some, 9, message + 32, 100, signature));
    usuba_undefined(hash, 64);
    EXPECT(!usuba_ed25519ph_sign(secret_key, NULL, 0, hash, signature));
    PUBLIC(sealed);
    EXPECT(!crypto_sign_open(opened, &count, sealed, LENGTH + 64, public_key));
    EXPECT(!memcmp(opened, some, LENGTH));
}

#if defined(MANY)
/* So many at once that some are in lanes and some are not. */
static void many(void)
{
    static unsigned char secrets[32 * MANY], keys[32 * MANY], shared[32 * MANY];
    static unsigned char pairs[MANY][64], publics[MANY][32], signatures[64 * MANY];
    const unsigned char *signing[MANY], *texts[MANY], *verifying[MANY], *made[MANY];
    size_t lengths[MANY], i;
    int results[MANY];
    randombytes(secrets, sizeof secrets);
    EXPECT(!usuba_x25519_base_many(secrets, keys, MANY));
    PUBLIC(keys);
    EXPECT(!usuba_x25519_many(secrets, keys, shared, MANY));
    new_message();
    for (i = 0; i < MANY; i++) {
        EXPECT(!usuba_ed25519_keypair_from_seed(secrets + 32 * i, publics[i], pairs[i]));
        signing[i] = pairs[i];
        texts[i] = message + 32;
        lengths[i] = 100 * i;
        verifying[i] = publics[i];
        made[i] = signatures + 64 * i;
    }
    EXPECT(!usuba_ed25519_sign_many(signing, texts, lengths, signatures, MANY));
    PUBLIC(publics);
    PUBLIC(signatures);
    PUBLIC(message);
    EXPECT(!usuba_ed25519_verify_many(verifying, texts, lengths, made, results, MANY));
}
#endif

static void boxes(void)
{
    static unsigned char public_key[2][32], secret_key[2][32], key[32];
    int i;
    for (i = 0; i < 2; i++) EXPECT(!crypto_box_keypair(public_key[i], secret_key[i]));
    PUBLIC(public_key);
    new_message();
    EXPECT(!crypto_box(sealed, message, 32 + LENGTH, nonce, public_key[0], secret_key[1]));
    PUBLIC(sealed);
    EXPECT(!crypto_box_open(opened, sealed, 32 + LENGTH, nonce, public_key[1], secret_key[0]));
    sealed[20] ^= 1;
    EXPECT(crypto_box_open(opened, sealed, 32 + LENGTH, nonce, public_key[1], secret_key[0]) == -1);
    PUBLIC(opened);
    EXPECT(!memcmp(opened + 32, some, LENGTH));
    usuba_undefined(key, 32);
    new_message();
    EXPECT(!crypto_secretbox(sealed, message, 32 + 9, nonce, key));
    PUBLIC(sealed);
    EXPECT(!crypto_secretbox_open(opened, sealed, 32 + 9, nonce, key));
    EXPECT(!crypto_stream(opened, LENGTH, nonce, key));
    EXPECT(!crypto_stream_xor(opened, message, LENGTH, nonce, key));
    EXPECT(!crypto_stream_salsa20_xor(opened, message, LENGTH, nonce, key));
    EXPECT(!crypto_core_hsalsa20(opened, message, key, (const unsigned char *)"expand 32-byte k"));
}

static void codes(void)
{
    static unsigned char key[200], tag[64], salt[9], keys[100];
    usuba_undefined(key, sizeof key);
    new_message();
    EXPECT(!crypto_onetimeauth(tag, message + 32, LENGTH, key));
    EXPECT(!crypto_onetimeauth_verify(tag, message + 32, LENGTH, key));
    tag[3] ^= 1;
    EXPECT(crypto_onetimeauth_verify(tag, message + 32, LENGTH, key) == -1);
    EXPECT(!crypto_hash(tag, message + 32, LENGTH));
    EXPECT(!usuba_hmac_sha256_tag(key, 20, message + 32, LENGTH, tag));
    EXPECT(!usuba_hmac_sha256_check(key, 20, message + 32, LENGTH, tag, 32));
    EXPECT(!usuba_hmac_sha512_tag(key, 200, message + 32, LENGTH, tag));
    EXPECT(usuba_hmac_sha512_check(key, 200, message + 32, 9, tag, 64) == USUBA_ERROR_FORGED);
    EXPECT(!usuba_hkdf_sha512_derive(salt, 9, key, 50, some, 7, keys, 100));
    EXPECT(!usuba_hkdf_sha256_derive(salt, 0, key, 50, some, 7, keys, 100));
}

/* Long enough for blocks side by side. */
static void seals(void)
{
    static const size_t lengths[] = {0, 9, 64, 300, 5000};
    static unsigned char bytes[32], text[5000], out[5016], back[5000];
    static usuba_chacha20poly1305_key key;
    static usuba_xchacha20poly1305_key longer;
    size_t i;
    usuba_undefined(bytes, 32);
    EXPECT(!usuba_chacha20poly1305_init(&key, bytes, 32));
    EXPECT(!usuba_xchacha20poly1305_init(&longer, bytes, 32));
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t length = lengths[i];
        usuba_undefined(text, length);
        EXPECT(!usuba_chacha20poly1305_seal(&key, nonce, some, 20, text, length, out));
        PUBLIC(out);
        EXPECT(!usuba_chacha20poly1305_open(&key, nonce, some, 20, out, length + 16, back));
        EXPECT(!usuba_xchacha20poly1305_seal(&longer, nonce, some, 20, text, length, out));
        PUBLIC(out);
        out[length] ^= 1;
        EXPECT(usuba_xchacha20poly1305_open(&longer, nonce, some, 20, out, length + 16, back)
               == USUBA_ERROR_FORGED);
    }
}

int main(void)
{
    size_t i;
    for (i = 0; i < sizeof some; i++) some[i] = (unsigned char)(3 * i + 1);
    agree();
    sign();
#if defined(MANY)
    many();
#endif
    boxes();
    codes();
    seals();
    return 0;
}
