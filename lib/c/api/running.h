
/* ---- @TITLE@: @NAME@ ----
   @SPEC@
   @ABOUT@ */
#define USUBA_@UPPER@_KEY_BYTES @KEY_BYTES@
#define USUBA_@UPPER@_NONCE_BYTES @NONCE@

/* A key, ready for use. Secret; usable by any number of threads once it is set up. */
typedef struct {
    usuba_@FIRST@_key first;
} usuba_@NAME@_key;

/* A key stream that was begun, and where it is. Secret; a copy goes on from the same place. */
typedef struct {
    uint8_t state[@FIRST_OUT@], part[@PART@];
    size_t used;
} usuba_@NAME@_state;

/* Sets up `key` from its bytes, of which there are USUBA_@UPPER@_KEY_BYTES. */
USUBA_API int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length);

/* Begins the key stream of key and nonce. */
USUBA_API int usuba_@NAME@_begin(usuba_@NAME@_state *state, const usuba_@NAME@_key *key,
    const uint8_t nonce[USUBA_@UPPER@_NONCE_BYTES]);

/* Adds the next `length` bytes of the key stream, both ways. */
USUBA_API int usuba_@NAME@_xor(usuba_@NAME@_state *state, const uint8_t *in, uint8_t *out, size_t length);

/* The key stream itself: its next `length` bytes. */
USUBA_API int usuba_@NAME@_keystream(usuba_@NAME@_state *state, uint8_t *out, size_t length);

/* The key streams of `count` nonces side by side, which is many times faster than one after the
   other: the first `length` bytes of each, which follow each other. `out` is apart from the
   nonces. */
USUBA_API int usuba_@NAME@_keystreams(const usuba_@NAME@_key *key, const uint8_t *nonces, size_t count,
    uint8_t *out, size_t length);
