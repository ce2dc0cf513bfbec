
#ifndef USUBA_SKEIN_SHARED
#define USUBA_SKEIN_SHARED
/* The parameters of Skein; all zeros, or NULL, for the plain hash function. An absent parameter has
   the pointer NULL. Except for a key, a parameter with a pointer and no bytes is present and empty,
   which gives another hash. */
typedef struct {
    /* For a MAC, or for deriving keys; any length, 0 for none. */
    const uint8_t *key /* [key_length] */;
    size_t key_length;
    /* The purpose of the hash, such as "20081031 somebody@example.com Backup/Blocks". */
    const uint8_t *personalization /* [personalization_length] */;
    size_t personalization_length;
    /* Under which a signature of the hash will be verified. */
    const uint8_t *public_key /* [public_key_length] */;
    size_t public_key_length;
    /* Which key is to be derived from `key`, with an empty message. */
    const uint8_t *identifier /* [identifier_length] */;
    size_t identifier_length;
    /* For randomized hashing, or for a keystream. */
    const uint8_t *nonce /* [nonce_length] */;
    size_t nonce_length;
    /* Of a hash tree, or all 0 for none: a leaf has block << leaf bytes of the message, a node has
       block << fan_out bytes of the level below, and there are at most `height` levels, the leaves
       among them. The first two are 1 at least, the third 2. */
    uint8_t leaf, fan_out, height;
} usuba_skein_parameters;

/* The length of an output without an end. */
#define USUBA_SKEIN_ENDLESS ((size_t)-1)

/* How far a state is; only for the functions that have it. */
typedef struct {
    uint64_t phase, number;
    size_t output, used /* < 65536 */;
} usuba_skein_progress;

/* Levels of a tree above its leaves: a message has less than 2^64 bytes. */
#define USUBA_SKEIN_LEVELS 60

/* The same for a tree. */
typedef struct {
    usuba_skein_progress progress;
    uint64_t done, inside, counts[USUBA_SKEIN_LEVELS] /* public */;
    uint8_t leaf, fan_out, height;
} usuba_skein_growth;
#endif
