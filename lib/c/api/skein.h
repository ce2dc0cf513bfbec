
/* ---- @TITLE@: @NAME@ ----
   @SPEC@
   Blocks of @BLOCK@ bytes, outputs of any length. @ABOUT@

   Lengths are in bytes, and messages have less than 2^64 - @BLOCK@ of them. Where they are in bits,
   the first bit of a byte is its most significant one, and what is below the last bit is ignored.
   The length of the output is an input: outputs of different lengths have nothing in common. */
#define USUBA_@UPPER@_BLOCK_BYTES @BLOCK@

/* The hash of one message, MAC or derived key: `out_length` bytes, which is neither 0 nor endless.
   Without parameters, and 32 or 64 bytes, this is Skein-@BITS@-256 or Skein-@BITS@-512. */
USUBA_API int usuba_@NAME@_hash(const usuba_skein_parameters *parameters, const uint8_t *in,
    size_t length, uint8_t *out, size_t out_length);

/* The same for a message of so many bits. */
USUBA_API int usuba_@NAME@_hash_bits(const usuba_skein_parameters *parameters, const uint8_t *in,
    uint64_t bits, uint8_t *out, size_t out_length);

/* Answers USUBA_OK if the hash or MAC of a message is this one, of `tag_length` bytes. Else
   USUBA_ERROR_FORGED; how many bytes agree shows neither in the answer nor in its time. Who sends a
   tag must not choose its length. */
USUBA_API int usuba_@NAME@_check(const usuba_skein_parameters *parameters, const uint8_t *in,
    size_t length, const uint8_t *tag, size_t tag_length);

/* The hashes of `count` messages side by side, which is several times faster than one after the
   other, most so if they have about the same length. Message i has lengths[i] bytes at in[i], its
   hash is at out + i * out_length. No message overlaps out; there is no tree. */
USUBA_API int usuba_@NAME@_hash_many(const usuba_skein_parameters *parameters,
    const uint8_t *const *in, const size_t *lengths, size_t count, uint8_t *out, size_t out_length);

/* A message that comes in pieces. It may be copied, even before the first piece: then parameters
   are set up once for many messages. Secret if the key or the message is. */
typedef struct {
    usuba_skein_progress progress;
    uint8_t bytes[@CHAIN@ + @BLOCK@];
} usuba_@NAME@_state;

/* Begins a message whose output has `out_length` bytes, or USUBA_SKEIN_ENDLESS; without a tree. */
USUBA_API int usuba_@NAME@_begin(usuba_@NAME@_state *state,
    const usuba_skein_parameters *parameters, size_t out_length);

/* Goes on with `length` bytes. */
USUBA_API int usuba_@NAME@_update(usuba_@NAME@_state *state, const uint8_t *in, size_t length);

/* Goes on with so many bits; nothing may follow a byte that is not whole. */
USUBA_API int usuba_@NAME@_update_bits(usuba_@NAME@_state *state, const uint8_t *in, uint64_t bits);

/* Ends the message and wipes the state. `length` is what it was begun with; any if endless. */
USUBA_API int usuba_@NAME@_final(usuba_@NAME@_state *state, uint8_t *out, size_t length);

/* Ends the message, wipes the state, and answers as usuba_@NAME@_check. The tag has the length that
   the state was begun with, which ends. */
USUBA_API int usuba_@NAME@_verify(usuba_@NAME@_state *state, const uint8_t *tag, size_t tag_length);

/* Ends the message, the first time, and gives the next `length` bytes of an endless output. */
USUBA_API int usuba_@NAME@_squeeze(usuba_@NAME@_state *state, uint8_t *out, size_t length);

/* A message in pieces that becomes a tree. Many leaves in one piece are hashed side by side. */
typedef struct {
    usuba_skein_growth growth;
    uint8_t bytes[(USUBA_SKEIN_LEVELS + 1) * (@CHAIN@ + @BLOCK@) + @BLOCK@];
} usuba_@NAME@_tree;

/* As the functions above; the parameters have a tree, and the output ends. */
USUBA_API int usuba_@NAME@_tree_begin(usuba_@NAME@_tree *tree,
    const usuba_skein_parameters *parameters, size_t out_length);
USUBA_API int usuba_@NAME@_tree_update(usuba_@NAME@_tree *tree, const uint8_t *in, size_t length);
USUBA_API int usuba_@NAME@_tree_update_bits(usuba_@NAME@_tree *tree, const uint8_t *in,
    uint64_t bits);
USUBA_API int usuba_@NAME@_tree_final(usuba_@NAME@_tree *tree, uint8_t *out, size_t length);
USUBA_API int usuba_@NAME@_tree_verify(usuba_@NAME@_tree *tree, const uint8_t *tag,
    size_t tag_length);
