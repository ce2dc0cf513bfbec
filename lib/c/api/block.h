#define USUBA_@UPPER@_BLOCK_BYTES @IN@

/* CTR mode: adds the encryptions of counter, counter + 1, ... to `length` bytes, both ways. The
   counter is a block as one big-endian number. `position` says how many bytes of the key stream
   go before: whoever goes on with a message passes how much is done. */
USUBA_API int usuba_@NAME@_ctr(const usuba_@NAME@_key *key,
    const uint8_t counter[USUBA_@UPPER@_BLOCK_BYTES], uint64_t position, const uint8_t *in, uint8_t *out,
    size_t length);

/* The key stream itself. */
USUBA_API int usuba_@NAME@_ctr_keystream(const usuba_@NAME@_key *key,
    const uint8_t counter[USUBA_@UPPER@_BLOCK_BYTES], uint64_t position, uint8_t *out, size_t length);
