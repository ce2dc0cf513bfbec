
/* ---- @TITLE@ ----
   @SPEC@
   A one-time authenticator: a key of 32 bytes is for one message only. No branch and no address
   depends on data. */
#define USUBA_POLY1305_KEY_BYTES 32
#define USUBA_POLY1305_TAG_BYTES 16

/* A message that comes in pieces. It may be copied. Secret. */
typedef struct {
    uint64_t phase, used;
    uint8_t bytes[80];
} usuba_poly1305_state;

/* Begins a message. */
USUBA_API int usuba_poly1305_begin(usuba_poly1305_state *state,
    const uint8_t key[USUBA_POLY1305_KEY_BYTES]);

/* Goes on with `length` bytes. */
USUBA_API int usuba_poly1305_update(usuba_poly1305_state *state, const uint8_t *in, size_t length);

/* Ends the message and wipes the state. */
USUBA_API int usuba_poly1305_final(usuba_poly1305_state *state,
    uint8_t tag[USUBA_POLY1305_TAG_BYTES]);

/* Ends the message, wipes the state, and answers USUBA_OK if the tag is this one, else
   USUBA_ERROR_FORGED; how many bytes agree shows neither in the answer nor in its time. */
USUBA_API int usuba_poly1305_verify(usuba_poly1305_state *state,
    const uint8_t tag[USUBA_POLY1305_TAG_BYTES]);

/* Both for one message. */
USUBA_API int usuba_poly1305_tag(const uint8_t key[USUBA_POLY1305_KEY_BYTES], const uint8_t *in,
    size_t length, uint8_t tag[USUBA_POLY1305_TAG_BYTES]);
USUBA_API int usuba_poly1305_check(const uint8_t key[USUBA_POLY1305_KEY_BYTES], const uint8_t *in,
    size_t length, const uint8_t tag[USUBA_POLY1305_TAG_BYTES]);
