
/* ---- @TITLE@: @NAME@ ----
   @SPEC@
   A nonce of @NONCE@ bytes: @FIRST@ makes a key from the first @FIRST_IN@, @THEN@ the key stream. */
#define USUBA_@UPPER@_KEY_BYTES @KEY_BYTES@
#define USUBA_@UPPER@_NONCE_BYTES @NONCE@
#define USUBA_@UPPER@_BLOCK_BYTES @THEN_OUT@

/* A key, ready for use. Secret; usable by any number of threads once it is set up. */
typedef struct {
    usuba_@FIRST@_key first;
} usuba_@NAME@_key;

/* Sets up `key` from its bytes, of which there are USUBA_@UPPER@_KEY_BYTES. */
USUBA_API int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length);

/* Adds the key stream of key and nonce to `length` bytes, both ways. `position` says how many
   bytes of the key stream go before; block number n begins at n * USUBA_@UPPER@_BLOCK_BYTES. */
USUBA_API int usuba_@NAME@_xor(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], uint64_t position, const uint8_t *in, uint8_t *out,
    size_t length);

/* The key stream itself. */
USUBA_API int usuba_@NAME@_keystream(const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES], uint64_t position, uint8_t *out, size_t length);
