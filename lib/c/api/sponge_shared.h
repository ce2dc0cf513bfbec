
#ifndef USUBA_SPONGE_SHARED
#define USUBA_SPONGE_SHARED
/* The phase of a message; internal to the functions on it. */
typedef struct {
    uint64_t phase, used /* < 65536 */;
} usuba_sponge_progress;
#endif
