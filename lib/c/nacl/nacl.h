
/* ---- NaCl ----
   The interface of NaCl as TweetNaCl has it, over the functions above: programs that include
   tweetnacl.h include this instead. The functions have the prefix @PREFIX@ and the names of NaCl are
   macros, unless USUBA_NO_NAMES is defined before.

   Messages of boxes and secret boxes begin with 32 zero bytes, and boxes with 16. Everything answers
   0, or -1 for what is forged or cannot be; then nothing is written. Beyond TweetNaCl: small orders,
   and signatures whose second half is not below the order, are refused.

   Keys are random: whoever links this has a function `randombytes`, such as that of @FILE@-random.c. */
typedef unsigned char usuba_byte;
typedef unsigned long long usuba_length;

extern void randombytes(unsigned char *bytes, unsigned long long length);

#define USUBA_VERIFY_16_BYTES 16
#define USUBA_VERIFY_32_BYTES 32

USUBA_API int usuba_crypto_box(usuba_byte *c, const usuba_byte *m, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *public_key, const usuba_byte *secret_key);
USUBA_API int usuba_crypto_box_open(usuba_byte *m, const usuba_byte *c, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *public_key, const usuba_byte *secret_key);
USUBA_API int usuba_crypto_box_keypair(usuba_byte *public_key, usuba_byte *secret_key);
USUBA_API int usuba_crypto_box_beforenm(usuba_byte *key, const usuba_byte *public_key,
    const usuba_byte *secret_key);
USUBA_API int usuba_crypto_box_afternm(usuba_byte *c, const usuba_byte *m, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key);
USUBA_API int usuba_crypto_box_open_afternm(usuba_byte *m, const usuba_byte *c,
    usuba_length length, const usuba_byte *nonce, const usuba_byte *key);
USUBA_API int usuba_crypto_secretbox(usuba_byte *c, const usuba_byte *m, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key);
USUBA_API int usuba_crypto_secretbox_open(usuba_byte *m, const usuba_byte *c, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key);
/* `c` is "expand 32-byte k"; there is no other constant. */
USUBA_API int usuba_crypto_core_salsa20(usuba_byte *out, const usuba_byte *in,
    const usuba_byte *key, const usuba_byte *c);
USUBA_API int usuba_crypto_core_hsalsa20(usuba_byte *out, const usuba_byte *in,
    const usuba_byte *key, const usuba_byte *c);
USUBA_API int usuba_crypto_stream(usuba_byte *out, usuba_length length, const usuba_byte *nonce,
    const usuba_byte *key);
USUBA_API int usuba_crypto_stream_xor(usuba_byte *out, const usuba_byte *in, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key);
USUBA_API int usuba_crypto_stream_salsa20(usuba_byte *out, usuba_length length,
    const usuba_byte *nonce, const usuba_byte *key);
USUBA_API int usuba_crypto_stream_salsa20_xor(usuba_byte *out, const usuba_byte *in,
    usuba_length length, const usuba_byte *nonce, const usuba_byte *key);
USUBA_API int usuba_crypto_onetimeauth(usuba_byte *tag, const usuba_byte *m, usuba_length length,
    const usuba_byte *key);
USUBA_API int usuba_crypto_onetimeauth_verify(const usuba_byte *tag, const usuba_byte *m,
    usuba_length length, const usuba_byte *key);
USUBA_API int usuba_crypto_hash(usuba_byte *out, const usuba_byte *m, usuba_length length);
/* Answers the bytes that are left over, which are less than a block. */
USUBA_API int usuba_crypto_hashblocks(usuba_byte *state, const usuba_byte *m,
    usuba_length length);
USUBA_API int usuba_crypto_scalarmult(usuba_byte *out, const usuba_byte *scalar,
    const usuba_byte *point);
USUBA_API int usuba_crypto_scalarmult_base(usuba_byte *out, const usuba_byte *scalar);
USUBA_API int usuba_crypto_sign(usuba_byte *signed_message, usuba_length *signed_length,
    const usuba_byte *m, usuba_length length, const usuba_byte *secret_key);
USUBA_API int usuba_crypto_sign_open(usuba_byte *m, usuba_length *length,
    const usuba_byte *signed_message, usuba_length signed_length, const usuba_byte *public_key);
USUBA_API int usuba_crypto_sign_keypair(usuba_byte *public_key, usuba_byte *secret_key);
USUBA_API int usuba_crypto_sign_seed_keypair(usuba_byte *public_key, usuba_byte *secret_key,
    const usuba_byte *seed);
USUBA_API int usuba_crypto_sign_detached(usuba_byte *signature, usuba_length *signature_length,
    const usuba_byte *m, usuba_length length, const usuba_byte *secret_key);
USUBA_API int usuba_crypto_sign_verify_detached(const usuba_byte *signature, const usuba_byte *m,
    usuba_length length, const usuba_byte *public_key);
USUBA_API int usuba_crypto_verify_16(const usuba_byte *one, const usuba_byte *other);
USUBA_API int usuba_crypto_verify_32(const usuba_byte *one, const usuba_byte *other);

/* The key of boxes between two people, for the functions of secret boxes without padding. */
USUBA_API int usuba_box_init(usuba_xsalsa20poly1305_key *key, const uint8_t public_key[32],
    const uint8_t secret_key[32]);

#if !defined(USUBA_NO_NAMES)
@NAMES@#endif
