
#ifndef USUBA_MERKLE_SHARED
#define USUBA_MERKLE_SHARED
/* How far a message is; only for the functions that have it. */
typedef struct {
    uint64_t phase, length;
} usuba_merkle_progress;
#endif
