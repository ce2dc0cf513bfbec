
/* ---- @TITLE@ ----
   @SPEC@

   X25519: two secret scalars and a shared secret. Any 32 bytes are a scalar and any 32 are a public
   key, as RFC 7748 has it; no branch and no address depends on a secret. */
#define USUBA_X25519_BYTES 32

/* out = scalar times point. USUBA_ERROR_POINT, and nothing is written, if that is zero: the point has
   a small order, and what it makes is no secret. */
USUBA_API int usuba_x25519(const uint8_t scalar[32], const uint8_t point[32], uint8_t out[32]);

/* The public key of a scalar: scalar times the base point, which is never zero. */
USUBA_API int usuba_x25519_base(const uint8_t scalar[32], uint8_t out[32]);

/* The same of `count` scalars and points, 32 bytes each, behind each other: side by side where the
   processor has wide registers. What is zero becomes 32 zero bytes, and then the answer is
   USUBA_ERROR_POINT; the others are there all the same. `out` may be one of both. */
USUBA_API int usuba_x25519_many(const uint8_t *scalars, const uint8_t *points, uint8_t *out,
    size_t count);

/* The public keys of `count` scalars, in the same way. */
USUBA_API int usuba_x25519_base_many(const uint8_t *scalars, uint8_t *out, size_t count);

/* Ed25519: signatures. A secret key is the seed and behind it the public key. Signatures are those of
   RFC 8032 and depend on nothing but key and message. */
#define USUBA_ED25519_SEED_BYTES 32
#define USUBA_ED25519_PUBLIC_BYTES 32
#define USUBA_ED25519_SECRET_BYTES 64
#define USUBA_ED25519_BYTES 64

/* The keys of a seed, which is 32 random bytes. */
USUBA_API int usuba_ed25519_keypair_from_seed(const uint8_t seed[32], uint8_t public_key[32],
    uint8_t secret_key[64]);

/* The signature of a message. The public key in `secret_key` must be that of its seed: to sign with
   one that somebody else chose gives the seed away. */
USUBA_API int usuba_ed25519_sign(const uint8_t secret_key[64], const uint8_t *message,
    size_t length, uint8_t signature[64]);

/* The signatures of `count` messages, 64 bytes each, behind each other: the multiples of the base point
   side by side where the processor has wide registers. They overlap nothing that is read. */
USUBA_API int usuba_ed25519_sign_many(const uint8_t *const *secret_keys,
    const uint8_t *const *messages, const size_t *lengths, uint8_t *signatures, size_t count);

/* USUBA_OK for a signature R, S of the message by this key, else USUBA_ERROR_FORGED. Signature, key
   and message are public, and the time depends on them. The check is [S]B = R + [k]A, without the
   cofactor, and strict:

   - S is below the order of the base point, so nobody makes another signature of one;
   - A and R are the one encoding of their points: y below 2^255 - 19, and no -0 as x;
   - neither A nor R has a small order; a point that has a part of small order beside another one
     is taken as it is.

   So whatever is accepted here is accepted by every check of RFC 8032, with the cofactor or
   without, and for one key a signature stands for one message only. */
USUBA_API int usuba_ed25519_verify(const uint8_t public_key[32], const uint8_t *message,
    size_t length, const uint8_t signature[64]);

/* The same of `count` signatures, each by itself: side by side where the processor has wide registers.
   `results` has for each of them what usuba_ed25519_verify answers; the answer is USUBA_OK if all are
   signatures, else USUBA_ERROR_FORGED. */
USUBA_API int usuba_ed25519_verify_many(const uint8_t *const *public_keys,
    const uint8_t *const *messages, const size_t *lengths, const uint8_t *const *signatures,
    int *results, size_t count);

/* Ed25519ctx: the same with a context of 1 to 255 bytes, for which the signature is valid. */
USUBA_API int usuba_ed25519ctx_sign(const uint8_t secret_key[64], const uint8_t *context,
    size_t context_length, const uint8_t *message, size_t length, uint8_t signature[64]);
USUBA_API int usuba_ed25519ctx_verify(const uint8_t public_key[32], const uint8_t *context,
    size_t context_length, const uint8_t *message, size_t length, const uint8_t signature[64]);

/* Ed25519ph: of a message that came in pieces, by its SHA-512, with a context of 0 to 255 bytes. */
USUBA_API int usuba_ed25519ph_sign(const uint8_t secret_key[64], const uint8_t *context,
    size_t context_length, const uint8_t hash[64], uint8_t signature[64]);
USUBA_API int usuba_ed25519ph_verify(const uint8_t public_key[32], const uint8_t *context,
    size_t context_length, const uint8_t hash[64], const uint8_t signature[64]);
