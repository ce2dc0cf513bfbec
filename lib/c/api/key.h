
/* ---- @TITLE@: @NAME@ ----
   @SPEC@
   @ABOUT@ */
#define USUBA_@UPPER@_KEY_BYTES @KEY_BYTES@

/* A key, ready for use. Secret; usable by any number of threads once it is set up. */
typedef struct {
@WORDS@} usuba_@NAME@_key;

/* Sets up `key` from its bytes, of which there are USUBA_@UPPER@_KEY_BYTES. */
USUBA_API int usuba_@NAME@_init(usuba_@NAME@_key *key, const uint8_t *bytes, size_t length);
