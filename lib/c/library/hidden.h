
#if defined(__GNUC__)
#define USUBA_HIDDEN __attribute__((visibility("hidden")))
#else
#define USUBA_HIDDEN
#endif

typedef void usuba_xor(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t length);
extern USUBA_HIDDEN usuba_xor *const usuba_xors[@BACKENDS@];

USUBA_HIDDEN size_t usuba_chosen(void);
USUBA_HIDDEN int usuba_places(const uint8_t *in, size_t length, const uint8_t *out, size_t written);
USUBA_HIDDEN void usuba_climb(const usuba_operation *operation, const usuba_step *step,
    const void *key, const uint8_t *in, uint8_t *out, size_t nblocks);
USUBA_HIDDEN int usuba_blocks(const usuba_operation *operation, const void *key, const uint8_t *in,
    uint8_t *out, size_t nblocks);
USUBA_HIDDEN int usuba_stream(const usuba_operation *operation, const usuba_counter *counter,
    const void *key, const uint8_t *start, uint64_t position, const uint8_t *in, uint8_t *out,
    size_t length);
USUBA_HIDDEN int usuba_cbc_decrypt(const usuba_operation *operation, const void *key,
    const uint8_t *start, const uint8_t *in, uint8_t *out, size_t length);
USUBA_HIDDEN int usuba_xts(const usuba_operation *operation, int backwards,
    const usuba_operation *encrypt, const void *key, const void *tweak_key, const uint8_t *start,
    const uint8_t *in, uint8_t *out, size_t length);
USUBA_HIDDEN void usuba_link_all(const usuba_chaining *chaining, uint8_t *chains,
    const uint8_t *const *in, size_t nblocks, size_t count);
USUBA_HIDDEN void usuba_absorb(const usuba_chaining *chaining, uint8_t *chain, uint8_t *buffer,
    size_t *used, int keep, const uint8_t *in, size_t length);
USUBA_HIDDEN void usuba_words_load(usuba_word *words, const uint8_t *bytes, size_t count);
USUBA_HIDDEN void usuba_words_store(uint8_t *bytes, const usuba_word *words, size_t count);
USUBA_HIDDEN usuba_word usuba_words_are_zero(const usuba_word *words, size_t count);
