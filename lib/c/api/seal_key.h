
/* ---- @TITLE@: @NAME@ ----
   @SPEC@
   No branch and no address depends on data. */
#define USUBA_@UPPER@_KEY_BYTES 32
#define USUBA_@UPPER@_NONCE_BYTES @NONCE@
#define USUBA_@UPPER@_TAG_BYTES 16

/* A key, ready for use. Secret; usable by any number of threads once it is set up. */
typedef struct {
    usuba_@KEY@_key inner;
} usuba_@NAME@_key;

/* Sets up `key` from its bytes, of which there are USUBA_@UPPER@_KEY_BYTES. */
USUBA_API int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length);
