
/* ---- @TITLE@: @NAME@ ----
   @SPEC@
   Blocks of @BLOCK@ bytes, hashes of @OUT@. @ABOUT@

   Messages have less than 2^61 bytes. */
#define USUBA_@UPPER@_BYTES @OUT@
#define USUBA_@UPPER@_BLOCK_BYTES @BLOCK@
#define USUBA_@UPPER@_CHAIN_BYTES @CHAIN@

/* The hash of one message. */
USUBA_API int usuba_@NAME@_hash(const uint8_t *in, size_t length,
    uint8_t out[USUBA_@UPPER@_BYTES]);

/* The hashes of `count` messages side by side, which is several times faster than one after the
   other, most so if they have about the same length. Message i has lengths[i] bytes at in[i], its
   hash is at out + i * USUBA_@UPPER@_BYTES. No message overlaps out. */
USUBA_API int usuba_@NAME@_hash_many(const uint8_t *const *in, const size_t *lengths, size_t count,
    uint8_t *out);

/* A message that comes in pieces. It may be copied. Secret if the message is. */
typedef struct {
    usuba_merkle_progress progress;
    uint8_t bytes[@CHAIN@ + @BLOCK@];
} usuba_@NAME@_state;

/* Begins a message. */
USUBA_API int usuba_@NAME@_begin(usuba_@NAME@_state *state);

/* Goes on with `length` bytes. */
USUBA_API int usuba_@NAME@_update(usuba_@NAME@_state *state, const uint8_t *in, size_t length);

/* Ends the message and wipes the state. */
USUBA_API int usuba_@NAME@_final(usuba_@NAME@_state *state, uint8_t out[USUBA_@UPPER@_BYTES]);

/* Takes `nblocks` blocks into a chaining value, which does not overlap them: no padding, and no
   first value. For people who build hash functions. */
USUBA_API int usuba_@NAME@_blocks(uint8_t chain[USUBA_@UPPER@_CHAIN_BYTES], const uint8_t *in,
    size_t nblocks);

/* HMAC (RFC 2104) with @NAME@, of a message that comes in pieces. A copy of one that was begun saves
   the set-up of its key. Secret. */
typedef struct {
    usuba_merkle_progress progress;
    uint8_t bytes[@CHAIN@ + @BLOCK@], outer[@CHAIN@];
} usuba_hmac_@NAME@_state;

/* Begins a message under a key of any length. */
USUBA_API int usuba_hmac_@NAME@_begin(usuba_hmac_@NAME@_state *state, const uint8_t *key,
    size_t key_length);

/* Goes on with `length` bytes. */
USUBA_API int usuba_hmac_@NAME@_update(usuba_hmac_@NAME@_state *state, const uint8_t *in,
    size_t length);

/* Ends the message and wipes the state. */
USUBA_API int usuba_hmac_@NAME@_final(usuba_hmac_@NAME@_state *state,
    uint8_t tag[USUBA_@UPPER@_BYTES]);

/* Ends the message, wipes the state, and answers USUBA_OK if the tag is this one, or its first
   `tag_length` bytes, which are 16 at least. Else USUBA_ERROR_FORGED; how many bytes agree shows
   neither in the answer nor in its time. */
USUBA_API int usuba_hmac_@NAME@_verify(usuba_hmac_@NAME@_state *state, const uint8_t *tag,
    size_t tag_length);

/* Both for one message. */
USUBA_API int usuba_hmac_@NAME@_tag(const uint8_t *key, size_t key_length, const uint8_t *in,
    size_t length, uint8_t tag[USUBA_@UPPER@_BYTES]);
USUBA_API int usuba_hmac_@NAME@_check(const uint8_t *key, size_t key_length, const uint8_t *in,
    size_t length, const uint8_t *tag, size_t tag_length);

/* HKDF (RFC 5869) with @NAME@: a key from a secret that need not look random, and an optional salt. */
USUBA_API int usuba_hkdf_@NAME@_extract(const uint8_t *salt, size_t salt_length,
    const uint8_t *secret, size_t secret_length, uint8_t key[USUBA_@UPPER@_BYTES]);

/* Any number of keys from one: at most 255 * USUBA_@UPPER@_BYTES bytes, which do not overlap `info`,
   from a key of at least USUBA_@UPPER@_BYTES. */
USUBA_API int usuba_hkdf_@NAME@_expand(const uint8_t *key, size_t key_length, const uint8_t *info,
    size_t info_length, uint8_t *out, size_t length);

/* One after the other. */
USUBA_API int usuba_hkdf_@NAME@_derive(const uint8_t *salt, size_t salt_length,
    const uint8_t *secret, size_t secret_length, const uint8_t *info, size_t info_length,
    uint8_t *out, size_t length);
