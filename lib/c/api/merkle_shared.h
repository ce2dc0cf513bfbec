
#ifndef USUBA_MERKLE_SHARED
#define USUBA_MERKLE_SHARED
/* The phase of a message; internal to the functions on it. */
typedef struct {
    uint64_t phase, length;
} usuba_merkle_progress;
#endif
