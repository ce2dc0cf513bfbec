
/* Bytes of a key stream that are made at a time, of the counters that they are made from, and of
   the largest input of a key stream. */
#define USUBA_CHUNK @CHUNK@
#define USUBA_COUNTERS @COUNTERS@
#define USUBA_BLOCK @BLOCK_MAX@

/* Buffers begin where a cache line does, so that no register of them lies across two. */
#if defined(__GNUC__)
#define USUBA_ALIGNED __attribute__((aligned(64)))
#else
#define USUBA_ALIGNED
#endif

typedef void usuba_kernel(const void *key, const uint8_t *in, uint8_t *out, size_t nblocks);

/* From `from` blocks on, `run` takes them in units of `unit`, or all if there are fewer; long
   messages are cut into multiples of `batch`, which it takes in one call of its kernel. Its key
   words begin `key` bytes into the context. The last step of a ladder is from 1. */
typedef struct {
    size_t from, unit, batch, key;
    usuba_kernel *run;
} usuba_step;

/* What is done to blocks of `in` bytes, which become `out` bytes: a ladder for each backend. */
typedef struct {
    size_t in, out;
    const usuba_step *ladders[@BACKENDS@];
} usuba_operation;

/* What hash functions are made of: takes `nblocks` blocks of each of `count` messages into as many
   chaining values, which follow each other. */
typedef void usuba_link(uint8_t *chains, const uint8_t *const *in, size_t nblocks, size_t count);

/* From `from` messages on, `run` takes them in units of `unit`, or all if there are fewer. */
typedef struct {
    size_t from, unit;
    usuba_link *run;
} usuba_link_step;

/* Bytes of a chaining value and of a block of a message, and a ladder for each backend. */
typedef struct {
    size_t chain, block;
    const usuba_link_step *ladders[@BACKENDS@];
} usuba_chaining;

/* Where the number of a block lies in the input of a key stream. */
typedef struct {
    size_t at, size;
    int little;
} usuba_counter;
